#include "pipeline/run/first_look.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <map>
#include <nlohmann/json.hpp>
#include <set>
#include <string_view>

#include "common/file_io.h"
#include "common/text/foreign_json.h"
#include "common/text/text.h"
#include "pipeline/change/git.h"
#include "pipeline/config/config.h"
#include "pipeline/run/preload.h"
#include "pipeline/run/project_tree.h"
#include "runner/image/dependencies.h"

namespace guard {
namespace {

namespace fs = std::filesystem;
using Finding = FirstLook::Finding;

constexpr std::uint64_t kPackageBytesMax = 4u << 20;
constexpr std::size_t kFoldersShown = 4;

// Test runners by the module that their tests import. bun puts its own in place of the first ones.
struct Runner {
  std::string_view module;
  bool is_bun;        // counted as it is
  bool has_stand_in;  // of bun
};
constexpr std::array<Runner, 12> kRunners = {{{"bun:test", true, true}, {"node:test", true, true},
    {"vitest", false, true}, {"@jest/globals", false, true}, {"ava", false, false}, {"tap", false, false},
    {"tape", false, false}, {"uvu", false, false}, {"mocha", false, false}, {"@playwright/test", false, false},
    {"@japa/runner", false, false}, {"qunit", false, false}}};

bool imports(std::string_view text, std::string_view module) {
  for (const char quote : {'"', '\''}) {
    for (std::size_t at = text.find(module); at != std::string_view::npos; at = text.find(module, at + 1)) {
      const std::size_t end = at + module.size();
      if (at > 0 && text[at - 1] == quote && end < text.size() && text[end] == quote) return true;
    }
  }
  return false;
}

// The folders that the tests lie in, seen from the project, most tests first.
std::vector<std::pair<std::string, std::size_t>> folders_of(const std::vector<std::string>& tests) {
  std::map<std::string, std::size_t> counts;
  for (const std::string& test : tests)
    ++counts[test.substr(0, test.find('/') == std::string::npos ? 0 : test.find('/'))];
  std::vector<std::pair<std::string, std::size_t>> folders(counts.begin(), counts.end());
  std::stable_sort(folders.begin(), folders.end(), [](const auto& a, const auto& b) { return a.second > b.second; });
  return folders;
}

// What a generator would write: all of a folder that is called after tests, and in others the tests alone.
std::vector<std::string> gated_paths(const std::vector<std::string>& tests) {
  static constexpr std::array<std::string_view, 6> kTestFolders = {
      "test", "tests", "__tests__", "spec", "specs", "e2e"};
  std::set<std::string> globs;
  for (const std::string& test : tests) {
    std::string folder;
    const auto parts = pieces_of(test, '/');
    const auto part = std::find_first_of(parts.begin(), parts.end() - 1, kTestFolders.begin(), kTestFolders.end());
    if (part != parts.end() - 1) folder = fmt::format("{}/**", *part);
    const std::size_t dot = test.rfind('.');
    const std::size_t mark =
        dot == std::string::npos || dot == 0 ? std::string::npos : test.find_last_of("._", dot - 1);
    globs.insert(!folder.empty()                                      ? folder
            : mark == std::string::npos || mark < test.rfind('/') + 1 ? test
                                                                      : fmt::format("**/*{}", test.substr(mark)));
  }
  return {globs.begin(), globs.end()};
}

class Look {
 public:
  Look(const fs::path& project, const CancelToken& cancel) : project_(project), cancel_(cancel) {}

  FirstLook look() {
    tests();
    packages();
    preload();
    return std::move(look_);
  }

 private:
  void say(std::string name, std::string text, std::string remedy = {}, bool works = true) {
    look_.findings.push_back({std::move(name), std::move(text), std::move(remedy), works});
  }
  void say(std::string name, const Error& error) {
    say(std::move(name), error.message(), std::string(error.hint()), false);
  }

  void tests() {
    ProjectTreeRequest request;
    request.project = project_;
    request.named = {""};
    request.gated_paths = Config().check.paths;
    request.ignored = Git::ignored_names(cancel_);
    const auto tree = read_project_tree(request);
    if (!tree) {
      if (tree.error().code() == ErrorCode::file_not_found) {
        say("tests", "there are none yet", "put them into sandbox/, or anywhere under a name like add.test.ts");
        return;
      }
      return say("tests", tree.error());
    }
    const auto folders = folders_of(tree->tests);
    std::vector<std::string> shown;
    for (const auto& [folder, count] : folders) {
      if (shown.size() < kFoldersShown)
        shown.push_back(
            fmt::format("{} in {}", count, folder.empty() ? "the project's own folder" : printable(folder) + "/"));
    }
    if (folders.size() > kFoldersShown) shown.push_back("others elsewhere");
    say("tests", fmt::format("{}: {}", plural(tree->tests.size(), "file"), fmt::join(shown, ", ")));
    runner(*tree);
    const bool seeds = tree->writable == "sandbox";
    say("layout",
        seeds ? "sandbox/ is judged and may be written, src/ is read; tests elsewhere see the whole project"
              : "a test sees the whole project, less what git ignores, .env* and .git; what it writes is thrown away");
    if (std::none_of(tree->tests.begin(), tree->tests.end(),
            [&](const std::string& test) { return is_gated_path(request.gated_paths, test); }))
      look_.gated = gated_paths(tree->tests);
    const auto stored = std::count_if(
        tree->others.begin(), tree->others.end(), [](const std::string& path) { return path.ends_with(".snap"); });
    if (stored > 0)
      say("snapshots",
          fmt::format(
              "{}, which a run reads and never writes", plural(static_cast<std::size_t>(stored), "stored file")));
  }

  void runner(const ProjectTree& tree) {
    std::map<std::string_view, std::size_t> asked;  // by module
    std::size_t fit = 0;
    std::size_t nearly = 0;
    const std::set<std::string_view> tests(tree.tests.begin(), tree.tests.end());
    for (const SourceFile& file : tree.gated.files) {
      if (tests.count(file.path) == 0) continue;
      const auto found = std::find_if(
          kRunners.begin(), kRunners.end(), [&](const Runner& one) { return imports(file.bytes, one.module); });
      if (found != kRunners.end()) ++asked[found->module];
      if (found == kRunners.end() || found->is_bun)
        ++fit;
      else if (found->has_stand_in)
        ++nearly;
    }
    std::vector<std::string> modules;
    for (const auto& [module, count] : asked) modules.push_back(fmt::format("{} import {}", count, module));
    const std::size_t foreign = tests.size() - std::min(tests.size(), fit + nearly);
    const std::string script = test_script();
    std::string text = fmt::format("{}{}{}",
        script.empty() ? "" : fmt::format("`{}` in package.json; ", printable(script)), fmt::join(modules, ", "),
        modules.empty() ? "the tests import none: they use the names that are there without an import" : "");
    if (foreign > 0) {
      return say("runner", std::move(text),
          fmt::format("{} of {} files need a runner that bun does not have: write new tests with bun:test, and name "
                      "the others' folders to guard run",
              foreign, tests.size()),
          fit + nearly > 0);
    }
    if (nearly > 0) {
      text += "; bun has a stand-in with expect, mocks, spies and timers, and what it lacks fails as with `bun test`";
    }
    say("runner", std::move(text));
  }

  std::string test_script() const {
    const auto text = read_file(project_ / "package.json", kPackageBytesMax, FollowLinks::no);
    if (!text) return {};
    const auto package = parse_json(*text);
    if (!package || !package->is_object() || !package->contains("scripts")) return {};
    const auto& scripts = (*package)["scripts"];
    return scripts.is_object() && scripts.contains("test") && scripts["test"].is_string()
        ? scripts["test"].get<std::string>()
        : std::string();
  }

  void packages() {
    std::error_code failure;
    if (!fs::exists(project_ / "package.json", failure))
      return say("packages", "there is no package.json", "make one: {} will do", false);
    const auto dependencies = read_dependencies(project_);
    if (!dependencies) return say("packages", dependencies.error());
    const std::size_t workspaces = dependencies->workspaces.size() - 1 - dependencies->folders.size();
    std::string text =
        dependencies->lockfile.empty() ? "none are needed" : fmt::format("fixed by {}", dependencies->lockfile);
    if (workspaces > 0) text += fmt::format(", with {}", plural(workspaces, "workspace"));
    if (!dependencies->lockfile.empty())
      text += "; `guard image build` installs them without scripts, and says which native ones will not load";
    say("packages", std::move(text));
  }

  void preload() {
    const auto preload = read_preload(project_);
    if (!preload) return say("preload", preload.error());
    if (!preload->names.empty())
      say("preload", fmt::format("{} of bunfig.toml, as HEAD has them", fmt::join(preload->names, ", ")));
  }

  const fs::path& project_;
  const CancelToken& cancel_;
  FirstLook look_;
};

}  // namespace

FirstLook first_look(const fs::path& project, const CancelToken& cancel) { return Look(project, cancel).look(); }

}  // namespace guard

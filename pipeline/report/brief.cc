#include "pipeline/report/brief.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <nlohmann/json.hpp>
#include <string_view>
#include <vector>

#include "common/file_io.h"
#include "common/text/foreign_json.h"
#include "common/text/text.h"
#include "common/text/time_text.h"
#include "pipeline/report/json_parts.h"
#include "pipeline/run/project_tree.h"

namespace guard {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::ordered_json;

constexpr std::uint64_t kPackageBytesMax = 1u << 20;
constexpr std::size_t kPackagesShown = 60;

constexpr std::pair<Tier, std::string_view> kTiers[] = {
    {Tier::always, "Refused everywhere"},
    {Tier::docker, "Refused everywhere, too: secrets"},
    {Tier::host, "Refused where no container engine is at hand"},
};

// In the order of package.json; nothing where there is none that can be read.
std::vector<std::string> packages_of(const fs::path& project) {
  std::vector<std::string> names;
  const auto text = read_file(project / "package.json", kPackageBytesMax);
  const auto document = text ? parse_json(*text) : Result<nlohmann::json>(text.error());
  if (!document || !document->is_object()) return names;
  for (const char* key : {"dependencies", "devDependencies"}) {
    const auto list = document->find(key);
    if (list == document->end() || !list->is_object()) continue;
    for (const auto& [name, version] : list->items()) names.push_back(printable(name));
  }
  return names;
}

std::vector<std::string> requirements(const Config& config) {
  std::vector<std::string> list = {
      "Tests import from \"bun:test\". Each file runs in a process of its own; what one file leaves, the next one does "
      "not find.",
      "Every test file needs a test that passes, and not all of its tests skipped. `test.only`, `test.failing` and new "
      "snapshots are refused.",
  };
  if (config.run.require_assertions == Assertions::file)
    list.push_back("Every test file needs at least one assertion that runs (`expect(...)`).");
  if (config.run.require_assertions == Assertions::test)
    list.push_back("Every test needs an assertion that runs (`expect(...)`).");
  list.push_back(
      "Wait for every promise: `await` it, or return it from the test. An assertion that nobody waits for, or that is "
      "caught, refuses the run.");
  list.push_back(
      "There is no network but the loopback interface, and no variable of the outside: only HOME, PATH, TMPDIR, LANG "
      "and CI are set.");
  list.push_back("Nothing is installed while tests run; a package that is not in the lockfile is not there.");
  list.push_back(fmt::format("Limits of a run: {}, {} MB of memory, {} processes, {} KB of output.",
      time_text(config.namespace_sandbox.timeout), config.limits.memory_bytes >> 20, config.limits.pids,
      config.limits.output_keep_bytes >> 10));
  list.push_back(
      "Never write keys, tokens, JWTs or private keys as literals, not even made-up ones; join them from parts: "
      "`[\"sk\", \"test\"].join(\"-\")`.");
  return list;
}

std::vector<std::string> layout(const BriefRequest& request) {
  const auto& paths = request.config->check.paths;
  std::vector<std::string> list = {fmt::format("Write only files that match: {}", fmt::join(paths, ", "))};
  if (has_sandbox_folder(request.project)) {
    list.push_back(
        "Inside, `src/`, `package.json` and `tsconfig.json` are there read-only, and `sandbox/` is writable. Import "
        "code from `../src/...`.");
  } else {
    list.push_back(
        "Inside, the project lies under /app as git has it, less what .gitignore leaves out, `.env*` and `.git`. What "
        "tests write is thrown away.");
  }
  list.push_back("For files of a test's own use `mkdtempSync(join(tmpdir(), \"name-\"))`; /tmp is empty at the start.");
  return list;
}

constexpr std::string_view kExample =
    "import { expect, test } from \"bun:test\";\n"
    "import { parse } from \"../src/parse\";\n\n"
    "test(\"parse refuses an empty text\", () => {\n"
    "  expect(() => parse(\"\")).toThrow(\"empty\");\n"
    "});\n\n"
    "test(\"parse reads a number\", async () => {\n"
    "  expect(await parse(\"42\")).toEqual({ kind: \"number\", value: 42 });\n"
    "});\n";

// Without those that look into one kind of file only: they tell nothing to who writes tests.
std::vector<const Rule*> rules_of(const RuleSet& rules, Tier tier) {
  std::vector<const Rule*> list;
  for (const Rule& rule : rules.rules()) {
    if (rule.tier == tier && rule.severity == Severity::block && rule.paths.empty()) list.push_back(&rule);
  }
  return list;
}

}  // namespace

std::string brief_text(const BriefRequest& request) {
  std::string text =
      "## How the code you write here is judged\n\nguard checks it before it runs, and runs its tests in a sandbox. "
      "What follows is all you need to know to pass.\n\n### Where\n\n";
  for (const auto& line : layout(request)) text += fmt::format("- {}\n", line);
  if (const auto packages = packages_of(request.project); !packages.empty())
    text += fmt::format("- Packages: {}\n", listed(packages, kPackagesShown));
  text += "\n### What the tests are held to\n\n";
  for (const auto& line : requirements(*request.config)) text += fmt::format("- {}\n", line);
  for (const auto& [tier, heading] : kTiers) {
    text += fmt::format("\n### {}\n\n", heading);
    for (const Rule* rule : rules_of(*request.rules, tier))
      text += fmt::format("- Code that {}. Instead: {}\n", rule->title, rule->fix);
  }
  return text + fmt::format("\n### A good example\n\n```ts\n{}```\n", kExample);
}

std::string brief_document(const BriefRequest& request) {
  Json document = {{"version", 1}, {"layout", layout(request)}, {"write", request.config->check.paths},
      {"packages", packages_of(request.project)}, {"requirements", requirements(*request.config)},
      {"refused", Json::array()}};
  for (const auto& [tier, heading] : kTiers) {
    for (const Rule* rule : rules_of(*request.rules, tier))
      document["refused"].push_back(
          {{"rule", rule->id}, {"tier", to_string(tier)}, {"code_that", rule->title}, {"instead", rule->fix}});
  }
  document["example"] = kExample;
  return dump(document);
}

}  // namespace guard

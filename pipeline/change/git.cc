#include "pipeline/change/git.h"

#include <fmt/format.h>
#include <signal.h>

#include <algorithm>
#include <cstdlib>

#include "common/text/text.h"
#include "common/time.h"
#include "pipeline/change/git_objects.h"
#include "runner/process/subprocess.h"

namespace guard {
namespace {

constexpr std::uint64_t kOutputMax = 256u << 20;
// Patterns can be made that git needs minutes for. Nothing is passed over then.
constexpr milliseconds kIgnoredDeadline{3'000};

// Complete: what a hostile repository or a careless shell could slip in (GIT_EXTERNAL_DIFF, GIT_PAGER, LD_PRELOAD) is
// left out. GIT_DIR and its kin are how git tells a hook which index it is about to commit.
std::map<std::string, std::string> environment(const std::map<std::string, std::string>& instead) {
  // A missing object is not to be fetched: the repository names the program that would do it. Older gits do not know
  // GIT_NO_LAZY_FETCH; a list of protocols without any that exists stops them, too.
  std::map<std::string, std::string> env = {{"GIT_TERMINAL_PROMPT", "0"}, {"GIT_OPTIONAL_LOCKS", "0"}, {"LC_ALL", "C"},
      {"GIT_NO_LAZY_FETCH", "1"}, {"GIT_ALLOW_PROTOCOL", "none"},
      // They would give commits other parents than they have.
      {"GIT_GRAFT_FILE", "/dev/null"}};
  for (const char* name : {"PATH", "HOME", "GIT_DIR", "GIT_INDEX_FILE", "GIT_WORK_TREE", "GIT_COMMON_DIR",
           "GIT_OBJECT_DIRECTORY", "GIT_ALTERNATE_OBJECT_DIRECTORIES", "GIT_QUARANTINE_PATH", "XDG_CONFIG_HOME"}) {
    const bool of_repository = std::string_view(name).starts_with("GIT_");
    if (!instead.empty() && of_repository) continue;
    if (const char* value = std::getenv(name)) env[name] = value;
  }
  for (const auto& [name, value] : instead) env[name] = value;
  return env;
}

// git takes an index that is not there for an empty one, and nothing at all would be staged.
Result<void> require_index(const std::filesystem::path& folder) {
  const char* name = std::getenv("GIT_INDEX_FILE");
  if (name == nullptr) return ok();
  std::error_code failure;
  if (std::filesystem::exists(folder / name, failure)) return ok();
  return Error(ErrorCode::input_invalid, fmt::format("GIT_INDEX_FILE names {}, which is not there", printable(name)))
      .hint("call guard from the folder that git started the hook in");
}

// One whose guard was killed a moment ago may still hold the lock of a reference.
std::vector<std::string> harmless_git() {
  return {"git", "--no-pager", "--no-replace-objects", "-c", "core.hooksPath=/dev/null", "-c", "core.fsmonitor=false",
      "-c", "diff.external=", "-c", "core.quotePath=false", "-c", "core.filesRefLockTimeout=3000", "-c",
      "advice.graftFileDeprecated=false"};
}

}  // namespace

Result<std::string> Git::read(
    const std::vector<std::string>& arguments, std::string_view stdin_text, std::chrono::milliseconds deadline) const {
  std::vector<std::string> argv = harmless_git();
  argv.emplace_back("--literal-pathspecs");
  argv.insert(argv.end(), arguments.begin(), arguments.end());
  return run(std::move(argv), stdin_text, deadline).context(fmt::format("asking git {}", arguments.front()));
}

Result<std::string> Git::run(
    std::vector<std::string> argv, std::string_view stdin_text, std::chrono::milliseconds deadline) const {
  ProcessSpec spec;
  spec.argv = std::move(argv);
  spec.cwd = folder_.string();
  spec.env = environment(variables_);
  spec.stdin_text = std::string(stdin_text);
  spec.deadline = Deadline::after(deadline);
  // What moves a reference comes to its end in milliseconds and leaves no *.lock file, which would refuse every later
  // change: a signal can meet git between the making of that file and its note to remove it.
  const bool moves = std::find(spec.argv.begin(), spec.argv.end(), "update-ref") != spec.argv.end();
  spec.death_signal = moves ? 0 : SIGTERM;
  auto collected = collect_process(spec, kOutputMax, cancel_);
  if (!collected) {
    if (collected.error().code() != ErrorCode::file_not_found)
      return std::move(collected).context("running git").error();
    return Error(ErrorCode::dependency_unsatisfied, "there is no git on the PATH").hint("install git");
  }
  const Outcome& outcome = collected->result.outcome;
  if (outcome.kind == OutcomeKind::cancelled) return Error(ErrorCode::cancelled, "stopped while git was running");
  if (outcome.kind != OutcomeKind::exited) return Error(ErrorCode::execution_failed, "git did not come to an end");
  if (outcome.value != 0) {
    std::string words = collected->err;
    while (!words.empty() && words.back() == '\n') words.pop_back();
    return Error(ErrorCode::input_invalid, fmt::format("git failed: {}", printable(words)))
        .hint("this needs a git repository that git itself can read: try `git status` here");
  }
  if (collected->truncated) return Error(ErrorCode::file_too_large, "git printed more than guard reads");
  return std::move(collected->out);
}

Result<std::filesystem::path> Git::top() const {
  const auto ask = [&](const std::filesystem::path& from, const char* what) {
    return Git(from, cancel_).read({"rev-parse", what});
  };
  GUARD_TRY_ASSIGN(std::string text, ask(folder_, "--show-toplevel"));
  const std::filesystem::path top = without_line_end(std::move(text));
  std::error_code failure;
  if (!std::filesystem::equivalent(top, folder_, failure) || failure) {
    GUARD_TRY_ASSIGN(const std::string ours, ask(folder_, "--absolute-git-dir"));
    GUARD_TRY_ASSIGN(const std::string theirs, ask(top, "--absolute-git-dir"));
    if (ours != theirs) {
      return Error(ErrorCode::input_invalid,
          fmt::format("the work tree of this repository is said to be {}, which belongs to another one",
              printable(top.native())))
          .hint("look at core.worktree: `git config --show-origin core.worktree`");
    }
  }
  GUARD_TRY(require_index(top));
  return top;
}

Result<std::vector<std::string>> Git::ignored() const {
  GUARD_TRY(require_index(folder_));
  GUARD_TRY_ASSIGN(const std::string listed,
      read({"--work-tree=.", "ls-files", "-z", "--others", "--ignored", "--exclude-per-directory=.gitignore",
               "--directory"},
          {}, kIgnoredDeadline));
  const auto names = pieces_of(listed, '\0');
  return std::vector<std::string>(names.begin(), names.end());
}

std::function<std::vector<std::string>(const std::filesystem::path&)> Git::ignored_names(const CancelToken& cancel) {
  return [&cancel](const std::filesystem::path& top) {
    auto names = Git(top, cancel).ignored();
    return names ? std::move(*names) : std::vector<std::string>();
  };
}

Result<std::string> Git::why_ignored(std::string_view names, std::chrono::milliseconds deadline) const {
  if (names.empty()) return std::string();
  // check-ignore knows no literal pathspecs, and a name may begin like a pathspec's magic words: "./" in front makes it
  // none.
  std::string input;
  for (const auto name : pieces_of(names, '\0')) input.append("./").append(name).push_back('\0');
  std::vector<std::string> argv = harmless_git();
  argv.insert(argv.end(),
      {"--work-tree=.", "-c", "core.excludesFile=/dev/null", "check-ignore", "-z", "-v", "--no-index", "--stdin"});
  return run(std::move(argv), input, deadline).context("asking git check-ignore");
}

bool Git::is_shallow() const {
  const auto answer = read({"rev-parse", "--is-shallow-repository"});
  return answer && answer->starts_with("true");
}

Result<std::filesystem::path> Git::hooks_folder() const {
  // Without read()'s options: one of them would be the answer. Nothing is run by this question.
  GUARD_TRY_ASSIGN(std::string text,
      run({"git", "--no-pager", "-c", "core.fsmonitor=false", "rev-parse", "--git-path", "hooks"}, {}, kDeadline));
  return (folder_ / without_line_end(std::move(text))).lexically_normal();
}

Result<std::filesystem::path> Git::common_folder() const {
  GUARD_TRY_ASSIGN(std::string text, read({"rev-parse", "--git-common-dir"}));
  return (folder_ / without_line_end(std::move(text))).lexically_normal();
}

}  // namespace guard

#include "pipeline/git.h"

#include <fmt/format.h>

#include <array>
#include <cstdlib>

#include "common/text.h"
#include "common/time.h"
#include "runner/subprocess.h"

namespace guard {
namespace {

constexpr std::uint64_t kOutputMax = 256u << 20;
// Reading an index takes milliseconds; a minute means a network file system or a hang.
constexpr milliseconds kDeadline{60'000};

// Complete: what a hostile repository or a careless shell could slip in (GIT_EXTERNAL_DIFF, GIT_PAGER, LD_PRELOAD) is left out.
// GIT_DIR and its kin are how git tells a hook which index it is about to commit.
std::map<std::string, std::string> environment() {
  std::map<std::string, std::string> env = {{"GIT_TERMINAL_PROMPT", "0"}, {"GIT_OPTIONAL_LOCKS", "0"}, {"LC_ALL", "C"}, {"GIT_NO_LAZY_FETCH", "1"}};
  for (const char* name : {"PATH", "HOME", "GIT_DIR", "GIT_INDEX_FILE", "GIT_WORK_TREE", "GIT_COMMON_DIR", "GIT_OBJECT_DIRECTORY",
                           "GIT_ALTERNATE_OBJECT_DIRECTORIES", "GIT_QUARANTINE_PATH", "XDG_CONFIG_HOME"}) {
    if (const char* value = std::getenv(name)) env[name] = value;
  }
  return env;
}

}  // namespace

Result<std::string> Git::read(const std::vector<std::string>& arguments, std::string_view stdin_text) const {
  ProcessSpec spec;
  spec.argv = {"git",  "--no-pager", "--no-replace-objects", "--literal-pathspecs", "-c", "core.hooksPath=/dev/null", "-c", "core.fsmonitor=false",
               "-c", "diff.external=", "-c", "core.quotePath=false"};
  spec.argv.insert(spec.argv.end(), arguments.begin(), arguments.end());
  spec.cwd = folder_.string();
  spec.env = environment();
  spec.stdin_text = std::string(stdin_text);
  spec.deadline = Deadline::after(kDeadline);
  auto collected = collect_process(spec, kOutputMax, cancel_);
  if (!collected) {
    if (collected.error().code() != ErrorCode::file_not_found) return std::move(collected).context("running git").error();
    return Error(ErrorCode::dependency_unsatisfied, "there is no git on the PATH").hint("install git");
  }
  const Outcome& outcome = collected->result.outcome;
  if (outcome.kind == OutcomeKind::cancelled) return Error(ErrorCode::cancelled, "stopped while git was running");
  if (outcome.kind != OutcomeKind::exited) return Error(ErrorCode::execution_failed, "git did not come to an end");
  if (outcome.value != 0) {
    std::string words = collected->err;
    while (!words.empty() && words.back() == '\n') words.pop_back();
    return Error(ErrorCode::input_invalid, fmt::format("git {} failed: {}", arguments.front(), printable(words)))
        .hint("this needs a git repository that git itself can read: try `git status` here");
  }
  if (collected->truncated) return Error(ErrorCode::file_too_large, "git printed more than guard reads");
  return std::move(collected->out);
}

Result<std::filesystem::path> Git::top() const {
  GUARD_TRY_ASSIGN(std::string text, read({"rev-parse", "--show-toplevel"}));
  if (!text.empty() && text.back() == '\n') text.pop_back();
  return std::filesystem::path(text);
}

}  // namespace guard

#include "pipeline/hooks/commit_hook.h"

#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <system_error>

#include "common/file_io.h"
#include "common/text/text.h"
#include "pipeline/change/git.h"

namespace guard {
namespace {

namespace fs = std::filesystem;

// How a hook is known as guard's, whatever its version. Scripts of later versions keep this line.
constexpr std::string_view kMark = "# guard pre-commit hook.";
constexpr std::string_view kProgramLine = "\nguard='";
// A hook is a page of text; whatever is larger was not written by guard.
constexpr std::uint64_t kHookBytesMax = 1u << 20;

// The program that a script of ours names; anything where its line was edited.
std::string program_of(const std::string& script) {
  const std::size_t begin = script.find(kProgramLine) + kProgramLine.size();
  const std::size_t end = script.find("'\nif [", begin);
  if (begin >= script.size() || end == std::string::npos) return {};
  return replaced(script.substr(begin, end - begin), "'\\''", "'");
}

bool is_program(const fs::path& path) {
  struct stat status {};
  return path.is_absolute() && ::stat(path.c_str(), &status) == 0 && S_ISREG(status.st_mode) &&
      ::access(path.c_str(), X_OK) == 0;
}

std::string why_outdated(const std::string& script, mode_t mode) {
  if ((mode & S_IXUSR) == 0) return "it is not executable, so git passes it by";
  const std::string program = program_of(script);
  if (script != commit_hook_script(program)) return "it was written by another version of guard, or edited";
  if (!is_program(program)) return fmt::format("{} is not there any more", printable(program));
  return {};
}

// Where git looks for hooks. Asked for at the top: a relative core.hooksPath is meant from there.
Result<fs::path> hooks_folder(const fs::path& top, const CancelToken& cancel) {
  GUARD_TRY_ASSIGN(fs::path folder, Git(top, cancel).hooks_folder());
  struct stat status {};
  if (::stat(folder.c_str(), &status) == 0 ? !S_ISDIR(status.st_mode) : errno != ENOENT) {
    return Error(ErrorCode::input_invalid,
        fmt::format("git looks for hooks in {}, which is no folder", printable(folder.native())))
        .hint("hooks are switched off by core.hooksPath: `git config --show-origin core.hooksPath` says where");
  }
  return folder;
}

bool lies_in(const fs::path& inner, const fs::path& outer) {
  const auto relative = inner.lexically_relative(outer);
  return !relative.empty() && *relative.begin() != "..";
}

}  // namespace

std::string commit_hook_script(const fs::path& program) {
  // A name that is looked up on the PATH must come out absolute: the folder that a hook runs in is the repository's,
  // and a PATH with "." in it would let the repository bring its own guard.
  return fmt::format(
      "#!/bin/sh\n"
      "{} Written by `guard hook install`, taken away by `guard hook uninstall`.\n"
      "# Judges what is about to be committed. Where guard cannot be found, nothing is committed.\n"
      "guard={}\n"
      "if [ ! -f \"$guard\" ] || [ ! -x \"$guard\" ]; then\n"
      "  guard=$(command -v guard) || guard=\n"
      "  case $guard in /*) ;; *) guard= ;; esac\n"
      "fi\n"
      "if [ -z \"$guard\" ]; then\n"
      "  echo 'guard: not committed: the program guard is neither where this hook was told nor on the PATH.' >&2\n"
      "  echo 'guard: install it and run `guard hook install` here again, or remove this hook.' >&2\n"
      "  exit 1\n"
      "fi\n"
      "exec \"$guard\" check --staged\n",
      kMark, shell_quoted(program.native()));
}

Result<CommitHook> find_commit_hook(const fs::path& folder, const CancelToken& cancel) {
  GUARD_TRY_ASSIGN(const fs::path top, Git(folder, cancel).top());
  GUARD_TRY_ASSIGN(const fs::path hooks, hooks_folder(top, cancel));
  GUARD_TRY_ASSIGN(const fs::path common, Git(top, cancel).common_folder());
  CommitHook hook;
  hook.path = hooks / "pre-commit";
  std::error_code ignored;
  const fs::path resolved = fs::weakly_canonical(hooks, ignored);
  hook.shared = !lies_in(resolved, fs::weakly_canonical(common, ignored)) &&
      !lies_in(resolved, fs::weakly_canonical(top, ignored));

  struct stat status {};
  if (::lstat(hook.path.c_str(), &status) != 0) {
    if (errno == ENOENT) return hook;
    return Error::from_errno(ErrorCode::io_error, printable(hook.path.native()), errno);
  }
  hook.state = HookState::foreign;
  if (!S_ISREG(status.st_mode)) return hook;
  auto script = read_file(hook.path, kHookBytesMax, FollowLinks::no);
  if (!script && script.error().code() != ErrorCode::file_too_large) return std::move(script).error();
  if (!script || script->find("\n" + std::string(kMark)) == std::string::npos) return hook;
  hook.why = why_outdated(*script, status.st_mode);
  hook.state = hook.why.empty() ? HookState::installed : HookState::outdated;
  return hook;
}

Result<CommitHook> install_commit_hook(const fs::path& folder, const fs::path& program, const CancelToken& cancel) {
  if (!is_program(program)) {
    return Error(
        ErrorCode::input_invalid, fmt::format("{} is no program that a hook could call", printable(program.native())));
  }
  GUARD_TRY_ASSIGN(CommitHook hook, find_commit_hook(folder, cancel));
  if (hook.state == HookState::foreign) {
    return Error(
        ErrorCode::input_invalid, fmt::format("{} is there already, and not guard's", printable(hook.path.native())))
        .hint(fmt::format(
            "put this line into it: {} check --staged || exit 1", printable(shell_quoted(program.native()))));
  }
  const std::string script = commit_hook_script(program);
  if (hook.state == HookState::installed) {
    GUARD_TRY_ASSIGN(const std::string standing, read_file(hook.path, kHookBytesMax, FollowLinks::no));
    if (standing == script) return hook;
  }
  GUARD_TRY(make_folders(hook.path.parent_path()));
  GUARD_TRY(write_file_atomically(hook.path, script, 0755));
  hook.state = HookState::installed;
  hook.why.clear();
  return hook;
}

Result<CommitHook> uninstall_commit_hook(const fs::path& folder, const CancelToken& cancel) {
  GUARD_TRY_ASSIGN(CommitHook hook, find_commit_hook(folder, cancel));
  if (hook.state == HookState::absent) return hook;
  if (hook.state == HookState::foreign) {
    return Error(
        ErrorCode::input_invalid, fmt::format("{} is not guard's, and is left alone", printable(hook.path.native())))
        .hint("remove it by hand, or take guard's line out of it");
  }
  if (::unlink(hook.path.c_str()) != 0 && errno != ENOENT) {
    return Error::from_errno(
        ErrorCode::io_error, fmt::format("cannot remove {}", printable(hook.path.native())), errno);
  }
  hook.state = HookState::absent;
  hook.why.clear();
  return hook;
}

}  // namespace guard

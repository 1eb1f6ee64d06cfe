// The pre-commit hook of a repository that calls guard: where it belongs, what stands there, putting it there, taking
// it away.
//
// What guard has not written is never touched: another hook stands there because somebody wanted it.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>

#include "common/cancel.h"
#include "common/enum_names.h"
#include "common/result.h"

namespace guard {

enum class HookState : std::uint8_t {
  absent,
  installed,  // as this guard would write it, and git can run it
  outdated,   // guard's own, but of another version, edited, not executable, or naming a program that is gone
  foreign,    // somebody else's, links included
};
template <>
inline constexpr std::array<std::string_view, 4> kNamesOf<HookState> = {"absent", "installed", "outdated", "foreign"};

struct CommitHook {
  std::filesystem::path path;  // where git looks for it: core.hooksPath, linked work trees and submodules included
  HookState state = HookState::absent;
  std::string why;      // of `outdated`: one sentence
  bool shared = false;  // the folder lies outside of this repository: other repositories use the hook, too
};

// The script. `program` is an absolute path; it is looked for first, then `guard` on the PATH. Without either, it says
// so and ends with 1, and nothing is committed.
std::string commit_hook_script(const std::filesystem::path& program);

// In the repository that holds `folder`. INPUT_INVALID outside of one, or where git's hooks are switched off.
Result<CommitHook> find_commit_hook(const std::filesystem::path& folder, const CancelToken& cancel);

// Writes the hook, through a rename. Does nothing where the same script stands already; INPUT_INVALID, with what to
// write into it by hand, where a foreign one does.
Result<CommitHook> install_commit_hook(
    const std::filesystem::path& folder, const std::filesystem::path& program, const CancelToken& cancel);

// Removes a hook of guard's. An absent one is no error, a foreign one is.
Result<CommitHook> uninstall_commit_hook(const std::filesystem::path& folder, const CancelToken& cancel);

}  // namespace guard

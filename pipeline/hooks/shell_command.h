// What a shell command says about commits. No shell is parsed in full: what is not understood is "not plain", and the
// caller then wants the pre-commit hook, which sees the commit itself.
#pragma once

#include <string_view>

namespace guard {

struct ShellReading {
  bool commits = false;      // a `git commit` is in it, or seems to be
  bool plain = false;        // it is one `git commit` of what is staged now, and nothing else
  bool skips_hooks = false;  // --no-verify, another core.hooksPath, SKIP=..., GUARD_...=
  bool elsewhere = false;    // -C, --git-dir or --work-tree: of another folder, perhaps of another repository
};

ShellReading read_shell_command(std::string_view command);

}  // namespace guard

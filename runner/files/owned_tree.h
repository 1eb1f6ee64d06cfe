// A folder given to the user that a sandbox runs as, where guard runs as root.
#pragma once

#include <sys/types.h>

#include <filesystem>

#include "common/result.h"

namespace guard {

// Everything below `folder`, and it, belongs to this user and group afterwards; links are not followed, what lies on
// other file systems is left. Nothing is done where the folder itself belongs to the user already, so a call that was
// interrupted must not have changed the folder first: it comes last. IO_ERROR.
Result<void> give_tree(const std::filesystem::path& folder, uid_t user);

}  // namespace guard

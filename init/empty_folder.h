// Empties a folder between two programs of one sandbox, so that the second finds it as the first one did.
//
// Call it once every process of the first has ended. The tree is hostile: links are not followed, no folder is too deep or too
// closed. What guard mounted inside (checked files, the folders around them) stays, and such folders are emptied too.
#pragma once

#include <sys/types.h>

namespace guard::init {

// false, with errno, when anything could not be removed: what comes next would not start afresh. `mode` is what the folder
// itself gets back.
bool empty_folder(const char* path, mode_t mode);

}  // namespace guard::init

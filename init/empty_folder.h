// Empties a folder between two programs of one sandbox, so that the second finds it as the first one did.
//
// Call it once every process of the first has ended. The tree is hostile: links are not followed, no folder is too deep
// or too closed.
#pragma once

#include <sys/types.h>

namespace guard::init {

// false, with errno, when anything could not be removed: what comes next would not start afresh. `mode` is what the
// folder itself gets back.
bool empty_folder(const char* path, mode_t mode);

// An entry of an open folder, with all that is in it. What is gone already counts as removed.
bool remove_entry(int folder, const char* name);

}  // namespace guard::init

// A folder in memory that starts with files which the program must not change: what was checked. The program has our
// user, so a mode can't keep it from a file for good; instead it can't do it unseen. The kernel tells (inotify, a watch
// on each file and folder that was copied, in descriptors of ours) of everything that changes one, its name, its place
// or its attributes, also when it is put back.
//
// There is one such folder. All calls while no program runs. Memory is static.
#pragma once

#include <sys/types.h>

#include <cstddef>

namespace guard::init {

struct FillResult {
  const char* failed = nullptr;  // the step that failed, with errno; nullptr: none did
  const char* sysctl = nullptr;  // what bounds it, where it is a limit of this machine
};

// Copies what `source` holds (runner/init_side/fill_format.h) into `folder`, which is empty, and begins to watch. guard
// wrote the file, so it is not hostile; one that is not whole is refused.
FillResult fill_folder(const char* folder, const char* source);

// `path`: below the filled folder.
bool was_copied(const char* path);

// What was made in a folder that was copied. It may be gone again.
struct MadeEntry {
  const char* folder;  // relative to the filled one; "" for itself
  const char* name;
};

struct FolderChanges {
  bool touched = false;  // what was copied is not surely what the program saw
  char path[256] =
      {};  // of the first that was touched, below the folder, its end where it is long, on one line; may be empty
  // Each once.
  const MadeEntry* made = nullptr;
  size_t made_count = 0;
  bool more_made = false;  // more than can be remembered
};

// What the program that has ended did to it since it was filled or restored. Valid until one of these is called.
const FolderChanges& folder_changes();

// Makes it what it was after fill_folder(), where anything changed. `mode`: of the folder itself.
FillResult restore_folder(mode_t mode);

// Once no program comes any more, so that our end takes less time.
void end_watching();

}  // namespace guard::init

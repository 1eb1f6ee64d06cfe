// A folder in memory that starts with a copy of a tree which the program must not change: what was checked. The program has our user,
// so a mode can't keep it from a file for good; instead it can't do it unseen. The kernel tells (inotify, a watch on each file and
// folder that was copied, in descriptors of ours) of everything that changes one, its name, its place or its attributes, also when it is put back.
//
// There is one such folder. All calls while no program runs. Memory is static, and the queues are bounded: a watch tells once.
#pragma once

#include <cstddef>

namespace guard::init {

// Copies `source` (read-only, not hostile: guard staged it) into `folder`, which is empty, and begins to watch. false, with errno.
bool fill_folder(const char* folder, const char* source);

struct FolderChanges {
  bool made = false;     // something lies there that was not copied, or did
  bool touched = false;  // what was copied is not surely what the program saw
  char path[256] = {};   // of the first that was touched, below the folder, its end where it is long; printable; may be empty
};

// What the program that has ended did to it since fill_folder(). It goes on telling the same until the next fill_folder().
FolderChanges folder_changes();

}  // namespace guard::init

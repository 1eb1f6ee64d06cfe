// Hands out what a run wrote into one folder, as the frames of runner/init_side/init_protocol.h, and tells what it
// leaves behind.
//
// Call it once every other process has ended: then nothing changes under the walk. The tree itself is hostile all the
// same. It is walked one name at a time from an open folder, links are never followed, and only regular files with one
// name are read. Memory is static; files, bytes, depth, entries and time are bounded.
#pragma once

#include "init/filled_folder.h"

namespace guard::init {

struct CollectOptions {
  const char* folder = nullptr;  // nothing is collected without one
  // Where `folder` was filled: what became of it. What was copied is passed over; nothing is collected where it was
  // touched.
  const FolderChanges* changes = nullptr;
  long long files_max = 0;  // 0: only names are told
  long long bytes_max = 0;  // of all files together
  long long file_bytes_max = 0;
};

// Guard wants the run to end: what is left of the folder stays.
struct MustEnd {
  bool (*asked)(void* context);
  void* context;
};

enum class Collecting { names, files };

// Ends with a collected frame. Does not return when a file can't be read as large as it was announced.
void collect_files(const CollectOptions& options, Collecting what, MustEnd must_end);

}  // namespace guard::init

// A change to a tree of files, as values: what git's index, a range of commits, a patch or a generator's clone has that
// its base has not. Nothing here is read from a disk.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "validator/finding.h"

namespace guard {

// What stands at a path. `other` is whatever git cannot keep: a device, a socket, a FIFO.
enum class EntryKind : std::uint8_t { absent, file, executable, link, submodule, other };

// Lines of the new text, [first, last], counted by line feeds from 1; ascending and apart from each other.
using LineRanges = std::vector<std::pair<std::uint32_t, std::uint32_t>>;

struct ChangedFile {
  std::string path;  // seen from the root of the tree, joined with '/', any bytes but NUL
  EntryKind before = EntryKind::absent;
  EntryKind after = EntryKind::absent;
  std::string old_bytes;  // of a link: where it points; empty for a submodule
  std::string new_bytes;
  std::uint64_t new_size = 0;  // what the file holds; new_bytes is empty where that is more than was read
  bool unread = false;         // new_bytes was not read: too large, or not to be read. Never clean
  LineRanges added;
  std::uint64_t lines_added = 0;
  std::uint64_t lines_removed = 0;
};

struct ChangeSet {
  std::vector<ChangedFile> files;  // sorted by path, each path once; a rename is a file gone and a file new
  // The files that stay as they are, where somebody knows: a new name must not differ from one of theirs in case alone.
  std::vector<std::string> unchanged;
  // What was wrong with the change before anybody looked at its contents: too many files to be listed, say.
  std::vector<Finding> findings;
};

}  // namespace guard

// Files of which a name that sounds like a secret says nothing: fixtures, examples, and what the file at hand wrote
// itself.
#pragma once

#include <cstddef>
#include <map>
#include <set>
#include <string_view>
#include <utility>

#include "validator/views/source_view.h"

namespace guard {

// Is it below a folder of fixtures or of what a build makes, or called an example (made_up_files of word_lists.toml)?
// Folders that a `..` leaves again don't count, nor do absolute paths.
bool is_made_up_file(std::string_view path);

// The paths that a file writes to, as the strings view tells them.
class WrittenPaths {
 public:
  // The views must outlive it.
  explicit WrittenPaths(const SourceViews& views);

  // Is the path at [begin, end) of the strings view only written to, or one in a folder of the test's own, or of which
  // the folder is not known, that was written to before?
  bool covers(std::size_t begin, std::size_t end) const;

 private:
  const SourceViews& views_;
  std::map<std::string_view, std::size_t> first_;         // where it is written first
  std::set<std::pair<std::size_t, std::size_t>> places_;  // in the source
};

}  // namespace guard

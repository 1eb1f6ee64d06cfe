#include "common/text/glob.h"

#include <vector>

namespace guard {

// One row of a table per pattern position: reachable[i] says whether the pattern so far can have eaten path[0..i).
bool glob_matches(std::string_view pattern, std::string_view path) {
  std::vector<char> reachable(path.size() + 1, 0);
  std::vector<char> next;
  reachable[0] = 1;
  std::size_t at = 0;
  while (at < pattern.size()) {
    next.assign(path.size() + 1, 0);
    if (pattern.substr(at, 3) == "**/") {
      // Nothing, or any number of whole segments.
      bool open = false;
      for (std::size_t i = 0; i <= path.size(); ++i) {
        if (open && i > 0 && path[i - 1] == '/') next[i] = 1;
        if (reachable[i]) {
          next[i] = 1;
          open = true;
        }
      }
      at += 3;
    } else if (pattern.substr(at, 2) == "**") {
      bool open = false;
      for (std::size_t i = 0; i <= path.size(); ++i) {
        open = open || reachable[i];
        next[i] = open;
      }
      at += 2;
    } else if (pattern[at] == '*') {
      bool open = false;
      for (std::size_t i = 0; i <= path.size(); ++i) {
        if (i > 0 && path[i - 1] == '/') open = false;
        open = open || reachable[i];
        next[i] = open;
      }
      ++at;
    } else {
      for (std::size_t i = 0; i < path.size(); ++i) {
        if (reachable[i] && (pattern[at] == path[i] || (pattern[at] == '?' && path[i] != '/'))) next[i + 1] = 1;
      }
      ++at;
    }
    reachable.swap(next);
  }
  return reachable[path.size()] != 0;
}

}  // namespace guard

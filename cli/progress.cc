#include "cli/progress.h"

#include "common/text.h"

namespace guard {

void Progress::say(std::string_view what) {
  if (mode_ == Mode::quiet) return;
  clear();
  if (mode_ == Mode::lines) {
    err_.print("guard: {}\n", printable(what));
    return;
  }
  err_.print("guard: {} ...", printable(what));
  shown_ = true;
}

void Progress::clear() {
  if (shown_) err_.write("\r\x1b[K");
  shown_ = false;
}

}  // namespace guard

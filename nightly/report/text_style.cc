#include "nightly/report/text_style.h"

#include "common/text/text.h"

namespace guard::nightly {
namespace {

// Some lines of a terminal.
constexpr std::size_t kSentenceBytesMax = 300;

}  // namespace

std::string_view style_of(TaskState state) {
  switch (state) {
    case TaskState::accepted: return kGreen;
    case TaskState::refused:
    case TaskState::failed: return kRed;
    case TaskState::waiting:
    case TaskState::running:
    case TaskState::skipped: return kYellow;
  }
  return kYellow;
}

std::string shown(std::string_view text) {
  // What is not shown need not be escaped; a character may become ten.
  std::string line = printable(text.substr(0, 2 * kSentenceBytesMax));
  if (line.size() > kSentenceBytesMax) {
    std::size_t end = kSentenceBytesMax;
    while (end > 0 && (static_cast<unsigned char>(line[end]) & 0xC0) == 0x80) --end;
    line = line.substr(0, end) + " ...";
  }
  return line;
}

}  // namespace guard::nightly

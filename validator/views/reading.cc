// A reading is worth telling when the words of the match don't stand in the source in that order: blanks, quotes and
// brackets around the same words are only another spelling of what everybody sees.
#include "validator/views/reading.h"

#include <algorithm>
#include <array>

#include "common/text/text.h"
#include "validator/values/constant_folder.h"
#include "validator/values/known_names.h"
#include "validator/views/view_writer.h"

namespace guard {
namespace {

constexpr std::size_t kSourceBytesMax = 4096;
bool is_mark(char c) noexcept { return c == kEntryBegin || c == kEntryText || c == kEntryEnd || c == kWildcard; }

std::string_view next_word(std::string_view text, std::size_t& at) noexcept {
  while (at < text.size() && !is_word_byte(text[at])) ++at;
  const std::size_t begin = at;
  while (at < text.size() && is_word_byte(text[at])) ++at;
  return text.substr(begin, at - begin);
}

// The words of `reading`, each as a whole word of `source`, in the same order.
bool has_words_in_order(std::string_view source, std::string_view reading) noexcept {
  std::size_t in_source = 0;
  std::size_t in_reading = 0;
  for (;;) {
    const std::string_view wanted = next_word(reading, in_reading);
    if (wanted.empty()) return true;
    std::string_view word = next_word(source, in_source);
    while (!word.empty() && word != wanted) word = next_word(source, in_source);
    if (word.empty()) return false;
  }
}

bool says_the_same(View view, std::string_view source, std::string_view matched) {
  if (!has_words_in_order(source, matched)) return false;
  if (view != View::strings) return true;
  // Of a string, its signs count too: "/proc//self/x" and `.e` + `nv` are not what they are matched as.
  std::size_t begin = 0;
  for (std::size_t at = 0; at <= matched.size(); ++at) {
    if (at < matched.size() && !is_mark(matched[at])) continue;
    const bool callee = at < matched.size() && matched[at] == kEntryText;
    if (at < matched.size() && matched[at] == kWildcard) return false;
    if (!callee && source.find(matched.substr(begin, at - begin)) == std::string_view::npos) return false;
    begin = at + 1;
  }
  return true;
}

}  // namespace

Reading reading_of(View view, std::string_view view_text, std::size_t begin, std::size_t end, std::string_view source) {
  if (view == View::raw || begin >= end || end > view_text.size()) return {};
  while (begin < end && is_mark(view_text[begin]) && view_text[begin] != kWildcard) ++begin;
  while (end > begin && is_mark(view_text[end - 1]) && view_text[end - 1] != kWildcard) --end;
  end = std::min(end, begin + kReadingBytesMax);
  // A template may be as long as the file, and there may be as many matches in it as guard follows.
  source = source.substr(0, kSourceBytesMax);
  if (begin == end || says_the_same(view, source, view_text.substr(begin, end - begin))) return {};
  std::size_t first = begin - std::min(begin, kReadingContextBytes);
  std::size_t last = std::min(view_text.size(), end + kReadingContextBytes);
  if (view != View::code) {
    // Entries have nothing to do with each other.
    if (const auto mark = view_text.substr(first, begin - first).rfind(kEntryEnd); mark != std::string_view::npos) {
      first += mark + 1;
    }
    if (const auto mark = view_text.substr(end, last - end).find(kEntryBegin); mark != std::string_view::npos) {
      last = end + mark;
    }
  }
  return {std::string(view_text.substr(first, last - first)), begin - first, end - first};
}

std::string shown_reading(std::string_view text) {
  std::string shown;
  bool called = false;
  // Entries of strings have one mark inside, those of commands and uses have more.
  const bool is_call = std::count(text.begin(), text.end(), kEntryText) == 1;
  for (std::size_t at = 0; at < text.size(); ++at) {
    const char c = text[at];
    if (c == kEntryText && !is_call) {
      if (!shown.empty()) shown += ' ';
    } else if (c == kEntryText) {
      called = !shown.empty();
      if (called) shown += "(\"";
    } else if (c == kEntryEnd) {
      if (called) shown += "\")";
      called = false;
    } else if (c == kWildcard) {
      shown += "<?>";
    } else if (c != kEntryBegin) {
      shown += c;
    }
  }
  if (called) shown += "\")";
  return printable(shown);
}

}  // namespace guard

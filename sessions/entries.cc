#include "sessions/entries.h"

#include <charconv>

#include "common/text/text.h"

namespace guard::sessions {
namespace {

// Takes a number of `base` off, with the space behind it where one has to be there.
template <typename Number>
bool take(std::string_view& text, Number& number, int base, bool is_last) {
  const auto [end, fault] = std::from_chars(text.data(), text.data() + text.size(), number, base);
  text.remove_prefix(static_cast<std::size_t>(end - text.data()));
  if (fault != std::errc() || is_last) return fault == std::errc() && text.empty();
  if (text.empty() || text.front() != ' ') return false;
  text.remove_prefix(1);
  return true;
}

bool read_head(std::string_view head, Entry& entry) {
  if (head.size() < 2 || head[1] != ' ' || std::string_view("fdlo").find(head[0]) == std::string_view::npos)
    return false;
  entry.type = head[0];
  head.remove_prefix(2);
  return take(head, entry.mode, 8, false) && take(head, entry.size, 10, false) &&
      take(head, entry.changed_ns, 10, true);
}

}  // namespace

Result<std::vector<Entry>> parse_entries(std::string_view bytes) {
  const Error fault(ErrorCode::protocol_error, "the sandbox answered something else than a list of files");
  if (!bytes.empty() && bytes.back() != '\0') return fault;
  const std::vector<std::string_view> texts = pieces_of(bytes, '\0');
  if (texts.size() % 3 != 0) return fault;
  std::vector<Entry> entries;
  for (std::size_t at = 0; at < texts.size(); at += 3) {
    Entry entry;
    if (!read_head(texts[at], entry)) return fault;
    entry.path = texts[at + 1];
    entry.link = texts[at + 2];
    entries.push_back(std::move(entry));
  }
  return entries;
}

}  // namespace guard::sessions

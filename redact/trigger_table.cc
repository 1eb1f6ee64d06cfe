#include "redact/trigger_table.h"

#include <cstring>

namespace guard {
namespace {

constexpr std::size_t pair_of(char first, char second) {
  return static_cast<std::size_t>(static_cast<unsigned char>(first)) << 8 | static_cast<unsigned char>(second);
}

char lower(char c) {
  return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
}
char upper(char c) {
  return c >= 'a' && c <= 'z' ? static_cast<char>(c - 'a' + 'A') : c;
}

}  // namespace

TriggerTable::TriggerTable() : pairs_(std::make_unique<Pairs>()) {}

void TriggerTable::add(Trigger trigger) {
  const std::string& literal = trigger.literal;
  for (std::size_t i = 0; i < 2; ++i) {
    const char first = literal[i];
    const char second = literal[i + 1];
    pairs_->set(pair_of(first, second));
    if (trigger.fold_case) {
      pairs_->set(pair_of(upper(first), second));
      pairs_->set(pair_of(first, upper(second)));
      pairs_->set(pair_of(upper(first), upper(second)));
    }
  }
  const char first = literal.front();
  if (trigger.fold_case && upper(first) != first)
    by_first_[static_cast<unsigned char>(upper(first))].push_back(trigger);
  by_first_[static_cast<unsigned char>(first)].push_back(std::move(trigger));
}

Offset TriggerTable::next(const StreamText& text, Offset from) const {
  const std::string_view bytes = text.from(from);
  std::size_t i = 0;
  for (; i + 1 < bytes.size(); i += 2) {
    if ((*pairs_)[pair_of(bytes[i], bytes[i + 1])]) {
      if (i > 0 && !beginning_with(bytes[i - 1]).empty()) return from + i - 1;
      if (!beginning_with(bytes[i]).empty()) return from + i;
    }
  }
  // The last pair that was looked at began at i - 2, so what begins at i - 1 or later was not judged yet.
  for (i = i > 0 ? i - 1 : 0; i < bytes.size(); ++i) {
    if (!beginning_with(bytes[i]).empty()) return from + i;
  }
  return text.end();
}

Seen TriggerTable::seen(const Trigger& trigger, std::string_view text) {
  const std::size_t size = std::min(trigger.literal.size(), text.size());
  if (trigger.fold_case) {
    for (std::size_t i = 0; i < size; ++i) {
      if (lower(text[i]) != trigger.literal[i]) return Seen::no;
    }
  } else if (std::memcmp(trigger.literal.data(), text.data(), size) != 0) {
    return Seen::no;
  }
  return size == trigger.literal.size() ? Seen::fully : Seen::partly;
}

}  // namespace guard

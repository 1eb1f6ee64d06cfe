#include "redact/stream/trigger_scan.h"

#include <algorithm>
#include <cstring>
#include <utility>

namespace guard {
namespace {

constexpr std::size_t kKeyBytes = 3;
constexpr std::size_t kShortBytesMax = 4;
constexpr std::uint64_t kFold =
    0x2020202020202020u;  // letters in lower case; some other bytes are taken for each other

char lower(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; }

// The first three bytes, or as many as there are, folded.
std::uint32_t key_of(std::string_view text) {
  std::uint32_t key = 0;
  for (std::size_t i = 0; i < kKeyBytes; ++i) {
    const std::uint32_t byte = i < text.size() ? static_cast<unsigned char>(text[i]) | 0x20u : 0;
    key = key << 8 | byte;
  }
  return key;
}

std::uint64_t eight_at(const char* bytes) {
  std::uint64_t eight = 0;
  std::memcpy(&eight, bytes, sizeof eight);
  return eight;
}

// Of four bytes, folded. In sixteen bits, so that many places fit into a vector.
std::uint16_t hash_of_four(const char* bytes) {
  const auto term = [&](std::size_t i, unsigned factor) {
    return static_cast<std::uint16_t>((static_cast<unsigned char>(bytes[i]) | 0x20u) * factor);
  };
  return static_cast<std::uint16_t>(term(0, 40503) + term(1, 30011) + term(2, 10007) + term(3, 257));
}

// Of the first `size` of eight bytes.
std::uint32_t hash_of(std::uint64_t eight, std::size_t size) {
  return static_cast<std::uint32_t>((eight << (64 - 8 * size)) * 0x9e3779b97f4a7c15u >> 48);
}

// How many bytes of a longer literal are hashed.
constexpr std::size_t kLongerSizes[] = {5, 6, 8};

}  // namespace

Trigger::Seen Trigger::seen(std::string_view text) const {
  const std::size_t size = std::min(literal.size(), text.size());
  if (fold_case) {
    for (std::size_t i = 0; i < size; ++i) {
      if (lower(text[i]) != literal[i]) return Seen::no;
    }
  } else if (std::memcmp(literal.data(), text.data(), size) != 0) {
    return Seen::no;
  }
  if (size < literal.size()) return Seen::partly;
  const bool any_next = size > kShortBytesMax || size == text.size() || next->empty();
  return any_next || next->has(text[size]) ? Seen::fully : Seen::no;
}

TriggerTable::TriggerTable(std::span<const SecretKind> kinds) {
  std::vector<std::pair<std::uint32_t, Trigger>> all;
  for (std::uint32_t i = 0; i < kinds.size(); ++i) {
    for (const std::string_view prefix : kinds[i].prefixes) {
      all.emplace_back(key_of(prefix), Trigger{prefix, kinds[i].fold_case, &kinds[i].next, i});
      enter(all.back().second);
    }
  }
  std::stable_sort(all.begin(), all.end(), [](const auto& a, const auto& b) { return a.first < b.first; });
  triggers_.reserve(all.size());
  keys_.reserve(all.size());
  for (const auto& [key, trigger] : all) {
    triggers_.push_back(trigger);
    keys_.push_back(key);
  }
}

// Into the filters.
void TriggerTable::enter(const Trigger& trigger) {
  const std::string_view head = std::string_view(trigger.literal).substr(0, kFilterBytes);
  if (head == std::string(head.size(), head.front())) {
    runs_.add(head.front());
    if (trigger.fold_case && head.front() >= 'a' && head.front() <= 'z')
      runs_.add(static_cast<char>(head.front() - 32));
  }
  char bytes[kFilterBytes] = {};
  const std::size_t size = trigger.literal.copy(bytes, sizeof bytes);
  if (size > kShortBytesMax) {
    fours_.add(hash_of_four(bytes));
    longer_.add(hash_of(eight_at(bytes) | kFold, size < 6 ? 5 : size < 8 ? 6 : 8));
    return;
  }
  const bool open = size < kShortBytesMax;
  for (unsigned last = 0; last < (open ? 256u : 1u); ++last) {
    if (open && !trigger.next->empty() && !trigger.next->has(static_cast<char>(last))) continue;
    if (open) bytes[size] = static_cast<char>(last);
    fours_.add(hash_of_four(bytes));
    // As it may be written.
    for (unsigned upper = 0; upper < (trigger.fold_case ? 16u : 1u); ++upper) {
      std::uint64_t four = eight_at(bytes);
      for (std::size_t i = 0; i < kShortBytesMax; ++i) {
        const bool letter = bytes[i] >= 'a' && bytes[i] <= 'z';
        if (letter && (upper >> i & 1) != 0) four ^= std::uint64_t{0x20} << (8 * i);
      }
      exact_.add(hash_of(four, kShortBytesMax));
    }
  }
}

std::span<const Trigger> TriggerTable::candidates(std::string_view text) const {
  if (text.size() >= kShortBytesMax && fours_.has(hash_of_four(text.data())) == 0) return {};
  const std::uint32_t first = key_of(text);
  const std::uint32_t last = first | (text.size() >= kKeyBytes ? 0 : (1u << (8 * (kKeyBytes - text.size()))) - 1);
  const auto begin = std::lower_bound(keys_.begin(), keys_.end(), first);
  const auto end = std::upper_bound(begin, keys_.end(), last);
  return std::span(triggers_).subspan(
      static_cast<std::size_t>(begin - keys_.begin()), static_cast<std::size_t>(end - begin));
}

bool TriggerTable::begins(std::string_view text) const {
  const std::span<const Trigger> all = candidates(text);
  return std::any_of(
      all.begin(), all.end(), [&](const Trigger& trigger) { return trigger.seen(text) != Trigger::Seen::no; });
}

// Without a branch for each place, which could not be foretold: a place is always written, and kept by counting it.
std::size_t TriggerTable::likely_places(const char* text, std::size_t count, std::uint16_t* places) const {
  std::uint16_t hashes[kBlockBytes];
  for (std::size_t at = 0; at < count; ++at) hashes[at] = hash_of_four(text + at);
  std::size_t likely = 0;
  for (std::size_t at = 0; at < count; ++at) {
    places[likely] = static_cast<std::uint16_t>(at);
    likely += fours_.has(hashes[at]);
  }
  std::size_t kept = 0;
  for (std::size_t i = 0; i < likely; ++i) {
    const std::uint64_t eight = eight_at(text + places[i]);
    // In a flood of one byte whose hashes are in the filters by chance each place would have to be compared.
    if (eight == (eight << 8 | eight >> 56) && !runs_.has(text[places[i]])) continue;
    std::uint64_t found = exact_.has(hash_of(eight, kShortBytesMax));
    for (const std::size_t size : kLongerSizes) found |= longer_.has(hash_of(eight | kFold, size));
    places[kept] = places[i];
    kept += found;
  }
  return kept;
}

Offset TriggerScan::next(const StreamText& text, Offset from) {
  constexpr std::size_t kBehind = TriggerTable::kFilterBytes - 1;
  while (from < text.end()) {
    if (from < begin_ || from >= end_) {
      const std::string_view rest = text.from(from);
      // What the last few begin with can not be seen yet.
      if (rest.size() <= kBehind) break;
      const std::size_t count = std::min(rest.size() - kBehind, places_.size());
      begin_ = from;
      end_ = from + count;
      next_ = 0;
      count_ = table_->likely_places(rest.data(), count, places_.data());
    }
    while (next_ < count_ && begin_ + places_[next_] < from) ++next_;
    for (; next_ < count_; ++next_) {
      const Offset at = begin_ + places_[next_];
      if (table_->begins(text.from(at))) return at;
    }
    from = end_;
  }
  while (from < text.end() && !table_->begins(text.from(from))) ++from;
  return from;
}

}  // namespace guard

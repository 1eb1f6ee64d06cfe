#include "redact/trigger_table.h"

#include <cstring>

namespace guard {
namespace {

std::uint32_t byte_of(char c) {
  return static_cast<unsigned char>(c);
}

// Three bytes with letters in lower case; some other bytes are taken for each other too, which a full comparison mends.
std::uint32_t folded_triple(const char* bytes) {
  return byte_of(bytes[0]) | byte_of(bytes[1]) << 8 | byte_of(bytes[2]) << 16 | 0x202020u;
}

std::uint32_t folded_four(const char* bytes) {  // one load
  return byte_of(bytes[0]) | byte_of(bytes[1]) << 8 | byte_of(bytes[2]) << 16 | byte_of(bytes[3]) << 24 | 0x20202020u;
}

std::uint32_t hashed(std::uint32_t triple, std::size_t bits) {
  return triple * 0x9e3779b1u >> (32 - bits);
}

std::size_t folded_byte(char c) {
  return byte_of(c) | 0x20u;
}

char lower(char c) {
  return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
}

}  // namespace

TriggerTable::TriggerTable() : chains_(std::make_unique<Chains>()), filters_(std::make_unique<Filters>()) {}

void TriggerTable::add(Trigger trigger) {
  const std::string& literal = trigger.literal;
  const auto first = [&](const char* four) {
    filters_->places.set(hashed(folded_four(four), kPlaceBits));
    filters_->firsts.set(hashed(folded_four(four), kFirstBits));
  };
  const auto second = [&](const char* four) { filters_->places.set(hashed(folded_four(four), kPlaceBits)); };
  if (literal.size() > 4) {
    first(literal.data());
    second(literal.data() + 1);
  } else {
    if (literal.size() == 4) first(literal.data());
    for (unsigned byte = 0; byte < 256; ++byte) {
      if ((byte & 0x20u) == 0) continue;  // folded, it is another one
      const char any = static_cast<char>(byte);
      const char behind[4] = {literal[literal.size() - 3], literal[literal.size() - 2], literal[literal.size() - 1],
                              any};
      const char before[4] = {any, literal[0], literal[1], literal[2]};
      if (literal.size() == 3) {
        first(behind);
        second(before);
      } else {
        second(behind);
      }
    }
  }
  // At the chains' ends: the order of the kinds decides which of them names a marker.
  std::uint32_t* group = &chains_->group[hashed(folded_triple(literal.data()), kGroupBits)];
  while (*group != 0) group = &entries_[*group - 1].next_in_group;
  std::uint32_t* by_first = &chains_->first[folded_byte(literal.front())];
  while (*by_first != 0) by_first = &entries_[*by_first - 1].next_with_first;
  *group = *by_first = static_cast<std::uint32_t>(entries_.size() + 1);
  entries_.push_back({std::move(trigger), 0, 0});
}

TriggerTable::Candidates TriggerTable::candidates(std::string_view text) const {
  if (text.size() < 3) {
    const std::uint32_t index = text.empty() ? 0 : chains_->first[folded_byte(text.front())];
    return {Iterator(*this, index, true), Iterator(*this, 0, true)};
  }
  const std::uint32_t index = chains_->group[hashed(folded_triple(text.data()), kGroupBits)];
  return {Iterator(*this, index, false), Iterator(*this, 0, false)};
}

bool TriggerTable::begins(std::string_view text) const {
  for (const Trigger& trigger : candidates(text)) {
    if (seen(trigger, text) != Seen::no) return true;
  }
  return false;
}

Offset TriggerTable::next(const StreamText& text, Offset from) const {
  const std::string_view bytes = text.from(from);
  const Filters& filters = *filters_;
  std::size_t i = 0;
  for (; i + 4 <= bytes.size(); i += 2) {
    if (filters.places[hashed(folded_four(bytes.data() + i), kPlaceBits)]) {
      for (std::size_t at = i - (i > 0 ? 1 : 0); at <= i + 1; ++at) {
        const bool known = at + 4 > bytes.size() || filters.firsts[hashed(folded_four(bytes.data() + at), kFirstBits)];
        if (known && begins(bytes.substr(at))) return from + at;
      }
    }
  }
  // The last four that were looked at began at i - 2, so what begins at i - 1 or later was not judged yet.
  for (i = i > 0 ? i - 1 : 0; i < bytes.size(); ++i) {
    if (begins(bytes.substr(i))) return from + i;
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

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
  filters_->triples.set(hashed(folded_triple(literal.data()), kFilterBits));
  if (literal.size() > 3) {
    filters_->triples.set(hashed(folded_triple(literal.data() + 1), kFilterBits));
    filters_->fours.set(hashed(folded_four(literal.data()), kFilterBits));
  } else {
    for (unsigned any = 0; any < 256; ++any) {
      const char four[4] = {literal[0], literal[1], literal[2], static_cast<char>(any)};
      filters_->triples.set(hashed(folded_triple(four + 1), kFilterBits));
      filters_->fours.set(hashed(folded_four(four), kFilterBits));
    }
  }
  // At the chains' ends: the order of the kinds decides which of them names a marker.
  std::uint32_t* group = &chains_->group[hashed(folded_triple(literal.data()), kGroupBits)];
  while (*group != 0) group = &entries_[*group - 1].next_in_group;
  std::uint32_t* first = &chains_->first[folded_byte(literal.front())];
  while (*first != 0) first = &entries_[*first - 1].next_with_first;
  *group = *first = static_cast<std::uint32_t>(entries_.size() + 1);
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
  if (text.size() >= 4 && !filters_->fours[hashed(folded_four(text.data()), kFilterBits)]) return false;
  for (const Trigger& trigger : candidates(text)) {
    if (seen(trigger, text) != Seen::no) return true;
  }
  return false;
}

Offset TriggerTable::next(const StreamText& text, Offset from) const {
  const std::string_view bytes = text.from(from);
  std::size_t i = 0;
  for (; i + 4 <= bytes.size(); i += 2) {
    if (filters_->triples[hashed(folded_four(bytes.data() + i) & 0xffffffu, kFilterBits)]) {
      if (i > 0 && begins(bytes.substr(i - 1))) return from + i - 1;
      if (begins(bytes.substr(i))) return from + i;
    }
  }
  // The last triple that was looked at began at i - 2, so what begins at i - 1 or later was not judged yet.
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

#include "redact/stream/trigger_scan.h"

#include <algorithm>
#include <bit>
#include <cstring>
#include <utility>

namespace guard {
namespace {

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

// One of 64: letters folded, some other bytes taken for each other.
constexpr unsigned kClassBits = 6;
constexpr std::uint8_t class_of(unsigned char byte) {
  return static_cast<std::uint8_t>((byte & 0x1fu) | (byte >> 1 & 0x20u));
}
constexpr std::uint16_t pair_of(std::uint8_t first, std::uint8_t second) {
  return static_cast<std::uint16_t>(first | second << kClassBits);
}
std::uint8_t class_at(const char* byte) { return class_of(static_cast<unsigned char>(*byte)); }

// A bit for each class that a byte of the set is of.
std::uint64_t classes_of(const ByteSet& set) {
  const auto folded = [](std::uint64_t bytes) { return (bytes | bytes >> 32) & 0xffffffffu; };
  const ByteSet::Words& words = set.words();
  return folded(words[0] | words[2]) | folded(words[1] | words[3]) << 32;
}

// For each byte: 0x20 if it is a lower-case letter, else 0.
std::uint64_t lower_bits(std::uint64_t eight) {
  constexpr std::uint64_t kOnes = 0x0101010101010101u;
  const std::uint64_t low = eight & 0x7f * kOnes;
  return ((low + (0x80 - 'a') * kOnes) & ~(low + (0x7f - 'z') * kOnes) & ~eight & 0x80 * kOnes) >> 2;
}

// Of the first `size` of eight bytes.
std::uint32_t hash_of(std::uint64_t eight, std::size_t size) {
  return static_cast<std::uint32_t>((eight << (64 - 8 * size)) * 0x9e3779b97f4a7c15u >> 48);
}

}  // namespace

Trigger::Trigger(std::string_view literal_in, const SecretKind& of, std::uint32_t kind_in)
    : literal(literal_in), fold_case(of.fold_case), next(&of.next), kind(kind_in) {
  char bytes[sizeof head] = {};
  const std::size_t size = literal.copy(bytes, sizeof bytes);
  head = eight_at(bytes);
  head_bits = ~std::uint64_t{0} >> (8 * (sizeof head - size));
  if (fold_case) head_bits &= ~lower_bits(head);
  head &= head_bits;
}

Trigger::Seen Trigger::seen_whole(std::string_view text) const {
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
  std::vector<Trigger> all;
  std::vector<std::uint64_t> order;
  for (std::uint32_t i = 0; i < kinds.size(); ++i) {
    for (const std::string_view prefix : kinds[i].prefixes) {
      order.push_back(std::uint64_t{key_of(prefix)} << 32 | all.size());
      all.emplace_back(prefix, kinds[i], i);
    }
  }
  std::sort(order.begin(), order.end());
  triggers_.reserve(all.size());
  slots_.resize(std::bit_ceil(4 * all.size() + 1));
  for (const std::uint64_t each : order) {
    const auto key = static_cast<std::uint32_t>(each >> 32);
    const auto at = static_cast<std::uint32_t>(triggers_.size());
    const Trigger& trigger = triggers_.emplace_back(all[each & 0xffffffffu]);
    // Those that begin alike are in one group: then few pairs begin any of it.
    enter(trigger, static_cast<unsigned>(at * kGroups / all.size()));
    Keyed& keyed = slots_[slot_of(key)];
    if (keyed.count == 0) keyed = {key, at, 0};
    ++keyed.count;
    longest_ = std::max(longest_, trigger.literal.size());
  }
}

// Where the triggers of a key are, or would be.
std::size_t TriggerTable::slot_of(std::uint32_t key) const {
  std::size_t slot = key * 0x9e3779b1u >> 7;
  while (slots_[slot & (slots_.size() - 1)].count > 0 && slots_[slot & (slots_.size() - 1)].key != key) ++slot;
  return slot & (slots_.size() - 1);
}

// Into the filters.
void TriggerTable::enter(const Trigger& trigger, unsigned group) {
  char bytes[kFilterBytes] = {};
  const std::size_t size = trigger.literal.copy(bytes, sizeof bytes);
  const auto longest = std::find_if(kHeadSizes.rbegin(), kHeadSizes.rend(), [&](std::size_t of) { return of <= size; });
  heads_.at(static_cast<std::size_t>(kHeadSizes.rend() - longest) - 1).add(hash_of(eight_at(bytes) | kFold, *longest));
  groups_[pair_of(class_at(bytes), class_at(bytes + 1))] |= static_cast<std::uint16_t>(1u << group);
  std::uint64_t last = std::uint64_t{1} << class_at(bytes + kShortBytesMax - 1);
  if (size < kShortBytesMax) last = trigger.next->empty() ? ~std::uint64_t{0} : classes_of(*trigger.next);
  for (; last != 0; last &= last - 1) {
    const auto fourth = static_cast<std::uint8_t>(std::countr_zero(last));
    groups_[pair_of(class_at(bytes + 2), fourth)] |= static_cast<std::uint16_t>(0x100u << group);
  }
}

std::span<const Trigger> TriggerTable::candidates(std::string_view text) const {
  if (text.size() >= kKeyBytes) {
    const Keyed& keyed = slots_[slot_of(key_of(text))];
    return std::span(triggers_).subspan(keyed.first, keyed.count);
  }
  const std::uint32_t first = key_of(text);
  const std::uint32_t last = first | ((1u << (8 * (kKeyBytes - text.size()))) - 1);
  const auto begin = std::partition_point(
      triggers_.begin(), triggers_.end(), [&](const Trigger& trigger) { return key_of(trigger.literal) < first; });
  const auto end = std::partition_point(
      begin, triggers_.end(), [&](const Trigger& trigger) { return key_of(trigger.literal) <= last; });
  return {begin, end};
}

bool TriggerTable::begins(std::string_view text) const {
  const std::span<const Trigger> all = candidates(text);
  return std::any_of(
      all.begin(), all.end(), [&](const Trigger& trigger) { return trigger.seen(text) != Trigger::Seen::no; });
}

void TriggerTable::likely_places(const char* text, std::size_t count, std::uint64_t* bits) const {
  // Loops that the compiler makes vectors of, but for the one that looks up. Each goes over the whole block, so that
  // what one reads as vectors is no longer on its way from the one before.
  constexpr std::size_t kPairs = kBlockBytes + 2;
  std::uint8_t classes[kPairs + 1];
  std::uint16_t pairs[kPairs];
  std::uint16_t groups[kPairs];
  std::uint8_t hits[kBlockBytes];
  for (std::size_t i = 0; i < count + 3; ++i) classes[i] = class_of(static_cast<unsigned char>(text[i]));
  for (std::size_t i = 0; i < count + 2; ++i) pairs[i] = pair_of(classes[i], classes[i + 1]);
  const std::uint16_t* const groups_of = groups_.data();
  for (std::size_t i = 0; i < count + 2; ++i) groups[i] = groups_of[pairs[i]];
  for (std::size_t i = 0; i < count; ++i) hits[i] = (groups[i] & groups[i + 2] >> 8) != 0 ? 1 : 0;
  std::fill(hits + count, hits + (count + kBits - 1) / kBits * kBits, std::uint8_t{0});

  const Filter* const heads = heads_.data();
  for (std::size_t word = 0; word < count; word += kBits) {
    std::uint64_t likely = bits_of(hits + word, kBits);
    for (std::uint64_t rest = likely; rest != 0; rest &= rest - 1) {
      const auto bit = static_cast<std::size_t>(std::countr_zero(rest));
      const std::uint64_t eight = eight_at(text + word + bit);
      std::uint64_t found = 0;
      for (std::size_t i = 0; i < std::size(kHeadSizes); ++i)
        found |= heads[i].has(hash_of(eight | kFold, kHeadSizes[i]));
      likely ^= (found ^ 1) << bit;
    }
    *bits++ = likely;
  }
}

void TriggerScan::look(const StreamText& text) {
  constexpr std::size_t kBehind = TriggerTable::kFilterBytes - 1;
  const Offset begin = text.begin() / kBits * kBits;
  if (begin > begin_) {
    const Offset words = std::min<Offset>((begin - begin_) / kBits, bits_.size());
    bits_.erase(bits_.begin(), bits_.begin() + static_cast<std::ptrdiff_t>(words));
    begin_ = begin;
  }
  end_ = std::max(end_, text.begin());
  // What the last few begin with can not be seen yet.
  if (text.end() <= end_ + kBehind) return;
  const Offset to = text.end() - kBehind;
  bits_.resize(static_cast<std::size_t>((to - begin_) / kBits + 2));
  while (end_ < to) {
    const auto count = static_cast<std::size_t>(std::min<Offset>(TriggerTable::kBlockBytes, to - end_));
    std::uint64_t found[TriggerTable::kBlockBytes / kBits];
    table_->likely_places(text.from(end_).data(), count, found);
    const auto bit = static_cast<std::size_t>((end_ - begin_) % kBits);
    std::uint64_t* into = &bits_[static_cast<std::size_t>((end_ - begin_) / kBits)];
    for (std::size_t word = 0; word * kBits < count; ++word, ++into) {
      *into |= found[word] << bit;
      if (bit > 0) into[1] |= found[word] >> (kBits - bit);
    }
    end_ += count;
  }
}

Offset TriggerScan::next_likely(Offset from, Offset to) const {
  while (from < to) {
    const auto at = static_cast<std::size_t>(from - begin_);
    if (const std::uint64_t rest = bits_[at / kBits] >> (at % kBits); rest != 0)
      return std::min(to, from + static_cast<Offset>(std::countr_zero(rest)));
    from += kBits - at % kBits;
  }
  return to;
}

Offset TriggerScan::next(const StreamText& text, Offset from, Offset to) {
  constexpr std::size_t kBehind = TriggerTable::kFilterBytes - 1;
  const Offset cut = std::min({to, end_, text.end() - std::min<Offset>(kBehind, text.end())});
  for (; from < cut; ++from) {
    from = next_likely(from, cut);
    if (from == cut) break;
    if (table_->begins(text.from(from))) return from;
    // Nor for whoever asks next, if so much was seen.
    if (from + table_->longest() > text.end()) continue;
    const auto at = static_cast<std::size_t>(from - begin_);
    bits_[at / kBits] &= ~(std::uint64_t{1} << (at % kBits));
  }
  while (from < to && !table_->begins(text.from(from))) ++from;
  return from;
}

}  // namespace guard

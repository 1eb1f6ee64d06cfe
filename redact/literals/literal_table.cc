#include "redact/literals/literal_table.h"

#include <algorithm>
#include <bit>
#include <cstring>
#include <string>

#include "redact/literals/literal_hash.h"

namespace guard {
namespace {

using Halves = LiteralTables::Halves;
using HeadGroups = LiteralTables::HeadGroups;
using ShortGroups = LiteralTables::ShortGroups;

constexpr std::size_t kShortBytesMax = 4;

std::uint64_t mask_of(std::size_t bytes) {
  return bytes >= 8 ? ~std::uint64_t{0} : (std::uint64_t{1} << (8 * bytes)) - 1;
}

std::size_t folded_byte(char c) { return static_cast<unsigned char>(c) | 0x20u; }

char lower(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; }

// May `byte` stand at `place` of the literal or behind it?
bool may_stand(const Literal& trigger, const ByteSet& next, std::size_t place, char byte) {
  if (place > trigger.literal.size()) return true;
  if (place == trigger.literal.size()) return next.empty() || next.has(byte);
  return (trigger.fold_case ? lower(byte) : byte) == trigger.literal[place];
}

LiteralHead head_of(const Literal& trigger, const ByteSet& next) {
  LiteralHead head;
  for (std::size_t place = 0; place < LiteralHead::kBytes; ++place) {
    for (unsigned value = 0; value < 256; ++value) {
      if (may_stand(trigger, next, place, static_cast<char>(value))) head.places[place].add(value);
    }
  }
  return head;
}

// How often a byte stands in logs and sources, by its upper and its lower half. Flatter than it is in any one text:
// what is rare in prose may be the half of a program.
constexpr std::array<std::array<std::uint8_t, 16>, 16> frequencies() {
  std::array<std::array<std::uint8_t, 16>, 16> all{};
  const auto set = [&](std::string_view bytes, std::uint8_t frequency) {
    for (const char byte : bytes) all[static_cast<unsigned char>(byte) / 16][byte & 15] = frequency;
  };
  for (std::size_t upper = 0; upper < all.size(); ++upper) all[upper].fill(upper < 2 ? 2 : upper < 8 ? 6 : 1);
  set(" etaoinsr", 26);
  set("bcdfghlmpu", 16);
  set("_-./:=()\n", 13);
  set("0123456789ETAOINSR", 10);
  set("jkqvwxyz", 8);
  set("BCDFGHLMPU", 6);
  set("JKQVWXYZ", 3);
  return all;
}
constexpr auto kFrequencies = frequencies();

void set_bit(std::vector<std::uint64_t>& bits, std::uint32_t index) {
  bits[index / 64] |= std::uint64_t{1} << (index % 64);
}

}  // namespace

LiteralTable::LiteralTable() { own(); }

// Goes over from tables of somebody else's to a copy.
void LiteralTable::own() {
  if (short_groups_) return;
  entries_.assign(tables_.entries.begin(), tables_.entries.end());
  group_.assign(tables_.group.begin(), tables_.group.end());
  first_.assign(tables_.first.begin(), tables_.first.end());
  places_.assign(tables_.places.begin(), tables_.places.end());
  short_groups_ =
      std::make_unique<ShortGroups>(tables_.short_groups == nullptr ? ShortGroups{} : *tables_.short_groups);
  fours_.assign(tables_.fours.begin(), tables_.fours.end());
  exact_.assign(tables_.exact.begin(), tables_.exact.end());
  longer_.assign(tables_.longer.begin(), tables_.longer.end());
  heads_grouped_ = tables_.head_groups != nullptr;
  head_groups_ = std::make_unique<HeadGroups>(heads_grouped_ ? *tables_.head_groups : HeadGroups{});
  group_.resize(std::size_t{1} << kGroupBits);
  first_.resize(256);
  places_.resize(std::size_t{1} << kPlaceBits);
  fours_.resize((std::size_t{2} << kFourBits) / 64);
  exact_.resize((std::size_t{1} << kExactBits) / 64);
  longer_.resize((std::size_t{1} << kLongerBits) / 64);
  point_at_own();
}

void LiteralTable::point_at_own() {
  tables_ = {entries_, group_, first_, places_, short_groups_.get(), fours_, exact_, longer_, head_groups_.get()};
}

void LiteralTable::add(const Literal& trigger, const ByteSet& next) {
  own();
  const std::string_view literal = trigger.literal;
  if (literal.size() > kShortBytesMax) {
    enter(literal);
    enter_long_hashes(literal);
  } else {
    enter_short_hashes(trigger, next);
    ShortGroup alone;
    for (std::size_t place = 0; place < alone.lower.size(); ++place) {
      for (unsigned value = 0; value < 256; ++value) {
        if (!may_stand(trigger, next, place, static_cast<char>(value))) continue;
        alone.lower[place] = static_cast<std::uint16_t>(alone.lower[place] | 1u << (value & 15));
        alone.upper[place] = static_cast<std::uint16_t>(alone.upper[place] | 1u << (value >> 4));
      }
    }
    short_.push_back(alone);
  }
  enter_head(head_of(trigger, next));
  // At the chains' ends: the order of the kinds decides which of them names a marker.
  std::uint32_t* group = &group_[hashed(folded_triple(literal.data()), kGroupBits)];
  while (*group != 0) group = &entries_[*group - 1].next_in_group;
  std::uint32_t* by_first = &first_[folded_byte(literal.front())];
  while (*by_first != 0) by_first = &entries_[*by_first - 1].next_with_first;
  *group = *by_first = static_cast<std::uint32_t>(entries_.size() + 1);
  const std::uint64_t mask = mask_of(literal.size());
  entries_.push_back({trigger, first_eight(literal) & mask, folded_eight(literal) & mask, mask, 0, 0});
  point_at_own();
}

void LiteralTable::enter(std::string_view literal) {
  std::uint16_t& begins = places_[hashed(folded_four(literal.data()), kPlaceBits)];
  begins = static_cast<std::uint16_t>(begins | class_of(literal[4]) << 8);
  std::uint16_t& goes_on = places_[hashed(folded_four(literal.data() + 1), kPlaceBits)];
  goes_on = static_cast<std::uint16_t>(goes_on | class_of(literal[0]));
}

void LiteralTable::enter_short_hashes(const Literal& trigger, const ByteSet& next) {
  constexpr std::size_t kBytes = 4;
  std::array<std::string, kBytes> bytes;  // that may stand at each place
  for (std::size_t place = 0; place < kBytes; ++place) {
    for (unsigned value = 0; value < 256; ++value) {
      const char byte = static_cast<char>(value);
      if (may_stand(trigger, next, place, byte)) bytes[place] += byte;
    }
  }
  for (const char first : bytes[0]) {
    for (const char second : bytes[1]) {
      for (const char third : bytes[2]) {
        for (const char fourth : bytes[3]) {
          const char four[kBytes] = {first, second, third, fourth};
          const std::uint32_t hash = hashed(folded_four(four), kFourBits);
          fours_[hash / 32] |= std::uint64_t{kBeginsShort} << (2 * hash % 64);
          set_bit(exact_, hashed(four_at(four), kExactBits));
        }
      }
    }
  }
}

void LiteralTable::enter_long_hashes(std::string_view literal) {
  const std::uint32_t hash = hashed(folded_four(literal.data()), kFourBits);
  fours_[hash / 32] |= std::uint64_t{kBeginsLong} << (2 * hash % 64);
  const std::uint64_t eight = folded_eight(literal);
  set_bit(longer_,
      literal.size() == 5      ? hashed_five(eight)
          : literal.size() < 8 ? hashed_six(eight)
                               : hashed_eight(eight));
}

// Into the group that it widens least, if there are groups yet.
void LiteralTable::enter_head(const LiteralHead& head) {
  if (!heads_grouped_) {
    ungrouped_heads_.push_back(head);
    return;
  }
  std::size_t best = 0;
  std::uint64_t best_growth = ~std::uint64_t{0};
  for (std::size_t index = 0; index < kHeadGroups; ++index) {
    const LiteralHead group = head_group(index);
    LiteralHead wider = group;
    wider |= head;
    const std::uint64_t growth = wider.frequency() - group.frequency();
    if (growth >= best_growth) continue;
    best_growth = growth;
    best = index;
  }
  enter_in_group(head, best);
}

void LiteralTable::enter_in_group(const LiteralHead& head, std::size_t index) {
  for (std::size_t place = 0; place < LiteralHead::kBytes; ++place) {
    auto& groups = head_groups_->groups[index / 8][place];
    for (unsigned value = 0; value < groups.size(); ++value) {
      if (head.places[place].has(value)) groups[value] = static_cast<std::uint8_t>(groups[value] | 1u << (index % 8));
    }
  }
}

LiteralHead LiteralTable::head_group(std::size_t index) const {
  LiteralHead head;
  for (std::size_t place = 0; place < LiteralHead::kBytes; ++place) {
    const auto& groups = head_groups_->groups[index / 8][place];
    for (unsigned value = 0; value < groups.size(); ++value) {
      if ((groups[value] >> (index % 8) & 1) != 0) head.places[place].add(value);
    }
  }
  return head;
}

LiteralTable::ShortGroup& LiteralTable::ShortGroup::operator|=(const ShortGroup& other) noexcept {
  for (std::size_t place = 0; place < lower.size(); ++place) {
    lower[place] = lower[place] | other.lower[place];
    upper[place] = upper[place] | other.upper[place];
  }
  return *this;
}

// How often four bytes of ordinary text pass for one of a group.
std::uint64_t LiteralTable::frequency(const ShortGroup& group) {
  std::uint64_t product = 1;
  for (std::size_t place = 0; place < group.lower.size(); ++place) {
    std::uint64_t sum = 0;
    for (unsigned upper = group.upper[place]; upper != 0; upper &= upper - 1) {
      const auto& row = kFrequencies[static_cast<std::size_t>(std::countr_zero(upper))];
      for (unsigned lower = group.lower[place]; lower != 0; lower &= lower - 1) {
        sum += row[static_cast<std::size_t>(std::countr_zero(lower))];
      }
    }
    product *= sum;
  }
  return product;
}

void LiteralTable::group() {
  group_short();
  const std::vector<LiteralHead> groups = grouped(std::move(ungrouped_heads_), kHeadGroups);
  ungrouped_heads_.clear();
  for (std::size_t index = 0; index < groups.size(); ++index) enter_in_group(groups[index], index);
  heads_grouped_ = true;
}

// Groups cost what they let through together and neither did alone.
void LiteralTable::group_short() {
  constexpr std::size_t kGroups = 16;
  join_cheapest(short_, kGroups, [](const ShortGroup& a, const ShortGroup& b) {
    ShortGroup both = a;
    both |= b;
    const std::uint64_t together = frequency(both);
    const std::uint64_t apart = frequency(a) + frequency(b);
    return together > apart ? together - apart : 0;
  });
  for (std::size_t group = 0; group < short_.size(); ++group) {
    const auto bit = static_cast<std::uint8_t>(1u << (group % 8));
    for (std::size_t place = 0; place < 4; ++place) {
      Halves& halves = (*short_groups_)[group / 8][place];
      for (unsigned half = 0; half < 16; ++half) {
        if ((short_[group].lower[place] >> half & 1) != 0) halves.lower[half] |= bit;
        if ((short_[group].upper[place] >> half & 1) != 0) halves.upper[half] |= bit;
      }
    }
  }
}

LiteralTable::Candidates LiteralTable::candidates(std::string_view text) const {
  const bool by_first = text.size() < 3;
  const std::uint32_t index = by_first ? (text.empty() ? std::uint32_t{0} : tables_.first[folded_byte(text.front())])
                                       : tables_.group[hashed(folded_triple(text.data()), kGroupBits)];
  return {Iterator(tables_.entries, index, by_first, folded_eight(text), mask_of(text.size())),
      Iterator(tables_.entries, 0, by_first, 0, 0)};
}

bool LiteralTable::begins(std::string_view text) const {
  const std::uint64_t bytes = first_eight(text);
  const Candidates found = candidates(text);
  for (Iterator it = found.begin(); it != found.end(); ++it) {
    const LiteralTables::Entry& entry = it.entry();
    const bool short_and_exact = !entry.trigger.fold_case && entry.trigger.literal.size() <= sizeof bytes;
    if (short_and_exact && text.size() >= sizeof bytes) {
      if (((bytes ^ entry.bytes) & entry.mask) == 0) return true;
    } else if (seen(entry.trigger, text) != Seen::no) {
      return true;
    }
  }
  return false;
}

Seen LiteralTable::seen(const Literal& trigger, std::string_view text) {
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

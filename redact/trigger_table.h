// Finds where one of many short literals may begin.
//
// Four bytes at every other place are looked up in a table of hashes. A literal that begins at such a place shows its
// first four bytes there; one that begins a place before shows the four from its second byte on. A literal of three
// bytes is entered with every byte that may stand behind it, or before it. So nothing is missed and each byte is read
// about twice. What that lets through has to be in a table of first four bytes, and is then compared in full with the
// few literals whose first three hash alike. Letters are folded in all of these, so that literals in either case cost
// no second entry.
#pragma once

#include <array>
#include <bitset>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "redact/stream_text.h"

namespace guard {

struct Trigger {
  std::string literal;
  bool fold_case = false;    // the literal is in lower case then
  bool known_value = false;  // the literal is the secret itself; else it makes a candidate of `kind`
  std::uint32_t kind = 0;
};

enum class Seen : std::uint8_t { no, partly, fully };

class TriggerTable {
 public:
  TriggerTable();
  void add(Trigger trigger);

  // The first offset from `from` on where a trigger stands, as far as the text goes; text.end() where there is none.
  Offset next(const StreamText& text, Offset from) const;

  class Iterator;
  struct Candidates;
  // All triggers that may stand at the beginning of `text`, and some that do not: ask seen().
  Candidates candidates(std::string_view text) const;

  // Does `trigger` stand at the beginning of `text`? `partly`: as far as the text goes.
  static Seen seen(const Trigger& trigger, std::string_view text);

 private:
  static constexpr std::size_t kPlaceBits = 18;
  static constexpr std::size_t kFirstBits = 16;
  static constexpr std::size_t kGroupBits = 12;
  // Chains through `triggers_`; an index counts from 1, 0 ends a chain.
  struct Entry {
    Trigger trigger;
    std::uint32_t next_in_group = 0;
    std::uint32_t next_with_first = 0;
  };
  struct Chains {
    std::array<std::uint32_t, std::size_t{1} << kGroupBits> group{};
    std::array<std::uint32_t, 256> first{};  // for texts of less than three bytes
  };
  bool begins(std::string_view text) const;

  std::vector<Entry> entries_;
  std::unique_ptr<Chains> chains_;
  struct Filters {
    std::bitset<std::size_t{1} << kPlaceBits> places;
    std::bitset<std::size_t{1} << kFirstBits> firsts;
  };
  std::unique_ptr<Filters> filters_;
};

class TriggerTable::Iterator {
 public:
  Iterator(const TriggerTable& table, std::uint32_t index, bool by_first)
      : table_(&table), index_(index), by_first_(by_first) {}
  const Trigger& operator*() const { return table_->entries_[index_ - 1].trigger; }
  Iterator& operator++() {
    const Entry& entry = table_->entries_[index_ - 1];
    index_ = by_first_ ? entry.next_with_first : entry.next_in_group;
    return *this;
  }
  bool operator!=(const Iterator& other) const { return index_ != other.index_; }

 private:
  const TriggerTable* table_;
  std::uint32_t index_;
  bool by_first_;
};

struct TriggerTable::Candidates {
  Iterator first;
  Iterator last;
  Iterator begin() const { return first; }
  Iterator end() const { return last; }
};

}  // namespace guard

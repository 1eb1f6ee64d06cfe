// Finds where one of many short literals may begin. Two filters look at 512 bytes at a time and answer with a bit for
// each place; what both let through is compared with the few literals whose first three bytes hash alike.
//
// Literals of five bytes or more: four bytes at every other place are looked up in a table of hashes. A literal that
// begins at such a place shows its first four bytes there; one that begins a place before shows the four from its
// second byte on. Letters are folded, so that literals in either case cost no second entry. The table fits the CPU's
// first cache.
//
// Literals of three or four bytes are put into sixteen groups, so that a group's literals are alike. For each of the
// four bytes from a place on (the last may be one that follows the literal) two tables tell by the halves of the byte
// in which groups it occurs there; a place where a group is left after all four is a candidate. This is the Teddy
// algorithm of Hyperscan (Wang et al., "Hyperscan: A Fast Multi-pattern Regex Matcher for Modern CPUs", NSDI 2019,
// section 4).
//
// The table is plain data: the one of the shipped kinds is made while guard is built, and lies in read-only memory.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <span>
#include <string_view>
#include <vector>

#include "redact/byte_set.h"
#include "redact/stream_text.h"

namespace guard {

struct Trigger {
  std::string_view literal;  // 3 to 60 bytes; must outlive the table
  bool fold_case = false;    // the literal is in lower case then
  bool known_value = false;  // the literal is the secret itself; else it makes a candidate of `kind`
  std::uint32_t kind = 0;
};

enum class Seen : std::uint8_t { no, partly, fully };

// Chains through `entries`; an index counts from 1, 0 ends a chain.
struct TriggerTables {
  struct Entry {
    Trigger trigger;
    std::uint64_t head = 0;  // the first eight bytes or fewer, letters folded; the mask leaves as many as there are
    std::uint64_t mask = 0;
    std::uint32_t next_in_group = 0;
    std::uint32_t next_with_first = 0;
  };
  std::span<const Entry> entries;
  std::span<const std::uint32_t> group;   // by the hash of the first three bytes
  std::span<const std::uint32_t> first;   // by the first byte, for texts of less than three
  std::span<const std::uint32_t> places;  // two bits for each hash of four bytes

  // Short literals: which of eight groups have a byte with this lower or upper half at this place.
  struct Halves {
    alignas(16) std::array<std::uint8_t, 16> lower{};
    alignas(16) std::array<std::uint8_t, 16> upper{};
  };
  using ShortGroups = std::array<std::array<Halves, 4>, 2>;  // by eight groups, by place
  const ShortGroups* short_groups = nullptr;
};

class TriggerTable {
 public:
  TriggerTable();
  explicit TriggerTable(const TriggerTables& tables) : tables_(tables) {}  // they must outlive this
  TriggerTable(TriggerTable&&) noexcept = default;
  TriggerTable& operator=(TriggerTable&&) noexcept = default;

  // `next`: the bytes that may follow the literal; empty: any. Only looked at for literals of less than five bytes;
  // call group_short() after the last of those.
  void add(const Trigger& trigger, const ByteSet& next = {});
  void group_short();

  // The first offset from `from` on where a trigger stands, as far as the text goes; text.end() where there is none.
  Offset next(const StreamText& text, Offset from) const;

  class Iterator;
  struct Candidates;
  // All triggers that may stand at the beginning of `text`, and some that do not: ask seen().
  Candidates candidates(std::string_view text) const;

  // Does `trigger` stand at the beginning of `text`? `partly`: as far as the text goes.
  static Seen seen(const Trigger& trigger, std::string_view text);

  const TriggerTables& tables() const noexcept { return tables_; }

 private:
  void own();
  void enter(std::string_view literal);
  bool begins(std::string_view text) const;
  std::size_t next_in(std::string_view text) const;

  TriggerTables tables_;
  // What was added to: vectors keep their place when the table is moved.
  std::vector<TriggerTables::Entry> entries_;
  std::vector<std::uint32_t> group_;
  std::vector<std::uint32_t> first_;
  std::vector<std::uint32_t> places_;
  std::unique_ptr<TriggerTables::ShortGroups> short_groups_;
  // A bit for each value that a half of the byte at that place takes in one of the literals.
  struct ShortGroup {
    std::array<std::uint16_t, 4> lower{};
    std::array<std::uint16_t, 4> upper{};
  };
  static ShortGroup joined(const ShortGroup& a, const ShortGroup& b);
  static unsigned long breadth(const ShortGroup& group);
  std::vector<ShortGroup> short_;
};

class TriggerTable::Iterator {
 public:
  Iterator(std::span<const TriggerTables::Entry> entries, std::uint32_t index, bool by_first)
      : entries_(entries), index_(index), by_first_(by_first) {}
  const Trigger& operator*() const { return entries_[index_ - 1].trigger; }
  Iterator& operator++() {
    const TriggerTables::Entry& entry = entries_[index_ - 1];
    index_ = by_first_ ? entry.next_with_first : entry.next_in_group;
    return *this;
  }
  bool operator!=(const Iterator& other) const { return index_ != other.index_; }

 private:
  std::span<const TriggerTables::Entry> entries_;
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

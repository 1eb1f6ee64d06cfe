// Many short literals, and the tables by which literal_scan.h finds where one of them may begin.
//
// For CPUs with AVX-512 VBMI: each literal's first five bytes (or what may follow it there) are its head. The heads are
// put into groups, so that those of a group are alike. For each of the five bytes a table of 128 tells in which groups
// it occurs there; a place where a group is left after all five is a candidate. This is the Teddy
// algorithm of Hyperscan (Wang et al., "Hyperscan: A Fast Multi-pattern Regex Matcher for Modern CPUs", NSDI 2019,
// section 4) with whole bytes instead of halves.
//
// For other CPUs: literals of three or four bytes are grouped the same way, with a table for each half of a byte.
// Of those of five bytes or more, four bytes at every other place are looked up in a table of hashes. A literal that
// begins at such a place shows its first four bytes there; one that begins a place before shows the four from its
// second byte on. What is left of its first five bytes must be of one of the classes that the table tells. Letters are
// folded, so that literals in either case cost no second entry. The table fits the CPU's first cache.
//
// What these let through is looked up among the hashes of the literals' first four bytes, then among those of the four
// as they are of short ones and of the first five, six or eight of longer ones, and then compared with the few literals
// whose first three bytes hash alike.
//
// The table is plain data: the one of the shipped kinds is made while guard is built, and lies in read-only memory.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <span>
#include <string_view>
#include <vector>

#include "redact/literals/byte_set.h"
#include "redact/literals/literal_head.h"
#include "redact/stream/stream_text.h"

namespace guard {

struct Literal {
  std::string_view literal;  // 3 to 60 bytes; must outlive the table
  bool fold_case = false;    // the literal is in lower case then
  bool known_value = false;  // the literal is the secret itself; else it makes a candidate of `kind`
  std::uint32_t kind = 0;
};

enum class Seen : std::uint8_t { no, partly, fully };

// Chains through `entries`; an index counts from 1, 0 ends a chain.
struct LiteralTables {
  struct Entry {
    Literal trigger;
    std::uint64_t bytes = 0;  // the first eight or fewer; the mask leaves as many as there are
    std::uint64_t head = 0;   // the same with folded letters
    std::uint64_t mask = 0;
    std::uint32_t next_in_group = 0;
    std::uint32_t next_with_first = 0;
  };
  std::span<const Entry> entries;
  std::span<const std::uint32_t> group;   // by the hash of the first three bytes
  std::span<const std::uint32_t> first;   // by the first byte, for texts of less than three
  std::span<const std::uint16_t> places;  // by the hash of four bytes; see literal_hash.h

  // Short literals: which of eight groups have a byte with this lower or upper half at this place.
  struct Halves {
    alignas(16) std::array<std::uint8_t, 16> lower{};
    alignas(16) std::array<std::uint8_t, 16> upper{};
  };
  using ShortGroups = std::array<std::array<Halves, 4>, 2>;  // by eight groups, by place
  const ShortGroups* short_groups = nullptr;

  // Two bits for each hash of four bytes: a literal of less than five bytes begins with them; a longer one does.
  std::span<const std::uint64_t> fours;
  // A bit for each hash of four bytes, letters in either case, that a literal of less than five bytes begins with.
  std::span<const std::uint64_t> exact;
  // A bit for each hash of five bytes that are a literal, of six that a literal of six or seven begins with, and of
  // eight that a longer one does.
  std::span<const std::uint64_t> longer;
  // Which of eight groups of heads have this byte, but for its highest bit, at this place.
  struct HeadGroups {
    alignas(64) std::array<std::array<std::array<std::uint8_t, 128>, LiteralHead::kBytes>,
        4> groups{};  // by eight groups, by place
  };
  const HeadGroups* head_groups = nullptr;
};

class LiteralTable {
 public:
  LiteralTable();
  explicit LiteralTable(const LiteralTables& tables) : tables_(tables) {}  // they must outlive this
  LiteralTable(LiteralTable&&) noexcept = default;
  LiteralTable& operator=(LiteralTable&&) noexcept = default;

  // `next`: the bytes that may follow the literal; empty: any. Only looked at for literals of less than five bytes;
  // call group() after the last of those. What is added behind that makes the groups wider.
  void add(const Literal& trigger, const ByteSet& next = {});
  void group();

  class Iterator;
  struct Candidates;
  // All triggers that may stand at the beginning of `text`, and some that do not: ask seen().
  Candidates candidates(std::string_view text) const;

  // Does `trigger` stand at the beginning of `text`? `partly`: as far as the text goes.
  static Seen seen(const Literal& trigger, std::string_view text);

  // Does a trigger stand at the beginning of `text`, as far as that goes?
  bool begins(std::string_view text) const;

  const LiteralTables& tables() const noexcept { return tables_; }

 private:
  void own();
  void enter(std::string_view literal);
  void enter_short_hashes(const Literal& trigger, const ByteSet& next);
  void enter_long_hashes(std::string_view literal);
  void enter_head(const LiteralHead& head);
  void enter_in_group(const LiteralHead& head, std::size_t index);
  LiteralHead head_group(std::size_t index) const;
  void group_short();
  void point_at_own();

  LiteralTables tables_;
  // What was added to: vectors keep their place when the table is moved.
  std::vector<LiteralTables::Entry> entries_;
  std::vector<std::uint32_t> group_;
  std::vector<std::uint32_t> first_;
  std::vector<std::uint16_t> places_;
  std::unique_ptr<LiteralTables::ShortGroups> short_groups_;
  std::vector<std::uint64_t> fours_;
  std::vector<std::uint64_t> exact_;
  std::vector<std::uint64_t> longer_;
  std::unique_ptr<LiteralTables::HeadGroups> head_groups_;
  std::vector<LiteralHead> ungrouped_heads_;
  bool heads_grouped_ = false;
  // A bit for each value that a half of the byte at that place takes in one of the literals.
  struct ShortGroup {
    std::array<std::uint16_t, 4> lower{};
    std::array<std::uint16_t, 4> upper{};
    ShortGroup& operator|=(const ShortGroup& other) noexcept;
  };
  static constexpr std::size_t kHeadGroups = 32;
  static std::uint64_t frequency(const ShortGroup& group);
  std::vector<ShortGroup> short_;
};

class LiteralTable::Iterator {
 public:
  // `head`: the first eight bytes of the text, letters folded; `seen` leaves as many as there are.
  Iterator(std::span<const LiteralTables::Entry> entries, std::uint32_t index, bool by_first, std::uint64_t head,
      std::uint64_t seen)
      : entries_(entries), index_(index), by_first_(by_first), head_(head), seen_(seen) {
    skip();
  }
  const LiteralTables::Entry& entry() const { return entries_[index_ - 1]; }
  const Literal& operator*() const { return entry().trigger; }
  Iterator& operator++() {
    index_ = next(entries_[index_ - 1]);
    skip();
    return *this;
  }
  bool operator!=(const Iterator& other) const { return index_ != other.index_; }

 private:
  std::uint32_t next(const LiteralTables::Entry& entry) const {
    return by_first_ ? entry.next_with_first : entry.next_in_group;
  }
  // Over those whose first bytes are others.
  void skip() {
    while (index_ != 0) {
      const LiteralTables::Entry& entry = entries_[index_ - 1];
      if (((entry.head ^ head_) & entry.mask & seen_) == 0) return;
      index_ = next(entry);
    }
  }

  std::span<const LiteralTables::Entry> entries_;
  std::uint32_t index_;
  bool by_first_;
  std::uint64_t head_;
  std::uint64_t seen_;
};

struct LiteralTable::Candidates {
  Iterator first;
  Iterator last;
  Iterator begin() const { return first; }
  Iterator end() const { return last; }
};

}  // namespace guard

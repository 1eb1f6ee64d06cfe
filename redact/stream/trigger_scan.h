// Finds where one of many short literals stands in a stream: the prefixes that give secrets away.
//
// Hyperscan would do it, too, in less than half of the bytes a second, and would have to compile the literals of rules
// that are read while guard runs for seconds (bench/redaction.md).
//
// The triggers are in groups. At each place a table tells the groups of which one begins with the two bytes there,
// letters folded, and another the groups of which one goes on with the next two. Where both have a group in common
// three, five and eight bytes are hashed, for the literals of which so many are the most. What is left is compared.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "redact/kinds/byte_set.h"
#include "redact/kinds/secret_kind.h"
#include "redact/stream/stream_text.h"

namespace guard {

// Triggers are sorted by so many bytes.
inline constexpr std::size_t kKeyBytes = 3;

struct Trigger {
  Trigger(std::string_view literal_in, const SecretKind& of, std::uint32_t kind_in);

  std::string_view literal;
  bool fold_case;       // the literal is in lower case then
  const ByteSet* next;  // of which a byte follows a literal of less than five bytes; empty: anything may
  std::uint32_t kind;
  std::uint64_t head = 0;       // its first eight bytes, and
  std::uint64_t head_bits = 0;  // the bits of them that count

  enum class Seen : std::uint8_t { no, partly, fully };
  // Does it stand at the beginning of `text`, with a byte that may follow it? `partly`: as far as the text goes.
  Seen seen(std::string_view text) const {
    if (text.size() >= sizeof head && (eight_at(text.data()) & head_bits) != head) return Seen::no;
    return seen_whole(text);
  }

 private:
  Seen seen_whole(std::string_view text) const;
};

// Immutable.
class TriggerTable {
 public:
  // The prefixes of `kinds`, which must outlive this. `next` is asked of prefixes of three bytes.
  explicit TriggerTable(std::span<const SecretKind> kinds);

  std::span<const Trigger> all() const noexcept { return triggers_; }
  // All triggers that may stand at the beginning of `text`, as far as that goes, and some that do not: ask seen().
  std::span<const Trigger> candidates(std::string_view text) const;
  // Does one stand there?
  bool begins(std::string_view text) const;
  std::size_t longest() const noexcept { return longest_; }  // bytes of a literal

  // The filters look at so many bytes of a place and behind it.
  static constexpr std::size_t kFilterBytes = 8;
  static constexpr std::size_t kBits = 64;
  // A bit for each of the first `count` bytes of `text`, at most kBlockBytes, in words of kBits: may a trigger stand
  // there? `text` holds kFilterBytes - 1 bytes more.
  void likely_places(const char* text, std::size_t count, std::uint64_t* bits) const;
  static constexpr std::size_t kBlockBytes = 512;

 private:
  // A bit for each hash.
  class Filter {
   public:
    void add(std::uint32_t hash) { bits_[hash / 64] |= std::uint64_t{1} << (hash % 64); }
    std::uint64_t has(std::uint32_t hash) const { return bits_.data()[hash / 64] >> (hash % 64) & 1; }

   private:
    std::array<std::uint64_t, 65536 / 64> bits_{};
  };
  static constexpr unsigned kGroups = 8;
  void enter(const Trigger& trigger, unsigned group);

  std::vector<Trigger> triggers_;  // sorted by their first three bytes, letters folded
  struct Keyed {
    std::uint32_t key = 0;
    std::uint32_t first = 0;  // of the triggers with that key, and how many these are
    std::uint32_t count = 0;
  };
  std::size_t slot_of(std::uint32_t key) const;
  std::vector<Keyed> slots_;  // by hashes of keys
  std::size_t longest_ = 0;
  // By pairs of bytes: the groups of triggers that one begins with it, and above those that it is the second pair of
  // one.
  std::array<std::uint16_t, 4096> groups_{};
  // Of a literal that many bytes are hashed.
  static constexpr std::array<std::size_t, 3> kHeadSizes = {3, 5, 8};
  std::array<Filter, kHeadSizes.size()> heads_;
};

// Where triggers may stand in one reading of a stream, for all who look for them there: a bit for each byte in memory.
class TriggerScan {
 public:
  explicit TriggerScan(const TriggerTable& table) : table_(&table) {}  // must outlive the scan

  // Takes in what of the reading is in memory now: what it was asked for before, with more at the end and less at the
  // beginning.
  void look(const StreamText& text);

  // The first offset from `from` to `to` where a trigger stands, as far as the text goes; `to` where there is none.
  // `text` is a part of what was looked at.
  Offset next(const StreamText& text, Offset from, Offset to);
  Offset next(const StreamText& text, Offset from) { return next(text, from, text.end()); }

 private:
  static constexpr std::size_t kBits = TriggerTable::kBits;
  Offset next_likely(Offset from, Offset to) const;

  const TriggerTable* table_;
  Offset begin_ = 0;  // of the first bit
  Offset end_ = 0;    // all before this has its bit
  std::vector<std::uint64_t> bits_;
};

}  // namespace guard

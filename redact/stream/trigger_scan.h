// Finds where one of many short literals stands in a stream: the prefixes that give secrets away.
//
// Hyperscan would do it, too, in less than half of the bytes a second, and would have to compile the literals of rules
// that are read while guard runs for seconds (bench/redaction.md).
//
// The four bytes at each place, letters folded, are hashed into a table of bits; the compiler makes vectors of the loop
// that hashes. What that lets through is hashed again: four bytes as they are for literals of up to four, five, six or
// eight folded ones for longer literals. What is left is compared.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "redact/kinds/byte_set.h"
#include "redact/kinds/secret_kind.h"
#include "redact/stream/stream_text.h"

namespace guard {

struct Trigger {
  std::string_view literal;
  bool fold_case = false;         // the literal is in lower case then
  const ByteSet* next = nullptr;  // of which a byte follows a literal of less than five bytes; empty: anything may
  std::uint32_t kind = 0;

  enum class Seen : std::uint8_t { no, partly, fully };
  // Does it stand at the beginning of `text`, with a byte that may follow it? `partly`: as far as the text goes.
  Seen seen(std::string_view text) const;
};

// Immutable.
class TriggerTable {
 public:
  // The prefixes of `kinds`, which must outlive this. `next` is asked of prefixes of three bytes.
  explicit TriggerTable(std::span<const SecretKind> kinds);

  // All triggers that may stand at the beginning of `text`, as far as that goes, and some that do not: ask seen().
  std::span<const Trigger> candidates(std::string_view text) const;
  // Does one stand there?
  bool begins(std::string_view text) const;

  // The filters look at so many bytes of a place and behind it.
  static constexpr std::size_t kFilterBytes = 8;
  // Writes down where among the first `count` bytes of `text` a trigger may stand, in order, and returns how many
  // places these are. `text` holds kFilterBytes - 1 bytes more, and `places` has room for `count`, at most kBlockBytes.
  std::size_t likely_places(const char* text, std::size_t count, std::uint16_t* places) const;
  static constexpr std::size_t kBlockBytes = 1024;

 private:
  // A bit for each hash.
  class Filter {
   public:
    void add(std::uint32_t hash) { bits_[hash / 64] |= std::uint64_t{1} << (hash % 64); }
    std::uint64_t has(std::uint32_t hash) const { return bits_[hash / 64] >> (hash % 64) & 1; }

   private:
    std::array<std::uint64_t, 65536 / 64> bits_{};
  };
  void enter(const Trigger& trigger);

  std::vector<Trigger> triggers_;  // sorted by their first three bytes, letters folded
  std::vector<std::uint32_t> keys_;
  ByteSet runs_;  // bytes of which a literal's beginning may consist
  Filter fours_;
  Filter exact_;   // literals of up to four bytes
  Filter longer_;  // by the bytes that there are of five, six and eight
};

// Remembers the places that the filters left of up to kBlockBytes bytes. So a flood of literals costs one such look for
// many of them, however often the scan is asked again.
class TriggerScan {
 public:
  explicit TriggerScan(const TriggerTable& table) : table_(&table) {}  // must outlive the scan

  // The first offset from `from` on where a trigger stands, as far as the text goes; text.end() where there is none.
  // Of one stream, whose text only grows at its end.
  Offset next(const StreamText& text, Offset from);

 private:
  const TriggerTable* table_;
  Offset begin_ = 0;  // of what was looked at last
  Offset end_ = 0;
  std::array<std::uint16_t, TriggerTable::kBlockBytes> places_;
  std::size_t count_ = 0;
  std::size_t next_ = 0;
};

}  // namespace guard

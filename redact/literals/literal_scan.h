// Finds where the literals of a trigger table stand in a stream, in order.
//
// The filters look at up to 1024 bytes at a time, and the places that they leave are remembered. So a flood of literals
// costs one such look for many of them, however often the scan is asked again.
#pragma once

#include <array>
#include <cstdint>

#include "redact/literals/literal_table.h"
#include "redact/stream/stream_text.h"

namespace guard {

// What the CPU has; the scan finds the same with each.
enum class Vectors : std::uint8_t { none, avx2, avx512 };
Vectors best_vectors();

class LiteralScan {
 public:
  // `table` must outlive the scan.
  explicit LiteralScan(const LiteralTable& table, Vectors vectors = best_vectors());

  // The first offset from `from` on where a trigger stands, as far as the text goes; text.end() where there is none.
  // Of one stream, whose text only grows at its end.
  Offset next(const StreamText& text, Offset from);

  static constexpr std::size_t kBlockWords = 16;
  static constexpr std::size_t kBlockBytes = 64 * kBlockWords;
  // Where in some words of 64 bytes a literal may begin, in order, and how many places these are. Reads a few bytes
  // more, and writes a few places more.
  using Places = std::size_t (*)(
      const LiteralTables& tables, const char* bytes, std::size_t words, std::uint16_t* places);

 private:
  void look(std::string_view text, Offset from);

  const LiteralTable* table_;
  Places find_places_;
  Offset begin_ = 0;  // of what was looked at last
  Offset end_ = 0;
  static constexpr std::size_t kPlacesMore = 4;
  std::array<std::uint16_t, kBlockBytes + kPlacesMore> places_;  // where in there a literal may begin
  std::size_t count_ = 0;
  std::size_t next_ = 0;
};

}  // namespace guard

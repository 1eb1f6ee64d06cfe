// The second reading of a stream: as it looks on a terminal, without escape sequences and characters of no width;
// without the line ends that broke a secret (seam.h); and with the characters that are written as their numbers
// (gap.h). The finders run over it as over the stream itself, and what they find is carried back to the bytes that
// it is made of; an escape in between stays in the output. What is hidden is the union of what both readings show.
//
// The reading is a pure function of the bytes, however they were cut. It is made only where it differs: from the
// beginning of a line with a gap in it (at most kLineBytesMax before the first gap) to the end of the line behind it,
// where a wrapped secret may go on. Everything else is left out; a line that can't belong to a secret stands in its
// place. So text without gaps costs one quick look per eight bytes.
//
// Bounded: where the last kFloodBytes of the stream make up less than a decision's worth of text, or hold more than
// kGapsMax gaps, the reading is broken off and begins anew behind them. A secret written that way is found by neither.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "redact/stream/gap.h"
#include "redact/stream/seam.h"
#include "redact/stream/stream_text.h"
#include "redact/stream/trigger_scan.h"

namespace guard {

class VisibleText {
 public:
  static constexpr std::size_t kLineBytesMax = 1536;
  static constexpr std::size_t kFloodBytes = 3072;
  static constexpr std::size_t kGapsMax = 512;

  explicit VisibleText(const SecretSource::State& secrets);  // must outlive this

  // Reads on as far as the stream tells. `stream` must hold the kLineBytesMax before what was read already.
  void advance(const StreamText& stream);

  StreamText text(bool ended) const { return StreamText(bytes_, begin_, ended); }
  bool empty() const noexcept { return bytes_.empty(); }

  // Where triggers may stand in the stream, and in this text.
  TriggerScan& triggers_of_stream() noexcept { return stream_triggers_; }
  TriggerScan& triggers() noexcept { return triggers_; }

  // Adds what `span`, in offsets of this text, hides of the stream.
  void carry_back(const SecretSpan& span, std::vector<SecretSpan>& spans) const;

  // The offset in the stream before which everything is decided, if all is up to `frontier` of this text.
  Offset carry_back(Offset frontier) const;

  // Where the byte at `at` of this text stands in the stream; kLeftContextBytes before what is decided at most.
  Offset to_stream(Offset at) const;
  // And the byte before it; nothing where the reading begins with `at`.
  std::optional<Offset> before_in_stream(Offset at) const;

  // The last seam between two places of this text; `from` if there is none.
  Offset last_seam(Offset from, Offset to) const;

  // What of the stream was read; it has to be kept kLineBytesMax bytes further back.
  Offset read() const noexcept { return read_; }
  // What of it others may read: also the end of a line whose last few bytes alone wait for the next line.
  Offset passed() const noexcept { return std::max(read_, passed_); }

  // Forgets what is decided up to `frontier`, an offset of this text, but for what a line end is judged by.
  void forget_before(Offset frontier);

  std::size_t carried_bytes() const noexcept { return bytes_.size() + joints_.size() * sizeof(Joint); }

 private:
  // At `shadow` of this text begins what stands at raw + size of the stream; the bytes from `raw` on are left out.
  struct Joint {
    Offset shadow = 0;
    Offset raw = 0;
    std::uint32_t size = 0;
    Gap::Kind kind = Gap::Kind::none;  // none: what stands before is something else
    Offset trusted = 0;                // none: what begins in the stream before this is judged there alone
    Offset shown = 0;                  // what stands in the stream before this may have left
    bool seam = false;                 // a line end is among what is left out
  };
  Offset end() const noexcept { return begin_ + bytes_.size(); }
  void read_on(const StreamText& stream);
  void switch_on(const StreamText& stream, Offset gap);
  void take_text(const StreamText& stream, Offset to);
  void take_gap(const Gap& gap);
  Seam seam_here(const StreamText& stream);
  bool take_line_end(const StreamText& stream);
  bool take_written(const StreamText& stream);
  void take_byte(const StreamText& stream);
  SeenLine left_of_line_end(const StreamText& stream, std::size_t max) const;
  SeenLine seen_line(const StreamText& stream) const;
  void break_off();
  Offset reach() const;  // the joints from here on are those of the last decision's worth of text

  std::string bytes_;
  Offset begin_ = 0;
  std::vector<Joint> joints_;
  std::size_t recent_ = 0;  // into joints_: none before it is within reach()
  Offset read_ = 0;         // all of the stream before this has been read
  Offset held_ = 0;         // or before this, if what was read last may have to be hidden
  Offset begun_ = 0;        // where this text was switched on or broken off last
  bool on_ = false;
  int lines_left_ = 0;  // line ends until it is switched off
  SeamFinder seams_;
  TriggerScan stream_triggers_;
  TriggerScan triggers_;
  Column column_;
  Offset piece_ = 0;  // behind the last seam
  Offset passed_ = 0;
};

}  // namespace guard

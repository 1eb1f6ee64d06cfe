#include "redact/stream/visible_text.h"

#include <algorithm>
#include <cstring>

#include "redact/stream/gap.h"
#include "redact/stream/secret_state.h"

namespace guard {
namespace {

// No secret goes over this: it is no part of a token, no body of a PEM key and no half of a wrapped line.
constexpr std::string_view kBreak = "\x01\n";

constexpr Offset kReachBytes = kWindowBytes + kLeftContextBytes;

}  // namespace

VisibleText::VisibleText(const SecretSource::State& secrets)
    : seams_(secrets), stream_triggers_(secrets.triggers), triggers_(secrets.triggers) {}

void VisibleText::advance(const StreamText& stream) {
  stream_triggers_.look(stream);
  read_on(stream);
  triggers_.look(text(false));
}

void VisibleText::read_on(const StreamText& stream) {
  while (read_ < stream.end()) {
    const std::string_view bytes = stream.between(stream.begin(), stream.end());
    std::size_t place = next_place(bytes, static_cast<std::size_t>(read_ - stream.begin()));
    // Most line ends need no second look.
    while (!on_ && place < bytes.size() && bytes[place] == '\n' && !seams_.may_stand_at(bytes, place))
      place = next_place(bytes, place + 1);
    const Offset next = stream.begin() + place;
    if (on_) take_text(stream, next);
    read_ = next;
    if (!on_) held_ = next;
    if (next == stream.end()) return;
    const char byte = stream.at(next);
    if (is_line_end(byte)) {
      if (!take_line_end(stream)) return;
    } else if (may_be_written(byte)) {
      if (!take_written(stream)) return;
    } else {
      const bool text = is_inside_character(stream.left_of(next), byte);
      const Gap gap = text ? Gap() : gap_at(stream.from(next), stream.ended());
      if (gap.kind == Gap::Kind::undecided) return;
      if (gap.kind == Gap::Kind::none) {
        take_byte(stream);
        continue;
      }
      if (!on_) switch_on(stream, next);
      take_gap(gap);
    }
  }
}

void VisibleText::take_byte(const StreamText& stream) {
  const bool line_end = stream.at(read_) == '\n';
  if (on_)
    take_text(stream, read_ + 1);
  else
    held_ = ++read_;
  if (!on_ || !line_end || --lines_left_ > 0) return;
  bytes_ += kBreak;
  on_ = false;
}

Seam VisibleText::seam_here(const StreamText& stream) {
  constexpr std::size_t kFewBytes = 8;
  const SeenLine left = left_of_line_end(stream, kFewBytes);
  if (seams_.may_be(stream, read_, left)) {
    if (on_) triggers_.look(text(false));
    TriggerScan& triggers = on_ ? triggers_ : stream_triggers_;
    const SeenLine line = seen_line(stream);
    if (seams_.may_end(line, triggers, column_)) {
      const NextLine next = seams_.next_line(stream, read_, left);
      if (next.may_go_on()) return seams_.between(line, triggers, next, column_);
    }
  }
  column_ = Column();
  return {};
}

// False where more has to be seen first.
bool VisibleText::take_line_end(const StreamText& stream) {
  const Seam seam = seam_here(stream);
  // So few bytes of a beginning tell nothing, and a line that ends in an ordinary short word need not wait: it is
  // shown.
  constexpr std::size_t kFewBytes = 3;
  const bool few = seam.live <= kFewBytes && !on_;
  if (seam.is == Seam::Is::undecided) {
    if (!on_) held_ = few ? seam.line : read_ - seam.live;
    if (few) passed_ = seam.line;
    return false;
  }
  if (seam.is == Seam::Is::no) {
    take_byte(stream);
    return true;
  }
  if (!on_) switch_on(stream, read_);
  joints_.push_back({end(), read_, 0, Gap::Kind::invisible, 0, few ? seam.line : 0, true});
  while (read_ < seam.word) {
    const Gap gap = gap_at(stream.from(read_), stream.ended());
    take_gap(gap.kind == Gap::Kind::escape || gap.kind == Gap::Kind::invisible ? gap : Gap{Gap::Kind::invisible, 1});
  }
  piece_ = end();
  return true;
}

// What a reader sees before the line end at read_: `max` bytes at most.
SeenLine VisibleText::left_of_line_end(const StreamText& stream, std::size_t max) const {
  if (!on_) {
    const Offset from = std::max(stream.begin(), read_ - std::min<Offset>(read_, max));
    return {stream.between(from, read_), from, max};
  }
  const Offset from = std::max({begun_, begin_, end() - std::min<Offset>(end(), max)});
  const auto piece = column_.joined ? static_cast<std::size_t>(end() - piece_) : max;
  return {text(false).from(from), from, piece};
}

SeenLine VisibleText::seen_line(const StreamText& stream) const {
  SeenLine line = left_of_line_end(stream, SeenLine::kBytesMax);
  for (const char line_end : {'\n', '\r'}) {
    const auto* const at = static_cast<const char*>(memrchr(line.text.data(), line_end, line.text.size()));
    if (at == nullptr) continue;
    const auto before = static_cast<std::size_t>(at + 1 - line.text.data());
    line.text.remove_prefix(before);
    line.begin += before;
  }
  return line;
}

// False where more has to be seen first.
bool VisibleText::take_written(const StreamText& stream) {
  const Gap written = written_at(stream.from(read_), stream.ended());
  if (written.kind == Gap::Kind::undecided) return false;
  if (written.kind == Gap::Kind::none) {
    take_byte(stream);
    return true;
  }
  if (!on_) switch_on(stream, read_);
  take_gap({Gap::Kind::written, written.size - 1});
  bytes_ += written.shows;
  held_ = ++read_;
  return true;
}

void VisibleText::switch_on(const StreamText& stream, Offset gap) {
  const Offset earliest = std::max(stream.begin(), gap - std::min<Offset>(gap, kLineBytesMax));
  Offset from = gap;
  while (from > earliest && !is_line_end(stream.at(from - 1))) --from;
  // What was left out of the line may change how what follows it is read; the stream's own reading saw all of it.
  const bool cut = from > 0 && gap - from == kLineBytesMax;
  if (cut) {
    // In the middle of a line: begin behind a blank, if there is one far enough before the gap.
    Offset blank = from;
    while (blank + kReachBytes < gap && stream.at(blank) != ' ') ++blank;
    if (blank + kReachBytes < gap) from = blank + 1;
  }
  on_ = true;
  begun_ = end();
  joints_.push_back({end(), from, 0, Gap::Kind::none, cut ? gap - std::min(gap, kReachBytes) : 0});
  read_ = from;
  take_text(stream, gap);
}

// From read_ on; no line end is among it that may end the reading.
void VisibleText::take_text(const StreamText& stream, Offset to) {
  bytes_ += stream.between(read_, to);
  held_ = read_ = to;
}

void VisibleText::take_gap(const Gap& gap) {
  Joint& last = joints_.back();
  if (last.shadow == end() && last.kind == gap.kind) {
    last.size += static_cast<std::uint32_t>(gap.size);
  } else {
    joints_.push_back({end(), read_, static_cast<std::uint32_t>(gap.size), gap.kind});
  }
  read_ += gap.size;
  // Hidden if the secret goes on behind it, so it waits for the next byte of text.
  if (gap.kind == Gap::Kind::escape && held_ + gap.size == read_) held_ = read_;
  lines_left_ = 2;
  for (const Offset from = reach(); joints_[recent_].shadow < from;) ++recent_;
  if (read_ - joints_[recent_].raw > kFloodBytes || joints_.size() - recent_ > kGapsMax) break_off();
}

Offset VisibleText::reach() const { return std::max(begun_, end() - std::min<Offset>(end(), kReachBytes)); }

void VisibleText::break_off() {
  bytes_ += '\n';
  bytes_ += kBreak;
  begun_ = end();
  joints_.push_back({end(), read_, 0, Gap::Kind::none});
  held_ = read_;
  column_ = Column();
}

Offset VisibleText::to_stream(Offset at) const {
  const auto behind = std::upper_bound(
      joints_.begin(), joints_.end(), at, [](Offset offset, const Joint& joint) { return offset < joint.shadow; });
  const Joint& joint = *std::prev(behind);
  return joint.raw + joint.size + (at - joint.shadow);
}

Offset VisibleText::last_seam(Offset from, Offset to) const {
  auto joint = std::lower_bound(
      joints_.begin(), joints_.end(), to, [](const Joint& other, Offset at) { return other.shadow < at; });
  while (joint != joints_.begin() && std::prev(joint)->shadow > from) {
    if ((--joint)->seam) return joint->shadow;
  }
  return from;
}

std::optional<Offset> VisibleText::before_in_stream(Offset at) const {
  auto joint = std::lower_bound(
      joints_.begin(), joints_.end(), at, [](const Joint& other, Offset offset) { return other.shadow < offset; });
  if (joint == joints_.begin()) return std::nullopt;
  for (; joint != joints_.end() && joint->shadow == at; ++joint) {
    if (joint->kind == Gap::Kind::none) return std::nullopt;
  }
  return to_stream(at - 1);
}

void VisibleText::carry_back(const SecretSpan& span, std::vector<SecretSpan>& spans) const {
  const auto less = [](const Joint& joint, Offset at) { return joint.shadow < at; };
  // What goes on from a part that was told before goes on over the gap in between, too.
  auto joint = std::lower_bound(joints_.begin(), joints_.end(), span.goes_on ? span.begin : span.begin + 1, less);
  SecretSpan part = span;
  part.begin = joint != joints_.end() && joint->shadow == span.begin ? joint->raw : to_stream(span.begin);
  for (auto at = std::lower_bound(joints_.begin(), joints_.end(), span.begin, less);
       at != joints_.end() && at->shadow == span.begin; ++at) {
    if (at->kind == Gap::Kind::written) part.begin = std::min(part.begin, at->raw);
  }
  if (joint != joints_.begin() && std::prev(joint)->trusted > part.begin) {
    part.begin = std::prev(joint)->trusted;
    part.goes_on = true;
  }
  for (; joint != joints_.end() && joint->shadow < span.end; ++joint) {
    if (joint->shown > part.begin) {
      part.begin = joint->shown;
      part.goes_on = false;
    }
    if (joint->kind == Gap::Kind::invisible || joint->kind == Gap::Kind::written) continue;
    part.end = joint->raw;
    if (part.end > part.begin) spans.push_back(part);
    part.begin = joint->raw + joint->size;
    part.goes_on = true;
  }
  part.end = to_stream(span.end - 1) + 1;
  if (part.end > part.begin) spans.push_back(part);
}

Offset VisibleText::carry_back(Offset frontier) const {
  if (frontier >= end()) return held_;
  // A gap before it may have to be hidden with it.
  const auto joint = std::lower_bound(
      joints_.begin(), joints_.end(), frontier, [](const Joint& other, Offset at) { return other.shadow < at; });
  return joint != joints_.end() && joint->shadow == frontier ? joint->raw : to_stream(frontier);
}

void VisibleText::forget_before(Offset frontier) {
  const Offset from = std::max(begin_, frontier - std::min<Offset>(frontier, SeenLine::kBytesMax));
  bytes_.erase(0, static_cast<std::size_t>(from - begin_));
  begin_ = from;
  // The last joint before what is kept says where that is in the stream; a flood is recognised by the recent ones.
  auto first = std::upper_bound(joints_.begin(), joints_.end(), std::min(from, reach()),
      [](Offset at, const Joint& joint) { return at < joint.shadow; });
  if (first != joints_.begin()) --first;
  while (first != joints_.begin() && std::prev(first)->shadow == first->shadow) --first;
  const auto forgotten = static_cast<std::size_t>(first - joints_.begin());
  recent_ -= std::min(recent_, forgotten);
  joints_.erase(joints_.begin(), first);
}

}  // namespace guard

#include "redact/shadow_text.h"

#include <algorithm>

namespace guard {
namespace {

// No secret goes over this: it is no part of a token, no body of a PEM key and no half of a wrapped line.
constexpr std::string_view kBreak = "\x01\n";

constexpr Offset kReachBytes = kWindowBytes + kLeftContextBytes;

}  // namespace

void ShadowText::advance(const StreamText& stream) {
  while (read_ < stream.end()) {
    const Offset next = read_ + next_gap_byte(stream.from(read_));
    if (on_) take_text(stream, next);
    // Switched off on the way: what is left of the way is looked at once more, and it holds no gap.
    read_ = next;
    if (!on_) held_ = next;
    if (next == stream.end()) return;
    const bool text = is_inside_character(stream.left_of(next), stream.at(next));
    const Gap gap = text ? Gap() : gap_at(stream.from(next), stream.ended());
    if (gap.kind == Gap::Kind::undecided) return;
    if (gap.kind == Gap::Kind::none) {
      if (on_) take_text(stream, next + 1);
      read_ = next + 1;
      if (!on_) held_ = read_;
      continue;
    }
    if (!on_) switch_on(stream, next);
    take_gap(gap);
  }
}

void ShadowText::switch_on(const StreamText& stream, Offset gap) {
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

// From read_ on, up to the line end at which the reading stops.
void ShadowText::take_text(const StreamText& stream, Offset to) {
  while (read_ < to) {
    const std::string_view rest = stream.between(read_, to);
    const std::size_t line_end = lines_left_ > 0 ? rest.find('\n') : std::string_view::npos;
    const std::string_view taken = rest.substr(0, line_end == std::string_view::npos ? rest.size() : line_end + 1);
    bytes_ += taken;
    read_ += taken.size();
    held_ = read_;
    if (line_end != std::string_view::npos && --lines_left_ == 0) {
      bytes_ += kBreak;
      on_ = false;
      return;
    }
  }
}

void ShadowText::take_gap(const Gap& gap) {
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

Offset ShadowText::reach() const {
  return std::max(begun_, end() - std::min<Offset>(end(), kReachBytes));
}

void ShadowText::break_off() {
  bytes_ += '\n';
  bytes_ += kBreak;
  begun_ = end();
  joints_.push_back({end(), read_, 0, Gap::Kind::none});
  held_ = read_;
}

Offset ShadowText::to_stream(Offset at) const {
  const auto behind = std::upper_bound(joints_.begin(), joints_.end(), at,
                                       [](Offset offset, const Joint& joint) { return offset < joint.shadow; });
  const Joint& joint = *std::prev(behind);
  return joint.raw + joint.size + (at - joint.shadow);
}

std::optional<Offset> ShadowText::before_in_stream(Offset at) const {
  auto joint = std::lower_bound(joints_.begin(), joints_.end(), at,
                                [](const Joint& other, Offset offset) { return other.shadow < offset; });
  if (joint == joints_.begin()) return std::nullopt;
  for (; joint != joints_.end() && joint->shadow == at; ++joint) {
    if (joint->kind == Gap::Kind::none) return std::nullopt;
  }
  return to_stream(at - 1);
}

void ShadowText::carry_back(const SecretSpan& span, std::vector<SecretSpan>& spans) const {
  const auto less = [](const Joint& joint, Offset at) { return joint.shadow < at; };
  // What goes on from a part that was told before goes on over the gap in between, too.
  auto joint = std::lower_bound(joints_.begin(), joints_.end(), span.goes_on ? span.begin : span.begin + 1, less);
  SecretSpan part = span;
  part.begin = joint != joints_.end() && joint->shadow == span.begin ? joint->raw : to_stream(span.begin);
  if (joint != joints_.begin() && std::prev(joint)->trusted > part.begin) {
    part.begin = std::prev(joint)->trusted;
    part.goes_on = true;
  }
  for (; joint != joints_.end() && joint->shadow < span.end; ++joint) {
    if (joint->kind == Gap::Kind::invisible) continue;
    part.end = joint->raw;
    if (part.end > part.begin) spans.push_back(part);
    part.begin = joint->raw + joint->size;
    part.goes_on = true;
  }
  part.end = to_stream(span.end - 1) + 1;
  if (part.end > part.begin) spans.push_back(part);
}

Offset ShadowText::carry_back(Offset frontier) const {
  if (frontier >= end()) return held_;
  // A gap before it may have to be hidden with it.
  const auto joint = std::lower_bound(joints_.begin(), joints_.end(), frontier,
                                      [](const Joint& other, Offset at) { return other.shadow < at; });
  return joint != joints_.end() && joint->shadow == frontier ? joint->raw : to_stream(frontier);
}

void ShadowText::forget_before(Offset frontier) {
  const Offset from = std::max(begin_, frontier - std::min<Offset>(frontier, kLeftContextBytes));
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

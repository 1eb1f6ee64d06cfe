#include "redact/stream/seam.h"

#include <algorithm>
#include <utility>

#include "redact/stream/gap.h"
#include "redact/stream/secret_state.h"
#include "redact/stream/trigger_scan.h"

namespace guard {
namespace {

constexpr std::size_t kLookGapBytes = 768;  // of the next line, with what a reader does not see
constexpr std::size_t kBlanksMax = 16;
constexpr std::size_t kServiceMax = 32;
constexpr std::size_t kLiteralMin = 4;

const ByteSet kToken = *ByteSet::parse("A-Za-z0-9+/=_.:~-");
const ByteSet kPem = *ByteSet::parse("A-Za-z0-9+/= -");
const ByteSet kHeaderChars = *ByteSet::parse("A-Z0-9 -");
const ByteSet kEnds = *ByteSet::parse("A-Za-z0-9+/=_.:~ -");
const ByteSet kService = *ByteSet::parse("A-Za-z0-9_.-");
const ByteSet kSigns = *ByteSet::parse(">*#");
const ByteSet kSigned = *ByteSet::parse("+/_.~-");
const ByteSet kDigits = *ByteSet::parse("0-9");
const ByteSet kBlank = *ByteSet::parse(" \\x09");
// What a next line may begin with, if it goes on with a secret: a word, what is put before lines, or a gap.
const ByteSet kBegins = *ByteSet::parse("A-Za-z0-9+/=_.:~>*#|\\x00-\\x09\\x0b-\\x20\\x7f-\\xff-");

const ByteSet kMayBeGap = *ByteSet::parse("\\x00-\\x08\\x0b\\x0c\\x0e-\\x1f\\x7f-\\xff");

bool all_of(const ByteSet& set, std::string_view text) {
  return std::all_of(text.begin(), text.end(), [&](char c) { return set.has(c); });
}

std::size_t run(std::string_view text, std::size_t from, const ByteSet& set, std::size_t max) {
  std::size_t size = 0;
  while (size < max && from + size < text.size() && set.has(text[from + size])) ++size;
  return size;
}

bool is_digit(char c) { return c >= '0' && c <= '9'; }
bool is_lower(char c) { return c >= 'a' && c <= 'z'; }
bool is_upper(char c) { return c >= 'A' && c <= 'Z'; }

template <class Is>
std::string_view take(std::string_view& text, Is is) {
  const auto end = std::find_if_not(text.begin(), text.end(), is);
  const std::string_view taken = text.substr(0, static_cast<std::size_t>(end - text.begin()));
  text.remove_prefix(taken.size());
  return taken;
}

// Letters and digits in a row.
bool is_word(std::string_view text) {
  constexpr std::size_t kNumberMax = 4;
  constexpr std::size_t kUnitMax = 3;
  constexpr std::size_t kSyllableMin = 2;
  if (is_digit(text.front())) {  // 12, 12ms, 01T12
    take(text, is_digit);
    if (text.empty()) return true;
    if (is_lower(text.front())) return take(text, is_lower).size() <= kUnitMax && text.empty();
    return take(text, is_upper).size() == 1 && (take(text, is_digit), text.empty());
  }
  take(text, is_upper);
  for (bool first = true; !text.empty() && !is_digit(text.front()); first = false) {
    if (!first) text.remove_prefix(1);  // the upper case of a syllable
    const std::size_t size = take(text, is_lower).size();
    if (size == 0 || (size + 1 < kSyllableMin && !first && !text.empty())) return false;
  }
  return take(text, is_digit).size() <= kNumberMax && text.empty();
}

// The sides of tables.
bool is_box(std::string_view text) {
  return text.size() >= 3 && text[0] == '\xe2' && (text[1] == '\x94' || text[1] == '\x95');
}

// May it become one?
bool begins_box(std::string_view text) {
  return std::string_view("\xe2\x94").starts_with(text) || std::string_view("\xe2\x95").starts_with(text);
}

// What is put before a line: blanks, and behind them a sign or number of it.
std::size_t lead_of(std::string_view line) {
  std::size_t at = run(line, 0, kBlank, kBlanksMax);
  std::size_t bar = at + run(line, at, kService, kServiceMax);
  bar += run(line, bar, kBlank, kBlanksMax);
  const std::string_view rest = line.substr(bar);
  const bool box = is_box(rest);
  if (rest.starts_with('|') || box) {
    at = bar + (box ? 3 : 1);
  } else if (const std::size_t signs = run(line, at, kSigns, 3); signs > 0) {
    at += signs;
  } else if (line.substr(at).starts_with("// ")) {
    at += 3;
  } else if (const std::size_t digits = run(line, at, kDigits, 6);
             digits > 0 && line.substr(at + digits).starts_with(": ")) {
    at += digits + 2;
  }
  return at + run(line, at, kBlank, kBlanksMax);
}

constexpr std::string_view kHeader = "-----BEGIN";

// May `text` be the beginning of a PEM key's header? A ruler is one only where nothing stands before it.
bool begins_header(std::string_view text, bool alone) {
  constexpr std::size_t kHeaderMax = 64;
  constexpr std::size_t kDashes = 5;
  return text.size() <= kHeaderMax && (alone || text.size() > kDashes) && all_of(kHeaderChars, text) &&
      text.find("-----", 1) == std::string_view::npos;
}

Offset behind_line_end(const StreamText& text, Offset at) {
  return text.at(at) == '\r' && at + 1 < text.end() && text.at(at + 1) == '\n' ? at + 2 : at + 1;
}

// How many bytes at the end of `line` may be the beginning of a secret.
std::size_t begun_run(std::string_view line) {
  const auto at_end = [&](const ByteSet& set) {
    std::size_t size = 0;
    while (size < std::min(line.size(), kWindowBytes) && set.has(line[line.size() - size - 1])) ++size;
    return size;
  };
  const std::size_t token = at_end(kToken);
  const std::size_t header = at_end(kHeaderChars);
  return header > token && line.substr(line.size() - header).find("-----") != std::string_view::npos ? header : token;
}

// Of up to three bytes, letters folded.
std::size_t slot_of(std::string_view text) {
  std::uint32_t bytes = 1;
  for (const char c : text) bytes = bytes << 8 | (static_cast<unsigned char>(c) | 0x20u);
  return bytes * 0x9e3779b1u >> 20;
}

const ByteSet& tail_of(const SecretKind& kind) { return kind.machine == SecretKind::Machine::pem ? kPem : kind.tail; }

}  // namespace

bool reads_as_words(std::string_view text) {
  const auto is_alnum = [](char c) { return is_digit(c) || is_lower(c) || is_upper(c); };
  while (!text.empty()) {
    const std::string_view word = take(text, is_alnum);
    if (!word.empty() && !is_word(word)) return false;
    if (!text.empty()) text.remove_prefix(1);
  }
  return true;
}

NextLine::NextLine(const StreamText& text, Offset line, bool any) : known(any), begin(line) {
  const std::string_view rest = text.from(line);
  bool word = false;   // a word has been seen, and
  bool blank = false;  // blanks behind it: what is put before a line may go on
  for (std::size_t at = 0; size < kBytesMax && at < kLookGapBytes;) {
    if (at == rest.size()) {
      if (!text.ended()) return;
      ends = true;
      break;
    }
    const char byte = rest[at];
    if (kToken.has(byte)) {
      if (!any && word && blank) break;
      word = true;
      blank = false;
    } else if (kBlank.has(byte)) {
      blank = true;
    } else if (is_line_end(byte)) {
      ends = true;
      break;
    } else {
      if (kMayBeGap.has(byte)) {
        const Gap gap =
            is_inside_character(text.left_of(line + at), byte) ? Gap() : gap_at(rest.substr(at), text.ended());
        if (gap.kind == Gap::Kind::undecided) return;
        if (gap.kind != Gap::Kind::none) {
          at += gap.size;
          continue;
        }
      }
      if (!text.ended() && begins_box(rest.substr(at))) return;
      const bool bar = byte == '|' || is_box(rest.substr(at));
      const bool plain = bar || (size > 0 && static_cast<unsigned char>(bytes[size - 1]) >= 0x80);
      if (!any && !plain && (word || !kSigns.has(byte))) break;
      blank = false;
      word = word && !bar;
    }
    offsets[size] = static_cast<std::uint16_t>(at);
    bytes[size++] = byte;
    ++at;
  }
  lead = lead_of(this->text());
  seen = true;
}

bool NextLine::may_go_on() const { return !seen || (size > 0 && (known || lead == size || kToken.has(bytes[lead]))); }

bool SeamFinder::begins_literal(std::string_view text) const {
  if (text.size() >= kLiteralMin) {  // hundreds begin with less
    for (const Trigger& trigger : secrets_->triggers.candidates(text)) {
      if (trigger.literal.size() >= kLiteralMin && trigger.seen(text) == Trigger::Seen::fully) return true;
    }
  }
  return secrets_->known.begins_short(text);
}

// The first place from `from` on where a secret may begin that the line's end makes live. Most lines end in the
// beginnings of literals, and few in those of literals that are broken.
Offset SeamFinder::next_live(const StreamText& text, TriggerScan& triggers, Offset from) const {
  const Offset few = text.end() - std::min<Offset>(text.end() - text.begin(), kLiteralMin - 1);
  if (from < few) from = triggers.next(text, from, few);
  const SeamTable& table = secrets_->seams();
  while (from >= few && from < text.end() && !table.may_begin_with(text.from(from), text.left_of(from))) ++from;
  return from;
}

SeamFinder::End SeamFinder::end_of(
    const SeenLine& line, TriggerScan& triggers, const Column& column, bool whole) const {
  if (column.kind != nullptr) {
    const bool over = line.text.find("-----END ") != std::string_view::npos && line.text.ends_with("-----");
    if (!over && all_of(tail_of(*column.kind), line.last_piece())) return {line.text.size(), column.kind};
    if (over) return {};
  }
  const StreamText text(line.text, line.begin, true);
  const Offset from = text.end() - (whole ? std::min(line.text.size(), kWindowBytes) : begun_run(line.text));
  End found;
  for (Offset at = next_live(text, triggers, from); at < text.end(); at = next_live(text, triggers, at + 1)) {
    const std::string_view rest = text.from(at);
    // Hundreds begin with the last letter of a line, most of them at the same place.
    Offset asked = text.end();
    bool at_start = false;
    const auto begins_word = [&](Offset begin, std::string_view left) {
      if (asked != begin) at_start = at_word_start(left);
      asked = begin;
      return at_start;
    };
    const std::span<const Trigger> all =
        rest.size() < kKeyBytes ? secrets_->seams().begun_with(rest.front()) : secrets_->triggers.candidates(rest);
    for (const Trigger& trigger : all) {
      const SecretKind& kind = secrets_->kinds[trigger.kind];
      const bool pem = kind.machine == SecretKind::Machine::pem;
      // What is only begun could do no more than make this much of the line live.
      if (trigger.literal.size() > rest.size() && !pem && kind.lead_max == 0 &&
          (found.live >= rest.size() || (rest.size() < kLiteralMin && !begins_word(at, text.left_of(at)))))
        continue;
      const Trigger::Seen seen = trigger.seen(rest);
      if (seen == Trigger::Seen::no || secrets_->is_off(trigger.kind)) continue;
      if (!pem && !kind.wraps()) continue;
      Offset begin = at;
      while (begin > text.begin() && at - begin < kind.lead_max && kind.lead.has(text.at(begin - 1))) --begin;
      const std::string_view left = text.left_of(begin);
      // Inside of a word it may stand behind what is hidden.
      if (seen == Trigger::Seen::partly && (!kind.any_left || rest.size() < kLiteralMin) && !begins_word(begin, left))
        continue;
      // So little begins a secret only where no path and no base64 goes on with it.
      if (rest.size() < kLiteralMin && !left.empty() && kSigned.has(left.back())) continue;
      const auto live = static_cast<std::size_t>(text.end() - begin);
      if (seen == Trigger::Seen::fully) {
        const Candidate candidate{
            left, true, text.from(begin).substr(0, kWindowBytes), static_cast<std::size_t>(at - begin)};
        const auto match = secrets_->decide(trigger.kind, candidate);
        if (!match) continue;  // the stream is withheld
        if (match->found) {
          // A key whose header was not broken needs no joining: its lines are looked at one by one.
          if (pem && !column.joined && all_of(kBlank, rest.substr(match->end))) continue;
          if (text.skip(begin + match->end, tail_of(kind)) == text.end()) return {std::max(live, found.live), &kind};
          continue;
        }
      }
      if (kind.has_group ||
          (pem ? !begins_header(
                     rest, rest.size() >= (column.joined ? line.piece : line.text.size() - lead_of(line.text)))
               : !all_of(kToken, rest)))
        continue;
      found.live = std::max(found.live, live);
      found.header = found.header || (pem && rest.starts_with(kHeader));
    }
  }
  return found;
}

SeamFinder::End SeamFinder::end_of_joined(const SeenLine& line, TriggerScan& triggers, const Column& column) {
  const auto known = std::find_if(judged_.begin(), judged_.end(), [&](const Judged& judged) {
    return judged.piece == line.piece && judged.kind == column.kind && judged.text == line.text;
  });
  if (known != judged_.end()) return known->end;
  Judged& judged = judged_[next_judged_++ % judged_.size()];
  judged = {std::string(line.text), line.piece, column.kind, end_of(line, triggers, column, true)};
  return judged.end;
}

SeamTable::SeamTable(const SecretSource::State& secrets) {
  for (const Trigger& trigger : secrets.triggers.all()) {
    const SecretKind& kind = secrets.kinds[trigger.kind];
    if (kind.machine != SecretKind::Machine::pem && !kind.wraps()) continue;
    const char first = trigger.literal.front();
    if (!kind.has_group) begun_[static_cast<unsigned char>(first)].push_back(trigger);
    if (!kind.has_group && kind.fold_case && is_lower(first))
      begun_[static_cast<unsigned char>(first - 'a' + 'A')].push_back(trigger);
    for (std::size_t size = 1; size < kLiteralMin; ++size) {
      if (kind.has_group && size < trigger.literal.size()) continue;
      (kind.lead_max > 0 ? led_ : few_).set(slot_of(trigger.literal.substr(0, size)));
    }
  }
}

bool SeamTable::may_begin_with(std::string_view rest, std::string_view left) const {
  const std::size_t slot = slot_of(rest);
  return led_[slot] || (few_[slot] && (rest.size() + 1 == kLiteralMin || at_word_start(left)));
}

SeamFinder::SeamFinder(const SecretSource::State& secrets) : secrets_(&secrets), ends_(kEnds), begins_(kBegins) {
  ends_ |= secrets.known.bytes();
  begins_ |= secrets.known.bytes();
}

std::size_t SeamFinder::known_before(const SeenLine& line) const {
  if (secrets_->known.empty()) return 0;
  return std::max(secrets_->known.begun_before(line.text), secrets_->known.begun_before(line.last_piece()));
}

bool SeamFinder::may_be(const StreamText& text, Offset at, const SeenLine& left) const {
  if (left.text.empty() || !ends_.has(left.text.back())) return false;
  if (known_before(left) > 0) return true;
  const Offset begin = behind_line_end(text, at);
  return kEnds.has(left.text.back()) && (begin == text.end() || kBegins.has(text.at(begin)));
}

bool SeamFinder::may_end(const SeenLine& line, TriggerScan& triggers, const Column& column) const {
  if (column.kind != nullptr || known_before(line) > 0) return true;
  const StreamText text(line.text, line.begin, true);
  const Offset from = text.end() - std::min(line.text.size(), kWindowBytes);
  return next_live(text, triggers, from) < text.end();
}

NextLine SeamFinder::next_line(const StreamText& text, Offset at, const SeenLine& left) const {
  return NextLine(text, behind_line_end(text, at), known_before(left) > 0);
}

Seam SeamFinder::between(const SeenLine& line, TriggerScan& triggers, const NextLine& next, Column& column) {
  const Column before = std::exchange(column, Column());
  const std::size_t known = next.known ? known_before(line) : 0;
  std::size_t lead = next.lead;
  const std::size_t width = run(next.text(), lead, kToken, next.size);

  Column now = before;
  if (!now.joined) now.lead = lead_of(line.text);
  const std::size_t piece = now.joined ? line.piece : line.text.size() - std::min(now.lead, line.text.size());
  now.ended = now.joined && now.width > 0 && piece < now.width;
  const bool as_wide = next.ends && lead + width == next.size && width == piece && !now.ended;
  const bool like_more = as_wide || !reads_as_words(next.text().substr(lead, width));
  const End end =
      before.joined ? end_of_joined(line, triggers, before) : end_of(line, triggers, before, !next.seen || like_more);
  if (end.live == 0 && known == 0) return {};
  const std::size_t live = std::max(end.live, known);
  if (!next.seen) {
    column = before;
    return {Seam::Is::undecided, live, next.begin, 0};
  }

  // A header of PEM that was broken before a blank.
  if (end.header && lead == now.lead + 1 && line.text.back() != ' ') --lead;
  const std::string_view rest = next.text().substr(lead);
  bool yes = end.live > 0 && (width > 0 || end.header);
  if (end.kind != nullptr) {
    const bool pem = end.kind->machine == SecretKind::Machine::pem;
    yes = (pem && next.ends && all_of(kPem, rest)) || like_more;
  }
  const auto goes_on = [&](std::string_view part) { return secrets_->known.goes_on(part, rest); };
  yes = (yes && !begins_literal(rest)) || (known > 0 && (goes_on(line.text) || goes_on(line.last_piece())));
  if (!yes || rest.empty()) return {};
  now.width = before.joined || all_of(kToken, line.text.substr(line.text.size() - piece)) ? piece : 0;
  now.joined = true;
  now.kind = end.kind;
  column = now;
  return {Seam::Is::yes, live, next.begin, next.begin + next.offsets[lead]};
}

}  // namespace guard

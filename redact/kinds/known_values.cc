#include "redact/kinds/known_values.h"

#include <algorithm>
#include <cstring>
#include <set>

#include <fmt/format.h>

#include "common/text/base64.h"
#include "redact/kinds/spellings.h"

namespace guard {
namespace {

// Long texts are cut into overlapping pieces: a repeated eight-byte gram then has a bounded number of places to
// compare.
constexpr std::size_t kPieceBytes = 256;

// Of a whole value in base64 or hex.
constexpr std::size_t kEncodedBytesMin = 8;

// Of values that are broken: a part of up to four bytes.
constexpr std::size_t kPartBytes = 4;

std::uint64_t part_hash(std::string_view part) {
  std::uint64_t bytes = part.size();
  for (const char c : part) bytes = bytes << 8 | static_cast<unsigned char>(c);
  return bytes * 0x9E3779B97F4A7C15ULL;
}

// The end of `line` that a value may go on behind, `size` bytes of it. Less than four count only as a beginning.
bool may_end(std::string_view line, std::size_t size) {
  if (line.size() < size) return false;
  const auto is_alnum = [](char c) {
    return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
  };
  return size == kPartBytes || line.size() == size || !is_alnum(line[line.size() - size - 1]);
}

std::size_t slot(std::uint64_t gram) { return static_cast<std::size_t>((gram * 0x9E3779B97F4A7C15ULL) >> 48); }

// Both alphabets of base64 of what follows `shift` other bytes, without what holds bits of those before and behind it.
std::vector<std::string> base64(std::string_view value, std::size_t shift) {
  const std::string bytes = std::string(shift, '\0') + std::string(value);
  const std::string all = base64url_encode(bytes).substr(0, bytes.size() * 8 / 6);
  const std::string url = all.substr(shift == 0 ? 0 : shift + 1);
  std::string plain = url;
  std::replace(plain.begin(), plain.end(), '-', '+');
  std::replace(plain.begin(), plain.end(), '_', '/');
  return {std::move(plain), url};
}

std::vector<std::string> hex(std::string_view value) {
  const std::vector<unsigned char> bytes(value.begin(), value.end());
  return {fmt::format("{:02x}", fmt::join(bytes, "")), fmt::format("{:02X}", fmt::join(bytes, ""))};
}

std::string_view trim(std::string_view text) {
  while (!text.empty() && (text.front() == ' ' || text.front() == '\t')) text.remove_prefix(1);
  while (!text.empty() && (text.back() == ' ' || text.back() == '\t')) text.remove_suffix(1);
  return text;
}

bool only_of(std::string_view text, std::string_view set) {
  return text.find_first_not_of(set) == std::string_view::npos;
}

// Words that stand in so many outputs that hiding them would hide the output.
bool is_common(std::string_view value) {
  std::string lower(value);
  for (char& c : lower) c = c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  static const std::set<std::string_view> words = {"true", "false", "undefined", "production", "development", "staging",
      "testing", "enabled", "disabled", "default", "localhost", "password", "secret", "changeme", "example", "postgres",
      "require", "verbose", "warning", "utf-8", "console"};
  if (words.count(lower) != 0) return true;
  if (value.front() == '/' && value.size() < 64 && only_of(value, "abcdefghijklmnopqrstuvwxyz0123456789./_-"))
    return true;
  if (value.size() < 10 && only_of(value, "0123456789.:-")) return true;
  for (const std::string_view scheme : {"http://", "https://"}) {
    if (!value.starts_with(scheme)) continue;
    const std::string_view rest = value.substr(scheme.size());
    const std::size_t slash = rest.find('/');
    if (rest.find('@') == std::string_view::npos && (slash == std::string_view::npos || slash + 1 == rest.size()))
      return true;
  }
  return false;
}

// `production` in a document of values is no secret either.
bool is_secret(std::string_view text) {
  return text.size() >= KnownValues::kWholeBytesMin && !is_common(text) &&
      std::set<char>(text.begin(), text.end()).size() >= 4;
}

}  // namespace

KnownValues::KnownValues() : parts_(std::make_unique<std::bitset<65536>>()) {}

std::string KnownValues::add(std::string_view value, std::uint32_t kind) {
  const std::string_view whole = trim(value);
  if (only_of(value, " \t\r\n")) return "it is empty or not set";
  if (whole.size() < kWholeBytesMin) return "it has fewer than 6 bytes and would be hidden in ordinary words";
  if (is_common(whole)) return "it is a common word, path or address";
  if (!is_secret(whole)) return "it has fewer than 4 different bytes";
  bool any_line = false;
  for (std::size_t from = 0; from < value.size();) {
    const std::size_t end = std::min(value.find_first_of("\r\n", from), value.size());
    const std::string_view line = trim(value.substr(from, end - from));
    if (is_secret(line)) {
      add_text(line, kind);
      any_line = true;
    }
    from = end + 1;
  }
  if (!any_line) return "none of its lines has 6 bytes or more";

  for (const std::string& text : spellings(value)) {
    if (is_secret(text)) add_text(text, kind);
  }
  for (std::size_t shift = 0; shift < 3; ++shift) {
    for (const std::string& text : base64(value, shift)) {
      if (text.size() >= kEncodedBytesMin) add_text(text, kind);
    }
  }
  for (const std::string& text : hex(value)) {
    if (text.size() >= kEncodedBytesMin) add_text(text, kind);
  }
  return "";
}

void KnownValues::add_text(std::string_view text, std::uint32_t kind) {
  const auto same = [&](const KnownText& other) { return other.text == text; };
  if (text.size() < kFragmentBytes) {
    if (std::none_of(short_.begin(), short_.end(), same)) short_.push_back({std::string(text), kind});
    return;
  }
  for (std::size_t from = 0;; from += kPieceBytes - (kFragmentBytes - 1)) {
    long_.push_back({std::string(text.substr(from, kPieceBytes)), kind});
    if (from + kPieceBytes >= text.size()) return;
  }
}

void KnownValues::drop(std::uint32_t kind) {
  const auto of_kind = [kind](const KnownText& text) { return text.kind == kind; };
  long_.erase(std::remove_if(long_.begin(), long_.end(), of_kind), long_.end());
  short_.erase(std::remove_if(short_.begin(), short_.end(), of_kind), short_.end());
}

void KnownValues::index() {
  parts_->reset();
  bytes_ = {};
  for (const auto* texts : {&long_, &short_}) {
    for (const KnownText& known : *texts) {
      const std::string_view text = known.text;
      for (const char c : text) {
        if (!is_line_end(c)) bytes_.add(c);
      }
      for (std::size_t size = 1; size < kPartBytes; ++size) add_part(text.substr(0, size));
      // A whole value goes on with nothing.
      for (std::size_t at = 0; at + kPartBytes < text.size(); ++at) add_part(text.substr(at, kPartBytes));
    }
  }
  long_grams_.build(long_);
  short_grams_.build(short_);
}

void KnownValues::add_part(std::string_view part) {
  const std::uint64_t hash = part_hash(part);
  parts_->set(hash >> 48);
  parts_->set(hash >> 32 & 0xffff);
}

bool KnownValues::has_part(std::string_view part) const {
  const std::uint64_t hash = part_hash(part);
  return (*parts_)[hash >> 48] && (*parts_)[hash >> 32 & 0xffff];
}

std::size_t KnownValues::begun_before(std::string_view line) const {
  if (empty()) return 0;
  for (std::size_t size = kPartBytes; size > 0; --size) {
    if (may_end(line, size) && has_part(line.substr(line.size() - size))) return std::min(line.size(), kFragmentBytes);
  }
  return 0;
}

bool KnownValues::goes_on(std::string_view line, std::string_view next) const {
  if (next.empty()) return false;
  for (std::size_t size = kPartBytes; size > 0; --size) {
    if (!may_end(line, size)) continue;
    const std::string_view part = line.substr(line.size() - size);
    if (!has_part(part)) continue;
    if (size < kPartBytes && !has_part(std::string(part) + next.front())) continue;
    for (const auto* texts : {&long_, &short_}) {
      for (const KnownText& known : *texts) {
        const std::string_view text = known.text;
        const std::size_t last = size < kPartBytes ? 0 : text.size();
        for (std::size_t at = text.substr(0, last + size).find(part); at <= last; at = text.find(part, at + 1)) {
          const std::string_view rest = text.substr(at + size, std::min(kPartBytes, next.size()));
          if (!rest.empty() && next.starts_with(rest)) return true;
        }
      }
    }
  }
  return false;
}

Offset KnownValues::begun_at_end(const StreamText& text, std::uint32_t& kind) const {
  constexpr std::size_t kLiveBytes = 4;
  const std::size_t held = static_cast<std::size_t>(text.end() - text.begin());
  for (std::size_t size = std::min(held, kFragmentBytes - 1); size >= kLiveBytes; --size) {
    const std::string_view tail = text.from(text.end() - size);
    for (const auto* texts : {&long_, &short_}) {
      for (const KnownText& known : *texts) {
        // The inside of a long value counts as well: its first part may already be hidden.
        const bool begun = texts == &long_ ? known.text.find(tail) != std::string::npos : known.text.starts_with(tail);
        if (!begun) continue;
        kind = known.kind;
        return text.end() - size;
      }
    }
  }
  return text.end();
}

bool KnownValues::begins_short(std::string_view text) const {
  return std::any_of(
      short_.begin(), short_.end(), [&](const KnownText& known) { return text.starts_with(known.text); });
}

std::uint64_t GramIndex::load(std::string_view text) const {
  std::uint64_t bytes = 0;
  std::memcpy(&bytes, text.data(), text.size() < sizeof bytes ? gram_ : sizeof bytes);
  return bytes & mask_;
}

Offset GramIndex::look_up(const StreamText& text, Offset at, Offset last, std::vector<SecretSpan>& spans) const {
  const std::bitset<65536>& filter = *filter_;
  for (const Offset step_bytes = step(); at <= last; at += step_bytes) {
    const std::uint64_t gram = load(text.from(at));
    if (filter[slot(gram)]) widen(text, at, gram, spans);
  }
  return at;
}

void GramIndex::build(const std::vector<KnownText>& texts) {
  grams_.clear();
  filter_ = std::make_unique<std::bitset<65536>>();
  for (const KnownText& known : texts) {
    // Of a text that has to stand there whole one of the first few is met.
    const bool whole = known.text.size() < KnownValues::kFragmentBytes;
    const std::size_t count = whole ? step() : known.text.size() - gram_ + 1;
    for (std::size_t at = 0; at < count; ++at) {
      grams_.push_back({load(std::string_view(known.text).substr(at)), &known, at});
      filter_->set(slot(grams_.back().bytes));
    }
  }
  // Of places that look alike as far as a probe can see only that of the lowest kind is needed: values share their
  // beginnings, and repeat themselves.
  const auto around = [&](const Gram& gram) {
    const std::string_view text = gram.text->text;
    const std::size_t from = gram.offset - std::min(gram.offset, step() - 1);
    return std::pair(text.substr(from, gram.offset - from), text.substr(gram.offset, KnownValues::kFragmentBytes));
  };
  const auto before = [&](const Gram& a, const Gram& b) {
    if (a.bytes != b.bytes) return a.bytes < b.bytes;
    const auto around_a = around(a);
    const auto around_b = around(b);
    return around_a != around_b ? around_a < around_b : a.text->kind < b.text->kind;
  };
  const auto alike = [&](const Gram& a, const Gram& b) { return a.bytes == b.bytes && around(a) == around(b); };
  std::sort(grams_.begin(), grams_.end(), before);
  grams_.erase(std::unique(grams_.begin(), grams_.end(), alike), grams_.end());
}

void GramIndex::widen(const StreamText& text, Offset at, std::uint64_t gram, std::vector<SecretSpan>& spans) const {
  const std::string_view right = text.from(at).substr(0, KnownValues::kFragmentBytes);
  const std::string_view left = text.between(at - std::min<Offset>(at - text.begin(), step() - 1), at);
  const auto less = [](const Gram& a, std::uint64_t b) { return a.bytes < b; };
  SecretSpan found{text.end(), 0, 0};
  for (auto hit = std::lower_bound(grams_.begin(), grams_.end(), gram, less); hit != grams_.end() && hit->bytes == gram;
       ++hit) {
    const std::string_view known = hit->text->text;
    const std::string_view before = known.substr(0, hit->offset);
    const std::string_view behind = known.substr(hit->offset);
    const auto same_before = std::mismatch(left.rbegin(), left.rend(), before.rbegin(), before.rend()).first;
    const auto same_behind = std::mismatch(right.begin(), right.end(), behind.begin(), behind.end()).first;
    const Offset begin = at - static_cast<Offset>(same_before - left.rbegin());
    const Offset end = at + static_cast<Offset>(same_behind - right.begin());
    if (end - begin < std::min(known.size(), KnownValues::kFragmentBytes)) continue;
    if (begin < found.begin || (begin == found.begin && hit->text->kind < found.kind)) found.kind = hit->text->kind;
    found.begin = std::min(found.begin, begin);
    found.end = std::max(found.end, end);
  }
  if (found.end > 0) spans.push_back(found);
}

void KnownFinder::Search::advance(const StreamText& text, std::vector<SecretSpan>& spans) {
  if (index->empty()) {
    frontier = text.end();
    return;
  }
  const auto look_up = [&](Offset bytes, Offset end) {
    if (end >= bytes) next = index->look_up(text, next, end - bytes, spans);
  };
  const auto reach = [&] { return next - std::min<Offset>(next, index->step() - 1); };
  look_up(KnownValues::kFragmentBytes, text.end());
  // No text crosses a line end, so what stands before the last one needs nothing that follows.
  const Offset seen_from = std::max(text.begin(), reach());
  Offset decided = text.end();
  while (!text.ended() && decided > seen_from && !is_line_end(text.at(decided - 1))) --decided;
  if (decided > seen_from || text.ended()) {
    look_up(index->gram(), decided);
    next = std::max(next, decided);
    frontier = std::max(frontier, decided);
  }
  frontier = std::min(std::max(frontier, reach()), text.end());
}

void KnownFinder::advance(const StreamText& text, std::vector<SecretSpan>& spans) {
  const Offset before = frontier();
  hidden_.forget_before(before - std::min<Offset>(before, kWindowBytes + kLeftContextBytes));
  const std::size_t first_new = spans.size();
  long_.advance(text, spans);
  short_.advance(text, spans);
  for (std::size_t i = first_new; i < spans.size(); ++i) hidden_.add(spans[i].begin, spans[i].end);
}

}  // namespace guard

#include "redact/kinds/known_values.h"

#include <algorithm>
#include <cstring>
#include <set>

#include "redact/kinds/spellings.h"

namespace guard {
namespace {

// Long texts are cut into overlapping pieces: a repeated eight-byte gram then has a bounded number of places to
// compare.
constexpr std::size_t kPieceBytes = 256;

// Of a whole value in base64 or hex.
constexpr std::size_t kEncodedBytesMin = 8;

std::uint64_t load_gram(const char* bytes) {
  std::uint64_t gram = 0;
  std::memcpy(&gram, bytes, sizeof gram);
  return gram;
}

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

std::size_t filter_slot(std::uint64_t gram) { return static_cast<std::size_t>((gram * 0x9E3779B97F4A7C15ULL) >> 48); }

std::string base64(std::string_view bytes, std::string_view alphabet) {
  std::string text;
  std::uint32_t bits = 0;
  int count = 0;
  for (const char c : bytes) {
    bits = bits << 8 | static_cast<unsigned char>(c);
    count += 8;
    while (count >= 6) {
      count -= 6;
      text += alphabet[(bits >> count) & 63];
    }
  }
  return text;  // what is left over depends on what follows the value, or is padding
}

std::string hex(std::string_view bytes, std::string_view digits) {
  std::string text;
  for (const char c : bytes) {
    text += digits[static_cast<unsigned char>(c) >> 4];
    text += digits[static_cast<unsigned char>(c) & 15];
  }
  return text;
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

}  // namespace

KnownValues::KnownValues()
    : filter_(std::make_unique<std::bitset<65536>>()), parts_(std::make_unique<std::bitset<65536>>()) {}

std::string KnownValues::add(std::string_view value, std::uint32_t kind) {
  if (only_of(value, " \t\r\n")) return "it is empty or not set";
  bool any_line = false;
  const std::string_view whole = trim(value);
  if (whole.size() < kWholeBytesMin) return "it has fewer than 6 bytes and would be hidden in ordinary words";
  if (is_common(whole)) return "it is a common word, path or address";
  if (std::set<char>(whole.begin(), whole.end()).size() < 4) return "it has fewer than 4 different bytes";
  for (std::size_t from = 0; from < value.size();) {
    const std::size_t end = std::min(value.find_first_of("\r\n", from), value.size());
    const std::string_view line = trim(value.substr(from, end - from));
    if (line.size() >= kWholeBytesMin && !is_common(line) && std::set<char>(line.begin(), line.end()).size() >= 4) {
      add_text(line, kind);
      any_line = true;
    }
    from = end + 1;
  }
  if (!any_line) return "none of its lines has 6 bytes or more";

  for (const std::string& text : spellings(value)) {
    // A document's texts are judged like values: `production` in it is no secret either.
    if (text.size() >= kWholeBytesMin && !is_common(text) && std::set<char>(text.begin(), text.end()).size() >= 4) {
      add_text(text, kind);
    }
  }

  constexpr std::string_view alphabets[] = {"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/",
      "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_"};
  for (const std::string_view alphabet : alphabets) {
    for (std::size_t shift = 0; shift < 3; ++shift) {
      // The first characters also hold bits of what stands before the value: 0, 2 and 3 of them.
      const std::string text =
          base64(std::string(shift, '\0') + std::string(value), alphabet).substr(shift == 0 ? 0 : shift + 1);
      // Of a short value only what stands alone, as in a manifest of secrets.
      const bool alone = shift == 0 && text.size() >= kEncodedBytesMin;
      if (alone || text.size() >= kFragmentBytes) add_text(text, kind);
    }
  }
  for (const std::string_view digits : {"0123456789abcdef", "0123456789ABCDEF"}) {
    const std::string text = hex(value, digits);
    if (text.size() >= kEncodedBytesMin) add_text(text, kind);
  }
  return "";
}

void KnownValues::add_text(std::string_view text, std::uint32_t kind) {
  const auto same = [&](const Text& other) { return other.text == text; };
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
  const auto of_kind = [kind](const Text& text) { return text.kind == kind; };
  long_.erase(std::remove_if(long_.begin(), long_.end(), of_kind), long_.end());
  short_.erase(std::remove_if(short_.begin(), short_.end(), of_kind), short_.end());
}

void KnownValues::index() {
  grams_.clear();
  filter_->reset();
  parts_->reset();
  bytes_ = {};
  for (const auto* texts : {&long_, &short_}) {
    for (const Text& known : *texts) {
      const std::string_view text = known.text;
      for (const char c : text) {
        if (!is_line_end(c)) bytes_.add(c);
      }
      for (std::size_t size = 1; size < kPartBytes; ++size) add_part(text.substr(0, size));
      // A whole value goes on with nothing.
      for (std::size_t at = 0; at + kPartBytes < text.size(); ++at) add_part(text.substr(at, kPartBytes));
    }
  }
  for (std::uint32_t i = 0; i < long_.size(); ++i) {
    const std::string& text = long_[i].text;
    for (std::size_t at = 0; at + kGramBytes <= text.size(); ++at) {
      const std::uint64_t gram = load_gram(text.data() + at);
      grams_.push_back({gram, i, static_cast<std::uint32_t>(at)});
      filter_->set(filter_slot(gram));
    }
  }
  // Of places that look alike as far as a probe can see only that of the lowest kind is needed: values share their
  // beginnings, and repeat themselves.
  constexpr std::size_t kReach = kFragmentBytes - kGramBytes;
  const auto around = [&](const Gram& gram) {
    const std::string_view text = long_[gram.text].text;
    const std::size_t from = gram.offset - std::min<std::size_t>(gram.offset, kReach);
    return std::pair(text.substr(from, gram.offset - from), text.substr(gram.offset, kGramBytes + kReach));
  };
  const auto before = [&](const Gram& a, const Gram& b) {
    if (a.bytes != b.bytes) return a.bytes < b.bytes;
    const auto around_a = around(a);
    const auto around_b = around(b);
    return around_a != around_b ? around_a < around_b : long_[a.text].kind < long_[b.text].kind;
  };
  const auto alike = [&](const Gram& a, const Gram& b) { return a.bytes == b.bytes && around(a) == around(b); };
  std::sort(grams_.begin(), grams_.end(), before);
  grams_.erase(std::unique(grams_.begin(), grams_.end(), alike), grams_.end());
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
      for (const Text& known : *texts) {
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
      for (const Text& known : *texts) {
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

void KnownFinder::advance(const StreamText& text, std::vector<SecretSpan>& spans) {
  if (values_->grams_.empty()) {
    frontier_ = text.end();
    return;
  }
  constexpr Offset kStep = KnownValues::kFragmentBytes - KnownValues::kGramBytes + 1;
  constexpr Offset kGram = KnownValues::kGramBytes;
  hidden_.forget_before(frontier_ - std::min<Offset>(frontier_, kWindowBytes + kLeftContextBytes));
  const std::size_t first_new = spans.size();

  for (; next_ + KnownValues::kFragmentBytes <= text.end(); next_ += kStep) probe(text, next_, spans);
  // No fragment crosses a line end, so what stands before the last one needs nothing that follows.
  const Offset seen_from = std::max(text.begin(), next_ - std::min(next_, kGram));
  Offset line_begin = text.end();
  while (line_begin > seen_from && !is_line_end(text.at(line_begin - 1))) --line_begin;
  const Offset decided = text.ended() ? text.end() : line_begin > seen_from ? line_begin : 0;
  if (decided > 0) {
    for (; next_ + kGram <= decided; next_ += kStep) probe(text, next_, spans);
    if (decided >= next_ - std::min(next_, kGram)) next_ = std::max(next_, decided);
  }
  frontier_ = std::max({frontier_, decided, next_ - std::min(next_, kGram)});
  frontier_ = std::min(frontier_, text.end());
  for (std::size_t i = first_new; i < spans.size(); ++i) hidden_.add(spans[i].begin, spans[i].end);
}

void KnownFinder::probe(const StreamText& text, Offset at, std::vector<SecretSpan>& spans) {
  const char* const bytes = text.from(at).data();
  const std::uint64_t gram = load_gram(bytes);
  if (!(*values_->filter_)[filter_slot(gram)]) return;
  constexpr std::size_t kReach = KnownValues::kFragmentBytes - KnownValues::kGramBytes;
  const std::size_t before = static_cast<std::size_t>(std::min<Offset>(at - text.begin(), kReach));
  const std::size_t after =
      static_cast<std::size_t>(std::min<Offset>(text.end() - at - KnownValues::kGramBytes, kReach));
  const auto less = [](const KnownValues::Gram& a, std::uint64_t b) { return a.bytes < b; };
  auto hit = std::lower_bound(values_->grams_.begin(), values_->grams_.end(), gram, less);
  // All that is found here holds these eight bytes, so it is one span; what begins first names it.
  SecretSpan found{text.end(), 0, 0};
  for (; hit != values_->grams_.end() && hit->bytes == gram; ++hit) {
    const KnownValues::Text& known = values_->long_[hit->text];
    std::size_t left = 0;
    while (left < before && left < hit->offset && *(bytes - left - 1) == known.text[hit->offset - left - 1]) ++left;
    std::size_t right = 0;
    const std::size_t behind = hit->offset + KnownValues::kGramBytes;
    while (right < after && behind + right < known.text.size() &&
        bytes[KnownValues::kGramBytes + right] == known.text[behind + right]) {
      ++right;
    }
    if (left + KnownValues::kGramBytes + right < KnownValues::kFragmentBytes) continue;
    const Offset begin = at - left;
    if (begin < found.begin || (begin == found.begin && known.kind < found.kind)) found.kind = known.kind;
    found.begin = std::min(found.begin, begin);
    found.end = std::max(found.end, at + KnownValues::kGramBytes + right);
  }
  if (found.end > 0) spans.push_back(found);
}

}  // namespace guard

#include "redact/secret_kind.h"

#include <fmt/format.h>
#include <re2/re2.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <mutex>
#include <optional>

namespace guard {
namespace {

constexpr std::size_t kPrefixBytesMin = 3;  // the trigger scan steps over every second pair of bytes
constexpr std::size_t kPrefixBytesMax = 60;
constexpr std::size_t kPrefixBytesAlone = 5;  // that need no `next`
constexpr std::size_t kLeadMax = 32;
constexpr std::size_t kJudgedBytes = 64;  // of a value, for needs and entropy

bool is_digit(char c) {
  return c >= '0' && c <= '9';
}
bool is_alnum(char c) {
  return is_digit(c) || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}
bool is_hex(char c) {
  return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F');
}

// `digits` hex digits before the end of `text`, and `sign` before them.
bool ends_in_escape(std::string_view text, std::string_view sign, std::size_t digits) {
  if (text.size() < digits + sign.size()) return false;
  const std::string_view tail = text.substr(text.size() - digits);
  for (const char c : tail) {
    if (!is_hex(c)) return false;
  }
  return text.substr(0, text.size() - digits).ends_with(sign);
}

bool ends_in_colour(std::string_view text) {
  if (!text.ends_with('m')) return false;
  text.remove_suffix(1);
  while (!text.empty() && ((text.back() >= '0' && text.back() <= '9') || text.back() == ';' || text.back() == ':')) {
    text.remove_suffix(1);
  }
  return text.ends_with('[');
}

double bits_per_byte(std::string_view text) {
  std::array<unsigned, 256> counts{};
  for (const char c : text) ++counts[static_cast<unsigned char>(c)];
  const auto size = static_cast<double>(text.size());
  double bits = 0;
  for (const unsigned count : counts) {
    if (count > 0) bits -= count / size * std::log2(count / size);
  }
  return bits;
}

std::vector<std::string> split_blanks(std::string_view text) {
  std::vector<std::string> words;
  std::string word;
  const auto flush = [&] {
    if (!word.empty()) words.push_back(std::move(word));
    word.clear();
  };
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] == ' ') {
      flush();
    } else if (text.substr(i, 3) == "%20") {
      word += ' ';
      i += 2;
    } else {
      word += text[i];
    }
  }
  flush();
  return words;
}

}  // namespace

bool at_word_start(std::string_view left) {
  if (left.empty() || !is_alnum(left.back())) return true;
  const char last = left.back();
  if (left.size() >= 2 && left[left.size() - 2] == '\\' &&
      std::string_view("nrtbfv0").find(last) != std::string_view::npos) {
    return true;
  }
  return ends_in_escape(left, "%", 2) || ends_in_escape(left, "\\x", 2) || ends_in_escape(left, "\\u", 4) ||
         ends_in_colour(left);
}

struct LazyPattern::State {
  std::string regex;
  std::once_flag once;
  std::unique_ptr<re2::RE2> compiled;
};

LazyPattern::LazyPattern(std::string regex) : state_(std::make_unique<State>()) {
  state_->regex = std::move(regex);
}
LazyPattern::~LazyPattern() = default;
LazyPattern::LazyPattern(LazyPattern&&) noexcept = default;

Result<bool> LazyPattern::match(std::string_view text, int group, std::size_t& begin, std::size_t& end) const {
  std::call_once(state_->once, [this] {
    re2::RE2::Options options;
    options.set_encoding(re2::RE2::Options::EncodingLatin1);  // bytes: the output of programs is often no UTF-8
    options.set_log_errors(false);
    state_->compiled = std::make_unique<re2::RE2>(state_->regex, options);
  });
  const re2::RE2& compiled = *state_->compiled;
  constexpr int kGroupsMax = 4;
  if (!compiled.ok() || group >= kGroupsMax || group > compiled.NumberOfCapturingGroups()) {
    return Error(ErrorCode::withheld, fmt::format("the redaction pattern {} can't be used", state_->regex));
  }
  re2::StringPiece groups[kGroupsMax];
  const re2::StringPiece piece(text.data(), text.size());
  if (!compiled.Match(piece, 0, text.size(), re2::RE2::ANCHOR_START, groups, group + 1)) return false;
  const re2::StringPiece& span = groups[group];
  if (span.data() == nullptr) {
    return Error(ErrorCode::withheld,
                 fmt::format("group {} of the redaction pattern {} took no part", group, state_->regex));
  }
  begin = static_cast<std::size_t>(span.data() - text.data());
  end = begin + span.size();
  return true;
}

Result<SecretKind> SecretKind::create(const Rule& rule) {
  SecretKind kind;
  kind.rule_id = rule.id;
  const auto fault = [&](std::string sentence) {
    return Error(ErrorCode::rules_invalid, fmt::format("secret rule {}: {}", rule.id, sentence));
  };
  const auto text = [&](const char* key) -> std::string {
    const auto found = rule.redact.find(key);
    return found == rule.redact.end() ? std::string() : found->second;
  };
  const auto set = [&](const char* key, ByteSet& out) -> bool {
    const auto parsed = ByteSet::parse(text(key));
    if (parsed) out = *parsed;
    return parsed.has_value();
  };
  const auto number = [&](const char* key, std::size_t& out) -> bool {
    const std::string digits = text(key);
    return std::from_chars(digits.data(), digits.data() + digits.size(), out).ptr == digits.data() + digits.size() &&
           !digits.empty();
  };

  for (const auto& [key, value] : rule.redact) {
    constexpr std::string_view known[] = {"prefix", "nocase",  "next",    "left",  "lead", "lead_max", "tail",
                                          "except", "entropy", "machine", "chars", "min",  "needs",    "pad"};
    if (std::find(std::begin(known), std::end(known), key) == std::end(known)) {
      return fault(fmt::format("`redact.{}` is not a key", key));
    }
  }
  kind.name = rule.kind;
  if (kind.name.empty() || kind.name.size() > 40 ||
      kind.name.find_first_not_of("abcdefghijklmnopqrstuvwxyz0123456789_-") != std::string::npos) {
    return fault("`kind` must be 1 to 40 of a-z, 0-9, _ and -");
  }

  for (const std::string& word : split_blanks(text("needs"))) {
    const auto need = ByteSet::parse(word);
    if (!need) return fault("`redact.needs` holds no set of bytes: " + word);
    kind.needs.push_back(*need);
  }
  const std::string machine = text("machine");
  if (machine == "run") {
    kind.machine = Machine::run;
    if (!set("chars", kind.run_chars)) return fault("`redact.chars` is missing or no set of bytes");
    if (!number("min", kind.run_min) || kind.run_min < 16 || kind.run_min > 1024)
      return fault("`redact.min` must be 16 to 1024");
    if (!text("pad").empty() && !set("pad", kind.run_pad)) return fault("`redact.pad` is no set of bytes");
    return kind;
  }
  if (machine == "pem") {
    kind.machine = Machine::pem;
  } else if (!machine.empty()) {
    return fault("`redact.machine` must be pem or run");
  }

  kind.prefixes = split_blanks(text("prefix"));
  if (kind.prefixes.empty()) return fault("`redact.prefix` is missing: nothing bounded could be held back");
  kind.fold_case = text("nocase") == "true";
  for (std::string& prefix : kind.prefixes) {
    if (prefix.size() < kPrefixBytesMin || prefix.size() > kPrefixBytesMax)
      return fault("each prefix must have 3 to 60 bytes");
    for (char& c : prefix) {
      if (c < ' ' || c > '~') return fault("a prefix must be printable ASCII");
      if (kind.fold_case && c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
    }
  }
  if (!text("next").empty()) {
    if (kind.machine != Machine::token) return fault("`redact.next` is for tokens");
    if (!set("next", kind.next)) return fault("`redact.next` is no set of bytes");
  }
  for (const std::string& prefix : kind.prefixes) {
    if (kind.machine == Machine::token && prefix.size() < kPrefixBytesAlone && kind.next.empty())
      return fault(fmt::format("`redact.next` is missing: the prefix {} has fewer than 5 bytes", prefix));
  }
  const std::string left = text("left");
  if (!left.empty() && left != "word" && left != "any") return fault("`redact.left` must be word or any");
  kind.any_left = left == "any";
  if (!text("lead").empty() &&
      (!set("lead", kind.lead) || !number("lead_max", kind.lead_max) || kind.lead_max > kLeadMax)) {
    return fault("`redact.lead` needs a set of bytes and a lead_max of at most 32");
  }
  if (text("tail").empty()) {
    kind.tail = *ByteSet::parse("A-Za-z0-9_-");
  } else if (!set("tail", kind.tail)) {
    return fault("`redact.tail` is no set of bytes");
  }
  // A secret that ended before a letter would make that letter look like the start of a word in the output only.
  for (const char c : std::string_view("azAZ09")) {
    if (!kind.tail.has(c)) return fault("`redact.tail` must hold all letters and digits");
  }
  if (!text("except").empty()) kind.except_ = std::make_unique<LazyPattern>(text("except"));
  if (const std::string bits = text("entropy"); !bits.empty()) {
    // Digits, perhaps a dot and one more: read by hand, because strtod asks the locale.
    const bool tenths = bits.size() == 3 && bits[1] == '.' && is_digit(bits[2]);
    if (!is_digit(bits[0]) || (bits.size() != 1 && !tenths)) return fault("`redact.entropy` must be a number such as 3.5");
    kind.entropy_min = bits[0] - '0' + (tenths ? (bits[2] - '0') / 10.0 : 0.0);
  }
  if (rule.patterns.empty()) return fault("a pattern is missing");
  for (const Pattern& pattern : rule.patterns) {
    kind.shapes_.push_back({LazyPattern(pattern.regex), pattern.capture});
    kind.has_group = kind.has_group || pattern.capture > 0;
  }
  if (kind.entropy_min > 0 && !kind.has_group) return fault("`redact.entropy` is for values behind a name: a group is missing");
  return kind;
}

bool SecretKind::looks_random(std::string_view value) const {
  value = value.substr(0, kJudgedBytes);
  for (const ByteSet& need : needs) {
    if (std::none_of(value.begin(), value.end(), [&](char c) { return need.has(c); })) return false;
  }
  return entropy_min <= 0 || bits_per_byte(value) >= entropy_min;
}

// Does one of the prefixes stand at the beginning of `text` with a byte of `next` behind it?
bool SecretKind::begins(std::string_view text) const {
  const auto same = [this](char lower, char c) {
    return lower == (fold_case && c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c);
  };
  return next.empty() || std::any_of(prefixes.begin(), prefixes.end(), [&](const std::string& prefix) {
           return text.size() > prefix.size() && next.has(text[prefix.size()]) &&
                  std::equal(prefix.begin(), prefix.end(), text.begin(), same);
         });
}

Result<KindMatch> SecretKind::decide(std::string_view left, bool left_masked, std::string_view window,
                                     std::size_t lead_bytes) const {
  KindMatch match;
  if (!begins(window.substr(lead_bytes))) return match;
  if (!any_left && !left_masked && !at_word_start(left)) return match;
  for (const Shape& shape : shapes_) {
    GUARD_TRY_ASSIGN(match.found, shape.pattern.match(window, shape.group, match.begin, match.end));
    if (match.found) break;
    match = KindMatch();
  }
  if (match.found && except_) {
    std::size_t begin = 0;
    std::size_t end = 0;
    GUARD_TRY_ASSIGN(const bool excepted, except_->match(window.substr(match.begin), 0, begin, end));
    if (excepted) {
      match.found = false;
      match.end = match.begin + end;
    }
  }
  if (match.found && (!needs.empty() || entropy_min > 0)) {
    std::size_t end = match.end;
    while (end < window.size() && tail.has(window[end])) ++end;
    if (!looks_random(window.substr(match.begin, end - match.begin))) return KindMatch();
  }
  return match;
}

}  // namespace guard

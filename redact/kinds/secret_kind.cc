#include "redact/kinds/secret_kind.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>

#include "redact/stream/stream_text.h"

namespace guard {
namespace {

constexpr std::size_t kPrefixBytesMin = 3;  // the trigger scan steps over every second pair of bytes
constexpr std::size_t kPrefixBytesMax = 60;
constexpr std::size_t kPrefixBytesAlone = 5;  // that need no `next`
constexpr std::size_t kLeadMax = 32;
constexpr std::string_view kLineEnd = "\\r?\\n";

bool is_digit(char c) { return c >= '0' && c <= '9'; }
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

// NOLINTNEXTLINE(readability-function-size): a check per key
Result<SecretKind> read_secret_kind(const Rule& rule, KindTexts& texts) {
  using Machine = SecretKind::Machine;
  SecretKind kind;
  kind.rule_id = texts.keep(rule.id);
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
    constexpr std::string_view known[] = {"prefix", "nocase", "next", "left", "behind", "lead", "lead_max", "tail",
        "except", "entropy", "machine", "chars", "min", "needs", "pad"};
    if (std::find(std::begin(known), std::end(known), key) == std::end(known)) {
      return fault(fmt::format("`redact.{}` is not a key", key));
    }
  }
  kind.name = texts.keep(rule.kind);
  if (kind.name.empty() || kind.name.size() > 40 ||
      kind.name.find_first_not_of("abcdefghijklmnopqrstuvwxyz0123456789_-") != std::string::npos) {
    return fault("`kind` must be 1 to 40 of a-z, 0-9, _ and -");
  }

  std::vector<ByteSet> needs;
  for (const std::string& word : split_blanks(text("needs"))) {
    const auto need = ByteSet::parse(word);
    if (!need) return fault("`redact.needs` holds no set of bytes: " + word);
    needs.push_back(*need);
  }
  kind.needs = texts.keep(std::move(needs));
  const std::string machine = text("machine");
  if (machine == "run") {
    kind.machine = Machine::run;
    if (!set("chars", kind.run_chars)) return fault("`redact.chars` is missing or no set of bytes");
    if (!number("min", kind.size_min) || kind.size_min < 16 || kind.size_min > 1024)
      return fault("`redact.min` must be 16 to 1024");
    if (!text("pad").empty() && !set("pad", kind.run_pad)) return fault("`redact.pad` is no set of bytes");
    return kind;
  }
  if (machine == "pem") {
    kind.machine = Machine::pem;
  } else if (!machine.empty()) {
    return fault("`redact.machine` must be pem or run");
  }

  std::vector<std::string> prefixes = split_blanks(text("prefix"));
  if (prefixes.empty()) return fault("`redact.prefix` is missing: nothing bounded could be held back");
  kind.fold_case = text("nocase") == "true";
  std::vector<std::string_view> kept;
  for (std::string& prefix : prefixes) {
    if (prefix.size() < kPrefixBytesMin || prefix.size() > kPrefixBytesMax)
      return fault("each prefix must have 3 to 60 bytes");
    for (char& c : prefix) {
      if (c < ' ' || c > '~') return fault("a prefix must be printable ASCII");
      if (kind.fold_case && c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
    }
    kept.push_back(texts.keep(std::move(prefix)));
  }
  kind.prefixes = texts.keep(std::move(kept));
  if (!text("next").empty()) {
    if (kind.machine != Machine::token) return fault("`redact.next` is for tokens");
    if (!set("next", kind.next)) return fault("`redact.next` is no set of bytes");
  }
  for (const std::string_view prefix : kind.prefixes) {
    if (kind.machine == Machine::token && prefix.size() < kPrefixBytesAlone && kind.next.empty())
      return fault(fmt::format("`redact.next` is missing: the prefix {} has fewer than 5 bytes", prefix));
  }
  const std::string left = text("left");
  if (!left.empty() && left != "word" && left != "any") return fault("`redact.left` must be word or any");
  kind.any_left = left == "any";
  kind.behind = texts.keep(text("behind"));
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
  kind.except = texts.keep(text("except"));
  if (const std::string bits = text("entropy"); !bits.empty()) {
    // Digits, perhaps a dot and one more: read by hand, because strtod asks the locale.
    const bool tenths = bits.size() == 3 && bits[1] == '.' && is_digit(bits[2]);
    if (!is_digit(bits[0]) || (bits.size() != 1 && !tenths))
      return fault("`redact.entropy` must be a number such as 3.5");
    kind.entropy_min = bits[0] - '0' + (tenths ? (bits[2] - '0') / 10.0 : 0.0);
  }
  if (!text("min").empty() && (!number("min", kind.size_min) || kind.size_min > kWindowBytes))
    return fault("`redact.min` must be a number of bytes, 256 at most");
  if (rule.patterns.empty()) return fault("a pattern is missing");
  std::vector<SecretPattern> patterns;
  for (const Pattern& pattern : rule.patterns) {
    patterns.push_back({texts.keep(std::string(pattern.regex)), pattern.capture});
    kind.has_group = kind.has_group || pattern.capture > 0;
    if (pattern.regex.find(kLineEnd) != std::string::npos) kind.value = Value::or_below;
  }
  kind.patterns = texts.keep(std::move(patterns));
  if (kind.value == Value::or_below && !kind.next.empty()) {
    for (const char c : {'\n', '\r'}) kind.next.add(c);
  }
  if (kind.entropy_min > 0 && !kind.has_group)
    return fault("`redact.entropy` is for values behind a name: a group is missing");
  return kind;
}

std::optional<ByteSet> missing_in_run(const SecretKind& kind, std::string_view window) {
  for (const ByteSet& need : kind.needs) {
    if (std::none_of(window.begin(), window.end(), [&](char c) { return need.has(c); })) return need;
  }
  if (static_cast<std::size_t>(std::count(window.begin(), window.end(), '/')) > kRunSlashesMax)
    return *ByteSet::parse("\\x00-\\xff");
  std::array<bool, 256> seen{};
  for (const char c : window) seen[static_cast<unsigned char>(c)] = true;
  if (static_cast<std::size_t>(std::count(seen.begin(), seen.end(), true)) >= kRunDistinctMin) return std::nullopt;
  ByteSet other;
  for (unsigned byte = 0; byte < seen.size(); ++byte) {
    if (!seen[byte]) other.add(static_cast<char>(byte));
  }
  return other;
}

}  // namespace guard

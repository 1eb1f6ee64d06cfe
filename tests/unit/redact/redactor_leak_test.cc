// The leak harness: texts over an alphabet so small that beginnings of known values stand everywhere, values whose
// beginnings repeat, overlap and hold each other, cut at random. What has to be hidden is said by an oracle of the
// test's own, which marks bytes and knows nothing of the redactor: every 16 bytes in a row of a long value, every whole
// short one, also over line ends that broke it. Not one byte of those may be seen (a leak), none besides may be
// missing, and none may change its place.
#include <cstdlib>

#include "tests/support/redact/redact_case.h"

namespace guard::test {
namespace {

constexpr std::string_view kLetters = "abx9K";

class Random {
 public:
  explicit Random(unsigned seed) : engine_(seed) {}
  std::size_t below(std::size_t end) { return engine_() % end; }
  std::string letters(std::size_t size) {
    std::string text;
    while (text.size() < size) text += kLetters[below(kLetters.size())];
    return text;
  }

 private:
  std::mt19937 engine_;
};

// Values have to have four different bytes and six in all, or they are refused.
std::string made_valid(std::string value) {
  for (const char c : kLetters) {
    if (value.size() < 6 || value.find(c) == std::string::npos) value += c;
  }
  return value;
}

std::vector<std::string> values_of_one_run(Random& random) {
  const std::string word = random.letters(2 + random.below(4));
  const std::string rest = random.letters(4 + random.below(24));
  switch (random.below(5)) {
    case 0:  // begins like itself: x9Kx9L...
      return {made_valid(word + word.substr(0, 2) + rest), made_valid(word + rest.substr(0, 3))};
    case 1: {  // the end of one is the beginning of the other
      const std::string shared = random.letters(2 + random.below(18));
      return {made_valid(word + rest) + shared, shared + made_valid(random.letters(4 + random.below(20)))};
    }
    case 2: {  // one begins the other, and one stands in its middle
      const std::string whole = made_valid(word + rest);
      return {whole, made_valid(whole.substr(0, 6 + random.below(whole.size() - 5))), made_valid(whole.substr(2, 8))};
    }
    case 3:  // a wave
      return {made_valid(repeat(word + "K9", 2 + random.below(8))), made_valid(rest)};
    default: return {made_valid(rest), made_valid(random.letters(6 + random.below(9))), made_valid(random.letters(40))};
  }
}

std::vector<std::string> values(Random& random) {
  std::vector<std::string> all = values_of_one_run(random);
  std::sort(all.begin(), all.end());
  all.erase(std::unique(all.begin(), all.end()), all.end());
  return all;
}

// Values, halves of them, letters and separators, in any order.
std::string text_of(const std::vector<std::string>& values, Random& random, std::string_view between = " \n.-=\r\t") {
  std::string text;
  const std::size_t pieces = 2 + random.below(14);
  for (std::size_t i = 0; i < pieces; ++i) {
    const std::string& value = values[random.below(values.size())];
    const std::size_t at = random.below(value.size());
    switch (random.below(8)) {
      case 0: text += value; break;
      case 1: text += value.substr(0, at); break;
      case 2: text += value.substr(at); break;
      case 3: text += value.substr(at, 14 + random.below(5)); break;
      case 7: text += value.substr(0, at) + between[random.below(between.size())] + value.substr(at); break;
      case 4: text += random.letters(1 + random.below(8)); break;
      case 5: text += between[random.below(between.size())]; break;
      default: text += value.substr(0, at) + value; break;  // begun, and begun once more
    }
  }
  return text + "x";
}

std::string with_gaps(const std::string& text, Random& random) {
  static const std::vector<std::string> gaps = {
      "\xe2\x80\x8b", "\xc2\xad", "\b", "\x1b[1m", "\x1b[38;5;9m", std::string(1, '\0')};
  std::string split;
  for (const char c : text) {
    if (random.below(12) == 0) split += gaps[random.below(gaps.size())];
    split += c;
  }
  return split;
}

// The oracle: a mark for each byte that must not be seen.
std::vector<bool> secret_bytes(const std::vector<std::string>& values, std::string_view text) {
  std::vector<bool> secret(text.size());
  for (const std::string& value : values) {
    const std::size_t size = std::min<std::size_t>(value.size(), 16);
    for (std::size_t from = 0; from + size <= value.size(); ++from) {
      const std::string_view part = std::string_view(value).substr(from, size);
      for (std::size_t at = text.find(part); at != std::string_view::npos; at = text.find(part, at + 1)) {
        std::fill_n(secret.begin() + static_cast<std::ptrdiff_t>(at), size, true);
      }
    }
  }
  return secret;
}

// Does a value go on from `line` to `next`? Four bytes of it stand before the line end, or fewer and they begin it, and
// up to four behind.
bool goes_on(const std::vector<std::string>& values, std::string_view line, std::string_view next) {
  constexpr std::size_t kPart = 4;
  for (const std::string_view value : values) {
    for (std::size_t at = 1; at < value.size() && !next.empty(); ++at) {
      const std::size_t size = std::min(at, kPart);
      if (!line.ends_with(value.substr(at - size, size)) ||
          !next.starts_with(value.substr(at, std::min(next.size(), kPart))))
        continue;
      const bool alone = line.size() == size || kLetters.find(line[line.size() - size - 1]) == std::string_view::npos;
      if (size == kPart || alone) return true;
    }
  }
  return false;
}

// What a reader sees of `text`: without gaps, and without the line ends, and the blanks behind them, that broke a
// value.
struct Seen {
  std::string bytes;
  std::vector<std::size_t> places;
  std::vector<bool> stays;  // in a line of so few bytes that it is shown before the next one is there
};

Seen seen_of(const std::vector<std::string>& values, const std::string& text) {
  constexpr std::size_t kFew = 3;
  Seen plain;
  for (std::size_t at = 0; at < text.size();) {
    const Gap gap = gap_at(std::string_view(text).substr(at), true);
    if (gap.kind == Gap::Kind::none) {
      plain.bytes += text[at];
      plain.places.push_back(at);
    }
    at += std::max<std::size_t>(gap.size, 1);
  }
  Seen seen;
  std::size_t line = 0;   // where it begins in seen.bytes
  std::size_t piece = 0;  // and what stands behind the last line end of the text, where a value may begin, too
  bool joined = false;
  for (std::size_t at = 0; at < plain.bytes.size(); ++at) {
    if (is_line_end(plain.bytes[at])) {
      const std::size_t end = at + (plain.bytes.compare(at, 2, "\r\n") == 0 ? 2 : 1);
      const std::size_t word = std::min(plain.bytes.find_first_not_of(" \t", end), plain.bytes.size());
      const std::string_view next = cut_at_line_end(std::string_view(plain.bytes).substr(word));
      const std::string_view bytes = seen.bytes;
      if (goes_on(values, bytes.substr(line), next) || goes_on(values, bytes.substr(piece), next)) {
        if (!joined && seen.bytes.size() - line <= kFew)
          std::fill(seen.stays.begin() + static_cast<std::ptrdiff_t>(line), seen.stays.end(), true);
        joined = true;
        piece = seen.bytes.size();
        at = word - 1;
        continue;
      }
      line = piece = seen.bytes.size() + 1;
      joined = false;
    }
    seen.bytes += plain.bytes[at];
    seen.places.push_back(plain.places[at]);
    seen.stays.push_back(false);
  }
  return seen;
}

// What a terminal shows of `text` when the secrets are gone: those of the bytes as they are, and those that are only
// seen without the gaps. `few`: with what may stay of them in lines of few bytes.
enum class Few : std::uint8_t { hidden, shown };
std::string shown_of(const std::vector<std::string>& values, const std::string& text, Few few = Few::shown) {
  const std::vector<bool> raw = secret_bytes(values, text);
  const Seen seen = seen_of(values, text);
  const std::vector<bool> unseen = secret_bytes(values, seen.bytes);
  std::vector<bool> hidden = raw;
  bool before = false;
  for (std::size_t i = 0; i < seen.bytes.size(); ++i) {
    const bool now = unseen[i] && !(few == Few::shown && seen.stays[i]);
    const std::size_t place = seen.places[i];
    if (now) hidden[place] = true;
    // And what is left out between two bytes that are hidden.
    if (now && before)
      std::fill(hidden.begin() + static_cast<std::ptrdiff_t>(seen.places[i - 1]),
          hidden.begin() + static_cast<std::ptrdiff_t>(place), true);
    before = now;
  }
  std::string shown;
  for (std::size_t at = 0; at < text.size();) {
    const Gap gap = gap_at(std::string_view(text).substr(at), true);
    if (gap.kind == Gap::Kind::none && !hidden[at]) shown += text[at];
    at += std::max<std::size_t>(gap.size, 1);
  }
  return shown;
}

bool is_subsequence(std::string_view part, std::string_view whole) {
  std::size_t at = 0;
  for (const char c : whole) at += at < part.size() && part[at] == c ? 1 : 0;
  return at == part.size();
}

std::vector<std::size_t> small_cuts(std::size_t size, Random& random) {
  std::vector<std::size_t> cuts;
  const std::size_t step = 1 + random.below(12);
  for (std::size_t at = 1 + random.below(step); at < size; at += 1 + random.below(step)) cuts.push_back(at);
  return cuts;
}

unsigned wanted_texts() {
  const char* const wanted = std::getenv("GUARD_REDACT_COMPARISONS");
  return wanted == nullptr ? 20000 : static_cast<unsigned>(std::strtoul(wanted, nullptr, 10));
}

SecretSource source_of(const RuleSet& rules, const std::vector<std::string>& values) {
  std::vector<KnownSecret> known;
  for (const std::string& value : values) known.push_back({fmt::format("V{}", known.size()), value});
  auto source = SecretSource::create(rules, std::move(known));
  EXPECT_TRUE(source.has_value());
  EXPECT_TRUE(source->refused().empty()) << source->refused().front().second;
  return std::move(*source);
}

// Without the kinds, whose runs and names would hide more, nothing but what the oracle marks is hidden.
TEST(RedactorLeaks, NoByteOfAValueIsSeenAndNoOtherIsLost) {
  constexpr unsigned kTextsPerSet = 25;
  const auto no_kinds = RuleSet::create({}, {});
  ASSERT_TRUE(no_kinds.has_value());
  const unsigned texts = wanted_texts();
  std::size_t hidden = 0;
  for (unsigned seed = 0; seed < texts / kTextsPerSet; ++seed) {
    Random random(seed);
    const std::vector<std::string> known = values(random);
    const SecretSource source = source_of(*no_kinds, known);
    if (HasFailure()) return;
    for (unsigned i = 0; i < kTextsPerSet; ++i) {
      const std::string text = i % 3 == 0 ? with_gaps(text_of(known, random), random) : text_of(known, random);
      const std::string shown = shown_of(known, text);
      const std::string out = stream(source, text, small_cuts(text.size(), random));
      const std::string kept = without_markers(out);
      ASSERT_TRUE(
          is_subsequence(visible(kept), shown) && is_subsequence(shown_of(known, text, Few::hidden), visible(kept)))
          << "kept " << testing::PrintToString(kept) << " of " << testing::PrintToString(shown) << "seed " << seed
          << ": " << testing::PrintToString(text) << "\nvalues " << testing::PrintToString(known);
      ASSERT_TRUE(is_subsequence(kept, text)) << "seed " << seed << ": " << testing::PrintToString(text);
      // Right behind a marker a broken value begins a word (docs/redaction.md).
      const std::string again = stream(source, out, {});
      const bool lines = text.find_first_of("\r\n") != std::string::npos;
      ASSERT_TRUE(again == out || (lines && is_subsequence(without_markers(again), kept)))
          << "seed " << seed << ", second pass: " << testing::PrintToString(again) << " of "
          << testing::PrintToString(out);
      hidden += text.size() - kept.size();
    }
  }
  EXPECT_GT(hidden, texts);  // the texts do hold secrets
}

// With them no byte of a value is seen either, and what is kept is in order.
TEST(RedactorLeaks, KindsHideMoreAndNeverLess) {
  constexpr unsigned kTextsPerSet = 100;
  const unsigned texts = wanted_texts() / 4;
  for (unsigned seed = 0; seed < texts / kTextsPerSet; ++seed) {
    Random random(seed + 1'000'000);
    const std::vector<std::string> known = values(random);
    const SecretSource source = source_of(secret_rules(), known);
    if (HasFailure()) return;
    for (unsigned i = 0; i < kTextsPerSet; ++i) {
      const std::string text = with_gaps(text_of(known, random), random);
      const std::string kept = without_markers(stream(source, text, small_cuts(text.size(), random)));
      ASSERT_TRUE(is_subsequence(visible(kept), shown_of(known, text)))
          << "seed " << seed << ": " << testing::PrintToString(text) << "\nvalues " << testing::PrintToString(known);
      ASSERT_TRUE(is_subsequence(kept, text)) << "seed " << seed << ": " << testing::PrintToString(text);
    }
  }
}

// Killed anywhere: of a value that had begun no more than three bytes are seen.
TEST(RedactorLeaks, NoBeginningIsSeenOfAKilledStream) {
  constexpr unsigned kTextsPerSet = 25;
  constexpr std::size_t kBegunMax = 3;
  const auto no_kinds = RuleSet::create({}, {});
  ASSERT_TRUE(no_kinds.has_value());
  const unsigned texts = wanted_texts();
  for (unsigned seed = 0; seed < texts / kTextsPerSet; ++seed) {
    Random random(seed + 2'000'000);
    const std::vector<std::string> known = values(random);
    const SecretSource source = source_of(*no_kinds, known);
    if (HasFailure()) return;
    for (unsigned i = 0; i < kTextsPerSet; ++i) {
      const std::string text = text_of(known, random, " .-=\t");
      const std::string shown = shown_of(known, text);
      const std::string killed = text.substr(0, 1 + random.below(text.size()));
      const std::string kept = without_markers(stream(source, killed, small_cuts(killed.size(), random), Ending::cut));
      const auto differs = std::mismatch(kept.begin(), kept.end(), shown.begin(), shown.end()).first;
      ASSERT_LE(static_cast<std::size_t>(kept.end() - differs), kBegunMax)
          << "seed " << seed << ": " << testing::PrintToString(killed) << " of " << testing::PrintToString(text)
          << "\nshows " << testing::PrintToString(kept) << "\nvalues " << testing::PrintToString(known);
    }
  }
}

}  // namespace
}  // namespace guard::test

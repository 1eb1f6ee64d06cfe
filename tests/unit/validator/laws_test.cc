// What holds for every text: an answer, places inside of the file, the same answer in any order and from both engines,
// and work in proportion. Inputs come from a seed; GUARD_LAW_SEED sets another, GUARD_LAW_TEXTS more of them.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <functional>
#include <tuple>

#include "tests/mutator/random.h"
#include "tests/support/validator/check_support.h"
#include "validator/judge/file_check.h"
#include "validator/views/source_view.h"

namespace guard {
namespace {

using mutator::Random;

std::uint64_t setting(const char* name, std::uint64_t otherwise) {
  const char* const text = std::getenv(name);
  return text == nullptr ? otherwise : std::strtoull(text, nullptr, 10);
}

std::size_t texts_wanted() { return setting("GUARD_LAW_TEXTS", 400); }

Random seeded() { return Random(setting("GUARD_LAW_SEED", 7)); }

// Examples of rules, whole and cut, between pieces that open, close and confuse, and bytes of any kind.
class Texts {
 public:
  Texts() {
    for (const Rule& rule : rules().rules()) {
      for (const Example& example : rule.match) examples_.push_back(example.text);
      for (const Example& example : rule.no_match) examples_.push_back(example.text);
    }
  }

  std::string text(Random& random) const {
    std::string out;
    const std::size_t parts = random.below(8);
    for (std::size_t i = 0; i < parts; ++i) out += part(random);
    return out;
  }

 private:
  std::string part(Random& random) const {
    static const std::vector<std::string> kPieces = {"\n", ";", "'", "\"", "`", "`${", "}", "{", "(", ")", "[", "]",
        "/*", "*/", "//", "/", "<", ">", "<a>", "</a>", "\\", "\\u0065", "\xe2\x80\xa8", "=>", "?.", "+", ",",
        "import ", "const x = ", " as ", "=", "process", "process.env", "\xef\xbb\xbf", "\xc2\xa0", "\xff", "\r",
        "<!--", "-->", "x", "...", "$", "#!", "\xed\xa0\x80"};
    switch (random.below(5)) {
      case 0: {
        std::string bytes(random.below(12), ' ');
        for (char& byte : bytes) byte = static_cast<char>(random.below(256));
        return bytes;
      }
      case 1:
      case 2: return random.pick(kPieces);
      case 3: {
        const std::string& example = random.pick(examples_);
        return example.substr(random.below(example.size() + 1), random.below(example.size() + 1));
      }
      default: return "\n" + random.pick(examples_) + "\n";
    }
  }

  std::vector<std::string> examples_;
};

const Texts& texts() {
  static const Texts kTexts;
  return kTexts;
}

using Place = std::tuple<std::string, std::string, std::size_t, std::size_t, std::uint32_t, std::uint32_t>;

std::vector<Place> places(const Report& report) {
  std::vector<Place> all;
  for (const Finding& finding : report.findings) {
    all.emplace_back(finding.path, finding.rule, finding.begin, finding.end, finding.line, finding.column);
  }
  return all;
}

std::string escaped(const std::string& text) {
  std::string out;
  for (const char c : text) {
    out += c >= ' ' && c <= '~' ? std::string(1, c) : fmt::format("\\x{:02x}", static_cast<unsigned char>(c));
  }
  return out;
}

TEST(Laws, EveryPlaceLiesInItsFileWhereItsLineAndColumnSay) {
  Random random = seeded();
  for (std::size_t i = 0; i < texts_wanted(); ++i) {
    const std::string text = texts().text(random);
    for (const Finding& finding : check({{"sandbox/a.test.tsx", text}}).findings) {
      ASSERT_LE(finding.begin, finding.end) << escaped(text);
      ASSERT_LE(finding.end, text.size()) << escaped(text);
      ASSERT_LE(std::size_t{finding.caret} + finding.caret_width, finding.excerpt.size() + 1) << escaped(text);
      if (finding.line == 0) continue;
      // Lines end with LF, CR LF or CR.
      std::uint32_t lines = 0;
      std::size_t line_begin = 0;
      for (std::size_t at = 0; at < finding.begin; ++at) {
        if (text[at] != '\n' && (text[at] != '\r' || (at + 1 < text.size() && text[at + 1] == '\n'))) continue;
        ++lines;
        line_begin = at + 1;
      }
      const std::size_t column = finding.begin - line_begin + 1;
      ASSERT_EQ(finding.line, lines + 1) << finding.rule << " in " << escaped(text);
      ASSERT_EQ(finding.column, column) << finding.rule << " in " << escaped(text);
    }
  }
}

TEST(Laws, BothEnginesFindTheSame) {
  Random random = seeded();
  for (std::size_t i = 0; i < texts_wanted() / 4; ++i) {
    const std::vector<SourceFile> files = {{"sandbox/a.test.ts", texts().text(random)}};
    ASSERT_EQ(places(check(files)), places(check(files, kHost, Engine::re2_only))) << escaped(files[0].bytes);
  }
}

TEST(Laws, TheOrderOfFilesChangesNothing) {
  Random random = seeded();
  for (std::size_t i = 0; i < texts_wanted() / 8; ++i) {
    std::vector<SourceFile> files;
    for (std::size_t n = 0; n < 5; ++n) files.push_back({fmt::format("sandbox/{}.test.ts", n), texts().text(random)});
    const std::vector<Place> first = places(check(files));
    ASSERT_EQ(first, places(check(files)));
    for (std::size_t n = files.size(); n > 1; --n) std::swap(files[n - 1], files[random.below(n)]);
    ASSERT_EQ(first, places(check(files))) << escaped(files[0].bytes) << "\n" << escaped(files[1].bytes);
  }
}

// A fact in one file may complete a rule in another; nothing in a file takes a finding away from another.
TEST(Laws, FilesTogetherHaveAtLeastTheFindingsOfEachAlone) {
  Random random = seeded();
  for (std::size_t i = 0; i < texts_wanted() / 8; ++i) {
    std::vector<SourceFile> files;
    std::vector<Place> alone;
    for (std::size_t n = 0; n < 4; ++n) {
      files.push_back({fmt::format("sandbox/{}.test.ts", n), texts().text(random)});
      const std::vector<Place> found = places(check({files.back()}));
      alone.insert(alone.end(), found.begin(), found.end());
    }
    std::vector<Place> together = places(check(files));
    std::sort(together.begin(), together.end());
    std::sort(alone.begin(), alone.end());
    std::vector<Place> lost;
    std::set_difference(alone.begin(), alone.end(), together.begin(), together.end(), std::back_inserter(lost));
    ASSERT_TRUE(lost.empty()) << std::get<1>(lost[0]) << " is lost";
  }
}

// Whatever the readers of code make of a text: what a rule finds in its bytes is reported.
TEST(Laws, WhatStandsInTheBytesIsReportedWhateverTheOtherViewsSay) {
  Random random = seeded();
  std::size_t hits = 0;
  // Few texts hold such bytes.
  for (std::size_t i = 0; i < texts_wanted() || (hits == 0 && i < 100 * texts_wanted()); ++i) {
    const std::string text = texts().text(random);
    Matcher::Scratch scratch;
    std::vector<Match> matches;
    ASSERT_TRUE(matcher().scan(View::raw, text, scratch, matches));
    const Report report = check({{"sandbox/a.test.ts", text}});
    for (const Match& match : matches) {
      if (match.is_fact || rules().rules()[match.index].tier != Tier::banned) continue;
      ++hits;
      const std::string& id = rules().rules()[match.index].id;
      const bool told = std::any_of(report.findings.begin(), report.findings.end(), [&](const Finding& finding) {
        return finding.rule == id && finding.begin <= match.begin && match.begin <= finding.end;
      });
      ASSERT_TRUE(told) << id << " in " << escaped(text);
    }
  }
  EXPECT_GT(hits, 0U);
}

// ---- work in proportion ----

struct Flood {
  const char* name;
  std::function<std::string(std::size_t)> make;  // of about so many bytes
};

std::string repeated(const std::string& piece, std::size_t bytes) {
  std::string text;
  text.reserve(bytes + piece.size());
  while (text.size() < bytes) text += piece;
  return text;
}

// Pieces with a number in them, so that no two are alike.
std::string numbered(
    std::size_t bytes, const std::function<std::string(const std::string&, const std::string&)>& piece) {
  std::string text;
  for (std::size_t i = 0; text.size() < bytes; ++i) text += piece(fmt::format("v{}", i), fmt::format("v{}", i + 1));
  return text;
}

std::string mirrored(const std::string& open, const std::string& middle, const std::string& close, std::size_t bytes) {
  const std::size_t times = bytes / (open.size() + close.size());
  return repeated(open, times * open.size()) + middle + repeated(close, times * close.size());
}

const std::vector<Flood>& floods() {
  using Size = std::size_t;
  static const std::vector<Flood> kFloods = {
      {"nested templates", [](Size n) { return mirrored("`a${", "x", "}b`", n); }},
      {"nested templates in calls", [](Size n) { return mirrored("f(`${", "'x'", "}`)", n); }},
      {"nested brackets", [](Size n) { return mirrored("([{", "x", "}])", n); }},
      {"nested calls", [](Size n) { return mirrored("f(g(", "'a'", "))", n); }},
      {"nested elements", [](Size n) { return mirrored("<a>{", "x", "}</a>", n); }},
      {"nested conditions", [](Size n) { return mirrored("a?", "x", ":a", n); }},
      {"conditions", [](Size n) { return repeated("a?a:", n); }},
      {"nested functions", [](Size n) { return mirrored("(()=>{", "x", "})()", n); }},
      {"nested casts", [](Size n) { return mirrored("((", "process", " as any))", n) + ".env"; }},
      {"nested indices", [](Size n) { return mirrored("a[", "'x'", "]", n); }},
      {"nested arrays", [](Size n) { return mirrored("['a',", "'b'", "].join('')", n); }},
      {"nested concat", [](Size n) { return mirrored("'a'.concat(", "'b'", ")", n); }},
      {"optional chains", [](Size n) { return "process" + repeated("?.[\"a\"]", n); }},
      {"member chains", [](Size n) { return "process" + repeated(".a", n); }},
      {"call chains", [](Size n) { return "process" + repeated(".a('b')", n); }},
      {"one long line", [](Size n) { return repeated("x ", n); }},
      {"alternating quotes", [](Size n) { return repeated("'\"`", n); }},
      {"quotes and escapes", [](Size n) { return repeated("'\\\"`\\", n); }},
      {"regexes or divisions", [](Size n) { return repeated(")/a/", n); }},
      {"regex classes", [](Size n) { return repeated("}/[/", n); }},
      {"comment openings", [](Size n) { return repeated("/*", n); }},
      {"comments in lines", [](Size n) { return repeated("/*\n*//*", n); }},
      {"less-than", [](Size n) { return repeated("<", n); }},
      {"generic or element", [](Size n) { return repeated("a<b>(", n); }},
      {"sum of texts", [](Size n) { return "f(" + repeated("'ab'+", n) + "'c')"; }},
      {"sum of names", [](Size n) { return numbered(n, [](auto& a, auto&) { return a + "+"; }); }},
      {"array of texts", [](Size n) { return "f([" + repeated("'ab',", n) + "].join(''))"; }},
      {"arguments", [](Size n) { return "execSync(" + repeated("'npm',", n) + ")"; }},
      {"alias chain",
          [](Size n) {
            return "const v0=process;" + numbered(n, [](auto& a, auto& b) { return "const " + b + "=" + a + ";"; });
          }},
      {"alias chain backwards",
          [](Size n) { return numbered(n, [](auto& a, auto& b) { return "const " + a + "=" + b + ";"; }); }},
      {"text chain",
          [](Size n) {
            return "const v0='x';" + numbered(n, [](auto& a, auto& b) { return "const " + b + "=" + a + "+'y';"; });
          }},
      {"doubling texts",
          [](Size n) {
            return "const v0='x';" +
                numbered(n, [](auto& a, auto& b) { return "const " + b + "=" + a + "+" + a + ";"; });
          }},
      {"one name, many aliases",
          [](Size n) { return numbered(n, [](auto& a, auto&) { return "x=process." + a + ";x();"; }); }},
      {"one name, many texts",
          [](Size n) { return numbered(n, [](auto& a, auto&) { return "x='" + a + "';f(x);"; }); }},
      {"aliases used before",
          [](Size n) { return numbered(n, [](auto& a, auto&) { return a + "();const " + a + "=eval;"; }); }},
      {"import clause",
          [](Size n) {
            return "import {" + numbered(n, [](auto& a, auto& b) { return a + " as " + b + ","; }) + "} from 'fs';";
          }},
      {"imports", [](Size n) { return numbered(n, [](auto& a, auto&) { return "import " + a + " from 'fs';"; }); }},
      {"pattern",
          [](Size n) {
            return "const {" + numbered(n, [](auto& a, auto& b) { return a + ":" + b + ","; }) + "} = process;";
          }},
      {"nested patterns", [](Size n) { return "const " + mirrored("{a:", "b", "}", n) + " = process;"; }},
      {"unclosed everything", [](Size n) { return repeated("'\"`${([{/*<a ", n); }},
      {"escaped names", [](Size n) { return repeated("\\u0070rocess.\\u{65}nv;", n); }},
      {"decoders", [](Size n) { return repeated("atob('Li9h')+", n); }},
      {"nested decoders", [](Size n) { return mirrored("atob(", "'Li9h'", ")", n); }},
      {"replacements",
          [](Size n) { return "'" + std::string(3000, 'a') + "'" + repeated(".replaceAll('a','aa')", n); }},
      {"long text used often",
          [](Size n) { return "const t='" + std::string(3000, 'a') + "';" + repeated("f(t);", n); }},
      {"path joins", [](Size n) { return "join(" + repeated("'..','a',", n) + ")"; }},
      {"shell words", [](Size n) { return "execSync(\"" + repeated("n'p'm $IFS ", n) + "\")"; }},
      {"labels and blocks", [](Size n) { return repeated("a:{", n); }},
      {"types", [](Size n) { return "let x:" + repeated("Array<", n) + "process" + repeated(">", n / 6); }},
      {"binds", [](Size n) { return "eval" + repeated(".bind(0)", n) + "('x')"; }},
      {"templates in a row", [](Size n) { return "f" + repeated("`a`", n); }},
      {"templates with values in a row", [](Size n) { return "f" + repeated("`a${b}`", n); }},
      {"shell templates in a row", [](Size n) { return "Bun.$" + repeated("`a`", n); }},
      {"tagged members", [](Size n) { return "f" + repeated(".g`a`", n); }},
      {"templates and calls in a row", [](Size n) { return "f" + repeated("`a`(b)", n); }},
      {"calls with a text in a row", [](Size n) { return "f" + repeated("('a')", n); }},
      {"calls with two texts in a row", [](Size n) { return "f" + repeated("('a','b')", n); }},
      {"calls of indices in a row", [](Size n) { return "f" + repeated("[0]('a')", n); }},
      {"texts for a long name", [](Size n) { return std::string(n / 2, 'a') + "(" + repeated("'a',", n / 2) + ")"; }},
      {"texts for a long call",
          [](Size n) { return "f(" + repeated("a,", n / 2) + ")(" + repeated("'a',", n / 2) + ")"; }},
      {"commas", [](Size n) { return "f(" + repeated("a,", n) + ")"; }},
      {"arrow functions", [](Size n) { return "x=" + repeated("(a)=>", n) + "1"; }},
      {"many dots", [](Size n) { return "a" + repeated(".b", n); }},
      {"indices in a row", [](Size n) { return "a" + repeated("['b']", n); }},
      {"regexes in a row", [](Size n) { return "x=[" + repeated("/a/g,", n) + "]"; }},
      {"elements in a row", [](Size n) { return "x=<>" + repeated("<a b={c}>t</a>", n) + "</>"; }},
      {"open substitutions", [](Size n) { return "`" + repeated("${", n); }},
      {"open templates", [](Size n) { return repeated("`${", n); }},
      {"comments in a row", [](Size n) { return repeated("/**/", n); }},
      {"bindings in a row", [](Size n) { return "f" + repeated(".bind(a)", n) + "('x')"; }},
      {"roots handed over", [](Size n) { return "f(" + repeated("process,", n) + ")"; }},
      {"open import clauses", [](Size n) { return repeated("import{", n); }},
      {"line separators", [](Size n) { return repeated("\xe2\x80\xa8x", n); }},
  };
  return kFloods;
}

std::uint64_t steps_for(const std::string& text) {
  SourceViews views;
  views.build(text, "a.tsx");
  return views.steps();
}

TEST(Laws, TwiceTheTextIsAboutTwiceTheWork) {
  for (const Flood& flood : floods()) {
    const std::uint64_t few = steps_for(flood.make(32 << 10));
    const std::uint64_t many = steps_for(flood.make(64 << 10));
    EXPECT_LE(many, 5 * few / 2 + (1U << 16)) << flood.name;
  }
}

// The same for shapes that nobody thought of: a few tokens, again and again, open or mirrored.
TEST(Laws, TwiceAnyShapeIsAboutTwiceTheWork) {
  static const std::vector<std::string> kTokens = {"a", "f", "'x'", "`", "`y`", "${", "}", "{", "(", ")", "[", "]",
      ".b", "?.c", ",", ";", "?", ":", "=>", "=", "+", "<a>", "</a>", "<", ">", "/r/", "/", "/*", "*/", "//", "\n",
      "\\", "1", "if", "for", "new ", "await ", "return ", "const ", "function ", "class ", "process", "...", " as ",
      "!", "||", "??", "import", "eval", "execSync", ".call", ".bind", ".join", "typeof "};
  Random random = seeded();
  for (std::size_t i = 0; i < texts_wanted(); ++i) {
    std::string head, piece, middle, tail;
    const auto some = [&](std::string& out, std::size_t most) {
      for (std::size_t k = random.below(most + 1); k > 0; --k) out += kTokens[random.below(kTokens.size())];
    };
    some(head, 2);
    some(piece, 5);
    some(middle, 2);
    if (random.below(2) == 0) some(tail, 3);
    if (piece.empty()) continue;
    const auto text = [&](std::size_t times) {
      return head + repeated(piece, times * piece.size()) + middle + repeated(tail, times * tail.size());
    };
    const std::size_t times = (8U << 10) / (piece.size() + tail.size());
    EXPECT_LE(steps_for(text(2 * times)), 5 * steps_for(text(times)) / 2 + (1U << 20))
        << "head " << head << " piece " << piece << " middle " << middle << " tail " << tail;
  }
}

TEST(Laws, LongTextsOfAnythingAreReadOrRefused) {
  const std::size_t bytes = setting("GUARD_LAW_BYTES", 64 << 10);
  for (const Flood& flood : floods()) {
    const std::string text = flood.make(bytes);
    EXPECT_LE(steps_for(text), 200 * text.size()) << flood.name;  // a callee of each text: 257 bytes at most
    EXPECT_TRUE(check({{"sandbox/a.test.tsx", text + "\n;use(process.env);"}}).rejected()) << flood.name;
  }
}

}  // namespace
}  // namespace guard

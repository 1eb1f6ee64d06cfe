#include "nightly/plan/plan.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "common/file_io.h"
#include "rules/matching/matcher.h"
#include "rules/rule_set.h"
#include "validator/validator.h"

namespace guard::nightly {
namespace {

using namespace std::chrono_literals;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

using Prompts = std::vector<std::pair<std::string, std::string>>;

constexpr std::string_view kGenerator = "generator = [\"gen\"]\n";
constexpr std::string_view kTask = "[[task]]\nid = \"a\"\nprompt = \"test add()\"\n";

Result<Plan> parse(std::string_view text, const std::filesystem::path& folder = "/nowhere") {
  return parse_plan(text, "plan.toml", folder);
}

// The sentences of a plan that is refused.
std::string faults(std::string_view text) {
  const auto plan = parse(text);
  if (plan) return "(taken)";
  EXPECT_EQ(plan.error().code(), ErrorCode::config_invalid);
  return plan.error().message();
}
std::string task_faults(std::string_view keys) { return faults(fmt::format("{}[[task]]\n{}", kGenerator, keys)); }

TEST(PlanTest, HasTheDefaultsOfItsHeader) {
  const auto plan = parse(fmt::format("{}{}", kGenerator, kTask));
  ASSERT_TRUE(plan) << plan.error().to_string();
  EXPECT_EQ(plan->base, "HEAD");
  EXPECT_EQ(plan->branch, "");
  EXPECT_THAT(plan->generator_env, ElementsAre("PATH", "HOME", "LANG", "TERM"));
  EXPECT_FALSE(plan->allow_left_processes);
  EXPECT_EQ(plan->jobs, 1u);
  EXPECT_EQ(plan->budget.time, 8h);
  EXPECT_EQ(plan->budget.attempts, 500u);
  EXPECT_EQ(plan->budget.failures_in_a_row, 10u);
  EXPECT_EQ(plan->budget.requeued, 5u);
  EXPECT_EQ(plan->budget.back_off, 1s);
  ASSERT_EQ(plan->tasks.size(), 1u);
  const PlannedTask& task = plan->tasks[0];
  EXPECT_EQ(task.id, "a");
  EXPECT_EQ(task.kind, TaskKind::test);
  EXPECT_EQ(task.prompt, "test add()");
  EXPECT_THAT(task.generator, ElementsAre("gen"));
  EXPECT_EQ(task.generator_timeout, 15min);
  EXPECT_EQ(task.attempts, 2u);
  EXPECT_THAT(task.tests, IsEmpty());
  EXPECT_EQ(task.project, "");
  EXPECT_EQ(task.never_generated, "");
}

TEST(PlanTest, TakesEveryKeyAndATaskOverridesThePlan) {
  const auto plan = parse(R"toml(
base = "v1.2^0"
branch = "guard/night"
generator = ["claude", "-p", "two\nlines"]
generator_env = ["PATH"]
generator_timeout = 60
allow_left_processes = true
attempts = 3
jobs = 4
[budget]
time = 3600
attempts = 7
failures_in_a_row = 8
put_backs = 9
back_off_ms = 10
[[task]]
id = "A-1.b_c"
kind = "any"
prompt = "test add()"
tests = ["sandbox/add.test.ts", "sandbox/**/*.test.ts"]
project = "packages/a/"
allow = ["api.test:443", "@npm"]
generator = ["/opt/gen", ""]
generator_timeout = 5
attempts = 1
[[task]]
id = "b"
prompt = "test sub()"
)toml");
  ASSERT_TRUE(plan) << plan.error().to_string();
  EXPECT_EQ(plan->base, "v1.2^0");
  EXPECT_EQ(plan->branch, "guard/night");
  EXPECT_THAT(plan->generator_env, ElementsAre("PATH"));
  EXPECT_TRUE(plan->allow_left_processes);
  EXPECT_EQ(plan->jobs, 4u);
  EXPECT_EQ(plan->budget.time, 1h);
  EXPECT_EQ(plan->budget.attempts, 7u);
  EXPECT_EQ(plan->budget.failures_in_a_row, 8u);
  EXPECT_EQ(plan->budget.requeued, 9u);
  EXPECT_EQ(plan->budget.back_off, 10ms);
  ASSERT_EQ(plan->tasks.size(), 2u);
  const PlannedTask& own = plan->tasks[0];
  EXPECT_EQ(own.id, "A-1.b_c");
  EXPECT_EQ(own.kind, TaskKind::any);
  EXPECT_THAT(own.generator, ElementsAre("/opt/gen", ""));
  EXPECT_EQ(own.generator_timeout, 5s);
  EXPECT_EQ(own.attempts, 1u);
  EXPECT_THAT(own.tests, ElementsAre("sandbox/add.test.ts", "sandbox/**/*.test.ts"));
  EXPECT_EQ(own.project, "packages/a");
  ASSERT_TRUE(own.allow);
  EXPECT_THAT(*own.allow, ElementsAre("api.test:443", "@npm"));
  const PlannedTask& other = plan->tasks[1];
  EXPECT_THAT(other.generator, ElementsAre("claude", "-p", "two\nlines"));
  EXPECT_EQ(other.generator_timeout, 1min);
  EXPECT_EQ(other.attempts, 3u);
  EXPECT_FALSE(other.allow) << "all that the configuration lists";
}

TEST(PlanTest, ReadsPromptsBesideThePlan) {
  const auto folder = TempDir::create();
  ASSERT_TRUE(folder);
  ASSERT_TRUE(make_folders(folder->path() / "prompts"));
  ASSERT_TRUE(write_file_atomically(folder->path() / "prompts/a.md", "# add\n\nTest add().\n"));
  ASSERT_TRUE(write_file_atomically(folder->path() / "empty.md", " \n"));
  ASSERT_TRUE(write_file_atomically(folder->path() / "large.md", std::string((256u << 10) + 1, 'x')));
  ASSERT_TRUE(write_file_atomically(folder->path() / "latin.md",
      "pr\xfc"
      "fen"));
  const auto read = [&](std::string_view file) {
    return parse(fmt::format("{}[[task]]\nid = \"a\"\nprompt_file = \"{}\"\n", kGenerator, file), folder->path());
  };
  const auto plan = read("prompts/a.md");
  ASSERT_TRUE(plan) << plan.error().to_string();
  EXPECT_EQ(plan->tasks[0].prompt, "# add\n\nTest add().\n");
  for (const auto& [file, words] : {std::pair{"missing.md", "cannot be read"}, std::pair{"empty.md", "says nothing"},
           std::pair{"large.md", "cannot be read"}, std::pair{"latin.md", "not UTF-8"},
           std::pair{"prompts", "cannot be read"}, std::pair{"", "is empty"}}) {
    const auto refused = read(file);
    ASSERT_FALSE(refused) << file;
    EXPECT_EQ(refused.error().code(), ErrorCode::config_invalid);
    EXPECT_THAT(refused.error().message(), HasSubstr(words));
    EXPECT_THAT(refused.error().message(), HasSubstr("plan.toml:4:"));
  }
}

TEST(PlanTest, TakesPromptsOfAResumedNightFromTheJournal) {
  const std::string text = fmt::format("{}{}[[task]]\nid = \"b\"\nprompt_file = \"gone.md\"\n", kGenerator, kTask);
  const auto plan = parse_plan(text, "plan.toml", Prompts{{"b", "kept b"}, {"a", "kept a"}});
  ASSERT_TRUE(plan) << plan.error().to_string();
  EXPECT_EQ(plan->tasks[0].prompt, "kept a");
  EXPECT_EQ(plan->tasks[1].prompt, "kept b");
  const auto lacking = parse_plan(text, "plan.toml", Prompts{{"a", "kept a"}});
  ASSERT_FALSE(lacking);
  EXPECT_THAT(lacking.error().message(), HasSubstr("no prompt of task \"b\""));
}

TEST(PlanTest, TellsAllFaultsAtOnce) {
  const std::string said = faults(R"toml(bas = "main"
jobs = 0
attempts = "two"
generator_env = ["PATH", 1, "A=B"]
colour = true
[budget]
tine = 1
time = 0
[[task]]
prompt = "x"
[[task]]
id = "../../etc"
prompt = " "
tests = ["/etc/passwd", "../x"]
[[task]]
id = "twice"
kind = "tests"
prompt = "x"
promt = "x"
[[task]]
id = "twice"
prompt = "x"
prompt_file = "y"
[[task]]
id = "none"
)toml");
  for (const std::string_view line : {
           "plan.toml:1:1: unknown key `bas` in the plan; did you mean `base`?",
           "`jobs` is 0; it must be 1 to 512",
           "plan.toml:3:12: `attempts` must be a whole number, not a string",
           "`generator_env` holds an integer where a string belongs",
           "`generator_env`: \"A=B\" is not the name of an environment variable",
           "plan.toml:5:1: unknown key `colour` in the plan; there are base, branch,",
           "unknown key `tine` in [budget]; did you mean `time`?",
           "`time` is 0; it must be 1 to 604800",
           "a task needs an `id`",
           "there is no `generator`, neither in the plan nor in this task",
           "`id` \"../../etc\" is not 1 to 64 of",
           "`prompt` says nothing",
           "`tests`: \"/etc/passwd\" is absolute",
           "`tests`: \"../x\" holds a . or .. segment",
           "`kind` must be \"test\" or \"any\", not \"tests\"",
           "unknown key `promt` in a [[task]]; did you mean `prompt`?",
           "\"twice\" is the id of two tasks; the other one stands in line 16",
           "`prompt_file` and `prompt` exclude each other",
           "a task needs a `prompt` or a `prompt_file`",
       }) {
    EXPECT_THAT(said, HasSubstr(line));
  }
}

TEST(PlanTest, NeedsTasks) {
  EXPECT_THAT(faults(""), HasSubstr("the plan has no [[task]]"));
  EXPECT_THAT(faults("task = []\n"), HasSubstr("the plan has no [[task]]"));
  EXPECT_THAT(faults("[task]\nid = \"a\"\n"), HasSubstr("in double brackets"));
  EXPECT_THAT(faults("task = [1]\n"), HasSubstr("a task must be a table, not an integer"));
  EXPECT_THAT(faults("budget = 3\n"), HasSubstr("`budget` must be a table"));
  EXPECT_THAT(faults("a = \n"), HasSubstr("plan.toml:1:"));
  EXPECT_THAT(faults("id = \"\x01\"\n"), HasSubstr("plan.toml:1:"));
  EXPECT_THAT(faults("a\xff"), HasSubstr("UTF-8"));
}

TEST(PlanTest, RefusesIdsThatAreNoNames) {
  for (const std::string id : {"", ".", "..", "-x", ".a", "a/b", "a b", "ä", "a\\u0000"})
    EXPECT_THAT(task_faults(fmt::format("id = \"{}\"\nprompt = \"x\"\n", id)), HasSubstr("A-Z a-z 0-9")) << id;
  EXPECT_THAT(task_faults(fmt::format("id = \"{}\"\nprompt = \"x\"\n", std::string(65, 'a'))), HasSubstr("1 to 64"));
  EXPECT_EQ(task_faults(fmt::format("id = \"{}\"\nprompt = \"x\"\n", std::string(64, 'a'))), "(taken)");
}

// A program that is seen from the clone would be one that the last attempt could have written.
TEST(PlanTest, RefusesAGeneratorThatAGeneratorCouldHaveWritten) {
  for (const std::string argv : {"[\"./gen.sh\"]", "[\"tools/gen\"]", "[\"../gen\"]"})
    EXPECT_THAT(faults(fmt::format("generator = {}\n{}", argv, kTask)), HasSubstr("seen from the clone")) << argv;
  for (const std::string argv :
      {"[]", "[\"\"]", "\"gen\"", "[\"-p\"]", "[\"a\\u0007\"]", "[\"gen\", \"a\\u0000b\"]", "[1]"})
    EXPECT_NE(faults(fmt::format("generator = {}\n{}", argv, kTask)), "(taken)") << argv;
  EXPECT_EQ(faults(fmt::format("generator = [\"/bin/gen\", \"./x\", \"-p\"]\n{}", kTask)), "(taken)");
}

TEST(PlanTest, RefusesNamesThatGitWouldReadOtherwise) {
  for (const std::string name : {"", "-x", "a b", "a..b", "a:b", "a\\u0001"}) {
    EXPECT_NE(faults(fmt::format("base = \"{}\"\n{}{}", name, kGenerator, kTask)), "(taken)") << name;
    EXPECT_NE(faults(fmt::format("branch = \"{}\"\n{}{}", name, kGenerator, kTask)), "(taken)") << name;
  }
  for (const std::string name : {"refs/heads/x", "HEAD", "@", "a@{1}", "a~1", "a^", "a*", "a?", "a[b", "a\\\\b", "/a",
           "a/", "a//b", "a/.b", "a.", "a.lock", "a.lock/b", "a/b."}) {
    EXPECT_NE(faults(fmt::format("branch = \"{}\"\n{}{}", name, kGenerator, kTask)), "(taken)") << name;
  }
  for (const std::string name : {"guard/2026-11-22", "a@b", "ä", "a.b/c"})
    EXPECT_EQ(faults(fmt::format("branch = \"{}\"\n{}{}", name, kGenerator, kTask)), "(taken)") << name;
}

TEST(PlanTest, ChecksTheExecutor) {
  const auto with = [](std::string_view line) {
    return faults(fmt::format("executor.{}\n{}{}", line, kGenerator, kTask));
  };
  for (const std::string_view line : {"kind = \"slurm\"", "kind = \"folder\"", "shared = \"/s\"", "memory = \"2G\"",
           "partition = \"a,b\"", "pass = [\"PATH\"]", "signers = [\"ssh-ed25519 AAAA ada\"]", "batch = 16",
           "trust_workers = ['valid-before=\"20300131\" ssh-ed25519 AAAA']"}) {
    EXPECT_EQ(with(line), "(taken)") << line;
  }
  for (const std::string_view line :
      {"kind = \"cloud\"", "shared = \"s\"", "scratch = \"\"", "program = \"guard\"", "partition = \"-p\"",
          "partition = \"a b\"", "memory = \"\"", "batch = 0", "cpus = 0", "time = 0", "pass = [\"A B\"]",
          "signers = [\"key\"]", "trust_workers = [\"key\"]", "trust_workers = ['valid-before=\"soon\" ssh-ed25519 A']",
          "trust_workers = ['valid-before=\"20300131 ssh-ed25519 A']", "signers = [\"ssh-ed25519 A\\nssh-rsa B\"]",
          "nodes = 2"}) {
    EXPECT_NE(with(line), "(taken)") << line;
  }
}

TEST(PlanTest, HasLimitsOnEverything) {
  const auto with = [](std::string_view line) { return faults(fmt::format("{}\n{}{}", line, kGenerator, kTask)); };
  for (const std::string_view line : {"attempts = 0", "attempts = 101", "attempts = -1",
           "attempts = 9223372036854775807", "attempts = 1.5", "jobs = 513", "generator_timeout = 0",
           "generator_timeout = 86401", "budget.time = 604801", "budget.attempts = 0", "budget.failures_in_a_row = 0",
           "budget.requeued = 0", "budget.back_off_ms = 0", "budget.back_off_ms = 60001", "allow_left_processes = 1"}) {
    EXPECT_NE(with(line), "(taken)") << line;
  }
  std::string names;
  for (int i = 0; i < 257; ++i) names += fmt::format("\"V{}\",", i);
  EXPECT_THAT(with("generator_env = [" + names + "]"), HasSubstr("more than 256"));
  EXPECT_EQ(with("generator_env = []"), "(taken)");
  std::string many;
  for (int i = 0; i < 1'001; ++i) many += "\"a\",";
  EXPECT_THAT(task_faults("id = \"a\"\nprompt = \"x\"\ntests = [" + many + "]\n"), HasSubstr("more than 1000"));
  std::string tasks(kGenerator);
  for (int i = 0; i < 10'001; ++i) tasks += fmt::format("[[task]]\nid = \"t{}\"\nprompt = \"x\"\n", i);
  EXPECT_THAT(faults(tasks), HasSubstr("10001 tasks are more than 10000"));
  EXPECT_THAT(faults(std::string(5u << 20, '#')), HasSubstr("larger than"));
  std::string wrong(kGenerator);
  for (int i = 0; i < 300; ++i) wrong += "[[task]]\n";
  const std::string said = faults(wrong);
  EXPECT_THAT(said, HasSubstr("and 500 more"));
  EXPECT_LT(std::count(said.begin(), said.end(), '\n'), 101);
}

TEST(PlanTest, ShowsHostileBytesHarmlessly) {
  const std::string said = faults("\"\\u001b[31m\\u202e\" = 1\n[[task]]\nid = \"\\u001b]0;x\\u0007\"\n");
  EXPECT_THAT(said, Not(HasSubstr("\x1b")));
  EXPECT_THAT(said, Not(HasSubstr("\u202e")));
  EXPECT_THAT(
      parse_plan("x = 1", "a\x1b[1m.toml", std::filesystem::path("/")).error().message(), Not(HasSubstr("\x1b")));
}

PlannedTask prompted(std::string_view prompt) {
  PlannedTask task;
  task.id = "a";
  task.prompt = prompt;
  return task;
}

TEST(NeverGenerated, RefusesWhatIsWrittenByHand) {
  for (const std::string_view prompt : {
           "Write tests for the ALWAYS_BLOCK rules",
           "write a test for always_block",
           "cover always-block in the gate",
           "test AlwaysBlock",
           "Tests of the always block tier, please",
           "test the Always\nBlock patterns",
           "a regression test of the security patterns",
           "Regression tests for each security-pattern in rules/",
           "regressions: every **blocked** pattern once",
           "security_pattern_regression.test.ts: write it",
           "try a sandbox escape and expect that it fails",
           "a test that breaks out of the container",
           "see whether code can escape from the sandbox",
           "a test with the banned strings that guard looks for",
           "regression test: banned patterns are found in commits",
           "test that always.env_dump fires",
           "cover `banned.jwt`, all spellings",
       }) {
    EXPECT_THAT(never_generated(prompted(prompt)), HasSubstr("by hand, never generated")) << prompt;
  }
  PlannedTask task = prompted("write the test");
  task.tests = {"sandbox/add.test.ts", "sandbox/always_block.test.ts"};
  EXPECT_NE(never_generated(task), "");
}

TEST(NeverGenerated, LetsHonestPromptsPass) {
  for (const std::string_view prompt : {
           "test the login form",
           "the security settings page keeps its tab",
           "test that the modal must always block scrolling while it is open",
           "the reducer always blocks a second submit",
           "regression test for the date parser",
           "a page of security patterns: test that its links resolve",
           "pattern matching in security group names",
           "test our Firestore security rules helper",
           "escape the sandbox attribute in templates",
           "test mount() of the widget, with props",
           "refuse usernames with banned strings",
           "the banned patterns editor of the moderation page",
           "block quotes are always indented",
           "always: block layout. test both",
           "test the token refresh with a fake token",
           "guards of the router: redirect when signed out",
           "prefix names with always.mountable",
           "",
       }) {
    EXPECT_EQ(never_generated(prompted(prompt)), "") << prompt;
  }
}

TEST(NeverGenerated, IsAskedForEveryTaskOfAPlan) {
  const auto plan =
      parse(fmt::format("{}{}[[task]]\nid = \"b\"\nprompt = \"tests of ALWAYS_BLOCK\"\n", kGenerator, kTask));
  ASSERT_TRUE(plan);
  EXPECT_EQ(plan->tasks[0].never_generated, "");
  EXPECT_NE(plan->tasks[1].never_generated, "");
}

TEST(NeverGenerated, RefusesPromptsThatHoldBannedStrings) {
  const auto matcher = Matcher::create(RuleSet::shipped_gate());
  ASSERT_TRUE(matcher);
  const Validator validator(RuleSet::shipped_gate(), *matcher, {});
  const std::string token = std::string("TELEGRAM_BOT") + "_TOKEN=" + "123456789:AAE" + std::string(32, 'x');
  const auto banned = never_generated(prompted("test add()\nwith " + token), validator);
  ASSERT_TRUE(banned);
  EXPECT_THAT(*banned, HasSubstr("the prompt holds what must not be committed (banned.telegram_bot_token, line 2)"));
  EXPECT_THAT(*banned, Not(HasSubstr("AAEx")));
  EXPECT_EQ(*never_generated(prompted("test the login form with process.env.HOME and eval()"), validator), "");
  EXPECT_NE(*never_generated(prompted("tests of ALWAYS_BLOCK"), validator), "");
  PlannedTask task = prompted("x");
  task.tests = {"sandbox/" + token + ".test.ts"};
  EXPECT_NE(*never_generated(task, validator), "");
}

}  // namespace
}  // namespace guard::nightly

#include "pipeline/config/config.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <map>
#include <nlohmann/json.hpp>
#include <set>

#include "common/file_io.h"
#include "pipeline/config/config_file.h"
#include "pipeline/config/config_keys.h"
#include "pipeline/config/config_values.h"
#include "tests/support/pipeline/config_text.h"

namespace guard {
namespace {

using namespace std::chrono_literals;

namespace fs = std::filesystem;
using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;

Result<LoadedConfig> load(std::string text, Environment environment = {}, std::vector<ConfigOverride> overrides = {}) {
  ConfigSources sources;
  sources.text = ConfigText{"guard.toml", std::move(text)};
  sources.environment = std::move(environment);
  sources.overrides = std::move(overrides);
  return load_config(sources);
}

std::string fault_of(const Result<LoadedConfig>& loaded) {
  if (loaded) return "(loaded)";
  EXPECT_EQ(loaded.error().code(), ErrorCode::config_invalid);
  return loaded.error().message();
}

std::string value_of(const LoadedConfig& loaded, std::string_view key) {
  const auto* entry = loaded.find(key);
  return entry == nullptr ? "(no such key)" : entry->value;
}

std::string origin_of(const LoadedConfig& loaded, std::string_view key) {
  const auto* entry = loaded.find(key);
  return entry == nullptr ? "(no such key)" : entry->origin;
}

// A value of every key that is not its default: as TOML, as text, and as `config show` gives it back.
struct Sample {
  std::string toml;
  std::string text;
  std::string shown;
};
const std::map<std::string, Sample>& samples() {
  static const std::map<std::string, Sample> kSamples = {
      {"backend", {"\"host\"", "host", "\"host\""}},
      {"fallback", {"[\"docker\", \"host\"]", "docker, host", "[\"docker\", \"host\"]"}},
      {"trust_namespace", {"true", "true", "true"}},
      {"require_cgroups", {"true", "true", "true"}},
      {"docker.image", {"\"tests:1\"", "tests:1", "\"tests:1\""}},
      {"docker.network", {"\"bridge\"", "bridge", "\"bridge\""}},
      {"docker.timeout", {"7", "7", "7"}},
      {"docker.pull", {"\"missing\"", "missing", "\"missing\""}},
      {"docker.runtime", {"\"runsc\"", "runsc", "\"runsc\""}},
      {"docker.probe_deadline_ms", {"150", "150", "150"}},
      {"docker.plain_tcp", {"true", "true", "true"}},
      {"network.allow", {"[\"a.test\", \"@npm\"]", "a.test, @npm", "[\"a.test\", \"@npm\"]"}},
      {"network.deny", {"[\"b.a.test:443\"]", "b.a.test:443", "[\"b.a.test:443\"]"}},
      {"network.registries_in_tests", {"true", "true", "true"}},
      {"network.max_connections", {"7", "7", "7"}},
      {"network.max_upload", {"\"8m\"", "8m", "\"8m\""}},
      {"network.max_download", {"\"9m\"", "9m", "\"9m\""}},
      {"network.idle_timeout", {"12", "12", "12"}},
      {"network.proxy", {"\"http://p:3128\"", "http://p:3128", "\"http://p:3128\""}},
      {"network.dns_servers", {"[\"127.0.0.1:53\"]", "127.0.0.1:53", "[\"127.0.0.1:53\"]"}},
      {"network.authorities", {"\"/a.pem\"", "/a.pem", "\"/a.pem\""}},
      {"image.tools", {"[\"git\", \"tar\"]", "git, tar", "[\"git\", \"tar\"]"}},
      {"image.unused_days", {"7", "7", "7"}},
      {"session.image", {"\"python\"", "python", "\"python\""}},
      {"limits.timeout", {"12", "12", "12"}},
      {"limits.memory", {"\"512m\"", "512m", "\"512m\""}},
      {"limits.cpus", {"1.5", "1.5", "1.5"}},
      {"limits.pids", {"64", "64", "64"}},
      {"limits.tmp_size", {"\"8m\"", "8m", "\"8m\""}},
      {"limits.sandbox_size", {"1048576", "1048576", "\"1m\""}},
      {"limits.sandbox_files", {"99", "99", "99"}},
      {"limits.output_keep", {"5000", "5000", "\"5000\""}},
      {"limits.output_flood", {"\"1t\"", "1t", "\"1t\""}},
      {"namespace.timeout", {"8", "8", "8"}},
      {"host.timeout", {"9", "9", "9"}},
      {"host.warn_on_start", {"false", "false", "false"}},
      {"host.env", {"[\"PATH\", \"TZ\"]", "PATH, TZ", "[\"PATH\", \"TZ\"]"}},
      {"container_use.program", {"\"/opt/cu\"", "/opt/cu", "\"/opt/cu\""}},
      {"container_use.timeout", {"11", "11", "11"}},
      {"container_use.image", {"\"node:20\"", "node:20", "\"node:20\""}},
      {"container_use.env_id", {"\"fancy-cat\"", "fancy-cat", "\"fancy-cat\""}},
      {"check.paths", {"[\"gen/**\"]", "gen/**", "[\"gen/**\"]"}},
      {"check.max_file_bytes", {"\"64k\"", "64k", "\"64k\""}},
      {"check.api_key_names", {"[\"MY_KEY\"]", "MY_KEY", "[\"MY_KEY\"]"}},
      {"check.allow_temp_removal", {"false", "false", "false"}},
      {"check.docs_url",
          {"\"https://example.org/rules.md\"", "https://example.org/rules.md", "\"https://example.org/rules.md\""}},
      {"check.two_hit_ignore", {"[\"CI\"]", "CI", "[\"CI\"]"}},
      {"hook.everywhere", {"true", "true", "true"}},
      {"run.file_timeout", {"9", "9", "9"}},
      {"run.grace_s", {"3", "3", "3"}},
      {"run.collect", {"\"all\"", "all", "\"all\""}},
      {"run.isolation", {"\"run\"", "run", "\"run\""}},
      {"run.require_assertions", {"\"test\"", "test", "\"test\""}},
      {"run.collect_paths", {"[\"sandbox/out/**\"]", "sandbox/out/**", "[\"sandbox/out/**\"]"}},
      {"run.record", {"\"evidence\"", "evidence", "\"evidence\""}},
      {"redact.mask_env", {"[\"DEPLOY\"]", "DEPLOY", "[\"DEPLOY\"]"}},
      {"redact.mask_file", {"[\"a b.txt\"]", "a b.txt", "[\"a b.txt\"]"}},
      {"redact.kinds_off", {"[\"secret.jwt\"]", "secret.jwt", "[\"secret.jwt\"]"}},
      {"policy.max_changed_files_per_task", {"2", "2", "2"}},
      {"policy.forbidden_files",
          {"[\"x.lock\"]", "x.lock",
              "[\"package.json\", \"bun.lock\", \"bun.lockb\", \"package-lock.json\", \"yarn.lock\", "
              "\"pnpm-lock.yaml\", "
              "\"x.lock\"]"}},
      {"policy.allowed_paths",
          {"[\"sandbox/**\", \"src/*.ts\"]", "sandbox/**,src/*.ts", "[\"sandbox/**\", \"src/*.ts\"]"}},
      {"policy.forbidden_paths", {"[\"migrations/**\"]", "migrations/**", "[\"migrations/**\"]"}},
      {"policy.max_diff_lines", {"12", "12", "12"}},
      {"policy.max_diff_bytes", {"\"8k\"", "8k", "\"8k\""}},
      {"nightly.worth", {"false", "false", "false"}},
      {"nightly.worth_runs", {"4", "4", "4"}},
      {"nightly.worth_mutants", {"2", "2", "2"}},
      {"nightly.keep_clones", {"\"refused\"", "refused", "\"refused\""}},
      {"nightly.keep_days", {"3", "3", "3"}},
      {"nightly.min_free", {"\"1g\"", "1g", "\"1g\""}},
      {"nightly.on_finish", {"[\"/bin/mail\", \"me\"]", "/bin/mail,me", "[\"/bin/mail\", \"me\"]"}},
      {"rollout.enabled", {"false", "false", "false"}},
      {"rollout.percent", {"0", "0", "0"}},
      {"rollout.force", {"[\"task-1\"]", "task-1", "[\"task-1\"]"}},
  };
  return kSamples;
}

// ---- defaults, sources and their order ----

TEST(Config, HasTheDocumentedDefaults) {
  const auto loaded = load("");
  ASSERT_TRUE(loaded);
  const std::map<std::string, std::string> expected = {
      {"backend", "\"docker\""},
      {"fallback", "\"namespace\""},
      {"trust_namespace", "false"},
      {"require_cgroups", "false"},
      {"docker.image", "\"\""},
      {"docker.network", "\"none\""},
      {"docker.timeout", "300"},
      {"docker.pull", "\"never\""},
      {"docker.runtime", "\"\""},
      {"docker.probe_deadline_ms", "2000"},
      {"docker.plain_tcp", "false"},
      {"network.allow", "[]"},
      {"network.deny", "[]"},
      {"network.registries_in_tests", "false"},
      {"network.max_connections", "1024"},
      {"network.max_upload", "\"1g\""},
      {"network.max_download", "\"16g\""},
      {"network.idle_timeout", "600"},
      {"network.proxy", "\"\""},
      {"network.dns_servers", "[]"},
      {"network.credential", "[]"},
      {"network.authorities", "\"\""},
      {"image.tools", "[]"},
      {"image.unused_days", "90"},
      {"session.image", "\"\""},
      {"limits.timeout", "300"},
      {"limits.memory", "\"2g\""},
      {"limits.cpus", "2"},
      {"limits.pids", "256"},
      {"limits.tmp_size", "\"500m\""},
      {"limits.sandbox_size", "\"256m\""},
      {"limits.sandbox_files", "10000"},
      {"limits.output_keep", "\"80k\""},
      {"limits.output_flood", "\"1g\""},
      {"namespace.timeout", "300"},
      {"host.timeout", "300"},
      {"host.warn_on_start", "true"},
      {"host.env", "[\"PATH\", \"HOME\", \"LANG\"]"},
      {"check.paths", "[\"sandbox/**\"]"},
      {"check.max_file_bytes", "\"2m\""},
      {"check.waivers", "[]"},
      {"run.file_timeout", "0"},
      {"run.grace_s", "10"},
      {"run.collect", "\"none\""},
      {"run.isolation", "\"file\""},
      {"run.require_assertions", "\"file\""},
      {"run.collect_paths", "[]"},
      {"run.env", "{}"},
      {"redact.mask_env", "[]"},
      {"policy.max_changed_files_per_task", "5"},
      {"rollout.enabled", "true"},
      {"rollout.percent", "100"},
  };
  for (const auto& [key, value] : expected) EXPECT_EQ(value_of(*loaded, key), value) << key;
  for (const auto& entry : loaded->entries) EXPECT_EQ(entry.origin, "default") << entry.key;
  EXPECT_EQ(loaded->config.limits.output_keep_bytes, 81'920U);
}

TEST(Config, EveryKeyIsReadFromTheFile) {
  for (const auto& key : config_keys()) {
    if (!key.has_text_form()) continue;
    const auto sample = samples().find(key.dotted());
    ASSERT_NE(sample, samples().end()) << "no sample for " << key.dotted();
    const auto loaded = load("\n" + testing::in_file(key, sample->second.toml));
    ASSERT_TRUE(loaded) << key.dotted() << ": " << loaded.error().message();
    EXPECT_EQ(value_of(*loaded, key.dotted()), sample->second.shown);
    EXPECT_THAT(origin_of(*loaded, key.dotted()), HasSubstr(key.section.empty() ? "guard.toml:2" : "guard.toml:3"));
  }
}

TEST(Config, EveryKeyIsReadFromTheEnvironment) {
  for (const auto& key : config_keys()) {
    if (!key.has_text_form()) continue;
    const auto& sample = samples().at(key.dotted());
    const auto loaded = load("", {{key.environment_name(), sample.text}});
    ASSERT_TRUE(loaded) << key.dotted() << ": " << loaded.error().message();
    EXPECT_EQ(value_of(*loaded, key.dotted()), sample.shown);
    EXPECT_THAT(origin_of(*loaded, key.dotted()), HasSubstr("environment " + key.environment_name()));
  }
}

TEST(Config, EveryKeyIsReadFromAnOption) {
  for (const auto& key : config_keys()) {
    if (!key.has_text_form()) continue;
    const auto& sample = samples().at(key.dotted());
    const auto loaded = load("", {}, {{key.dotted(), sample.text, "--some"}});
    ASSERT_TRUE(loaded) << key.dotted() << ": " << loaded.error().message();
    EXPECT_EQ(value_of(*loaded, key.dotted()), sample.shown);
    EXPECT_THAT(origin_of(*loaded, key.dotted()), HasSubstr("option --some"));
  }
}

// Setting one key through any source must change that key and no other: a row wired to its neighbour's member shows
// here.
TEST(Config, NoKeyChangesAnother) {
  const auto defaults = load("");
  for (const auto& key : config_keys()) {
    if (!key.has_text_form()) continue;
    const auto loaded = load(testing::in_file(key, samples().at(key.dotted()).toml));
    ASSERT_TRUE(loaded);
    for (const auto& entry : defaults->entries) {
      if (entry.key == key.dotted() || find_config_key(entry.key)->inherits == key.dotted()) continue;
      EXPECT_EQ(value_of(*loaded, entry.key), entry.value) << key.dotted() << " changed " << entry.key;
    }
  }
}

TEST(Config, OptionsStandOverTheEnvironmentOverTheFile) {
  const std::string file = "[limits]\nmemory = \"1g\"\npids = 100\ncpus = 1\n";
  const Environment environment = {{"GUARD_LIMITS_MEMORY", "256m"}, {"GUARD_LIMITS_PIDS", "50"}};
  const auto loaded = load(file, environment, {{"limits.memory", "64m", "--memory"}});
  ASSERT_TRUE(loaded);
  EXPECT_EQ(loaded->config.limits.memory_bytes, 64U << 20);
  EXPECT_EQ(origin_of(*loaded, "limits.memory"), "option --memory");
  EXPECT_EQ(loaded->config.limits.pids, 50U);
  EXPECT_EQ(origin_of(*loaded, "limits.pids"), "environment GUARD_LIMITS_PIDS");
  EXPECT_EQ(loaded->config.limits.cpus, 1.0);
  EXPECT_EQ(origin_of(*loaded, "limits.cpus"), "guard.toml:4");
  EXPECT_EQ(origin_of(*loaded, "limits.tmp_size"), "default");
}

TEST(Config, NamesToMaskAddUpOverTheSources) {
  const auto loaded = load("[redact]\nmask_env = [\"A\", \"B\"]\n", {{"GUARD_REDACT_MASK_ENV", "B,C"}},
      {{"redact.mask_env", "D", "--mask-env"}});
  ASSERT_TRUE(loaded);
  EXPECT_THAT(loaded->config.redact.mask_env, ElementsAre("A", "B", "C", "D"));
  EXPECT_EQ(
      origin_of(*loaded, "redact.mask_env"), "guard.toml:2, environment GUARD_REDACT_MASK_ENV, option --mask-env");
}

TEST(Config, AnEmptyListOfForbiddenFilesForbidsStillTheSix) {
  const auto loaded = load("[policy]\nforbidden_files = []\n");
  ASSERT_TRUE(loaded);
  EXPECT_EQ(loaded->config.policy.forbidden_files.size(), 6U);
}

TEST(Config, EveryShownValueIsJson) {
  const auto loaded = load("[redact]\nmask_file = ['a\"b\\c']\n[run.env]\nA = \"x\"\nB = true\n");
  ASSERT_TRUE(loaded);
  for (const auto& entry : loaded->entries)
    EXPECT_FALSE(nlohmann::json::parse(entry.value, nullptr, false).is_discarded()) << entry.key;
}

// A place's own time counts where nothing that counts for more sets the time of all.
TEST(Config, OneTimeoutIsForAllPlaces) {
  const auto times = [](const Result<LoadedConfig>& loaded) {
    EXPECT_TRUE(loaded);
    const Config& config = loaded->config;
    return std::vector<milliseconds>{
        config.docker.timeout, config.namespace_sandbox.timeout, config.host.timeout, config.container_use.timeout};
  };
  using Times = std::vector<milliseconds>;
  EXPECT_EQ(times(load("[limits]\ntimeout = 60\n")), (Times{60s, 60s, 60s, 60s}));
  EXPECT_EQ(times(load("[limits]\ntimeout = 60\n[docker]\ntimeout = 70\n")), (Times{70s, 60s, 60s, 60s}));
  EXPECT_EQ(times(load("[docker]\ntimeout = 70\n")), (Times{70s, 300s, 300s, 300s}));
  EXPECT_EQ(times(load("[docker]\ntimeout = 70\n", {{"GUARD_LIMITS_TIMEOUT", "50"}})), (Times{50s, 50s, 50s, 50s}));
  EXPECT_EQ(times(load("[limits]\ntimeout = 60\n", {{"GUARD_DOCKER_TIMEOUT", "40"}})), (Times{40s, 60s, 60s, 60s}));
  EXPECT_EQ(
      times(load("", {{"GUARD_LIMITS_TIMEOUT", "50"}, {"GUARD_HOST_TIMEOUT", "40"}})), (Times{50s, 50s, 40s, 50s}));
  EXPECT_EQ(times(load("[limits]\ntimeout = \"100ms\"\n")), (Times{100ms, 100ms, 100ms, 100ms}));
  const auto loaded = load("[limits]\ntimeout = 60\n[docker]\ntimeout = 70\n", {{"GUARD_LIMITS_TIMEOUT", "50"}});
  ASSERT_TRUE(loaded);
  EXPECT_EQ(loaded->find("docker.timeout")->origin, "limits.timeout (environment GUARD_LIMITS_TIMEOUT)");
  EXPECT_EQ(loaded->find("docker.timeout")->value, "50");
}

TEST(Config, TimesAreSecondsOrHaveAUnit) {
  const auto time = [](const std::string& value) {
    const auto loaded = load("[limits]\ntimeout = " + value + "\n");
    return loaded ? loaded->config.limits.timeout : -1ms;
  };
  EXPECT_EQ(time("90"), 90s);
  EXPECT_EQ(time("2.5"), 2500ms);
  EXPECT_EQ(time("0.001"), 1ms);
  EXPECT_EQ(time("\"100ms\""), 100ms);
  EXPECT_EQ(time("\"2.5s\""), 2500ms);
  EXPECT_EQ(time("\"90\""), 90s);
  for (const char* wrong : {"0", "-1", "86401", "0.0001", "1e30", "nan", "inf", "true", "\"\"", "\"0ms\"", "\"1.5ms\"",
           "\"5m\"", "\"ms\"", "\"s\"", "\"-1s\"", "\"1 s\"", "\"1.s\"", "\"1.2345s\"", "\"99999999999999999999s\""})
    EXPECT_EQ(time(wrong), -1ms) << wrong;
  const auto whole = load("[limits]\ntimeout = \"2000ms\"\n");
  ASSERT_TRUE(whole);
  EXPECT_EQ(whole->find("limits.timeout")->value, "2");
  const auto part = load("", {{"GUARD_LIMITS_TIMEOUT", "1.5s"}});
  ASSERT_TRUE(part);
  EXPECT_EQ(part->find("host.timeout")->value, "\"1500ms\"");
}

// ---- faults ----

TEST(Config, UnknownKeysAreErrorsWithTheirPlaceAndASuggestion) {
  EXPECT_EQ(fault_of(load("[limits]\nmemroy = \"1g\"\n")),
      "guard.toml:2:1: unknown key `memroy` in [limits]; did you mean `memory`?");
  EXPECT_EQ(
      fault_of(load("[limit]\nmemory = \"1g\"\n")), "guard.toml:1:2: unknown section [limit]; did you mean `limits`?");
  EXPECT_THAT(fault_of(load("memory = \"1g\"\n")), HasSubstr("unknown key `memory`; it belongs in [limits]"));
  EXPECT_THAT(fault_of(load("[docker]\nbackend = \"host\"\n")), HasSubstr("it belongs before the first section"));
  EXPECT_THAT(fault_of(load("[docker.network]\nx = 1\n")), HasSubstr("docker.network must be one of"));
  EXPECT_THAT(fault_of(load("limits = 3\n")), HasSubstr("limits must be a table, not an integer"));
  EXPECT_THAT(
      fault_of(load("zzzzzzzz = 3\n")), AllOf(HasSubstr("unknown key `zzzzzzzz`"), Not(HasSubstr("did you mean"))));
}

TEST(Config, UnknownVariablesOfOursAreErrors) {
  EXPECT_EQ(fault_of(load("", {{"GUARD_LIMITS_MEMROY", "1g"}})),
      "environment GUARD_LIMITS_MEMROY: there is no such key; did you mean GUARD_LIMITS_MEMORY?");
  EXPECT_THAT(
      fault_of(load("", {{"GUARD_CHECK_WAIVERS", "x"}})), HasSubstr("check.waivers can only be set in guard.toml"));
  EXPECT_THAT(fault_of(load("", {{"GUARD_", ""}})), HasSubstr("there is no such key"));
  EXPECT_TRUE(load("",
      {{"GUARD_BUN", "/x"}, {"GUARD_CACHE_DIR", "/y"}, {"GUARD_LOG", "debug"}, {"GUARD_TEST_ANY", "1"},
          {"GUARD_TRACE", "1"}, {"GUARDIAN", "2"}, {"MEMORY", "3"}}));
}

TEST(Config, AllFaultsOfAllSourcesAreToldAtOnce) {
  const auto loaded = load("backend = \"dcoker\"\n[limits]\npids = \"many\"\nmemory = \"2x\"\n[docker]\ntimeout = 0\n",
      {{"GUARD_ROLLOUT_PERCENT", "101"}}, {{"limits.cpus", "none", "--cpus"}});
  const std::string message = fault_of(loaded);
  EXPECT_THAT(message, HasSubstr("6 faults"));
  EXPECT_THAT(message,
      HasSubstr("guard.toml:1:11: backend must be one of \"docker\", \"namespace\", \"host\", "
                "\"container-use\", not \"dcoker\"; did you mean \"docker\"?"));
  EXPECT_THAT(message, HasSubstr("guard.toml:3:8: limits.pids must be a whole number from 8 to 1000000, not a string"));
  EXPECT_THAT(message, HasSubstr("guard.toml:4:10: limits.memory must be a size from 16m to 1t"));
  EXPECT_THAT(message,
      HasSubstr("guard.toml:6:11: docker.timeout must be a time from 1 ms to 86400 s, as a number "
                "of seconds or with ms or s, not 0"));
  EXPECT_THAT(message, HasSubstr("environment GUARD_ROLLOUT_PERCENT: rollout.percent must be"));
  EXPECT_THAT(message, HasSubstr("option --cpus: limits.cpus must be a number from 0.1 to 1024"));
}

// Both become arguments or the program itself.
TEST(Config, ContainerUseTakesAbsoluteProgramsAndPlainIds) {
  for (const char* line :
      {"program = \"cu\"", "program = \"./cu\"", "env_id = \"--all\"", "env_id = \"a b\"", "env_id = \"$(x)\""}) {
    EXPECT_THAT(fault_of(load("[container_use]\n" + std::string(line) + "\n")), HasSubstr("guard.toml:2:")) << line;
  }
}

TEST(Config, ASyntaxErrorDoesNotHideTheFaultsOfTheEnvironment) {
  EXPECT_THAT(fault_of(load("backend = \n", {{"GUARD_RUN_GRACE_S", "x"}})),
      AllOf(HasSubstr("guard.toml:1:"), HasSubstr("GUARD_RUN_GRACE_S")));
}

TEST(Config, AFallbackIsABackendAnOrderOrNone) {
  const std::map<std::string, std::string> shown = {{"\"docker\"", "\"docker\""}, {"[\"host\"]", "\"host\""},
      {"[\"docker\", \"namespace\"]", "[\"docker\", \"namespace\"]"}, {"\"none\"", "\"none\""},
      {"[\"none\"]", "\"none\""}, {"[]", "\"none\""}};
  for (const auto& [given, expected] : shown) {
    const auto loaded = load("fallback = " + given);
    ASSERT_TRUE(loaded) << given;
    EXPECT_EQ(value_of(*loaded, "fallback"), expected);
  }
  EXPECT_THAT(fault_of(load("fallback = [\"docker\", \"hosts\"]")), HasSubstr("did you mean \"host\"?"));
}

TEST(Config, ValuesOutOfRangeOrOfTheWrongTypeAreRefused) {
  const std::vector<std::string> bad = {
      "trust_namespace = \"true\"",
      "trust_namespace = 1",
      "backend = 3",
      "backend = \"\"",
      "backend = \"Docker\"",
      "fallback = \"dokcer\"",
      "fallback = \"\"",
      "fallback = [1]",
      "fallback = [\"none\", \"docker\"]",
      "[limits]\nmemory = -1",
      "[limits]\nmemory = 0",
      "[limits]\nmemory = \"\"",
      "[limits]\nmemory = \"99999999999999999999g\"",
      "[limits]\nmemory = 1.5",
      "[limits]\ncpus = nan",
      "[limits]\ncpus = inf",
      "[limits]\ncpus = 0",
      "[limits]\ncpus = -2",
      "[limits]\npids = 0",
      "[limits]\npids = 9223372036854775807",
      "[limits]\noutput_keep = 0",
      "[rollout]\npercent = -1",
      "[docker]\ntimeout = \"5 minutes\"",
      "[docker]\nimage = \"-x\"",
      "[docker]\nimage = \"a b\"",
      "[docker]\nimage = \"a\\nb\"",
      "[host]\nenv = \"PATH\"",
      "[host]\nenv = [1]",
      "[host]\nenv = [\"A=B\"]",
      "[host]\nenv = [\"\"]",
      "[check]\npaths = []",
      "[check]\npaths = [\"/etc/**\"]",
      "[check]\npaths = [\"../x\"]",
      "[check]\npaths = [\"a/../b\"]",
      "[check]\npaths = [\"\"]",
      "[check]\ntwo_hit_ignore = []",
      "[run]\nenv = 3",
      "[run.env]\n\"A B\" = \"x\"",
      "[run.env]\nA = false",
      "[run.env]\nA = 1",
      "[run]\ncollect = \"some\"",
      "[run]\ncollect = \"listed\"",
      "[run]\ncollect_paths = [\"/etc/**\"]",
      "[redact]\nmask_file = [\"a\\u0000b\"]",
      "[limits]\noutput_keep = \"64m\"\noutput_flood = \"1m\"",
  };
  for (const auto& text : bad) EXPECT_FALSE(load(text)) << text;
  for (const std::string text : {"", " 50", "50 ", "+50", "-50", "0x50", "50.0", "1e2", "18446744073709551616"}) {
    EXPECT_FALSE(load("", {{"GUARD_LIMITS_PIDS", text}})) << text;
  }
  for (const std::string text : {"yes", "TRUE", "1", ""})
    EXPECT_FALSE(load("", {{"GUARD_TRUST_NAMESPACE", text}})) << text;
  EXPECT_FALSE(load("", {{"GUARD_LIMITS_CPUS", "nan"}}));
}

TEST(Config, HostileTextInMessagesIsMadePrintableAndShort) {
  const std::string message = fault_of(load("\"\\u001b[2J\\n" + std::string(5000, 'x') + "\" = 1\n"));
  EXPECT_EQ(message.find('\x1b'), std::string::npos);
  EXPECT_EQ(message.find('\n'), std::string::npos);
  EXPECT_LT(message.size(), 300U);
}

TEST(Config, TextThatIsNoTomlIsRefused) {
  EXPECT_THAT(fault_of(load(std::string("backend = \"a\0b\"", 15))), HasSubstr("NUL"));
  EXPECT_THAT(fault_of(load("# \xff\xfe\n")), HasSubstr("UTF-8"));
  EXPECT_THAT(fault_of(load(std::string(kConfigBytesMax + 1, '#'))), HasSubstr("larger than"));
}

// ---- waivers ----

std::string waiver(const std::string& rule, const std::string& more = "") {
  return "[[check.waivers]]\nrule = \"" + rule + "\"\npath = \"sandbox/a.test.ts\"\nfingerprint = \"" +
      std::string(64, 'a') + "\"\nreason = \"fixture\"\nexpires = 2031-02-28\n" + more;
}

TEST(Config, WaiversAreRead) {
  const auto loaded = load(waiver("docker.secret_file") + waiver("host.eval"));
  ASSERT_TRUE(loaded) << loaded.error().message();
  ASSERT_EQ(loaded->config.check.waivers.size(), 2U);
  const auto& first = loaded->config.check.waivers[0];
  EXPECT_EQ(first.rule, "docker.secret_file");
  EXPECT_EQ(first.path, "sandbox/a.test.ts");
  EXPECT_EQ(first.fingerprint, std::string(64, 'a'));
  EXPECT_EQ(first.expires, "2031-02-28");
  EXPECT_THAT(first.origin, HasSubstr("guard.toml:1"));
  EXPECT_THAT(
      value_of(*loaded, "check.waivers[1]"), HasSubstr("host.eval in sandbox/a.test.ts until 2031-02-28: fixture"));
}

TEST(Config, AlwaysAndBannedCannotBeWaived) {
  EXPECT_THAT(fault_of(load(waiver("always.env_dump"))), HasSubstr("cannot be waived"));
  EXPECT_THAT(fault_of(load(waiver("banned.anthropic_key"))), HasSubstr("cannot be waived"));
  EXPECT_THAT(fault_of(load(waiver("encoding.nul_byte"))), HasSubstr("cannot be waived"));
  EXPECT_THAT(fault_of(load(waiver("policy.submodule"))), HasSubstr("cannot be waived"));
}

TEST(Config, AWaiverNeedsAllItsFieldsAndNoOthers) {
  EXPECT_THAT(fault_of(load("[[check.waivers]]\nrule = \"host.eval\"\n")),
      AllOf(HasSubstr("needs `path`"), HasSubstr("needs `fingerprint`"), HasSubstr("needs `reason`"),
          HasSubstr("needs `expires`")));
  EXPECT_THAT(fault_of(load(waiver("host.eval", "until = 1\n"))), HasSubstr("no key `until`"));
  EXPECT_THAT(fault_of(load("[check]\nwaivers = [\"host.eval\"]\n")), HasSubstr("must be a table"));
  EXPECT_THAT(fault_of(load("[check]\nwaivers = true\n")), HasSubstr("must be an array of tables"));
  const auto changed = [](const std::string& from, const std::string& to) {
    std::string text = waiver("host.eval");
    text.replace(text.find(from), from.size(), to);
    return load(text);
  };
  EXPECT_FALSE(changed("2031-02-28", "2031-02-29T00:00:00Z"));
  EXPECT_FALSE(changed("2031-02-28", "\"2031-02-30\""));
  EXPECT_FALSE(changed("2031-02-28", "\"never\""));
  EXPECT_FALSE(changed("\"fixture\"", "\"  \""));
  EXPECT_TRUE(changed("sandbox/a.test.ts", "sandbox/**"));
  EXPECT_FALSE(changed("sandbox/a.test.ts", "../a.test.ts"));
  EXPECT_FALSE(changed(std::string(64, 'a'), std::string(63, 'a')));
  EXPECT_FALSE(changed(std::string(64, 'a'), std::string(64, 'A')));
  EXPECT_TRUE(changed("2031-02-28", "\"2032-02-29\""));
}

// ---- [run.env] ----

TEST(Config, VariablesForTheSandboxComeFromAllSourcesAndAreNotShown) {
  const auto loaded = load("[run.env]\nTZ = \"UTC\"\nTOKEN = true\nOVER = \"file\"\n",
      {{"GUARD_RUN_ENV_OVER", "environment"}, {"TOKEN", "from-outside"}}, {{"run.env.EXTRA", "a=b,c", "--env"}});
  ASSERT_TRUE(loaded);
  const auto variables = run_variables(loaded->config, {{"TOKEN", "from-outside"}});
  ASSERT_TRUE(variables);
  const std::map<std::string, std::string> expected = {
      {"EXTRA", "a=b,c"}, {"OVER", "environment"}, {"TOKEN", "from-outside"}, {"TZ", "UTC"}};
  EXPECT_EQ(*variables, expected);
  EXPECT_EQ(value_of(*loaded, "run.env.TZ"), "\"[REDACTED:env:TZ]\"");
  EXPECT_EQ(origin_of(*loaded, "run.env.TZ"), "guard.toml:2");
  EXPECT_EQ(origin_of(*loaded, "run.env.OVER"), "environment GUARD_RUN_ENV_OVER");
  for (const auto& entry : loaded->entries) EXPECT_THAT(entry.value, Not(HasSubstr("UTC")));
}

TEST(Config, AnInheritedVariableThatIsNotSetIsAnError) {
  const auto loaded = load("[run.env]\nTOKEN = true\n");
  ASSERT_TRUE(loaded);
  const auto variables = run_variables(loaded->config, {});
  ASSERT_FALSE(variables);
  EXPECT_EQ(variables.error().code(), ErrorCode::config_invalid);
  EXPECT_THAT(variables.error().message(), HasSubstr("TOKEN"));
}

// ---- which guard.toml ----

class ConfigSearch : public ::testing::Test {
 protected:
  void SetUp() override {
    auto made = TempDir::create();
    ASSERT_TRUE(made);
    temp_.emplace(std::move(*made));
    root_ = fs::canonical(temp_->path()) / "project";
    fs::create_directories(root_ / "sandbox" / "deep");
    fs::create_directories(root_ / "packages" / "one" / "src");
  }
  void write(const fs::path& path, const std::string& text) {
    fs::create_directories(path.parent_path());
    std::ofstream(path) << text;
  }
  static Result<LoadedConfig> search(const fs::path& from) {
    ConfigSources sources;
    sources.search_from = from;
    return load_config(sources);
  }
  static std::uint64_t timeout(const Result<LoadedConfig>& loaded) {
    EXPECT_TRUE(loaded) << loaded.error().message();
    return loaded ? static_cast<std::uint64_t>(loaded->config.docker.timeout.count() / 1000) : 0;
  }
  static std::string with_timeout(int seconds) { return "[docker]\ntimeout = " + std::to_string(seconds) + "\n"; }

  std::optional<TempDir> temp_;
  fs::path root_;
};

TEST_F(ConfigSearch, NoFileMeansDefaults) {
  const auto loaded = search(root_);
  EXPECT_EQ(timeout(loaded), 300U);
  EXPECT_TRUE(loaded->file.empty());
}

TEST_F(ConfigSearch, ReadsTheRepositorysRootAndNoFolderBelowIt) {
  fs::create_directories(root_ / ".git");
  write(root_ / "guard.toml", with_timeout(11));
  EXPECT_EQ(timeout(search(root_ / "packages" / "one" / "src")), 11U);
  write(root_ / "packages" / "one" / "guard.toml", with_timeout(12));
  const auto nested = search(root_ / "packages" / "one" / "src");
  EXPECT_EQ(timeout(nested), 11U);
  EXPECT_EQ(nested->file, root_ / "guard.toml");
  EXPECT_EQ(nested->find("docker.timeout")->origin, "guard.toml:2");
}

TEST_F(ConfigSearch, DoesNotLeaveTheRepository) {
  write(root_.parent_path() / "guard.toml", with_timeout(13));
  fs::create_directories(root_ / ".git");
  EXPECT_EQ(timeout(search(root_)), 300U);
}

TEST_F(ConfigSearch, WithoutARepositoryLooksOnlyInTheFolderItself) {
  write(root_ / "guard.toml", with_timeout(14));
  EXPECT_EQ(timeout(search(root_ / "packages")), 300U);
  EXPECT_EQ(timeout(search(root_)), 14U);
}

// The file a generator would most like to write.
TEST_F(ConfigSearch, NeverReadsTheSandboxFolder) {
  fs::create_directories(root_ / ".git");
  write(root_ / "guard.toml", with_timeout(15));
  write(root_ / "sandbox" / "guard.toml", with_timeout(16));
  write(root_ / "sandbox" / "deep" / "guard.toml", with_timeout(17));
  EXPECT_EQ(timeout(search(root_ / "sandbox")), 15U);
  EXPECT_EQ(timeout(search(root_ / "sandbox" / "deep")), 15U);
  EXPECT_EQ(timeout(search(root_ / "sandbox" / "deep" / ".." / "deep")), 15U);
}

TEST_F(ConfigSearch, APlantedRepositoryInTheSandboxFolderChangesNothing) {
  for (const char* marker : {".git", "package.json", "tsconfig.json"}) {
    fs::remove_all(root_);
    fs::create_directories(root_ / "sandbox" / "x" / "sandbox" / ".git");
    fs::create_directories(root_ / "sandbox" / ".git");
    fs::create_directories(root_ / "sandbox" / "x" / ".git");
    write(root_ / "sandbox" / "guard.toml", with_timeout(18));
    write(root_ / "sandbox" / "x" / "guard.toml", with_timeout(19));
    write(root_ / "sandbox" / "x" / "package.json", "{}");
    write(root_ / marker, "");
    EXPECT_EQ(timeout(search(root_ / "sandbox")), 300U) << marker;
    EXPECT_EQ(timeout(search(root_ / "sandbox" / "x")), 300U) << marker;
    EXPECT_EQ(timeout(search(root_ / "sandbox" / "x" / "sandbox")), 300U) << marker;
  }
}

TEST_F(ConfigSearch, ALinkIntoTheSandboxFolderDoesNotHideIt) {
  fs::create_directories(root_ / ".git");
  write(root_ / "sandbox" / "deep" / "guard.toml", with_timeout(20));
  const fs::path link = root_.parent_path() / "shortcut";
  fs::create_directory_symlink(root_ / "sandbox" / "deep", link);
  EXPECT_EQ(timeout(search(link)), 300U);
  // And a sandbox folder that is itself a link to elsewhere.
  fs::remove_all(root_ / "sandbox");
  write(root_.parent_path() / "elsewhere" / "guard.toml", with_timeout(21));
  fs::create_directory_symlink(root_.parent_path() / "elsewhere", root_ / "sandbox");
  EXPECT_EQ(timeout(search(root_ / "sandbox")), 300U);
}

// A folder of somebody's home may well be called sandbox.
TEST_F(ConfigSearch, AProjectBelowAnyFolderCalledSandboxIsStillAProject) {
  const fs::path project = root_.parent_path() / "sandbox" / "mine";
  fs::create_directories(project / ".git");
  write(project / "guard.toml", with_timeout(22));
  EXPECT_EQ(timeout(search(project)), 22U);
}

TEST_F(ConfigSearch, ALinkOutOfTheProjectOrIntoTheSandboxFolderIsRefused) {
  fs::create_directories(root_ / ".git");
  write(root_.parent_path() / "other.toml", with_timeout(23));
  fs::create_symlink(root_.parent_path() / "other.toml", root_ / "guard.toml");
  EXPECT_THAT(fault_of(search(root_)), HasSubstr("not the project's own"));
  fs::remove(root_ / "guard.toml");
  write(root_ / "sandbox" / "mine.toml", with_timeout(24));
  fs::create_symlink("sandbox/mine.toml", root_ / "guard.toml");
  EXPECT_THAT(fault_of(search(root_)), HasSubstr("not the project's own"));
  fs::remove(root_ / "guard.toml");
  write(root_ / "packages" / "shared.toml", with_timeout(25));
  fs::create_symlink("packages/shared.toml", root_ / "guard.toml");
  EXPECT_EQ(timeout(search(root_)), 25U);
}

TEST_F(ConfigSearch, WhatCannotBeReadIsAnErrorAndNotTheDefaults) {
  fs::create_directories(root_ / "guard.toml");
  EXPECT_NE(fault_of(search(root_)), "(loaded)");
  fs::remove(root_ / "guard.toml");
  fs::create_symlink("nowhere", root_ / "guard.toml");
  EXPECT_NE(fault_of(search(root_)), "(loaded)");
  fs::remove(root_ / "guard.toml");
  fs::create_symlink("guard.toml", root_ / "guard.toml");
  EXPECT_NE(fault_of(search(root_)), "(loaded)");
  fs::remove(root_ / "guard.toml");
  ASSERT_EQ(::mkfifo((root_ / "guard.toml").c_str(), 0600), 0);
  EXPECT_NE(fault_of(search(root_)), "(loaded)");
  fs::remove(root_ / "guard.toml");
  write(root_ / "guard.toml", std::string(kConfigBytesMax + 1, '#'));
  EXPECT_NE(fault_of(search(root_)), "(loaded)");
  EXPECT_NE(fault_of(search(root_ / "not-there")), "(loaded)");
}

TEST_F(ConfigSearch, AFileWithoutReadPermissionIsAnError) {
  if (::geteuid() == 0) GTEST_SKIP() << "root reads everything";
  write(root_ / "guard.toml", with_timeout(26));
  fs::permissions(root_ / "guard.toml", fs::perms::none);
  EXPECT_THAT(fault_of(search(root_)), HasSubstr("Permission denied"));
  fs::permissions(root_ / "guard.toml", fs::perms::owner_all);
  fs::permissions(root_, fs::perms::none);
  EXPECT_NE(fault_of(search(root_)), "(loaded)");
  fs::permissions(root_, fs::perms::owner_all);
}

TEST_F(ConfigSearch, AFileNamedByAPersonMustBeThere) {
  ConfigSources sources;
  sources.file = root_ / "other.toml";
  EXPECT_NE(fault_of(load_config(sources)), "(loaded)");
  write(root_ / "other.toml", with_timeout(27));
  const auto loaded = load_config(sources);
  EXPECT_EQ(timeout(loaded), 27U);
  EXPECT_EQ(loaded->find("docker.timeout")->origin, (root_ / "other.toml").native() + ":2");
}

// ---- the table itself ----

TEST(ConfigKeys, NamesAreUniqueAndEveryRowSaysWhatItIs) {
  std::set<std::string> dotted;
  std::set<std::string> environment;
  for (const auto& key : config_keys()) {
    EXPECT_TRUE(dotted.insert(key.dotted()).second) << key.dotted();
    EXPECT_TRUE(environment.insert(key.environment_name()).second) << key.environment_name();
    EXPECT_EQ(find_config_key(key.dotted()), &key);
    EXPECT_TRUE(key.doc.ends_with(".")) << key.dotted();
  }
  EXPECT_EQ(find_config_key("limits"), nullptr);
  EXPECT_EQ(find_config_key(".backend"), nullptr);
  EXPECT_EQ(find_config_key("docker.docker.image"), nullptr);
}

// The line of the reference for one key; docs/configuration.md must hold it as it is.
std::string reference_line(const ConfigKey& key) {
  std::string value = toml_literal(key, Config());
  if (!key.empty_means.empty())
    value = std::string(key.empty_means);
  else
    value = "`" + value + "`";
  return "| `" + key.dotted() + "` | " + key.type_text() + " | " + value + " | " + std::string(key.doc) + " |";
}

TEST(ConfigKeys, EachStandsInTheDocumentation) {
  const auto text = read_file(fs::path(GUARD_SOURCE_DIR) / "docs" / "configuration.md", 1u << 20);
  ASSERT_TRUE(text) << text.error().message();
  for (const auto& key : config_keys()) EXPECT_THAT(*text, HasSubstr(reference_line(key)));
}

TEST(ConfigKeys, TheDocumentationHasNoOthers) {
  const auto text = read_file(fs::path(GUARD_SOURCE_DIR) / "docs" / "configuration.md", 1u << 20);
  ASSERT_TRUE(text);
  std::size_t rows = 0;
  for (std::size_t at = text->find("\n| `"); at != std::string::npos; at = text->find("\n| `", at + 1)) {
    const std::size_t begin = at + 4;
    const std::string name = text->substr(begin, text->find('`', begin) - begin);
    EXPECT_NE(find_config_key(name), nullptr) << name;
    ++rows;
  }
  EXPECT_EQ(rows, config_keys().size());
}

}  // namespace
}  // namespace guard

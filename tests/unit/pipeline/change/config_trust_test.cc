#include "pipeline/change/config_trust.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <map>

#include "common/file_io.h"
#include "pipeline/config/config_keys.h"
#include "tests/support/pipeline/config_text.h"

namespace guard {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

std::vector<std::string> relaxed(
    const std::string& file, const Environment& environment = {}, std::vector<ConfigOverride> options = {}) {
  ConfigSources sources;
  sources.text = ConfigText{"guard.toml", file};
  sources.environment = environment;
  sources.overrides = std::move(options);
  const auto loaded = load_config(sources);
  if (!loaded) return {loaded.error().message()};
  return loaded->relaxations;
}

// By hand, key by key: what is missing here is a key that somebody added without a thought.
const std::map<std::string, std::pair<std::string, std::string>>& values() {
  // relaxing and harmless; an empty text: there is none
  static const std::map<std::string, std::pair<std::string, std::string>> kValues = {
      {"backend", {"\"host\"", "\"namespace\""}},
      {"fallback", {"[\"namespace\", \"container-use\"]", "[\"docker\", \"namespace\"]"}},
      {"trust_namespace", {"true", "false"}},
      {"require_cgroups", {"", "true"}},
      {"docker.image", {"\"x:1\"", "\"\""}},
      {"docker.network", {"\"bridge\"", "\"none\""}},
      {"docker.timeout", {"", "86400"}},
      {"docker.pull", {"\"missing\"", "\"never\""}},
      {"docker.runtime", {"\"runc\"", "\"\""}},
      {"docker.probe_deadline_ms", {"", "60000"}},
      {"docker.plain_tcp", {"true", "false"}},
      {"network.allow", {"[\"a.test\"]", "[]"}},
      {"network.deny", {"", "[\"a.test\"]"}},
      {"network.registries_in_tests", {"true", "false"}},
      {"network.max_connections", {"", "1"}},
      {"network.max_upload", {"", "\"1t\""}},
      {"network.max_download", {"", "\"1t\""}},
      {"network.idle_timeout", {"", "86400"}},
      {"network.proxy", {"\"http://p:3128\"", "\"\""}},
      {"network.dns_servers", {"[\"192.0.2.1\"]", "[]"}},
      {"network.credential", {"[{host = \"a.test\", header = \"X-Key\", value_from = \"env:KEY\"}]", "[]"}},
      {"network.authorities", {"\"/a.pem\"", "\"\""}},
      {"image.tools", {"[\"git\"]", "[]"}},
      {"image.unused_days", {"", "3650"}},
      {"session.image", {"", "\"python\""}},
      {"limits.timeout", {"", "86400"}},
      {"limits.memory", {"", "\"1t\""}},
      {"limits.cpus", {"", "1024"}},
      {"limits.pids", {"", "1000000"}},
      {"limits.tmp_size", {"", "\"64g\""}},
      {"limits.sandbox_size", {"", "\"64g\""}},
      {"limits.sandbox_files", {"", "10000000"}},
      {"limits.output_keep", {"", "\"1g\""}},
      {"limits.output_flood", {"", "\"1t\""}},
      {"namespace.timeout", {"", "86400"}},
      {"host.timeout", {"", "86400"}},
      {"host.warn_on_start", {"false", "true"}},
      {"host.env", {"[\"PATH\", \"AWS_SECRET_ACCESS_KEY\"]", "[\"PATH\"]"}},
      {"container_use.program", {"\"/tmp/cu\"", "\"\""}},
      {"container_use.image", {"", "\"x:1\""}},
      {"container_use.env_id", {"\"fancy-cat\"", "\"\""}},
      {"container_use.timeout", {"", "86400"}},
      {"check.paths", {"[\"tests/**\"]", "[\"tests/**\", \"sandbox/**\"]"}},
      {"check.max_file_bytes", {"", "\"1g\""}},
      {"check.api_key_names",
          {"[\"OPENAI_API_KEY\"]", "[\"ANTHROPIC_API_KEY\", \"OPENAI_API_KEY\", \"GEMINI_API_KEY\", \"OTHER\"]"}},
      {"check.two_hit_ignore", {"[\"TOKEN\"]", ""}},
      {"check.allow_temp_removal", {"", "true"}},
      {"check.docs_url", {"", "\"https://example.org/x\""}},
      {"check.waivers",
          {"[{rule = \"host.eval\", path = \"**\", fingerprint = \"" + std::string(64, '0') +
                  "\", reason = \"x\", expires = \"2999-12-31\"}]",
              "[]"}},
      {"hook.everywhere", {"", "true"}},
      {"run.file_timeout", {"", "86400"}},
      {"run.grace_s", {"", "600"}},
      {"run.collect", {"", "\"all\""}},
      {"run.collect_paths", {"", "[\"sandbox/**\"]"}},
      {"run.isolation", {"\"run\"", "\"file\""}},
      {"run.require_assertions", {"\"off\"", "\"test\""}},
      {"run.record", {"\"/home/me\"", "\"records\""}},
      {"run.env", {"{TOKEN = true}", "{}"}},
      {"redact.mask_env", {"", "[\"X\"]"}},
      {"redact.mask_file", {"", "[\"x\"]"}},
      {"redact.kinds_off", {"[\"jwt\"]", "[]"}},
  };
  return kValues;
}

TEST(ConfigTrust, EveryKeyThatARunReadsIsKnownToRelaxOrNot) {
  for (const auto& key : config_keys()) {
    ASSERT_NE(key.relaxes, nullptr) << key.dotted();
    EXPECT_FALSE(key.relaxes(key, Config())) << key.dotted() << ": a default relaxes nothing";
    // Read by `gate` and `nightly` alone, from the base.
    if (key.section == "policy" || key.section == "nightly" || key.section == "rollout") continue;
    const auto found = values().find(key.dotted());
    ASSERT_NE(found, values().end()) << "decide what an uncommitted file may do with " << key.dotted();
    const auto& [relaxing, harmless] = found->second;
    if (!relaxing.empty()) {
      EXPECT_THAT(relaxed(testing::in_file(key, relaxing)), ElementsAre(HasSubstr(key.dotted()))) << relaxing;
    }
    if (!harmless.empty()) {
      EXPECT_THAT(relaxed(testing::in_file(key, harmless)), ElementsAre()) << key.dotted();
    }
  }
}

TEST(ConfigTrust, TheLastWordDecidesAndWhoSpeaksIt) {
  EXPECT_THAT(relaxed("backend = \"host\"\n"), ElementsAre("backend = \"host\" (guard.toml:1)"));
  EXPECT_THAT(relaxed("backend = \"host\"\n", {{"GUARD_BACKEND", "docker"}}), ElementsAre());
  EXPECT_THAT(relaxed("backend = \"host\"\n", {{"GUARD_BACKEND", "host"}}), ElementsAre());
  EXPECT_THAT(relaxed("", {{"GUARD_BACKEND", "host"}}), ElementsAre());
  EXPECT_THAT(relaxed("[docker]\nimage = \"x:1\"\n", {}, {{"docker.image", "y:2", "--image"}}), ElementsAre());
  EXPECT_THAT(relaxed("[run.env]\nTOKEN = true\n", {{"GUARD_RUN_ENV_TZ", "UTC"}}),
      ElementsAre(HasSubstr("run.env (guard.toml:1)")));
  EXPECT_THAT(relaxed("", {{"GUARD_RUN_ENV_TZ", "UTC"}}), ElementsAre());
  EXPECT_THAT(relaxed("trust_namespace = true\n[docker]\nnetwork = \"host\"\n"),
      ElementsAre(HasSubstr("trust_namespace"), HasSubstr("docker.network")));
}

}  // namespace
}  // namespace guard

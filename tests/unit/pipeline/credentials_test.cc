#include "pipeline/credentials.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>

#include "pipeline/config/config_values.h"
#include "pipeline/network.h"

namespace guard {
namespace {

using ::testing::AllOf;
using ::testing::Contains;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::Pair;

constexpr const char* kKey = "sk-example-key-1";

Config with(const std::string& value_from) {
  Config config;
  config.network.allow = {"api.test"};
  config.network.credentials = {{"api.test", "Authorization", "Bearer ", value_from, 0, "guard.toml:3"}};
  return config;
}

Result<std::string> value_of(const std::string& value_from, const Environment& environment) {
  GUARD_TRY_ASSIGN(const auto read, read_credentials(with(value_from), environment));
  return read.at(0).header_value();
}

TEST(Credentials, AreReadFromVariablesFilesAndPrograms) {
  const std::string file = ::testing::TempDir() + "guard-credential-" + std::to_string(::getpid());
  std::ofstream(file) << kKey << "\n";
  const Environment environment = {{"EXAMPLE_KEY", kKey}, {"PATH", "/usr/bin:/bin"}};
  const std::string header = std::string("Bearer ") + kKey;
  EXPECT_EQ(value_of("env:EXAMPLE_KEY", environment), header);
  EXPECT_EQ(value_of("file:" + file, environment), header);
  EXPECT_EQ(value_of("command:cat  " + file, environment), header);
  EXPECT_EQ(value_of("command:printenv EXAMPLE_KEY", environment), header);
  // No shell reads the words.
  const auto shell = value_of("command:printf %s;$(id) s3cret", environment);
  EXPECT_EQ(shell.value_or(""), "Bearer s3cret;$(id)");
  ::unlink(file.c_str());
}

TEST(Credentials, AreRefusedWithoutTheirValueBeingShown) {
  const Environment environment = {{"EMPTY", ""}, {"TWO", "s3cret-one\ns3cret-two"}, {"PATH", "/usr/bin:/bin"}};
  const std::pair<const char*, const char*> rows[] = {{"env:MISSING", "MISSING"}, {"env:EMPTY", "is empty"},
      {"env:TWO", "line end"}, {"file:/nonexistent/key", "/nonexistent/key"}, {"command:false", "false gave no value"},
      {"command:no-such-program", "no-such-program"}, {"command:printenv TWO", "line end"},
      {"command:head -c 70000 /dev/zero", "head gave no value"}};
  for (const auto& [value_from, words] : rows) {
    const auto read = read_credentials(with(value_from), environment);
    ASSERT_FALSE(read) << value_from;
    EXPECT_THAT(read.error().to_string(), AllOf(HasSubstr(words), HasSubstr("guard.toml:3"), Not(HasSubstr("s3cret-"))))
        << value_from;
  }
}

TEST(Credentials, AreReadOnlyWhereTheNetworkIsAList) {
  Config config = with("env:MISSING");
  config.network.allow = {};
  EXPECT_TRUE(read_credentials(config, {}).value().empty());
  EXPECT_TRUE(credential_relaxations(config).empty());
}

TEST(Credentials, AreRelaxationsAndKnownSecrets) {
  const Config config = with("env:KEY");
  EXPECT_THAT(
      credential_relaxations(config), Contains("network.credential: requests to api.test are sent with Authorization"));
  const auto read = read_credentials(config, {{"KEY", kKey}});
  ASSERT_TRUE(read);
  EXPECT_THAT(hidden_by(*read), Contains(Pair(::testing::_, kKey)));
}

TEST(Credentials, ShowTheSandboxTheAuthorityAlone) {
  const Config config = with("env:KEY");
  auto read = read_credentials(config, {{"KEY", kKey}});
  ASSERT_TRUE(read);
  Config trusting = config;
  trusting.network.authorities = ::testing::TempDir() + "guard-no-such-file.pem";
  const auto refused = Egress::open(trusting, *read);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code(), ErrorCode::config_invalid);
  if (!std::filesystem::exists("/etc/ssl/certs/ca-certificates.crt")) GTEST_SKIP() << "no authorities here";
  const auto egress = Egress::open(config, *read);
  ASSERT_TRUE(egress) << egress.error().to_string();
  const std::filesystem::path folder = ::testing::TempDir() + "guard-authorities-" + std::to_string(::getpid());
  std::filesystem::create_directory(folder);
  SandboxSpec spec;
  spec.env = {{"SSL_CERT_FILE", "/mine.pem"}};
  ASSERT_TRUE((*egress)->show_authorities(folder, spec));
  ASSERT_EQ(spec.mounts.size(), 1u);
  std::ifstream stream(spec.mounts[0].source);
  const std::string text(std::istreambuf_iterator<char>(stream), {});
  EXPECT_THAT(text, AllOf(HasSubstr("BEGIN CERTIFICATE"), Not(HasSubstr("PRIVATE")), Not(HasSubstr(kKey))));
  EXPECT_EQ(spec.env.at("NODE_EXTRA_CA_CERTS"), spec.mounts[0].target);
  EXPECT_EQ(spec.env.at("SSL_CERT_FILE"), "/mine.pem") << "what the configuration passes in counts for more";
  for (const auto& [name, value] : spec.env) EXPECT_THAT(value, Not(HasSubstr(kKey)));
  std::filesystem::remove_all(folder);
}

TEST(Credentials, AreCheckedAsTheyAreConfigured) {
  const auto complaints_of = [](const std::string& table, Config& config) {
    const auto root = parse_toml("[[network.credential]]\n" + table, "guard.toml");
    EXPECT_TRUE(root) << table;
    return set_from_toml(
        *find_config_key("network.credential"), *root->find("network")->find("credential"), "guard.toml", config);
  };
  const std::string host = "host = \"api.test\"\n";
  const std::string header = "header = \"X-Key\"\n";
  const std::string from = "value_from = \"env:KEY\"\n";
  Config config;
  EXPECT_TRUE(complaints_of(host + header + from + "prefix = \"Key \"\nlifetime_s = 60\n", config).empty());
  ASSERT_EQ(config.network.credentials.size(), 1u);
  EXPECT_EQ(config.network.credentials[0].lifetime_s, 60u);
  EXPECT_TRUE(find_config_key("network.credential")->relaxes(*find_config_key("network.credential"), config));
  for (const std::string& table : {host + header, host + from, header + from, host + header + from + "more = 1\n",
           host + "header = \"Host\"\n" + from, "host = \"api.test:80\"\n" + header + from,
           "host = \"*.test\"\n" + header + from, host + header + "value_from = \"sk-s3cret\"\n",
           host + header + "value_from = \"env:A B\"\n", host + header + "value_from = \"file:key\"\n",
           host + header + "value_from = \"command:\"\n", host + header + from + "lifetime_s = -1\n",
           host + header + from + "prefix = \"a\\nb\"\n", host + header + "value_from = 3\n"}) {
    Config bad;
    const auto complaints = complaints_of(table, bad);
    EXPECT_FALSE(complaints.empty()) << table;
    EXPECT_TRUE(bad.network.credentials.empty()) << table;
    for (const auto& one : complaints) EXPECT_THAT(one.sentence, Not(HasSubstr("s3cret")));
  }
}

}  // namespace
}  // namespace guard

#include "pipeline/credentials.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/resource.h>

#include <fstream>

#include "pipeline/config/config_values.h"
#include "pipeline/network.h"
#include "pipeline/run/run_output.h"
#include "redact/redactor.h"

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

const std::string kProject = ::testing::TempDir() + "guard-project-" + std::to_string(::getpid());

Result<std::vector<EgressCredential>> read_in(const Config& config, const Environment& environment) {
  const CancelToken never;
  std::filesystem::create_directories(kProject + "/.git");
  return read_credentials(config, kProject, environment, never);
}

Result<std::string> value_of(const std::string& value_from, const Environment& environment) {
  GUARD_TRY_ASSIGN(const auto read, read_in(with(value_from), environment));
  return read.at(0).header_value();
}

TEST(Credentials, AreReadFromVariablesFilesAndPrograms) {
  const std::string file = ::testing::TempDir() + "guard-credential-" + std::to_string(::getpid());
  std::ofstream(file) << kKey << "\n";
  const Environment environment = {{"EXAMPLE_KEY", kKey}, {"PATH", "/nonexistent"}, {"HOME", "/my/home"}};
  const std::string header = std::string("Bearer ") + kKey;
  const rlimit some{4096, 4096};
  ::setrlimit(RLIMIT_CORE, &some);  // fails for who isn't root and has none
  EXPECT_EQ(value_of("env:EXAMPLE_KEY", environment), header);
  EXPECT_EQ(value_of("file:" + file, environment), header);
  EXPECT_EQ(value_of("command:/bin/cat  " + file, environment), header);
  // No shell reads the words.
  EXPECT_EQ(value_of("command:/usr/bin/printf %s;$(id) s3cret", environment).value_or(""), "Bearer s3cret;$(id)");
  // A program has nothing of ours that it could hand on but what helps it to find its own files.
  EXPECT_EQ(value_of("command:/usr/bin/printenv HOME", environment).value_or(""), "Bearer /my/home");
  EXPECT_FALSE(value_of("command:/usr/bin/printenv EXAMPLE_KEY", environment));
  EXPECT_EQ(
      value_of("command:/usr/bin/printenv PATH", environment).value_or(""), "Bearer /usr/local/bin:/usr/bin:/bin");
  EXPECT_EQ(value_of("command:/usr/bin/find . -maxdepth 0 -samefile / -printf the-root", environment).value_or(""),
      "Bearer the-root");
  rlimit core{};
  ::getrlimit(RLIMIT_CORE, &core);
  EXPECT_EQ(core.rlim_cur, 1u);
  ::unlink(file.c_str());
}

TEST(Credentials, AreRefusedWithoutTheirValueBeingShown) {
  const Environment environment = {{"EMPTY", ""}, {"TWO", "s3cret-one\ns3cret-two"}, {"SHORT", "s3cret-"}};
  const std::pair<const char*, const char*> rows[] = {{"env:MISSING", "MISSING"}, {"env:EMPTY", "empty"},
      {"env:TWO", "line end"}, {"env:SHORT", "less than 8"}, {"file:/nonexistent/key", "/nonexistent/key"},
      {"command:/bin/false", "false gave no value"}, {"command:/no/such-program", "no/such-program"},
      {"command:/usr/bin/printf s3cret-1\\ns3cret-2", "line end"},
      {"command:/usr/bin/printf s3cret-1\\0s3cret-2", "control byte"},
      {"command:/usr/bin/head -c 70000 /dev/zero", "head gave no value"}};
  for (const auto& [value_from, words] : rows) {
    const auto read = read_in(with(value_from), environment);
    ASSERT_FALSE(read) << value_from;
    EXPECT_THAT(read.error().to_string(), AllOf(HasSubstr(words), HasSubstr("guard.toml:3"), Not(HasSubstr("s3cret-"))))
        << value_from;
  }
}

// Who writes the code writes the project's files, too.
TEST(Credentials, ComeFromNothingInTheProject) {
  namespace fs = std::filesystem;
  const fs::path project = kProject;
  const fs::path beside = kProject + "-beside";
  fs::create_directories(project / ".git");
  fs::create_directories(project / "below");
  fs::create_directories(beside);
  std::ofstream(project / "key") << kKey;
  std::ofstream(beside / "key") << kKey;
  fs::create_symlink(project / "key", beside / "into");
  fs::create_symlink(beside / "key", project / "out");
  fs::create_symlink(project / "out", beside / "through");
  fs::create_symlink(beside, project / "folder");
  fs::create_symlink("../" + project.filename().native() + "/folder", beside / "folder");
  fs::create_symlink(project, beside / "alias");
  fs::create_symlink("loop", beside / "loop");
  const CancelToken never;
  const auto check = [&](const std::string& path, bool good) {
    Config authorities = with("env:KEY");
    authorities.network.authorities = path;
    for (const Config& config : {with("file:" + path), with("command:" + path), with("command:/bin/sh " + path),
             with("command:/bin/sh " + path.substr(1)), with("command:/bin/curl --data=@" + path),
             with("command:/bin/curl @" + path), authorities}) {
      for (const fs::path& from : {project, project / "below"}) {
        const auto checked = check_key_files(config, from);
        EXPECT_EQ(checked.has_value(), good) << path;
        if (good || checked) continue;
        EXPECT_EQ(checked.error().code(), ErrorCode::config_invalid);
        EXPECT_THAT(checked.error().hint(), HasSubstr("outside of the project"));
        EXPECT_FALSE(read_credentials(config, from, {{"KEY", kKey}}, never)) << path;
      }
    }
  };
  for (const char* name : {"key", "not-there", "out", "folder/key", "below/../key"}) check(project / name, false);
  for (const char* name : {"into", "through", "folder/key", "alias/key", "alias/out", "loop/key"})
    check(beside / name, false);
  check(beside / "key", true);
  check(project.native() + "/../" + beside.filename().native() + "/key", false);
  check("/nonexistent/key", true);
  fs::remove_all(beside);
  fs::remove_all(project);
}

TEST(Credentials, StopReadingWhenTheRunIsStopped) {
  CancelToken stopped;
  stopped.cancel();
  const auto read = read_credentials(with("command:/bin/sleep 9"), "/tmp", {}, stopped);
  ASSERT_FALSE(read);
  EXPECT_THAT(read.error().to_string(), HasSubstr("cancelled"));
}

TEST(Credentials, AreReadOnlyWhereTheNetworkIsAList) {
  Config config = with("env:MISSING");
  config.network.allow = {};
  EXPECT_TRUE(read_in(config, {}).value().empty());
  EXPECT_TRUE(credential_relaxations(config).empty());
}

TEST(Credentials, AreRelaxationsAndKnownSecrets) {
  Config config = with("env:KEY");
  config.network.credentials.push_back({"b.test", "X-Key", "", "command:/bin/false a", 0, "guard.toml:9"});
  config.network.authorities = "/a.pem";
  EXPECT_THAT(credential_relaxations(config),
      ::testing::ElementsAre("network.credential: Authorization for api.test from env:KEY",
          "network.credential: X-Key for b.test from command:/bin/false", HasSubstr("network.authorities = /a.pem")));
  config.network.credentials.pop_back();
  const auto read = read_in(config, {{"KEY", kKey}});
  ASSERT_TRUE(read);
  EXPECT_THAT(hidden_by(*read), Contains(Pair(::testing::_, kKey)));
}

// Whatever is written where this configuration holds.
TEST(Credentials, AreMaskedWhereverTheConfigurationHolds) {
  Config config = with("env:KEY");
  config.network.credentials.push_back({"b.test", "X-Key", "", "command:/nonexistent", 0, "guard.toml:9"});
  config.network.credentials.push_back({"c.test", "X-Key", "", "file:/nonexistent", 0, "guard.toml:12"});
  const auto secrets = secrets_of({{"KEY", "word-of-mine-4711"}}, config);
  ASSERT_TRUE(secrets);
  EXPECT_THAT(redact_text(*secrets, "it says word-of-mine-4711.").value_or(""), Not(HasSubstr("4711")));
}

TEST(Credentials, AreMaskedWhereSeveralHaveOneHost) {
  Config config = with("command:/bin/echo word-of-program-0815");
  config.network.credentials.push_back({"api.test", "X-Key", "", "env:KEY", 0, "guard.toml:9"});
  const Environment environment = {{"KEY", "word-of-mine-4711"}};
  const auto read = read_in(config, environment);
  ASSERT_TRUE(read) << read.error().to_string();
  const auto secrets = secrets_of(environment, config, hidden_by(*read));
  ASSERT_TRUE(secrets);
  EXPECT_THAT(redact_text(*secrets, "word-of-program-0815 word-of-mine-4711").value_or("0815"),
      AllOf(Not(HasSubstr("0815")), Not(HasSubstr("4711"))));
}

TEST(Credentials, ShowTheSandboxTheAuthorityAlone) {
  const Config config = with("env:KEY");
  auto read = read_in(config, {{"KEY", kKey}});
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

TEST(Credentials, SetAHeaderOfAHostOnce) {
  const auto complaints_of = [](const std::string& second) {
    Config config;
    const auto root = parse_toml(
        "[[network.credential]]\nhost = \"api.test\"\nheader = \"X-Key\"\nvalue_from = "
        "\"env:A\"\n[[network.credential]]\nvalue_from = \"env:B\"\n" +
            second,
        "guard.toml");
    return set_from_toml(
        *find_config_key("network.credential"), *root->find("network")->find("credential"), "guard.toml", config);
  };
  for (const char* second :
      {"host = \"api.test\"\nheader = \"X-Key\"\n", "host = \"API.test:443\"\nheader = \"x-key\"\n"}) {
    const auto complaints = complaints_of(second);
    ASSERT_EQ(complaints.size(), 1u) << second;
    EXPECT_THAT(complaints[0].sentence, HasSubstr("set twice"));
  }
  EXPECT_TRUE(complaints_of("host = \"api.test\"\nheader = \"X-Other\"\n").empty());
  EXPECT_TRUE(complaints_of("host = \"api.test:8443\"\nheader = \"X-Key\"\n").empty());
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
           host + header + "value_from = \"command:\"\n", host + header + "value_from = \"command:printenv KEY\"\n",
           host + header + "value_from = \"command: /bin/cat key\"\n", host + header + from + "lifetime_s = -1\n",
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

// A key that stays outside, through the whole of guard: code uses a service with it, looks for it wherever it can, and
// finds it nowhere; nor is it in anything that guard writes.
#include <fcntl.h>
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <unistd.h>

#include <fstream>
#include <set>
#include <thread>

#include "common/hash.h"
#include "tests/support/dns_server.h"
#include "tests/support/egress/tls_peer.h"
#include "tests/support/program/guard_program.h"

namespace guard::testing {
namespace {

namespace fs = std::filesystem;
using test::Peer;
using test::TlsPeer;
using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;

const std::string kHere = test::own_loopback(1);
const std::string kPrefix = "sk-inside-";

// Of `texts` those that are in the memory of a process; root may look. Pages that it has never touched are passed over:
// bun maps gigabytes. It is stopped meanwhile.
std::set<std::string> in_memory_of(const std::string& pid, const std::vector<std::string>& texts) {
  constexpr std::size_t kPage = 4096;
  const auto open_proc = [&](const char* file) {
    UniqueFd fd(::open(("/proc/" + pid + "/" + file).c_str(), O_RDONLY | O_CLOEXEC));
    EXPECT_TRUE(fd) << pid << file;
    return fd;
  };
  const UniqueFd memory = open_proc("mem"), pages = open_proc("pagemap");
  std::set<std::string> found;
  const pid_t number = std::stoi(pid);
  EXPECT_EQ(::kill(number, SIGSTOP), 0);
  for (int i = 0; i < 400 && read_file("/proc/" + pid + "/stat", 4096).value_or("").find(") T ") == std::string::npos;
       ++i)
    std::this_thread::sleep_for(milliseconds(5));
  std::ifstream maps("/proc/" + pid + "/maps");
  for (std::string line; std::getline(maps, line);) {
    std::size_t begin = 0, end = 0;
    char readable = '-';
    EXPECT_EQ(std::sscanf(line.c_str(), "%zx-%zx %c", &begin, &end, &readable), 3) << line;
    if (readable != 'r' || line.find("[v") != std::string::npos) continue;
    std::vector<std::uint64_t> entries((end - begin) / kPage);
    EXPECT_EQ(::pread(pages.get(), entries.data(), entries.size() * 8, static_cast<off_t>(begin / kPage * 8)),
        static_cast<ssize_t>(entries.size() * 8));
    entries.push_back(0);  // ends the last run of pages
    std::size_t run = 0;
    for (std::size_t page = 0; page < entries.size(); ++page) {
      if ((entries[page] >> 62) != 0) continue;  // present, or swapped out
      std::string bytes((page - run) * kPage, '\0');
      EXPECT_EQ(::pread(memory.get(), bytes.data(), bytes.size(), static_cast<off_t>(begin + run * kPage)),
          static_cast<ssize_t>(bytes.size()))
          << line;
      for (const std::string& text : texts) {
        if (bytes.find(text) != std::string::npos) found.insert(text);
      }
      run = page + 1;
    }
  }
  EXPECT_EQ(::kill(number, SIGCONT), 0);
  return found;
}

// By the namespace of process ids, where one is that has been started with this word.
std::vector<std::string> processes_beside(const std::string& word) {
  std::map<std::string, std::vector<std::string>> by_namespace;
  std::string wanted;
  for (const auto& entry : fs::directory_iterator("/proc")) {
    const std::string pid = entry.path().filename();
    std::error_code ended;
    const std::string place = fs::read_symlink(entry.path() / "ns/pid", ended);
    if (pid.find_first_not_of("0123456789") != std::string::npos || ended ||
        place == fs::read_symlink("/proc/self/ns/pid"))
      continue;
    by_namespace[place].push_back(pid);
    if (read_file(entry.path() / "cmdline", 1u << 20).value_or("").find(word) != std::string::npos) wanted = place;
  }
  return by_namespace[wanted];
}

class Credentials : public ::testing::TestWithParam<const char*> {
 protected:
  void SetUp() override {
    GUARD_NEEDS(std::string_view(GetParam()) == "docker" ? Needs::docker : Needs::namespace_sandbox);
    fs::permissions(folder_.path(), fs::perms(0711));
    EXPECT_TRUE(write_new_file(folder_.path() / "ca.pem", authority_.pem()));
  }
  // Each run has a key of its own, so that none is found from an earlier one.
  std::string key(const std::string& name) const { return kPrefix + sha256_hex(folder_.path().native() + name); }
  void configure(const std::string& value_from, const std::string& more = {}) const {
    project_.configure(fmt::format(R"([network]
allow = ["{0}", "{1}:{2}"]
dns_servers = ["{3}"]
authorities = "{4}"
{6}
[[network.credential]]
host = "{0}"
header = "Authorization"
prefix = "Bearer "
value_from = "{5}"
lifetime_s = 1
)",
        at_, kHere, server_.port(), names_.address(), (folder_.path() / "ca.pem").native(), value_from, more));
    project_.build_image(GetParam());
  }
  // search.mjs, for that key.
  std::vector<std::string> search_for(const std::string& key) const {
    std::string rest;
    for (const char c : key.substr(kPrefix.size())) rest += fmt::format("{:02x}", c ^ 0x5a);
    project_.write("src/search.mjs", read_file(GUARD_SOURCE_DIR "/tests/cli/network/search.mjs", 1u << 20).value());
    return {"bun", "src/search.mjs", "https://" + at_ + "/", kPrefix, rest};
  }
  static void expect_unseen(const std::string& key, const std::string& text, const std::string& where) {
    EXPECT_EQ(text.find(key.substr(kPrefix.size(), 12)), std::string::npos) << where;
  }
  static void expect_not_below(const std::string& key, const fs::path& folder) {
    for (const auto& entry : fs::recursive_directory_iterator(folder)) {
      if (entry.is_regular_file())
        expect_unseen(key, read_file(entry.path(), 64u << 20).value_or(""), entry.path().native());
    }
  }

  Project project_;
  const TempDir folder_ = *TempDir::create();
  const test::Identity authority_ = test::make_identity("test authority");
  const test::Identity identity_ = test::make_identity("ok.test", &authority_);
  test::DnsServer names_{[](const std::string&, int) { return test::DnsServer::Answer{.addresses = {kHere}}; }};
  std::mutex mutex_;
  std::vector<std::string> sent_;  // what the server got as Authorization
  std::function<void(const std::string& head)> before_answer_;
  test::TcpServer server_{kHere, 0, [this](Peer peer) {
                            TlsPeer tls = TlsPeer::accept(std::move(peer), identity_);
                            const std::string head = tls.read_until("\r\n\r\n");
                            if (before_answer_) before_answer_(head);
                            const std::size_t begin = head.find("Authorization: ");
                            if (begin != std::string::npos) {
                              const std::lock_guard lock(mutex_);
                              sent_.push_back(head.substr(begin + 15, head.find('\r', begin) - begin - 15));
                            }
                            tls.send("HTTP/1.1 200 OK\r\n\r\nserved " + head);
                            tls.close();
                          }};
  const std::string at_ = "ok.test:" + std::to_string(server_.port());
};

INSTANTIATE_TEST_SUITE_P(Backends, Credentials, ::testing::Values("namespace", "docker"),
    [](const auto& parameter) { return parameter.param; });

TEST_P(Credentials, AreNowhereInsideAndInNothingThatIsWritten) {
  const std::string secret = key("one");
  std::string tools;
  for (const char* name : {"curl", "node"})
    tools += fs::exists(fs::path("/usr/bin") / name) ? fmt::format("\"{}\",", name) : "";
  configure("env:EXAMPLE_KEY", "[image]\ntools = [" + tools + "]\n");
  const TempDir records = *TempDir::create();
  std::vector<std::string> words = {"exec", "--backend", GetParam(), "--network-log", "--format", "json", "--record",
      (records.path() / "r.json").native(), "--timeout", "120", "--"};
  for (const std::string& word : search_for(secret)) words.push_back(word);
  const auto result = project_.guard(words, {{"EXAMPLE_KEY", secret}});
  EXPECT_EQ(result.exit_status, 0) << result.err << result.out;
  const auto document = result.document();
  const auto said = nlohmann::json::parse(document["stdout"]["text"].get<std::string>(), nullptr, false);
  ASSERT_TRUE(said.is_object()) << document["stdout"] << document["stderr"] << document["egress"];
  EXPECT_TRUE(said["found"].empty()) << said["found"];
  EXPECT_GE(said["answers"].size(), 1u);
  for (const auto& [client, answer] : said["answers"].items()) {
    EXPECT_THAT(answer.get<std::string>(),
        AllOf(HasSubstr("served GET / HTTP/1.1"), HasSubstr("Bearer ****"), Not(HasSubstr(kPrefix))))
        << client << document["stderr"];
  }
  EXPECT_GT(said["searched"]["files"].get<int>(), 5);
  if (said["searched"]["processes"] == 0) {
    EXPECT_THAT(said["unread"].dump(), HasSubstr("EACCES")) << said;
  }
  EXPECT_GT(said["searched"]["bytes"].get<std::uint64_t>(), 1u << 20);
  EXPECT_EQ(sent_, std::vector<std::string>(said["answers"].size(), "Bearer " + secret));

  EXPECT_THAT(document["relaxations"].dump(),
      AllOf(HasSubstr("network.credential: Authorization for " + at_ + " from env:EXAMPLE_KEY"),
          HasSubstr("network.authorities = ")));
  for (const std::string& text : {result.out, result.err}) expect_unseen(secret, text, "output");
  for (const fs::path& folder : {records.path(), project_.path(), folder_.path()}) expect_not_below(secret, folder);
  const auto verified = project_.guard({"verify", (records.path() / "r.json").native()});
  EXPECT_EQ(verified.exit_status, 0) << verified.out << verified.err;
}

// Programs may not look into each other's memory, so that is done from outside, while one waits for its second answer.
// It holds a word of its own, which is found, and init holds that word as it was told it.
TEST_P(Credentials, AreInNoMemoryInside) {
  if (::getuid() != 0) GTEST_SKIP() << "only root may look into the memory of a sandbox";
  const std::string secret = key("one"), word = sha256_hex("inside" + secret), half = secret.substr(kPrefix.size(), 32);
  configure("env:EXAMPLE_KEY");
  const std::string told(word.rbegin(), word.rend());
  std::map<std::string, std::set<std::string>> found;  // by the name of the program
  before_answer_ = [&](const std::string& head) {
    if (!head.starts_with("GET /idle")) return;
    for (const std::string& pid : processes_beside(told)) {
      const std::string name = read_file("/proc/" + pid + "/comm", 100).value_or("");
      found[name].merge(in_memory_of(pid, {half, word, told}));
    }
  };
  const auto result = project_.guard({"exec", "--backend", GetParam(), "--timeout", "60", "--", "bun", "-e",
                                         "const word = process.argv.at(-1).split('').reverse().join('');"
                                         "for (const path of ['', 'idle']) console.log(await (await fetch('https://" +
                                             at_ + "/' + path)).text(), word);",
                                         told},
      {{"EXAMPLE_KEY", secret}});
  EXPECT_EQ(result.exit_status, 0) << result.err;
  EXPECT_EQ(sent_, std::vector<std::string>(2, "Bearer " + secret));
  EXPECT_THAT(found,
      ::testing::UnorderedElementsAre(::testing::Pair(HasSubstr("init"), ElementsAre(told)),
          ::testing::Pair(HasSubstr("bun"), ::testing::UnorderedElementsAre(word, told))));
}

// A program inside would say it if it were given one.
TEST_P(Credentials, AreFoundByTheSearchWhereTheyAre) {
  const std::string secret = key("one");
  configure("env:EXAMPLE_KEY");
  std::vector<std::string> words = {
      "exec", "--backend", GetParam(), "--format", "json", "--env", "MINE=" + secret, "--timeout", "120", "--"};
  for (const std::string& word : search_for(secret)) words.push_back(word);
  const auto document = project_.guard(words, {{"EXAMPLE_KEY", secret}}).document();
  const auto said = nlohmann::json::parse(document["stdout"]["text"].get<std::string>(), nullptr, false);
  ASSERT_TRUE(said.is_object()) << document["stdout"] << document["stderr"];
  EXPECT_THAT(said["found"].dump(), HasSubstr("own environment")) << said;
  if (said["searched"]["processes"] != 0) {
    EXPECT_THAT(said["found"].dump(), HasSubstr("memory of")) << said;
  }
  expect_unseen(secret, document.dump(), "output");
}

TEST_P(Credentials, AreUsedByTestsAndReadAgainWhenTheyAreOld) {
  const fs::path program = folder_.path() / "new-key";
  EXPECT_TRUE(write_new_file(program,
      fmt::format("#!/bin/sh\necho x >> {0}/count\necho {1}$(wc -l < {0}/count)\n", folder_.path().native(), key("k")),
      0755));
  configure("command:" + program.native());
  project_.write("sandbox/key.test.ts",
      fmt::format(R"(import {{ expect, test }} from "bun:test";
test("uses the service", async () => {{
  for (let i = 0; i < 2; ++i) {{
    const text = await (await fetch("https://{}/")).text();
    expect(text).toContain("served GET");
    console.log(text);
    await Bun.sleep(1500);
  }}
}}, 20000);
)",
          at_));
  const TempDir records = *TempDir::create();
  const std::string record = (records.path() / "r.json").native();
  const auto result =
      project_.guard({"run", "--backend", GetParam(), "--format", "json", "--record", record, "sandbox/key.test.ts"});
  EXPECT_EQ(result.exit_status, 0) << result.err << result.out;
  EXPECT_THAT(sent_, ElementsAre("Bearer " + key("k") + "1", "Bearer " + key("k") + "2"));
  expect_unseen(key("k"), result.out + result.err, "output");
  expect_not_below(key("k"), records.path());
  const auto verified = project_.guard({"verify", record});
  EXPECT_EQ(verified.exit_status, 0) << verified.out << verified.err;
}

// A file that is refused never makes guard start a program that makes keys. The rule that refuses this one is the
// host's, which the embedded sandbox has, too.
TEST_P(Credentials, AreNotReadForWhatTheGateRefuses) {
  if (std::string_view(GetParam()) == "docker") GTEST_SKIP() << "nothing refuses it there";
  const fs::path program = folder_.path() / "new-key";
  EXPECT_TRUE(write_new_file(
      program, fmt::format("#!/bin/sh\ntouch {}/ran\necho a-long-key\n", folder_.path().native()), 0755));
  configure("command:" + program.native());
  project_.write("sandbox/bad.test.ts", "import { test } from \"bun:test\";\ntest(\"x\", () => { eval(\"1\"); });\n");
  const auto result = project_.guard({"run", "--backend", GetParam(), "sandbox/bad.test.ts"});
  EXPECT_NE(result.exit_status, 0) << result.out;
  EXPECT_THAT(result.out + result.err, HasSubstr("bad.test.ts"));
  EXPECT_FALSE(fs::exists(folder_.path() / "ran"));
}

TEST_P(Credentials, AreThoseOfTheirSession) {
  configure("env:EXAMPLE_KEY");
  for (const char* name : {"one", "two"}) {
    const TempDir state = *TempDir::create();
    fs::permissions(state.path(), fs::perms(0711));
    const auto result = project_.guard(
        {"session", "exec", std::string("me/") + name, "--state", state.path().native(), "--backend", GetParam(),
            "--timeout", "60", "--", "bun", "-e", "console.log(await (await fetch('https://" + at_ + "/')).text())"},
        {{"EXAMPLE_KEY", key(name)}});
    EXPECT_THAT(result.out, AllOf(HasSubstr("served GET"), HasSubstr("Bearer ****"))) << result.err;
    expect_unseen(key(name), result.out + result.err, "output");
    expect_not_below(key(name), state.path());
  }
  EXPECT_THAT(sent_, ElementsAre("Bearer " + key("one"), "Bearer " + key("two")));
}

}  // namespace
}  // namespace guard::testing

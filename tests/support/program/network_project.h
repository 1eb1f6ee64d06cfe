// A project with a list of hosts, on the backend that is the test's parameter, and an internet of the test's own with
// the servers of tests/cli/network/servers.mjs and a DNS server that says what the test has it say.
#pragma once

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include <filesystem>
#include <future>
#include <map>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "common/cancel.h"
#include "common/environment.h"
#include "tests/support/dns_server.h"
#include "tests/support/egress/egress_world.h"
#include "tests/support/egress/own_internet.h"
#include "tests/support/program/guard_program.h"

namespace guard::testing {

inline const std::string kAllowed = "9.2.0.1";
inline const std::string kNetworkFiles = GUARD_SOURCE_DIR "/tests/cli/network/";

// A program beside the tests, until the end of this.
class Companion {
 public:
  explicit Companion(ProcessSpec spec)
      : result_(std::async(
            std::launch::async, [this, spec = std::move(spec)] { return collect_process(spec, 1u << 20, stop_); })) {}
  ~Companion() {
    stop_.cancel();
    const auto ended = result_.get();
    if (::testing::Test::HasFailure() && ended) ADD_FAILURE() << ended->out << ended->err;
  }

 private:
  CancelToken stop_;
  std::future<Result<CollectedProcess>> result_;
};

inline bool listens(const std::string& address, std::uint16_t port) {
  for (int i = 0; i < 400; ++i) {
    const UniqueFd fd(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
    const SocketAddress at = IpAddress::parse(address).value().with_port(port);
    if (::connect(fd.get(), at.get(), at.size) == 0) return true;
    std::this_thread::sleep_for(milliseconds(50));
  }
  return false;
}

class NetworkProject : public ::testing::TestWithParam<const char*> {
 protected:
  explicit NetworkProject(test::DnsServer::Answer (*answer)(const std::string&, int)) : answer_(answer) {}
  void SetUp() override {
    GUARD_NEEDS(std::string_view(GetParam()) == "docker" ? Needs::docker : Needs::namespace_sandbox);
    if (const std::string fault = internet_.fault(); !fault.empty()) {
      if (must_have(Needs::namespace_sandbox)) FAIL() << fault;
      GTEST_SKIP() << fault;
    }
    std::filesystem::permissions(folder_.path(), std::filesystem::perms(0711));
    shell(
        "openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -days 2 -subj /CN=test -keyout key.pem "
        "-out ca.pem -addext 'subjectAltName=DNS:ok.test,DNS:*.wild.test' -addext basicConstraints=critical,CA:true");
    ProcessSpec spec = program({value_of(process_environment(), "GUARD_BUN"), kNetworkFiles + "servers.mjs",
        "::", (folder_.path() / "ca.pem").native(), (folder_.path() / "key.pem").native(), folder_.path().native()});
    {
      const test::OwnInternet::Visit visit(internet_);
      names_ = std::make_unique<test::DnsServer>(answer_, test::OwnInternet::kRouter, 53);
      servers_ = std::make_unique<Companion>(std::move(spec));
    }
    ASSERT_TRUE(listens(kAllowed, 7003));
  }

  ProcessSpec program(std::vector<std::string> words) const {
    ProcessSpec spec;
    spec.argv = std::move(words);
    spec.cwd = folder_.path();
    spec.env = project_.environment();
    return spec;
  }
  void shell(const std::string& text) const {
    const auto done = run_program(program({"/bin/sh", "-ec", text}));
    EXPECT_EQ(done.exit_status, 0) << text << done.err;
  }

  // guard.toml
  void allow(const std::vector<std::string>& rules, const std::string& more = {}) const {
    project_.configure(
        fmt::format("[network]\nallow = {}\ndns_servers = [\"{}\"]\n{}", rules, names_->address(), more));
    project_.build_image(GetParam());
  }
  ProgramResult exec(std::vector<std::string> command, std::vector<std::string> options = {}) const {
    std::vector<std::string> words = {"exec", "--backend", GetParam()};
    words.insert(words.end(), options.begin(), options.end());
    words.emplace_back("--");
    words.insert(words.end(), command.begin(), command.end());
    return project_.guard(std::move(words));
  }

  using Account = std::map<std::string, int>;  // "host:port reason", and how often

  static Account account_of(const nlohmann::json& document) {
    Account account;
    for (const auto& line : document["egress"]["connections"]) {
      const std::string host = line["host"];
      account[host + ":" + line["port"].dump() + " " + line["reason"].get<std::string>()] +=
          line["connections"].get<int>();
    }
    return account;
  }

  test::OwnInternet internet_;
  Project project_;
  const TempDir folder_ = *TempDir::create();
  test::DnsServer::Answer (*const answer_)(const std::string&, int);
  std::unique_ptr<test::DnsServer> names_;
  std::unique_ptr<Companion> servers_;
};

}  // namespace guard::testing

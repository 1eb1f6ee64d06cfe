// The network of sessions through a running `guard serve`, which several clients share: guard's own and E2B's.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <sstream>
#include <thread>

#include "common/environment.h"
#include "tests/support/dns_server.h"
#include "tests/support/egress/egress_world.h"
#include "tests/support/program/served_project.h"

namespace guard::testing {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

class SessionNetwork : public ServedProject {
 protected:
  void configure(const std::string& network) const {
    project_.configure(network);
    project_.build_image(GetParam());
  }
  std::string list() const {
    return fmt::format(
        "[network]\nallow = [\"ok.test:{0}\", \"*.wild.test:{0}\", \"{1}:{0}\"]\n"
        "deny = [\"no.wild.test\"]\ndns_servers = [\"{2}\"]\n",
        server_.port(), here_, names_.address());
  }
  std::string reaches(const std::string& session_id, const std::string& host) const {
    const std::string script = fmt::format(
        "console.log(await fetch('http://{}:{}/').then((a) => a.text(), (e) => e.code))", host, server_.port());
    return session({"exec", session_id, "--timeout", "60", "--", "bun", "-e", script}).out;
  }
  ProgramResult e2b(const std::string& script) {
    const std::string port = std::to_string(20'000 + ::getpid() % 20'000);
    serve({"--listen", "127.0.0.1:" + port});
    const std::string token = read_file(state_.path() / "sessions/token", 1000).value_or("");
    ProcessSpec spec;
    spec.argv = {value_of(process_environment(), "GUARD_BUN"), script, value_of(process_environment(), "GUARD_CLIENTS"),
        here_, std::to_string(server_.port())};
    spec.cwd = project_.path();
    spec.env = project_.environment();
    spec.env["E2B_API_URL"] = spec.env["E2B_SANDBOX_URL"] = "http://127.0.0.1:" + port;
    spec.env["E2B_API_KEY"] = "e2b_" + token.substr(0, token.find('\n'));
    spec.deadline = Deadline::after(std::chrono::minutes(4));
    return run_program(spec);
  }
  // NETWORK_CONNECTION lines.
  std::vector<json> connections(std::size_t wanted) const {
    std::vector<json> found;
    for (int i = 0; i < 400 && found.size() < wanted; ++i) {
      found.clear();
      std::istringstream lines(read_file(trace(), 64u << 20).value_or(""));
      for (std::string line; std::getline(lines, line);) {
        const json event = json::parse(line, nullptr, false);
        if (event.is_object() && event["event"] == "NETWORK_CONNECTION") found.push_back(event);
      }
      std::this_thread::sleep_for(milliseconds(50));
    }
    return found;
  }

  const std::string here_ = test::own_loopback(7);
  test::TcpServer server_{here_, 0, [](const test::Peer& peer) {
                            if (peer.read_until("\r\n\r\n").empty()) return;
                            peer.send("HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nhere");
                          }};
  test::DnsServer names_{[this](const std::string&, int) { return test::DnsServer::Answer{.addresses = {here_}}; }};
};

INSTANTIATE_TEST_SUITE_P(Backends, SessionNetwork, ::testing::Values("namespace", "docker"),
    [](const auto& parameter) { return parameter.param; });

TEST_P(SessionNetwork, IsThatOfTheServerAndIsTraced) {
  configure(list());
  serve({"--trace", trace()});
  EXPECT_EQ(session({"open", "me/one"}).exit_status, 0);
  EXPECT_EQ(reaches("me/one", "ok.test"), "here\n");
  EXPECT_THAT(reaches("me/one", "other.test"), StartsWith("guard: other.test:"));
  EXPECT_THAT(reaches("me/two", "no.wild.test"), StartsWith("guard: no.wild.test:"));
  const std::string key = "ghp_" + std::string(36, 'a');
  reaches("me/two", key + ".wild.test");

  const auto told = connections(4);
  ASSERT_EQ(told.size(), 4u);
  EXPECT_EQ(told[0]["session"], "me/one");
  EXPECT_EQ(told[0]["host"], "ok.test");
  EXPECT_EQ(told[0]["port"], server_.port());
  EXPECT_EQ(told[0]["address"], here_);
  EXPECT_EQ(told[0]["allowed"], true);
  EXPECT_EQ(told[0]["reason"], "done");
  EXPECT_GT(told[0]["bytes_up"], 0);
  EXPECT_GT(told[0]["bytes_down"], 0);
  EXPECT_GT(told[0]["began_ms"], 1'600'000'000'000);
  EXPECT_EQ(told[1]["reason"], "not_listed");
  EXPECT_EQ(told[1]["allowed"], false);
  EXPECT_EQ(told[2]["session"], "me/two");
  EXPECT_EQ(told[2]["reason"], "denied");
  EXPECT_THAT(told[3].dump(), Not(HasSubstr(key)));
}

TEST_P(SessionNetwork, IsWhatAClientOfE2bNarrowsItTo) {
  if (value_of(process_environment(), "GUARD_CLIENTS").empty()) GTEST_SKIP() << "GUARD_CLIENTS is not set";
  configure(list());
  const auto result = e2b(GUARD_SOURCE_DIR "/tests/cli/network/e2b_network.mjs");
  EXPECT_EQ(result.out, "ok\n") << result.err;
}

TEST_P(SessionNetwork, IsNoneForAClientOfE2bWhereTheServerHasNone) {
  if (value_of(process_environment(), "GUARD_CLIENTS").empty()) GTEST_SKIP() << "GUARD_CLIENTS is not set";
  configure("");
  const fs::path script = project_.path() / "client.mjs";
  project_.write("client.mjs", R"(
import { createRequire } from "node:module";
const { Sandbox } = createRequire(`${process.argv[2]}/package.json`)("e2b");
for (const options of [{}, { allowInternetAccess: true }, { allowInternetAccess: false }, { network: { denyOut: ["0.0.0.0/0"] } }]) {
  const box = await Sandbox.create(options);
  console.log((await box.getInfo()).allowInternetAccess);
  await box.updateNetwork({ allowOut: ["ok.test"] }).catch((e) => console.log(e.message));
  await box.kill();
}
await Sandbox.create({ network: { allowOut: ["0.0.0.0/0"] } }).catch((e) => console.log(e.message));)");
  const auto result = e2b(script);
  const std::string none =
      "400: the sandboxes of this server have no network: list what they may reach in [network] allow of its "
      "guard.toml, or leave allowOut out\n";
  const std::string each = "false\n" + none;
  EXPECT_EQ(result.out, each + each + each + each + none) << result.err;
}

// Nobody has committed it, so it relaxes nothing; what it closes stays closed.
TEST_P(SessionNetwork, OfACommandKeepsTheDenialsOfAFileThatIsNotCommitted) {
  configure("");
  project_.write("guard.toml", "[network]\nallow = [\"any.test\"]\ndeny = [\"no.wild.test\"]\n");
  const std::string port = fmt::format(":{}", server_.port());
  const std::string script = fmt::format(
      "for (const host of ['no.wild.test', 'a.wild.test'])"
      "console.log(await fetch(`http://${{host}}{}/`).then((a) => a.text(), (e) => e.code))",
      port);
  const auto result = project_.guard({"exec", "--backend", GetParam(), "--allow", "*.wild.test" + port, "--allow",
                                         here_ + port, "--", "bun", "-e", script},
      {{"GUARD_NETWORK_DNS_SERVERS", names_.address()}});
  EXPECT_THAT(result.out, HasSubstr("is in [network] deny\n\nhere\n")) << result.err;
}

}  // namespace
}  // namespace guard::testing

// What goes through the network of an allowlist arrives: all of it, in its order, and where it belongs. Through the
// whole of guard.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <pwd.h>
#include <unistd.h>

#include "common/hash.h"
#include "tests/support/program/network_project.h"

namespace guard::testing {
namespace {

namespace fs = std::filesystem;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

test::DnsServer::Answer here(const std::string&, int) { return {.addresses = {kAllowed}}; }

class Traffic : public NetworkProject {
 protected:
  Traffic() : NetworkProject(here) {}
};

INSTANTIATE_TEST_SUITE_P(
    Backends, Traffic, ::testing::Values("namespace", "docker"), [](const auto& parameter) { return parameter.param; });

// CONNECT to kAllowed:PORT, and what to do with the socket then. Fields of `options` for net.connect.
std::string tunnel_script(const std::string& port) {
  return "const net = require('net'), target = '" + kAllowed + ":" + port + R"(';
const tunnel = () => new Promise((done, failed) => {
  const socket = net.connect({ port: 61080, host: '127.0.0.1', allowHalfOpen: true }).on('error', failed);
  let head = '';
  const take = (data) => {
    head += data.toString('latin1');
    if (!head.endsWith('\r\n\r\n')) return;
    socket.off('data', take);
    head.startsWith('HTTP/1.1 200') ? done(socket) : failed(new Error(head));
  };
  socket.on('data', take).write(`CONNECT ${target} HTTP/1.1\r\nHost: ${target}\r\n\r\n`);
});
)";
}

// All of them are open before the first one speaks, and none has ended before the last one has spoken.
TEST_P(Traffic, IsNotMixedUpByAThousandConnections) {
  allow({kAllowed + ":7001"});
  project_.write("src/thousand.cjs", tunnel_script("7001") + R"(
const crypto = require('crypto');
(async () => {
  const sockets = await Promise.all(Array.from({ length: 1000 }, tunnel));
  const answers = sockets.map((socket) => {
    const got = { bytes: [], size: 0 };
    got.ended = new Promise((done) => socket.on('end', done));
    socket.on('data', (data) => { got.bytes.push(data); got.size += data.length; });
    return got;
  });
  const payloads = sockets.map((_, i) => Buffer.concat([Buffer.from(`${i}:`), crypto.randomBytes(2000 + 7 * i)]));
  for (let part = 0; part < 2; ++part)
    sockets.forEach((socket, i) => socket.write(payloads[i].subarray(part * 1500, part ? undefined : 1500)));
  while (answers.some((got, i) => got.size < payloads[i].length)) await new Promise((done) => setTimeout(done, 5));
  for (const socket of sockets) socket.end();
  await Promise.all(answers.map((got) => got.ended));
  console.log(answers.filter((got, i) => Buffer.concat(got.bytes).equals(payloads[i])).length);
  console.log(payloads.reduce((sum, payload) => sum + payload.length, 0));
  process.exit(0);
})();
)");
  const auto result = exec({"bun", "src/thousand.cjs"}, {"--format", "json", "--timeout", "60"});
  EXPECT_EQ(result.exit_status, 0) << result.err;
  const auto document = result.document();
  const std::string out = document["stdout"]["text"];
  ASSERT_THAT(out, HasSubstr("1000\n")) << document["stderr"] << document["egress"];
  EXPECT_EQ(account_of(document), (Account{{kAllowed + ":7001 done", 1000}}));
  const std::string sum = out.substr(5, out.find('\n', 5) - 5);
  const auto& line = document["egress"]["connections"][0];
  EXPECT_EQ(line["bytes_up"].dump(), sum);
  EXPECT_EQ(line["bytes_down"].dump(), sum);
}

TEST_P(Traffic, BringsALargeFileToItsLastByte) {
  allow({"ok.test"});
  std::string bytes(64u << 20, '\0');
  std::uint64_t state = 1;
  for (std::size_t at = 0; at < bytes.size(); at += sizeof state) {
    state = state * 6364136223846793005u + 1442695040888963407u;
    std::memcpy(bytes.data() + at, &state, sizeof state);
  }
  ASSERT_TRUE(write_new_file(folder_.path() / "large", bytes));
  const auto result = exec({"bun", "-e",
                               "const hash = new Bun.CryptoHasher('sha256'); let size = 0;"
                               "for await (const part of (await fetch('http://ok.test/files/large')).body) {"
                               "  hash.update(part); size += part.length; }"
                               "console.log(size, hash.digest('hex'));"},
      {"--timeout", "60"});
  EXPECT_EQ(result.out, fmt::format("{} {}\n", bytes.size(), sha256_hex(bytes))) << result.err;
}

// As the kernel does it for a program outside: what it has taken from the program goes out when that has ended.
TEST_P(Traffic, ArrivesAlsoFromAProgramThatEndsOnceItHasSent) {
  std::mutex mutex;
  std::vector<std::string> came;
  std::optional<test::OwnInternet::Visit> visit(internet_);
  test::TcpServer server("0.0.0.0", 0, [&](const test::Peer& peer) {
    std::string all = peer.read_all();
    const std::lock_guard lock(mutex);
    came.push_back(sha256_hex(all) + fmt::format(" {}", all.size()));
  });
  visit.reset();
  const std::string port = std::to_string(server.port());
  allow({kAllowed + ":" + port});
  project_.write("src/last.cjs", tunnel_script(port) + R"(
(async () => {
  const socket = await tunnel();
  socket.write('0123456789abcdef'.repeat(1 << 17), () => process.exit(0));
})();
)");
  const auto result = exec({"bun", "src/last.cjs"}, {"--format", "json"});
  EXPECT_EQ(result.exit_status, 0) << result.err;
  std::string sent;
  for (int i = 0; i < 1 << 17; ++i) sent += "0123456789abcdef";
  EXPECT_EQ(account_of(result.document()), (Account{{kAllowed + ":" + port + " done", 1}}));
  for (int i = 0; i < 200; ++i) {
    std::this_thread::sleep_for(milliseconds(50));
    const std::lock_guard lock(mutex);
    if (!came.empty()) break;
  }
  const std::lock_guard lock(mutex);
  EXPECT_THAT(came, ElementsAre(sha256_hex(sent) + fmt::format(" {}", sent.size())));
}

// OpenSSH's own client and server, by SOCKS5. The server is one of this user's own, or of uid 1000 where that is root.
TEST_P(Traffic, IsFoundBySsh) {
  const bool root = ::getuid() == 0;
  const passwd* const user = ::getpwuid(root ? 1000 : ::getuid());
  if (user == nullptr) GTEST_SKIP() << "no user has the uid 1000";
  for (const char* needed : {"/usr/sbin/sshd", "/usr/bin/ssh", "/usr/bin/nc"}) {
    if (!fs::exists(needed)) GTEST_SKIP() << needed << " is not there";
  }
  const std::string name = user->pw_name, home = (folder_.path() / "ssh").native();
  shell(
      "mkdir ssh; cd ssh; for key in host login; do ssh-keygen -q -t ed25519 -N '' -f $key; done; "
      "printf '%s\\n' 'ListenAddress 0.0.0.0' 'Port 7022' 'HostKey " +
      home + "/host' 'AuthorizedKeysFile " + home +
      "/login.pub' 'PidFile none' 'StrictModes no' 'UsePAM no' 'ForceCommand cat; echo over >&2' > sshd_config" +
      (root ? "; chown -R 1000:1000 ." : ""));
  for (const char* file : {"login", "host.pub"})
    project_.write(std::string("src/") + file, read_file(home + "/" + file, 1u << 16).value());
  std::vector<std::string> words = {"/usr/sbin/sshd", "-D", "-e", "-f", home + "/sshd_config"};
  if (root) words.insert(words.begin(), {"setpriv", "--reuid", "1000", "--regid", "1000", "--clear-groups"});
  std::optional<test::OwnInternet::Visit> visit(internet_);
  const Companion server(program(words));
  visit.reset();
  ASSERT_TRUE(listens(kAllowed, 7022));

  allow({kAllowed + ":7022"}, "[image]\ntools = [\"ssh\", \"nc\", \"sh\", \"cat\"]\n");
  const std::string script = fmt::format(R"sh(umask 077; cat src/login > /tmp/login
echo "[{0}]:7022 $(cat src/host.pub)" > /tmp/known
export SHELL=$(command -v sh)
i=0; while [ $i -lt 5000 ]; do echo "line $i"; i=$((i + 1)); done | ssh -F none -i /tmp/login \
  -o UserKnownHostsFile=/tmp/known -o ProxyCommand='nc -X 5 -x 127.0.0.1:61080 %h %p' -p 7022 {1}@{0})sh",
      kAllowed, name);
  const auto result = exec({"sh", "-c", script}, {"--format", "json", "--timeout", "60"});
  EXPECT_EQ(result.exit_status, 0) << result.err;
  std::string lines;
  for (int i = 0; i < 5000; ++i) lines += fmt::format("line {}\n", i);
  const auto document = result.document();
  EXPECT_EQ(document["stdout"]["text"], lines);
  EXPECT_THAT(document["stderr"]["text"].get<std::string>(), HasSubstr("over"));
  EXPECT_EQ(account_of(document), (Account{{kAllowed + ":7022 done", 1}}));
}

}  // namespace
}  // namespace guard::testing

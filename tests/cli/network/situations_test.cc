// The network of an allowlist through the whole of guard: code in a sandbox tries what tests/cli/network/situations.mjs
// lists, and what it gets, what guard writes down, who was reached and what packets left the machine are compared with
// what is due. Machine and internet are the test's own, and so is every name and server.
//
// What can't be seen and so is no situation: a request inside TLS for another host of the same server (domain fronting
// behind a truthful ClientHello).
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <sys/un.h>

#include <map>
#include <sstream>

#include "tests/support/program/network_project.h"

namespace guard::testing {
namespace {

namespace fs = std::filesystem;
using test::DnsServer;
using test::OwnInternet;
using test::TcpServer;
using ::testing::Contains;
using ::testing::HasSubstr;
using ::testing::Not;

const std::string kAllowed6 = "3ffe:2::1";
const std::string kForbidden = "127.0.0.2";   // the machine's
const std::string kListed = "10.0.0.9";       // listed by some of its ports
const std::string kTranslates = "3ffe:64::";  // a prefix of the network's NAT64, which ipv4only.arpa tells

// What names lead to, but for kAllowed.
const std::map<std::string, std::string> kPlaces = {{"private", "10.0.0.7"}, {"loopback", kForbidden},
    {"loopback6", "::1"}, {"machine", OwnInternet::kMachine}, {"machine6", OwnInternet::kMachine6}, {"lan", kListed},
    {"six", kAllowed6}, {"nat64public", "64:ff9b::" + kAllowed}, {"translated", kTranslates + kForbidden},
    {"ipv4only", kTranslates + "192.0.0.170"}, {"metadata", "169.254.169.254"}, {"metadata6", "fd00:ec2::254"},
    {"mapped", "::ffff:" + kForbidden}, {"nat64", "64:ff9b::" + kForbidden}, {"sixtofour", "2002:7f00:1::1"},
    {"teredo", "2001:0:7f00:1::1"}, {"compatible", "::" + kForbidden}, {"unspecified", "0.0.0.0"},
    {"unspecified6", "::"}, {"multicast", "224.0.0.1"}, {"broadcast", "255.255.255.255"}, {"shared", "100.64.0.1"},
    {"linklocal6", "fe80::1"}, {"unique", "fd00::1"}};

DnsServer::Answer answer_to(const std::string& name, int time) {
  const std::string label = name.substr(0, name.find('.'));
  if (const auto place = kPlaces.find(label); place != kPlaces.end()) return {.addresses = {place->second}};
  if (label == "alias") return {.addresses = {kForbidden}, .alias = "db.internal"};
  if (label == "away") return {.addresses = {kAllowed}, .alias = "elsewhere.example"};
  if (label == "both") return {.addresses = {kForbidden, kAllowed}};
  if (label == "both6") return {.addresses = {"10.0.0.7", "fd00::1", kAllowed6}};
  if (label == "garbage") return {.garbage = true};
  if (label == "gone") return {.exists = false};
  if (time > 1 && label == "rebinds") return {.addresses = {kForbidden}};
  if (time > 1 && label == "rebinds2") return {.addresses = {"169.254.169.254"}};
  return {.addresses = {kAllowed}};
}

// `name` beginning with a zero byte: an abstract one.
UniqueFd unix_listener(const std::string& name) {
  UniqueFd fd(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  name.copy(static_cast<char*>(address.sun_path), sizeof address.sun_path - 1);
  const auto size = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + name.size());
  EXPECT_EQ(::bind(fd.get(), reinterpret_cast<const sockaddr*>(&address), size), 0);
  EXPECT_EQ(::listen(fd.get(), 5), 0);
  return fd;
}

bool was_reached(const UniqueFd& listener) { return ::accept(listener.get(), nullptr, nullptr) >= 0; }

const std::string kSquid = GUARD_SOURCE_DIR "/bench/egress/squid";

class Network : public NetworkProject {
 protected:
  Network() : NetworkProject(answer_to) {}

  // "tiny", in a registry of npm's kind.
  void make_package() const {
    shell(R"(mkdir package; echo '{"name":"tiny","version":"1.0.0"}' > package/package.json; tar czf tiny.tgz package
echo '{"name":"tiny","dist-tags":{"latest":"1.0.0"},"versions":{"1.0.0":{"name":"tiny","version":"1.0.0",
  "dist":{"tarball":"http://ok.test/files/tiny.tgz"}}}}' > tiny)");
  }
};

INSTANTIATE_TEST_SUITE_P(
    Backends, Network, ::testing::Values("namespace", "docker"), [](const auto& parameter) { return parameter.param; });

// On all addresses of the machine: nobody may be led to them.
using Servers = std::map<int, std::unique_ptr<TcpServer>>;  // by port
Servers servers_of_the_machine() {
  Servers servers;
  for (const std::uint16_t port : std::initializer_list<std::uint16_t>{80, 443, 7001})
    servers[port] = std::make_unique<TcpServer>("::", port, test::echo);
  return servers;
}

// For bench/egress/egress.mjs: what came of each situation, and who was reached.
void keep(const std::string& name, const std::string& situations, const std::set<std::string>& arrived,
    const Servers& machine) {
  const std::string folder = value_of(process_environment(), "GUARD_SITUATIONS_FOLDER");
  if (folder.empty()) return;
  nlohmann::json reached = {{"internet", arrived}, {"machine", nlohmann::json::object()}};
  for (const auto& [port, server] : machine) reached["machine"][std::to_string(port)] = server->served();
  EXPECT_TRUE(write_file_atomically(fs::path(folder) / (name + ".jsonl"), situations + reached.dump() + "\n"));
}

// What the test below would see if it left.
TEST(OwnInternet, SeesWhatLeavesTheMachine) {
  OwnInternet internet;
  if (!internet.fault().empty()) GTEST_SKIP() << internet.fault();
  const auto send = [](const char* address, std::uint16_t port, int type, int protocol) {
    const SocketAddress to = IpAddress::parse(address).value().with_port(port);
    const UniqueFd fd(::socket(to.get()->sa_family, type | SOCK_CLOEXEC | SOCK_NONBLOCK, protocol));
    if (type == SOCK_STREAM) return ::connect(fd.get(), to.get(), to.size) < 0 && errno == EINPROGRESS;
    return ::sendto(fd.get(), "\x08\0\xf7\xff\0\0\0\0", 8, 0, to.get(), to.size) == 8;
  };
  for (const char* address : {"169.254.169.254", "2606:4700::1111"}) {
    EXPECT_TRUE(send(address, 80, SOCK_STREAM, 0));
    EXPECT_TRUE(send(address, 53, SOCK_DGRAM, 0));
    EXPECT_TRUE(send(address, 0, SOCK_RAW, 253));  // for trials, RFC 3692
  }
  EXPECT_TRUE(send("10.0.0.7", 0, SOCK_RAW, IPPROTO_ICMP));
  EXPECT_TRUE(send(OwnInternet::kMachine, 53, SOCK_DGRAM, 0));
  std::set<std::string> all;
  for (int i = 0; i < 400 && all.size() < 7; ++i, std::this_thread::sleep_for(milliseconds(5)))
    all.merge(internet.arrived());
  EXPECT_EQ(all,
      (std::set<std::string>{"TCP 169.254.169.254:80", "UDP 169.254.169.254:53", "protocol 253 169.254.169.254",
          "TCP [2606:4700::1111]:80", "UDP [2606:4700::1111]:53", "protocol 253 2606:4700::1111",
          "protocol 1 10.0.0.7"}));
}

TEST_P(Network, LetsThroughWhatIsListedAndNothingElse) {
  project_.write("src/situations.mjs", read_file(kNetworkFiles + "situations.mjs", 1u << 20).value());
  allow({"ok.test", "*.wild.test", "echo.test:7001", "echo.test:7002", "echo.test:7003", "closed.test:7009",
            "lan.test:7001", "lan.test:7002", "10.0.0.9:443", "10.0.0.9:7001"},
      "deny = [\"no.wild.test\"]\n");
  const auto unreachable = servers_of_the_machine();
  const std::string path = (folder_.path() / "socket").native();
  const std::string name = "guard-test-" + std::to_string(::getpid());
  const UniqueFd by_path = unix_listener(path);
  const UniqueFd by_name = unix_listener(std::string(1, '\0') + name);
  fs::permissions(path, fs::perms::all);
  internet_.arrived();

  const auto result = exec({"bun", "src/situations.mjs", kAllowed, kForbidden, kListed, path, name},
      {"--format", "json", "--timeout", "240"});
  EXPECT_EQ(result.exit_status, 0) << result.err;
  const auto document = result.document();
  Account due;
  int situations = 0;
  std::istringstream lines(document["stdout"]["text"].get<std::string>());
  for (std::string line; std::getline(lines, line); ++situations) {
    const auto one = nlohmann::json::parse(line, nullptr, false);
    ASSERT_TRUE(one.is_object()) << line;
    EXPECT_EQ(one["got"], one["wanted"]) << one["name"];
    if (const std::string decision = one["decision"]; !decision.empty()) due[decision] += one["times"].get<int>();
  }
  EXPECT_GE(situations, 180) << document["stderr"];
  EXPECT_EQ(account_of(document), due);
  EXPECT_EQ(document["egress"]["more"], 0);

  // All that has left the machine, whichever address it was for. A container's interface would lead past it: that there
  // is none is a situation.
  const auto arrived = internet_.arrived();
  keep(GetParam(), document["stdout"]["text"], arrived, unreachable);
  EXPECT_THAT(arrived,
      ::testing::UnorderedElementsAre("UDP 9.1.1.254:53", "TCP 9.2.0.1:80", "TCP 9.2.0.1:443", "TCP 9.2.0.1:7001",
          "TCP 9.2.0.1:7002", "TCP 9.2.0.1:7003", "TCP 9.2.0.1:7009", "TCP 10.0.0.9:443", "TCP 10.0.0.9:7001",
          "TCP [3ffe:2::1]:80", "TCP [64:ff9b::902:1]:80"));
  for (const auto& [port, server] : unreachable) EXPECT_EQ(server->served(), 0) << port;
  EXPECT_FALSE(was_reached(by_path));
  EXPECT_FALSE(was_reached(by_name));
  // Of DNS only what is allowed was asked, and once a connection.
  for (const std::string& asked : names_->names_asked()) {
    EXPECT_TRUE(asked == "ok.test" || asked == "echo.test" || asked == "closed.test" || asked == "lan.test" ||
        asked.ends_with(".wild.test") || asked == "ipv4only.arpa")
        << asked;
  }
  EXPECT_THAT(names_->names_asked(), Not(Contains("no.wild.test")));
  EXPECT_EQ(names_->questions("rebinds.wild.test"), 2);
  EXPECT_EQ(names_->questions("alias.wild.test"), 1);
}

// For bench/egress/egress.mjs alone: nothing is asserted of what another proxy does with the same list.
class Squid : public Network {};
INSTANTIATE_TEST_SUITE_P(
    Rival, Squid, ::testing::Values("squid", "squid_openssl"), [](const auto& parameter) { return parameter.param; });

TEST_P(Squid, DISABLED_IsAskedTheSame) {
  const bool looks_into_tls = std::string_view(GetParam()) != "squid";
  const std::string squid =
      looks_into_tls ? value_of(process_environment(), "GUARD_BENCH_SQUID_OPENSSL") : "/usr/sbin/squid";
  if (!fs::exists(squid)) GTEST_SKIP() << "no " << GetParam();
  fs::permissions(folder_.path(), fs::perms::all);
  fs::permissions(folder_.path() / "key.pem", fs::perms(0644));
  const std::string folder = folder_.path().native(), certificate = folder + "/ca.pem", key = folder + "/key.pem";
  const std::string port = looks_into_tls ? " ssl-bump generate-host-certificates=off tls-cert=" + certificate +
          " tls-key=" + key + "\ninclude " + kSquid + "_tls.conf"
                                          : "";
  EXPECT_TRUE(write_file_atomically(folder + "/squid.conf",
      fmt::format(
          "include {}.conf\naccess_log stdio:{}/access.log\ncache_log {}/cache.log\nhttp_port 127.0.0.1:61080{}\n",
          kSquid, folder, folder, port)));
  const Companion proxy(program({squid, "-N", "-f", folder + "/squid.conf"}));
  ASSERT_TRUE(listens("127.0.0.1", 61080)) << read_file(folder + "/cache.log", 1u << 20).value_or("");
  const Servers machine = servers_of_the_machine();
  internet_.arrived();
  ProcessSpec spec = program({value_of(process_environment(), "GUARD_BUN"), kNetworkFiles + "situations.mjs", kAllowed,
      kForbidden, kListed, folder + "/none", "guard-none"});
  spec.env["GUARD_SITUATIONS_PATIENCE"] = "2000";  // so many wait for an answer or an end that does not come
  const std::string situations = run_program(spec).out;
  keep(GetParam(), situations, internet_.arrived(), machine);
}

// What these ask for with bun's own client, which finds the proxy by the variables that guard sets.
std::vector<std::string> fetches(const std::vector<std::string>& urls) {
  std::string script;
  for (const std::string& url : urls)
    script += "console.log(await fetch(`" + url +
        "`, { tls: { ca: process.env.CA } }).then((a) => a.text(), (e) => e.code));";
  return {"bun", "-e", script};
}

TEST_P(Network, PrintsWhatACodeAskedForSoThatItCanBeAllowed) {
  allow({});
  const auto command = fetches({"http://ok.test/", "http://" + kAllowed + "/", "http://[fd00::7]:8080/"});
  const auto recorded = exec(command, {"--network", "record"});
  EXPECT_EQ(recorded.exit_status, 0) << recorded.err;
  const std::size_t begin = recorded.err.find("[network]\n");
  ASSERT_NE(begin, std::string::npos) << recorded.err;
  const std::string toml = recorded.err.substr(begin);
  EXPECT_THAT(toml, HasSubstr("\"[fd00::7]:8080\"")) << recorded.err;

  EXPECT_EQ(exec(command).out.find("GET /"), std::string::npos);
  project_.configure(toml + "dns_servers = [\"" + names_->address() + "\"]\n");
  const auto allowed = exec(command);
  EXPECT_THAT(allowed.out, HasSubstr("GET / ok.test 0 #1\nGET / " + kAllowed + " 0 #1\n")) << allowed.err;
}

// A host is what the code says: the name of one may be a secret, as it is or in small letters.
TEST_P(Network, MasksASecretThatIsAHost) {
  allow({"*.wild.test"});
  const std::string secret = "Hidden-Word-4711", small = "hidden-word-4711";
  const auto command = fetches({"http://${process.env.MINE}.wild.test/", "http://${process.env.MINE}.example/"});
  for (const char* format : {"text", "json"}) {
    const TempDir records = *TempDir::create();
    const auto result = exec(command,
        {"--network-log", "--env", "MINE=" + secret, "--format", format, "--record",
            (records.path() / "r.json").native()});
    const std::string record = read_file(records.path() / "r.json", 1u << 20).value_or("");
    EXPECT_THAT(result.err, HasSubstr("guard: network: ")) << result.out;
    EXPECT_THAT(record, HasSubstr("wild.test")) << result.err;
    for (const std::string& text : {result.out, result.err, record}) {
      EXPECT_EQ(text.find(secret), std::string::npos) << format;
      const std::size_t at = text.find(small);
      EXPECT_EQ(at, std::string::npos) << format << text.substr(at == std::string::npos ? 0 : at, 80);
    }
  }
  const auto recorded = exec(command, {"--network", "record", "--env", "MINE=" + secret});
  EXPECT_THAT(recorded.err, Not(HasSubstr(small)));
}

TEST_P(Network, TurnsAwayWhatIsTooMuch) {
  allow({kAllowed + ":7001"}, "max_connections = 4\nmax_upload = \"64k\"\n");
  const auto result =
      exec({"bun", "-e",
               "const open = () => new Promise((done) => { const s = require('net').connect(61080, '127.0.0.1'); let "
               "got = '';"
               "  s.on('data', (d) => { got += d; if (got.includes('\\r\\n\\r\\n')) done([got.slice(9, 12), s]); });"
               "  s.on('error', () => {}); s.write('CONNECT " +
                   kAllowed + ":7001 HTTP/1.1\\r\\nHost: " + kAllowed +
                   ":7001\\r\\n\\r\\n'); });"
                   "const all = []; for (let i = 0; i < 6; ++i) all.push(await open());"
                   "console.log(all.map(([status]) => status).join());"
                   "const first = all[0][1]; let back = 0; first.on('data', (d) => back += d.length);"
                   "const over = new Promise((done) => first.on('close', done));"
                   "for (let i = 0; i < 10; ++i) first.write('x'.repeat(16384));"
                   "await over; console.log(back <= 65536); process.exit(0);"},
          {"--format", "json"});
  EXPECT_EQ(result.exit_status, 0) << result.err;
  const auto document = result.document();
  EXPECT_EQ(document["stdout"]["text"], "200,200,200,200,429,429\ntrue\n") << document["stderr"];
  const auto account = account_of(document);
  EXPECT_EQ(account.at(":0 connections_at_once"), 2);
  EXPECT_EQ(account.at(kAllowed + ":7001 bytes_up"), 1);
}

// Words that are sent as names go nowhere, and don't fill the record.
TEST_P(Network, CountsWhatItDoesNotName) {
  allow({"ok.test"});
  const auto result =
      exec({"bun", "-e",
               "for (let i = 0; i < 250; ++i) await fetch(`http://word${i}.tunnel.example/`).then((a) => a.text());"},
          {"--format", "json"});
  EXPECT_EQ(result.exit_status, 0) << result.err;
  const auto egress = result.document()["egress"];
  EXPECT_EQ(egress["connections"].size(), 200);
  EXPECT_EQ(egress["more"], 50);
  EXPECT_TRUE(names_->names_asked().empty());
}

TEST_P(Network, IsThatOfASession) {
  const TempDir state = *TempDir::create();
  fs::permissions(state.path(), fs::perms(0711));
  const auto reach = [&](const char* session) {
    std::vector<std::string> words = {
        "session", "exec", session, "--state", state.path().native(), "--backend", GetParam(), "--timeout", "30", "--"};
    for (const std::string& word : fetches({"http://ok.test/", "http://other.test/"})) words.push_back(word);
    return project_.guard(std::move(words));
  };
  allow({"ok.test"});
  const auto listed = reach("me/listed");
  EXPECT_THAT(listed.out, HasSubstr("GET / ok.test 0 #1\nguard: other.test:80 is not in [network] allow"))
      << listed.err;
  project_.configure("");
  const auto closed = reach("me/closed");
  EXPECT_EQ(closed.out.find("GET"), std::string::npos) << closed.out;
  EXPECT_NE(closed.out, "") << closed.err;
}

// Clients as they are, with nothing but the variables that guard sets. git's helper for https is in no folder that
// [image] tools takes programs from, so it comes with the project.
TEST_P(Network, IsFoundByClients) {
  for (const char* tool : {"curl", "git", "node"}) {
    if (!fs::exists(fs::path("/usr/bin") / tool)) GTEST_SKIP() << tool << " is not in /usr/bin";
  }
  shell(
      "git init -q work; cd work; echo hello from git > file; git add file; git -c user.name=t -c "
      "user.email=t@example.invalid "
      "commit -qm first; cd ..; git clone -q --bare work work.git; git -C work.git update-server-info");
  make_package();
  const std::string git = (project_.path() / "src/git").native(), helper = git + "/git-remote-https";
  shell("mkdir -p " + git + "; cp $(git --exec-path)/git-remote-https " + git + "; cp ca.pem " + git +
      "/../ca.pem; for file in $(ldd " + helper + " | grep -o '/[^ ]*'); do cp -L $file " + git +
      "; done; chmod -R a+rX " + git);
  allow({"ok.test", "*.wild.test", "echo.test:7001"}, "[image]\ntools = [\"curl\", \"git\", \"node\"]\n");
  const std::string page = "GET / ok.test 0 #1", refused = "guard: elsewhere.test:80 is not in [network] allow";
  struct Call {
    std::vector<std::string> command;
    std::string says;
  };
  const auto bun = [](const std::string& script) { return std::vector<std::string>{"bun", "-e", script}; };
  const auto node = [](const std::string& script) { return std::vector<std::string>{"node", "-e", script}; };
  const auto curl = [](std::vector<std::string> words) {
    words.insert(words.begin(), {"curl", "-sS", "--cacert", "src/ca.pem", "--max-time", "20"});
    return words;
  };
  const std::string web_socket =
      ".onopen = () => { console.log('open'); process.exit(0); }; s.onerror = (e) => console.log(e.message);";
  const std::vector<Call> calls = {
      {bun("console.log(await (await fetch('http://ok.test/')).text())"), page},
      {bun("console.log(await (await fetch('https://ok.test/', { tls: { ca: Bun.file('src/ca.pem') } })).text())"),
          page},
      {bun("console.log(await (await fetch('http://ok.test/away')).text())"), refused},
      {bun("let s = new WebSocket('ws://ok.test/ws', { proxy: process.env.HTTP_PROXY }); s" + web_socket), "open"},
      {bun("let s = new WebSocket('ws://ok.test/ws'); s" + web_socket), "Failed to connect"},  // without the variables
      {bun("const run = require('child_process').execFileSync; require('fs').mkdirSync('/tmp/new');"
           "require('fs').writeFileSync('/tmp/new/package.json', '{}');"
           "console.log(`${run(process.execPath, ['add', 'tiny', '--registry', 'http://ok.test/files/'], { cwd: "
           "'/tmp/new' })}`)"),
          "installed tiny@1.0.0"},
      {curl({"http://ok.test/"}), page},
      {curl({"https://ok.test/"}), page},
      {curl({"--http2", "--write-out", " by HTTP/%{http_version}", "https://ok.test/"}), page + " by HTTP/2"},
      {curl({"--proxytunnel", "http://ok.test/"}), page},
      {curl({"--data", "hello", "https://a.wild.test/"}), "POST / a.wild.test 5 #1"},
      {curl({"-x", "socks5h://127.0.0.1:61080", "https://ok.test/"}), page},
      {curl({"--header", "Expect: 100-continue", "--data", "hello", "http://ok.test/"}), "POST / ok.test 5 #1"},
      {curl({"--location", "http://ok.test/away"}), refused},
      {curl({"https://other.test/"}), "CONNECT tunnel failed, response 403"},
      // TLS names ok.test then.
      {curl({"--connect-to", "ok.test:443:a.wild.test:443", "https://ok.test/"}), "tlsv1 alert access denied"},
      // These look the name up themselves.
      {curl({"-x", "socks5://127.0.0.1:61080", "https://ok.test/"}), "Could not resolve host: ok.test"},
      {curl({"--noproxy", "*", "https://ok.test/"}), "Could not resolve host: ok.test"},
      {node("require('net').connect(80, 'ok.test').on('error', (e) => console.log(e.message))"),
          "getaddrinfo EAI_AGAIN ok.test"},
      {node("const { hostname, port } = new URL(process.env.HTTP_PROXY); require('http').get({ host: hostname, port, "
            "path: 'http://ok.test/', headers: { Host: 'ok.test' } }, (a) => a.pipe(process.stdout))"),
          page},
      {{"git", "ls-remote", "https://ok.test/files/work.git"}, "refs/heads/"},
      {bun("require('child_process').execFileSync('git', ['clone', '-q', 'https://ok.test/files/work.git', '/tmp/c']);"
           "console.log(require('fs').readFileSync('/tmp/c/file', 'utf8'))"),
          "hello from git"},
      {{"git", "ls-remote", "https://other.test/files/work.git"}, "CONNECT tunnel failed, response 403"},
  };
  for (const auto& [command, says] : calls) {
    const auto document = exec(command,
        {"--format", "json", "--env", "GIT_EXEC_PATH=/app/src/git", "--env", "LD_LIBRARY_PATH=/app/src/git", "--env",
            "GIT_SSL_CAINFO=/app/src/ca.pem"})
                              .document();
    const std::string said =
        document["stdout"]["text"].get<std::string>() + document["stderr"]["text"].get<std::string>();
    EXPECT_THAT(said, HasSubstr(says)) << fmt::format("{}", fmt::join(command, " ")) << document["error"];
  }
}

// These come as folders of programs, which [image] tools does not take: with the project, and in an archive what has
// names that are not staged. Libraries are loaded from the project only.
TEST_P(Network, IsFoundByPipAndNpm) {
  const std::string wheel = "/usr/share/python-wheels/pip-23.0.1-py3-none-any.whl";
  for (const std::string& needed : {wheel, std::string("/usr/lib/node_modules/npm"), std::string("/usr/lib/python3.11"),
           std::string("/usr/bin/node")}) {
    if (!fs::exists(needed)) GTEST_SKIP() << needed << " is not there";
  }
  shell("cd " + (project_.path() / "src").native() + "; cp " + wheel + " pip.whl; cp " +
      (folder_.path() / "ca.pem").native() +
      R"( . ; mkdir -p python/lib/python3.11; cp -r /usr/lib/python3.11/lib-dynload python/lib/python3.11
tar cf tools.tar --exclude=test --exclude='config-*' --exclude=__pycache__ --exclude=lib-dynload --dereference -C /usr \
  lib/python3.11 lib/node_modules/npm; chmod -R a+rX .)");
  shell(R"(mkdir tiny-1.0.dist-info; cd tiny-1.0.dist-info; touch RECORD
printf 'Metadata-Version: 2.1\nName: tiny\nVersion: 1.0\n' > METADATA
printf 'Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n' > WHEEL
cd ..; /usr/bin/python3 -m zipfile -c tiny-1.0-py3-none-any.whl tiny-1.0.dist-info)");
  make_package();
  allow({"ok.test"}, "[image]\ntools = [\"curl\", \"node\", \"python3\", \"tar\"]\n");
  const auto unpacked = [&](const std::string& command, const std::vector<std::string>& variables) {
    std::vector<std::string> options;
    for (const std::string& variable : variables) options.insert(options.end(), {"--env", variable});
    return exec({"bun", "-e",
                    "for (const words of ['tar xf src/tools.tar -C /tmp', '" + command +
                        "'])"
                        "require('child_process').execFileSync(words.split(' ')[0], words.split(' ').slice(1), { "
                        "stdio: 'inherit' })"},
        options);
  };
  const auto by_pip = unpacked(
      "python3 src/pip.whl/pip download --no-deps --no-cache-dir -d /tmp/x "
      "https://ok.test/files/tiny-1.0-py3-none-any.whl",
      {"PYTHONHOME=/tmp:/app/src/python", "PIP_CERT=src/ca.pem"});
  EXPECT_THAT(by_pip.out, HasSubstr("Successfully downloaded tiny")) << by_pip.err;
  const auto by_npm =
      unpacked("node /tmp/lib/node_modules/npm/bin/npm-cli.js view --registry https://ok.test/files/ tiny version",
          {"NODE_EXTRA_CA_CERTS=/app/src/ca.pem", "npm_config_cache=/tmp/cache"});
  EXPECT_EQ(by_npm.out, "1.0.0\n") << by_npm.err;
}

// A network that has no other way out than a proxy: what guard allows goes on to that one, and nothing else does.
TEST_P(Network, GoesThroughAProxyOfTheNetwork) {
  if (!fs::exists("/usr/sbin/squid")) GTEST_SKIP() << "squid is not installed";
  const auto path = [&](const char* name) { return (folder_.path() / name).native(); };
  fs::permissions(folder_.path(), fs::perms::all);
  EXPECT_TRUE(write_file_atomically(path("hosts"), kAllowed + " ok.test a.wild.test other.test\n"));
  fs::permissions(path("hosts"), fs::perms(0644));
  EXPECT_TRUE(write_file_atomically(path("squid.conf"),
      "http_port 3128\nhosts_file " + path("hosts") + "\naccess_log stdio:" + path("access.log") + "\ncache_log " +
          path("cache.log") +
          "\npid_filename none\nshutdown_lifetime 0 seconds\ncache deny all\nvisible_hostname "
          "squid.test\npinger_enable off\n"
          "acl refused dstdomain a.wild.test\nhttp_access deny refused\nhttp_access allow all\n"));
  std::optional<OwnInternet::Visit> visit(internet_);
  const Companion squid(program({"/usr/sbin/squid", "-N", "-f", path("squid.conf")}));
  visit.reset();
  ASSERT_TRUE(listens("10.0.0.3", 3128)) << read_file(path("cache.log"), 1u << 20).value_or("");
  internet_.arrived();

  allow({"ok.test", "*.wild.test"}, "proxy = \"http://10.0.0.3:3128\"\n");
  const auto result =
      exec(fetches({"http://ok.test/", "http://a.wild.test/", "http://other.test/"}), {"--format", "json"});
  const auto document = result.document();
  EXPECT_EQ(account_of(document),
      (Account{{"ok.test:80 done", 1}, {"a.wild.test:80 upstream_failed", 1}, {"other.test:80 not_listed", 1}}));
  EXPECT_THAT(
      document["stdout"]["text"].get<std::string>(), HasSubstr("GET / ok.test 0 #1\nguard: the upstream proxy"));
  EXPECT_THAT(document["relaxations"].dump(), HasSubstr("network.proxy = http://10.0.0.3:3128"));
  EXPECT_THAT(internet_.arrived(), ::testing::IsSubsetOf({"TCP 10.0.0.3:3128", "UDP 9.1.1.254:53"}));
  const std::string log = read_file(path("access.log"), 1u << 20).value_or("");
  EXPECT_THAT(log, HasSubstr("CONNECT ok.test:80 "));
  EXPECT_THAT(log, Not(HasSubstr("other.test")));
}

}  // namespace
}  // namespace guard::testing

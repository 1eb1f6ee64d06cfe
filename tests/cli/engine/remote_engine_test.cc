// An engine at another machine: over TCP on loopback and over TLS. What goes wrong on the way there is unknown, never a
// reason to run elsewhere; what runs there runs as on an engine of this machine, and leaves nothing behind.
#include <arpa/inet.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cstdlib>
#include <thread>

#include "common/cancel.h"
#include "common/environment.h"
#include "common/hash.h"
#include "common/unique_fd.h"
#include "docker/engine_client.h"
#include "runner/sandbox/docker_sweep.h"
#include "tests/support/program/guard_program.h"

namespace guard::testing {
namespace {

namespace fs = std::filesystem;
using namespace std::chrono_literals;

constexpr std::string_view kPassing =
    "import { expect, test } from \"bun:test\";\nimport { add } from \"../src/add\";\n"
    "test(\"adds\", () => { expect(add(1, 2)).toBe(3); });\n";

std::string from_environment(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? "" : value;
}

#define GUARD_NEEDS_TLS_ENGINE()                                                                                 \
  do {                                                                                                           \
    if (from_environment("GUARD_TEST_TLS_ENGINE").empty()) {                                                     \
      if (std::getenv("GUARD_TEST_REQUIRE_TLS_ENGINE") != nullptr) FAIL() << "GUARD_TEST_TLS_ENGINE is not set"; \
      GTEST_SKIP() << "needs a private engine behind TLS: set GUARD_TEST_TLS_ENGINE and GUARD_TEST_TLS_FOLDER";  \
    }                                                                                                            \
  } while (false)

// Something that listens on loopback.
class Listener {
 public:
  Listener() : fd_(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
    sockaddr_in name{};
    name.sin_family = AF_INET;
    name.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    EXPECT_EQ(::bind(fd_.get(), reinterpret_cast<const sockaddr*>(&name), sizeof name), 0);
    EXPECT_EQ(::listen(fd_.get(), 64), 0);
    socklen_t size = sizeof name;
    EXPECT_EQ(::getsockname(fd_.get(), reinterpret_cast<sockaddr*>(&name), &size), 0);
    port_ = ntohs(name.sin_port);
  }
  int fd() const { return fd_.get(); }
  int port() const { return port_; }
  std::string url() const { return fmt::format("tcp://127.0.0.1:{}", port_); }

 private:
  UniqueFd fd_;
  int port_ = 0;
};

// The engine's local socket, on TCP: what an engine without TLS is, or a tunnel.
class TcpEngine {
 public:
  explicit TcpEngine(std::string socket) : socket_(std::move(socket)), thread_([this] { serve(); }) {}
  ~TcpEngine() {
    ::shutdown(listener_.fd(), SHUT_RDWR);
    thread_.join();
  }
  std::string url() const { return listener_.url(); }

 private:
  void serve() {
    for (;;) {
      UniqueFd client(::accept4(listener_.fd(), nullptr, nullptr, SOCK_CLOEXEC));
      if (!client) return;
      UniqueFd engine(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
      sockaddr_un address{};
      address.sun_family = AF_UNIX;
      socket_.copy(address.sun_path, sizeof address.sun_path - 1);
      if (::connect(engine.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0) continue;
      std::thread([client = std::move(client), engine = std::move(engine)] {
        pass_on(client.get(), engine.get());
      }).detach();
    }
  }

  static void pass_on(int client, int engine) {
    std::array<pollfd, 2> ends = {pollfd{client, POLLIN, 0}, pollfd{engine, POLLIN, 0}};
    std::array<char, 65536> bytes;
    while (::poll(ends.data(), ends.size(), -1) > 0) {
      for (std::size_t index = 0; index < 2; ++index) {
        if (ends[index].revents == 0) continue;
        const ssize_t got = ::recv(ends[index].fd, bytes.data(), bytes.size(), 0);
        if (got <= 0) return;
        const int other = ends[1 - index].fd;
        for (ssize_t sent = 0; sent < got;) {
          const ssize_t now = ::send(other, bytes.data() + sent, static_cast<std::size_t>(got - sent), MSG_NOSIGNAL);
          if (now <= 0) return;
          sent += now;
        }
      }
    }
  }

  std::string socket_;
  Listener listener_;
  std::thread thread_;
};

bool succeeds(std::vector<std::string> argv, const fs::path& folder) {
  ProcessSpec spec;
  spec.argv = std::move(argv);
  spec.cwd = folder.string();
  spec.env = {{"PATH", "/usr/local/bin:/usr/bin:/bin"}};
  const auto done = run_program(spec);
  EXPECT_EQ(done.exit_status, 0) << done.out << done.err;
  return done.exit_status == 0;
}

// Certificates of the test's own, made when they are wanted.
class Certificates {
 public:
  explicit Certificates(fs::path folder) : folder_(std::move(folder)) {
    EXPECT_TRUE(make_folders(folder_));
    succeeds({"openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes",
                 "-keyout", "ca-key.pem", "-subj", "/CN=somebody", "-days", "2", "-out", "ca.pem"},
        folder_);
  }
  void issue(const std::string& name, const std::string& host, const std::string& days) const {
    EXPECT_TRUE(write_file_atomically(folder_ / "extensions", "subjectAltName=" + host + "\n"));
    succeeds({"openssl", "req", "-new", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes",
                 "-keyout", name + "-key.pem", "-subj", "/CN=127.0.0.1", "-out", name + ".csr"},
        folder_);
    succeeds({"openssl", "x509", "-req", "-in", name + ".csr", "-CA", "ca.pem", "-CAkey", "ca-key.pem",
                 "-CAcreateserial", "-days", days, "-extfile", "extensions", "-out", name + ".pem"},
        folder_);
  }
  const fs::path& folder() const { return folder_; }

 private:
  fs::path folder_;
};

// `openssl s_server`, which answers any request with a page: enough for an engine whose certificate must not be
// believed.
class TlsServer {
 public:
  TlsServer(const Certificates& certificates, const std::string& name, std::vector<std::string> more = {}) {
    {
      const Listener free;
      port_ = free.port();
    }
    std::vector<std::string> words = {"openssl", "s_server", "-accept", fmt::format("127.0.0.1:{}", port_), "-www",
        "-quiet", "-cert", certificates.folder() / (name + ".pem"), "-key",
        certificates.folder() / (name + "-key.pem")};
    words.insert(words.end(), more.begin(), more.end());
    std::vector<char*> argv;
    for (auto& word : words) argv.push_back(word.data());
    argv.push_back(nullptr);
    posix_spawn_file_actions_t actions;
    posix_spawn_file_actions_init(&actions);
    for (const int fd : {0, 1, 2}) posix_spawn_file_actions_addopen(&actions, fd, "/dev/null", O_RDWR, 0);
    EXPECT_EQ(::posix_spawnp(&pid_, "openssl", &actions, nullptr, argv.data(), environ), 0);
    posix_spawn_file_actions_destroy(&actions);
    for (int waited = 0; waited < 200 && !accepts(); ++waited) std::this_thread::sleep_for(10ms);
  }
  ~TlsServer() {
    ::kill(pid_, SIGKILL);
    ::waitpid(pid_, nullptr, 0);
  }
  std::string url() const { return fmt::format("tcp://127.0.0.1:{}", port_); }

 private:
  bool accepts() const {
    const UniqueFd fd(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
    sockaddr_in name{};
    name.sin_family = AF_INET;
    name.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    name.sin_port = htons(static_cast<std::uint16_t>(port_));
    return ::connect(fd.get(), reinterpret_cast<const sockaddr*>(&name), sizeof name) == 0;
  }
  int port_ = 0;
  pid_t pid_ = -1;
};

using Variables = std::map<std::string, std::string>;

Variables behind_tls(const std::string& url, const fs::path& folder) {
  return {{"DOCKER_HOST", url}, {"DOCKER_TLS_VERIFY", "1"}, {"DOCKER_CERT_PATH", folder.string()}};
}

// ---- the way there ----

class WayToTheEngine : public ::testing::Test {
 protected:
  void SetUp() override {
    if (!fs::exists("/usr/bin/openssl")) GTEST_SKIP() << "needs openssl";
    project_.write("sandbox/a.test.ts", kPassing);
  }

  // Exit 3 with a reason that holds `why`; nothing is run anywhere, not even where the host is allowed.
  void expect_nowhere(Variables environment, std::string_view why) const {
    environment["GUARD_DOCKER_PROBE_DEADLINE_MS"] = "1500";
    for (const char* fallback : {"namespace", "host"}) {
      environment["GUARD_FALLBACK"] = fallback;
      const auto result = project_.guard({"run", "--format", "json", "sandbox/a.test.ts"}, environment);
      EXPECT_EQ(result.exit_status, 3) << result.out << result.err;
      const auto document = result.document();
      EXPECT_EQ(document.value("verdict", ""), "unavailable");
      EXPECT_FALSE(document.contains("exec"));
      const std::string message = document["error"].value("message", "");
      EXPECT_NE(message.find(why), std::string::npos) << message;
      EXPECT_FALSE(document["error"].value("hint", "").empty());
    }
  }

  Project project_;
};

TEST_F(WayToTheEngine, PlainTcpBeyondLoopbackIsRefused) {
  expect_nowhere({{"DOCKER_HOST", "tcp://192.0.2.1:2375"}}, "could forge a verdict");
  expect_nowhere({{"DOCKER_HOST", "tcp://engine.example.invalid"}}, "could forge a verdict");
  expect_nowhere({{"DOCKER_HOST", "tcp://127.0.0.1.example.invalid:2375"}}, "could forge a verdict");
}

TEST_F(WayToTheEngine, OurOwnFilesMustBeThereAndFit) {
  const Certificates ours(project_.path() / "tls");
  ours.issue("cert", "DNS:guard", "2");
  const fs::path folder = ours.folder();
  const std::string url = "tcp://127.0.0.1:1";
  expect_nowhere(behind_tls(url, folder), "no key.pem");
  fs::rename(folder / "cert-key.pem", folder / "key.pem");
  expect_nowhere(behind_tls(url, folder), "refuses connections");
  const Listener silent;
  project_.write("tls/ca.pem", "no certificate\n");
  expect_nowhere(behind_tls(silent.url(), folder), "holds no certificate");
  fs::remove(folder / "ca.pem");
  expect_nowhere(behind_tls(silent.url(), folder), "ca.pem cannot be read");
}

TEST_F(WayToTheEngine, AServerWhoseCertificateIsNotToBeTrustedIsUnknown) {
  const Certificates theirs(project_.path() / "theirs");
  const Certificates ours(project_.path() / "ours");
  theirs.issue("good", "IP:127.0.0.1", "2");
  theirs.issue("expired", "IP:127.0.0.1", "-1");
  theirs.issue("another", "IP:127.0.0.2,DNS:engine.example.invalid", "2");
  {
    const TlsServer server(theirs, "good");
    expect_nowhere(behind_tls(server.url(), ours.folder()), "not to be trusted");          // signed by somebody else
    expect_nowhere(behind_tls(server.url(), theirs.folder()), "could not be understood");  // trusted, but no engine
  }
  {
    const TlsServer server(theirs, "expired");
    expect_nowhere(behind_tls(server.url(), theirs.folder()), "expired");
  }
  const TlsServer server(theirs, "another");
  expect_nowhere(behind_tls(server.url(), theirs.folder()), "IP address mismatch");
}

TEST_F(WayToTheEngine, ASilentServerIsUnknownInTime) {
  const Certificates ours(project_.path() / "ours");
  const Listener silent;  // accepts, and never says a word
  const auto begun = std::chrono::steady_clock::now();
  expect_nowhere(behind_tls(silent.url(), ours.folder()), "did not answer in time");
  EXPECT_LT(std::chrono::steady_clock::now() - begun, 20s);
}

TEST_F(WayToTheEngine, NeitherEndFallsBackToPlain) {
  GUARD_NEEDS_TLS_ENGINE();
  GUARD_NEEDS(Needs::docker);
  const fs::path folder = from_environment("GUARD_TEST_TLS_FOLDER");
  const std::string engine = from_environment("GUARD_TEST_TLS_ENGINE");
  expect_nowhere({{"DOCKER_HOST", engine}}, "could not be understood");
  const TcpEngine plain(docker_socket());
  expect_nowhere(behind_tls(plain.url(), folder), "does not speak TLS");

  // Without a certificate of ours, or with one that somebody else has signed, the engine lets nobody in.
  const Certificates ours(project_.path() / "ours");
  fs::create_directory(project_.path() / "nameless");
  fs::copy_file(folder / "ca.pem", project_.path() / "nameless/ca.pem");
  expect_nowhere(behind_tls(engine, project_.path() / "nameless"), "by TLS");
  ours.issue("cert", "DNS:guard", "2");
  fs::rename(ours.folder() / "cert-key.pem", ours.folder() / "key.pem");
  expect_nowhere(behind_tls(engine, ours.folder()),
      "not to be trusted");  // an authority that did not sign the engine's
  fs::copy_file(folder / "ca.pem", ours.folder() / "ca.pem", fs::copy_options::overwrite_existing);
  expect_nowhere(behind_tls(engine, ours.folder()), "by TLS");
}

TEST_F(WayToTheEngine, AContextThatWantsNoVerificationIsUnknown) {
  const std::string name = sha256_hex("far");
  project_.write(".docker/config.json", R"({"currentContext":"far"})");
  project_.write(".docker/contexts/meta/" + name + "/meta.json",
      R"({"Endpoints":{"docker":{"Host":"tcp://127.0.0.1:1","SkipTLSVerify":true}}})");
  expect_nowhere({{"DOCKER_HOST", "(unset)"}}, "certificate to be verified");
  project_.write(
      ".docker/contexts/meta/" + name + "/meta.json", R"({"Endpoints":{"docker":{"Host":"tcp://127.0.0.1:1"}}})");
  expect_nowhere({{"DOCKER_HOST", "(unset)"}}, "refuses connections");  // and not: absent
}

// ---- runs ----

class RemoteEngine : public ::testing::TestWithParam<std::string> {
 protected:
  void SetUp() override {
    GUARD_NEEDS(Needs::docker);
    if (GetParam() == "tcp") {
      plain_.emplace(docker_socket());
      environment_ = {{"DOCKER_HOST", plain_->url()}};
    } else {
      GUARD_NEEDS_TLS_ENGINE();
      const fs::path folder = from_environment("GUARD_TEST_TLS_FOLDER");
      environment_ = behind_tls(from_environment("GUARD_TEST_TLS_ENGINE"), folder);
      if (GetParam() == "context") {
        const std::string name = sha256_hex("far");
        project_.write(".docker/config.json", R"({"currentContext":"far"})");
        project_.write(".docker/contexts/meta/" + name + "/meta.json",
            fmt::format(R"({{"Endpoints":{{"docker":{{"Host":"{}"}}}}}})", environment_["DOCKER_HOST"]));
        EXPECT_TRUE(make_folders(project_.path() / ".docker/contexts/tls" / name));
        fs::create_directory_symlink(folder, project_.path() / ".docker/contexts/tls" / name / "docker");
        environment_ = {{"DOCKER_HOST", "(unset)"}};
      }
    }
  }

  ProgramResult guard(std::vector<std::string> arguments) const {
    return project_.guard(std::move(arguments), environment_);
  }

  ProgramResult run(std::vector<std::string> more = {}) const {
    const auto built = guard({"image", "build", "--engine"});
    EXPECT_EQ(built.exit_status, 0) << built.out << built.err;
    more.insert(more.begin(), {"run", "--format", "json", "--backend", "docker", "sandbox/a.test.ts"});
    return guard(std::move(more));
  }

  // Seen over the local socket: of this cache folder, nothing.
  static void expect_nothing_left() {
    ASSERT_EQ(::setenv("GUARD_CACHE_DIR", shared_cache().c_str(), 1), 0);
    const auto ours = docker_cache_label();
    ASSERT_TRUE(ours);
    const CancelToken never;
    docker::EngineClient engine(docker_socket(), never);
    const std::string label = fmt::format("{}={}", docker_label::kCache, *ours);
    const auto containers = engine.list_containers(label, Deadline::after(10s));
    ASSERT_TRUE(containers) << containers.error().to_string();
    EXPECT_TRUE(containers->empty()) << containers->size() << " containers are left";
    const auto images = engine.list_images(label, Deadline::after(10s));
    ASSERT_TRUE(images) << images.error().to_string();
    EXPECT_TRUE(images->empty()) << images->size() << " images are left";
  }

  Project project_;
  std::optional<TcpEngine> plain_;
  Variables environment_;
};

TEST_P(RemoteEngine, AllowsHonestTestsAndLeavesNothing) {
  project_.write("sandbox/a.test.ts",
      "import { expect, test } from \"bun:test\";\nimport { writeFileSync } from \"node:fs\";\nimport { add "
      "} from \"../src/add\";\n"
      "import { word } from \"./deep/er/helper\";\n"
      "test(\"runs\", () => { expect(add(1, 2)).toBe(3); expect(word).toBe(\"there\");\n"
      "  for (const name of [\"new\", \"sandbox/a.test.ts\", \"src/add.ts\", \"package.json\"]) {\n"
      "    expect(() => writeFileSync(\"/app/\" + name, \"x\")).toThrow(/EROFS|EACCES/); }\n"
      "  writeFileSync(\"/app/sandbox/new\", \"x\"); writeFileSync(\"/tmp/new\", \"x\"); });\n");
  project_.write("sandbox/deep/er/helper.ts", "export const word = \"there\";\n");
  const auto result = run({"--record", "record.json"});
  EXPECT_EQ(result.exit_status, 0) << result.out << result.err;
  const auto document = result.document();
  EXPECT_EQ(document["backend"], "docker");
  EXPECT_EQ(document["exec"]["enforced_by"]["sandbox_size"], "tmpfs");
  EXPECT_EQ(document["exec"]["enforced_by"]["memory"], "cgroup");
  EXPECT_EQ(document["exec"]["seen_inside"]["uid"], "1000");
  const auto text = read_file(project_.path() / "record.json", 64u << 20);
  ASSERT_TRUE(text);
  EXPECT_TRUE(
      nlohmann::json::parse(*text, nullptr, false)["engine"].dump().find("tcp://127.0.0.1:") != std::string::npos)
      << *text;
  const auto verified = guard({"verify", "record.json"});
  EXPECT_EQ(verified.exit_status, 0) << verified.out << verified.err;
  expect_nothing_left();
}

TEST_P(RemoteEngine, CannotWriteToAFolderOfThisMachine) {
  EXPECT_EQ(guard({"image", "build", "--engine"}).exit_status, 0);
  project_.write("out/old.txt", "old");
  const auto refused = guard({"exec", "--backend", "docker", "--write", "out", "--", "bun", "-e", "console.log(1)"});
  EXPECT_EQ(refused.exit_status, 2) << refused.err;
  EXPECT_EQ(refused.out, "");
  EXPECT_NE(refused.err.find("on another machine can't write"), std::string::npos) << refused.err;
}

TEST_P(RemoteEngine, RejectsFailingTestsFloodsAndTimeOuts) {
  project_.write("guard.toml", "[run]\ngrace_s = 1\n");
  project_.write("sandbox/a.test.ts",
      "import { expect, test } from \"bun:test\";\n"
      "test(\"wrong\", () => { const line = \"lorem ipsum dolor \".repeat(60) + \"\\n\"; for (let i = 0; i "
      "< 30000; i++) console.log(line); expect(1).toBe(2); }, 1e9);\n");
  const auto failed = run();
  EXPECT_EQ(failed.exit_status, 1) << failed.out << failed.err;
  EXPECT_EQ(failed.document()["reason"], "tests_failed");
  EXPECT_GT(failed.document()["output"]["dropped_bytes"].get<std::uint64_t>(), 30'000'000u);
  project_.write("sandbox/a.test.ts",
      "import { test } from \"bun:test\";\nprocess.on(\"SIGTERM\", () => {});\ntest(\"hangs\", () => { for "
      "(;;) console.log(\"on and on\"); }, 1e9);\n");
  const auto hung = run({"--timeout", "2"});
  EXPECT_EQ(hung.exit_status, 1) << hung.out << hung.err;
  EXPECT_EQ(hung.document()["reason"], "timed_out");
  project_.write("sandbox/a.test.ts",
      "import { expect, test } from \"bun:test\";\nimport { writeFileSync } from \"node:fs\";\n"
      "test(\"writes\", () => { writeFileSync(\"sandbox/made.txt\", \"made\"); expect(1).toBe(1); });\n");
  const auto collected = run({"--collect", "all"});
  EXPECT_EQ(collected.exit_status, 0) << collected.out << collected.err;
  EXPECT_EQ(*read_file(project_.path() / "sandbox/made.txt", 100), "made");
  const auto command = guard({"exec", "--", "/usr/local/bin/bun", "-e", "console.log(6 * 7)"});
  EXPECT_EQ(command.exit_status, 0) << command.err;
  EXPECT_EQ(command.out, "42\n");
  expect_nothing_left();
}

TEST_P(RemoteEngine, TheNextStartRemovesWhatAKilledGuardLeft) {
  project_.write("sandbox/a.test.ts",
      "import { test } from \"bun:test\";\ntest(\"lasts\", async () => { await Bun.sleep(600000); }, 1e9);\n");
  EXPECT_EQ(guard({"image", "build", "--engine"}).exit_status, 0);
  const auto begun = project_.environment();
  ASSERT_EQ(::setenv("GUARD_CACHE_DIR", shared_cache().c_str(), 1), 0);
  const auto ours = docker_cache_label();
  ASSERT_TRUE(ours);
  const std::string label = fmt::format("{}={}", docker_label::kCache, *ours);
  const CancelToken never;
  docker::EngineClient engine(docker_socket(), never);

  Variables variables = begun;
  for (const auto& [name, value] : environment_) {
    if (value == "(unset)") {
      variables.erase(name);
    } else {
      variables[name] = value;
    }
  }
  const pid_t pid = start_guard(
      {"run", "--quiet", "--project", project_.path().string(), (project_.path() / "sandbox/a.test.ts").string()},
      variables);
  ASSERT_GT(pid, 0);
  bool running = false;
  for (int waited = 0; waited < 600 && !running; ++waited) {
    std::this_thread::sleep_for(50ms);
    const auto containers = engine.list_containers(label, Deadline::after(10s));
    running = containers && !containers->empty() && containers->front().state == "running";
  }
  ::kill(pid, SIGKILL);
  ::waitpid(pid, nullptr, 0);
  ASSERT_TRUE(running);
  const auto images = engine.list_images(label, Deadline::after(10s));
  ASSERT_TRUE(images);
  EXPECT_FALSE(images->empty());

  const auto cleaned = guard({"clean"});
  EXPECT_EQ(cleaned.exit_status, 0) << cleaned.out << cleaned.err;
  expect_nothing_left();
}

INSTANTIATE_TEST_SUITE_P(
    Ways, RemoteEngine, ::testing::Values("tcp", "tls"), [](const auto& parameter) { return parameter.param; });

// A context brings its certificates along; otherwise it is the same way.
class RemoteEngineOfAContext : public RemoteEngine {};
TEST_P(RemoteEngineOfAContext, AllowsHonestTests) {
  project_.write("sandbox/a.test.ts", kPassing);
  const auto result = run();
  EXPECT_EQ(result.exit_status, 0) << result.out << result.err;
  expect_nothing_left();
}
INSTANTIATE_TEST_SUITE_P(
    Ways, RemoteEngineOfAContext, ::testing::Values("context"), [](const auto& parameter) { return parameter.param; });

}  // namespace
}  // namespace guard::testing

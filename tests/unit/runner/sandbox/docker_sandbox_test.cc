// The docker backend against a real engine: an image that holds one misbehaving program, and nothing left behind after
// any of it.
#include <arpa/inet.h>
#include <fcntl.h>
#include <gtest/gtest.h>
#include <linux/netlink.h>
#include <netinet/in.h>
#include <poll.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>
#include <thread>

#include "common/file_io.h"
#include "docker/engine_client.h"
#include "runner/process/run_folder.h"
#include "runner/sandbox/docker_sweep.h"
#include "runner/sandbox/sandbox.h"
#include "tests/support/engine/fake_engine.h"
#include "tests/support/engine/faulty_proxy.h"
#include "tests/support/engine/test_engine.h"
#include "tests/support/runner/collected_tree.h"
#include "tests/support/runner/program_image.h"
#include "tests/support/runner/sandbox_fixture.h"

namespace guard {
namespace {

using nlohmann::json;

// Of this process alone: tests run side by side, and some load another image.
const std::string kImage = "guard-test-docker-sandbox:" + std::to_string(::getpid());

Deadline late() { return Deadline::after(milliseconds(60'000)); }

class StringSink final : public ByteSink {
 public:
  Result<void> push(std::span<const char> bytes) override {
    text.append(bytes.data(), bytes.size());
    if (on_push) return on_push();
    return ok();
  }
  Result<void> finish() override {
    finished = true;
    return ok();
  }
  std::string text;
  bool finished = false;
  std::function<Result<void>()> on_push;
};

class DockerSandboxTest : public ::testing::Test {
 protected:
  explicit DockerSandboxTest(std::string socket = test_engine_socket())
      : socket_(std::move(socket)), engine_(socket_, never_) {}

  void SetUp() override {
    GUARD_NEEDS_TEST_ENGINE();
    set_up_engine();
  }

  void set_up_engine() {
    auto folder = TempDir::create();
    ASSERT_TRUE(folder);
    folder_.emplace(std::move(*folder));
    // A cache of our own: what runs here is no other test's business.
    ::setenv("GUARD_CACHE_DIR", folder_->path().c_str(), 1);
    load_image(json::object());
  }

  void TearDown() override {
    if (!folder_) return;
    const auto left = containers();
    EXPECT_TRUE(left.empty()) << left.size() << " containers were left behind";
    for (const auto& container : left) EXPECT_TRUE(engine_.remove_container(container.id, late()));
    EXPECT_TRUE(engine_.remove_image(kImage, late()));
    ::unsetenv("GUARD_CACHE_DIR");
  }

  void load_image(const json& config_extra) {
    const auto id = testing::load_program_image(
        engine_, kImage, {{"bin/misbehave", GUARD_BINARY_DIR "/tests/container_cases/misbehave"}}, config_extra);
    ASSERT_TRUE(id) << id.error().to_string();
    image_id_ = *id;
  }

  std::vector<docker::Labelled> containers() {
    const auto label = docker_cache_label();
    EXPECT_TRUE(label);
    auto list = engine_.list_containers(std::string(docker_label::kCache) + "=" + *label, late());
    EXPECT_TRUE(list) << list.error().to_string();
    return list ? *list : std::vector<docker::Labelled>();
  }

  SandboxSpec spec(std::vector<std::string> arguments) const {
    static int runs = 0;
    SandboxSpec result;
    result.run_id = "test-" + std::to_string(::getpid()) + "-" + std::to_string(++runs);
    result.argv = {"/bin/misbehave"};
    result.argv.insert(result.argv.end(), arguments.begin(), arguments.end());
    result.working_dir = "/tmp";
    result.env = {{"HOME", "/tmp"}};
    result.image = {kImage, image_id_, {}};
    result.timeout = milliseconds(60'000);
    result.grace = milliseconds(1500);
    return result;
  }

  Result<ExecResult> run(const SandboxSpec& wanted) { return run(wanted, socket_); }
  Result<ExecResult> run(const SandboxSpec& wanted, const std::string& socket) {
    out_.text.clear();
    err_.text.clear();
    return make_docker_sandbox({socket, "", milliseconds(10'000)})->run(wanted, out_, err_, cancel_);
  }

  // Runs to the end and expects the program to have left with 0.
  std::string output_of(const SandboxSpec& wanted) {
    const auto result = run(wanted);
    EXPECT_TRUE(result) << result.error().to_string();
    if (result) {
      EXPECT_EQ(result->outcome.kind, OutcomeKind::exited) << to_string(result->outcome.kind) << result->outcome.detail;
      EXPECT_EQ(result->outcome.value, 0) << out_.text;
    }
    return out_.text;
  }

  std::string socket_;
  std::optional<TempDir> folder_;
  CancelToken never_;
  CancelToken cancel_;
  docker::EngineClient engine_;
  std::string image_id_;
  StringSink out_;
  StringSink err_;
};

TEST_F(DockerSandboxTest, TellsExitCodeAndBothStreams) {
  const auto result = run(spec({"exit", "7"}));
  ASSERT_TRUE(result) << result.error().to_string();
  EXPECT_EQ(result->outcome.kind, OutcomeKind::exited);
  EXPECT_EQ(result->outcome.value, 7);
  EXPECT_EQ(out_.text, "to stdout\n");
  EXPECT_EQ(err_.text, "to stderr\n");
  EXPECT_EQ(result->stdout_bytes, 10u);
  EXPECT_EQ(result->stderr_bytes, 10u);
  EXPECT_FALSE(out_.finished);  // only the caller knows whether the stream was whole
  EXPECT_EQ(result->enforced_by.at("memory"), "cgroup");
}

TEST_F(DockerSandboxTest, TellsTheSignalThatEndedTheProgram) {
  const auto result = run(spec({"die", "11"}));
  ASSERT_TRUE(result) << result.error().to_string();
  EXPECT_EQ(result->outcome.kind, OutcomeKind::signaled);
  EXPECT_EQ(result->outcome.value, 11);
}

TEST_F(DockerSandboxTest, HandsOutTheReport) {
  SandboxSpec wanted = spec({"report", "<testsuites/>"});
  wanted.report = ReportChannel::on;
  const auto result = run(wanted);
  ASSERT_TRUE(result) << result.error().to_string();
  EXPECT_EQ(result->report, "<testsuites/>");
  const auto without = run(spec({"exit", "0"}));
  ASSERT_TRUE(without);
  EXPECT_FALSE(without->report.has_value());
}

TEST_F(DockerSandboxTest, SaysWhenTheProgramCannotBeStarted) {
  SandboxSpec wanted = spec({});
  wanted.argv = {"/bin/none"};
  const auto result = run(wanted);
  ASSERT_FALSE(result);
  EXPECT_EQ(result.error().code(), ErrorCode::file_not_found);
}

TEST_F(DockerSandboxTest, ConfinesTheProgramAsSeenFromInside) {
  const std::string status = output_of(spec({"cat", "/proc/self/status"}));
  for (const char* line : {"Uid:\t1000\t1000\t1000\t1000\n", "Gid:\t1000\t1000\t1000\t1000\n",
           "CapEff:\t0000000000000000\n", "CapPrm:\t0000000000000000\n", "CapBnd:\t0000000000000000\n",
           "CapAmb:\t0000000000000000\n", "NoNewPrivs:\t1\n", "Seccomp:\t2\n"}) {
    EXPECT_NE(status.find(line), std::string::npos) << line << status;
  }
  EXPECT_EQ(output_of(spec({"cat", "/proc/net/dev"})).find("eth"), std::string::npos);
  EXPECT_EQ(output_of(spec({"cat", "/proc/self/cgroup"})).find("docker"), std::string::npos);
  const std::string resolver = output_of(spec({"cat", "/etc/resolv.conf"}));
  EXPECT_EQ(resolver.find("nameserver"), resolver.find("nameserver 127.0.0.1\n")) << resolver;
  EXPECT_EQ(resolver.find("nameserver"), resolver.rfind("nameserver")) << resolver;
  const std::string limits = output_of(spec({"cat", "/proc/self/limits"}));
  EXPECT_NE(limits.find("Max core file size        0                    0"), std::string::npos) << limits;
  EXPECT_NE(limits.find("Max open files            4096                 4096"), std::string::npos) << limits;
}

TEST_F(DockerSandboxTest, PassesOnlyTheGivenEnvironment) {
  SandboxSpec wanted = spec({"environment"});
  wanted.env = {{"HOME", "/tmp"}, {"A", "b=c"}};
  EXPECT_EQ(output_of(wanted), "A=b=c\nHOME=/tmp\n");
}

TEST_F(DockerSandboxTest, WritesReachOnlyTheScratchFolders) {
  const auto staged = folder_->path() / "staged";
  ASSERT_TRUE(make_folders(staged, 0755));
  ASSERT_TRUE(write_file_atomically(staged / "a.test.ts", "checked\n", 0666));
  SandboxSpec wanted = spec({});
  testing::write_fill_file(staged, folder_->path() / "fill");
  wanted.scratch = {{"/app/sandbox", "/.fill", 1 << 20, 100}};
  wanted.mounts = {{staged, "/staged"}, {folder_->path() / "fill", "/.fill"}};
  const auto attempt = [&](const std::string& how, const std::string& path) {
    wanted.argv = {"/bin/misbehave", how, path};
    wanted.run_id += "x";
    const auto result = run(wanted);
    EXPECT_TRUE(result) << result.error().to_string();
    return out_.text;
  };
  EXPECT_EQ(attempt("cat", "/app/sandbox/a.test.ts"), "checked\n");
  EXPECT_EQ(attempt("write", "/app/sandbox/a.test.ts"), "EACCES\n");
  EXPECT_EQ(attempt("write", "/staged/a.test.ts"), "EROFS\n");
  EXPECT_EQ(attempt("write", "/app/sandbox/new"), "ok\n");
  EXPECT_EQ(attempt("write", "/tmp/new"), "ok\n");
  EXPECT_EQ(attempt("write", "/dev/shm/new"), "ok\n");
  for (const char* path :
      {"/new", "/bin/new", "/app/new", "/etc/new", "/.guard-init", "/proc/sys/kernel/core_pattern", "/sys/new"}) {
    EXPECT_NE(attempt("write", path), "ok\n") << path;
  }
  EXPECT_EQ(attempt("cat", "/proc/cmdline"), "");
}

// As in the embedded sandbox; what was copied into the folder is not among them.
TEST_F(DockerSandboxTest, HandsOutPlainFilesAndTellsOfTheRest) {
  ASSERT_TRUE(make_folders(folder_->path() / "staged/nested", 0755));
  for (const char* name : {"given", "nested/given"})
    ASSERT_TRUE(write_file_atomically(folder_->path() / "staged" / name, "as given\n", 0644));
  testing::write_fill_file(folder_->path() / "staged", folder_->path() / "fill");
  auto wanted = spec({});
  wanted.argv = {"/writes_files", "tree", "/app/scratch"};
  wanted.scratch = {{"/app/scratch", "/.fill", 16 << 20, 1000}};
  wanted.mounts = {
      {GUARD_BINARY_DIR "/tests/cases/writes_files", "/writes_files"}, {folder_->path() / "fill", "/.fill"}};
  wanted.limits.file_bytes = 1ull << 41;  // else the sparse file could not be made
  wanted.collect = collecting::collect_all("/app/scratch");
  const auto result = run(wanted);
  ASSERT_TRUE(result) << result.error().to_string();
  ASSERT_EQ(result->outcome.value, 0) << err_.text;
  ASSERT_TRUE(result->collected.has_value());
  collecting::expect_collected_tree(*result->collected);
}

TEST_F(DockerSandboxTest, GivesEachOfSeveralProgramsAFreshWorld) {
  ASSERT_TRUE(make_folders(folder_->path() / "staged/nested", 0755));
  for (const char* name : {"given", "nested/given"})
    ASSERT_TRUE(write_file_atomically(folder_->path() / "staged" / name, "as given\n", 0644));
  testing::write_fill_file(folder_->path() / "staged", folder_->path() / "fill");
  auto wanted = spec({});
  wanted.argv = {"/leaves_a_mess", "/app/scratch"};
  wanted.each = {"one", "fails", "three"};
  wanted.scratch = {{"/app/scratch", "/.fill", 16 << 20, 8000}};
  wanted.mounts = {
      {GUARD_BINARY_DIR "/tests/cases/leaves_a_mess", "/leaves_a_mess"}, {folder_->path() / "fill", "/.fill"}};
  wanted.collect = CollectRequest{"/app/scratch", 0, 0, 0};
  const auto result = run(wanted);
  ASSERT_TRUE(result) << result.error().to_string();
  EXPECT_EQ(out_.text, "one fresh\nfails fresh\nthree fresh\n") << err_.text;
  ASSERT_EQ(result->earlier.size(), 2u);
  EXPECT_EQ(result->earlier[1].outcome.value, 1);
}

TEST_F(DockerSandboxTest, LimitsBytesAndFilesOfTheScratchFolders) {
  SandboxSpec wanted = spec({"fill", "/app/sandbox/big"});
  wanted.scratch = {{"/app/sandbox", "", 1 << 20, 100}};
  EXPECT_EQ(output_of(wanted), "1048576 ENOSPC\n");
  wanted = spec({"many-files", "/app/sandbox"});
  wanted.scratch = {{"/app/sandbox", "", 1 << 20, 100}};
  EXPECT_EQ(output_of(wanted), "99 ENOSPC\n");  // the folder itself is one
  wanted = spec({"fill", "/tmp/big"});
  wanted.limits.tmp_bytes = 2 << 20;
  EXPECT_EQ(output_of(wanted), "2097152 ENOSPC\n");
}

TEST_F(DockerSandboxTest, StartsNothingWhereAnotherFolderWasMounted) {
  const TempDir shared = *TempDir::create();
  ASSERT_EQ(::chmod(shared.path().c_str(), 0755), 0);
  struct stat there {};
  ASSERT_EQ(::stat(shared.path().c_str(), &there), 0);
  SandboxSpec wanted = spec({"exit", "3"});
  wanted.shared = {{shared.path(), "/shared", {there.st_dev, there.st_ino}}};
  const auto result = run(wanted);
  ASSERT_TRUE(result) << result.error().to_string();
  EXPECT_EQ(result->outcome.value, 3);
  wanted = spec({"exit", "3"});
  wanted.shared = {{shared.path(), "/shared", {there.st_dev, there.st_ino + 1}}};
  const auto refused = run(wanted);
  ASSERT_FALSE(refused);
  EXPECT_NE(refused.error().message().find("replaced"), std::string::npos) << refused.error().to_string();
}

TEST_F(DockerSandboxTest, ATimeOutSaysNothingOfAProgramThatDidNotStart) {
  for (int i = 0; i < 5; ++i) {
    SandboxSpec wanted = spec({"ignore-term"});
    wanted.timeout = milliseconds(1);
    wanted.grace = milliseconds(0);
    const auto result = run(wanted);
    if (!result) {
      EXPECT_EQ(result.error().code(), ErrorCode::execution_timeout) << result.error().to_string();
    } else {
      EXPECT_EQ(result->outcome.kind, OutcomeKind::timed_out);
      EXPECT_FALSE(result->seen_inside.empty());
    }
  }
}

// The request would mean another folder, or another value.
TEST_F(DockerSandboxTest, RefusesWhatTheEngineCannotBeTold) {
  SandboxSpec wanted = spec({"exit", "0"});
  wanted.env["NAME"] = "\xff";
  const auto refused = run(wanted);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code(), ErrorCode::input_invalid);
  wanted = spec({"exit", "\xff"});
  EXPECT_FALSE(run(wanted));
}

TEST_F(DockerSandboxTest, EndsAProgramThatIgnoresTermAtTheTimeOut) {
  SandboxSpec wanted = spec({"ignore-term"});
  wanted.timeout = milliseconds(2000);
  const auto result = run(wanted);
  ASSERT_TRUE(result) << result.error().to_string();
  EXPECT_EQ(result->outcome.kind, OutcomeKind::timed_out);
  EXPECT_EQ(result->outcome.value, 2000);
}

TEST_F(DockerSandboxTest, TermIsEnoughForAProgramThatHeedsIt) {
  SandboxSpec wanted = spec({"sleep"});
  wanted.timeout = milliseconds(2000);
  wanted.grace = milliseconds(60'000);  // the test would run out of time if TERM did not reach the program
  const auto result = run(wanted);
  ASSERT_TRUE(result) << result.error().to_string();
  EXPECT_EQ(result->outcome.kind, OutcomeKind::timed_out);
}

TEST_F(DockerSandboxTest, ADaemonThatHoldsTheOutputDoesNotHoldUpTheRun) {
  EXPECT_EQ(output_of(spec({"leave-daemon"})), "parent ends\n");
}

TEST_F(DockerSandboxTest, CancelEndsTheRun) {
  out_.on_push = [this]() -> Result<void> {
    cancel_.cancel();
    return ok();
  };
  const auto result = run(spec({"ignore-term"}));
  ASSERT_TRUE(result) << result.error().to_string();
  EXPECT_EQ(result->outcome.kind, OutcomeKind::cancelled);
}

TEST_F(DockerSandboxTest, ACancelledTokenStartsNothing) {
  cancel_.cancel();
  const auto result = run(spec({"exit", "0"}));
  ASSERT_FALSE(result);
  EXPECT_EQ(result.error().code(), ErrorCode::cancelled);
}

TEST_F(DockerSandboxTest, AFailingSinkEndsTheRunWithItsError) {
  out_.on_push = []() -> Result<void> { return Error(ErrorCode::withheld, "no"); };
  const auto result = run(spec({"sleep"}));
  ASSERT_FALSE(result);
  EXPECT_EQ(result.error().code(), ErrorCode::withheld);
}

TEST_F(DockerSandboxTest, EndsAFlood) {
  SandboxSpec wanted = spec({"flood"});
  wanted.limits.output_flood_bytes = 8 << 20;
  const auto result = run(wanted);
  ASSERT_TRUE(result) << result.error().to_string();
  EXPECT_EQ(result->outcome.kind, OutcomeKind::output_flood);
  EXPECT_LE(out_.text.size(), 8u << 20);
}

TEST_F(DockerSandboxTest, SeesThatMemoryRanOut) {
  SandboxSpec wanted = spec({"eat-memory"});
  wanted.limits.memory_bytes = 64 << 20;
  const auto result = run(wanted);
  ASSERT_TRUE(result) << result.error().to_string();
  EXPECT_EQ(result->outcome.kind, OutcomeKind::out_of_memory) << to_string(result->outcome.kind);
}

// The program itself exits 0: only the engine knows.
TEST_F(DockerSandboxTest, SeesThatAChildRanOutOfMemory) {
  for (int round = 0; round < 5; ++round) {
    SandboxSpec wanted = spec({"eat-memory-in-child"});
    wanted.limits.memory_bytes = 64 << 20;
    const auto result = run(wanted);
    ASSERT_TRUE(result) << result.error().to_string();
    EXPECT_EQ(result->outcome.kind, OutcomeKind::out_of_memory) << to_string(result->outcome.kind);
  }
}

TEST_F(DockerSandboxTest, LimitsTheNumberOfProcesses) {
  SandboxSpec wanted = spec({"count-forks"});
  wanted.limits.pids = 32;
  const auto result = run(wanted);
  ASSERT_TRUE(result) << result.error().to_string();
  EXPECT_EQ(out_.text, "30 EAGAIN\n");  // besides the init and the program itself
}

TEST_F(DockerSandboxTest, CallsAnAttackOnTheInitAViolation) {
  const auto result = run(spec({"term-init"}));
  ASSERT_TRUE(result) << result.error().to_string();
  EXPECT_EQ(result->outcome.kind, OutcomeKind::violation) << to_string(result->outcome.kind);
}

// What the engine itself says about the running container.
TEST_F(DockerSandboxTest, TheEngineHoldsEveryLimit) {
  json seen;
  SandboxSpec wanted = spec({"sleep"});
  wanted.limits.pids = 77;
  out_.on_push = [&]() -> Result<void> {
    const auto text = engine_.describe_container(docker_container_name(wanted.run_id), late());
    EXPECT_TRUE(text);
    if (text) seen = json::parse(*text, nullptr, false);
    cancel_.cancel();
    return ok();
  };
  ASSERT_TRUE(run(wanted));
  ASSERT_TRUE(seen.is_object());
  const json& host = seen["HostConfig"];
  EXPECT_EQ(host["Memory"], 2147483648);
  EXPECT_EQ(host["MemorySwap"], 2147483648);
  EXPECT_EQ(host["NanoCpus"], 2000000000);
  EXPECT_EQ(host["PidsLimit"], 77);
  EXPECT_EQ(host["NetworkMode"], "none");
  EXPECT_EQ(host["CapDrop"], json::array({"ALL"}));
  EXPECT_EQ(host["ReadonlyRootfs"], true);
  EXPECT_EQ(host["Privileged"], false);
  EXPECT_EQ(host["IpcMode"], "none");
  EXPECT_EQ(host["CgroupnsMode"], "private");
  EXPECT_EQ(host["LogConfig"]["Type"], "none");
  EXPECT_EQ(host["AutoRemove"], false);
  EXPECT_EQ(host["SecurityOpt"][0], "no-new-privileges");
  EXPECT_TRUE(host["SecurityOpt"][1].get<std::string>().starts_with("seccomp={"));
  EXPECT_TRUE(
      std::find(host["MaskedPaths"].begin(), host["MaskedPaths"].end(), "/proc/kcore") != host["MaskedPaths"].end());
  EXPECT_EQ(seen["Config"]["User"], "1000:1000");
  EXPECT_EQ(seen["Config"]["OpenStdin"], true);
  EXPECT_EQ(seen["Config"]["Labels"][docker_label::kRun], wanted.run_id);
  for (const json& mount : seen["Mounts"]) EXPECT_EQ(mount["RW"], false) << mount;
}

// --- the network ---

// Says one line to each who connects.
class TalkingListener {
 public:
  explicit TalkingListener(const std::string& address)
      : address_(address), fd_(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
    sockaddr_in name{};
    name.sin_family = AF_INET;
    EXPECT_EQ(::inet_pton(AF_INET, address.c_str(), &name.sin_addr), 1);
    EXPECT_EQ(::bind(fd_.get(), reinterpret_cast<const sockaddr*>(&name), sizeof name), 0);
    EXPECT_EQ(::listen(fd_.get(), 8), 0);
    socklen_t size = sizeof name;
    EXPECT_EQ(::getsockname(fd_.get(), reinterpret_cast<sockaddr*>(&name), &size), 0);
    port_ = ntohs(name.sin_port);
    thread_ = std::thread([this] {
      for (;;) {
        const UniqueFd client(::accept4(fd_.get(), nullptr, nullptr, SOCK_CLOEXEC));
        if (!client) return;
        static_cast<void>(write_all(client.get(), "reached"));
      }
    });
  }
  ~TalkingListener() {
    ::shutdown(fd_.get(), SHUT_RDWR);
    thread_.join();
  }
  std::string name() const { return address_ + ":" + std::to_string(port_); }

 private:
  std::string address_;
  UniqueFd fd_;
  std::uint16_t port_ = 0;
  std::thread thread_;
};

// Of /proc/net/dev.
std::set<std::string> interfaces_in(const std::string& text) {
  std::set<std::string> names;
  std::size_t begin = 0;
  while (begin < text.size()) {
    const std::size_t end = std::min(text.find('\n', begin), text.size());
    const std::string line = text.substr(begin, end - begin);
    const std::size_t colon = line.find(':');
    if (colon != std::string::npos)
      names.insert(line.substr(line.find_first_not_of(' '), colon - line.find_first_not_of(' ')));
    begin = end + 1;
  }
  return names;
}

std::size_t lines_in(const std::string& text) {
  return static_cast<std::size_t>(std::count(text.begin(), text.end(), '\n'));
}

class DockerNetworkTest : public DockerSandboxTest {
 protected:
  SandboxSpec spec_in(Network network, std::vector<std::string> arguments) const {
    SandboxSpec wanted = spec(std::move(arguments));
    wanted.network = network;
    return wanted;
  }

  // A wider network widens nothing else: the families that no test needs stay closed.
  void expect_closed_families(Network network) {
    for (const int family : {AF_PACKET, AF_VSOCK, AF_ALG}) {
      EXPECT_EQ(output_of(spec_in(network, {"open-socket", std::to_string(family)})), "EPERM\n") << family;
    }
    EXPECT_EQ(output_of(spec_in(network, {"open-netlink", std::to_string(NETLINK_ROUTE)})), "ok\n");
    EXPECT_EQ(output_of(spec_in(network, {"open-netlink", std::to_string(NETLINK_NETFILTER)})), "EPERM\n");
  }
};

TEST_F(DockerNetworkTest, NoneHasTheLoopbackAndNoRoute) {
  EXPECT_EQ(interfaces_in(output_of(spec_in(Network::none, {"cat", "/proc/net/dev"}))), std::set<std::string>{"lo"});
  EXPECT_EQ(lines_in(output_of(spec_in(Network::none, {"cat", "/proc/net/route"}))), 1u);  // its heading
  const TalkingListener listener("127.0.0.1");
  const auto refused = run(spec_in(Network::none, {"talk-to", listener.name()}));
  ASSERT_TRUE(refused) << refused.error().to_string();
  EXPECT_EQ(out_.text, "ECONNREFUSED\n");  // a loopback of its own
  EXPECT_EQ(refused->enforced_by.at("network"), "namespace");
  expect_closed_families(Network::none);
}

TEST_F(DockerNetworkTest, BridgeReachesTheBridge) {
  if (test_bridge_address().empty()) {
    if (std::getenv("GUARD_TEST_REQUIRE_BRIDGE") != nullptr) FAIL() << "GUARD_TEST_BRIDGE_ADDRESS is not set";
    GTEST_SKIP() << "needs an engine with a bridge: set GUARD_TEST_BRIDGE_ADDRESS";
  }
  const TalkingListener listener(test_bridge_address());
  const auto reached = run(spec_in(Network::bridge, {"talk-to", listener.name()}));
  ASSERT_TRUE(reached) << reached.error().to_string();
  EXPECT_EQ(out_.text, "reached\n");
  EXPECT_EQ(reached->enforced_by.at("network"), "open");  // nothing holds it back
  const std::string network = test_bridge_address().substr(0, test_bridge_address().rfind('.') + 1);
  EXPECT_TRUE(output_of(spec_in(Network::bridge, {"address", "eth0"})).starts_with(network)) << out_.text;
  EXPECT_EQ(interfaces_in(output_of(spec_in(Network::bridge, {"cat", "/proc/net/dev"}))),
      (std::set<std::string>{"eth0", "lo"}));
  expect_closed_families(Network::bridge);
  // And what can be reached so cannot be reached without.
  ASSERT_TRUE(run(spec_in(Network::none, {"talk-to", listener.name()})));
  EXPECT_EQ(out_.text, "ENETUNREACH\n");
}

TEST_F(DockerNetworkTest, HostIsTheNetworkOfTheMachine) {
  const TalkingListener listener("127.0.0.1");
  const auto reached = run(spec_in(Network::host, {"talk-to", listener.name()}));
  ASSERT_TRUE(reached) << reached.error().to_string();
  EXPECT_EQ(out_.text, "reached\n");
  EXPECT_EQ(reached->enforced_by.at("network"), "open");
  const auto ours = read_file("/proc/net/dev", 1 << 20);
  const auto inside = interfaces_in(output_of(spec_in(Network::host, {"cat", "/proc/net/dev"})));
  ASSERT_TRUE(ours);
  // Those of other containers come and go.
  for (const std::string& name : interfaces_in(*ours)) {
    if (name.starts_with("veth")) continue;
    EXPECT_EQ(inside.count(name), 1u) << name;
  }
  expect_closed_families(Network::host);
}

TEST_F(DockerSandboxTest, RefusesAnImageThatIsMissingOrAnother) {
  SandboxSpec wanted = spec({"exit", "0"});
  wanted.image.reference = "guard-test-none:latest";
  auto result = run(wanted);
  ASSERT_FALSE(result);
  EXPECT_EQ(result.error().code(), ErrorCode::image_missing);
  EXPECT_NE(result.error().hint().find("guard image build"), std::string_view::npos);
  wanted = spec({"exit", "0"});
  wanted.image.id = "sha256:" + std::string(64, '0');
  result = run(wanted);
  ASSERT_FALSE(result);
  EXPECT_EQ(result.error().code(), ErrorCode::image_missing);
}

TEST_F(DockerSandboxTest, RefusesAnImageThatDeclaresVolumes) {
  load_image({{"Volumes", {{"/data", json::object()}}}});
  const auto result = run(spec({"exit", "0"}));
  ASSERT_FALSE(result);
  EXPECT_EQ(result.error().code(), ErrorCode::environment_creation_failed);
}

TEST_F(DockerSandboxTest, RefusesAnInvalidSpec) {
  SandboxSpec wanted = spec({});
  wanted.argv.clear();
  const auto result = run(wanted);
  ASSERT_FALSE(result);
  EXPECT_EQ(result.error().code(), ErrorCode::input_invalid);
}

TEST_F(DockerSandboxTest, AContainerOfTheSameNameIsNotRemovedForUs) {
  const SandboxSpec wanted = spec({"exit", "0"});
  const auto label = docker_cache_label();
  ASSERT_TRUE(label);
  const json body = {{"Image", image_id_}, {"Cmd", {"/bin/misbehave"}}, {"Labels", {{docker_label::kCache, *label}}}};
  const auto other = engine_.create_container(docker_container_name(wanted.run_id), body.dump(), late());
  ASSERT_TRUE(other);
  const auto result = run(wanted);
  ASSERT_FALSE(result);
  EXPECT_EQ(result.error().code(), ErrorCode::environment_creation_failed);
  EXPECT_TRUE(engine_.inspect_container(*other, late()));
  EXPECT_TRUE(engine_.remove_container(*other, late()));
}

TEST_F(DockerSandboxTest, ProbesTheEngine) {
  const auto sandbox = make_docker_sandbox({test_engine_socket(), "", milliseconds(10'000)});
  const auto probe = sandbox->probe(late());
  EXPECT_EQ(probe.state, ProbeState::available) << probe.reason;
  EXPECT_FALSE(probe.version.empty());
  EXPECT_EQ(probe.endpoint, "unix://" + test_engine_socket());
  EXPECT_EQ(probe.facts.at("seccomp"), "true");
}

// Every call of a run fails once, in four ways. Whatever happens: no container stays, and a result is only ever the
// truth.
class EveryCallFails : public DockerSandboxTest, public ::testing::WithParamInterface<Fault> {
 protected:
  void fail_each_call_of(const SandboxSpec& like, OutcomeKind truth) {
    FaultyProxy counting(test_engine_socket(), 0, Fault::none);
    SandboxSpec wanted = like;
    wanted.run_id += "-0";
    const auto clean = run(wanted, counting.socket());
    ASSERT_TRUE(clean) << clean.error().to_string();
    ASSERT_EQ(clean->outcome.kind, truth);
    const int calls = counting.connections();
    ASSERT_GE(calls, 8);
    int failures = 0;
    for (int failing = 1; failing <= calls; ++failing) {
      FaultyProxy proxy(test_engine_socket(), failing, GetParam());
      wanted.run_id = like.run_id + "-" + std::to_string(failing);
      const auto result = run(wanted, proxy.socket());
      if (result) {
        EXPECT_EQ(result->outcome.kind, truth) << "call " << failing;
      } else {
        ++failures;
        EXPECT_NE(result.error().code(), ErrorCode::execution_timeout) << "call " << failing;
      }
      EXPECT_TRUE(containers().empty()) << "call " << failing;
    }
    // All but the removal, which is tried again.
    EXPECT_GE(failures, calls - 3);
  }
};

TEST_P(EveryCallFails, NothingStaysBehindAFinishedRun) { fail_each_call_of(spec({"exit", "0"}), OutcomeKind::exited); }

TEST_P(EveryCallFails, NothingStaysBehindATimeOut) {
  SandboxSpec wanted = spec({"ignore-term"});
  wanted.timeout = milliseconds(500);
  wanted.grace = milliseconds(100);
  fail_each_call_of(wanted, OutcomeKind::timed_out);
}

INSTANTIATE_TEST_SUITE_P(DockerSandbox, EveryCallFails,
    ::testing::Values(Fault::drop_request, Fault::drop_answer, Fault::answer_500, Fault::half_answer));

void wait_until_it_ends(docker::EngineClient& engine, const std::string& container) {
  const auto code = engine.wait(container, late());
  EXPECT_TRUE(code) << code.error().to_string();
}

// The engine dies under a running program: no verdict, and the container ends by its life line.
TEST_F(DockerSandboxTest, AnEngineThatDiesLeavesTheRunUndecided) {
  FaultyProxy proxy(test_engine_socket(), 0, Fault::none);
  out_.on_push = [&proxy]() -> Result<void> {
    proxy.die();
    return ok();
  };
  const SandboxSpec wanted = spec({"ignore-term"});
  const auto result = run(wanted, proxy.socket());
  ASSERT_FALSE(result);
  EXPECT_EQ(result.error().exit_status(), 2) << result.error().to_string();
  wait_until_it_ends(engine_, docker_container_name(wanted.run_id));
  const auto swept = docker_sweep(test_engine_socket(), never_);
  ASSERT_TRUE(swept);
  EXPECT_EQ(swept->removed, std::vector<std::string>{wanted.run_id});
}

// The engine is stopped under a running program: once the run's own time and grace are over nobody waits for it again
// and again.
TEST_F(DockerSandboxTest, AnEngineThatIsStoppedIsNamedAndNotWaitedForAgain) {
  FaultyProxy proxy(test_engine_socket(), 0, Fault::none);
  out_.on_push = [&proxy]() -> Result<void> {
    proxy.hang();
    return ok();
  };
  SandboxSpec wanted = spec({"ignore-term"});
  wanted.timeout = milliseconds(2'000);
  wanted.grace = milliseconds(3'000);
  const auto result = run(wanted, proxy.socket());
  ASSERT_FALSE(result);
  EXPECT_EQ(result.error().exit_status(), 2) << result.error().to_string();
  EXPECT_NE(result.error().to_string().find(proxy.socket()), std::string::npos) << result.error().to_string();
  EXPECT_NE(result.error().to_string().find("docker version"), std::string::npos) << result.error().to_string();
  EXPECT_LE(proxy.connections_while_hung(), 2) << "TERM, and a ping before the container is given up";
  EXPECT_GE(proxy.connections_while_hung(), 1);
  proxy.die();
  wait_until_it_ends(engine_, docker_container_name(wanted.run_id));
  const auto swept = docker_sweep(test_engine_socket(), never_);
  ASSERT_TRUE(swept);
  EXPECT_EQ(swept->removed, std::vector<std::string>{wanted.run_id});
}

// A process of ours that runs a container, until it is killed.
class RunningGuard {
 public:
  explicit RunningGuard(SandboxSpec wanted, const std::string& socket = test_engine_socket()) {
    int ends[2];
    EXPECT_EQ(::pipe2(ends, O_CLOEXEC), 0);
    UniqueFd read_end(ends[0]);
    UniqueFd write_end(ends[1]);
    pid_ = ::fork();
    if (pid_ == 0) {
      auto folder = RunFolder::create();
      if (!folder) ::_exit(2);
      wanted.run_id = folder->run_id();
      StringSink out;
      StringSink err;
      const CancelToken never;
      out.on_push = [&]() -> Result<void> { return write_all(write_end.get(), wanted.run_id); };
      static_cast<void>(make_docker_sandbox({socket, "", milliseconds(10'000)})->run(wanted, out, err, never));
      ::_exit(1);
    }
    write_end.reset();
    char id[256];
    const ssize_t size = ::read(read_end.get(), id, sizeof id);
    if (size > 0) run_id_.assign(id, static_cast<std::size_t>(size));
  }
  ~RunningGuard() { kill(); }
  void kill() {
    if (pid_ <= 0) return;
    ::kill(pid_, SIGKILL);
    ::waitpid(pid_, nullptr, 0);
    pid_ = -1;
  }
  const std::string& run_id() const { return run_id_; }

 private:
  pid_t pid_ = -1;
  std::string run_id_;
};

TEST_F(DockerSandboxTest, AContainerEndsWhenItsGuardIsKilledAndIsSwept) {
  RunningGuard guard(spec({"ignore-term"}));
  ASSERT_FALSE(guard.run_id().empty());
  const std::string container = docker_container_name(guard.run_id());
  auto state = engine_.inspect_container(container, late());
  ASSERT_TRUE(state);
  EXPECT_TRUE(state->running);

  // As long as its guard lives it is nobody else's business.
  auto swept = docker_sweep(test_engine_socket(), never_);
  ASSERT_TRUE(swept);
  EXPECT_TRUE(swept->removed.empty());
  EXPECT_TRUE(engine_.inspect_container(container, late()));

  guard.kill();
  wait_until_it_ends(engine_, container);
  swept = docker_sweep(test_engine_socket(), never_);
  ASSERT_TRUE(swept);
  EXPECT_EQ(swept->removed, std::vector<std::string>{guard.run_id()});
  EXPECT_TRUE(swept->failed.empty());
}

TEST_F(DockerSandboxTest, ASweepLeavesOtherCachesAlone) {
  const json body = {{"Image", image_id_}, {"Cmd", {"/bin/misbehave"}},
      {"Labels", {{docker_label::kCache, "0000000000000000"}, {docker_label::kRun, "r"}}}};
  const auto other =
      engine_.create_container("guard-test-other-cache-" + std::to_string(::getpid()), body.dump(), late());
  ASSERT_TRUE(other) << other.error().to_string();
  const auto swept = docker_sweep(test_engine_socket(), never_);
  ASSERT_TRUE(swept);
  EXPECT_TRUE(swept->removed.empty());
  EXPECT_TRUE(engine_.inspect_container(*other, late()));
  EXPECT_TRUE(engine_.remove_container(*other, late()));
}

// A run that should have been over a day ago, though somebody still holds its lock.
TEST_F(DockerSandboxTest, ASweepEndsWhatShouldHaveEndedADayAgo) {
  auto folder = RunFolder::create();
  ASSERT_TRUE(folder);
  const auto label = docker_cache_label();
  ASSERT_TRUE(label);
  const auto create = [&](const std::string& deadline) {
    const json body = {{"Image", image_id_}, {"Cmd", {"/bin/misbehave"}},
        {"Labels",
            {{docker_label::kCache, *label}, {docker_label::kRun, folder->run_id()},
                {docker_label::kDeadline, deadline}}}};
    return engine_.create_container(docker_container_name(folder->run_id()), body.dump(), late());
  };
  ASSERT_TRUE(create("9999999999"));
  auto swept = docker_sweep(test_engine_socket(), never_);
  ASSERT_TRUE(swept);
  EXPECT_TRUE(swept->removed.empty());
  ASSERT_TRUE(engine_.remove_container(docker_container_name(folder->run_id()), late()));
  ASSERT_TRUE(create("1000000000"));
  swept = docker_sweep(test_engine_socket(), never_);
  ASSERT_TRUE(swept);
  EXPECT_EQ(swept->removed.size(), 1u);
}

// --- podman's socket: the same promises, asked for in other words ---

class PodmanSandboxTest : public DockerSandboxTest {
 protected:
  PodmanSandboxTest() : DockerSandboxTest(test_podman_socket()) {}

  void SetUp() override {
    if (socket_.empty()) {
      if (std::getenv("GUARD_TEST_REQUIRE_PODMAN") != nullptr) FAIL() << "GUARD_TEST_PODMAN_SOCKET is not set";
      GTEST_SKIP() << "needs a private podman service: set GUARD_TEST_PODMAN_SOCKET";
    }
    set_up_engine();
  }

  void expect_outcome(OutcomeKind kind, const SandboxSpec& wanted) {
    const auto result = run(wanted);
    ASSERT_TRUE(result) << result.error().to_string();
    EXPECT_EQ(result->outcome.kind, kind) << to_string(result->outcome.kind) << " " << result->outcome.detail;
  }
};

TEST_F(PodmanSandboxTest, TellsExitCodeStreamsReportAndWhatItCannotLimit) {
  SandboxSpec wanted = spec({"exit", "7"});
  wanted.scratch = {{"/app/sandbox", "", 1 << 20, 100}};
  const auto result = run(wanted);
  ASSERT_TRUE(result) << result.error().to_string();
  EXPECT_EQ(result->outcome.kind, OutcomeKind::exited);
  EXPECT_EQ(result->outcome.value, 7);
  EXPECT_EQ(out_.text, "to stdout\n");
  EXPECT_EQ(err_.text, "to stderr\n");
  EXPECT_EQ(result->enforced_by.at("memory"), "cgroup");
  EXPECT_EQ(result->enforced_by.at("sandbox_size"), "tmpfs");
  EXPECT_EQ(result->enforced_by.at("sandbox_files"), "none");
  EXPECT_EQ(result->enforced_by.at("tmp_files"), "none");
  wanted = spec({"report", "<testsuites/>"});
  wanted.report = ReportChannel::on;
  const auto told = run(wanted);
  ASSERT_TRUE(told) << told.error().to_string();
  EXPECT_EQ(told->report, "<testsuites/>");
}

TEST_F(PodmanSandboxTest, ConfinesTheProgramAsSeenFromInside) {
  const std::string status = output_of(spec({"cat", "/proc/self/status"}));
  for (const char* line : {"Uid:\t1000\t1000\t1000\t1000\n", "CapEff:\t0000000000000000\n",
           "CapBnd:\t0000000000000000\n", "NoNewPrivs:\t1\n", "Seccomp:\t2\n"}) {
    EXPECT_NE(status.find(line), std::string::npos) << line << status;
  }
  EXPECT_EQ(interfaces_in(output_of(spec({"cat", "/proc/net/dev"}))), std::set<std::string>{"lo"});
  EXPECT_EQ(
      output_of(spec({"open-netlink", std::to_string(NETLINK_GENERIC)})), "EPERM\n");  // our profile, not podman's own
  EXPECT_EQ(output_of(spec({"cat", "/proc/interrupts"})), "");
  const std::string limits = output_of(spec({"cat", "/proc/self/limits"}));
  EXPECT_NE(limits.find("Max core file size        0                    0"), std::string::npos) << limits;
  EXPECT_NE(limits.find("Max open files            4096                 4096"), std::string::npos) << limits;
  SandboxSpec wanted = spec({"environment"});
  wanted.env = {{"HOME", "/tmp"}, {"A", "b=c"}};
  const std::string environment = output_of(wanted);
  EXPECT_EQ(lines_in(environment), 3u) << environment;  // and the host name that we gave it
  EXPECT_NE(environment.find("A=b=c\n"), std::string::npos);
  EXPECT_NE(environment.find("HOSTNAME=sandbox\n"), std::string::npos);
}

TEST_F(PodmanSandboxTest, WritesReachOnlyTheScratchFolders) {
  const auto staged = folder_->path() / "staged";
  ASSERT_TRUE(make_folders(staged, 0755));
  ASSERT_TRUE(write_file_atomically(staged / "a.test.ts", "checked\n", 0666));
  SandboxSpec wanted = spec({});
  testing::write_fill_file(staged, folder_->path() / "fill");
  wanted.scratch = {{"/app/sandbox", "/.fill", 1 << 20, 100}};
  wanted.mounts = {{staged, "/staged"}, {folder_->path() / "fill", "/.fill"}};
  const auto attempt = [&](const std::string& how, const std::string& path) {
    wanted.argv = {"/bin/misbehave", how, path};
    wanted.run_id += "x";
    const auto result = run(wanted);
    EXPECT_TRUE(result) << result.error().to_string();
    return out_.text;
  };
  EXPECT_EQ(attempt("cat", "/app/sandbox/a.test.ts"), "checked\n");
  EXPECT_EQ(attempt("write", "/app/sandbox/a.test.ts"), "EACCES\n");
  EXPECT_EQ(attempt("write", "/staged/a.test.ts"), "EROFS\n");
  EXPECT_EQ(attempt("fill", "/app/sandbox/new"), "1044480 ENOSPC\n");
  for (const char* path : {"/app/new", "/run/new", "/var/tmp/new", "/dev/new"}) {
    EXPECT_NE(attempt("write", path), "ok\n") << path;
  }
  wanted.scratch.clear();
  wanted.mounts = {{staged, "/staged,rw"}};
  wanted.run_id += "x";
  const auto misread = run(wanted);
  ASSERT_FALSE(misread);
  EXPECT_EQ(misread.error().code(), ErrorCode::input_invalid);
}

TEST_F(PodmanSandboxTest, SeesEveryEnd) {
  SandboxSpec wanted = spec({"ignore-term"});
  wanted.timeout = milliseconds(2000);
  expect_outcome(OutcomeKind::timed_out, wanted);
  wanted = spec({"sleep"});
  wanted.timeout = milliseconds(2000);
  wanted.grace = milliseconds(60'000);  // TERM has to be enough
  expect_outcome(OutcomeKind::timed_out, wanted);
  for (const char* eater : {"eat-memory", "eat-memory-in-child"}) {
    wanted = spec({eater});
    wanted.limits.memory_bytes = 64 << 20;
    expect_outcome(OutcomeKind::out_of_memory, wanted);
  }
  wanted = spec({"count-forks"});
  wanted.limits.pids = 32;
  expect_outcome(OutcomeKind::pids_limit, wanted);
  EXPECT_EQ(out_.text, "30 EAGAIN\n");
  wanted = spec({"flood"});
  wanted.limits.output_flood_bytes = 8 << 20;
  expect_outcome(OutcomeKind::output_flood, wanted);
  expect_outcome(OutcomeKind::violation, spec({"term-init"}));
  out_.on_push = [this]() -> Result<void> {
    cancel_.cancel();
    return ok();
  };
  expect_outcome(OutcomeKind::cancelled, spec({"ignore-term"}));
}

TEST_F(PodmanSandboxTest, AContainerEndsWhenItsGuardIsKilledAndIsSwept) {
  RunningGuard guard(spec({"ignore-term"}), socket_);
  ASSERT_FALSE(guard.run_id().empty());
  auto swept = docker_sweep(socket_, never_);
  ASSERT_TRUE(swept) << swept.error().to_string();
  EXPECT_TRUE(swept->removed.empty());
  guard.kill();
  wait_until_it_ends(engine_, docker_container_name(guard.run_id()));
  swept = docker_sweep(socket_, never_);
  ASSERT_TRUE(swept) << swept.error().to_string();
  EXPECT_EQ(swept->removed, std::vector<std::string>{guard.run_id()});
}

// --- without an engine ---

TEST(DockerSandbox, AnEngineThatIsNotThereIsUnavailable) {
  StringSink out;
  StringSink err;
  const CancelToken never;
  SandboxSpec spec;
  spec.run_id = "r";
  spec.argv = {"true"};
  spec.image.reference = "i";
  const auto result = make_docker_sandbox({"/nowhere/socket", "", milliseconds(1000)})->run(spec, out, err, never);
  ASSERT_FALSE(result);
  EXPECT_EQ(result.error().code(), ErrorCode::environment_unavailable);
  EXPECT_EQ(result.error().exit_status(), 3);
  EXPECT_FALSE(result.error().hint().empty());
}

// An engine that tells a story: what the container wrote, and what the engine says of its end.
class ToldByTheEngine : public ::testing::Test {
 protected:
  void SetUp() override {
    auto folder = TempDir::create();
    ASSERT_TRUE(folder);
    folder_.emplace(std::move(*folder));
    ::setenv("GUARD_CACHE_DIR", folder_->path().c_str(), 1);
    engine_.on("GET /_ping", fake_answer(200, "OK"));
    engine_.on(
        "GET /info", fake_answer(200, R"({"ServerVersion":"27.1","OSType":"linux","MemoryLimit":true,"SwapLimit":true,
        "PidsLimit":true,"CpuCfsPeriod":true,"CpuCfsQuota":true,"SecurityOptions":["name=seccomp","name=apparmor"]})"));
    engine_.on("GET /images/i/json", fake_answer(200, R"({"Id":"sha256:1","Config":{}})"));
    engine_.on("POST /containers/create?name=guard-told", fake_answer(201, R"({"Id":"c1"})"));
    engine_.on("POST /containers/c1/start", fake_answer_204());
    engine_.on("POST /containers/c1/wait", fake_answer(200, R"({"StatusCode":0})"));
    engine_.on("DELETE /containers/guard-told?force=1&v=1", fake_answer_204());
    ends_with(0, false);
    writes(hello() + said('O', "hi\n") + exit_frame());
  }
  void TearDown() override { ::unsetenv("GUARD_CACHE_DIR"); }

  static FakeReply fake_answer_204() { return {"HTTP/1.1 204 No Content\r\n\r\n", {}, {}}; }

  static std::string length(std::size_t size) {
    std::string bytes;
    for (int shift = 24; shift >= 0; shift -= 8) bytes += static_cast<char>(size >> shift & 0xff);
    return bytes;
  }
  // A frame of the init, inside a frame of the engine.
  static std::string said(char type, const std::string& text, char stream = 1) {
    const std::string inner = std::string{type, 0, 0, 0} + length(text.size()) + text;
    return std::string{stream, 0, 0, 0} + length(inner.size()) + inner;
  }
  static std::string hello(const std::string& uid = "1000", const std::string& capabilities = "0000000000000000") {
    std::string text = "protocol=1\npid=1\nuid=" + uid + "\ngid=1000\nno_new_privs=1\nseccomp=2\nrlimit_core=0\n";
    for (const char* key : {"cap_inh", "cap_prm", "cap_eff", "cap_bnd", "cap_amb"}) {
      text += std::string(key) + "=" + capabilities + "\n";
    }
    return said('H', text);
  }
  static std::string exit_frame() {
    return said('X',
        "kind=exited\nvalue=0\nterm_from_inside=0\nterm_from_outside=0\ntimed_out=0\nleftovers=0\n"
        "max_rss_kb=1\nuser_us=1\nsys_us=1\n");
  }

  void writes(const std::string& stream) {
    engine_.on("POST /containers/c1/attach", {"HTTP/1.1 101 UPGRADED\r\nUpgrade: tcp\r\n\r\n" + stream, {}, {}});
  }
  void ends_with(int exit_code, bool oom_killed, bool running = false) {
    const json state = {
        {"Status", "exited"}, {"Running", running}, {"OOMKilled", oom_killed}, {"ExitCode", exit_code}, {"Error", ""}};
    engine_.on("GET /containers/c1/json", fake_answer(200, json({{"State", state}}).dump()));
  }

  Result<ExecResult> run() {
    SandboxSpec spec;
    spec.run_id = "told";
    spec.argv = {"true"};
    spec.image.reference = "i";
    return make_docker_sandbox({engine_.socket(), "", milliseconds(10'000)})->run(spec, out_, err_, cancel_);
  }
  ErrorCode failure() {
    const auto result = run();
    EXPECT_FALSE(result.has_value());
    return result ? ErrorCode::usage : result.error().code();
  }
  bool removed() const {
    for (const std::string& request : engine_.requests()) {
      if (request.starts_with("DELETE /containers/guard-told?force=1&v=1 ")) return true;
    }
    return false;
  }

  std::optional<TempDir> folder_;
  FakeEngine engine_;
  CancelToken cancel_;
  StringSink out_;
  StringSink err_;
};

TEST_F(ToldByTheEngine, AWholeStory) {
  const auto result = run();
  ASSERT_TRUE(result) << result.error().to_string();
  EXPECT_EQ(result->outcome.kind, OutcomeKind::exited);
  EXPECT_EQ(result->outcome.value, 0);
  EXPECT_EQ(out_.text, "hi\n");
  EXPECT_TRUE(removed());
}

TEST_F(ToldByTheEngine, UsesTheAppArmorProfileThatTheEngineHas) {
  ASSERT_TRUE(run());
  const auto requests = engine_.requests();
  const bool named = std::any_of(requests.begin(), requests.end(), [](const std::string& request) {
    return request.starts_with("POST /containers/create") &&
        request.find("apparmor=docker-default") != std::string::npos;
  });
  EXPECT_TRUE(named);
}

TEST_F(ToldByTheEngine, ASandboxThatDoesNotConfineIsNone) {
  for (const std::string& told : {hello("0"), hello("1000", "00000000a80425fb")}) {
    writes(told + exit_frame());
    EXPECT_EQ(failure(), ErrorCode::environment_creation_failed);
    EXPECT_TRUE(removed());
  }
}

TEST_F(ToldByTheEngine, AStreamWithoutAnEndProvesNothing) {
  const std::string whole = hello() + said('O', "12 pass") + exit_frame();
  const std::string halves[] = {"", hello(), hello() + said('O', "12 pass"), whole.substr(0, whole.size() - 1),
      whole + said('O', "x"), said('O', "x") + whole, "plain text, no frames", exit_frame()};
  for (const std::string& half : halves) {
    writes(half);
    EXPECT_EQ(failure(), ErrorCode::protocol_error) << half;
    EXPECT_TRUE(removed());
  }
}

TEST_F(ToldByTheEngine, TheInitsComplaintIsInTheDetails) {
  writes(std::string{2, 0, 0, 0} + length(4) + "bad\x1b");
  const auto result = run();
  ASSERT_FALSE(result);
  EXPECT_EQ(result.error().details().at("stderr"), "bad\\x1b");
}

TEST_F(ToldByTheEngine, AnExitCodeThatContradictsTheInitIsAnError) {
  ends_with(137, false);
  EXPECT_EQ(failure(), ErrorCode::protocol_error);
}

TEST_F(ToldByTheEngine, MemoryThatRanOutOutweighsAGoodExit) {
  ends_with(0, true);
  auto result = run();
  ASSERT_TRUE(result);
  EXPECT_EQ(result->outcome.kind, OutcomeKind::out_of_memory);
  // Also when the init itself was killed and could say nothing.
  writes(hello());
  ends_with(137, true);
  result = run();
  ASSERT_TRUE(result);
  EXPECT_EQ(result->outcome.kind, OutcomeKind::out_of_memory);
}

TEST_F(ToldByTheEngine, AContainerThatRunsOnIsAnError) {
  ends_with(0, false, /*running=*/true);
  EXPECT_EQ(failure(), ErrorCode::execution_failed);
}

TEST_F(ToldByTheEngine, AResultDoesNotStandBeforeTheContainerIsGone) {
  engine_.on("DELETE /containers/guard-told?force=1&v=1", fake_answer(500, R"({"message":"driver failed"})"));
  const auto result = run();
  ASSERT_FALSE(result);
  EXPECT_EQ(result.error().exit_status(), 2);
  EXPECT_NE(std::string(result.error().hint()).find("docker rm -f guard-told"), std::string::npos);
}

TEST_F(ToldByTheEngine, AnEngineThatLostALimitSinceTheProbeIsUnavailable) {
  engine_.on("GET /info", fake_answer(200, R"({"ServerVersion":"27.1","OSType":"linux","MemoryLimit":true})"));
  EXPECT_EQ(failure(), ErrorCode::environment_unavailable);
}

TEST(DockerSandbox, ProbeSaysWhyAnEngineCannotBeUsed) {
  FakeEngine engine;
  engine.on("GET /_ping", fake_answer(500, "{}"));
  const auto probe =
      make_docker_sandbox({engine.socket(), "", milliseconds(1000)})->probe(Deadline::after(milliseconds(30'000)));
  EXPECT_EQ(probe.state, ProbeState::unknown);
  EXPECT_NE(probe.reason.find("500"), std::string::npos);
  EXPECT_FALSE(probe.remedy.empty());
}

}  // namespace
}  // namespace guard

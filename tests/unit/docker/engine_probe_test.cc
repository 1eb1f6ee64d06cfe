// The decision table of the probe: what counts as proof that there is no engine, and that nothing else does.
#include "docker/engine_probe.h"

#include <gtest/gtest.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>

#include <algorithm>
#include <cstring>
#include <optional>

#include "common/file_io.h"
#include "common/hash.h"
#include "tests/support/engine/fake_engine.h"

namespace guard::docker {
namespace {

using Then = FakeReply::Then;
using When = FakeReply::When;

constexpr const char* kGoodInfo =
    R"({"ServerVersion":"27.1","OSType":"linux","MemoryLimit":true,"SwapLimit":true,"PidsLimit":true,"CpuCfsPeriod":true,
        "CpuCfsQuota":true,"SecurityOptions":["name=seccomp,profile=builtin"]})";

class EngineProbeTest : public testing::Test {
 protected:
  void SetUp() override {
    auto folder = TempDir::create();
    ASSERT_TRUE(folder);
    folder_.emplace(std::move(*folder));
  }

  std::string path(const std::string& name) const { return (folder_->path() / name).string(); }

  // A socket whose owner is gone: connecting is refused.
  std::string stale_socket(const std::string& name) const {
    const std::string where = path(name);
    const UniqueFd fd(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    std::memcpy(address.sun_path, where.data(), where.size());
    EXPECT_EQ(::bind(fd.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address), 0);
    return where;
  }

  // As guard looks for an engine nobody named; the first is the default place.
  static EngineCandidates places(std::vector<std::string> sockets) {
    EngineCandidates candidates;
    candidates.default_socket = sockets.front();
    candidates.endpoints.assign(sockets.begin(), sockets.end());
    return candidates;
  }
  static EngineCandidates named(std::string socket) {
    EngineCandidates candidates = places({std::move(socket)});
    candidates.explicitly_named = true;
    return candidates;
  }

  EngineProbe probe(const EngineCandidates& candidates, milliseconds limit = milliseconds(30'000)) const {
    return probe_engine(candidates, Deadline::after(limit), cancel_);
  }

  static void make_good(FakeEngine& engine) {
    engine.on("GET /_ping", fake_answer(200, "OK"));
    engine.on("GET /info", fake_answer(200, kGoodInfo));
  }

  std::optional<TempDir> folder_;
  CancelToken cancel_;
};

void expect_unknown(const EngineProbe& probe) {
  EXPECT_EQ(probe.state, EngineState::unknown) << probe.reason;
  EXPECT_FALSE(probe.reason.empty());
  EXPECT_FALSE(probe.remedy.empty());
}

TEST_F(EngineProbeTest, AvailableWhenPingAnswersAndLimitsHold) {
  FakeEngine engine;
  make_good(engine);
  const auto found = probe(places({engine.socket()}));
  EXPECT_EQ(found.state, EngineState::available) << found.reason;
  EXPECT_EQ(found.endpoint, engine.socket());
  ASSERT_TRUE(found.info);
  EXPECT_EQ(found.info->version, "27.1");
  EXPECT_EQ(probe(named(engine.socket())).state, EngineState::available);
}

TEST_F(EngineProbeTest, AbsentWhenNoPlaceHasASocket) {
  const auto found = probe(places({path("a"), path("b"), path("none/c")}));
  EXPECT_EQ(found.state, EngineState::absent);
  EXPECT_EQ(found.reason.find(path("b")), std::string::npos) << "said with every run";
  EXPECT_NE(found.remedy.find(path("b")), std::string::npos) << found.remedy;
}

TEST_F(EngineProbeTest, AbsentWhenTheDefaultSocketRefuses) {
  EXPECT_EQ(probe(places({stale_socket("s"), path("none")})).state, EngineState::absent);
}

TEST_F(EngineProbeTest, UnknownWhenAnyOtherSocketRefuses) {
  expect_unknown(probe(places({path("none"), stale_socket("s")})));
}

TEST_F(EngineProbeTest, UnknownWhenANamedSocketIsMissingOrRefuses) {
  expect_unknown(probe(named(path("none"))));
  expect_unknown(probe(named(stale_socket("s"))));
}

TEST_F(EngineProbeTest, FindsAnEngineAtALaterPlace) {
  FakeEngine engine;
  make_good(engine);
  EXPECT_EQ(probe(places({path("none"), engine.socket()})).state, EngineState::available);
  EXPECT_EQ(probe(places({stale_socket("s"), engine.socket()})).state, EngineState::available);
}

// The person's own engine is in trouble: another one that happens to answer is not what they meant.
TEST_F(EngineProbeTest, NeverGoesOnBehindAnEngineInTrouble) {
  FakeEngine broken;
  broken.on("GET /_ping", fake_answer(500, "{}"));
  FakeEngine good;
  make_good(good);
  const auto found = probe(places({broken.socket(), good.socket()}));
  expect_unknown(found);
  EXPECT_EQ(found.endpoint.name(), broken.socket());
  EXPECT_TRUE(good.requests().empty());
}

TEST_F(EngineProbeTest, UnknownForEveryBrokenPing) {
  const FakeReply replies[] = {
      fake_answer(500, "{}"),
      fake_answer(503, ""),
      fake_answer(404, "{}"),
      fake_answer(301, "", "Location: /elsewhere\r\n"),
      fake_answer(200, "NO"),
      {"", Then::hang_up, When::after_request},
      {"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nO", {}, {}},
      {"HTTP/1.1 200 OK\r\n\r\nOK", {}, {}},
      {"HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\nOK", {}, {}},
      {"nonsense\r\n\r\n", {}, {}},
      {std::string(1 << 20, 'x'), {}, {}},
      {"", Then::hang_up, When::after_accept},
  };
  for (const FakeReply& reply : replies) {
    FakeEngine engine;
    engine.on("GET /_ping", reply);
    expect_unknown(probe(places({engine.socket()})));
  }
}

TEST_F(EngineProbeTest, UnknownWhenTheEngineHangs) {
  FakeEngine engine;
  engine.on("GET /_ping", {"", Then::stay_silent, When::after_request});
  expect_unknown(probe(places({engine.socket()}), milliseconds(100)));
  engine.on("GET /_ping", fake_answer(200, "OK"));
  engine.on("GET /info", {"HTTP/1.1 200 OK\r\n", Then::stay_silent, When::after_request});
  expect_unknown(probe(places({engine.socket()}), milliseconds(100)));
}

// A listener whose queue is full takes no connection and refuses none.
TEST_F(EngineProbeTest, UnknownWhenNobodyAccepts) {
  const std::string where = path("full");
  const UniqueFd listener(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  std::memcpy(address.sun_path, where.data(), where.size());
  ASSERT_EQ(::bind(listener.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address), 0);
  ASSERT_EQ(::listen(listener.get(), 0), 0);
  const UniqueFd first(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
  ASSERT_EQ(::connect(first.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address), 0);
  expect_unknown(probe(places({where}), milliseconds(100)));
}

TEST_F(EngineProbeTest, UnknownWhenCancelled) {
  cancel_.cancel();
  expect_unknown(probe(places({path("none")})));
}

TEST_F(EngineProbeTest, UnknownWhenInfoIsBroken) {
  for (const char* info : {"", "[]", "{\"ServerVersion\":\"1\"", "{}"}) {
    FakeEngine engine;
    engine.on("GET /_ping", fake_answer(200, "OK"));
    engine.on("GET /info", fake_answer(200, info));
    expect_unknown(probe(places({engine.socket()})));
  }
}

TEST_F(EngineProbeTest, UnknownWhenALimitCannotBeEnforced) {
  const std::pair<std::string, std::string> missing[] = {
      {R"("MemoryLimit":true)", "memory"},
      {R"("SwapLimit":true)", "swap"},
      {R"("PidsLimit":true)", "processes"},
      {R"("CpuCfsPeriod":true)", "CPU"},
      {R"("CpuCfsQuota":true)", "CPU"},
      {R"("name=seccomp,profile=builtin")", "seccomp"},
      {R"("OSType":"linux")", "windows"},
  };
  for (const auto& [field, word] : missing) {
    std::string info = kGoodInfo;
    const std::string replacement = field.starts_with("\"OSType") ? R"("OSType":"windows")"
        : field.starts_with("\"name")                             ? R"("name=cgroupns")"
                                                                  : field.substr(0, field.find(':')) + ":false";
    info.replace(info.find(field), field.size(), replacement);
    FakeEngine engine;
    engine.on("GET /_ping", fake_answer(200, "OK"));
    engine.on("GET /info", fake_answer(200, info));
    const auto found = probe(places({engine.socket()}));
    expect_unknown(found);
    EXPECT_NE(found.reason.find(word), std::string::npos) << found.reason;
    EXPECT_TRUE(found.info.has_value());
  }
}

// A plain file where a socket should be refuses connections, as a stopped daemon's socket does.
TEST_F(EngineProbeTest, UnknownWhenANamedPlaceIsNoSocket) {
  ASSERT_TRUE(write_file_atomically(path("file"), "x"));
  expect_unknown(probe(named(path("file"))));
}

// As root nothing is forbidden, so another user has to be asked.
TEST_F(EngineProbeTest, UnknownWhenPermissionIsDenied) {
  FakeEngine engine;
  make_good(engine);
  ASSERT_EQ(::chmod(engine.socket().c_str(), 0600), 0);
  if (::geteuid() != 0) {
    ASSERT_EQ(::chmod(engine.socket().c_str(), 0000), 0);
    expect_unknown(probe(places({engine.socket()})));
    return;
  }
  const pid_t child = ::fork();
  ASSERT_GE(child, 0);
  if (child == 0) {
    if (::setgid(1000) != 0 || ::setuid(1000) != 0) ::_exit(9);
    const auto found = probe(places({engine.socket(), path("none")}));
    const bool names_it = found.reason.find("permission") != std::string::npos && !found.remedy.empty();
    ::_exit(found.state == EngineState::unknown && names_it ? 0 : 1);
  }
  int status = 0;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  ASSERT_TRUE(WIFEXITED(status));
  EXPECT_EQ(WEXITSTATUS(status), 0);
}

using Environment = std::map<std::string, std::string>;

TEST_F(EngineProbeTest, DockerHostAloneCounts) {
  const auto candidates = engine_candidates({{"DOCKER_HOST", "unix:///x/y.sock"}, {"HOME", path("home")}});
  EXPECT_EQ(candidates.endpoints, std::vector<Endpoint>{"/x/y.sock"});
  EXPECT_TRUE(candidates.explicitly_named);
  EXPECT_TRUE(candidates.unusable.empty());
}

TEST_F(EngineProbeTest, UnknownForADockerHostThatIsNoLocalSocket) {
  for (const char* host : {"tcp://10.0.0.1:2375", "ssh://me@host", "npipe:////./pipe/docker", "unix://",
           "unix://relative", "/var/run/docker.sock", "\x1b[31m"}) {
    const auto candidates = engine_candidates({{"DOCKER_HOST", host}, {"HOME", path("home")}});
    EXPECT_FALSE(candidates.unusable.empty()) << host;
    const auto found = probe(candidates);
    expect_unknown(found);
    EXPECT_EQ(found.reason.find('\x1b'), std::string::npos);
  }
}

TEST_F(EngineProbeTest, TcpWithoutTlsCountsOnLoopbackAlone) {
  for (const char* host : {"tcp://127.0.0.1:2375", "tcp://localhost", "tcp://[::1]:1"}) {
    const auto candidates = engine_candidates({{"DOCKER_HOST", host}, {"HOME", path("home")}});
    EXPECT_EQ(candidates.unusable, "") << host;
    ASSERT_EQ(candidates.endpoints.size(), 1u);
    EXPECT_TRUE(candidates.explicitly_named);
  }
  const Environment far = {{"DOCKER_HOST", "tcp://10.0.0.1:2375"}, {"HOME", path("home")}};
  const auto refused = probe(engine_candidates(far));
  expect_unknown(refused);
  EXPECT_NE(refused.reason.find("forge"), std::string::npos) << refused.reason;
  EXPECT_NE(refused.remedy.find("DOCKER_TLS_VERIFY"), std::string::npos) << refused.remedy;
  EXPECT_EQ(engine_candidates(far, PlainTcp::anywhere).unusable, "");
}

// Each of docker's variables asks for TLS; none of them for TLS that believes anybody.
TEST_F(EngineProbeTest, AnyVariableOfTlsMeansVerifiedTls) {
  ASSERT_TRUE(make_folders(folder_->path() / "tls"));
  for (const char* name : {"ca.pem", "cert.pem", "key.pem"})
    ASSERT_TRUE(write_file_atomically(folder_->path() / "tls" / name, "x"));
  const std::string folder = path("tls");
  for (const Environment& more :
      {Environment{{"DOCKER_CERT_PATH", folder}}, Environment{{"DOCKER_TLS_VERIFY", "1"}, {"DOCKER_CERT_PATH", folder}},
          Environment{{"DOCKER_TLS", "1"}, {"DOCKER_CONFIG", folder}}}) {
    Environment environment = more;
    environment["DOCKER_HOST"] = "tcp://10.0.0.1";
    const auto candidates = engine_candidates(environment);
    EXPECT_EQ(candidates.unusable, "");
    ASSERT_EQ(candidates.endpoints.size(), 1u);
    ASSERT_TRUE(candidates.endpoints[0].tls.has_value());
    EXPECT_EQ(*candidates.endpoints[0].tls, (TlsFiles{folder + "/ca.pem", folder + "/cert.pem", folder + "/key.pem"}));
    EXPECT_EQ(candidates.endpoints[0].port, 2376);
  }
  expect_unknown(probe(
      engine_candidates({{"DOCKER_HOST", "tcp://10.0.0.1"}, {"DOCKER_TLS_VERIFY", "1"}})));  // no place for the files
}

TEST_F(EngineProbeTest, LooksAtEveryUsualPlace) {
  const Environment environment = {{"HOME", path("home")}, {"XDG_RUNTIME_DIR", "/run/user/77"}, {"DOCKER_HOST", ""}};
  const auto candidates = engine_candidates(environment);
  EXPECT_FALSE(candidates.explicitly_named);
  EXPECT_EQ(candidates.endpoints,
      (std::vector<Endpoint>{"/var/run/docker.sock", "/run/user/77/docker.sock",
          path("home") + "/.docker/run/docker.sock", "/run/user/77/podman/podman.sock", "/run/podman/podman.sock"}));
}

// Cron gives no XDG_RUNTIME_DIR, yet the user's engine is there.
TEST_F(EngineProbeTest, LooksIntoTheRuntimeFolderWithoutItsVariable) {
  const auto candidates = engine_candidates({{"HOME", path("home")}});
  const std::string expected = "/run/user/" + std::to_string(::geteuid()) + "/docker.sock";
  EXPECT_NE(std::find(candidates.endpoints.begin(), candidates.endpoints.end(), Endpoint(expected)),
      candidates.endpoints.end());
}

class DockerContextTest : public EngineProbeTest {
 protected:
  void write_config(const std::string& text) const {
    ASSERT_TRUE(make_folders(folder_->path() / ".docker"));
    ASSERT_TRUE(write_file_atomically(folder_->path() / ".docker" / "config.json", text));
  }
  void write_context(const std::string& name, const std::string& text) const {
    const auto folder = folder_->path() / ".docker" / "contexts" / "meta" / sha256_hex(name);
    ASSERT_TRUE(make_folders(folder));
    ASSERT_TRUE(write_file_atomically(folder / "meta.json", text));
  }
  EngineCandidates candidates(Environment more = {}) const {
    more["HOME"] = folder_->path().string();
    return engine_candidates(more);
  }
};

TEST_F(DockerContextTest, TheCurrentContextComesFirst) {
  write_config(R"({"currentContext":"mine"})");
  write_context("mine", R"({"Name":"mine","Endpoints":{"docker":{"Host":"unix:///m.sock"}}})");
  const auto found = candidates();
  EXPECT_EQ(found.unusable, "");
  ASSERT_GE(found.endpoints.size(), 2u);
  EXPECT_EQ(found.endpoints[0], "/m.sock");
  EXPECT_EQ(found.endpoints[1], "/var/run/docker.sock");
}

TEST_F(DockerContextTest, DockerContextVariableOverridesTheFile) {
  write_config(R"({"currentContext":"missing"})");
  write_context("other", R"({"Endpoints":{"docker":{"Host":"unix:///o.sock"}}})");
  EXPECT_EQ(candidates({{"DOCKER_CONTEXT", "other"}}).endpoints[0], "/o.sock");
  EXPECT_EQ(candidates({{"DOCKER_CONTEXT", "default"}}).endpoints[0], "/var/run/docker.sock");
}

TEST_F(DockerContextTest, WithoutConfigurationThereIsOnlyTheDefault) {
  EXPECT_EQ(candidates().unusable, "");
  write_config(R"({"auths":{}})");
  EXPECT_EQ(candidates().unusable, "");
  write_config(R"({"currentContext":"default"})");
  EXPECT_EQ(candidates().unusable, "");
}

TEST_F(DockerContextTest, UnknownWhenTheContextCannotBeRead) {
  for (const char* config : {"", "{", "[]", R"({"currentContext":7})", R"({"currentContext":"gone"})"}) {
    write_config(config);
    expect_unknown(probe(candidates()));
  }
  write_config(R"({"currentContext":"mine"})");
  for (const char* meta : {"", "{}", R"({"Endpoints":{"docker":{}}})", R"({"Endpoints":{"docker":{"Host":""}}})",
           R"({"Endpoints":[]})", R"({"Endpoints":{"docker":{"Host":"tcp://1.2.3.4:2376"}}})"}) {
    write_context("mine", meta);
    expect_unknown(probe(candidates()));
  }
}

TEST_F(DockerContextTest, UnknownWhenTheConfigurationIsAFolder) {
  ASSERT_TRUE(make_folders(folder_->path() / ".docker" / "config.json"));
  expect_unknown(probe(candidates()));
}

TEST_F(DockerContextTest, UnknownWithoutAHome) { expect_unknown(probe(engine_candidates({}))); }

TEST_F(DockerContextTest, UnknownWhenTheContextsSocketRefuses) {
  EngineCandidates found = places({path("none")});
  found.endpoints.insert(found.endpoints.begin(), stale_socket("s"));
  expect_unknown(probe(found));
}

}  // namespace
}  // namespace guard::docker

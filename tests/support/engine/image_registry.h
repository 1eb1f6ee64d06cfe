// Debian's docker-registry on loopback, for tests of pulling: engines allow 127.0.0.0/8 without TLS.
#pragma once

#include <arpa/inet.h>
#include <fmt/format.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <filesystem>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "common/cancel.h"
#include "common/environment.h"
#include "common/file_io.h"
#include "runner/process/child_process.h"
#include "runner/process/subprocess.h"
#include "tests/support/engine/test_engine.h"

namespace guard::testing {

// Where docker-registry is; empty where it is not installed.
inline std::string registry_program() {
  const auto found = find_program("docker-registry", {{"PATH", "/usr/bin:/usr/local/bin"}});
  return found ? *found : std::string();
}

enum class RegistryLogin { none, needed };

class ImageRegistry {
 public:
  static constexpr const char* kUser = "tester";
  static constexpr const char* kPassword = "open-sesame";

  // Nothing where it did not come up.
  static std::optional<ImageRegistry> start(RegistryLogin login) {
    auto folder = TempDir::create();
    if (!folder) return std::nullopt;
    const int port = free_port();
    std::string config = fmt::format(
        "version: 0.1\nlog: {{level: error}}\nstorage:\n  filesystem: {{rootdirectory: {0}/data}}\n  delete: "
        "{{enabled: true}}\n"
        "http: {{addr: \"127.0.0.1:{1}\"}}\n",
        folder->path().string(), port);
    if (login == RegistryLogin::needed) {
      // bcrypt of kPassword, of the least cost there is.
      if (!write_file_atomically(folder->path() / "htpasswd",
              fmt::format("{}:$2b$04$EHPAxNOcwFatZeP.U7DeHuROzF6u5Ec0ZChogc.B3k7ygn6rLTGie\n", kUser))) {
        return std::nullopt;
      }
      config += fmt::format("auth:\n  htpasswd: {{realm: tests, path: {}/htpasswd}}\n", folder->path().string());
    }
    if (!write_file_atomically(folder->path() / "config.yml", config)) return std::nullopt;
    ChildSpec child;
    child.argv = {registry_program(), "serve", (folder->path() / "config.yml").string()};
    child.env = {{"PATH", "/usr/bin:/bin"}, {"OTEL_TRACES_EXPORTER", "none"}};
    auto started = ChildProcess::start(child);
    if (!started) return std::nullopt;
    ImageRegistry registry(std::move(*folder), std::move(*started), port);
    for (const Deadline deadline = Deadline::after(milliseconds(10'000)); !deadline.passed();) {
      if (connects(port)) return registry;
      std::this_thread::sleep_for(milliseconds(20));
    }
    return std::nullopt;
  }

  // "127.0.0.1:40001"
  std::string host() const { return fmt::format("127.0.0.1:{}", port_); }

  // One that nothing listens on.
  static std::string host_of_nobody() { return fmt::format("127.0.0.1:{}", free_port()); }

 private:
  ImageRegistry(TempDir folder, ChildProcess process, int port)
      : folder_(std::move(folder)), process_(std::move(process)), port_(port) {}

  static sockaddr_in loopback(int port) {
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_port = htons(static_cast<std::uint16_t>(port));
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    return address;
  }
  static int free_port() {
    const UniqueFd fd(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
    sockaddr_in address = loopback(0);
    socklen_t size = sizeof address;
    ::bind(fd.get(), reinterpret_cast<const sockaddr*>(&address), size);
    ::getsockname(fd.get(), reinterpret_cast<sockaddr*>(&address), &size);
    return ntohs(address.sin_port);
  }
  static bool connects(int port) {
    const UniqueFd fd(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
    const sockaddr_in address = loopback(port);
    return ::connect(fd.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0;
  }

  TempDir folder_;
  ChildProcess process_;
  int port_;
};

// The docker command at the engine of the tests, with a configuration folder of its own. A test failure where it fails.
inline std::string docker_command(const std::filesystem::path& config, std::vector<std::string> words) {
  ProcessSpec spec;
  spec.argv = {"docker", "--config", config.string(), "--host", "unix://" + test_engine_socket()};
  spec.argv.insert(spec.argv.end(), words.begin(), words.end());
  spec.env = {{"PATH", "/usr/local/bin:/usr/bin:/bin"}, {"HOME", config.string()}};
  spec.deadline = Deadline::after(milliseconds(60'000));
  const CancelToken never;
  const auto done = collect_process(spec, 1u << 20, never);
  const bool good = done && done->result.outcome.kind == OutcomeKind::exited && done->result.outcome.value == 0;
  EXPECT_TRUE(good) << words.front() << ": " << (done ? done->out + done->err : done.error().to_string());
  return good ? done->out : std::string();
}

}  // namespace guard::testing

// First line of a test (or of SetUp) that needs both.
#define GUARD_NEEDS_TEST_REGISTRY()                                                       \
  do {                                                                                    \
    GUARD_NEEDS_TEST_ENGINE();                                                            \
    if (guard::testing::registry_program().empty()) {                                     \
      if (guard::test_engine_is_required()) FAIL() << "docker-registry is not installed"; \
      GTEST_SKIP() << "needs an image registry: install docker-registry";                 \
    }                                                                                     \
  } while (false)

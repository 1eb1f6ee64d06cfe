// `guard session port` and `guard session watch`, against a server that bun runs inside.
#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <memory>
#include <thread>

#include "common/file_io.h"
#include "common/unique_fd.h"
#include "tests/support/program/guard_program.h"
#include "tests/support/program/terminal_program.h"

namespace guard::testing {
namespace {

// "/N": N bytes. Beside it an echo that answers when the client has closed its half.
constexpr const char* kServer =
    "Bun.serve({port: 3000, fetch(r) { return new Response('x'.repeat(Number(new URL(r.url).pathname.slice(1)))) }});"
    "Bun.listen({hostname: '127.0.0.1', port: 3001, allowHalfOpen: true, socket: {"
    "  open(s) { s.got = '' }, data(s, d) { s.got += d }, end(s) { s.write('all ' + s.got); s.end() } }});"
    "Bun.listen({hostname: '127.0.0.1', port: 3002, socket: { open(s) { s.write('gone'); s.end() }, data() {} }});"
    "require('net').createServer(s => { s.write('half'); setTimeout(() => s.resetAndDestroy(), 200) })"
    ".listen(3004, '127.0.0.1');"
    "Bun.listen({hostname: '127.0.0.1', port: 3005, socket: { open(s) { s.write('half') }, data() {} }});"
    "console.log('listening')";

class Port : public ::testing::TestWithParam<const char*> {
 protected:
  void SetUp() override {
    const std::string backend = GetParam();
    GUARD_NEEDS(backend == "docker" ? Needs::docker : Needs::namespace_sandbox);
    project_.build_image(backend);
    auto state = TempDir::create();
    ASSERT_TRUE(state) << state.error().to_string();
    state_ = std::make_unique<TempDir>(std::move(*state));
    ASSERT_EQ(::chmod(state_->path().c_str(), 0711), 0);
    started_.push_back(start_guard(
        {"serve", "--state", path(), "--backend", backend, "--project", project_.path()}, project_.environment()));
    ASSERT_TRUE(listens_at(state_->path() / "sessions/socket"));
    const auto begun = session({"exec", "me/first", "--background", "--", "bun", "-e", kServer});
    ASSERT_EQ(begun.exit_status, 0) << begun.err;
    const std::string id = begun.document().value("command", "");
    for (int i = 0; i < 200 && session({"log", "me/first", id}).out.empty(); ++i)
      std::this_thread::sleep_for(milliseconds(20));
  }

  void TearDown() override {
    for (auto pid = started_.rbegin(); pid != started_.rend(); ++pid) {
      ::kill(*pid, SIGTERM);
      int status = 0;
      ::waitpid(*pid, &status, 0);
      EXPECT_TRUE(WIFEXITED(status)) << status;
    }
  }

  std::string path() const { return state_->path().string(); }

  ProgramResult session(std::vector<std::string> words) {
    words.insert(words.begin() + 1, {"--state", path(), "--backend", GetParam()});
    words.insert(words.begin(), "session");
    return project_.guard(std::move(words));
  }

  // Listens at a socket of its own for this port.
  std::string forward(int port) {
    const std::string socket = path() + "/port-" + std::to_string(port);
    started_.push_back(start_guard({"session", "port", "me/first", std::to_string(port), "--unix", socket, "--state",
                                       path(), "--project", project_.path()},
        project_.environment()));
    EXPECT_TRUE(listens_at(socket));
    return socket;
  }

  std::vector<std::string> at_loopback(int port) const {
    return {"session", "port", "me/first", std::to_string(port), "--listen", "127.0.0.1:0", "--state", path()};
  }
  static UniqueFd connect_to(TerminalProgram& guard) {
    EXPECT_TRUE(guard.prints("Ctrl-C ends")) << guard.printed();
    const std::size_t colon = guard.printed().find("127.0.0.1:") + 10;
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    address.sin_port = htons(static_cast<std::uint16_t>(std::stoi(guard.printed().substr(colon))));
    UniqueFd fd(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
    EXPECT_EQ(::connect(fd.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address), 0);
    return fd;
  }

  static UniqueFd connect_to(const std::string& socket) {
    UniqueFd fd(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    std::strncpy(address.sun_path, socket.c_str(), sizeof address.sun_path - 1);
    EXPECT_EQ(::connect(fd.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address), 0);
    return fd;
  }

  static void say(const UniqueFd& fd, const std::string& bytes) {
    EXPECT_EQ(::send(fd.get(), bytes.data(), bytes.size(), MSG_NOSIGNAL), static_cast<ssize_t>(bytes.size()));
  }

  static std::string rest_of(const UniqueFd& fd) {
    std::string bytes;
    char chunk[65536];
    errno = 0;
    for (ssize_t size = 0; (size = ::recv(fd.get(), chunk, sizeof chunk, 0)) > 0;)
      bytes.append(chunk, static_cast<std::size_t>(size));
    return bytes;
  }

  static std::string request(std::size_t bytes) {
    return "GET /" + std::to_string(bytes) + " HTTP/1.1\r\nHost: h\r\nConnection: close\r\n\r\n";
  }

  static std::size_t body_bytes(const std::string& answer) {
    const std::size_t head = answer.find("\r\n\r\n");
    return head == std::string::npos ? 0 : answer.size() - head - 4;
  }

  Project project_;
  std::unique_ptr<TempDir> state_;
  std::vector<pid_t> started_;
};

INSTANTIATE_TEST_SUITE_P(
    Backends, Port, ::testing::Values("namespace", "docker"), [](const auto& parameter) { return parameter.param; });

TEST_P(Port, CarriesManyConnectionsSideBySide) {
  const std::string socket = forward(3000);
  constexpr std::size_t kEach = 400'000;  // 20 MB together
  // It reads nothing of its answer, and holds up nobody.
  const UniqueFd deaf = connect_to(socket);
  say(deaf, request(20'000'000));
  std::vector<std::thread> threads;
  std::vector<std::size_t> got(50);
  for (std::size_t i = 0; i < got.size(); ++i) {
    threads.emplace_back([&, i] {
      const UniqueFd fd = connect_to(socket);
      say(fd, request(kEach + i));
      got[i] = body_bytes(rest_of(fd));
    });
  }
  for (std::thread& thread : threads) thread.join();
  for (std::size_t i = 0; i < got.size(); ++i) EXPECT_EQ(got[i], kEach + i);
  EXPECT_EQ(body_bytes(rest_of(deaf)), 20'000'000u);
}

TEST_P(Port, EachSideMayCloseFirst) {
  const std::string echo = forward(3001);
  const UniqueFd client = connect_to(echo);
  say(client, "hello");
  ::shutdown(client.get(), SHUT_WR);
  EXPECT_EQ(rest_of(client), "all hello");
  EXPECT_EQ(rest_of(connect_to(forward(3002))), "gone");
  // One that is dropped in the middle leaves nothing behind.
  {
    const UniqueFd dropped = connect_to(echo);
    say(dropped, "half");
  }
  const auto runs = [this] { return session({"list"}).out.find("1 running") != std::string::npos; };
  for (int i = 0; i < 100 && !runs(); ++i) std::this_thread::sleep_for(milliseconds(50));
  EXPECT_TRUE(runs()) << session({"list"}).out;
}

// Half a transfer must not look like a whole one. Where nobody listens, nothing is accepted for good.
TEST_P(Port, ResetsWhatIsResetInside) {
  for (const int port : {3999, 3004, 3002}) {
    TerminalProgram guard(at_loopback(port), project_.path(), project_.environment());
    const UniqueFd fd = connect_to(guard);
    const std::string got = rest_of(fd);
    EXPECT_EQ(errno, port == 3002 ? 0 : ECONNRESET) << port;
    EXPECT_EQ(got, port == 3999 ? "" : port == 3004 ? "half" : "gone");
    guard.type("\x03");
    EXPECT_EQ(guard.wait(), 0) << guard.printed();
  }
}

TEST_P(Port, ResetsWhatItsOwnEndCutsOff) {
  TerminalProgram guard(at_loopback(3005), project_.path(), project_.environment());
  const UniqueFd fd = connect_to(guard);
  char first[4] = {};
  ASSERT_EQ(::recv(fd.get(), first, sizeof first, MSG_WAITALL), 4);
  guard.type("\x03");
  EXPECT_EQ(rest_of(fd), "");
  EXPECT_EQ(errno, ECONNRESET);
  EXPECT_EQ(guard.wait(), 0) << guard.printed();
}

TEST_P(Port, EndsWithGuardServeAndRemovesItsSocketAlone) {
  const std::string socket = path() + "/app";
  const std::string neighbour = socket + ".new";
  ASSERT_TRUE(write_new_file(neighbour, "mine", 0600));
  TerminalProgram guard({"session", "port", "me/first", "3000", "--unix", socket, "--state", path()}, project_.path(),
      project_.environment());
  ASSERT_TRUE(guard.prints("Ctrl-C ends")) << guard.printed();
  EXPECT_EQ(session({"port", "me/first", "3000", "--unix", socket}).exit_status, 2) << "somebody listens there";
  EXPECT_EQ(session({"port", "no/session/at/all", "3000", "--unix", path() + "/failed"}).exit_status, 2);
  EXPECT_FALSE(std::filesystem::exists(path() + "/failed"));
  ::kill(started_.front(), SIGKILL);
  EXPECT_EQ(guard.wait(), 3) << guard.printed();
  EXPECT_TRUE(guard.prints("has ended")) << guard.printed();
  EXPECT_FALSE(std::filesystem::exists(socket));
  EXPECT_TRUE(std::filesystem::exists(neighbour));
  int status = 0;
  ::waitpid(started_.front(), &status, 0);
  started_.clear();
}

TEST_P(Port, ListensOnThisMachineAlone) {
  for (const char* place : {"0.0.0.0:0", "192.168.0.1:80", "localhost:80", "127.0.0.1", "127.0.0.1:x", "[::]:80"}) {
    const auto result = session({"port", "me/first", "3000", "--listen", place});
    EXPECT_EQ(result.exit_status, 2) << place << result.err;
  }
  EXPECT_EQ(session({"port", "me/first", "0", "--listen", "127.0.0.1:0"}).exit_status, 64);
  EXPECT_EQ(session({"port", "me/first", "3000"}).exit_status, 64) << "who may connect is never a default";
  EXPECT_EQ(session({"port", "me/first", "3000", "--unix", path()}).exit_status, 2);
  struct stat found {};
  ASSERT_EQ(::stat(forward(3000).c_str(), &found), 0);
  EXPECT_EQ(found.st_mode & 0777, 0600u);

  TerminalProgram guard(at_loopback(3000), project_.path(), project_.environment());
  const UniqueFd fd = connect_to(guard);
  say(fd, request(1000));
  EXPECT_EQ(body_bytes(rest_of(fd)), 1000u);
  guard.type("\x03");
  EXPECT_EQ(guard.wait(), 0) << guard.printed();
}

TEST_P(Port, WatchesAFolder) {
  TerminalProgram guard(
      {"session", "watch", "me/first", "--recursive", "--state", path()}, project_.path(), project_.environment());
  ASSERT_TRUE(guard.prints("begun")) << guard.printed();
  EXPECT_EQ(
      session({"exec", "me/first", "--", "bun", "-e",
                  "const fs = require('fs'); fs.mkdirSync('a/b', {recursive: true}); fs.writeFileSync('a/b/c', '1');"
                  "fs.renameSync('a/b/c', 'd'); fs.chmodSync('d', 0o600); fs.rmSync('d')"})
          .exit_status,
      0);
  for (const char* event : {"create a\r\n", "create a/b\r\n", "create d\r\n", "chmod  d\r\n", "remove d\r\n"})
    EXPECT_TRUE(guard.prints(event)) << event << guard.printed();
  guard.type("\x03");
  EXPECT_EQ(guard.wait(), 0);
  EXPECT_NE(session({"watch", "me/first", "no-such-folder"}).err.find("No such file"), std::string::npos);
}

}  // namespace
}  // namespace guard::testing

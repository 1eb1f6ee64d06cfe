// `guard serve` as a service: the loopback with its token, the log, its end, and how systemd starts it.
#include <arpa/inet.h>
#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstring>
#include <thread>

#include "common/file_io.h"
#include "common/text/text.h"
#include "common/unique_fd.h"
#include "tests/support/program/guard_program.h"

namespace guard::testing {
namespace {

namespace fs = std::filesystem;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

class Serve : public ::testing::Test {
 protected:
  void SetUp() override {
    GUARD_NEEDS(Needs::namespace_sandbox);
    project_.build_image("namespace");
    ASSERT_EQ(::chmod(state_.path().c_str(), 0711), 0);
  }
  void TearDown() override {
    if (serve_ > 0) static_cast<void>(stop());
  }

  std::vector<std::string> command(std::vector<std::string> more = {}) const {
    std::vector<std::string> words = {
        "serve", "--state", state_.path().string(), "--backend", "namespace", "--project", project_.path().string()};
    words.insert(words.end(), more.begin(), more.end());
    return words;
  }
  std::string socket() const { return state_.path() / "sessions/socket"; }

  void serve(std::vector<std::string> more = {}) {
    serve_ = start_guard(command(std::move(more)), project_.environment());
    ASSERT_GT(serve_, 0);
    wait_until_it_answers();
  }
  void wait_until_it_answers() {
    for (int i = 0; i < 600 && ask("GET", "/healthz").empty(); ++i) std::this_thread::sleep_for(milliseconds(50));
    ASSERT_THAT(ask("GET", "/healthz"), HasSubstr("\"ok\""));
  }

  int stop(int signal_number = SIGTERM) {
    ::kill(serve_, signal_number);
    int status = 0;
    ::waitpid(serve_, &status, 0);
    serve_ = -1;
    return status;
  }

  static UniqueFd connected(const sockaddr* address, socklen_t size) {
    UniqueFd fd(::socket(address->sa_family, SOCK_STREAM | SOCK_CLOEXEC, 0));
    if (::connect(fd.get(), address, size) != 0) fd.reset();
    return fd;
  }
  UniqueFd at_socket() const {
    const auto address = socket_address(socket());
    return connected(reinterpret_cast<const sockaddr*>(&*address), sizeof *address);
  }
  UniqueFd at_port() const {
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    address.sin_port = htons(port_);
    return connected(reinterpret_cast<const sockaddr*>(&address), sizeof address);
  }

  static std::string request(
      const std::string& method, const std::string& target, const std::string& fields, const std::string& body) {
    return method + " " + target + " HTTP/1.1\r\nConnection: close\r\n" + fields +
        "Content-Length: " + std::to_string(body.size()) + "\r\n\r\n" + body;
  }
  static std::string rest_of(const UniqueFd& fd) {
    std::string answer;
    char chunk[4096];
    for (ssize_t size = 0; (size = ::recv(fd.get(), chunk, sizeof chunk, 0)) > 0;)
      answer.append(chunk, static_cast<std::size_t>(size));
    return answer;
  }
  static std::string ask(const UniqueFd& fd, const std::string& bytes) {
    if (!fd || ::send(fd.get(), bytes.data(), bytes.size(), MSG_NOSIGNAL) < 0) return {};
    return rest_of(fd);
  }
  std::string ask(const std::string& method, const std::string& target, const std::string& body = {}) const {
    return ask(at_socket(), request(method, target, "Host: g\r\n", body));
  }
  static std::string runs(const std::string& script) {
    return nlohmann::json({{"argv", {"bun", "-e", script}}, {"env", {{"KEY", "value-of-key"}}}}).dump();
  }

  // One that nobody has now.
  void choose_port() {
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t size = sizeof address;
    const UniqueFd fd(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
    ASSERT_EQ(::bind(fd.get(), reinterpret_cast<const sockaddr*>(&address), size), 0);
    ASSERT_EQ(::getsockname(fd.get(), reinterpret_cast<sockaddr*>(&address), &size), 0);
    port_ = ntohs(address.sin_port);
  }

  Project project_;
  TempDir state_ = *TempDir::create();
  std::uint16_t port_ = 0;
  pid_t serve_ = -1;
};

// Clients that hold what it has of descriptors are refused, and it lives.
TEST_F(Serve, OutlivesMoreConnectionsThanItHasDescriptors) {
  serve();
  const rlimit few{150, 150};
  ASSERT_EQ(::prlimit(serve_, RLIMIT_NOFILE, &few, nullptr), 0);
  {
    std::vector<UniqueFd> held;
    for (int i = 0; i < 140; ++i) held.push_back(at_socket());
    std::this_thread::sleep_for(milliseconds(300));
    EXPECT_EQ(::waitpid(serve_, nullptr, WNOHANG), 0) << "it has ended";
  }
  wait_until_it_answers();
}

TEST_F(Serve, AnswersAtTheLoopbackWhoHasTheToken) {
  choose_port();
  serve({"--listen", "127.0.0.1:" + std::to_string(port_)});
  const std::string token(pieces_of(*read_file(state_.path() / "sessions/token", 100)).front());
  const auto asked = [&](const std::string& fields) {
    return ask(at_port(), request("GET", "/v1/sessions", fields, ""));
  };
  const std::string bearer = "Authorization: Bearer " + token + "\r\n";
  EXPECT_THAT(asked("Host: localhost\r\n" + bearer), StartsWith("HTTP/1.1 200"));
  for (const std::string& fields :
      {std::string("Host: localhost\r\n"), "Host: localhost\r\nAuthorization: Bearer " + std::string(64, '0') + "\r\n",
          "Host: evil.example\r\n" + bearer, "Host: localhost\r\nOrigin: http://localhost\r\n" + bearer,
          "Host: localhost\r\nSec-Fetch-Site: cross-site\r\n" + bearer, bearer}) {
    const std::string answer = asked(fields);
    EXPECT_THAT(answer, StartsWith("HTTP/1.1 403")) << fields;
    EXPECT_THAT(answer, HasSubstr("hint")) << fields;
  }
  EXPECT_THAT(ask(at_port(),
                  request("POST", "/v1/sessions/t/c/exec?open=1", "Host: localhost\r\n" + bearer,
                      runs("console.log('at the loopback')"))),
      HasSubstr("\"exited\""));
  // What is refused is refused before its body is read.
  EXPECT_THAT(
      ask(at_port(), "PUT /v1/sessions/t/c/files?path=x HTTP/1.1\r\nHost: localhost\r\nContent-Length: 99999\r\n\r\n"),
      StartsWith("HTTP/1.1 403"));
  ASSERT_EQ(::chmod((state_.path() / "sessions/token").c_str(), 0644), 0);
  static_cast<void>(stop());
  const auto unsafe = project_.guard(command({"--listen", "127.0.0.1:0"}));
  EXPECT_EQ(unsafe.exit_status, 2);
  EXPECT_THAT(unsafe.err, HasSubstr("others may know the token"));
  EXPECT_THAT(
      project_.guard(command({"--listen", "0.0.0.0:0", "--token-file", (state_.path() / "other").string()})).err,
      HasSubstr("no address of this machine's loopback"));
}

// Whoever says nothing, or nothing that lets him in, takes nobody's place.
TEST_F(Serve, AnswersWhileOthersHoldConnectionsAndSayNothing) {
  choose_port();
  serve({"--listen", "127.0.0.1:" + std::to_string(port_)});
  const std::string token(pieces_of(*read_file(state_.path() / "sessions/token", 100)).front());
  std::vector<UniqueFd> silent;
  for (int i = 0; i < 300; ++i) {
    silent.push_back(at_port());
    ASSERT_TRUE(silent.back());
    EXPECT_GE(::send(silent.back().get(), "GET", static_cast<std::size_t>(i % 4), MSG_NOSIGNAL), 0);
  }
  const auto begun = SteadyClock::now();
  for (int i = 0; i < 20; ++i) {
    EXPECT_THAT(
        ask(at_port(), request("GET", "/healthz", "Host: localhost\r\nAuthorization: bearer " + token + "\r\n", "")),
        StartsWith("HTTP/1.1 200"));
  }
  EXPECT_LT(SteadyClock::now() - begun, milliseconds(3'000));
}

TEST_F(Serve, SpeaksHttpAsClientsExpectIt) {
  serve();
  for (const std::string& nonsense : {std::string("nonsense\r\n\r\n"), std::string("GET  / HTTP/1.1\r\n\r\n"),
           std::string("GET / HTTP/9.9\r\n\r\n"), "GET / HTTP/1.1\r\nA: " + std::string(70'000, 'a') + "\r\n\r\n",
           std::string("GET / HTTP/1.1\r\nContent-Length: x\r\n\r\n")}) {
    const std::string answer = ask(at_socket(), nonsense);
    EXPECT_THAT(answer, StartsWith("HTTP/1.1 400")) << nonsense.substr(0, 50);
    EXPECT_THAT(answer, HasSubstr("no request of HTTP/1.1"));
  }
  const std::string body = runs("process.exit(4)");
  const UniqueFd waits = at_socket();
  const std::string whole =
      request("POST", "/v1/sessions/t/c/exec?open=1", "Host: g\r\nExpect: 100-Continue\r\n", body);
  const std::string head = whole.substr(0, whole.size() - body.size());
  ASSERT_GT(::send(waits.get(), head.data(), head.size(), MSG_NOSIGNAL), 0);
  pollfd said{waits.get(), POLLIN, 0};
  ASSERT_EQ(::poll(&said, 1, 5'000), 1) << "it waits for the body";
  char first[26] = {};
  ASSERT_EQ(::recv(waits.get(), first, 25, MSG_WAITALL), 25);
  EXPECT_STREQ(first, "HTTP/1.1 100 Continue\r\n\r\n");
  EXPECT_THAT(ask(waits, body), HasSubstr("\"value\":4"));
  // What has no length is charged as it comes: eight of these at once are little.
  std::vector<UniqueFd> chunked;
  for (int i = 0; i < 8; ++i) {
    chunked.push_back(at_socket());
    const std::string begun =
        "PUT /v1/sessions/t/c/files?path=x HTTP/1.1\r\nHost: g\r\nConnection: close\r\nTransfer-Encoding: "
        "chunked\r\n\r\n5\r\nhello\r\n";
    ASSERT_GT(::send(chunked.back().get(), begun.data(), begun.size(), MSG_NOSIGNAL), 0);
  }
  for (const UniqueFd& fd : chunked) EXPECT_THAT(ask(fd, "0\r\n\r\n"), StartsWith("HTTP/1.1 200"));
  // Nor is there a way to send what is charged to nobody.
  for (const char* endless : {"1;", "0\r\nA: "}) {
    EXPECT_THAT(ask(at_socket(),
                    "PUT /v1/sessions/t/c/files?path=x HTTP/1.1\r\nHost: g\r\nConnection: close\r\nTransfer-Encoding: "
                    "chunked\r\n\r\n" +
                        (endless + std::string(300'000, 'a'))),
        StartsWith("HTTP/1.1 400"));
  }
}

// One answer, by its last chunk; what comes behind it must be asked for.
std::string one_answer(const UniqueFd& fd, const std::string& asked) {
  std::string answer;
  EXPECT_EQ(::send(fd.get(), asked.data(), asked.size(), MSG_NOSIGNAL), static_cast<ssize_t>(asked.size()));
  while (answer.find("\r\n0\r\n\r\n") == std::string::npos) {
    char chunk[4096];
    const ssize_t size = ::recv(fd.get(), chunk, sizeof chunk, 0);
    if (size <= 0) return answer + "<closed>";
    answer.append(chunk, static_cast<std::size_t>(size));
  }
  return answer;
}
bool is_closed(const UniqueFd& fd) {
  char more = 0;
  return ::recv(fd.get(), &more, 1, 0) == 0;
}

TEST_F(Serve, AnswersOneRequestAfterAnotherOnAConnection) {
  serve();
  const std::string health = "GET /healthz HTTP/1.1\r\nHost: g\r\n\r\n";
  const UniqueFd fd = at_socket();
  for (int i = 0; i < 3; ++i) EXPECT_THAT(one_answer(fd, health), StartsWith("HTTP/1.1 200")) << i;
  EXPECT_THAT(one_answer(fd, "GET /none HTTP/1.1\r\nHost: g\r\n\r\n"), StartsWith("HTTP/1.1 404"));
  const std::string body = runs("process.exit(4)");
  EXPECT_THAT(one_answer(fd,
                  "POST /v1/sessions/t/c/exec?open=1 HTTP/1.1\r\nHost: g\r\nContent-Length: " +
                      std::to_string(body.size()) + "\r\n\r\n" + body),
      HasSubstr("\"value\":4"));
  // Where one could take what comes next for something else, nothing comes next.
  const std::vector<std::string> last_ones = {"HEAD" + health.substr(3), "OPTIONS" + health.substr(3),
      "GET /healthz HTTP/1.0\r\n\r\n", "GET /healthz HTTP/1.1\r\nHost: g\r\nConnection: close\r\n\r\n", health + health,
      "GET /healthz HTTP/1.1\r\nHost: g\r\nTransfer-Encoding: identity\r\n\r\nGET /metrics HTTP/1.1\r\n\r\n",
      "GET /healthz HTTP/1.1\r\nHost: g\r\nTransfer-Encoding: chunked, identity\r\n\r\n0\r\n\r\n",
      "GET /healthz HTTP/1.1\r\nHost: g\r\nTransfer-Encoding: xchunked\r\n\r\n0\r\n\r\n",
      "GET /healthz HTTP/1.1\r\nHost: g\r\nContent-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
      "GET /healthz HTTP/1.1\r\nHost: g\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\nab",
      "GET /healthz HTTP/1.1\r\nHost: g\r\nContent-Length: +1\r\n\r\na",
      "GET /healthz HTTP/1.1\r\nHost: g\r\nTransfer-Encoding: chunked\r\n\r\n-1\r\n\r\n"};
  for (const std::string& last : last_ones) {
    const UniqueFd other = at_socket();
    const std::string answer = one_answer(other, last);
    EXPECT_TRUE(answer.find("HTTP/1.1 2", 1) == std::string::npos) << last << answer;
    EXPECT_TRUE(is_closed(other)) << last << answer;
  }
  // So many are kept, and no more.
  std::vector<UniqueFd> resting;
  for (int i = 0; i < 200; ++i) {
    resting.push_back(at_socket());
    EXPECT_THAT(one_answer(resting.back(), health), StartsWith("HTTP/1.1 200")) << i;
  }
  EXPECT_THAT(one_answer(resting.front(), health), StartsWith("HTTP/1.1 200"));
  EXPECT_TRUE(is_closed(resting.back())) << "there were too many already";
  // Strangers make room before those who are known.
  resting.clear();
  UniqueFd known;
  std::string answer;
  for (int i = 0; i < 200 && answer.find("Keep-Alive") == std::string::npos; ++i) {
    std::this_thread::sleep_for(milliseconds(20));
    known = at_socket();
    answer = one_answer(known, "\r\n" + health);
  }
  EXPECT_THAT(answer, StartsWith("HTTP/1.1 200"));
  std::vector<UniqueFd> silent;
  for (int i = 0; i < 150; ++i) silent.push_back(at_socket());
  EXPECT_THAT(one_answer(known, health), StartsWith("HTTP/1.1 200"));
  EXPECT_EQ(stop(), 0) << "it waits for nobody who rests";
}

TEST_F(Serve, LogsWhoAskedForWhatAndNothingOfItsContent) {
  const fs::path log = state_.path() / "log.jsonl";
  serve({"--log", log.string()});
  EXPECT_THAT(ask("POST", "/v1/sessions/t/c/exec?open=1", runs("console.log('printed'); process.exit(3)")),
      HasSubstr("\"exited\""));
  EXPECT_THAT(ask("GET", "/v1/sessions/t/c/files?path=secret-name"), StartsWith("HTTP/1.1 404"));
  EXPECT_THAT(ask("GET", "/v1/sessions/t/none/list"), StartsWith("HTTP/1.1 404"));
  static_cast<void>(stop());
  struct stat found {};
  ASSERT_EQ(::stat(log.c_str(), &found), 0);
  EXPECT_EQ(found.st_mode & 07777, 0600u);
  const std::string text = *read_file(log, 1u << 20);
  std::vector<nlohmann::json> lines;
  for (const auto line : pieces_of(text)) {
    lines.push_back(nlohmann::json::parse(line));
    if (lines.back()["verb"] == "GET /healthz") lines.pop_back();
  }
  ASSERT_EQ(lines.size(), 3u) << text;
  EXPECT_EQ(lines[0]["client"], "uid " + std::to_string(::geteuid()));
  EXPECT_EQ(lines[0]["verb"], "POST exec");
  EXPECT_EQ(lines[0]["session"], "t/c");
  EXPECT_EQ(lines[0]["outcome"], "exited 3");
  EXPECT_EQ(lines[0]["status"], 200);
  EXPECT_GT(lines[0]["ms"].get<double>(), 0.0);
  EXPECT_THAT(lines[0]["time"].get<std::string>(), ::testing::MatchesRegex("....-..-..T..:..:..\\....Z"));
  EXPECT_EQ(lines[1]["verb"], "GET files");
  EXPECT_EQ(lines[1]["outcome"], "FILE_NOT_FOUND");
  for (const char* content : {"printed", "value-of-key", "secret-name"}) EXPECT_THAT(text, Not(HasSubstr(content)));
}

// What runs comes to its own end, what is new is refused meanwhile, and what takes too long is ended.
TEST_F(Serve, DrainsWhenItIsAskedToStop) {
  serve({"--drain", "3"});
  const UniqueFd quick = at_socket();
  const UniqueFd endless = at_socket();
  const UniqueFd silent = at_socket();
  const auto begin = [](const UniqueFd& fd, const std::string& script) {
    const std::string bytes = request("POST", "/v1/sessions/t/c/exec?open=1", "Host: g\r\n", runs(script));
    ASSERT_EQ(::send(fd.get(), bytes.data(), bytes.size(), MSG_NOSIGNAL), static_cast<ssize_t>(bytes.size()));
  };
  begin(quick, "console.log('begun'); await Bun.sleep(1500); console.log('ended')");
  begin(endless, "await Bun.sleep(1e6)");
  for (int i = 0; i < 400 && ask("GET", "/v1/sessions").find("\"live\":2") == std::string::npos; ++i)
    std::this_thread::sleep_for(milliseconds(10));
  const auto begun = SteadyClock::now();
  ::kill(serve_, SIGTERM);
  std::this_thread::sleep_for(milliseconds(200));
  const std::string refused = ask("POST", "/v1/sessions/t/c/exec", runs("1"));
  EXPECT_THAT(refused, StartsWith("HTTP/1.1 503"));
  EXPECT_THAT(refused, HasSubstr("Retry-After: 1\r\n"));
  EXPECT_THAT(refused, HasSubstr("stopping"));
  EXPECT_THAT(rest_of(quick), HasSubstr("{\"end\":{\"kind\":\"exited\",\"value\":0,"));
  EXPECT_LT(SteadyClock::now() - begun, milliseconds(2'900));
  EXPECT_THAT(rest_of(endless), HasSubstr("{\"end\":{\"kind\":\"signaled\",\"value\":15,"));
  int status = 0;
  ::waitpid(serve_, &status, 0);
  serve_ = -1;
  EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0) << status;
  EXPECT_LT(SteadyClock::now() - begun, milliseconds(10'000)) << "held up by a client that says nothing";
}

TEST_F(Serve, RefusesWhatIsTooMuchAndSaysWhatToDo) {
  serve();
  // Together they would be too much: which of them comes last is not said.
  const UniqueFd large[] = {at_socket(), at_socket(), at_socket()};
  const std::string head =
      "PUT /v1/sessions/t/c/files?path=x&open=1 HTTP/1.1\r\nHost: g\r\nContent-Length: 130000000\r\n\r\n";
  std::vector<pollfd> answers;
  for (const UniqueFd& fd : large) {
    ASSERT_GT(::send(fd.get(), head.data(), head.size(), MSG_NOSIGNAL), 0);
    answers.push_back({fd.get(), POLLIN, 0});
  }
  ASSERT_EQ(::poll(answers.data(), answers.size(), 10'000), 1);
  std::string answer;
  for (std::size_t i = 0; i < answers.size(); ++i) {
    if (answers[i].revents != 0) answer = rest_of(large[i]);
  }
  EXPECT_THAT(answer, StartsWith("HTTP/1.1 429"));
  EXPECT_THAT(answer, HasSubstr("Retry-After: 1\r\n"));
  EXPECT_THAT(answer, HasSubstr("on their way"));
  EXPECT_THAT(answer, HasSubstr("wait until"));
  EXPECT_THAT(ask("GET", "/healthz"), HasSubstr("\"ok\"")) << "what is small is still answered";
}

TEST_F(Serve, HandsAFileOutInPiecesAndLetsAHalfBeSeenAsOne) {
  serve();
  const std::string made = ask("POST", "/v1/sessions/t/c/exec?open=1",
      runs("const f = require('fs'); f.writeFileSync('empty', ''); f.writeFileSync('large', Buffer.alloc(1e8, 'x'))"));
  ASSERT_THAT(made, HasSubstr("\"exited\""));
  const std::string empty = ask("GET", "/v1/sessions/t/c/files?path=empty");
  EXPECT_THAT(empty, StartsWith("HTTP/1.1 200"));
  EXPECT_THAT(empty, ::testing::EndsWith("\r\n\r\n0\r\n\r\n"));
  const auto memory = [this] {
    const std::string status =
        read_all(UniqueFd(::open(("/proc/" + std::to_string(serve_) + "/status").c_str(), O_RDONLY | O_CLOEXEC)).get(),
            1u << 16, "status")
            .value_or("");
    const std::size_t at = status.find("VmHWM:");
    return at == std::string::npos ? 0 : std::stoul(status.substr(at + 6));
  };
  const std::size_t before = memory();
  std::size_t size = 0;
  const UniqueFd fd = at_socket();
  const std::string wanted = request("GET", "/v1/sessions/t/c/files?path=large", "Host: g\r\n", "");
  ASSERT_GT(::send(fd.get(), wanted.data(), wanted.size(), MSG_NOSIGNAL), 0);
  std::string chunk(1u << 16, 0);
  for (ssize_t got = 0; (got = ::recv(fd.get(), chunk.data(), chunk.size(), 0)) > 0;)
    size += static_cast<std::size_t>(got);
  EXPECT_GT(size, 100'000'000u);
  EXPECT_LT(memory(), before + 30'000) << "in kB";

  const UniqueFd half = at_socket();
  ASSERT_GT(::send(half.get(), wanted.data(), wanted.size(), MSG_NOSIGNAL), 0);
  ASSERT_GT(::recv(half.get(), chunk.data(), chunk.size(), 0), 0);
  EXPECT_THAT(ask("DELETE", "/v1/sessions/t/c"), StartsWith("HTTP/1.1 200"));
  EXPECT_THAT(rest_of(half), Not(::testing::EndsWith("\r\n0\r\n\r\n")));
}

// As systemd does it: the socket is there before guard is, as descriptor 3.
TEST_F(Serve, TakesTheSocketThatSystemdHandsOver) {
  ASSERT_TRUE(make_folders(state_.path() / "sessions", 0711));
  const UniqueFd listener(::socket(AF_UNIX, SOCK_STREAM, 0));
  const auto address = socket_address(socket());
  ASSERT_EQ(::bind(listener.get(), reinterpret_cast<const sockaddr*>(&*address), sizeof *address), 0);
  ASSERT_EQ(::listen(listener.get(), 10), 0);
  struct stat before {};
  ASSERT_EQ(::stat(socket().c_str(), &before), 0);
  const UniqueFd early = at_socket();  // waits until there is somebody
  const std::string bytes = request("GET", "/healthz", "Host: g\r\n", "");
  ASSERT_GT(::send(early.get(), bytes.data(), bytes.size(), MSG_NOSIGNAL), 0);

  // LISTEN_PID is known only once the process is there.
  std::vector<std::string> words = {"/bin/sh", "-c", "LISTEN_FDS=1 LISTEN_PID=$$ exec \"$@\"", "sh", GUARD_PROGRAM};
  for (const std::string& word : command()) words.push_back(word);
  std::vector<std::string> settings;
  for (const auto& [name, value] : project_.environment()) settings.push_back(name + "=" + value);
  std::vector<char*> argv, environment;
  for (auto& word : words) argv.push_back(word.data());
  for (auto& setting : settings) environment.push_back(setting.data());
  argv.push_back(nullptr);
  environment.push_back(nullptr);
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_adddup2(&actions, listener.get(), 3);
  for (const int fd : {1, 2}) posix_spawn_file_actions_addopen(&actions, fd, "/dev/null", O_WRONLY, 0);
  ASSERT_EQ(::posix_spawn(&serve_, "/bin/sh", &actions, nullptr, argv.data(), environment.data()), 0);
  posix_spawn_file_actions_destroy(&actions);

  EXPECT_THAT(rest_of(early), HasSubstr("\"ok\""));
  struct stat after {};
  ASSERT_EQ(::stat(socket().c_str(), &after), 0);
  EXPECT_EQ(after.st_ino, before.st_ino) << "it made no other";
  const int status = stop();
  EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0) << status;
  EXPECT_TRUE(fs::exists(socket())) << "it belongs to systemd";
}

class ServeInstall : public ::testing::Test {
 protected:
  ProgramResult guard(std::vector<std::string> words) const {
    words.insert(words.begin(), "serve");
    return project_.guard(words,
        {{"HOME", home_.path().string()}, {"XDG_CONFIG_HOME", ""},
            {"GUARD_STATE_DIR", (home_.path() / "state").string()}});
  }
  fs::path unit(const std::string& name) const { return home_.path() / ".config/systemd/user" / name; }
  std::string text(const std::string& name) const { return read_file(unit(name), 1u << 20).value_or(""); }

  Project project_;
  TempDir home_ = *TempDir::create();
};

TEST_F(ServeInstall, WritesUnitsAndTouchesNothingThatWasChanged) {
  auto result = guard({"install", "--print", "--listen", "127.0.0.1:4711", "--drain", "90"});
  EXPECT_EQ(result.exit_status, 0) << result.err;
  EXPECT_THAT(result.out, HasSubstr("SocketMode=0600\n"));
  EXPECT_THAT(result.out, HasSubstr("\"--listen\" \"127.0.0.1:4711\" \"--drain\" \"90000ms\" \"--log\" \"-\"\n"));
  EXPECT_THAT(result.out, HasSubstr("TimeoutStopSec=160\n"));
  EXPECT_FALSE(fs::exists(unit("guard-serve.socket")));

  result = guard({"install", "--print", "--listen", "0.0.0.0:4711"});
  EXPECT_EQ(result.exit_status, 2) << "serve would not start";
  EXPECT_THAT(result.err, HasSubstr("loopback"));

  result = guard({"install"});
  EXPECT_EQ(result.exit_status, 0) << result.err;
  EXPECT_THAT(result.out, HasSubstr("enable --now guard-serve.socket"));
  EXPECT_THAT(
      text("guard-serve.socket"), HasSubstr("ListenStream=" + home_.path().string() + "/state/sessions/socket\n"));
  EXPECT_THAT(guard({"install"}).out, HasSubstr("unchanged: "));

  result = guard({"install", "--drain", "90"});
  EXPECT_EQ(result.exit_status, 0) << "what guard wrote itself, it may write anew" << result.err;
  EXPECT_THAT(result.out, HasSubstr("-TimeoutStopSec=80\n+TimeoutStopSec=160\n"));
  EXPECT_THAT(result.out, Not(HasSubstr("Restart")));

  const std::string mine = text("guard-serve.service") + "Nice=5\n";
  ASSERT_TRUE(write_file_atomically(unit("guard-serve.service"), mine));
  for (const char* action : {"install", "uninstall"}) {
    result = guard({action});
    EXPECT_EQ(result.exit_status, 2) << action;
    EXPECT_THAT(result.err, HasSubstr("was changed")) << action;
    EXPECT_EQ(text("guard-serve.service"), mine) << action;
    EXPECT_THAT(text("guard-serve.socket"), HasSubstr("ListenStream")) << action;
  }
  EXPECT_THAT(guard({"install"}).err, HasSubstr("-Nice=5\n"));
  EXPECT_EQ(guard({"install", "--force"}).exit_status, 0);
  EXPECT_THAT(text("guard-serve.service"), Not(HasSubstr("Nice=5")));

  ASSERT_TRUE(make_folders(unit("sockets.target.wants")));
  fs::create_symlink(unit("guard-serve.socket"), unit("sockets.target.wants") / "guard-serve.socket");
  EXPECT_THAT(guard({"uninstall"}).err, HasSubstr("disable --now"));
  fs::remove(unit("sockets.target.wants") / "guard-serve.socket");
  EXPECT_EQ(guard({"uninstall"}).exit_status, 0);
  EXPECT_FALSE(fs::exists(unit("guard-serve.service")));
  EXPECT_THAT(guard({"uninstall"}).out, HasSubstr("no units"));
  fs::create_symlink("/dev/null", unit("guard-serve.service"));
  EXPECT_EQ(guard({"install", "--force"}).exit_status, 2) << "masked by a person";
  EXPECT_EQ(guard({"instal"}).exit_status, 64);
  EXPECT_EQ(guard({"--print"}).exit_status, 64);
}

TEST_F(ServeInstall, WritesWhatSystemdTakesWithoutAWord) {
  if (::access("/usr/bin/systemd-analyze", X_OK) != 0) GTEST_SKIP() << "no systemd-analyze on this machine";
  ASSERT_EQ(guard({"install", "--listen", "127.0.0.1:4711"}).exit_status, 0);
  // Never as root: reading the machine's units, it would leave marks in /run.
  const std::string home = home_.path().string();
  ProcessSpec spec;
  if (::geteuid() == 0) {
    const std::string command = "chown -R 1000:1000 " + shell_quoted(home);
    ASSERT_EQ(std::system(command.c_str()), 0);
    spec.argv = {"setpriv", "--reuid", "1000", "--regid", "1000", "--clear-groups", "--no-new-privs"};
  }
  for (const std::string& word :
      {std::string("/usr/bin/systemd-analyze"), std::string("--user"), std::string("--man=no"), std::string("verify"),
          unit("guard-serve.service").string(), unit("guard-serve.socket").string()})
    spec.argv.push_back(word);
  spec.env = {
      {"PATH", "/usr/bin:/bin"}, {"HOME", home}, {"XDG_RUNTIME_DIR", home}, {"TMPDIR", home}, {"SYSTEMD_PAGER", ""}};
  spec.deadline = Deadline::after(std::chrono::seconds(60));
  const auto said = collect_process(spec, 1u << 20, CancelToken());
  ASSERT_TRUE(said);
  EXPECT_EQ(said->result.outcome.value, 0) << said->err;
  EXPECT_THAT(said->err, Not(HasSubstr("guard-serve"))) << said->err;
}

}  // namespace
}  // namespace guard::testing

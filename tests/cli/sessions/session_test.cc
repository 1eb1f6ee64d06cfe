// `guard session` and `guard serve`, as a person and as other programs use them.
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <thread>

#include "common/file_io.h"
#include "common/unique_fd.h"
#include "tests/support/program/guard_program.h"
#include "tests/support/runner/tar_maker.h"

namespace guard::testing {
namespace {

constexpr const char* kSession = "me/first";

class Session : public ::testing::TestWithParam<const char*> {
 protected:
  static Needs needs() { return std::string_view(GetParam()) == "docker" ? Needs::docker : Needs::namespace_sandbox; }
  void SetUp() override {
    GUARD_NEEDS(needs());
    project_.build_image(GetParam());
    auto state = TempDir::create();
    ASSERT_TRUE(state) << state.error().to_string();
    state_ = std::make_unique<TempDir>(std::move(*state));
    ASSERT_EQ(::chmod(state_->path().c_str(), 0711), 0);
  }

  void TearDown() override { stop(SIGTERM); }

  ProgramResult session(std::vector<std::string> words, const std::string& input = {}) {
    ProgramCall call;
    call.arguments = {"session"};
    call.arguments.insert(call.arguments.end(), words.begin(), words.end());
    call.arguments.insert(call.arguments.begin() + 1 + static_cast<std::ptrdiff_t>(words.empty() ? 0 : 1),
        {"--state", state_->path().string(), "--backend", GetParam()});
    call.folder = project_.path();
    call.stdin_text = input;
    return project_.guard(call);
  }

  ProgramResult bun(const std::string& script, std::vector<std::string> options = {}, const std::string& input = {}) {
    std::vector<std::string> words = {"exec", kSession};
    words.insert(words.end(), options.begin(), options.end());
    words.insert(words.end(), {"--", "bun", "-e", script});
    return session(words, input);
  }

  std::string socket() const { return state_->path() / "sessions/socket"; }

  void serve() {
    serve_ = start_guard(
        {"serve", "--state", state_->path().string(), "--backend", GetParam(), "--project", project_.path().string()},
        project_.environment());
    ASSERT_GT(serve_, 0);
    for (int i = 0; i < 600 && !speaks(); ++i) std::this_thread::sleep_for(milliseconds(50));
    ASSERT_TRUE(speaks());
  }

  bool speaks() const { return ask("GET /healthz HTTP/1.1\r\nHost: g\r\n\r\n").find("\"ok\"") != std::string::npos; }

  UniqueFd connection() const {
    UniqueFd fd(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    std::strncpy(address.sun_path, socket().c_str(), sizeof address.sun_path - 1);
    if (::connect(fd.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0) fd.reset();
    return fd;
  }

  // What comes back for these bytes, up to the end.
  std::string ask(const std::string& bytes) const {
    const UniqueFd fd = connection();
    if (!fd || ::send(fd.get(), bytes.data(), bytes.size(), MSG_NOSIGNAL) < 0) return {};
    ::shutdown(fd.get(), SHUT_WR);
    std::string answer;
    char chunk[4096];
    for (ssize_t size = 0; (size = ::recv(fd.get(), chunk, sizeof chunk, 0)) > 0;)
      answer.append(chunk, static_cast<std::size_t>(size));
    return answer;
  }

  // Starts a script, and reads nothing of its answer.
  static void begin(const UniqueFd& fd, const std::string& script) {
    const std::string body = nlohmann::json({{"argv", {"bun", "-e", script}}}).dump();
    const std::string request =
        "POST /v1/sessions/me/first/exec?open=1 HTTP/1.1\r\nHost: g\r\nContent-Length: " + std::to_string(body.size()) +
        "\r\n\r\n" + body;
    EXPECT_EQ(::send(fd.get(), request.data(), request.size(), MSG_NOSIGNAL), static_cast<ssize_t>(request.size()));
  }

  int stop(int signal_number) {
    if (serve_ <= 0) return 0;
    ::kill(serve_, signal_number);
    int status = 0;
    ::waitpid(serve_, &status, 0);
    serve_ = -1;
    return status;
  }

  Project project_;
  std::unique_ptr<TempDir> state_;
  pid_t serve_ = -1;
};

INSTANTIATE_TEST_SUITE_P(
    Backends, Session, ::testing::Values("namespace", "docker"), [](const auto& parameter) { return parameter.param; });

TEST_P(Session, KeepsItsWorkspaceFromCallToCallWithoutAServer) {
  auto result = bun("await Bun.write('a.txt', 'kept'); console.log(process.cwd())");
  EXPECT_EQ(result.exit_status, 0) << result.err;
  EXPECT_EQ(result.out, "/workspace\n");
  result = bun("process.stdout.write(await Bun.file('a.txt').text()); process.exit(7)");
  EXPECT_EQ(result.exit_status, 7) << result.err;
  EXPECT_EQ(result.out, "kept");
  EXPECT_NE(session({"list"}).out.find("me/first"), std::string::npos);
  EXPECT_EQ(session({"close", kSession, "--remove"}).exit_status, 0);
  EXPECT_EQ(session({"list"}).out, "");
}

TEST_P(Session, RunsInOneSandboxWithAServer) {
  serve();
  EXPECT_EQ(bun("await Bun.write('/tmp/mark', 'here')").exit_status, 0);
  auto result = bun("process.stdout.write(await Bun.file('/tmp/mark').text())");
  EXPECT_EQ(result.out, "here") << result.err;
  EXPECT_EQ(bun("process.stdout.write(await Bun.stdin.text())", {"--stdin", "-"}, "given").out, "given");
  result = bun("setTimeout(() => {}, 1e5)", {"--timeout", "200ms"});
  EXPECT_EQ(result.exit_status, 124) << result.err;
  result = bun("process.kill(process.pid, 9)");
  EXPECT_EQ(result.exit_status, 128 + 9) << result.err;
  EXPECT_EQ(session({"exec", kSession, "--", "no-such-program"}).exit_status, 2);

  project_.write("up.txt", "bytes\n");
  EXPECT_EQ(session({"upload", kSession, "up.txt", "deep/up.txt"}).exit_status, 0);
  EXPECT_NE(session({"ls", kSession, "deep"}).out.find("up.txt"), std::string::npos);
  EXPECT_EQ(session({"download", kSession, "deep/up.txt"}).out, "bytes\n");
  result = session({"exec", "other/one", "--", "bun", "-e",
      "console.log(require('fs').existsSync('deep'), require('fs').existsSync('/tmp/mark'))"});
  EXPECT_EQ(result.out, "false false\n") << result.err;
  const int status = stop(SIGTERM);
  EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0) << status;
  EXPECT_EQ(session({"download", kSession, "deep/up.txt"}).out, "bytes\n");
}

TEST_P(Session, MasksWhatACommandPrints) {
  const std::string value = "a-value-that-" + std::string("nobody-should-see-42");
  const auto result = bun("console.log('it is ' + process.env.MY_KEY)", {"--env", "MY_KEY=" + value});
  EXPECT_EQ(result.out.find(value), std::string::npos);
  EXPECT_NE(result.out.find("[REDACTED:"), std::string::npos) << result.out << result.err;
}

TEST_P(Session, RunsCommandsInTheBackground) {
  const auto alone = bun("0", {"--background"});
  EXPECT_EQ(alone.exit_status, 3) << alone.err;
  EXPECT_NE(alone.err.find("start `guard serve`"), std::string::npos) << alone.err;
  EXPECT_EQ(session({"exec", kSession, "--", "bun", "-e", "a\xff"}).exit_status, 2);
  serve();
  const auto begun = bun("console.log('from behind'); await Bun.sleep(200)", {"--background"});
  ASSERT_EQ(begun.exit_status, 0) << begun.err;
  const std::string id = begun.document().value("command", "");
  std::string text;
  for (int i = 0; i < 200 && text.empty(); ++i) {
    text = session({"log", kSession, id}).out;
    std::this_thread::sleep_for(milliseconds(20));
  }
  EXPECT_EQ(text, "from behind\n");
  EXPECT_NE(session({"commands", kSession}).out.find(id), std::string::npos);
}

// Killed without a word: nothing of it lives on, and nothing is lost that was written before.
TEST_P(Session, OutlivesItsServer) {
  serve();
  EXPECT_EQ(bun("await Bun.write('a.txt', 'kept')").exit_status, 0);
  EXPECT_EQ(bun("await Bun.sleep(1e5)", {"--background"}).exit_status, 0);
  std::vector<std::filesystem::path> sandboxes;
  for (const auto& entry : std::filesystem::directory_iterator(state_->path() / "sessions/workspaces"))
    sandboxes.push_back(shared_cache() / "runs" / entry.path().filename());
  EXPECT_TRUE(std::any_of(sandboxes.begin(), sandboxes.end(), [](const auto& run) { return exists(run); }));
  stop(SIGKILL);
  serve();
  for (const auto& run : sandboxes) EXPECT_FALSE(exists(run)) << run;
  const auto result = bun("process.stdout.write(await Bun.file('a.txt').text())");
  EXPECT_EQ(result.out, "kept") << result.err;
  EXPECT_NE(session({"commands", kSession}).out.find("lost"), std::string::npos);
}

// The image holds nothing but a static program, where only the image's own PATH finds it.
TEST_P(Session, RunsInAnImportedImage) {
  const auto program = read_file(GUARD_PROGRAM, 256u << 20);
  ASSERT_TRUE(program);
  const std::string saved = state_->path() / "saved.tar";
  ASSERT_TRUE(write_file_atomically(saved, make_saved({TarMaker().file("opt/bin/guard", *program, 0755).bytes()})));
  const std::string name = std::string("tiny-") + GetParam();
  auto result = project_.guard({"image", "import", name, saved});
  ASSERT_EQ(result.exit_status, 0) << result.err;
  EXPECT_NE(project_.guard({"image", "list"}).out.find(name + ": for sessions, of " + saved), std::string::npos);
  const auto version = [&](std::vector<std::string> options) {
    std::vector<std::string> words = {"exec", kSession};
    words.insert(words.end(), options.begin(), options.end());
    words.insert(words.end(), {"--", "guard", "--version"});
    return session(words);
  };
  EXPECT_EQ(version({}).exit_status, 2) << "the project's image has no guard";
  result = version({"--image", name});
  EXPECT_EQ(result.out.substr(0, 6), "guard ") << result.err;
  result = version({"--image", "no-such-image"});
  EXPECT_EQ(result.exit_status, 3);
  EXPECT_NE(result.err.find("guard image import"), std::string::npos) << result.err;

  project_.configure("[session]\nimage = \"" + name + "\"\n");
  serve();
  EXPECT_EQ(version({}).out.substr(0, 6), "guard ");
  EXPECT_EQ(version({"--image", name}).exit_status, 0) << "it is the server's own";
  EXPECT_EQ(version({"--image", "another"}).exit_status, 64) << "the server has chosen";
  EXPECT_EQ(project_.guard({"image", "remove", name}).exit_status, 2) << "it is in use";
  stop(SIGTERM);
  EXPECT_EQ(project_.guard({"image", "prune"}).out.find(name), std::string::npos);
  EXPECT_EQ(project_.guard({"image", "remove", name}).exit_status, 0);
  EXPECT_EQ(project_.guard({"image", "list"}).out.find(name), std::string::npos);
}

TEST_P(Session, RefusesWhatIsNoSession) {
  for (const char* id : {"me", "me/", "/first", "../first", "me/../x", "me/fi rst", "me/.x", "a/b/c", "me/\x01"}) {
    const auto result = session({"open", id});
    EXPECT_EQ(result.exit_status, 2) << id << result.err;
  }
  EXPECT_EQ(session({"exec", kSession}).exit_status, 64);
  EXPECT_EQ(session({"open"}).exit_status, 64);
}

// A client that sends nonsense, half a request, or does not read, harms itself alone.
TEST_P(Session, IsNotHeldUpByBadClients) {
  serve();
  std::vector<UniqueFd> silent;
  for (int i = 0; i < 50; ++i) {
    silent.push_back(connection());
    ASSERT_TRUE(silent.back());
    static_cast<void>(::send(silent.back().get(), "GET /v1/ses", 11, MSG_NOSIGNAL));
  }
  for (const std::string& bytes :
      {std::string("\r\n\r\n"), std::string(200'000, 'x'), std::string("GET / HTTP/9.9\r\n\r\n"),
          std::string("POST /v1/sessions/me/first/exec HTTP/1.1\r\nContent-Length: -1\r\n\r\n"),
          std::string("POST /v1/sessions/me/first/exec HTTP/1.1\r\nContent-Length: 99999999999\r\n\r\n"),
          std::string("GET /%zz HTTP/1.1\r\nHost: g\r\n\r\n"),
          std::string("GET /v1/sessions/..%2f../x HTTP/1.1\r\n\r\n"), std::string("\0\1\2\3", 4)}) {
    const std::string answer = ask(bytes);
    EXPECT_EQ(answer.find("200 OK"), std::string::npos) << answer;
  }
  for (const std::string& body : {std::string("{"), std::string("[]"), std::string("{\"argv\": 1}"),
           std::string("{\"argv\": []}"), std::string("{\"argv\": [\"bun\"], \"uid\": 0}"),
           std::string("{\"argv\": [\"bun\"], \"input\": \"%%\"}"), std::string(100, '[')}) {
    const std::string answer = ask("POST /v1/sessions/me/first/exec?open=1 HTTP/1.1\r\nHost: g\r\nContent-Length: " +
        std::to_string(body.size()) + "\r\n\r\n" + body);
    EXPECT_NE(answer.find("HTTP/1.1 400"), std::string::npos) << body << answer;
  }
  // Floods an answer that nobody reads.
  const UniqueFd deaf = connection();
  begin(deaf, "for (;;) console.log('x'.repeat(65536))");
  std::this_thread::sleep_for(milliseconds(300));
  const auto result = bun("console.log('served')");
  EXPECT_EQ(result.out, "served\n") << result.err;
}

// A client that dies leaves no command behind.
TEST_P(Session, EndsTheCommandOfAClientThatHasGone) {
  serve();
  const auto runs = [this] { return session({"list"}).out.find("RUNNING") != std::string::npos; };
  {
    const UniqueFd client = connection();
    begin(client, "await Bun.sleep(1e6)");
    for (int i = 0; i < 100 && !runs(); ++i) std::this_thread::sleep_for(milliseconds(20));
    EXPECT_TRUE(runs());
  }
  for (int i = 0; i < 200 && runs(); ++i) std::this_thread::sleep_for(milliseconds(20));
  EXPECT_FALSE(runs());
}

}  // namespace
}  // namespace guard::testing

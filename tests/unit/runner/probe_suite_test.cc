// The probes of tests/probes/README.md, tried in every sandbox that is to be had here. That page is the expectation:
// what it calls held must hold, and what is open must be named there.
#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/shm.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>

#include <cstring>
#include <map>
#include <set>

#include "tests/support/runner/every_sandbox.h"

namespace guard {
namespace {

using testing::Where;

// As the heads of the table's columns.
std::string column(Where where) {
  switch (where) {
    case Where::docker: return "docker";
    case Where::namespace_as_we_are: return "namespace (root)";
    case Where::namespace_as_user: return "namespace (user)";
    case Where::runsc: return "docker + runsc";
    case Where::podman: return "podman";
  }
  return {};
}

std::string trimmed(std::string_view text) {
  const std::size_t begin = text.find_first_not_of(' ');
  if (begin == std::string_view::npos) return {};
  return std::string(text.substr(begin, text.find_last_not_of(' ') - begin + 1));
}

std::vector<std::string> parts(std::string_view text, char separator) {
  std::vector<std::string> found;
  while (true) {
    const std::size_t end = text.find(separator);
    found.push_back(trimmed(text.substr(0, end)));
    if (end == std::string_view::npos) return found;
    text.remove_prefix(end + 1);
  }
}

// "held", or "open: a; b".
std::set<std::string> open_in(std::string_view cell) {
  std::set<std::string> names;
  if (!cell.starts_with("open:")) return names;
  for (std::string& name : parts(cell.substr(5), ';')) names.insert(std::move(name));
  return names;
}

// What the page says of one column: per number the checks that are open, for the rows that a probe can judge from
// inside.
std::map<int, std::set<std::string>> documented(const std::string& head) {
  std::map<int, std::set<std::string>> rows;
  std::ifstream page(GUARD_SOURCE_DIR "/tests/probes/README.md");
  std::size_t at = 0;
  for (std::string line; std::getline(page, line);) {
    if (!line.starts_with("|")) continue;
    const auto cells = parts(line, '|');
    if (at == 0) {
      at = static_cast<std::size_t>(std::find(cells.begin(), cells.end(), head) - cells.begin());
      EXPECT_LT(at, cells.size()) << "no column " << head;
    }
    if (cells.size() <= at) continue;
    const int number = std::atoi(cells[1].c_str());
    if (number > 0 && (cells[at] == "held" || cells[at].starts_with("open:"))) rows[number] = open_in(cells[at]);
  }
  return rows;
}

class ProbeSuite : public testing::EverySandbox {
 protected:
  std::vector<std::filesystem::path> programs() const override {
    return {GUARD_BINARY_DIR "/tests/probes/probe", testing::case_program("forks"),
        testing::case_program("eats_memory"), testing::case_program("floods")};
  }

  void SetUp() override {
    EverySandbox::SetUp();
    if (!IsSkipped() && !HasFatalFailure()) plant();
  }

  void TearDown() override {
    if (shm_id_ >= 0) ::shmctl(shm_id_, IPC_RMID, nullptr);
    EverySandbox::TearDown();
  }

  // What a program of the host has lying about: a secret in the environment, a listener, a named socket, shared memory.
  void plant() {
    secret_ = std::make_unique<testing::ScopedEnv>("GUARD_PROBE_PLANTED", kSecret);
    listener_.reset(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t size = sizeof address;
    ASSERT_EQ(::bind(listener_.get(), reinterpret_cast<sockaddr*>(&address), size), 0);
    ASSERT_EQ(::listen(listener_.get(), 8), 0);
    ASSERT_EQ(::getsockname(listener_.get(), reinterpret_cast<sockaddr*>(&address), &size), 0);
    port_ = ntohs(address.sin_port);
    abstract_name_ = "guard-probe-" + std::to_string(::getpid());
    abstract_.reset(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
    sockaddr_un name{};
    name.sun_family = AF_UNIX;
    std::memcpy(name.sun_path + 1, abstract_name_.data(), abstract_name_.size());
    ASSERT_EQ(::bind(abstract_.get(), reinterpret_cast<sockaddr*>(&name),
                  static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + 1 + abstract_name_.size())),
        0);
    ASSERT_EQ(::listen(abstract_.get(), 8), 0);
    shm_key_ = ::getpid();
    shm_id_ = ::shmget(shm_key_, 4096, IPC_CREAT | 0666);
    ASSERT_GE(shm_id_, 0) << std::strerror(errno);
  }

  SandboxSpec small(std::vector<std::string> argv) const {
    SandboxSpec wanted = spec(std::move(argv));
    wanted.limits.tmp_bytes = 8u << 20;
    wanted.limits.tmp_files = 500;
    wanted.limits.memory_bytes = 256u << 20;
    // gVisor's own threads count, too.
    wanted.limits.pids = GetParam() == Where::runsc ? 256 : 64;
    wanted.limits.cpus = 0.5;
    return wanted;
  }

  void expect_outcome(int number, std::vector<std::string> argv, OutcomeKind kind) {
    if (!rows_.contains(number)) return;
    const auto result = run(small(std::move(argv)));
    if (!rows_[number].empty()) {
      // Not with its own reason, but not well either.
      EXPECT_TRUE(!result || result->outcome.kind != OutcomeKind::exited || result->outcome.value != 0) << number;
      return;
    }
    ASSERT_TRUE(result) << number << ": " << result.error().to_string();
    EXPECT_EQ(result->outcome.kind, kind) << number << ": " << to_string(result->outcome.kind);
  }

  std::vector<std::string> probe() const {
    return {"/bin/probe", "--secret", kSecret, "--host-file", (folder() / "staged" / "given").string(), "--host-path",
        folder().parent_path().string(), "--port", std::to_string(port_), "--abstract", abstract_name_, "--shm-key",
        std::to_string(shm_key_)};
  }

  // Of what the probe has printed.
  void expect_page(const Outcome& outcome, const std::map<std::string, std::string>& enforced_by) {
    ASSERT_EQ(outcome.kind, OutcomeKind::exited) << to_string(outcome.kind) << outcome.detail << out_.text;
    ASSERT_EQ(outcome.value, 0) << out_.text << err_.text;
    std::map<int, std::set<std::string>> open;
    std::set<int> tried;
    bool done = false;
    std::istringstream lines(out_.text);
    for (std::string line; std::getline(lines, line);) {
      done = line == "done";
      const int number = std::atoi(line.c_str());
      if (number == 0) continue;
      tried.insert(number);
      const std::size_t state = line.find(' ') + 1;
      if (line.compare(state, 5, "open ") != 0) continue;
      open[number].insert(line.substr(state + 5, line.find(": ", state) - state - 5));
    }
    ASSERT_TRUE(done) << "it did not come to its end:\n" << out_.text;
    // Where no control group limits them, nothing does (and the record says so).
    if (enforced_by.at("cpus") == "none") open.erase(54);
    for (const int number : tried) {
      EXPECT_TRUE(rows_.contains(number)) << number << " is not in the table";
      std::string cell;
      for (const std::string& name : open[number]) {
        cell += (cell.empty() ? "open: " : "; ") + name;
        EXPECT_TRUE(rows_[number].contains(name)) << number << " is open: " << name;
      }
      if (std::getenv("GUARD_PROBES_SHOW") != nullptr)
        std::printf("ROW|%d|%s\n", number, cell.empty() ? "held" : cell.c_str());
    }
    if (std::getenv("GUARD_PROBES_SHOW") != nullptr) std::printf("%s\n", out_.text.c_str());
  }

  static constexpr const char* kSecret = "a-planted-value-of-the-host";
  std::unique_ptr<testing::ScopedEnv> secret_;
  UniqueFd listener_;
  UniqueFd abstract_;
  int port_ = 0;
  std::string abstract_name_;
  int shm_key_ = 0;
  int shm_id_ = -1;
  std::map<int, std::set<std::string>> rows_;
};

INSTANTIATE_TEST_SUITE_P(In, ProbeSuite, testing::everywhere(), testing::name_of);

TEST_P(ProbeSuite, HoldsWhatThePageSays) {
  rows_ = documented(column(GetParam()));
  each([this] {
    const auto result = run(small(probe()));
    ASSERT_TRUE(result) << result.error().to_string() << out_.text;
    expect_page(result->outcome, result->enforced_by);
  });
}

TEST_P(ProbeSuite, HoldsTheSameWhereTheSandboxStays) {
  if (GetParam() == Where::runsc) GTEST_SKIP() << "this runtime has no sandboxes that stay";
  rows_ = documented(column(GetParam()));
  each([this] {
    SandboxSpec wanted = small({});
    const auto workspace = cache() / "workspace";
    std::filesystem::create_directories(workspace);
    struct stat found {};
    ASSERT_EQ(::stat(workspace.c_str(), &found), 0);
    wanted.shared = {{workspace, "/workspace", {found.st_dev, found.st_ino}}};
    const auto sandbox = open_in(wanted);
    ASSERT_TRUE(sandbox) << sandbox.error().to_string();
    TaskSpec task;
    task.argv = probe();
    task.env = wanted.env;
    // What the first one leaves behind opens nothing to the second, but is there: both are the same session's.
    for (const bool again : {false, true}) {
      const auto result = run_task(**sandbox, task, 1u << 20, Deadline::after(milliseconds(60'000)));
      ASSERT_TRUE(result) << result.error().to_string();
      out_.text = result->out;
      err_.text = result->err;
      if (again) rows_[60].insert("/dev/shm of another run");
      expect_page(result->end.outcome, (*sandbox)->enforced_by());
    }
    const auto closed = (*sandbox)->close(milliseconds(0));
    EXPECT_TRUE(closed) << closed.error().to_string();
  });
}

TEST_P(ProbeSuite, EndsWhatTakesTooMuchWithItsOwnReason) {
  rows_ = documented(column(GetParam()));
  each([this] {
    expect_outcome(47, {"/bin/forks"}, OutcomeKind::pids_limit);
    expect_outcome(48, {"/bin/eats_memory", std::to_string(1u << 30)}, OutcomeKind::out_of_memory);
    expect_outcome(49, {"/bin/eats_memory", std::to_string(1u << 30), "child"}, OutcomeKind::out_of_memory);
  });
}

// A runtime is not taken at its name.
TEST(RuntimeTrial, RefusesWhatIsNotThereOrNotWhatItIsCalled) {
  GUARD_NEEDS_TEST_ENGINE();
  auto folder = TempDir::create();
  ASSERT_TRUE(folder);
  const testing::ScopedEnv cache("GUARD_CACHE_DIR", folder->path().string());
  ::chmod(folder->path().c_str(), 0755);
  const CancelToken never;
  docker::EngineClient engine(test_engine_socket(), never);
  const std::string image = "guard-test-trial:" + std::to_string(::getpid());
  const auto id = testing::load_program_image(engine, image, {{"bin/talks", testing::case_program("talks")}});
  ASSERT_TRUE(id) << id.error().to_string();
  SandboxSpec wanted;
  wanted.run_id = "trial-" + std::to_string(::getpid());
  wanted.argv = {"/bin/talks", "0"};
  wanted.working_dir = "/tmp";
  wanted.image = {image, *id, {}};
  const auto refused = [&](const char* runtime, const char* why) {
    testing::KeepingSink out;
    const auto result =
        make_docker_sandbox({test_engine_socket(), runtime, milliseconds(10'000)})->run(wanted, out, out, never);
    ASSERT_FALSE(result) << runtime;
    EXPECT_EQ(result.error().code(), ErrorCode::environment_unavailable) << result.error().to_string();
    EXPECT_NE(result.error().message().find(why), std::string::npos) << result.error().to_string();
    EXPECT_EQ(out.seen, 0u);
  };
  refused("no-such-runtime", "the engine knows only");
  const auto info = engine.engine_info(Deadline::after(milliseconds(10'000)));
  ASSERT_TRUE(info);
  const auto has = [&](const char* name) {
    return std::find(info->runtimes.begin(), info->runtimes.end(), name) != info->runtimes.end();
  };
  // ./dev test configures it: runc by the name of gVisor.
  if (has("runsc-in-name-only")) refused("runsc-in-name-only", "own kernel");
  if (has("runtime-that-is-not-there")) refused("runtime-that-is-not-there", "trial run");
  EXPECT_FALSE(std::filesystem::exists(folder->path() / "runtimes"));
  EXPECT_TRUE(engine.remove_image(image, Deadline::after(milliseconds(60'000))));
}

}  // namespace
}  // namespace guard

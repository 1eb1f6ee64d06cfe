// What tests of the backends share: a cache and a root folder of their own, programs that misbehave, a sink that keeps,
// and running a test's body as an ordinary user.
#pragma once

#include <fcntl.h>
#include <grp.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <functional>
#include <map>
#include <memory>
#include <sstream>
#include <string>
#include <string_view>
#include <thread>
#include <utility>

#include "common/file_io.h"
#include "runner/init_side/fill_file.h"
#include "runner/sandbox/sandbox.h"
#include "tests/support/scoped_env.h"

namespace guard::testing {

class KeepingSink final : public ByteSink {
 public:
  Result<void> push(std::span<const char> bytes) override {
    std::this_thread::sleep_for(std::exchange(pause, milliseconds(0)));
    if (text.size() + bytes.size() <= kept_max) text.append(bytes.data(), bytes.size());
    seen += bytes.size();
    if (fail_after != 0 && seen >= fail_after) return Error(ErrorCode::withheld, "the sink has had enough");
    return ok();
  }
  Result<void> finish() override { return ok(); }

  std::string text;
  std::uint64_t seen = 0;
  std::uint64_t fail_after = 0;  // 0: never
  std::size_t kept_max = 1 << 20;
  milliseconds pause{0};  // before the first
};

inline std::filesystem::path case_program(std::string_view name) {
  return std::filesystem::path(GUARD_BINARY_DIR) / "tests" / "cases" / name;
}

constexpr uid_t kOrdinaryUser = 1000;

enum class As { ourselves, ordinary_user };

// Runs `body` as an ordinary user, in a child: what it expects is reported there, and fails here. Root hides faults.
inline void run_as(As who, const std::function<void()>& body) {
  ::signal(SIGPIPE, SIG_IGN);  // as guard's main does (common/cancel.h): a sandbox may end while it is written to
  if (who == As::ourselves || ::geteuid() != 0) {
    body();
    return;
  }
  std::fflush(nullptr);
  const pid_t pid = ::fork();
  ASSERT_GE(pid, 0);
  if (pid == 0) {
    if (::setgroups(0, nullptr) != 0 || ::setresgid(kOrdinaryUser, kOrdinaryUser, kOrdinaryUser) != 0 ||
        ::setresuid(kOrdinaryUser, kOrdinaryUser, kOrdinaryUser) != 0) {
      ::_exit(99);
    }
    body();
    std::fflush(nullptr);
    ::_exit(::testing::Test::HasFailure() ? 1 : 0);
  }
  int status = 0;
  ASSERT_EQ(::waitpid(pid, &status, 0), pid);
  EXPECT_EQ(status, 0) << "as an ordinary user (see above)";
}

// "name value" lines of a case program.
inline std::map<std::string, std::string> answers(const std::string& text) {
  std::map<std::string, std::string> found;
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    const std::size_t space = line.rfind(' ');
    if (space != std::string::npos) found[line.substr(0, space)] = line.substr(space + 1);
  }
  return found;
}

// Processes whose command line holds `marker`, ours excepted.
inline int processes_with(const std::string& marker) {
  int count = 0;
  std::error_code error;
  for (const auto& entry : std::filesystem::directory_iterator("/proc", error)) {
    const std::string name = entry.path().filename();
    if (name.find_first_not_of("0123456789") != std::string::npos || name == std::to_string(::getpid())) continue;
    // A stream would throw when the process ends in between.
    const UniqueFd file(::open((entry.path() / "cmdline").c_str(), O_RDONLY | O_CLOEXEC));
    std::string text(4096, '\0');
    const ssize_t size = file ? ::read(file.get(), text.data(), text.size()) : 0;
    text.resize(size > 0 ? static_cast<std::size_t>(size) : 0);
    if (text.find(marker) != std::string::npos) ++count;
  }
  return count;
}

// What lies below `source`, as a sandbox is filled with it.
inline void write_fill_file(const std::filesystem::path& source, const std::filesystem::path& path) {
  namespace fs = std::filesystem;
  auto file = FillFile::create(path);
  ASSERT_TRUE(file) << file.error().to_string();
  for (const auto& entry : fs::recursive_directory_iterator(source)) {
    const std::string name = entry.path().lexically_relative(source).native();
    if (entry.is_symlink()) {
      ASSERT_TRUE(file->add(fill_format::Kind::link, name, fs::read_symlink(entry.path()).native()));
    } else if (entry.is_directory()) {
      ASSERT_TRUE(file->add(fill_format::Kind::folder, name));
    } else {
      const auto bytes = read_file(entry.path(), 1 << 26, FollowLinks::no);
      ASSERT_TRUE(bytes) << bytes.error().to_string();
      const bool runs = (entry.status().permissions() & fs::perms::owner_exec) != fs::perms::none;
      ASSERT_TRUE(file->add(runs ? fill_format::Kind::program : fill_format::Kind::file, name, *bytes));
    }
  }
  ASSERT_TRUE(file->finish());
}

class SandboxFixture : public ::testing::Test {
 protected:
  void SetUp() override {
    auto made = TempDir::create();
    ASSERT_TRUE(made.has_value()) << made.error().to_string();
    folder_ = std::make_unique<TempDir>(std::move(*made));
    cache_env_ = std::make_unique<ScopedEnv>("GUARD_CACHE_DIR", cache().string());
    std::filesystem::create_directories(cache());
    std::filesystem::create_directories(root() / "bin");
    std::filesystem::create_directories(folder_->path() / "staged" / "nested");
    std::ofstream(folder_->path() / "staged" / "given") << "as given\n";
    std::ofstream(folder_->path() / "staged" / "nested" / "given") << "as given, too\n";
    // Writable for all as a file, so that it is the mount that must keep it from changing.
    ::chmod((folder_->path() / "staged" / "given").c_str(), 0666);
    write_fill_file(folder() / "staged", folder() / "fill");
    for (const auto& entry : std::filesystem::directory_iterator(case_program(""))) {
      if (entry.is_regular_file() && ::access(entry.path().c_str(), X_OK) == 0) {
        std::filesystem::copy_file(entry.path(), root() / "bin" / entry.path().filename());
      }
    }
    // Both root's stand-in and the ordinary user must be able to walk here; the latter writes the cache, too.
    ::chmod(folder_->path().c_str(), 0755);
    ::chmod(cache().c_str(), 0777);
  }

  std::filesystem::path cache() const { return folder_->path() / "cache"; }
  std::filesystem::path root() const { return folder_->path() / "root"; }
  const std::filesystem::path& folder() const { return folder_->path(); }

  SandboxSpec spec(std::vector<std::string> argv) const {
    static int number = 0;
    SandboxSpec spec;
    spec.run_id = "test-" + std::to_string(::getpid()) + "-" + std::to_string(++number);
    spec.argv = std::move(argv);
    spec.env = {{"PATH", "/bin"}, {"HOME", "/tmp"}};
    spec.image.root_folder = root();
    spec.host_folder = folder();
    spec.scratch = {{"/app/scratch", "/.fill", 16 << 20, 1000}};
    spec.mounts = {{folder() / "staged", "/staged"}, {folder() / "fill", "/.fill"}};
    spec.timeout = milliseconds(60'000);
    spec.grace = milliseconds(1500);
    return spec;
  }

  CancelToken cancel_;
  KeepingSink out_;
  KeepingSink err_;

 private:
  std::unique_ptr<TempDir> folder_;
  std::unique_ptr<ScopedEnv> cache_env_;
};

}  // namespace guard::testing

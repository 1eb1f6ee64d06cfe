// Every system call of a run made to fail in turn (by strace), and every answer of the engine: a run whose tests fail
// is never allowed, whichever of guard's own calls failed on the way, and the next start finds nothing left behind.
//
// GUARD_FAULTS=all tries every single call; otherwise a few of each kind.
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdlib>
#include <fstream>
#include <set>

#include "common/own_entry.h"
#include "tests/support/program/guard_program.h"

namespace guard::testing {
namespace {

namespace fs = std::filesystem;

class Faults : public ::testing::TestWithParam<std::string> {
 protected:
  void SetUp() override {
    GUARD_NEEDS(GetParam() == "docker" ? Needs::docker : Needs::namespace_sandbox);
    if (::access("/usr/bin/strace", X_OK) != 0) GTEST_SKIP() << "no strace here";
    project_.write("guard.toml", "[run]\ngrace_s = 1\n");
    project_.write("sandbox/a.test.ts",
        "import { expect, test } from \"bun:test\";\n"
        "test(\"is wrong\", () => { expect(1).toBe(2); });\ntest(\"is right\", () => { expect(1).toBe(1); });\n");
    project_.build_image(GetParam());
  }

  ProgramResult traced(std::vector<std::string> options) const {
    ProcessSpec spec;
    spec.argv = {"/usr/bin/timeout", "--signal=KILL", "60", "/usr/bin/strace", "-qq"};
    spec.argv.insert(spec.argv.end(), options.begin(), options.end());
    spec.argv.insert(spec.argv.end(),
        {GUARD_PROGRAM, "run", "--format", "json", "--quiet", "--backend", GetParam(), "--timeout", "20",
            "sandbox/a.test.ts"});
    spec.cwd = project_.path();
    spec.env = project_.environment();
    return run_program(spec);
  }

  // How often guard makes each call in such a run.
  std::map<std::string, int> calls() const {
    const std::string trace = project_.path() / "trace";
    EXPECT_EQ(traced({"-o", trace}).exit_status, 1);
    std::map<std::string, int> counts;
    std::ifstream file(trace);
    for (std::string line; std::getline(file, line);) {
      const std::size_t end = line.find('(');
      if (end != std::string::npos && line.find_first_not_of("abcdefghijklmnopqrstuvwxyz_0123456789") == end)
        ++counts[line.substr(0, end)];
    }
    counts.erase("execve");  // strace's own
    return counts;
  }

  static std::set<int> chosen(int count) {
    std::set<int> all;
    const bool every = std::getenv("GUARD_FAULTS") != nullptr;
    constexpr int kOfEachKind = 5;
    for (int i = 0; i < (every ? count : std::min(count, kOfEachKind)); ++i) {
      all.insert(every || count <= kOfEachKind ? i + 1 : 1 + i * (count - 1) / (kOfEachKind - 1));
    }
    return all;
  }

  Project project_;
};

TEST_P(Faults, FailingTestsAreNeverAllowedWhicheverCallFails) {
  const auto counts = calls();
  ASSERT_GT(counts.size(), 15u);
  int tried = 0;
  int told = 0;
  for (const auto& [call, count] : counts) {
    for (const int when : chosen(count)) {
      const std::string inject =
          fmt::format("inject={}:error={}:when={}", call, call == "mmap" || call == "brk" ? "ENOMEM" : "EIO", when);
      SCOPED_TRACE(inject);
      const auto result = traced({"-o", "/dev/null", "-e", inject});
      ++tried;
      EXPECT_NE(result.exit_status, 0) << result.out << result.err;
      const auto document = nlohmann::json::parse(result.out, nullptr, /*allow_exceptions=*/false);
      if (document.is_discarded()) continue;  // its last words were what failed
      ++told;
      EXPECT_NE(document.value("verdict", "allowed"), "allowed") << result.out;
    }
  }
  RecordProperty("injections", tried);
  EXPECT_GT(told, tried / 4);

  // The next start clears up.
  EXPECT_EQ(project_.run(GetParam(), {"sandbox/a.test.ts"}).exit_status, 1);
  std::error_code none;
  EXPECT_TRUE(fs::is_empty(shared_cache() / "runs", none));
}

// A disk that is full and a machine without descriptors, at each of guard's own calls in turn: said with the place or
// with what to do.
TEST_P(Faults, WhatRunsOutIsSaidWithItsPlaceOrWhatToDo) {
  const auto counts = calls();
  const auto hold = [&](std::initializer_list<const char*> names, const char* error, std::string_view words,
                        std::string_view remedy) {
    for (const char* call : names) {
      if (!counts.contains(call)) continue;
      for (const int when : chosen(counts.at(call))) {
        const std::string inject = fmt::format("inject={}:error={}:when={}", call, error, when);
        SCOPED_TRACE(inject);
        const auto result = traced({"-o", "/dev/null", "-e", inject});
        EXPECT_TRUE(result.exit_status >= 1 && result.exit_status <= 3)
            << result.exit_status << result.out << result.err;
        const std::string said = result.out + result.err;
        // Not every call matters: where the failure is told, its remedy is, too.
        if (result.exit_status == 1) continue;  // it did its work all the same
        EXPECT_TRUE(said.find(words) == std::string::npos || said.find(remedy) != std::string::npos) << said;
      }
    }
  };
  hold({"write", "pwrite64", "mkdir", "mkdirat", "fsync", "renameat", "rename", "linkat", "ftruncate"}, "ENOSPC",
      "No space left", "df -h");
  hold({"open", "openat", "socket", "pipe2", "memfd_create", "pidfd_open", "epoll_create1", "eventfd2", "dup"},
      "EMFILE", "Too many open files", "ulimit -n");
  EXPECT_EQ(project_.run(GetParam(), {"sandbox/a.test.ts"}).exit_status, 1);
  std::error_code none;
  EXPECT_TRUE(fs::is_empty(shared_cache() / "runs", none));
  for (const auto& entry :
      fs::recursive_directory_iterator(shared_cache(), fs::directory_options::skip_permission_denied, none)) {
    EXPECT_FALSE(is_own_name(entry.path().filename().native())) << entry.path();
  }
}

INSTANTIATE_TEST_SUITE_P(
    Backends, Faults, ::testing::Values("namespace", "docker"), [](const auto& parameter) { return parameter.param; });

}  // namespace
}  // namespace guard::testing

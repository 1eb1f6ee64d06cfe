// Runs the built guard as a person or a script would, in projects made for the test, with a cache of the test's own.
#pragma once

#include <sys/types.h>

#include <filesystem>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "common/file_io.h"
#include "runner/process/subprocess.h"

namespace guard::testing {

struct ProgramResult {
  int exit_status = -1;  // -1: ended by a signal or not started
  std::string out;
  std::string err;
  nlohmann::json document() const;  // of `out`; a test failure and null where it is none
};

// Runs any program; a test failure where it can't be started.
ProgramResult run_program(const ProcessSpec& spec);

struct ProgramCall {
  std::vector<std::string> arguments;
  std::filesystem::path folder;                    // where guard is started
  std::map<std::string, std::string> environment;  // over the fixture's
  std::string stdin_text;
  bool ordinary_user = false;  // as uid 1000, through setpriv; only as root
};

// Starts guard with this environment alone and its output thrown away, and does not wait: for those who kill it. -1 and
// a test failure where it can't be started.
pid_t start_guard(std::vector<std::string> arguments, const std::map<std::string, std::string>& environment);

// Which sandboxes can be had here. A test that needs one that is missing is skipped with the reason, or fails where
// GUARD_TEST_REQUIRE_DOCKER or GUARD_TEST_REQUIRE_NAMESPACE say that it has to be there.
enum class Needs { nothing, namespace_sandbox, docker };

// A project folder with src/, package.json, tsconfig.json and sandbox/, and a cache folder shared by all tests of this
// program (so that bun is copied once and not per test).
class Project {
 public:
  Project();
  const std::filesystem::path& path() const { return folder_.path(); }
  void write(std::string_view relative, std::string_view text) const;
  // guard.toml, committed as it is to the project's repository (made where there is none): what it relaxes is then the
  // person's wish.
  void configure(std::string_view text) const;

  ProgramResult guard(std::vector<std::string> arguments, std::map<std::string, std::string> environment = {}) const;
  ProgramResult guard(ProgramCall call) const;

  // `guard run ... --format json` in the backend; builds the image first where this program has not yet.
  ProgramResult run(std::string_view backend, std::vector<std::string> files, std::vector<std::string> more = {}) const;
  void build_image(std::string_view backend) const;

  std::map<std::string, std::string> environment() const;

 private:
  TempDir folder_;
};

// Empty if `needs` is met; else why not.
std::string missing(Needs needs);
bool must_have(Needs needs);

std::filesystem::path shared_cache();
std::string docker_socket();

}  // namespace guard::testing

#define GUARD_NEEDS(needs)                                        \
  do {                                                            \
    const std::string why_not = ::guard::testing::missing(needs); \
    if (!why_not.empty()) {                                       \
      if (::guard::testing::must_have(needs)) FAIL() << why_not;  \
      GTEST_SKIP() << why_not;                                    \
    }                                                             \
  } while (false)

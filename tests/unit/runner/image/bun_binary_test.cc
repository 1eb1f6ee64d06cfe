#include "runner/image/bun_binary.h"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <optional>
#include <string>
#include <vector>

#include "common/file_io.h"
#include "tests/support/scoped_env.h"

namespace guard {
namespace {

namespace fs = std::filesystem;
using testing::ScopedEnv;

// A tree as npm makes it, with another program in bun's place: which one is found does not depend on what it does.
class BunBinary : public ::testing::Test {
 protected:
  void SetUp() override {
    auto temp = TempDir::create();
    ASSERT_TRUE(temp);
    temp_.emplace(std::move(*temp));
    modules_ = fs::canonical(temp_->path()) / "lib" / "node_modules";
#if defined(__x86_64__)
    // Both, since the plain one is passed over on a processor without AVX2.
    packages_ = {"bun-linux-x64", "bun-linux-x64-baseline"};
#else
    packages_ = {"bun-linux-aarch64"};
#endif
    ASSERT_TRUE(make_folders(modules_ / "bun" / "bin"));
    ASSERT_TRUE(make_folders(modules_ / ".bin"));
    stub_ = modules_ / "bun" / "bin" / "bun.exe";
    ASSERT_TRUE(write_file_atomically(stub_, "echo \"Error: the install script was not run.\" >&2\nexit 1\n", 0755));
    fs::create_symlink("../bun/bin/bun.exe", modules_ / ".bin" / "bun");
  }

  void install_program(const fs::path& in) {
    for (const auto& package : packages_) {
      ASSERT_TRUE(make_folders(in / "@oven" / package / "bin"));
      fs::copy_file("/bin/true", in / "@oven" / package / "bin" / "bun");
    }
  }

  static bool is_program_in(const Result<fs::path>& found, const fs::path& modules) {
    return found && found->parent_path().parent_path().parent_path() == modules / "@oven";
  }

  std::optional<TempDir> temp_;
  fs::path modules_;
  fs::path stub_;
  std::vector<std::string> packages_;
};

TEST_F(BunBinary, FollowsNpmsStubToThePackageBesideIt) {
  install_program(modules_);
  EXPECT_TRUE(is_program_in(resolve_bun(stub_), modules_));
  EXPECT_TRUE(is_program_in(resolve_bun(modules_ / ".bin" / "bun"), modules_));
}

TEST_F(BunBinary, FollowsNpmsStubToThePackageBelowIt) {
  install_program(modules_ / "bun" / "node_modules");
  EXPECT_TRUE(is_program_in(resolve_bun(stub_), modules_ / "bun" / "node_modules"));
}

TEST_F(BunBinary, TakesAProgramAsItIs) {
  fs::copy_file("/bin/true", temp_->path() / "bun");
  fs::create_symlink("bun", temp_->path() / "link");
  auto found = resolve_bun(temp_->path() / "link");
  ASSERT_TRUE(found);
  EXPECT_EQ(*found, fs::canonical(temp_->path() / "bun"));
}

TEST_F(BunBinary, RefusesAStubThatLeadsNowhere) {
  auto found = resolve_bun(stub_);
  ASSERT_FALSE(found);
  EXPECT_EQ(found.error().code(), ErrorCode::dependency_unsatisfied);
  EXPECT_NE(found.error().hint().find("npm install"), std::string_view::npos);
}

TEST_F(BunBinary, RefusesAPackageForAnotherMachine) {
  install_program(modules_);
  for (const auto& package : packages_) {
    const fs::path program = modules_ / "@oven" / package / "bin" / "bun";
    auto bytes = read_file(program, 1 << 24);
    ASSERT_TRUE(bytes);
    (*bytes)[18] = 8;  // e_machine: MIPS
    ASSERT_TRUE(write_file_atomically(program, *bytes, 0755));
  }
  EXPECT_FALSE(resolve_bun(stub_));
}

TEST_F(BunBinary, IsLookedForInPath) {
  install_program(modules_);
  const ScopedEnv no_name("GUARD_BUN", std::nullopt);
  const ScopedEnv path("PATH", "/nonexistent:" + (modules_ / ".bin").string());
  EXPECT_TRUE(is_program_in(find_bun(), modules_));
}

// One that a generator wrote into the folder we happen to be in.
TEST_F(BunBinary, IsNotLookedForInRelativeFolders) {
  fs::copy_file("/bin/true", temp_->path() / "bun");
  const ScopedEnv no_name("GUARD_BUN", std::nullopt);
  const fs::path before = fs::current_path();
  fs::current_path(temp_->path());
  for (const char* search : {".", "", ":", "./."}) {
    const ScopedEnv path("PATH", search);
    EXPECT_FALSE(find_bun()) << search;
  }
  fs::current_path(before);
}

TEST_F(BunBinary, AWrongNameIsAnErrorAndNotAReasonToSearch) {
  install_program(modules_);
  const ScopedEnv path("PATH", (modules_ / ".bin").string());
  const ScopedEnv name("GUARD_BUN", "/nonexistent/bun");
  EXPECT_FALSE(find_bun());
}

TEST_F(BunBinary, AsksForTheVersion) {
  const fs::path program = temp_->path() / "bun";
  const CancelToken cancel;
  const auto answer = [&](const std::string& script) {
    EXPECT_TRUE(write_file_atomically(program, "#!/bin/sh\n" + script, 0755));
    return ask_bun_version(program, cancel);
  };
  auto version = answer("echo 1.4.5");
  ASSERT_TRUE(version) << version.error().to_string();
  EXPECT_EQ(*version, "1.4.5");
  for (const std::string script :
      {"exit 0", "echo 1.4.5; exit 1", "echo usage: bun", "echo '1.4.5 (x)'", "echo 14", "kill -9 $$"}) {
    EXPECT_FALSE(answer(script)) << script;
  }
}

}  // namespace
}  // namespace guard

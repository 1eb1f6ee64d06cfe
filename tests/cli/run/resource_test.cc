// What guard says when something of its own runs out: the size of a file, descriptors, the disk. It names the place and
// what to do, and its verdict stands.
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <sys/mount.h>
#include <unistd.h>

#include <set>
#include <string>

#include "tests/support/program/guard_program.h"

namespace guard::testing {
namespace {

namespace fs = std::filesystem;

const std::string kPassing =
    "import { expect, test } from \"bun:test\";\ntest(\"is\", () => { expect(1).toBe(1); });\n";

class Resources : public ::testing::Test {
 protected:
  void SetUp() override { project_.write("sandbox/a.test.ts", kPassing); }

  ProgramResult limited(
      const std::string& limit, const std::string& arguments, std::map<std::string, std::string> more = {}) const {
    ProcessSpec spec;
    spec.argv = {"/bin/bash", "-c", fmt::format("{} || exit 99; exec \"$GUARD\" {}", limit, arguments)};
    spec.cwd = project_.path();
    spec.env = project_.environment();
    spec.env["GUARD"] = GUARD_PROGRAM;
    for (const auto& [name, value] : more) spec.env[name] = value;
    return run_program(spec);
  }

  static std::set<std::string> names_below(const fs::path& folder) {
    std::set<std::string> names;
    std::error_code none;
    for (fs::recursive_directory_iterator entry(folder, none), end; !none && entry != end; entry.increment(none))
      names.insert(entry->path().string());
    return names;
  }

  Project project_;
};

// SIGXFSZ would end guard without a verdict.
TEST_F(Resources, AFileThatMayNotGrowIsAnErrorWithItsPath) {
  GUARD_NEEDS(Needs::namespace_sandbox);
  project_.build_image("namespace");
  const fs::path record = project_.path() / "records";
  const auto before = names_below(project_.path());
  for (const char* blocks : {"0", "1", "4"}) {
    SCOPED_TRACE(blocks);
    const auto result =
        limited(fmt::format("ulimit -f {}", blocks), "run --backend namespace --record records/ sandbox/a.test.ts");
    ASSERT_EQ(result.exit_status, 2) << result.out << result.err;
    EXPECT_NE(result.out.find("File too large"), std::string::npos) << result.out << result.err;
    EXPECT_NE(result.out.find("ulimit -f"), std::string::npos) << result.out;
    EXPECT_TRUE(result.out.find(shared_cache().string()) != std::string::npos ||
        result.out.find("records") != std::string::npos)
        << result.out;
  }
  const TempDir other = TempDir::create().value();
  ::chmod(other.path().c_str(), 0755);
  const auto image =
      limited("ulimit -f 64", "image build --root-folder", {{"GUARD_CACHE_DIR", (other.path() / "cache").string()}});
  EXPECT_EQ(image.exit_status, 2) << image.err;
  EXPECT_NE(image.err.find(other.path().string()), std::string::npos) << image.err;
  EXPECT_NE(image.err.find("ulimit -f"), std::string::npos) << image.err;
  EXPECT_EQ(limited("ulimit -f 64", "run --backend namespace sandbox/a.test.ts",
                {{"GUARD_CACHE_DIR", (other.path() / "cache").string()}})
                .exit_status,
      3);
}

TEST_F(Resources, TooFewDescriptorsAreAnErrorThatSaysSo) {
  GUARD_NEEDS(Needs::namespace_sandbox);
  project_.build_image("namespace");
  int refused = 0;
  for (int most = 4; most < 64; ++most) {
    SCOPED_TRACE(most);
    const auto result = limited(fmt::format("ulimit -n {}", most), "run --backend namespace sandbox/a.test.ts");
    if (result.exit_status == 127 || result.exit_status == 99) continue;  // not even the shell or the loader had enough
    if (result.exit_status == 0) break;
    ++refused;
    ASSERT_TRUE(result.exit_status == 2 || result.exit_status == 3) << result.exit_status << result.out << result.err;
    if (result.out.find("Too many open files") == std::string::npos &&
        result.err.find("Too many open files") == std::string::npos)
      continue;
    EXPECT_NE((result.out + result.err).find("ulimit -n"), std::string::npos) << result.out << result.err;
  }
  EXPECT_GT(refused, 3);
}

TEST_F(Resources, AFullDiskIsAnErrorThatNamesTheFolder) {
  GUARD_NEEDS(Needs::namespace_sandbox);
  if (::geteuid() != 0) GTEST_SKIP() << "only root mounts a small disk";
  const TempDir folder = TempDir::create().value();
  ::chmod(folder.path().c_str(), 0755);
  // Not over the folder itself: its lock would be hidden, and whoever sweeps would take it for a dead one.
  const std::filesystem::path disk = folder.path() / "disk";
  std::filesystem::create_directory(disk);
  if (::mount("guard-test", disk.c_str(), "tmpfs", 0, "size=256k,mode=0755") != 0) GTEST_SKIP() << "no mount here";
  const std::map<std::string, std::string> cache = {{"GUARD_CACHE_DIR", (disk / "cache").string()}};
  const auto image = project_.guard({"image", "build", "--root-folder"}, cache);
  EXPECT_EQ(image.exit_status, 2) << image.err;
  EXPECT_NE(image.err.find((disk / "cache").string()), std::string::npos) << image.err;
  EXPECT_NE(image.err.find("df "), std::string::npos) << image.err;
  EXPECT_NE(image.err.find("GUARD_CACHE_DIR"), std::string::npos) << image.err;
  ::umount2(disk.c_str(), MNT_DETACH);
}

}  // namespace
}  // namespace guard::testing

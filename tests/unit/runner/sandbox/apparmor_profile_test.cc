#include "runner/sandbox/apparmor_profile.h"

#include <gtest/gtest.h>

#include "common/file_io.h"
#include "runner/process/subprocess.h"

namespace guard {
namespace {

TEST(AppArmorProfile, IsOursOnlyWhereItIsLoaded) {
  auto folder = TempDir::create();
  ASSERT_TRUE(folder);
  EXPECT_EQ(apparmor_profile(folder->path() / "nothing"), "docker-default");
  for (const char* other : {"docker-default.1", "guard-sandbox-old.2", "guard-sandbox"}) {
    std::filesystem::create_directory(folder->path() / other);
  }
  std::filesystem::remove(folder->path() / "guard-sandbox");
  EXPECT_EQ(apparmor_profile(folder->path()), "docker-default");
  std::filesystem::create_directory(folder->path() / "guard-sandbox.12");
  EXPECT_EQ(apparmor_profile(folder->path()), "guard-sandbox");
}

// Loading it takes a kernel with AppArmor; that it can be read takes the parser alone.
TEST(AppArmorProfile, CanBeParsed) {
  if (!std::filesystem::exists("/sbin/apparmor_parser")) GTEST_SKIP() << "apparmor_parser is not installed";
  ProcessSpec parser;
  parser.argv = {
      "/sbin/apparmor_parser", "--skip-kernel-load", "--skip-cache", GUARD_SOURCE_DIR "/docker/apparmor/guard-sandbox"};
  const auto parsed = collect_process(parser, 1 << 16, CancelToken());
  ASSERT_TRUE(parsed) << parsed.error().to_string();
  EXPECT_EQ(parsed->result.outcome.kind, OutcomeKind::exited);
  EXPECT_EQ(parsed->result.outcome.value, 0) << parsed->err;
}

}  // namespace
}  // namespace guard

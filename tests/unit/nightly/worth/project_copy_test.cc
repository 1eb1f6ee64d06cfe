#include "nightly/worth/project_copy.h"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <filesystem>

#include "common/file_io.h"

namespace guard::nightly {
namespace {

namespace fs = std::filesystem;

class ProjectCopyTest : public ::testing::Test {
 protected:
  void SetUp() override {
    for (const char* path : {"src/a.ts", "src/node_modules/x/index.ts", "src/deep/.git/config", "sandbox/a.test.ts"})
      write(path);
  }
  void write(const fs::path& path) {
    fs::create_directories((project_ / path).parent_path());
    ASSERT_TRUE(write_new_file(project_ / path, "export const a = 1;\n"));
  }
  Result<ProjectCopy> copied() { return ProjectCopy::create(project_, scratch_, {"sandbox/a.test.ts"}, {}); }

  const TempDir folder_ = TempDir::create(fs::temp_directory_path()).value();
  const fs::path project_ = folder_.path() / "project";
  const fs::path scratch_ = folder_.path() / "scratch";
};

TEST_F(ProjectCopyTest, LeavesOutWhatIsNeverStaged) {
  const auto copy = copied();
  ASSERT_TRUE(copy) << copy.error().to_string();
  EXPECT_TRUE(fs::exists(copy->folder() / "src/a.ts"));
  EXPECT_TRUE(fs::exists(copy->folder() / "src/deep"));
  EXPECT_FALSE(fs::exists(copy->folder() / "src/node_modules"));
  EXPECT_FALSE(fs::exists(copy->folder() / "src/deep/.git"));
}

TEST_F(ProjectCopyTest, EndsAtADepth) {
  fs::path deep = "src";
  for (int i = 0; i < 70; ++i) deep /= "d";
  write(deep / "a.ts");
  const auto copy = copied();
  ASSERT_FALSE(copy);
  EXPECT_EQ(copy.error().code(), ErrorCode::input_invalid);
  EXPECT_NE(copy.error().message().find("nested too deeply"), std::string::npos) << copy.error().to_string();
}

TEST_F(ProjectCopyTest, TakesNoDevice) {
  ASSERT_EQ(::mkfifo((project_ / "src/pipe").c_str(), 0600), 0);
  const auto copy = copied();
  ASSERT_FALSE(copy);
  EXPECT_EQ(copy.error().code(), ErrorCode::input_invalid);
}

// A link is copied as one: what stages the copy judges where it leads.
TEST_F(ProjectCopyTest, FollowsNoLink) {
  fs::create_symlink("/proc/self/environ", project_ / "src/link.ts");
  const auto copy = copied();
  ASSERT_TRUE(copy) << copy.error().to_string();
  EXPECT_TRUE(fs::is_symlink(copy->folder() / "src/link.ts"));
}

}  // namespace
}  // namespace guard::nightly

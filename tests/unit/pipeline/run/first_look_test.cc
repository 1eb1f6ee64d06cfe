#include "pipeline/run/first_look.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <optional>

#include "common/file_io.h"

namespace guard {
namespace {

namespace fs = std::filesystem;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

class FirstLookTest : public ::testing::Test {
 protected:
  void SetUp() override {
    auto made = TempDir::create();
    ASSERT_TRUE(made);
    folder_.emplace(std::move(*made));
    write("package.json", R"({"name":"x","scripts":{"test":"vitest run"}})");
  }
  void write(const std::string& path, const std::string& text) {
    ASSERT_TRUE(make_folders((folder_->path() / path).parent_path()));
    ASSERT_TRUE(write_file_atomically(folder_->path() / path, text));
  }
  FirstLook look() { return first_look(folder_->path(), cancel_); }
  static const FirstLook::Finding& find(const FirstLook& look, std::string_view name) {
    static const FirstLook::Finding none{"", "(nothing)", "", false};
    for (const auto& finding : look.findings) {
      if (finding.name == name) return finding;
    }
    return none;
  }

  std::optional<TempDir> folder_;
  CancelToken cancel_;
};

TEST_F(FirstLookTest, TellsWhichRunnerTheTestsAskFor) {
  write("test/a.test.ts", "import { test } from \"vitest\";");
  write("test/b.test.ts", "import { test } from 'bun:test'; // not \"vitesting\"");
  FirstLook found = look();
  EXPECT_THAT(
      find(found, "runner").text, AllOf(HasSubstr("`vitest run`"), HasSubstr("1 import bun:test, 1 import vitest")));
  EXPECT_TRUE(find(found, "runner").works);
  EXPECT_THAT(find(found, "runner").text, HasSubstr("stand-in"));

  write("test/c.test.ts", "import test from 'ava';");
  found = look();
  EXPECT_THAT(find(found, "runner").remedy, HasSubstr("1 of 3 files need a runner that bun does not have"));
  EXPECT_TRUE(find(found, "runner").works) << "the others run";
  fs::remove(folder_->path() / "test/a.test.ts");
  fs::remove(folder_->path() / "test/b.test.ts");
  EXPECT_FALSE(find(look(), "runner").works);
}

TEST_F(FirstLookTest, NamesTheFoldersThatAGeneratorWouldWriteTo) {
  write("packages/a/test/x.test.ts", "");
  write("src/add.spec.tsx", "");
  write("lib/deep/y_test.js", "");
  EXPECT_THAT(look().gated, ElementsAre("**/*.spec.tsx", "**/*_test.js", "test/**"));
  EXPECT_THAT(find(look(), "tests").text, HasSubstr("3 files: "));
  write("sandbox/a.test.ts", "");
  EXPECT_THAT(look().gated, IsEmpty()) << "the default covers some";
}

TEST_F(FirstLookTest, SaysWhatWillNotWork) {
  EXPECT_THAT(find(look(), "tests").text, HasSubstr("none yet"));
  EXPECT_TRUE(find(look(), "packages").works);
  write("package.json", R"({"name":"x","dependencies":{"a":"1.0.0"}})");
  EXPECT_FALSE(find(look(), "packages").works);
  EXPECT_THAT(find(look(), "packages").remedy, HasSubstr("bun install"));
  write("package.json", "{");
  EXPECT_FALSE(find(look(), "packages").works);
  fs::remove(folder_->path() / "package.json");
  EXPECT_THAT(find(look(), "packages").text, HasSubstr("no package.json"));
  write("package.json", "{}");
  write("bunfig.toml", "[test\n");
  EXPECT_FALSE(find(look(), "preload").works);
}

TEST_F(FirstLookTest, CountsStoredSnapshots) {
  write("test/a.test.ts", "");
  write("test/__snapshots__/a.test.ts.snap", "");
  EXPECT_THAT(find(look(), "snapshots").text, HasSubstr("1 stored file"));
}

}  // namespace
}  // namespace guard

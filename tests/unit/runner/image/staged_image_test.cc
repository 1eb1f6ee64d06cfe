#include "runner/image/image_archive.h"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <optional>

#include "common/file_io.h"

namespace guard {
namespace {

const std::string kId = "sha256:" + std::string(64, 'a');

class StagedImageTest : public testing::Test {
 protected:
  void SetUp() override {
    auto folder = TempDir::create();
    ASSERT_TRUE(folder);
    folder_.emplace(std::move(*folder));
    ::setenv("GUARD_CACHE_DIR", folder_->path().c_str(), 1);
    ASSERT_TRUE(make_folders(folder_->path() / "src/deep"));
    ASSERT_TRUE(write_file_atomically(folder_->path() / "src/deep/a.ts", "export {}\n", 0666));
    ASSERT_TRUE(write_file_atomically(folder_->path() / "a.test.ts", "test\n"));
    ASSERT_TRUE(write_file_atomically(folder_->path() / "init", "init\n", 0755));
    spec_.mounts = {{folder_->path() / "src", "/app/src"}, {folder_->path() / "a.test.ts", "/app/sandbox/a.test.ts"}};
  }
  void TearDown() override { ::unsetenv("GUARD_CACHE_DIR"); }

  Result<StagedContext> stage(std::string_view id = kId,
      std::map<std::string, std::string> labels = {{"guard.run", "r1"}, {"guard.cache", "0a"}}) const {
    return stage_context(spec_, id, folder_->path() / "init", "/.guard-init", labels, never_);
  }

  // As `tar` sees it: "mode owner name" lines, and the Dockerfile's text.
  std::string listing(const StagedContext& context) const {
    std::string bytes(context.bytes, '\0');
    EXPECT_EQ(::pread(context.tar.get(), bytes.data(), bytes.size(), 0), static_cast<ssize_t>(bytes.size()));
    return bytes;
  }

  std::optional<TempDir> folder_;
  SandboxSpec spec_;
  CancelToken never_;
};

// The names in the headers of a tar archive, in order.
std::vector<std::string> names_in(const std::string& tar) {
  std::vector<std::string> names;
  for (std::size_t at = 0; at + 512 <= tar.size() && tar[at] != '\0';) {
    names.emplace_back(tar.c_str() + at);
    const std::size_t size = std::stoul(tar.substr(at + 124, 11), nullptr, 8);
    at += 512 + (size + 511) / 512 * 512;
  }
  return names;
}

TEST_F(StagedImageTest, HoldsTheRecipeTheInitAndEveryFileOnce) {
  const auto context = stage();
  ASSERT_TRUE(context) << context.error().to_string();
  const std::string tar = listing(*context);
  auto names = names_in(tar);
  for (std::string& name : names) {
    if (name.ends_with('/')) name.pop_back();
  }
  EXPECT_EQ(names,
      (std::vector<std::string>{"Dockerfile", "files", "files/.guard-init", "files/app", "files/app/src",
          "files/app/src/deep", "files/app/src/deep/a.ts", "files/app/sandbox", "files/app/sandbox/a.test.ts"}));
  EXPECT_NE(tar.find("FROM " + kId + "\nLABEL guard.cache=0a guard.run=r1\nCOPY files/ /\n"), std::string::npos);
  EXPECT_EQ(tar.find("RUN"), std::string::npos);
}

TEST_F(StagedImageTest, RefusesWhatCouldSaySomethingElseToTheBuilder) {
  for (const std::string& id : {std::string(), std::string("alpine"), kId + "\nRUN x", kId.substr(0, 70),
           std::string("sha256:") + std::string(64, 'G')}) {
    EXPECT_FALSE(stage(id)) << id;
  }
  EXPECT_FALSE(stage(kId, {{"guard.run", "a b"}}));
  EXPECT_FALSE(stage(kId, {{"guard.run", "a\nRUN x"}}));
  EXPECT_FALSE(stage(kId, {{"guard.run", ""}}));
}

// In a layer of an image such a name takes another file away.
TEST_F(StagedImageTest, RefusesNamesThatTakeFilesAway) {
  for (const char* target : {"/app/sandbox/.wh.a.test.ts", "/app/.wh.sandbox/a.test.ts", "/app/.wh..wh..opq"}) {
    spec_.mounts.back().target = target;
    const auto refused = stage();
    ASSERT_FALSE(refused) << target;
    EXPECT_EQ(refused.error().code(), ErrorCode::input_invalid);
  }
}

TEST_F(StagedImageTest, RefusesWhatIsNoFile) {
  ASSERT_EQ(::mkfifo((folder_->path() / "pipe").c_str(), 0600), 0);
  spec_.mounts = {{folder_->path() / "pipe", "/app/pipe"}};
  EXPECT_FALSE(stage());
}

}  // namespace
}  // namespace guard

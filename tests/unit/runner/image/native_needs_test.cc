#include "runner/image/native_needs.h"

#include <gtest/gtest.h>

#include <optional>
#include <string>

#include "common/file_io.h"

namespace guard {
namespace {

namespace fs = std::filesystem;

// With a real library of this machine in place of a package's own, which needs libgcc_s and libm beside the C library.
class NativeNeedsTest : public ::testing::Test {
 protected:
  void SetUp() override {
    auto temp = TempDir::create();
    ASSERT_TRUE(temp);
    temp_.emplace(std::move(*temp));
    trees_ = {temp_->path(), {""}, {""}};
    const auto library = needed_libraries(std::vector<std::string>{"libstdc++.so.6"});
    ASSERT_TRUE(library) << library.error().to_string();
    for (const auto& file : *library) {
      if (file.target.ends_with("libstdc++.so.6")) source_ = file.source;
    }
    const auto present = needed_libraries(std::vector<std::string>{"libc.so.6", "libm.so.6"});
    ASSERT_TRUE(present);
    present_ = *present;
  }
  // A copy that asks for `name`, of 13 bytes, in place of libgcc_s.so.1.
  void install(const std::string& path, const std::string& name = "libgcc_s.so.1") {
    auto bytes = read_file(source_, 64 << 20);
    ASSERT_TRUE(bytes);
    bytes->replace(bytes->find("libgcc_s.so.1"), 13, name);
    const fs::path place = temp_->path() / "node_modules" / path;
    ASSERT_TRUE(make_folders(place.parent_path()));
    ASSERT_TRUE(write_file_atomically(place, *bytes));
  }
  NativeNeeds needs() {
    auto found = native_needs(trees_, present_);
    EXPECT_TRUE(found) << found.error().to_string();
    return found ? *found : NativeNeeds();
  }

  std::optional<TempDir> temp_;
  InstalledTrees trees_;
  fs::path source_;
  std::vector<LibraryFile> present_;
};

TEST_F(NativeNeedsTest, AreWhatThePackagesHaveNot) {
  install("@s/addon/build/a.node");
  const auto found = needs();
  ASSERT_EQ(found.libraries.size(), 1u);
  EXPECT_TRUE(found.libraries[0].target.ends_with("/libgcc_s.so.1")) << found.libraries[0].target;
  EXPECT_TRUE(found.missing.empty());
}

TEST_F(NativeNeedsTest, NameThePackageWhoseLibraryIsNowhere) {
  install("@s/addon/a.node", "libgone_.so.1");
  const auto found = needs();
  EXPECT_TRUE(found.libraries.empty());
  EXPECT_EQ(found.missing, (std::set<std::pair<std::string, std::string>>{{"@s/addon", "libgone_.so.1"}}));
}

TEST_F(NativeNeedsTest, PassOverWhatAPackageBringsItself) {
  install(".bun/addon@1/node_modules/addon/a.node", "libgone_.so.1");
  install("@s/libgone/lib/libgone_.so.1");
  EXPECT_TRUE(needs().missing.empty());
}

TEST_F(NativeNeedsTest, PassOverOtherCLibrariesAndWhatIsNoLibrary) {
  install("musl/a.node", "libc.musl-a.1");
  install("musl/b.node", "libc.so");
  ASSERT_TRUE(write_file_atomically(temp_->path() / "node_modules" / "text.node", "#!/bin/sh\n"));
  ASSERT_TRUE(write_file_atomically(
      temp_->path() / "node_modules" / "torn.node", read_file(source_, 64 << 20)->substr(0, 100)));
  const auto found = needs();
  EXPECT_TRUE(found.libraries.empty());
  EXPECT_TRUE(found.missing.empty());
}

}  // namespace
}  // namespace guard

// Which programs of this machine may lie in an image.
#include "runner/image/image_tools.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <algorithm>
#include <filesystem>

namespace guard {
namespace {

namespace fs = std::filesystem;

std::vector<std::string> targets(const std::vector<std::string>& names) {
  const auto files = tool_files(names);
  std::vector<std::string> found;
  if (!files) return {files.error().to_string()};
  for (const auto& file : *files) found.push_back(file.target);
  return found;
}

ErrorCode refused(const std::string& name) {
  const auto files = tool_files({name});
  return files ? ErrorCode::internal : files.error().code();
}

TEST(ImageTools, ComeWithTheirLoaderAndLibraries) {
  const auto found = targets({"sh", "tar"});
  EXPECT_THAT(found, ::testing::IsSupersetOf({"usr/bin/sh", "usr/bin/tar"}));
  EXPECT_TRUE(std::any_of(found.begin(), found.end(), [](const std::string& target) {
    return target.find("libc.so") != std::string::npos;
  })) << ::testing::PrintToString(found);
  EXPECT_TRUE(std::any_of(found.begin(), found.end(),
      [](const std::string& target) { return target.find("ld-linux") != std::string::npos; }));
  EXPECT_TRUE(std::is_sorted(found.begin(), found.end()));
  EXPECT_EQ(std::adjacent_find(found.begin(), found.end()), found.end());
  EXPECT_THAT(targets({}), ::testing::IsEmpty());
}

// sh may be a link to dash, which lies in the image under the name that was asked for.
TEST(ImageTools, AreCopiedFromWhereLinksLead) {
  const auto files = tool_files({"sh"}).value();
  for (const auto& file : files) EXPECT_EQ(fs::canonical(file.source), file.source);
}

TEST(ImageTools, OnlyNamesOfInstalledProgramsAreTaken) {
  for (const char* name : {"", ".", "..", "../bin/sh", "/bin/sh", "a/b", "-x", "sh ", "s\nh", "sh;ls"}) {
    EXPECT_FALSE(is_tool_name(name)) << name;
    EXPECT_EQ(refused(name), ErrorCode::input_invalid) << name;
  }
  EXPECT_EQ(refused("no-such-program-anywhere"), ErrorCode::dependency_unsatisfied);
}

TEST(ImageTools, WhatRunsWithMoreRightsAndScriptsAreRefused) {
  int seen = 0;
  for (const auto& entry : fs::directory_iterator("/usr/bin")) {
    struct stat status {};
    if (::lstat(entry.path().c_str(), &status) != 0 || !S_ISREG(status.st_mode) ||
        (status.st_mode & (S_ISUID | S_ISGID)) == 0)
      continue;
    ++seen;
    EXPECT_EQ(refused(entry.path().filename()), ErrorCode::input_invalid) << entry.path();
  }
  EXPECT_GT(seen, 0) << "no machine is without su or passwd";
  EXPECT_EQ(refused("ldd"), ErrorCode::input_invalid);  // a shell script
}

}  // namespace
}  // namespace guard

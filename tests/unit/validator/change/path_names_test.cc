#include "validator/change/path_names.h"

#include <gtest/gtest.h>

namespace guard {
namespace {

TEST(PathNames, FoldsWhatFileSystemsFold) {
  EXPECT_EQ(folded_name("Package.JSON"), "package.json");
  EXPECT_EQ(folded_name(".g\u200cit. . "), ".git");
  EXPECT_EQ(folded_name("a:b:c"), "a");
  EXPECT_EQ(folded_name("..."), "...");
  EXPECT_EQ(folded_name(""), "");
  EXPECT_EQ(folded_name("\xff"
                        "A"),
      "\xff"
      "a");
  EXPECT_EQ(folded_path("A\\B/C"), "a/b/c");
  for (const std::string name : {"git~1", "packag~1.jso", "a~1", "abcde~12"}) EXPECT_TRUE(is_short_name(name)) << name;
  for (const std::string name : {"a~b", "~1", "backup.ts~", "toolongname~1", "a~1.toolong", "a.ts.~1~", "a~"})
    EXPECT_FALSE(is_short_name(name)) << name;
}

TEST(PathNames, ListsHoldGlobsOnOneName) {
  EXPECT_TRUE(is_listed("jenkinsfile.deploy", "ci_files"));
  EXPECT_TRUE(is_listed("dagger.json", "ci_files"));
  EXPECT_TRUE(is_listed("a.wasm", "side_native"));
  EXPECT_FALSE(is_listed("a.dagger.json", "ci_files"));
  EXPECT_FALSE(is_listed("a.ts", "tool_files"));
  EXPECT_DEATH(is_listed("a", "no_such_list"), "") << "an empty list would let everything pass";
}

}  // namespace
}  // namespace guard

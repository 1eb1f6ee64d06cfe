// What `writes_files tree` (tests/cases) leaves, and what has to come of it, whichever sandbox it ran in.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <string>

#include "runner/process/exec_result.h"

namespace guard::collecting {

inline CollectRequest collect_all(std::string folder) {
  return {std::move(folder), CollectRequest::kFilesMax, CollectRequest::kBytesMax, CollectRequest::kFileBytesMax};
}

inline std::map<std::string, std::string> collected_files(const Collection& collection) {
  std::map<std::string, std::string> files;
  for (const auto& file : collection.files) files[file.path] = file.bytes;
  return files;
}

inline std::map<std::string, std::string> reasons(const Collection& collection) {
  std::map<std::string, std::string> told;
  for (const auto& entry : collection.left_behind) told[entry.path] = to_string(entry.reason);
  return told;
}

inline void expect_collected_tree(const Collection& collection) {
  EXPECT_TRUE(collection.complete);
  const std::map<std::string, std::string> files = {{"plain.txt", "plain\n"}, {"empty", ""},
      {"out/snowman \xe2\x98\x83.txt", "umlauts and such\n"}, {"out/large", std::string(200'000, 'x')},
      {"nested/own.snap", "beside a checked file\n"}};
  EXPECT_EQ(collected_files(collection), files);
  const std::map<std::string, std::string> told = {
      {"link", "link"},
      {"out/root", "link"},
      {"twice", "hard_link"},
      {"out/again", "hard_link"},
      {"fifo", "special_file"},
      {"socket", "special_file"},
      {"sparse", "too_large"},
      {"two\\nlines", "bad_name"},
      {"not \\xff utf-8", "bad_name"},
      {"overlong \\xc0\\xaf", "bad_name"},
      {"turned \\u{202e}around", "bad_name"},
      {"closed", "unreadable"},
      {"locked", "unreadable"},
  };
  EXPECT_EQ(reasons(collection), told);
  EXPECT_EQ(collection.left_behind_count, told.size());
}

}  // namespace guard::collecting

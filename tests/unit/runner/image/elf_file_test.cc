#include "runner/image/elf_file.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <string>

#include "common/file_io.h"
#include "common/unique_fd.h"

namespace guard {
namespace {

namespace fs = std::filesystem;

bool holds_file_named(const std::vector<LibraryFile>& files, std::string_view start) {
  return std::any_of(files.begin(), files.end(),
      [&](const LibraryFile& file) { return fs::path(file.target).filename().string().starts_with(start); });
}

TEST(ElfFile, FindsLoaderAndLibrariesOfASystemProgram) {
  auto files = needed_libraries("/bin/ls");
  ASSERT_TRUE(files) << files.error().to_string();
  EXPECT_TRUE(holds_file_named(*files, "ld-linux"));
  EXPECT_TRUE(holds_file_named(*files, "libc.so"));
  // ls needs it, and it needs pcre2: a need of a need.
  EXPECT_TRUE(holds_file_named(*files, "libselinux.so"));
  EXPECT_TRUE(holds_file_named(*files, "libpcre2"));
  for (const auto& file : *files) {
    EXPECT_TRUE(fs::is_regular_file(fs::symlink_status(file.source))) << file.source;
    EXPECT_FALSE(fs::path(file.target).is_absolute()) << file.target;
    EXPECT_TRUE(fs::equivalent("/" + file.target, file.source)) << file.target;
  }
}

TEST(ElfFile, SaysNothingAboutScripts) {
  auto temp = TempDir::create();
  ASSERT_TRUE(temp);
  ASSERT_TRUE(write_file_atomically(temp->path() / "script", "#!/bin/sh\n" + std::string(100, '#')));
  auto elf = read_elf(temp->path() / "script");
  ASSERT_TRUE(elf);
  EXPECT_FALSE(elf->has_value());
  EXPECT_FALSE(needed_libraries(temp->path() / "script"));
}

// Every byte of the parts that are read gets every kind of damage; nothing may be read outside of the file (run with a
// sanitizer) and nothing may hang.
TEST(ElfFile, SurvivesDamage) {
  auto whole = read_file("/bin/true", 1 << 24);
  ASSERT_TRUE(whole);
  auto temp = TempDir::create();
  ASSERT_TRUE(temp);
  const fs::path path = temp->path() / "damaged";
  ASSERT_TRUE(write_file_atomically(path, *whole));
  const UniqueFd fd(::open(path.c_str(), O_WRONLY | O_CLOEXEC));
  int refused = 0;
  for (std::size_t at = 16; at < 64 + 56 * 4; ++at) {
    for (const char value : {'\0', '\x7f', '\xff'}) {
      ASSERT_EQ(::pwrite(fd.get(), &value, 1, static_cast<off_t>(at)), 1);
      if (!read_elf(path)) ++refused;
    }
    ASSERT_EQ(::pwrite(fd.get(), &(*whole)[at], 1, static_cast<off_t>(at)), 1);
  }
  EXPECT_GT(refused, 20);
  ASSERT_TRUE(read_elf(path));
  for (const std::size_t size :
      {whole->size() / 2, std::size_t{100}, std::size_t{64}, std::size_t{63}, std::size_t{4}, std::size_t{0}}) {
    ASSERT_EQ(::ftruncate(fd.get(), static_cast<off_t>(size)), 0);
    auto elf = read_elf(path);
    EXPECT_TRUE(!elf || !elf->has_value() || !(*elf)->interpreter.empty()) << size;
  }
}

TEST(ElfFile, NamesTheLibraryThatIsMissing) {
  auto whole = read_file("/bin/true", 1 << 24);
  ASSERT_TRUE(whole);
  const auto at = whole->find(std::string("libc.so.6\0", 10));
  ASSERT_NE(at, std::string::npos);
  whole->replace(at, 9, "libq.so.6");
  auto temp = TempDir::create();
  ASSERT_TRUE(temp);
  ASSERT_TRUE(write_file_atomically(temp->path() / "program", *whole));
  auto files = needed_libraries(temp->path() / "program");
  ASSERT_FALSE(files);
  EXPECT_EQ(files.error().code(), ErrorCode::dependency_unsatisfied);
  EXPECT_NE(files.error().message().find("libq.so.6"), std::string::npos);
}

}  // namespace
}  // namespace guard

#include "runner/files/tar_writer.h"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <filesystem>
#include <string>
#include <vector>

#include "common/byte_sink.h"
#include "common/file_io.h"
#include "runner/process/subprocess.h"

namespace guard {
namespace {

namespace fs = std::filesystem;

std::string tar(const std::vector<std::string>& arguments) {
  CancelToken cancel;
  ProcessSpec spec;
  spec.argv = {"tar"};
  spec.argv.insert(spec.argv.end(), arguments.begin(), arguments.end());
  spec.env = {{"PATH", "/usr/bin:/bin"}, {"LC_ALL", "C"}, {"TZ", "UTC"}};
  auto done = collect_process(spec, 1 << 20, cancel);
  if (!done) return done.error().to_string();
  EXPECT_EQ(done->result.outcome.kind, OutcomeKind::exited);
  EXPECT_EQ(done->result.outcome.value, 0) << done->err;
  return done->out;
}

std::string read(const fs::path& path) {
  auto text = read_file(path, 1 << 20);
  return text ? *text : text.error().to_string();
}

// Two readers, GNU tar and our own eyes, on names that fit and names that do not.
TEST(TarWriter, WritesWhatTarReadsBack) {
  const std::string long_name(150, 'n');
  const std::string deep = std::string(90, 'd') + "/" + std::string(90, 'e') + "/file";
  StringSink sink;
  TarWriter writer(sink);
  ASSERT_TRUE(writer.add_folder("folder", 0755));
  ASSERT_TRUE(writer.add_file("folder/program", 0755, "#!"));
  ASSERT_TRUE(writer.add_file("folder/empty", 0644, ""));
  ASSERT_TRUE(writer.add_file("folder/block", 0644, std::string(512, 'b')));
  ASSERT_TRUE(writer.add_link("folder/link", "program"));
  ASSERT_TRUE(writer.add_link("folder/far", std::string(120, 't')));
  ASSERT_TRUE(writer.add_file(long_name, 0644, "long"));
  ASSERT_TRUE(writer.add_folder(std::string(90, 'd'), 0755));
  ASSERT_TRUE(writer.add_folder(std::string(90, 'd') + "/" + std::string(90, 'e'), 0755));
  ASSERT_TRUE(writer.add_file(deep, 0644, "deep"));
  ASSERT_TRUE(writer.finish());
  EXPECT_EQ(sink.text.size() % 512, 0u);

  auto temp = TempDir::create();
  ASSERT_TRUE(temp);
  ASSERT_TRUE(write_file_atomically(temp->path() / "a.tar", sink.text));
  const fs::path out = temp->path() / "out";
  ASSERT_TRUE(make_folders(out));
  tar({"-xf", (temp->path() / "a.tar").string(), "-C", out.string(), "--no-same-owner"});
  EXPECT_EQ(read(out / "folder/program"), "#!");
  EXPECT_EQ(read(out / "folder/empty"), "");
  EXPECT_EQ(read(out / "folder/block"), std::string(512, 'b'));
  EXPECT_EQ(read(out / long_name), "long");
  EXPECT_EQ(read(out / deep), "deep");
  EXPECT_EQ(fs::read_symlink(out / "folder/link"), "program");
  EXPECT_EQ(fs::read_symlink(out / "folder/far"), std::string(120, 't'));

  const std::string listing = tar({"-tvf", (temp->path() / "a.tar").string(), "--numeric-owner"});
  EXPECT_EQ(listing.substr(0, listing.find('\n')), "drwxr-xr-x 0/0               0 1970-01-01 00:00 folder/");
  EXPECT_NE(listing.find("-rwxr-xr-x 0/0               2 1970-01-01 00:00 folder/program"), std::string::npos)
      << listing;
}

// A name of exactly 100 bytes is the last one that needs no extra record.
TEST(TarWriter, TakesNamesOfEveryLengthAroundTheLimit) {
  auto temp = TempDir::create();
  ASSERT_TRUE(temp);
  for (std::size_t length = 95; length <= 110; ++length) {
    const std::string name(length, 'x');
    StringSink sink;
    TarWriter writer(sink);
    ASSERT_TRUE(writer.add_folder(name, 0755));
    ASSERT_TRUE(writer.finish());
    ASSERT_TRUE(write_file_atomically(temp->path() / "a.tar", sink.text));
    EXPECT_EQ(tar({"-tf", (temp->path() / "a.tar").string()}), name + "/\n");
  }
}

TEST(TarWriter, RefusesNamesThatLeadElsewhere) {
  StringSink sink;
  TarWriter writer(sink);
  for (const std::string name : {"", "/etc/passwd", "../up", "a/../../b", "a//b", "./a", "a/", ".."}) {
    EXPECT_FALSE(writer.add_file(name, 0644, "x")) << name;
  }
  EXPECT_FALSE(writer.add_file(std::string("a\0b", 3), 0644, "x"));
  EXPECT_EQ(sink.text, "");
}

TEST(TarWriter, NoticesContentThatIsNotAsLongAsAnnounced) {
  StringSink sink;
  TarWriter writer(sink);
  ASSERT_TRUE(writer.begin_file("short", 0644, 3));
  ASSERT_TRUE(writer.content("ab"));
  EXPECT_FALSE(writer.end_file());
  ASSERT_TRUE(writer.begin_file("long", 0644, 3));
  EXPECT_FALSE(writer.content("abcd"));
}

}  // namespace
}  // namespace guard

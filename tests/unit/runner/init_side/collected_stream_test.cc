// What init says about files, told wrongly in every way.
#include "runner/init_side/collected_stream.h"

#include <gtest/gtest.h>

#include "runner/init_side/init_stream.h"
#include "tests/support/runner/collected_tree.h"
#include "tests/support/runner/sandbox_fixture.h"

namespace guard {
namespace {

using testing::KeepingSink;

std::string frame(char type, std::string_view payload) {
  std::string text(8, '\0');
  text[0] = type;
  for (int i = 0; i < 4; ++i) text[static_cast<std::size_t>(4 + i)] = static_cast<char>(payload.size() >> (24 - 8 * i));
  return text.append(payload);
}

std::string file(std::string_view path, std::uint64_t size) {
  std::string payload;
  for (int i = 0; i < 8; ++i) payload += static_cast<char>(size >> (56 - 8 * i));
  return frame('F', payload.append(path));
}

std::string summary(int files, int bytes, int left_behind, int complete = 1) {
  return frame('C',
      "files=" + std::to_string(files) + "\nbytes=" + std::to_string(bytes) +
          "\nleft_behind=" + std::to_string(left_behind) + "\ncomplete=" + std::to_string(complete) + "\n");
}

std::string exit_frame(std::string_view kind = "exited", std::string_view timed_out = "0") {
  return frame('X',
      "kind=" + std::string(kind) + "\nvalue=0\nterm_from_inside=0\nterm_from_outside=0\ntimed_out=" +
          std::string(timed_out) + "\nleftovers=0\nmax_rss_kb=1\nuser_us=1\nsys_us=1\n");
}

const std::string kHello = frame('H', "protocol=1\n");
const CollectRequest kAsked = {"/app/sandbox", 3, 20, 10};

struct Read {
  Result<void> outcome = ok();
  ExecResult result;
};

Read read_whole(std::string_view text, std::size_t cut = 1 << 20, std::optional<CollectRequest> asked = kAsked) {
  KeepingSink sink;
  InitStream stream(sink, sink, 1 << 20, ReportChannel::on, asked);
  Read read;
  for (std::size_t at = 0; at < text.size() && read.outcome; at += cut) {
    const std::string_view part = text.substr(at, cut);
    read.outcome = stream.push(std::span(part.data(), part.size()));
  }
  if (read.outcome) read.outcome = stream.finish();
  stream.take_into(read.result);
  return read;
}

TEST(CollectedStream, ReadsTheSameHoweverTheStreamIsCut) {
  const std::string text = kHello + frame('O', "output") + file("b/c", 5) + frame('D', "he") + frame('D', "llo") +
      frame('L', "lsome link") + file("a", 0) + frame('L', std::string("uno\nname")) + summary(2, 5, 2) + exit_frame();
  for (std::size_t cut = 1; cut <= text.size(); ++cut) {
    const Read read = read_whole(text, cut);
    ASSERT_TRUE(read.outcome) << read.outcome.error().to_string();
    ASSERT_TRUE(read.result.collected.has_value());
    const Collection& collection = *read.result.collected;
    EXPECT_EQ(
        collecting::collected_files(collection), (std::map<std::string, std::string>{{"a", ""}, {"b/c", "hello"}}));
    EXPECT_EQ(collection.files.front().path, "a");  // sorted
    EXPECT_EQ(collecting::reasons(collection),
        (std::map<std::string, std::string>{{"some link", "link"}, {"no\\nname", "bad_name"}}));
    EXPECT_EQ(collection.left_behind_count, 2u);
    EXPECT_TRUE(collection.complete);
  }
}

TEST(CollectedStream, RefusesWhatIsOutOfOrderOrBeyondWhatWasAskedFor) {
  const std::string done = summary(0, 0, 0) + exit_frame();
  std::string deep = "f";
  for (int i = 0; i < 17; ++i) deep.insert(0, "d/");
  std::string names;
  for (std::size_t i = 0; i <= init_protocol::kLeftBehindToldMax; ++i) names += frame('L', "lx");
  const std::pair<const char*, std::string> cases[] = {
      {"no word of files", exit_frame()},
      {"files, but no end of them", file("a", 0) + exit_frame()},
      {"a second end", summary(0, 0, 0) + done},
      {"a file behind the end", summary(0, 0, 0) + file("a", 0) + exit_frame()},
      {"output behind the first file", file("a", 0) + frame('O', "x") + summary(1, 0, 0) + exit_frame()},
      {"an attestation behind the first file",
          file("a", 0) + frame('A', "passed=1\n") + summary(1, 0, 0) + exit_frame()},
      {"a report behind the end", summary(0, 0, 0) + frame('R', "x") + exit_frame()},
      {"bytes of no file", frame('D', "x") + done},
      {"bytes of a file that has them all",
          file("a", 1) + frame('D', "x") + frame('D', "x") + summary(1, 1, 0) + exit_frame()},
      {"more bytes than announced", file("a", 1) + frame('D', "xx") + summary(1, 1, 0) + exit_frame()},
      {"fewer bytes than announced, then the end", file("a", 2) + frame('D', "x") + summary(1, 2, 0) + exit_frame()},
      {"fewer bytes than announced, then a file",
          file("a", 2) + frame('D', "x") + file("b", 0) + summary(2, 2, 0) + exit_frame()},
      {"fewer bytes than announced, then a name",
          file("a", 2) + frame('L', "lx") + frame('D', "xx") + summary(1, 2, 1) + exit_frame()},
      {"an empty piece of a file", file("a", 1) + frame('D', "") + frame('D', "x") + summary(1, 1, 0) + exit_frame()},
      {"a larger file", file("a", 11) + frame('D', "12345678901") + summary(1, 11, 0) + exit_frame()},
      {"a size that wraps", file("a", ~0ull) + summary(1, -1, 0) + exit_frame()},
      {"more bytes together",
          file("a", 10) + frame('D', "1234567890") + file("b", 10) + frame('D', "1234567890") + file("c", 1) +
              frame('D', "1") + summary(3, 21, 0) + exit_frame()},
      {"more files", file("a", 0) + file("b", 0) + file("c", 0) + file("d", 0) + summary(4, 0, 0) + exit_frame()},
      {"a file twice", file("a", 0) + file("a", 0) + summary(1, 0, 0) + exit_frame()},
      {"a file without a path", file("", 0) + summary(1, 0, 0) + exit_frame()},
      {"a file frame that is cut", frame('F', "1234567") + summary(1, 0, 0) + exit_frame()},
      {"an absolute path", file("/etc/passwd", 0) + summary(1, 0, 0) + exit_frame()},
      {"a path that leads up", file("a/../../b", 0) + summary(1, 0, 0) + exit_frame()},
      {"a path that ends in ..", file("a/..", 0) + summary(1, 0, 0) + exit_frame()},
      {"a path with a dot", file("./a", 0) + summary(1, 0, 0) + exit_frame()},
      {"a path with an empty part", file("a//b", 0) + summary(1, 0, 0) + exit_frame()},
      {"a path that ends in a slash", file("a/", 0) + summary(1, 0, 0) + exit_frame()},
      {"a path with a NUL", file(std::string_view("a\0b", 3), 0) + summary(1, 0, 0) + exit_frame()},
      {"a path that is too long", file(std::string(1025, 'a'), 0) + summary(1, 0, 0) + exit_frame()},
      {"a path that is too deep", file(deep, 0) + summary(1, 0, 0) + exit_frame()},
      {"a name that is too long", frame('L', "l" + std::string(2000, 'a')) + summary(0, 0, 1) + exit_frame()},
      {"an unknown reason", frame('L', "?x") + summary(0, 0, 1) + exit_frame()},
      {"no reason", frame('L', "") + summary(0, 0, 1) + exit_frame()},
      {"too many names", names + summary(0, 0, 1001) + exit_frame()},
      {"fewer files in the sum", file("a", 0) + summary(0, 0, 0) + exit_frame()},
      {"other bytes in the sum", file("a", 1) + frame('D', "x") + summary(1, 2, 0) + exit_frame()},
      {"fewer names in the sum", frame('L', "lx") + summary(0, 0, 0) + exit_frame()},
      {"more names in the sum", frame('L', "lx") + summary(0, 0, 2) + exit_frame()},
      {"neither complete nor not", summary(0, 0, 0, 2) + exit_frame()},
      {"a sum that is cut", frame('C', "files=0\nbytes=0\nleft_behind=0") + exit_frame()},
      {"a sum with more in it", frame('C', "files=0\nbytes=0\nleft_behind=0\ncomplete=1\nx=1\n") + exit_frame()},
      {"a sum without end", frame('C', std::string(60'000, '9')) + exit_frame()},
  };
  ASSERT_TRUE(read_whole(kHello + done).outcome);
  for (const auto& [what, text] : cases) {
    const Read read = read_whole(kHello + text);
    EXPECT_FALSE(read.outcome) << what;
    if (!read.outcome) {
      EXPECT_EQ(read.outcome.error().code(), ErrorCode::protocol_error) << what;
    }
  }
}

TEST(CollectedStream, RefusesFilesThatNobodyAskedFor) {
  for (const auto& text : {file("a", 0), frame('D', "x"), frame('L', "lx"), summary(0, 0, 0)}) {
    EXPECT_FALSE(read_whole(kHello + text + exit_frame(), 1 << 20, std::nullopt).outcome);
  }
  EXPECT_TRUE(read_whole(kHello + exit_frame(), 1 << 20, std::nullopt).outcome);
  // Only names were asked for.
  const CollectRequest names = {"/app/sandbox", 0, 0, 0};
  EXPECT_FALSE(read_whole(kHello + file("a", 0) + summary(1, 0, 0) + exit_frame(), 1 << 20, names).outcome);
}

// A run that was stopped need not say anything; one that was cut while it handed files out has said nothing.
TEST(CollectedStream, MayBeMissingWhereTheRunWasStopped) {
  EXPECT_TRUE(read_whole(kHello + exit_frame("exited", "1")).outcome);
  EXPECT_TRUE(read_whole(kHello + frame('X', "kind=init_failed\nstep=pipe\nerrno=24\n")).outcome);
  const Read cut = read_whole(kHello + file("a", 1) + frame('D', "x"));
  EXPECT_FALSE(cut.outcome);
  EXPECT_FALSE(cut.result.collected.has_value());
}

// Guard knows more kinds of bad names than init does.
TEST(CollectedStream, LeavesNamesBehindThatWouldNotShowAsTheyAre) {
  const std::string turned =
      "a\xe2\x80\xae"
      "b";
  const Read read =
      read_whole(kHello + file(turned, 1) + frame('D', "x") + file("\xff", 0) + summary(2, 1, 0) + exit_frame());
  ASSERT_TRUE(read.outcome) << read.outcome.error().to_string();
  ASSERT_TRUE(read.result.collected.has_value());
  EXPECT_TRUE(read.result.collected->files.empty());
  EXPECT_EQ(collecting::reasons(*read.result.collected),
      (std::map<std::string, std::string>{{"a\\u{202e}b", "bad_name"}, {"\\xff", "bad_name"}}));
  EXPECT_EQ(read.result.collected->left_behind_count, 2u);
}

}  // namespace
}  // namespace guard

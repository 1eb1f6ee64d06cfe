#include "cli/streams.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <unistd.h>

#include <array>

#include "common/unique_fd.h"

namespace guard {
namespace {

struct Captured {
  std::string out;
  std::string err;
  Streams streams{.out = OutStream(out), .err = OutStream(err)};
};

TEST(Streams, ErrorsAreToldWithContextAndHint) {
  Captured captured;
  print_error(captured.streams,
      std::move(Error(ErrorCode::image_missing, "no image tests:1").context("preparing the sandbox")).hint("build it"));
  EXPECT_EQ(captured.err, "error: IMAGE_MISSING: no image tests:1\n  while preparing the sandbox\n  hint: build it\n");
  EXPECT_EQ(captured.out, "");
}

TEST(Streams, ErrorsNeverCarryControlBytesToATerminal) {
  Captured captured;
  print_error(captured.streams,
      std::move(Error(ErrorCode::io_error, "a\x1b[2Jb\nsecond\xff line").context("c\nd")).hint("e\x07"));
  EXPECT_EQ(captured.err, "error: IO_ERROR: a\\x1b[2Jb\nsecond\\xff line\n  while c\\nd\n  hint: e\\x07\n");
}

TEST(Streams, ColorsFollowOptionThenEnvironmentThenTerminal) {
  const Environment xterm = {{"TERM", "xterm"}};
  EXPECT_TRUE(wants_color(ColorChoice::automatic, true, xterm));
  EXPECT_FALSE(wants_color(ColorChoice::automatic, false, xterm));
  EXPECT_FALSE(wants_color(ColorChoice::automatic, true, {}));
  EXPECT_FALSE(wants_color(ColorChoice::automatic, true, {{"TERM", "dumb"}}));
  EXPECT_FALSE(wants_color(ColorChoice::automatic, true, {{"TERM", "xterm"}, {"NO_COLOR", "1"}}));
  EXPECT_TRUE(wants_color(ColorChoice::automatic, true, {{"TERM", "xterm"}, {"NO_COLOR", ""}}));
  EXPECT_TRUE(wants_color(ColorChoice::always, false, {{"NO_COLOR", "1"}}));
  EXPECT_FALSE(wants_color(ColorChoice::never, true, xterm));
}

TEST(Streams, AReaderThatWentAwayIsNoFailure) {
  ::signal(SIGPIPE, SIG_IGN);
  std::array<int, 2> ends{};
  ASSERT_EQ(::pipe2(ends.data(), O_CLOEXEC), 0);
  UniqueFd reader(ends[0]);
  UniqueFd writer(ends[1]);
  reader.reset();
  OutStream out(writer.get(), Buffering::full);
  out.write("lost");
  EXPECT_TRUE(out.flush());
  EXPECT_TRUE(out.reader_left());
  out.write("more");
  EXPECT_TRUE(out.flush());
}

TEST(Streams, AFullDiskIsAFailureThatStays) {
  UniqueFd full(::open("/dev/full", O_WRONLY | O_CLOEXEC));
  if (!full) GTEST_SKIP() << "there is no /dev/full here";
  OutStream out(full.get(), Buffering::full);
  out.write("{\"verdict\":");
  EXPECT_FALSE(out.flush());
  out.write("}");
  const auto again = out.flush();
  ASSERT_FALSE(again);
  EXPECT_EQ(again.error().code(), ErrorCode::io_error);
}

TEST(Streams, ANonBlockingPipeGetsEverything) {
  std::array<int, 2> ends{};
  ASSERT_EQ(::pipe2(ends.data(), O_CLOEXEC | O_NONBLOCK), 0);
  UniqueFd reader(ends[0]);
  UniqueFd writer(ends[1]);
  const std::string text(1u << 20, 'x');
  const pid_t child = ::fork();
  if (child == 0) {
    OutStream out(writer.get(), Buffering::none);
    out.write(text);
    ::_exit(out.flush() ? 0 : 1);
  }
  writer.reset();
  ::fcntl(reader.get(), F_SETFL, 0);
  std::size_t seen = 0;
  std::array<char, 65536> buffer{};
  for (ssize_t got = 0; (got = ::read(reader.get(), buffer.data(), buffer.size())) > 0;)
    seen += static_cast<std::size_t>(got);
  EXPECT_EQ(seen, text.size());
}

}  // namespace
}  // namespace guard

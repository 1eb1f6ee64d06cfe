// What a program reads as its standard input: all of it, in order, to its end, in every sandbox.
#include <fcntl.h>
#include <sys/wait.h>

#include <thread>

#include "runner/files/scratch_file.h"
#include "runner/init_side/init_stream.h"
#include "runner/init_side/program_input.h"
#include "tests/support/runner/every_sandbox.h"

namespace guard {
namespace {

using testing::case_program;

std::string bytes_of_all_kinds(std::size_t size) {
  std::string bytes;
  bytes.reserve(size);
  std::uint32_t state = 1;
  while (bytes.size() < size) {
    state = state * 1664525u + 1013904223u;
    bytes += static_cast<char>(state >> 24);
  }
  return bytes;
}

class ProgramInputTest : public testing::EverySandbox {
 protected:
  std::vector<std::filesystem::path> programs() const override { return {case_program("copies_input")}; }

  SandboxSpec reading(int descriptor, std::vector<std::string> words = {}) {
    words.insert(words.begin(), "copies_input");
    SandboxSpec wanted = spec(std::move(words));
    wanted.env = {{"PATH", "/bin"}};
    wanted.input_descriptor = descriptor;
    return wanted;
  }
};

INSTANTIATE_TEST_SUITE_P(In, ProgramInputTest, testing::everywhere(), testing::name_of);

TEST_P(ProgramInputTest, IsReadWhole) {
  each([this] {
    for (const std::size_t size : {0ul, 1ul, 32768ul, 32769ul, 1'000'000ul}) {
      const std::string bytes = bytes_of_all_kinds(size);
      const auto file = memory_file("input", bytes);
      ASSERT_TRUE(file);
      const auto result = run(reading(file->get()));
      ASSERT_TRUE(result) << result.error().to_string();
      EXPECT_EQ(result->outcome.kind, OutcomeKind::exited);
      EXPECT_EQ(result->outcome.value, 0);
      EXPECT_TRUE(out_.text == bytes) << size << " bytes in, " << out_.text.size() << " out";
    }
  });
}

TEST_P(ProgramInputTest, MayBeLeftUnread) {
  each([this] {
    const auto file = memory_file("input", bytes_of_all_kinds(1'000'000));
    ASSERT_TRUE(file);
    for (const auto& [word, said] : std::map<std::string, std::string>{{"10", "10\n"}, {"never", "did not read\n"}}) {
      ASSERT_EQ(::lseek(file->get(), 0, SEEK_SET), 0);
      const auto result = run(reading(file->get(), {word}));
      ASSERT_TRUE(result) << result.error().to_string();
      EXPECT_EQ(result->outcome.kind, OutcomeKind::exited);
      EXPECT_EQ(out_.text, said);
    }
  });
}

// Also from a pipe whose writer takes its time, and which nobody closes before the program has answered.
TEST_P(ProgramInputTest, ArrivesWhileItIsWritten) {
  each([this] {
    int ends[2];
    ASSERT_EQ(::pipe2(ends, O_CLOEXEC), 0);
    const UniqueFd read_end(ends[0]);
    std::thread writer([descriptor = ends[1]] {
      for (const char* piece : {"one ", "two ", "three"}) {
        std::this_thread::sleep_for(milliseconds(30));
        EXPECT_GT(::write(descriptor, piece, std::strlen(piece)), 0);
      }
      ::close(descriptor);
    });
    const auto result = run(reading(read_end.get()));
    writer.join();
    ASSERT_TRUE(result) << result.error().to_string();
    EXPECT_EQ(out_.text, "one two three");
  });
}

TEST_P(ProgramInputTest, DoesNotHoldUpATimeOut) {
  each([this] {
    int ends[2];
    ASSERT_EQ(::pipe2(ends, O_CLOEXEC), 0);
    const UniqueFd read_end(ends[0]);
    const UniqueFd write_end(ends[1]);
    SandboxSpec wanted = reading(read_end.get());
    // It has to have started by then.
    wanted.timeout = milliseconds(GetParam() == testing::Where::runsc ? 4'000 : 1'000);
    wanted.grace = milliseconds(0);
    const auto result = run(wanted);
    ASSERT_TRUE(result) << result.error().to_string();
    EXPECT_EQ(result->outcome.kind, OutcomeKind::timed_out);
  });
}

TEST(ProgramInput, AsksTheDescriptorOnlyWhereInitHasAsked) {
  const auto file = memory_file("input", "abc");
  ASSERT_TRUE(file);
  ProgramInput input(file->get());
  EXPECT_LT(input.descriptor(), 0);
  input.wanted();
  EXPECT_EQ(input.descriptor(), file->get());
  EXPECT_EQ(input.next_frame()->value(), std::string("I\0\0\0\0\0\0\3abc", 11));
  EXPECT_LT(input.descriptor(), 0);
  input.wanted();
  EXPECT_EQ(input.next_frame()->value(), std::string("I\0\0\0\0\0\0\0", 8));
  input.wanted();
  EXPECT_LT(input.descriptor(), 0) << "behind the end";
  ProgramInput closed(-1);
  closed.wanted();
  const auto frame = closed.next_frame();
  ASSERT_FALSE(frame);
  EXPECT_EQ(frame.error().code(), ErrorCode::io_error);
}

// Somebody else who shares it may have taken what poll(2) saw.
TEST(ProgramInput, NeverWaitsForWhatIsNotThere) {
  int ends[2];
  ASSERT_EQ(::pipe2(ends, O_CLOEXEC), 0);
  const UniqueFd read_end(ends[0]);
  UniqueFd write_end(ends[1]);
  ProgramInput input(read_end.get());
  input.wanted();
  const auto nothing = input.next_frame();
  ASSERT_TRUE(nothing) << nothing.error().to_string();
  EXPECT_FALSE(nothing->has_value());
  EXPECT_EQ(input.descriptor(), read_end.get()) << "it is still wanted";
  ASSERT_EQ(::write(write_end.get(), "x", 1), 1);
  EXPECT_EQ(input.next_frame()->value(), std::string("I\0\0\0\0\0\0\1x", 9));
}

TEST(ProgramInput, NobodyAsksWhereNothingIsOffered) {
  StringSink out;
  StringSink err;
  const std::string hello = "protocol=1\n";
  const std::string stream = std::string("H\0\0\0\0\0\0\x0b", 8) + hello + std::string("I\0\0\0\0\0\0\0", 8);
  for (const bool offered : {false, true}) {
    InitStream init(out, err, 1000, ReportChannel::off);
    if (offered) init.expect_input();
    EXPECT_EQ(init.push(stream).has_value(), offered);
    EXPECT_EQ(init.input_wanted(), offered);
    EXPECT_FALSE(init.push(std::string("I\0\0\0\0\0\0\1x", 9)).has_value()) << "with a payload";
  }
}

}  // namespace
}  // namespace guard

// `guard redact` where the world is against it: full disks, readers that leave, files that can't be read, streams that
// are closed or cut. It never ends with 0 where something is missing, and never shows half a secret.
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>

#include "tests/support/program/guard_program.h"

namespace guard::testing {
namespace {

namespace fs = std::filesystem;

std::string key() {
  return std::string("sk") + "-ant-" + "api03-" + "Kq7xW2mZ9pLr4TbNKq7xW2mZ9pLr4TbNKq7xW2mZ9pLr4TbN";
}

bool shows_key(const ProgramResult& result) {
  for (const std::string* text : {&result.out, &result.err}) {
    if (text->find("sk-a") != std::string::npos || text->find("Kq7xW2mZ") != std::string::npos) return true;
  }
  return false;
}

class Redaction : public ::testing::Test {
 protected:
  // "$guard" stands for the program.
  ProgramResult shell(const std::string& script, std::string stdin_text = {}) const {
    ProcessSpec spec;
    spec.argv = {"/bin/sh", "-c", script};
    spec.cwd = project_.path().string();
    spec.env = project_.environment();
    spec.env["guard"] = GUARD_PROGRAM;
    spec.stdin_text = std::move(stdin_text);
    return run_program(spec);
  }
  std::string file(const std::string& name, const std::string& text) const {
    project_.write(name, text);
    return (project_.path() / name).string();
  }
  Project project_;
};

std::size_t count(const std::string& text, const std::string& part) {
  std::size_t found = 0;
  for (std::size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) ++found;
  return found;
}

TEST_F(Redaction, FullDiskIsToldOnceAndIsNoSuccess) {
  if (!fs::exists("/dev/full")) GTEST_SKIP() << "there is no /dev/full here";
  for (const std::size_t lines : {1u, 20000u}) {
    std::string text;
    for (std::size_t i = 0; i < lines; ++i) text += "a line and " + key() + "\n";
    const auto result = shell("\"$guard\" redact > /dev/full", text);
    EXPECT_EQ(result.exit_status, 2);
    EXPECT_NE(result.err.find("cannot write to standard output: No space left on device"), std::string::npos)
        << result.err;
    EXPECT_EQ(count(result.err, "error: "), 1u) << result.err;
    EXPECT_FALSE(shows_key(result)) << result.err;
  }
}

TEST_F(Redaction, ReaderThatLeavesEndsItQuietly) {
  std::string text;
  for (int i = 0; i < 100000; ++i) text += "0123456789 and so on\n";
  for (const char* options : {"", "--cap 1000000", "--cap 1000000 --keep both"}) {
    const auto result =
        shell("{ \"$guard\" redact " + std::string(options) + "; echo $? > status; } | head -c 10", text);
    EXPECT_EQ(result.out, "0123456789");
    EXPECT_EQ(result.err, "");
    EXPECT_EQ(read_file(project_.path() / "status", 10).value_or(""), "0\n") << options;
  }
}

TEST_F(Redaction, UnreadableFileIsAnError) {
  if (::geteuid() != 0) GTEST_SKIP() << "only root can become another user";
  const std::string name = file("secret.log", key() + "\n");
  fs::permissions(name, fs::perms::none);
  for (const std::vector<std::string>& arguments :
      {std::vector<std::string>{"redact", name}, std::vector<std::string>{"redact", "--mask-file", name}}) {
    ProgramCall call;
    call.arguments = arguments;
    call.ordinary_user = true;
    call.stdin_text = "a line\n";
    const auto result = project_.guard(call);
    EXPECT_EQ(result.exit_status, 2);
    EXPECT_EQ(result.out, "");
    EXPECT_NE(result.err.find(name + ": Permission denied"), std::string::npos) << result.err;
  }
}

TEST_F(Redaction, WhatCameBeforeAMissingFileIsShownAndTheRestIsAnError) {
  const std::string first = file("first.log", "before " + key() + "\n");
  const auto result = project_.guard({"redact", first, "/nowhere/at/all", first});
  EXPECT_EQ(result.exit_status, 2);
  EXPECT_EQ(result.out, "before [REDACTED:anthropic]\n");
  EXPECT_NE(result.err.find("/nowhere/at/all: No such file or directory"), std::string::npos) << result.err;
}

// Its values would pass.
TEST_F(Redaction, MaskFileThatCannotBeReadShowsNothing) {
  for (const std::string& name : {std::string("/nowhere/at/all"), project_.path().string()}) {
    ProgramCall call;
    call.arguments = {"redact", "--mask-file", name};
    call.stdin_text = "a line\n";
    const auto result = project_.guard(call);
    EXPECT_EQ(result.exit_status, 2);
    EXPECT_EQ(result.out, "");
    EXPECT_NE(result.err.find(name), std::string::npos) << result.err;
  }
}

TEST_F(Redaction, EmptyMaskFileMasksNothingMore) {
  for (const std::string& text : {std::string(), std::string("\n \n\t\r\n")}) {
    ProgramCall call;
    call.arguments = {"redact", "--mask-file", file("values.txt", text)};
    call.stdin_text = "a line of words and " + key() + "\n";
    const auto result = project_.guard(call);
    EXPECT_EQ(result.exit_status, 0);
    EXPECT_EQ(result.out, "a line of words and [REDACTED:anthropic]\n");
    EXPECT_EQ(result.err, "");
  }
}

TEST_F(Redaction, ValueThatCannotBeMaskedIsNamedOnce) {
  ProgramCall call;
  call.arguments = {"redact"};
  call.environment["MODE_TOKEN"] = "dev";
  call.stdin_text = "dev dev\ndev\n";
  const auto result = project_.guard(call);
  EXPECT_EQ(result.exit_status, 0);
  EXPECT_EQ(result.out, "dev dev\ndev\n");
  EXPECT_EQ(count(result.err, "MODE_TOKEN"), 1u) << result.err;
  EXPECT_EQ(result.err.find("dev"), std::string::npos) << "the value itself: " << result.err;
}

// Where a file ends its stream ends, and the next begins anew.
TEST_F(Redaction, FileThatEndsInASecret) {
  const std::string whole = key();
  const std::string first = file("first.log", "key " + whole.substr(0, 34));
  const std::string rest = file("rest.log", whole.substr(34) + "\n");
  const auto result = project_.guard({"redact", first, rest});
  EXPECT_EQ(result.exit_status, 0) << result.err;
  EXPECT_EQ(result.out, "key [REDACTED:anthropic]" + whole.substr(34) + "\n");
  const std::string dashes(5, '-');
  const auto pem =
      project_.guard({"redact", file("pem.log", dashes + "BEGIN PRIVATE" + " KEY" + dashes + "\n" + whole.substr(13))});
  EXPECT_EQ(pem.out, "[REDACTED:pem]");
}

TEST_F(Redaction, ClosedStreams) {
  const auto closed_in = shell("\"$guard\" redact <&-");
  EXPECT_EQ(closed_in.exit_status, 2);
  EXPECT_NE(closed_in.err.find("cannot read standard input: Bad file descriptor"), std::string::npos) << closed_in.err;
  const auto closed_out = shell("\"$guard\" redact >&-", key() + "\n");
  EXPECT_EQ(closed_out.exit_status, 2);
  EXPECT_NE(closed_out.err.find("cannot write to standard output: Bad file descriptor"), std::string::npos)
      << closed_out.err;
  EXPECT_EQ(count(closed_out.err, "error: "), 1u) << closed_out.err;
  const auto closed_err = shell("\"$guard\" redact --stats 2>&-", key() + "\n");
  EXPECT_EQ(closed_err.exit_status, 0);
  EXPECT_EQ(closed_err.out, "[REDACTED:anthropic]\n");
  const auto all_closed = shell("\"$guard\" redact <&- >&- 2>&-");
  EXPECT_EQ(all_closed.exit_status, 2);
}

// A file that is named must not get the number of a closed stream, nor output be written into it.
TEST_F(Redaction, ClosedOutputIsNotWrittenIntoAFile) {
  const std::string text = key() + "\n";
  const std::string name = file("input.log", text);
  const auto result = shell("\"$guard\" redact input.log <&- >&-");
  EXPECT_EQ(result.exit_status, 2);
  EXPECT_EQ(read_file(name, 1000).value_or(""), text);
}

TEST_F(Redaction, FolderAsInputIsAnError) {
  const auto result = shell("\"$guard\" redact < .");
  EXPECT_EQ(result.exit_status, 2);
  EXPECT_NE(result.err.find("cannot read standard input: Is a directory"), std::string::npos) << result.err;
}

// The first line, which leaves at once, tells that the second has been read: both came in one write.
TEST_F(Redaction, TerminatedInASecretShowsNoneOfIt) {
  for (const std::size_t size : {7u, 15u, 30u}) {
    const auto result = shell(
        "mkfifo in && { \"$guard\" redact < in > out & pid=$!; exec 3> in; cat >&3; "
        "n=0; until grep -q line out || [ $n -gt 3000 ]; do n=$((n + 1)); sleep 0.01; done; kill -TERM $pid; wait "
        "$pid; echo $? > status; rm in; }",
        "a line\nkey " + key().substr(0, size));
    EXPECT_EQ(result.exit_status, 0) << result.err;
    EXPECT_EQ(read_file(project_.path() / "status", 10).value_or(""), "143\n");
    EXPECT_EQ(read_file(project_.path() / "out", 1000).value_or(""), "a line\nkey [REDACTED:anthropic]") << size;
  }
}

// A reader that holds the pipe and does not read must not make it immortal.
TEST_F(Redaction, TerminatedWhileTheReaderStalls) {
  std::string text;
  while (text.size() < 1000000) text += "a line\n";
  file("in", text);
  const auto result = shell(
      "mkfifo out; \"$guard\" redact < in > out & pid=$!; exec 3< out; sleep 0.3; kill -TERM $pid; "
      "(sleep 20; kill -KILL $pid) >/dev/null 2>&1 & watch=$!; wait $pid; echo $?; kill $watch");
  EXPECT_EQ(result.out, "143\n") << result.err;
}

}  // namespace
}  // namespace guard::testing

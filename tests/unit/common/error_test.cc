#include "common/error.h"

#include <gtest/gtest.h>

#include <cerrno>
#include <string>

#include "common/cancel.h"
#include "common/hash.h"
#include "common/result.h"
#include "common/time.h"

namespace guard {
namespace {

TEST(Error, ReadsAsCodeSentenceContextAndHint) {
  const Error error =
      Error(ErrorCode::image_missing, "no image x").context("preparing the sandbox").context("running tests");
  EXPECT_EQ(error.to_string(),
      "IMAGE_MISSING: no image x\n  while preparing the sandbox\n  while running tests\n  hint: build it with `guard "
      "image build`");
  EXPECT_EQ(error.exit_status(), 3);
}

TEST(Error, KeepsErrno) {
  const Error error = Error::from_errno(ErrorCode::io_error, "reading f", EACCES);
  EXPECT_EQ(error.sys_errno(), EACCES);
  EXPECT_EQ(error.message(), "reading f: Permission denied");
}

TEST(Error, WhatRanOutSaysHowToGetMoreWhateverThePlaceSays) {
  for (const auto& [number, remedy] : {std::pair(ENOSPC, "df -h"), std::pair(EDQUOT, "quota"),
           std::pair(EFBIG, "ulimit -f"), std::pair(EMFILE, "ulimit -n"), std::pair(ENOMEM, "memory")}) {
    const Error error = Error::from_errno(ErrorCode::io_error, "writing /a/b", number).hint("call somebody");
    EXPECT_TRUE(error.ran_out());
    EXPECT_NE(error.hint().find(remedy), std::string::npos) << error.to_string();
    EXPECT_NE(Error(ErrorCode::config_invalid, "no").caused_by(error).hint().find(remedy), std::string::npos);
  }
  EXPECT_FALSE(Error::from_errno(ErrorCode::io_error, "x", EACCES).ran_out());
  EXPECT_EQ(Error::from_errno(ErrorCode::io_error, "x", EACCES).hint("ask").hint(), "ask");
}

// No code may lead to exit status 0 or 1: an error is never a pass, and never a finding either.
TEST(Error, NoCodeLeadsToAPass) {
  for (int code = 0; code <= static_cast<int>(ErrorCode::internal); ++code) {
    const auto& row = info(static_cast<ErrorCode>(code));
    EXPECT_NE(row.exit_status, 0) << row.wire_name;
    EXPECT_NE(row.exit_status, 1) << row.wire_name;
  }
}

Result<int> half(int number) {
  if (number % 2 != 0) return Error(ErrorCode::input_invalid, "odd");
  return number / 2;
}

Result<int> quarter(int number) {
  GUARD_TRY_ASSIGN(const int once, half(number));
  GUARD_TRY_ASSIGN(const int twice, half(once).context("halving again"));
  return twice;
}

TEST(Result, TryLeavesWithTheError) {
  EXPECT_EQ(*quarter(8), 2);
  const auto failed = quarter(6);
  ASSERT_FALSE(failed);
  ASSERT_EQ(failed.error().frames().size(), 1u);
  EXPECT_EQ(failed.error().frames()[0], "halving again");
  EXPECT_TRUE(quarter(7).error().frames().empty());
}

TEST(Sha256, MatchesThePublishedVector) {
  // FIPS 180-4, "abc".
  EXPECT_EQ(sha256_hex("abc"), "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
}

TEST(Sha256, FieldsDoNotRunIntoEachOther) {
  Sha256 first;
  first.update_field("ab");
  first.update_field("c");
  Sha256 second;
  second.update_field("a");
  second.update_field("bc");
  EXPECT_NE(first.finish_hex(), second.finish_hex());
}

TEST(CancelToken, StaysReadableAndKeepsItsFirstCause) {
  CancelToken token;
  EXPECT_FALSE(token.cancelled());
  token.cancel(15);
  token.cancel(2);
  EXPECT_TRUE(token.cancelled());
  EXPECT_EQ(token.signal_number(), 15);
}

TEST(Deadline, NeverIsNeverPassedAndZeroIs) {
  EXPECT_FALSE(Deadline::never().passed());
  EXPECT_EQ(Deadline::never().poll_timeout(), -1);
  EXPECT_TRUE(Deadline::after(milliseconds(-1)).passed());
  EXPECT_EQ(Deadline::after(milliseconds(-5)).poll_timeout(), 0);
}

}  // namespace
}  // namespace guard

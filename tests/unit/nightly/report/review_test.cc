#include "nightly/report/report.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "tests/support/nightly/sample_night.h"

namespace guard::nightly {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;
using testing::sample_night;

constexpr std::string_view kKnown = "correct-horse-battery-staple";

const SecretSource& secrets() {
  static const SecretSource source = std::move(*SecretSource::shipped({{"TOKEN", std::string(kKnown)}}));
  return source;
}

std::vector<Attempt> attempts_of(const ReportInput& input, const Task& task) {
  std::vector<Attempt> list;
  for (const auto& attempt : input.attempts) {
    if (attempt.task == task.id) list.push_back(attempt);
  }
  return list;
}

std::string shown_task(std::size_t place, Colour colour = Colour::off) {
  const ReportInput input = sample_night(10);
  return review_text(input.tasks[place], attempts_of(input, input.tasks[place]), secrets(), colour);
}

TEST(Review, ShowsWhatWasAskedForAndWhatCameOfIt) {
  const std::string text = shown_task(0);
  for (const std::string_view words :
      {"parse-query-0 accepted, taken\n", "  3 new tests\n", "  commit 8f12a3b4", "went to the host by the roll-out",
          "prompt\n  Write tests for src/parse-query.ts.\n", "attempt 1: accepted: 3 new tests\n",
          "  ran in:    host, without a sandbox\n", "  worth:     5 of 6 broken versions noticed\n",
          "  evidence:  evidence/", "change of attempt 1\ndiff --git a/sandbox/parse-query-0.test.ts",
          "\n+describe(\"parse-query-0\", () => {\n"}) {
    EXPECT_THAT(text, HasSubstr(words));
  }
}

TEST(Review, ShowsWhyATaskWasRefused) {
  const std::string text = shown_task(3);
  for (const std::string_view words :
      {"cart-total-3 refused (findings)\n", "attempt 1: refused (findings)", "attempt 2: refused (findings)",
          "  sandbox/cart-total-3.test.ts:14: [host.child_process] starts a process\n",
          "      instead: call the function under test", "  kept:      kept/", "change of attempt 2\n"}) {
    EXPECT_THAT(text, HasSubstr(words));
  }
}

TEST(Review, ColoursOfADiffTellNamesFromLines) {
  const std::string text = shown_task(0, Colour::on);
  EXPECT_THAT(text, HasSubstr("\x1b[1m+++ b/sandbox/parse-query-0.test.ts\x1b[0m"));
  EXPECT_THAT(text, HasSubstr("\x1b[32m+  pairs: 1_000,\x1b[0m"));
  EXPECT_THAT(text, HasSubstr("\x1b[31m-  pairs: 100,\x1b[0m"));
}

TEST(Review, ShowsHostileWordsHarmlessly) {
  ReportInput input = sample_night(4);
  Task task = input.tasks[3];
  std::vector<Attempt> attempts = attempts_of(input, task);
  const std::string words = "a\x1b]0;t\x07\xe2\x80\xae\r\xff" + std::string("\0", 1) + std::string(kKnown);
  for (std::string* text : {&task.id, &task.reason, &task.detail, &task.note, &task.commit, &task.prompt})
    *text = words;
  for (auto& attempt : attempts) {
    for (std::string* text : {&attempt.reason, &attempt.detail, &attempt.generator, &attempt.backend, &attempt.evidence,
             &attempt.output, &attempt.kept, &attempt.diff})
      *text = words;
    attempt.files = attempt.flaky = {words};
    attempt.findings = {{words, words, words, 1, words, words, words}};
    attempt.task = task.id;
  }
  for (const std::string& text :
      {review_text(task, attempts, secrets(), Colour::off), review_list({task}, attempts, secrets(), Colour::off)}) {
    EXPECT_TRUE(std::all_of(text.begin(), text.end(),
        [](char c) { return c == '\n' || (static_cast<unsigned char>(c) >= 0x20 && c != 0x7f); }));
    EXPECT_THAT(text, Not(HasSubstr("\xe2\x80\xae")));
    EXPECT_THAT(text, Not(HasSubstr("\xff")));
    EXPECT_THAT(text, Not(HasSubstr(kKnown)));
    EXPECT_THAT(text, HasSubstr("[REDACTED:env:TOKEN]"));
  }
}

TEST(Review, ListsTasksToChooseFrom) {
  const ReportInput input = sample_night(10);
  const std::string text = review_list(input.tasks, input.attempts, secrets(), Colour::off);
  EXPECT_EQ(std::count(text.begin(), text.end(), '\n'), 10);
  EXPECT_THAT(
      text, HasSubstr("parse-query-0      accepted  3 passed, 5 of 6 broken versions noticed, on the host, taken\n"));
  EXPECT_THAT(text, HasSubstr("cart-total-3       refused   findings\n"));
}

}  // namespace
}  // namespace guard::nightly

#include "pipeline/run/test_command.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "pipeline/run/suite_run.h"

namespace guard {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

const std::vector<std::string> kFiles = {"sandbox/a.test.ts", "sandbox/-b.test.ts"};

TEST(TestCommand, NamesFilesLastAndAsPaths) {
  EXPECT_THAT(test_command("bun", "attest.mjs", kFiles),
      ElementsAre("bun", "test", "--preload", "attest.mjs", "--reporter=junit", "--reporter-outfile=/dev/fd/3",
          "./sandbox/a.test.ts", "./sandbox/-b.test.ts"));
}

// bun would load what its own settings name before anything else.
TEST(TestCommand, LoadsTheAttestationFirst) {
  TestOptions options;
  options.preload = {"./setup.ts", "@happy-dom/global-registrator/register.js"};
  EXPECT_THAT(test_command("bun", "/.guard-attestation.mjs", {"sandbox/a.test.ts"}, options),
      ElementsAre("bun", "test", "--preload", "/.guard-attestation.mjs", "--preload", "./setup.ts", "--preload",
          "@happy-dom/global-registrator/register.js", "--preload", "/.guard-preloaded.mjs",
          "--config=/.guard-bunfig.toml", "--reporter=junit", "--reporter-outfile=/dev/fd/3", "./sandbox/a.test.ts"));
}

TEST(TestCommand, AsksForAnOrderAndForCoverage) {
  TestOptions options;
  options.seed = 4294967295u;
  options.coverage = Coverage::on;
  EXPECT_THAT(test_command("bun", "attest.mjs", {"sandbox/a.test.ts"}, options),
      ElementsAre("bun", "test", "--preload", "attest.mjs", "--reporter=junit", "--reporter-outfile=/dev/fd/3",
          "--randomize", "--seed=4294967295", "--coverage", "--coverage-reporter=lcov",
          "--coverage-dir=/app/sandbox/guard-coverage", "./sandbox/a.test.ts"));
}

// `guard verify` knows one command; a record of another one would be taken for a forgery.
TEST(TestCommand, OfAnEvidenceRecordIsThePlainOne) {
  for (const bool seeded : {true, false}) {
    RunRequest request;
    request.files = kFiles;
    request.facts.emplace();
    if (seeded) request.options.seed = 1;
    if (!seeded) request.options.coverage = Coverage::on;
    StringSink out;
    StringSink err;
    const CancelToken never;
    const RunRecord record = run_tests(request, out, err, never);
    EXPECT_EQ(record.verdict.kind(), VerdictKind::undecided);
    ASSERT_TRUE(record.error);
    EXPECT_THAT(record.error->message(), HasSubstr("evidence record"));
    EXPECT_FALSE(record.exec);
  }
}

}  // namespace
}  // namespace guard

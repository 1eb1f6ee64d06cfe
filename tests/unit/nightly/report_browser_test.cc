// The morning page in a real Chromium, and before an HTML checker: tests/nightly/page_check.mjs looks. Skipped where
// they are not installed, unless GUARD_TEST_REQUIRE_BROWSER says that they have to be there.
#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "common/environment.h"
#include "common/file_io.h"
#include "nightly/report/report.h"
#include "runner/process/subprocess.h"
#include "tests/support/nightly/sample_night.h"

namespace guard::nightly {
namespace {

namespace fs = std::filesystem;

std::string variable(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? std::string() : value;
}

// What page_check.mjs complains of, or its own failure.
std::string complaints(const std::string& page) {
  const auto folder = TempDir::create();
  if (!folder) return "no folder";
  const fs::path file = folder->path() / "report.html";
  if (!write_file_atomically(file, page)) return "no page";
  ProcessSpec spec;
  spec.argv = {"node", GUARD_SOURCE_DIR "/tests/nightly/page_check.mjs", variable("GUARD_PAGE_TOOLS"),
      "/usr/bin/chromium", file.native()};
  if (const std::string pictures = variable("GUARD_TEST_PICTURES"); !pictures.empty()) spec.argv.push_back(pictures);
  spec.env = process_environment();
  CancelToken never;
  const auto checked = collect_process(spec, 1u << 20, never);
  if (!checked) return checked.error().to_string();
  if (checked->result.outcome.kind != OutcomeKind::exited || checked->result.outcome.value != 0)
    return "page_check.mjs failed: " + checked->err;
  return checked->out;
}

class ReportInABrowser : public ::testing::Test {
 protected:
  void SetUp() override {
    const bool there = !variable("GUARD_PAGE_TOOLS").empty() && ::access("/usr/bin/chromium", X_OK) == 0;
    if (there) return;
    if (!variable("GUARD_TEST_REQUIRE_BROWSER").empty()) FAIL() << "no chromium, or GUARD_PAGE_TOOLS is not set";
    GTEST_SKIP() << "no chromium, or GUARD_PAGE_TOOLS is not set";
  }
};

TEST_F(ReportInABrowser, IsSoundHtmlAndReadableOnEveryScreen) {
  const auto secrets = SecretSource::shipped();
  ASSERT_TRUE(secrets);
  ReportInput input = testing::sample_night(40);
  for (std::size_t i = 0; i < input.attempts.size(); ++i) {
    input.attempts[i].secrets_masked = i % 7;
    if (input.attempts[i].outcome == AttemptOutcome::failed)
      input.attempts[i].generator_said = "asking the model\nmodel quota exceeded: " + std::string(300, 'x') + "\n";
  }
  const auto page = render_report(input, ReportFormat::html, *secrets, Colour::off);
  ASSERT_TRUE(page);
  EXPECT_EQ(complaints(*page), "");
}

// Long words, markup and names that push at the edges.
TEST_F(ReportInABrowser, StaysWholeWhateverANightHolds) {
  const auto secrets = SecretSource::shipped();
  ASSERT_TRUE(secrets);
  ReportInput input = testing::sample_night(10);
  const std::string odd = "</pre><script>alert(1)</script>\" onload=x " + std::string(400, 'W') + " \xe2\x80\xae";
  for (auto& task : input.tasks) {
    task.detail += odd;
    task.prompt += odd;
  }
  input.tasks[3].id = "</td>" + std::string(120, 'i');
  for (auto& attempt : input.attempts) {
    if (attempt.task == testing::sample_night(10).tasks[3].id) attempt.task = input.tasks[3].id;
    attempt.diff += "+" + odd + "\n";
    attempt.files.push_back(odd);
    for (auto& finding : attempt.findings) finding.message += odd;
  }
  input.night.why = odd;
  const auto page = render_report(input, ReportFormat::html, *secrets, Colour::off);
  ASSERT_TRUE(page);
  EXPECT_EQ(complaints(*page), "");
}

// The checks can fail.
TEST_F(ReportInABrowser, IsSeenWhereItIsBroken) {
  const auto secrets = SecretSource::shipped();
  ASSERT_TRUE(secrets);
  const auto page = render_report(testing::sample_night(10), ReportFormat::html, *secrets, Colour::off);
  ASSERT_TRUE(page);
  const auto with = [&](std::string_view old, std::string_view broken) {
    std::string text = *page;
    const auto at = text.find(old);
    EXPECT_NE(at, std::string::npos) << old;
    return complaints(text.replace(at, old.size(), broken));
  };
  EXPECT_NE(with("<main>", "<main><input size=\"400\">").find("cut off"), std::string::npos);
  EXPECT_NE(with("</main>", "<img src=\"https://x.example/y\" alt=\"\"></main>"), "");
}

}  // namespace
}  // namespace guard::nightly

// A folder that starts with copies of what was checked (init/filled_folder.h): whatever is done to one of them is told, in every sandbox.
#include "tests/unit/runner/every_sandbox.h"

namespace guard {
namespace {

using testing::case_program;
using testing::Where;

constexpr std::string_view kFolder = "/app/scratch";

class FilledFolder : public testing::EverySandbox {
 protected:
  std::vector<std::filesystem::path> programs() const override { return {case_program("touches")}; }

  void SetUp() override {
    EverySandbox::SetUp();
    std::filesystem::create_directories(folder() / "staged" / "__snapshots__");
    std::ofstream(folder() / "staged" / "__snapshots__" / "a.snap") << "a stored snapshot\n";
    std::filesystem::create_symlink("given", folder() / "staged" / "link");
  }

  // What was told of each way, in order; "refused" where the sandbox lets nobody do it.
  std::map<std::string, std::string> told(const std::vector<std::string>& ways) {
    std::map<std::string, std::string> told;
    SandboxSpec wanted = spec({"touches", std::string(kFolder)});
    // Whatever was done before, the next program finds what was checked.
    for (const std::string& way : ways) {
      wanted.each.push_back(way);
      wanted.each.emplace_back("read");
    }
    wanted.env = {{"PATH", "/bin"}};
    if (GetParam() == Where::runsc) wanted.limits.pids = 256;
    auto result = run(wanted);
    EXPECT_TRUE(result) << result.error().to_string();
    if (!result) return told;
    std::vector<ExecResult> all = std::move(result->earlier);
    all.push_back(std::move(*result));
    EXPECT_EQ(all.size(), wanted.each.size());
    for (std::size_t i = 0; i < all.size(); ++i) {
      const Outcome& outcome = all[i].outcome;
      EXPECT_EQ(outcome.kind, OutcomeKind::exited) << wanted.each[i];
      EXPECT_TRUE(outcome.value == 0 || (i % 2 == 0 && outcome.value == 1)) << wanted.each[i] << " exited with " << outcome.value << "\n" << err_.text;
      if (i % 2 == 0) {
        told[wanted.each[i]] = outcome.value == 1 ? "refused" : all[i].touched;
      } else {
        EXPECT_EQ(all[i].touched, "") << "read after " << wanted.each[i - 1];
      }
    }
    return told;
  }
};

INSTANTIATE_TEST_SUITE_P(In, FilledFolder, testing::everywhere(), testing::name_of);

TEST_P(FilledFolder, TellsNothingOfWhatLeavesTheCopiesAsTheyAre) {
  each([this] {
    for (const auto& [way, path] : told({"nothing", "read", "try-to-write", "make", "make", "as-bun", "as-bun", "as-bun-and-others-read", "new-snapshot"})) {
      EXPECT_EQ(path, "") << way;
    }
  });
}

TEST_P(FilledFolder, TellsOfEveryTouch) {
  each([this] {
    const std::map<std::string, std::string> expected = {
        {"chmod-and-back", "given"},
        {"chmod-to-the-same", "given"},
        {"write", "given"},
        {"truncate", "nested/given"},
        {"mmap", "given"},
        {"rename-and-back", "given"},
        {"rename-over", "given"},
        {"exchange", "given"},
        {"hard-link", "given"},
        {"write-through-a-hard-link", "given"},
        {"write-through-proc", "given"},
        {"unlink-and-write-again", "given"},
        {"remove", "nested/given"},
        {"remove-folder", "nested/given"},
        {"rename-folder-and-back", "nested"},
        {"exchange-folders", "nested"},
        {"put-a-link-where-a-folder-was", "nested"},
        {"close-folder-and-open", "nested"},
        {"close-the-folder-itself-and-open", ""},
        {"aim-link-elsewhere", "link"},
        {"move-link", "link"},
        {"set-times", "given"},
        {"give-it-to-ourselves", "given"},
        {"set-attribute", "given"},
        {"by-a-child-that-lives-on", "given"},
        {"hide-it-in-a-flood", ""},
        {"snapshot-changed", "__snapshots__/a.snap"},
        {"snapshot-changed-by-nobody-else", "__snapshots__/a.snap"},
        {"snapshot-longer", "__snapshots__/a.snap"},
        {"snapshot-shorter", ""},
        {"snapshot-mapped-and-put-back", "__snapshots__/a.snap"},
        {"snapshot-written-and-put-back", "__snapshots__/a.snap"},
        {"snapshot-opened-twice", "__snapshots__/a.snap"},
        {"snapshot-opened-and-hidden", ""},
        {"snapshot-replaced", "__snapshots__/a.snap"},
        {"snapshot-by-another-name", "__snapshots__/a.snap"},
    };
    std::vector<std::string> ways;
    for (const auto& [way, path] : expected) ways.push_back(way);
    for (const auto& [way, path] : told(ways)) {
      if (path == "refused") continue;
      EXPECT_EQ(path, std::string(kFolder) + "/" + expected.at(way)) << way;
    }
  });
}

TEST_P(FilledFolder, KeepsInitAndItsMountsOutOfReach) {
  each([this] {
    for (const auto& [way, path] : told({"mount", "look-into-init"})) EXPECT_EQ(path, "refused") << way;
  });
}

}  // namespace
}  // namespace guard

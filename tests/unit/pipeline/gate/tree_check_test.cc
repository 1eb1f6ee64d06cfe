#include "pipeline/gate/tree_check.h"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <filesystem>
#include <functional>

#include "common/file_io.h"
#include "common/hash.h"
#include "validator/judge/cross_file_judge.h"

namespace guard {
namespace {

namespace fs = std::filesystem;

class TreeCheckTest : public ::testing::Test {
 protected:
  void SetUp() override {
    auto made = TempDir::create();
    ASSERT_TRUE(made);
    folder_.emplace(std::move(*made));
  }

  void write(const std::string& path, const std::string& text) {
    const fs::path file = folder_->path() / path;
    fs::create_directories(file.parent_path());
    ASSERT_TRUE(write_file_atomically(file, text));
  }

  std::string at(const std::string& path) const { return (folder_->path() / path).string(); }

  Result<TreeHits> look(std::vector<std::string> paths, unsigned jobs, const CancelToken* cancel = nullptr,
      std::function<void(std::uint64_t, std::uint64_t)> progress = {}) {
    static const Matcher matcher = Matcher::create(RuleSet::shipped_gate()).value();
    TreeRequest request;
    request.rules = &RuleSet::shipped_gate();
    request.matcher = &matcher;
    request.paths = std::move(paths);
    request.jobs = jobs;
    request.cancel = cancel;
    request.progress = std::move(progress);
    return look_at_tree(request);
  }

  std::vector<std::string> findings(const TreeHits& hits) {
    std::vector<Finding> all = hits.findings;
    const CrossFileJudge weigher(RuleSet::shipped_gate(), hits.files, {});
    for (std::uint32_t i = 0; i < hits.files.size(); ++i) weigher.append_findings(i, all);
    std::vector<std::string> shown;
    for (const Finding& finding : all)
      shown.push_back(finding.rule + " " + finding.path + ":" + std::to_string(finding.line) + " " + finding.message);
    std::sort(shown.begin(), shown.end());
    return shown;
  }

  std::optional<TempDir> folder_;
};

TEST_F(TreeCheckTest, SaysTheSameWithAnyNumberOfThreads) {
  for (int i = 0; i < 700; ++i) {
    const std::string name = "src/d" + std::to_string(i % 13) + "/f" + std::to_string(i) + ".ts";
    const std::string act = i % 50 == 7 ? "eval(text);\n"
        : i % 90 == 3                   ? "use(process.env.DB_URL);\n"
        : i % 60 == 1                   ? "console.log(1);\n"
                                        : "";
    const std::string load = i > 0 && i % 60 != 1
        ? "import '../d" + std::to_string((i - 1) % 13) + "/f" + std::to_string(i - 1) + "';\n"
        : "";
    write(name, load + "export const a = " + std::to_string(i) + ";\n" + act);
  }
  const auto alone = look({at("src")}, 1);
  const auto many = look({at("src")}, 8);
  ASSERT_TRUE(alone);
  ASSERT_TRUE(many);
  EXPECT_EQ(alone->count, 700u);
  EXPECT_EQ(many->count, 700u);
  EXPECT_EQ(many->bytes, alone->bytes);
  EXPECT_EQ(findings(*many), findings(*alone));
  EXPECT_GE(findings(*alone).size(), 14u + 5u);
  EXPECT_EQ(many->digests, alone->digests);
}

TEST_F(TreeCheckTest, LooksAtEachLargeFileOnceAlsoWhereOthersAreInHand) {
  std::string code;
  for (int i = 0; code.size() < 2'000'000; ++i) code += "export const v" + std::to_string(i) + " = f(1);\n";
  write("src/all.ts", code);
  const std::string comment = "//" + std::string(200'000, '-') + "\n";
  for (int i = 0; i < 90; ++i)
    write("src/f" + std::to_string(i) + ".ts", comment + (i % 9 == 0 ? "eval(text);\n" : ""));
  for (int i = 0; i < 60; ++i) write("src/small" + std::to_string(i) + ".ts", "1;\n");
  const auto alone = look({at("src")}, 1);
  const auto many = look({at("src")}, 8);
  ASSERT_TRUE(alone);
  ASSERT_TRUE(many);
  EXPECT_EQ(many->count, 151u);
  EXPECT_EQ(many->bytes, alone->bytes);
  EXPECT_EQ(findings(*alone).size(), 10u);
  EXPECT_EQ(findings(*many), findings(*alone));
}

TEST_F(TreeCheckTest, SaysNothingWhereItWasStopped) {
  for (int i = 0; i < 1500; ++i) write("src/f" + std::to_string(i) + ".ts", "1;\n");
  for (const unsigned jobs : {1u, 4u}) {
    for (const bool at_once : {true, false}) {
      CancelToken cancel;
      if (at_once) cancel.cancel();
      const auto hits = look({at("src")}, jobs, &cancel, [&](auto, auto) { cancel.cancel(); });
      ASSERT_FALSE(hits);
      EXPECT_EQ(hits.error().code(), ErrorCode::cancelled) << hits.error().message();
    }
  }
}

TEST_F(TreeCheckTest, EndsWhereTheWalkFailsWhileThreadsWork) {
  for (int i = 0; i < 400; ++i) write("src/a/f" + std::to_string(i) + ".ts", "1;\n");
  std::string deep = "src/b";
  for (int i = 0; i < 200; ++i) deep += "/d";
  write(deep + "/a.ts", "1;\n");
  const auto hits = look({at("src/a"), at("src")}, 8);
  ASSERT_FALSE(hits);
  EXPECT_EQ(hits.error().code(), ErrorCode::input_invalid) << hits.error().message();
}

TEST_F(TreeCheckTest, JudgesTwoHalvesInFilesThatLoadEachOtherTogether) {
  write("src/a.ts", "export const url = process.env.DB_URL;\n");
  write("src/b.ts", "import { url } from './a';\nconsole.log(url);\n");
  write("src/c.ts", "console.log(1);\n");
  const auto both = look({at("src")}, 2);
  ASSERT_TRUE(both);
  ASSERT_EQ(findings(*both).size(), 1u);
  EXPECT_NE(findings(*both).front().find("b.ts:2 "), std::string::npos) << findings(*both).front();
  EXPECT_NE(findings(*both).front().find("a.ts:1,"), std::string::npos) << findings(*both).front();
  const auto half = look({at("src/a.ts"), at("src/c.ts")}, 2);
  ASSERT_TRUE(half);
  EXPECT_TRUE(findings(*half).empty());
}

TEST_F(TreeCheckTest, KeepsADigestOfWhatItJudged) {
  write("src/a.ts", "eval(text);\n");
  const auto hits = look({at("src/a.ts")}, 1);
  ASSERT_TRUE(hits);
  ASSERT_EQ(hits->digests.size(), 1u);
  EXPECT_EQ(hits->digests.begin()->second, sha256_hex("eval(text);\n"));
}

TEST_F(TreeCheckTest, VisitsAFileThatIsNamedTwiceOnce) {
  write("sandbox/a.test.ts", "1;\n");
  const auto hits = look({at("sandbox"), at("sandbox/a.test.ts"), at("sandbox/../sandbox")}, 2);
  ASSERT_TRUE(hits);
  EXPECT_EQ(hits->count, 1u);
}

TEST_F(TreeCheckTest, NeverFollowsALink) {
  write("outside/secret.ts", "eval(text);\n");
  write("src/a.ts", "1;\n");
  fs::create_symlink(folder_->path() / "outside", folder_->path() / "src" / "folder");
  fs::create_symlink(folder_->path() / "outside" / "secret.ts", folder_->path() / "src" / "file.ts");
  const auto hits = look({at("src")}, 2);
  ASSERT_TRUE(hits);
  EXPECT_EQ(hits->count, 1u);
  ASSERT_EQ(hits->findings.size(), 1u);
  EXPECT_EQ(hits->findings.front().rule, "side_file.symbolic_link");
}

TEST_F(TreeCheckTest, OfSeveralErrorsReportsTheFirstByPath) {
  if (::geteuid() == 0) GTEST_SKIP() << "root reads everything";
  for (const char* name : {"src/c.ts", "src/a.ts", "src/b.ts"}) {
    write(name, "1;\n");
    ASSERT_EQ(::chmod(at(name).c_str(), 0), 0);
  }
  const auto hits = look({at("src")}, 4);
  ASSERT_FALSE(hits);
  EXPECT_NE(hits.error().message().find("a.ts"), std::string::npos) << hits.error().message();
}

}  // namespace
}  // namespace guard

// `guard image` with several projects and one cache: whose an image is decides who may remove it. With the real bun.
#include <gtest/gtest.h>
#include <sys/stat.h>

#include "tests/support/program/guard_program.h"

namespace guard::testing {
namespace {

namespace fs = std::filesystem;

struct ImagesOfProjects : ::testing::Test {
  void SetUp() override {
    GUARD_NEEDS(Needs::namespace_sandbox);
    auto cache = TempDir::create();
    ASSERT_TRUE(cache);
    cache_.emplace(std::move(*cache));
    package(mine_, "a");
    package(other_, "a");
  }
  void package(const Project& project, const std::string& name) {
    project.write("package.json", R"({"name":")" + name + R"("})");
  }
  // The digest that was built, or what `guard image` says of its work.
  nlohmann::json image(const Project& project, std::vector<std::string> words) {
    words.insert(words.begin(), "image");
    words.insert(words.end(), {"--format", "json"});
    const auto result = project.guard(words, {{"GUARD_CACHE_DIR", cache_->path().string()}});
    EXPECT_EQ(result.exit_status, 0) << result.err;
    return result.document();
  }
  std::string build(const Project& project) {
    return fs::path(image(project, {"build", "--root-folder"})["root_folder"].get<std::string>())
        .parent_path()
        .filename();
  }
  bool is_there(const std::string& digest) { return fs::exists(cache_->path() / "images" / digest); }

  std::optional<TempDir> cache_;
  Project mine_;
  Project other_;
};

TEST_F(ImagesOfProjects, GoWhereTheirProjectNeedsThemNoMoreAndNobodyElseDoes) {
  const std::string shared = build(mine_);
  EXPECT_EQ(build(other_), shared);
  package(mine_, "b");
  const std::string old = build(mine_);
  package(mine_, "c");
  const std::string own = build(mine_);
  package(other_, "d");
  const std::string theirs = build(other_);
  package(other_, "a");  // needs `shared` again, and `theirs` no more

  const auto shown = image(mine_, {"prune", "--dry-run"});
  EXPECT_EQ(shown["images"].size(), 1u) << shown;
  EXPECT_TRUE(is_there(old));
  const auto done = image(mine_, {"prune"});
  ASSERT_EQ(done["images"].size(), 1u) << done;
  EXPECT_EQ(done["images"][0]["digest"], old);
  EXPECT_EQ(done["kept"].size(), 2u) << done;
  EXPECT_FALSE(is_there(old));
  EXPECT_TRUE(is_there(shared) && is_there(own) && is_there(theirs));

  EXPECT_EQ(image(mine_, {"prune", "--all"})["images"].size(), 1u);
  EXPECT_TRUE(is_there(theirs));  // said first
  const auto all = image(mine_, {"prune", "--all", "--force"});
  ASSERT_EQ(all["images"].size(), 1u) << all;
  EXPECT_EQ(all["images"][0]["digest"], theirs);
  EXPECT_TRUE(is_there(shared) && is_there(own) && !is_there(theirs));
}

TEST_F(ImagesOfProjects, GoByThemselvesWhenUnused) {
  const std::string old = build(mine_);
  const fs::path folder = cache_->path() / "images" / old;
  for (const fs::path& place : {folder / "image.json", fs::directory_iterator(folder / "users")->path()}) {
    fs::last_write_time(place, fs::file_time_type::clock::now() - std::chrono::hours(24 * 91));
  }
  package(other_, "d");
  other_.write("guard.toml", "[image]\nunused_days = 92\n");
  build(other_);
  EXPECT_TRUE(is_there(old));
  other_.write("guard.toml", "");
  const std::string fresh = build(other_);
  EXPECT_FALSE(is_there(old));
  EXPECT_TRUE(is_there(fresh));
}

TEST_F(ImagesOfProjects, AreListedWithWhoUsesThem) {
  build(mine_);
  const auto list = image(other_, {"list"});
  ASSERT_EQ(list["images"].size(), 1u);
  EXPECT_EQ(list["images"][0]["projects"], nlohmann::json::array({fs::canonical(mine_.path()).string()}));
}

}  // namespace
}  // namespace guard::testing

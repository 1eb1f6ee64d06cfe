#include "sessions/trace/catalogue.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <fstream>

#include "common/file_io.h"
#include "common/hash.h"
#include "tests/support/sessions/sessions_fixture.h"

namespace guard::sessions {
namespace {

namespace fs = std::filesystem;
using testing::ElementsAre;
using testing::HasSubstr;
using Role = Catalogue::Role;

class CatalogueTest : public SessionsTest {
 protected:
  std::unique_ptr<Catalogue> open(const CatalogueLimits& limits, StepWatch watch = {}) {
    auto opened = Catalogue::open(state_.path(), Role::writer, limits, std::move(watch));
    EXPECT_TRUE(opened) << opened.error().to_string();
    return std::move(*opened);
  }
  static CatalogueLimits keep(Keep what) {
    CatalogueLimits limits;
    limits.keep = what;
    return limits;
  }
  // One step that has made these files, with these contents.
  using Files = std::vector<std::pair<std::string, std::string>>;
  Result<std::vector<Artifact>> add(Catalogue& to, const Files& files, const std::string& outcome = "exited 1",
      std::int64_t made_ms = 1'800'000'000'000, const std::string& session = "t/a") {
    std::vector<Artifact> rows;
    for (const auto& [path, bytes] : files) {
      Artifact& row = rows.emplace_back();
      row.session = session;
      row.path = path;
      row.outcome = outcome;
      row.made_ms = made_ms;
    }
    GUARD_TRY(to.add(rows, [&](std::size_t i) {
      const fs::path file = folder_.path() / "file";
      EXPECT_TRUE(write_file_atomically(file, files[i].second));
      return UniqueFd(::open(file.c_str(), O_RDONLY | O_CLOEXEC));
    }));
    return rows;
  }
  fs::path contents() const { return state_.path() / "artifacts"; }
  std::vector<std::string> names() const {
    std::vector<std::string> names;
    for (const auto& entry : fs::directory_iterator(contents())) {
      if (entry.path().filename().string().find('.') == std::string::npos) names.push_back(entry.path().filename());
    }
    std::sort(names.begin(), names.end());
    return names;
  }
  // Every row that says so has its contents, and nothing lies there that no row has.
  void check(Catalogue& catalogue) {
    std::set<std::string> kept;
    const auto rows = catalogue.list();
    ASSERT_TRUE(rows);
    for (const Artifact& row : *rows) {
      if (!row.kept) continue;
      kept.insert(row.sha256);
      const auto bytes = catalogue.contents(row);
      EXPECT_TRUE(bytes) << bytes.error().to_string();
    }
    EXPECT_EQ(names(), std::vector<std::string>(kept.begin(), kept.end()));
  }

  const TempDir folder_ = *TempDir::create();
};

TEST_F(CatalogueTest, KeepsWhatThePolicySays) {
  for (const auto& [what, failed, good] :
      {std::tuple(Keep::none, false, false), {Keep::failed, true, false}, {Keep::all, true, true}}) {
    state_ = new_state();
    const auto catalogue = open(keep(what));
    const auto of_failed = add(*catalogue, {{"a/b.txt", "failed"}});
    const auto of_good = add(*catalogue, {{"c", "good"}}, "exited 0");
    ASSERT_TRUE(of_failed && of_good);
    EXPECT_EQ(of_failed->front().sha256, sha256_hex("failed"));
    EXPECT_EQ(of_good->front().sha256, sha256_hex("good"));
    const auto rows = *catalogue->list("t/a");
    ASSERT_EQ(rows.size(), 2U);
    EXPECT_EQ(rows[0].path, "a/b.txt");
    EXPECT_EQ(rows[0].bytes, 6U);
    EXPECT_EQ(rows[0].kept, failed);
    EXPECT_EQ(rows[1].kept, good);
    EXPECT_TRUE(catalogue->list("t/other")->empty());
    check(*catalogue);
    const auto bytes = catalogue->contents(rows[0]);
    ASSERT_EQ(bytes.has_value(), failed);
    EXPECT_EQ(bytes ? *bytes : std::string(bytes.error().wire_name()), failed ? "failed" : "FILE_NOT_FOUND");
  }
}

TEST_F(CatalogueTest, KeepsTheSameContentsOnceAndForItselfAlone) {
  const auto catalogue = open(keep(Keep::all));
  ASSERT_TRUE(add(*catalogue, {{"a", "same"}, {"b", "same"}}));
  ASSERT_TRUE(add(*catalogue, {{"a", "same"}}));
  EXPECT_THAT(names(), ElementsAre(sha256_hex("same")));
  struct stat found {};
  ASSERT_EQ(::stat((contents() / names().front()).c_str(), &found), 0);
  EXPECT_EQ(found.st_mode & 0777, 0600U);
  ASSERT_EQ(::stat(contents().c_str(), &found), 0);
  EXPECT_EQ(found.st_mode & 0777, 0700U);
}

TEST_F(CatalogueTest, LeavesOutWhatIsTooLargeWithoutReadingIt) {
  CatalogueLimits limits = keep(Keep::all);
  limits.file_bytes_max = 10;
  const auto catalogue = open(limits);
  const auto rows = add(*catalogue, {{"exact.csv", "0123456789"}, {"large.csv", "0123456789a"}});
  ASSERT_TRUE(rows);
  EXPECT_TRUE((*rows)[0].kept);
  EXPECT_FALSE((*rows)[1].kept);
  EXPECT_EQ((*rows)[1].sha256, "");
  EXPECT_EQ((*rows)[1].bytes, 11U);
  EXPECT_EQ((*rows)[1].media_type, "text/csv");
  EXPECT_THAT(catalogue->contents((*rows)[1]).error().hint(), HasSubstr("--artifacts-file-max"));
  check(*catalogue);
}

TEST_F(CatalogueTest, LetsTheOldestGoWhereItIsTooMuch) {
  CatalogueLimits limits = keep(Keep::all);
  limits.bytes_max = 10;
  const auto catalogue = open(limits);
  ASSERT_TRUE(add(*catalogue, {{"a", "1111"}}, "exited 0", 1'000));
  ASSERT_TRUE(add(*catalogue, {{"b", "2222"}}, "exited 0", 2'000));
  ASSERT_TRUE(add(*catalogue, {{"a", "1111"}}, "exited 0", 3'000));
  ASSERT_TRUE(add(*catalogue, {{"c", "3333"}}, "exited 0", 4'000));
  std::string kept;
  const auto rows = *catalogue->list();
  for (const Artifact& row : rows) kept += row.kept ? row.path : "-";
  EXPECT_EQ(kept, "a-ac");
  check(*catalogue);
  ASSERT_TRUE(add(*catalogue, {{"d", "444444"}, {"e", "55555"}}, "exited 0", 5'000));
  EXPECT_EQ(catalogue->list()->back().kept, false) << "one step's are limited, too";
  check(*catalogue);
}

TEST_F(CatalogueTest, ForgetsWhatIsOldOrOfASession) {
  const auto catalogue = open(keep(Keep::all));
  ASSERT_TRUE(add(*catalogue, {{"old", "1"}, {"shared", "22"}}, "exited 0", 1'800'000'000'000));
  ASSERT_TRUE(add(*catalogue, {{"new", "333"}, {"shared", "22"}}, "exited 0", 1'800'000'001'000));
  ASSERT_TRUE(add(*catalogue, {{"other", "4444"}}, "exited 0", 1'800'000'000'000, "t/b"));
  // As another process does.
  const auto other = open({});
  const auto would = other->prune(1'800'000'001'000, "", Catalogue::Run::dry);
  ASSERT_TRUE(would);
  EXPECT_EQ(would->artifacts, 3U);
  EXPECT_EQ(would->bytes, 5U);
  EXPECT_EQ(catalogue->list()->size(), 5U);
  EXPECT_EQ(other->prune(1'800'000'001'000, "t/b", Catalogue::Run::real)->artifacts, 1U);
  check(*catalogue);
  EXPECT_EQ(other->prune(1'800'000'001'000, "", Catalogue::Run::real)->bytes, 1U);
  check(*catalogue);
  ASSERT_EQ(catalogue->list()->size(), 2U);
  const std::uint64_t last = catalogue->list()->back().id;
  EXPECT_EQ(other->prune(1'900'000'000'000, "", Catalogue::Run::real)->artifacts, 2U);
  ASSERT_TRUE(add(*catalogue, {{"next", "1"}}));
  EXPECT_GT(catalogue->list()->front().id, last) << "a number is never used again";
}

TEST_F(CatalogueTest, SaysWhenContentsAreNotWhatTheyWere) {
  const auto catalogue = open(keep(Keep::all));
  const auto rows = *add(*catalogue, {{"a", "1234"}});
  const fs::path file = contents() / rows[0].sha256;
  std::ofstream(file) << "5678";
  EXPECT_THAT(catalogue->contents(rows[0]).error().to_string(), HasSubstr("is not what it was"));
  fs::remove(file);
  fs::create_symlink("/etc/passwd", file);
  EXPECT_FALSE(catalogue->contents(rows[0]));
}

TEST_F(CatalogueTest, IsMadeByAWriterAlone) {
  const auto none = Catalogue::open(state_.path(), Role::reader);
  ASSERT_FALSE(none);
  EXPECT_EQ(none.error().code(), ErrorCode::file_not_found);
  EXPECT_THAT(none.error().hint(), HasSubstr("--artifacts"));
  EXPECT_TRUE(fs::is_empty(state_.path()));
}

// Whichever step fails, or is the last one of a process that dies: what the catalogue says holds, and what was added
// before is there.
TEST_F(CatalogueTest, IsWholeWhateverFailsOrDies) {
  CatalogueLimits limits = keep(Keep::all);
  limits.bytes_max = 20;
  const auto story = [&](Catalogue& catalogue) {
    bool good = add(catalogue, {{"a", "first"}, {"b", "second"}}).has_value();
    good = add(catalogue, {{"c", "third and long"}, {"a", "first"}}, "exited 0", 1'800'000'001'000).has_value() && good;
    return catalogue.prune(1'800'000'000'500, "", Catalogue::Run::real).has_value() && good;
  };
  for (const bool dies : {false, true}) {
    std::uint64_t fatal = 0;
    for (bool came_so_far = true; came_so_far; ++fatal) {
      SCOPED_TRACE(fmt::format("step {} {}", fatal, dies ? "is the last" : "fails"));
      state_ = new_state();
      ASSERT_TRUE(add(*open(limits), {{"before", "kept"}}));
      const auto run = [&] {
        std::uint64_t step = 0;
        bool reached = false;
        const auto catalogue = open(limits, [&](std::string_view) -> Result<void> {
          if (step++ != fatal) return ok();
          if (dies) ::_exit(0);
          reached = true;
          return Error(ErrorCode::io_error, "this step fails");
        });
        const bool good = story(*catalogue);
        EXPECT_NE(good, reached);
        return reached;
      };
      if (dies) {
        const pid_t child = ::fork();
        if (child == 0) {
          run();
          ::_exit(1);
        }
        int status = 0;
        ::waitpid(child, &status, 0);
        came_so_far = WEXITSTATUS(status) == 0;
      } else {
        came_so_far = run();
      }
      const auto after = open(limits);
      const auto rows = *after->list();
      for (const Artifact& row : rows) {
        const auto bytes = after->contents(row);
        EXPECT_TRUE(!row.kept || bytes) << row.path << ": " << bytes.error().to_string();
      }
      ASSERT_TRUE(add(*after, {{"after", "more"}}, "exited 0", 1'800'000'002'000));
      check(*after);
    }
    EXPECT_GT(fatal, 10U);
  }
}

TEST(MediaType, IsGuessedByContentsAndName) {
  using namespace std::string_view_literals;
  EXPECT_EQ(media_type_of("a/plot.txt", "\x89PNG\r\n\x1a\n...."), "image/png");
  EXPECT_EQ(media_type_of("r.csv", "a,b\n"), "text/csv");
  EXPECT_EQ(media_type_of("r.csv", "a\0b"sv), "application/octet-stream");
  EXPECT_EQ(media_type_of("a.xlsx", "PK\x03\x04"), "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet");
  EXPECT_EQ(media_type_of("a.csv", "PK\x03\x04"), "application/zip");
  EXPECT_EQ(media_type_of("a.xlsx", "text"), "text/plain");
  EXPECT_EQ(media_type_of("dir.json/x", "{}"), "text/plain");
  EXPECT_EQ(media_type_of("x", ""), "text/plain");
  EXPECT_EQ(media_type_of("x", "h\xc3"), "text/plain") << "the head may end in a character";
  EXPECT_EQ(media_type_of("x", "\xff\xfe\xfd\xfc\xfb"), "application/octet-stream");
  EXPECT_EQ(media_type_of("x", "\xff"), "application/octet-stream");
}

}  // namespace
}  // namespace guard::sessions

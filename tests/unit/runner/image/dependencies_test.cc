#include "runner/image/dependencies.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <optional>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "common/file_io.h"

namespace guard {
namespace {

const std::string kIntegrity = "sha512-" + std::string(86, 'A') + "==";

std::string lock_with(const std::string& packages, const std::string& workspaces = R"("": { "name": "x", },)",
    const std::string& further = "") {
  return "{\n  \"lockfileVersion\": 2,\n  \"workspaces\": { " + workspaces + " },\n" + further + "  \"packages\": {\n" +
      packages + "\n  }\n}\n";
}

std::string package_with(const std::string& range) { return R"({"name":"x","dependencies":{"a":")" + range + "\"}}"; }

TEST(Dependencies, TakesRegistryPackages) {
  EXPECT_TRUE(check_lockfile(lock_with(R"("a": ["a@1.2.3", "", {}, ")" + kIntegrity + R"("],
    "@s/b": ["@s/b@0.0.1-rc.1+x", "", { "dependencies": { "a": "^1", }, }, ")" +
                                 kIntegrity + R"("],
    "alias/a": ["a@1.2.3", "", { "bin": "a,}", }, ")" +
                                 kIntegrity + R"("],)"),
      "bun.lock"));
  EXPECT_TRUE(check_lockfile(lock_with(""), "bun.lock"));
}

// Whatever is not fixed by the lockfile's own text.
TEST(Dependencies, RefusesLockEntriesThatAreNotFromARegistry) {
  for (const std::string entry : {
           R"(["a@file:../a", {}])",
           R"(["a@link:../a", {}])",
           R"(["a@workspace:packages/a"])",
           R"(["a@git+ssh://git@example.com/a.git#0123", {}, "0123"])",
           R"(["a@github:owner/a#0123", {}, "owner-a-0123"])",
           R"(["a@https://example.com/a.tgz", {}, "INTEGRITY"])",
           R"(["a@https://example.com/a.tgz", "", {}, "INTEGRITY"])",
           R"(["a@file:a.tgz", "", {}, "INTEGRITY"])",
           R"(["a@1.2.3", "", {}])",
           R"(["a@1.2.3", "", {}, ""])",
           R"(["a@1.2.3", "", {}, "sha512-"])",
           R"(["a@1.2.3", "", {}, 7])",
           R"(["a@1.2", "", {}, "INTEGRITY"])",
           R"(["../a@1.2.3", "", {}, "INTEGRITY"])",
           R"(["a/b@1.2.3", "", {}, "INTEGRITY"])",
           R"(["@1.2.3", "", {}, "INTEGRITY"])",
           R"({"a": "1.2.3"})",
           R"("a@1.2.3")",
           "[]",
       }) {
    std::string text = entry;
    if (const auto at = text.find("INTEGRITY"); at != std::string::npos) text.replace(at, 9, kIntegrity);
    const auto checked = check_lockfile(lock_with("\"a\": " + text), "bun.lock");
    ASSERT_FALSE(checked) << text;
    EXPECT_EQ(checked.error().code(), ErrorCode::dependency_unsatisfied) << text;
  }
}

TEST(Dependencies, TakesTheWorkspacesThatThereAre) {
  const std::string two = lock_with(R"("@s/a": ["@s/a@workspace:packages/a"])", R"("": {}, "packages/a": {})");
  EXPECT_TRUE(check_lockfile(two, "bun.lock", {"", "packages/a"}));
  EXPECT_FALSE(check_lockfile(two, "bun.lock", {""}));
  EXPECT_TRUE(check_lockfile(lock_with(R"("x": ["x@root:", { "bin": "x.js" }])"), "bun.lock"));
  EXPECT_FALSE(check_lockfile(lock_with(R"("x": ["../x@root:", {}])"), "bun.lock"));
  EXPECT_FALSE(check_lockfile(lock_with("", R"("packages/a": {})"), "bun.lock", {"packages/a"}));
  for (const std::string entry : {R"(["a@workspace:../a"])", R"(["a@workspace:packages/b"])",
           R"(["../a@workspace:packages/a"])", R"(["a@workspace:packages/a", ""])"}) {
    EXPECT_FALSE(
        check_lockfile(lock_with("\"a\": " + entry, R"("": {}, "packages/a": {})"), "bun.lock", {"", "packages/a"}))
        << entry;
  }
}

TEST(Dependencies, TakesEntriesOfFoldersThatAreNamed) {
  for (const std::string entry :
      {R"(["b@file:libs/b", {}])", R"(["b@link:./libs/b", {}])", R"(["b@workspace:libs/b"])"}) {
    const std::string lock = lock_with("\"b\": " + entry);
    EXPECT_TRUE(check_lockfile(lock, "bun.lock", {"", "libs/b"})) << entry;
    EXPECT_FALSE(check_lockfile(lock, "bun.lock", {""})) << entry;
  }
  EXPECT_FALSE(check_lockfile(lock_with(R"("b": ["b@file:libs/../../libs/b", {}])"), "bun.lock", {"", "libs/b"}));
  const std::string archive = R"("b": ["b@./b.tgz", {}, ")" + kIntegrity + "\"]";
  EXPECT_TRUE(check_lockfile(lock_with(archive), "bun.lock", {"", "b.tgz"}));
  EXPECT_FALSE(check_lockfile(lock_with(archive), "bun.lock", {""}));
  EXPECT_FALSE(check_lockfile(lock_with(R"("b": ["b@./b.tgz", {}])"), "bun.lock", {"", "b.tgz"}));
  EXPECT_FALSE(check_lockfile(
      lock_with(R"("b": ["b@https://example.com/b.tgz", {}, ")" + kIntegrity + "\"]"), "bun.lock", {"", "b.tgz"}));
}

// Old versions of npm and yarn left some out; bun does not.
TEST(Dependencies, CountsPackagesWithoutAHash) {
  const std::string lock = lock_with(R"("a": ["a@1.2.3", "", {}, ""], "b": ["b@1.0.0", "", {}, ""])");
  EXPECT_FALSE(check_lockfile(lock, "bun.lock"));
  const auto unhashed = check_lockfile(lock, "package-lock.json");
  ASSERT_TRUE(unhashed) << unhashed.error().to_string();
  EXPECT_EQ(*unhashed, 2u);
  EXPECT_FALSE(check_lockfile(lock_with(R"("a": ["a@1.2.3", "", {}, "sha512-"])"), "package-lock.json"));
  EXPECT_FALSE(check_lockfile(lock_with(R"("a": ["a@https://example.com/a.tgz", "", {}, ""])"), "package-lock.json"));
}

TEST(Dependencies, RefusesTextThatIsNoLockfile) {
  for (const std::string text : {"", "[]", "{}", "{\"packages\": {}}", "null",
           "{\"lockfileVersion\": 2, \"workspaces\": [], \"packages\": {}}"}) {
    EXPECT_FALSE(check_lockfile(text, "bun.lock")) << text;
  }
}

// bun and guard might read the other one of the two.
TEST(Dependencies, RefusesKeysThatComeTwice) {
  const std::string good = R"("a": ["a@1.2.3", "", {}, ")" + kIntegrity + "\"]";
  EXPECT_FALSE(check_lockfile(lock_with(R"("a": ["a@file:../a", {}], )" + good), "bun.lock"));
  EXPECT_FALSE(named_dependencies(R"({"dependencies":{"a":"file:../a"},"dependencies":{}})", ""));
}

TEST(Dependencies, ReadsRangesOfVersions) {
  for (const std::string range :
      {"1.2.3", "^1.2.3", "~1.2", ">=1 <2 || 3.x", "*", "latest", "1.0.0 - 2.0.0", "npm:b@^1.0.0", "npm:@s/b@1",
          "npm:b", "", "workspace:*", "workspace:^1.0.0", "catalog:", "catalog:react-18"}) {
    const auto named = named_dependencies(package_with(range), "");
    ASSERT_TRUE(named) << range << ": " << named.error().to_string();
    EXPECT_TRUE(named->any);
    EXPECT_TRUE(named->folders.empty());
  }
}

TEST(Dependencies, TakesFoldersOfTheProject) {
  using Folders = std::vector<std::string>;
  for (const auto& [place, range, wanted] : std::vector<std::tuple<std::string, std::string, std::string>>{
           {"", "file:./libs/b", "libs/b"}, {"", "link:b/", "b"}, {"packages/a", "file:../../libs/b", "libs/b"},
           {"packages/a", "portal:../c", "packages/c"}, {"packages/a", "file:", "packages/a"}, {"", "file:.", ""}}) {
    const auto named = named_dependencies(package_with(range), place);
    ASSERT_TRUE(named) << range << ": " << named.error().to_string();
    EXPECT_EQ(named->folders, Folders{wanted}) << range;
  }
  EXPECT_FALSE(named_dependencies(package_with("file:../../b"), "packages"));
}

TEST(Dependencies, RefusesPackagesThatAreNotFromARegistry) {
  for (const std::string range : {"file:../a", "link:..", "link:b/../../a", "portal:/a", "file:../a.tgz",
           "workspace:../a", "git+https://example.com/a.git", "git@example.com:a.git", "github:owner/a", "owner/a",
           "https://example.com/a.tgz", "./a.tgz", "../a", "npm:../a", "npm:owner/a@1", "patch:a@1#p"}) {
    const auto named = named_dependencies(package_with(range), "");
    ASSERT_FALSE(named) << range;
    EXPECT_EQ(named.error().code(), ErrorCode::dependency_unsatisfied);
  }
  for (const std::string table : {"devDependencies", "optionalDependencies", "peerDependencies"}) {
    EXPECT_FALSE(named_dependencies("{\"" + table + R"(":{"a":"file:../a"}})", "")) << table;
  }
  EXPECT_FALSE(named_dependencies(R"({"dependencies":{"../a":"1.0.0"}})", ""));
  EXPECT_FALSE(named_dependencies(R"({"dependencies":["a"]})", ""));
  EXPECT_FALSE(named_dependencies(R"({"dependencies":{"a":{"version":"1"}}})", ""));
}

// As deep as the file may be large: nothing may walk into it step by step.
TEST(Dependencies, RefusesJsonOfAnyDepth) {
  const std::size_t depth = 2'000'000;
  const std::string nested = std::string(depth, '[') + std::string(depth, ']');
  EXPECT_FALSE(named_dependencies(nested, ""));
  EXPECT_FALSE(named_dependencies(R"({"dependencies":{"a":)" + nested + "}}", ""));
  EXPECT_FALSE(check_lockfile(lock_with("\"a\": " + nested), "bun.lock"));
}

TEST(Dependencies, NeedsNoLockfileWithoutDependencies) {
  auto temp = TempDir::create();
  ASSERT_TRUE(temp);
  EXPECT_TRUE(read_dependencies(temp->path())) << "no package.json at all";
  ASSERT_TRUE(write_file_atomically(temp->path() / "package.json", R"({"name":"x","dependencies":{}})"));
  auto read = read_dependencies(temp->path());
  ASSERT_TRUE(read) << read.error().to_string();
  EXPECT_EQ(read->lockfile, "");
}

TEST(Dependencies, AsksForTheLockfileThatIsMissing) {
  auto temp = TempDir::create();
  ASSERT_TRUE(temp);
  ASSERT_TRUE(write_file_atomically(temp->path() / "package.json", package_with("1.0.0")));
  auto read = read_dependencies(temp->path());
  ASSERT_FALSE(read);
  EXPECT_EQ(read.error().code(), ErrorCode::dependency_unsatisfied);
  EXPECT_NE(read.error().hint().find("bun install"), std::string_view::npos);

  // Whoever stands in a workspace is led to its root.
  ASSERT_TRUE(make_folders(temp->path() / "packages" / "a"));
  ASSERT_TRUE(write_file_atomically(temp->path() / "packages" / "a" / "package.json", package_with("1.0.0")));
  ASSERT_TRUE(write_file_atomically(temp->path() / "yarn.lock", "# yarn lockfile v1\n"));
  read = read_dependencies(temp->path() / "packages" / "a");
  ASSERT_FALSE(read);
  EXPECT_NE(read.error().hint().find("yarn.lock"), std::string_view::npos) << read.error().hint();
}

class Workspaces : public ::testing::Test {
 protected:
  void SetUp() override {
    auto temp = TempDir::create();
    ASSERT_TRUE(temp);
    temp_.emplace(std::move(*temp));
  }
  void write(const std::string& path, const std::string& text) {
    ASSERT_TRUE(make_folders((temp_->path() / path).parent_path()));
    ASSERT_TRUE(write_file_atomically(temp_->path() / path, text));
  }
  std::vector<std::string> found() {
    const auto read = read_dependencies(temp_->path());
    EXPECT_TRUE(read) << read.error().to_string();
    return read ? read->workspaces : std::vector<std::string>();
  }
  std::optional<TempDir> temp_;
};

TEST_F(Workspaces, AreFoundByTheirGlobs) {
  for (const char* place : {"packages/a", "packages/b", "packages/b/deep", "packages/c/node_modules/x",
           "packages/.hidden", "apps/web", "other/d"})
    write(std::string(place) + "/package.json", "{}");
  ASSERT_TRUE(make_folders(temp_->path() / "packages" / "empty"));
  std::filesystem::create_directory_symlink("../other/d", temp_->path() / "packages" / "link");
  using Places = std::vector<std::string>;
  for (const auto& [said, wanted] :
      std::vector<std::pair<std::string, Places>>{{R"("workspaces":["packages/*"])", {"", "packages/a", "packages/b"}},
          {R"("workspaces":{"packages":["./packages/*/","apps/web"]})", {"", "apps/web", "packages/a", "packages/b"}},
          {R"("workspaces":["packages/**","!packages/a"])", {"", "packages/b", "packages/b/deep"}},
          {R"("workspaces":["../*","/etc"])", {""}}, {R"("workspaces":7)", {""}}}) {
    write("package.json", "{" + said + "}");
    EXPECT_EQ(found(), wanted) << said;
  }
  write("package.json", "{}");
  write("pnpm-workspace.yaml", "# all\npackages:\n  - 'packages/*'  # two\n  - \"apps/*\"\ncatalog:\n  - other/d\n");
  EXPECT_EQ(found(), (Places{"", "apps/web", "packages/a", "packages/b"}));
}

TEST_F(Workspaces, AllHaveToNameWhatGuardInstalls) {
  write("package.json", R"({"workspaces":["packages/*"]})");
  write("packages/a/package.json", package_with("file:../../elsewhere"));
  const auto read = read_dependencies(temp_->path());
  ASSERT_FALSE(read);
  EXPECT_NE(read.error().message().find("packages/a/package.json"), std::string::npos) << read.error().to_string();
}

TEST_F(Workspaces, PatchesAreFilesOfTheProject) {
  write("bun.lock", lock_with(""));
  write("patches/a.patch", "diff");
  write("package.json", R"({"dependencies":{"a":"1.0.0"},"patchedDependencies":{"a@1.0.0":"./patches/a.patch"}})");
  const auto read = read_dependencies(temp_->path());
  ASSERT_TRUE(read) << read.error().to_string();
  EXPECT_EQ(read->files.at("patches/a.patch"), "diff");
  std::filesystem::create_directory_symlink("/etc", temp_->path() / "out");
  for (const char* place : {"../a.patch", "/etc/passwd", "patches/../../x", "out/passwd", "", "patches/missing"}) {
    write("package.json",
        R"({"dependencies":{"a":"1.0.0"},"patchedDependencies":{"a@1.0.0":")" + std::string(place) + "\"}}");
    EXPECT_FALSE(read_dependencies(temp_->path())) << place;
  }
}

TEST_F(Workspaces, PatchesOfPnpmAreReadToo) {
  write("pnpm-lock.yaml", "lockfileVersion: '9.0'\n");
  write("patches/a.patch", "diff a");
  write("patches/@s__b@1.0.0.patch", "diff b");
  write("pnpm-workspace.yaml",
      "packages: ['x']\npatchedDependencies:\n  '@s/b@1.0.0': patches/@s__b@1.0.0.patch\ncatalog:\n  a: "
      "patches/none\n");
  write("package.json", R"({"dependencies":{"a":"1.0.0"},"pnpm":{"patchedDependencies":{"a":"patches/a.patch"}}})");
  const auto read = read_dependencies(temp_->path());
  ASSERT_TRUE(read) << read.error().to_string();
  EXPECT_EQ(read->files.at("patches/a.patch"), "diff a");
  EXPECT_EQ(read->files.at("patches/@s__b@1.0.0.patch"), "diff b");
  write(".yarn/patches/c.patch", "diff c");
  EXPECT_EQ(read_dependencies(temp_->path())->files.at(".yarn/patches/c.patch"), "diff c");
  write("pnpm-workspace.yaml", "patchedDependencies:\n  a: ../a.patch\n");
  EXPECT_FALSE(read_dependencies(temp_->path()));
}

TEST_F(Workspaces, TheLockfileOfTheNamedPackageManagerCounts) {
  for (const char* name : {"package-lock.json", "yarn.lock", "pnpm-lock.yaml"}) write(name, "x");
  for (const auto& [manager, wanted] : std::vector<std::pair<std::string, std::string>>{
           {"\"pnpm@11.3.0+sha512.2c40\"", "pnpm-lock.yaml"}, {"\"yarn@4\"", "yarn.lock"},
           {"\"npm\"", "package-lock.json"}, {"\"bun@1.4.5\"", "package-lock.json"}, {"7", "package-lock.json"}}) {
    write("package.json", R"({"dependencies":{"a":"1.0.0"},"packageManager":)" + manager + "}");
    const auto read = read_dependencies(temp_->path());
    ASSERT_TRUE(read) << read.error().to_string();
    EXPECT_EQ(read->lockfile, wanted) << manager;
  }
  write("bun.lock", lock_with(""));
  write("package.json", R"({"dependencies":{"a":"1.0.0"},"packageManager":"pnpm@11.3.0"})");
  EXPECT_EQ(read_dependencies(temp_->path())->lockfile, "bun.lock");
}

TEST_F(Workspaces, FoldersThatAreNamedByPathBelongToThem) {
  write("package.json", package_with("file:libs/b"));
  write("libs/b/package.json", package_with("link:../c"));
  write("libs/c/package.json", R"({"name":"c"})");
  write("bun.lock", lock_with(R"("b": ["b@file:libs/b", {}], "b/a": ["c@link:./libs/c", {}])"));
  const auto read = read_dependencies(temp_->path());
  ASSERT_TRUE(read) << read.error().to_string();
  EXPECT_EQ(read->folders, (std::vector<std::string>{"libs/b", "libs/c"}));
  EXPECT_EQ(read->files.count("libs/c/package.json"), 1u);

  write("vendor/d.tgz", "archive");
  write("package.json", package_with("file:libs/b"));
  ASSERT_TRUE(std::filesystem::remove_all(temp_->path() / "libs" / "c"));
  EXPECT_FALSE(read_dependencies(temp_->path())) << "is not there";
  std::filesystem::create_directory_symlink("/etc", temp_->path() / "libs" / "c");
  EXPECT_FALSE(read_dependencies(temp_->path())) << "leads out";
}

TEST_F(Workspaces, ArchivesThatAreNamedByPathAreRead) {
  write("vendor/d.tgz", "archive");
  write("package.json", package_with("file:vendor/d.tgz"));
  write("bun.lock", lock_with(R"("a": ["d@vendor/d.tgz", {}, ")" + kIntegrity + "\"]"));
  const auto read = read_dependencies(temp_->path());
  ASSERT_TRUE(read) << read.error().to_string();
  EXPECT_EQ(read->files.at("vendor/d.tgz"), "archive");
  std::filesystem::remove(temp_->path() / "vendor/d.tgz");
  EXPECT_FALSE(read_dependencies(temp_->path())) << "is not there";
  std::filesystem::create_symlink("/etc/passwd", temp_->path() / "vendor/d.tgz");
  EXPECT_FALSE(read_dependencies(temp_->path())) << "leads out";
}

TEST(Dependencies, DoesNotFollowLinksToPackageJson) {
  auto temp = TempDir::create();
  ASSERT_TRUE(temp);
  ASSERT_TRUE(write_file_atomically(temp->path() / "elsewhere", "{}"));
  std::filesystem::create_symlink("elsewhere", temp->path() / "package.json");
  EXPECT_FALSE(read_dependencies(temp->path()));
}

TEST(Dependencies, RefusesAProjectThatIsNotThere) { EXPECT_FALSE(read_dependencies("/nonexistent/project")); }

}  // namespace
}  // namespace guard

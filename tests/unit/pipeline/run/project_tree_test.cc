// What a run sees of a project, and how that is handed to a sandbox.
#include "pipeline/run/project_tree.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <cstring>
#include <optional>

#include "common/file_io.h"
#include "pipeline/run/staging.h"
#include "runner/init_side/fill_format.h"

namespace guard {
namespace {

namespace fs = std::filesystem;
using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::UnorderedElementsAre;

class ProjectTreeTest : public ::testing::Test {
 protected:
  void SetUp() override {
    auto made = TempDir::create();
    ASSERT_TRUE(made);
    folder_.emplace(std::move(*made));
    request_.project = folder_->path() / "project";
    // As below a repository: nothing above it counts.
    fs::create_directories(request_.project / ".git");
    write("package.json", "{}\n");
  }

  const fs::path& project() const { return request_.project; }

  void write(const std::string& path, const std::string& text, mode_t mode = 0644) const {
    fs::create_directories((project() / path).parent_path());
    ASSERT_TRUE(write_file_atomically(project() / path, text, mode));
  }

  ProjectTree read(std::vector<std::string> named) {
    request_.named = std::move(named);
    auto tree = read_project_tree(request_);
    EXPECT_TRUE(tree) << tree.error().to_string();
    return tree ? std::move(*tree) : ProjectTree();
  }

  ErrorCode refused(std::vector<std::string> named) {
    request_.named = std::move(named);
    const auto tree = read_project_tree(request_);
    EXPECT_FALSE(tree);
    return tree ? ErrorCode::internal : tree.error().code();
  }

  static std::vector<std::string> gated(const ProjectTree& tree) {
    std::vector<std::string> paths;
    for (const auto& file : tree.gated.files) paths.push_back(file.path);
    return paths;
  }

  // Each run has a folder of its own.
  Result<StagedTree> stage(const ProjectTree& tree, const StageOptions& options = {}) {
    run_ = folder_->path() / ("run" + std::to_string(++runs_));
    fs::create_directories(run_);
    return stage_tree(run_, project(), tree, options);
  }

  std::optional<TempDir> folder_;
  ProjectTreeRequest request_;
  fs::path run_;
  int runs_ = 0;
};

// "path: kind content", in the order of the file.
std::vector<std::string> filled_with(const fs::path& file) {
  const auto bytes = read_file(file, 1 << 20);
  EXPECT_TRUE(bytes) << bytes.error().to_string();
  std::vector<std::string> entries;
  for (std::size_t at = 0; bytes && at + sizeof(fill_format::Header) <= bytes->size();) {
    fill_format::Header header;
    std::memcpy(&header, bytes->data() + at, sizeof header);
    if (header.kind == fill_format::Kind::end) {
      EXPECT_EQ(at + fill_format::aligned(sizeof header + header.path_bytes), bytes->size());
      return entries;
    }
    const char* const path = bytes->data() + at + sizeof header;
    const std::string kinds = " d-xl";
    entries.push_back(std::string(path) + ": " + kinds.at(static_cast<std::size_t>(header.kind)) +
        std::string(path + header.path_bytes, header.content_bytes));
    at += fill_format::aligned(sizeof header + header.path_bytes + header.content_bytes);
  }
  ADD_FAILURE() << "it has no end";
  return entries;
}

TEST_F(ProjectTreeTest, IsTheWholeProjectButWhatGitIgnoresAndWhatIsNeverShown) {
  for (const char* path :
      {"index.ts", "lib/a.ts", "lib/a.test.ts", "lib/b.test.ts", "tests/fixtures/data.bin", "dist/built.js", ".env",
          "lib/.env.local", "node_modules/x/index.js", ".github/workflows/ci.yml", ".gitignore"}) {
    write(path, path);
  }
  request_.ignored = [](const fs::path&) { return std::vector<std::string>{"dist/"}; };
  const ProjectTree tree = read({""});
  EXPECT_EQ(tree.writable, "");
  EXPECT_THAT(tree.tests, ElementsAre("lib/a.test.ts", "lib/b.test.ts"));
  EXPECT_THAT(gated(tree), ElementsAre("lib/a.test.ts", "lib/b.test.ts"));
  EXPECT_THAT(tree.others,
      ElementsAre(
          ".github/workflows/ci.yml", ".gitignore", "index.ts", "lib/a.ts", "package.json", "tests/fixtures/data.bin"));
  EXPECT_THAT(tree.left_out, UnorderedElementsAre(".env", "lib/.env.local"));
}

// bun looks for tests without regard to case.
TEST_F(ProjectTreeTest, FindsTestsInWhateverCase) {
  for (const char* path : {"k.TEST.ts", "lib/Foo.Spec.TSX", "lib/b_Test.Mjs", "lib/attest.ts", "lib/testing.ts"})
    write(path, path);
  EXPECT_THAT(read({""}).tests, ElementsAre("k.TEST.ts", "lib/Foo.Spec.TSX", "lib/b_Test.Mjs"));
}

TEST(ImportsByName, IsTrueOfAllButOneLiteral) {
  for (const char* text : {"await import(name)", "import ( `node:${x}` )", "import(\"as\" + \"sert\")", "import/**/(x)",
           "import\n(x)", "import('a' as string)", "// @bun\nimport a from \"assert\";", "import(", "import(\"a"}) {
    EXPECT_TRUE(imports_by_name(text)) << text;
  }
  for (const char* text :
      {"", "import a from \"assert\";", "await import(\"./a\")", "await import('./a', { with: {} })", "import.meta.dir",
          "import { b } from './b'; const important = (x);", "export * from \"./import\""}) {
    EXPECT_FALSE(imports_by_name(text)) << text;
  }
}

// What a generator may write is judged, named or not; what was not named does not run.
TEST_F(ProjectTreeTest, JudgesWhatIsNamedAndWhatTheConfigurationNames) {
  for (const char* path : {"tests/a.test.ts", "tests/helper.ts", "other/b.test.ts", "other/c.ts"}) write(path, path);
  request_.gated_paths = {"tests/**"};
  ProjectTree tree = read({"other/b.test.ts", "other/b.test.ts"});
  EXPECT_THAT(tree.tests, ElementsAre("other/b.test.ts"));
  EXPECT_THAT(gated(tree), ElementsAre("other/b.test.ts", "tests/a.test.ts", "tests/helper.ts"));
  tree = read({"tests/"});
  EXPECT_THAT(tree.tests, ElementsAre("tests/a.test.ts"));
  EXPECT_THAT(tree.others, ElementsAre("other/b.test.ts", "other/c.ts", "package.json"));
}

// bun runs a file that is named, whatever its name.
TEST_F(ProjectTreeTest, TakesANamedFileWhoseNameIsNoTests) {
  for (const char* path : {"src/add/test.ts", "src/add/index.ts", "src/sub/test.ts"}) write(path, path);
  const ProjectTree tree = read({"src/add/test.ts"});
  EXPECT_THAT(tree.tests, ElementsAre("src/add/test.ts"));
  EXPECT_THAT(gated(tree), ElementsAre("src/add/test.ts"));
  EXPECT_THAT(tree.others, ElementsAre("package.json", "src/add/index.ts", "src/sub/test.ts"));
}

TEST_F(ProjectTreeTest, SaysOfAFileThatIsThereWhyItIsNoPartOfTheProject) {
  for (const char* path : {".gitignore", "dist/a.test.ts", ".env.test.ts"}) write(path, path);
  request_.ignored = [](const fs::path&) { return std::vector<std::string>{"dist/"}; };
  for (const char* path : {"dist/a.test.ts", ".env.test.ts"}) {
    request_.named = {path};
    const auto tree = read_project_tree(request_);
    ASSERT_FALSE(tree) << path;
    EXPECT_EQ(tree.error().code(), ErrorCode::file_not_found);
    EXPECT_NE(tree.error().to_string().find("is not part of the project"), std::string::npos)
        << tree.error().to_string();
  }
}

TEST_F(ProjectTreeTest, KeepsTheSeedsLayoutWhereTheTestsLieInIt) {
  for (const char* path :
      {"src/a.ts", "sandbox/a.test.ts", "sandbox/data.json", "tsconfig.json", "README.md", "lib/b.test.ts"})
    write(path, path);
  for (const auto& named : {std::vector<std::string>{"sandbox/"}, {"sandbox/a.test.ts"}}) {
    const ProjectTree tree = read(named);
    EXPECT_EQ(tree.writable, "sandbox");
    EXPECT_THAT(gated(tree), ElementsAre("sandbox/a.test.ts", "sandbox/data.json"));
    EXPECT_THAT(tree.others, ElementsAre("package.json", "src/a.ts", "tsconfig.json"));
  }
  const ProjectTree tree = read({"sandbox/a.test.ts", "lib/b.test.ts"});
  EXPECT_EQ(tree.writable, "");
  EXPECT_THAT(tree.tests, ElementsAre("sandbox/a.test.ts", "lib/b.test.ts"));
}

TEST_F(ProjectTreeTest, RefusesWhatIsNotThere) {
  write("lib/a.ts", "");
  EXPECT_EQ(refused({"lib/a.test.ts"}), ErrorCode::file_not_found);
  EXPECT_EQ(refused({"lib/"}), ErrorCode::file_not_found);
  EXPECT_EQ(refused({""}), ErrorCode::file_not_found);
}

// What it points at can change after the check.
TEST_F(ProjectTreeTest, ATestThatIsALinkIsAFindingAndNoTest) {
  write("lib/real.ts", "");
  fs::create_symlink("real.ts", project() / "lib/a.test.ts");
  request_.gated_paths = {"lib/**"};
  const ProjectTree tree = read({"lib/a.test.ts"});
  ASSERT_EQ(tree.gated.findings.size(), 1u);
  EXPECT_EQ(tree.gated.findings.front().rule, "side_file.symbolic_link");
  EXPECT_EQ(tree.gated.findings.front().path, "lib/a.test.ts");
}

TEST_F(ProjectTreeTest, FindsTheProjectOfAFile) {
  for (const char* path : {"packages/a/package.json", "packages/a/lib/x.test.ts", "packages/b/package.json",
           "packages/b/bun.lock", "packages/b/x.test.ts", "seed/package.json", "seed/sandbox/deep/package.json",
           "seed/sandbox/deep/x.test.ts", "other/sandbox/x.test.ts"}) {
    write(path, "{}");
  }
  EXPECT_EQ(project_of(project() / "packages/a/lib/x.test.ts"), project());
  EXPECT_EQ(project_of(project() / "packages/b/x.test.ts"), project() / "packages/b");
  EXPECT_EQ(project_of(project() / "seed/sandbox/deep/x.test.ts"), project() / "seed");
  EXPECT_EQ(project_of(project() / "packages"), project());
  write("bun.lock", "{}");
  EXPECT_EQ(project_of(project() / "packages/a/lib/x.test.ts"), project());
}

TEST_F(ProjectTreeTest, IsStagedAsOneFileWhereTestsMayWriteAnywhere) {
  write("a.test.ts", "test");
  write("bin/run", "#!", 0755);
  write("lib/deep/x.ts", "x");
  fs::create_symlink("deep/x.ts", project() / "lib/inside");
  fs::create_symlink("nowhere", project() / "lib/dangling");
  fs::create_symlink("../../outside", project() / "lib/outside");
  fs::create_symlink(project() / "a.test.ts", project() / "lib/absolute");
  const auto staged = stage(read({"a.test.ts"}), {{"", "lib", "absent"}, false});
  ASSERT_TRUE(staged) << staged.error().to_string();
  const auto entries = filled_with(staged->fill);
  EXPECT_THAT(entries,
      ElementsAre("a.test.ts: -test", "bin: d", "bin/run: x#!", "lib: d", std::string("lib/dangling: lnowhere\0", 23),
          "lib/deep: d", "lib/deep/x.ts: -x", std::string("lib/inside: ldeep/x.ts\0", 23), "package.json: -{}\n",
          std::string("node_modules: l/modules/node_modules\0", 37),
          std::string("lib/node_modules: l/modules/lib/node_modules\0", 45)));
  EXPECT_THAT(staged->left_out, UnorderedElementsAre("lib/outside", "lib/absolute"));
  EXPECT_EQ(staged->writable_entries, entries.size());
  EXPECT_TRUE(fs::is_empty(staged->app));
  struct stat found {};
  ASSERT_EQ(::stat(staged->fill.c_str(), &found), 0);
  EXPECT_EQ(found.st_mode & 0777, 0444u);

  SandboxSpec spec;
  mount_staged(*staged, "", 100, 10, spec);
  ASSERT_EQ(spec.mounts.size(), 1u);
  ASSERT_EQ(spec.scratch.size(), 1u);
  EXPECT_EQ(spec.scratch.front().target, "/app");
  EXPECT_EQ(spec.scratch.front().filled_from, spec.mounts.front().target);
  EXPECT_EQ(spec.scratch.front().files_max, 10 + entries.size());
}

TEST_F(ProjectTreeTest, IsMountedReadOnlyOutsideTheFolderThatTestsMayWriteIn) {
  write("src/a.ts", "a");
  write("sandbox/deep/a.test.ts", "test");
  const auto staged = stage(read({"sandbox/"}), {{""}, false});
  ASSERT_TRUE(staged) << staged.error().to_string();
  EXPECT_THAT(filled_with(staged->fill), ElementsAre("deep: d", "deep/a.test.ts: -test"));
  EXPECT_EQ(*read_file(staged->app / "src/a.ts", 10), "a");
  EXPECT_EQ(fs::read_symlink(staged->app / "node_modules"), "/modules/node_modules");
  EXPECT_TRUE(fs::is_empty(staged->app / "sandbox")) << "a place to mount on";
  SandboxSpec spec;
  mount_staged(*staged, "sandbox", 100, 10, spec);
  ASSERT_EQ(spec.mounts.size(), 2u);
  EXPECT_EQ(spec.mounts.front().target, "/app");
  EXPECT_EQ(spec.scratch.front().target, "/app/sandbox");
}

TEST_F(ProjectTreeTest, IsStagedInPlaceWhereTheProgramWorksThere) {
  write("lib/a.test.ts", "test");
  const auto staged = stage(read({"lib/"}), {{}, true});
  ASSERT_TRUE(staged) << staged.error().to_string();
  EXPECT_TRUE(staged->fill.empty());
  EXPECT_EQ(*read_file(staged->app / "lib/a.test.ts", 10), "test");
  SandboxSpec spec;
  mount_staged(*staged, "", 100, 10, spec);
  EXPECT_THAT(spec.mounts, IsEmpty());
}

TEST_F(ProjectTreeTest, SeesWhatChangedSinceItWasStaged) {
  for (const char* path : {"a.test.ts", "lib/a.ts", "lib/b.ts", "data.txt"}) write(path, path);
  fs::create_symlink("a.ts", project() / "lib/link");
  const ProjectTree tree = read({"a.test.ts"});
  const auto staged = stage(tree);
  ASSERT_TRUE(staged) << staged.error().to_string();
  EXPECT_THAT(*changed_since(project(), read({"a.test.ts"}), staged->hashes), IsEmpty());
  write("lib/a.ts", "otherwise");
  fs::remove(project() / "lib/b.ts");
  fs::remove(project() / "lib/link");
  fs::create_symlink("c.ts", project() / "lib/link");
  write("lib/c.ts", "new");
  write("notes.txt", "means nothing to the others");
  EXPECT_THAT(*changed_since(project(), read({"a.test.ts"}), staged->hashes),
      UnorderedElementsAre("lib/a.ts", "lib/b.ts", "lib/link", "lib/c.ts"));
}

}  // namespace
}  // namespace guard

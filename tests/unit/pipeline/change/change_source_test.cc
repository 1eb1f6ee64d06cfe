// What the program's own options cannot ask for; the rest is shown through the binary (tests/cli/check/gate_test.cc).
#include "pipeline/change/change_source.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>
#include <set>
#include <string>

#include "common/file_io.h"
#include "pipeline/change/git_objects.h"

namespace guard {
namespace {

namespace fs = std::filesystem;

class ChangeSource : public ::testing::Test {
 protected:
  void SetUp() override {
    write(repository(), "notes.md", "# notes\n");
    write(repository(), ".gitignore", "*.log\n");
    must(repository(),
        "git init -q . && git add -A && git -c user.email=t@example.invalid -c user.name=t commit -q -m base");
    must(folder_.path(), "git clone -q repository clone");
  }
  fs::path repository() const { return folder_.path() / "repository"; }
  fs::path clone() const { return folder_.path() / "clone"; }
  static void write(const fs::path& top, const std::string& name, const std::string& text) {
    fs::create_directories((top / name).parent_path());
    std::ofstream(top / name, std::ios::binary) << text;
  }
  static void must(const fs::path& folder, const std::string& script) {
    ASSERT_EQ(std::system(("cd '" + folder.string() + "' && { " + script + "; } >/dev/null 2>&1").c_str()), 0)
        << script;
  }
  Result<CollectedChange> of_clone() const {
    ChangeRequest request;
    request.work_tree = clone();
    return collect_change(repository(), request, cancel_);
  }
  static std::set<std::string> names(const CollectedChange& collected) {
    std::set<std::string> found;
    for (const auto& file : collected.change.files) found.insert(file.path);
    return found;
  }

  TempDir folder_ = TempDir::create().value();
  CancelToken cancel_;
};

TEST_F(ChangeSource, AWorkTreeElsewhereIsComparedWithThisRepository) {
  ASSERT_TRUE(of_clone());
  EXPECT_EQ(names(*of_clone()), std::set<std::string>());
  write(clone(), "notes.md", "# notes\nmore\n");
  write(clone(), "new.md", "text\n");
  write(clone(), "a.log", "ignored\n");
  write(clone(), "logs/b.log", "ignored\n");
  must(clone(), "git add -A && git -c user.email=t@example.invalid -c user.name=t commit -q -m mine");
  const auto collected = of_clone();
  ASSERT_TRUE(collected) << collected.error().to_string();
  EXPECT_EQ(names(*collected), (std::set<std::string>{"new.md", "notes.md"}))
      << "what is committed over there is new here";
  EXPECT_EQ(collected->change.files[1].added, (LineRanges{{2, 2}}));
}

TEST_F(ChangeSource, NothingInTheOtherGitFolderIsBelieved) {
  write(clone(), "notes.md", "# changed\n");
  must(clone(),
      "rm -rf .git && mkdir -p .git/info && echo '*' > .git/info/exclude && echo garbage > .git/HEAD && echo garbage > "
      ".git/index && echo '[core' > .git/config");
  const auto collected = of_clone();
  ASSERT_TRUE(collected) << collected.error().to_string();
  EXPECT_EQ(names(*collected), std::set<std::string>{"notes.md"});
  must(clone(), "rm -rf .git && ln -s ../repository/.git .git");
  EXPECT_EQ(names(*of_clone()), std::set<std::string>{"notes.md"});
}

TEST_F(ChangeSource, AWorkTreeThatIsGoneIsAnError) {
  fs::remove_all(clone());
  EXPECT_FALSE(of_clone());
}

TEST_F(ChangeSource, OneQuestionTellsWhatAPlainFileHolds) {
  write(repository(), "a b/c.toml", std::string("x = 1\n\0", 7));
  fs::create_symlink("x = 1", repository() / "link.toml");
  must(repository(), "git add -A && git -c user.email=t@example.invalid -c user.name=t commit -q -m more");
  write(repository(), "notes.md", "# changed\n");
  const Git git(repository(), cancel_);
  EXPECT_EQ(plain_file_at_head(git, "notes.md"), "# notes\n");
  EXPECT_EQ(plain_file_at_head(git, "a b/c.toml"), std::string("x = 1\n\0", 7));
  // Whatever else is told by more questions.
  for (const char* path : {"link.toml", "a b", "missing", "a b/missing", "none/c.toml", "notes.md\nnotes.md", ""})
    EXPECT_EQ(plain_file_at_head(git, path), std::nullopt) << path;
  EXPECT_EQ(read_at(git, {}, "missing").value(), "");
  EXPECT_EQ(read_at(git, {}, "link.toml").error().code(), ErrorCode::config_invalid);
  const std::string id = git.read({"rev-parse", "HEAD:notes.md"}).value().substr(0, 40);
  const std::string other = git.read({"rev-parse", "HEAD:a b/c.toml"}).value().substr(0, 40);
  const auto object = [](const std::string& name) {
    return ".git/objects/" + name.substr(0, 2) + "/" + name.substr(2);
  };
  must(repository(), "cp -f " + object(other) + " " + object(id));
  EXPECT_EQ(plain_file_at_head(git, "notes.md"), std::nullopt) << "other bytes under its name";
  EXPECT_EQ(read_at(git, {}, "notes.md").error().code(), ErrorCode::protocol_error);
}

// Whoever can write to the object folder, or to HEAD, has put something else under a name that is known.
TEST_F(ChangeSource, WhatStandsUnderAnotherNameIsNotCommitted) {
  const std::string as = "git -c user.email=t@example.invalid -c user.name=t ";
  const std::string forged = "printf 'forged\\n' > notes.md && git add notes.md && ";
  const std::string put =
      "; path() { printf '.git/objects/%s/%s' \"$(printf %.2s $1)\" \"${1#??}\"; }; cp -f \"$(path $other)\" \"$(path "
      "$id)\"";
  for (const std::string& command : {"id=$(git rev-parse HEAD^{tree}); other=$(git write-tree)" + put,
           "id=$(git rev-parse HEAD); other=$(" + as + "commit-tree -m other $(git write-tree))" + put,
           std::string("tree=$(git write-tree) && echo $tree > .git/HEAD")}) {
    const TempDir folder = TempDir::create().value();
    const fs::path copy = folder.path() / "copy";
    must(folder.path(), "cp -a '" + repository().string() + "' copy");
    must(copy, forged + command);
    EXPECT_EQ(plain_file_at_head(Git(copy, cancel_), "notes.md"), std::nullopt) << command;
    const auto read = read_at(copy, {}, "notes.md", cancel_);
    EXPECT_TRUE(!read || *read != "forged\n") << command;
  }
}

}  // namespace
}  // namespace guard

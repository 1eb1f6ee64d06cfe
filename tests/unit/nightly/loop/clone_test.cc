// The repository and its clones, with the real git.
#include "nightly/loop/clone.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>

#include "common/file_io.h"
#include "nightly/loop/night_repository.h"
#include "nightly/loop/state_folder.h"
#include "pipeline/change/change_source.h"
#include "runner/process/subprocess.h"

namespace guard::nightly {
namespace {

namespace fs = std::filesystem;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

class CloneTest : public ::testing::Test {
 protected:
  CloneTest() : folder_(std::move(*TempDir::create())) {
    fs::create_directories(top());
    write("src/add.ts", "export const add = 1;\n");
    write("notes.md", "a\r\nb\r\n");
    write(".gitattributes", "*.md text eol=lf\n*.ts filter=evil\n");
    write(".gitignore", "node_modules/\n");
    sh("git init -q -b main . && git add -A && git commit -q -m base");
    auto opened = NightRepository::open(top(), never_);
    EXPECT_TRUE(opened) << opened.error().to_string();
    repository_.emplace(std::move(*opened));
    base_ = repository_->commit_id("HEAD").value();
  }

  fs::path top() const { return folder_.path() / "repository with \"quotes\""; }
  fs::path place() const { return folder_.path() / "clone"; }

  void write(const std::string& name, std::string_view text) const {
    fs::create_directories((top() / name).parent_path());
    EXPECT_TRUE(write_file_atomically(top() / name, text));
  }

  std::string sh(const std::string& script, const fs::path& where = {}) const {
    ProcessSpec spec;
    spec.argv = {"/bin/sh", "-ec", script};
    spec.cwd = (where.empty() ? top() : where).string();
    spec.env = {{"PATH", "/usr/bin:/bin"}, {"HOME", folder_.path().string()}, {"GIT_CONFIG_NOSYSTEM", "1"},
        {"GIT_AUTHOR_NAME", "t"}, {"GIT_AUTHOR_EMAIL", "t@x.invalid"}, {"GIT_COMMITTER_NAME", "t"},
        {"GIT_COMMITTER_EMAIL", "t@x.invalid"}};
    auto done = collect_process(spec, 1u << 20, never_);
    EXPECT_TRUE(done && done->result.outcome.kind == OutcomeKind::exited && done->result.outcome.value == 0)
        << script << (done ? done->err : "");
    return done ? done->out : "";
  }

  Clone clone() const {
    auto made = Clone::create(*repository_, place(), base_);
    EXPECT_TRUE(made) << made.error().to_string();
    return std::move(*made);
  }

  ChangeSet change_of(const Clone& made) const {
    auto read = made.read_change(2u << 20, never_);
    EXPECT_TRUE(read) << read.error().to_string();
    return read ? *read : ChangeSet();
  }

  static std::vector<std::string> paths(const ChangeSet& change) {
    std::vector<std::string> found;
    for (const auto& file : change.files) found.push_back(file.path);
    return found;
  }

  CancelToken never_;
  TempDir folder_;
  std::optional<NightRepository> repository_;
  std::string base_;
};

// No attribute converts a byte, and no filter runs.
TEST_F(CloneTest, HoldsTheBytesOfTheRepository) {
  sh("git config filter.evil.smudge 'touch ../ran; cat'");
  const Clone made = clone();
  EXPECT_EQ(read_file(place() / "notes.md", 100).value(), read_at(top(), base_, "notes.md", never_).value());
  EXPECT_FALSE(fs::exists(folder_.path() / "ran"));
  EXPECT_THAT(paths(change_of(made)), IsEmpty());
  EXPECT_EQ(sh("git log --format=%s; git status --porcelain; git remote", place()), "base\n");
}

TEST_F(CloneTest, TellsWhatWasChangedWhateverGitWouldSay) {
  const Clone made = clone();
  sh("echo 'export const add = 2;' > src/add.ts; git update-index --assume-unchanged src/add.ts; echo '*' > "
     ".git/info/exclude; echo x > new.ts; rm notes.md;"
     "mkdir node_modules; echo y > node_modules/y.js; git config core.fileMode false; chmod +x src/add.ts",
      place());
  const ChangeSet change = change_of(made);
  EXPECT_THAT(paths(change), ElementsAre("new.ts", "notes.md", "src/add.ts"));
  EXPECT_EQ(change.files[2].after, EntryKind::executable);
  EXPECT_THAT(change.findings, IsEmpty());
}

// A .gitignore of the generator's hides nothing.
TEST_F(CloneTest, ANewIgnoreFileHidesNothing) {
  const Clone made = clone();
  sh("mkdir sandbox; echo '*' > sandbox/.gitignore; echo x > sandbox/hidden.ts", place());
  EXPECT_THAT(paths(change_of(made)), ElementsAre("sandbox/.gitignore", "sandbox/hidden.ts"));
}

TEST_F(CloneTest, TellsOfHooksAndProgramsInItsConfiguration) {
  const Clone made = clone();
  sh("mkdir .git/hooks; echo x > .git/hooks/pre-commit; git config core.fsmonitor 'touch ran'; git config include.path "
     "../more; git config user.name someone",
      place());
  std::vector<std::string> messages;
  for (const auto& finding : change_of(made).findings) messages.push_back(finding.message);
  EXPECT_THAT(messages, ElementsAre(HasSubstr("hooks"), HasSubstr("core.fsmonitor"), HasSubstr("include.path")));
}

TEST_F(CloneTest, SeesLinksForWhatTheyAre) {
  const Clone made = clone();
  sh("rm -r src; ln -s /etc src; mkfifo pipe", place());
  const ChangeSet change = change_of(made);
  EXPECT_THAT(paths(change), ElementsAre("pipe", "src", "src/add.ts"));
  EXPECT_EQ(change.files[0].after, EntryKind::other);
  EXPECT_EQ(change.files[1].after, EntryKind::link);
  EXPECT_EQ(change.files[2].after, EntryKind::absent);
}

ChangedFile added(std::string path, std::string bytes) {
  ChangedFile file;
  file.path = std::move(path);
  file.after = EntryKind::file;
  file.new_bytes = std::move(bytes);
  return file;
}

TEST_F(CloneTest, ACommitHoldsExactlyTheChange) {
  ChangeSet change;
  for (const char* name : {"a b.ts", "line\nfeed.ts", "quote\".ts", "\xff\xfe.ts", "tab\t.ts", "-rf"})
    change.files.push_back(added(name, std::string("x\0y\r\n", 5)));
  ChangedFile gone;
  gone.path = "notes.md";
  gone.before = EntryKind::file;
  change.files.push_back(gone);
  std::sort(change.files.begin(), change.files.end(), [](const auto& a, const auto& b) { return a.path < b.path; });
  const auto commit =
      repository_->make_commit({base_, "subject\n\nGuard-Task: x\n", 1'700'000'000}, change, "refs/guard/pending/n/t");
  ASSERT_TRUE(commit) << commit.error().to_string();
  const auto tree = repository_->listing(*commit).value();
  EXPECT_EQ(tree->size(), 3u + 6u);
  EXPECT_EQ(tree->count("line\nfeed.ts"), 1u);
  EXPECT_EQ(read_at(top(), *commit, "\xff\xfe.ts", never_).value(), std::string("x\0y\r\n", 5));
  EXPECT_EQ(sh("git rev-parse HEAD"), base_ + "\n") << "nothing moved";
  EXPECT_TRUE(repository_->settle("refs/guard/pending/n/t"));
  EXPECT_EQ(sh("git for-each-ref refs/guard"), "");
}

TEST_F(CloneTest, RefusesToCommitWhatGitTakesForItsOwn) {
  for (const char* name : {".git/config", "sub/.GIT/config", "../up", "a//b", "git~1/x"}) {
    ChangeSet change;
    change.files.push_back(added(name, "x"));
    EXPECT_FALSE(repository_->make_commit({base_, "m\n", 1}, change, "refs/guard/pending/n/t")) << name;
  }
}

// Two loops, or a person, at the same branch: nobody's commit is lost.
TEST_F(CloneTest, MovesABranchOnlyFromWhereItWas) {
  ASSERT_TRUE(repository_->create_branch("refs/heads/guard/n", base_));
  EXPECT_FALSE(repository_->create_branch("refs/heads/guard/n", base_));
  EXPECT_FALSE(repository_->create_branch("refs/heads/..", base_));
  EXPECT_FALSE(repository_->create_branch("--help", base_));
  ChangeSet change;
  change.files.push_back(added("a", "1"));
  const std::string first = repository_->make_commit({base_, "m\n", 1}, change, "refs/guard/pending/n/a").value();
  const std::string other = repository_->make_commit({base_, "m\n", 2}, change, "refs/guard/pending/n/b").value();
  EXPECT_TRUE(repository_->move_branch("refs/heads/guard/n", base_, first));
  EXPECT_FALSE(repository_->move_branch("refs/heads/guard/n", base_, other));
  EXPECT_EQ(repository_->tip("refs/heads/guard/n").value().value(), first);
  EXPECT_TRUE(repository_->contains(first, base_).value());
  EXPECT_FALSE(repository_->contains(first, other).value());
}

TEST_F(CloneTest, ANameThatIsAnOptionIsNoRevision) {
  EXPECT_FALSE(repository_->commit_id("--all"));
  EXPECT_FALSE(repository_->commit_id("nonsense"));
  EXPECT_FALSE(repository_->commit_id(""));
}

TEST_F(CloneTest, AppliesAChangeWithoutFollowingALink) {
  const Clone made = clone();
  ASSERT_EQ(::symlink(folder_.path().c_str(), (place() / "out").c_str()), 0);
  ChangeSet change;
  change.files.push_back(added("out/evil", "x"));
  EXPECT_FALSE(made.apply(change));
  EXPECT_FALSE(fs::exists(folder_.path() / "evil"));
  ChangeSet up;
  up.files.push_back(added("../evil", "x"));
  EXPECT_FALSE(made.apply(up));
}

TEST_F(CloneTest, TheStateMayNotLieInTheRepository) {
  EXPECT_FALSE(StateFolder::of(fs::canonical(top()), (top() / "state").string(), {}));
  const auto state = StateFolder::of(fs::canonical(top()), "", {{"GUARD_STATE_DIR", folder_.path().string()}});
  ASSERT_TRUE(state);
  ASSERT_TRUE(state->make());
  const auto lock = NightLock::take(*state, folder_.path());
  ASSERT_TRUE(lock);
  ASSERT_TRUE(lock->name("night-1"));
  const auto holder = NightLock::holder(*state).value();
  ASSERT_TRUE(holder);
  EXPECT_EQ(holder->process, ::getpid());
  EXPECT_EQ(holder->night, "night-1");
  // Another state folder for the same repository is no way around.
  const auto other = StateFolder::of(fs::canonical(top()), (folder_.path() / "other").string(), {});
  ASSERT_TRUE(other->make());
  EXPECT_FALSE(NightLock::take(*other, folder_.path()));
  ::chmod(state->path().c_str(), 0777);
  EXPECT_FALSE(state->make()) << "others may write to it";
}

}  // namespace
}  // namespace guard::nightly

// `guard hook install|uninstall|status`, and what the installed hook does in every kind of commit that git makes.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tests/support/program/git_repository.h"

namespace guard::testing {
namespace {

namespace fs = std::filesystem;
using ::testing::HasSubstr;

constexpr std::string_view kHonest =
    "import { expect, test } from \"bun:test\";\ntest(\"adds\", () => { expect(1 + 1).toBe(2); });\n";
constexpr std::string_view kDump = "console.log(JSON.stringify(process.env));\n";

class Hook : public ::testing::Test {
 protected:
  void install() {
    const auto done = repository_.guard({"hook", "install"});
    ASSERT_EQ(done.exit_status, 0) << done.out << done.err;
  }
  std::string state(const fs::path& folder = {}) const {
    const auto done = repository_.guard({"hook", "status", "--format", "json"}, folder);
    const auto document = done.document();
    const std::string state = document.is_object() ? document.value("state", "") : "";
    EXPECT_EQ(done.exit_status, state == "installed" ? 0 : 1);
    return state;
  }
  // The commit is refused by guard, with a finding in `path`, and nothing is committed.
  void expect_refused(const std::string& script, const std::string& path, const fs::path& folder = {}) const {
    const std::string before = repository_.head();
    const auto done = repository_.shell(script, folder);
    EXPECT_NE(done.exit_status, 0) << script;
    EXPECT_THAT(done.out + done.err, HasSubstr("verdict: rejected")) << script;
    EXPECT_THAT(done.out + done.err, HasSubstr(path)) << script;
    EXPECT_EQ(repository_.head(), before) << script;
  }
  void expect_committed(const std::string& script, const fs::path& folder = {}) const {
    const std::string before = repository_.head();
    const auto done = repository_.shell(script, folder);
    EXPECT_EQ(done.exit_status, 0) << script << "\n" << done.out << done.err;
    EXPECT_NE(repository_.head(), before) << script;
  }
  Repository repository_;
};

// ---- putting it there ----

TEST_F(Hook, BlocksABadCommitAndSaysHowMuchItLookedAt) {
  install();
  repository_.write("sandbox/a.test.ts", kDump);
  expect_refused("git add -A && git commit -q -m bad", "sandbox/a.test.ts");
  repository_.write("sandbox/a.test.ts", kHonest);
  repository_.write("notes.md", "# more\n");
  const auto done = repository_.shell("git add -A && git commit -q -m good");
  EXPECT_EQ(done.exit_status, 0) << done.out << done.err;
  const std::string bytes = std::to_string(kHonest.size() + 7);
  EXPECT_THAT(done.out + done.err, HasSubstr("2 files, " + bytes + " B"));
}

// "allowed" must not read as if all rules had been applied to every file.
TEST_F(Hook, SaysWhatItLookedFor) {
  install();
  repository_.write("src/e.ts", "export const run = (text: string) => eval(text);\n");
  auto done = repository_.shell("git add -A && git commit -q -m source");
  EXPECT_EQ(done.exit_status, 0) << done.out << done.err;
  EXPECT_THAT(done.out + done.err, HasSubstr("secrets only: all of them, outside [check] paths"));
  EXPECT_THAT(done.out + done.err, HasSubstr("no other rule was applied"));
  repository_.write("sandbox/a.test.ts", kHonest);
  repository_.write("src/f.ts", "export const f = 1;\n");
  done = repository_.shell("git add -A && git commit -q -m both");
  EXPECT_THAT(done.out + done.err, HasSubstr("secrets only: 1 of them, outside [check] paths"));
  EXPECT_THAT(done.out + done.err,
      HasSubstr("no rule matched in 1 file; in 1 file outside [check] paths only secrets were searched for"));
}

// [hook] everywhere: the always tier on what is added to any script, as HEAD has the setting. What was there before is
// not the commit's doing.
TEST_F(Hook, EverywhereAppliesTheAlwaysTierToAddedLinesOfScripts) {
  repository_.write("guard.toml", "[hook]\neverywhere = true\n");
  repository_.write("src/old.ts", kDump);
  repository_.write("notes.md", kDump);
  repository_.must("git add -A && git commit -q --no-verify -m setting");
  install();
  repository_.write("src/old.ts", std::string(kDump) + "export const more = 1;\n");
  repository_.write("src/host.ts", "export const run = (text: string) => eval(text);\n");
  expect_committed("git add -A && git commit -q -m 'old lines, and host findings'");
  repository_.write("notes.md", std::string(kDump) + std::string(kDump));
  expect_committed("git add -A && git commit -q -m 'no script'");
  repository_.write("src/new.ts", kDump);
  expect_refused("git add -A && git commit -q -m bad", "src/new.ts");
  repository_.must("git reset -q --hard");
  repository_.write("src/host.ts", "const all = process.env;\nexport default all;\n");
  expect_refused("git add -A && git commit -q -m bad", "src/host.ts");
}

TEST_F(Hook, StatusTellsFourStates) {
  EXPECT_EQ(state(), "absent");
  install();
  EXPECT_EQ(state(), "installed");
  EXPECT_EQ(state(repository_.path() / "sandbox"), "installed");

  repository_.must("chmod -x .git/hooks/pre-commit");
  EXPECT_EQ(state(), "outdated");
  install();
  EXPECT_EQ(state(), "installed");
  repository_.must("echo 'exit 0' >> .git/hooks/pre-commit");
  EXPECT_EQ(state(), "outdated");
  repository_.must("printf '#!/bin/sh\\nexit 0\\n' > .git/hooks/pre-commit");
  EXPECT_EQ(state(), "foreign");
}

TEST_F(Hook, InstallingTwiceChangesNothing) {
  install();
  const fs::path hook = repository_.path() / ".git/hooks/pre-commit";
  struct stat before {
  }, after{};
  ASSERT_EQ(::stat(hook.c_str(), &before), 0);
  EXPECT_EQ(before.st_mode & 0777, 0755u);
  install();
  ASSERT_EQ(::stat(hook.c_str(), &after), 0);
  EXPECT_EQ(before.st_ino, after.st_ino);
  // Nothing half written lies beside it.
  for (const auto& entry : fs::directory_iterator(hook.parent_path()))
    EXPECT_EQ(entry.path().filename().string().find(".pre-commit."), std::string::npos);
}

TEST_F(Hook, ForeignHooksAreLeftAloneAndTheLineThatChainsThemWorks) {
  const std::string own = "#!/bin/sh\ntouch ran\n";
  repository_.write(".git/hooks/pre-commit", own);
  repository_.must("chmod +x .git/hooks/pre-commit");
  const auto refused = repository_.guard({"hook", "install"});
  EXPECT_EQ(refused.exit_status, 2);
  EXPECT_EQ(repository_.read(".git/hooks/pre-commit"), own);
  EXPECT_EQ(repository_.guard({"hook", "uninstall"}).exit_status, 2);
  EXPECT_EQ(repository_.read(".git/hooks/pre-commit"), own);

  const std::string lead = "put this line into it: ";
  const std::size_t begin = refused.err.find(lead);
  ASSERT_NE(begin, std::string::npos) << refused.err;
  const std::string line = refused.err.substr(begin + lead.size(), refused.err.find('\n', begin) - begin - lead.size());
  repository_.write(".git/hooks/pre-commit", own + line + "\n");
  repository_.must("chmod +x .git/hooks/pre-commit");
  repository_.write("sandbox/a.test.ts", kDump);
  expect_refused("git add -A && git commit -q -m bad", "sandbox/a.test.ts");
  EXPECT_TRUE(fs::exists(repository_.path() / "ran"));
}

TEST_F(Hook, LinkIsForeignAndNotWrittenThrough) {
  repository_.write("victim", "keep\n");
  repository_.must("ln -s ../../victim .git/hooks/pre-commit");
  EXPECT_EQ(state(), "foreign");
  EXPECT_EQ(repository_.guard({"hook", "install"}).exit_status, 2);
  EXPECT_EQ(repository_.read("victim"), "keep\n");
}

TEST_F(Hook, UninstallTakesItAwayAndMayBeCalledAgain) {
  install();
  EXPECT_EQ(repository_.guard({"hook", "uninstall"}).exit_status, 0);
  EXPECT_EQ(state(), "absent");
  EXPECT_EQ(repository_.guard({"hook", "uninstall"}).exit_status, 0);
}

TEST_F(Hook, OutsideOfARepositoryItSaysSo) {
  const auto done = repository_.guard({"hook", "install"}, repository_.home());
  EXPECT_EQ(done.exit_status, 2);
  EXPECT_THAT(done.err, HasSubstr("not a git repository"));
}

TEST_F(Hook, GoesWhereGitLooksForIt) {
  repository_.must("git config core.hooksPath .githooks");
  install();
  EXPECT_TRUE(fs::exists(repository_.path() / ".githooks/pre-commit"));
  EXPECT_FALSE(fs::exists(repository_.path() / ".git/hooks/pre-commit"));
  EXPECT_EQ(state(repository_.path() / "sandbox"), "installed");
  repository_.write("sandbox/a.test.ts", kDump);
  expect_refused("git add sandbox && git commit -q -m bad", "sandbox/a.test.ts");

  repository_.must("mkdir ../shared-hooks.$$ && git config core.hooksPath \"$(cd ../shared-hooks.$$ && pwd)\"");
  const auto shared = repository_.guard({"hook", "install"});
  EXPECT_EQ(shared.exit_status, 0) << shared.err;
  EXPECT_THAT(shared.out, HasSubstr("outside of this repository"));
  repository_.must("rm -r \"$(git config core.hooksPath)\"");
}

TEST_F(Hook, HooksThatAreSwitchedOffAreNoPlaceToInstall) {
  repository_.must("git config core.hooksPath /dev/null");
  const auto done = repository_.guard({"hook", "install"});
  EXPECT_EQ(done.exit_status, 2);
  EXPECT_THAT(done.err, HasSubstr("core.hooksPath"));
}

TEST_F(Hook, WorksInLinkedWorkTrees) {
  const fs::path linked = repository_.home() / "linked tree";
  repository_.must("git worktree add -q -b other '" + linked.string() + "'");
  ASSERT_EQ(repository_.guard({"hook", "install"}, linked).exit_status, 0);
  EXPECT_EQ(state(), "installed");
  const auto bad = repository_.shell(
      "mkdir -p sandbox; echo 'eval(JSON.stringify(process.env))' > sandbox/a.test.ts; git add -A && git commit -q -m "
      "bad",
      linked);
  EXPECT_NE(bad.exit_status, 0);
  EXPECT_THAT(bad.out + bad.err, HasSubstr("sandbox/a.test.ts"));
  EXPECT_EQ(
      repository_.shell("git reset -q --hard; echo x >> notes.md; git commit -q -a -m good", linked).exit_status, 0);
}

TEST_F(Hook, WorksInSubmodulesAndLetsTheirCommitsBeRecorded) {
  Repository inner;
  repository_.must(
      "git -c protocol.file.allow=always submodule add -q '" + inner.path().string() + "' lib && git commit -q -m lib");
  const fs::path lib = repository_.path() / "lib";
  ASSERT_EQ(repository_.guard({"hook", "install"}, lib).exit_status, 0);
  EXPECT_EQ(state(), "absent");
  EXPECT_EQ(state(lib), "installed");
  EXPECT_NE(repository_
                .shell("mkdir -p sandbox; echo 'f(JSON.stringify(process.env))' > sandbox/a.test.ts; git add -A && git "
                       "commit -q -m bad",
                    lib)
                .exit_status,
      0);
  repository_.must("git reset -q --hard; echo x >> notes.md; git commit -q -a -m good", lib);
  install();
  expect_committed("git add lib && git commit -q -m 'newer lib'");

  // Among the gated files nobody could say what it holds.
  expect_refused("git -c protocol.file.allow=always submodule add -q '" + inner.path().string() +
          "' sandbox/lib; git commit -q -m x",
      "sandbox/lib");
}

TEST_F(Hook, WithoutGuardNothingIsCommitted) {
  const fs::path program = repository_.home() / "it's here" / "guard";
  fs::create_directories(program.parent_path());
  fs::copy_file(GUARD_PROGRAM, program);
  repository_.must("\"$HOME/it's here/guard\" hook install");
  repository_.write("notes.md", "# one\n");
  expect_committed("git commit -q -a -m one");

  fs::rename(program, repository_.home() / "guard");
  EXPECT_EQ(state(), "outdated");
  repository_.write("notes.md", "# two\n");
  const std::string before = repository_.head();
  const auto blocked = repository_.shell("git commit -q -a -m two");
  EXPECT_NE(blocked.exit_status, 0);
  EXPECT_THAT(blocked.err, HasSubstr("guard: not committed"));
  EXPECT_EQ(repository_.head(), before);

  // What the repository brings along is not taken for guard.
  repository_.write("guard", "#!/bin/sh\nexit 0\n");
  EXPECT_NE(repository_.shell("chmod +x guard; PATH=.:$PATH git commit -q -a -m two").exit_status, 0);
  EXPECT_EQ(repository_.head(), before);
  expect_committed("rm guard; PATH=$HOME:$PATH git commit -q -a -m two");

  // A program that cannot be run is no pass.
  repository_.write("notes.md", "# three\n");
  repository_.must("printf 'not a program' > \"$HOME/it's here/guard\"; chmod +x \"$HOME/it's here/guard\"");
  EXPECT_NE(repository_.shell("git commit -q -a -m three").exit_status, 0);
}

// ---- the kinds of commit ----

TEST_F(Hook, FirstCommit) {
  const fs::path fresh = repository_.home() / "fresh";
  repository_.must("git init -q fresh && cd fresh && mkdir sandbox", repository_.home());
  ASSERT_EQ(repository_.guard({"hook", "install"}, fresh).exit_status, 0);
  repository_.must("git commit -q --allow-empty -m nothing", fresh);
  repository_.must("git update-ref -d HEAD", fresh);
  EXPECT_NE(
      repository_
          .shell("echo 'f(JSON.stringify(process.env))' > sandbox/a.test.ts; git add -A && git commit -q -m bad", fresh)
          .exit_status,
      0);
  EXPECT_NE(repository_.shell("git rev-parse -q --verify HEAD", fresh).exit_status, 0);
  EXPECT_EQ(
      repository_.shell("echo 'export {}' > sandbox/a.test.ts; git add -A && git commit -q -m good", fresh).exit_status,
      0);
}

TEST_F(Hook, PartOfAFileIsJudgedAsItIsStaged) {
  repository_.write("sandbox/a.test.ts", kHonest);
  repository_.must("git add -A && git commit -q -m base");
  install();
  repository_.write("sandbox/a.test.ts", std::string(kDump) + std::string(kHonest));
  repository_.must("git add -A");
  repository_.write("sandbox/a.test.ts", kHonest);
  expect_refused("git commit -q -m bad", "sandbox/a.test.ts");
  repository_.must("git reset -q");
  repository_.write("sandbox/a.test.ts", std::string(kHonest) + "// one\n");
  repository_.must("git add -A");
  repository_.write("sandbox/a.test.ts", kDump);
  expect_committed("git commit -q -m good");
}

TEST_F(Hook, CommitOfAllChangesAndOfNamedPaths) {
  repository_.write("sandbox/a.test.ts", kHonest);
  repository_.write("sandbox/b.test.ts", kHonest);
  repository_.must("git add -A && git commit -q -m base");
  install();
  repository_.write("sandbox/a.test.ts", kDump);
  expect_refused("git commit -q -a -m bad", "sandbox/a.test.ts");
  expect_refused("git commit -q -m bad sandbox/a.test.ts", "sandbox/a.test.ts");
  // Git commits b alone here, from an index made for this commit; what is staged of a stays out of it.
  repository_.must("git add sandbox/a.test.ts");
  repository_.write("sandbox/b.test.ts", std::string(kHonest) + "// more\n");
  expect_committed("git commit -q -m good sandbox/b.test.ts");
  expect_refused("git commit -q -m bad", "sandbox/a.test.ts");
}

TEST_F(Hook, CommitFromASubfolder) {
  install();
  repository_.write("sandbox/deep/a.test.ts", kDump);
  expect_refused(
      "git add -A .. && git commit -q -m bad", "sandbox/deep/a.test.ts", repository_.path() / "sandbox/deep");
  expect_refused("git commit -q -m bad a.test.ts", "sandbox/deep/a.test.ts", repository_.path() / "sandbox/deep");
}

TEST_F(Hook, AmendAndDetachedHead) {
  install();
  repository_.must("git checkout -q --detach");
  repository_.write("sandbox/a.test.ts", kDump);
  expect_refused("git add -A && git commit -q -m bad", "sandbox/a.test.ts");
  expect_refused("git add -A && git commit -q --amend -m bad", "sandbox/a.test.ts");
  repository_.write("sandbox/a.test.ts", kHonest);
  expect_committed("git add -A && git commit -q --amend -m good");
}

TEST_F(Hook, MergeThatWasResolvedByHand) {
  repository_.must(
      "git checkout -q -b side && echo side > notes.md && git commit -q -a -m side && git checkout -q main && echo "
      "main > notes.md && git commit -q -a -m main");
  install();
  repository_.shell("git merge -q side");
  const auto unmerged = repository_.shell("git commit -q -m merged");
  EXPECT_NE(unmerged.exit_status, 0);
  repository_.write("sandbox/a.test.ts", kDump);
  expect_refused("echo both > notes.md && git add -A && git commit -q -m merged", "sandbox/a.test.ts");
  expect_committed("git rm -q -f sandbox/a.test.ts && git commit -q -m merged");
  EXPECT_EQ(repository_.shell("git rev-parse -q --verify HEAD^2").exit_status, 0);
}

TEST_F(Hook, RebaseThatStopsIsJudgedWhereItGoesOn) {
  repository_.must(
      "git checkout -q -b side && echo side > notes.md && git commit -q -a -m side && git checkout -q main && echo "
      "main > notes.md && "
      "git commit -q -a -m main && git checkout -q side");
  install();
  EXPECT_NE(repository_.shell("git rebase -q main").exit_status, 0);
  repository_.write("sandbox/a.test.ts", kDump);
  expect_refused("echo both > notes.md && git add -A && git commit -q -m resolved", "sandbox/a.test.ts");
  expect_committed(
      "git rm -q -f sandbox/a.test.ts && git commit -q -m resolved && GIT_EDITOR=true git rebase --continue");
}

TEST_F(Hook, RenamedAndDeletedFiles) {
  repository_.write("elsewhere/a.test.ts", kDump);
  repository_.write("sandbox/b.test.ts", kHonest);
  repository_.must("git add -A && git commit -q -m base");
  install();
  // Nothing of it is new, but it is gated from now on.
  expect_refused("git mv elsewhere/a.test.ts sandbox/a.test.ts && git commit -q -m moved", "sandbox/a.test.ts");
  repository_.must("git reset -q --hard");
  expect_committed("git mv sandbox/b.test.ts sandbox/c.test.ts && git commit -q -m moved");
  expect_committed("git rm -q sandbox/c.test.ts && git commit -q -m removed");
}

TEST_F(Hook, NamesThatBreakScripts) {
  install();
  for (const std::string name : {"sandbox/with blank.test.ts", "sandbox/new\nline.test.ts", "sandbox/quo\"te'.test.ts",
           "sandbox/\xff\xfe.test.ts", "sandbox/-n.test.ts", "sandbox/\xc3\xa4.test.ts", "sandbox/:(top)x.test.ts",
           "sandbox/tab\t.test.ts"}) {
    repository_.write(name, kDump);
    expect_refused("git add -A && git commit -q -m bad", "sandbox/");
    const auto machine = repository_.guard({"check", "--staged", "--format", "json"});
    EXPECT_EQ(machine.document().value("files", 0), 1) << name;
    repository_.write(name, kHonest);
    expect_committed("git add -A && git commit -q -m good");
  }
}

TEST_F(Hook, KeysAreFoundInAddedLinesOfAnyFileButNotInOldOnes) {
  repository_.write("notes.md", "# notes\n" + made_up_key() + "\n");
  repository_.must("git commit -q -a -m old");
  install();
  repository_.write("notes.md", "# more notes\n" + made_up_key() + "\n");
  expect_committed("git commit -q -a -m title");
  repository_.write("data.bin", std::string("\0\1\2", 3) + made_up_key());
  expect_refused("git add -A && git commit -q -m bad", "data.bin");
  repository_.must("git rm -q --cached data.bin && rm data.bin && ln -s " + made_up_key() + " link");
  expect_refused("git add -A && git commit -q -m bad", "link");
}

TEST_F(Hook, LinksOutsideOfTheGatedPathsAreNobodysBusiness) {
  install();
  expect_committed("ln -s notes.md more.md && git add -A && git commit -q -m link");
  expect_refused("ln -s ../notes.md sandbox/notes.md && git add -A && git commit -q -m link", "sandbox/notes.md");
  expect_refused(
      "git rm -q -r --cached . && rm -rf sandbox && ln -s src sandbox && git add -A && git commit -q -m link",
      "sandbox");
}

// ---- what a repository can make git do ----

class HostileRepository : public Hook {
 protected:
  void SetUp() override {
    const std::string script = (repository_.home() / "evil").string();
    repository_.must(
        "printf '#!/bin/sh\\ntouch \"$HOME/ran\"\\nexec cat\\n' > '" + script + "' && chmod +x '" + script + "'");
  }
  std::string evil() const { return (repository_.home() / "evil").string(); }
  bool ran() const { return fs::exists(repository_.home() / "ran"); }
  ProgramResult check() const {
    fs::remove(repository_.home() / "ran");
    return repository_.guard({"check", "--staged"});
  }
};

TEST_F(HostileRepository, NoProgramThatItNamesIsRun) {
  repository_.write("notes.md", "# notes\n" + made_up_key() + "\n");
  repository_.write("sandbox/a.test.ts", kDump);
  repository_.must("git add -A");
  for (const char* key : {"core.fsmonitor", "diff.external", "core.pager", "pager.diff", "diff.x.textconv",
           "diff.x.command", "filter.x.clean", "filter.x.smudge", "filter.x.process", "core.sshCommand",
           "core.gitProxy", "core.askPass", "core.alternateRefsCommand", "credential.helper", "gpg.program",
           "core.editor", "sequence.editor", "uploadpack.packObjectsHook", "alias.diff", "alias.rev-parse"}) {
    repository_.must("git config " + std::string(key) + " '" +
        (std::string_view(key).starts_with("alias.") ? "!" : "") + evil() + "'");
  }
  repository_.must("git config filter.x.required true; git config diff.x.cachetextconv true");
  repository_.must(
      "printf '* diff=x filter=x\\n' > \"$HOME/attributes\"; git config core.attributesFile \"$HOME/attributes\"; cp "
      "\"$HOME/attributes\" .git/info/attributes; "
      "cp \"$HOME/attributes\" .gitattributes; mkdir -p .git/hooks; for n in post-index-change fsmonitor-watchman "
      "pre-commit reference-transaction; do cp '" +
      evil() + "' .git/hooks/$n; done");
  const auto done = check();
  EXPECT_EQ(done.exit_status, 1) << done.out << done.err;
  EXPECT_THAT(done.out, HasSubstr("notes.md:2"));
  EXPECT_THAT(done.out, HasSubstr("sandbox/a.test.ts:1"));
  EXPECT_FALSE(ran());
}

// A missing object would be fetched from where the repository says, by the program that the repository names.
TEST_F(HostileRepository, MissingObjectsAreNotFetched) {
  repository_.write("sandbox/a.test.ts", kHonest);
  repository_.must("git add -A; git clone -q --bare . \"$HOME/remote\"");
  repository_.must(
      "git config core.repositoryFormatVersion 1; git config extensions.partialClone origin; git config "
      "remote.origin.url \"$HOME/remote\"; "
      "git config remote.origin.promisor true; printf '#!/bin/sh\\ntouch \"$HOME/ran\"\\nexit 1\\n' > \"$HOME/pack\"; "
      "chmod +x \"$HOME/pack\"; "
      "git config remote.origin.uploadpack \"$HOME/pack\"; git config protocol.file.allow always; "
      "git config protocol.allow always; id=$(git rev-parse :sandbox/a.test.ts); rm -f \".git/objects/$(echo $id | cut "
      "-c1-2)/$(echo $id | cut -c3-)\"");
  // The trap works: git by itself falls into it.
  repository_.shell("git cat-file -p :sandbox/a.test.ts");
  ASSERT_TRUE(ran());
  const auto done = check();
  EXPECT_EQ(done.exit_status, 2) << done.out << done.err;
  EXPECT_FALSE(ran());
}

TEST_F(HostileRepository, NoSettingHidesAnAddedLine) {
  const std::string key = made_up_key();
  repository_.write("notes.md", "# notes\none\ntwo\nthree\n");
  repository_.must("git commit -q -a -m base");
  repository_.write("notes.md", "# notes\none\n" + key + "\ntwo\nthree\n");
  repository_.must("git add -A");
  for (const char* setting : {"core.bigFileThreshold 1", "diff.noprefix true", "diff.interHunkContext 1000",
           "diff.context 100", "diff.relative true", "diff.ignoreSubmodules all", "diff.renames copies",
           "diff.algorithm minimal", "color.ui always", "color.diff always", "core.whitespace trailing-space",
           "diff.suppressBlankEmpty true", "core.quotePath true", "diff.mnemonicPrefix true", "diff.colorMoved zebra",
           "diff.submodule log", "core.ignoreCase true"}) {
    repository_.must("git config " + std::string(setting));
    for (const fs::path& folder : {repository_.path(), repository_.path() / "sandbox"}) {
      const auto done = repository_.guard({"check", "--staged"}, folder);
      EXPECT_EQ(done.exit_status, 1) << setting << " in " << folder << "\n" << done.out << done.err;
    }
  }
  repository_.must("printf '*.md binary -diff -text\\n' > .git/info/attributes");
  EXPECT_EQ(check().exit_status, 1);
}

TEST_F(HostileRepository, ReplacedObjectsAndAlternatesAreSeenThrough) {
  repository_.write("sandbox/a.test.ts", kDump);
  repository_.must(
      "git add -A; bad=$(git rev-parse :sandbox/a.test.ts); good=$(echo 'export {}' | git hash-object -w --stdin); git "
      "replace $bad $good");
  EXPECT_EQ(check().exit_status, 1);
  repository_.must("git replace -d $(git rev-parse :sandbox/a.test.ts)");

  // The blob lives in a store that the repository only points at.
  repository_.must(
      "git init -q \"$HOME/store\"; id=$(git -C \"$HOME/store\" hash-object -w --stdin < sandbox/a.test.ts); "
      "rm -f \".git/objects/$(echo $id | cut -c1-2)/$(echo $id | cut -c3-)\"; echo \"$HOME/store/.git/objects\" > "
      ".git/objects/info/alternates");
  const auto done = check();
  EXPECT_EQ(done.exit_status, 1) << done.out << done.err;
}

TEST_F(HostileRepository, AnotherWorkTreeIsNotJudgedInItsPlace) {
  Repository clean;
  repository_.write("sandbox/a.test.ts", kDump);
  repository_.must("git add -A; git config core.worktree '" + clean.path().string() + "'");
  const auto done = check();
  EXPECT_EQ(done.exit_status, 2) << done.out << done.err;
  EXPECT_THAT(done.err, HasSubstr("core.worktree"));
}

TEST_F(HostileRepository, AnIndexThatIsNotThereIsNotAnEmptyOne) {
  repository_.write("sandbox/a.test.ts", kDump);
  repository_.must("git add -A");
  const auto done = repository_.shell("GIT_INDEX_FILE=nowhere '" GUARD_PROGRAM "' check --staged");
  EXPECT_EQ(done.exit_status, 2) << done.out << done.err;
}

}  // namespace
}  // namespace guard::testing

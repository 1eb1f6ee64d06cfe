// Task folders: what goes in comes out, and what a worker may not say is refused.
#include "nightly/workers/task_folder.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstddef>
#include <functional>
#include <iterator>
#include <nlohmann/json.hpp>

#include "common/file_io.h"
#include "common/hash.h"

namespace guard::nightly {
namespace {

namespace fs = std::filesystem;
using ::testing::HasSubstr;

struct Folder {
  TempDir root = *TempDir::create();
  fs::path path = root.path() / "night" / "add-1";
  std::string sha256;
  CancelToken never;

  Folder() {
    EXPECT_TRUE(write_file_atomically(root.path() / "x.pack", "pack"));
    sha256 = written({}).value_or("");
  }
  Result<std::string> written(const TaskFile& more) const {
    TaskFile task = more;
    task.night = "2030";
    task.order.task.id = "add";
    task.order.task.prompt = "Write.";
    task.order.task.generator = {"sh", "-c", "true"};
    task.order.feedback = "It failed.";
    task.order.start = std::string(40, 'a');
    return write_task(path, task, root.path() / "x.pack", {});
  }
  void answer(const WorkResult& result, const fs::path& key = {}) const {
    const auto done = write_result(path, sha256, result, key, never);
    EXPECT_TRUE(done) << done.error().message();
  }
  Result<WorkResult> read(const std::vector<std::string>& signers = {}) const {
    return read_result(path, sha256, {signers, {}}, never);
  }
  // Its public half.
  std::string key(const std::string& name) const {
    const fs::path file = root.path() / name;
    EXPECT_EQ(std::system(("ssh-keygen -q -t ed25519 -N '' -C x -f " + file.native()).c_str()), 0);
    std::string line = read_file(file.native() + ".pub", 4'096).value_or("");
    line.pop_back();
    return line;
  }
  bool is_trusted(const std::vector<std::string>& trusted) const {
    const auto got = read_result(path, sha256, {{}, trusted}, never);
    return got && got->is_trusted;
  }
  std::string refusal(const std::vector<std::string>& signers = {}) const {
    const auto got = read(signers);
    return got ? "taken" : got.error().message();
  }
  // Changes result.json and makes it look as if its worker had written it so.
  void forge(const std::function<void(nlohmann::json&)>& change) const {
    auto document = nlohmann::json::parse(*read_file(path / "result/result.json", 1u << 20));
    change(document);
    EXPECT_TRUE(write_file_atomically(path / "result/result.json", document.dump()));
  }
};

WorkResult accepted() {
  WorkResult result;
  result.attempt.outcome = AttemptOutcome::accepted;
  result.attempt.reason = "accepted";
  result.attempt.files = {"sandbox/a.test.ts"};
  result.attempt.timings_ms = {{"generator", 12}};
  result.attempt.findings = {{"rule", "docker", "a.ts", 3, "message", "fix", "excerpt"}};
  ChangedFile file;
  file.path = "sandbox/a.test.ts";
  file.after = EntryKind::executable;
  file.new_bytes = "test();\n";
  result.change.files.push_back(file);
  file.path = "sandbox/old.ts";
  file.after = EntryKind::absent;
  file.new_bytes.clear();
  result.change.files.push_back(file);
  result.log = "said";
  return result;
}

TEST(TaskFolder, HoldsTheWholeOrder) {
  const Folder folder;
  TaskFile more;
  more.order.task.allow = std::vector<std::string>{"a:1"};
  more.order.number = 7;
  more.order.time_left = std::chrono::milliseconds(5);
  more.environment = {{"GUARD_LIMITS_MEMORY", "1g"}};
  more.config_text = "backend = \"namespace\"\n";
  const auto sha256 = folder.written(more);
  const auto read = read_task(folder.path);
  ASSERT_TRUE(read) << read.error().message();
  EXPECT_EQ(read->sha256, *sha256);
  ASSERT_TRUE(read->task) << read->task.error().message();
  const TaskFile& task = *read->task;
  EXPECT_EQ(task.order.task.generator, (std::vector<std::string>{"sh", "-c", "true"}));
  EXPECT_EQ(task.order.feedback, "It failed.");
  EXPECT_EQ(task.order.number, 7U);
  EXPECT_EQ(task.order.time_left, std::chrono::milliseconds(5));
  EXPECT_EQ(task.order.task.allow, more.order.task.allow);
  EXPECT_EQ(task.environment, more.environment);
  EXPECT_EQ(task.config_text, more.config_text);
}

TEST(TaskFolder, HasAResultOnlyAsAWhole) {
  const Folder folder;
  fs::create_directories(folder.path / "result.new/change-0");  // of a worker that was killed
  EXPECT_FALSE(has_result(folder.path));
  folder.answer(accepted());
  EXPECT_TRUE(has_result(folder.path));
  EXPECT_FALSE(fs::exists(folder.path / "result.new"));
  const auto read = folder.read();
  ASSERT_TRUE(read) << read.error().message();
  ASSERT_EQ(read->change.files.size(), 2U);
  EXPECT_EQ(read->change.files[0].new_bytes, "test();\n");
  EXPECT_EQ(read->change.files[0].after, EntryKind::executable);
  EXPECT_EQ(read->change.files[1].after, EntryKind::absent);
  EXPECT_EQ(read->attempt.timings_ms, accepted().attempt.timings_ms);
  EXPECT_EQ(read->attempt.findings.at(0).line, 3U);
  EXPECT_EQ(read->log, "said");
  // A second one changes nothing.
  WorkResult other = accepted();
  other.log = "other";
  EXPECT_FALSE(write_result(folder.path, folder.sha256, other, {}, folder.never));
  EXPECT_EQ(folder.read()->log, "said");
}

TEST(TaskFolder, IsTakenByOneWorkerAtATime) {
  const Folder folder;
  {
    const auto first = lock_task(folder.path);
    ASSERT_TRUE(first && *first);
    const auto second = lock_task(folder.path);
    ASSERT_TRUE(second);
    EXPECT_FALSE(*second);
  }
  EXPECT_TRUE(lock_task(folder.path).value());
}

// Workers could write nothing: the coordinator hears of it before anybody is paid.
TEST(TaskFolder, IsNotMadeWhereNothingCanBeLocked) {
  const Folder folder;
  const pid_t child = ::fork();
  if (child == 0) {
    sock_filter filter[] = {BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, nr)),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_flock, 0, 1), BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | ENOLCK),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW)};
    const sock_fprog program{std::size(filter), filter};
    ::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
    if (::prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) != 0) ::_exit(2);
    const auto written = folder.written({});
    ::_exit(!written && std::string(written.error().hint()).find("flock") != std::string::npos ? 0 : 1);
  }
  int status = 0;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0) << status;
}

// A worker runs the generator that a task names.
TEST(TaskFolder, OfSomebodyElseIsNotWorkedOn) {
  const auto chmod = [](const fs::path& path, int mode) { fs::permissions(path, static_cast<fs::perms>(mode)); };
  const auto give_away = [](const fs::path& path) { EXPECT_EQ(::chown(path.c_str(), 65'534, 65'534), 0); };
  const auto link = [](const fs::path& path) {
    fs::rename(path, path.native() + ".there");
    fs::create_symlink(path.native() + ".there", path);
  };
  std::vector<std::pair<const char*, std::function<void(const fs::path&)>>> frauds = {
      {"a folder that a group writes to", [&](const fs::path& folder) { chmod(folder, 0770); }},
      {"a folder that all write to", [&](const fs::path& folder) { chmod(folder, 0707); }},
      {"a task that all write to", [&](const fs::path& folder) { chmod(folder / "task.json", 0606); }},
      {"a linked folder", [&](const fs::path& folder) { link(folder); }},
      {"a linked night", [&](const fs::path& folder) { link(folder.parent_path()); }},
      {"a night that all write to", [&](const fs::path& folder) { chmod(folder.parent_path(), 0777); }},
      {"a linked task", [&](const fs::path& folder) { link(folder / "task.json"); }},
  };
  if (::geteuid() == 0) {
    frauds.emplace_back("another user's folder", [&](const fs::path& folder) { give_away(folder); });
    frauds.emplace_back("another user's task", [&](const fs::path& folder) { give_away(folder / "task.json"); });
  }
  for (const auto& [name, fraud] : frauds) {
    const Folder folder;
    EXPECT_TRUE(read_task(folder.path));
    fraud(folder.path);
    const auto read = read_task(folder.path);
    ASSERT_FALSE(read) << name;
    EXPECT_EQ(read.error().code(), ErrorCode::input_invalid) << name << read.error().message();
  }
}

TEST(TaskFolder, OfANightIsNotPutWhereOthersCanReplaceIt) {
  const TempDir root = *TempDir::create();
  const auto made = [&](const char* name, mode_t shared, mode_t night) {
    const fs::path above = root.path() / name;
    fs::create_directories(above / "night");
    ::chmod(above.c_str(), shared);
    ::chmod((above / "night").c_str(), night);
    return make_night_folder(above / "night", NightFolder::may_be_there).has_value();
  };
  EXPECT_TRUE(make_night_folder(root.path() / "new" / "night", NightFolder::may_be_there));
  EXPECT_TRUE(made("own", 0755, 0700));
  EXPECT_TRUE(made("sticky", 01777, 0700));
  EXPECT_FALSE(made("open", 0777, 0700));
  EXPECT_FALSE(made("group", 0775, 0700));
  EXPECT_FALSE(made("prepared", 01777, 0777));
  fs::create_directory_symlink(root.path() / "own", root.path() / "sticky" / "link");
  EXPECT_FALSE(make_night_folder(root.path() / "sticky" / "link", NightFolder::may_be_there));
  if (::geteuid() != 0) return;
  EXPECT_EQ(::chown((root.path() / "own" / "night").c_str(), 65'534, 0), 0);
  EXPECT_FALSE(make_night_folder(root.path() / "own" / "night", NightFolder::may_be_there));
  EXPECT_EQ(::chown((root.path() / "sticky").c_str(), 65'534, 0), 0);
  EXPECT_FALSE(make_night_folder(root.path() / "sticky" / "night", NightFolder::may_be_there));
}

// Whose workers may still be at work there: what they wrote is nothing of this night's.
TEST(TaskFolder, OfAnotherNightIsNotTakenOver) {
  const Folder folder;
  folder.answer(accepted());
  const auto taken = make_night_folder(folder.path.parent_path(), NightFolder::is_new);
  ASSERT_FALSE(taken);
  EXPECT_THAT(taken.error().message(), HasSubstr("another night"));
  EXPECT_TRUE(has_result(folder.path)) << "the other night's";
  EXPECT_TRUE(make_night_folder(folder.root.path() / "other", NightFolder::is_new));
}

// Its coordinator gave it up.
TEST(TaskFolder, IsNotMadeByAWorkerThatIsLate) {
  const Folder folder;
  fs::remove_all(folder.path);
  EXPECT_FALSE(write_result(folder.path, folder.sha256, accepted(), {}, folder.never));
  EXPECT_FALSE(lock_task(folder.path));
  EXPECT_FALSE(fs::exists(folder.path));
}

TEST(TaskFolder, HoldsNoResultThatWouldBeRefusedAsTooLarge) {
  for (const auto& grow : std::vector<std::function<void(WorkResult&)>>{
           [](WorkResult& r) { r.change.files[0].new_bytes.resize((64u << 20) + 1, 'x'); },
           [](WorkResult& r) { r.attempt.detail.resize(9u << 20, 'x'); },
           [](WorkResult& r) { r.attempt.flaky.resize(2'001, "x"); }}) {
    const Folder folder;
    WorkResult result = accepted();
    grow(result);
    const auto written = write_result(folder.path, folder.sha256, result, {}, folder.never);
    ASSERT_FALSE(written);
    EXPECT_THAT(written.error().message(), HasSubstr("larger than a result may be"));
    EXPECT_FALSE(has_result(folder.path));
  }
}

TEST(TaskFolder, RefusesTheResultOfAnotherTask) {
  const Folder folder;
  folder.answer(accepted());
  const auto read = read_result(folder.path, sha256_hex("the order of attempt 2"), {{}, {}}, folder.never);
  ASSERT_FALSE(read);
  EXPECT_THAT(read.error().message(), HasSubstr("another task or attempt"));
}

TEST(TaskFolder, RefusesWhatALyingWorkerSays) {
  using Json = nlohmann::json;
  const std::vector<std::pair<std::function<void(Json&)>, std::string>> lies = {
      {[](Json& j) { j["change"][0]["path"] = "../outside.ts"; }, "no path for a commit"},
      {[](Json& j) { j["change"][0]["path"] = "/etc/passwd"; }, "no path for a commit"},
      {[](Json& j) { j["change"][0]["path"] = ".git/hooks/pre-commit"; }, "no path for a commit"},
      {[](Json& j) { j["change"][0]["path"] = std::string("a\0b", 3); }, "no path for a commit"},
      {[](Json& j) { j["change"][1]["path"] = "sandbox/a.test.ts"; }, "twice"},
      {[](Json& j) { j["change"][0]["kind"] = "link"; }, "neither a file nor gone"},
      {[](Json& j) { j["change"] = Json::array(); }, "has no change"},
      {[](Json& j) { j["change"] = Json::array({1}); }, "cannot be read"},
      {[](Json& j) { j["digests"].erase("change-0"); }, "another change-0"},
      {[](Json& j) { j["attempt"]["outcome"] = "none"; }, "no outcome"},
      {[](Json& j) { j["attempt"]["outcome"] = "kept"; }, "tells no attempt"},
      {[](Json& j) {
         j["attempt"]["outcome"] = "refused";
         j["attempt"]["reason"] = "\x1b]0;x";
       },
          "a reason that is none"},
      {[](Json& j) { j["attempt"]["tests_passed"] = -1; }, "tells no attempt"},
      {[](Json& j) { j["attempt"]["tests_passed"] = "many"; }, "tells no attempt"},
      {[](Json& j) { j["finding"] = Json::array({Json::array()}); }, "lists"},
      {[](Json& j) {
         j["timing"] = Json::array();
         for (int i = 0; i < 3'000; ++i) j["timing"].push_back(Json::object());
       },
          "lists"},
      {[](Json& j) { j["format"] = 2; }, "another guard"},
      {[](Json& j) { j = Json::array(); }, "another guard"},
  };
  for (const auto& [lie, sentence] : lies) {
    const Folder folder;
    folder.answer(accepted());
    folder.forge(lie);
    EXPECT_THAT(folder.refusal(), HasSubstr(sentence));
  }
}

TEST(TaskFolder, FollowsNoLinkOfAResult) {
  const Folder folder;
  folder.answer(accepted());
  const fs::path file = folder.path / "result/change-0";
  fs::rename(file, folder.root.path() / "elsewhere");
  fs::create_symlink(folder.root.path() / "elsewhere", file);
  EXPECT_THAT(folder.refusal(), HasSubstr("symbolic link"));
  fs::rename(folder.path / "result", folder.root.path() / "result");
  fs::create_directory_symlink(folder.root.path() / "result", folder.path / "result");
  EXPECT_THAT(folder.refusal(), HasSubstr("no folder"));
}

TEST(TaskFolder, RefusesBytesThatWereChanged) {
  const Folder folder;
  folder.answer(accepted());
  EXPECT_TRUE(write_file_atomically(folder.path / "result/change-0", "other();\n"));
  EXPECT_THAT(folder.refusal(), HasSubstr("another change-0"));
}

TEST(TaskFolder, AsksForASignatureOfItsSigners) {
  const Folder folder;
  const std::string mine = folder.key("mine");
  const std::string other = folder.key("other");
  folder.answer(accepted(), folder.root.path() / "mine");
  EXPECT_EQ(folder.refusal({mine}), "taken");
  EXPECT_EQ(folder.refusal({other, mine}), "taken");
  EXPECT_THAT(folder.refusal({other}), HasSubstr("not signed by a key"));
  folder.forge([](nlohmann::json& j) { j["attempt"]["detail"] = "changed"; });
  EXPECT_THAT(folder.refusal({mine}), HasSubstr("not signed by a key"));
  fs::remove(folder.path / "result/result.json.sig");
  EXPECT_NE(folder.refusal({mine}), "taken");
}

// A worker without its key can still say so.
TEST(TaskFolder, TakesNothingUnsignedButThatTheAttemptIsPutBack) {
  const Folder folder;
  const std::string mine = folder.key("mine");
  WorkResult result;
  result.attempt.outcome = AttemptOutcome::requeued;
  result.attempt.reason = "error";
  result.attempt.detail = std::string(2'000, 'x');
  result.attempt.diff = "a diff";
  result.attempt.timings_ms = {{"gate", 5}};
  result.log = "a log";
  result.evidence = "{}";
  folder.answer(result);
  EXPECT_EQ(folder.refusal({mine}), "taken");
  const auto read = folder.read({mine});
  ASSERT_TRUE(read);
  EXPECT_LT(read->attempt.detail.size(), 600U);
  EXPECT_TRUE(read->attempt.diff.empty() && read->attempt.timings_ms.empty());
  EXPECT_TRUE(read->log.empty() && read->evidence.empty());
  for (const char* outcome : {"refused", "failed", "accepted"}) {
    folder.forge([&](nlohmann::json& j) { j["attempt"]["outcome"] = outcome; });
    EXPECT_NE(folder.refusal({mine}), "taken") << outcome;
  }
}

TEST(TaskFolder, TrustsWhatANamedKeySigned) {
  const Folder folder;
  const std::string mine = folder.key("mine");
  const std::string other = folder.key("other");
  folder.answer(accepted(), folder.root.path() / "mine");
  EXPECT_TRUE(folder.is_trusted({mine}));
  EXPECT_TRUE(folder.is_trusted({other, mine}));
  EXPECT_TRUE(folder.is_trusted({"valid-before=\"29990101\" " + mine}));
  EXPECT_FALSE(folder.is_trusted({}));
  EXPECT_FALSE(folder.is_trusted({other}));
  EXPECT_FALSE(folder.is_trusted({"valid-before=\"20200101\" " + mine})) << "expired";
  EXPECT_FALSE(folder.is_trusted({mine.substr(0, 40)})) << "half a key";
  EXPECT_FALSE(folder.is_trusted({"ssh-ed25519 AAAA"}));
  // A key that is trusted is one of the signers.
  const auto both = read_result(folder.path, folder.sha256, {{other}, {mine}}, folder.never);
  ASSERT_TRUE(both) << both.error().message();
  EXPECT_TRUE(both->is_trusted);
}

TEST(TaskFolder, TrustsNoSignatureOfAnythingElse) {
  const std::string sign = "ssh-keygen -Y sign -q -f ";
  const std::vector<std::pair<const char*, std::function<void(const Folder&)>>> frauds = {
      {"none", [](const Folder& f) { fs::remove(f.path / "result/result.json.sig"); }},
      {"a changed result",
          [](const Folder& f) { f.forge([](nlohmann::json& j) { j["attempt"]["detail"] = "changed"; }); }},
      {"of another namespace",
          [&](const Folder& f) {
            fs::remove(f.path / "result/result.json.sig");
            const std::string command =
                sign + (f.root.path() / "mine").native() + " -n file " + (f.path / "result/result.json").native();
            EXPECT_EQ(std::system(command.c_str()), 0);
          }},
      {"garbage",
          [](const Folder& f) { EXPECT_TRUE(write_file_atomically(f.path / "result/result.json.sig", "\0\xff")); }},
      {"a link",
          [](const Folder& f) {
            fs::rename(f.path / "result/result.json.sig", f.root.path() / "sig");
            fs::create_symlink(f.root.path() / "sig", f.path / "result/result.json.sig");
          }},
      {"a changed patch",
          [](const Folder& f) { EXPECT_TRUE(write_file_atomically(f.path / "result/change-0", "other();\n")); }},
      {"changed evidence",
          [](const Folder& f) { EXPECT_TRUE(write_file_atomically(f.path / "result/evidence.json", "{}")); }},
  };
  for (const auto& [name, fraud] : frauds) {
    const Folder folder;
    const std::string mine = folder.key("mine");
    WorkResult result = accepted();
    result.evidence = "{ }";
    folder.answer(result, folder.root.path() / "mine");
    ASSERT_TRUE(folder.is_trusted({mine}));
    fraud(folder);
    EXPECT_FALSE(folder.is_trusted({mine})) << name;
  }
  // Another task's result, signed by whom one trusts.
  const Folder folder;
  const std::string mine = folder.key("mine");
  folder.answer(accepted(), folder.root.path() / "mine");
  EXPECT_FALSE(read_result(folder.path, sha256_hex("another order"), {{}, {mine}}, folder.never));
}

}  // namespace
}  // namespace guard::nightly

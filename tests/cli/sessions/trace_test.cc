// What `guard serve --trace` says of commands, in real sandboxes.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include <map>
#include <sstream>
#include <thread>

#include "common/environment.h"
#include "tests/support/program/served_project.h"

namespace guard::testing {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

class TracedServe : public ServedProject {
 protected:
  void SetUp() override {
    ServedProject::SetUp();
    if (!IsSkipped() && !HasFatalFailure()) project_.build_image(GetParam());
  }
  void serve(std::vector<std::string> more = {}) {
    more.insert(more.end(), {"--trace", trace()});
    ServedProject::serve(more);
  }
  ProgramResult runs(const std::string& script) const { return session({"exec", "t/a", "--", "bun", "-e", script}); }

  std::vector<std::string> told() const {
    std::vector<std::string> told;
    std::istringstream lines(read_file(trace(), 64u << 20).value_or(""));
    for (std::string line; std::getline(lines, line);) {
      const json event = json::parse(line, nullptr, false);
      told.push_back(event["event"] == "ARTIFACT_GENERATED"
              ? event["path"].get<std::string>() + " " + event["size_bytes"].dump()
              : event["step"].dump() + " " + event["exit_code"].dump() + " " + event["stdout"].get<std::string>());
    }
    return told;
  }
};
INSTANTIATE_TEST_SUITE_P(In, TracedServe, ::testing::Values("namespace", "docker"));

TEST_P(TracedServe, TellsWhatSessionsRun) {
  serve();
  EXPECT_EQ(runs("await Bun.write('a/b.txt', '123'); console.log('said'); process.exit(3)").exit_status, 3);
  EXPECT_EQ(session({"upload", "t/a", "--", project_.path() / "package.json", "in.json"}).exit_status, 0);
  EXPECT_EQ(runs("1").exit_status, 0);
  const auto begun = session({"exec", "t/a", "--background", "--", "bun", "-e", "await Bun.write('late', '1')"});
  EXPECT_THAT(begun.out, HasSubstr("command"));
  for (int i = 0; i < 200 && told().size() < 5; ++i) std::this_thread::sleep_for(milliseconds(50));
  EXPECT_THAT(told(), ElementsAre("1 3 said\n", "/workspace/a/b.txt 3", "2 0 ", "3 0 ", "/workspace/late 1"));
}

// Whatever commands do with files: what the newest row of a path says is what sha256sum says of the file.
TEST_P(TracedServe, CataloguesWhatLiesInTheWorkspace) {
  serve({"--artifacts", "all", "--artifacts-file-max", "1m"});
  ASSERT_EQ(runs(R"(
    const fs = require('fs');
    const { dlopen } = require('bun:ffi');
    const libc = dlopen('libc.so.6', { mkfifo: { args: ['cstring', 'u32'], returns: 'i32' } });
    if (libc.symbols.mkfifo(Buffer.from('pipe\0'), 0o666) !== 0) throw new Error('no pipe');
    for (const name of ['gone', 'changed', 'renamed', 'deep/er/f', 'quo"te', 'new\nline', 'h\u00e9', ' -x'])
      await Bun.write(name, 'first ' + name);
    fs.symlinkSync('/etc/passwd', 'link');
    fs.symlinkSync('/', 'folder-link');
    fs.linkSync('changed', 'hard');
    fs.mkdirSync('many');
    for (let i = 0; i < 10000; ++i) fs.writeFileSync('many/' + i, 'content ' + i);
    fs.truncateSync(fs.openSync('sparse', 'w'), 1 << 30);
    fs.truncateSync(fs.openSync('sparse-small', 'w'), 1 << 20);)")
                .exit_status,
      0);
  ASSERT_EQ(runs(R"(
    const fs = require('fs');
    fs.unlinkSync('gone');
    fs.renameSync('renamed', 'other');
    fs.renameSync('deep', 'moved');
    fs.appendFileSync('changed', ' more');
    const kept = fs.openSync('many/7', 'r+');
    fs.writeSync(kept, 'CONTENT');
    fs.futimesSync(kept, 1, 1);
    process.exit(3);)")
                .exit_status,
      3);
  stop();
  // Where no server runs, too.
  const auto listed = project_.guard({"artifacts", "list", "--state", state_.path(), "--format", "json"});
  ASSERT_EQ(listed.exit_status, 0) << listed.err;
  std::map<std::string, json> newest;
  const json rows = listed.document()["artifacts"];
  for (const json& row : rows) {
    EXPECT_EQ(row["session"], "t/a");
    newest[row["path"]] = row;
  }
  ProcessSpec sums;
  sums.argv = {"/bin/sh", "-c",
      "cd sessions/workspaces/* && find -type f ! -name sparse -print0 | xargs -0 sha256sum -z | tr '\\n\\0' '|\\n'"};
  sums.cwd = state_.path();
  sums.env = process_environment();
  std::istringstream lines(run_program(sums).out);
  std::size_t files = 0;
  for (std::string line; std::getline(lines, line); ++files) {
    std::string path = "/workspace/" + line.substr(68);
    if (const std::size_t end = path.find('|'); end != std::string::npos) path.replace(end, 1, "\\n");
    ASSERT_TRUE(newest.contains(path)) << path;
    EXPECT_EQ(newest[path]["sha256"], line.substr(0, 64)) << path;
    EXPECT_EQ(newest[path]["kept"], true) << path;
  }
  EXPECT_EQ(files, 10'009U);
  EXPECT_EQ(newest["/workspace/sparse"]["sha256"], "") << "it is too large";
  EXPECT_EQ(newest["/workspace/sparse"]["kept"], false);
  EXPECT_EQ(newest["/workspace/sparse"]["size_bytes"], 1u << 30);
  EXPECT_EQ(newest["/workspace/hard"]["step"], 2) << "its bytes have changed by another name";
  EXPECT_EQ(newest["/workspace/many/7"]["outcome"], "exited 3");
  EXPECT_EQ(newest["/workspace/many/8"]["step"], 1);
  for (const char* none : {"pipe", "link", "folder-link", "folder-link/etc/passwd"})
    EXPECT_FALSE(newest.contains(std::string("/workspace/") + none)) << none;
}

TEST_P(TracedServe, HandsOutWhatItKeepsOfFailedCommands) {
  serve({"--artifacts", "failed"});
  EXPECT_EQ(runs("await Bun.write('out/good.txt', 'good')").exit_status, 0);
  EXPECT_EQ(runs("await Bun.write('out/bad.txt', 'bad'); process.exit(1)").exit_status, 1);
  const auto artifacts = [&](std::vector<std::string> words) {
    words.insert(words.begin(), "artifacts");
    words.insert(words.end(), {"--state", state_.path()});
    return project_.guard(words);
  };
  const std::string file = project_.path() / "got";
  // While the server runs.
  EXPECT_EQ(artifacts({"get", "out/bad.txt", "--output", file}).exit_status, 0);
  EXPECT_EQ(read_file(file, 100).value_or(""), "bad");
  EXPECT_EQ(artifacts({"get", "2", "--output", "-"}).out, "bad");
  const auto again = artifacts({"get", "2", "--output", file});
  EXPECT_EQ(again.exit_status, 64);
  EXPECT_THAT(again.err, HasSubstr("--force"));
  EXPECT_EQ(artifacts({"get", "2", "--output", file, "--force"}).exit_status, 0);
  fs::create_symlink("/nowhere/at/all", file + ".link");
  EXPECT_EQ(artifacts({"get", "2", "--output", file + ".link", "--force"}).exit_status, 64);
  const auto good = artifacts({"get", "/workspace/out/good.txt", "--output", file + ".good"});
  EXPECT_EQ(good.exit_status, 2);
  EXPECT_THAT(good.err, HasSubstr("was not kept"));
  EXPECT_FALSE(fs::exists(file + ".good"));
  EXPECT_THAT(artifacts({"get", "none", "--output", "-"}).err, HasSubstr("guard artifacts list"));
  EXPECT_THAT(artifacts({"prune", "--dry-run"}).out, HasSubstr("would forget 0 artifacts"));
  EXPECT_THAT(artifacts({"prune", "--older-than", "0s", "--session", "t/b"}).out, HasSubstr("forgot 0 artifacts"));
  EXPECT_THAT(artifacts({"prune", "--older-than", "0s"}).out, HasSubstr("forgot 2 artifacts: 3 bytes"));
  EXPECT_EQ(artifacts({"list"}).out, "");
  EXPECT_EQ(runs("await Bun.write('out/bad.txt', 'worse'); process.exit(1)").exit_status, 1);
  EXPECT_THAT(artifacts({"list"}).out, HasSubstr("out/bad.txt"));
}

}  // namespace
}  // namespace guard::testing

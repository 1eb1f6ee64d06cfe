// `guard exec` as the executor of scripts: what the command reads, where it starts, how guard ends with it.
#include <gtest/gtest.h>

#include "common/file_io.h"
#include "common/hash.h"
#include "tests/support/program/guard_program.h"

namespace guard::testing {
namespace {

class Exec : public ::testing::TestWithParam<const char*> {
 protected:
  static Needs needs() { return std::string_view(GetParam()) == "docker" ? Needs::docker : Needs::namespace_sandbox; }
  void SetUp() override {
    GUARD_NEEDS(needs());
    project_.build_image(GetParam());
  }

  ProgramResult exec(std::vector<std::string> options, const std::string& script, const std::string& input = {}) {
    ProgramCall call;
    call.arguments = {"exec", "--backend", GetParam()};
    call.arguments.insert(call.arguments.end(), options.begin(), options.end());
    call.arguments.insert(call.arguments.end(), {"--", "bun", "-e", script});
    call.stdin_text = input;
    return project_.guard(call);
  }

  std::string file(const char* name) const {
    auto text = read_file(project_.path() / name, 64u << 20);
    EXPECT_TRUE(text) << name;
    return text ? *text : std::string();
  }
  Project project_;
};

INSTANTIATE_TEST_SUITE_P(
    Backends, Exec, ::testing::Values("namespace", "docker"), [](const auto& parameter) { return parameter.param; });

constexpr const char* kCopy = "process.stdout.write(await Bun.stdin.text())";

TEST_P(Exec, ReadsWhatItIsGiven) {
  EXPECT_EQ(exec({"--stdin", "-"}, kCopy, "hi").out, "hi");
  project_.write("input.txt", "from a file\n");
  EXPECT_EQ(exec({"--stdin", "input.txt"}, kCopy, "not this").out, "from a file\n");
  EXPECT_EQ(exec({}, kCopy, "nothing without the option").out, "");
}

TEST_P(Exec, SaysWhichInputCannotBeRead) {
  const auto result = exec({"--stdin", "missing.txt"}, kCopy);
  EXPECT_EQ(result.exit_status, 2) << result.err;
  EXPECT_NE(result.err.find("missing.txt"), std::string::npos) << result.err;
  EXPECT_EQ(exec({"--stdin", "."}, kCopy).exit_status, 2) << "a folder";
}

TEST_P(Exec, StartsInAFolderOfTheProject) {
  project_.write("src/deep/a.ts", "export {};\n");
  const auto result = exec({"--cwd", "src/deep"}, "console.log(process.cwd(), require('fs').readdirSync('.').join())");
  EXPECT_EQ(result.out, "/app/src/deep a.ts\n") << result.err;
  EXPECT_EQ(exec({"--cwd", "./"}, "console.log(process.cwd())").out, "/app\n");
  for (const char* folder : {"..", "src/../..", "/app", "nothing", "src/deep/a.ts"}) {
    const auto refused = exec({"--cwd", folder}, "1");
    EXPECT_EQ(refused.exit_status, 2) << folder << refused.err;
    EXPECT_NE(refused.err.find("is no folder of the project"), std::string::npos) << refused.err;
  }
}

TEST_P(Exec, EndsAsTheCommandDoesWhereThatIsAskedFor) {
  EXPECT_EQ(exec({}, "process.exit(7)").exit_status, 1);
  EXPECT_EQ(exec({"--exit-code", "program"}, "process.exit(7)").exit_status, 7);
  EXPECT_EQ(exec({"--exit-code", "program"}, "1").exit_status, 0);
  EXPECT_EQ(exec({"--exit-code", "program"}, "process.kill(process.pid, 'SIGKILL')").exit_status, 1)
      << "no end of its own";
  EXPECT_EQ(exec({"--exit-code", "program", "--timeout", "1"}, "for (;;);").exit_status, 1);
  EXPECT_EQ(exec({"--exit-code", "mine"}, "1").exit_status, 64);
}

TEST_P(Exec, TakesTimesInMilliseconds) {
  const auto result = exec({"--timeout", "1500ms", "--format", "json"}, "setInterval(() => {}, 1000)");
  EXPECT_EQ(result.exit_status, 1) << result.err;
  const auto document = result.document();
  EXPECT_EQ(document["reason"], "timed_out");
  EXPECT_EQ(document["message"], "the run took longer than its limit: stopped after 1.5 s");
  EXPECT_EQ(document["limits"]["timeout_ms"], 1500);
  EXPECT_EQ(document["exec"]["value"], 1500);
  EXPECT_EQ(document["error"]["code"], "EXECUTION_TIMEOUT");
  EXPECT_EQ(document["error"]["details"], (nlohmann::json{{"timeout", "1500"}}));
  EXPECT_EQ(exec({"--timeout", "30.5s"}, "1").exit_status, 0);
  EXPECT_EQ(exec({"--timeout", "1h"}, "1").exit_status, 64);
}

TEST_P(Exec, TakesVariablesFromAFileAndMasksThem) {
  project_.write("my.env", "# said\nexport MINE='first value'\nOTHER=second-value\nTHIRD=\"a\\tb\"\n");
  const char* script = "const e = process.env; console.log(e.MINE, e.OTHER, e.OTHER.length, e.THIRD.length)";
  const auto result = exec({"--env-file", "my.env", "--env", "OTHER=another-value"}, script);
  EXPECT_EQ(result.out, "[REDACTED:env:MINE] [REDACTED:env:OTHER] 13 3\n") << result.err;

  project_.write("bad.env", "MINE=hidden-value\nhidden-value\n");
  const auto refused = exec({"--env-file", "bad.env"}, script);
  EXPECT_EQ(refused.exit_status, 2);
  EXPECT_NE(refused.err.find("bad.env:2: there is no ="), std::string::npos) << refused.err;
  EXPECT_EQ(refused.err.find("hidden-value"), std::string::npos) << refused.err;
  EXPECT_EQ(exec({"--env-file", "missing.env"}, script).exit_status, 2);
}

TEST_P(Exec, SaysThatPackagesCannotBeInstalledHere) {
  ProgramCall call;
  call.arguments = {"exec", "--backend", GetParam(), "--format", "json", "--", "bun", "install"};
  const auto failed = project_.guard(call);
  EXPECT_EQ(failed.exit_status, 1) << failed.err;
  const auto document = failed.document();
  EXPECT_EQ(document["reason"], "command_failed");
  EXPECT_EQ(document["error"]["code"], "DEPENDENCY_UNSATISFIED");
  EXPECT_NE(document["error"]["message"].get<std::string>().find("no network"), std::string::npos);
  EXPECT_NE(document["next"].get<std::string>().find("guard image build"), std::string::npos);

  call.arguments = {"exec", "--backend", GetParam(), "--", "npm", "install"};
  const auto missing = project_.guard(call);
  EXPECT_EQ(missing.exit_status, 2) << missing.err;
  EXPECT_NE(missing.err.find("starting npm"), std::string::npos) << missing.err;
  EXPECT_NE(missing.err.find("no network"), std::string::npos) << missing.err;
}

// The sandbox's user is not the one that runs the tests, where that is root: a folder of the project that it may write
// to.
void open_to_all(const Project& project, const char* folder) {
  std::filesystem::permissions(project.path(), std::filesystem::perms(0755));
  std::filesystem::permissions(project.path() / folder, std::filesystem::perms(0777));
}

TEST_P(Exec, WritesForRealOnlyWhereItIsAskedTo) {
  project_.write("out/deep/old.txt", "old");
  open_to_all(project_, "out");
  open_to_all(project_, "out/deep");
  const char* script =
      "const fs = require('fs'); console.log(fs.readFileSync('out/deep/old.txt', 'utf8'));"
      "fs.writeFileSync('out/deep/new.txt', 'new'); fs.writeFileSync('sandbox/x.txt', 'x');"
      "try { fs.writeFileSync('src/x.ts', ''); } catch (e) { console.log(e.code); }";
  const auto result = exec({"--write", "./out/", "--format", "json"}, script);
  EXPECT_EQ(result.exit_status, 0) << result.err;
  EXPECT_EQ(file("out/deep/new.txt"), "new");
  EXPECT_FALSE(std::filesystem::exists(project_.path() / "sandbox/x.txt"));
  const auto document = result.document();
  EXPECT_EQ(document["stdout"]["text"], "old\nEROFS\n");
  EXPECT_EQ(document["relaxations"][0], "--write ./out/: what the command writes there stays, unchecked");
  EXPECT_EQ(exec({"--write", "out", "--cwd", "out/deep"}, "console.log(process.cwd())").out, "/app/out/deep\n");
}

TEST_P(Exec, WritesToTheSandboxFolderForReal) {
  project_.write("sandbox/old.txt", "old");
  open_to_all(project_, "sandbox");
  const auto result = exec({"--write", "sandbox"},
      "const fs = require('fs'); fs.writeFileSync('sandbox/new.txt', fs.readFileSync('sandbox/old.txt'))");
  EXPECT_EQ(result.exit_status, 0) << result.err;
  EXPECT_EQ(file("sandbox/new.txt"), "old");
}

TEST(ExecOnTheHost, WritesForRealOnlyWhereItIsAskedTo) {
  Project project;
  project.write("out/old.txt", "old\n");
  ProgramCall call;
  call.arguments = {"exec", "--backend", "host", "--write", "out", "--", "/bin/sh", "-c",
      "cat out/old.txt; echo new > out/new.txt; echo x > src/new.ts"};
  call.environment = {{"GUARD_FALLBACK", "host"}};
  const auto result = project.guard(call);
  EXPECT_EQ(result.exit_status, 0) << result.err;
  EXPECT_EQ(result.out, "old\n");
  const auto written = read_file(project.path() / "out/new.txt", 100);
  ASSERT_TRUE(written);
  EXPECT_EQ(*written, "new\n");
  EXPECT_FALSE(std::filesystem::exists(project.path() / "src/new.ts"));
  // From there `..` would lead into the project.
  call.arguments = {"exec", "--backend", "host", "--write", "out", "--cwd", "out", "--", "/bin/sh", "-c", "echo ran"};
  const auto refused = project.guard(call);
  EXPECT_EQ(refused.exit_status, 2) << refused.err;
  EXPECT_EQ(refused.out, "");
}

TEST_P(Exec, RefusesToWriteWhereNoCommandMay) {
  project_.write("a/node_modules/x/index.js", "");
  project_.write("b/.git/HEAD", "");
  project_.write("c/.env", "");
  project_.write("d/x", "");
  project_.write("e/id_rsa", "");
  project_.write("f/\xff/x", "");
  std::error_code failure;
  std::filesystem::create_directory_symlink("d", project_.path() / "link", failure);
  for (const char* folder : {".", "..", "/tmp", "a", "a/node_modules/x", "b", "b/.git", "c", "d/x", "link", "none",
           "src/..", "e", "f/\xff"}) {
    const auto result = exec({"--write", folder}, "console.log('ran')");
    EXPECT_EQ(result.exit_status, 2) << folder << result.err;
    EXPECT_NE(result.err.find("--write"), std::string::npos) << folder << result.err;
    EXPECT_EQ(result.out, "") << folder;
  }
  EXPECT_EQ(exec({"--write", "d", "--write", "d"}, "1").exit_status, 2);
  EXPECT_EQ(project_.guard({"run", "--write", "sandbox"}).exit_status, 64);
}

// It would run as whoever owns the folder, for everybody who starts it.
TEST_P(Exec, LeavesNoProgramsThatRunAsTheirOwner) {
  project_.write("out/old.sh", "#!/bin/sh\n");
  open_to_all(project_, "out");
  std::filesystem::permissions(project_.path() / "out/old.sh", std::filesystem::perms(0666));
  const auto result = exec({"--write", "out"},
      "const fs = require('fs'); const told = [];"
      "const attempt = (act) => { try { act(); told.push('done'); } catch (e) { told.push(e.code); } };"
      "fs.writeFileSync('out/mine', ''); attempt(() => fs.chmodSync('out/mine', 0o755));"
      "for (const bits of [0o4000, 0o2000, 0o6000]) { attempt(() => fs.chmodSync('out/mine', bits | 0o755));"
      "  const fd = fs.openSync('out/mine', 'r+'); attempt(() => fs.fchmodSync(fd, bits | 0o755)); fs.closeSync(fd);"
      "  attempt(() => fs.closeSync(fs.openSync('out/new' + bits, 'w', bits | 0o755))); }"
      "console.log(told.join());");
  EXPECT_EQ(
      result.out,
      "done" +
          [] {
            std::string refused;
            for (int i = 0; i < 9; ++i) refused += ",EPERM";
            return refused;
          }() +
          "\n")
      << result.err;
  for (const auto& entry : std::filesystem::directory_iterator(project_.path() / "out")) {
    const auto special = std::filesystem::perms::set_uid | std::filesystem::perms::set_gid;
    EXPECT_EQ(entry.status().permissions() & special, std::filesystem::perms::none) << entry.path();
  }
}

TEST_P(Exec, SaysWhichVariableIsTooLarge) {
  project_.write("large.env", "LARGE=" + std::string(128u << 10, 'x') + "\n");
  const auto result = exec({"--env-file", "large.env"}, "1");
  EXPECT_EQ(result.exit_status, 2) << result.err;
  EXPECT_NE(result.err.find("LARGE"), std::string::npos) << result.err;
  EXPECT_EQ(result.err.find("nonsense"), std::string::npos) << result.err;
}

// Half a million bytes of all values, with what is masked elsewhere among them.
constexpr const char* kBinary =
    "const b = new Uint8Array(512 * 1024); for (let i = 0; i < b.length; ++i) b[i] = (i * 7 + (i >> 8)) & 255;"
    "const fs = require('fs'); const all = (fd, bytes) => { for (let at = 0; at < bytes.length;) at += "
    "fs.writeSync(fd, "
    "bytes, at); };"
    "all(1, b); all(1, Buffer.from('\\x1b[2J' + process.env.MINE)); all(2, Buffer.from([0, 255, 10]));";

std::string binary() {
  std::string bytes(std::size_t{512} * 1024, '\0');
  for (std::size_t i = 0; i < bytes.size(); ++i) bytes[i] = static_cast<char>((i * 7 + (i >> 8)) & 255);
  return bytes;
}

TEST_P(Exec, WritesEveryByteIntoTheFilesThatAreAskedFor) {
  const std::string expected = binary() + "\x1b[2Jhidden-elsewhere";
  project_.write("out.bin", std::string(std::size_t{1} << 20, 'x'));  // longer than what comes
  const auto result =
      exec({"--out", "out.bin", "--err", "err.bin", "--env", "MINE=hidden-elsewhere", "--format", "json"}, kBinary);
  EXPECT_EQ(result.exit_status, 0) << result.err;
  EXPECT_TRUE(file("out.bin") == expected) << file("out.bin").size();
  EXPECT_EQ(file("err.bin"), std::string("\0\xff\n", 3));
  const auto document = result.document();
  EXPECT_EQ(document["stdout"],
      (nlohmann::json{{"file", "out.bin"}, {"bytes", expected.size()}, {"sha256", sha256_hex(expected)}}));
  EXPECT_EQ(document["stderr"]["bytes"], 3);
  EXPECT_EQ(document["output"]["kept_bytes"], 0);
  EXPECT_EQ(document["relaxations"].size(), 3) << document["relaxations"];
  EXPECT_EQ(result.err.find("hidden-elsewhere"), std::string::npos) << result.err;
  std::error_code failure;
  EXPECT_EQ(std::filesystem::status(project_.path() / "err.bin", failure).permissions() & std::filesystem::perms(0777),
      std::filesystem::perms(0600));
}

TEST_P(Exec, KeepsWhatWasWrittenUntilTheTimeOut) {
  const auto result =
      exec({"--out", "out.txt", "--timeout", "2"}, "process.stdout.write('so far'); setInterval(() => {}, 1000)");
  EXPECT_EQ(result.exit_status, 1) << result.err;
  EXPECT_EQ(file("out.txt"), "so far");
}

TEST_P(Exec, NamesTheFileThatCannotTakeTheOutput) {
  project_.write("input.txt", "input");
  project_.write("bun.lock.txt", "kept");
  project_.write("w/x", "x");
  project_.write("my.env", "MINE=hidden-value\n");
  project_.write("values", "another-hidden-value\n");
  std::error_code failure;
  std::filesystem::create_symlink("input.txt", project_.path() / "link", failure);
  std::filesystem::create_directory_symlink("w", project_.path() / "through", failure);
  std::filesystem::create_hard_link(project_.path() / "bun.lock.txt", project_.path() / "hard", failure);
  struct Case {
    std::vector<std::string> options;
    const char* says;
    int exit_status = 64;
  };
  const Case cases[] = {{{"--out", "missing/out"}, "missing/out", 2}, {{"--err", "."}, "--err"},
      {{"--out", "link"}, "symbolic link"}, {{"--out", "/dev/full"}, "regular file"},
      {{"--out", "same", "--err", "./same"}, "same file"},
      {{"--stdin", "input.txt", "--out", "input.txt"}, "same file"}, {{"--out", "through/x"}, "symbolic link"},
      {{"--out", "hard"}, "hard link"}, {{"--out", "node_modules/x/new"}, "node_modules"},
      {{"--out", "w/x", "--write", "w"}, "--write"}, {{"--env-file", "my.env", "--out", "my.env"}, "my.env"},
      {{"--record", "record.json", "--err", "record.json"}, "--record"}, {{"--out", "package.json"}, "package.json"},
      {{"--out", "guard.toml"}, "guard.toml"}};
  project_.write("node_modules/x/old", "");
  const std::string package = file("package.json");
  for (const Case& wrong : cases) {
    const auto result = exec(wrong.options, "console.log('ran')");
    EXPECT_EQ(result.exit_status, wrong.exit_status) << wrong.says << result.err;
    EXPECT_NE(result.err.find(wrong.says), std::string::npos) << wrong.says << result.err;
    EXPECT_EQ(result.out, "");
  }
  EXPECT_EQ(file("input.txt"), "input");
  EXPECT_EQ(file("my.env"), "MINE=hidden-value\n");
  EXPECT_EQ(file("package.json"), package);
  EXPECT_EQ(file("hard"), "kept");
  for (const char* name : {"same", "record.json", "guard.toml"})
    EXPECT_FALSE(std::filesystem::exists(project_.path() / name)) << name;
  EXPECT_EQ(exec({"--out", "-"}, "1").exit_status, 64);

  // What masks the other stream is not what takes this one.
  project_.write("guard.toml", "[redact]\nmask_file = [\"values\"]\n");
  const auto masked = exec({"--out", "values"}, "console.error('another-hidden-value')");
  EXPECT_EQ(masked.exit_status, 64) << masked.err;
  EXPECT_EQ(masked.err.find("another-hidden"), std::string::npos) << masked.err;
  EXPECT_EQ(file("values"), "another-hidden-value\n");
}

TEST_P(Exec, KeepsTheFileOfARunThatDidNotBegin) {
  project_.write("out.txt", "of the last run");
  const std::string package = file("package.json");
  const auto refused = exec({"--out", "out.txt", "--cwd", "nothing", "--format", "json"}, "1");
  EXPECT_EQ(refused.exit_status, 2) << refused.err;
  EXPECT_EQ(file("out.txt"), "of the last run");
  project_.write("package.json", R"({"dependencies": {"unbuilt": "1.0.0"}})");
  EXPECT_NE(exec({"--out", "new.txt"}, "1").exit_status, 0);
  project_.write("package.json", package);
  EXPECT_FALSE(std::filesystem::exists(project_.path() / "new.txt"));
  EXPECT_EQ(exec({"--out", "out.txt"}, "1").exit_status, 0);
  EXPECT_EQ(file("out.txt"), "");
}

TEST_P(Exec, DoesNotSucceedWhereTheDiskIsFull) {
  std::error_code failure;
  std::filesystem::create_directory(project_.path() / "small", failure);
  ProcessSpec spec;
  spec.argv = {"unshare", "--mount", "sh", "-c", "mount -t tmpfs -o size=64k none small || exit 99; exec \"$@\"", "sh",
      GUARD_PROGRAM, "exec", "--backend", GetParam(), "--out", "small/out", "--", "bun", "-e", kBinary};
  spec.cwd = project_.path();
  spec.env = project_.environment();
  const auto result = run_program(spec);
  if (result.exit_status == 99 || result.err.starts_with("unshare:"))
    GTEST_SKIP() << "nothing can be mounted here: " << result.err;
  EXPECT_EQ(result.exit_status, 2) << result.err;
  EXPECT_NE(result.err.find("small/out"), std::string::npos) << result.err;
}

TEST_P(Exec, PutsBothStreamsIntoTheDocument) {
  const auto result = exec({"--env", "MINE=hidden-value", "--format", "json"},
      "console.log('one', process.env.MINE); console.error('two'); process.exit(3)");
  const auto document = result.document();
  EXPECT_EQ(document["stdout"], (nlohmann::json{{"text", "one [REDACTED:env:MINE]\n"}, {"truncated", false}}))
      << result.out;
  EXPECT_EQ(document["stderr"], (nlohmann::json{{"text", "two\n"}, {"truncated", false}}));

  const auto cut =
      exec({"--format", "json"}, "console.error('x'); process.stdout.write('y'.repeat(100000))").document();
  EXPECT_TRUE(cut["stdout"]["truncated"]);
  EXPECT_EQ(cut["stdout"]["text"].get<std::string>().size() + cut["stderr"]["text"].get<std::string>().size(), 81920);
}

}  // namespace
}  // namespace guard::testing

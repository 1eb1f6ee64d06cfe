// Evidence records of real runs, and `guard verify`: an honest record holds, a tampered one does not.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <unistd.h>

#include <functional>
#include <regex>

#include "common/hash.h"
#include "tests/support/json_schema.h"
#include "tests/support/program/guard_program.h"

namespace guard::testing {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;
using nlohmann::ordered_json;
using ::testing::Contains;
using ::testing::HasSubstr;

constexpr const char* kSchema = GUARD_SOURCE_DIR "/docs/evidence.schema.json";
constexpr std::string_view kPassing =
    "import { expect, test } from \"bun:test\";\nimport { add } from \"../src/add\";\n"
    "test(\"adds\", () => { expect(add(1, 2)).toBe(3); });\n"
    "test(\"adds more\", () => { expect(add(2, 2)).toBe(4); });\n";

std::string text_of(const fs::path& path) {
  auto text = read_file(path, 64u << 20);
  EXPECT_TRUE(text) << text.error().to_string();
  return text.value_or("");
}

json check_named(const json& document, std::string_view name) {
  for (const auto& check : document["checks"]) {
    if (check["name"] == name) return check;
  }
  return nullptr;
}

// Makes the digest fit again, as docs/evidence.md describes it.
std::string sealed(const ordered_json& record) {
  std::string text = record.dump(2) + "\n";
  const std::string zeros(64, '0');
  const std::size_t at = text.rfind("\"digest\": \"") + 11;
  text.replace(at, 64, zeros);
  return text.replace(at, 64, sha256_hex(text));
}

class EvidenceProject {
 public:
  EvidenceProject() { project_.write("sandbox/a.test.ts", kPassing); }

  ProgramResult run(
      std::string_view backend, std::vector<std::string> more = {}, std::string_view record = "record.json") const {
    more.insert(more.begin(), {"--record", std::string(record)});
    return project_.run(backend, {"sandbox/a.test.ts"}, std::move(more));
  }
  ProgramResult verify(std::vector<std::string> more = {}, std::string_view record = "record.json") const {
    more.insert(more.begin(), {"verify", "--format", "json", std::string(record)});
    return project_.guard(std::move(more));
  }
  void expect_verified(int exit_status, std::string_view result) const {
    const auto verified = verify();
    EXPECT_EQ(verified.exit_status, exit_status) << verified.out << verified.err;
    EXPECT_EQ(verified.document().value("result", ""), result);
  }
  json record() const { return json::parse(text_of(project_.path() / "record.json")); }

  Project project_;
};

class Evidence : public ::testing::TestWithParam<std::string>, protected EvidenceProject {
 protected:
  void SetUp() override { GUARD_NEEDS(GetParam() == "docker" ? Needs::docker : Needs::namespace_sandbox); }
  std::string backend() const { return GetParam(); }
};

TEST_P(Evidence, OfAPassFitsTheSchemaAndHolds) {
  project_.write("guard.toml", "[limits]\nmemory = \"1g\"\n");
  const auto result = run(backend());
  ASSERT_EQ(result.exit_status, 0) << result.out << result.err;
  EXPECT_EQ(result.document()["evidence"], "record.json");
  const json found = record();
  EXPECT_EQ(schema_faults(found, kSchema), "");
  EXPECT_EQ(found["verdict"], "allowed");
  EXPECT_EQ(found["project"], ".");
  EXPECT_EQ(found["backend"], backend());
  EXPECT_EQ(found["run_id"], result.document()["run_id"]);
  EXPECT_EQ(found["tests"]["files"],
      json::parse(R"([{"file":"sandbox/a.test.ts","tests":2,"failed":0,"skipped":0,"assertions":2}])"));
  EXPECT_EQ(found["files"]["sha256"]["sandbox/a.test.ts"], sha256_hex(kPassing));
  EXPECT_EQ(found["files"]["sha256"].size(), 4u);
  EXPECT_EQ(found["limits"]["memory_bytes"], 1u << 30);
  EXPECT_EQ(found["config"]["values"]["limits.memory"], "\"1g\"");
  EXPECT_EQ(found["config"]["origins"]["limits.memory"], "guard.toml:2");
  EXPECT_EQ(found["config"]["file"], "guard.toml");
  EXPECT_EQ(found["command"].back(), "./sandbox/a.test.ts");
  EXPECT_EQ(found["seen_inside"]["uid"], "1000");
  EXPECT_TRUE(found["engine"]["version"].is_string()) << found["engine"];
  EXPECT_GT(found["resources"]["wall_ms"], 0);
  EXPECT_EQ(found["bun"]["sha256"].get<std::string>().size(), 64u);
  EXPECT_EQ(found["report_sha256"].get<std::string>().size(), 64u);
  expect_verified(0, "holds");
}

TEST_P(Evidence, OfFoldersOfTestsHolds) {
  project_.write("sandbox/more/b.test.ts",
      "import { expect, test } from \"bun:test\";\ntest(\"b\", () => { expect(1).toBe(1); });\n");
  project_.write("README.md", "No test.");
  project_.build_image(backend());
  for (const std::vector<std::string>& names :
      {std::vector<std::string>{}, {"sandbox"}, {"sandbox/more", "sandbox/a.test.ts", "sandbox/a.test.ts"}}) {
    std::vector<std::string> words = {"run", "--backend", backend(), "--record", "record.json"};
    words.insert(words.end(), names.begin(), names.end());
    ASSERT_EQ(project_.guard(std::move(words)).exit_status, 0);
    EXPECT_EQ(record()["tests"]["files"].size(), 2u);
    expect_verified(0, "holds");
    ordered_json forged = ordered_json::parse(text_of(project_.path() / "record.json"));
    forged["files_asked"] = {"sandbox/a.test.ts"};
    project_.write("record.json", sealed(forged));
    expect_verified(1, "differs");
  }
}

TEST_P(Evidence, OfRefusalsHoldsToo) {
  project_.write("sandbox/a.test.ts",
      "import { expect, test } from \"bun:test\";\ntest(\"wrong\", () => { expect(1).toBe(2); });\n");
  EXPECT_EQ(run(backend()).exit_status, 1);
  EXPECT_EQ(schema_faults(record(), kSchema), "");
  EXPECT_EQ(record()["reason"], "tests_failed");
  expect_verified(0, "holds");

  project_.write("sandbox/a.test.ts",
      "import { test } from \"bun:test\";\ntest(\"dumps\", () => { console.log(JSON.stringify(process.env)); });\n");
  EXPECT_EQ(run(backend()).exit_status, 1);
  EXPECT_EQ(schema_faults(record(), kSchema), "");
  EXPECT_EQ(record()["reason"], "findings");
  EXPECT_EQ(record()["files"]["staged"], false);
  EXPECT_EQ(record()["check"]["findings"][0]["path"], "sandbox/a.test.ts");
  expect_verified(0, "holds");

  project_.write("sandbox/a.test.ts", kPassing);
  ASSERT_EQ(::symlink("/etc/hostname", (project_.path() / "sandbox/link.ts").c_str()), 0);
  project_.write("sandbox/a.test.ts", "import \"./link\";\n" + std::string(kPassing));
  EXPECT_EQ(run(backend()).exit_status, 1);
  EXPECT_EQ(record()["reason"], "findings");
  expect_verified(0, "holds");

  // Refused files that the tests do not load are not part of the run.
  project_.write("sandbox/a.test.ts", kPassing);
  project_.write("sandbox/other.ts", "console.log(JSON.stringify(process.env));\n");
  EXPECT_EQ(run(backend()).exit_status, 0);
  EXPECT_EQ(record()["left_out"], (json{"sandbox/link.ts", "sandbox/other.ts"}));
  expect_verified(0, "holds");
  fs::remove(project_.path() / "sandbox/link.ts");
  fs::remove(project_.path() / "sandbox/other.ts");

  project_.configure("trust_namespace = true\n");
  project_.write(
      "sandbox/a.test.ts", "import { test } from \"bun:test\";\ntest(\"leaves\", () => { process.exit(0); });\n");
  EXPECT_EQ(run(backend()).exit_status, 2);
  EXPECT_EQ(schema_faults(record(), kSchema), "");
  EXPECT_EQ(record()["reason"], "report_missing");
  expect_verified(0, "holds");
}

TEST_P(Evidence, OfACommandHoldsAndMasksIt) {
  project_.build_image(backend());
  const std::string secret = "x9Kx9Lq-7TtR2mWvB4nZpQ1c";
  const auto result = project_.guard({"exec", "--format", "json", "--backend", backend(), "--record", "record.json",
      "--env", "LICENCE=" + secret, "--", "bun", "-e", "console.log('" + secret + "')"});
  ASSERT_EQ(result.exit_status, 0) << result.out << result.err;
  EXPECT_EQ(schema_faults(record(), kSchema), "");
  EXPECT_EQ(text_of(project_.path() / "record.json").find(secret), std::string::npos);
  EXPECT_EQ(record()["reason"], "command_succeeded");
  EXPECT_THAT(record()["relaxations"], Contains("run.env: LICENCE is passed in"));
  expect_verified(0, "holds");
}

TEST_P(Evidence, OfARunThatWasStoppedHolds) {
  project_.build_image(backend());
  project_.write("sandbox/a.test.ts",
      "import { test } from \"bun:test\";\ntest(\"lasts\", async () => { await Bun.sleep(600000); }, 1e9);\n");
  ProcessSpec spec;
  spec.argv = {"timeout", "--preserve-status", "--signal", "TERM", "3", GUARD_PROGRAM, "run", "--backend", backend(),
      "--record", "record.json", "sandbox/a.test.ts"};
  spec.cwd = project_.path().string();
  spec.env = project_.environment();
  EXPECT_EQ(run_program(spec).exit_status, 143);
  EXPECT_EQ(schema_faults(record(), kSchema), "");
  EXPECT_EQ(record()["reason"], "interrupted");
  EXPECT_EQ(record()["exit_status"], 143);
  expect_verified(0, "holds");
}

INSTANTIATE_TEST_SUITE_P(Backends, Evidence, ::testing::Values("namespace", "docker"),
    [](const auto& parameter) { return parameter.param; });

// What a person can do with common tools, by docs/evidence.md.
TEST(EvidenceByHand, DigestsCanBeMadeWithSha256sum) {
  GUARD_NEEDS(Needs::namespace_sandbox);
  const EvidenceProject project;
  ASSERT_EQ(project.run("namespace").exit_status, 0);
  const auto shell = [&](const std::string& script) {
    ProcessSpec spec;
    spec.argv = {"sh", "-c", script};
    spec.cwd = project.project_.path().string();
    spec.env = {{"PATH", "/usr/bin:/bin"}, {"LC_ALL", "C"}};
    return run_program(spec).out.substr(0, 64);
  };
  EXPECT_EQ(
      shell(
          "sed -E 's/^  \"digest\": \"[0-9a-f]{64}\"$/  \"digest\": \"'$(printf %064d 0)'\"/' record.json | sha256sum"),
      project.record()["digest"]);
  EXPECT_EQ(shell("find src sandbox package.json tsconfig.json -type f | sort | xargs sha256sum | sha256sum"),
      project.record()["files"]["digest"]);
}

TEST(EvidenceOnHost, SaysThatThereWasNoSandboxAndHolds) {
  if (std::getenv("GUARD_BUN") == nullptr) GTEST_SKIP() << "GUARD_BUN is not set";
  const EvidenceProject project;
  project.project_.configure("fallback = \"host\"\n");
  const auto result = project.project_.guard(
      {"run", "--format", "json", "--backend", "host", "--record", "record.json", "sandbox/a.test.ts"});
  ASSERT_EQ(result.exit_status, 0) << result.out << result.err;
  EXPECT_EQ(schema_faults(project.record(), kSchema), "");
  EXPECT_THAT(project.record()["relaxations"], Contains("host: the code runs on this machine without isolation"));
  EXPECT_TRUE(project.record()["bun"]["version"].is_string());
  project.expect_verified(0, "holds");
}

TEST(EvidenceOfNothing, ARunThatNeverStartedLeavesARecordToo) {
  const EvidenceProject project;
  const auto result =
      project.project_.guard({"run", "--backend", "docker", "--record", "record.json", "sandbox/a.test.ts"},
          {{"DOCKER_HOST", "unix:///nonexistent/engine.sock"}});
  EXPECT_EQ(result.exit_status, 3);
  EXPECT_EQ(schema_faults(project.record(), kSchema), "");
  EXPECT_EQ(project.record()["reason"], "no_environment");
  project.expect_verified(0, "holds");

  project.project_.write("guard.toml", "tpyo = 1\n");
  EXPECT_EQ(project.project_.guard({"run", "--record", "record.json", "sandbox/a.test.ts"}).exit_status, 2);
  EXPECT_EQ(schema_faults(project.record(), kSchema), "");
  EXPECT_EQ(project.record()["error"]["code"], "CONFIG_INVALID");
  EXPECT_EQ(project.record()["config"], nullptr);
}

TEST(EvidenceFolder, OfTheConfigurationGetsAFileForEveryRun) {
  GUARD_NEEDS(Needs::namespace_sandbox);
  const EvidenceProject project;
  project.project_.write("guard.toml", "[run]\nrecord = \"evidence/runs\"\n");
  for (int i = 0; i < 2; ++i) EXPECT_EQ(project.project_.run("namespace", {"sandbox/a.test.ts"}).exit_status, 0);
  std::vector<std::string> names;
  for (const auto& entry : fs::directory_iterator(project.project_.path() / "evidence/runs"))
    names.push_back(entry.path().filename());
  ASSERT_EQ(names.size(), 2u);
  for (const auto& name : names) {
    EXPECT_TRUE(std::regex_match(name, std::regex("[0-9]{8}T[0-9]{6}Z-r[0-9a-f]{20}\\.json"))) << name;
    EXPECT_EQ(project.verify({}, "evidence/runs/" + name).exit_status, 0);
  }
  // --record stands over it.
  EXPECT_EQ(project.run("namespace").exit_status, 0);
  EXPECT_EQ(project.verify().exit_status, 0);
  EXPECT_EQ(std::distance(fs::directory_iterator(project.project_.path() / "evidence/runs"), {}), 2);
}

TEST(EvidenceThatCannotBeKept, LeavesNoVerdict) {
  GUARD_NEEDS(Needs::namespace_sandbox);
  const EvidenceProject project;
  // Known before the run: nothing is run.
  for (const char* place : {"missing/record.json", "sandbox/record.json"}) {
    const auto result = project.run("namespace", {}, place);
    EXPECT_EQ(result.exit_status, 2) << result.out;
    EXPECT_TRUE(result.document()["exec"].is_null());
  }
  EXPECT_FALSE(fs::exists(project.project_.path() / "sandbox/record.json"));
  // Known after it only: beside it files can be made, but nothing takes the place of what is mounted there.
  const fs::path record = project.project_.path() / "mounted.json";
  project.project_.write("mounted.json", "{}");
  if (::mount(record.c_str(), record.c_str(), nullptr, MS_BIND, nullptr) != 0) GTEST_SKIP() << "no mount here";
  const auto result = project.run("namespace", {}, "mounted.json");
  ::umount2(record.c_str(), MNT_DETACH);
  EXPECT_EQ(result.exit_status, 2) << result.out;
  EXPECT_EQ(result.document()["verdict"], "undecided");
  EXPECT_EQ(result.document()["error"]["code"], "IO_ERROR");
  EXPECT_EQ(result.document()["tests"]["passed"], 2);
  EXPECT_THAT(result.document()["error"]["context"], Contains("keeping the evidence record"));
}

// One honest record; each test changes it, or what it speaks of.
class Verify : public ::testing::Test, protected EvidenceProject {
 protected:
  void SetUp() override {
    GUARD_NEEDS(Needs::namespace_sandbox);
    project_.write("guard.toml", "[limits]\npids = 100\n");
    const auto result = run("namespace", {"--env", "TZ=UTC"});
    ASSERT_EQ(result.exit_status, 0) << result.out << result.err;
    expect_verified(0, "holds");
    honest_ = text_of(project_.path() / "record.json");
  }

  void expect_differs(std::string_view check, std::string_view detail) const {
    const auto verified = verify();
    EXPECT_EQ(verified.exit_status, 1) << verified.out << verified.err;
    const json found = check_named(verified.document(), check);
    EXPECT_EQ(found.value("state", ""), "differs") << check << verified.out;
    EXPECT_THAT(found.dump(), HasSubstr(std::string(detail)));
    EXPECT_FALSE(found.value("next", "").empty());
  }
  void expect_unreadable(std::string_view why, std::string_view record = "record.json") const {
    const auto verified = verify({}, record);
    EXPECT_EQ(verified.exit_status, 2) << verified.out << verified.err;
    EXPECT_EQ(verified.document().value("result", ""), "undecided");
    EXPECT_THAT(verified.document()["error"]["message"], HasSubstr(std::string(why)));
  }
  void forge(const std::function<void(ordered_json&)>& change) const {
    ordered_json record = ordered_json::parse(honest_);
    change(record);
    project_.write("record.json", sealed(record));
  }

  std::string honest_;
};

// Whoever changes the record without the digest is caught whatever it was; the digest is fixed in all that follows.
TEST_F(Verify, ChangedBytesShow) {
  std::string changed = honest_;
  changed.replace(changed.find("\"passed\": 2"), 11, "\"passed\": 3");
  project_.write("record.json", changed);
  expect_differs("digest", "changed after it was written");
  project_.write("record.json", honest_ + "\n");
  expect_differs("digest", "does not end with its digest");
}

TEST_F(Verify, ForgedRecordsContradictThemselves) {
  forge([](auto& r) { r["verdict"] = "rejected"; });
  expect_differs("verdict", "tests_passed does not lead to the verdict rejected");
  forge([](auto& r) { r["reason"] = "all_is_well"; });
  expect_differs("verdict", "no reason called all_is_well");
  forge([](auto& r) { r["exit_status"] = 1; });
  expect_differs("verdict", "exit status 1");
  forge([](auto& r) { r["outcome"]["value"] = 1; });
  expect_differs("proof", "it says tests_passed, and what it holds leads to tests_failed: bun exited with 1");
  forge([](auto& r) { r["tests"]["passed"] = 20; });
  expect_differs("tests", "come to 20 of 2");
  forge([](auto& r) { r["files"]["sha256"].erase("src/add.ts"); });
  expect_differs("file list", "not that of the files listed");
  forge([](auto& r) { r["relaxations"].clear(); });
  expect_differs("relaxations", "run.env: TZ");
  forge([](auto& r) { r["seen_inside"]["seccomp"] = "0"; });
  expect_differs("proof", "without a system call filter");
  forge([](auto& r) { r["config"]["values"]["limits.pids"] = "256"; });
  expect_differs("configuration", "not that of the values listed");
  forge([](auto& r) { r.erase("seen_inside"); });
  expect_differs("shape", "Missing required property 'seen_inside'");
}

// The forger has fixed all that the record says of itself; the project says otherwise.
TEST_F(Verify, ForgedRecordsContradictTheProject) {
  const auto remade = [](ordered_json& record) {
    std::string lines;
    for (const auto& [path, hash] : record["files"]["sha256"].items())
      lines += hash.get<std::string>() + "  " + path + "\n";
    record["files"]["digest"] = sha256_hex(lines);
  };
  forge([&](auto& r) { r["files"]["sha256"]["src/add.ts"] = std::string(64, 'a'), remade(r); });
  expect_differs("project files", "changed: src/add.ts");
  forge([&](auto& r) { r["files"]["sha256"].erase("src/add.ts"), remade(r); });
  expect_differs("project files", "new: src/add.ts");
  forge([](auto& r) { r["rules"]["digest"] = std::string(64, 'a'); });
  expect_differs("rules", "other rules");
  forge([](auto& r) { r["bun"]["sha256"] = std::string(64, 'a'); });
  expect_differs("bun", "another bun");
  forge([](auto& r) { r["image"]["layer_sha256"] = std::string(64, 'a'); });
  expect_differs("image", "something else");
  forge([](auto& r) { r["image"]["id"] = "sha256:" + std::string(64, 'a'); });
  expect_differs("image", "something else");
  forge([](auto& r) { r["guard"]["version"] = "0.0.1"; });
  expect_differs("guard", "guard 0.0.1 wrote it");
  forge([](auto& r) { r["guard"]["sha256"] = std::string(64, 'a'); });
  expect_differs("guard", "another build");
  forge([](auto& r) { r["config"]["file_sha256"] = std::string(64, 'a'); });
  expect_differs("guard.toml", "changed");
}

TEST_F(Verify, WhatChangedInTheProjectShows) {
  project_.write("src/add.ts", "export const add = (a: number, b: number): number => a - b;\n");
  expect_differs("project files", "changed: src/add.ts");
  ASSERT_TRUE(fs::remove(project_.path() / "src/add.ts"));
  expect_differs("project files", "missing: src/add.ts");
  project_.write("src/add.ts", "export const add = (a: number, b: number): number => a + b;\n");
  expect_verified(0, "holds");

  for (const char* path : {"src/deep/more.ts", "sandbox/helper.ts", "sandbox/data.bin", "sandbox/bunfig.toml"}) {
    project_.write(path, "x");
    expect_differs("project files", std::string("new: ") + path);
    fs::remove(project_.path() / path);
  }
  ASSERT_EQ(::symlink("/etc/hostname", (project_.path() / "sandbox/link.ts").c_str()), 0);
  expect_differs("project files", "new: sandbox/link.ts");
  fs::remove(project_.path() / "sandbox/link.ts");
  project_.write("package.json", "{\"name\":\"other\",\"private\":true}\n");
  expect_differs("project files", "changed: package.json");
  project_.write("package.json", "{\"name\":\"under-test\",\"private\":true,\"type\":\"module\"}\n");
  expect_verified(0, "holds");

  project_.write("guard.toml", "[limits]\npids = 101\n");
  expect_differs("guard.toml", "changed");
  ASSERT_TRUE(fs::remove(project_.path() / "guard.toml"));
  expect_differs("guard.toml", "gone");
}

TEST_F(Verify, WhatCannotBeCheckedIsNotOk) {
  const auto elsewhere = TempDir::create();
  ASSERT_TRUE(elsewhere);
  auto verified = verify({"--project", elsewhere->path().string()});
  EXPECT_EQ(check_named(verified.document(), "project files").value("state", ""), "unknown");
  EXPECT_NE(verified.exit_status, 0);

  ProgramCall call;
  call.arguments = {"verify", "--format", "json", "record.json"};
  call.environment = {{"GUARD_CACHE_DIR", elsewhere->path().string()}};
  verified = project_.guard(call);
  EXPECT_EQ(verified.exit_status, 2) << verified.out;
  EXPECT_EQ(check_named(verified.document(), "image").value("state", ""), "unknown");
  EXPECT_THAT(check_named(verified.document(), "image").value("next", ""), HasSubstr("guard image build"));

  forge([](auto& r) {
    r["rules"]["folder"] = "my-rules", r["relaxations"].push_back("rules: my-rules instead of the shipped"),
    r["widenings"] = r["relaxations"];
  });
  verified = verify();
  EXPECT_EQ(verified.exit_status, 2) << verified.out;
  EXPECT_EQ(check_named(verified.document(), "rules").value("state", ""), "unknown");
}

TEST_F(Verify, RefusesWhatIsNoRecord) {
  expect_unreadable("No such file", "missing.json");
  expect_unreadable("a folder", "sandbox");
  const std::string fifo = (project_.path() / "fifo").string();
  ASSERT_EQ(::mkfifo(fifo.c_str(), 0600), 0);
  expect_unreadable("FIFO", "fifo");
  const std::pair<std::string, const char*> hostile[] = {
      {"", "not JSON"},
      {honest_.substr(0, honest_.size() / 2), "not JSON"},
      {std::string(9u << 20, '['), "nested more than 64 levels deep"},
      {"{\"version\": 1, \"run_id\": \"\xc3\x28\"}", "not JSON"},
      {honest_ + std::string(1, '\0'), "NUL"},
  };
  for (const auto& [bytes, why] : hostile) {
    project_.write("record.json", bytes);
    expect_unreadable(why);
  }
  std::string twice = honest_;
  twice.insert(twice.find("\"verdict\""), "\"verdict\": \"allowed\",\n  ");
  project_.write("record.json", twice);
  expect_unreadable("twice in one object");
  forge([](auto& r) { r["version"] = 2; });
  expect_unreadable("version 2");
  ASSERT_EQ(::truncate((project_.path() / "record.json").c_str(), 40 << 20), 0);
  expect_unreadable("the limit is");
}

// A record may have been written by anybody: nothing of it reaches the terminal as it is, and no path in it is
// followed.
TEST_F(Verify, ShowsNoControlCharactersOfARecord) {
  forge([](auto& r) {
    r["verdict"] = "allowed\x1b[2J", r["run_id"] = "\x1b]0;x\x07", r["image"]["reference"] = "\x1b[31m";
  });
  const auto verified = project_.guard({"verify", "record.json"});
  EXPECT_EQ(verified.exit_status, 1);
  EXPECT_EQ((verified.out + verified.err).find('\x1b'), std::string::npos) << verified.out;
  EXPECT_THAT(verified.out, HasSubstr("next: "));
}

TEST(VerifyExample, TheOneInTheDocsIsWhole) {
  const json record = json::parse(text_of(GUARD_SOURCE_DIR "/examples/evidence.json"));
  EXPECT_EQ(schema_faults(record, kSchema), "");
  const EvidenceProject project;
  const auto verified = project.verify({}, GUARD_SOURCE_DIR "/examples/evidence.json");
  for (const char* name :
      {"digest", "shape", "verdict", "proof", "tests", "file list", "configuration", "relaxations", "times"}) {
    EXPECT_EQ(check_named(verified.document(), name).value("state", ""), "ok") << name << verified.out;
  }
}

}  // namespace
}  // namespace guard::testing

// What a process executor and its backends promise, row by row, in each backend.
#include <gtest/gtest.h>

#include "runner/image/bun_binary.h"
#include "tests/support/program/guard_program.h"

namespace guard::testing {
namespace {

struct Row {
  const char* promise;
  std::vector<std::string> options;
  const char* script;
  int exit_status;
  std::string out;        // all of standard output
  std::string code = {};  // of the typed error
  bool isolated = false;  // promised where something isolates
};

const std::vector<Row>& rows() {
  static const std::vector<Row> kRows = {
      {"arguments as they are, without a shell", {}, "console.log(process.argv.slice(1).join('|'))", 0,
          "$HOME|*|a b\n"},
      {"a working directory", {"--cwd", "src"}, "console.log(process.cwd().split('/').pop())", 0, "src\n"},
      {"the project's folder without one", {}, "console.log(require('fs').existsSync('src/a.ts'))", 0, "true\n"},
      {"a variable", {"--env", "SIZE=four"}, "console.log(process.env.SIZE.length)", 0, "4\n"},
      {"none of guard's own", {}, "console.log(process.env.OF_GUARD ?? 'none')", 0, "none\n"},
      {"input that is piped", {"--stdin", "-"}, "console.log(await Bun.stdin.text())", 0, "hi\n"},
      {"no input", {}, "console.log((await Bun.stdin.text()).length)", 0, "0\n"},
      {"two streams", {}, "console.log('one'); console.error('two')", 0, "one\n"},
      {"the exit code", {"--exit-code", "program"}, "process.exit(7)", 7, ""},
      {"guard's verdict without that", {}, "process.exit(7)", 1, ""},
      {"a time limit in milliseconds", {"--timeout", "1500ms"}, "setInterval(() => {}, 1000)", 1, "",
          "EXECUTION_TIMEOUT"},
      {"no network", {}, "try { await fetch('http://192.0.2.1/'); } catch { console.log('closed'); }", 0, "closed\n",
          "", true},
      {"a project that can't be changed", {},
          "try { require('fs').writeFileSync('src/a.ts', ''); } catch { console.log('kept'); }", 0, "kept\n", "", true},
      {"an unprivileged user", {}, "console.log(process.getuid())", 0, "1000\n", "", true},
      {"a home of its own", {}, "console.log(process.env.HOME)", 0, "/tmp\n", "", true},
  };
  return kRows;
}

class BackendRows : public ::testing::TestWithParam<const char*> {
 protected:
  void SetUp() override {
    GUARD_NEEDS(isolated() ? (backend() == "docker" ? Needs::docker : Needs::namespace_sandbox) : Needs::nothing);
    if (isolated()) project_.build_image(backend());
    project_.write("src/a.ts", "export {};\n");
    if (!isolated()) project_.configure("backend = \"host\"\n");
  }
  static std::string_view backend() { return GetParam(); }
  static bool isolated() { return backend() != "host"; }

  // The host has the one of the machine.
  static std::string bun() { return isolated() ? "bun" : find_bun().value().string(); }

  ProgramResult exec(const std::vector<std::string>& options, const std::vector<std::string>& command) const {
    ProgramCall call;
    call.arguments = {"exec", "--backend", std::string(backend()), "--format", "json"};
    call.arguments.insert(call.arguments.end(), options.begin(), options.end());
    call.arguments.emplace_back("--");
    call.arguments.insert(call.arguments.end(), command.begin(), command.end());
    call.environment = {{"OF_GUARD", "seen"}};
    call.stdin_text = "hi";
    return project_.guard(call);
  }

  Project project_;
};

INSTANTIATE_TEST_SUITE_P(Backends, BackendRows, ::testing::Values("namespace", "docker", "host"),
    [](const auto& parameter) { return parameter.param; });

TEST_P(BackendRows, EachHolds) {
  for (const Row& row : rows()) {
    if (row.isolated && !isolated()) continue;
    SCOPED_TRACE(row.promise);
    const auto result = exec(row.options, {bun(), "-e", row.script, "$HOME", "*", "a b"});
    EXPECT_EQ(result.exit_status, row.exit_status) << result.out << result.err;
    const auto document = result.document();
    EXPECT_EQ(document["backend"], backend());
    EXPECT_EQ(document["stdout"]["text"], row.out) << result.err;
    EXPECT_EQ(document.contains("error") ? document["error"].value("code", "") : "", row.code) << result.out;
  }
}

TEST_P(BackendRows, TheStreamsStayTwo) {
  const auto document = exec({}, {bun(), "-e", "console.log('one'); console.error('two')"}).document();
  EXPECT_EQ(document["stdout"]["text"], "one\n");
  EXPECT_EQ(document["stderr"]["text"], "two\n");
}

TEST_P(BackendRows, AProgramThatIsNotThereIsATypedError) {
  const auto result = exec({}, {"no-such-program"});
  EXPECT_EQ(result.exit_status, 2) << result.out;
  EXPECT_EQ(result.document()["error"]["code"], "FILE_NOT_FOUND") << result.out;
}

TEST(BackendChoiceRows, WhereNothingCanBeUsedItIsUnavailable) {
  const Project project;
  const auto result = project.guard(
      {"exec", "--format", "json", "--", "true"}, {{"GUARD_BACKEND", "container-use"}, {"GUARD_FALLBACK", "none"}});
  EXPECT_EQ(result.exit_status, 3) << result.out;
  EXPECT_EQ(result.document()["error"]["code"], "ENVIRONMENT_UNAVAILABLE") << result.out;
  EXPECT_EQ(result.document()["error"]["details"]["environmentType"], "container-use") << result.out;
}

TEST(BackendChoiceRows, AnUnknownBackendIsAFaultOfTheConfiguration) {
  const Project project;
  const auto result = project.guard({"exec", "--format", "json", "--", "true"}, {{"GUARD_FALLBACK", "docker,kvm"}});
  EXPECT_EQ(result.exit_status, 2) << result.out;
  EXPECT_EQ(result.document()["error"]["code"], "CONFIG_INVALID") << result.out;
}

TEST(BackendChoiceRows, TheHostIsTheLastResortAndSaysSo) {
  const Project project;
  project.configure("backend = \"container-use\"\nfallback = \"host\"\n");
  const auto result = project.guard({"exec", "--format", "json", "--", "true"});
  EXPECT_EQ(result.exit_status, 0) << result.out << result.err;
  const auto document = result.document();
  EXPECT_EQ(document["backend"], "host");
  EXPECT_NE(document["relaxations"].dump().find("fallback: the host in place of container-use"), std::string::npos);
  EXPECT_NE(result.err.find("without isolation"), std::string::npos) << result.err;
}

}  // namespace
}  // namespace guard::testing

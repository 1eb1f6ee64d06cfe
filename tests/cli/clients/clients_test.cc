// Clients of others, against guard as it is built: MCP's SDK and conformance suite, E2B's, OpenTelemetry's schema.
// Skipped where npm has not installed them, unless GUARD_TEST_REQUIRE_CLIENTS says that they have to be there.
#include <arpa/inet.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include <chrono>
#include <cstdlib>
#include <map>
#include <sstream>
#include <thread>

#include "common/environment.h"
#include "common/file_io.h"
#include "common/hash.h"
#include "common/text/text.h"
#include "tests/support/program/guard_program.h"

namespace guard::testing {
namespace {

namespace fs = std::filesystem;
using ::testing::Contains;
using ::testing::EndsWith;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

std::string variable(const char* name) { return value_of(process_environment(), name); }

class ForeignClients : public ::testing::Test {
 protected:
  void SetUp() override {
    if (variable("GUARD_CLIENTS").empty()) {
      if (!variable("GUARD_TEST_REQUIRE_CLIENTS").empty()) FAIL() << "GUARD_CLIENTS is not set";
      GTEST_SKIP() << "GUARD_CLIENTS is not set";
    }
    GUARD_NEEDS(Needs::namespace_sandbox);
    project_.build_image("namespace");
    project_.write("sandbox/a.test.ts",
        "import { expect, test } from 'bun:test';\ntest('one', () => { expect(1 + 1).toBe(2); });\n");
    ASSERT_EQ(::chmod(state_.path().c_str(), 0711), 0);
  }
  void TearDown() override {
    if (serve_ <= 0) return;
    ::kill(serve_, SIGTERM);
    ::waitpid(serve_, nullptr, 0);
  }

  // Starts `guard serve` on a port, and sets address_.
  void serve(const std::string& backend = "namespace", const std::vector<std::string>& more = {}) {
    const int port = 20'000 + ::getpid() % 20'000;
    address_ = "127.0.0.1:" + std::to_string(port);
    std::vector<std::string> words = {
        "serve", "--state", state_.path(), "--backend", backend, "--project", project_.path(), "--listen", address_};
    words.insert(words.end(), more.begin(), more.end());
    serve_ = start_guard(words, project_.environment());
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    address.sin_port = htons(static_cast<std::uint16_t>(port));
    for (int i = 0; i < 600; ++i) {
      const UniqueFd fd(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
      if (::connect(fd.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0) return;
      std::this_thread::sleep_for(milliseconds(50));
    }
    ADD_FAILURE() << "guard serve does not listen";
  }
  std::string token() const {
    const std::string text = read_file(state_.path() / "sessions/token", 1000).value_or("");
    return text.substr(0, text.find('\n'));
  }

  ProgramResult script(std::vector<std::string> words, const std::map<std::string, std::string>& more = {}) const {
    ProcessSpec spec;
    spec.argv = {run_by_};
    spec.argv.insert(spec.argv.end(), words.begin(), words.end());
    spec.cwd = project_.path();
    spec.env = project_.environment();
    for (const auto& [name, value] : more) spec.env[name] = value;
    spec.deadline = Deadline::after(std::chrono::minutes(4));
    return run_program(spec);
  }
  std::vector<std::string> sdk(std::vector<std::string> more = {}) const {
    std::vector<std::string> words = {GUARD_SOURCE_DIR "/tests/cli/clients/mcp_client.mjs", variable("GUARD_CLIENTS"),
        GUARD_PROGRAM, state_.path(), project_.path()};
    words.insert(words.end(), more.begin(), more.end());
    return words;
  }

  // "COMMAND | EXIT CODE | STDOUT | STDERR"
  static std::vector<std::string> steps_of(const std::string& trace) {
    std::vector<std::string> steps;
    std::istringstream lines(read_file(trace, 64u << 20).value_or(""));
    for (std::string line; std::getline(lines, line);) {
      const auto event = nlohmann::json::parse(line, nullptr, false);
      if (event["event"] != "SKILL_EXECUTION_STEP") continue;
      steps.push_back(event["command"].get<std::string>() + " | " + event["exit_code"].dump() + " | " +
          event["stdout"].get<std::string>() + " | " + event["stderr"].get<std::string>());
    }
    return steps;
  }

  Project project_;
  const TempDir state_ = *TempDir::create();
  pid_t serve_ = -1;
  std::string run_by_ = variable("GUARD_BUN");
  std::string address_;
};

TEST_F(ForeignClients, TheSdkCallsEveryToolOverPipes) {
  const auto result = script(sdk());
  EXPECT_EQ(result.out, "ok\n") << result.err;
}

TEST_F(ForeignClients, TheSdkCallsEveryToolOverHttp) {
  serve();
  const auto result = script(sdk({address_, token()}));
  EXPECT_EQ(result.out, "ok\n") << result.err;
}

// The other scenarios of the suite want tools, prompts and texts of their own, which a test server offers.
TEST_F(ForeignClients, TheConformanceSuiteFindsNothing) {
  serve();
  const auto result = script({GUARD_SOURCE_DIR "/tests/cli/clients/conformance.mjs", variable("GUARD_CLIENTS"),
      address_, token(), "server-initialize", "ping", "tools-list", "resources-list", "server-sse-multiple-streams"});
  EXPECT_THAT(result.out, EndsWith("ok\n")) << result.err;
}

TEST_F(ForeignClients, OpenTelemetrysSchemaHoldsOfWhatIsExported) {
  const auto result = script({GUARD_SOURCE_DIR "/tests/cli/clients/otlp.mjs", variable("GUARD_CLIENTS"), GUARD_PROGRAM,
      state_.path(), project_.path()});
  EXPECT_EQ(result.out, "ok\n") << result.err;
}

TEST_F(ForeignClients, PrometheusScrapesTheMetrics) {
  if (!fs::exists("/usr/bin/prometheus")) GTEST_SKIP() << "prometheus is not installed";
  serve();
  project_.write("prometheus.yml",
      "scrape_configs:\n  - job_name: guard\n    scrape_interval: 1s\n    authorization:\n"
      "      credentials_file: " +
          (state_.path() / "sessions/token").native() + "\n    static_configs: [{targets: ['" + address_ +
          "']}]\nrule_files: [" GUARD_SOURCE_DIR "/monitoring/alerts.yml]\n");
  const auto result = script({GUARD_SOURCE_DIR "/tests/cli/clients/prometheus.mjs", "prometheus.yml"});
  EXPECT_EQ(result.out, "ok\n") << result.err;
}

// An image with a shell, a few programs, Python and bun, made of this machine's.
std::string image_of_this_machine(const Project& project) {
  const fs::path root = project.path() / "image";
  const std::string programs =
      "/bin/sh /bin/cat /bin/sleep /bin/ls /bin/ln /usr/bin/head /usr/bin/tr /usr/bin/python3 " + variable("GUARD_BUN");
  ProcessSpec spec;
  spec.argv = {"/bin/sh", "-ec",
      "root=$1; shift; mkdir -p $root/usr/bin $root/usr/lib $root/tmp; ln -s usr/bin $root/bin;"
      "ln -s usr/lib $root/lib; test ! -e /lib64 || cp -L --parents /lib64/ld-linux* $root;"
      "for p; do cp -L $p $root/usr/bin; ldd $p | sed -n 's/.*=> \\(\\/[^ ]*\\).*/\\1/p'; done | sort -u |"
      "while read l; do mkdir -p $root/usr$(dirname ${l#/usr}); cp -L $l $root/usr${l#/usr}; done;"
      "cp -a --parents $(/usr/bin/python3 -c 'import os; print(os.path.dirname(os.__file__))') $root",
      "sh", root};
  std::istringstream words(programs);
  for (std::string word; words >> word;) spec.argv.push_back(word);
  spec.env = process_environment();
  const auto copied = run_program(spec);
  EXPECT_EQ(copied.exit_status, 0) << copied.err;
  const std::string name = "machine";
  const auto imported = project.guard({"image", "import", name, root.native()});
  EXPECT_EQ(imported.exit_status, 0) << imported.err;
  return name;
}

TEST_F(ForeignClients, ThoseOfE2bDoAllThatIsOffered) {
  if (!fs::exists("/usr/bin/python3")) GTEST_SKIP() << "python3 is not installed";
  const std::string image = image_of_this_machine(project_);
  for (const char* backend : {"namespace", "docker"}) {
    // The two take an end of a connection for different things.
    const auto node = find_program("node", process_environment());
    run_by_ = backend == std::string("namespace") && node ? *node : variable("GUARD_BUN");
    if (backend == std::string("docker") && !missing(Needs::docker).empty()) continue;
    const std::string trace = state_.path() / (backend + std::string(".jsonl"));
    serve(backend, {"--image", image, "--trace", trace});
    const auto result = script({GUARD_SOURCE_DIR "/tests/cli/clients/e2b_client.mjs", variable("GUARD_CLIENTS")},
        {{"E2B_API_URL", "http://" + address_}, {"E2B_SANDBOX_URL", "http://" + address_},
            {"E2B_API_KEY", "e2b_" + token()}});
    EXPECT_EQ(result.out, "ok\n") << backend << ": " << result.err;
    const auto told = steps_of(trace);
    EXPECT_THAT(told, Contains("echo hi; echo err >&2; echo $X $A; pwd | 0 | hi\n1 2\n/home/user\n | err\n"));
    EXPECT_THAT(told, Contains("exit 3 | 3 |  | "));
    EXPECT_THAT(told, Contains("sleep 100 | null |  | "));
    EXPECT_THAT(told, Contains("x = 20 + 1\nprint(\"h\u00e9\")\nx * 2 | 0 | h\u00e9\n | "));
    EXPECT_THAT(told, Contains(StartsWith("1 / 0 | 1 |  | Traceback")));
    EXPECT_THAT(told, Not(Contains(HasSubstr("def serve()"))));
    TearDown();
    serve_ = -1;
    // The script leaves sandboxes open.
    const auto left =
        project_.guard({"session", "list", "--state", state_.path(), "--backend", backend, "--format", "json"})
            .document();
    EXPECT_EQ(left["sessions"], nlohmann::json::array()) << backend;
  }
}

// examples/documents, as its README says it, and the same by clients.
TEST_F(ForeignClients, MakeDocumentsByEveryDoor) {
  if (!fs::exists("/usr/bin/mmdebstrap")) GTEST_SKIP() << "mmdebstrap is not installed";
  const fs::path example = project_.path() / "documents";
  fs::copy(GUARD_SOURCE_DIR "/examples/documents", example);
  fs::create_directory_symlink(fs::path(variable("GUARD_CLIENTS")) / "node_modules", example / "node_modules");
  const auto built = project_.guard({"image", "build", "--template", "bun", "office", "--package",
      "libreoffice-impress-nogui", "--package", "libreoffice-writer-nogui", "--package", "poppler-utils", "--package",
      "python3-docx", "--package", "python3-openpyxl", "--package", "fonts-liberation"});
  // Debian's packages come from elsewhere.
  if (built.err.find("mmdebstrap did not make the image") != std::string::npos) GTEST_SKIP() << built.err;
  ASSERT_EQ(built.exit_status, 0) << built.err;
  const fs::path trace = project_.path() / "trace.jsonl";
  serve("namespace", {"--image", "office", "--artifacts", "all", "--trace", trace});
  ProcessSpec spec;
  spec.argv = {"./make.sh"};
  spec.cwd = example;
  spec.env = project_.environment();
  spec.env["GUARD_STATE_DIR"] = state_.path();
  spec.env["PATH"] = fs::path(GUARD_PROGRAM).parent_path().native() + ":" +
      fs::path(variable("GUARD_BUN")).parent_path().native() + ":/usr/bin:/bin";
  spec.deadline = Deadline::after(std::chrono::minutes(3));
  const auto made = run_program(spec);
  ASSERT_EQ(made.exit_status, 0) << made.out << made.err;
  const std::vector<std::string> common = {GUARD_SOURCE_DIR "/tests/cli/clients/documents.mjs",
      variable("GUARD_CLIENTS"), example / "deck.js", example / "report.py"};
  for (const std::vector<std::string>& way :
      {std::vector<std::string>{"cli", example}, {"e2b"}, {"mcp", address_, token()}}) {
    std::vector<std::string> words = common;
    words.insert(words.end(), way.begin(), way.end());
    const auto result = script(words,
        {{"E2B_API_URL", "http://" + address_}, {"E2B_SANDBOX_URL", "http://" + address_},
            {"E2B_API_KEY", "e2b_" + token()}});
    EXPECT_EQ(result.out, "ok\n") << way.front() << ": " << result.err;
  }
  // What each session has run and made, by the trace and by the catalogue.
  std::map<std::string, std::vector<std::string>> commands;
  std::map<std::string, std::map<std::string, std::string>> told;
  const std::string lines = *read_file(trace, 1u << 20);
  for (const std::string_view line : pieces_of(lines)) {
    const auto event = nlohmann::json::parse(line);
    if (event["event"] == "SKILL_EXECUTION_STEP") {
      EXPECT_EQ(event["exit_code"], 0) << line;
      commands[event["session"]].push_back(event["command"]);
    } else {
      told[event["session"]][event["filename"]] = event["sha256"];
    }
  }
  ASSERT_EQ(commands.size(), 3U);
  std::map<std::string, std::map<std::string, std::string>> catalogued;
  const auto list = project_.guard({"artifacts", "list", "--state", state_.path(), "--format", "json"}).document();
  for (const auto& row : list["artifacts"]) {
    EXPECT_EQ(row["kept"], true) << row.dump();
    catalogued[row["session"]][row["name"]] = row["sha256"];
  }
  EXPECT_EQ(catalogued, told);
  for (const auto& [session, ran] : commands) {
    EXPECT_EQ(ran.size(), 4U) << session;
    EXPECT_THAT(ran.back(), HasSubstr("pdftoppm")) << session;
    EXPECT_EQ(catalogued[session].count("deck.js"), 0U) << "uploaded, not made";
    for (const char* name : {"deck.pptx", "deck.pdf", "slide-1.png", "report.docx", "report.pdf", "sales.xlsx"}) {
      EXPECT_EQ(catalogued[session].count(name), 1U) << session << name;
      const fs::path here = example / name;
      if (session != "documents/example") continue;
      EXPECT_EQ(catalogued[session][name], sha256_hex(*read_file(here, 1u << 24))) << name;
    }
  }
  const auto got = project_.guard(
      {"artifacts", "get", "sales.xlsx", "--session", "documents/example", "--output", "-", "--state", state_.path()});
  EXPECT_EQ(sha256_hex(got.out), catalogued["documents/example"]["sales.xlsx"]);
}

}  // namespace
}  // namespace guard::testing

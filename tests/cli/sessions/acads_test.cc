// `guard session --backend acads` through the binary, with a scripted session pool: what it offers, what it refuses,
// that it says what it can't prove, and that no verdict comes from there.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>

#include "tests/support/engine/azure_pool.h"
#include "tests/support/program/guard_program.h"

namespace guard::testing {
namespace {

using nlohmann::json;
using ::testing::HasSubstr;
using ::testing::Not;

constexpr const char* kSession = "me/first";
constexpr const char* kUnproved = "the session is at Azure, where guard can prove nothing about what confines it";

class AcadsProgram : public ::testing::Test {
 protected:
  ProgramResult session(std::vector<std::string> words, std::string input = {}) {
    words.insert(words.begin(), "session");
    words.insert(words.begin() + 2, {"--backend", "acads"});
    return guard(std::move(words), std::move(input));
  }

  ProgramResult guard(std::vector<std::string> words, std::string input = {}) {
    ProgramCall call;
    call.arguments = std::move(words);
    call.environment = pool_.environment();
    call.environment["GUARD_LOG"] = "trace";
    for (const auto& [name, value] : more_) call.environment[name] = value;
    call.stdin_text = std::move(input);
    ProgramResult result = project_.guard(std::move(call));
    for (const std::string& text : {result.out, result.err}) {
      EXPECT_THAT(text, Not(HasSubstr("s3cret")));
      EXPECT_THAT(text, Not(HasSubstr(std::string(AzurePool::kToken))));
    }
    return result;
  }

  void expect_error(const ProgramResult& result, int exit_status, std::string_view code, std::string_view words) const {
    EXPECT_EQ(result.exit_status, exit_status) << result.out << result.err;
    EXPECT_THAT(result.err, HasSubstr(std::string(code)));
    EXPECT_THAT(result.err, HasSubstr(std::string(words)));
    EXPECT_EQ(result.out, "");
  }

  Project project_;
  AzurePool pool_;
  std::map<std::string, std::string> more_;
};

TEST_F(AcadsProgram, OpensRunsMovesFilesListsAndCloses) {
  const auto opened = session({"open", kSession, "--format", "json"});
  ASSERT_EQ(opened.exit_status, 0) << opened.err;
  EXPECT_EQ(opened.document(), json({{"session", kSession}, {"backend", "acads"}, {"proof", "none"}}));
  EXPECT_THAT(opened.err, HasSubstr(kUnproved));

  project_.write("data.csv", "1,2\n");
  const auto uploaded = session({"upload", kSession, "data.csv", "/workspace/data.csv", "--format", "json"});
  ASSERT_EQ(uploaded.exit_status, 0) << uploaded.err;
  EXPECT_EQ(uploaded.document(),
      json({{"path", "/workspace/data.csv"}, {"bytes", 4}, {"backend", "acads"}, {"proof", "none"}}));

  const auto ran = session({"exec", kSession, "--stdin", "-", "--env", "WORD=there-is-a-word", "--", "sh", "-c",
                               "pwd; cat data.csv -; echo $WORD >&2; cp data.csv out.csv; exit 7"},
      "from here\n");
  EXPECT_EQ(ran.exit_status, 7);
  EXPECT_EQ(ran.out, "/mnt/data\n1,2\nfrom here\n");
  EXPECT_THAT(ran.err, HasSubstr("[REDACTED"));  // the value of --env is masked, as in any session
  EXPECT_THAT(ran.err, HasSubstr(kUnproved));

  const auto listed = session({"ls", kSession, "--format", "json"});
  ASSERT_EQ(listed.exit_status, 0) << listed.err;
  const json document = listed.document();
  EXPECT_EQ(document["backend"], "acads");
  EXPECT_EQ(document["proof"], "none");
  EXPECT_EQ(document["entries"][1], json({{"type", "file"}, {"size", 4}, {"path", "out.csv"}}));

  const auto got = session({"download", kSession, "out.csv"});
  EXPECT_EQ(got.out, "1,2\n") << got.err;
  EXPECT_THAT(got.err, HasSubstr(kUnproved));

  expect_error(session({"close", kSession}), 64, "USAGE", "--remove");
  EXPECT_TRUE(std::filesystem::exists(pool_.path() / "data" / "out.csv"));
  EXPECT_EQ(session({"close", kSession, "--remove"}).exit_status, 0);
  EXPECT_FALSE(std::filesystem::exists(pool_.path() / "data" / "out.csv"));
}

TEST_F(AcadsProgram, SaysThatACommandRanOutOfTimeOrPrintedTooMuch) {
  const auto late = session({"exec", kSession, "--timeout", "200ms", "--", "sleep", "1000"});
  EXPECT_EQ(late.exit_status, 124) << late.err;
  const auto flood = session({"exec", kSession, "--", "sh", "-c", "head -c 1000000 /dev/zero | tr '\\0' 'a'"});
  EXPECT_EQ(flood.exit_status, 0) << flood.err;
  EXPECT_THAT(flood.err, HasSubstr("256 KB"));
  expect_error(session({"exec", kSession, "--", "no-such-program"}), 2, "EXECUTION_FAILED", "can't be started");
}

TEST_F(AcadsProgram, GivesNoVerdictAndNoOtherSandbox) {
  project_.write(
      "sandbox/a.test.ts", "import { expect, test } from \"bun:test\";\ntest(\"a\", () => expect(1).toBe(1));\n");
  expect_error(guard({"run", "--backend", "acads", "sandbox/a.test.ts"}), 64, "--backend", "not \"acads\"");
  for (const char* verb : {"exec", "shell", "serve", "mcp"}) {
    const auto refused = guard({verb, "--backend", "acads", "--", "true"});
    EXPECT_EQ(refused.exit_status, 64) << verb << refused.out << refused.err;
  }
  for (const char* key : {"GUARD_BACKEND", "GUARD_FALLBACK"}) {
    more_ = {{key, "acads"}};
    const auto refused = guard({"run", "--format", "json", "sandbox/a.test.ts"});
    EXPECT_EQ(refused.exit_status, 2) << refused.out << refused.err;
    EXPECT_THAT(refused.out + refused.err, HasSubstr("CONFIG_INVALID"));
    EXPECT_THAT(refused.out, Not(HasSubstr("\"allowed\"")));
  }
  EXPECT_TRUE(pool_.requests().empty());
}

TEST_F(AcadsProgram, RefusesWhatASessionAtAzureHasNot) {
  const std::vector<std::vector<std::string>> wrong = {{"exec", kSession, "--tty", "--", "sh"},
      {"exec", kSession, "--background", "--", "sh"}, {"watch", kSession}, {"port", kSession, "80", "--unix", "a"},
      {"list"}, {"commands", kSession}, {"log", kSession, "1"}, {"stats"}, {"open", kSession, "--image", "python"}};
  for (const auto& words : wrong)
    expect_error(session(words), 64, "USAGE", "open, exec, upload, download, ls and close");
  for (const char* path : {"a/b", "../a", "/etc/passwd"})
    expect_error(session({"download", kSession, path}), 2, "INPUT_INVALID", "files lie in /workspace");
  expect_error(session({"ls", kSession, "folder"}), 2, "INPUT_INVALID", "no folders");
  expect_error(session({"exec", kSession, "--timeout", "3600", "--", "true"}), 2, "INPUT_INVALID", "--timeout 210");
  project_.write("large", "");
  std::filesystem::resize_file(project_.path() / "large", (128u << 20) + 1);
  expect_error(session({"upload", kSession, "large", "large"}), 2, "FILE_TOO_LARGE", "128 MB");
  EXPECT_TRUE(pool_.requests().empty());
}

TEST_F(AcadsProgram, EndsWithTheErrorAndTheHintOfWhatWentWrong) {
  const auto fails = [&](const char* start, const json& reply) { pool_.behave({{start, {reply}}}); };
  expect_error(session({"download", kSession, "missing"}), 2, "FILE_NOT_FOUND", "guard session ls");
  fails("POST /pool/files", {{"status", 413}});
  project_.write("a", "bytes");
  expect_error(session({"upload", kSession, "a", "a"}), 2, "FILE_TOO_LARGE", "128 MB");
  fails("POST /pool/executions", {{"status", 403}});
  expect_error(session({"exec", kSession, "--", "true"}), 3, "ENVIRONMENT_UNAVAILABLE", "Session Executor");
  fails("GET /pool/files", {{"status", 429}, {"headers", {{"Retry-After", "4000"}}}});
  expect_error(session({"ls", kSession}), 3, "ENVIRONMENT_UNAVAILABLE", "try again in 4000 s");
  fails("GET /pool/files", {{"body", "half"}, {"cut", true}});
  expect_error(session({"download", kSession, "a"}), 2, "PROTOCOL_ERROR", "broke off");
  fails("POST /tenant.example/", {{"status", 401}, {"body", {{"error_description", "no s3cret/of+the&app here"}}}});
  expect_error(session({"ls", kSession}), 3, "ENVIRONMENT_UNAVAILABLE", "[REDACTED:azure] here");
  more_ = {{"SSL_CERT_FILE", "/nowhere.pem"}};
  expect_error(session({"ls", kSession}), 3, "ENVIRONMENT_UNAVAILABLE", "/nowhere.pem");
}

TEST_F(AcadsProgram, IsInTheReportOfTheDoctorWhereItIsConfigured) {
  EXPECT_THAT(guard({"doctor"}).out, HasSubstr("guard was never tried against Azure"));
  EXPECT_THAT(project_.guard({"doctor"}).out, Not(HasSubstr("acads")));
  EXPECT_TRUE(pool_.requests().empty());
}

}  // namespace
}  // namespace guard::testing

#include "runner/init_side/bun_report.h"

#include <fmt/format.h>

#include "runner/image/bun_binary.h"
#include "runner/image/image.h"
#include "runner/process/subprocess.h"
#include "tests/support/runner/sandbox_fixture.h"

namespace guard {
namespace {

std::string with_declaration(const std::string& root) {
  return "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n" + root + "\n";
}

// As bun 1.4.5 writes it; {} are the root's counts and the inner group's tests.
const std::string kDocument = with_declaration(
    R"(<testsuites name="bun test" tests="5" assertions="4" failures="1" skipped="1" time="0.005">
  <testsuite name="sandbox/a.test.ts" file="sandbox/a.test.ts" tests="4" assertions="3" failures="1" skipped="1" time="0.001" hostname="vm">
    <testcase name="top &lt;&amp;&quot;&apos;&gt;" classname="" time="0.000025" file="sandbox/a.test.ts" line="2" assertions="1" />
    <testsuite name="group" file="sandbox/a.test.ts" line="3" tests="2" assertions="2" failures="1" skipped="0" time="0" hostname="vm">
      <testcase name="inner" classname="group" time="0.000007" file="sandbox/a.test.ts" line="4" assertions="1" />
      <testsuite name="deep" file="sandbox/a.test.ts" line="5" tests="1" assertions="1" failures="1" skipped="0" time="0" hostname="vm">
        <testcase name="fails" classname="deep &gt; group" time="0.000144" file="sandbox/a.test.ts" line="5" assertions="1">
          <failure type="AssertionError" message="Expected: 2&#10;Received: 1&#10;">AssertionError: x&#10;</failure>
        </testcase>
      </testsuite>
    </testsuite>
    <testcase name="todo one" classname="" time="0" file="sandbox/a.test.ts" line="8" assertions="0">
      <skipped message="TODO" />
    </testcase>
  </testsuite>
  <testsuite name="sandbox/b.test.ts" file="sandbox/b.test.ts" tests="1" assertions="1" failures="0" skipped="0" time="0.0002" hostname="vm">
    <testcase name="ok" classname="" time="0.000013" file="sandbox/b.test.ts" line="2" assertions="1" />
  </testsuite>
</testsuites>)");

std::string changed(const std::string& from, const std::string& to) {
  std::string text = kDocument;
  const std::size_t at = text.find(from);
  EXPECT_NE(at, std::string::npos) << from;
  return text.replace(at, from.size(), to);
}

void refuses(const std::string& text, const char* what) {
  const auto summary = parse_junit(text);
  ASSERT_FALSE(summary.has_value()) << what;
  EXPECT_EQ(summary.error().code(), ErrorCode::protocol_error) << what;
}

TEST(TextSummaryReader, CountsWhatBunTellsOfFailuresHoweverItIsCut) {
  const std::string text =
      "(pass) a\nunfinished(fail) b [0.12ms]\n((fail) c\n# Unhandled error between tests\n(fail)d\n## Unhandled error "
      "between tests\n"
      "\x1b[0m\x1b[31m\xe2\x9c\x97\x1b[0m\x1b[0m\x1b[1m a\x1b[0m\n\x1b[0m\x1b[32m\xe2\x9c\x93\x1b[0m "
      "b\n\x1b[1m\x1b[2m#\x1b[0m \x1b[31m\x1b[1mUnhandled error\x1b[0m\x1b[2m between tests\x1b[0m\n";
  for (std::size_t cut = 0; cut <= text.size(); ++cut) {
    TextSummaryReader reader;
    reader.push(std::string_view(text).substr(0, cut));
    reader.push(std::string_view(text).substr(cut));
    EXPECT_EQ(reader.failures_told(), 6u) << cut;
  }
}

const TestCase& the_failed(const TestSummary& summary) {
  static const TestCase none;
  const auto found = std::find_if(
      summary.cases.begin(), summary.cases.end(), [](const TestCase& test) { return test.state == TestState::failed; });
  EXPECT_NE(found, summary.cases.end());
  return found == summary.cases.end() ? none : *found;
}

TEST(BunReport, ReadsNestedGroups) {
  const auto summary = parse_junit(kDocument);
  ASSERT_TRUE(summary.has_value()) << summary.error().to_string();
  EXPECT_EQ(summary->tests, 5u);
  EXPECT_EQ(summary->passed, 3u);
  EXPECT_EQ(summary->failures, 1u);
  EXPECT_EQ(summary->skipped, 1u);
  EXPECT_EQ(summary->assertions, 4u);
  ASSERT_EQ(summary->files.size(), 2u);
  EXPECT_EQ(summary->files[0].file, "sandbox/a.test.ts");
  EXPECT_EQ(summary->files[0].tests, 4u);
  ASSERT_EQ(summary->cases.size(), 5u);
  const TestCase& failed = the_failed(*summary);
  EXPECT_EQ(failed.name, "group > deep > fails");
  EXPECT_EQ(failed.line, 5u);
  EXPECT_EQ(failed.kind, FailureKind::assertion);
  EXPECT_EQ(failed.message, "Expected: 2\nReceived: 1\n");
  const auto inner = std::find_if(
      summary->cases.begin(), summary->cases.end(), [](const TestCase& test) { return test.name == "group > inner"; });
  ASSERT_NE(inner, summary->cases.end());
  EXPECT_EQ(inner->file, "sandbox/a.test.ts");
  EXPECT_EQ(inner->state, TestState::passed);
  EXPECT_EQ(inner->assertions, 1u);
}

// Each number, wrong by one, at every level.
TEST(BunReport, RefusesSumsThatDoNotAgree) {
  refuses(changed("tests=\"5\"", "tests=\"6\""), "tests of the root");
  refuses(changed("assertions=\"4\"", "assertions=\"5\""), "assertions of the root");
  refuses(changed("failures=\"1\" skipped=\"1\" time=\"0.005\"", "failures=\"0\" skipped=\"1\" time=\"0.005\""),
      "failures of the root");
  refuses(changed("skipped=\"1\" time=\"0.005\"", "skipped=\"0\" time=\"0.005\""), "skipped of the root");
  refuses(changed("tests=\"4\"", "tests=\"3\""), "tests of a file");
  refuses(changed("tests=\"2\" assertions=\"2\" failures=\"1\"", "tests=\"2\" assertions=\"2\" failures=\"0\""),
      "failures of a group");
  refuses(changed("tests=\"1\" assertions=\"1\" failures=\"1\"", "tests=\"2\" assertions=\"1\" failures=\"1\""),
      "tests of a deep group");
  refuses(changed("<failure type=\"AssertionError\" message=\"Expected: 2&#10;Received: 1&#10;\">AssertionError: "
                  "x&#10;</failure>",
              ""),
      "a failure that went missing");
}

TEST(BunReport, RefusesWhatBunDoesNotWrite) {
  refuses("", "nothing");
  refuses("<testsuites", "half a document");
  refuses(kDocument + kDocument, "two documents");
  refuses(kDocument + "trailing", "trailing text");
  refuses("leading" + kDocument, "leading text");
  refuses(kDocument + "<testsuites/>", "a second root");
  refuses(kDocument + std::string("\0", 1), "a NUL");
  refuses(changed("?>\n", "?>\n<!DOCTYPE testsuites [<!ENTITY a \"b\">]>\n"), "a DTD");
  refuses(changed("<testcase name=\"ok\"", "<!-- x --><testcase name=\"ok\""), "a comment");
  refuses(changed("AssertionError: x", "<![CDATA[x]]>"), "CDATA");
  refuses(changed("<testcase name=\"ok\"", "<?pi?><testcase name=\"ok\""), "a processing instruction");
  refuses(changed("&lt;&amp;", "&unknown;"), "an unknown entity");
  refuses(changed("&lt;&amp;", "& "), "a bare ampersand");
  refuses(changed("<testsuites ", "<testsuites extra=\"1\" "), "an unknown attribute");
  refuses(changed("tests=\"5\"", "tests=\"5\" tests=\"5\""), "an attribute given twice");
  refuses(changed("tests=\"5\"", "tests=\"+5\""), "a signed count");
  refuses(changed("tests=\"5\"", "tests=\" 5\""), "a padded count");
  refuses(changed("tests=\"5\"", "tests=\"\""), "an empty count");
  refuses(changed("tests=\"5\"", "tests=\"99999999999999999999\""), "a count that wraps");
  refuses(changed("tests=\"5\" ", ""), "a missing count");
  refuses(changed("<skipped message=\"TODO\" />", "<skipped /><failure />"), "two outcomes");
  refuses(changed("<skipped message=\"TODO\" />", "<script />"), "an unknown element");
  refuses(changed("file=\"sandbox/b.test.ts\" tests", "file=\"sandbox/a.test.ts\" tests"), "a file reported twice");
  refuses(changed("file=\"sandbox/b.test.ts\" tests", "file=\"\" tests"), "a file without a name");
  refuses(changed("name=\"group\" file=\"sandbox/a.test.ts\"", "name=\"group\" file=\"sandbox/b.test.ts\""),
      "a group of another file");
}

TEST(BunReport, RefusesEveryTruncation) {
  const std::string whole = kDocument.substr(0, kDocument.rfind('>') + 1);
  for (std::size_t size = 0; size < whole.size(); ++size) {
    ASSERT_FALSE(parse_junit(whole.substr(0, size)).has_value()) << size;
  }
}

TEST(BunReport, RefusesBottomlessNesting) {
  std::string open;
  std::string close;
  for (int i = 0; i < 100'000; ++i) {
    open += "<testsuite name=\"g\" file=\"f\" tests=\"0\" assertions=\"0\" failures=\"0\" skipped=\"0\" time=\"0\">";
    close += "</testsuite>";
  }
  refuses(with_declaration(
              "<testsuites name=\"bun test\" tests=\"0\" assertions=\"0\" failures=\"0\" skipped=\"0\" time=\"0\">" +
              open + close + "</testsuites>"),
      "a hundred thousand groups");
}

std::optional<TextSummary> read_text(std::string_view text) {
  TextSummaryReader reader;
  reader.push(text);
  return reader.summary();
}

const std::string kText =
    "sandbox/a.test.ts:\n(pass) x [0.03ms]\n\n 5 pass\n 1 skip\n 1 todo\n 2 fail\n 1 error\nsnapshots: 1 failed\n 7 "
    "expect() calls\n"
    "Ran 9 tests across 2 files. [5.00ms]\n";

TEST(BunTextSummary, ReadsTheClosingLines) {
  const auto summary = read_text(kText);
  ASSERT_TRUE(summary.has_value());
  EXPECT_EQ(summary->passed, 5u);
  EXPECT_EQ(summary->skipped, 2u);
  EXPECT_EQ(summary->failures, 2u);
  EXPECT_EQ(summary->tests, 9u);
  EXPECT_EQ(summary->files, 2u);
  const auto one = read_text("\n 1 pass\n 6 filtered out\n 0 fail\nRan 1 test across 1 file. [4.00ms]\n");
  ASSERT_TRUE(one.has_value());
  EXPECT_EQ(one->tests, 1u);
}

TEST(BunTextSummary, SeesThroughColours) {
  const auto summary = read_text(
      "\x1b[0m\x1b[32m 4 pass\x1b[0m\n \x1b[0m\x1b[33m1 skip\x1b[0m\n\x1b[0m\x1b[31m 1 fail\x1b[0m\n 6 expect() calls\n"
      "Ran 6 tests across 1 file. \x1b[0m\x1b[2m[\x1b[1m23.00ms\x1b[0m\x1b[2m]\x1b[0m\n");
  ASSERT_TRUE(summary.has_value());
  EXPECT_EQ(summary->passed, 4u);
  EXPECT_EQ(summary->skipped, 1u);
}

TEST(BunTextSummary, ReadsTheLastOfSeveral) {
  const auto summary = read_text("\n 99 pass\n 0 fail\nRan 99 tests across 1 file. [1.00ms]\n" + kText);
  ASSERT_TRUE(summary.has_value());
  EXPECT_EQ(summary->passed, 5u);
}

TEST(BunTextSummary, ReadsTheSameHoweverItComes) {
  const std::string text = std::string(100'000, 'x') + "\n" + kText;
  for (const std::size_t cut : {std::size_t{1}, std::size_t{7}, std::size_t{8192}, std::size_t{70'000}}) {
    TextSummaryReader reader;
    for (std::size_t at = 0; at < text.size(); at += cut) reader.push(std::string_view(text).substr(at, cut));
    const auto summary = reader.summary();
    ASSERT_TRUE(summary.has_value()) << cut;
    EXPECT_EQ(summary->tests, 9u);
  }
}

TEST(BunTextSummary, ReadsNothingFromWhatIsNoSummary) {
  for (const char* text :
      {"", "Ran 1 test across 1 file. [1ms]\n", " 1 pass\n 0 fail\n", " 1 pass\nRan 1 test across 1 file. [1ms]\n",
          " 1 pass\n 1 fail\nRan 3 tests across 1 file. [1ms]\n",        // does not add up
          " 1 pass\nhello\n 0 fail\nRan 1 test across 1 file. [1ms]\n",  // a line that bun does not write
          " 1 pass\n 0 fail\n 0 fail\nRan 1 test across 1 file. [1ms]\n",
          " -1 pass\n 0 fail\nRan 1 test across 1 file. [1ms]\n", " 1 pass\n 0 fail\nRan 1 test across 1 file. more\n",
          "1 pass\n0 fail\nRan 1 test across 1 file.\n"}) {
    EXPECT_FALSE(read_text(text).has_value()) << text;
  }
}

// The real thing: bun itself, on the host and in the embedded sandbox.
class RealBun : public testing::SandboxFixture {
 protected:
  void SetUp() override {
    SandboxFixture::SetUp();
    auto found = find_bun();
    if (!found) GTEST_SKIP() << "no bun here: " << found.error().message();
    bun_ = *found;
  }
  std::filesystem::path write_test(const std::string& name, const std::string& text) {
    std::filesystem::create_directories(folder() / "project" / "sandbox");
    std::ofstream(folder() / "project" / "sandbox" / name) << text;
    return folder() / "project" / "sandbox" / name;
  }
  std::filesystem::path bun_;
};

constexpr const char* kTests = R"(import { test, expect, describe } from "bun:test";
test("top <&\"'> ]]> \u0001 \u00e9", () => { expect(1).toBe(1); });
describe("group", () => {
  test("inner", () => { expect(1).toBe(1); expect(2).toBe(2); });
  describe("deep", () => { test("fails", () => { expect(1).toBe(2); }); });
});
test.skip("skipped", () => {});
test.todo("todo one");
)";

TEST_F(RealBun, WritesWhatIsUnderstood) {
  write_test("a.test.ts", kTests);
  SandboxSpec wanted =
      spec({bun_.string(), "test", "--reporter=junit", "--reporter-outfile=/proc/self/fd/3", "./sandbox/a.test.ts"});
  wanted.host_folder = folder() / "project";
  wanted.report = ReportChannel::on;
  wanted.env["NO_COLOR"] = "1";
  auto result = make_host_sandbox()->run(wanted, out_, err_, cancel_);
  ASSERT_TRUE(result.has_value()) << result.error().to_string();
  EXPECT_EQ(result->outcome.value, 1);
  ASSERT_TRUE(result->report.has_value()) << err_.text;
  const auto summary = parse_junit(*result->report);
  ASSERT_TRUE(summary.has_value()) << summary.error().to_string() << *result->report;
  const auto text = read_text(err_.text);
  ASSERT_TRUE(text.has_value()) << err_.text;
  EXPECT_EQ(summary->tests, 5u);
  EXPECT_EQ(summary->passed, text->passed);
  EXPECT_EQ(summary->failures, text->failures);
  EXPECT_EQ(summary->skipped, text->skipped);
  EXPECT_EQ(the_failed(*summary).name, "group > deep > fails");
}

// The system call filter, the read-only root and the limits leave bun what it needs: its compiler, threads, timers,
// files.
TEST_F(RealBun, TestsInTheEmbeddedSandbox) {
  const SandboxProbe probe = make_namespace_sandbox()->probe(Deadline::after(milliseconds(20'000)));
  if (probe.state != ProbeState::available) {
    if (std::getenv("GUARD_TEST_REQUIRE_NAMESPACE") != nullptr) FAIL() << probe.reason;
    GTEST_SKIP() << "no embedded sandbox here: " << probe.reason;
  }
  const auto test = write_test("work.test.ts", R"js(import { test, expect } from "bun:test";
import { readFileSync, writeFileSync, readdirSync } from "node:fs";
import { tmpdir } from "node:os";
test("compiles hot code", () => { let sum = 0; for (let i = 0; i < 5e6; i++) sum = (sum + i * i) % 1000003; expect(sum).toBeGreaterThan(0); });
test("waits", async () => { await new Promise((done) => setTimeout(done, 5)); });
test("has threads", async () => {
  const worker = new Worker(URL.createObjectURL(new Blob(["postMessage(6 * 7)"])));
  const answer = await new Promise((done) => { worker.onmessage = (event) => done(event.data); });
  expect(answer).toBe(42);
  worker.terminate();
});
test("writes where it may", () => {
  writeFileSync(tmpdir() + "/x", "y");
  expect(readFileSync("/tmp/x", "utf8")).toBe("y");
  writeFileSync("/app/sandbox/new", "z");
  expect(readdirSync("/app/sandbox").sort()).toEqual(["new", "work.test.ts"]);
});
test("writes nowhere else", () => {
  expect(() => writeFileSync("/app/sandbox/work.test.ts", "")).toThrow();
  expect(() => writeFileSync("/app/planted", "")).toThrow();
});
test("spawns", async () => {
  const child = Bun.spawn([process.execPath, "-e", "console.log(1 + 1)"]);
  expect(await new Response(child.stdout).text()).toBe("2\n");
});
test("serves itself", async () => {
  const server = Bun.serve({ port: 0, fetch: () => new Response("hi") });
  expect(await (await fetch(`http://127.0.0.1:${server.port}/`)).text()).toBe("hi");
  server.stop(true);
});
test("reaches nobody", async () => { await expect(fetch("http://192.0.2.1/", { signal: AbortSignal.timeout(2000) })).rejects.toThrow(); });
)js");
  std::ofstream(folder() / "project" / "package.json") << "{\"name\":\"p\"}\n";
  const auto image = build_root_folder({folder() / "project", bun_, "test"}, cancel_, [](std::string_view) {});
  ASSERT_TRUE(image.has_value()) << image.error().to_string();
  ::chmod(test.c_str(), 0666);

  SandboxSpec wanted =
      spec({"bun", "test", "--reporter=junit", "--reporter-outfile=/proc/self/fd/3", "./sandbox/work.test.ts"});
  wanted.image = *image;
  wanted.env = {{"PATH", "/usr/local/bin:/usr/bin:/bin"}, {"HOME", "/tmp"}, {"NO_COLOR", "1"}};
  testing::write_fill_file(test.parent_path(), folder() / "sandbox-fill");
  wanted.scratch = {{"/app/sandbox", "/.fill", 16 << 20, 1000}};
  wanted.mounts = {{folder() / "sandbox-fill", "/.fill"}};
  wanted.report = ReportChannel::on;
  for (const testing::As who : {testing::As::ourselves, testing::As::ordinary_user}) {
    testing::run_as(who, [&] {
      auto result = make_namespace_sandbox()->run(wanted, out_, err_, cancel_);
      ASSERT_TRUE(result.has_value()) << result.error().to_string();
      EXPECT_EQ(result->outcome.kind, OutcomeKind::exited);
      EXPECT_EQ(result->outcome.value, 0) << out_.text << err_.text;
      ASSERT_TRUE(result->report.has_value());
      const auto summary = parse_junit(*result->report);
      ASSERT_TRUE(summary.has_value()) << summary.error().to_string();
      EXPECT_EQ(summary->passed, 8u) << err_.text;
    });
  }
}

TEST(BunReport, DepthIsRefusedAndNoCrash) {
  constexpr int kDepth = 100'000;
  std::string open;
  std::string close;
  for (int i = 0; i < kDepth; ++i) {
    open += "<testsuite name=\"a\" tests=\"1\" assertions=\"1\" failures=\"0\" skipped=\"0\" time=\"0\">";
    close += "</testsuite>";
  }
  for (const std::string& text : {"<?xml version=\"1.0\"?><testsuites>" + open + close + "</testsuites>", open + close,
           open, std::string(kDepth, '<')}) {
    EXPECT_FALSE(parse_junit(text)) << text.substr(0, 60);
  }
}

// --- what bun says where there is no report; as bun 1.4.5 writes it ---

constexpr const char* kSyntax =
    "1 | import {test} from \"bun:test\"; test(\"a\",()=>{ ; const = });\n"
    "                                                          ^\n"
    "error: Expected identifier but found \"=\"\n    at /app/sandbox/c.test.ts:1:55\n";

LoadError load_error(std::string_view text) { return parse_load_error(text, "sandbox/c.test.ts"); }

TEST(BunReport, TellsWhyAFileCannotBeLoaded) {
  EXPECT_EQ(load_error(kSyntax).kind, LoadFailure::syntax);
  EXPECT_EQ(load_error(kSyntax).message, "Expected identifier but found \"=\"");
  EXPECT_EQ(load_error(kSyntax).line, 1u);
  EXPECT_EQ(load_error(kSyntax).column, 55u);
  EXPECT_EQ(load_error("error: Cannot find module './missing.ts' from '/app/sandbox/c.test.ts'\n").kind,
      LoadFailure::missing_file);
  EXPECT_EQ(load_error("error: Cannot find package 'zod' from '/app/sandbox/c.test.ts'\n").kind,
      LoadFailure::missing_package);
  EXPECT_EQ(
      load_error("error: Cannot find module 'zod' from '/app/sandbox/c.test.ts'\n").kind, LoadFailure::missing_package);
  EXPECT_EQ(load_error("error: libvips.so.42: cannot open shared object file: No such file or directory\n").kind,
      LoadFailure::missing_library);
  const LoadError thrown =
      load_error("1 | throw new TypeError(\"boom\");\nTypeError: boom\n      at /app/sandbox/c.test.ts:7:5\n");
  EXPECT_EQ(thrown.kind, LoadFailure::error);
  EXPECT_EQ(thrown.message, "TypeError: boom");
  EXPECT_EQ(thrown.line, 7u);
  EXPECT_EQ(load_error("").message, "");
  EXPECT_EQ(load_error("\n\n\n").kind, LoadFailure::error);
}

// However the stream is cut into pieces.
TEST(TextSummaryReader, KeepsTheFirstErrorOutsideOfTestsAndTheLastTest) {
  const std::string text = std::string(
                               "bun test v1.4.5\n\nsandbox/c.test.ts:\n(pass) first [0.1ms]\n(pass) group > second "
                               "[1.00ms]\n\n# Unhandled error between tests\n") +
      "-------------------------------\n" + kSyntax +
      "-------------------------------\n\n# Unhandled error between tests\n---\nerror: other\n---\n";
  for (std::size_t piece = 1; piece < 70; ++piece) {
    TextSummaryReader reader;
    for (std::size_t at = 0; at < text.size(); at += piece) reader.push(std::string_view(text).substr(at, piece));
    EXPECT_EQ(reader.error_outside() + "\n", kSyntax) << piece;
    EXPECT_EQ(reader.last_test(), "group > second") << piece;
  }
  TextSummaryReader none;
  none.push("nothing (pass of it\n");
  EXPECT_EQ(none.error_outside(), "");
  EXPECT_EQ(none.last_test(), "");
  TextSummaryReader flood;
  flood.push("# Unhandled error between tests\n---\n");
  for (int i = 0; i < 1000; ++i) flood.push(std::string(1000, 'x'));
  EXPECT_LE(flood.error_outside().size(), 4096u);
}

}  // namespace
}  // namespace guard

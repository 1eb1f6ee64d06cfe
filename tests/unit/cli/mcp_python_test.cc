// The script that python_execute starts in a sandbox, with the Python of this machine.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "common/environment.h"
#include "common/file_io.h"
#include "runner/process/subprocess.h"

namespace guard {
namespace {

using nlohmann::json;
using ::testing::HasSubstr;
using ::testing::Not;

struct Ran {
  std::int64_t exit_code = -1;
  std::string out;
  std::string err;
  std::string text = "none";  // the first line of the file, as it reads
  json value;
};

class PythonExecute : public ::testing::Test {
 protected:
  void SetUp() override {
    if (!find_program("python3", process_environment())) GTEST_SKIP() << "python3 is not installed";
  }

  Ran run(const std::string& code) const {
    const auto file = folder_.path() / "result";
    ProcessSpec spec;
    spec.argv = {"python3", "-c", *read_file(GUARD_SOURCE_DIR "/cli/mcp/python_execute.py", 100'000)};
    spec.env = process_environment();
    spec.stdin_text = json({{"code", code}, {"result", file.string()}, {"bytes_max", 1000}}).dump();
    spec.cwd = folder_.path();
    std::filesystem::remove(file);
    const CancelToken never;
    const auto done = collect_process(spec, 1u << 20, never);
    EXPECT_TRUE(done);
    Ran ran;
    if (done->result.outcome.kind == OutcomeKind::exited) ran.exit_code = done->result.outcome.value;
    ran.out = done->out;
    ran.err = done->err;
    if (const auto lines = read_file(file, 1u << 20)) {
      const std::size_t end = lines->find('\n');
      ran.text = json::parse(lines->substr(0, end)).get<std::string>();
      ran.value = json::parse(lines->substr(end + 1));
    }
    return ran;
  }
  const TempDir folder_ = *TempDir::create();
};

TEST_F(PythonExecute, AnswersTheLastExpression) {
  const Ran ran = run("x = 20\nprint(x)\n{'a': x + 1}");
  EXPECT_EQ(ran.exit_code, 0) << ran.err;
  EXPECT_EQ(ran.out, "20\n");
  EXPECT_EQ(ran.text, "{'a': 21}");
  EXPECT_EQ(ran.value, json({{"a", 21}}));
}

TEST_F(PythonExecute, SaysNothingOfStatements) {
  for (const char* code : {"x = 1", "None", ""}) EXPECT_EQ(run(code).text, "none") << code;
}

TEST_F(PythonExecute, ShowsWhatJsonCannotHold) {
  for (const char* code : {"{1, 2}", "float('nan')", "'\\udcff'"}) EXPECT_EQ(run(code).value, nullptr) << code;
  EXPECT_EQ(run("{1}").text, "{1}");
  const Ran large = run("'x' * 5000");
  EXPECT_EQ(large.value, nullptr);
  EXPECT_THAT(large.text, HasSubstr("... (5002 characters)"));
}

TEST_F(PythonExecute, TakesNoFileOfTheWorkspaceForAModule) {
  for (const char* name : {"json.py", "ast.py", "traceback.py", "linecache.py"})
    ASSERT_TRUE(write_file_atomically(folder_.path() / name, "1 / 0\n"));
  EXPECT_EQ(run("1 + 1").text, "2");
  ASSERT_TRUE(write_file_atomically(folder_.path() / "mine.py", "a = 7\n"));
  EXPECT_EQ(run("import mine; mine.a").text, "7");
}

TEST_F(PythonExecute, TracesTheCodeAndNotItself) {
  const Ran ran = run("def f():\n  raise ValueError('boom')\nf()");
  EXPECT_EQ(ran.exit_code, 1);
  EXPECT_THAT(ran.err, HasSubstr("raise ValueError('boom')"));
  EXPECT_THAT(ran.err, HasSubstr("\"<python_execute>\", line 2, in f"));
  EXPECT_THAT(ran.err, Not(HasSubstr("\"<string>\"")));
  EXPECT_THAT(run("a b").err, HasSubstr("SyntaxError"));
  EXPECT_THAT(run("a b").err, Not(HasSubstr("ast.py")));
}

TEST_F(PythonExecute, EndsAsTheCodeWantsTo) {
  EXPECT_EQ(run("import sys; sys.exit(7)").exit_code, 7);
  EXPECT_EQ(run("import os; os._exit(8)").exit_code, 8);
  EXPECT_EQ(run("class A:\n  def __repr__(self): raise KeyError(1)\nA()").exit_code, 1);
}

TEST_F(PythonExecute, RunsAsAProgramOfItsOwn) {
  EXPECT_EQ(run("if __name__ == '__main__': print(2)").out, "2\n");
  EXPECT_EQ(run("import sys; print(repr(sys.stdin.read()))").out, "''\n");
  EXPECT_EQ(run("import pickle\nclass A: pass\npickle.loads(pickle.dumps(A())).__class__ is A").text, "True");
}

}  // namespace
}  // namespace guard

// What E2B's clients put on the wire, taken apart: forms, messages, and the interpreter's script.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <zlib.h>

#include <random>
#include <utility>

#include "common/environment.h"
#include "common/file_io.h"
#include "common/text/text.h"
#include "runner/process/subprocess.h"
#include "serve/e2b/files.h"
#include "serve/e2b/rpc.h"

namespace guard::serve::e2b {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;

std::string form(const std::vector<std::pair<std::string, std::string>>& files, const std::string& boundary) {
  std::string body;
  for (const auto& [name, bytes] : files) {
    body += "--" + boundary + "\r\nContent-Disposition: form-data; name=\"file\"; filename=\"" + name +
        "\"\r\nContent-Type: application/octet-stream\r\n\r\n" + bytes + "\r\n";
  }
  return body + "--" + boundary + "--\r\n";
}

TEST(E2bForm, HoldsFilesAsTheyAre) {
  const std::string body = form({{"a%22b", "1\r\n--x\r\n2"}, {"c", ""}}, "xyz");
  const auto files = form_files("multipart/form-data; boundary=xyz", body);
  ASSERT_TRUE(files) << files.error().to_string();
  ASSERT_EQ(files->size(), 2U);
  EXPECT_EQ((*files)[0].name, "a\"b");
  EXPECT_EQ((*files)[0].bytes, "1\r\n--x\r\n2");
  EXPECT_EQ((*files)[1].bytes, "");
  EXPECT_TRUE(form_files("multipart/form-data; boundary=\"xyz\"", body));
}

TEST(E2bForm, IsRefusedWhereItIsNone) {
  const std::string body = form({{"a", "1"}}, "xyz");
  EXPECT_FALSE(form_files("multipart/form-data", body));
  EXPECT_FALSE(form_files("multipart/form-data; boundary=", body));
  EXPECT_FALSE(form_files("multipart/form-data; boundary=other", body));
  EXPECT_FALSE(form_files("multipart/form-data; boundary=" + std::string(71, 'x'), body));
  EXPECT_FALSE(form_files("multipart/form-data; boundary=xyz", "--xyz--\r\n")) << "no file";
  EXPECT_FALSE(form_files("multipart/form-data; boundary=xyz", "--xyz\r\n\r\n1\r\n--xyz--")) << "no name";
  for (std::size_t size = 0; size + 4 < body.size(); ++size)
    EXPECT_FALSE(form_files("multipart/form-data; boundary=xyz", body.substr(0, size))) << size;
}

TEST(E2bForm, GivesBackWhatWasPutIn) {
  std::mt19937 random(7);  // NOLINT: the same in every run
  for (int round = 0; round < 300; ++round) {
    std::vector<std::pair<std::string, std::string>> put;
    for (auto file = random() % 4 + 1; file > 0; --file) {
      std::string bytes;
      for (auto size = random() % 40; size > 0; --size) bytes += "\r\n-ab\0\xff"[random() % 7];
      put.emplace_back("n" + std::to_string(file), bytes);
    }
    const auto got = form_files("multipart/form-data; boundary=in-none", form(put, "in-none"));
    ASSERT_TRUE(got);
    ASSERT_EQ(got->size(), put.size());
    for (std::size_t i = 0; i < put.size(); ++i) ASSERT_EQ((*got)[i].bytes, put[i].second);
  }
}

TEST(E2bForm, IsUnpackedByTheSizeThatItSays) {
  std::string plain(100'000, 'x');
  plain += "the end";
  z_stream stream{};
  ASSERT_EQ(::deflateInit2(&stream, 9, Z_DEFLATED, 16 + MAX_WBITS, 8, Z_DEFAULT_STRATEGY), Z_OK);
  std::string packed(1000, '\0');
  stream.next_in = reinterpret_cast<Bytef*>(plain.data());
  stream.avail_in = static_cast<uInt>(plain.size());
  stream.next_out = reinterpret_cast<Bytef*>(packed.data());
  stream.avail_out = static_cast<uInt>(packed.size());
  ASSERT_EQ(::deflate(&stream, Z_FINISH), Z_STREAM_END);
  packed.resize(stream.total_out);
  ::deflateEnd(&stream);
  EXPECT_EQ(gunzipped_size(packed), plain.size());
  EXPECT_EQ(*gunzip(packed), plain);
  for (std::size_t size = 0; size < packed.size(); ++size) EXPECT_FALSE(gunzip(packed.substr(0, size))) << size;
  EXPECT_FALSE(gunzip(packed + packed));
  EXPECT_FALSE(gunzip(plain));
  packed[packed.size() - 4] = 1;
  EXPECT_FALSE(gunzip(packed)) << "it holds more than it says";
}

TEST(E2bMessage, IsOneEnvelope) {
  const auto of = [](const std::string& head, const std::string& text) { return message_of(head + text); };
  EXPECT_EQ(*of(std::string("\0\0\0\0\2", 5), "{}"), json::object());
  EXPECT_FALSE(of(std::string("\1\0\0\0\2", 5), "{}")) << "compressed";
  EXPECT_FALSE(of(std::string("\0\0\0\0\3", 5), "{}"));
  EXPECT_FALSE(of(std::string("\0\0\0\0\1", 5), "{}"));
  EXPECT_FALSE(of(std::string("\0\0\0\0\2", 5), "[]"));
  EXPECT_FALSE(message_of(""));
  EXPECT_FALSE(message_of("{}"));
}

TEST(E2bFiles, AreBelowTheHomeFolderUnderBothItsNames) {
  EXPECT_EQ(inside("/home/user"), "/workspace");
  EXPECT_EQ(inside("/home/user/a/../b"), "/workspace/a/../b");
  EXPECT_EQ(inside("/home/username"), "/home/username");
  EXPECT_EQ(inside("a"), "a");
  Sandbox sandbox("id", "token", "owner", {}, 0);
  sandbox.home = "/home/user";
  EXPECT_EQ(absolute(sandbox, "a/b"), "/home/user/a/b");
  EXPECT_EQ(absolute(sandbox, "/workspace/a"), "/workspace/a");
  EXPECT_EQ(absolute(sandbox, ""), "/home/user");
  EXPECT_EQ(absolute(sandbox, "."), "/home/user");
}

TEST(E2bCpuMeter, SaysHowBusyASandboxWasSinceTheLastLook) {
  CpuMeter meter;
  const auto rate = [&meter](const char* sandbox, std::uint64_t cpu_ms, std::int64_t now_ms) {
    return meter.rate({.sandbox = sandbox, .started_ms = 10'000, .cpu_ms = cpu_ms}, now_ms);
  };
  EXPECT_DOUBLE_EQ(rate("a", 500, 12'000), 0.25) << "since its start";
  EXPECT_DOUBLE_EQ(rate("a", 510, 12'001), 510.0 / 2'001) << "a millisecond is no span to speak of";
  EXPECT_DOUBLE_EQ(rate("a", 2'500, 14'000), 1) << "since the look at 12 s";
  EXPECT_DOUBLE_EQ(rate("a", 2'490, 14'010), 1'990.0 / 2'010);
  EXPECT_DOUBLE_EQ(rate("a", 2'500, 24'000), 0) << "idle";
  EXPECT_DOUBLE_EQ(rate("a", 1, 24'001), 0) << "less than before";
  EXPECT_DOUBLE_EQ(rate("b", 100, 10'010), 0.1) << "another, in its first second";
}

// A program that says nothing until it is killed.
class SilentTask final : public Task {
 public:
  explicit SilentTask(int& killed) : killed_(killed) {}
  Result<std::optional<Piece>> read(Deadline) override { return Error(ErrorCode::execution_timeout, "nothing"); }
  Result<void> write_input(std::string_view, Deadline) override { return ok(); }
  Result<void> close_input() override { return ok(); }
  Result<void> signal(int) override { return ++killed_, ok(); }
  Result<void> resize(TerminalSize) override { return ok(); }
  bool ended() const override { return false; }
  Result<TaskEnd> end() const override { return TaskEnd(); }

 private:
  int& killed_;
};

ProcessConfig tagged(const char* tag) {
  ProcessConfig config;
  config.tag = tag;
  return config;
}

// The kernel has given its number to another: the first one has ended, though not all of it was read.
TEST(E2bProcesses, TheLatestOfANumberIsMeant) {
  Processes processes;
  int first = 0, second = 0, other = 0;
  const auto earlier = processes.add(7, tagged("a"), std::make_unique<SilentTask>(first));
  const auto later = processes.add(7, tagged("b"), std::make_unique<SilentTask>(second));
  const auto last = processes.add(8, {}, std::make_unique<SilentTask>(other));
  EXPECT_EQ(processes.find(7, ""), later);
  EXPECT_EQ(processes.find({}, "a"), earlier);
  EXPECT_EQ(processes.find(9, ""), nullptr);
  EXPECT_EQ(processes.live().size(), 3u);
  processes.remove(*earlier);
  EXPECT_EQ(processes.find(7, ""), later);
  processes.end();
  EXPECT_EQ(processes.find(7, ""), nullptr);
  EXPECT_EQ(std::vector({first, second, other}), std::vector({0, 1, 1}));
}

// What an interpreter says of these pieces of code, one after another. The first has variables of its own.
std::vector<json> said_by(std::vector<std::string> program, const std::vector<std::string>& codes) {
  ProcessSpec spec;
  spec.argv = std::move(program);
  spec.env = process_environment();
  json env = {{"A", "1"}, {"HOME", "/own"}};
  for (const std::string& code : codes)
    spec.stdin_text += json({{"id", "i"}, {"code", code}, {"env", std::exchange(env, json::object())}}).dump() + "\n";
  const CancelToken never;
  const auto done = collect_process(spec, 8u << 20, never);
  EXPECT_TRUE(done);
  std::vector<json> events;
  std::istringstream lines(done->out);
  for (std::string line; std::getline(lines, line);) events.push_back(json::parse(line, nullptr, false));
  return events;
}

std::string part(const char* name) { return *read_file(std::string(GUARD_SOURCE_DIR "/serve/e2b/") + name, 100'000); }

class E2bInterpreter : public ::testing::Test {
 protected:
  static constexpr const char* kPython = "/usr/bin/python3";

  void SetUp() override {
    if (::access(kPython, X_OK) != 0) GTEST_SKIP() << "python3 is not installed";
  }
  static std::vector<json> said(const std::vector<std::string>& codes) {
    return said_by({kPython, "-u", "-c", part("python_charts.py") + part("python_context.py")}, codes);
  }
  static json only(const std::string& code, const std::string& type) {
    for (const json& event : said({code})) {
      if (event.value("type", "") == type) return event;
    }
    return nullptr;
  }
};

TEST_F(E2bInterpreter, KeepsItsVariables) {
  const auto events = said({"x = 20", "x + 1"});
  ASSERT_EQ(events.size(), 5U);
  EXPECT_EQ(events[3], json({{"type", "result"}, {"is_main_result", true}, {"text", "21"}, {"id", "i"}}));
  EXPECT_EQ(events[4]["type"], "end_of_execution");
}

TEST_F(E2bInterpreter, TakesWhatNotebooksTake) {
  EXPECT_EQ(only("\n    x = 1\n    if x:\n      x = 7\n    x\n    ", "result")["text"], "7");
  EXPECT_EQ(only("!echo a b", "stdout")["text"], "a b\n");
  EXPECT_EQ(only("for i in (1, 2):\n  !echo \"n$((40+2))\"", "stdout")["text"], "n42\n");
  EXPECT_EQ(only("x = '''\n!echo no\n'''\nlen(x)", "result")["text"], "10") << "it is no line of the shell";
  EXPECT_EQ(
      only("import asyncio\nx = await asyncio.sleep(0, 5)\nx + await asyncio.sleep(0, 1)", "result")["text"], "6");
  EXPECT_EQ(only("!", "error")["name"], "SyntaxError");
  EXPECT_EQ(only("x = = 1\n!echo a", "error")["name"], "SyntaxError");
}

TEST_F(E2bInterpreter, SaysWhatItsChartsAreMadeOf) {
  if (only("import importlib.util\nimportlib.util.find_spec('matplotlib') is None", "result")["text"] == "True") {
    if (::getenv("GUARD_TEST_REQUIRE_CLIENTS") != nullptr) FAIL() << "python3-matplotlib is not installed";
    GTEST_SKIP() << "python3-matplotlib is not installed";
  }
  std::vector<json> charts;
  for (const json& event : said({
           "import datetime, matplotlib.pyplot as plt, numpy as np",
           "plt.plot([datetime.date(2023, 9, 1), datetime.date(2023, 9, 2)], [1, np.nan], label='a')\n"
           "plt.xlabel('Day (d)'); plt.title('T')\nplt.show()",
           "plt.bar(['p', 'q'], [1, 2.5], label='g')\nplt.show()",
           "plt.barh(['p', 'q'], [1, 2.5])\nplt.show()",
           "plt.pie([9, 1], labels=['x', 'y'])\nplt.show()",
           "plt.boxplot([[85, 90, 78, 92, 88], [95, 89, 76, 91, 84, 87]], labels=['A', 'B'])\nplt.show()",
           "plt.boxplot([[1, 2, 3, 40]], patch_artist=True, vert=False, labels=['C'])\nplt.show()",
           "plt.scatter([1, 10], ['low', 'high'])\nplt.xscale('log')\nplt.show()",
           "fig, both = plt.subplots(1, 2)\nfig.suptitle('S')\nboth[0].plot([1, 2])\nplt.show()",
           "plt.plot(range(20000))\nplt.show()",
           "plt.boxplot([1, 2, 3, 4, 5, 6, 7, float('inf')])\nplt.show()",
           "plt.plot([0, 1, 2, 3, 4], [0, 1, 0, 1, 0])\nplt.plot([2, 2], [0, 1])\nplt.plot([2, 2], [0, 1])\n"
           "plt.plot([1, 3], [0.5, 0.5])\nplt.show()",
       })) {
    EXPECT_NE(event["type"], "error") << event.dump();
    if (event["type"] != "result") continue;
    EXPECT_TRUE(event.contains("png"));
    charts.push_back(event.value("chart", json()));
  }
  ASSERT_EQ(charts.size(), 11U);
  const json& line = charts[0];
  EXPECT_EQ(line["type"], "line");
  EXPECT_EQ(line["title"], "T");
  EXPECT_EQ(line["x_label"], "Day (d)");
  EXPECT_EQ(line["x_unit"], "d");
  EXPECT_EQ(line["y_label"], nullptr);
  EXPECT_EQ(line["x_scale"], "datetime");
  EXPECT_EQ(line["elements"], json::parse(R"([{"label": "a", "points": [["2023-09-01T00:00:00+00:00", 1],
                                                                        ["2023-09-02T00:00:00+00:00", null]]}])"));
  EXPECT_EQ(charts[1]["elements"], json::parse(R"([{"label": "p", "value": 1, "group": "g"},
                                                   {"label": "q", "value": 2.5, "group": "g"}])"));
  EXPECT_EQ(charts[2]["elements"][1]["label"], "q");
  EXPECT_EQ(charts[2]["elements"][1]["value"], 2.5);
  EXPECT_EQ(charts[3]["elements"], json::parse(R"([{"label": "x", "angle": 324, "radius": 1},
                                                   {"label": "y", "angle": 36, "radius": 1}])"));
  EXPECT_EQ(charts[4]["elements"], json::parse(R"([
      {"label": "A", "min": 78, "first_quartile": 85, "median": 88, "third_quartile": 90, "max": 92, "outliers": []},
      {"label": "B", "min": 84, "first_quartile": 84.75, "median": 88, "third_quartile": 90.5, "max": 95,
       "outliers": [76]}])"));
  EXPECT_EQ(charts[5]["elements"], json::parse(R"([
      {"label": "C", "min": 1, "first_quartile": 1.75, "median": 2.5, "third_quartile": 12.25, "max": 12.25,
       "outliers": [40]}])"));
  EXPECT_EQ(charts[6]["type"], "scatter");
  EXPECT_EQ(charts[6]["x_scale"], "log");
  EXPECT_EQ(charts[6]["y_scale"], "categorical");
  EXPECT_EQ(charts[6]["elements"][0]["points"], json::parse(R"([[1, "low"], [10, "high"]])"));
  EXPECT_EQ(charts[7]["type"], "superchart");
  EXPECT_EQ(charts[7]["title"], "S");
  EXPECT_EQ(charts[7]["elements"][0]["type"], "line");
  EXPECT_EQ(charts[7]["elements"][1]["type"], "unknown");
  EXPECT_EQ(charts[8], nullptr) << "of so many points there is the picture only";
  EXPECT_EQ(charts[10]["type"], "line") << "it only looks like a box";
}

TEST_F(E2bInterpreter, HearsAnInterruptWhileCodeRunsAndNotBetween) {
  const auto events =
      said({"import os, signal, threading, time\nthreading.Timer(0.3, os.kill, (os.getpid(), signal.SIGINT)).start()\n"
            "time.sleep(20)",
          "threading.Timer(0.3, os.kill, (os.getpid(), signal.SIGINT)).start()",
          "threading.Thread(target=lambda: time.sleep(1)).start()", "x = 7", "x"});
  std::vector<std::string> names;
  for (const json& event : events) {
    if (event["type"] == "error") names.push_back(event["name"]);
  }
  EXPECT_EQ(names, std::vector<std::string>{"KeyboardInterrupt"});
  EXPECT_EQ(events.at(events.size() - 2)["text"], "7");
}

TEST_F(E2bInterpreter, SaysWhatIsPrintedByLines) {
  EXPECT_EQ(only("print('a', 'b')", "stdout")["text"], "a b\n");
  EXPECT_EQ(only("print('a', end='')", "stdout")["text"], "a");
  EXPECT_EQ(only("import sys; print('\\udcff', file=sys.stderr)", "stderr")["text"], "\\udcff\n");
}

TEST_F(E2bInterpreter, ShowsValuesInTheirForms) {
  EXPECT_EQ(only("'a'", "result")["text"], "a");
  EXPECT_EQ(only("{'a': 1}", "result")["json"], json({{"a", 1}}));
  EXPECT_EQ(only("class H:\n  def _repr_html_(self): return '<b>'\nH()", "result")["html"], "<b>");
  EXPECT_EQ(only("class P:\n  def _repr_png_(self): return b'\\x00'\nP()", "result")["png"], "AA==");
  EXPECT_EQ(only("display(1)", "result")["is_main_result"], false);
}

TEST_F(E2bInterpreter, OutlivesWhatTheCodeDoes) {
  for (const char* code : {"1/0", "a b", "import sys; sys.exit(1)", "raise KeyboardInterrupt", "input()",
           "class E(Exception):\n  def __str__(self): raise E\nraise E", "raise ValueError('\\udcff')",
           "class N:\n  def _repr_json_(self): return float('nan')\nN()"}) {
    const auto events = said({code, "42"});
    EXPECT_EQ(events.back()["type"], "end_of_execution") << code;
    EXPECT_EQ(events[events.size() - 2]["text"], "42") << code;
  }
}

TEST_F(E2bInterpreter, GivesVariablesToOneExecution) {
  const auto events = said({"import os; os.environ['A']; os.environ['B'] = '1'", "os.environ.get('B')"});
  EXPECT_EQ(events.size(), 4U) << "there is none any more";
}

TEST_F(E2bInterpreter, SaysLongTextsInPieces) {
  std::string text;
  for (const json& event : said({"print('\U0001f600' * 100_000)"})) {
    if (event["type"] != "stdout") continue;
    EXPECT_LE(event["text"].get_ref<const std::string&>().size(), 4U << 16);
    text += event["text"];
  }
  EXPECT_EQ(text.size(), 400'001U);
}

class E2bJavaScript : public ::testing::Test {
 protected:
  void SetUp() override {
    if (bun().empty()) GTEST_SKIP() << "GUARD_BUN is not set";
  }
  static std::string bun() { return value_of(process_environment(), "GUARD_BUN"); }
  static std::vector<json> said(const std::vector<std::string>& codes) {
    return said_by({bun(), "--no-install", "-e", part("javascript_context.mjs")}, codes);
  }
  // The texts of events of this type, and names of errors.
  static std::vector<std::string> told(const std::vector<std::string>& codes, const std::string& type = "result") {
    std::vector<std::string> texts;
    for (const json& event : said(codes)) {
      EXPECT_EQ(event.value("id", ""), "i") << event.dump();
      if (event.value("type", "") == type) texts.push_back(event.value(type == "error" ? "name" : "text", ""));
    }
    return texts;
  }
};

TEST_F(E2bJavaScript, KeepsWhatIsDeclared) {
  const auto events = said({"const x = 20", "x + 1"});
  ASSERT_EQ(events.size(), 5U);
  EXPECT_EQ(events[0], json({{"type", "number_of_executions"}, {"execution_count", 1}, {"id", "i"}}));
  EXPECT_EQ(events[3], json({{"type", "result"}, {"is_main_result", true}, {"text", "21"}, {"id", "i"}}));
  EXPECT_EQ(events[4], json({{"type", "end_of_execution"}, {"id", "i"}}));
  EXPECT_THAT(told({"let a = 1; var b = 2; class C { d() { return 4 } }\nfunction f() { return a }", "a = 7; f()",
                  "b + new C().d()", "const a = 'again'", "f()"}),
      ElementsAre("7", "6", "again"));
}

TEST_F(E2bJavaScript, TakesTypesImportsAndAwait) {
  EXPECT_THAT(told({"import { sep as s } from 'node:path'", "import * as p from 'node:path'", "s + p.sep",
                  "(await import('node:path')).sep", "require('node:path').sep", "const t: string = 'a'; t",
                  "enum E { A, B }; E.B", "const w = await Promise.resolve('b')", "w"}),
      ElementsAre("//", "/", "/", "a", "1", "b"));
  EXPECT_THAT(told({"await import('no-such-package')"}, "error"), ElementsAre("ResolveMessage"));
  EXPECT_THAT(told({"const fs = require('fs'); await import('./e2b_late.ts').catch(() => {})",
                  "fs.writeFileSync('e2b_late.ts', 'export const l: number = 4')",
                  "import { l } from './e2b_late.ts'; fs.rmSync('e2b_late.ts'); l"}),
      ElementsAre("4"))
      << "a file that was not there when the context began";
}

TEST_F(E2bJavaScript, ShowsValuesInTheirForms) {
  const auto events = said({"({ a: [1] })",
      "({ [Symbol.for('Jupyter.display')]: () => ({ 'text/html': '<b>', 'x/y': '1' }) })", "display('a')"});
  EXPECT_EQ(events[1]["json"], json({{"a", {1}}}));
  EXPECT_EQ(events[1]["text"], "{ a: [ 1 ] }");
  EXPECT_EQ(events[4]["html"], "<b>");
  EXPECT_EQ(events[7]["is_main_result"], false);
  EXPECT_THAT(told({"'a'", "undefined", "null", "[1n]", "'\\ud800'", "({ k: '\\udc00' }).k"}),
      ElementsAre("a", "null", "[ 1n ]", "\ufffd", "\ufffd"));
}

TEST_F(E2bJavaScript, SaysWhatIsPrinted) {
  EXPECT_THAT(told({"console.log('a', { b: 1 }); process.stdout.write('c'); console.error('d')"}, "stdout"),
      ElementsAre("a { b: 1 }\n", "c"));
  EXPECT_THAT(told({"console.error('a'); console.warn('b')"}, "stderr"), ElementsAre("a\n", "b\n"));
  EXPECT_THAT(told({"require('fs').readFileSync(0).length"}), ElementsAre("0")) << "what it reads is nobody's";
  EXPECT_THAT(told({"console.log('x'.repeat(150_000))"}, "stdout").size(), 3U);
  EXPECT_THAT(told({"Promise.reject(new Error('r')); 1"}, "stderr"), ElementsAre(HasSubstr("Uncaught Error: r")));
}

TEST_F(E2bJavaScript, SaysWhatIsWrong) {
  const auto events = said({"function f() {\n  throw new TypeError('boo')\n}\nf()"});
  EXPECT_EQ(events[1]["name"], "TypeError");
  EXPECT_EQ(events[1]["value"], "boo");
  EXPECT_THAT(events[1]["traceback"].get<std::string>(), HasSubstr("at f (<cell 1>:"));
  EXPECT_THAT(events[1]["traceback"].get<std::string>(), Not(HasSubstr("[eval]")));
  EXPECT_THAT(told({"a b c\nd e", "x", "throw 1", "throw null"}, "error"),
      ElementsAre("SyntaxError", "ReferenceError", "Error", "Error"));
}

TEST_F(E2bJavaScript, OutlivesWhatTheCodeDoes) {
  for (const char* code : {"const JSON = 1, Buffer = 2, Object = 3, process = 4", "process.env = null",
           "class E extends Error { get message() { throw 1 } }; throw new E",
           "new Proxy({}, { getPrototypeOf() { throw 1 } })", "setTimeout(() => { throw 1 }); await Bun.sleep(20)",
           "process.stdin.read(); require('fs').readFileSync(0)",
           "require('fs').writeSync(1, '{\"type\": \"end_of_execution\"}\\n')",
           "require('child_process').execSync('echo {}; cat', { stdio: 'inherit' })", "Bun.write(Bun.stdout, 'x\\n')",
           "({ toJSON() { throw 1 } })", "const c = {}; c.c = c; c"}) {
    const auto events = said({code, "40 + 2"});
    ASSERT_GE(events.size(), 2U) << code;
    EXPECT_EQ(events.back()["type"], "end_of_execution") << code;
    EXPECT_EQ(events[events.size() - 2].value("text", ""), "42") << code;
    for (const json& event : events) EXPECT_EQ(event.value("id", ""), "i") << code << event.dump();
  }
}

TEST_F(E2bJavaScript, GivesVariablesToOneExecution) {
  EXPECT_THAT(told({"process.env.B = 'stays'; process.env.A + process.env.HOME",
                  "process.env.B + process.env.A + ['/own', undefined].includes(process.env.HOME)"}),
      ElementsAre("1/own", "staysundefinedfalse"));
}

TEST(E2bShell, KeepsItsStateAndMarksEachEnd) {
  for (const char* shell : {"/bin/sh", "/bin/bash"}) {
    if (::access(shell, X_OK) != 0) continue;
    ProcessSpec spec;
    spec.argv = {shell, "-c", part("shell_context.sh")};
    spec.env = process_environment();
    spec.stdin_text =
        "1 A='b' command eval 'x=5; cd /; echo $A\\nread y; echo r $?'\n"
        "2 command eval 'echo $x ${A:-none}; pwd'\n3 command eval 'if'\n4 command eval 'false'\n"
        "5 command eval 'exec >&2; echo moved'\n6 command eval 'set -e; (exit 7); echo no'\n7 command eval 'echo no'\n";
    const CancelToken never;
    const auto done = collect_process(spec, 8u << 20, never);
    ASSERT_TRUE(done);
    EXPECT_EQ(replaced(done->out, "\x1e", "^"),
        "b\nr 1\n^1 0 going\n5 none\n/\n^2 0 going\n^3 2 going\n^4 1 going\n^5 0 going\n^6 7 ended\n")
        << shell;
    EXPECT_THAT(replaced(done->err, "\x1e", "^"), HasSubstr("^4 1 going\nmoved\n^5 0 going\n^6 7 ended\n")) << shell;
  }
}

}  // namespace
}  // namespace guard::serve::e2b

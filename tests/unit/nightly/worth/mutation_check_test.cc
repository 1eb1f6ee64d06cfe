#include "nightly/worth/mutation_check.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <filesystem>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "common/file_io.h"
#include "pipeline/gate/source_files.h"
#include "runner/image/image.h"
#include "tests/support/scoped_env.h"

namespace guard::nightly {
namespace {

using ::testing::AllOf;
using ::testing::Contains;
using ::testing::Each;
using ::testing::ElementsAre;
using ::testing::Field;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

namespace fs = std::filesystem;

constexpr const char* kImports = "import { describe, expect, mock, test } from \"bun:test\";\n";

TempDir must_create() {
  auto made = TempDir::create();
  if (!made) std::abort();
  ::chmod(made->path().c_str(), 0755);  // the sandbox runs as another user
  return std::move(*made);
}

class Project {
 public:
  Project() : folder_(must_create()), scratch_(must_create()) {
    write("package.json", "{\"name\":\"under-test\",\"private\":true,\"type\":\"module\"}\n");
    write("tsconfig.json", "{\"compilerOptions\":{\"strict\":true}}\n");
    write("src/add.ts",
        "export function add(a: number, b: number): number {\n"
        "  if (a < 0 && b < 0) {\n"
        "    return -(-a + -b);\n"
        "  }\n"
        "  return a + b;\n"
        "}\n");
    EXPECT_TRUE(make_folders(folder_.path() / "sandbox"));
  }
  const fs::path& path() const { return folder_.path(); }
  const fs::path& scratch() const { return scratch_.path(); }
  void write(const std::string& relative, std::string_view text) const {
    EXPECT_TRUE(make_folders((path() / relative).parent_path()));
    EXPECT_TRUE(write_file_atomically(path() / relative, text));
  }
  void test(std::string_view text, const std::string& relative = "sandbox/a.test.ts") const {
    write(relative, kImports + std::string(text));
  }

  WorthRequest request(std::vector<std::string> files = {"sandbox/a.test.ts"}) const {
    static const Matcher kMatcher = Matcher::create(RuleSet::shipped()).value();
    WorthRequest request;
    request.run.project = path();
    request.run.files = std::move(files);
    request.run.backend = Backend::namespace_sandbox;
    request.run.environment = {{"PATH", "/usr/bin:/bin"}, {"DOCKER_HOST", "unix:///nonexistent/engine.sock"}};
    request.run.rules = &RuleSet::shipped();
    request.run.matcher = &kMatcher;
    request.scratch = scratch();
    return request;
  }

  bool left_something() const { return !fs::is_empty(scratch()); }

 private:
  TempDir folder_;
  TempDir scratch_;
};

// ---- with the real sandbox and the real bun -------------------------------------------------------------------------

class TestWorth : public ::testing::Test {
 protected:
  static fs::path cache() {
    static const TempDir kCache = must_create();
    return kCache.path();
  }

  void SetUp() override {
    const bool required = std::getenv("GUARD_TEST_REQUIRE_NAMESPACE") != nullptr;
    if (!fs::exists("/usr/bin/bwrap") && !fs::exists("/usr/local/bin/bwrap")) {
      ASSERT_FALSE(required);
      GTEST_SKIP() << "bubblewrap is not installed";
    }
    const auto bun = find_bun();
    if (!bun) {
      ASSERT_FALSE(required);
      GTEST_SKIP() << bun.error().to_string();
    }
    build_image(*bun);
  }

  void build_image(const fs::path& bun) const {
    ImageInputs inputs;
    inputs.project = project.path();
    inputs.bun = bun;
    const auto built = build_root_folder(inputs, never, {});
    ASSERT_TRUE(built) << built.error().to_string();
  }

  Worth weigh(const WorthRequest& request) {
    auto worth = weigh_tests(request, never);
    EXPECT_TRUE(worth) << worth.error().to_string();
    EXPECT_FALSE(project.left_something());
    return worth ? std::move(*worth) : Worth();
  }
  Worth weigh() { return weigh(project.request()); }

  testing::ScopedEnv cache_folder{"GUARD_CACHE_DIR", cache().string()};
  Project project;
  CancelToken never;
};

#define EXPECT_KIND(worth, wanted) EXPECT_EQ((worth).kind, WorthKind::wanted) << (worth).detail

// By title and number of assertions nothing is lost; what the old test noticed, the new one does not.
TEST_F(TestWorth, IsLostByATestThatNoticesLessThanBefore) {
  const std::string imports = std::string(kImports) + "import { add } from \"../src/add\";\n";
  const std::string adds = "test(\"adds\", () => { expect(add(1, 2)).toBe(3); });\n";
  WorthRequest request = project.request();
  request.before["sandbox/a.test.ts"] =
      imports + adds + "test(\"negatives\", () => { expect(add(-1, -2)).toBe(-3); });\n";
  project.write("sandbox/a.test.ts", imports + adds + "test(\"negatives\", () => { expect(true).toBe(true); });\n");
  const Worth weaker = weigh(request);
  EXPECT_KIND(weaker, weaker);
  EXPECT_THAT(weaker.detail, AllOf(HasSubstr("src/add.ts:"), HasSubstr("leave what they expect")));

  project.write("sandbox/a.test.ts",
      request.before["sandbox/a.test.ts"] + "test(\"more\", () => { expect(add(2, 2)).toBe(4); });\n");
  const Worth extended = weigh(request);
  EXPECT_KIND(extended, worth);

  // Old tests that fail by themselves notice nothing.
  request.before["sandbox/a.test.ts"] += "test(\"fails\", () => { expect(add(2, 2)).toBe(5); });\n";
  project.write("sandbox/a.test.ts", imports + adds);
  const Worth failed = weigh(request);
  EXPECT_KIND(failed, worth);
}

TEST_F(TestWorth, IsShownByAnHonestTest) {
  project.test(
      "import { add } from \"../src/add\";\n"
      "test(\"adds\", () => { expect(add(1, 2)).toBe(3); expect(add(-1, -2)).toBe(-3); expect(add(-1, 5)).toBe(4); "
      "});\n");
  const Worth worth = weigh();
  EXPECT_KIND(worth, worth);
  ASSERT_GT(worth.mutants.size(), 5u);
  EXPECT_EQ(worth.mutants[0].path, "src/add.ts");
  EXPECT_EQ(worth.mutants[0].what, "all exports stubbed");
  EXPECT_TRUE(worth.mutants[0].killed);
  EXPECT_THAT(worth.mutants, Contains(AllOf(Field(&Mutant::what, "`+` became `-`"), Field(&Mutant::killed, true))));
  EXPECT_EQ(worth.lines_covered, worth.lines_newly_covered);
  EXPECT_GE(worth.lines_covered, 3u);
  EXPECT_LE(worth.runs, 15u);
  EXPECT_THAT(worth.detail, HasSubstr("runs"));
}

TEST_F(TestWorth, IsNotInATautology) {
  project.test("import { add } from \"../src/add\";\ntest(\"adds\", () => { add(1, 2); expect(true).toBe(true); });\n");
  const Worth worth = weigh();
  EXPECT_KIND(worth, worthless);
  EXPECT_THAT(worth.mutants, Not(IsEmpty()));
  EXPECT_THAT(worth.mutants, Each(Field(&Mutant::killed, false)));
  EXPECT_THAT(worth.detail, HasSubstr("sandbox/a.test.ts: passes whatever the code does"));
}

TEST_F(TestWorth, IsNotInATestThatImportsNothing) {
  project.test("test(\"adds\", () => expect(1 + 2).toBe(3));\n");
  const Worth worth = weigh();
  EXPECT_KIND(worth, worthless);
  EXPECT_THAT(worth.detail, HasSubstr("imports nothing from src/"));
}

TEST_F(TestWorth, IsNotInATestOfTypesAlone) {
  project.test(
      "import { add } from \"../src/add\";\ntest(\"is there\", () => { expect(typeof add).toBe(\"function\"); "
      "expect(add).toBeDefined(); });\n");
  EXPECT_KIND(weigh(), worthless);
}

TEST_F(TestWorth, IsNotInATestThatCatchesItsFailures) {
  project.test(
      "import { add } from \"../src/add\";\ntest(\"adds\", () => { try { expect(add(1, 2)).toBe(3); } catch {} });\n");
  EXPECT_KIND(weigh(), worthless);
}

TEST_F(TestWorth, IsNotInATestOfItsOwnMock) {
  project.test(
      "mock.module(\"../src/add\", () => ({ add: () => 3 }));\n"
      "const { add } = await import(\"../src/add\");\n"
      "test(\"adds\", () => expect(add(1, 2)).toBe(3));\n");
  EXPECT_KIND(weigh(), worthless);
}

TEST_F(TestWorth, IsInATestThatMocksItsSurroundingsAlone) {
  project.write(
      "src/price.ts", "import { rate } from \"./rate\";\nexport const price = (net: number) => net + net * rate();\n");
  project.write("src/rate.ts", "export const rate = () => 0.19;\n");
  project.test(
      "mock.module(\"../src/rate\", () => ({ rate: () => 0.5 }));\n"
      "const { price } = await import(\"../src/price\");\n"
      "test(\"adds the tax\", () => expect(price(100)).toBe(150));\n");
  EXPECT_KIND(weigh(), worth);
}

// Without a stored value there is nothing to hold the code against; bun refuses it where CI is set, as it is in guard's
// sandbox.
TEST_F(TestWorth, IsNotInASnapshotThatNobodyStored) {
  project.test("import { add } from \"../src/add\";\ntest(\"adds\", () => expect(add(1, 2)).toMatchSnapshot());\n");
  const Worth worth = weigh();
  EXPECT_KIND(worth, flaky);
  EXPECT_THAT(worth.flaky, ElementsAre("sandbox/a.test.ts > adds"));
}

TEST_F(TestWorth, IsInAStoredSnapshot) {
  project.test(
      "import { add } from \"../src/add\";\ntest(\"adds\", () => expect(add(1, 2)).toMatchInlineSnapshot(`3`));\n");
  EXPECT_KIND(weigh(), worth);
}

TEST_F(TestWorth, IsAskedOfEachFile) {
  project.test("import { add } from \"../src/add\";\ntest(\"adds\", () => expect(add(1, 2)).toBe(3));\n");
  project.test(
      "import { add } from \"../src/add\";\ntest(\"adds\", () => expect(add).toBeTruthy());\n", "sandbox/b.test.ts");
  const Worth worth = weigh(project.request({"sandbox/a.test.ts", "sandbox/b.test.ts"}));
  EXPECT_KIND(worth, worthless);
  EXPECT_THAT(worth.detail, HasSubstr("sandbox/b.test.ts"));
  EXPECT_THAT(worth.detail, Not(HasSubstr("sandbox/a.test.ts")));
}

TEST_F(TestWorth, CountsTestsThatNeverFail) {
  project.test(
      "import { add } from \"../src/add\";\n"
      "test(\"adds\", () => expect(add(1, 2)).toBe(3));\n"
      "test(\"is true\", () => expect(true).toBe(true));\n");
  const Worth worth = weigh();
  EXPECT_KIND(worth, worth);
  EXPECT_THAT(worth.detail, HasSubstr("1 of 2 tests never failed"));
}

TEST_F(TestWorth, IsSeenThroughAHelper) {
  project.write("sandbox/helper.ts", "export { add as plus } from \"../src/add\";\n");
  project.test("import { plus } from \"./helper\";\ntest(\"adds\", () => expect(plus(1, 2)).toBe(3));\n");
  const Worth worth = weigh();
  EXPECT_KIND(worth, worth);
  EXPECT_EQ(worth.mutants[0].path, "src/add.ts");
}

TEST_F(TestWorth, IsSeenThroughTheNamesOfTsconfig) {
  project.write("tsconfig.json", "{\"compilerOptions\":{\"baseUrl\":\".\",\"paths\":{\"@/*\":[\"./src/*\"]}}}\n");
  project.test("import { add } from \"@/add\";\ntest(\"adds\", () => expect(add(1, 2)).toBe(3));\n");
  EXPECT_KIND(weigh(), worth);
}

TEST_F(TestWorth, IsSeenWhateverAModuleExports) {
  project.write("src/all.ts",
      "export default class Counter { private n = 0; next() { return ++this.n; } static zero = 0; }\n"
      "export class Other<T> extends Counter { constructor(readonly value: T) { super(); } }\n"
      "export async function later(x: number): Promise<number> { return x * 2; }\n"
      "export function* upTo(n: number) { for (let i = 0; i < n; i++) yield i; }\n"
      "export const { left, right: renamed } = { left: 1, right: 2 };\n"
      "export const enum Colour { red = \"r\" }\n"
      "const hidden = (x: number) => x - 1;\n"
      "export { hidden as shown };\n"
      "export type Only = { a: number };\n"
      "export interface AlsoOnly { b: string }\n"
      "export * from \"./more\";\n"
      "export * as more from \"./more\";\n"
      "export { add } from \"./add\";\n");
  project.write("src/more.ts", "export const greeting = \"hello\", answer = 42;\nexport default 1;\n");
  const std::string import =
      "import Counter, { Other, later, upTo, left, renamed, shown, greeting, answer, more, add, type Only } from "
      "\"../src/all\";\n";
  project.test(import +
      "const only: Only = { a: 1 };\n"
      "test(\"all\", async () => {\n"
      "  new Counter().next(); new Other(1).next(); await later(1); [...upTo(3)]; shown(1); add(1, 2);\n"
      "  expect([typeof greeting, typeof answer, typeof more, only.a]).toEqual([\"string\", \"number\", \"object\", "
      "1]);\n"
      "  expect(left).toBeDefined(); expect(renamed).toBeDefined();\n"
      "});\n");
  const Worth without = weigh();
  EXPECT_KIND(without, worthless);
  EXPECT_THAT(without.mutants, Contains(Field(&Mutant::what, "all exports stubbed")));
  project.test(import + "test(\"all\", async () => { expect(await later(2)).toBe(4); });\n");
  EXPECT_KIND(weigh(), worth);
}

TEST_F(TestWorth, IsSeenInCommonJs) {
  project.write("src/old.cjs",
      "function twice(x) { return x * 2; }\nmodule.exports = { twice, half: (x) => x / 2 };\nmodule.exports.more = "
      "1;\n");
  project.test(
      "import { half, twice } from \"../src/old.cjs\";\ntest(\"old\", () => { expect(twice(2)).toBe(4); "
      "expect(half(2)).toBe(1); });\n");
  const Worth worth = weigh();
  EXPECT_KIND(worth, worth);
  EXPECT_EQ(worth.mutants[0].what, "all exports stubbed");
}

// The result is taken apart while the file is loaded; a stub that gives undefined would keep every test from running.
TEST_F(TestWorth, IsSeenWhereATestCallsTheCodeWhileItIsLoaded) {
  project.write("src/app.ts", "export const create = () => ({ routes: { home: () => \"welcome\" } });\n");
  project.test(
      "import { create } from \"../src/app\";\nconst { home } = create().routes;\ntest(\"home\", () => "
      "expect(home()).toBe(\"welcome\"));\n");
  const Worth worth = weigh();
  EXPECT_KIND(worth, worth);
  EXPECT_EQ(worth.mutants[0].what, "all exports stubbed");
}

TEST_F(TestWorth, CannotBeHadWhereThereIsNoCode) {
  project.write("src/add.ts", "export type Only = { a: number };\nexport interface AlsoOnly { b: 5 }\n");
  project.test(
      "import type { Only } from \"../src/add\";\nconst only: Only = { a: 1 };\ntest(\"is\", () => "
      "expect(only.a).toBe(1));\n");
  const Worth worth = weigh();
  EXPECT_KIND(worth, worthless);
}

TEST_F(TestWorth, IsNotHinderedByAModuleThatCannotBeRead) {
  project.write("src/broken.ts", "export function (((\n`${ } const = '\n");
  project.test("import { add } from \"../src/add\";\ntest(\"adds\", () => expect(add(1, 2)).toBe(3));\n");
  EXPECT_KIND(weigh(), worth);
}

TEST_F(TestWorth, IsShownByAMutantThatDoesNotEnd) {
  project.write("src/sum.ts",
      "export function sum(n: number): number {\n  let all = 0;\n  for (let i = 0; i !== n; i++) all = all + i;\n  "
      "return all;\n}\n");
  // Nothing but the end of the loop is expected here.
  project.test("import { sum } from \"../src/sum\";\ntest(\"ends\", () => { sum(3); });\n");
  WorthRequest request = project.request();
  request.mutants = 20;
  const Worth worth = weigh(request);
  EXPECT_KIND(worth, worth);
  EXPECT_THAT(worth.mutants, Contains(AllOf(Field(&Mutant::what, "`++` became `--`"), Field(&Mutant::killed, true))));
}

TEST_F(TestWorth, IsNoneOfATestThatDependsOnChance) {
  project.test(
      "import { add } from \"../src/add\";\ntest(\"adds\", () => expect(add(1, 2) + "
      "Math.random()).toBeLessThan(3.3));\n");
  WorthRequest request = project.request();
  request.runs = 30;
  const Worth worth = weigh(request);
  EXPECT_KIND(worth, flaky);
  EXPECT_THAT(worth.flaky, ElementsAre("sandbox/a.test.ts > adds"));
}

TEST_F(TestWorth, IsNoneOfTestsThatDependOnTheirOrder) {
  std::string text = "import { add } from \"../src/add\";\nlet state = 0;\n";
  for (int i = 0; i < 6; ++i)
    text += "test(\"step " + std::to_string(i) + "\", () => { expect(state).toBe(" + std::to_string(i) +
        "); state = add(state, 1); });\n";
  project.test(text);
  const Worth worth = weigh();
  EXPECT_KIND(worth, flaky);
  EXPECT_THAT(worth.flaky, Contains("sandbox/a.test.ts > step 5"));
  EXPECT_THAT(worth.detail, HasSubstr("random order"));
}

TEST_F(TestWorth, TellsWhatIsNewlyCovered) {
  project.test("import { add } from \"../src/add\";\ntest(\"adds\", () => expect(add(-1, -2)).toBe(-3));\n");
  project.test(
      "import { add } from \"../src/add\";\ntest(\"adds\", () => expect(add(1, 2)).toBe(3));\n", "sandbox/old.test.ts");
  WorthRequest request = project.request();
  request.old_tests = {"sandbox/old.test.ts"};
  const Worth worth = weigh(request);
  EXPECT_KIND(worth, worth);
  EXPECT_GT(worth.lines_covered, worth.lines_newly_covered);
  EXPECT_EQ(worth.lines_newly_covered, 1u);
}

TEST_F(TestWorth, IsNotHinderedByWantOfCoverage) {
  project.test("import { add } from \"../src/add\";\ntest(\"adds\", () => expect(add(1, 2)).toBe(3));\n");
  WorthRequest request = project.request();
  request.old_tests = {"sandbox/missing.test.ts"};
  const Worth worth = weigh(request);
  EXPECT_KIND(worth, worth);
  EXPECT_GT(worth.lines_covered, 0u);
  EXPECT_EQ(worth.lines_newly_covered, 0u);
}

TEST_F(TestWorth, ChangesNothingInTheProject) {
  project.test("import { add } from \"../src/add\";\ntest(\"adds\", () => expect(add(1, 2)).toBe(3));\n");
  const auto before = collect_paths({project.path().string()}, {});
  ASSERT_TRUE(before);
  weigh();
  const auto after = collect_paths({project.path().string()}, {});
  ASSERT_TRUE(after);
  ASSERT_EQ(before->files.size(), after->files.size());
  for (std::size_t i = 0; i < before->files.size(); ++i) {
    EXPECT_EQ(before->files[i].path, after->files[i].path);
    EXPECT_EQ(before->files[i].bytes, after->files[i].bytes);
  }
}

// ---- with runs that are told what to answer: what is made of answers that no test can bring about at will -----------

RunRecord answer(Reason reason, std::vector<std::string> failed_files = {}) {
  RunRecord record;
  record.verdict = {reason, "as told"};
  record.exec.emplace();
  if (reason != Reason::tests_passed && reason != Reason::tests_failed) return record;
  record.tests.emplace();
  for (const char* file : {"sandbox/a.test.ts"}) {
    const std::uint64_t failures = failed_files.empty() ? 0 : 1;
    record.tests->files.push_back({file, 2, failures, 0, 2});
    record.tests->tests += 2;
    record.tests->failures += failures;
    if (failures > 0) record.tests->cases.push_back({file, "adds", TestState::failed, 1});
  }
  return record;
}
RunRecord failed() { return answer(Reason::tests_failed, {"sandbox/a.test.ts"}); }

struct Told : ::testing::Test {
  Told() { project.test("import { add } from \"../src/add\";\n"); }

  bool is_broken(const RunRequest& run) const {
    const auto now = read_file(run.project / "src/add.ts", 1u << 20);
    const auto then = read_file(project.path() / "src/add.ts", 1u << 20);
    return !now || *now != *then;
  }

  Worth weigh(const TestRunner& runner) {
    CancelToken never;
    auto worth = weigh_tests(project.request(), never, runner);
    EXPECT_TRUE(worth) << worth.error().to_string();
    EXPECT_FALSE(project.left_something());
    return worth ? std::move(*worth) : Worth();
  }

  Project project;
};
using WorthOfAnswers = Told;

TEST_F(WorthOfAnswers, IsThereWhenEachBrokenVersionFails) {
  EXPECT_KIND(weigh([&](const RunRequest& run, const CancelToken&) {
    return is_broken(run) ? failed() : answer(Reason::tests_passed);
  }),
      worth);
}

// One by one: whichever run the environment fails in, nothing is concluded.
TEST_F(WorthOfAnswers, IsUndecidedWhereverTheEnvironmentFails) {
  for (const Reason reason : {Reason::error, Reason::no_environment, Reason::sandbox_unproved,
           Reason::changed_meanwhile, Reason::output_withheld, Reason::findings, Reason::interrupted}) {
    std::uint64_t runs = 1000;
    for (std::uint64_t failing = 0; failing < runs; ++failing) {
      std::uint64_t count = 0;
      bool was_coverage = false;
      const Worth worth = weigh([&](const RunRequest& run, const CancelToken&) {
        const bool now = count++ == failing;
        if (now) was_coverage = run.options.coverage == Coverage::on;
        return now ? answer(reason) : is_broken(run) ? failed() : answer(Reason::tests_passed);
      });
      if (count <= failing) {
        runs = count;
      } else if (was_coverage) {
        EXPECT_KIND(worth, worth) << failing;
        EXPECT_EQ(worth.lines_covered, 0u);
      } else {
        EXPECT_KIND(worth, undecided) << failing << " " << info(reason).name;
      }
    }
    EXPECT_GT(runs, 10u);
  }
}

// bun writes no report where no file could be loaded, and one without failures where others could.
TEST_F(WorthOfAnswers, IsNotShownByAFailureToLoad) {
  for (const bool reports : {false, true}) {
    RunRecord not_loaded = answer(Reason::tests_failed);
    if (!reports) not_loaded.tests.reset();
    const Worth worth = weigh([&](const RunRequest& run, const CancelToken&) {
      return is_broken(run) ? not_loaded : answer(Reason::tests_passed);
    });
    EXPECT_KIND(worth, undecided);
    EXPECT_THAT(worth.mutants, IsEmpty());
  }
}

TEST_F(WorthOfAnswers, IsNotShownByWhatIsNoFailureOfATest) {
  for (const Reason reason : {Reason::crashed, Reason::violation, Reason::all_skipped, Reason::expected_failures,
           Reason::report_forged, Reason::no_tests, Reason::report_missing, Reason::report_incomplete}) {
    EXPECT_NE(weigh([&](const RunRequest& run, const CancelToken&) {
      return is_broken(run) ? answer(reason) : answer(Reason::tests_passed);
    }).kind,
        WorthKind::worth)
        << info(reason).name;
  }
}

TEST_F(WorthOfAnswers, IsNotShownByAFailureThatDoesNotComeAgain) {
  std::uint64_t broken = 0;
  const Worth worth = weigh([&](const RunRequest& run, const CancelToken&) {
    return is_broken(run) && ++broken == 4 ? failed() : answer(Reason::tests_passed);
  });
  EXPECT_KIND(worth, flaky);
  EXPECT_THAT(worth.flaky, ElementsAre("sandbox/a.test.ts > adds"));
}

TEST_F(WorthOfAnswers, IsUndecidedWhereUnchangedCodeRunsOutOfTimeToo) {
  bool busy = false;
  EXPECT_KIND(weigh([&](const RunRequest& run, const CancelToken&) {
    busy = busy || is_broken(run);
    return busy ? answer(Reason::timed_out) : answer(Reason::tests_passed);
  }),
      undecided);
}

TEST_F(WorthOfAnswers, TakesOneFailureOnUnchangedCodeForAFlake) {
  for (std::uint64_t failing = 0; failing < 3; ++failing) {
    std::uint64_t count = 0;
    EXPECT_KIND(weigh([&](const RunRequest& run, const CancelToken&) {
      return is_broken(run) || count++ == failing ? failed() : answer(Reason::tests_passed);
    }),
        flaky);
  }
}

TEST_F(WorthOfAnswers, TakesOtherTestsOnUnchangedCodeForAFlake) {
  std::uint64_t count = 0;
  EXPECT_KIND(weigh([&](const RunRequest& run, const CancelToken&) {
    if (is_broken(run)) return failed();
    RunRecord record = answer(Reason::tests_passed);
    record.tests->tests = record.tests->files[0].tests = 2 + count++;
    return record;
  }),
      flaky);
}

// Then it is the copy, not the tests, that is wrong.
TEST_F(WorthOfAnswers, IsUndecidedWhereTheTestsPassInTheProjectAlone) {
  EXPECT_KIND(weigh([&](const RunRequest& run, const CancelToken&) {
    return run.project == project.path() ? answer(Reason::tests_passed) : failed();
  }),
      undecided);
}

TEST_F(WorthOfAnswers, AsksForDifferentOrdersAndTheSameOnesAgain) {
  std::vector<std::vector<std::uint32_t>> seeds(2);
  for (auto& list : seeds) {
    weigh([&](const RunRequest& run, const CancelToken&) {
      if (run.options.seed) list.push_back(*run.options.seed);
      EXPECT_FALSE(run.options.seed && is_broken(run));
      return is_broken(run) ? failed() : answer(Reason::tests_passed);
    });
  }
  EXPECT_EQ(seeds[0], seeds[1]);
  EXPECT_EQ(std::set<std::uint32_t>(seeds[0].begin(), seeds[0].end()).size(), 3u);
}

TEST_F(WorthOfAnswers, KeepsToTheNumberOfMutants) {
  for (const std::uint64_t mutants : {0u, 1u, 3u}) {
    CancelToken never;
    WorthRequest request = project.request();
    request.mutants = mutants;
    const auto worth = weigh_tests(request, never, [&](const RunRequest& run, const CancelToken&) {
      return is_broken(run) ? failed() : answer(Reason::tests_passed);
    });
    ASSERT_TRUE(worth);
    EXPECT_KIND(*worth, worth);
    EXPECT_EQ(worth->mutants.size(), mutants + 1);
  }
}

TEST_F(WorthOfAnswers, IsAnErrorWhenGuardIsStopped) {
  for (std::uint64_t when = 0; when < 14; ++when) {
    CancelToken cancel;
    std::uint64_t count = 0;
    const auto worth = weigh_tests(project.request(), cancel, [&](const RunRequest& run, const CancelToken&) {
      if (count++ == when) cancel.cancel();
      return cancel.cancelled() ? answer(Reason::interrupted)
          : is_broken(run)      ? failed()
                                : answer(Reason::tests_passed);
    });
    ASSERT_FALSE(worth) << when;
    EXPECT_EQ(worth.error().code(), ErrorCode::cancelled);
    EXPECT_EQ(count, when + 1);
    EXPECT_FALSE(project.left_something());
  }
}

TEST_F(WorthOfAnswers, IsUndecidedWhereTheProjectCannotBeCopied) {
  ASSERT_EQ(::mkfifo((project.path() / "src/pipe").c_str(), 0600), 0);
  const Worth worth = weigh([&](const RunRequest&, const CancelToken&) { return answer(Reason::tests_passed); });
  EXPECT_KIND(worth, undecided);
  EXPECT_EQ(worth.runs, 0u);
}

TEST_F(WorthOfAnswers, IsUndecidedWithoutTests) {
  CancelToken never;
  const auto worth = weigh_tests(
      project.request({}), never, [&](const RunRequest&, const CancelToken&) { return answer(Reason::tests_passed); });
  ASSERT_TRUE(worth);
  EXPECT_KIND(*worth, undecided);
}

TEST_F(WorthOfAnswers, FollowsNoLink) {
  const TempDir outside = must_create();
  ASSERT_TRUE(write_file_atomically(outside.path() / "secret.ts", "export const secret = 1;\n"));
  fs::create_symlink(outside.path() / "secret.ts", project.path() / "src/secret.ts");
  fs::create_directory_symlink(outside.path(), project.path() / "src/folder");
  bool looked = false;
  weigh([&](const RunRequest& run, const CancelToken&) {
    looked = true;
    EXPECT_TRUE(fs::is_symlink(run.project / "src/secret.ts"));
    EXPECT_TRUE(fs::is_symlink(run.project / "src/folder"));
    return is_broken(run) ? failed() : answer(Reason::tests_passed);
  });
  EXPECT_TRUE(looked);
  EXPECT_EQ(read_file(outside.path() / "secret.ts", 100).value(), "export const secret = 1;\n");
}

}  // namespace
}  // namespace guard::nightly

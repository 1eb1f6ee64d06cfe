// Twice the work costs about twice the instructions, as valgrind counts them in guard itself (not in what it starts),
// so no load of the machine decides. From n to 2n the cost grows by d, from 2n to 4n by 2d if it is linear, by 4d if
// quadratic.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <functional>
#include <regex>

#include "tests/support/program/guard_program.h"

namespace guard::testing {
namespace {

namespace fs = std::filesystem;

struct Counted {
  std::int64_t instructions = 0;  // 0: none were counted
  ProgramResult result;
};

Counted counted(ProcessSpec spec) {
  // A program that can't be counted here, such as one with sanitizers, says nothing of valgrind's.
  for (const char* word : {"--callgrind-out-file=/dev/null", "--tool=callgrind", "/usr/bin/valgrind"})
    spec.argv.insert(spec.argv.begin(), word);
  Counted counted;
  counted.result = run_program(spec);
  std::smatch found;
  if (std::regex_search(counted.result.err, found, std::regex("Collected : ([0-9]+)")))
    counted.instructions = std::stoll(found[1]);
  return counted;
}

// How much more the second doubling cost than the first: about 2 if the cost is linear.
double growth(std::size_t n, const std::function<std::int64_t(std::size_t)>& cost) {
  const std::int64_t once = cost(n), twice = cost(2 * n), four_times = cost(4 * n);
  EXPECT_GT(once, 0);
  EXPECT_GT(twice - once, once / 50) << "what grows is not seen beside what a call costs: take a larger n";
  return static_cast<double>(four_times - twice) / static_cast<double>(twice - once);
}
constexpr double kLinear = 2.3;

class Growth : public ::testing::Test {
 protected:
  void SetUp() override {
    const char* must = std::getenv("GUARD_TEST_REQUIRE_VALGRIND");
    ProcessSpec spec;
    spec.argv = {GUARD_PROGRAM, "--version"};
    if (fs::exists("/usr/bin/valgrind") && counted(spec).instructions > 0) return;
    if (must != nullptr && *must == '1') FAIL() << "valgrind counts no instructions of guard";
    GTEST_SKIP() << "valgrind is missing, or this guard does not run in it";
  }

  // Of guard in the project, which has to end with this status.
  std::int64_t instructions(std::vector<std::string> arguments, int exit_status) const {
    ProcessSpec spec;
    spec.argv = std::move(arguments);
    spec.argv.insert(spec.argv.begin(), GUARD_PROGRAM);
    spec.cwd = project_.path().string();
    spec.env = project_.environment();
    const Counted counted = testing::counted(std::move(spec));
    EXPECT_EQ(counted.result.exit_status, exit_status) << counted.result.err;
    return counted.instructions;
  }
  // Each size in a folder of its own.
  std::string folder(std::size_t n) const { return fmt::format("sandbox/{}", n); }

  Project project_;
};

std::string repeated(std::string_view line, std::size_t n) {
  std::string text;
  for (std::size_t i = 0; i < n; ++i) text += fmt::format(fmt::runtime(line), i);
  return text;
}
const std::string kTest =
    "test(\"adds {0}\", () => {{ expect([{0}, 2].reduce((a, b) => a + b, 0)).toBe({0} + 2); }});\n";
const std::string kSecret =
    "key "
    "sk-"
    "ant-api03-" +
    std::string(60, 'k') + "{}AA\n";

constexpr std::string_view kRule =
    "[[rule]]\nid = \"docker.own{0}\"\ntier = \"docker\"\ntitle = \"t\"\nwhy = \"w\"\nfix = \"f\"\n"
    "patterns = [ {{ regex = '\\bown_{0}\\b', views = [\"code\"] }} ]\nmatch = [\"own_{0}()\"]\nno_match = "
    "[\"other()\"]\n\n";

// The measure itself: a program that does quadratic work is seen.
TEST_F(Growth, OfAQuadraticProgramIsSeen) {
  const auto loops = [](std::string_view script) {
    return growth(200, [&](std::size_t n) {
      ProcessSpec spec;
      spec.argv = {"/usr/bin/awk", "-v", fmt::format("n={}", n), std::string(script)};
      return counted(std::move(spec)).instructions;
    });
  };
  EXPECT_GT(loops("BEGIN { for (i = 0; i < n; ++i) for (j = 0; j < n; ++j) s += j }"), 3);
  EXPECT_LT(loops("BEGIN { for (i = 0; i < n; ++i) for (j = 0; j < 200; ++j) s += j }"), kLinear);
}

TEST_F(Growth, OfACheckWithItsFiles) {
  EXPECT_LT(growth(50,
                [&](std::size_t n) {
                  for (std::size_t i = 0; i < n; ++i)
                    project_.write(fmt::format("{}/f{}.test.ts", folder(n), i), repeated(kTest, 5));
                  return instructions({"check", "--jobs", "1", folder(n)}, 0);
                }),
      kLinear);
}

TEST_F(Growth, OfACheckWithFilesThatImportEachOther) {
  EXPECT_LT(growth(50,
                [&](std::size_t n) {
                  for (std::size_t i = 0; i < n; ++i)
                    project_.write(
                        fmt::format("{}/f{}.ts", folder(n), i), fmt::format("export * from \"./f{}\";\n", (i + 1) % n));
                  return instructions({"check", "--jobs", "1", folder(n)}, 0);
                }),
      kLinear);
}

TEST_F(Growth, OfACheckWithTheBytesOfAFile) {
  EXPECT_LT(growth(500,
                [&](std::size_t n) {
                  project_.write(folder(n) + "/a.test.ts", repeated(kTest, n));
                  return instructions({"check", folder(n)}, 0);
                }),
      kLinear);
}

// Of a file, guard shows a hundred of them at most.
TEST_F(Growth, OfACheckWithItsFindings) {
  EXPECT_LT(growth(20,
                [&](std::size_t n) {
                  project_.write(folder(n) + "/a.test.ts", repeated("eval(\"{}\");\n", n));
                  return instructions({"check", "--mode", "host", folder(n)}, 1);
                }),
      kLinear);
}

TEST_F(Growth, OfACheckWithFilesThatAreGuilty) {
  EXPECT_LT(growth(25,
                [&](std::size_t n) {
                  for (std::size_t i = 0; i < n; ++i)
                    project_.write(fmt::format("{}/f{}.test.ts", folder(n), i), "eval(\"1\");\n");
                  return instructions({"check", "--jobs", "1", "--mode", "host", folder(n)}, 1);
                }),
      kLinear);
}

// Bytes of the databases that the patterns compile to, which each check reads: in valgrind, whose processor is another
// one, the same patterns would be compiled again, for minutes.
TEST_F(Growth, OfTheDatabasesWithTheRules) {
  project_.write("sandbox/a.test.ts", repeated(kTest, 5));
  EXPECT_LT(growth(50,
                [&](std::size_t n) {
                  project_.write(fmt::format("rules{}/own.toml", n), repeated(kRule, n));
                  const fs::path cache = project_.path() / fmt::format("cache{}", n);
                  EXPECT_EQ(project_
                                .guard({"check", "--rules", fmt::format("rules{}", n), "sandbox/a.test.ts"},
                                    {{"GUARD_CACHE_DIR", cache.string()}})
                                .exit_status,
                      0);
                  std::int64_t bytes = 0;
                  for (const auto& entry : fs::recursive_directory_iterator(cache))
                    if (entry.is_regular_file()) bytes += static_cast<std::int64_t>(entry.file_size());
                  return bytes;
                }),
      kLinear);
}

TEST_F(Growth, OfARedactionWithItsBytes) {
  EXPECT_LT(growth(1000,
                [&](std::size_t n) {
                  project_.write("log", repeated("request {} of worker 7 took 12.4 ms (status 200, 5312 bytes)\n", n));
                  return instructions({"redact", "log"}, 0);
                }),
      kLinear);
}

TEST_F(Growth, OfARedactionWithTheBytesOfALine) {
  EXPECT_LT(growth(1000,
                [&](std::size_t n) {
                  project_.write("log", repeated("request {} of worker 7 took 12.4 ms (status 200, 5312 bytes) ", n));
                  return instructions({"redact", "log"}, 0);
                }),
      kLinear);
}

TEST_F(Growth, OfARedactionWithItsSecrets) {
  EXPECT_LT(growth(100,
                [&](std::size_t n) {
                  project_.write("log", repeated(kSecret, n));
                  return instructions({"redact", "log"}, 0);
                }),
      kLinear);
}

TEST_F(Growth, OfARedactionWithItsKnownValues) {
  project_.write("log", repeated("request {} of worker 7\n", 100));
  EXPECT_LT(growth(50,
                [&](std::size_t n) {
                  project_.write("values", repeated("a-value-of-the-environment-{}-Kq7xW2mZ\n", n));
                  return instructions({"redact", "--mask-file", "values", "log"}, 0);
                }),
      kLinear);
}

// On docker, since valgrind knows no pidfd_open(2), which guard starts programs with.
class RunGrowth : public Growth {
 protected:
  void SetUp() override {
    GUARD_NEEDS(Needs::docker);
    Growth::SetUp();
    if (!IsSkipped() && !HasFatalFailure()) project_.build_image("docker");
  }
  std::int64_t run(std::vector<std::string> files) const {
    files.insert(files.begin(), {"run", "--quiet", "--backend", "docker"});
    return instructions(std::move(files), 0);
  }
};
const std::string kHead = "import { expect, test } from \"bun:test\";\n";

TEST_F(RunGrowth, WithTheFilesOfTheProject) {
  project_.write("sandbox/a.test.ts", kHead + repeated(kTest, 1));
  EXPECT_LT(growth(200,
                [&](std::size_t n) {
                  for (std::size_t i = 0; i < n; ++i)
                    project_.write(fmt::format("src/f{}.ts", i), "export const one = 1;\n");
                  return run({"sandbox/a.test.ts"});
                }),
      kLinear);
}

TEST_F(RunGrowth, WithItsTestFiles) {
  EXPECT_LT(growth(3,
                [&](std::size_t n) {
                  std::vector<std::string> files;
                  for (std::size_t i = 0; i < n; ++i) {
                    files.push_back(fmt::format("sandbox/f{}.test.ts", i));
                    project_.write(files.back(), kHead + repeated(kTest, 1));
                  }
                  return run(files);
                }),
      kLinear);
}

TEST_F(RunGrowth, WithTheBytesThatTestsPrint) {
  EXPECT_LT(
      growth(2000,
          [&](std::size_t n) {
            project_.write("sandbox/a.test.ts",
                kHead +
                    fmt::format(
                        "for (let i = 0; i < {}; ++i) console.log(`request ${{i}} of worker 7 took 12.4 ms`);\n", n) +
                    repeated(kTest, 1));
            return run({"sandbox/a.test.ts"});
          }),
      kLinear);
}

}  // namespace
}  // namespace guard::testing

// Tests that take what they can get: each ends with a reason of its own, within its limits, and leaves nothing.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <filesystem>

#include "tests/support/program/guard_program.h"

namespace guard::testing {
namespace {

struct Attack {
  const char* name;
  const char* body;  // of a test, with node:fs as fs
  const char* verdict;
  const char* reason;
};

constexpr Attack kAttacks[] = {
    {"ForkBomb", R"js(for (;;) Bun.spawn(["/usr/local/bin/bun", "-e", "setTimeout(() => {}, 600000)"]);)js", "rejected",
        "pids_limit"},
    {"MemoryHog", R"js(const kept = []; for (;;) kept.push(new Uint8Array(16 << 20).fill(1));)js", "rejected",
        "out_of_memory"},
    {"MemoryHogInAChildThatIsNotMissed",
        R"js(Bun.spawnSync(["/usr/local/bin/bun", "-e", "const kept = []; for (;;) kept.push(new Uint8Array(16 << 20).fill(1));"]);)js",
        "rejected", "out_of_memory"},
    {"FillsTmp",
        R"js(const fd = fs.openSync("/tmp/filling", "w"); const block = new Uint8Array(1 << 20); for (;;) fs.writeSync(fd, block);)js",
        "rejected", "storage_full"},
    {"FillsTheFolderWithEmptyFiles",
        R"js(for (let i = 0;; ++i) fs.closeSync(fs.openSync("/app/sandbox/f" + i, "w"));)js", "rejected",
        "storage_full"},
    {"SparseFileOf1TB", R"js(const fd = fs.openSync("/tmp/sparse", "w"); fs.ftruncateSync(fd, 2 ** 40);)js", "rejected",
        "tests_failed"},
    {"FloodOfLines", R"js(for (;;) console.log("line after line after line after line after line");)js", "rejected",
        "output_flood"},
    {"EndlessLine", R"js(const part = "x".repeat(65536); for (;;) fs.writeSync(1, part);)js", "rejected",
        "output_flood"},
    {"OutputBelowTheFlood",
        R"js(const part = "x".repeat(99) + "\n"; for (let i = 0; i < 100000; ++i) fs.writeSync(1, part);)js", "allowed",
        "tests_passed"},
    {"DetachedDaemonThatHeedsNoTerm",
        R"js(Bun.spawn(["/usr/local/bin/bun", "-e", "process.on('SIGTERM', () => {}); setInterval(() => {}, 1000)"], { stdio: ["ignore", "inherit", "inherit"] }).unref();)js",
        "allowed", "tests_passed"},
    {"HangThatHeedsNoTerm", R"js(process.on("SIGTERM", () => {}); for (;;) {})js", "rejected", "timed_out"},
    {"OpensAllItCan", R"js(for (;;) fs.openSync("/dev/null", "r");)js", "rejected", "tests_failed"},
};

class Attacks : public ::testing::TestWithParam<std::tuple<const char*, Attack>> {};

TEST_P(Attacks, EndsWithAReasonOfItsOwn) {
  const std::string backend = std::get<0>(GetParam());
  const Attack& attack = std::get<1>(GetParam());
  GUARD_NEEDS(backend == "docker" ? Needs::docker : Needs::namespace_sandbox);
  Project project;
  project.configure(
      "trust_namespace = true\n[run]\ngrace_s = 1\n[docker]\ntimeout = 8\n[namespace]\ntimeout = 8\n"
      "[limits]\nmemory = \"384m\"\npids = 64\ntmp_size = \"32m\"\nsandbox_size = \"32m\"\nsandbox_files = "
      "500\noutput_flood = \"20m\"\n");
  project.write("sandbox/a.test.ts",
      fmt::format("import {{ expect, test }} from \"bun:test\";\nimport * as fs from \"node:fs\";\n"
                  "test(\"takes\", () => {{ {} expect(1).toBe(1); }}, 600000);\n",
          attack.body));
  project.build_image(backend);
  const auto result = project.run(backend, {"sandbox/a.test.ts"}, {"--quiet"});
  const auto document = result.document();
  EXPECT_EQ(document["verdict"], attack.verdict) << result.out << result.err;
  EXPECT_EQ(document["reason"], attack.reason) << document.dump(1);
  EXPECT_LE(document["output"]["kept_bytes"].get<std::uint64_t>(), 81920u);
  const auto clean = project.guard({"clean", "--format", "json"}).document();
  EXPECT_TRUE(clean["removed"].empty()) << clean.dump();
  EXPECT_TRUE(clean["failed"].empty()) << clean.dump();
}

INSTANTIATE_TEST_SUITE_P(On, Attacks,
    ::testing::Combine(::testing::Values("docker", "namespace"), ::testing::ValuesIn(kAttacks)),
    [](const auto& tested) {
      const std::string backend = std::get<0>(tested.param) == std::string("docker") ? "Docker" : "Namespace";
      return backend + std::get<1>(tested.param).name;
    });

}  // namespace
}  // namespace guard::testing

// A night as it might have been, of any size, always the same: for tests of what shows it.
#pragma once

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <string>

#include "nightly/report/report.h"

namespace guard::nightly::testing {

inline constexpr std::int64_t kMinute = 60'000;

inline Attempt sample_attempt(
    const Task& task, std::uint64_t number, AttemptOutcome outcome, std::int64_t started_ms, std::int64_t ms) {
  Attempt attempt;
  attempt.night = task.night;
  attempt.task = task.id;
  attempt.number = number;
  attempt.step = AttemptStep::done;
  attempt.outcome = outcome;
  attempt.started_ms = started_ms;
  attempt.ended_ms = started_ms + ms;
  attempt.start = attempt.tip = "4f1d2c3b5a69788796a5b4c3d2e1f00112233445";
  attempt.backend = "namespace";
  attempt.generator = "exit 0";
  attempt.files = {fmt::format("sandbox/{}.test.ts", task.id)};
  attempt.output = fmt::format("outputs/{}/{}-{}.txt", task.night, task.id, number);
  attempt.timings_ms = {{"clone", 14}, {"generator", std::max<std::int64_t>(ms - 900, 0)}, {"gate", 9}, {"run", 640},
      {"worth", 220}, {"commit", 11}};
  return attempt;
}

inline std::string sample_diff(const std::string& name) {
  return fmt::format(
      "diff --git a/sandbox/{0}.test.ts b/sandbox/{0}.test.ts\nnew file mode 100644\nindex 0000000..8f3b1c2\n--- "
      "/dev/null\n+++ b/sandbox/{0}.test.ts\n@@ -0,0 +1,12 @@\n"
      "+import {{ describe, expect, test }} from \"bun:test\";\n+import {{ parse }} from "
      "\"../src/parse\";\n+\n+describe(\"{0}\", () => {{\n"
      "+  test(\"keeps the order of equal keys\", () => {{\n+    expect(parse(\"a=1&a=2\").all(\"a\")).toEqual([\"1\", "
      "\"2\"]);\n+  }});\n"
      "+  test(\"refuses what is no query\", () => {{\n+    expect(() => parse(\"&&&\")).toThrow(\"empty pair\");\n+  "
      "}});\n+}});\n"
      "@@ -30,4 +42,4 @@ export const limits\n   depth: 4,\n-  pairs: 100,\n+  pairs: 1_000,\n   bytes: 65_536,\n",
      name);
}

// `count` tasks, seven of ten accepted; two generators side by side.
inline ReportInput sample_night(std::size_t count) {
  constexpr std::string_view kNames[] = {"parse-query", "format-date", "login-form", "cart-total", "retry-after",
      "slugify", "csv-import", "price-rounding", "sort-stable", "locale-fallback"};
  ReportInput input;
  Night& night = input.night;
  night.id = "2026-11-22T2200-1a2b";
  night.state = NightState::finished;
  night.started_ms = 1'795'384'800'000;  // 22 November 2026, 22:00
  night.plan_name = "plans/weekly.toml";
  night.base = "4f1d2c3b5a69788796a5b4c3d2e1f00112233445";
  night.branch = "refs/heads/guard/2026-11-22";
  night.rules_digest = "9b1fe0c4d7a3";
  night.guard_version = "0.1.0";
  night.requeued = 1;
  input.state_folder = "/var/lib/guard/nightly/shop-0a1b2c3d4e5f";
  std::int64_t free_at[2] = {night.started_ms + 2'000, night.started_ms + 2'500};
  std::map<std::string, std::uint64_t> rules;
  for (std::size_t i = 0; i < count; ++i) {
    Task task;
    task.night = night.id;
    task.id = fmt::format("{}-{}", kNames[i % 10], i);
    task.position = i;
    task.prompt = fmt::format(
        "Write tests for src/{}.ts.\n\nCover the empty input, the longest one and what is refused.", kNames[i % 10]);
    task.attempts = 1;
    const std::int64_t ms = 40'000 + static_cast<std::int64_t>(i * 7'919 % 200'000);
    const auto started = [&](std::int64_t length) {
      std::int64_t& free = free_at[0] <= free_at[1] ? free_at[0] : free_at[1];
      const std::int64_t begin = free;
      free += length + 900;
      return begin;
    };
    const std::size_t kind = i % 10;
    if (kind == 3 || kind == 8) {
      task.state = TaskState::refused;
      task.reason = kind == 3 ? "findings" : "worthless";
      task.detail = kind == 3
          ? fmt::format("2 findings in sandbox/{}.test.ts, the first: starts a process (host.child_process)", task.id)
          : "the new tests pass whatever the code does: 0 of 6 broken versions were noticed";
      task.attempts = 2;
      for (std::uint64_t number = 1; number <= 2; ++number) {
        Attempt attempt = sample_attempt(task, number, AttemptOutcome::refused, started(ms), ms);
        attempt.reason = task.reason;
        attempt.detail = task.detail;
        attempt.diff = sample_diff(task.id);
        attempt.feedback =
            "Your change was refused.\n\nsandbox/cart-total.test.ts:14: starts a process\n  instead: call the function "
            "under test";
        attempt.kept = fmt::format("kept/{}/{}-{}", night.id, task.id, number);
        if (kind == 3) {
          const std::string path = fmt::format("sandbox/{}.test.ts", task.id);
          attempt.findings = {{"host.child_process", "host", path, 14, "starts a process",
                                  "call the function under test; a test needs no other program",
                                  "  const out = execSync(\"ls -la\", { cwd: dir });"},
              {"docker.two_hit", "docker", path, 22, "reads a variable of the environment and writes output",
                  "use a literal value", "  console.log(process.env.API_URL);"}};
          ++rules["host.child_process"];
          ++rules["docker.two_hit"];
        } else {
          attempt.tests_passed = 3;
          attempt.mutants = 6;
        }
        input.attempts.push_back(std::move(attempt));
      }
    } else if (kind == 6) {
      task.state = TaskState::failed;
      task.reason = "generator_failed";
      task.detail = "the generator was stopped after 15 min";
      Attempt attempt = sample_attempt(task, 1, AttemptOutcome::failed, started(ms), ms);
      attempt.generator = "timed out";
      attempt.reason = task.reason;
      attempt.detail = task.detail;
      input.attempts.push_back(std::move(attempt));
    } else {
      task.state = TaskState::accepted;
      task.reason = "accepted";
      task.detail = "3 new tests";
      task.commit =
          fmt::format("{0:08x}{1:08x}{0:08x}{1:08x}{0:08x}", 0x8f12a3b4u + i * 977u, 0x51c2d3e4u + i * 7'919u);
      std::uint64_t number = 1;
      if (i == 5) {
        Attempt attempt = sample_attempt(task, number++, AttemptOutcome::requeued, started(3'000), 3'000);
        attempt.reason = "engine_failed";
        attempt.detail = "the engine ended in the middle of the run";
        task.requeued = 1;
        input.attempts.push_back(std::move(attempt));
      }
      Attempt attempt = sample_attempt(task, number, AttemptOutcome::accepted, started(ms), ms);
      attempt.reason = "accepted";
      attempt.detail = task.detail;
      attempt.commit = task.commit;
      attempt.evidence = fmt::format("evidence/{}/{}.json", night.id, task.id);
      attempt.diff = sample_diff(task.id);
      attempt.tests_passed = 3;
      attempt.mutants = 6;
      attempt.mutants_killed = 5;
      attempt.lines_covered = 41;
      attempt.lines_newly_covered = 12;
      if (i == 0) attempt.backend = "host";
      input.attempts.push_back(std::move(attempt));
    }
    if (i == 0) {
      task.rollout = Rollout::host;
      task.review = Review::taken;
    }
    input.tasks.push_back(std::move(task));
  }
  night.ended_ms = std::max(free_at[0], free_at[1]) + 3'000;
  night.heartbeat_ms = night.ended_ms;
  input.now_ms = night.ended_ms + 90 * kMinute;
  for (const auto& [rule, number] : rules) input.rules.push_back({rule, number});
  std::stable_sort(
      input.rules.begin(), input.rules.end(), [](const auto& a, const auto& b) { return a.count > b.count; });
  for (std::uint64_t i = 0; i < 14; ++i) {
    Journal::NightSums sums;
    sums.night = i == 0 ? night.id : fmt::format("2026-11-{:02}T2200-{:04x}", 22 - i, i * 4'099);
    sums.started_ms = night.started_ms - static_cast<std::int64_t>(i) * 1'440 * kMinute;
    sums.ended_ms = sums.started_ms + (300 + static_cast<std::int64_t>(i * 37 % 120)) * kMinute;
    sums.accepted = 28 - i;
    sums.refused = 6 + i % 4;
    sums.failed = i % 3;
    sums.waiting = i == 4 ? 5 : 0;
    sums.attempts = 50 + i % 7;
    sums.findings = 30 - i % 9;
    sums.flaky = i % 4;
    input.trend.push_back(std::move(sums));
  }
  input.flakes = {{"sandbox/retry-after.test.ts > waits as long as the header says", 4, "2026-11-21T2200-1003"},
      {"sandbox/csv-import.test.ts > reads in pieces", 1, "2026-11-15T2200-7015"}};
  return input;
}

}  // namespace guard::nightly::testing

// What a night is made of, as plain values: the journal keeps them, the loop makes them, the report shows them.
//
// Times are milliseconds since 1970 (UTC), 0: not yet. Texts that a generator or a test had a hand in are masked before
// they are put here; they still are hostile (control characters, markup), and whoever shows them escapes them.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "common/enum_names.h"
#include "validator/change/change_policy.h"

namespace guard::nightly {

enum class NightState : std::uint8_t {
  running,   // in the journal: or killed while it was; see state_folder.h, observed_state()
  finished,  // every task was decided
  ended,     // a budget, too many failures in a row or requeued tasks, no space; `why` says which
  stopped,   // `guard nightly stop`, or a signal
  killed,    // nobody works on it any more; never in the journal
};

struct Night {
  std::string id;  // "2026-11-22T2200-1a2b": sorts by time
  NightState state = NightState::running;
  std::string reason;  // of ended: "time", "attempts", "failures_in_a_row", "put_backs", "worker_lost", "no_space",
                       // "no_executor"; of stopped: "asked", "signal"
  std::string why;     // the same as a sentence
  std::int64_t started_ms = 0;
  std::int64_t ended_ms = 0;
  std::int64_t heartbeat_ms = 0;  // of the last step
  std::string plan_name;          // the file as named
  std::string plan_text;          // its bytes: a resumed night does not read the file again
  std::string base;               // commit id: configuration and rules are taken from there
  std::string branch;             // full name of the reference: refs/heads/guard/2026-11-22
  std::string rules_digest;       // of the rules and the configuration that it is judged by
  std::string guard_version;
  std::uint64_t requeued = 0;  // attempts
};

enum class TaskState : std::uint8_t {
  waiting,  // also: requeued
  running,
  accepted,  // `commit` is on the branch
  refused,   // by the change policy, the rules, its tests, or for want of worth: the last attempt's reason
  failed,    // the generator: crashed, hung, missing
  skipped,   // not run: the roll-out did not choose it
};

// Whether nothing is left to do for a task in this state.
constexpr bool is_decided(TaskState state) noexcept {
  return state != TaskState::waiting && state != TaskState::running;
}

// What a person said in the morning.
enum class Review : std::uint8_t { none, taken, dropped, sent_back };

// How the roll-out decided.
enum class Rollout : std::uint8_t { sandbox, host, none };

struct Task {
  std::string night;
  std::string id;
  std::uint64_t position = 0;  // in the plan, from 0
  TaskKind kind = TaskKind::test;
  std::string prompt;  // resolved: the text, not the file
  TaskState state = TaskState::waiting;
  std::string reason;  // wire name: "accepted", "findings", "tests_failed", "worthless", "generator_failed", ...
  std::string detail;  // this case in one sentence
  std::uint64_t attempts = 0;  // those that counted: requeued ones do not
  std::uint64_t requeued = 0;  // attempts
  std::string commit;          // of accepted
  Rollout rollout = Rollout::sandbox;
  Review review = Review::none;
  std::string note;  // of whoever sent it back
};

enum class AttemptStep : std::uint8_t { cloning, generating, reading, gating, testing, weighing, committing, done };
enum class AttemptOutcome : std::uint8_t { none, accepted, refused, failed, requeued, interrupted };

// What a rule found; or, with kFailedTest as its tier, a failed test, whose rule is the kind of its failure.
inline constexpr std::string_view kFailedTest = "test";

struct AttemptFinding {
  std::string rule;
  std::string tier;
  std::string path;
  std::uint32_t line = 0;
  std::string message;
  std::string fix;
  std::string excerpt;
};

struct Attempt {
  std::string night;
  std::string task;
  std::uint64_t number = 0;  // from 1, requeued and interrupted ones included
  AttemptStep step = AttemptStep::cloning;
  AttemptOutcome outcome = AttemptOutcome::none;
  std::string reason;  // as Task::reason; of requeued: the reason of the verdict
  std::string detail;
  std::int64_t started_ms = 0;
  std::int64_t ended_ms = 0;
  std::string start;   // commit that the clone was made of
  std::string tip;     // of the branch, as it was when `commit` was made: its parent
  std::string commit;  // made, but on the branch only once the outcome is accepted
  std::string backend;
  std::string evidence;  // file, seen from the state folder; empty: no run
  std::string evidence_sha256;
  std::string output;              // what the generator said, masked and capped: file, seen from the state folder
  std::string kept;                // the clone, where it stays: folder, seen from the state folder
  std::string feedback;            // what the next attempt is told; empty: nothing
  std::string diff;                // unified, masked, cut at 256 KiB; of what was judged
  std::string generator;           // how it ended: "exit 0", "signal 9", "timed out"
  std::vector<std::string> files;  // that the change touches
  std::vector<AttemptFinding> findings;
  std::string generator_said;        // its last lines, where it failed
  std::uint64_t secrets_masked = 0;  // in what its tests printed
  std::uint64_t tests_passed = 0;
  std::uint64_t tests_failed = 0;
  std::uint64_t tests_skipped = 0;
  std::uint64_t mutants = 0;  // tried
  std::uint64_t mutants_killed = 0;
  std::uint64_t lines_covered = 0;  // of src/, by the new tests
  std::uint64_t lines_newly_covered = 0;
  std::vector<std::string> flaky;  // tests that passed and failed on the same code: "sandbox/a.test.ts > adds"
  std::vector<std::pair<std::string, std::int64_t>>
      timings_ms;  // "clone", "generator", "gate", "run", "worth", "commit", ...
};

}  // namespace guard::nightly

namespace guard {

// Wire names: the journal and the documents hold them. What is requeued is called put_back there, as in older versions.
template <>
inline constexpr std::array<std::string_view, 5> kNamesOf<nightly::NightState> = {
    "running", "finished", "ended", "stopped", "killed"};
template <>
inline constexpr std::array<std::string_view, 6> kNamesOf<nightly::TaskState> = {
    "waiting", "running", "accepted", "refused", "failed", "skipped"};
template <>
inline constexpr std::array<std::string_view, 4> kNamesOf<nightly::Review> = {"none", "taken", "dropped", "sent_back"};
template <>
inline constexpr std::array<std::string_view, 3> kNamesOf<nightly::Rollout> = {"sandbox", "host", "none"};
template <>
inline constexpr std::array<std::string_view, 8> kNamesOf<nightly::AttemptStep> = {
    "cloning", "generating", "reading", "gating", "testing", "weighing", "committing", "done"};
template <>
inline constexpr std::array<std::string_view, 6> kNamesOf<nightly::AttemptOutcome> = {
    "none", "accepted", "refused", "failed", "put_back", "interrupted"};

}  // namespace guard

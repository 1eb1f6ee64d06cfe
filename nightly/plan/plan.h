// The plan of a night: a TOML file that a person wrote. Checked as a whole before anything starts: unknown keys, empty
// ids, ids that appear twice, prompts that are missing, and tasks aimed at what is never generated are all told at
// once.
//
//   base = "main"                     # revision to start from; default: HEAD
//   branch = "guard/night"            # what accepted changes are committed to; default: guard/<night id>
//   generator = ["claude", "-p"]      # a program and its arguments: prompt on standard input, works in the current
//   folder; the program
//                                     # is found through PATH or named absolutely, never seen from a folder that
//                                     generators write to
//   generator_env = ["PATH", "HOME"]  # names of variables that it may see (default: PATH HOME LANG TERM)
//   generator_timeout = 900           # seconds
//   allow_left_processes = false      # whether a generator may leave processes behind (they are killed all the same)
//   attempts = 2                      # per task
//   jobs = 1                          # generators side by side; judging is one at a time
//   [budget]
//   time = 28800                      # seconds for the night
//   attempts = 500
//   failures_in_a_row = 10            # refused or failed tasks
//   requeued = 5                      # undecided or unavailable attempts in a row, then the night ends
//   back_off_ms = 1000                # before the first retry of a put-back task; doubles to 60 s
//   [executor]                        # who makes the first half of attempts: docs/nightly.md, Many machines
//   kind = "slurm"                    # local (default), folder (whoever takes the task folders), slurm
//   [[task]]
//   id = "add-negative"               # 1 to 64 of A-Z a-z 0-9 . _ -
//   kind = "test"                     # or "any"
//   prompt = "..."                    # or prompt_file = "prompts/a.md", seen from the plan
//   tests = ["sandbox/add.test.ts"]   # paths or globs to run; default: test: the changed test files; any: all tests
//   after = ["other-task"]            # waits for these: runs on top of what they brought, and not at all where one
//   came to nothing project = "packages/a"            # folder of the project in the repository; default: its root
//   generator, generator_timeout, attempts as above
#pragma once

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "common/result.h"
#include "validator/change/change_policy.h"

namespace guard {
class Validator;
}

namespace guard::nightly {

struct PlannedTask {
  std::string id;
  TaskKind kind = TaskKind::test;
  std::string prompt;  // what prompt_file held, where one was named
  std::vector<std::string> generator;
  std::chrono::milliseconds generator_timeout{900'000};
  std::uint64_t attempts = 2;
  std::vector<std::string> tests;
  std::string project;             // "" or "packages/a"
  std::vector<std::string> after;  // ids of tasks of the plan; no circle
  // What its tests may reach of what [network] allow of the configuration lists, of the same form; nothing: all of it.
  std::optional<std::vector<std::string>> allow;
  // Why it is never generated, as a sentence; empty: it may be. Such a task is refused before its generator runs.
  std::string never_generated;
};

// Where clone and generator of an attempt are at work, and a first judgement.
enum class ExecutorKind : std::uint8_t { local, folder, slurm };

struct ExecutorPlan {
  ExecutorKind kind = ExecutorKind::local;
  std::string shared;   // folder that all machines see under this name; empty: in the state folder
  std::string scratch;  // folder on each machine; empty: its temporary folder
  std::string program;  // guard on each machine; empty: the path of the one that runs
  std::string key;      // file on each machine: results are signed with it
  // Public keys as in a .pub file, optionally after valid-before="20300131"; one line each.
  std::vector<std::string> signers;        // a result has to be signed by one of all keys here, where there are any
  std::vector<std::string> trust_workers;  // what these signed needs no second run, while the tip has not moved
  // As sbatch takes them; empty and 0: its own default.
  std::string partition;
  std::string account;
  std::string memory;
  std::uint64_t cpus = 0;
  std::chrono::seconds time{0};
  std::uint64_t batch = 1;                                   // attempts that one element of a job array makes
  std::vector<std::string> pass = {"PATH", "HOME", "LANG"};  // variables that jobs are given
  // Of Kubernetes: names of objects of a cluster, and an image with guard, git and the generator.
  std::string image;
  std::string volume;         // the claim on the volume that is `shared`
  std::string runtime_class;  // gVisor's, say
  std::string secret;         // its entries are variables of workers
};

struct Plan {
  std::string base = "HEAD";
  std::string branch;  // empty: guard/<night id>
  std::vector<std::string> generator_env = {"PATH", "HOME", "LANG", "TERM"};
  bool allow_left_processes = false;
  std::uint64_t jobs = 1;
  struct {
    std::chrono::milliseconds time{28'800'000};
    std::uint64_t attempts = 500;
    std::uint64_t failures_in_a_row = 10;
    std::uint64_t requeued = 5;
    std::chrono::milliseconds back_off{1'000};
  } budget;
  ExecutorPlan executor;
  std::vector<PlannedTask> tasks;
};

// `folder`: where prompt files are seen from. CONFIG_INVALID with every fault and its place, a line each;
// FILE_NOT_FOUND never: a missing prompt file is such a fault.
Result<Plan> parse_plan(std::string_view text, std::string_view name, const std::filesystem::path& folder);

// The same for a night that is resumed: prompts come from the journal (task id -> prompt), files are not read.
Result<Plan> parse_plan(
    std::string_view text, std::string_view name, const std::vector<std::pair<std::string, std::string>>& prompts);

// Why a task with this prompt and these tests is never generated (SPEC: tests of ALWAYS_BLOCK, regression tests of
// security patterns), as a sentence; empty: it may be. By words alone: what it misses, the gate refuses once it is
// written. parse_plan() has asked.
std::string never_generated(const PlannedTask& task);

// The same, and whether prompt or tests hold what must not be committed (banned patterns): a test would repeat it. An
// Error is "could not decide", and such a task must not be generated either.
Result<std::string> never_generated(const PlannedTask& task, const Validator& validator);

}  // namespace guard::nightly

template <>
inline constexpr std::array<std::string_view, 3> guard::kNamesOf<guard::nightly::ExecutorKind> = {
    "local", "folder", "slurm"};

// The main job: gate, stage, run, redact, judge. The only place that knows the order of work.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "common/byte_sink.h"
#include "common/cancel.h"
#include "common/environment.h"
#include "common/result.h"
#include "pipeline/config/config.h"
#include "pipeline/network.h"
#include "pipeline/run/test_command.h"
#include "pipeline/run_record.h"
#include "rules/matching/matcher.h"
#include "rules/rule_set.h"
#include "runner/tasks/open_sandbox.h"

namespace guard {

// What an evidence record says of a sandbox that is to be had once more (pipeline/evidence/recorded_sandbox.h).
struct RecordedSandbox {
  std::map<std::string, std::string> hashes;  // SHA-256 of every file that was staged; no other one is
  std::string image_reference;
  std::string image_id;
};

enum class RefusedFiles : std::uint8_t { are_left_out, decide };

struct RunRequest {
  std::filesystem::path project;         // absolute
  std::filesystem::path committed_tree;  // of which HEAD says what may be preloaded; empty: the project
  std::vector<std::string>
      files;  // tests, relative to the project: "sandbox/a.test.ts"; "tests/": all in a folder; "": all of the project
  TestOptions options;   // plain wherever `facts` are: no evidence record tells of another command. Coverage: with one
                         // job, in the sandboxes that hand files out
  std::size_t jobs = 1;  // 2 or more: a sandbox for each file, so many at a time (not on the host)
  std::vector<std::string> argv;    // not empty: a command without the gate instead of tests (`guard exec`)
  std::string working_dir;          // of that command, relative to the project
  std::vector<std::string> writes;  // folders of the project that it may write to for real, relative
  int input_descriptor = -1;        // it reads this to its end; negative: nothing to read
  // Of that command: what takes a stream as it comes, neither masked nor capped, in place of run_tests()' sink. Ended
  // by finish() where the command came to an end.
  ByteSink* raw_out = nullptr;
  ByteSink* raw_err = nullptr;
  // Called once all is read and prepared, before anything of the program's runs; its Error ends the run.
  std::function<Result<void>()> before_start;
  Config config;
  // Whether a refused file that is neither named nor loaded is left out; nights keep the whole change, so there it
  // decides.
  RefusedFiles refused_files = RefusedFiles::are_left_out;
  std::optional<Backend> backend;  // --backend
  Environment environment;
  const RuleSet* rules = nullptr;  // must outlive the call, as must matcher
  std::string rules_folder;        // --rules, for the record; empty: the shipped ones
  const Matcher* matcher = nullptr;
  std::optional<RunFacts> facts;  // for an evidence record: what the caller knows; the rest is looked up
  std::function<void(std::string_view sentence)> warn;  // what a watcher should hear at once; it is in the record, too
  Egress::Watch connection_ended;  // network = allowlist: as Egress says, masked, from another thread
  Timeline* timeline = nullptr;    // takes the stages, finer than `progress` tells them
  std::function<void(std::string_view stage)> progress;  // called before each stage, with a word or two
};

// The sandbox in which request.argv would run, open and without anything running: the project's files where tests see
// them, the same image, limits and mounts; nothing is checked. INPUT_INVALID where `recorded` is not what there is now,
// and where the backend has no sandboxes that stay; IMAGE_MISSING and the other errors of a run.
struct RunSandbox {
  std::unique_ptr<OpenSandbox> sandbox;
  std::string backend;
  std::string working_dir;
  std::map<std::string, std::string> env;
  std::vector<std::string> left_out;  // of the project
};
Result<RunSandbox> open_run_sandbox(
    const RunRequest& request, const std::optional<RecordedSandbox>& recorded, const CancelToken& cancel);

// Output of the program goes to `out` and `err` while it runs, redacted and capped. Never fails: whatever goes wrong is
// a verdict that is not allowed, with the error in the record.
RunRecord run_tests(const RunRequest& request, ByteSink& out, ByteSink& err, const CancelToken& cancel);

}  // namespace guard

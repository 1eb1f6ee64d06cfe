// All that is known after `guard run` or `guard check`: what the documents for machines and the text for people are
// made from. Plain values; every relaxation is in it, because a warning on a terminal is seen by nobody at night.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "common/timeline.h"
#include "pipeline/config/config.h"
#include "pipeline/gate/waivers.h"
#include "pipeline/report/line_coverage.h"
#include "pipeline/report/test_results.h"
#include "pipeline/run_facts.h"
#include "pipeline/verdict.h"
#include "runner/init_side/bun_report.h"
#include "runner/init_side/collection.h"
#include "runner/process/exec_result.h"
#include "runner/sandbox/sandbox.h"
#include "validator/validator.h"

namespace guard {

// How large a judged change is.
struct ChangeSize {
  std::uint64_t files = 0;  // also those that are taken away
  std::uint64_t lines_added = 0;
  std::uint64_t lines_removed = 0;
};

struct CheckRecord {
  Verdict verdict;
  std::optional<Error> error;  // why it is undecided or unavailable, where an error says so
  std::string mode;            // "docker", "namespace", "host", "container-use"
  std::vector<std::string> tiers;
  Report report;
  std::optional<ChangeSize> change;  // where a change was judged, and not files by themselves
  std::uint64_t secrets_only =
      0;  // of report.files, those searched for banned patterns alone, because [check] paths does not list them
  std::uint64_t ignored_files = 0;  // files that were not looked at because git ignores them
  std::uint64_t known = 0;          // findings that are in the baseline, and left out of the report
  std::vector<UsedWaiver> waivers;
  std::vector<IdleWaiver> idle_waivers;
  std::vector<WaivedFinding> waived;
  std::vector<std::string> names;  // of all files looked at, where GateRequest::keep_names asked for them
  std::string rules_digest;
};

// A file that the run wrote and that is in the project now.
struct BroughtBack {
  std::string path;  // relative to the project
  std::uint64_t bytes = 0;
  std::string sha256;
};

struct CollectRecord {
  CollectPolicy policy = CollectPolicy::none;
  std::vector<BroughtBack> files;
  std::vector<LeftBehind> left_behind;  // the first of them; paths relative to the project
  std::uint64_t left_behind_count = 0;  // all of them
  bool complete =
      true;  // false: guard does not know of all that was written (on the host and of a stopped run: of nothing)
};

// What all files of a run came to together.
struct RunOutcome {
  Verdict verdict;
  std::vector<FileResult> files;     // of all test files, in the order they run in; empty: none was run
  std::optional<TestSummary> tests;  // of those whose report could be read
  std::uint64_t kept_bytes = 0;
  std::uint64_t dropped_bytes = 0;
  bool out_truncated = false;  // some of the dropped bytes were of standard output
  bool err_truncated = false;
  std::map<std::string, std::uint64_t> redactions;
};

// What a command wrote to one of its streams, for the document.
struct StreamRecord {
  std::string text;         // as it was printed: masked and capped
  bool truncated = false;   // there was more, or the run ended in an error
  std::string file;         // not empty: it went there, every byte as it came, and there is no text
  std::uint64_t bytes = 0;  // of the file
  std::string sha256;
};

// Connections of one kind that a run asked the proxy for.
struct NetworkLine {
  std::string host;  // as egress/proxy.h says it; empty: none was named
  std::uint64_t port = 0;
  bool allowed = false;
  std::string reason;  // "done", "not_listed" ...: EgressReason
  std::uint64_t connections = 0;
  std::uint64_t bytes_up = 0;
  std::uint64_t bytes_down = 0;
};

struct NetworkRecord {
  std::vector<NetworkLine> lines;  // by host and port
  std::uint64_t more = 0;          // connections to others, beyond what is listed
};

struct RunRecord : RunOutcome {
  std::optional<Error> error;
  std::string backend;
  std::string why_backend;
  std::vector<std::string> tiers;
  std::optional<CheckRecord> check;
  std::vector<std::string> preload;  // what bun loaded before each test file, after guard's own script
  std::optional<ExecResult> exec;
  std::optional<StreamRecord> out;  // of a command, where a document is made of it
  std::optional<StreamRecord> err;
  std::optional<CollectRecord> collected;  // where `exec` is
  std::optional<NetworkRecord> network;    // where the network is an allowlist, and something ran
  std::optional<LineCoverage> lines;       // for a person: which lines of the checked files ran, tests left out
  std::optional<std::string> coverage;     // lcov as bun wrote it, where it was asked for and could be had; not masked,
                                           // and the tests can forge it
  std::size_t jobs = 1;                    // sandboxes side by side; each had its share of the limits
  std::uint64_t keep_bytes = 0;            // the cap
  std::vector<std::pair<std::string, std::string>> unmasked;  // known values that can't be masked: name, why
  std::optional<SandboxSpec> spec;
  std::map<std::string, std::string>
      hashes;  // file -> SHA-256: what was staged or, where nothing was, what was checked
  bool staged = false;
  std::vector<std::string> left_out;  // never mounted
  std::vector<Finding> refused;  // the same, of files that the run neither names nor loads: the first finding of each
  std::vector<std::string> relaxations;
  std::vector<std::string> notes;  // beside the run: leftovers that could not be removed, settings that had no use
  std::vector<std::pair<std::string, milliseconds>> timings;  // stage -> time, in order
  std::vector<Timeline::Stage> timeline;                      // of the whole command, finer than `timings`
  std::optional<RunFacts> facts;                              // where an evidence record is kept
  std::string evidence_file;                                  // where it is kept, as named
};

}  // namespace guard

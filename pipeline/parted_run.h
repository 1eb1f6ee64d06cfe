// Tests in several sandboxes, a file in each, some at a time: what `guard run --jobs N` does. The limits of the run are divided
// among the sandboxes that run side by side, the cap of its output among all files, so that what is kept does not depend on which of
// them was faster.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "common/byte_sink.h"
#include "common/cancel.h"
#include "common/result.h"
#include "pipeline/verdict.h"
#include "redact/secret_source.h"
#include "runner/collection.h"
#include "runner/sandbox.h"

namespace guard {

struct PartedRunRequest {
  std::vector<std::string> files;  // two or more; each is the argument "./FILE" at the end of spec->argv
  std::size_t jobs = 1;            // 1 to the number of files
  const SandboxSpec* spec = nullptr;  // of the whole: all files, all that may be used
  const SecretSource* secrets = nullptr;
  std::uint64_t keep_bytes = 0;
  bool sandboxed = true;
  std::function<Result<std::unique_ptr<Sandbox>>()> make_sandbox;  // called from several threads
  std::function<void(std::size_t done)> progress;                  // called from the caller's thread
};

// What the files came to together. Tests are those of all; times and bytes are sums, `wall` and peak memory those of the largest.
struct PartedRun {
  Verdict verdict;  // of the first file that is rejected; else of the first that is not allowed; else the pass of all
  std::optional<TestSummary> tests;  // nothing where one of the reports could not be read
  ExecResult exec;
  std::optional<Collection> written;  // what all of them left behind; no files
  std::uint64_t kept_bytes = 0;
  std::uint64_t dropped_bytes = 0;
  std::map<std::string, std::uint64_t> redactions;
};

// The limits of one of `jobs` sandboxes that run side by side.
Limits share_of(const Limits& limits, std::size_t jobs);

// Output goes to `out` and `err` file by file, in the order of `files`, as soon as it is a file's turn and it has ended. An Error:
// one of the sandboxes failed, or a sink did; all others have ended when it returns.
Result<PartedRun> run_parted(const PartedRunRequest& request, ByteSink& out, ByteSink& err, const CancelToken& cancel);

}  // namespace guard

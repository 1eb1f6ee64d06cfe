// Runs tests and judges them. Each file is a world of its own (Isolation::file): a process, a fresh /tmp and
// /app/sandbox, an attestation and a verdict, and the run's verdict is the worst of them. They run one after another in
// one sandbox (behind a file that used up memory or processes in a new one), or, with several jobs, each in a sandbox
// of its own, some at a time. Then the limits of the run are divided among those that run side by side, and the cap of
// its output among all files, so that what is kept does not depend on which of them was faster.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "common/byte_sink.h"
#include "common/cancel.h"
#include "common/result.h"
#include "pipeline/run/run_spec.h"
#include "pipeline/run_record.h"
#include "pipeline/verdict.h"
#include "redact/kinds/secret_source.h"
#include "runner/init_side/collection.h"
#include "runner/sandbox/sandbox.h"

namespace guard {

struct ParallelRunRequest {
  const RunPlan* plan = nullptr;      // without test files it is a command
  const SandboxSpec* spec = nullptr;  // of the whole: all files, each the argument "./FILE" at the end of argv
  const SecretSource* secrets = nullptr;
  std::function<Result<std::unique_ptr<Sandbox>>()> make_sandbox;  // called from several threads
  std::function<void(std::size_t done)> progress;                  // called from the caller's thread

  const std::vector<std::string>& files() const { return plan->tree.tests; }
  std::uint64_t keep_bytes() const { return plan->config.limits.output_keep_bytes; }
};

// What the files came to together. Tests are those of all; times and bytes are sums, `wall` and peak memory those of
// the largest.
// The verdict is that of the first file that is rejected; else of the first that is not allowed; else the pass of all.
struct ParallelRun : RunOutcome {
  ExecResult exec;
  std::optional<Collection> written;  // by all of them; of files with the same name and other bytes the first
};

// The limits of one of `jobs` sandboxes that run side by side.
Limits share_of(const Limits& limits, std::size_t jobs);

// Output goes to `out` and `err` file by file, in the order of `files`: with several jobs as soon as it is a file's
// turn and it has ended. An Error: one of the sandboxes failed, or a sink did; all others have ended when it returns.
Result<ParallelRun> run_parallel(
    const ParallelRunRequest& request, ByteSink& out, ByteSink& err, const CancelToken& cancel);

}  // namespace guard

// One child process and its whole process group: argv only, no shell; pipes drained with poll; group killed on
// destruction.
//
// Not thread-safe.
#pragma once

#include <string>

#include "common/byte_sink.h"
#include "common/cancel.h"
#include "common/result.h"
#include "common/time.h"
#include "runner/process/child_process.h"
#include "runner/process/exec_result.h"

namespace guard {

enum class StreamMode : std::uint8_t { pipe, inherit, discard };

struct ProcessSpec : ChildSpec {
  std::string stdin_text;  // written, then closed
  StreamMode out = StreamMode::pipe;
  StreamMode err = StreamMode::pipe;
  Deadline deadline = Deadline::never();
  milliseconds grace{10'000};
};

struct ProcessResult {
  Outcome outcome;  // exited, signaled, timed_out or cancelled
  milliseconds wall{0};
};

// Runs to the end, pushing output into the sinks as it comes. EXECUTION_FAILED with errno when it can't be started
// (FILE_NOT_FOUND for a missing program). TERM, grace, KILL to the whole group at the deadline or when cancelled.
Result<ProcessResult> run_process(const ProcessSpec& spec, ByteSink& out, ByteSink& err, const CancelToken& cancel);

// The same with both streams collected, each at most `bytes_max` (the rest is dropped and counted as truncated).
struct CollectedProcess {
  ProcessResult result;
  std::string out;
  std::string err;
  bool truncated = false;
};
Result<CollectedProcess> collect_process(const ProcessSpec& spec, std::uint64_t bytes_max, const CancelToken& cancel);

}  // namespace guard

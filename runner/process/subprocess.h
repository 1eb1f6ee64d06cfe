// One child process and its whole process group: argv only, no shell; pipes drained with poll; group killed on
// destruction.
//
// Not thread-safe.
#pragma once

#include <signal.h>
#include <sys/types.h>

#include <functional>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "common/byte_sink.h"
#include "common/cancel.h"
#include "common/result.h"
#include "common/time.h"
#include "common/unique_fd.h"
#include "runner/process/exec_result.h"

namespace guard {

enum class StreamMode : std::uint8_t { pipe, inherit, discard };

struct ProcessSpec {
  std::vector<std::string> argv;           // argv[0] is looked up in PATH of `env` unless it holds a '/'
  std::string cwd;                         // empty: ours
  std::map<std::string, std::string> env;  // complete
  std::string stdin_text;                  // written, then closed
  StreamMode out = StreamMode::pipe;
  StreamMode err = StreamMode::pipe;
  Deadline deadline = Deadline::never();
  milliseconds grace{10'000};
  // What it gets if guard is killed: SIGTERM for a program that must clean up behind itself.
  int death_signal = SIGKILL;
  // A descriptor of ours and the number it gets in the child. Everything else is closed in the child.
  std::vector<std::pair<int, int>> descriptors;
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

// Runs a generator: the person's own program, trusted and not in a sandbox, with a prompt on its standard input. What
// it writes is not trusted; what it says is masked before it is kept; what it leaves running is ended.
#pragma once

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "common/cancel.h"
#include "common/result.h"
#include "redact/kinds/secret_source.h"

namespace guard::nightly {

// A variable in the environment of every generator: the folder of its clone. Whoever finds a process with it and knows
// that no loop lives may end that process.
inline constexpr std::string_view kCloneVariable = "GUARD_NIGHTLY_CLONE";

struct GeneratorRequest {
  std::vector<std::string> argv;
  std::string prompt;
  std::filesystem::path folder;                  // of the clone
  std::map<std::string, std::string> variables;  // complete but for kCloneVariable
  std::chrono::milliseconds timeout{0};
  std::uint64_t keep_bytes = 81'920;
  std::uint64_t flood_bytes = 1ull << 30;
  std::uint64_t free_bytes_min = 0;           // on the disk of the clone; below it the generator is ended
  std::string supervisor = "/proc/self/exe";  // the guard program
};

struct GeneratorResult {
  enum class End : std::uint8_t { exited, signaled, timed_out, flooded, disk_full, cancelled, not_started };
  End end = End::not_started;
  int value = 0;           // exit status or number of the signal
  std::uint32_t left = 0;  // processes that it left running; they have been ended
  std::string sentence;    // "exit 0", "signal 9", "timed out after 900 s", ...
  std::string output;      // both streams as they came, masked and capped
};

// IO_ERROR and EXECUTION_FAILED where guard itself failed; a program that is missing or fails is a result.
Result<GeneratorResult> run_generator(
    const GeneratorRequest& request, const SecretSource& secrets, const CancelToken& cancel);

// Ends the processes that carry kCloneVariable with a folder below `clones`: those of a loop that was killed together
// with its supervisors. Answers how many there were. Only for the holder of the lock.
int end_stray_generators(const std::filesystem::path& clones);

}  // namespace guard::nightly

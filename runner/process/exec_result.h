// What became of a program that ran. Values; an environment that failed is an Error instead.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "common/result.h"
#include "common/time.h"
#include "runner/init_side/collection.h"

namespace guard {

enum class OutcomeKind : std::uint8_t {
  exited,         // value: exit code
  signaled,       // value: signal number
  timed_out,      // value: the limit in milliseconds
  out_of_memory,  // some process of the run was killed for memory, whatever the exit code says
  pids_limit,     // the limit of processes was hit
  output_flood,   // more output than the flood limit
  violation,      // the run did what no honest run does to its sandbox (signalled the init, say); detail says what
  cancelled,      // guard was asked to stop
};
std::string_view to_string(OutcomeKind kind) noexcept;

struct Outcome {
  OutcomeKind kind = OutcomeKind::exited;
  std::int64_t value = 0;
  std::string detail;  // exited: the folders in memory that were seen full, as words; empty: none
};

// What runner/init_side/attestation.mjs says once all tests of a process have ended: the words and what they count are
// explained there.
struct Attested {
  std::map<std::string, std::uint64_t, std::less<>> counts;
  std::vector<std::pair<std::string, std::string>>
      titles;  // word and title of the tests that some counts are about; foreign text
  // What init saw meanwhile.
  bool redirected = false;  // nobody held the standard error open any more before that was said
  bool debugged = false;    // a debugger served that process
  bool ended_elsewhere =
      false;  // not its first thread ended it, or it executed another program: bun did not come to its own end

  std::uint64_t count(std::string_view word) const {
    const auto found = counts.find(word);
    return found == counts.end() ? 0 : found->second;
  }
};

struct ExecResult {
  Outcome outcome;
  milliseconds wall{0};
  milliseconds cpu{0};
  std::uint64_t memory_peak_bytes = 0;  // 0: not known
  std::uint64_t stdout_bytes = 0;       // as read, before masking and cap
  std::uint64_t stderr_bytes = 0;
  std::optional<std::string> report;  // all that was written to the report channel; none: nothing was
  bool report_truncated = false;      // over kReportBytesMax: unusable
  // What was said on the attestation socket by the one who knew the key; none: nobody did.
  std::optional<Attested> attested;
  bool attestation_forged = false;  // somebody wrote to that socket without knowing it

  // The first file or folder that a ScratchFolder started with and that the run changed: its path inside, or the folder
  // and the end of the path where it is long, or the folder alone where the kernel did not say. Empty: none was.
  std::string touched;

  // What the run wrote; nothing where it was not asked for, or the run was stopped.
  std::optional<Collection> collected;

  // What the init saw from inside before it started the program: "uid", "cap_eff", "no_new_privs", "seccomp",
  // "rlimit_nproc" ...
  std::map<std::string, std::string> seen_inside;
  // What went wrong beside the run, a sentence each: it is over and counts, and something is to be put in order.
  std::vector<std::string> notes;
  // How each limit was enforced: {"memory": "cgroup"}, {"memory": "watched"}, {"sandbox_files": "none"}.
  std::map<std::string, std::string> enforced_by;

  // Of SandboxSpec::each: what came of the programs before the last one that ran, in their order: outcome, report,
  // attestation and what they wrote. All else is said of the run, above.
  std::vector<ExecResult> earlier;

  static constexpr std::uint64_t kReportBytesMax = 16u << 20;
};

}  // namespace guard

// guard's end of init's framed stream (runner/init_side/init_protocol.h): the program's output goes on into two sinks,
// the rest is kept. Foreign bytes: whoever broke out of the sandbox could have written them, so the order and size of
// every frame are held against the protocol and nothing is guessed.
//
// A frame is taken as a whole: nothing of it goes on before all of it, and its tag, is there.
//
// Order of calls: push() until the stream ends, finish(), then read. Not thread-safe. The sinks must outlive it.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "common/byte_sink.h"
#include "common/result.h"
#include "runner/egress/egress_relay.h"
#include "runner/init_side/collected_stream.h"
#include "runner/init_side/init_protocol.h"
#include "runner/process/exec_result.h"
#include "runner/sandbox/sandbox.h"

namespace guard {

// What the exit frame says.
struct InitExit {
  enum class Kind : std::uint8_t { exited, signaled, exec_failed, init_failed };
  Kind kind = Kind::exited;
  std::int64_t value = 0;         // exit code, signal number or errno
  std::string step;               // init_failed: what init was doing
  std::string sysctl;             // init_failed: the limit of the machine that was reached; empty: it was none
  bool term_from_inside = false;  // some process of the run tried to end the init
  bool term_from_outside = false;
  bool timed_out = false;           // init's own deadline had passed
  milliseconds program_timeout{0};  // the limit of this one program, where it had passed; else 0
  std::uint64_t leftovers = 0;      // processes that were still there when the program had ended
  // Of the cgroup that init sees, while it ran. They speak about the run only where that cgroup is the run's own: in a
  // container.
  std::uint64_t oom_kills = 0;
  std::uint64_t pids_refused = 0;
  std::string full_folders;  // in which there was no room left: "/tmp and /app/sandbox"; empty: none was seen
  std::string touched;       // ExecResult::touched
  bool attestation_forged = false;
  bool more = false;             // another program follows
  bool errors_closed = false;    // nobody held its standard error open any more before it attested
  bool debugged = false;         // a debugger served it when it attested
  bool ended_elsewhere = false;  // another of its threads than the first ended it, or it executed another program
  std::uint64_t max_rss_bytes = 0;
  milliseconds cpu{0};
};

class InitStream final {
 public:
  InitStream(ByteSink& out, ByteSink& err, std::uint64_t output_flood_bytes, ReportChannel report,
      std::optional<CollectRequest> collect = std::nullopt);

  // Before the first push(): so many programs run one after another; `ended` is called between the output of two.
  void expect_programs(std::size_t count, std::function<void()> ended);

  // Before the first push(): where it is noted that the programs begin, and that the last one has ended.
  void note_stages(Timeline* timeline) noexcept { timeline_ = timeline; }

  // Before the first push(): init may ask for input. Has it, since the last call?
  void expect_input() noexcept { may_want_input_ = true; }
  bool input_wanted() noexcept { return std::exchange(input_wanted_, false); }

  // Before the first push(): connection frames go there, and what it answers is push()'s answer.
  void expect_connections(TakeConnectionFrame take) { take_connection_ = std::move(take); }

  // Before the first push(): every frame has to carry its tag.
  using TagKey = std::array<unsigned char, init_protocol::kTagKeyBytes>;
  void expect_tags(const TagKey& key);
  bool tagged() const noexcept { return key_.has_value(); }
  // Behind init's first frame there was one that it did not write. Only after a failed push().
  bool forged() const noexcept { return forged_; }

  // PROTOCOL_ERROR for anything out of order; a sink's own Error when it fails. Once flooded() is true output is
  // counted and no longer passed on: the caller is expected to end the run.
  Result<void> push(std::span<const char> bytes);

  // PROTOCOL_ERROR unless the stream held a hello and an exit frame and ended behind it.
  Result<void> finish();

  bool flooded() const noexcept { return flooded_; }
  bool hello_seen() const noexcept { return hello_seen_; }
  bool exit_seen() const noexcept { return exit_.has_value(); }
  bool programs_ended_by_themselves() const noexcept {
    return exit_ && !exit_->term_from_inside && !exit_->term_from_outside && !exit_->timed_out &&
        exit_->program_timeout.count() == 0;
  }
  const std::map<std::string, std::string>& hello() const noexcept { return hello_; }
  const std::optional<InitExit>& exit() const noexcept { return exit_; }

  // Moves what was read (byte counts, report, collected files, seen_inside, cpu, peak memory) into `result`; also where
  // there was no exit frame. The outcome is not touched.
  void take_into(ExecResult& result);

 private:
  Result<void> check_header();
  Result<void> check_tag();
  Result<void> take_frame(std::string_view payload);
  Result<void> check_collected(const InitExit& exit) const;
  Result<void> end_program(InitExit exit);
  void take_program(const InitExit& exit, ExecResult& result);
  Result<void> pass_on(std::string_view bytes, ByteSink& sink, std::uint64_t& counter);

  ByteSink& out_;
  ByteSink& err_;
  std::uint64_t output_flood_bytes_;
  ReportChannel report_channel_;

  std::string frame_;  // what is there of the frame that is being read: header, payload, tag
  std::size_t frame_bytes_ = init_protocol::kHeaderBytes;  // of the header alone, until that is there
  std::uint32_t payload_bytes_ = 0;
  init_protocol::FrameType type_ = init_protocol::FrameType::hello;
  std::optional<TagKey> key_;
  std::uint64_t frames_ = 0;  // whose tag was checked
  bool forged_ = false;

  Timeline* timeline_ = nullptr;
  bool hello_seen_ = false;
  TakeConnectionFrame take_connection_;
  bool may_want_input_ = false;
  bool input_wanted_ = false;
  bool flooded_ = false;
  bool report_truncated_ = false;
  std::uint64_t stdout_bytes_ = 0;
  std::uint64_t stderr_bytes_ = 0;
  std::map<std::string, std::string> hello_;
  std::optional<std::string> report_;
  std::optional<Attested> attested_;
  CollectedStream collected_;
  std::size_t programs_left_ = 1;
  std::function<void()> program_ended_;
  std::optional<CollectRequest> collect_;
  std::vector<ExecResult> earlier_;
  std::optional<InitExit> exit_;  // of the last program
};

// What the program's end means when nobody outside interfered: exited, signaled, timed_out (by init's own clock,
// `timeout`) or violation (the init was signalled from inside, or got a TERM that we did not send). EXECUTION_FAILED or
// FILE_NOT_FOUND when the program could not be started; ENVIRONMENT_CREATION_FAILED when init itself could not.
enum class TermSent : std::uint8_t { no, yes };
Result<Outcome> outcome_of(const InitExit& exit, TermSent term_sent, milliseconds timeout);

// EXECUTION_TIMEOUT: nothing of the program's had run, so that the limit says nothing about it.
Error not_ready_in_time(milliseconds timeout);

// ENVIRONMENT_CREATION_FAILED with the reason as the detail "unproved".
Error not_confined(std::string_view why);

// ENVIRONMENT_CREATION_FAILED unless the hello shows an unprivileged user, no capability, no_new_privs, a seccomp
// filter and no core dumps: a sandbox that can't show it holds is not one. What is missing stands in the detail
// "unproved".
Result<void> check_confinement(const std::map<std::string, std::string>& hello);

}  // namespace guard

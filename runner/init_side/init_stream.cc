#include "runner/init_side/init_stream.h"

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cstring>
#include <string_view>
#include <utility>

#include "common/text/text.h"

namespace guard {
namespace {

using init_protocol::FrameType;
using init_protocol::kFramePayloadMax;
using init_protocol::kHeaderBytes;

constexpr std::string_view kFrameTypes = "HOERAFDLICXN";  // init_protocol::FrameType

Error broken(std::string_view what) {
  return Error(ErrorCode::protocol_error, fmt::format("the sandbox's init spoke nonsense: {}", what));
}

Result<std::map<std::string, std::string>> parse_lines(std::string_view text) {
  std::map<std::string, std::string> values;
  while (!text.empty()) {
    const std::size_t end = text.find('\n');
    if (end == std::string_view::npos) return broken("a line without an end");
    const std::string_view line = text.substr(0, end);
    text.remove_prefix(end + 1);
    const std::size_t equals = line.find('=');
    if (equals == std::string_view::npos || equals == 0) return broken("a line without a key");
    if (!values.emplace(line.substr(0, equals), line.substr(equals + 1)).second) return broken("a key given twice");
  }
  return values;
}

using Fields = std::map<std::string, std::string>;

Result<std::uint64_t> number(const Fields& fields, const char* key) {
  const auto found = fields.find(key);
  if (found == fields.end()) return broken(fmt::format("no {} in a frame that needs it", key));
  const std::string& text = found->second;
  std::uint64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size()) return broken(fmt::format("{} is not a number", key));
  return value;
}

// "word=7" counts, "word.1=title" names.
Result<Attested> parse_attestation(const Fields& fields) {
  Attested attested;
  for (const auto& [key, value] : fields) {
    if (const std::size_t dot = key.find('.'); dot != std::string::npos) {
      attested.titles.emplace_back(key.substr(0, dot), printable(value));
    } else {
      GUARD_TRY_ASSIGN(attested.counts[key], number(fields, key.c_str()));
    }
  }
  return attested;
}

// All that an exit frame of a program says besides its kind. Init does not say what is not required where it is 0.
enum class Required : std::uint8_t { no, yes };
struct FlagField {
  const char* key;
  bool InitExit::*field;
  Required required = Required::no;
};
constexpr FlagField kFlags[] = {{"term_from_inside", &InitExit::term_from_inside, Required::yes},
    {"term_from_outside", &InitExit::term_from_outside, Required::yes},
    {"timed_out", &InitExit::timed_out, Required::yes}, {"attestation_forged", &InitExit::attestation_forged},
    {"more", &InitExit::more}, {"errors_closed", &InitExit::errors_closed}, {"debugged", &InitExit::debugged},
    {"ended_elsewhere", &InitExit::ended_elsewhere}};
struct NumberField {
  const char* key;
  std::uint64_t InitExit::*field;
  Required required = Required::no;
};
constexpr NumberField kNumbers[] = {{"leftovers", &InitExit::leftovers, Required::yes},
    {"oom_kills", &InitExit::oom_kills}, {"pids_refused", &InitExit::pids_refused}};
struct ExitKind {
  std::string_view name;
  InitExit::Kind kind;
  const char* value_key;
};
constexpr ExitKind kExitKinds[] = {{"exited", InitExit::Kind::exited, "value"},
    {"signaled", InitExit::Kind::signaled, "value"}, {"exec_failed", InitExit::Kind::exec_failed, "errno"},
    {"init_failed", InitExit::Kind::init_failed, "errno"}};

Result<InitExit> parse_exit(const Fields& fields) {
  const auto text = [&fields](const char* key) {
    const auto found = fields.find(key);
    return found == fields.end() ? std::string() : found->second;
  };
  const auto* const kind = std::ranges::find(kExitKinds, text("kind"), &ExitKind::name);
  if (kind == std::end(kExitKinds)) return broken("an exit of no known kind");
  InitExit exit;
  exit.kind = kind->kind;
  GUARD_TRY_ASSIGN(const std::uint64_t value, number(fields, kind->value_key));
  exit.value = static_cast<std::int64_t>(value);
  if (exit.kind == InitExit::Kind::init_failed) {
    exit.step = text("step");
    exit.sysctl = printable(text("sysctl"));
    return exit;
  }
  if (value > (exit.kind == InitExit::Kind::exited ? 255u : 4095u)) return broken("an exit value out of range");
  for (const FlagField& flag : kFlags) {
    if (flag.required == Required::no && !fields.contains(flag.key)) continue;
    GUARD_TRY_ASSIGN(const std::uint64_t said, number(fields, flag.key));
    if (said > 1) return broken(fmt::format("{} is neither 0 nor 1", flag.key));
    exit.*flag.field = said == 1;
  }
  for (const NumberField& one : kNumbers) {
    if (one.required == Required::no && !fields.contains(one.key)) continue;
    GUARD_TRY_ASSIGN(exit.*one.field, number(fields, one.key));
  }
  if (fields.contains("program_timeout_ms")) {
    GUARD_TRY_ASSIGN(const std::uint64_t limit_ms, number(fields, "program_timeout_ms"));
    exit.program_timeout = milliseconds(static_cast<milliseconds::rep>(limit_ms));
  }
  if (fields.contains("tmp_full")) exit.full_folders = "/tmp";
  if (const std::string folder = printable(text("folder_full")); !folder.empty())
    exit.full_folders += (exit.full_folders.empty() ? "" : " and ") + folder;
  exit.touched = printable(text("touched"));
  GUARD_TRY_ASSIGN(const std::uint64_t rss_kb, number(fields, "max_rss_kb"));
  GUARD_TRY_ASSIGN(const std::uint64_t user_us, number(fields, "user_us"));
  GUARD_TRY_ASSIGN(const std::uint64_t sys_us, number(fields, "sys_us"));
  exit.max_rss_bytes = rss_kb * 1024;
  exit.cpu = milliseconds(static_cast<milliseconds::rep>((user_us + sys_us) / 1000));
  return exit;
}

}  // namespace

InitStream::InitStream(ByteSink& out, ByteSink& err, std::uint64_t output_flood_bytes, ReportChannel report,
    std::optional<CollectRequest> collect)
    : out_(out),
      err_(err),
      output_flood_bytes_(output_flood_bytes),
      report_channel_(report),
      collected_(collect),
      collect_(std::move(collect)) {}

void InitStream::expect_programs(std::size_t count, std::function<void()> ended) {
  programs_left_ = count;
  program_ended_ = std::move(ended);
}

void InitStream::expect_tags(const TagKey& key) { key_ = key; }

Result<void> InitStream::push(std::span<const char> bytes) {
  while (!bytes.empty()) {
    if (exit_) return broken("bytes behind the exit frame");
    const std::size_t taken = std::min(frame_bytes_ - frame_.size(), bytes.size());
    frame_.append(bytes.data(), taken);
    bytes = bytes.subspan(taken);
    if (frame_.size() < frame_bytes_) break;
    if (frame_bytes_ == kHeaderBytes) {
      if (auto checked = check_header(); !checked) {
        // Init writes no such thing; where a program can, it was the program.
        forged_ = tagged() && hello_seen_;
        return checked;
      }
      if (frame_.size() < frame_bytes_) continue;
    }
    if (key_) GUARD_TRY(check_tag());
    GUARD_TRY(take_frame(std::string_view(frame_).substr(kHeaderBytes, payload_bytes_)));
    frame_.clear();
    frame_bytes_ = kHeaderBytes;
  }
  return ok();
}

Result<void> InitStream::check_header() {
  if (frame_[1] != 0 || frame_[2] != 0 || frame_[3] != 0) return broken("a malformed frame header");
  payload_bytes_ = init_protocol::read_number(frame_.data() + init_protocol::kLengthAt);
  if (payload_bytes_ > kFramePayloadMax) return broken("a frame over the size limit");
  frame_bytes_ = kHeaderBytes + payload_bytes_ + (key_ ? init_protocol::kTagBytes : 0);
  type_ = static_cast<FrameType>(frame_[0]);
  if (kFrameTypes.find(frame_[0]) == std::string_view::npos) return broken("an unknown frame type");
  if (type_ == FrameType::hello && hello_seen_) return broken("a second hello");
  if (type_ == FrameType::report && report_channel_ == ReportChannel::off)
    return broken("a report that was not asked for");
  if (type_ == FrameType::input && (!may_want_input_ || input_wanted_ || payload_bytes_ != 0))
    return broken("it asks for input that nobody offers");
  if (type_ == FrameType::connection && !take_connection_) return broken("a connection where there is no network");
  if (type_ == FrameType::attestation && attested_) return broken("a second attestation");
  // Init may fail before it could say hello, and then says so.
  if (!hello_seen_ && type_ != FrameType::hello && type_ != FrameType::exit) return broken("a frame before the hello");
  if (CollectedStream::takes(type_)) return collected_.check(type_, payload_bytes_);
  if (collected_.begun() && type_ != FrameType::exit) return broken("output behind the end of every process");
  return ok();
}

Result<void> InitStream::check_tag() {
  unsigned char key[init_protocol::kTagKeyBytes];
  std::copy(key_->begin(), key_->end(), key);
  init_protocol::SipHash hash(key);
  init_protocol::begin_tag(hash, frames_++);
  hash.update(frame_.data(), kHeaderBytes + payload_bytes_);
  unsigned char wanted[init_protocol::kTagBytes];
  init_protocol::write_tag(hash.finish(), wanted);
  if (std::memcmp(wanted, frame_.data() + kHeaderBytes + payload_bytes_, sizeof wanted) == 0) return ok();
  forged_ = hello_seen_;
  return broken("a frame that init did not write");
}

Result<void> InitStream::take_frame(std::string_view payload) {
  switch (type_) {
    case FrameType::out: return pass_on(payload, out_, stdout_bytes_);
    case FrameType::err: return pass_on(payload, err_, stderr_bytes_);
    case FrameType::input: input_wanted_ = true; return ok();
    case FrameType::connection:
      if (payload.size() < init_protocol::kNumberBytes) return broken("a malformed connection frame");
      return take_connection_(init_protocol::read_number(payload.data()), payload.substr(init_protocol::kNumberBytes));
    case FrameType::report: {
      if (!report_) report_.emplace();
      const std::uint64_t room = ExecResult::kReportBytesMax - report_->size();
      report_->append(payload.substr(0, static_cast<std::size_t>(std::min<std::uint64_t>(room, payload.size()))));
      if (room < payload.size()) report_truncated_ = true;
      return ok();
    }
    case FrameType::file:
    case FrameType::file_data:
    case FrameType::left_behind:
    case FrameType::collected: return collected_.take(type_, payload);
    case FrameType::hello:
    case FrameType::attestation:
    case FrameType::exit: break;
  }
  GUARD_TRY_ASSIGN(Fields fields, parse_lines(payload));
  if (type_ == FrameType::hello) {
    const auto protocol = fields.find("protocol");
    if (protocol == fields.end() || protocol->second != "1") return broken("another version of the protocol");
    hello_ = std::move(fields);
    hello_seen_ = true;
    begin_stage(timeline_, "program");
  } else if (type_ == FrameType::attestation) {
    GUARD_TRY_ASSIGN(attested_, parse_attestation(fields));
  } else {
    GUARD_TRY_ASSIGN(InitExit exit, parse_exit(fields));
    if (!hello_seen_ && exit.kind != InitExit::Kind::init_failed) return broken("an exit before the hello");
    GUARD_TRY(check_collected(exit));
    return end_program(std::move(exit));
  }
  return ok();
}

Result<void> InitStream::pass_on(std::string_view bytes, ByteSink& sink, std::uint64_t& counter) {
  counter += bytes.size();
  if (stdout_bytes_ + stderr_bytes_ > output_flood_bytes_) flooded_ = true;
  if (flooded_) return ok();
  return sink.push(std::span(bytes.data(), bytes.size()));
}

// Files are handed out whole, and always where the run came to its own end.
Result<void> InitStream::check_collected(const InitExit& exit) const {
  if (!collected_.asked() || collected_.finished()) return ok();
  if (collected_.begun()) return broken("it ended while it handed files out");
  const bool started = exit.kind == InitExit::Kind::exited || exit.kind == InitExit::Kind::signaled;
  const bool stopped =
      exit.term_from_inside || exit.term_from_outside || exit.timed_out || exit.program_timeout.count() > 0;
  if (started && !stopped) return broken("it ended without a word on the files that were asked for");
  return ok();
}

Result<void> InitStream::end_program(InitExit exit) {
  if (!exit.more) {
    begin_stage(timeline_, "end");
    exit_ = std::move(exit);
    return ok();
  }
  if (programs_left_ <= 1) return broken("more programs than were asked for");
  --programs_left_;
  ExecResult& result = earlier_.emplace_back();
  GUARD_TRY_ASSIGN(result.outcome, outcome_of(exit, TermSent::no, milliseconds(0)));
  take_program(exit, result);
  collected_ = CollectedStream(collect_);
  if (program_ended_) program_ended_();
  return ok();
}

void InitStream::take_program(const InitExit& exit, ExecResult& result) {
  result.report = std::exchange(report_, std::nullopt);
  result.report_truncated = std::exchange(report_truncated_, false);
  result.collected = collected_.release();
  result.attested = std::exchange(attested_, std::nullopt);
  if (result.attested) {
    result.attested->redirected = exit.errors_closed;
    result.attested->debugged = exit.debugged;
    result.attested->ended_elsewhere = exit.ended_elsewhere;
  }
  result.attestation_forged = exit.attestation_forged;
  result.touched = exit.touched;
  result.cpu = exit.cpu;
  result.memory_peak_bytes = std::max(result.memory_peak_bytes, exit.max_rss_bytes);
}

Result<void> InitStream::finish() {
  if (exit_) return ok();
  if (!hello_seen_) return broken("it ended before it said hello");
  if (!frame_.empty()) return broken("it ended inside a frame");
  return broken("it ended without saying how the program ended");
}

void InitStream::take_into(ExecResult& result) {
  result.stdout_bytes = stdout_bytes_;
  result.stderr_bytes = stderr_bytes_;
  result.seen_inside = std::move(hello_);
  hello_.clear();
  result.earlier = std::move(earlier_);
  earlier_.clear();
  take_program(exit_ ? *exit_ : InitExit(), result);
}

Result<Outcome> outcome_of(const InitExit& exit, TermSent term_sent, milliseconds timeout) {
  switch (exit.kind) {
    case InitExit::Kind::init_failed:
      if (!exit.sysctl.empty()) {
        return Error(ErrorCode::environment_unavailable,
            fmt::format("{}: this machine's limit {} is reached", exit.step, exit.sysctl))
            .hint(fmt::format("raise it, as root: `sysctl {}=N`; a run takes a watch for each file of the project and "
                              "two for each folder",
                exit.sysctl));
      }
      if (exit.value == 0)
        return Error(ErrorCode::environment_creation_failed, fmt::format("the sandbox's init refused: {}", exit.step));
      return Error::from_errno(ErrorCode::environment_creation_failed,
          fmt::format("the sandbox's init failed at: {}", exit.step), static_cast<int>(exit.value));
    case InitExit::Kind::exec_failed:
      return Error::from_errno(exit.value == ENOENT ? ErrorCode::file_not_found : ErrorCode::execution_failed,
          "the program could not be started inside the sandbox", static_cast<int>(exit.value));
    case InitExit::Kind::exited:
    case InitExit::Kind::signaled: break;
  }
  if (exit.term_from_inside) {
    return Outcome{OutcomeKind::violation, 0, "a process of the run sent TERM to the sandbox's init"};
  }
  if (exit.term_from_outside && term_sent == TermSent::no) {
    return Outcome{OutcomeKind::violation, 0, "the sandbox's init was sent a TERM that guard did not send"};
  }
  if (exit.timed_out) return Outcome{OutcomeKind::timed_out, timeout.count(), {}};
  if (exit.program_timeout.count() > 0) return Outcome{OutcomeKind::timed_out, exit.program_timeout.count(), {}};
  if (exit.kind == InitExit::Kind::signaled) return Outcome{OutcomeKind::signaled, exit.value, {}};
  return Outcome{OutcomeKind::exited, exit.value, exit.full_folders};
}

Error not_ready_in_time(milliseconds timeout) {
  return Error(ErrorCode::execution_timeout,
      fmt::format("the time limit of {} ms passed before the sandbox was ready", timeout.count()))
      .detail("timeout", std::to_string(timeout.count()));
}

Error not_confined(std::string_view why) {
  return Error(ErrorCode::environment_creation_failed, fmt::format("the sandbox does not hold: {}", why))
      .detail("unproved", std::string(why));
}

Result<void> check_confinement(const std::map<std::string, std::string>& hello) {
  const auto value = [&hello](const char* key) -> std::string_view {
    const auto found = hello.find(key);
    return found == hello.end() ? std::string_view() : std::string_view(found->second);
  };
  for (const char* key : {"uid", "gid"}) {
    if (value(key).empty() || value(key) == "0")
      return not_confined(fmt::format("{} inside is \"{}\"", key, value(key)));
  }
  for (const char* key : {"cap_inh", "cap_prm", "cap_eff", "cap_bnd", "cap_amb"}) {
    if (value(key) != "0000000000000000") return not_confined(fmt::format("{} inside is \"{}\"", key, value(key)));
  }
  if (value("no_new_privs") != "1") return not_confined("no_new_privs is not set inside");
  if (value("seccomp") != "2") return not_confined("no seccomp filter is in force inside");
  if (value("rlimit_core") != "0") return not_confined("core dumps are possible inside");
  return ok();
}

}  // namespace guard

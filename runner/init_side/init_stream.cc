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

Result<bool> flag(const Fields& fields, const char* key) {
  GUARD_TRY_ASSIGN(const std::uint64_t value, number(fields, key));
  if (value > 1) return broken(fmt::format("{} is neither 0 nor 1", key));
  return value == 1;
}

Result<InitExit> parse_exit(const Fields& fields) {
  InitExit exit;
  const auto kind = fields.find("kind");
  if (kind == fields.end()) return broken("no kind in the exit frame");
  if (kind->second == "init_failed") {
    exit.kind = InitExit::Kind::init_failed;
    const auto step = fields.find("step");
    if (step != fields.end()) exit.step = step->second;
    if (const auto sysctl = fields.find("sysctl"); sysctl != fields.end()) exit.sysctl = printable(sysctl->second);
    GUARD_TRY_ASSIGN(const std::uint64_t error, number(fields, "errno"));
    exit.value = static_cast<std::int64_t>(error);
    return exit;
  }
  const char* value_key = "value";
  if (kind->second == "exited") {
    exit.kind = InitExit::Kind::exited;
  } else if (kind->second == "signaled") {
    exit.kind = InitExit::Kind::signaled;
  } else if (kind->second == "exec_failed") {
    exit.kind = InitExit::Kind::exec_failed;
    value_key = "errno";
  } else {
    return broken("an unknown kind of exit");
  }
  GUARD_TRY_ASSIGN(const std::uint64_t value, number(fields, value_key));
  if (value > 4095) return broken("an exit value out of range");
  exit.value = static_cast<std::int64_t>(value);
  GUARD_TRY_ASSIGN(exit.term_from_inside, flag(fields, "term_from_inside"));
  GUARD_TRY_ASSIGN(exit.term_from_outside, flag(fields, "term_from_outside"));
  GUARD_TRY_ASSIGN(exit.timed_out, flag(fields, "timed_out"));
  if (fields.count("program_timeout_ms") != 0) {
    GUARD_TRY_ASSIGN(const std::uint64_t limit_ms, number(fields, "program_timeout_ms"));
    exit.program_timeout = milliseconds(static_cast<milliseconds::rep>(limit_ms));
  }
  GUARD_TRY_ASSIGN(exit.leftovers, number(fields, "leftovers"));
  if (fields.count("oom_kills") != 0) {
    GUARD_TRY_ASSIGN(exit.oom_kills, number(fields, "oom_kills"));
  }
  if (fields.count("pids_refused") != 0) {
    GUARD_TRY_ASSIGN(exit.pids_refused, number(fields, "pids_refused"));
  }
  if (fields.count("tmp_full") != 0) exit.full_folders = "/tmp";
  if (const auto folder = fields.find("folder_full"); folder != fields.end()) {
    exit.full_folders += (exit.full_folders.empty() ? "" : " and ") + printable(folder->second);
  }
  if (const auto touched = fields.find("touched"); touched != fields.end()) exit.touched = printable(touched->second);
  const std::pair<const char*, bool*> flags[] = {{"attestation_forged", &exit.attestation_forged}, {"more", &exit.more},
      {"errors_closed", &exit.errors_closed}, {"debugged", &exit.debugged}, {"ended_elsewhere", &exit.ended_elsewhere}};
  for (const auto& [key, wanted] : flags) {
    if (fields.count(key) == 0) continue;
    GUARD_TRY_ASSIGN(*wanted, flag(fields, key));
  }
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
    if (header_filled_ < kHeaderBytes) {
      const std::size_t taken = std::min(kHeaderBytes - header_filled_, bytes.size());
      std::memcpy(header_ + header_filled_, bytes.data(), taken);
      header_filled_ += taken;
      bytes = bytes.subspan(taken);
      if (header_filled_ < kHeaderBytes) break;
      if (auto begun = begin_frame(); !begun) {
        // Init writes no such thing; where a program can, it was the program.
        forged_ = tagged() && hello_seen_;
        return begun;
      }
    }
    const std::size_t taken = std::min<std::size_t>(payload_left_, bytes.size());
    if (taken > 0 && hash_) hash_->update(bytes.data(), taken);
    if (taken > 0) GUARD_TRY(take_payload(bytes.first(taken)));
    payload_left_ -= static_cast<std::uint32_t>(taken);
    bytes = bytes.subspan(taken);
    if (payload_left_ > 0) break;
    if (hash_) {
      const std::size_t of_tag = std::min(sizeof tag_ - tag_filled_, bytes.size());
      std::memcpy(tag_ + tag_filled_, bytes.data(), of_tag);
      tag_filled_ += of_tag;
      bytes = bytes.subspan(of_tag);
      if (tag_filled_ < sizeof tag_) break;
      GUARD_TRY(check_tag());
    }
    GUARD_TRY(end_frame());
    header_filled_ = 0;
  }
  return ok();
}

Result<void> InitStream::begin_frame() {
  if (header_[1] != 0 || header_[2] != 0 || header_[3] != 0) return broken("a malformed frame header");
  payload_left_ = 0;
  for (std::size_t i = 4; i < kHeaderBytes; ++i) payload_left_ = payload_left_ << 8 | header_[i];
  if (payload_left_ > kFramePayloadMax) return broken("a frame over the size limit");
  type_ = static_cast<FrameType>(header_[0]);
  if (key_) {
    unsigned char key[init_protocol::kTagKeyBytes];
    std::copy(key_->begin(), key_->end(), key);
    hash_.emplace(key);
    init_protocol::begin_tag(*hash_, frames_++);
    hash_->update(header_, sizeof header_);
    tag_filled_ = 0;
  }
  switch (type_) {
    case FrameType::hello:
      if (hello_seen_) return broken("a second hello");
      break;
    case FrameType::out:
    case FrameType::err:
    case FrameType::exit:
    case FrameType::file:
    case FrameType::file_data:
    case FrameType::left_behind:
    case FrameType::collected: break;
    case FrameType::report:
      if (report_channel_ == ReportChannel::off) return broken("a report that was not asked for");
      break;
    case FrameType::attestation:
      if (attested_) return broken("a second attestation");
      break;
    default: return broken("an unknown frame type");
  }
  // Init may fail before it could say hello, and then says so.
  if (!hello_seen_ && type_ != FrameType::hello && type_ != FrameType::exit) return broken("a frame before the hello");
  text_.clear();
  if (CollectedStream::takes(type_)) return collected_.begin_frame(type_, payload_left_);
  if (collected_.begun() && type_ != FrameType::exit) return broken("output behind the end of every process");
  return ok();
}

Result<void> InitStream::check_tag() {
  unsigned char wanted[init_protocol::kTagBytes];
  init_protocol::write_tag(hash_->finish(), wanted);
  if (std::memcmp(wanted, tag_, sizeof tag_) == 0) return ok();
  forged_ = hello_seen_;
  return broken("a frame that init did not write");
}

Result<void> InitStream::take_payload(std::span<const char> bytes) {
  switch (type_) {
    case FrameType::out: return pass_on(bytes, out_, stdout_bytes_);
    case FrameType::err: return pass_on(bytes, err_, stderr_bytes_);
    case FrameType::report: {
      if (!report_) report_.emplace();
      const std::uint64_t room = ExecResult::kReportBytesMax - report_->size();
      const std::size_t kept = static_cast<std::size_t>(std::min<std::uint64_t>(room, bytes.size()));
      report_->append(bytes.data(), kept);
      if (kept < bytes.size()) report_truncated_ = true;
      return ok();
    }
    case FrameType::file:
    case FrameType::file_data:
    case FrameType::left_behind:
    case FrameType::collected: return collected_.take(bytes);
    case FrameType::hello:
    case FrameType::attestation:
    case FrameType::exit: text_.append(bytes.data(), bytes.size()); return ok();
  }
  return broken("an unknown frame type");
}

Result<void> InitStream::pass_on(std::span<const char> bytes, ByteSink& sink, std::uint64_t& counter) {
  counter += bytes.size();
  if (stdout_bytes_ + stderr_bytes_ > output_flood_bytes_) flooded_ = true;
  if (flooded_) return ok();
  return sink.push(bytes);
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

Result<void> InitStream::end_frame() {
  if (CollectedStream::takes(type_)) return collected_.end_frame();
  if (type_ == FrameType::hello) {
    GUARD_TRY_ASSIGN(hello_, parse_lines(text_));
    const auto protocol = hello_.find("protocol");
    if (protocol == hello_.end() || protocol->second != "1") return broken("another version of the protocol");
    hello_seen_ = true;
  } else if (type_ == FrameType::attestation) {
    GUARD_TRY_ASSIGN(const Fields fields, parse_lines(text_));
    GUARD_TRY_ASSIGN(attested_, parse_attestation(fields));
  } else if (type_ == FrameType::exit) {
    GUARD_TRY_ASSIGN(const Fields fields, parse_lines(text_));
    GUARD_TRY_ASSIGN(InitExit exit, parse_exit(fields));
    if (!hello_seen_ && exit.kind != InitExit::Kind::init_failed) return broken("an exit before the hello");
    GUARD_TRY(check_collected(exit));
    return end_program(std::move(exit));
  }
  return ok();
}

Result<void> InitStream::end_program(InitExit exit) {
  if (!exit.more) {
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
  if (header_filled_ != 0) return broken("it ended inside a frame");
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

#include "serve/otlp.h"

#include <fmt/format.h>
#include <poll.h>
#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <nlohmann/json.hpp>
#include <utility>
#include <vector>

#include "common/hash.h"
#include "common/text/text.h"
#include "common/threads.h"
#include "runner/process/run_folder.h"
#include "serve/access.h"

namespace guard::serve {
namespace {

using nlohmann::ordered_json;

constexpr std::size_t kBatchMax = 256;
constexpr milliseconds kGather{200};  // for the next ones, so that a busy server asks rarely
constexpr milliseconds kRetry{5'000};
constexpr milliseconds kSendMax{2'000};
constexpr milliseconds kLastMax{3'000};
constexpr std::size_t kAnswerBytesMax = 64ul * 1024;
constexpr std::string_view kPath = "/v1/traces";

// The first digits of a digest: a trace has 32, a span 16.
std::string id_of(std::size_t digits, std::string_view run, const sessions::StepSpan& span, std::uint64_t step) {
  Sha256 hash;
  for (const std::string_view field : {run, std::string_view(span.session), std::string_view(std::to_string(step))})
    hash.update_field(field);
  return hash.finish_hex().substr(0, digits);
}

ordered_json text_attribute(std::string_view key, std::string_view value) {
  return {{"key", key}, {"value", {{"stringValue", value}}}};
}
// JSON has no 64-bit integers: they are texts.
ordered_json number_attribute(std::string_view key, std::int64_t value) {
  return {{"key", key}, {"value", {{"intValue", std::to_string(value)}}}};
}

ordered_json span_json(const sessions::StepSpan& span, std::string_view run) {
  constexpr int kInternal = 1;  // SPAN_KIND_INTERNAL
  constexpr int kError = 2;     // STATUS_CODE_ERROR
  ordered_json attributes = {text_attribute("session.id", span.session),
      text_attribute("process.command_line", span.command), text_attribute("guard.outcome", span.outcome),
      number_attribute("guard.step", static_cast<std::int64_t>(span.step)),
      number_attribute("guard.files", static_cast<std::int64_t>(span.files))};
  if (span.exit_code) attributes.push_back(number_attribute("process.exit.code", *span.exit_code));
  ordered_json said = {{"traceId", id_of(32, run, span, 0)}, {"spanId", id_of(16, run, span, span.step)},
      {"name", "execute"}, {"kind", kInternal}, {"startTimeUnixNano", std::to_string(span.begun_ns)},
      {"endTimeUnixNano", std::to_string(span.ended_ns)}, {"attributes", std::move(attributes)}};
  if (span.exit_code != 0) said["status"] = {{"code", kError}, {"message", span.outcome}};
  return said;
}

Error unanswered(std::string_view doing) {
  return errno == ETIMEDOUT ? Error(ErrorCode::execution_timeout, fmt::format("{} takes too long", doing))
                            : Error::from_errno(ErrorCode::io_error, doing, errno);
}

// Until there is something to do; false, with errno, when `deadline` passes first.
bool wait_for(int fd, short events, Deadline deadline) {
  for (;;) {
    pollfd wanted{fd, events, 0};
    const int found = ::poll(&wanted, 1, deadline.poll_timeout());
    if (found > 0) return true;
    if (found == 0) errno = ETIMEDOUT;
    if (found == 0 || errno != EINTR) return false;
  }
}

bool may_be_tried_again(unsigned status) { return status == 429 || (status >= 502 && status <= 504); }

}  // namespace

std::string spans_json(std::span<const sessions::StepSpan> spans, std::string_view run) {
  ordered_json said = ordered_json::array();
  for (const sessions::StepSpan& span : spans) said.push_back(span_json(span, run));
  const ordered_json scope = {{"scope", {{"name", "guard.sessions"}}}, {"spans", std::move(said)}};
  const ordered_json resource = {{"attributes", ordered_json::array({text_attribute("service.name", "guard")})}};
  const ordered_json one = {{"resource", resource}, {"scopeSpans", ordered_json::array({scope})}};
  return ordered_json({{"resourceSpans", ordered_json::array({one})}})
      .dump(-1, ' ', false, ordered_json::error_handler_t::replace);
}

Result<std::unique_ptr<OtlpExporter>> OtlpExporter::start(const std::string& url, Say say) {
  constexpr std::string_view kScheme = "http://";
  std::string_view address = url;
  if (!address.starts_with(kScheme))
    return Error(ErrorCode::input_invalid, fmt::format("{} is no address of a collector", url_without_userinfo(url)))
        .hint("write --otlp http://127.0.0.1:4318: a collector of this machine, which sends on over TLS");
  address.remove_prefix(kScheme.size());
  if (address.ends_with(kPath)) address.remove_suffix(kPath.size());
  if (address.ends_with('/')) address.remove_suffix(1);
  GUARD_TRY(check_loopback(address));
  GUARD_TRY_ASSIGN(std::string run, new_run_id());
  std::unique_ptr<OtlpExporter> made(new OtlpExporter(std::string(address), std::move(run), std::move(say)));
  GUARD_TRY_ASSIGN(made->thread_, new_thread([exporter = made.get()] { exporter->send_all(); }));
  return made;
}

OtlpExporter::~OtlpExporter() {
  {
    const std::lock_guard lock(mutex_);
    stopping_ = true;
  }
  changed_.notify_all();
  if (thread_.joinable()) thread_.join();
  if (dropped_ > 0) say_(fmt::format("{} not exported to {}", plural(dropped_, "step"), address_));
}

void OtlpExporter::add(sessions::StepSpan span) {
  {
    const std::lock_guard lock(mutex_);
    if (waiting_.size() >= kWaitingMax) {
      ++dropped_;
      return;
    }
    waiting_.push_back(std::move(span));
  }
  changed_.notify_all();
}

void OtlpExporter::send_all() {
  std::unique_lock lock(mutex_);
  bool answers = true;
  Deadline last = Deadline::never();
  for (;;) {
    changed_.wait(lock, [this] { return stopping_ || !waiting_.empty(); });
    if (!stopping_) {
      changed_.wait_for(lock, answers ? kGather : kRetry, [this] { return stopping_; });
    } else if (!answers) {
      changed_.wait_for(lock, kGather);
    }
    if (waiting_.empty()) return;
    if (stopping_) last = last.sooner(Deadline::after(kLastMax));
    const auto count = static_cast<std::ptrdiff_t>(std::min(waiting_.size(), kBatchMax));
    const std::vector<sessions::StepSpan> batch(waiting_.begin(), waiting_.begin() + count);
    lock.unlock();
    const auto status = post(spans_json(batch, run_), last.sooner(Deadline::after(kSendMax)));
    const bool is_taken = status && *status / 100 == 2;
    const bool waits = !status || may_be_tried_again(*status);
    if (answers && !is_taken)
      say_(fmt::format("steps are not exported to {}: {}", address_,
          status ? fmt::format("it answers {}", *status) : printable(status.error().message())));
    lock.lock();
    answers = is_taken;
    if (is_taken || !waits) waiting_.erase(waiting_.begin(), waiting_.begin() + count);
    if (!is_taken && !waits) dropped_ += static_cast<std::uint64_t>(count);
    // Whoever asks for patience gets some, up to a point; who does not answer gets none.
    if (waits && stopping_ && (!status || last.passed())) {
      dropped_ += waiting_.size();
      return;
    }
  }
}

// A connection for each request: there are few, and a collector that was started again is reached by the next one.
Result<unsigned> OtlpExporter::post(const std::string& body, Deadline deadline) const {
  GUARD_TRY_ASSIGN(const UniqueFd fd, connect_to_loopback(address_, deadline));
  const std::string head =
      fmt::format("POST {} HTTP/1.1\r\nHost: {}\r\nContent-Type: application/json\r\n", kPath, address_);
  const std::string request =
      fmt::format("{}Content-Length: {}\r\nConnection: close\r\n\r\n{}", head, body.size(), body);
  for (std::string_view rest = request; !rest.empty();) {
    const ssize_t sent = ::send(fd.get(), rest.data(), rest.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
    if (sent >= 0) {
      rest.remove_prefix(static_cast<std::size_t>(sent));
    } else if (errno != EINTR && (errno != EAGAIN || !wait_for(fd.get(), POLLOUT, deadline))) {
      break;  // whoever refuses a request may not read all of it
    }
  }
  std::string answer;
  std::array<char, 4096> chunk;
  while (answer.size() < kAnswerBytesMax && wait_for(fd.get(), POLLIN, deadline)) {
    const ssize_t size = ::recv(fd.get(), chunk.data(), chunk.size(), MSG_DONTWAIT);
    if (size > 0) answer.append(chunk.data(), static_cast<std::size_t>(size));
    if (size == 0 || (size < 0 && errno != EINTR && errno != EAGAIN)) break;
    if (answer.find("\r\n\r\n") != std::string::npos) break;
  }
  unsigned status = 0;
  std::string_view rest = answer;
  if (rest.starts_with("HTTP/1.")) {
    rest.remove_prefix(std::min(std::string_view("HTTP/1.1 ").size(), rest.size()));
    if (take_number(rest, status)) return status;
  }
  return answer.empty() ? unanswered("its answer") : Error(ErrorCode::protocol_error, "it does not speak HTTP");
}

}  // namespace guard::serve

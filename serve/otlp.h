// Steps of sessions as spans, for a collector of OpenTelemetry on this machine (OTLP/HTTP with JSON, POST /v1/traces).
// Their commands are masked; what they print stays here.
//
// One trace for each session and exporter, one span for each step. Whoever adds a step never waits: a thread sends what
// was added, tries again while the collector does not answer, and drops what is too much meanwhile. That is counted and
// said.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <string_view>
#include <thread>

#include "common/result.h"
#include "common/time.h"
#include "sessions/trace/trace.h"

namespace guard::serve {

// The body of one request. `run` tells apart exporters that see the same sessions.
std::string spans_json(std::span<const sessions::StepSpan> spans, std::string_view run);

// Thread-safe.
class OtlpExporter {
 public:
  static constexpr std::size_t kWaitingMax = 2'048;

  using Say = std::function<void(const std::string& sentence)>;  // from any thread

  // INPUT_INVALID unless `url` is http://ADDRESS:PORT of the loopback, with or without /v1/traces: what leaves this
  // machine is the collector's to send, over TLS.
  static Result<std::unique_ptr<OtlpExporter>> start(const std::string& url, Say say);
  ~OtlpExporter();  // sends what waits, for a moment
  OtlpExporter(const OtlpExporter&) = delete;
  OtlpExporter& operator=(const OtlpExporter&) = delete;

  void add(sessions::StepSpan span);

 private:
  OtlpExporter(std::string address, std::string run, Say say)
      : address_(std::move(address)), run_(std::move(run)), say_(std::move(say)) {}
  void send_all();  // of the thread
  Result<unsigned> post(const std::string& body, Deadline deadline) const;

  const std::string address_;
  const std::string run_;
  const Say say_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<sessions::StepSpan> waiting_;
  std::uint64_t dropped_ = 0;
  bool stopping_ = false;
  std::thread thread_;
};

}  // namespace guard::serve

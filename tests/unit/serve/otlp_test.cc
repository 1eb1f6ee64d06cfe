#include "serve/otlp.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <atomic>
#include <nlohmann/json.hpp>

#include "serve/access.h"

namespace guard::serve {
namespace {

using nlohmann::json;
using sessions::StepSpan;
using testing::HasSubstr;
using testing::IsEmpty;

StepSpan span_of(std::uint64_t step, std::optional<std::int64_t> exit_code = 0) {
  StepSpan span;
  span.session = "t/a";
  span.step = step;
  span.command = "bun \"x\" \xff";
  span.outcome = "exited 3";
  span.exit_code = exit_code;
  span.begun_ns = 1'800'000'000'000'000'001;
  span.ended_ns = 1'800'000'000'000'000'002;
  return span;
}

// What a test of the published schema can't say (tests/cli/clients/otlp.mjs does that): that ids differ where they have
// to.
TEST(OtlpSpans, HaveATraceForEachSessionAndAnIdForEachStep) {
  std::vector<StepSpan> spans = {span_of(1), span_of(2, 3), span_of(3, std::nullopt)};
  spans.push_back(span_of(1));
  spans.back().session = "t/b";
  const json said = json::parse(spans_json(spans, "run"))["resourceSpans"][0]["scopeSpans"][0]["spans"];
  ASSERT_EQ(said.size(), 4U);
  EXPECT_EQ(said[0]["traceId"], said[1]["traceId"]);
  EXPECT_NE(said[0]["traceId"], said[3]["traceId"]);
  EXPECT_NE(said[0]["spanId"], said[1]["spanId"]);
  EXPECT_NE(said[0]["spanId"], said[3]["spanId"]);
  const json other = json::parse(spans_json(spans, "other"))["resourceSpans"][0]["scopeSpans"][0]["spans"];
  EXPECT_NE(said[0]["traceId"], other[0]["traceId"]) << "steps are counted anew";
  EXPECT_FALSE(said[0].contains("status"));
  EXPECT_EQ(said[1]["status"]["code"], 2);
  EXPECT_EQ(said[2]["status"]["code"], 2);
  EXPECT_EQ(said[0]["startTimeUnixNano"], "1800000000000000001");
}

TEST(OtlpExporter, SpeaksToThisMachineAlone) {
  for (const char* url :
      {"", "127.0.0.1:4318", "https://127.0.0.1:4318", "http://example.com:4318", "http://10.0.0.1:80",
          "http://127.0.0.1", "http://127.0.0.1:4318/other", "http://a@127.0.0.1:4318", "http://0.0.0.0:4318"}) {
    const auto started = OtlpExporter::start(url, [](const std::string&) {});
    ASSERT_FALSE(started) << url;
    EXPECT_EQ(started.error().code(), ErrorCode::input_invalid) << url;
  }
}

// Answers each request with the next of `answers`, and the last one for ever; an empty one: never.
class Collector {
 public:
  explicit Collector(std::vector<std::string> answers) : answers_(std::move(answers)) {
    thread_ = std::thread([this] { serve(); });
  }
  ~Collector() {
    stopping_ = true;
    thread_.join();
  }
  std::string url() const { return "http://" + listener_.address; }
  std::size_t asked() const { return asked_; }

 private:
  void serve() {
    std::vector<UniqueFd> left;
    while (!stopping_) {
      pollfd wanted{listener_.socket.get(), POLLIN, 0};
      if (::poll(&wanted, 1, 20) <= 0) continue;
      UniqueFd fd(::accept4(listener_.socket.get(), nullptr, nullptr, SOCK_CLOEXEC));
      std::string request;
      char chunk[65536];
      while (request.find("\r\n\r\n") == std::string::npos || request.find("]}]}]}") == std::string::npos) {
        const ssize_t size = ::recv(fd.get(), chunk, sizeof chunk, 0);
        if (size <= 0) break;
        request.append(chunk, static_cast<std::size_t>(size));
      }
      const std::string answer = answers_[std::min<std::size_t>(asked_, answers_.size() - 1)];
      ++asked_;
      if (!answer.empty()) ::send(fd.get(), answer.data(), answer.size(), MSG_NOSIGNAL);
      left.push_back(std::move(fd));
      if (!answer.empty()) left.pop_back();
    }
  }
  const std::vector<std::string> answers_;
  const LoopbackListener listener_ = *listen_on_loopback("127.0.0.1:0");
  std::atomic<std::size_t> asked_ = 0;
  std::atomic<bool> stopping_ = false;
  std::thread thread_;
};

std::string answer(const std::string& status) { return "HTTP/1.1 " + status + "\r\nContent-Length: 2\r\n\r\n{}"; }

class OtlpExport : public testing::Test {
 protected:
  // Adds so many, waits until they were tried, and ends.
  std::vector<std::string> said_after(const std::string& url, std::size_t spans, const Collector* collector = nullptr) {
    std::mutex mutex;
    std::vector<std::string> said;
    {
      const auto exporter = *OtlpExporter::start(url, [&](const std::string& sentence) {
        const std::lock_guard lock(mutex);
        said.push_back(sentence);
      });
      for (std::size_t i = 0; i < spans; ++i) exporter->add(span_of(i));
      while (collector != nullptr && collector->asked() == 0) std::this_thread::sleep_for(milliseconds(5));
    }
    return said;
  }
};

TEST_F(OtlpExport, SaysNothingWhereAllIsTaken) {
  const Collector collector({answer("200 OK")});
  EXPECT_THAT(said_after(collector.url(), 1'000), IsEmpty());
  EXPECT_EQ(collector.asked(), 4U);
  EXPECT_THAT(said_after(collector.url() + "/v1/traces", 1), IsEmpty());
}

TEST_F(OtlpExport, TriesAgainWhatMayBeTakenLater) {
  const Collector collector({answer("503 Service Unavailable"), answer("200 OK")});
  const auto said = said_after(collector.url(), 1, &collector);
  ASSERT_EQ(said.size(), 1U);
  EXPECT_THAT(said[0], HasSubstr("503"));
  EXPECT_EQ(collector.asked(), 2U);
}

TEST_F(OtlpExport, CountsWhatIsRefused) {
  const Collector collector({answer("400 Bad Request")});
  const auto said = said_after(collector.url(), 3, &collector);
  ASSERT_EQ(said.size(), 2U);
  EXPECT_THAT(said[0], HasSubstr("400"));
  EXPECT_THAT(said[1], HasSubstr("3 steps not exported"));
  EXPECT_EQ(collector.asked(), 1U);
}

// Whoever adds does not wait, and what is kept has an end.
TEST_F(OtlpExport, OutlivesACollectorThatIsDeadOrDeaf) {
  std::string nobody;
  { nobody = "http://" + listen_on_loopback("127.0.0.1:0")->address; }
  const Collector deaf({""});
  const Collector strange({"SSH-2.0-x\r\n\r\n"});
  for (const std::string& url : {nobody, deaf.url(), strange.url()}) {
    const auto said = said_after(url, OtlpExporter::kWaitingMax + 100);
    ASSERT_FALSE(said.empty()) << url;
    EXPECT_THAT(said.back(), HasSubstr("2148 steps not exported")) << url;
  }
}

}  // namespace
}  // namespace guard::serve

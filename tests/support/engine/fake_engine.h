// A container engine that says what a test tells it to: a real unix socket, one scripted reply per kind of request. It
// also plays the broken ones: those that hang, hang up, answer half or nonsense.
#pragma once

#include <functional>
#include <mutex>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "common/file_io.h"
#include "common/unique_fd.h"

namespace guard {

struct FakeReply {
  enum class When { after_request, after_accept };
  enum class Then { hang_up, stay_silent };
  std::string bytes;
  Then then = Then::hang_up;
  When when = When::after_request;  // after_accept: the request is never read
};

// A well-formed answer with its length.
FakeReply fake_answer(int status, std::string_view body, std::string_view more_headers = {});

class FakeEngine {
 public:
  FakeEngine();
  ~FakeEngine();
  FakeEngine(const FakeEngine&) = delete;
  FakeEngine& operator=(const FakeEngine&) = delete;

  // Requests whose first line begins with `start` ("GET /_ping") get `reply`; of several the last one added. Replies
  // given for the same start with then() follow one another, the last one staying.
  void on(std::string start, FakeReply reply);
  void then(std::string start, FakeReply reply);
  // Whatever nothing else was said about. Without it: 404.
  void otherwise(FakeReply reply);

  const std::string& socket() const noexcept { return socket_; }
  // Whole requests, in the order of their arrival.
  std::vector<std::string> requests() const;
  // Called from the engine's thread when a request has arrived, before it is answered.
  void notify(std::function<void(const std::string& request)> callback);

 private:
  struct Rule {
    std::string start;
    std::vector<FakeReply> replies;
    std::size_t next = 0;
  };
  void serve();
  void serve_one(UniqueFd connection);
  bool read_request(int fd, std::string& request) const;
  FakeReply reply_to(const std::string& request);

  TempDir folder_;
  std::string socket_;
  UniqueFd listener_;
  UniqueFd stop_read_;
  UniqueFd stop_write_;
  std::vector<UniqueFd> kept_open_;
  mutable std::mutex mutex_;
  std::vector<Rule> rules_;
  FakeReply otherwise_;
  FakeReply at_accept_;
  bool has_at_accept_ = false;
  std::vector<std::string> requests_;
  std::function<void(const std::string&)> callback_;
  std::thread thread_;
};

}  // namespace guard

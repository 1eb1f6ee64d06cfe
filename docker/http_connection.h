// One HTTP/1.1 exchange with a container engine, or another service that an Endpoint names: connect, send a request,
// receive the answer, each bounded in time by a deadline, in size by a limit, and ended early by the cancel token.
//
// An answer must say where it ends (a length or chunks). One that ends with the connection could be half of itself and
// nobody would know, so it is refused.
//
// Failures: ENVIRONMENT_UNAVAILABLE as of Channel::open() when there is no connection to be had, PROTOCOL_ERROR when
// the other side breaks off, speaks something else or too much (detail "limit"), EXECUTION_TIMEOUT at the deadline,
// CANCELLED.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "common/cancel.h"
#include "common/result.h"
#include "common/time.h"
#include "docker/channel.h"

namespace guard::docker {

struct HttpRequest {
  std::string_view method = "GET";
  std::string target = {};             // already percent-encoded
  std::string_view content_type = {};  // empty: no body
  std::string_view body = {};
  int body_fd = -1;  // the body instead of `body`: `body_fd_bytes` from its current offset
  std::uint64_t body_fd_bytes = 0;
  bool upgrade = false;  // asks for the connection itself ("Upgrade: tcp")
  std::string_view host = "docker";
  std::vector<std::pair<std::string_view, std::string_view>> fields = {};  // more of the head, sent as they are
};

struct HttpAnswer {
  unsigned status = 0;
  std::map<std::string, std::string> headers;  // names in lower case; of repeated ones the last
  std::string body;
};

class HttpConnection {
 public:
  // Both are used until this is gone.
  static Result<HttpConnection> open(const Endpoint& endpoint, Deadline deadline, const CancelToken& cancel);

  Result<void> send(const HttpRequest& request);
  // With `take` the body of a 200 goes there as it comes and is not kept; an Error from there ends the exchange.
  using BodySink = std::function<Result<void>(std::string_view bytes)>;
  Result<HttpAnswer> receive(std::uint64_t body_bytes_max, const BodySink& take = nullptr);

  // Reads the status line and headers and not one byte more, so that what follows is still in the channel.
  Result<HttpAnswer> receive_head();

  const Channel& channel() const noexcept { return *channel_; }
  Channel& channel() noexcept { return *channel_; }

  // For a stream that begins where receive_head() ended.
  std::unique_ptr<Channel> release() { return std::move(channel_); }

 private:
  HttpConnection(std::unique_ptr<Channel> channel, std::string_view peer, Deadline deadline, const CancelToken& cancel)
      : channel_(std::move(channel)), peer_(peer), deadline_(deadline), cancel_(&cancel) {}
  Error malformed(std::string_view why) const;
  Error broken_off(std::string_view what) const;
  // What is there, waiting for the first byte; 0 at the end of the stream.
  Result<std::size_t> receive_some(std::span<char> into, Take take);
  Result<void> send_bytes(std::string_view bytes);
  Result<void> send_file(int fd, std::uint64_t bytes);

  std::unique_ptr<Channel> channel_;
  std::string_view peer_;
  Deadline deadline_;
  const CancelToken* cancel_;
  bool deaf_ = false;  // the other side stopped reading before it had all of the request
};

// Percent-encodes what may not stand in a path segment or query value. '/', ':' and '@' stay: image references hold
// them.
std::string url_encode(std::string_view text);

}  // namespace guard::docker

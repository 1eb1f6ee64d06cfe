#include "serve/http_server.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <unistd.h>

#include <atomic>
#include <boost/asio/io_context.hpp>
#include <boost/asio/local/stream_protocol.hpp>
#include <boost/asio/write.hpp>
#include <boost/beast/core/flat_buffer.hpp>
#include <boost/beast/http.hpp>
#include <cerrno>
#include <charconv>
#include <cstdlib>
#include <list>
#include <thread>

#include "common/file_io.h"
#include "common/text/text.h"

namespace guard::serve {
namespace {

namespace http = boost::beast::http;
using Socket = boost::asio::local::stream_protocol::socket;
using boost::system::error_code;

// A client that neither reads nor writes for so long is given up.
constexpr time_t kSilenceSeconds = 60;
constexpr std::size_t kHeaderBytesMax = 64ul * 1024;
constexpr int kHandedOver = 3;  // SD_LISTEN_FDS_START

Error failed(std::string_view doing) { return Error::from_errno(ErrorCode::io_error, doing, errno); }

bool may_speak(int connection) {
  ucred peer{};
  socklen_t size = sizeof peer;
  return ::getsockopt(connection, SOL_SOCKET, SO_PEERCRED, &peer, &size) == 0 &&
      (peer.uid == ::geteuid() || peer.uid == 0);
}

class HttpAnswer final : public Answer {
 public:
  explicit HttpAnswer(Socket& socket) : socket_(socket) {}

  Result<void> begin(unsigned status, std::string_view content_type) override {
    http::response<http::empty_body> head{static_cast<http::status>(status), 11};
    head.set(http::field::content_type, {content_type.data(), content_type.size()});
    head.keep_alive(false);
    head.chunked(true);
    http::response_serializer<http::empty_body> serializer{head};
    error_code failure;
    http::write_header(socket_, serializer, failure);
    begun_ = !failure;
    return said(failure);
  }

  Result<void> write(std::string_view bytes) override {
    if (bytes.empty()) return ok();
    error_code failure;
    boost::asio::write(socket_, http::make_chunk(boost::asio::buffer(bytes.data(), bytes.size())), failure);
    return said(failure);
  }

  bool listening() override {
    pollfd end{socket_.native_handle(), POLLRDHUP, 0};
    return ::poll(&end, 1, 0) == 0;
  }

  void finish() {
    error_code ignored;
    if (begun_) boost::asio::write(socket_, http::make_chunk_last(), ignored);
  }

 private:
  static Result<void> said(const error_code& failure) {
    if (!failure) return ok();
    return Error(ErrorCode::io_error, fmt::format("answering a client: {}", failure.message()));
  }

  Socket& socket_;
  bool begun_ = false;
};

void serve_one(Socket& socket, Api& api) {
  HttpAnswer answer(socket);
  boost::beast::flat_buffer buffer;
  http::request_parser<http::string_body> parser;
  parser.body_limit(kBodyBytesMax);
  parser.header_limit(kHeaderBytesMax);
  error_code failure;
  http::read(socket, buffer, parser, failure);
  if (failure == http::error::body_limit) {
    if (answer.begin(413, "application/json"))
      static_cast<void>(
          answer.write("{\"error\": {\"code\": \"FILE_TOO_LARGE\", \"message\": \"the body is too large\"}}\n"));
    return answer.finish();
  }
  // Half a request, or none: there is nobody to speak to.
  if (failure) return;
  Request request;
  const auto& got = parser.get();
  request.method = std::string(got.method_string());
  const auto target = read_target({got.target().data(), got.target().size()}, request);
  if (target) {
    request.body = std::move(parser.get().body());
    api.handle(request, answer);
  } else if (answer.begin(400, "application/json")) {
    static_cast<void>(
        answer.write("{\"error\": {\"code\": \"INPUT_INVALID\", \"message\": \"a malformed address\"}}\n"));
  }
  answer.finish();
}

struct Connection {
  std::thread thread;
  std::atomic<bool> done = false;
};

void limit_silence(int connection) {
  const timeval span{kSilenceSeconds, 0};
  ::setsockopt(connection, SOL_SOCKET, SO_RCVTIMEO, &span, sizeof span);
  ::setsockopt(connection, SOL_SOCKET, SO_SNDTIMEO, &span, sizeof span);
}

void serve_connection(UniqueFd connection, Api& api) {
  limit_silence(connection.get());
  boost::asio::io_context context;
  error_code failure;
  Socket socket(context);
  socket.assign(boost::asio::local::stream_protocol(), connection.get(), failure);
  if (failure) return;
  static_cast<void>(connection.release());
  serve_one(socket, api);
  socket.shutdown(Socket::shutdown_send, failure);
}

// Of systemd's socket activation: LISTEN_PID is us, LISTEN_FDS is 1.
bool is_handed_over() {
  const char* pid = std::getenv("LISTEN_PID");
  const char* count = std::getenv("LISTEN_FDS");
  return pid != nullptr && count != nullptr && std::to_string(::getpid()) == pid && std::string_view(count) == "1";
}

}  // namespace

Result<UniqueFd> listen_at(const std::filesystem::path& path) {
  if (is_handed_over()) {
    UniqueFd given(kHandedOver);
    ::fcntl(given.get(), F_SETFD, FD_CLOEXEC);
    return given;
  }
  const auto address = socket_address(path.native());
  if (!address) {
    return Error(
        ErrorCode::input_invalid, fmt::format("{} is too long for the path of a socket", printable(path.native())))
        .hint("name a shorter folder with --state");
  }
  struct stat found {};
  if (::lstat(path.c_str(), &found) == 0 && S_ISSOCK(found.st_mode)) ::unlink(path.c_str());
  UniqueFd listener(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
  if (!listener) return failed("making a socket");
  // Of the file that bind(2) makes, from its first moment on.
  const bool made = ::fchmod(listener.get(), 0600) == 0 &&
      ::bind(listener.get(), reinterpret_cast<const sockaddr*>(&*address), sizeof *address) == 0 &&
      ::chmod(path.c_str(), 0600) == 0 && ::listen(listener.get(), SOMAXCONN) == 0;
  if (!made) return failed(fmt::format("listening at {}", printable(path.native())));
  return listener;
}

Result<void> serve_http(int listener, Api& api, const CancelToken& cancel, const std::function<void()>& drain) {
  std::list<Connection> connections;
  const auto forget_ended = [&connections] {
    connections.remove_if([](Connection& connection) {
      if (!connection.done) return false;
      connection.thread.join();
      return true;
    });
  };
  Result<void> served = ok();
  while (!cancel.cancelled()) {
    // Beyond the limit the next ones wait in the queue of the socket.
    const bool full = connections.size() >= kConnectionsMax;
    pollfd fds[2] = {{full ? -1 : listener, POLLIN, 0}, {cancel.fd(), POLLIN, 0}};
    if (::poll(fds, 2, full ? 50 : 1'000) < 0 && errno != EINTR) {
      served = failed("waiting for connections");
      break;
    }
    forget_ended();
    if ((fds[0].revents & POLLIN) == 0) continue;
    UniqueFd accepted(::accept4(listener, nullptr, nullptr, SOCK_CLOEXEC));
    if (!accepted || !may_speak(accepted.get())) continue;
    Connection& connection = connections.emplace_back();
    connection.thread = std::thread([&connection, &api, fd = std::move(accepted)]() mutable {
      serve_connection(std::move(fd), api);
      connection.done = true;
    });
  }
  drain();
  for (Connection& connection : connections) connection.thread.join();
  return served;
}

}  // namespace guard::serve

// Channels are non-blocking and every wait is a poll(2) beside the cancel token, so Asio's event loop is not needed; of
// Beast only the parser is used, which knows lengths, chunks and limits. It is fed the bytes as they come.
#include "docker/http_connection.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <boost/asio/buffer.hpp>
#include <boost/beast/http/empty_body.hpp>
#include <boost/beast/http/parser.hpp>
#include <boost/beast/http/string_body.hpp>
#include <cctype>
#include <cerrno>
#include <span>

namespace guard::docker {
namespace {

namespace http = boost::beast::http;

// Docker's own answers carry some 300 bytes of headers.
constexpr std::uint32_t kHeaderBytesMax = 16ul * 1024;
constexpr std::size_t kReadBytes = 64ul * 1024;

template <typename Parser>
HttpAnswer head_of(const Parser& parser) {
  HttpAnswer answer;
  answer.status = parser.get().result_int();
  for (const auto& field : parser.get()) {
    std::string name(field.name_string());
    std::ranges::transform(
        name, name.begin(), [](char c) { return static_cast<char>(std::tolower(static_cast<unsigned char>(c))); });
    answer.headers[std::move(name)] = std::string(field.value());
  }
  return answer;
}

}  // namespace

Error HttpConnection::malformed(std::string_view why) const {
  return {ErrorCode::protocol_error, fmt::format("{}'s answer makes no sense: {}", peer_, why)};
}

Error HttpConnection::broken_off(std::string_view what) const {
  return {ErrorCode::protocol_error, fmt::format("{} broke off {}", peer_, what)};
}

Result<HttpConnection> HttpConnection::open(const Endpoint& endpoint, Deadline deadline, const CancelToken& cancel) {
  GUARD_TRY_ASSIGN(auto channel, Channel::open(endpoint, deadline, cancel));
  return HttpConnection(std::move(channel), endpoint.peer, deadline, cancel);
}

Result<std::size_t> HttpConnection::receive_some(std::span<char> into, Take take) {
  // Before the first byte, too: whoever has been cancelled is not to be kept busy by an engine that talks without end.
  GUARD_TRY(look_up_from_work(deadline_, *cancel_));
  while (true) {
    GUARD_TRY_ASSIGN(const Attempt attempt, channel_->receive(into, take));
    if (attempt.wait_for == 0) return attempt.bytes;
    GUARD_TRY(wait_for(channel_->fd(), attempt.wait_for, deadline_, *cancel_));
  }
}

Result<void> HttpConnection::send_bytes(std::string_view bytes) {
  while (!bytes.empty() && !deaf_) {
    GUARD_TRY_ASSIGN(const Attempt attempt, channel_->send(bytes));
    bytes.remove_prefix(attempt.bytes);
    // It may have refused the request half way and said why: the answer is still to be read.
    deaf_ = attempt.ended;
    if (attempt.wait_for != 0) GUARD_TRY(wait_for(channel_->fd(), attempt.wait_for, deadline_, *cancel_));
  }
  return ok();
}

Result<void> HttpConnection::send_file(int fd, std::uint64_t bytes) {
  std::string buffer(kReadBytes, '\0');
  while (bytes > 0 && !deaf_) {
    const auto want = static_cast<std::size_t>(std::min<std::uint64_t>(bytes, buffer.size()));
    const ssize_t got = ::read(fd, buffer.data(), want);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return Error::from_errno(ErrorCode::io_error, "reading the file to send", errno);
    if (got == 0) return Error(ErrorCode::io_error, "the file to send became shorter while it was sent");
    GUARD_TRY(send_bytes(std::string_view(buffer.data(), static_cast<std::size_t>(got))));
    bytes -= static_cast<std::uint64_t>(got);
  }
  return ok();
}

Result<void> HttpConnection::send(const HttpRequest& request) {
  // Callers encode their targets; this is the last line against a second request smuggled in by a line end.
  const auto is_encoded = [](std::string_view text, char lowest) {
    return std::ranges::all_of(text, [lowest](char c) { return c >= lowest && c < 0x7f; });
  };
  if (!is_encoded(request.target, '!') || !is_encoded(request.host, '!') ||
      !std::ranges::all_of(request.fields, [&](const auto& field) { return is_encoded(field.second, ' '); })) {
    return Error(ErrorCode::internal, "a request target or header was not encoded");
  }
  const std::uint64_t length = request.body_fd >= 0 ? request.body_fd_bytes : request.body.size();
  std::string head =
      fmt::format("{} {} HTTP/1.1\r\nHost: {}\r\nUser-Agent: guard\r\n", request.method, request.target, request.host);
  if (!request.content_type.empty()) head += fmt::format("Content-Type: {}\r\n", request.content_type);
  for (const auto& [name, value] : request.fields) head += fmt::format("{}: {}\r\n", name, value);
  if (length > 0 || request.method != "GET") head += fmt::format("Content-Length: {}\r\n", length);
  head += request.upgrade ? "Connection: Upgrade\r\nUpgrade: tcp\r\n\r\n" : "Connection: close\r\n\r\n";
  GUARD_TRY(send_bytes(head));
  return request.body_fd >= 0 ? send_file(request.body_fd, length) : send_bytes(request.body);
}

Result<HttpAnswer> HttpConnection::receive(std::uint64_t body_bytes_max, const BodySink& take) {
  http::response_parser<http::string_body> parser;
  parser.header_limit(kHeaderBytesMax);
  parser.body_limit(body_bytes_max);
  parser.eager(true);

  std::string pending;
  std::string chunk(kReadBytes, '\0');
  while (!parser.is_done()) {
    GUARD_TRY_ASSIGN(const std::size_t got, receive_some(chunk, Take::away));
    if (got == 0) return broken_off(parser.got_some() ? "in the middle of its answer" : "without an answer");
    pending.append(chunk, 0, got);
    while (!pending.empty() && !parser.is_done()) {
      boost::system::error_code code;
      const std::size_t used = parser.put(boost::asio::buffer(pending), code);
      pending.erase(0, used);
      if (code == http::error::need_more) break;
      if (code == http::error::body_limit) return malformed("it is too large").detail("limit", "bytes");
      if (code) return malformed(code.message());
      if (parser.is_header_done() && !parser.is_done() && !parser.chunked() && !parser.content_length()) {
        return malformed("it does not say how long it is");
      }
      if (take && parser.is_header_done() && parser.get().result_int() == 200 && !parser.get().body().empty()) {
        GUARD_TRY(take(parser.get().body()));
        parser.get().body().clear();
      }
      if (used == 0) break;
    }
    // Of headers, or of a chunk's head that does not end.
    if (pending.size() > kReadBytes + kHeaderBytesMax) return malformed("a part of it does not end");
  }
  if (!pending.empty()) return malformed("there is more than one answer");
  HttpAnswer answer = head_of(parser);
  answer.body = std::move(parser.get().body());
  return answer;
}

Result<HttpAnswer> HttpConnection::receive_head() {
  std::string head;
  std::string chunk(kHeaderBytesMax, '\0');
  constexpr std::string_view kEnd = "\r\n\r\n";
  bool complete = false;
  while (!complete) {
    // Looked at first and taken afterwards: what stands behind the headers belongs to the stream's reader.
    GUARD_TRY_ASSIGN(const std::size_t seen, receive_some(chunk, Take::look));
    if (seen == 0) return broken_off(head.empty() ? "without an answer" : "in the middle of its answer");
    const std::size_t before = head.size();
    head.append(chunk, 0, seen);
    const std::size_t end = head.find(kEnd, before < kEnd.size() ? 0 : before - kEnd.size());
    complete = end != std::string::npos;
    if (complete) head.resize(end + kEnd.size());
    if (head.size() > kHeaderBytesMax) return malformed("its headers are too long");
    std::size_t take = head.size() - before;
    while (take > 0) {
      GUARD_TRY_ASSIGN(const std::size_t taken, receive_some(std::span(chunk.data(), take), Take::away));
      if (taken == 0) return broken_off("in the middle of its answer");
      take -= taken;
    }
  }
  http::response_parser<http::empty_body> parser;
  parser.header_limit(kHeaderBytesMax);
  parser.skip(true);
  boost::system::error_code code;
  parser.put(boost::asio::buffer(head), code);
  if (code || !parser.is_header_done()) return malformed(code ? code.message() : "its headers do not end");
  return head_of(parser);
}

std::string url_encode(std::string_view text) {
  std::string out;
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    const bool plain = std::isalnum(byte) != 0 || std::string_view("-._~/:@").find(c) != std::string_view::npos;
    if (plain) {
      out += c;
    } else {
      out += fmt::format("%{:02X}", byte);
    }
  }
  return out;
}

}  // namespace guard::docker

#include "serve/http_client.h"

#include <fmt/format.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <boost/asio/io_context.hpp>
#include <boost/asio/local/stream_protocol.hpp>
#include <boost/beast/core/flat_buffer.hpp>
#include <boost/beast/http.hpp>
#include <cerrno>

#include "common/file_io.h"
#include "common/text/text.h"

namespace guard::serve {
namespace {

namespace http = boost::beast::http;
using boost::system::error_code;

Error broken(const error_code& failure) {
  return Error(ErrorCode::protocol_error, fmt::format("speaking to guard serve: {}", failure.message()))
      .hint("see whether `guard serve` still runs");
}

std::string target_of(const Request& request) {
  std::string target;
  for (std::size_t at = 0; at < request.path.size();) {
    const std::size_t end = std::min(request.path.find('/', at), request.path.size());
    target += percent_encoded(std::string_view(request.path).substr(at, end - at));
    if (end < request.path.size()) target += '/';
    at = end + 1;
  }
  char between = '?';
  for (const auto& [key, value] : request.query) {
    target += fmt::format("{}{}={}", between, key, percent_encoded(value));
    between = '&';
  }
  return target;
}

// `protocol`: empty, or what to speak on in; answered is then the connection, where the server agrees.
Result<UniqueFd> exchange(UniqueFd connection, const Request& request, std::string_view protocol, Answer& answer) {
  error_code failure;
  boost::asio::io_context context;
  boost::asio::local::stream_protocol::socket socket(context);
  socket.assign(boost::asio::local::stream_protocol(), connection.release(), failure);
  if (failure) return broken(failure);
  http::request<http::string_body> sent;
  sent.method_string(request.method);
  sent.target(target_of(request));
  sent.version(11);
  sent.set(http::field::host, "guard");
  sent.keep_alive(false);
  if (!protocol.empty()) {
    sent.set(http::field::connection, "Upgrade");
    sent.set(http::field::upgrade, {protocol.data(), protocol.size()});
  }
  sent.body() = request.body;
  sent.prepare_payload();
  http::write(socket, sent, failure);  // who refuses a request may not read all of it
  boost::beast::flat_buffer buffer;
  http::response_parser<http::buffer_body> parser;
  parser.body_limit(boost::none);
  http::read_header(socket, buffer, parser, failure);
  if (failure) return broken(failure);
  // The server waits for our first word, so nothing of it lies in the buffer.
  if (!protocol.empty() && parser.get().result() == http::status::switching_protocols) {
    UniqueFd upgraded(socket.release(failure));
    if (failure) return broken(failure);
    return upgraded;
  }
  const auto type = parser.get()[http::field::content_type];
  GUARD_TRY(answer.begin(parser.get().result_int(), {type.data(), type.size()}));
  std::array<char, 64ul * 1024> bytes;
  while (!parser.is_done()) {
    parser.get().body().data = bytes.data();
    parser.get().body().size = bytes.size();
    http::read_some(socket, buffer, parser, failure);
    if (failure && failure != http::error::need_buffer) return broken(failure);
    GUARD_TRY(answer.write({bytes.data(), bytes.size() - parser.get().body().size}));
  }
  return UniqueFd();
}

}  // namespace

Result<UniqueFd> connect_to(const std::filesystem::path& path) {
  const auto address = socket_address(path.native());
  if (!address) return UniqueFd();
  UniqueFd connection(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
  if (!connection) return Error::from_errno(ErrorCode::io_error, "making a socket", errno);
  if (::connect(connection.get(), reinterpret_cast<const sockaddr*>(&*address), sizeof *address) == 0)
    return connection;
  if (errno == ENOENT || errno == ECONNREFUSED) return UniqueFd();
  return Error::from_errno(ErrorCode::io_error, fmt::format("connecting to {}", printable(path.native())), errno);
}

Result<void> ask(UniqueFd connection, const Request& request, Answer& answer) {
  GUARD_TRY(exchange(std::move(connection), request, {}, answer));
  return ok();
}

Result<UniqueFd> ask_to_upgrade(
    UniqueFd connection, const Request& request, std::string_view protocol, Answer& answer) {
  return exchange(std::move(connection), request, protocol, answer);
}

}  // namespace guard::serve

// TLS on one socket of a connection, for coroutines of the proxy's thread. One reader and one writer at a time.
#pragma once

#include <boost/asio/awaitable.hpp>
#include <boost/asio/buffer.hpp>
#include <boost/asio/generic/stream_protocol.hpp>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include "common/result.h"
#include "egress/egress_rules.h"

struct ssl_ctx_st;  // OpenSSL's SSL_CTX

namespace guard {

using TlsContext = std::shared_ptr<ssl_ctx_st>;

// TLS 1.2 and 1.3 without session tickets, compression and renegotiation. EXECUTION_FAILED.
Result<TlsContext> new_tls_context();

// PEM of the authorities that servers are checked by: of `file`, or where that is empty the system's. CONFIG_INVALID
// with a hint: there are none.
Result<std::string> trusted_roots(const std::string& file);

// To servers whose certificate one of `roots` (PEM) vouches for. CONFIG_INVALID.
Result<TlsContext> tls_context_trusting(const std::string& roots);

class TlsLayer {
 public:
  using Socket = boost::asio::generic::stream_protocol::socket;
  template <typename T>
  using Task = boost::asio::awaitable<T>;

  // `below` must outlive this. EXECUTION_FAILED.
  static Result<std::unique_ptr<TlsLayer>> as_server(Socket& below, const TlsContext& context);
  // The server must have a certificate for `host`, and is told that name.
  static Result<std::unique_ptr<TlsLayer>> as_client(Socket& below, const TlsContext& context, const EgressHost& host);
  ~TlsLayer();

  // `early`: what was read from the socket before. False: fault() says why.
  Task<bool> handshake(std::string early);
  const std::string& fault() const noexcept { return fault_; }
  bool distrusts() const noexcept { return distrusts_; }  // the fault is the server's certificate

  // eof also where the other side went without a close_notify; then it hasn't ended().
  Task<std::pair<boost::system::error_code, std::size_t>> read_some(boost::asio::mutable_buffer into);
  bool ended() const noexcept { return ended_; }
  // Ends when the socket has taken all.
  Task<boost::system::error_code> write(std::string_view bytes);
  Task<void> end_sending();  // close_notify; the socket stays open

 private:
  struct State;
  explicit TlsLayer(std::unique_ptr<State> state);
  static Result<std::unique_ptr<TlsLayer>> make(Socket& below, const TlsContext& context);
  Task<boost::system::error_code> feed();
  Task<boost::system::error_code> flush();

  std::unique_ptr<State> state_;
  std::string fault_;
  bool distrusts_ = false;
  bool ended_ = false;
};

}  // namespace guard

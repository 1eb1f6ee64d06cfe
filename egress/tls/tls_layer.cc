// OpenSSL works on two buffers in memory; the socket is read and written here, and all waiting is Asio's. After the
// handshake only the writer empties the outgoing buffer: what reading puts there (an answer to a KeyUpdate) goes with
// the next write, as TLS has it. A peer that makes it grow meanwhile, by asking for a renegotiation over and over,
// loses its connection.
#include "egress/tls/tls_layer.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <boost/asio/as_tuple.hpp>
#include <boost/asio/error.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/asio/write.hpp>

#include "common/file_io.h"
#include "common/net/openssl_types.h"

namespace guard {
namespace {

namespace asio = boost::asio;
using boost::system::error_code;

constexpr auto kAwait = asio::as_tuple(asio::use_awaitable);
constexpr std::size_t kPiece = 16ul * 1024;  // a record has no more
constexpr std::size_t kUnsentMax = 4ul * 1024;
constexpr std::uint64_t kRootsBytesMax = 8ul << 20;
constexpr std::string_view kHttp11 = "\x08http/1.1";
// Debian and its kin; Fedora and its kin; openSUSE; Alpine.
constexpr const char* kSystemRoots[] = {"/etc/ssl/certs/ca-certificates.crt", "/etc/pki/tls/certs/ca-bundle.crt",
    "/etc/ssl/ca-bundle.pem", "/etc/ssl/cert.pem"};

}  // namespace

Result<TlsContext> new_tls_context() {
  OPENSSL_init_ssl(OPENSSL_INIT_NO_LOAD_CONFIG, nullptr);
  TlsContext context(SSL_CTX_new(TLS_method()), SSL_CTX_free);
  if (context == nullptr || SSL_CTX_set_min_proto_version(context.get(), TLS1_2_VERSION) != 1)
    return openssl_error("TLS cannot be set up");
  SSL_CTX_set_options(context.get(), SSL_OP_NO_RENEGOTIATION | SSL_OP_NO_COMPRESSION | SSL_OP_NO_TICKET);
  SSL_CTX_set_session_cache_mode(context.get(), SSL_SESS_CACHE_OFF);
  SSL_CTX_set_num_tickets(context.get(), 0);
  return context;
}

Result<std::string> trusted_roots(const std::string& file) {
  std::string path = file;
  for (const char* known : kSystemRoots) {
    if (path.empty() && ::access(known, R_OK) == 0) path = known;
  }
  if (path.empty()) {
    return Error(ErrorCode::config_invalid, "this machine has no list of certificate authorities that guard knows of")
        .hint("install ca-certificates, or name a file of them");
  }
  auto text = read_file(path, kRootsBytesMax);
  if (text) return text;
  return Error(ErrorCode::config_invalid, fmt::format("{}: {}", printable(path), text.error().message()))
      .hint("name a file of certificates in PEM");
}

Result<TlsContext> tls_context_trusting(const std::string& roots) {
  GUARD_TRY_ASSIGN(TlsContext context, new_tls_context());
  SSL_CTX_set_verify(context.get(), SSL_VERIFY_PEER, nullptr);
  SSL_CTX_set_alpn_protos(
      context.get(), reinterpret_cast<const unsigned char*>(kHttp11.data()), static_cast<unsigned>(kHttp11.size()));
  const TlsBio bio(BIO_new_mem_buf(roots.data(), static_cast<int>(roots.size())));
  X509_STORE* const store = SSL_CTX_get_cert_store(context.get());
  int count = 0;
  while (const Certificate one{PEM_read_bio_X509(bio.get(), nullptr, nullptr, nullptr)})
    count += X509_STORE_add_cert(store, one.get());
  const bool at_end = ERR_GET_REASON(ERR_peek_last_error()) == PEM_R_NO_START_LINE;
  const std::string words = openssl_words();
  if (count > 0 && at_end) return context;
  return Error(ErrorCode::config_invalid, fmt::format("the list of certificate authorities can't be used: {}", words))
      .hint("it is a file of certificates in PEM, one after the other");
}

struct TlsLayer::State {
  explicit State(Socket& below) : socket(below) {}

  Socket& socket;
  TlsSession session;
  BIO* in = nullptr;   // the session's
  BIO* out = nullptr;  // the session's
  std::array<char, kPiece> read{};
};

TlsLayer::TlsLayer(std::unique_ptr<State> state) : state_(std::move(state)) {}
TlsLayer::~TlsLayer() = default;

Result<std::unique_ptr<TlsLayer>> TlsLayer::make(Socket& below, const TlsContext& context) {
  auto state = std::make_unique<State>(below);
  state->session.reset(SSL_new(context.get()));
  TlsBio in(BIO_new(BIO_s_mem()));
  TlsBio out(BIO_new(BIO_s_mem()));
  if (state->session == nullptr || in == nullptr || out == nullptr) return openssl_error("TLS cannot be set up");
  state->in = in.release();
  state->out = out.release();
  SSL_set_bio(state->session.get(), state->in, state->out);
  return std::unique_ptr<TlsLayer>(new TlsLayer(std::move(state)));
}

Result<std::unique_ptr<TlsLayer>> TlsLayer::as_server(Socket& below, const TlsContext& context) {
  GUARD_TRY_ASSIGN(auto made, make(below, context));
  SSL_set_accept_state(made->state_->session.get());
  return made;
}

// The certificate must be made out to this host: its address as an address, its name as a name, never the common name.
Result<std::unique_ptr<TlsLayer>> TlsLayer::as_client(
    Socket& below, const TlsContext& context, const EgressHost& host) {
  GUARD_TRY_ASSIGN(auto made, make(below, context));
  SSL* const session = made->state_->session.get();
  SSL_set_connect_state(session);
  X509_VERIFY_PARAM* const wanted = SSL_get0_param(session);
  X509_VERIFY_PARAM_set_hostflags(wanted, X509_CHECK_FLAG_NO_PARTIAL_WILDCARDS | X509_CHECK_FLAG_NEVER_CHECK_SUBJECT);
  const bool set = host.address ? X509_VERIFY_PARAM_set1_ip_asc(wanted, host.address->text().c_str()) == 1
                                : X509_VERIFY_PARAM_set1_host(wanted, host.name.c_str(), host.name.size()) == 1 &&
          SSL_set_tlsext_host_name(session, host.name.c_str()) == 1;
  if (!set) return openssl_error("TLS cannot be set up");
  return made;
}

TlsLayer::Task<error_code> TlsLayer::feed() {
  State& state = *state_;
  const auto [failure, size] = co_await state.socket.async_read_some(asio::buffer(state.read), kAwait);
  if (!failure) BIO_write(state.in, state.read.data(), static_cast<int>(size));
  co_return failure;
}

TlsLayer::Task<error_code> TlsLayer::flush() {
  State& state = *state_;
  char* bytes = nullptr;
  const long size = BIO_get_mem_data(state.out, &bytes);
  if (size <= 0) co_return error_code();
  const std::string sent(bytes, static_cast<std::size_t>(size));
  BIO_reset(state.out);
  const auto [failure, count] = co_await asio::async_write(state.socket, asio::buffer(sent), kAwait);
  co_return failure;
}

TlsLayer::Task<bool> TlsLayer::handshake(std::string early) {
  SSL* const session = state_->session.get();
  BIO_write(state_->in, early.data(), static_cast<int>(early.size()));
  while (true) {
    ERR_clear_error();
    const int result = SSL_do_handshake(session);
    const int why = SSL_get_error(session, result);
    const long verified = SSL_get_verify_result(session);
    if (result != 1 && why != SSL_ERROR_WANT_READ) fault_ = openssl_words();
    if (verified != X509_V_OK) {
      distrusts_ = true;
      fault_ = X509_verify_cert_error_string(verified);
    }
    const error_code unsent = co_await flush();
    if (!fault_.empty()) co_return false;
    if (unsent) fault_ = "the other side has closed";
    if (result == 1) co_return !unsent;
    const error_code unread = co_await feed();
    if (unread || unsent) {
      fault_ = "the other side has closed";
      co_return false;
    }
  }
}

TlsLayer::Task<std::pair<error_code, std::size_t>> TlsLayer::read_some(asio::mutable_buffer into) {
  SSL* const session = state_->session.get();
  while (true) {
    ERR_clear_error();
    const int got = SSL_read(session, into.data(), static_cast<int>(std::min<std::size_t>(into.size(), kPiece)));
    if (BIO_ctrl_pending(state_->out) > kUnsentMax)
      co_return std::pair(error_code(asio::error::connection_aborted), std::size_t{0});
    if (got > 0) co_return std::pair(error_code(), static_cast<std::size_t>(got));
    const int why = SSL_get_error(session, got);
    ended_ = why == SSL_ERROR_ZERO_RETURN;
    if (ended_) co_return std::pair(error_code(asio::error::eof), std::size_t{0});
    if (why != SSL_ERROR_WANT_READ) co_return std::pair(error_code(asio::error::connection_aborted), std::size_t{0});
    const error_code failure = co_await feed();
    if (failure) co_return std::pair(failure, std::size_t{0});
  }
}

TlsLayer::Task<error_code> TlsLayer::write(std::string_view bytes) {
  SSL* const session = state_->session.get();
  while (!bytes.empty()) {
    ERR_clear_error();
    const int piece = static_cast<int>(std::min(bytes.size(), kPiece));
    const int sent = SSL_write(session, bytes.data(), piece);
    if (sent <= 0) co_return error_code(asio::error::connection_aborted);
    bytes.remove_prefix(static_cast<std::size_t>(sent));
    const error_code failure = co_await flush();
    if (failure) co_return failure;
  }
  co_return error_code();
}

TlsLayer::Task<void> TlsLayer::end_sending() {
  ERR_clear_error();
  SSL_shutdown(state_->session.get());
  co_await flush();
}

}  // namespace guard

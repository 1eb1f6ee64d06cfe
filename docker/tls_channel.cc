// OpenSSL reads and writes the socket through a BIO of ours: its own would raise SIGPIPE. Nothing of its configuration
// files is read, and our certificates are read by us, so that no FIFO or device can hold us up.
#include "docker/tls_channel.h"

#include <arpa/inet.h>
#include <fmt/format.h>
#include <openssl/x509_vfy.h>
#include <poll.h>
#include <sys/socket.h>

#include <algorithm>
#include <cerrno>
#include <climits>
#include <string>

#include "common/file_io.h"
#include "common/net/openssl_types.h"
#include "common/text/text.h"

namespace guard::docker {
namespace {

constexpr std::uint64_t kPemBytesMax = 1 << 20;

using Context = std::unique_ptr<SSL_CTX, Freed<SSL_CTX_free>>;

Error tls_error(const char* kind, std::string sentence) {
  return Error(ErrorCode::environment_unavailable, std::move(sentence)).detail("tls", kind);
}

// ---- the socket ----

int fd_of(BIO* bio) { return static_cast<int>(reinterpret_cast<std::intptr_t>(BIO_get_data(bio))); }

bool is_for_later(int number) { return number == EAGAIN || number == EWOULDBLOCK || number == EINTR; }

int write_socket(BIO* bio, const char* bytes, int size) {
  BIO_clear_retry_flags(bio);
  const ssize_t sent = ::send(fd_of(bio), bytes, static_cast<std::size_t>(size), kSendFlags);
  if (sent < 0 && is_for_later(errno)) BIO_set_retry_write(bio);
  return static_cast<int>(sent);
}

int read_socket(BIO* bio, char* into, int size) {
  BIO_clear_retry_flags(bio);
  const ssize_t got = ::recv(fd_of(bio), into, static_cast<std::size_t>(size), 0);
  if (got < 0 && is_for_later(errno)) BIO_set_retry_read(bio);
  return static_cast<int>(got);
}

long control_socket(BIO*, int command, long, void*) {
  return command == BIO_CTRL_FLUSH ? 1 : 0;  // nothing is held back
}

TlsBio make_bio(int fd) {
  static BIO_METHOD* const method = [] {
    BIO_METHOD* made = BIO_meth_new(BIO_get_new_index() | BIO_TYPE_SOURCE_SINK, "container engine");
    if (made == nullptr) return made;
    BIO_meth_set_write(made, write_socket);
    BIO_meth_set_read(made, read_socket);
    BIO_meth_set_ctrl(made, control_socket);
    return made;
  }();
  TlsBio bio(method == nullptr ? nullptr : BIO_new(method));
  if (bio == nullptr) return bio;
  BIO_set_data(
      bio.get(), reinterpret_cast<void*>(static_cast<std::intptr_t>(fd)));  // NOLINT(performance-no-int-to-ptr)
  BIO_set_init(bio.get(), 1);
  return bio;
}

// ---- our side: whom we trust, and who we are ----

Result<TlsBio> open_pem(const std::string& path) {
  auto text = read_file(path, kPemBytesMax);
  if (!text) return tls_error("files", fmt::format("{} cannot be read: {}", printable(path), text.error().message()));
  TlsBio bio(BIO_new(BIO_s_mem()));
  const int size = static_cast<int>(text->size());
  if (bio == nullptr || BIO_write(bio.get(), text->data(), size) != size) {
    return tls_error("files", fmt::format("{} cannot be kept in memory", printable(path)));
  }
  return bio;
}

// Certificates one after the other; at least one, and nothing half.
Result<std::vector<Certificate>> read_certificates(const std::string& path) {
  GUARD_TRY_ASSIGN(const TlsBio bio, open_pem(path));
  std::vector<Certificate> certificates;
  while (Certificate one{PEM_read_bio_X509(bio.get(), nullptr, nullptr, nullptr)})
    certificates.push_back(std::move(one));
  const bool at_end = ERR_GET_REASON(ERR_peek_last_error()) == PEM_R_NO_START_LINE;
  const std::string words = openssl_words();
  if (certificates.empty() || !at_end) {
    return tls_error("files", fmt::format("{} holds no certificate: {}", printable(path), words));
  }
  return certificates;
}

// A key that is locked by a passphrase cannot be used: nobody is asked.
int no_passphrase(char*, int, int, void*) { return -1; }

Result<void> take_own_certificate(SSL_CTX* context, const TlsFiles& files) {
  GUARD_TRY_ASSIGN(auto chain, read_certificates(files.certificate));
  if (SSL_CTX_use_certificate(context, chain.front().get()) != 1) {
    return tls_error("files", fmt::format("{} cannot be used: {}", printable(files.certificate), openssl_words()));
  }
  for (std::size_t index = 1; index < chain.size(); ++index) {
    if (SSL_CTX_add1_chain_cert(context, chain[index].get()) != 1) {
      return tls_error("files", fmt::format("{} cannot be used: {}", printable(files.certificate), openssl_words()));
    }
  }
  GUARD_TRY_ASSIGN(const TlsBio bio, open_pem(files.key));
  const PrivateKey key(PEM_read_bio_PrivateKey(bio.get(), nullptr, no_passphrase, nullptr));
  if (key == nullptr || SSL_CTX_use_PrivateKey(context, key.get()) != 1 || SSL_CTX_check_private_key(context) != 1) {
    return tls_error("files",
        fmt::format("{} is not the key of {}, or is locked by a passphrase: {}", printable(files.key),
            printable(files.certificate), openssl_words()));
  }
  return ok();
}

Result<Context> make_context(const TlsFiles& files) {
  OPENSSL_init_ssl(OPENSSL_INIT_NO_LOAD_CONFIG, nullptr);
  Context context(SSL_CTX_new(TLS_client_method()));
  if (context == nullptr || SSL_CTX_set_min_proto_version(context.get(), TLS1_2_VERSION) != 1) {
    return tls_error("files", fmt::format("TLS cannot be set up: {}", openssl_words()));
  }
  SSL_CTX_set_options(context.get(), SSL_OP_NO_RENEGOTIATION | SSL_OP_NO_COMPRESSION);
  SSL_CTX_set_mode(context.get(), SSL_MODE_ENABLE_PARTIAL_WRITE | SSL_MODE_ACCEPT_MOVING_WRITE_BUFFER);
  SSL_CTX_set_verify(context.get(), SSL_VERIFY_PEER, nullptr);
  GUARD_TRY_ASSIGN(const auto authorities, read_certificates(files.authority));
  X509_STORE* const store = SSL_CTX_get_cert_store(context.get());
  for (const Certificate& one : authorities) {
    if (X509_STORE_add_cert(store, one.get()) != 1) {
      return tls_error("files", fmt::format("{} cannot be used: {}", printable(files.authority), openssl_words()));
    }
  }
  if (!files.certificate.empty() || !files.key.empty()) GUARD_TRY(take_own_certificate(context.get(), files));
  return context;
}

// The certificate must be made out to this host: its address as an address, its name as a name, never the common name.
bool expect_host(SSL* session, const std::string& host) {
  X509_VERIFY_PARAM* const wanted = SSL_get0_param(session);
  X509_VERIFY_PARAM_set_hostflags(wanted, X509_CHECK_FLAG_NO_PARTIAL_WILDCARDS | X509_CHECK_FLAG_NEVER_CHECK_SUBJECT);
  in6_addr address{};
  const bool is_address =
      ::inet_pton(AF_INET, host.c_str(), &address) == 1 || ::inet_pton(AF_INET6, host.c_str(), &address) == 1;
  if (is_address) return X509_VERIFY_PARAM_set1_ip_asc(wanted, host.c_str()) == 1;
  return X509_VERIFY_PARAM_set1_host(wanted, host.c_str(), host.size()) == 1 &&
      SSL_set_tlsext_host_name(session, host.c_str()) == 1;
}

class TlsChannel final : public Channel {
 public:
  TlsChannel(UniqueFd socket, Context context, TlsSession session)
      : Channel(std::move(socket)), context_(std::move(context)), session_(std::move(session)) {}

  Result<void> shake_hands(const Endpoint& endpoint, Deadline deadline, const CancelToken& cancel) {
    while (true) {
      ERR_clear_error();
      const int done = SSL_connect(session_.get());
      if (done == 1) break;
      const int why = SSL_get_error(session_.get(), done);
      if (why == SSL_ERROR_WANT_READ || why == SSL_ERROR_WANT_WRITE) {
        GUARD_TRY(wait_for(fd(), why == SSL_ERROR_WANT_READ ? POLLIN : POLLOUT, deadline, cancel)
                      .context("shaking hands by TLS"));
        continue;
      }
      const long verified = SSL_get_verify_result(session_.get());
      if (verified != X509_V_OK) return not_to_be_trusted(endpoint, verified);
      return tls_error("handshake", fmt::format("{} does not speak TLS with us: {}", endpoint.url(), openssl_words()));
    }
    // Both follow from SSL_VERIFY_PEER; everything hangs on them, so they are looked at.
    const long verified = SSL_get_verify_result(session_.get());
    if (verified != X509_V_OK || SSL_get0_peer_certificate(session_.get()) == nullptr)
      return not_to_be_trusted(endpoint, verified);
    return ok();
  }

  Result<Attempt> receive(std::span<char> into, Take take) override {
    ERR_clear_error();
    errno = 0;
    const int room = static_cast<int>(std::min<std::size_t>(into.size(), INT_MAX));
    const int got =
        take == Take::look ? SSL_peek(session_.get(), into.data(), room) : SSL_read(session_.get(), into.data(), room);
    if (got > 0) return Attempt{static_cast<std::size_t>(got), 0, false};
    return attempt_after(got, "reading");
  }

  Result<Attempt> send(std::string_view bytes) override {
    if (bytes.empty()) return Attempt{};
    ERR_clear_error();
    errno = 0;
    const int sent =
        SSL_write(session_.get(), bytes.data(), static_cast<int>(std::min<std::size_t>(bytes.size(), INT_MAX)));
    if (sent > 0) return Attempt{static_cast<std::size_t>(sent), 0, false};
    return attempt_after(sent, "writing");
  }

  // Without read-ahead OpenSSL takes one record at a time from the socket: what is left of the last one is all there
  // can be.
  bool pending() const noexcept override { return SSL_pending(session_.get()) > 0; }

 private:
  static Error not_to_be_trusted(const Endpoint& endpoint, long verified) {
    return tls_error("certificate",
        fmt::format(
            "the certificate of {} is not to be trusted: {}", endpoint.url(), X509_verify_cert_error_string(verified)));
  }

  Result<Attempt> attempt_after(int returned, const char* what) {
    const int number = errno;
    switch (SSL_get_error(session_.get(), returned)) {
      case SSL_ERROR_WANT_READ: return Attempt{0, POLLIN, false};
      case SSL_ERROR_WANT_WRITE: return Attempt{0, POLLOUT, false};
      case SSL_ERROR_ZERO_RETURN: return Attempt{0, 0, true};
      case SSL_ERROR_SYSCALL:
        // Without the goodbye of TLS, as when a process was killed. That the stream is whole is shown by what it
        // carries: lengths and chunks of HTTP, the exit frame of our init.
        ERR_clear_error();
        if (number == 0 || number == EPIPE || number == ECONNRESET) return Attempt{0, 0, true};
        return Error::from_errno(ErrorCode::io_error, what, number);
      default: return Error(ErrorCode::protocol_error, fmt::format("{} by TLS: {}", what, openssl_words()));
    }
  }

  Context context_;
  TlsSession session_;
};

}  // namespace

Result<std::unique_ptr<Channel>> open_tls(
    UniqueFd socket, const Endpoint& endpoint, Deadline deadline, const CancelToken& cancel) {
  GUARD_TRY_ASSIGN(Context context, make_context(*endpoint.tls));
  TlsSession session(SSL_new(context.get()));
  TlsBio bio = make_bio(socket.get());
  if (session == nullptr || bio == nullptr || !expect_host(session.get(), endpoint.host)) {
    return tls_error("files", fmt::format("TLS to {} cannot be set up: {}", endpoint.url(), openssl_words()));
  }
  BIO* const shared = bio.release();
  SSL_set_bio(session.get(), shared, shared);
  auto channel = std::make_unique<TlsChannel>(std::move(socket), std::move(context), std::move(session));
  GUARD_TRY(channel->shake_hands(endpoint, deadline, cancel));
  return std::unique_ptr<Channel>(std::move(channel));
}

}  // namespace guard::docker

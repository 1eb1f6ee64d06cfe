#include "tests/support/egress/tls_peer.h"

#include <openssl/err.h>
#include <openssl/pem.h>
#include <openssl/ssl.h>
#include <openssl/x509v3.h>
#include <sys/socket.h>
#include <sys/time.h>

#include <csignal>

#include "common/text/text.h"

namespace guard::test {
namespace {

constexpr long kDay = 24L * 3600;

void add_extension(X509* made, X509* issuer, int kind, const std::string& text) {
  X509V3_CTX context;
  X509V3_set_ctx_nodb(&context);
  X509V3_set_ctx(&context, issuer, made, nullptr, nullptr, 0);
  X509_EXTENSION* const extension = X509V3_EXT_conf_nid(nullptr, &context, kind, text.c_str());
  X509_add_ext(made, extension, -1);
  X509_EXTENSION_free(extension);
}

std::string pem_of(X509* certificate) {
  const std::shared_ptr<BIO> bio(BIO_new(BIO_s_mem()), BIO_free_all);
  PEM_write_bio_X509(bio.get(), certificate);
  char* bytes = nullptr;
  const long size = BIO_get_mem_data(bio.get(), &bytes);
  return {bytes, static_cast<std::size_t>(size)};
}

std::string last_words() {
  const char* words = ERR_reason_error_string(ERR_peek_last_error());
  ERR_clear_error();
  return words == nullptr ? "none" : words;
}

int version_of(TlsNewest newest) { return newest == TlsNewest::tls12 ? TLS1_2_VERSION : TLS1_3_VERSION; }

}  // namespace

std::string Identity::pem() const { return pem_of(certificate.get()); }

Identity make_identity(const std::string& name, const Identity* issuer, Validity validity) {
  static long serial = 1;
  Identity made{{X509_new(), X509_free}, {EVP_EC_gen("P-256"), EVP_PKEY_free}};
  X509* const x509 = made.certificate.get();
  X509_set_version(x509, 2);
  ASN1_INTEGER_set(X509_get_serialNumber(x509), ++serial);
  X509_gmtime_adj(X509_getm_notBefore(x509), -9 * kDay);
  X509_gmtime_adj(X509_getm_notAfter(x509), validity == Validity::over ? -kDay : 9 * kDay);
  X509_set_pubkey(x509, made.key.get());
  const auto* text = reinterpret_cast<const unsigned char*>(name.c_str());
  X509_NAME_add_entry_by_txt(X509_get_subject_name(x509), "CN", MBSTRING_UTF8, text, -1, -1, 0);
  X509* const above = issuer == nullptr ? x509 : issuer->certificate.get();
  X509_set_issuer_name(x509, X509_get_subject_name(above));
  add_extension(x509, above, NID_basic_constraints, issuer == nullptr ? "critical,CA:TRUE" : "CA:FALSE");
  add_extension(x509, above, NID_subject_alt_name, name.starts_with("IP:") ? name : "DNS:" + name);
  X509_sign(x509, (issuer == nullptr ? made : *issuer).key.get(), EVP_sha256());
  return made;
}

TlsPeer TlsPeer::shake_hands(Peer peer, std::shared_ptr<ssl_st> session) {
  std::signal(SIGPIPE, SIG_IGN);  // OpenSSL writes without MSG_NOSIGNAL
  const timeval patience{20, 0};
  ::setsockopt(peer.fd(), SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience);
  TlsPeer made;
  SSL_set_fd(session.get(), peer.fd());
  ERR_clear_error();
  if (SSL_do_handshake(session.get()) == 1)
    made.session_ = std::move(session);
  else
    made.fault_ = last_words();
  made.peer_ = std::move(peer);
  return made;
}

TlsPeer TlsPeer::accept(Peer peer, const Identity& identity, TlsNewest newest) {
  const std::shared_ptr<SSL_CTX> context(SSL_CTX_new(TLS_server_method()), SSL_CTX_free);
  SSL_CTX_set_max_proto_version(context.get(), version_of(newest));
  SSL_CTX_use_certificate(context.get(), identity.certificate.get());
  SSL_CTX_use_PrivateKey(context.get(), identity.key.get());
  std::shared_ptr<ssl_st> session(SSL_new(context.get()), SSL_free);
  SSL_set_accept_state(session.get());
  return shake_hands(std::move(peer), std::move(session));
}

TlsPeer TlsPeer::connect(
    Peer peer, const std::string& name, const std::string& roots, const std::string& protocols, TlsNewest newest) {
  const std::shared_ptr<SSL_CTX> context(SSL_CTX_new(TLS_client_method()), SSL_CTX_free);
  SSL_CTX_set_max_proto_version(context.get(), version_of(newest));
  if (!roots.empty()) {
    SSL_CTX_set_verify(context.get(), SSL_VERIFY_PEER, nullptr);
    const std::shared_ptr<BIO> bio(BIO_new_mem_buf(roots.data(), static_cast<int>(roots.size())), BIO_free_all);
    const std::shared_ptr<X509> root(PEM_read_bio_X509(bio.get(), nullptr, nullptr, nullptr), X509_free);
    X509_STORE_add_cert(SSL_CTX_get_cert_store(context.get()), root.get());
  }
  std::shared_ptr<ssl_st> session(SSL_new(context.get()), SSL_free);
  std::string wire;
  for (const auto one : pieces_of(protocols, ',')) wire += static_cast<char>(one.size()) + std::string(one);
  SSL_set_alpn_protos(
      session.get(), reinterpret_cast<const unsigned char*>(wire.data()), static_cast<unsigned>(wire.size()));
  if (IpAddress::parse(name)) {
    X509_VERIFY_PARAM_set1_ip_asc(SSL_get0_param(session.get()), name.c_str());
  } else {
    SSL_set_tlsext_host_name(session.get(), name.c_str());
    SSL_set1_host(session.get(), name.c_str());
  }
  SSL_set_connect_state(session.get());
  return shake_hands(std::move(peer), std::move(session));
}

bool TlsPeer::send(std::string_view bytes) const {
  return session_ && SSL_write(session_.get(), bytes.data(), static_cast<int>(bytes.size())) > 0;
}

std::string TlsPeer::read(std::size_t size) {
  std::string all;
  std::string piece(65536, '\0');
  while (session_ && all.size() < size) {
    const int got = SSL_read(session_.get(), piece.data(), static_cast<int>(std::min(piece.size(), size - all.size())));
    if (got <= 0) {
      ended_well_ = SSL_get_error(session_.get(), got) == SSL_ERROR_ZERO_RETURN;
      break;
    }
    all.append(piece, 0, static_cast<std::size_t>(got));
  }
  return all;
}

std::string TlsPeer::read_all() { return read(std::string::npos); }

std::string TlsPeer::read_until(std::string_view end) {
  std::string all;
  while (!all.ends_with(end)) {
    const std::string byte = read(1);
    if (byte.empty()) break;
    all += byte;
  }
  return all;
}

bool TlsPeer::has_bytes(milliseconds within) const {
  return session_ && (SSL_pending(session_.get()) > 0 || peer_.has_bytes(within));
}

bool TlsPeer::ask_for_renegotiation(int times) const {
  bool good = session_ != nullptr;
  for (int i = 0; i < times && good; ++i)
    good = SSL_renegotiate(session_.get()) == 1 && SSL_do_handshake(session_.get()) == 1;
  return good;
}

bool TlsPeer::update_keys(int times) const {
  bool good = session_ != nullptr;
  for (int i = 0; i < times && good; ++i)
    good = SSL_key_update(session_.get(), SSL_KEY_UPDATE_REQUESTED) == 1 && SSL_do_handshake(session_.get()) == 1;
  return good;
}

void TlsPeer::end_sending() const {
  if (session_) SSL_shutdown(session_.get());
}

void TlsPeer::close() {
  end_sending();
  cut_off();
}

void TlsPeer::cut_off() {
  session_.reset();
  peer_.close();
}

std::string TlsPeer::protocol() const {
  const unsigned char* name = nullptr;
  unsigned size = 0;
  if (session_) SSL_get0_alpn_selected(session_.get(), &name, &size);
  return {reinterpret_cast<const char*>(name), size};
}

std::string TlsPeer::server_name() const {
  const char* name = session_ ? SSL_get_servername(session_.get(), TLSEXT_NAMETYPE_host_name) : nullptr;
  return name == nullptr ? "" : name;
}

std::string TlsPeer::certificate() const {
  X509* const one = session_ ? SSL_get0_peer_certificate(session_.get()) : nullptr;
  return one == nullptr ? "" : pem_of(one);
}

}  // namespace guard::test

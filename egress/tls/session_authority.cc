#include "egress/tls/session_authority.h"

#include <fmt/format.h>
#include <openssl/rand.h>

#include "common/net/openssl_types.h"

namespace guard {
namespace {

constexpr long kEarlierSeconds = 3600;
constexpr long kLifeSeconds = 90L * 24 * 3600;  // longer than a session or a sandbox that waits for one
constexpr long kVersion3 = 2;
constexpr std::string_view kHttp11 = "\x08http/1.1";

bool add_extension(X509* made, X509* issuer, int kind, const std::string& text) {
  X509V3_CTX context;
  X509V3_set_ctx_nodb(&context);
  X509V3_set_ctx(&context, issuer, made, nullptr, nullptr, 0);
  X509_EXTENSION* const extension = X509V3_EXT_conf_nid(nullptr, &context, kind, text.c_str());
  const bool added = extension != nullptr && X509_add_ext(made, extension, -1) == 1;
  X509_EXTENSION_free(extension);
  return added;
}

// Without extensions and signature.
Certificate begun_certificate(EVP_PKEY* key, const std::string& common_name) {
  Certificate made(X509_new());
  std::array<unsigned char, 16> serial{};
  if (made == nullptr || RAND_bytes(serial.data(), serial.size()) != 1) return nullptr;
  serial[0] = static_cast<unsigned char>((serial[0] & 0x7f) | 0x40);  // positive, and of full length
  const std::unique_ptr<BIGNUM, Freed<BN_free>> number(BN_bin2bn(serial.data(), serial.size(), nullptr));
  const auto* name = reinterpret_cast<const unsigned char*>(common_name.c_str());
  const bool good = number != nullptr && X509_set_version(made.get(), kVersion3) == 1 &&
      BN_to_ASN1_INTEGER(number.get(), X509_get_serialNumber(made.get())) != nullptr &&
      X509_gmtime_adj(X509_getm_notBefore(made.get()), -kEarlierSeconds) != nullptr &&
      X509_gmtime_adj(X509_getm_notAfter(made.get()), kLifeSeconds - kEarlierSeconds) != nullptr &&
      X509_set_pubkey(made.get(), key) == 1 &&
      X509_NAME_add_entry_by_txt(X509_get_subject_name(made.get()), "CN", MBSTRING_ASC, name, -1, -1, 0) == 1;
  return good ? std::move(made) : nullptr;
}

int choose_http11(SSL*, const unsigned char** out, unsigned char* out_size, const unsigned char* in, unsigned in_size,
    void*) noexcept {
  const auto* ours = reinterpret_cast<const unsigned char*>(kHttp11.data());
  const int chosen = SSL_select_next_proto(
      const_cast<unsigned char**>(out), out_size, ours, static_cast<unsigned>(kHttp11.size()), in, in_size);
  return chosen == OPENSSL_NPN_NEGOTIATED ? SSL_TLSEXT_ERR_OK : SSL_TLSEXT_ERR_ALERT_FATAL;
}

}  // namespace

struct SessionAuthority::Keys {
  PrivateKey root_key{EVP_EC_gen("P-256")};
  PrivateKey leaf_key{EVP_EC_gen("P-256")};  // of all hosts: none of them is more trusted than another
  Certificate root;
};

SessionAuthority::SessionAuthority(std::unique_ptr<Keys> keys) : keys_(std::move(keys)) {}
SessionAuthority::~SessionAuthority() = default;

Result<std::unique_ptr<SessionAuthority>> SessionAuthority::create() {
  OPENSSL_init_ssl(OPENSSL_INIT_NO_LOAD_CONFIG, nullptr);
  auto keys = std::make_unique<Keys>();
  if (keys->root_key == nullptr || keys->leaf_key == nullptr)
    return openssl_error("no key for a certificate authority");
  std::array<unsigned char, 8> random{};
  RAND_bytes(random.data(), random.size());
  std::string name = "guard session ";
  for (const unsigned char byte : random) name += fmt::format("{:02x}", byte);
  keys->root = begun_certificate(keys->root_key.get(), name);
  X509* const root = keys->root.get();
  const TlsBio text(BIO_new(BIO_s_mem()));
  if (root == nullptr || text == nullptr || X509_set_issuer_name(root, X509_get_subject_name(root)) != 1 ||
      !add_extension(root, root, NID_basic_constraints, "critical,CA:TRUE,pathlen:0") ||
      !add_extension(root, root, NID_key_usage, "critical,keyCertSign,cRLSign") ||
      !add_extension(root, root, NID_subject_key_identifier, "hash") ||
      X509_sign(root, keys->root_key.get(), EVP_sha256()) == 0 || PEM_write_bio_X509(text.get(), root) != 1)
    return openssl_error("no certificate authority");
  char* bytes = nullptr;
  const long size = BIO_get_mem_data(text.get(), &bytes);
  std::unique_ptr<SessionAuthority> made(new SessionAuthority(std::move(keys)));
  made->root_pem_.assign(bytes, static_cast<std::size_t>(size));
  return made;
}

Result<TlsContext> SessionAuthority::context_for(const EgressHost& host) {
  TlsContext& known = made_[host.text()];
  if (known != nullptr) return known;
  const Certificate leaf = begun_certificate(keys_->leaf_key.get(), "guard");
  const std::string name = host.address ? "IP:" + host.address->text() : "DNS:" + host.name;
  X509* const root = keys_->root.get();
  if (leaf == nullptr || X509_set_issuer_name(leaf.get(), X509_get_subject_name(root)) != 1 ||
      ASN1_STRING_copy(X509_getm_notAfter(leaf.get()), X509_get0_notAfter(root)) != 1 ||
      !add_extension(leaf.get(), root, NID_basic_constraints, "critical,CA:FALSE") ||
      !add_extension(leaf.get(), root, NID_key_usage, "critical,digitalSignature") ||
      !add_extension(leaf.get(), root, NID_ext_key_usage, "serverAuth") ||
      !add_extension(leaf.get(), root, NID_subject_key_identifier, "hash") ||
      !add_extension(leaf.get(), root, NID_authority_key_identifier, "keyid") ||
      !add_extension(leaf.get(), root, NID_subject_alt_name, name) ||
      X509_sign(leaf.get(), keys_->root_key.get(), EVP_sha256()) == 0)
    return openssl_error(fmt::format("no certificate for {}", host.text()));
  GUARD_TRY_ASSIGN(TlsContext made, new_tls_context());
  // Every client that there is in a sandbox has it, and it has no renegotiation.
  if (SSL_CTX_set_min_proto_version(made.get(), TLS1_3_VERSION) != 1 ||
      SSL_CTX_use_certificate(made.get(), leaf.get()) != 1 ||
      SSL_CTX_use_PrivateKey(made.get(), keys_->leaf_key.get()) != 1)
    return openssl_error(fmt::format("no certificate for {}", host.text()));
  SSL_CTX_set_alpn_select_cb(made.get(), choose_http11, nullptr);
  known = std::move(made);
  return known;
}

}  // namespace guard

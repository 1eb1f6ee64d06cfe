// What sources that use OpenSSL share; they link it themselves.
#pragma once

#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/ssl.h>
#include <openssl/x509v3.h>

#include <memory>
#include <string>

#include "common/error.h"
#include "common/text/text.h"

namespace guard {

template <auto Free>
struct Freed {
  template <typename T>
  void operator()(T* object) const noexcept {
    Free(object);
  }
};
using TlsSession = std::unique_ptr<SSL, Freed<SSL_free>>;
using TlsBio = std::unique_ptr<BIO, Freed<BIO_free_all>>;
using Certificate = std::unique_ptr<X509, Freed<X509_free>>;
using PrivateKey = std::unique_ptr<EVP_PKEY, Freed<EVP_PKEY_free>>;

// What OpenSSL says of its last failure; empties its queue.
inline std::string openssl_words() {
  const unsigned long code = ERR_peek_last_error();
  ERR_clear_error();
  const char* reason = code == 0 ? nullptr : ERR_reason_error_string(code);
  return reason == nullptr ? "no reason given" : printable(reason);
}

inline Error openssl_error(std::string_view what) {
  return Error(ErrorCode::execution_failed, std::string(what) + ": " + openssl_words());
}

}  // namespace guard

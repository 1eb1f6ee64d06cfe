// The certificate authority of one proxy, for the hosts that have a credential. Its key is in memory alone, so nothing
// else than this proxy can speak for those hosts to what trusts root_pem(); no machine but the sandbox should.
//
// Not thread-safe.
#pragma once

#include <map>
#include <memory>
#include <string>

#include "common/result.h"
#include "egress/egress_rules.h"
#include "egress/tls/tls_layer.h"

namespace guard {

class SessionAuthority {
 public:
  // Good for 90 days from an hour ago: clocks inside and outside are the same, those of a frozen sandbox nearly.
  // EXECUTION_FAILED where OpenSSL has no key.
  static Result<std::unique_ptr<SessionAuthority>> create();
  ~SessionAuthority();

  const std::string& root_pem() const noexcept { return root_pem_; }

  // What a server for `host` speaks TLS with (TLS 1.3, HTTP/1.1). Made once per host, as good as the root.
  Result<TlsContext> context_for(const EgressHost& host);

 private:
  struct Keys;
  explicit SessionAuthority(std::unique_ptr<Keys> keys);

  std::unique_ptr<Keys> keys_;
  std::string root_pem_;
  std::map<std::string, TlsContext> made_;
};

}  // namespace guard

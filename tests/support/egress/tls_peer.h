// Real TLS for tests of the proxy: authorities with certificates of all kinds, and blocking ends of connections.
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "tests/support/egress/egress_world.h"

struct ssl_st;
struct ssl_ctx_st;
struct x509_st;
struct evp_pkey_st;

namespace guard::test {

// A certificate and its key.
struct Identity {
  std::shared_ptr<x509_st> certificate;
  std::shared_ptr<evp_pkey_st> key;
  std::string pem() const;
};

enum class Validity : std::uint8_t { now, over };

// `name`: of DNS, or "IP:address". Without an issuer it signs itself, and may sign others.
Identity make_identity(const std::string& name, const Identity* issuer = nullptr, Validity validity = Validity::now);

enum class TlsNewest : std::uint8_t { tls12, tls13 };

class TlsPeer {
 public:
  // !is_open(): no handshake came about; fault() has OpenSSL's words.
  static TlsPeer accept(Peer peer, const Identity& identity, TlsNewest newest = TlsNewest::tls13);
  // Trusts `roots` (PEM), or anybody where that is empty, and offers `protocols` by ALPN ("h2,http/1.1").
  static TlsPeer connect(Peer peer, const std::string& name, const std::string& roots,
      const std::string& protocols = "h2,http/1.1", TlsNewest newest = TlsNewest::tls13);

  bool is_open() const { return session_ != nullptr; }
  const std::string& fault() const { return fault_; }
  bool send(std::string_view bytes) const;
  std::string read_all();
  std::string read_until(std::string_view end);
  std::string read(std::size_t size);
  bool ended_well() const { return ended_well_; }  // with a close_notify
  bool has_bytes(milliseconds within) const;       // of which some can be read
  bool ask_for_renegotiation(int times) const;     // of a client, by TLS 1.2
  bool update_keys(int times) const;               // of TLS 1.3, and have the other side do so
  void end_sending() const;                        // close_notify
  void close();
  void cut_off();                   // without a close_notify
  std::string protocol() const;     // by ALPN
  std::string server_name() const;  // that the client asked for
  std::string certificate() const;  // the other side's, PEM

 private:
  static TlsPeer shake_hands(Peer peer, std::shared_ptr<ssl_st> session);
  Peer peer_;
  std::shared_ptr<ssl_st> session_;
  std::string fault_;
  bool ended_well_ = false;
};

}  // namespace guard::test

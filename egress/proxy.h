// The one way out of a sandbox whose network is a list: a proxy that speaks HTTP (CONNECT, requests with a whole URL)
// and SOCKS5 to the sandbox, and dials only what the rules allow. egress/egress_rules.h says what that is.
//
// What it promises of each connection:
//   - A name is looked up outside, once, after the rules have allowed it; of its addresses only those are dialled that
//     may be (EgressRules::may_dial), and just what was checked is dialled. No name that isn't allowed is asked of DNS,
//     but ipv4only.arpa, once an allowed name leads to a public IPv6 address (egress/nat64.h).
//   - What begins as TLS must name the host that was asked for in its ClientHello, and no encrypted ClientHello;
//     to port 443 nothing else goes. An address has no name: there the ClientHello names none. Nothing is decrypted, so
//     which host a request inside TLS names isn't seen: a server of many hosts may answer for another one.
//   - To port 80, and in requests with a whole URL, one request of HTTP goes, for the host that was asked for; it is
//     written anew from what was read (egress/http_request.h). The answer ends with the server's closing. A WebSocket
//     is a tunnel once the server has agreed.
//   - To other ports bytes go both ways as they come, unless the client begins with TLS.
//   - For a host and port that has a credential (egress/keys/credential.h) TLS ends here, with a certificate of this
//     proxy's own authority, and begins anew towards the host, whose certificate must be made out to it by a trusted
//     authority. In between one request of HTTP goes for that host, as to port 80, with the credential's header in
//     place of the client's own; the answer comes back with the value masked, uncompressed and not in ranges, its last
//     bytes later than the server sent them (egress/keys/value_mask.h). No WebSocket and nothing without TLS goes
//     there.
//   - A half-close goes through, both ways. A reader that doesn't read stops its own connection only.
//   - Whatever is refused is told to the client: HTTP status and text, a reply of SOCKS, an alert of TLS.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "common/enum_names.h"
#include "common/net/name_resolver.h"
#include "common/net/own_address.h"
#include "common/result.h"
#include "common/time.h"
#include "common/unique_fd.h"
#include "egress/egress_rules.h"
#include "egress/keys/credential.h"

namespace guard {

// Of one proxy, so of one sandbox. What crosses one of them is ended with its reason.
struct EgressLimits {
  std::uint32_t connections_at_once = 1024;
  std::uint64_t connections_in_all = 100'000;
  std::uint32_t connections_per_second = 1024;  // as many may come at once
  std::uint64_t bytes_up = 1ull << 30;          // to the network, of all connections
  std::uint64_t bytes_down = 16ull << 30;
  milliseconds connection_time = std::chrono::hours(1);
  milliseconds idle_time = std::chrono::minutes(10);     // nothing moves; a model may think for so long
  milliseconds request_time = std::chrono::seconds(15);  // until the client has said where to, or has begun TLS
};

struct EgressPolicy {
  EgressRules rules;
  EgressLimits limits;
  std::vector<EgressCredential> credentials;  // loaded; hosts that the rules don't allow stay out of reach
};

struct EgressOptions {
  ResolveOptions names;
  milliseconds lookup_time = std::chrono::seconds(5);
  milliseconds dial_time = std::chrono::seconds(10);  // all addresses of a name together
  // "http://host:port": a proxy that all goes through, by CONNECT, for networks that have no other way out. It looks
  // names up itself, so what a name leads to is no longer checked here: it may be a private address. The rules, what
  // TLS and HTTP name and the limits are as without it. The user's own, so it may have any address.
  std::string upstream;
  std::function<bool(const IpAddress&)> is_own = is_own_address;
  // A file of certificates in PEM that hosts with a credential are checked by; empty: the system's.
  std::string authorities;
};

enum class EgressWay : std::uint8_t { unknown, http, connect, socks };
template <>
inline constexpr std::array<std::string_view, 4> kNamesOf<EgressWay> = {"unknown", "http", "connect", "socks"};

// Why a connection ended as it did.
enum class EgressReason : std::uint8_t {
  done,  // it was let through, and its ends have closed it
  // refused
  not_listed,
  denied,
  address_refused,  // the name leads only to addresses that may not be dialled
  bad_request,
  unsupported,  // BIND and UDP of SOCKS
  host_differs,
  not_tls,
  bad_tls,
  server_name_differs,
  encrypted_hello,
  not_maskable,  // the answer of a host with a credential is compressed, say
  // let through by the rules, but not reached
  not_resolved,
  not_connected,
  upstream_failed,
  bad_certificate,  // of a host with a credential: it isn't made out to it, or by nobody who is trusted
  no_credential,    // its value is too old, and couldn't be read again a moment ago
  broken,           // it died on its way
  // limits
  connections_at_once,
  connections_in_all,
  connections_per_second,
  bytes_up,
  bytes_down,
  connection_time,
  idle_time,
  request_time,
  // without a request
  no_request,
  proxy_ended,
  rules_changed,  // by EgressProxy::set_rules
};
template <>
inline constexpr std::array<std::string_view, 29> kNamesOf<EgressReason> = {"done", "not_listed", "denied",
    "address_refused", "bad_request", "unsupported", "host_differs", "not_tls", "bad_tls", "server_name_differs",
    "encrypted_hello", "not_maskable", "not_resolved", "not_connected", "upstream_failed", "bad_certificate",
    "no_credential", "broken", "connections_at_once", "connections_in_all", "connections_per_second", "bytes_up",
    "bytes_down", "connection_time", "idle_time", "request_time", "no_request", "proxy_ended", "rules_changed"};

// What became of one connection. Neither paths nor contents are in it.
struct EgressDecision {
  std::string host;  // as the rules compare it; what is no host as it came, printable; at most 255 bytes; may be empty
  std::uint16_t port = 0;
  EgressWay way = EgressWay::unknown;
  std::string address;   // that was dialled, without port; empty with an upstream proxy, too
  bool allowed = false;  // no rule and no check refused it; `reason` says how it ended
  EgressReason reason = EgressReason::no_request;
  std::string text;  // why it was ended, in a sentence, which the client was told if it could be; may be empty
  std::uint64_t bytes_up = 0;
  std::uint64_t bytes_down = 0;
  std::chrono::system_clock::time_point began;
  milliseconds elapsed{0};
};

class EgressProxy {
 public:
  // Called on the proxy's thread, once for each connection when it has ended, the last of them by the destructor. It
  // should not take long, and may not throw or destroy the proxy. Connections that are turned away have one, too,
  // without end: keep a bounded number, and count the others.
  using Sink = std::function<void(const EgressDecision&)>;

  // CONFIG_INVALID: an upstream or DNS server that is none; with credentials also no usable list of authorities.
  // EXECUTION_FAILED, IO_ERROR: no thread or descriptor is left.
  static Result<std::unique_ptr<EgressProxy>> create(EgressPolicy policy, EgressOptions options, Sink sink);

  // Ends all connections and waits for their decisions. What a client that has closed has sent through a tunnel goes
  // out before, for a second at most.
  ~EgressProxy();

  // A connected stream socket (AF_UNIX or TCP) on which the sandbox's client speaks first. Takes two descriptors of
  // this process per connection, this one included: see that the limit on open files leaves room. Thread-safe.
  void take(UniqueFd connection);

  // For all that is taken from now on; of what is open, what these would not let through is ended. Thread-safe.
  void set_rules(EgressRules rules);
  // The certificate, in PEM, that the sandbox must trust to reach hosts with a credential; empty: there are none.
  const std::string& root_pem() const noexcept;

 private:
  class Server;
  explicit EgressProxy(std::unique_ptr<Server> server);
  std::unique_ptr<Server> server_;
};

}  // namespace guard

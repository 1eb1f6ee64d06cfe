// SOCKS5 (RFC 1928) as the proxy speaks it: no authentication, CONNECT, to names and addresses. Pure functions over the
// bytes so far; what follows a request is not looked at.
#pragma once

#include <cstdint>
#include <span>
#include <string>

#include "egress/egress_rules.h"

namespace guard {

inline constexpr char kSocksVersion = 5;

// The codes of a reply, section 6.
enum class SocksReply : std::uint8_t {
  succeeded = 0,
  failed = 1,
  not_allowed = 2,
  host_unreachable = 4,
  refused = 5,
  expired = 6,
  no_such_command = 7,
  no_such_address_type = 8,
};

struct SocksGreeting {
  std::size_t size = 0;  // of its bytes; 0: there are not enough yet
  bool acceptable = false;
};
SocksGreeting read_socks_greeting(std::span<const char> bytes);

struct SocksRequest {
  std::size_t size = 0;  // 0: there are not enough bytes yet
  SocksReply fault = SocksReply::succeeded;
  std::string fault_text;  // foreign text in it is printable
  EgressTarget target;     // where there is no fault
  std::string asked_host;  // as it came, printable
  std::uint16_t asked_port = 0;
};
SocksRequest read_socks_request(std::span<const char> bytes);

std::string socks_method_reply(bool acceptable);
std::string socks_reply(SocksReply reply);

}  // namespace guard

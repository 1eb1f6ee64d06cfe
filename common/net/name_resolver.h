// Names to addresses: /etc/hosts, then DNS, by c-ares. Not by getaddrinfo: in a static binary that loads whatever
// modules the machine's nsswitch.conf names.
//
// Thread-safe: each call has a channel of its own.
#pragma once

#include <string>
#include <vector>

#include "common/cancel.h"
#include "common/net/ip_address.h"
#include "common/result.h"
#include "common/time.h"

namespace guard {

// as_is: nothing is appended to the name. domains: the search domains of resolv.conf may be.
enum class NameSearch { as_is, domains };

struct ResolveOptions {
  // "192.0.2.1", "192.0.2.1:53", "[2001:db8::1]:53"; empty: the system's.
  std::vector<std::string> dns_servers;
  NameSearch search = NameSearch::as_is;
};

// The addresses of both families; at least one and at most 64 of each. IPv4 comes first: where a machine has no route
// for one of the two, connecting fails at once. An address is its own answer, and localhost (with all below it) is
// loopback without anybody being asked.
//
// INPUT_INVALID: no host name. CONFIG_INVALID: a DNS server that is none. ENVIRONMENT_UNAVAILABLE: there is no such
// name, or no server answers; EXECUTION_TIMEOUT, CANCELLED.
//
// `ipv6_known`: whether this, an error too, tells which IPv6 addresses there are, or that there are none. It doesn't
// where no server has answered that question; those of IPv4 are answered all the same.
Result<std::vector<IpAddress>> resolve_name(const std::string& name, const ResolveOptions& options, Deadline deadline,
    const CancelToken& cancel, bool* ipv6_known = nullptr);

// CONFIG_INVALID for a DNS server that is none: resolve_name() would say so each time.
Result<void> check_options(const ResolveOptions& options);

}  // namespace guard

// Where a container engine is: a local socket, or TCP with or without TLS. A plain value; connects to nothing.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "common/result.h"

namespace guard::docker {

// Files in PEM form. `certificate` and `key` are ours and may both be empty: then the engine must ask for none.
struct TlsFiles {
  std::string authority;  // who may have signed the certificate; nobody else may
  std::string certificate;
  std::string key;
  bool operator==(const TlsFiles&) const = default;
};

struct Endpoint {
  Endpoint() = default;
  // A local socket. Implicit: everywhere but in the probe an engine is simply named.
  Endpoint(std::string path) : socket_path(std::move(path)) {}  // NOLINT
  Endpoint(const char* path) : socket_path(path) {}             // NOLINT

  std::string socket_path;
  std::string host;  // a name or an address without brackets; empty for a local socket
  std::uint16_t port = 0;
  std::optional<TlsFiles> tls;
  std::string_view peer = "the container engine";  // in a sentence; a literal

  bool empty() const noexcept { return socket_path.empty() && host.empty(); }
  // Such an engine cannot be shown files of this machine: not even on loopback, where a tunnel may begin.
  bool is_remote() const noexcept { return !host.empty(); }
  // The bytes never leave this machine, unless somebody here passes them on.
  bool is_loopback() const;
  // Anybody who reaches it is its master.
  bool is_plain_tcp() const noexcept { return is_remote() && !tls; }
  std::string url() const;   // "unix:///var/run/docker.sock", "tcp://engine.example:2376"; empty when empty()
  std::string name() const;  // for sentences: the path of a local socket, else the URL

  bool operator==(const Endpoint&) const = default;
};

// "unix:///absolute/path" or "tcp://host[:port][/]"; without a port docker's own, which depends on TLS: 2376 or 2375.
// CONFIG_INVALID for anything else. `tls` is for tcp alone.
Result<Endpoint> parse_endpoint(std::string_view url, const std::optional<TlsFiles>& tls);

}  // namespace guard::docker

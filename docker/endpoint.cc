#include "docker/endpoint.h"

#include <arpa/inet.h>
#include <fmt/format.h>
#include <netinet/in.h>

#include <algorithm>
#include <charconv>

#include "common/text/text.h"

namespace guard::docker {
namespace {

constexpr std::string_view kUnixScheme = "unix://";
constexpr std::string_view kTcpScheme = "tcp://";
constexpr std::uint16_t kPlainPort = 2375;
constexpr std::uint16_t kTlsPort = 2376;
constexpr std::size_t kHostBytesMax = 253;

Error no_endpoint(std::string_view url) {
  return {ErrorCode::config_invalid,
      fmt::format("{} is neither a local socket (unix:///path) nor a TCP address (tcp://host:port)",
          printable(url_without_userinfo(url)))};
}

// A name of DNS or an address: nothing that could end a line of a request or name a file.
bool is_host(std::string_view host) {
  in6_addr address{};
  if (host.find(':') != std::string_view::npos) return ::inet_pton(AF_INET6, std::string(host).c_str(), &address) == 1;
  const auto is_name_byte = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '.' || c == '-' ||
        c == '_';
  };
  return !host.empty() && host.size() <= kHostBytesMax && host.front() != '-' && host.front() != '.' &&
      std::ranges::all_of(host, is_name_byte);
}

}  // namespace

bool Endpoint::is_loopback() const {
  if (!is_remote()) return true;
  if (host == "localhost") return true;  // connected to as 127.0.0.1 or ::1, whatever a resolver says
  in_addr v4{};
  if (::inet_pton(AF_INET, host.c_str(), &v4) == 1) return ntohl(v4.s_addr) >> 24 == 127;
  in6_addr v6{};
  return ::inet_pton(AF_INET6, host.c_str(), &v6) == 1 && IN6_IS_ADDR_LOOPBACK(&v6);
}

std::string Endpoint::url() const {
  if (empty()) return {};
  if (!is_remote()) return fmt::format("{}{}", kUnixScheme, socket_path);
  const bool bracketed = host.find(':') != std::string::npos;
  return fmt::format("{}{}{}{}:{}", kTcpScheme, bracketed ? "[" : "", host, bracketed ? "]" : "", port);
}

std::string Endpoint::name() const { return is_remote() ? url() : socket_path; }

Result<Endpoint> parse_endpoint(std::string_view url, const std::optional<TlsFiles>& tls) {
  if (url.starts_with(kUnixScheme)) {
    const std::string_view path = url.substr(kUnixScheme.size());
    if (!path.starts_with('/')) return no_endpoint(url);
    return Endpoint(std::string(path));
  }
  if (!url.starts_with(kTcpScheme)) return no_endpoint(url);
  std::string_view rest = url.substr(kTcpScheme.size());
  if (rest.ends_with('/')) rest.remove_suffix(1);

  Endpoint endpoint;
  std::string_view port;
  if (rest.starts_with('[')) {
    const std::size_t close = rest.find(']');
    if (close == std::string_view::npos) return no_endpoint(url);
    endpoint.host = rest.substr(1, close - 1);
    port = rest.substr(close + 1);
    if (endpoint.host.find(':') == std::string::npos) return no_endpoint(url);
  } else {
    const std::size_t colon = std::min(rest.find(':'), rest.size());
    endpoint.host = rest.substr(0, colon);
    port = rest.substr(colon);
  }
  if (!is_host(endpoint.host)) return no_endpoint(url);
  endpoint.tls = tls;
  endpoint.port = tls ? kTlsPort : kPlainPort;
  if (port.empty()) return endpoint;
  port.remove_prefix(1);
  const auto parsed = std::from_chars(port.data(), port.data() + port.size(), endpoint.port);
  if (port.empty() || parsed.ec != std::errc() || parsed.ptr != port.data() + port.size() || endpoint.port == 0) {
    return no_endpoint(url);
  }
  return endpoint;
}

}  // namespace guard::docker

#include "egress/socks_request.h"

#include <fmt/format.h>

#include <algorithm>

#include "common/text/text.h"

namespace guard {
namespace {

constexpr char kNoAuthentication = 0;
constexpr char kConnect = 1;
constexpr char kIpv4 = 1;
constexpr char kName = 3;
constexpr char kIpv6 = 4;

unsigned byte_at(std::span<const char> bytes, std::size_t at) { return static_cast<unsigned char>(bytes[at]); }

}  // namespace

SocksGreeting read_socks_greeting(std::span<const char> bytes) {
  if (bytes.size() < 2) return {};
  const std::size_t size = 2 + byte_at(bytes, 1);
  if (bytes.size() < size) return {};
  const auto methods = bytes.subspan(2, size - 2);
  return {size, std::find(methods.begin(), methods.end(), kNoAuthentication) != methods.end()};
}

SocksRequest read_socks_request(std::span<const char> bytes) {
  SocksRequest request;
  const auto refused = [&](SocksReply reply, std::string text) {
    if (request.size == 0) request.size = bytes.size();
    request.fault = reply;
    request.fault_text = std::move(text);
    return request;
  };
  constexpr std::size_t kHead = 4;
  if (bytes.size() < kHead + 1) return {};
  if (bytes[0] != kSocksVersion || bytes[2] != 0) return refused(SocksReply::failed, "this is no request of SOCKS5");
  const char type = bytes[3];
  const bool has_length = type == kName;
  const std::size_t length = type == kIpv4 ? 4 : type == kIpv6 ? 16 : byte_at(bytes, kHead);
  if (type != kIpv4 && type != kIpv6 && type != kName)
    return refused(SocksReply::no_such_address_type, "there are IPv4 addresses, IPv6 addresses and names");
  const std::size_t begin = kHead + (has_length ? 1 : 0);
  if (bytes.size() < begin + length + 2) return {};
  request.size = begin + length + 2;

  const auto host = bytes.subspan(begin, length);
  const auto port =
      static_cast<std::uint16_t>(byte_at(bytes, begin + length) << 8 | byte_at(bytes, begin + length + 1));
  request.asked_port = port;
  Result<EgressHost> parsed = Error(ErrorCode::internal, "");
  if (has_length) {
    const std::string_view name(host.data(), host.size());
    request.asked_host = printable(name);
    parsed = EgressHost::parse(name);
  } else {
    IpAddress address;
    if (type == kIpv6) address.family = IpAddress::Family::v6;
    std::transform(
        host.begin(), host.end(), address.bytes.begin(), [](char c) { return static_cast<std::uint8_t>(c); });
    parsed = EgressHost{.name = {}, .address = address};
    request.asked_host = parsed->text();
  }
  if (bytes[1] != kConnect)
    return refused(SocksReply::no_such_command, "of SOCKS5 there is CONNECT alone, no BIND and no UDP");
  if (!parsed)
    return refused(SocksReply::failed, fmt::format("{}; {}", parsed.error().message(), parsed.error().hint()));
  if (port == 0) return refused(SocksReply::failed, "0 is no port");
  request.target = {*std::move(parsed), port};
  return request;
}

std::string socks_method_reply(bool acceptable) { return {kSocksVersion, acceptable ? kNoAuthentication : '\xff'}; }

std::string socks_reply(SocksReply reply) {
  // The address bound is nobody's business: 0.0.0.0:0.
  return {kSocksVersion, static_cast<char>(reply), 0, kIpv4, 0, 0, 0, 0, 0, 0};
}

}  // namespace guard

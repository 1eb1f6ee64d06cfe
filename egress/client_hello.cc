#include "egress/client_hello.h"

#include <algorithm>
#include <array>
#include <optional>
#include <set>

namespace guard {
namespace {

constexpr std::uint8_t kHandshake = 22;  // RFC 8446, sections 4 and 5.1
constexpr std::uint8_t kMajorVersion = 3;
constexpr std::uint8_t kClientHello = 1;
constexpr std::size_t kRecordHead = 5;
constexpr std::size_t kRecordBytesMax = 16'384;
constexpr std::size_t kRandomBytes = 32;
constexpr std::size_t kSessionIdMax = 32;
constexpr std::size_t kServerNameMax = 255;
constexpr unsigned kServerName = 0;
// RFC 9849; its drafts 7 to 12; encrypted SNI before them.
constexpr std::array<unsigned, 8> kEncrypted = {0xfe0d, 0xff02, 0xfe08, 0xfe09, 0xfe0a, 0xfe0b, 0xfe0c, 0xffce};

ClientHello in_state(ClientHello::State state, std::string_view fault = {}) {
  ClientHello hello;
  hello.state = state;
  hello.fault = fault;
  return hello;
}

ClientHello malformed(std::string_view fault) { return in_state(ClientHello::State::malformed, fault); }

// Takes numbers and pieces off the front. After a failure all else fails.
class Reader {
 public:
  explicit Reader(std::span<const char> bytes) : bytes_(bytes) {}

  std::size_t number(std::size_t width) {
    std::size_t value = 0;
    for (const char byte : piece(width)) value = value << 8 | static_cast<unsigned char>(byte);
    return value;
  }

  std::span<const char> piece(std::size_t size) {
    if (size > bytes_.size()) failed_ = true;
    if (failed_) return {};
    const auto taken = bytes_.first(size);
    bytes_ = bytes_.subspan(size);
    return taken;
  }

  // What a length of `width` bytes is before.
  std::span<const char> vector(std::size_t width) { return piece(number(width)); }

  bool failed() const noexcept { return failed_; }
  bool at_end() const noexcept { return !failed_ && bytes_.empty(); }

 private:
  std::span<const char> bytes_;
  bool failed_ = false;
};

bool read_server_name(std::span<const char> extension, ClientHello& hello) {
  constexpr std::size_t kHostName = 0;  // the one type of name there is: RFC 6066, section 3
  Reader list(extension);
  Reader names(list.vector(2));
  const std::size_t type = names.number(1);
  const auto name = names.vector(2);
  if (!list.at_end() || !names.at_end() || type != kHostName || name.empty() || name.size() > kServerNameMax)
    return false;
  hello.has_server_name = true;
  hello.server_name.assign(name.begin(), name.end());
  return true;
}

ClientHello read_message(std::span<const char> message) {
  ClientHello hello = in_state(ClientHello::State::complete);
  Reader reader(message);
  const std::size_t version = reader.number(2);
  reader.piece(kRandomBytes);
  const auto session = reader.vector(1);
  const auto suites = reader.vector(2);
  const auto compressions = reader.vector(1);
  if (reader.failed() || version >> 8 != kMajorVersion || session.size() > kSessionIdMax || suites.empty() ||
      suites.size() % 2 != 0 || compressions.empty())
    return malformed("its fixed fields are broken");
  if (reader.at_end()) return hello;  // before TLS 1.3 it may have no extensions
  Reader extensions(reader.vector(2));
  if (!reader.at_end()) return malformed("it goes on after its extensions");
  std::set<std::size_t> seen;
  while (!extensions.at_end()) {
    const std::size_t type = extensions.number(2);
    const auto bytes = extensions.vector(2);
    if (extensions.failed()) return malformed("its extensions are broken");
    if (!seen.insert(type).second) return malformed("it has an extension twice");
    if (type == kServerName && !read_server_name(bytes, hello)) return malformed("its server name is broken");
    if (std::find(kEncrypted.begin(), kEncrypted.end(), type) != kEncrypted.end()) hello.encrypted = true;
  }
  return hello;
}

}  // namespace

ClientHello read_client_hello(std::span<const char> bytes) {
  std::string message;  // what the records carry, with its head of four bytes
  std::optional<std::size_t> size;
  const bool cut = bytes.size() > kClientHelloBytesMax;
  bytes = bytes.first(std::min(bytes.size(), kClientHelloBytesMax));
  const auto more = [&] {
    ClientHello hello = cut ? malformed("it is larger than 16 KiB") : ClientHello{};
    hello.need = std::min(bytes.size() + (size ? *size + 4 - message.size() : 1), kClientHelloBytesMax + 1);
    return hello;
  };
  for (std::span<const char> rest = bytes; true;) {
    if (rest.empty()) return more();
    if (static_cast<unsigned char>(rest[0]) != kHandshake)
      return message.empty() ? in_state(ClientHello::State::not_tls) : malformed("another record is in it");
    if (rest.size() < 2) return more();
    if (static_cast<unsigned char>(rest[1]) != kMajorVersion)
      return message.empty() ? in_state(ClientHello::State::not_tls) : malformed("its version changes");
    if (rest.size() < kRecordHead) return more();
    const std::size_t length = Reader(rest.subspan(3, 2)).number(2);
    if (length == 0 || length > kRecordBytesMax) return malformed("a record of it has a wrong length");
    const std::size_t there = std::min(length, rest.size() - kRecordHead);
    message.append(rest.data() + kRecordHead, there);
    if (!message.empty() && static_cast<unsigned char>(message[0]) != kClientHello)
      return malformed("it is another message of the handshake");
    if (message.size() >= 4) {
      size = Reader(std::span<const char>(message).subspan(1, 3)).number(3);
      if (*size + 4 + kRecordHead > kClientHelloBytesMax) return malformed("it is larger than 16 KiB");
      if (message.size() - there + length > *size + 4) return malformed("another message follows in its record");
      if (message.size() == *size + 4) return read_message(std::span<const char>(message).subspan(4));
    }
    if (there < length) return more();
    rest = rest.subspan(kRecordHead + length);
  }
}

}  // namespace guard

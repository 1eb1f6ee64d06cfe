// The first words of a TLS client: which server it names. The bytes are looked at, never changed.
//
// A pure function of the bytes so far. It is strict: what a server might read in two ways is malformed.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace guard {

// All records of a ClientHello together; those of browsers with post-quantum keys take 2 KiB.
inline constexpr std::size_t kClientHelloBytesMax = 16ul * 1024;

struct ClientHello {
  enum class State : std::uint8_t {
    need_more,
    not_tls,    // it doesn't begin as a handshake of TLS does
    malformed,  // it does, and is no ClientHello, or a larger one than kClientHelloBytesMax
    complete,
  };
  State state = State::need_more;
  std::string_view fault;  // of malformed
  std::size_t need = 0;    // of need_more: with fewer bytes than this there is no point in asking again
  bool has_server_name = false;
  std::string server_name;  // as it came: foreign bytes, at most 255
  // It has an encrypted ClientHello (RFC 9849 or a draft), real or as grease: the server that is meant may be another.
  bool encrypted = false;
};

ClientHello read_client_hello(std::span<const char> bytes);

}  // namespace guard

// What init (PID 1 inside) tells guard over its standard output: frames of an 8-byte header (type, three zero bytes,
// payload length as u32 big-endian) and a payload of at most kFramePayloadMax bytes.
//
// Order: one hello, any number of out/err/report, at most one attestation, one exit, end of stream. Anything else is a PROTOCOL_ERROR, and a
// stream that ends without an exit frame proves nothing.
//
// init's standard input is its life line: guard never writes to it; when it closes, guard is gone, and init kills every
// process and exits.
#pragma once

#include <cstddef>
#include <cstdint>

namespace guard::init_protocol {

enum class FrameType : std::uint8_t {
  hello = 'H',   // "key=value\n" lines: what init sees from inside
  out = 'O',     // bytes of the program's stdout
  err = 'E',     // bytes of its stderr
  report = 'R',  // bytes written to the report descriptor
  attestation = 'A',  // "key=value\n" lines: what the one who knows the secret has said on the attestation socket
  exit = 'X',    // "key=value\n" lines: how it ended
};

constexpr std::size_t kHeaderBytes = 8;
constexpr std::size_t kFramePayloadMax = 64 * 1024;

// The program finds a random secret of this size on its attestation socket, can read it once, and proves by sending it
// back that it is the one who read it (runner/attestation.mjs).
constexpr std::size_t kSecretBytes = 32;
constexpr std::size_t kAttestationBytesMax = 1024;  // of what may follow the secret

}  // namespace guard::init_protocol

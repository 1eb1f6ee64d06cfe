// What init (PID 1 inside) tells guard over its standard output: frames of an 8-byte header (type, three zero bytes,
// payload length as u32 big-endian) and a payload of at most kFramePayloadMax bytes.
//
// Order: one hello; then for each program that was asked for any number of out/err/report, at most one attestation,
// where guard asked for files what the program wrote, one exit, which says whether another program follows; end of
// stream. Anything else is a PROTOCOL_ERROR, and a stream that ends without the last exit frame proves nothing.
//
// What the run wrote: any number of left_behind and of files (one file frame, then data frames until its size is
// reached), then one collected. It follows once every process has ended, so no output comes behind it. It may only be
// missing where the run was stopped or the program never started.
//
// With a key (runner/init_side/frame_tag.h) every frame is followed by its tag, which the payload length does not
// count.
//
// init's standard input is its life line: guard writes the key to it where one is used, and what the program is to
// read; when it closes, guard is gone, and init kills every process and exits. Of the program's input init asks for a
// chunk with an input frame without a payload, and guard answers with one of the same form, with 1 to kInputBytesMax
// bytes, or none at the end of the input. So nothing is on its way that nobody has room for.
//
// Connection frames go both ways at any time between hello and the last exit (runner/egress/egress_protocol.h).
#pragma once

#include <cstddef>
#include <cstdint>

#include "runner/init_side/frame_tag.h"

namespace guard::init_protocol {

enum class FrameType : std::uint8_t {
  hello = 'H',        // "key=value\n" lines: what init sees from inside
  out = 'O',          // bytes of the program's stdout
  err = 'E',          // bytes of its stderr
  report = 'R',       // bytes written to the report descriptor
  attestation = 'A',  // "key=value\n" lines: what the one who knows the key has said on the attestation socket
  file = 'F',         // size (8 bytes, big-endian), then the path below the collected folder
  file_data = 'D',    // the next bytes of the file that was begun last
  left_behind = 'L',  // one LeftBehindCode, then the path as it is, cut to kCollectedPathMax bytes
  input = 'I',        // see above
  connection = 'N',   // see above
  collected = 'C',    // "key=value\n" lines: files, bytes, left_behind (told or not), complete (0 or 1)
  exit = 'X',         // "key=value\n" lines: how it ended
};

// Why init does not hand an entry of the folder out.
enum class LeftBehindCode : std::uint8_t {
  not_asked = 'n',  // a file, and only names were asked for
  link = 'l',
  hard_link = 'h',
  special_file = 's',  // device, FIFO, socket
  too_large = 'b',
  too_many = 'm',  // the limit of files or of bytes together was reached
  too_deep = 'd',
  bad_name = 'u',    // not UTF-8, control characters, too long
  unreadable = 'r',  // closed to its own maker
};

// Lengths and numbers, big-endian, as they stand in a frame; `at` has room for kNumberBytes.
constexpr std::size_t kNumberBytes = 4;
inline void write_number(char* at, std::uint32_t value) {
  for (std::size_t i = 0; i < kNumberBytes; ++i) at[i] = static_cast<char>(value >> (24 - 8 * i) & 0xff);
}
inline std::uint32_t read_number(const char* at) {
  std::uint32_t value = 0;
  for (std::size_t i = 0; i < kNumberBytes; ++i) value = value << 8 | static_cast<unsigned char>(at[i]);
  return value;
}

inline std::uint16_t read_short(const char* at) {
  return static_cast<std::uint16_t>(static_cast<unsigned char>(at[0]) << 8 | static_cast<unsigned char>(at[1]));
}

constexpr std::size_t kHeaderBytes = 8;
constexpr std::size_t kLengthAt = 4;     // in the header
constexpr int kDeadlineSlackMs = 5'000;  // init's own deadline lies so far behind guard's time limit and grace
constexpr std::size_t kFramePayloadMax = 64ul * 1024;
constexpr std::size_t kInputBytesMax = 32ul * 1024;  // with its header less than an empty pipe takes

// The program finds a random key of kTagKeyBytes on its attestation socket and can read it once. It shows that it is
// the one who has read it by the SipHash-2-4 tag (kTagBytes, as of a frame) behind what it says
// (runner/init_side/attestation.mjs).
constexpr std::size_t kAttestationBytesMax = 16ul * 1024;  // five titles of 800 characters among them

// Deeper or longer than any honest test's output, and short enough for every file system and editor.
constexpr std::size_t kCollectedDepthMax = 16;  // of folders below the collected one
constexpr std::size_t kCollectedPathMax = 1024;
// Of what was left behind so many are told by name, the rest is counted: nobody reads more.
constexpr std::size_t kLeftBehindToldMax = 1000;

}  // namespace guard::init_protocol

// What a folder in memory starts with, as one file: written by guard (runner/init_side/fill_file.h), mounted into the
// sandbox and read by its init (init/filled_folder.h). One file is mounted, sent and removed as quickly as a project of
// 50,000 files is not.
//
//   entry    header, path, content; begins at a multiple of 8 bytes
//   path     relative, parents before what lies in them, ended by a NUL
//   content  a file's bytes; a link's target, ended by a NUL
//   the last entry has the kind end: without one the file is not whole
#pragma once

#include <cstdint>

namespace guard::fill_format {

enum class Kind : std::uint32_t { folder = 1, file, program, link, end };

// In the byte order of the machine, which is the same on both sides: init is a program of this machine's kind.
struct Header {
  Kind kind = Kind::end;
  std::uint32_t path_bytes = 0;  // with the NUL
  std::uint64_t content_bytes = 0;
};
static_assert(sizeof(Header) == 16);

constexpr std::uint64_t kAlignment = 8;
constexpr std::uint64_t aligned(std::uint64_t size) { return (size + kAlignment - 1) / kAlignment * kAlignment; }

}  // namespace guard::fill_format

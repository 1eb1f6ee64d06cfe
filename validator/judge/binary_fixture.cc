// How it works. A control character outside of comments, strings, templates, regular expressions and elements is a
// syntax error, whatever stands around it. So it is enough that one comes before anything that could open one of these.
// What follows a byte that begins a character of several bytes does not count, because a decoder may take it for a part
// of that character.
#include "validator/judge/binary_fixture.h"

#include <algorithm>
#include <array>
#include <string>

#include "common/text/characters.h"

namespace guard {
namespace {

using namespace std::string_view_literals;

struct Kind {
  std::string_view endings;  // each with a blank behind it
  std::string_view magic;    // empty: the kind has none
  std::size_t offset = 0;
};

// Compiled code (.wasm, .node, .so, ...) is none of them: side_files.cc refuses it by name. Nor is what bun reads as
// text or data of its own.
constexpr auto kKinds =
    std::to_array<Kind>({{".png .ico ", "\x89PNG\r\n\x1a\n"}, {".jpg .jpeg ", "\xff\xd8\xff"}, {".gif ", "GIF87a"},
        {".gif ", "GIF89a"}, {".webp ", "WEBP", 8}, {".wav ", "WAVE", 8}, {".avif .heic .mp4 .m4a .mov ", "ftyp", 4},
        {".ico ", "\0\0\1\0"sv}, {".tif .tiff ", "II*\0"sv}, {".tif .tiff ", "MM\0*"sv}, {".mp3 ", "ID3"},
        {".webm ", "\x1a\x45\xdf\xa3"}, {".ogg ", "OggS"}, {".flac ", "fLaC"}, {".pdf ", "%PDF-"},
        {".zip .docx .xlsx .pptx .odt .ods .epub ", "PK\3\4"}, {".gz .tgz ", "\x1f\x8b"}, {".xz ", "\xfd\x37zXZ\0"sv},
        {".ttf ", "\0\1\0\0"sv}, {".ttc ", "ttcf"}, {".otf ", "OTTO"}, {".woff ", "wOFF"}, {".woff2 ", "wOF2"},
        {".sqlite .sqlite3 .db ", "SQLite format 3\0"sv}, {".parquet ", "PAR1"}, {".pb .binpb .bin .dat ", ""}});

// Programs for a machine, for a loader of bun's, and text in two bytes a character, which bun reads as a program.
constexpr auto kPrograms =
    std::to_array<std::string_view>({"\x7f"
                                     "ELF",
        "MZ", "\xfe\xed\xfa\xce", "\xfe\xed\xfa\xcf", "\xce\xfa\xed\xfe", "\xcf\xfa\xed\xfe", "\xca\xfe\xba\xbe",
        "\0asm"sv, "!<arch>", "\xff\xfe", "\xfe\xff"});

bool is_no_program(std::string_view bytes) noexcept {
  if (bytes.starts_with('%')) return true;
  std::size_t since_lead = 3;  // a decoder takes four bytes together at most
  for (const char c : bytes) {
    const auto byte = static_cast<unsigned char>(c);
    if (byte < 0x20 && (byte < '\t' || byte > '\r') && since_lead >= 3) return true;
    if ("`\"'/<#-"sv.find(c) != std::string_view::npos) return false;
    since_lead = byte < 0xc0 ? since_lead + 1 : 0;
  }
  return false;
}

}  // namespace

bool is_binary_fixture(std::string_view path, std::string_view bytes) {
  const std::string_view name = path.substr(path.rfind('/') + 1);
  const std::size_t dot = name.rfind('.');
  if (dot == std::string_view::npos || dot == 0) return false;
  const std::string ending = lower_case(name.substr(dot)) + " ";
  const bool known = std::any_of(kKinds.begin(), kKinds.end(), [&](const Kind& kind) {
    return bytes.size() >= kind.offset && bytes.substr(kind.offset).starts_with(kind.magic) &&
        kind.endings.find(ending) != std::string_view::npos;
  });
  return known &&
      std::none_of(
          kPrograms.begin(), kPrograms.end(), [&](std::string_view magic) { return bytes.starts_with(magic); }) &&
      is_no_program(bytes);
}

}  // namespace guard

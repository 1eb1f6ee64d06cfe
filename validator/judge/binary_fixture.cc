// How it works. A control character outside of comments, strings, templates, regular expressions and elements is a
// syntax error, whatever stands around it. So it is enough that one comes before anything that could open one of these.
// What follows a byte that begins a character of several bytes does not count, because a decoder may take it for a part
// of that character.
#include "validator/judge/binary_fixture.h"

#include <algorithm>
#include <array>
#include <string>

namespace guard {
namespace {

using namespace std::string_view_literals;

struct Kind {
  std::string_view ending;
  std::string_view magic;  // empty: the kind has none
  std::size_t offset = 0;
};

// Compiled code (.wasm, .node, .so, ...) is none of them: side_files.cc refuses it by name. Nor is what bun reads as
// text or data of its own.
constexpr auto kKinds = std::to_array<Kind>({
    {".png", "\x89PNG\r\n\x1a\n"},
    {".jpg", "\xff\xd8\xff"},
    {".jpeg", "\xff\xd8\xff"},
    {".gif", "GIF87a"},
    {".gif", "GIF89a"},
    {".webp", "WEBP", 8},
    {".avif", "ftyp", 4},
    {".heic", "ftyp", 4},
    {".ico", "\0\0\1\0"sv},
    {".ico", "\x89PNG\r\n\x1a\n"},
    {".tif", "II*\0"sv},
    {".tif", "MM\0*"sv},
    {".tiff", "II*\0"sv},
    {".tiff", "MM\0*"sv},
    {".mp3", "ID3"},
    {".mp4", "ftyp", 4},
    {".m4a", "ftyp", 4},
    {".mov", "ftyp", 4},
    {".webm", "\x1a\x45\xdf\xa3"},
    {".ogg", "OggS"},
    {".flac", "fLaC"},
    {".wav", "WAVE", 8},
    {".pdf", "%PDF-"},
    {".zip", "PK\3\4"},
    {".docx", "PK\3\4"},
    {".xlsx", "PK\3\4"},
    {".pptx", "PK\3\4"},
    {".odt", "PK\3\4"},
    {".ods", "PK\3\4"},
    {".epub", "PK\3\4"},
    {".gz", "\x1f\x8b"},
    {".tgz", "\x1f\x8b"},
    {".xz",
        "\xfd"
        "7zXZ\0"sv},
    {".ttf", "\0\1\0\0"sv},
    {".ttc", "ttcf"},
    {".otf", "OTTO"},
    {".woff", "wOFF"},
    {".woff2", "wOF2"},
    {".sqlite", "SQLite format 3\0"sv},
    {".sqlite3", "SQLite format 3\0"sv},
    {".db", "SQLite format 3\0"sv},
    {".parquet", "PAR1"},
    {".pb", ""},
    {".binpb", ""},
    {".bin", ""},
    {".dat", ""},
});

// Programs for a machine, for a loader of bun's, and text in two bytes a character, which bun reads as a program.
constexpr auto kPrograms =
    std::to_array<std::string_view>({"\x7f"
                                     "ELF",
        "MZ", "\xfe\xed\xfa\xce", "\xfe\xed\xfa\xcf", "\xce\xfa\xed\xfe", "\xcf\xfa\xed\xfe", "\xca\xfe\xba\xbe",
        "\0asm"sv, "!<arch>", "\xff\xfe", "\xfe\xff"});

bool ends_with_ignoring_case(std::string_view path, std::string_view ending) noexcept {
  return path.size() > ending.size() && path[path.size() - ending.size() - 1] != '/' &&
      std::equal(ending.begin(), ending.end(), path.end() - static_cast<std::ptrdiff_t>(ending.size()),
          [](char wanted, char c) { return wanted == (c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c); });
}

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

bool is_binary_fixture(std::string_view path, std::string_view bytes) noexcept {
  const bool known = std::any_of(kKinds.begin(), kKinds.end(), [&](const Kind& kind) {
    return bytes.size() >= kind.offset && bytes.substr(kind.offset).starts_with(kind.magic) &&
        ends_with_ignoring_case(path, kind.ending);
  });
  return known &&
      std::none_of(
          kPrograms.begin(), kPrograms.end(), [&](std::string_view magic) { return bytes.starts_with(magic); }) &&
      is_no_program(bytes);
}

}  // namespace guard

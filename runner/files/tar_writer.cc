#include "runner/files/tar_writer.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstring>
#include <string>

#include "common/text/text.h"
#include "runner/files/plain_path.h"

namespace guard {
namespace {

constexpr std::size_t kBlock = 512;
constexpr std::size_t kNameMax = 100;
constexpr std::uint64_t kSizeMax = (1ull << 33) - 1;  // eleven octal digits

// The header of POSIX.1-1988 (ustar). Numbers are octal text, space- or NUL-terminated.
struct Header {
  char name[100];
  char mode[8];
  char uid[8];
  char gid[8];
  char size[12];
  char mtime[12];
  char checksum[8];
  char type;
  char link_target[100];
  char magic[6];
  char version[2];
  char user[32];
  char group[32];
  char major[8];
  char minor[8];
  char prefix[155];
  char unused[12];
};
static_assert(sizeof(Header) == kBlock);

template <std::size_t N>
void put_octal(char (&field)[N], std::uint64_t value) {
  const std::string digits = fmt::format("{:0{}o}", value, N - 1);
  digits.copy(field, N - 1);
}

template <std::size_t N>
void put_text(char (&field)[N], std::string_view text) {
  text.copy(field, N);
}

// "27 path=some/long/name\n": the number counts the whole record, its own digits too.
std::string pax_record(std::string_view key, std::string_view value) {
  const std::size_t rest = key.size() + value.size() + 3;  // blank, '=', line end
  std::size_t total = rest + 1;
  while (std::to_string(total).size() + rest != total) ++total;
  return fmt::format("{} {}={}\n", total, key, value);
}

}  // namespace

Result<void> TarWriter::write(std::string_view bytes) { return out_.push(std::span(bytes.data(), bytes.size())); }

Result<void> TarWriter::pad(std::uint64_t content_bytes) {
  static constexpr std::array<char, kBlock> kZeros{};
  return write(std::string_view(kZeros.data(), padded(content_bytes) - content_bytes));
}

Result<void> TarWriter::raw_header(
    std::string_view path, unsigned mode, std::uint64_t bytes, char type, std::string_view link_target) {
  Header header{};
  put_text(header.name, path.substr(0, kNameMax));
  put_octal(header.mode, mode & 07777u);
  put_octal(header.uid, 0);
  put_octal(header.gid, 0);
  put_octal(header.size, bytes);
  put_octal(header.mtime, std::min(changed_s_, kSizeMax));
  header.type = type;
  put_text(header.link_target, link_target.substr(0, kNameMax));
  put_text(header.magic, std::string_view("ustar\0", 6));
  put_text(header.version, "00");
  put_octal(header.major, 0);
  put_octal(header.minor, 0);
  std::array<char, kBlock> block{};
  std::memcpy(block.data(), &header, kBlock);
  // The sum is taken with the checksum field full of blanks.
  unsigned sum = 8u * ' ';
  for (const char byte : block) sum += static_cast<unsigned char>(byte);
  const std::string digits = fmt::format("{:06o}", sum);
  const auto at = offsetof(Header, checksum);
  digits.copy(block.data() + at, 6);
  block[at + 6] = '\0';
  block[at + 7] = ' ';
  return write(std::string_view(block.data(), kBlock));
}

Result<void> TarWriter::header(
    std::string_view path, unsigned mode, std::uint64_t bytes, char type, std::string_view link_target) {
  if (!is_plain_relative(path) || link_target.find('\0') != std::string_view::npos) {
    return Error(ErrorCode::input_invalid, fmt::format("{} cannot be a name in an archive", printable(path)));
  }
  if (bytes > kSizeMax)
    return Error(ErrorCode::file_too_large, fmt::format("{} is too large for an archive", printable(path)));
  const std::string name = type == '5' ? fmt::format("{}/", path) : std::string(path);
  std::string records;
  if (name.size() > kNameMax) records += pax_record("path", name);
  if (link_target.size() > kNameMax) records += pax_record("linkpath", link_target);
  if (!records.empty()) {
    GUARD_TRY(raw_header("pax", 0644, records.size(), 'x', ""));
    GUARD_TRY(write(records));
    GUARD_TRY(pad(records.size()));
  }
  return raw_header(name, mode, bytes, type, link_target);
}

Result<void> TarWriter::add_folder(std::string_view path, unsigned mode) { return header(path, mode, 0, '5', ""); }

Result<void> TarWriter::add_link(std::string_view path, std::string_view target) {
  return header(path, 0777, 0, '2', target);
}

Result<void> TarWriter::add_file(std::string_view path, unsigned mode, std::string_view bytes) {
  GUARD_TRY(begin_file(path, mode, bytes.size()));
  GUARD_TRY(content(bytes));
  return end_file();
}

Result<void> TarWriter::begin_file(std::string_view path, unsigned mode, std::uint64_t bytes, std::uint64_t changed_s) {
  file_bytes_ = file_left_ = bytes;
  changed_s_ = changed_s;
  auto begun = header(path, mode, bytes, '0', "");
  changed_s_ = 0;
  return begun;
}

Result<void> TarWriter::content(std::string_view bytes) {
  if (bytes.size() > file_left_) return Error(ErrorCode::io_error, "a file grew while it was archived");
  file_left_ -= bytes.size();
  return write(bytes);
}

Result<void> TarWriter::end_file() {
  if (file_left_ != 0) return Error(ErrorCode::io_error, "a file shrank while it was archived");
  return pad(file_bytes_);
}

Result<void> TarWriter::finish() {
  static constexpr std::array<char, 2 * kBlock> kEnd{};
  return write(std::string_view(kEnd.data(), kEnd.size()));
}

}  // namespace guard

#include "validator/change/path_names.h"

#include <algorithm>
#include <iterator>

#include "common/text/characters.h"
#include "common/text/glob.h"
#include "common/text/text.h"
#include "rules/surface.h"

namespace guard {
namespace {

constexpr std::size_t kNameBytesMax = 255;   // NAME_MAX
constexpr std::size_t kPathBytesMax = 4095;  // PATH_MAX without the NUL

struct PointRange {
  char32_t first;
  char32_t last;
};

// HFS+ does not compare the first ones at all; of the others nobody sees that they are there.
constexpr PointRange kInvisible[] = {{0x200B, 0x200F}, {0x202A, 0x202E}, {0x2060, 0x206F}, {0xFEFF, 0xFEFF},
    {0x00AD, 0x00AD}, {0x034F, 0x034F}, {0x061C, 0x061C}, {0x115F, 0x1160}, {0x17B4, 0x17B5}, {0x180B, 0x180F},
    {0x3164, 0x3164}, {0xFE00, 0xFE0F}, {0xFFA0, 0xFFA0}, {0xFFF9, 0xFFFB}, {0xE0000, 0xE0FFF}};
constexpr PointRange kControls[] = {{0x00, 0x1F}, {0x7F, 0x9F}, {0x2028, 0x2029}};
constexpr PointRange kAccents[] = {
    {0x0300, 0x036F}, {0x1AB0, 0x1AFF}, {0x1DC0, 0x1DFF}, {0x20D0, 0x20FF}, {0xFE20, 0xFE2F}};

template <std::size_t N>
bool in(const PointRange (&ranges)[N], char32_t point) noexcept {
  return std::any_of(std::begin(ranges), std::end(ranges),
      [point](PointRange range) { return point >= range.first && point <= range.last; });
}

// The letter of each character from U+00C0 to U+017F without its accent; '.' where there is none to be taken away.
constexpr std::string_view kBaseLetters =
    "aaaaaa.ceeeeiiii.nooooo.ouuuuy..aaaaaa.ceeeeiiii.nooooo.ouuuuy.y"
    "aaaaaaccccccccddddeeeeeeeeeegggggggghhhhiiiiiiiiii..jjkk.lllllll"
    "lllnnnnnnn..oooooo..rrrrrrssssssssttttttuuuuuuuuuuuuwwyyyzzzzzzs";
static_assert(kBaseLetters.size() == 0x180 - 0xC0);

// What lies in a range becomes another letter, so much further on.
struct Shift {
  PointRange range;
  char32_t by;
};
constexpr Shift kShifts[] = {{{'A', 'Z'}, 32}, {{0x0391, 0x03A9}, 32}, {{0x0410, 0x042F}, 32}, {{0x0400, 0x040F}, 80},
    {{0x0531, 0x0556}, 48}, {{0xFF21, 0xFF3A}, 32}};
// Upper and lower case take turns, the upper one first.
constexpr PointRange kTurns[] = {{0x1E00, 0x1EFF}, {0x0460, 0x0481}, {0x048A, 0x04BF}, {0x04D0, 0x052F}};
// Greek with accents, the sigma at the end of a word, Cyrillic io, ie and short i, the signs of Kelvin and Angstrom.
constexpr char32_t kSingle[][2] = {{0x388, 0x3B5}, {0x389, 0x3B7}, {0x38A, 0x3B9}, {0x38B, 0x38B}, {0x38C, 0x3BF},
    {0x38D, 0x38D}, {0x38E, 0x3C5}, {0x38F, 0x3C9}, {0x386, 0x3B1}, {0x3AC, 0x3B1}, {0x3AD, 0x3B5}, {0x3AE, 0x3B7},
    {0x3AF, 0x3B9}, {0x3AA, 0x3B9}, {0x3CA, 0x3B9}, {0x390, 0x3B9}, {0x3CB, 0x3C5}, {0x3AB, 0x3C5}, {0x3CD, 0x3C5},
    {0x3B0, 0x3C5}, {0x3CC, 0x3BF}, {0x3CE, 0x3C9}, {0x3C2, 0x3C3}, {0x401, 0x435}, {0x451, 0x435}, {0x400, 0x435},
    {0x450, 0x435}, {0x419, 0x438}, {0x439, 0x438}, {0x40D, 0x438}, {0x45D, 0x438}, {0x212A, 'k'}, {0x212B, 'a'}};

// Lower case, without accents.
char32_t folded(char32_t point) noexcept {
  if (point >= 0xC0 && point < 0x180) {
    const char letter = kBaseLetters[point - 0xC0];
    if (letter != '.') return static_cast<char32_t>(letter);
    if (point <= 0xDE) return point + 32;
    return point >= 0x100 ? point | 1u : point;
  }
  for (const auto& [from, to] : kSingle) {
    if (from == point) return to;
  }
  if (in(kTurns, point)) return point | 1u;
  for (const Shift& shift : kShifts) {
    if (point >= shift.range.first && point <= shift.range.last) return point + shift.by;
  }
  return point;
}

bool is_dropped_at_end(char c) noexcept { return c == '.' || c == ' '; }

}  // namespace

std::string folded_name(std::string_view name) {
  std::string text;
  text.reserve(name.size());
  for (std::size_t at = 0; at < name.size();) {
    char32_t point = 0;
    const std::size_t size = decode_utf8(name.substr(at), point);
    if (size == 0) {
      text += name[at++];
      continue;
    }
    at += size;
    if (!in(kInvisible, point) && !in(kAccents, point)) append_utf8(folded(point), text);
  }
  // "name:stream:type"
  if (const std::size_t colon = text.find(':'); colon != std::string::npos && colon > 0) text.resize(colon);
  std::size_t size = text.size();
  while (size > 0 && is_dropped_at_end(text[size - 1])) --size;
  if (size > 0) text.resize(size);
  return text;
}

std::vector<std::string> folded_names(std::string_view path) {
  std::vector<std::string> names;
  for (std::size_t at = 0; at <= path.size();) {
    const std::size_t end = std::min(path.find_first_of("/\\", at), path.size());
    names.push_back(folded_name(path.substr(at, end - at)));
    at = end + 1;
  }
  return names;
}

std::string folded_path(std::string_view path) {
  std::string text;
  for (const auto& name : folded_names(path)) text += (text.empty() ? "" : "/") + name;
  return text;
}

bool is_listed(std::string_view name, std::string_view list) {
  const auto globs = word_list(list);
  return std::any_of(globs.begin(), globs.end(), [name](const SurfaceRow& row) {
    const std::size_t star = row.name.find('*');
    if (star == std::string_view::npos) return row.name == name;
    // Most globs are told apart by what they begin with and end in.
    return name.starts_with(row.name.substr(0, star)) && name.ends_with(row.name.substr(row.name.rfind('*') + 1)) &&
        glob_matches(row.name, name);
  });
}

bool is_short_name(std::string_view name) noexcept {
  const std::size_t dot = name.rfind('.');
  const bool has_ending = dot != std::string_view::npos && dot > 0;
  const std::string_view stem = has_ending ? name.substr(0, dot) : name;
  if (has_ending && name.size() - dot - 1 > 3) return false;
  const std::size_t tilde = stem.rfind('~');
  if (stem.size() > 8 || tilde == std::string_view::npos || tilde == 0 || tilde + 1 == stem.size()) return false;
  return stem.find_first_not_of("0123456789", tilde + 1) == std::string_view::npos;
}

std::string_view path_fault(std::string_view path) noexcept {
  if (path.empty()) return "is empty";
  if (path.size() > kPathBytesMax) return "is longer than systems can open";
  if (!is_utf8(path)) return "is not UTF-8";
  for (std::size_t at = 0; at < path.size();) {
    char32_t point = 0;
    at += decode_utf8(path.substr(at), point);
    if (in(kControls, point)) return "holds a control character";
    if (in(kInvisible, point)) return "holds a character that nobody sees";
  }
  if (path.front() == '/') return "is absolute";
  if (path.find('\\') != std::string_view::npos) return "holds a backslash, which parts folders on some systems";
  if (path.find(':') != std::string_view::npos) return "holds a colon, which names a drive or a stream on some systems";
  for (std::size_t at = 0; at <= path.size();) {
    const std::size_t end = std::min(path.find('/', at), path.size());
    const std::string_view name = path.substr(at, end - at);
    if (name.empty()) return "has an empty part";
    if (name == "." || name == "..") return "leads through \".\" or \"..\"";
    if (is_dropped_at_end(name.back())) return "has a part that ends with a dot or a blank, which some systems drop";
    if (name.size() > kNameBytesMax) return "has a part that is longer than systems can open";
    at = end + 1;
  }
  return {};
}

}  // namespace guard

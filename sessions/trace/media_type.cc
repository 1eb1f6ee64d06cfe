#include <algorithm>
#include <iterator>

#include "common/text/text.h"
#include "sessions/trace/catalogue.h"

namespace guard::sessions {
namespace {

struct Sign {
  std::size_t offset;
  std::string_view bytes;
  std::string_view type;
};
using namespace std::string_view_literals;
constexpr std::string_view kZip = "application/zip";
constexpr Sign kSigns[] = {{0, "\x89PNG\r\n\x1a\n"sv, "image/png"}, {0, "\xff\xd8\xff"sv, "image/jpeg"},
    {0, "GIF8"sv, "image/gif"}, {8, "WEBP"sv, "image/webp"}, {8, "WAVE"sv, "audio/wav"},
    {0, "%PDF-"sv, "application/pdf"}, {0, "PK\x03\x04"sv, kZip}, {0, "\x1f\x8b"sv, "application/gzip"},
    {0, "\x28\xb5\x2f\xfd"sv, "application/zstd"}, {0, "SQLite format 3\0"sv, "application/vnd.sqlite3"},
    {0,
        "\x7f"
        "ELF"sv,
        "application/x-executable"},
    {0, "\0asm"sv, "application/wasm"}, {0, "PAR1"sv, "application/vnd.apache.parquet"},
    {257, "ustar"sv, "application/x-tar"}};
// Texts; and what is a zip archive inside.
constexpr std::pair<std::string_view, std::string_view> kEnds[] = {{"txt", "text/plain"}, {"log", "text/plain"},
    {"md", "text/markdown"}, {"csv", "text/csv"}, {"tsv", "text/tab-separated-values"}, {"html", "text/html"},
    {"css", "text/css"}, {"js", "text/javascript"}, {"mjs", "text/javascript"}, {"ts", "text/x-typescript"},
    {"py", "text/x-python"}, {"sh", "text/x-shellscript"}, {"json", "application/json"}, {"jsonl", "application/jsonl"},
    {"ipynb", "application/x-ipynb+json"}, {"xml", "application/xml"}, {"yaml", "application/yaml"},
    {"yml", "application/yaml"}, {"toml", "application/toml"}, {"svg", "image/svg+xml"},
    {"docx", "application/vnd.openxmlformats-officedocument.wordprocessingml.document"},
    {"xlsx", "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet"},
    {"pptx", "application/vnd.openxmlformats-officedocument.presentationml.presentation"}};

}  // namespace

std::string_view media_type_of(std::string_view path, std::string_view head) {
  const std::string_view name = path.substr(path.rfind('/') + 1);
  const std::size_t dot = name.rfind('.');
  const auto* end = dot == std::string_view::npos
      ? std::end(kEnds)
      : std::ranges::find(kEnds, name.substr(dot + 1), &std::pair<std::string_view, std::string_view>::first);
  const bool is_office = end != std::end(kEnds) && end->second.find("officedocument") != std::string_view::npos;
  for (const Sign& sign : kSigns) {
    if (head.size() < sign.offset || head.substr(sign.offset, sign.bytes.size()) != sign.bytes) continue;
    return sign.type == kZip && is_office ? end->second : sign.type;
  }
  // The head may end within a character.
  const std::size_t cut_max = std::min<std::size_t>(head.size(), 4);
  std::size_t cut = 0;
  while (cut < cut_max && !is_utf8(head.substr(0, head.size() - cut))) ++cut;
  if ((cut > 0 && cut == cut_max) || head.find('\0') != std::string_view::npos) return "application/octet-stream";
  return end != std::end(kEnds) && !is_office ? end->second : "text/plain";
}

}  // namespace guard::sessions

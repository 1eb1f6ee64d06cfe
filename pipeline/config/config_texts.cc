#include "pipeline/config/config_texts.h"

#include <algorithm>

#include "common/text/text.h"
#include "egress/egress_rules.h"
#include "runner/image/image_tools.h"
#include "runner/sandbox/container_use_sandbox.h"

namespace guard {
namespace {

constexpr bool is_digit(char c) { return c >= '0' && c <= '9'; }
constexpr bool is_lower(char c) { return c >= 'a' && c <= 'z'; }
constexpr bool is_word(char c) { return is_digit(c) || is_lower(c) || (c >= 'A' && c <= 'Z') || c == '_'; }

constexpr std::size_t kTextBytesMax = 4096;

}  // namespace

std::string_view any_text_rule(std::string_view text) {
  if (text.size() > kTextBytesMax) return "is longer than 4096 bytes";
  if (!is_utf8(text)) return "is not UTF-8";
  const bool control =
      std::any_of(text.begin(), text.end(), [](char c) { return static_cast<unsigned char>(c) < 0x20 || c == 0x7f; });
  return control ? "holds a control character" : "";
}

std::string_view reference_rule(std::string_view text) {
  const bool good = std::all_of(text.begin(), text.end(),
      [](char c) { return is_word(c) || std::string_view(".-/:@").find(c) != std::string_view::npos; });
  // A leading dash would be read as an option by any program that it is handed to.
  return good && (text.empty() || is_word(text[0]))
      ? ""
      : "is not a name (letters, digits and ._-/:@, first a letter or digit)";
}

std::string_view program_rule(std::string_view text) {
  if (text.empty()) return "";
  // A relative one would mean another program in every folder.
  return text[0] == '/' ? any_text_rule(text) : "is not an absolute path";
}

std::string_view environment_id_rule(std::string_view text) {
  return text.empty() || is_environment_id(text)
      ? ""
      : "is not an id of an environment (1 to 128 letters, digits and ._-/, first no dash)";
}

std::string_view url_rule(std::string_view text) {
  if (text.empty()) return "";
  const bool web = text.starts_with("https://") || text.starts_with("http://");
  const bool good = std::all_of(text.begin(), text.end(),
      [](char c) { return is_word(c) || std::string_view("-.~/:?&=%@+").find(c) != std::string_view::npos; });
  return web && good ? "" : "is not the address of a page (https://..., without a fragment)";
}

std::string_view tool_rule(std::string_view text) { return is_tool_name(text) ? "" : "is no name of a program"; }

std::string_view allow_rule(std::string_view text) {
  const bool good = EgressRules::create({std::string(text)}, {}).has_value();
  return good ? "" : "is neither host, host:port, *.host, address:port nor a preset such as @npm";
}

std::string_view deny_rule(std::string_view text) {
  return EgressRule::parse(text) ? "" : "is neither host, host:port, *.host nor address:port";
}

std::string_view proxy_rule(std::string_view text) {
  constexpr std::string_view kScheme = "http://";
  if (text.empty()) return "";
  const bool good = text.starts_with(kScheme) && EgressTarget::parse(text.substr(kScheme.size())).has_value();
  return good ? "" : "is not http://host:port";
}

std::string_view variable_rule(std::string_view text) {
  const bool good =
      !text.empty() && text.size() <= 256 && !is_digit(text[0]) && std::all_of(text.begin(), text.end(), is_word);
  return good ? "" : "is not the name of an environment variable";
}

std::string_view id_rule(std::string_view text) {
  if (text.empty()) return "is empty";
  const bool good =
      std::all_of(text.begin(), text.end(), [](char c) { return is_word(c) || c == '.' || c == '-' || c == '/'; });
  return good && text.size() <= 256 ? "" : "is not an id (letters, digits and ._-/)";
}

std::string_view path_rule(std::string_view text) { return text.empty() ? "is empty" : any_text_rule(text); }

std::string_view glob_rule(std::string_view text) {
  if (const auto fault = path_rule(text); !fault.empty()) return fault;
  if (text[0] == '/') return "is absolute; globs are relative to the project";
  if (text.find('\\') != std::string_view::npos) return "holds a backslash; folders are joined with /";
  const auto parts = pieces_of(text, '/');
  const bool dots =
      std::any_of(parts.begin(), parts.end(), [](std::string_view part) { return part == ".." || part == "."; });
  return dots ? "holds a . or .. segment" : "";
}

std::string shown_value(std::string_view text) {
  constexpr std::size_t kShownMax = 80;
  return text.size() <= kShownMax ? printable(text) : printable(text.substr(0, kShownMax)) + "...";
}

std::string_view trimmed(std::string_view text) {
  const auto first = text.find_first_not_of(" \t");
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(" \t") - first + 1);
}

}  // namespace guard

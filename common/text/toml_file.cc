#include "common/text/toml_file.h"

#include <fmt/format.h>

#include <toml++/toml.h>

#include <algorithm>
#include <optional>

#include "common/text/text.h"

namespace guard {
namespace {

TomlValue convert(const toml::node& node);

void place(const toml::source_region& region, std::uint32_t& line, std::uint32_t& column) {
  line = static_cast<std::uint32_t>(region.begin.line);
  column = static_cast<std::uint32_t>(region.begin.column);
}

TomlValue convert_table(const toml::table& table) {
  TomlValue value;
  value.kind = TomlValue::Kind::table;
  for (const auto& [key, node] : table) {
    TomlMember member;
    member.key = std::string(key.str());
    place(key.source(), member.line, member.column);
    member.value = convert(node);
    value.members.push_back(std::move(member));
  }
  // toml++ keeps keys sorted by name; people read files from top to bottom.
  std::stable_sort(value.members.begin(), value.members.end(), [](const TomlMember& a, const TomlMember& b) {
    return a.line != b.line ? a.line < b.line : a.column < b.column;
  });
  return value;
}

TomlValue convert(const toml::node& node) {
  TomlValue value;
  if (const auto* table = node.as_table()) {
    value = convert_table(*table);
  } else if (const auto* array = node.as_array()) {
    value.kind = TomlValue::Kind::array;
    for (const auto& item : *array) value.items.push_back(convert(item));
  } else if (const auto* text = node.as_string()) {
    value.kind = TomlValue::Kind::string;
    value.text = text->get();
  } else if (const auto* integer = node.as_integer()) {
    value.kind = TomlValue::Kind::integer;
    value.integer = integer->get();
    value.number = static_cast<double>(integer->get());
  } else if (const auto* floating = node.as_floating_point()) {
    value.kind = TomlValue::Kind::floating;
    value.number = floating->get();
  } else if (const auto* boolean = node.as_boolean()) {
    value.kind = TomlValue::Kind::boolean;
    value.boolean = boolean->get();
  } else {
    value.kind = TomlValue::Kind::other;  // dates and times
    if (const auto* date = node.as_date()) {
      value.text = fmt::format("{:04}-{:02}-{:02}", date->get().year, date->get().month, date->get().day);
    }
  }
  place(node.source(), value.line, value.column);
  return value;
}

// What toml++ must not see. It asserts, and without assertions runs on undefined, for two kinds of broken key: a table
// header that begins with something else than a key ("[="), and letters outside ASCII where a bare key is expected. And
// it recurses, as we do below, once for each part of a dotted key and each level of brackets, without a limit of its
// own for the parts. Walks strings and comments as TOML 1.0 defines them up to the first error of syntax, where toml++
// ends, too.
class Scan {
 public:
  struct Fault {
    std::size_t offset = 0;
    std::string sentence;
  };

  explicit Scan(std::string_view text) : text_(text) {}

  std::optional<Fault> first_fault() {
    constexpr std::string_view kNoKey = "this can't begin a key; quote it";
    bool line_start = true;
    std::size_t parts = 1;  // of the key that is being read; a value has no more dots than one
    while (at_ < text_.size()) {
      const char c = text_[at_];
      if (c == '.') {
        if (++parts > kPartsMax) return Fault{at_, fmt::format("a key of more than {} parts", kPartsMax)};
        ++at_;
        continue;
      }
      if (c == '#') {
        at_ = std::min(text_.find('\n', at_), text_.size());
      } else if (c == '"' || c == '\'') {
        skip_string(c);
        line_start = false;
      } else if (c == '\n') {
        line_start = true;
        parts = 1;
        ++at_;
      } else if (c == ' ' || c == '\t' || c == '\r') {
        ++at_;
      } else if (static_cast<unsigned char>(c) >= 0x80) {
        return Fault{at_, std::string(kNoKey)};
      } else if (c == '[' && line_start && depth_ == 0) {
        at_ += text_.substr(at_).starts_with("[[") ? 2 : 1;
        while (at_ < text_.size() && (text_[at_] == ' ' || text_[at_] == '\t')) ++at_;
        if (at_ < text_.size() && !begins_key(text_[at_])) return Fault{at_, std::string(kNoKey)};
        parts = 1;
        line_start = false;
      } else {
        if ((c == '[' || c == '{') && ++depth_ > kDepthMax)
          return Fault{at_, fmt::format("values nested more than {} levels deep", kDepthMax)};
        // The brackets that close a table header were not counted when they opened.
        if ((c == ']' || c == '}') && depth_ > 0) --depth_;
        if (std::string_view("=,[]{}").find(c) != std::string_view::npos) parts = 1;
        line_start = false;
        ++at_;
      }
    }
    return std::nullopt;
  }

 private:
  // The deepest of our own files has four. Together they leave a thousand levels at most: brackets in brackets, a long
  // key in each.
  static constexpr std::size_t kPartsMax = 32;
  static constexpr std::size_t kDepthMax = 32;

  static bool begins_key(char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' || c == '-' ||
        c == '"' || c == '\'';
  }

  void skip_string(char quote) {
    const std::string three(3, quote);
    const bool escapes = quote == '"';
    if (text_.substr(at_).starts_with(three)) {
      at_ += 3;
      while (at_ < text_.size() && !text_.substr(at_).starts_with(three)) at_ += escapes && text_[at_] == '\\' ? 2 : 1;
      at_ = std::min(at_ + 3, text_.size());
      // Up to two quotes more may stand right before the closing three.
      for (int more = 0; more < 2 && at_ < text_.size() && text_[at_] == quote; ++more) ++at_;
      return;
    }
    ++at_;
    while (at_ < text_.size() && text_[at_] != quote && text_[at_] != '\n')
      at_ += escapes && text_[at_] == '\\' ? 2 : 1;
    if (at_ < text_.size() && text_[at_] == quote) ++at_;
    at_ = std::min(at_, text_.size());
  }

  std::string_view text_;
  std::size_t at_ = 0;
  std::size_t depth_ = 0;
};

}  // namespace

const TomlValue* TomlValue::find(std::string_view key) const noexcept {
  for (const auto& member : members) {
    if (member.key == key) return &member.value;
  }
  return nullptr;
}

std::string_view TomlValue::kind_name() const noexcept {
  switch (kind) {
    case Kind::string: return "a string";
    case Kind::integer: return "an integer";
    case Kind::floating: return "a number with a fraction";
    case Kind::boolean: return "a boolean";
    case Kind::array: return "an array";
    case Kind::table: return "a table";
    case Kind::other: return "a date or time";
  }
  return "a value";
}

std::string toml_complaint(std::string_view name, std::uint32_t line, std::uint32_t column, std::string_view sentence) {
  return fmt::format("{}:{}:{}: {}", printable(name), line, column, sentence);
}

Result<TomlValue> parse_toml(std::string_view text, std::string_view name) {
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '\0') {
      const auto at = line_column(text, i);
      return Error(
          ErrorCode::config_invalid, toml_complaint(name, at.line, at.column, "a NUL byte; this is not a text file"));
    }
  }
  if (!is_utf8(text)) return Error(ErrorCode::config_invalid, toml_complaint(name, 1, 1, "the file is not UTF-8"));
  if (const auto fault = Scan(text).first_fault()) {
    const auto at = line_column(text, fault->offset);
    return Error(ErrorCode::config_invalid, toml_complaint(name, at.line, at.column, fault->sentence));
  }
  const toml::parse_result parsed = toml::parse(text, std::string(name));
  if (!parsed) {
    const auto& error = parsed.error();
    std::uint32_t line = 0;
    std::uint32_t column = 0;
    place(error.source(), line, column);
    return Error(ErrorCode::config_invalid, toml_complaint(name, line, column, printable(error.description())));
  }
  return convert_table(parsed.table());
}

}  // namespace guard

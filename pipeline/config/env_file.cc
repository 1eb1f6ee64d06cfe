#include "pipeline/config/env_file.h"

#include <fmt/format.h>

#include <map>

#include "common/file_io.h"
#include "common/text/text.h"
#include "pipeline/config/config_texts.h"

namespace guard {
namespace {

constexpr std::uint64_t kFileBytesMax = 1u << 20;

class EnvFile {
 public:
  EnvFile(std::string_view text, std::string_view file_name) : rest_(text), file_name_(file_name) {}

  Result<std::vector<ConfigOverride>> read() {
    if (rest_.starts_with("\xef\xbb\xbf")) rest_.remove_prefix(3);
    if (rest_.find('\0') != std::string_view::npos)
      return Error(ErrorCode::input_invalid, fmt::format("{} holds a NUL", printable(file_name_)));
    for (; !rest_.empty(); take_line_end()) {
      skip_blanks();
      if (at_line_end()) continue;
      if (rest_.front() == '#') {
        skip_comment();
        continue;
      }
      GUARD_TRY(read_variable());
    }
    return std::move(variables_);
  }

 private:
  static bool is_blank(char c) { return c == ' ' || c == '\t'; }
  bool at_line_end() const { return rest_.empty() || rest_.front() == '\n' || rest_.starts_with("\r\n"); }
  void skip_blanks() {
    while (!rest_.empty() && is_blank(rest_.front())) rest_.remove_prefix(1);
  }
  void skip_comment() {
    while (!at_line_end()) rest_.remove_prefix(1);
  }
  void take_line_end() {
    if (rest_.starts_with('\r')) rest_.remove_prefix(1);
    if (rest_.starts_with('\n')) rest_.remove_prefix(1);
    ++line_;
  }

  Error fault(std::string_view what) const { return fault(line_, what); }
  Error fault(std::size_t line, std::string_view what) const {
    return std::move(
        Error(ErrorCode::input_invalid, fmt::format("{}:{}: {}", printable(file_name_), line, what))
            .hint(
                "write NAME=VALUE, with quotes around a value that holds quotes, spaces at its ends or several lines"));
  }

  Result<void> read_variable() {
    const std::size_t line = line_;
    constexpr std::string_view kExport = "export";
    if (rest_.starts_with(kExport) && rest_.size() > kExport.size() && is_blank(rest_[kExport.size()])) {
      rest_.remove_prefix(kExport.size());
      skip_blanks();
    }
    const std::string_view assignment = rest_.substr(0, rest_.find('\n'));
    const std::size_t equals = assignment.find('=');
    if (equals == std::string_view::npos) return fault("there is no =");
    std::string_view name = assignment.substr(0, equals);
    while (!name.empty() && is_blank(name.back())) name.remove_suffix(1);
    if (!variable_rule(name).empty()) return fault("what stands before the = is not the name of a variable");
    rest_.remove_prefix(equals + 1);
    skip_blanks();
    GUARD_TRY_ASSIGN(std::string value, read_value());
    // One of the two is a slip, and guessing which would pass the wrong value on.
    if (const auto [earlier, is_new] = lines_.emplace(name, line); !is_new)
      return fault(line, fmt::format("{} is set in line {} already", name, earlier->second));
    variables_.push_back({fmt::format("run.env.{}", name), std::move(value), "--env-file"});
    return ok();
  }

  Result<std::string> read_value() {
    if (!at_line_end() && (rest_.front() == '"' || rest_.front() == '\'')) return read_quoted();
    std::string value;
    for (; !at_line_end(); rest_.remove_prefix(1)) {
      if (rest_.front() == '#' && (value.empty() || is_blank(value.back()))) break;
      value += rest_.front();
    }
    skip_comment();
    while (!value.empty() && is_blank(value.back())) value.pop_back();
    return value;
  }

  Result<std::string> read_quoted() {
    const std::size_t line = line_;
    const char quote = rest_.front();
    std::string value;
    for (rest_.remove_prefix(1);; rest_.remove_prefix(1)) {
      if (rest_.empty()) return fault(line, "the quote that opens the value is never closed");
      char c = rest_.front();
      if (c == quote) break;
      if (c == '\n') ++line_;
      if (c == '\\' && quote == '"') c = take_escape();
      value += c;
    }
    rest_.remove_prefix(1);
    skip_blanks();
    if (!at_line_end() && rest_.front() != '#') return fault("something stands behind the closing quote");
    skip_comment();
    return value;
  }

  // The character that is meant; rest_ then begins with the escape's last byte.
  char take_escape() {
    constexpr std::string_view kNames = "nrt\"\\$";
    constexpr std::string_view kMeant = "\n\r\t\"\\$";
    const std::size_t found = rest_.size() < 2 ? std::string_view::npos : kNames.find(rest_[1]);
    if (found == std::string_view::npos) return '\\';
    rest_.remove_prefix(1);
    return kMeant[found];
  }

  std::string_view rest_;
  std::string_view file_name_;
  std::size_t line_ = 1;
  std::map<std::string, std::size_t, std::less<>> lines_;  // of each name
  std::vector<ConfigOverride> variables_;
};

}  // namespace

Result<std::vector<ConfigOverride>> parse_env_file(std::string_view text, std::string_view file_name) {
  return EnvFile(text, file_name).read();
}

Result<std::vector<ConfigOverride>> read_env_file(const std::string& path) {
  GUARD_TRY_ASSIGN(const std::string text, read_file(path, kFileBytesMax).context("reading --env-file"));
  return parse_env_file(text, path);
}

}  // namespace guard

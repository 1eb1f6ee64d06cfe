#include "validator/views/shell_programs.h"

#include <algorithm>

#include "common/text/glob.h"
#include "rules/surface.h"

namespace guard {
namespace {

constexpr int kWrappersMax = 16;  // around each other

// The index of the program that words[first] starts, or the number of words.
std::size_t started_by(const ProgramRow& wrapper, std::span<const std::string> words, std::size_t first) noexcept {
  int operands = wrapper.operands - '0';
  for (std::size_t next = first + 1; next < words.size(); ++next) {
    const std::string_view word = words[next];
    if (word == "-S" || word == "--split-string") return next + 1;
    // They only ask where a program lies.
    if (words[first] == "command" && (word == "-v" || word == "-V")) break;
    if (word.size() > 1 && word[0] == '-') {
      if (takes_next(wrapper.value_options, word)) ++next;
    } else if (!is_shell_assignment(word) && operands-- <= 0) {
      return next;
    }
  }
  return words.size();
}

}  // namespace

std::optional<ProgramRow> program_row(std::string_view list, std::string_view name) noexcept {
  const auto rows = word_list(list);
  const auto first_word = [](const SurfaceRow& row) { return row.name.substr(0, row.name.find(' ')); };
  const auto row = std::ranges::lower_bound(rows, name, {}, first_word);  // a blank comes before all that names hold
  if (row == rows.end() || first_word(*row) != name) return std::nullopt;
  const std::size_t last = row->name.size() - 1;
  return ProgramRow{row->name.substr(name.size() + 1, last - name.size() - 2), row->name[last]};
}

bool takes_next(std::string_view value_options, std::string_view option) noexcept {
  if (option.starts_with("--")) return is_word_of("shell_value_options", option);
  return option.size() > 1 && option.find_first_of(value_options, 1) == option.size() - 1;
}

std::string_view program_name(std::string_view word) noexcept {
  if (word.find("://") != std::string_view::npos) return word;
  const std::string_view name = word.substr(word.rfind('/') + 1);
  if (name.empty()) return word;
  return name.ends_with(".exe") || name.ends_with(".cmd") ? name.substr(0, name.size() - 4) : name;
}

bool is_shell_assignment(std::string_view word) noexcept {
  const std::size_t equals = word.find('=');
  if (equals == std::string_view::npos || equals == 0 || (word[0] >= '0' && word[0] <= '9')) return false;
  std::size_t name = equals > 1 && word[equals - 1] == '+' ? equals - 1 : equals;
  // A[0]=1
  if (const std::size_t index = word.find('['); index != 0 && index < name && word[name - 1] == ']') name = index;
  return std::all_of(word.begin(), word.begin() + static_cast<std::ptrdiff_t>(name), is_shell_name_byte);
}

std::string glob_of(std::string_view name) {
  std::string pattern;
  for (std::size_t i = 0; i < name.size(); ++i) {
    const std::size_t close = name[i] == '[' ? name.find(']', i + 2) : std::string_view::npos;
    pattern += close == std::string_view::npos ? name[i] : '?';
    if (close != std::string_view::npos) i = close;
  }
  return pattern;
}

std::string_view program_of_pattern(std::string_view name) {
  constexpr std::size_t kPatternMax = 32;
  if (name.find_first_of("*?[") == std::string_view::npos || name.size() > kPatternMax) return name;
  const std::string pattern = glob_of(name);
  if (glob_matches(pattern, "npm")) return "npm";  // of several, what installs
  const auto programs = word_list("sought_programs");
  const auto found = std::find_if(
      programs.begin(), programs.end(), [&](const SurfaceRow& row) { return glob_matches(pattern, row.name); });
  return found == programs.end() ? name : found->name;
}

std::size_t started_program(std::span<const std::string> words) noexcept {
  std::size_t program = 0;
  for (int depth = 0; depth < kWrappersMax && program < words.size(); ++depth) {
    const auto wrapper = program_row("shell_wrappers", program_name(words[program]));
    const std::size_t next = wrapper ? started_by(*wrapper, words, program) : words.size();
    if (next >= words.size()) break;
    program = next;
  }
  return program;
}

}  // namespace guard

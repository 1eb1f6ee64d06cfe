#include "validator/views/command_files.h"

#include <algorithm>
#include <cctype>
#include <string_view>
#include <utility>

#include "common/text/glob.h"
#include "rules/surface.h"
#include "validator/views/shell_programs.h"

namespace guard {
namespace {

// Does the option bring the program text that would else be the first operand: sed -e, awk -f?
bool brings_program(const ProgramRow& row, std::string_view option) noexcept {
  if (option == "--expression" || option == "--regexp" || option == "--file" || option == "--from-file") return true;
  if (option.starts_with("--")) return false;
  return std::any_of(option.begin() + 1, option.end(), [&](char letter) {
    return (letter == 'e' || letter == 'f') && row.value_options.find(letter) != std::string_view::npos;
  });
}

// What are files but for the first ones, or but for the last one.
std::vector<std::string> operands_of(const ProgramRow& row, std::span<const std::string> words) {
  std::vector<std::string> operands;
  bool has_program = false;
  for (std::size_t i = 1; i < words.size(); ++i) {
    const std::string_view word = words[i];
    if (word.size() < 2 || word[0] != '-') {
      operands.emplace_back(word);
      continue;
    }
    has_program = has_program || brings_program(row, word);
    if (word.starts_with("--arg")) {
      i += 2;  // --arg name value
    } else if (takes_next(row.value_options, word)) {
      ++i;
    }
  }
  if (row.operands == '1' && !has_program && !operands.empty()) operands.erase(operands.begin());
  if (row.operands == 'c' && operands.size() > 1) operands.pop_back();
  return operands;
}

// curl -d @token, -F f=@token, -F f=<token, file:///a/token, -T token
std::vector<std::string> sent_files(std::span<const std::string> words) {
  std::vector<std::string> files;
  for (std::size_t i = 1; i < words.size(); ++i) {
    const std::string_view word = words[i];
    const std::size_t sign = word.find_first_of("@<");
    const bool begins =
        sign != std::string_view::npos && (sign == 0 || word[sign - 1] == '=' || (word[0] == '-' && sign == 2));
    if (begins) files.emplace_back(word.substr(sign + 1));
    if (word.starts_with("file://")) files.emplace_back(word.substr(7));
    if (words[i - 1] == "-T" || words[i - 1] == "--upload-file") files.emplace_back(word);
  }
  return files;
}

// What stands behind `mark` in a word: if=token, HEAD:token.
std::vector<std::string> behind(std::string_view mark, std::span<const std::string> words) {
  std::vector<std::string> files;
  for (const std::string& word : words) {
    if (const std::size_t at = word.find(mark); at != std::string::npos) files.push_back(word.substr(at + mark.size()));
  }
  return files;
}

// xargs -a token
std::vector<std::string> listed_arguments(std::span<const std::string> words) {
  for (std::size_t i = 1; i < words.size(); ++i) {
    if (i + 1 < words.size() && (words[i] == "-a" || words[i] == "--arg-file")) return {words[i + 1]};
    if (words[i].starts_with("-a")) return {words[i].substr(2)};
  }
  return {};
}

}  // namespace

std::vector<std::string> files_read_by(std::span<const std::string> words) {
  if (words.empty()) return {};
  const auto row = program_row("file_readers", program_name(words[0]));
  if (!row) return {};
  switch (row->operands) {
    case '@': return sent_files(words);
    case '=': return behind("if=", words);
    case 'a': return listed_arguments(words);
    case ':': {
      const auto shows = [](const std::string& word) { return word == "show" || word == "cat-file"; };
      return std::any_of(words.begin(), words.end(), shows) ? behind(":", words) : std::vector<std::string>();
    }
    default: return operands_of(*row, words);
  }
}

void add_read_file(std::string file, std::vector<std::string>& files) {
  constexpr std::ptrdiff_t kLettersMin = 3;  // *.ts and a* are no names in disguise
  constexpr std::size_t kPatternMax = 64;
  const std::size_t begin = file.rfind('/') + 1;
  const std::string_view name = std::string_view(file).substr(begin);
  const std::string_view stem = name.substr(0, name.rfind('.'));
  const auto is_letter = [](unsigned char c) { return std::isalpha(c) != 0; };
  if (name.find_first_of("*?[") != std::string_view::npos && name.size() <= kPatternMax &&
      std::count_if(stem.begin(), stem.end(), is_letter) >= kLettersMin) {
    const std::string pattern = glob_of(name);
    for (const SurfaceRow& row : word_list("sought_files")) {
      if (glob_matches(pattern, row.name)) files.push_back(file.substr(0, begin).append(row.name));
    }
  }
  files.push_back(std::move(file));
}

}  // namespace guard

// Looks for git among the words of the commands (validator/views/shell_commands.h). A word that may itself be a line of
// shell (`ssh host "git commit"`) is read in the same way.
#include "pipeline/hooks/shell_command.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <string>
#include <vector>

#include "validator/views/shell_commands.h"

namespace guard {
namespace {

// No operators, substitutions, redirections, and nothing that would become words that are not written here.
bool is_only_words(std::string_view text) {
  char quote = '\0';
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (c == quote) {
      quote = '\0';
    } else if (c == '\\' && quote != '\'') {
      ++i;
    } else if (quote == '\0' && (c == '\'' || c == '"')) {
      quote = c;
    } else if (quote != '\'' &&
        std::string_view(quote == '"' ? "$`" : ";&|()<>\n`{}$*?[~#!").find(c) != std::string_view::npos) {
      return false;
    }
  }
  return true;
}

bool is_git(std::string_view word) {
  return word.substr(word.rfind('/') == std::string_view::npos ? 0 : word.rfind('/') + 1) == "git";
}

// Options of `git commit` that take the next word, and that say nothing about what is committed.
constexpr std::string_view kValueLetters = "mFCct";
constexpr std::string_view kPlainLetters = "qvse";
constexpr std::array<std::string_view, 14> kPlainWords = {"--quiet", "--verbose", "--signoff", "--no-signoff",
    "--amend", "--no-edit", "--edit", "--allow-empty", "--allow-empty-message", "--no-gpg-sign",
    "--message=", "--author=", "--date=", "--trailer="};

struct CommitOptions {
  bool plain = true;
  bool skips_hooks = false;
};

CommitOptions read_commit_options(const std::vector<std::string>& words, std::size_t at) {
  CommitOptions options;
  for (; at < words.size(); ++at) {
    const std::string& word = words[at];
    if (word.starts_with("--")) {
      // git takes any beginning of an option that no other shares.
      if (word.starts_with("--no-v") && !word.starts_with("--no-verb")) options.skips_hooks = true;
      if (word == "--message" || word == "--file" || word == "--author" || word == "--date" || word == "--trailer") {
        ++at;
        continue;
      }
      const bool known = std::any_of(kPlainWords.begin(), kPlainWords.end(),
          [&](std::string_view plain) { return plain.back() == '=' ? word.starts_with(plain) : word == plain; });
      if (!known) options.plain = false;
      continue;
    }
    if (word.size() < 2 || word[0] != '-') {
      options.plain = false;  // a path
      continue;
    }
    for (std::size_t i = 1; i < word.size(); ++i) {
      if (kValueLetters.find(word[i]) != std::string_view::npos) {
        if (i + 1 == word.size()) ++at;  // else the value is the rest of this word
        break;
      }
      if (word[i] == 'S' || word[i] == 'u') break;
      if (word[i] == 'n') options.skips_hooks = true;
      if (kPlainLetters.find(word[i]) == std::string_view::npos) options.plain = false;
    }
  }
  return options;
}

bool contains_folded(std::string_view text, std::string_view lower_word) {
  const auto found = std::search(text.begin(), text.end(), lower_word.begin(), lower_word.end(),
      [](char a, char b) { return std::tolower(static_cast<unsigned char>(a)) == b; });
  return found != text.end();
}

// Switches hooks off, or tells guard something else, from wherever it stands in the command.
bool switches_hooks_off(std::string_view word) {
  return contains_folded(word, "core.hookspath") || word.starts_with("GIT_CONFIG") || word.starts_with("SKIP=") ||
      word.starts_with("PREK_SKIP=") || word.starts_with("HUSKY=") || word.starts_with("GUARD_");
}

ShellReading read_shell(std::string_view text, int depth_left) {
  ShellReading reading;
  const ShellWords read = shell_words(text);
  // What is too long or too deep to be read may be anything that it names.
  if (!read.whole && contains_folded(text, "git") && contains_folded(text, "commit"))
    reading.commits = reading.skips_hooks = true;
  for (const auto& words : read.commands) {
    for (std::size_t i = 0; i < words.size(); ++i) {
      if (switches_hooks_off(words[i])) reading.skips_hooks = true;
      // git runs none of its arguments: there such words are a message, or what is searched for.
      if (depth_left > 0 && !is_git(words[0]) && words[i].find_first_of(" \t\n") != std::string::npos) {
        const ShellReading inner = read_shell(words[i], depth_left - 1);
        reading.commits = reading.commits || inner.commits;
        reading.skips_hooks = reading.skips_hooks || inner.skips_hooks;
        reading.elsewhere = reading.elsewhere || inner.elsewhere;
      }
      if (!is_git(words[i])) continue;
      std::size_t at = i + 1;
      bool elsewhere = false;
      for (; at < words.size() && words[at].starts_with("-"); ++at) {
        const std::string& option = words[at];
        elsewhere = elsewhere || option == "-C" || option.starts_with("--git-dir") || option.starts_with("--work-tree");
        if (option == "-C" || option == "-c" || option == "--git-dir" || option == "--work-tree" ||
            option == "--namespace")
          ++at;
      }
      if (at >= words.size() || words[at] != "commit") continue;
      const CommitOptions options = read_commit_options(words, at + 1);
      reading.commits = true;
      reading.elsewhere = reading.elsewhere || elsewhere;
      reading.skips_hooks = reading.skips_hooks || options.skips_hooks;
      reading.plain = i == 0 && at == 1 && options.plain && read.commands.size() == 1 && is_only_words(text);
    }
  }
  return reading;
}

}  // namespace

ShellReading read_shell_command(std::string_view command) {
  constexpr int kDepthMax = 3;
  ShellReading reading = read_shell(command, kDepthMax);
  if (!reading.commits) reading.skips_hooks = reading.elsewhere = false;
  return reading;
}

}  // namespace guard

#include "pipeline/hooks/shell_command.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <string>
#include <vector>

// Splits the text into simple commands and words, taking quotes away, and looks for git among the words. A word that is
// itself a line of shell (`sh -c "git commit"`) is read in the same way.

namespace guard {
namespace {

struct SplitCommand {
  std::vector<std::vector<std::string>> commands;
  bool special = false;  // anything but words: operators, substitutions, redirections
};

class Splitter {
 public:
  explicit Splitter(std::string_view text) : text_(text) {}

  SplitCommand split() {
    for (; at_ < text_.size(); ++at_) step(text_[at_]);
    end_command();
    return std::move(result_);
  }

 private:
  void step(char c) {
    constexpr std::string_view kOperators = ";&|()<>\n`{}";
    if (c == '\'') {
      quoted_single();
    } else if (c == '"') {
      quoted_double();
    } else if (c == '\\') {
      if (++at_ < text_.size() && text_[at_] != '\n') append(text_[at_]);
    } else if (c == ' ' || c == '\t' || c == '\r') {
      end_word();
    } else if (kOperators.find(c) != std::string_view::npos) {
      result_.special = true;
      end_command();
    } else {
      // Expansions and globs make words that are not written here.
      if (std::string_view("$*?[~#!").find(c) != std::string_view::npos) result_.special = true;
      append(c);
    }
  }

  void quoted_single() {
    in_word_ = true;
    while (++at_ < text_.size() && text_[at_] != '\'') word_ += text_[at_];
  }

  void quoted_double() {
    in_word_ = true;
    while (++at_ < text_.size() && text_[at_] != '"') {
      if (text_[at_] == '$' || text_[at_] == '`') result_.special = true;
      if (text_[at_] == '\\' && at_ + 1 < text_.size()) ++at_;
      word_ += text_[at_];
    }
  }

  void append(char c) {
    in_word_ = true;
    word_ += c;
  }
  void end_word() {
    if (in_word_) words_.push_back(std::move(word_));
    word_.clear();
    in_word_ = false;
  }
  void end_command() {
    end_word();
    if (!words_.empty()) result_.commands.push_back(std::move(words_));
    words_.clear();
  }

  std::string_view text_;
  std::size_t at_ = 0;
  std::string word_;
  bool in_word_ = false;
  std::vector<std::string> words_;
  SplitCommand result_;
};

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
  const SplitCommand split = Splitter(text).split();
  for (const auto& words : split.commands) {
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
      reading.plain = i == 0 && at == 1 && options.plain && split.commands.size() == 1 && !split.special;
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

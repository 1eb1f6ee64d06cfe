#include "validator/shell_commands.h"

#include <algorithm>
#include <array>
#include <map>
#include <vector>

#include "common/glob.h"
#include "validator/constant_folder.h"

namespace guard {
namespace {

constexpr std::size_t kTextBytesMax = 64 * 1024;
constexpr std::size_t kCommandsMax = 256;
constexpr std::size_t kOutBytesMax = 256 * 1024;
constexpr int kDepthMax = 8;

using Words = std::vector<std::string>;

constexpr std::array<std::string_view, 17> kShells = {"sh",   "bash", "zsh",  "dash",    "ksh",  "ash",  "fish", "mksh", "rbash",
                                                      "csh",  "tcsh", "eval", "source", ".",    "pwsh", "cmd",  "powershell"};

// Programs that start the program named behind their own options. `values` are options that take the next word.
struct Wrapper {
  std::string_view name;
  std::string_view values;    // short options with a value of their own
  int operands = 0;           // words before the program: timeout 5 sh
};
constexpr std::array<Wrapper, 34> kWrappers = {{{"sudo", "ugpCDhRrTt", 0},     {"doas", "uC", 0},
                                                {"env", "uSC", 0},             {"exec", "a", 0},
                                                {"nohup", "", 0},              {"timeout", "ks", 1},
                                                {"xargs", "aEILnPsd", 0},      {"time", "fo", 0},
                                                {"nice", "n", 0},              {"ionice", "cnp", 0},
                                                {"command", "", 0},            {"builtin", "", 0},
                                                {"busybox", "", 0},            {"toybox", "", 0},
                                                {"stdbuf", "ioe", 0},          {"setsid", "", 0},
                                                {"chroot", "", 1},             {"if", "", 0},
                                                {"then", "", 0},               {"else", "", 0},
                                                {"elif", "", 0},               {"while", "", 0},
                                                {"until", "", 0},              {"do", "", 0},
                                                {"!", "", 0},                  {"{", "", 0},
                                                {"}", "", 0},                  {"trap", "", 0},
                                                {"watch", "n", 0},             {"coproc", "", 0},
                                                {"cross-env", "", 0},          {"dotenvx", "", 0},
                                                {"winpty", "", 0},             {"flock", "wE", 1}}};

// Names that a pattern in the place of a program is held against: /usr/bin/n?m.
constexpr std::array<std::string_view, 26> kSoughtPrograms = {
    "npm",  "npx",     "pnpm",  "yarn",  "bun",      "bunx",   "pip",    "pip3",     "curl",
    "wget", "nsenter", "mount", "umount", "unshare", "insmod", "modprobe", "printenv", "env",
    "sh",   "bash",    "cat",   "base64", "pivot_root", "corepack", "docker", "uvx"};

bool is_shell(std::string_view name) { return std::find(kShells.begin(), kShells.end(), name) != kShells.end(); }

bool is_name_byte(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
}

std::string_view base_name(std::string_view path) {
  const std::size_t slash = path.rfind('/');
  return slash == std::string_view::npos ? path : path.substr(slash + 1);
}

// Reads one text. Commands go to `out` as they end.
class ShellReader {
 public:
  ShellReader(std::string_view text, std::map<std::string, std::string, std::less<>>& variables, std::string& out, int depth)
      : text_(text.substr(0, kTextBytesMax)), variables_(variables), out_(out), depth_(depth) {}

  bool read(char first_joint) {
    joint_ = first_joint;
    if (depth_ > kDepthMax || out_.size() > kOutBytesMax) {
      add_unknown();
      return true;
    }
    while (at_ < text_.size()) {
      if (commands_ > kCommandsMax || out_.size() > kOutBytesMax) {
        add_unknown();
        break;
      }
      step();
    }
    end_command(kCommandNext);
    return any_;
  }

 private:
  void add_unknown() {
    out_ += kCommandNext;
    out_ += '\x1d';
    out_ += kWildcard;
    any_ = true;
  }

  char peek(std::size_t ahead = 0) const { return at_ + ahead < text_.size() ? text_[at_ + ahead] : '\0'; }

  void step() {
    const char c = peek();
    switch (c) {
      case ' ':
      case '\t':
      case '\r':
        end_word();
        ++at_;
        return;
      case '\n':
      case ';':
        ++at_;
        end_command(kCommandNext);
        return;
      case '&':
        if (peek(1) == '>' || (at_ > 0 && text_[at_ - 1] == '>')) {  // &> file, >&2
          ++at_;
          redirected_ = true;
          return;
        }
        at_ += peek(1) == '&' ? 2 : 1;
        end_command(kCommandNext);
        return;
      case '|':
        if (peek(1) == '|') {
          at_ += 2;
          end_command(kCommandNext);
          return;
        }
        at_ += peek(1) == '&' ? 2 : 1;
        end_command(kCommandPiped);
        return;
      case '(':
      case ')': {
        // ( sh ) groups; what is piped into the group is piped into its first command.
        const char kept = joint_;
        const bool empty = words_.empty() && !in_word_;
        ++at_;
        if (empty) return;
        end_command(kCommandNext);
        if (empty) joint_ = kept;
        return;
      }
      case '<':
      case '>':
        redirection(c);
        return;
      case '#':
        if (!in_word_) {
          while (at_ < text_.size() && peek() != '\n') ++at_;
          return;
        }
        break;
      case '\\':
        in_word_ = true;
        ++at_;
        if (peek() == '\n') {
          ++at_;
          in_word_ = !word_.empty();
        } else if (at_ < text_.size()) {
          word_ += text_[at_++];
        }
        return;
      case '\'':
        single_quoted();
        return;
      case '"':
        double_quoted();
        return;
      case '`':
        backquoted();
        return;
      case '$':
        dollar(false);
        return;
      default:
        break;
    }
    in_word_ = true;
    bare_ = true;
    word_ += c;
    ++at_;
  }

  void single_quoted() {
    in_word_ = true;
    quoted_ = true;
    const std::size_t close = text_.find('\'', at_ + 1);
    const std::size_t end = close == std::string_view::npos ? text_.size() : close;
    word_ += text_.substr(at_ + 1, end - at_ - 1);
    at_ = std::min(end + 1, text_.size());
  }

  void double_quoted() {
    in_word_ = true;
    quoted_ = true;
    ++at_;
    while (at_ < text_.size() && peek() != '"') {
      const char c = peek();
      if (c == '\\' && at_ + 1 < text_.size()) {
        const char next = peek(1);
        if (next != '"' && next != '\\' && next != '$' && next != '`' && next != '\n') word_ += c;
        if (next != '\n') word_ += next;
        at_ += 2;
      } else if (c == '$') {
        dollar(true);
      } else if (c == '`') {
        backquoted();
      } else {
        word_ += c;
        ++at_;
      }
    }
    if (at_ < text_.size()) ++at_;
  }

  void backquoted() {
    in_word_ = true;
    const std::size_t close = text_.find('`', at_ + 1);
    const std::size_t end = close == std::string_view::npos ? text_.size() : close;
    substitute(text_.substr(at_ + 1, end - at_ - 1));
    at_ = std::min(end + 1, text_.size());
  }

  // The end of $( or <( or ${, at its closing bracket; quotes and nesting are followed.
  std::size_t closing(std::size_t from, char open, char close) const {
    int depth = 1;
    for (std::size_t i = from; i < text_.size(); ++i) {
      const char c = text_[i];
      if (c == '\\') {
        ++i;
      } else if (c == '\'' && open == '(') {
        const std::size_t end = text_.find('\'', i + 1);
        if (end == std::string_view::npos) return text_.size();
        i = end;
      } else if (c == open) {
        ++depth;
      } else if (c == close && --depth == 0) {
        return i;
      }
    }
    return text_.size();
  }

  void dollar(bool in_quotes) {
    in_word_ = true;
    const char next = peek(1);
    if (next == '(') {
      const std::size_t end = closing(at_ + 2, '(', ')');
      substitute(text_.substr(at_ + 2, end - at_ - 2));
      at_ = std::min(end + 1, text_.size());
      return;
    }
    if (next == '\'' && !in_quotes) {
      std::size_t end = at_ + 2;
      while (end < text_.size() && text_[end] != '\'') end += text_[end] == '\\' ? 2 : 1;
      end = std::min(end, text_.size());
      word_ += decode_escapes(text_.substr(at_ + 2, end - at_ - 2));
      quoted_ = true;
      at_ = std::min(end + 1, text_.size());
      return;
    }
    if (next == '"' && !in_quotes) {  // $"text"
      ++at_;
      double_quoted();
      return;
    }
    std::string name;
    std::string fallback;
    if (next == '{') {
      const std::size_t end = closing(at_ + 2, '{', '}');
      const std::string_view inner = text_.substr(at_ + 2, end - at_ - 2);
      std::size_t size = 0;
      while (size < inner.size() && is_name_byte(inner[size])) ++size;
      name = inner.substr(0, size);
      const std::size_t dash = inner.find_first_of("-=+", size);
      if (dash != std::string_view::npos && dash <= size + 1) fallback = inner.substr(dash + 1);
      at_ = std::min(end + 1, text_.size());
    } else if (is_name_byte(next)) {
      std::size_t end = at_ + 1;
      if (next >= '0' && next <= '9') {
        end = at_ + 2;
      } else {
        while (end < text_.size() && is_name_byte(text_[end])) ++end;
      }
      name = text_.substr(at_ + 1, end - at_ - 1);
      at_ = end;
    } else if (next == '@' || next == '*' || next == '#' || next == '?' || next == '!' || next == '-') {
      at_ += 2;  // no arguments were given: "$@" is nothing
      return;
    } else {
      word_ += '$';
      ++at_;
      return;
    }
    expand(name, fallback, in_quotes);
  }

  void expand(const std::string& name, const std::string& fallback, bool in_quotes) {
    if (name == "IFS" && !in_quotes) {
      end_word();
      return;
    }
    const bool positional = !name.empty() && name[0] >= '0' && name[0] <= '9';
    if (positional) return;
    const auto known = variables_.find(name);
    std::string value = known != variables_.end() ? known->second : fallback;
    if (value.empty() && known == variables_.end()) value = kWildcard;
    if (in_quotes) {
      word_ += value;
      return;
    }
    // Unquoted values are split into words.
    for (const char c : value) {
      if (c == ' ' || c == '\t' || c == '\n') {
        end_word();
      } else {
        in_word_ = true;
        bare_ = true;
        word_ += c;
      }
    }
  }

  // $(echo npm) is npm; any other command stands for itself and an unknown word.
  void substitute(std::string_view inner) {
    in_word_ = true;
    std::string commands;
    ShellReader reader(inner, variables_, commands, depth_ + 1);
    reader.read(kCommandInner);
    const std::string_view only = commands;
    const bool single = only.find('\x1d') == only.rfind('\x1d');
    for (const std::string_view teller : {"<\x1d" "echo ", "<\x1d" "printf "}) {
      if (!single || only.substr(0, teller.size()) != teller) continue;
      std::string_view said = only.substr(teller.size());
      while (said.substr(0, 3) == "-n " || said.substr(0, 3) == "-e " || said.substr(0, 3) == "%s ") said.remove_prefix(3);
      if (said.find(kWildcard) != std::string_view::npos) break;
      word_ += said;
      return;
    }
    inner_ += commands;
    word_ += kWildcard;
  }

  void redirection(char c) {
    if (peek(1) == '(') {  // <(curl ..)
      in_word_ = true;
      const std::size_t end = closing(at_ + 2, '(', ')');
      substitute(text_.substr(at_ + 2, end - at_ - 2));
      at_ = std::min(end + 1, text_.size());
      return;
    }
    // The number of a descriptor belongs to the redirection.
    if (in_word_ && !quoted_ && word_.size() == 1 && word_[0] >= '0' && word_[0] <= '9') {
      word_.clear();
      in_word_ = false;
    }
    end_word();
    std::size_t arrows = 0;
    while (peek() == c) {
      ++at_;
      ++arrows;
    }
    if (c == '<' && arrows == 2) {
      here_document();
      return;
    }
    if (peek() == '|' || peek() == '&' || peek() == '-') ++at_;
    redirected_ = true;
    here_string_ = c == '<' && arrows == 3;
    reads_ = c == '<' && arrows == 1;
    output_ = output_ || c == '>';
  }

  // bash <<EOF: the lines up to EOF are what the command reads.
  void here_document() {
    if (peek() == '-') ++at_;
    while (peek() == ' ') ++at_;
    std::string mark;
    while (at_ < text_.size() && peek() != '\n' && peek() != ' ' && peek() != ';' && peek() != '|') {
      if (peek() != '\'' && peek() != '"' && peek() != '\\') mark += peek();
      ++at_;
    }
    const std::size_t line = text_.find('\n', at_);
    if (line == std::string_view::npos || mark.empty()) return;
    std::size_t end = text_.find("\n" + mark, line);
    if (end == std::string_view::npos) end = text_.size();
    standard_input_ = text_.substr(line + 1, end > line ? end - line - 1 : 0);
    document_begin_ = line;
    document_end_ = std::min(end + 1 + mark.size(), text_.size());
    // What stands on the same line goes on: `bash <<A | tee x`. It is read first, then the document is skipped.
    rest_of_line_end_ = line;
    const std::size_t from = at_;
    at_ = from;
    skip_document_ = true;
    if (at_ == line) at_ = document_end_;
  }

  void end_word() {
    if (!in_word_) return;
    std::string word;
    word.swap(word_);
    const bool bare = bare_ && !quoted_;
    in_word_ = bare_ = quoted_ = false;
    if (redirected_) {
      redirected_ = false;
      if (here_string_) {
        standard_input_ = word;
      } else if (reads_ && words_.size() < 256) {
        words_.push_back("<" + word);
      }
      here_string_ = false;
      return;
    }
    if (bare && word.size() > 2 && word.front() == '{' && word.back() == '}' && word.find(',') != std::string::npos) {
      std::string_view rest(word.data() + 1, word.size() - 2);
      while (true) {
        const std::size_t comma = rest.find(',');
        words_.emplace_back(rest.substr(0, comma));
        if (comma == std::string_view::npos) break;
        rest.remove_prefix(comma + 1);
      }
      return;
    }
    if (words_.size() < 256) words_.push_back(std::move(word));
  }

  static bool is_assignment(std::string_view word) {
    const std::size_t equals = word.find('=');
    if (equals == std::string_view::npos || equals == 0 || (word[0] >= '0' && word[0] <= '9')) return false;
    return std::all_of(word.begin(), word.begin() + static_cast<std::ptrdiff_t>(equals), is_name_byte);
  }

  void end_command(char next) {
    end_word();
    if (skip_document_) {
      if (at_ >= rest_of_line_end_) {
        at_ = std::max(at_, document_end_);
        skip_document_ = false;
      }
    }
    const char joint = joint_;
    if (!words_.empty()) {
      add_command(joint);
      joint_ = next;
    } else {
      // Substitutions without a command: X=$(curl ..)
      out_ += inner_;
      any_ = any_ || !inner_.empty();
      if (next == kCommandPiped) joint_ = next;
    }
    inner_.clear();
    standard_input_.clear();
    words_.clear();
    output_ = false;
    redirected_ = false;
  }

  void add_command(char joint) {
    ++commands_;
    std::size_t first = 0;
    while (first < words_.size() && is_assignment(words_[first])) {
      const std::size_t equals = words_[first].find('=');
      variables_[words_[first].substr(0, equals)] = words_[first].substr(equals + 1);
      ++first;
    }
    if (first < words_.size() && (words_[first] == "export" || words_[first] == "local" || words_[first] == "declare" || words_[first] == "alias")) {
      for (std::size_t i = first + 1; i < words_.size(); ++i) {
        const std::size_t equals = words_[i].find('=');
        if (is_assignment(words_[i])) variables_[words_[i].substr(0, equals)] = words_[i].substr(equals + 1);
      }
    }
    Words words(words_.begin() + static_cast<std::ptrdiff_t>(first), words_.end());
    if (words.empty()) {
      out_ += inner_;
      any_ = any_ || !inner_.empty();
      return;
    }
    strip_wrappers(words);
    emit(joint, words);
    out_ += inner_;
    run_texts(words, joint);
    if (output_ && !words.empty()) last_text_.clear();
    last_text_ = text_of_teller(words);
  }

  static void strip_wrappers(Words& words) {
    for (int round = 0; round < 16 && words.size() > 1; ++round) {
      const std::string name(base_name(words[0]));
      const auto wrapper = std::find_if(kWrappers.begin(), kWrappers.end(), [&](const Wrapper& w) { return w.name == name; });
      if (wrapper == kWrappers.end()) return;
      std::size_t next = 1;
      int operands = wrapper->operands;
      while (next < words.size()) {
        const std::string& word = words[next];
        if (word.size() > 1 && word[0] == '-') {
          const bool takes_value = word.size() == 2 && wrapper->values.find(word[1]) != std::string_view::npos;
          if (word == "-S" || word == "--split-string") {  // env -S "npm install"
            ++next;
            break;
          }
          next += takes_value ? 2 : 1;
        } else if (is_assignment(word)) {
          ++next;
        } else if (operands > 0) {
          --operands;
          ++next;
        } else {
          break;
        }
      }
      if (next >= words.size()) return;  // `env` alone prints the environment
      words.erase(words.begin(), words.begin() + static_cast<std::ptrdiff_t>(next));
      split_first(words);
    }
  }

  // A program and its arguments in one word: env -S "npm install", trap "npm i" EXIT.
  static void split_first(Words& words) {
    const std::size_t blank = words[0].find(' ');
    if (blank == std::string::npos || blank == 0) return;
    std::string rest = words[0].substr(blank + 1);
    words[0].resize(blank);
    words.insert(words.begin() + 1, std::move(rest));
  }

  void emit(char joint, const Words& words) {
    any_ = true;
    out_ += joint;
    out_ += '\x1d';
    std::string name(base_name(words[0]));
    if (name.empty() || words[0].find("://") != std::string::npos) name = words[0];
    if (name.size() > 4 && name.compare(name.size() - 4, 4, ".exe") == 0) name.resize(name.size() - 4);
    if (name.size() > 4 && name.compare(name.size() - 4, 4, ".cmd") == 0) name.resize(name.size() - 4);
    if (name.find_first_of("*?[") != std::string::npos && name.size() < 32) {
      for (const std::string_view sought : kSoughtPrograms) {
        if (glob_matches(name, sought)) {
          name = sought;
          break;
        }
      }
    }
    append_clean(name);
    for (std::size_t i = 1; i < words.size(); ++i) {
      out_ += ' ';
      append_clean(words[i]);
    }
    if (output_) out_ += " >";
  }

  void append_clean(std::string_view word) {
    for (const char c : word) out_ += c >= '\x1b' && c <= '\x1f' ? ' ' : (c == '\x1a' ? c : (c == '\n' ? ' ' : c));
  }

  // What the command says to whoever it is piped into.
  static std::string text_of_teller(const Words& words) {
    if (words.empty() || (words[0] != "echo" && words[0] != "printf" && words[0] != "cat")) return {};
    std::string text;
    for (std::size_t i = 1; i < words.size(); ++i) {
      if (i == 1 && (words[i] == "-n" || words[i] == "-e" || words[i] == "-ne" || words[i] == "%s")) continue;
      if (!text.empty()) text += ' ';
      text += words[i];
    }
    return text;
  }

  // Texts that the command runs as a shell would: sh -c TEXT, eval TEXT, su -c TEXT, echo TEXT | sh, sh <<< TEXT.
  void run_texts(const Words& words, char joint) {
    const std::string_view name = base_name(words[0]);
    const bool shell = is_shell(name);
    const bool with_c = shell || name == "su" || name == "script" || name == "runuser" || name == "sg" || name == "ssh" || name == "find" || name == "docker";
    const auto run = [&](std::string_view text) {
      if (text.empty()) return;
      ShellReader reader(text, variables_, out_, depth_ + 1);
      reader.read(kCommandNext);
    };
    if (name == "eval") {
      std::string text;
      for (std::size_t i = 1; i < words.size(); ++i) text += (i > 1 ? " " : "") + words[i];
      run(text);
      return;
    }
    if (with_c) {
      for (std::size_t i = 1; i + 1 < words.size(); ++i) {
        const std::string& option = words[i];
        const bool gives_text = option.size() > 1 && option[0] == '-' && (option.back() == 'c' || option == "-Command" || option == "-exec" || option == "-execdir" || option == "/c");
        if (!gives_text && option != "/c") continue;
        std::string text = words[i + 1];
        if (name == "find") {
          for (std::size_t j = i + 2; j < words.size() && words[j] != ";" && words[j] != "+"; ++j) text += " " + words[j];
        }
        run(text);
        break;
      }
    }
    if (shell && joint == kCommandPiped) run(last_text_);
    if (shell) run(standard_input_);
  }

  std::string_view text_;
  std::map<std::string, std::string, std::less<>>& variables_;
  std::string& out_;
  int depth_;
  std::size_t at_ = 0;
  std::size_t commands_ = 0;
  Words words_;
  std::string word_;
  std::string inner_;           // commands inside substitutions of this command
  std::string standard_input_;  // here-string or here-document
  std::string last_text_;       // what the command before writes, if it is known
  std::size_t document_begin_ = 0;
  std::size_t document_end_ = 0;
  std::size_t rest_of_line_end_ = 0;
  char joint_ = kCommandNext;
  bool in_word_ = false;
  bool bare_ = false;
  bool quoted_ = false;
  bool redirected_ = false;
  bool here_string_ = false;
  bool reads_ = false;
  bool skip_document_ = false;
  bool output_ = false;
  bool any_ = false;
};

}  // namespace

bool append_shell_commands(std::string_view text, std::string& out) {
  std::map<std::string, std::string, std::less<>> variables;
  ShellReader reader(text, variables, out, 0);
  return reader.read(kCommandNext);
}

bool append_argv_command(std::string_view words_by_nul, std::string& out) {
  // As a shell text in which every word is quoted.
  std::string text;
  while (!words_by_nul.empty()) {
    const std::size_t end = words_by_nul.find('\0');
    const std::string_view word = words_by_nul.substr(0, end);
    if (!text.empty()) text += ' ';
    text += '\'';
    for (const char c : word) {
      if (c == '\'') {
        text += "'\\''";
      } else {
        text += c;
      }
    }
    text += '\'';
    if (end == std::string_view::npos) break;
    words_by_nul.remove_prefix(end + 1);
  }
  return append_shell_commands(text, out);
}

}  // namespace guard

// One reader per text; texts that a text runs (sh -c, $(..), a here-document) get a reader of their own, one level
// deeper. All readers of one call share the variables and one budget of bytes and commands, because a text of a hundred
// bytes can double a variable a hundred times. Where a reading is not sure, the commands of both readings are told.
#include "validator/views/shell_commands.h"

#include <algorithm>
#include <map>
#include <optional>
#include <vector>

#include "validator/values/constant_folder.h"
#include "validator/views/shell_programs.h"

namespace guard {
namespace {

constexpr std::size_t kWordsMax = 256;  // of one command
constexpr std::size_t kBracesMax = 64;  // words out of one {a,b}{c,d}

using Words = std::vector<std::string>;

bool is_blank(char c) { return c == ' ' || c == '\t' || c == '\n'; }

// What all readers of one text share.
struct Shared {
  std::map<std::string, std::string, std::less<>> variables;
  std::size_t bytes_left = kShellWorkBytesMax;
  std::size_t commands_left = kShellCommandsMax;
  ShellWords* words = nullptr;  // where somebody wants them

  bool spent() const { return bytes_left == 0 || commands_left == 0; }
  // False, from then on, once there is not enough left.
  bool take(std::size_t bytes) {
    bytes_left = bytes > bytes_left ? 0 : bytes_left - bytes;
    return bytes_left > 0;
  }
};

// The end of $( or <( or ${, at its closing bracket; quotes and nesting are followed.
std::size_t closing(std::string_view text, std::size_t from, char open, char close) {
  int depth = 1;
  bool in_quotes = false;
  for (std::size_t i = from; i < text.size(); ++i) {
    const char c = text[i];
    if (c == '\\') {
      ++i;
    } else if (c == '"') {
      in_quotes = !in_quotes;
    } else if (in_quotes) {
      // A substitution inside of quotes has quotes of its own.
      if (c == '$' && i + 1 < text.size() && text[i + 1] == open) {
        ++depth;
        ++i;
        in_quotes = false;
      }
    } else if (c == '\'' && open == '(') {
      const std::size_t end = text.find('\'', i + 1);
      if (end == std::string_view::npos) return text.size();
      i = end;
    } else if (c == open) {
      ++depth;
    } else if (c == close && --depth == 0) {
      return i;
    }
  }
  return text.size();
}

// What printf writes: escapes decoded, %s and its kin filled in.
std::string formatted(std::string_view format, const Words& words, std::size_t next) {
  std::string text;
  const std::string decoded = decode_escapes(format);
  for (std::size_t i = 0; i < decoded.size(); ++i) {
    if (decoded[i] != '%' || i + 1 == decoded.size()) {
      text += decoded[i];
    } else if (decoded[++i] == '%') {
      text += '%';
    } else if (next < words.size()) {
      text += words[next++];
    }
  }
  return text;
}

// Reads one text. Commands go to `out` as they end.
class ShellReader {
 public:
  ShellReader(std::string_view text, Shared& shared, std::string& out, int depth)
      : text_(text.substr(0, kShellTextBytesMax)),
        cut_(text.size() > text_.size()),
        shared_(shared),
        out_(out),
        depth_(depth) {}

  bool read(char first_joint) {
    joint_ = first_joint;
    if (depth_ > kShellDepthMax || !shared_.take(text_.size() + 1)) {
      add_unread();
      return true;
    }
    while (at_ < text_.size() && !shared_.spent()) step();
    const bool whole = !cut_ && at_ >= text_.size();
    end_command(kCommandNext);
    if (!whole || shared_.spent()) add_unread();
    return any_;
  }

  // What the text writes, if it is one command of which that is known.
  std::optional<std::string> said() const {
    if (commands_ != 1 || nested_ || !last_text_ || last_text_->find(kWildcard) != std::string::npos)
      return std::nullopt;
    return last_text_;
  }

 private:
  void add_unread() {
    if (shared_.words != nullptr) shared_.words->whole = false;
    nested_ = true;
    any_ = true;
    out_ += kCommandNext;
    out_ += '\x1d';
    out_ += kCommandsUnread;
  }

  void add_to_word(std::string_view text) {
    in_word_ = true;
    if (shared_.take(text.size())) word_ += text;
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
        // (( 1 << b )): no here-document
        if (peek(1) == '(') arithmetic_ = true;
        [[fallthrough]];
      case ')':
        // ( sh ) groups; what is piped into the group is piped into its first command.
        if (c == ')' && peek(1) == ')') arithmetic_ = false;
        ++at_;
        if (!words_.empty() || in_word_) end_command(kCommandNext);
        return;
      case '<':
      case '>': redirection(c); return;
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
      case '\'': single_quoted(); return;
      case '"': double_quoted(); return;
      case '`': backquoted(); return;
      case '$': dollar(false); return;
      default: break;
    }
    in_word_ = true;
    if (c == '{' || c == ',' || c == '}') braces_.push_back(word_.size());
    word_ += c;
    ++at_;
  }

  void single_quoted() {
    in_word_ = true;
    const std::size_t close = text_.find('\'', at_ + 1);
    const std::size_t end = close == std::string_view::npos ? text_.size() : close;
    word_ += text_.substr(at_ + 1, end - at_ - 1);
    at_ = std::min(end + 1, text_.size());
  }

  void double_quoted() {
    in_word_ = true;
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

  void dollar(bool in_quotes) {
    in_word_ = true;
    const char next = peek(1);
    if (next == '(') {
      const std::size_t end = closing(text_, at_ + 2, '(', ')');
      substitute(text_.substr(at_ + 2, end - at_ - 2));
      at_ = std::min(end + 1, text_.size());
      return;
    }
    if (next == '\'' && !in_quotes) {
      std::size_t end = at_ + 2;
      while (end < text_.size() && text_[end] != '\'') end += text_[end] == '\\' ? 2 : 1;
      end = std::min(end, text_.size());
      word_ += decode_escapes(text_.substr(at_ + 2, end - at_ - 2));
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
      const std::size_t end = closing(text_, at_ + 2, '{', '}');
      const std::string_view inner = text_.substr(at_ + 2, end - at_ - 2);
      std::size_t size = 0;
      while (size < inner.size() && is_shell_name_byte(inner[size])) ++size;
      name = inner.substr(0, size);
      at_ = std::min(end + 1, text_.size());
      const std::size_t dash = inner.find_first_of("-=+", size);
      if (dash != std::string_view::npos && dash <= size + 1) {
        fallback = inner.substr(dash + 1);
        // ${x-$(npm i)}
        run_substitutions(fallback);
      } else if (size < inner.size()) {  // ${x:0:3}, ${x%%y}: computed
        run_substitutions(inner);
        add_to_word(std::string_view(&kWildcard, 1));
        return;
      }
    } else if (is_shell_name_byte(next)) {
      std::size_t end = at_ + 1;
      if (next >= '0' && next <= '9') {
        end = at_ + 2;
      } else {
        while (end < text_.size() && is_shell_name_byte(text_[end])) ++end;
      }
      name = text_.substr(at_ + 1, end - at_ - 1);
      at_ = end;
    } else if (next == '@' || next == '*') {
      at_ += 2;
      name = "@";
    } else if (next == '#' || next == '?' || next == '!' || next == '-') {
      at_ += 2;
      return;
    } else {
      word_ += '$';
      ++at_;
      return;
    }
    expand(name, fallback, in_quotes);
  }

  void expand(const std::string& name, const std::string& fallback, bool in_quotes) {
    const auto separators = shared_.variables.find("IFS");
    if (name == "IFS" && separators == shared_.variables.end()) {
      if (!in_quotes) end_word();
      return;
    }
    const auto known = shared_.variables.find(name);
    std::string value = known != shared_.variables.end() ? known->second : fallback;
    const bool positional = name == "@" || (!name.empty() && name[0] >= '0' && name[0] <= '9');
    if (value.empty() && known == shared_.variables.end() && !positional) value = kWildcard;
    if (in_quotes && name != "@") {
      add_to_word(value);
      return;
    }
    // Unquoted values are split into words.
    if (!shared_.take(value.size())) return;
    for (const char c : value) {
      const bool parts = separators != shared_.variables.end() && separators->second.find(c) != std::string::npos;
      if (parts || is_blank(c)) {
        end_word();
      } else {
        in_word_ = true;
        word_ += c;
      }
    }
  }

  // $(echo npm) is npm; any other command stands for itself and an unknown word.
  void substitute(std::string_view inner) {
    in_word_ = true;
    std::string commands;
    ShellReader reader(inner, shared_, commands, depth_ + 1);
    reader.read(kCommandInner);
    if (const std::optional<std::string> said = reader.said()) {
      add_to_word(*said);
      return;
    }
    nested_ = true;
    inner_ += commands;
    word_ += kWildcard;
  }

  // The substitutions in a text that is no command itself.
  void run_substitutions(std::string_view text) {
    for (std::size_t i = 0; i < text.size() && !shared_.spent(); ++i) {
      std::size_t begin = 0;
      std::size_t end = 0;
      if (text[i] == '\\') {
        ++i;
      } else if (text[i] == '`') {
        begin = i + 1;
        end = std::min(text.find('`', begin), text.size());
      } else if (text.substr(i, 2) == "$(") {
        begin = i + 2;
        end = closing(text, begin, '(', ')');
      }
      if (begin == 0) continue;
      std::string commands;
      ShellReader(text.substr(begin, end - begin), shared_, commands, depth_ + 1).read(kCommandInner);
      nested_ = true;
      inner_ += commands;
      i = end;
    }
  }

  void redirection(char c) {
    if (peek(1) == '(') {  // <(curl ..)
      in_word_ = true;
      const std::size_t end = closing(text_, at_ + 2, '(', ')');
      substitute(text_.substr(at_ + 2, end - at_ - 2));
      at_ = std::min(end + 1, text_.size());
      return;
    }
    // The number of a descriptor belongs to the redirection.
    const bool errors = in_word_ && word_ == "2";
    if (in_word_ && word_.size() == 1 && word_[0] >= '0' && word_[0] <= '9') {
      word_.clear();
      in_word_ = false;
    }
    end_word();
    std::size_t arrows = 0;
    while (peek() == c) {
      ++at_;
      ++arrows;
    }
    if (c == '<' && arrows == 2 && !arithmetic_) {
      here_document();
      return;
    }
    if (peek() == '|' || peek() == '&' || peek() == '-') ++at_;
    redirected_ = true;
    here_string_ = c == '<' && arrows == 3;
    reads_ = c == '<' && arrows == 1;
    output_ = output_ || (c == '>' && !errors);
  }

  // The word behind <<, and whether substitutions in the document are run.
  std::pair<std::string, bool> document_mark() {
    std::string mark;
    bool plain = true;
    constexpr std::string_view kEnds = " \t\n;|&<>()";
    while (at_ < text_.size() && kEnds.find(peek()) == std::string_view::npos) {
      const char c = peek();
      ++at_;
      if (c != '\'' && c != '"' && c != '\\') {
        mark += c;
        continue;
      }
      plain = false;
      if (c == '\\') continue;
      const std::size_t end = std::min(text_.find(c, at_), text_.size());
      mark += text_.substr(at_, end - at_);
      at_ = std::min(end + 1, text_.size());
    }
    return {mark, plain};
  }

  // bash <<EOF: the lines up to EOF are what the command reads.
  void here_document() {
    const bool tabs = peek() == '-';
    if (tabs) ++at_;
    while (peek() == ' ' || peek() == '\t') ++at_;
    const auto [mark, plain] = document_mark();
    const std::size_t line = text_.find('\n', at_);
    if (line == std::string_view::npos || mark.empty()) return;
    // The document of an earlier << on this line comes first.
    const std::size_t begin = std::max(line + 1, document_end_);
    std::size_t end = begin;
    std::size_t next = begin;
    bool found = false;
    while (!found && next < text_.size()) {
      end = next;
      const std::size_t stop = std::min(text_.find('\n', end), text_.size());
      std::string_view here = text_.substr(end, stop - end);
      while (tabs && !here.empty() && here[0] == '\t') here.remove_prefix(1);
      if (!here.empty() && here.back() == '\r') here.remove_suffix(1);
      found = here == mark;
      next = stop + 1;
    }
    if (!found) end = text_.size();
    if (!shared_.take(end - begin + 1)) return;
    standard_input_ = text_.substr(begin, end - begin);
    if (plain) run_substitutions(*standard_input_);
    if (shared_.words != nullptr) run(std::string(*standard_input_));
    // A mark that does not come may have been none: then the lines are commands as well. What stands behind the mark on
    // its line goes on (`bash <<A | tee x`); end_command() leaps over the document.
    if (found) document_end_ = std::min(next, text_.size());
  }

  void end_word() {
    if (!in_word_) return;
    std::string word;
    word.swap(word_);
    std::vector<std::size_t> braces;
    braces.swap(braces_);
    in_word_ = false;
    if (redirected_) {
      redirected_ = false;
      if (here_string_) {
        standard_input_ = word;
      } else if (reads_ && words_.size() < kWordsMax) {
        words_.push_back("<" + word);
      }
      here_string_ = false;
      return;
    }
    if (braces.size() >= 3) {
      std::size_t made = 0;
      add_braced(word, braces, made);
    } else {
      add_word(std::move(word));
    }
  }

  void add_word(std::string word) {
    if (words_.size() < kWordsMax) {
      words_.push_back(std::move(word));
    } else {
      shared_.bytes_left = 0;
    }
  }

  // a{b,c}d is abd acd. `braces` says where unquoted braces and commas stand.
  void add_braced(const std::string& word, const std::vector<std::size_t>& braces, std::size_t& made) {
    // The first group that holds no other one.
    std::size_t first = braces.size();
    std::size_t last = braces.size();
    for (std::size_t i = 0; i < braces.size() && last == braces.size(); ++i) {
      if (word[braces[i]] == '{') first = i;
      if (word[braces[i]] == '}' && first < i && i - first >= 2) last = i;
    }
    if (last == braces.size() || ++made > kBracesMax) {
      add_word(word);
      return;
    }
    for (std::size_t i = first; i < last; ++i) {
      const std::size_t begin = braces[i] + 1;
      std::string one = word.substr(0, braces[first]);
      one += word.substr(begin, braces[i + 1] - begin);
      const std::size_t tail = one.size();
      one += word.substr(braces[last] + 1);
      if (!shared_.take(one.size() + 1)) return;
      std::vector<std::size_t> rest(braces.begin(), braces.begin() + static_cast<std::ptrdiff_t>(first));
      for (std::size_t j = last + 1; j < braces.size(); ++j) rest.push_back(braces[j] - braces[last] - 1 + tail);
      add_braced(one, rest, made);
    }
  }

  void end_command(char next) {
    end_word();
    if (at_ > 0 && at_ <= text_.size() && text_[at_ - 1] == '\n') at_ = std::max(at_, document_end_);
    const char joint = joint_;
    if (!words_.empty()) {
      add_command(joint);
      joint_ = next;
    } else {
      // Substitutions without a command: X=$(curl ..)
      end_inner();
      if (next == kCommandPiped) joint_ = next;
    }
    standard_input_.reset();
    words_.clear();
    output_ = false;
    redirected_ = false;
  }

  void end_inner() {
    out_ += inner_;
    any_ = any_ || !inner_.empty();
    inner_.clear();
  }

  void assign(const std::string& word) {
    const std::size_t equals = word.find('=');
    if (shared_.take(word.size())) shared_.variables[word.substr(0, equals)] = word.substr(equals + 1);
  }

  void add_command(char joint) {
    ++commands_;
    if (shared_.words != nullptr) shared_.words->commands.push_back(words_);
    if (shared_.commands_left > 0) --shared_.commands_left;
    std::size_t first = 0;
    while (first < words_.size() && is_shell_assignment(words_[first])) assign(words_[first++]);
    Words words(words_.begin() + static_cast<std::ptrdiff_t>(first), words_.end());
    if (words.empty()) {
      end_inner();
      last_text_.reset();
      return;
    }
    const bool declares = words[0] == "export" || words[0] == "local" || words[0] == "declare" || words[0] == "alias" ||
        words[0] == "readonly" || words[0] == "typeset";
    for (std::size_t i = 1; declares && i < words.size(); ++i) {
      if (is_shell_assignment(words[i])) assign(words[i]);
    }
    const bool feeds = program_name(words[0]) == "xargs";
    strip_wrappers(words);
    // xargs gives what it reads to its program.
    if (feeds && program_name(words[0]) != "xargs") {
      words.push_back(joint == kCommandPiped && last_text_ ? *last_text_ : std::string(1, kWildcard));
    }
    emit(joint, words);
    end_inner();
    run_texts(words, joint);
    std::optional<std::string> said = output_ ? std::nullopt : text_of(words, joint);
    last_text_ = std::move(said);
  }

  void emit(char joint, const Words& words) {
    any_ = true;
    out_ += joint;
    out_ += '\x1d';
    append_clean(program_of_pattern(program_name(words[0])));
    for (std::size_t i = 1; i < words.size(); ++i) {
      out_ += ' ';
      append_clean(words[i]);
    }
    if (output_) out_ += " >";
  }

  void append_clean(std::string_view word) {
    for (const char c : word) out_ += (c >= '\x1b' && c <= '\x1f') || c == '\n' ? ' ' : c;
  }

  // What the command writes, where that is known.
  std::optional<std::string> text_of(const Words& words, char joint) {
    const std::string_view name = program_name(words[0]);
    if (name == "tee" || (name == "cat" && (words.size() == 1 || words[1] == "-"))) {
      if (standard_input_) return std::move(standard_input_);
      return joint == kCommandPiped ? last_text_ : std::nullopt;
    }
    if ((name == "which" && words.size() == 2) || (name == "command" && words.size() == 3)) return words.back();
    if (name != "echo" && name != "printf") return std::nullopt;
    std::size_t next = 1;
    while (next < words.size() &&
        (words[next] == "--" || words[next] == "-n" || words[next] == "-e" || words[next] == "-ne" ||
            words[next] == "-en" || words[next] == "-E")) {
      ++next;
    }
    if (next == words.size()) return std::string();
    if (name == "printf") return formatted(words[next], words, next + 1);
    std::string text;
    for (std::size_t i = next; i < words.size(); ++i) text += (i > next ? " " : "") + words[i];
    return text.find('\\') == std::string::npos ? text : decode_escapes(text);
  }

  void run(std::string_view text) {
    if (text.empty()) return;
    nested_ = true;
    ShellReader(text, shared_, out_, depth_ + 1).read(kCommandNext);
  }

  // sh -c TEXT name args..: they are $0, $1 and so on.
  void run_with_arguments(const Words& words, std::size_t text) {
    std::string all;
    for (std::size_t i = text + 1; i < words.size() && i < text + 11; ++i) {
      assign(std::to_string(i - text - 1) + "=" + words[i]);
      if (i > text + 1) all += (all.empty() ? "" : " ") + words[i];
    }
    assign("@=" + all);
    run(words[text]);
  }

  // Texts that the command runs as a shell would: sh -c TEXT, eval TEXT, su -c TEXT, echo TEXT | sh, sh <<< TEXT.
  void run_texts(const Words& words, char joint) {
    const std::string name(program_name(words[0]));
    const auto joined = [&](std::size_t first) {
      std::string text;
      for (std::size_t i = first; i < words.size(); ++i) text += (i > first ? " " : "") + words[i];
      return text;
    };
    if (name == "eval" || name == "watch" || name == "parallel") return run(joined(1));
    if (name == "set" && words.size() > 2 && words[1] == "--") return assign("@=" + joined(2));
    if (name == "trap" && words.size() > 2) return run(words[1]);
    if (name == "alias") {
      for (std::size_t i = 1; i < words.size(); ++i) {
        const std::size_t equals = words[i].find('=');
        if (equals != std::string::npos) run(std::string_view(words[i]).substr(equals + 1));
      }
      return;
    }
    if (name == "find") {
      for (std::size_t i = 1; i + 1 < words.size(); ++i) {
        if (words[i] == "-exec" || words[i] == "-execdir" || words[i] == "-ok") return run(joined(i + 1));
      }
      return;
    }
    const bool shell = is_shell_program(name);
    if (shell || name == "su" || name == "script" || name == "runuser" || name == "sg" || name == "docker" ||
        name == "podman") {
      run_option_c(words);
    }
    if (!shell) return;
    if (joint == kCommandPiped && last_text_) run(std::string(*last_text_));
    if (standard_input_) run(std::string(*standard_input_));
  }

  void run_option_c(const Words& words) {
    for (std::size_t i = 1; i + 1 < words.size(); ++i) {
      const std::string& option = words[i];
      const bool cluster =
          option.size() > 1 && option[0] == '-' && option[1] != '-' && option.find('c') != std::string::npos;
      if (!cluster && option != "-Command" && option != "/c" && option != "/C" && option != "--command") continue;
      std::size_t text = i + 1;
      while (text + 1 < words.size() && words[text].size() > 1 && words[text][0] == '-') ++text;
      return run_with_arguments(words, text);
    }
  }

  std::string_view text_;
  bool cut_;
  Shared& shared_;
  std::string& out_;
  int depth_;
  std::size_t at_ = 0;
  std::size_t commands_ = 0;
  Words words_;
  std::string word_;
  std::vector<std::size_t> braces_;            // where unquoted { , } stand in word_
  std::string inner_;                          // commands inside substitutions of this command
  std::optional<std::string> standard_input_;  // here-string or here-document
  std::optional<std::string> last_text_;       // what the command before writes, if it is known
  std::size_t document_end_ = 0;
  char joint_ = kCommandNext;
  bool in_word_ = false;
  bool redirected_ = false;
  bool here_string_ = false;
  bool reads_ = false;
  bool arithmetic_ = false;
  bool output_ = false;
  bool nested_ = false;  // there are commands besides those of this text
  bool any_ = false;
};

}  // namespace

bool append_shell_commands(std::string_view text, std::string& out) {
  Shared shared;
  return ShellReader(text, shared, out, 0).read(kCommandNext);
}

ShellWords shell_words(std::string_view text) {
  ShellWords words;
  Shared shared;
  shared.words = &words;
  std::string commands;
  ShellReader(text, shared, commands, 0).read(kCommandNext);
  return words;
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

// One reader per text; texts that a text runs (sh -c, $(..), a here-document) get a reader of their own, one level
// deeper. All readers of one call share the variables and one budget of bytes and commands, because a text of a hundred
// bytes can double a variable a hundred times. Where a reading is not sure, the commands of both readings are told.
#include "validator/views/shell_commands.h"

#include <algorithm>
#include <iterator>
#include <map>
#include <optional>
#include <sstream>
#include <utility>
#include <vector>

#include "rules/surface.h"
#include "validator/values/constant_folder.h"
#include "validator/views/command_files.h"
#include "validator/views/shell_programs.h"

namespace guard {
namespace {

constexpr std::size_t kWordsMax = 256;  // of one command

using Words = std::vector<std::string>;

bool is_blank_on_line(char c) { return c == ' ' || c == '\t'; }
bool ends_mark(char c) { return std::string_view(" \t\n;|&<>()").find(c) != std::string_view::npos; }
bool is_blank(char c) { return c == ' ' || c == '\t' || c == '\n'; }

// What all readers of one text share.
struct Shared {
  std::map<std::string, std::string, std::less<>> variables;
  std::size_t bytes_left = kShellWorkBytesMax;
  std::size_t commands_left = kShellCommandsMax;
  ShellWords* words = nullptr;                // where somebody wants them
  std::vector<std::string>* files = nullptr;  // that are read

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

// id_{rsa,dsa} is two words. Quotes in there are gone by now; a word with too many alternatives stays one.
std::vector<std::string> alternatives_of(const std::string& word) {
  constexpr std::size_t kAlternativesMax = 64;
  std::vector<std::string> done;
  std::vector<std::string> open = {word};
  while (!open.empty()) {
    const std::string now = std::move(open.back());
    open.pop_back();
    std::vector<std::size_t> cuts;  // the bracket, its commas and the other bracket
    for (std::size_t begin = now.find('{'); begin != std::string::npos && cuts.empty();
         begin = now.find('{', begin + 1)) {
      int depth = 0;
      std::vector<std::size_t> found;
      for (std::size_t at = begin; at < now.size() && (at == begin || depth > 0); ++at) {
        if (now[at] == '{' && ++depth == 1) found.push_back(at);
        if (now[at] == ',' && depth == 1) found.push_back(at);
        if (now[at] == '}' && --depth == 0) found.push_back(at);
      }
      if (depth == 0 && found.size() > 2) cuts = std::move(found);
    }
    if (cuts.empty()) {
      done.push_back(now);
      continue;
    }
    for (std::size_t i = cuts.size() - 1; i > 0; --i) {
      open.push_back(now.substr(0, cuts[0]) + now.substr(cuts[i - 1] + 1, cuts[i] - cuts[i - 1] - 1) +
          now.substr(cuts.back() + 1));
    }
    if (open.size() + done.size() > kAlternativesMax) return {word};
  }
  return done;
}

// A command as it was read, before it is known what it starts.
struct SimpleCommand {
  Words words;
  Words read_from;                         // <file, wherever it stood: it is no word of what is started
  std::optional<std::string> here_string;  // <<< text
  std::string inner;                       // the commands in its substitutions
  bool output = false;                     // it goes to a file

  bool empty() const { return words.empty() && read_from.empty(); }
};

// Writes commands, and those that they run in turn.
class CommandList {
 public:
  CommandList(Shared& shared, std::string& out, int depth) : shared_(shared), out_(out), depth_(depth) {}

  bool any() const { return any_; }

  // What the commands write, if it is one of which that is known.
  std::optional<std::string> said() const {
    if (commands_ != 1 || nested_ || !last_text_ || last_text_->find(kWildcard) != std::string::npos)
      return std::nullopt;
    return last_text_;
  }

  void add_unread() {
    if (shared_.words != nullptr) shared_.words->whole = false;
    nested_ = true;
    any_ = true;
    out_ += kCommandNext;
    out_ += '\x1d';
    out_ += kCommandsUnread;
  }

  void add(char joint, const SimpleCommand& command) {
    if (command.empty()) return end_inner(command);
    ++commands_;
    if (shared_.words != nullptr) shared_.words->commands.push_back(with_files(command.words, command));
    if (shared_.commands_left > 0) --shared_.commands_left;
    for (const std::string& file : command.read_from) add_file(file.substr(1));
    std::size_t first = 0;
    while (first < command.words.size() && is_shell_assignment(command.words[first])) assign(command.words[first++]);
    Words words(command.words.begin() + static_cast<std::ptrdiff_t>(first), command.words.end());
    if (words.empty() && command.read_from.empty()) {
      last_text_.reset();
      return end_inner(command);
    }
    const bool declares = !words.empty() &&
        (words[0] == "export" || words[0] == "local" || words[0] == "declare" || words[0] == "readonly");
    for (std::size_t i = 1; declares && i < words.size(); ++i) {
      if (is_shell_assignment(words[i])) assign(words[i]);
    }
    const std::size_t program = started_program(words);
    // xargs gives what it reads to its program.
    const bool adds_words = program > 0 && program_name(words[0]) == "xargs";
    if (adds_words) add_files_of(std::span(words).first(program));
    words.erase(words.begin(), words.begin() + static_cast<std::ptrdiff_t>(program));
    Words given = words;
    std::istringstream read(adds_words && joint == kCommandPiped ? last_text_.value_or("") : "");
    given.insert(given.end(), std::istream_iterator<std::string>(read), {});
    add_files_of(given);
    if (adds_words) words.emplace_back(1, kWildcard);
    words = with_files(std::move(words), command);
    any_ = true;
    out_ += joint;
    out_ += '\x1d';
    append_clean(program_of_pattern(program_name(words[0])));
    for (std::size_t i = 1; i < words.size(); ++i) {
      out_ += ' ';
      append_clean(words[i]);
    }
    if (command.output) out_ += " >";
    end_inner(command);
    run_texts(joint, words, command.here_string);
    last_text_ = command.output ? std::nullopt : text_of(words, joint);
  }

  // Commands besides those of this text.
  void note_nested() { nested_ = true; }
  void run(std::string_view text);

 private:
  void add_file(std::string file) {
    if (shared_.files != nullptr && shared_.take(file.size() + 1)) add_read_file(std::move(file), *shared_.files);
  }
  void add_files_of(std::span<const std::string> words) {
    if (shared_.files == nullptr) return;
    for (std::string& file : files_read_by(words)) add_file(std::move(file));
  }

  static Words with_files(Words words, const SimpleCommand& command) {
    words.insert(words.end(), command.read_from.begin(), command.read_from.end());
    return words;
  }

  void end_inner(const SimpleCommand& command) {
    out_ += command.inner;
    any_ = any_ || !command.inner.empty();
  }

  void assign(const std::string& word) {
    const std::size_t equals = word.find('=');
    if (!shared_.take(word.size())) return;
    const bool adds = word[equals - 1] == '+';
    std::string& value = shared_.variables[word.substr(0, adds ? equals - 1 : equals)];
    if (!adds) value.clear();
    if (shared_.take(value.size())) value += word.substr(equals + 1);
  }

  void append_clean(std::string_view word) {
    for (const char c : word) out_ += (c >= '\x1b' && c <= '\x1f') || c == '\n' ? ' ' : c;
  }

  // What the command writes, where that is known.
  std::optional<std::string> text_of(const Words& words, char joint) {
    const std::string_view name = program_name(words[0]);
    if (name == "tee" || name == "cat") return joint == kCommandPiped ? last_text_ : std::nullopt;
    if (name == "which" && words.size() == 2) return words[1];
    if (name != "echo" && name != "printf") return std::nullopt;
    std::size_t next = 1;
    while (next < words.size() && words[next].starts_with('-')) ++next;
    if (name == "echo" || next >= words.size()) return decode_escapes(joined(words, next));
    std::string said = words[next];
    for (std::size_t at = said.find("%s"); at != std::string::npos; at = said.find("%s", at)) {
      const std::string word = ++next < words.size() ? words[next] : std::string();
      said.replace(at, 2, word);
      at += word.size();
    }
    return decode_escapes(said);
  }

  static std::string joined(const Words& words, std::size_t first) {
    std::string text;
    for (std::size_t i = first; i < words.size(); ++i) text += (i > first ? " " : "") + words[i];
    return text;
  }

  // Texts that the command runs as a shell would: sh -c TEXT, eval TEXT, su -c TEXT, echo TEXT | sh, sh <<< TEXT.
  void run_texts(char joint, const Words& words, const std::optional<std::string>& here_string) {
    const std::string name(program_name(words[0]));
    if (name.find(' ') != std::string::npos) return run(joined(words, 0));  // env -S "npm install"
    if (name == "eval") return run(joined(words, words.size() > 1 && words[1] == "--" ? 2 : 1));
    if (name == "trap" && words.size() > 2) return run(words[1]);
    for (std::size_t i = 1; name == "alias" && i < words.size(); ++i) run(words[i].substr(words[i].find('=') + 1));
    const bool shell = is_word_of("shell_programs", name);
    const bool runs_option = shell || is_word_of("shell_text_runners", name);
    for (std::size_t i = 1; i + 1 < words.size(); ++i) {
      if (name == "find" && (words[i] == "-exec" || words[i] == "-execdir" || words[i] == "-ok"))
        return run(joined(words, i + 1));
      if (!runs_option || !takes_text(words[i])) continue;
      std::size_t text = i + 1;
      while (text + 1 < words.size() && words[text].starts_with('-')) ++text;
      run(with_parameters(words, text));
      break;
    }
    if (shell && joint == kCommandPiped && last_text_) run(std::string(*last_text_));
    if (shell && here_string) run(std::string(*here_string));
  }

  // The script with what stands behind it: sh -c '"$@"' _ npm i.
  static std::string with_parameters(const Words& words, std::size_t text) {
    const std::string& script = words[text];
    if (text + 1 == words.size()) return script;
    std::string whole;
    for (std::size_t at = 0; at < script.size(); ++at) {
      const char next = script[at] == '$' && at + 1 < script.size() ? script[at + 1] : '\0';
      const bool number = next >= '0' && next <= '9';
      if (!number && next != '@' && next != '*') {
        whole += script[at];
        continue;
      }
      ++at;
      // Quotes around all of them part words.
      if (!number) {
        if (!whole.empty() && whole.back() == '"') whole.pop_back();
        whole += joined(words, text + 2);
        if (at + 1 < script.size() && script[at + 1] == '"') ++at;
      } else if (const std::size_t word = text + 1 + static_cast<std::size_t>(next - '0'); word < words.size()) {
        whole += words[word];
      }
    }
    return whole;
  }

  // -c, also as one of several letters.
  static bool takes_text(std::string_view option) {
    const bool letters = option.size() > 1 && option[0] == '-' && option[1] != '-';
    return (letters && option.find('c') != std::string_view::npos) || option == "-Command" || option == "/c" ||
        option == "/C" || option == "--command";
  }

  Shared& shared_;
  std::string& out_;
  int depth_;
  std::size_t commands_ = 0;
  std::optional<std::string> last_text_;  // what the command before writes, if it is known
  bool nested_ = false;                   // there are commands besides those of this text
  bool any_ = false;
};

// Reads the words of one text. Commands go to the list as they end.
class ShellReader {
 public:
  ShellReader(std::string_view text, Shared& shared, std::string& out, int depth)
      : text_(text.substr(0, kShellTextBytesMax)),
        cut_(text.size() > text_.size()),
        shared_(shared),
        list_(shared, out, depth),
        depth_(depth) {}

  // False if there was no command.
  bool read(char first_joint) {
    joint_ = first_joint;
    if (depth_ > kShellDepthMax || !shared_.take(text_.size() + 1)) {
      list_.add_unread();
      return true;
    }
    while (at_ < text_.size() && !shared_.spent()) step();
    const bool whole = !cut_ && at_ >= text_.size();
    end_command(kCommandNext);
    list_.run(std::exchange(document_, {}));
    if (!whole || shared_.spent()) list_.add_unread();
    return list_.any();
  }

  const CommandList& list() const { return list_; }

 private:
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
        if (c == '\n') list_.run(std::exchange(document_, {}));
        return;
      case '&':
        if (peek(1) == '>' || (at_ > 0 && text_[at_ - 1] == '>')) {  // &> file, >&2
          ++at_;
          redirect_ = Redirect::away;
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
      case ')':
        // ( sh ) groups; what is piped into the group is piped into its first command.
        ++at_;
        if (!now_.empty() || in_word_) end_command(kCommandNext);
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
    braces_ = braces_ || c == '{';
    in_word_ = true;
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
    std::size_t end = at_ + 1;
    std::string_view name;
    if (next == '{') {
      end = closing(text_, at_ + 2, '{', '}');
      name = text_.substr(at_ + 2, end - at_ - 2);
      end = std::min(end + 1, text_.size());
      // ${x-$(npm i)}: what is computed is not known, but what it runs is.
      const std::size_t runs = std::min(name.find("$("), name.find('`'));
      if (runs != std::string_view::npos) substitute(name.substr(runs));
      // ${!A@} and ${!A*} are the names of all variables that begin like that.
      if (name.starts_with('!') && (name.ends_with('@') || name.ends_with('*'))) substitute("compgen -v");
    } else if (is_shell_name_byte(next)) {
      const bool positional = next >= '0' && next <= '9';
      while (end < text_.size() && is_shell_name_byte(text_[end]) && !(positional && end > at_ + 1)) ++end;
      name = text_.substr(at_ + 1, end - at_ - 1);
    } else if (next != '\0' && std::string_view("@*#?!-").find(next) != std::string_view::npos) {
      name = text_.substr(at_ + 1, 1);
      ++end;
    } else {
      word_ += '$';
      ++at_;
      return;
    }
    at_ = end;
    expand(name, in_quotes);
  }

  void expand(std::string_view name, bool in_quotes) {
    if (name == "IFS") {
      if (!in_quotes) end_word();
      return;
    }
    // Nobody has set them, where a text is a script of its own: n$@pm is npm.
    const bool positional = name == "@" || name == "*" || (name.size() == 1 && name[0] >= '1' && name[0] <= '9');
    if (positional && (!in_quotes || !word_.empty())) return;
    // ${x:-word}, ${x-word}, ${x:=word}: the word where x is not set.
    std::optional<std::string_view> otherwise;
    if (const std::size_t sign = name.find_first_of(":-=#%/?+$`"); sign != std::string_view::npos && sign > 0) {
      const std::size_t begin = name[sign] == ':' ? sign + 1 : sign;
      if (begin < name.size() && (name[begin] == '-' || name[begin] == '=')) {
        if (name.find_first_of("$`") == std::string_view::npos) otherwise = name.substr(begin + 1);
        name = name.substr(0, sign);
      }
    }
    const auto known = shared_.variables.find(name);
    const std::string value = known != shared_.variables.end() ? known->second
        : otherwise                                            ? std::string(*otherwise)
                                                               : std::string(1, kWildcard);
    if (in_quotes) {
      add_to_word(value);
      return;
    }
    // Unquoted values are split into words.
    if (!shared_.take(value.size())) return;
    for (const char c : value) {
      if (is_blank(c)) {
        end_word();
      } else {
        in_word_ = true;
        word_ += c;
      }
    }
  }

  // $(echo npm) is npm; any other command stands for itself and an unknown word. What <(echo npm) says is in a file.
  void substitute(std::string_view inner, bool as_file = false) {
    in_word_ = true;
    std::string commands;
    ShellReader reader(inner, shared_, commands, depth_ + 1);
    reader.read(kCommandInner);
    if (const std::optional<std::string> said = reader.list().said()) {
      if (as_file) now_.here_string = said;
      add_to_word(as_file ? std::string(1, kWildcard) : *said);
      return;
    }
    list_.note_nested();
    now_.inner += commands;
    word_ += kWildcard;
  }

  void redirection(char c) {
    if (peek(1) == '(') {  // <(curl ..)
      in_word_ = true;
      const std::size_t end = closing(text_, at_ + 2, '(', ')');
      substitute(text_.substr(at_ + 2, end - at_ - 2), true);
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
    if (c == '<' && arrows == 2) {
      here_document();
      return;
    }
    if (peek() == '|' || peek() == '&' || peek() == '-') ++at_;
    redirect_ = c == '>' || arrows > 3 ? Redirect::away : arrows == 3 ? Redirect::here_string : Redirect::from_file;
    now_.output = now_.output || (c == '>' && !errors);
  }

  // cat <<EOF: the lines up to EOF are read as commands, whatever reads them in the end.
  void here_document() {
    while (peek() == '-' || is_blank_on_line(peek())) ++at_;
    std::string mark;
    bool quoted = false;
    for (; at_ < text_.size() && (quoted || !ends_mark(peek())); ++at_) {
      const bool quote = peek() == '\'' || peek() == '"';
      quoted = quoted != quote;
      if (!quote && peek() != '\\') mark += peek();
    }
    const std::size_t line = text_.find('\n', at_);
    if (line == std::string_view::npos || mark.empty()) return;
    // The document of an earlier << on this line comes first.
    const std::size_t begin = std::max(line + 1, document_end_);
    for (std::size_t end = begin; end < text_.size();) {
      const std::size_t stop = std::min(text_.find('\n', end), text_.size());
      std::string_view here = text_.substr(end, stop - end);
      here.remove_prefix(std::min(here.find_first_not_of('\t'), here.size()));
      if (here.ends_with('\r')) here.remove_suffix(1);
      if (here == mark) {
        // What stands behind the mark on its line goes on (`bash <<A | tee x`); end_command() leaps over the document.
        document_end_ = std::min(stop + 1, text_.size());
        if (shared_.take(end - begin + 1)) document_ += text_.substr(begin, end - begin);
        return;
      }
      end = stop + 1;
    }
    // A mark that does not come may have been none: then the lines are commands as well.
  }

  void end_word() {
    if (!in_word_) return;
    std::string word;
    word.swap(word_);
    in_word_ = false;
    const Redirect redirect = std::exchange(redirect_, Redirect::none);
    if (redirect == Redirect::here_string) now_.here_string = word;
    if (redirect == Redirect::from_file) word = "<" + word;
    const bool braces = std::exchange(braces_, false);
    if (redirect == Redirect::here_string || redirect == Redirect::away) return;
    Words& words = redirect == Redirect::from_file ? now_.read_from : now_.words;
    if (!braces) return add_word(std::move(word), words);
    for (std::string& one : alternatives_of(word)) add_word(std::move(one), words);
  }

  void add_word(std::string word, Words& words) {
    if (words.size() < kWordsMax) {
      words.push_back(std::move(word));
    } else {
      shared_.bytes_left = 0;
    }
  }

  void end_command(char next) {
    end_word();
    if (at_ > 0 && at_ <= text_.size() && text_[at_ - 1] == '\n') at_ = std::max(at_, document_end_);
    list_.add(joint_, now_);
    // Substitutions without a command, X=$(curl ..), are joined to nothing.
    if (!now_.empty() || next == kCommandPiped) joint_ = next;
    now_ = SimpleCommand();
    redirect_ = Redirect::none;
  }

  std::string_view text_;
  bool cut_;
  Shared& shared_;
  CommandList list_;
  int depth_;
  std::size_t at_ = 0;
  SimpleCommand now_;
  std::string word_;
  std::string document_;  // of << in this line
  std::size_t document_end_ = 0;
  char joint_ = kCommandNext;
  bool in_word_ = false;
  bool braces_ = false;  // the word has a { that is not quoted
  enum class Redirect : std::uint8_t {
    none,
    away,
    from_file,
    here_string
  } redirect_ = Redirect::none;  // of the next word
};

void CommandList::run(std::string_view text) {
  if (text.empty()) return;
  nested_ = true;
  const bool any = ShellReader(text, shared_, out_, depth_ + 1).read(kCommandNext);
  any_ = any_ || any;
}

}  // namespace

bool append_shell_commands(std::string_view text, std::string& out, std::vector<std::string>* files) {
  Shared shared;
  shared.files = files;
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

bool append_argv_command(std::span<const std::string> words, std::string& out, std::vector<std::string>* files) {
  Shared shared;
  shared.files = files;
  CommandList list(shared, out, 0);
  SimpleCommand command;
  for (const std::string& word : words) {
    if (shared.take(word.size() + 1)) command.words.push_back(word);
  }
  while (!command.words.empty() && command.words.back().empty()) command.words.pop_back();
  list.add(kCommandNext, command);
  if (shared.spent()) list.add_unread();
  return list.any();
}

}  // namespace guard

// The part of the view builder that writes: pieces of the code view, and entries of the views of strings and commands.
#include "validator/views/view_builder.h"

#include <algorithm>
#include <cstring>
#include <string>

#include "validator/values/known_names.h"
#include "validator/views/shell_commands.h"
#include "validator/views/view_text.h"

namespace guard {
namespace {

// Could it do anything that the rules look for, if it were run?
bool is_code_like(std::string_view text) noexcept {
  for (const std::string_view word :
      {"process", "Bun", "import", "require", "env", "exec", "spawn", "Function", "eval", "proc/", "rm"}) {
    if (text.find(word) != std::string_view::npos) return true;
  }
  return false;
}

// The text of a data: URL, without its coding.
std::string_view data_url_text(std::string_view url, Arena& arena) {
  const std::size_t comma = url.find(',');
  if (comma == std::string_view::npos) return {};
  const std::string_view head = url.substr(0, comma);
  const std::string_view body = url.substr(comma + 1);
  Value text;
  text.kind = Value::Kind::text;
  text.text = body;
  ValueLists none;
  const bool base64 = head.ends_with(";base64");
  const Value decoded = fold_function(base64 ? "atob" : "decodeURIComponent", std::span(&text, 1), none, arena);
  return decoded.is_text() ? decoded.text : body;
}

// CODE of `bun -e CODE`, `node --eval=CODE`; empty if the command has none.
std::string_view inline_script(std::string_view command) noexcept {
  const std::size_t blank = command.find(' ');
  if (blank == std::string_view::npos) return {};
  const std::string_view program = command.substr(0, blank);
  if (program != "bun" && program != "node" && program != "deno" && program != "nodejs" && program != "tsx" &&
      program != std::string_view(&kWildcard, 1))
    return {};
  for (const std::string_view option :
      {" -e ", " -p ", " -pe ", " -ep ", " --eval ", " --eval=", " --print ", " --print=", " eval "}) {
    const std::size_t at = command.find(option, blank);
    if (at != std::string_view::npos) return command.substr(at + option.size());
  }
  return {};
}

constexpr std::size_t kCalleeMax = 48;

// Matchers that only compare: `expect([..])` itself and toSatisfy() hand on what they are given.
bool is_compared_by(std::string_view callee) noexcept {
  for (const std::string_view matcher :
      {"CalledWith", ".toEqual", ".toStrictEqual", ".toBe", ".toContain", ".toContainEqual", ".toMatchObject"}) {
    if (callee.ends_with(matcher)) return true;
  }
  return false;
}

}  // namespace

void ViewBuilder::write(MappedText& to, std::string_view text, std::uint32_t begin, std::uint32_t end) {
  if (origin_) {
    begin = static_cast<std::uint32_t>(origin_->begin);
    end = static_cast<std::uint32_t>(origin_->end);
  }
  to.append(text, begin, end);
}

// Where `text` begins in the code view, behind the blank that keeps it apart from the word before.
std::size_t ViewBuilder::put(std::string_view text, const Token& token) {
  const std::string& code = code_.text();
  if (!text.empty() && !code.empty() && is_code_word_byte(code.back()) &&
      (is_code_word_byte(text.front()) || text.front() == '\\')) {
    const bool behind_new = code.ends_with("new") && (code.size() == 3 || !is_code_word_byte(code[code.size() - 4]));
    write(code_, token.line_before && !behind_new ? "\n" : " ", token.begin, token.begin);
  }
  const std::size_t begin = code_.size();
  write(code_, text, token.begin, token.end);
  return begin;
}

void ViewBuilder::replace_code(std::size_t from, std::string_view text, std::uint32_t begin, std::uint32_t end) {
  const std::string kept(text);
  code_.truncate(from);
  Token place;
  place.begin = begin;
  place.end = end;
  put(kept, place);
}

void ViewBuilder::add_entry(
    std::string_view callee, std::string_view text, std::uint32_t begin, std::uint32_t end, bool joined) {
  CalleeTraits traits = traits_of(callee);
  // Only what is known by more than its last name is taken for harmless.
  if (callee.data() == kKeyCallee.data()) traits = kPassive;
  if ((traits & (kAsserts | kPassive)) != 0 && is_own_name(callee))
    traits &= static_cast<CalleeTraits>(~(kAsserts | kPassive));
  const std::string_view whole_callee = callee;
  if (callee.size() > kCalleeMax) callee.remove_prefix(callee.size() - kCalleeMax);
  std::string cleaned;
  const auto is_marker = [](char c) { return c == kEntryBegin || c == kEntryText || c == kEntryEnd; };
  if (std::any_of(text.begin(), text.end(), is_marker)) {
    cleaned = text;
    std::replace_if(cleaned.begin(), cleaned.end(), is_marker, ' ');
    text = cleaned;
  }
  const auto add = [&](std::string_view content) {
    scratch_.assign(1, kEntryBegin);
    if ((traits & (kAsserts | kPassive)) != 0) scratch_ += '=';
    if ((traits & kAsserts) != 0 && whole_callee.starts_with("expect(")) scratch_ += '=';
    scratch_ += callee;
    scratch_ += kEntryText;
    if (joined) scratch_ += kEntryJoined;
    write(strings_, scratch_, begin, begin);
    write(strings_, content, begin, end);
    write(strings_, std::string_view(&kEntryEnd, 1), end, end);
  };
  // The quotes of a literal are no part of its text.
  if (end - begin == text.size() + 2) {
    ++begin;
    --end;
  }
  add(text);
  if (text.size() < 3) return;
  const TextSpan span = origin_ ? *origin_ : TextSpan{begin, end};
  if (out_.keeps_texts && text.size() >= 8 && text.find_first_of("(.") != std::string_view::npos &&
      is_code_like(text)) {
    if (out_.texts.size() <= kTextsMax) out_.texts.push_back({arena_.copy(text), span});
  }
  const bool data_url = text.starts_with("data:");
  if ((traits & kRunsText) != 0 || data_url) {
    const std::string_view code = data_url ? data_url_text(text, arena_) : text;
    if (code.size() >= 4) out_.nested.push_back({arena_.copy(code), span});
  }
  const bool certain = (traits & kRunsCommand) != 0;
  const bool likely = certain || ((traits & kAsserts) == 0 && callee != "import" && names_program(text));
  if (likely) add_commands(whole_callee, text, false, begin, end);
  if (text.size() > kTextMax) return;
  if (text.find('/') != std::string_view::npos) {
    const std::string path = normalized_path(text);
    if (!path.empty()) add(path);
  }
  if (!likely && text.size() > 256) return;
  const std::string command = shell_reading(text);
  if (!command.empty()) add(command);
}

void ViewBuilder::add_folded(const Value& value) {
  if (value.is_text() && !value.lone) add_entry(callee_here(), value.text, value.begin, value.end);
}

void ViewBuilder::add_command(std::span<const Value> words, std::uint32_t begin, std::uint32_t end) {
  const auto is_text = [](const Value& value) { return value.is_text(); };
  if (words.empty() || words.size() > kListMax || std::none_of(words.begin(), words.end(), is_text)) return;
  std::string argv;
  for (const Value& word : words) {
    if (!argv.empty()) argv += '\0';
    if (word.is_text()) {
      argv += word.text;
    } else {
      argv += kWildcard;
    }
  }
  const std::string_view callee = callee_here();
  const CalleeTraits traits = traits_of(callee);
  const bool asserts = (traits & kAsserts) != 0 && !is_own_name(callee);
  if (asserts && is_compared_by(callee)) return;
  if (!asserts) add_commands(callee, argv, true, begin, end);
  if (words.size() > 1) add_entry(callee, command_line(words), begin, end, (traits & kRunsCommand) == 0);
}

void ViewBuilder::add_commands(
    std::string_view callee, std::string_view text, bool argv, std::uint32_t begin, std::uint32_t end) {
  std::string commands;
  if (!(argv ? append_argv_command(text, commands) : append_shell_commands(text, commands))) return;
  if (callee.size() > kCalleeMax) callee.remove_prefix(callee.size() - kCalleeMax);
  // { cmd: ["npm", "ci"] } is for Bun.spawn.
  bool in_options = false;
  for (std::size_t back = 1; argv && back <= 2 && back <= groups_.size(); ++back) {
    const Group& group = groups_[groups_.size() - back];
    in_options = in_options || (group.open == '{' && group.key == "cmd");
  }
  const bool certain = in_options || (traits_of(callee) & kRunsCommand) != 0;
  std::string entry(1, kEntryBegin);
  entry += certain ? '!' : '?';
  entry += callee;
  entry += commands;
  entry += kEntryEnd;
  write(out_.commands, entry, begin, end);
  if (!certain) return;
  // bun -e CODE
  for (std::string_view rest = commands; !rest.empty();) {
    const std::size_t next = rest.find('\x1d');
    if (next == std::string_view::npos) break;
    rest.remove_prefix(next + 1);
    const std::string_view command = rest.substr(0, rest.find('\x1d'));
    const std::string_view code = inline_script(command);
    if (code.size() >= 4) out_.nested.push_back({arena_.copy(code), origin_ ? *origin_ : TextSpan{begin, end}});
  }
}

// The function that a value in the innermost open call is handed to; brackets and braces are looked through.
std::string_view ViewBuilder::callee_here() const noexcept {
  std::size_t looked_at = 0;
  for (auto group = groups_.rbegin(); group != groups_.rend() && looked_at < 16; ++group, ++looked_at) {
    const bool is_call = (group->open == '(' && group->call) || group->tagged;
    if (is_call) return called(*group);
  }
  return {};
}

// A callee may be the whole file before it: f("a")("b"), f`a``b`. Its ends say all that is asked of one, and looking at
// more for each text would be quadratic. Valid until the next callee is asked for.
std::string_view ViewBuilder::ends_of(std::string_view callee) const noexcept {
  constexpr std::size_t kEnd = kOperandCodeMax / 2;
  if (callee.size() > far_callee_.size()) {
    std::memcpy(far_callee_.data(), callee.data(), kEnd);
    far_callee_[kEnd] = kWildcard;
    std::memcpy(far_callee_.data() + kEnd + 1, callee.data() + callee.size() - kEnd, kEnd);
    callee = std::string_view(far_callee_.data(), far_callee_.size());
  }
  callee_bytes_ += callee.size();
  return callee;
}

// What a call calls in the end: f of f.call(..), f.apply(..), f.bind(..)(..), Reflect.apply(f, ..), [f][0](..).
std::string_view ViewBuilder::called(const Group& group) const noexcept {
  const std::string_view code = code_.text();
  std::string_view callee = ends_of(code.substr(group.callee_begin, group.code_begin - group.callee_begin));
  if ((callee == "Reflect.apply" || callee == "Reflect.construct") && group.first_arg_end > group.code_begin) {
    return ends_of(code.substr(group.code_begin + 1, group.first_arg_end - group.code_begin - 1));
  }
  for (const std::string_view tail : {".call", ".apply", ".bind"}) {
    if (callee.ends_with(tail)) return callee.substr(0, callee.size() - tail.size());
  }
  if (!callee.empty() && callee.back() == ')' && callee.size() <= kOperandCodeMax) {
    const std::size_t bind = callee.find(".bind(");
    if (bind != std::string_view::npos) return callee.substr(0, bind);
  }
  return callee;
}

}  // namespace guard

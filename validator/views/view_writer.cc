#include "validator/views/view_writer.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "validator/values/known_names.h"
#include "validator/views/shell_commands.h"

namespace guard {
namespace {

constexpr std::size_t kCalleeMax = 48;

// Words of the code view: names, private ones too, and numbers.
bool is_code_word_byte(char c) noexcept { return is_word_byte(c) || c == '#'; }

bool contains_any(std::string_view text, std::span<const std::string_view> words) noexcept {
  return std::any_of(
      words.begin(), words.end(), [&](std::string_view word) { return text.find(word) != std::string_view::npos; });
}

// Could it do anything that the rules look for, if it were run?
bool is_code_like(std::string_view text) noexcept {
  static constexpr std::array<std::string_view, 11> kWords = {
      "process", "Bun", "import", "require", "env", "exec", "spawn", "Function", "eval", "proc/", "rm"};
  return text.size() >= 8 && text.find_first_of("(.") != std::string_view::npos && contains_any(text, kWords);
}

// The text of a data: URL, without its coding.
std::string_view data_url_text(std::string_view url, Arena& arena) {
  const std::size_t comma = url.find(',');
  if (comma == std::string_view::npos) return {};
  Value text;
  text.kind = Value::Kind::text;
  text.text = url.substr(comma + 1);
  ValueLists none;
  const bool base64 = url.substr(0, comma).ends_with(";base64");
  const Value decoded = fold_function(base64 ? "atob" : "decodeURIComponent", std::span(&text, 1), none, arena);
  return decoded.is_text() ? decoded.text : text.text;
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

// Matchers that only compare: `expect([..])` itself and toSatisfy() hand on what they are given.
bool is_compared_by(std::string_view callee) noexcept {
  for (const std::string_view matcher :
      {"CalledWith", ".toEqual", ".toStrictEqual", ".toBe", ".toContain", ".toContainEqual", ".toMatchObject"}) {
    if (callee.ends_with(matcher)) return true;
  }
  return false;
}

// The quotes of a literal are no part of its text.
void take_off_quotes(std::string_view text, std::uint32_t& begin, std::uint32_t& end) noexcept {
  if (end - begin != text.size() + 2) return;
  ++begin;
  --end;
}

std::string_view end_of_callee(std::string_view callee) noexcept {
  return callee.substr(callee.size() - std::min(callee.size(), kCalleeMax));
}

}  // namespace

void ViewTexts::clear() {
  cut(Mark{});
  keeps_texts = hands_runner = false;
}

ViewTexts::Mark ViewTexts::mark() const noexcept {
  return {code.size(), strings.size(), commands.size(), uses.size(), escaped_names.size(), nested.size(), texts.size()};
}

void ViewTexts::cut(const Mark& to) {
  const auto cut_text = [](MappedText& text, std::size_t size) {
    if (size == 0) {
      text.clear();
    } else {
      text.truncate(size);
    }
  };
  cut_text(code, to.code);
  cut_text(strings, to.strings);
  cut_text(commands, to.commands);
  cut_text(uses, to.uses);
  escaped_names.resize(to.escaped_names);
  nested.resize(to.nested);
  texts.resize(to.texts);
}

bool is_own_name(std::string_view callee, const NameTable& names) {
  if (callee.empty()) return false;
  const std::string_view root = callee.substr(0, callee.find_first_of(".(["));
  if (root == callee) return names.is_declared(callee);
  if (is_tracked_path(callee)) return false;
  static constexpr std::array<std::string_view, 12> kLibraries = {
      "expect", "test", "it", "describe", "vi", "jest", "assert", "mock", "sinon", "t", "chai", "bench"};
  if (std::find(kLibraries.begin(), kLibraries.end(), root) != kLibraries.end())
    return root == "t" || names.is_declared(root);
  // Methods of texts and lists, and of mocks.
  static constexpr std::array<std::string_view, 10> kMethods = {"includes", "startsWith", "endsWith", "indexOf",
      "mockReturnValue", "mockReturnValueOnce", "mockResolvedValue", "mockResolvedValueOnce", "fromJSON", "match"};
  return std::find(kMethods.begin(), kMethods.end(), last_name(callee)) == kMethods.end();
}

void ViewWriter::write(MappedText& to, std::string_view text, std::uint32_t begin, std::uint32_t end) {
  const TextSpan span = span_of(begin, end);
  to.append(text, static_cast<std::uint32_t>(span.begin), static_cast<std::uint32_t>(span.end));
}

std::size_t ViewWriter::put(std::string_view text, const Token& token) {
  const std::string& code = out_.code.text();
  if (!text.empty() && !code.empty() && is_code_word_byte(code.back()) &&
      (is_code_word_byte(text.front()) || text.front() == '\\')) {
    const bool behind_new = code.ends_with("new") && (code.size() == 3 || !is_code_word_byte(code[code.size() - 4]));
    write(out_.code, token.line_before && !behind_new ? "\n" : " ", token.begin, token.begin);
  }
  const std::size_t begin = code_size();
  write(out_.code, text, token.begin, token.end);
  return begin;
}

std::size_t ViewWriter::move_code(
    std::size_t to, std::size_t begin, std::size_t end, const Token& place, std::string_view prefix) {
  const std::string kept = std::string(prefix) + out_.code.text().substr(begin, end - begin);
  cut_code(to);
  return put(kept, place);
}

void ViewWriter::add_string(
    std::string_view callee, std::string_view text, std::uint32_t begin, std::uint32_t end, Text kind) {
  CalleeTraits traits = traits_of(callee);
  // Only what is known by more than its last name is taken for harmless.
  constexpr CalleeTraits kQuiet = kAsserts | kPassive;
  if (callee.data() == kKeyCallee.data()) traits = kPassive;
  if ((traits & kQuiet) != 0 && is_own_name(callee, names_)) traits &= static_cast<CalleeTraits>(~kQuiet);
  std::string cleaned;
  const auto is_marker = [](char c) { return c == kEntryBegin || c == kEntryText || c == kEntryEnd; };
  if (std::any_of(text.begin(), text.end(), is_marker)) {
    cleaned = text;
    std::replace_if(cleaned.begin(), cleaned.end(), is_marker, ' ');
    text = cleaned;
  }
  take_off_quotes(text, begin, end);
  scratch_.assign(1, kEntryBegin);
  if ((traits & kQuiet) != 0) scratch_ += '=';
  if ((traits & kAsserts) != 0 && callee.starts_with("expect(")) scratch_ += '=';
  scratch_ += end_of_callee(callee);
  scratch_ += kEntryText;
  if (kind == Text::joined) scratch_ += kEntryJoined;
  const auto add = [&](std::string_view content) {
    write(out_.strings, scratch_, begin, begin);
    write(out_.strings, content, begin, end);
    write(out_.strings, std::string_view(&kEntryEnd, 1), end, end);
  };
  add(text);
  if (text.size() < 3) return;
  if (out_.keeps_texts && is_code_like(text) && out_.texts.size() <= kTextsMax)
    out_.texts.push_back({arena_.copy(text), span_of(begin, end)});
  const bool data_url = text.starts_with("data:");
  if ((traits & kRunsText) != 0 || data_url) {
    const std::string_view code = data_url ? data_url_text(text, arena_) : text;
    if (code.size() >= 4) out_.nested.push_back({arena_.copy(code), span_of(begin, end)});
  }
  const bool certain = (traits & kRunsCommand) != 0;
  const bool likely = certain || ((traits & kAsserts) == 0 && callee != "import" && names_program(text));
  if (text.find('/') != std::string_view::npos) {
    const std::string path = normalized_path(text);
    if (!path.empty()) add(path);
  }
  if (likely || text.size() <= 256) {
    const std::string command = shell_reading(text);
    if (!command.empty()) add(command);
  }
  if (likely && kind != Text::argument) add_commands(callee, text, certain, begin, end);
}

void ViewWriter::add_path(std::string_view callee, const Value& path) {
  std::string entry(1, kEntryBegin);
  (entry += callee) += kEntryText;
  for (const char c : path.text) entry += c >= kEntryText && c <= kEntryEnd ? ' ' : c;
  std::uint32_t begin = path.begin;
  std::uint32_t end = path.end;
  take_off_quotes(path.text, begin, end);
  write(out_.strings, entry += kEntryEnd, begin, end);
}

void ViewWriter::add_words(
    std::string_view callee, std::span<const Value> words, bool in_options, std::uint32_t begin, std::uint32_t end) {
  const auto is_text = [](const Value& value) { return value.is_text(); };
  if (words.empty() || words.size() > kListMax || std::none_of(words.begin(), words.end(), is_text)) return;
  std::vector<std::string> argv;
  for (const Value& word : words) argv.emplace_back(word.is_text() ? word.text : std::string_view(&kWildcard, 1));
  const CalleeTraits traits = traits_of(callee);
  const bool asserts = (traits & kAsserts) != 0 && !is_own_name(callee, names_);
  const bool certain = (traits & kRunsCommand) != 0;
  if (asserts && is_compared_by(callee)) return;
  std::string commands;
  std::vector<std::string> files;
  if (!asserts && append_argv_command(argv, commands, &files))
    write_commands(callee, commands, files, certain || in_options, begin, end);
  if (words.size() == 1) return;
  const auto first = std::find_if(argv.begin(), argv.end(), [](const std::string& word) { return !word.empty(); });
  add_string(
      callee, fmt::format("{}", fmt::join(first, argv.end(), " ")), begin, end, certain ? Text::whole : Text::joined);
}

void ViewWriter::add_commands(
    std::string_view callee, std::string_view text, bool certain, std::uint32_t begin, std::uint32_t end) {
  std::string commands;
  std::vector<std::string> files;
  if (append_shell_commands(text, commands, &files)) write_commands(callee, commands, files, certain, begin, end);
}

void ViewWriter::write_commands(std::string_view callee, std::string_view commands, std::span<const std::string> files,
    bool certain, std::uint32_t begin, std::uint32_t end) {
  std::string entry = {kEntryBegin, certain ? '!' : '?'};
  entry += end_of_callee(callee);
  entry += commands;
  entry += kEntryEnd;
  write(out_.commands, entry, begin, end);
  for (const std::string& file : files) {
    if (!certain) break;
    entry = {kEntryBegin, kEntryReads, kEntryText};
    for (const char c : file) entry += c >= kEntryText && c <= kEntryEnd ? ' ' : c;
    write(out_.commands, entry += kEntryEnd, begin, end);
  }
  // bun -e CODE
  for (std::string_view rest = commands; certain && rest.find(kEntryText) != std::string_view::npos;) {
    rest.remove_prefix(rest.find(kEntryText) + 1);
    const std::string_view code = inline_script(rest.substr(0, rest.find(kEntryText)));
    if (code.size() >= 4) out_.nested.push_back({arena_.copy(code), span_of(begin, end)});
  }
}

void ViewWriter::add_use(
    std::string_view kind, std::string_view path, std::string_view detail, std::uint32_t begin, std::uint32_t end) {
  // Where eval or its kin is handed around, any text may be what it runs.
  out_.hands_runner =
      out_.hands_runner || (kind == "value" && (path == "eval" || path == "Function" || path == "%.constructor"));
  scratch_.assign(1, kEntryBegin);
  for (const std::string_view part : {kind, path, detail}) {
    scratch_ += part;
    scratch_ += kEntryText;
  }
  scratch_.back() = kEntryEnd;
  write(out_.uses, scratch_, begin, end);
}

// Nobody writes an ASCII letter as \u0065 by accident.
void ViewWriter::add_escaped_name(const Token& at) { out_.escaped_names.push_back(span_of(at.begin, at.end)); }

}  // namespace guard

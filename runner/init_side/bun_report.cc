// The document was written by the process under test, so it is read as hostile: nothing that bun does not write is
// accepted (declarations, comments, CDATA, unknown elements, attributes or entities, a second root), every number is
// summed again from the test cases up, and depth is bounded.
#include "runner/init_side/bun_report.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <pugixml.hpp>
#include <set>
#include <string>
#include <tuple>
#include <utility>

namespace guard {
namespace {

constexpr int kDepthMax = 64;
constexpr std::size_t kTailBytesMax = 8ul * 1024;
constexpr std::size_t kSummaryLinesMax = 16;
// "(fail) group > test [0.12ms]", and what stands before an error in a describe block. Not only at the beginning of a
// line: a test may have left one unfinished. Each as bun writes it plainly and, where the tests' environment asks for
// it, in colour.
constexpr std::string_view kFailureMarks[] = {
    "(fail) ", "\x1b[31m\xe2\x9c\x97", "# Unhandled error between tests", "Unhandled error\x1b"};
constexpr std::size_t kFirstOutside = 2;  // of the marks

Error refuse(std::string_view what) {
  return Error(ErrorCode::protocol_error, fmt::format("the test report is not what bun writes: {}", what));
}

// Before the parser sees it: what it would let pass in silence.
Result<void> check_text(std::string_view document) {
  if (document.find('\0') != std::string_view::npos) return refuse("a NUL byte");
  if (document.find("<!") != std::string_view::npos) return refuse("a declaration, comment or CDATA section");
  const std::size_t instruction = document.find("<?");
  if (instruction != std::string_view::npos && (instruction != 0 || document.find("<?", 1) != std::string_view::npos)) {
    return refuse("a processing instruction");
  }
  for (std::size_t at = document.find('&'); at != std::string_view::npos; at = document.find('&', at + 1)) {
    const std::string_view rest = document.substr(at + 1);
    const std::size_t end = rest.find(';');
    if (end > 8) return refuse("a bare ampersand");  // also where there is none
    const std::string_view name = rest.substr(0, end);
    if (name == "lt" || name == "gt" || name == "amp" || name == "quot" || name == "apos") continue;
    const bool numeric = name.size() > 1 && name.front() == '#' &&
        name.substr(1).find_first_not_of("0123456789abcdefABCDEFx") == std::string_view::npos;
    if (!numeric) return refuse("an unknown entity");
  }
  return ok();
}

bool is_blank(const char* text) {
  return std::string_view(text).find_first_not_of(" \t\r\n") == std::string_view::npos;
}

Result<void> check_attributes(pugi::xml_node node, std::initializer_list<std::string_view> known) {
  std::set<std::string_view> seen;
  for (const pugi::xml_attribute attribute : node.attributes()) {
    if (std::find(known.begin(), known.end(), std::string_view(attribute.name())) == known.end()) {
      return refuse(fmt::format("<{}> with an unknown attribute", node.name()));
    }
    if (!seen.insert(attribute.name()).second) return refuse("an attribute given twice");
  }
  return ok();
}

Result<std::uint64_t> count(pugi::xml_node node, const char* name) {
  const pugi::xml_attribute attribute = node.attribute(name);
  const std::string_view text = attribute.value();
  std::uint64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  // Far from where sums could wrap.
  if (!attribute || text.empty() || error != std::errc() || end != text.data() + text.size() || value > (1ull << 40)) {
    return refuse(fmt::format("\"{}\" of <{}> is not a count", name, node.name()));
  }
  return value;
}

// Takes a decimal number off the front.
bool take_number(std::string_view& text, std::uint64_t& value) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || value > (1ull << 40)) return false;
  text.remove_prefix(static_cast<std::size_t>(end - text.data()));
  return true;
}

bool take(std::string_view& text, std::string_view word) {
  if (!text.starts_with(word)) return false;
  text.remove_prefix(word.size());
  return true;
}

// Of a place that no honest report leaves out, but nothing rests on it: anything else is 0.
std::chrono::microseconds duration_of(pugi::xml_node node) {
  const double seconds = node.attribute("time").as_double();
  return std::chrono::microseconds(seconds > 0 && seconds < 1e6 ? static_cast<std::int64_t>(seconds * 1e6) : 0);
}

// "3:34" of "at a.test.ts:3:34" where `file` is named last: the frames below it are the runner's. {0, 0} where it is
// not.
std::pair<std::uint32_t, std::uint32_t> last_place(std::string_view text, std::string_view file) {
  for (std::size_t at = text.rfind(file); at != std::string_view::npos && !file.empty();
       at = at == 0 ? std::string_view::npos : text.rfind(file, at - 1)) {
    std::string_view rest = text.substr(at + file.size());
    std::uint64_t line = 0;
    std::uint64_t column = 0;
    if (!take(rest, ":") || !take_number(rest, line) || line > UINT32_MAX) continue;
    if (!take(rest, ":") || !take_number(rest, column) || column > UINT32_MAX) column = 0;
    return {static_cast<std::uint32_t>(line), static_cast<std::uint32_t>(column)};
  }
  return {0, 0};
}

struct Counts {
  std::uint64_t tests = 0;
  std::uint64_t failures = 0;
  std::uint64_t skipped = 0;
  std::uint64_t assertions = 0;

  Counts& operator+=(const Counts& other) {
    tests += other.tests;
    failures += other.failures;
    skipped += other.skipped;
    assertions += other.assertions;
    return *this;
  }
  friend bool operator==(const Counts&, const Counts&) = default;
};

Result<Counts> claimed(pugi::xml_node node) {
  Counts counts;
  GUARD_TRY_ASSIGN(counts.tests, count(node, "tests"));
  GUARD_TRY_ASSIGN(counts.failures, count(node, "failures"));
  GUARD_TRY_ASSIGN(counts.skipped, count(node, "skipped"));
  GUARD_TRY_ASSIGN(counts.assertions, count(node, "assertions"));
  return counts;
}

class Reader {
 public:
  Result<TestSummary> read(pugi::xml_node root);

 private:
  Result<Counts> read_suite(pugi::xml_node suite, const std::string& group, int depth);
  Result<Counts> read_case(pugi::xml_node test, const std::string& group);

  TestSummary summary_;
  std::string file_;
};

Result<Counts> Reader::read_case(pugi::xml_node test, const std::string& group) {
  GUARD_TRY(check_attributes(test, {"name", "classname", "time", "file", "line", "assertions"}));
  Counts counts;
  counts.tests = 1;
  GUARD_TRY_ASSIGN(counts.assertions, count(test, "assertions"));
  if (!test.attribute("name")) return refuse("a test without a name");
  TestCase one;
  one.file = file_;
  one.name =
      group.empty() ? test.attribute("name").value() : fmt::format("{} > {}", group, test.attribute("name").value());
  one.line = test.attribute("line").as_uint();
  one.assertions = counts.assertions;
  one.duration = duration_of(test);
  for (const pugi::xml_node child : test.children()) {
    if (child.type() == pugi::node_pcdata && is_blank(child.value())) continue;
    const std::string_view name = child.name();
    if (name == "skipped") {
      GUARD_TRY(check_attributes(child, {"message"}));
      ++counts.skipped;
      one.state = std::string_view(child.attribute("message").value()) == "TODO" ? TestState::todo : TestState::skipped;
    } else if (name == "failure" || name == "error") {
      GUARD_TRY(check_attributes(child, {"type", "message"}));
      ++counts.failures;
      const std::string_view type = child.attribute("type").value();
      one.state = TestState::failed;
      one.kind = type == "AssertionError" ? FailureKind::assertion
          : type == "TimeoutError"        ? FailureKind::timed_out
                                          : FailureKind::error;
      one.message = child.attribute("message") ? child.attribute("message").value() : child.text().get();
      if (one.kind == FailureKind::error && !type.empty() && type != "Error" && child.attribute("message"))
        one.message.insert(0, fmt::format("{}: ", type));
      std::tie(one.failed_line, one.failed_column) = last_place(child.text().get(), file_);
    } else {
      return refuse("an unknown element in a test");
    }
  }
  if (counts.failures + counts.skipped > 1) return refuse("a test with more than one outcome");
  summary_.cases.push_back(std::move(one));
  return counts;
}

Result<Counts> Reader::read_suite(pugi::xml_node suite, const std::string& group, int depth) {
  if (depth > kDepthMax) return refuse("groups are nested too deeply");
  GUARD_TRY(check_attributes(
      suite, {"name", "file", "line", "tests", "assertions", "failures", "skipped", "time", "hostname"}));
  if (file_ != suite.attribute("file").value()) return refuse("a group of one file inside another");
  Counts sum;
  for (const pugi::xml_node child : suite.children()) {
    if (child.type() == pugi::node_pcdata && is_blank(child.value())) continue;
    const std::string_view name = child.name();
    if (name == "testcase") {
      GUARD_TRY_ASSIGN(const Counts counts, read_case(child, group));
      sum += counts;
    } else if (name == "testsuite") {
      const char* inner = child.attribute("name").value();
      GUARD_TRY_ASSIGN(const Counts counts,
          read_suite(child, group.empty() ? inner : fmt::format("{} > {}", group, inner), depth + 1));
      sum += counts;
    } else if (name != "properties") {
      return refuse("an unknown element in a group");
    }
  }
  GUARD_TRY_ASSIGN(const Counts said, claimed(suite));
  if (said != sum) return refuse(fmt::format("the sums of \"{}\" do not agree", suite.attribute("name").value()));
  return sum;
}

Result<TestSummary> Reader::read(pugi::xml_node root) {
  GUARD_TRY(check_attributes(root, {"name", "tests", "assertions", "failures", "skipped", "time"}));
  Counts sum;
  std::set<std::string> files;
  for (const pugi::xml_node suite : root.children()) {
    if (suite.type() == pugi::node_pcdata && is_blank(suite.value())) continue;
    if (std::string_view(suite.name()) != "testsuite") return refuse("an unknown element beside the files");
    file_ = suite.attribute("file").value();
    if (file_.empty()) return refuse("a file without a name");
    if (!files.insert(file_).second) return refuse("a file reported twice");
    GUARD_TRY_ASSIGN(const Counts counts, read_suite(suite, {}, 0));
    summary_.files.push_back(
        {file_, counts.tests, counts.failures, counts.skipped, counts.assertions, duration_of(suite)});
    sum += counts;
  }
  GUARD_TRY_ASSIGN(const Counts said, claimed(root));
  if (said != sum) return refuse("the sums over all files do not agree");
  summary_.tests = sum.tests;
  summary_.failures = sum.failures;
  summary_.skipped = sum.skipped;
  summary_.assertions = sum.assertions;
  summary_.passed = sum.tests - sum.failures - sum.skipped;
  return std::move(summary_);
}

// --- text ---

std::string without_colours(std::string_view text) {
  std::string plain;
  plain.reserve(text.size());
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] != '\x1b' || i + 1 >= text.size() || text[i + 1] != '[') {
      plain.push_back(text[i]);
      continue;
    }
    std::size_t end = i + 2;
    while (end < text.size() && (text[end] == ';' || (text[end] >= '0' && text[end] <= '9'))) ++end;
    i = end;  // the final byte
  }
  return plain;
}

// "Ran 13 tests across 3 files. [6.00ms]"
bool parse_closing_line(std::string_view line, TextSummary& summary) {
  if (!take(line, "Ran ") || !take_number(line, summary.tests)) return false;
  if (!take(line, " tests across ") && !take(line, " test across ")) return false;
  if (!take_number(line, summary.files)) return false;
  if (!take(line, " files.") && !take(line, " file.")) return false;
  return line.empty() || (line.starts_with(" [") && line.ends_with("]"));
}

// The first line of `text` that holds `words`; empty: none does.
std::string_view line_with(std::string_view text, std::string_view words) {
  const std::size_t at = text.find(words);
  if (at == std::string_view::npos) return {};
  const std::size_t before = text.rfind('\n', at);
  const std::size_t begin = before == std::string_view::npos ? 0 : before + 1;
  return text.substr(begin, text.find('\n', begin) - begin);
}

}  // namespace

std::string_view to_string(TestState state) noexcept {
  static constexpr std::string_view kNames[] = {"passed", "failed", "skipped", "todo"};
  return kNames[static_cast<std::size_t>(state)];
}

std::string_view to_string(FailureKind kind) noexcept {
  static constexpr std::string_view kNames[] = {"none", "assertion", "error", "timed_out"};
  return kNames[static_cast<std::size_t>(kind)];
}

std::string_view to_string(LoadFailure failure) noexcept {
  static constexpr std::string_view kNames[] = {
      "syntax", "missing_package", "missing_file", "missing_library", "error"};
  return kNames[static_cast<std::size_t>(failure)];
}

LoadError parse_load_error(std::string_view text, std::string_view file) {
  LoadError error;
  std::string_view line = line_with(text, "rror: ");  // also "TypeError: "
  if (line.empty()) line = text.substr(0, text.find('\n'));
  const bool plain = line.starts_with("error: ");
  error.message = plain ? line.substr(7) : line;
  std::tie(error.line, error.column) = last_place(text.substr(0, text.find("\n\n")), file);
  const std::string_view said = error.message;
  if (said.find("cannot open shared object file") != std::string_view::npos) {
    error.kind = LoadFailure::missing_library;
  } else if (said.starts_with("Cannot find module '.") || said.starts_with("Cannot find module \".") ||
      said.starts_with("Could not resolve: \".")) {
    error.kind = LoadFailure::missing_file;
  } else if (said.starts_with("Cannot find module") || said.starts_with("Cannot find package") ||
      said.starts_with("Could not resolve")) {
    error.kind = LoadFailure::missing_package;
  } else if (line.starts_with("SyntaxError") ||
      (plain && text.find("\n    at ") != std::string_view::npos &&
          text.find("\n      at ") == std::string_view::npos)) {
    error.kind = LoadFailure::syntax;  // the parser's frames are indented by four, those of a running program by six
  }
  return error;
}

Result<TestSummary> parse_junit(std::string_view document) {
  GUARD_TRY(check_text(document));
  pugi::xml_document xml;
  // As a fragment: what lies beside the root element is seen and can be refused.
  const pugi::xml_parse_result parsed = xml.load_buffer(document.data(), document.size(),
      pugi::parse_escapes | pugi::parse_eol | pugi::parse_declaration | pugi::parse_pi | pugi::parse_comments |
          pugi::parse_doctype | pugi::parse_cdata | pugi::parse_fragment,
      pugi::encoding_utf8);
  if (!parsed) return refuse(parsed.description());
  pugi::xml_node root;
  for (const pugi::xml_node node : xml.children()) {
    if (node.type() == pugi::node_declaration && !root) continue;
    if (node.type() == pugi::node_pcdata && is_blank(node.value())) continue;
    if (node.type() != pugi::node_element || root) return refuse("more than one document");
    root = node;
  }
  if (!root || std::string_view(root.name()) != "testsuites") return refuse("no <testsuites>");
  return Reader().read(root);
}

void TextSummaryReader::push(std::string_view bytes) {
  // The first byte of a mark stands nowhere else in it, so a mismatch begins anew at the byte itself.
  std::size_t outside_at = outside_begun_ ? 0 : bytes.size();
  for (std::size_t at = 0; at < bytes.size(); ++at) {
    const char c = bytes[at];
    for (std::size_t i = 0; i < kMarks; ++i) {
      const std::string_view mark = kFailureMarks[i];
      if (c != mark[matched_[i]]) matched_[i] = 0;
      if (c != mark[matched_[i]] || ++matched_[i] < mark.size()) continue;
      matched_[i] = 0;
      ++failures_told_;
      if (i < kFirstOutside || outside_begun_) continue;
      outside_begun_ = true;
      outside_at = at + 1;
    }
  }
  outside_.append(bytes.substr(outside_at, kOutsideMax - outside_.size()));
  if (bytes.size() > kTailBytesMax) bytes.remove_prefix(bytes.size() - kTailBytesMax);
  if (tail_.size() + bytes.size() > 2 * kTailBytesMax) tail_.erase(0, tail_.size() + bytes.size() - kTailBytesMax);
  tail_.append(bytes);
}

std::string TextSummaryReader::error_outside() const {
  const std::string plain = without_colours(outside_);
  // Between two rules of dashes; what a cut has taken is not there.
  const std::size_t begin = plain.find("\n---");
  if (begin == std::string::npos) return {};
  const std::size_t line = std::min(plain.find('\n', begin + 1), plain.size() - 1) + 1;
  const std::size_t end = plain.find("\n---", line == 0 ? 0 : line - 1);
  return plain.substr(line, end == std::string::npos ? end : end - line);
}

std::string TextSummaryReader::last_test() const {
  const std::string plain = without_colours(tail_);
  std::size_t at = std::string::npos;
  std::size_t size = 0;
  for (const std::string_view mark : {"(pass) ", "(fail) "}) {
    const std::size_t found = plain.rfind(mark);
    if (found != std::string::npos && (at == std::string::npos || found > at)) at = found, size = mark.size();
  }
  if (at == std::string::npos) return {};
  std::string name = plain.substr(at + size, plain.find('\n', at) - at - size);
  const std::size_t time = name.rfind(" [");
  if (name.ends_with(']') && time != std::string::npos) name.resize(time);
  return name;
}

std::optional<TextSummary> TextSummaryReader::summary() const {
  const std::string plain = without_colours(tail_);
  std::vector<std::string_view> lines;
  for (std::size_t begin = 0; begin <= plain.size();) {
    const std::size_t end = std::min(plain.find('\n', begin), plain.size());
    std::string_view line = std::string_view(plain).substr(begin, end - begin);
    if (line.ends_with('\r')) line.remove_suffix(1);
    lines.push_back(line);
    begin = end + 1;
  }
  TextSummary summary;
  std::size_t last = lines.size();
  while (last > 0 && !parse_closing_line(lines[last - 1], summary)) --last;
  if (last == 0) return std::nullopt;

  // Upwards to the line of passes. A line that bun does not write there means that this is not its summary.
  std::optional<std::uint64_t> passed;
  std::optional<std::uint64_t> failures;
  for (std::size_t i = last - 1; i > 0 && last - i < kSummaryLinesMax && !passed; --i) {
    std::string_view line = lines[i - 1];
    if (line.starts_with("snapshots: ")) continue;
    std::uint64_t value = 0;
    if (!take(line, " ") || !take_number(line, value) || !take(line, " ")) return std::nullopt;
    if (line == "pass") {
      passed = value;
    } else if (line == "fail") {
      if (failures) return std::nullopt;
      failures = value;
    } else if (line == "skip" || line == "todo") {
      summary.skipped += value;
    } else if (line == "filtered out") {
      summary.filtered = value;
    } else if (line != "error" && line != "errors" && line != "expect() calls" && !line.starts_with("snapshot")) {
      return std::nullopt;
    }
  }
  if (!passed || !failures) return std::nullopt;
  summary.passed = *passed;
  summary.failures = *failures;
  if (summary.passed + summary.skipped + summary.failures != summary.tests) return std::nullopt;
  return summary;
}

}  // namespace guard

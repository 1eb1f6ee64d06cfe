#include "pipeline/gate/finding_marks.h"

#include <algorithm>
#include <map>

#include "common/hash.h"

namespace guard {
namespace {

// How far a fingerprint follows a line to both sides of the finding: a file of one line must not be hashed once for
// each of its findings.
constexpr std::size_t kLineReach = 2048;

bool is_line_end(char c) { return c == '\n' || c == '\r'; }
bool is_blank(char c) { return c == ' ' || c == '\t' || is_line_end(c); }

std::string_view lines_of(std::string_view bytes, std::size_t begin, std::size_t end) {
  begin = std::min(begin, bytes.size());
  end = std::clamp(end, begin, bytes.size());
  const std::size_t lowest = begin - std::min(begin, kLineReach);
  const std::size_t highest = std::min(bytes.size(), end + kLineReach);
  while (begin > lowest && !is_line_end(bytes[begin - 1])) --begin;
  while (end < highest && !is_line_end(bytes[end])) ++end;
  return bytes.substr(begin, end - begin);
}

std::string without_layout(std::string_view text) {
  std::string words;
  for (const char c : text) {
    if (!is_blank(c)) {
      words += c;
    } else if (!words.empty() && words.back() != ' ') {
      words += ' ';
    }
  }
  if (!words.empty() && words.back() == ' ') words.pop_back();
  return words;
}

// Counts lines and characters on from where it stopped; offsets must not go back.
class Counter {
 public:
  explicit Counter(std::string_view text) : text_(text) {}

  bool is_behind(std::size_t offset) const { return offset < at_; }

  void go_to(std::size_t offset) {
    for (; at_ < std::min(offset, text_.size()); ++at_) {
      const char c = text_[at_];
      if (c == '\n' || (c == '\r' && (at_ + 1 == text_.size() || text_[at_ + 1] != '\n'))) {
        ++line_;
        column_ = 1;
      } else if ((static_cast<unsigned char>(c) & 0xC0) != 0x80) {
        ++column_;
      }
    }
  }

  std::uint32_t line() const { return line_; }
  std::uint32_t column() const { return column_; }

 private:
  std::string_view text_;
  std::size_t at_ = 0;
  std::uint32_t line_ = 1;
  std::uint32_t column_ = 1;
};

}  // namespace

std::string finding_fingerprint(const Finding& finding, std::string_view bytes) {
  Sha256 hash;
  hash.update_field("finding 1");
  hash.update_field(finding.rule);
  if (finding.line > 0) {
    hash.update_field(without_layout(lines_of(bytes, finding.begin, finding.end)));
  } else if (!bytes.empty()) {
    hash.update_field(bytes);
  } else {
    hash.update_field(finding.path);
  }
  return hash.finish_hex();
}

void mark_findings(const std::vector<SourceFile>& files, std::vector<Finding>& findings) {
  std::map<std::string_view, const SourceFile*> by_path;
  for (const auto& file : files) by_path.emplace(file.path, &file);
  const SourceFile* counted = nullptr;
  Counter counter({});
  for (auto& finding : findings) {
    const auto found = by_path.find(finding.path);
    const SourceFile* file = found == by_path.end() ? nullptr : found->second;
    // Of lines that nobody can read any more there is none: it would be the same for all of them.
    if (file != nullptr || finding.line == 0) {
      finding.fingerprint =
          finding_fingerprint(finding, file == nullptr ? std::string_view() : std::string_view(file->bytes));
    }
    if (file == nullptr || finding.line == 0) continue;
    if (file != counted || counter.is_behind(finding.begin)) counter = Counter(file->bytes);
    counted = file;
    counter.go_to(finding.begin);
    // The end is counted by a copy: the next finding may begin before it.
    Counter end = counter;
    end.go_to(std::max(finding.end, finding.begin));
    finding.region = {counter.line(), counter.column(), end.line(), end.column()};
  }
}

}  // namespace guard

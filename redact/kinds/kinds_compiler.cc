// Runs while guard is built: writes the table of the shipped secret kinds (kind_table.h) as C++ that needs nothing to
// be done before main().
//
//   kinds_compiler OUT_FILE

#include <fmt/format.h>

#include <bit>
#include <cstdio>
#include <string>

#include "common/file_io.h"
#include "common/text/cpp_literal.h"
#include "redact/kinds/kind_table.h"

namespace guard {

// This program makes the table and has none itself.
const KindTable& shipped_kind_table() noexcept {
  static constexpr KindTable kNone{};
  return kNone;
}

namespace {

std::string set(const ByteSet& bytes) {
  const ByteSet::Words& words = bytes.words();
  return fmt::format("ByteSet({{{:#x}u, {:#x}u, {:#x}u, {:#x}u}})", words[0], words[1], words[2], words[3]);
}

// The lists that kinds point into.
class KindWriter {
 public:
  std::string rows(std::span<const SecretKind> kinds) {
    std::string rows;
    for (const SecretKind& kind : kinds) rows += row(kind);
    return rows + "{}};\n";  // no array may be empty
  }

  // Each ends with an entry that nothing points at, because no array may be empty.
  std::string lists() const {
    return fmt::format(
        "constexpr std::string_view kPrefixes[] = {{\n{}\"\"sv}};\n"
        "constexpr ByteSet kNeeds[] = {{\n{}{{}}}};\n"
        "constexpr SecretPattern kPatterns[] = {{\n{}{{}}}};\n",
        prefix_rows_, need_rows_, pattern_rows_);
  }

 private:
  std::string row(const SecretKind& kind) {
    const std::string prefixes = part("kPrefixes", prefixes_, kind.prefixes.size());
    for (const std::string_view prefix : kind.prefixes) prefix_rows_ += cpp_literal(prefix) + ",\n";
    const std::string needs = part("kNeeds", needs_, kind.needs.size());
    for (const ByteSet& need : kind.needs) need_rows_ += set(need) + ",\n";
    const std::string patterns = part("kPatterns", patterns_, kind.patterns.size());
    for (const SecretPattern& pattern : kind.patterns) {
      pattern_rows_ += fmt::format("{{{}, {}}},\n", cpp_literal(pattern.regex), pattern.group);
    }
    return fmt::format(
        "{{{}, {}, SecretKind::Machine({}), {}, {}, {}, {}, {}, {}, {}, {}, {}, {}, {}, {}, {}, {}, {}, {}, {}}},\n",
        cpp_literal(kind.rule_id), cpp_literal(kind.name), static_cast<int>(kind.machine), prefixes, kind.fold_case,
        set(kind.next), kind.any_left, cpp_literal(kind.behind), set(kind.lead), kind.lead_max, set(kind.tail),
        kind.has_group, kind.value == Value::or_below ? "Value::or_below" : "Value::same_line", needs, kind.entropy_min,
        kind.size_min, patterns, cpp_literal(kind.except), set(kind.run_chars), set(kind.run_pad));
  }

  static std::string part(const char* list, std::size_t& first, std::size_t count) {
    std::string text = fmt::format("std::span({}).subspan({}, {})", list, first, count);
    first += count;
    return text;
  }

  std::string prefix_rows_;
  std::string need_rows_;
  std::string pattern_rows_;
  std::size_t prefixes_ = 0;
  std::size_t needs_ = 0;
  std::size_t patterns_ = 0;
};

Result<void> compile(const char* out_file) {
  GUARD_TRY_ASSIGN(const auto own, OwnKindTable::create(RuleSet::shipped()));
  const KindTable& table = own->table();
  KindWriter writer;
  const std::string kinds = "constexpr SecretKind kKinds[] = {\n" + writer.rows(table.kinds);
  const std::string runs = "constexpr SecretKind kRuns[] = {\n" + writer.rows(table.runs);
  const std::string counts =
      fmt::format("constexpr std::size_t kKindCount = {};\nconstexpr std::size_t kRunCount = {};\n", table.kinds.size(),
          table.runs.size());
  return write_file_atomically(out_file, writer.lists() + kinds + runs + counts);
}

}  // namespace
}  // namespace guard

int main(int argc, char** argv) {
  if (argc != 2) {
    std::fputs("usage: kinds_compiler OUT_FILE\n", stderr);
    return 64;
  }
  const guard::Result<void> done = guard::compile(argv[1]);
  if (done) return 0;
  fmt::print(stderr, "{}\n", done.error().to_string());
  return 1;
}

#include "pipeline/report/reports.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>
#include <numeric>
#include <utility>

#include "common/text/text.h"
#include "pipeline/gate/baseline.h"

namespace guard {
namespace {

std::string_view style_of(VerdictKind kind) {
  return kind == VerdictKind::allowed ? kGreen : kind == VerdictKind::rejected ? kRed : kYellow;
}

std::string bytes_text(std::uint64_t bytes) {
  if (bytes < 10'000) return fmt::format("{} B", bytes);
  if (bytes < 10'000'000) return fmt::format("{:.1f} KB", static_cast<double>(bytes) / 1e3);
  return fmt::format("{:.1f} MB", static_cast<double>(bytes) / 1e6);
}

std::string place_of(const Finding& finding) {
  return place_text(printable(finding.path), finding.line, finding.column);
}

// path:line:column  tier  rule
//   excerpt
//   ^~~~
//   message; then what to write instead
std::string finding_text(const Finding& finding, const Painter& paint) {
  std::string text = fmt::format("{}: {} [{}] {}\n", paint(kBold, place_of(finding)),
      paint(finding.severity == Severity::block ? kRed : kYellow, to_string(finding.tier)), finding.rule,
      printable(finding.message));
  if (!finding.excerpt.empty()) {
    text += fmt::format("    {}\n", finding.excerpt);
    // The caret line repeats tabs so that it lines up whatever their width; other bytes of a character take no column.
    std::string indent;
    for (std::size_t i = 0; i < finding.caret && i < finding.excerpt.size(); ++i) {
      const auto byte = static_cast<unsigned char>(finding.excerpt[i]);
      if (byte == '\t') {
        indent += '\t';
      } else if ((byte & 0xC0) != 0x80) {
        indent += ' ';
      }
    }
    const std::size_t width = finding.caret_width == 0 ? 1 : finding.caret_width;
    text += fmt::format("    {}{}\n", indent, paint(kRed, "^" + std::string(width - 1, '~')));
  }
  if (!finding.matched.empty())
    text += fmt::format("    {} {}\n", paint(kBold, "reads as:"), printable(finding.matched));
  if (!finding.fix.empty()) text += fmt::format("    {} {}\n", paint(kBold, "instead:"), finding.fix);
  return text;
}

std::string verdict_line(const Verdict& verdict, const std::optional<Error>& error, const Painter& paint) {
  const ReasonInfo& row = info(verdict.reason);
  std::string text = fmt::format(
      "{} {} ({})", paint(kBold, "verdict:"), paint(style_of(verdict.kind()), to_string(verdict.kind())), row.name);
  text += verdict.detail.empty() ? fmt::format(": {}", row.sentence) : fmt::format(": {}", printable(verdict.detail));
  text += "\n";
  // The error above has said what to do, and knows better than the table.
  const bool said = error && !error->hint().empty();
  if (!said && !row.next.empty()) text += fmt::format("{}    {}\n", paint(kBold, "next:"), row.next);
  return text;
}

std::string error_text(const Error& error) { return "error: " + error.to_string() + "\n"; }

std::string waivers_text(const CheckRecord& record, const Painter& paint) {
  std::string text;
  for (const auto& used : record.waivers) {
    text += fmt::format("{} {} in {}, {} passed until {}: {}\n", paint(kYellow, "waived:"), used.waiver.rule,
        printable(used.waiver.path), plural(used.findings, "finding"), used.waiver.expires,
        printable(used.waiver.reason));
  }
  // Waivers of other files have nothing to do with this check; they are counted, so that a misspelled path is noticed.
  std::size_t elsewhere = 0;
  for (const auto& idle : record.idle_waivers) {
    if (idle.why == IdleWaiver::Why::no_file) {
      ++elsewhere;
      continue;
    }
    text += fmt::format("{} {} in {} ({}): {}\n", paint(kYellow, "waiver not used:"), idle.waiver.rule,
        printable(idle.waiver.path), printable(idle.waiver.origin), printable(idle.sentence));
  }
  if (elsewhere > 0)
    text += fmt::format("{} {} for files that this check does not hold\n", paint(kDim, "waivers not used:"), elsewhere);
  return text;
}

// One rule in one file is told so often; a generator reads the document, a person has understood by then.
constexpr std::size_t kRepeatsMax = 10;

std::string findings_text(const CheckRecord& record, const Painter& paint) {
  using Group = std::pair<std::string_view, std::string_view>;  // path, rule
  std::map<Group, std::size_t> totals;
  for (const auto& finding : record.report.findings) ++totals[{finding.path, finding.rule}];
  std::map<Group, std::size_t> told;
  std::string text;
  for (const auto& finding : record.report.findings) {
    const Group group{finding.path, finding.rule};
    const std::size_t number = ++told[group];
    if (number <= kRepeatsMax) text += finding_text(finding, paint);
    if (number == kRepeatsMax && totals[group] > kRepeatsMax) {
      text += fmt::format("{} and {} more of {} in this file (--format json lists them all)\n", paint(kDim, "..."),
          totals[group] - kRepeatsMax, finding.rule);
    }
  }
  return text + waivers_text(record, paint);
}

// A failed test as a person looks for it: where, which, and what the matcher said.
std::string failure_text(const Failure& failure, const Painter& paint) {
  constexpr std::size_t kLinesMax = 12;
  const std::string place = place_text(printable(failure.file), failure.line, failure.column);
  std::string title = printable(failure.test);
  if (failure.test.empty()) {
    title = fmt::format("({})", failure.kind);
    std::replace(title.begin(), title.end(), '_', ' ');
  }
  std::string text = fmt::format("{} {} {}\n", paint(kRed, "failed:"), place, paint(kBold, title));
  const auto lines = pieces_of(failure.message);
  for (std::size_t i = 0; i < std::min(lines.size(), kLinesMax); ++i) {
    if (!lines[i].empty()) text += fmt::format("    {}\n", printable(lines[i]));
  }
  if (lines.size() > kLinesMax) text += fmt::format("    {}\n", paint(kDim, "... (the rest is in the output above)"));
  if (!failure.next.empty()) text += fmt::format("    {} {}\n", paint(kBold, "next:"), failure.next);
  return text;
}

// One line per file, where there is more than one.
std::string files_text(const RunRecord& record, const Painter& paint) {
  constexpr std::size_t kWidthMax = 60;
  if (record.files.size() < 2) return {};
  const ReportIndex index(record);
  std::size_t width = 4;
  for (const auto& result : record.files) width = std::max(width, std::min(printable(result.file).size(), kWidthMax));
  std::string text = paint(kDim,
                         fmt::format("         {:<{}} {:>6} {:>6} {:>7} {:>8}", "file", width, "passed", "failed",
                             "skipped", "expect()")) +
      "\n";
  for (const auto& result : record.files) {
    const TestFileSummary* row = index.counts(result.file);
    std::string counts = row == nullptr
        ? fmt::format("{:>30}", "")
        : fmt::format("{:>6} {:>6} {:>7} {:>8}", row->tests - row->failures - row->skipped, row->failures, row->skipped,
              row->assertions);
    if (result.state != FileState::passed && (row == nullptr || row->failures == 0)) {
      const bool told = result.state == FileState::failed;
      counts += fmt::format("  {}",
          result.load_error ? to_string(result.load_error->kind)
              : told        ? info(result.reason).name
                            : to_string(result.state));
      std::replace(counts.begin(), counts.end(), '_', ' ');
    }
    text += fmt::format("         {:<{}} {}\n", printable(result.file), width,
        result.state == FileState::passed ? counts : paint(is_failure(result.state) ? kRed : kYellow, counts));
  }
  return text;
}

std::string coverage_text(const LineCoverage& coverage, const Painter& paint) {
  constexpr std::size_t kRangesShown = 8;
  std::size_t width = 9;
  for (const auto& [file, lines] : coverage) width = std::max(width, printable(file).size());
  std::string text =
      paint(
          kDim, fmt::format("         {:<{}} {:>11} {:>6}  lines that did not run", "coverage", width, "lines", "%")) +
      "\n";
  const auto row = [&](std::string_view name, std::uint64_t covered, std::uint64_t all, std::string_view rest) {
    const double share = all == 0 ? 100.0 : 100.0 * static_cast<double>(covered) / static_cast<double>(all);
    text += fmt::format(
        "         {:<{}} {:>5}/{:<5} {:>6.1f}{}{}\n", name, width, covered, all, share, rest.empty() ? "" : "  ", rest);
  };
  std::uint64_t covered = 0, all = 0;
  for (const auto& [file, lines] : coverage) {
    std::string missing;
    const auto ranges = uncovered_ranges(lines);
    for (std::size_t i = 0; i < std::min(ranges.size(), kRangesShown); ++i) {
      missing += fmt::format("{}{}", i == 0 ? "" : ", ",
          ranges[i].first == ranges[i].second ? fmt::format("{}", ranges[i].first)
                                              : fmt::format("{}-{}", ranges[i].first, ranges[i].second));
    }
    if (ranges.size() > kRangesShown) missing += ", ...";
    row(printable(file), count_covered(lines), lines.size(), missing);
    covered += count_covered(lines);
    all += lines.size();
  }
  row("all files", covered, all, {});
  return text;
}

// The document has all of them; here they say what kind of file it was.
constexpr std::size_t kLeftBehindShown = 10;

std::string collected_text(const CollectRecord& record, const Painter& paint) {
  std::string text;
  for (const auto& file : record.files)
    text += fmt::format("{} {}, {}\n", paint(kBold, "collected:"), printable(file.path), bytes_text(file.bytes));
  const std::size_t shown = std::min(record.left_behind.size(), kLeftBehindShown);
  for (std::size_t i = 0; i < shown; ++i) {
    const LeftBehind& entry = record.left_behind[i];
    text += fmt::format("{} {} ({})\n", paint(kDim, "not collected:"), printable(entry.path), to_string(entry.reason));
  }
  if (record.left_behind_count > shown)
    text += fmt::format("{} {} more\n", paint(kDim, "not collected:"), record.left_behind_count - shown);
  // Where nothing was to come back, a stopped run is told by its verdict.
  if (!record.complete && (record.policy != CollectPolicy::none || record.left_behind_count > 0))
    text += fmt::format("{} not all of what was written could be looked at\n", paint(kYellow, "not collected:"));
  return text;
}

constexpr std::size_t kConnectionsShown = 10;

std::string network_text(const NetworkRecord& record, const Painter& paint) {
  std::string text;
  std::size_t shown = 0;
  std::uint64_t more = record.more;
  for (const NetworkLine& line : record.lines) {
    if (shown == kConnectionsShown) {
      more += line.connections;
      continue;
    }
    ++shown;
    const std::string target = line.host.empty() ? "nothing" : fmt::format("{}:{}", printable(line.host), line.port);
    text += fmt::format("{} {}, {}", paint(kBold, "network:"), target, plural(line.connections, "connection"));
    if (line.allowed) text += fmt::format(", {} up, {} down", bytes_text(line.bytes_up), bytes_text(line.bytes_down));
    if (line.reason != "done") text += fmt::format(" ({})", paint(line.allowed ? kDim : kYellow, line.reason));
    text += "\n";
  }
  if (more > 0) text += fmt::format("{} {} to others\n", paint(kDim, "network:"), plural(more, "connection"));
  return text;
}

constexpr std::size_t kRefusedShown = 10;

std::string refused_text(const std::vector<Finding>& refused, const Painter& paint) {
  std::string text;
  for (std::size_t i = 0; i < std::min(refused.size(), kRefusedShown); ++i) {
    text += fmt::format("{} {} is refused and not loaded by what was named: [{}] {}\n", paint(kYellow, "left out:"),
        place_of(refused[i]), refused[i].rule, printable(refused[i].message));
  }
  if (refused.size() > kRefusedShown)
    text += fmt::format("{} {} more refused files (--format json lists them all)\n", paint(kYellow, "left out:"),
        refused.size() - kRefusedShown);
  return text;
}

std::string tiers_text(const std::vector<std::string>& tiers) { return fmt::format("{}", fmt::join(tiers, " + ")); }

}  // namespace

std::string check_text(const CheckRecord& record, Colour colour) {
  const Painter paint{colour};
  std::string text = findings_text(record, paint);
  if (record.error) text += error_text(*record.error);
  text += fmt::format("{} {}, {}; tiers {} (mode {})\n", paint(kBold, "checked:"), plural(record.report.files, "file"),
      bytes_text(record.report.bytes), tiers_text(record.tiers), record.mode);
  if (record.secrets_only > 0) {
    text += fmt::format("{} {} of them, outside [check] paths\n", paint(kBold, "secrets only:"),
        record.secrets_only == record.report.files ? "all" : fmt::format("{}", record.secrets_only));
  }
  if (record.change) {
    text += fmt::format("{}  {}, {} added, {} removed\n", paint(kBold, "change:"), plural(record.change->files, "file"),
        plural(record.change->lines_added, "line"), record.change->lines_removed);
  }
  if (record.ignored_files != 0) {
    text += fmt::format("{} {}, by git (--no-ignore checks them too)\n", paint(kBold, "ignored:"),
        plural(record.ignored_files, "file"));
  }
  if (record.known != 0)
    text += fmt::format("{}   {} of {}\n", paint(kBold, "known:"), plural(record.known, "finding"), kBaselineFile);
  return text + verdict_line(record.verdict, record.error, paint);
}

std::string run_text(const RunRecord& record, Colour colour) {
  const Painter paint{colour};
  std::string text;
  if (record.check) text += findings_text(*record.check, paint);
  if (record.error) text += error_text(*record.error);
  for (const auto& path : record.left_out)
    text += fmt::format("{} {} is never mounted\n", paint(kYellow, "left out:"), printable(path));
  text += refused_text(record.refused, paint);
  for (const auto& sentence : record.relaxations)
    text += fmt::format("{} {}\n", paint(kYellow, "relaxed:"), printable(sentence));
  for (const auto& sentence : record.notes)
    text += fmt::format("{} {}\n", paint(kYellow, "note:"), printable(sentence));
  for (const auto& [name, why] : record.unmasked)
    text += fmt::format("{} {}: {}\n", paint(kYellow, "not masked:"), printable(name), why);
  if (!record.backend.empty())
    text += fmt::format("{} {} ({})\n", paint(kBold, "sandbox:"), record.backend, printable(record.why_backend));
  if (record.check) {
    text += fmt::format("{} {}, {}; tiers {}\n", paint(kBold, "checked:"), plural(record.check->report.files, "file"),
        bytes_text(record.check->report.bytes), tiers_text(record.tiers));
  }
  for (const auto& name : record.preload) text += fmt::format("{} {}\n", paint(kBold, "preload:"), printable(name));
  constexpr std::size_t kToldMax = 20;
  const std::vector<Failure> failures = failures_of(record);
  for (std::size_t i = 0; i < std::min(failures.size(), kToldMax); ++i) text += failure_text(failures[i], paint);
  if (failures.size() > kToldMax)
    text += fmt::format(
        "{} and {} more failed (--format json lists them all)\n", paint(kDim, "..."), failures.size() - kToldMax);
  text += files_text(record, paint);
  if (!record.files.empty()) {
    static const TestSummary kNone;
    const TestSummary& tests = record.tests ? *record.tests : kNone;
    text += fmt::format("{}   {} passed, {} failed, {} skipped in {}", paint(kBold, "tests:"), tests.passed,
        tests.failures, tests.skipped, plural(tests.files.size(), "file"));
    if (tests.files.size() < record.files.size()) text += fmt::format(" of {}", record.files.size());
    text += "\n";
  }
  if (record.lines) text += coverage_text(*record.lines, paint);
  if (record.network) text += network_text(*record.network, paint);
  if (record.collected) text += collected_text(*record.collected, paint);
  if (record.dropped_bytes > 0 || !record.redactions.empty()) {
    const std::uint64_t masked = std::accumulate(record.redactions.begin(), record.redactions.end(), std::uint64_t{0},
        [](std::uint64_t sum, const auto& row) { return sum + row.second; });
    text += fmt::format("{}  {} kept, {} dropped, {} masked\n", paint(kBold, "output:"), bytes_text(record.kept_bytes),
        bytes_text(record.dropped_bytes), plural(masked, "secret"));
  }
  std::string times;
  for (const auto& [name, time] : record.timings)
    times += fmt::format("{}{} {} ms", times.empty() ? "" : ", ", name, time.count());
  if (!times.empty()) text += fmt::format("{}\n", paint(kDim, fmt::format("time:    {}", times)));
  if (!record.evidence_file.empty())
    text += fmt::format("{}\n", paint(kDim, fmt::format("record:  {}", printable(record.evidence_file))));
  return text + verdict_line(record.verdict, record.error, paint);
}

}  // namespace guard

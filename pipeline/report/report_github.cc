#include "pipeline/report/reports.h"

#include <fmt/format.h>

#include <algorithm>

#include "common/text/text.h"

namespace guard {
namespace {

enum class Place : bool { message, property };

std::string escaped(std::string_view text, Place place) {
  std::string out = printable_lines(text);
  for (const char c : std::string_view(place == Place::property ? "%\r\n:," : "%\r\n"))
    out = replaced(std::move(out), std::string_view(&c, 1), fmt::format("%{:02X}", static_cast<unsigned>(c)));
  return out;
}

std::string command(std::string_view level, std::string_view place, std::string_view title, std::string_view message) {
  return fmt::format(
      "::{} {}title={}::{}\n", level, place, escaped(title, Place::property), escaped(message, Place::message));
}

std::string place_of(std::string_view path, const Region& region) {
  while (path.starts_with("./")) path.remove_prefix(2);
  std::string place = fmt::format("file={},", escaped(path, Place::property));
  if (region.line == 0) return place;
  place += fmt::format("line={},endLine={},", region.line, region.end_line);
  // Columns mean something to GitHub on one line only.
  if (region.line == region.end_line)
    place += fmt::format("col={},endColumn={},", region.column, std::max(region.end_column, region.column + 1) - 1);
  return place;
}

std::string finding_line(const Finding& finding) {
  std::string message = finding.message;
  if (!finding.matched.empty()) message += fmt::format("; reads as: {}", finding.matched);
  if (!finding.fix.empty()) message += fmt::format(". Instead: {}", finding.fix);
  return command(finding.severity == Severity::block ? "error" : "notice", place_of(finding.path, finding.region),
      fmt::format("{} [{}]", finding.rule, to_string(finding.tier)), message);
}

std::string check_lines(const CheckRecord& record) {
  std::string text;
  for (const auto& finding : record.report.findings) text += finding_line(finding);
  for (const auto& waived : record.waived) {
    text += command("notice", place_of(waived.finding.path, waived.finding.region),
        fmt::format("waived: {}", waived.finding.rule),
        fmt::format("{} (until {})", waived.waiver.reason, waived.waiver.expires));
  }
  for (const auto& idle : record.idle_waivers) {
    if (idle.why == IdleWaiver::Why::no_file) continue;
    text += command("warning", {}, fmt::format("waiver not used: {}", idle.waiver.rule),
        fmt::format("{}: {}", idle.waiver.path, idle.sentence));
  }
  return text;
}

std::string verdict_line(const Verdict& verdict, const std::optional<Error>& error) {
  const ReasonInfo& row = info(verdict.reason);
  std::string message = verdict.detail.empty() ? std::string(row.sentence) : verdict.detail;
  if (error) message = error->message();
  if (error && !error->hint().empty()) {
    message += fmt::format(". Next: {}", error->hint());
  } else if (!row.next.empty()) {
    message += fmt::format(". Next: {}", row.next);
  }
  return command(verdict.kind() == VerdictKind::allowed ? "notice" : "error", {},
      fmt::format("guard: {} ({})", to_string(verdict.kind()), row.name), message);
}

}  // namespace

std::string check_annotations(const CheckRecord& record) {
  return check_lines(record) + verdict_line(record.verdict, record.error);
}

std::string run_annotations(const RunRecord& record) {
  std::string text;
  if (record.check) text += check_lines(*record.check);
  for (const Failure& failure : failures_of(record)) {
    std::string place = fmt::format("file={},", escaped(failure.file, Place::property));
    if (failure.line > 0) place += fmt::format("line={},", failure.line);
    if (failure.column > 0) place += fmt::format("col={},", failure.column);
    std::string message = failure.message;
    if (!failure.next.empty()) message += fmt::format(". Next: {}", failure.next);
    text += command("error", place,
        failure.test.empty() ? fmt::format("not run to its end: {}", failure.kind) : failure.test, message);
  }
  return text + verdict_line(record.verdict, record.error);
}

}  // namespace guard

#include "nightly/report/report.h"

#include <fmt/format.h>

#include <filesystem>
#include <nlohmann/json.hpp>
#include <optional>

#include "common/file_io.h"
#include "common/text/foreign_json.h"
#include "common/text/text.h"
#include "nightly/loop/wall_clock.h"
#include "nightly/report/report_view.h"
#include "redact/masked_regions.h"
#include "redact/redactor.h"

namespace guard::nightly {
namespace {

// Charts of more nights than a person tells apart would be noise.
constexpr std::size_t kTrendNights = 30;

// Making a redactor costs more than reading a page of text with it, and a night has ten thousands of texts: they are
// read together, a line end between them, which ends whatever could be a secret. Those that a region touches are then
// masked each by itself, as if they had been alone.
class Mask {
 public:
  explicit Mask(const SecretSource& secrets) : secrets_(secrets) {}

  // The text must stay where it is until finish().
  void operator()(std::string& text) {
    if (text.empty()) return;
    batch_ += text;
    texts_.push_back({&text, batch_.size()});
    batch_ += '\n';
    if (batch_.size() >= kBatchBytes) finish();
  }
  void operator()(std::vector<std::string>& texts) {
    for (auto& text : texts) (*this)(text);
  }

  void finish() {
    const auto regions = masked_regions(secrets_, batch_);
    auto region = regions ? regions->begin() : std::vector<MaskedRegion>::const_iterator();
    for (const auto& [text, end] : texts_) {
      if (regions) {
        while (region != regions->end() && region->end <= end - text->size()) ++region;
        if (region == regions->end()) break;
        if (region->begin >= end) continue;
      }
      auto hidden = redact_text(secrets_, *text);
      *text = hidden ? std::move(*hidden) : std::string("[WITHHELD]");
    }
    batch_.clear();
    texts_.clear();
  }

 private:
  static constexpr std::size_t kBatchBytes = 256u << 10;

  struct Piece {
    std::string* text;
    std::size_t end;  // in the batch
  };
  const SecretSource& secrets_;
  std::string batch_;
  std::vector<Piece> texts_;
};

void mask_night(Mask& mask, Night& night) {
  for (std::string* text : {&night.id, &night.reason, &night.why, &night.plan_name, &night.base, &night.branch,
           &night.rules_digest, &night.guard_version})
    mask(*text);
  night.plan_text.clear();
}

void mask_task(Mask& mask, Task& task) {
  for (std::string* text : {&task.night, &task.id, &task.prompt, &task.reason, &task.detail, &task.commit, &task.note})
    mask(*text);
}

void mask_attempt(Mask& mask, Attempt& attempt) {
  for (std::string* text : {&attempt.night, &attempt.task, &attempt.reason, &attempt.detail, &attempt.start,
           &attempt.tip, &attempt.commit, &attempt.backend, &attempt.evidence, &attempt.evidence_sha256,
           &attempt.output, &attempt.kept, &attempt.feedback, &attempt.diff, &attempt.generator}) {
    mask(*text);
  }
  mask(attempt.files);
  mask(attempt.flaky);
  for (auto& finding : attempt.findings) {
    for (std::string* text :
        {&finding.rule, &finding.tier, &finding.path, &finding.message, &finding.fix, &finding.excerpt})
      mask(*text);
  }
  for (auto& timing : attempt.timings_ms) mask(timing.first);
}

}  // namespace

ReportInput masked_input(const SecretSource& secrets, ReportInput input) {
  Mask mask(secrets);
  mask_night(mask, input.night);
  for (auto& task : input.tasks) mask_task(mask, task);
  for (auto& attempt : input.attempts) mask_attempt(mask, attempt);
  for (auto& files : input.files) mask(files.said);
  for (auto& row : input.rules) mask(row.rule);
  for (auto& row : input.trend) mask(row.night);
  for (auto& row : input.flakes) {
    mask(row.test);
    mask(row.last_night);
  }
  mask(input.state_folder);
  mask.finish();
  return input;
}

Result<ReportInput> report_input(const Journal& journal, const std::string& night) {
  ReportInput input;
  std::string id = night;
  if (id.empty()) {
    GUARD_TRY_ASSIGN(const std::vector<Night> newest, journal.nights(1));
    if (newest.empty())
      return Error(ErrorCode::file_not_found, "the journal holds no night yet")
          .hint("run one: `guard nightly run PLAN.toml`");
    id = newest.front().id;
  }
  GUARD_TRY_ASSIGN(std::optional<Night> found, journal.night(id));
  if (!found)
    return Error(ErrorCode::file_not_found, fmt::format("the journal holds no night {}", printable(id)))
        .hint("`guard nightly status` lists the nights");
  input.night = std::move(*found);
  GUARD_TRY_ASSIGN(input.tasks, journal.tasks(id));
  GUARD_TRY_ASSIGN(input.attempts, journal.attempts(id));
  GUARD_TRY_ASSIGN(input.rules, journal.findings_by_rule(id));
  GUARD_TRY_ASSIGN(input.trend, journal.sums(kTrendNights));
  GUARD_TRY_ASSIGN(input.flakes, journal.flakes(kTrendNights));
  input.now_ms = unix_ms();
  return input;
}

void read_files(ReportInput& input) {
  namespace fs = std::filesystem;
  constexpr std::uint64_t kRecordMax = 64u << 20;
  constexpr std::uint64_t kOutputMax = 1u << 20;
  constexpr std::size_t kSaidMax = 2'000;
  const auto text_of = [&](const std::string& file, std::uint64_t bytes_max) {
    auto text = file.empty() ? Result<std::string>(std::string())
                             : read_file(fs::path(input.state_folder) / file, bytes_max, FollowLinks::no);
    return text ? std::move(*text) : std::string();
  };
  input.files.assign(input.attempts.size(), {});
  for (std::size_t i = 0; i < input.attempts.size(); ++i) {
    const Attempt& attempt = input.attempts[i];
    AttemptFiles& files = input.files[i];
    const auto record = parse_json(text_of(attempt.evidence, kRecordMax));
    if (record && record->is_object() && record->contains("redactions") && (*record)["redactions"].is_object()) {
      for (const auto& [kind, count] : (*record)["redactions"].items())
        files.masked += count.is_number_unsigned() ? count.get<std::uint64_t>() : 0;
    }
    if (attempt.outcome != AttemptOutcome::failed) continue;
    std::string said = text_of(attempt.output, kOutputMax);
    if (said.size() > kSaidMax) said.erase(0, said.find('\n', said.size() - kSaidMax) + 1);
    files.said = std::move(said);
  }
}

Result<std::string> render_report(
    const ReportInput& input, ReportFormat format, const SecretSource& secrets, ReportColour colour) {
  const ReportInput masked = masked_input(secrets, input);
  const ReportView view(masked);
  switch (format) {
    case ReportFormat::text: return text_report(view, colour);
    case ReportFormat::markdown: return markdown_report(view);
    case ReportFormat::html: return html_report(view);
    case ReportFormat::json: return json_report(view);
  }
  return Error(ErrorCode::internal, "a report of no known format");
}

std::string summary_line(const ReportInput& input) {
  const ReportView view(input);
  std::string text = fmt::format("guard: {} of {} accepted", view.count(TaskState::accepted), view.tasks.size());
  const auto add = [&](std::size_t count, std::string_view word) {
    if (count > 0) text += fmt::format(", {} {}", count, word);
  };
  add(view.count(TaskState::refused), "refused");
  add(view.count(TaskState::failed), "failed");
  add(view.count(TaskState::skipped), "skipped");
  add(view.open(), "not decided");
  return text +
      fmt::format(
          " in {} ({})", duration_text(view.ended_ms - input.night.started_ms), printable(state_text(input.night)));
}

}  // namespace guard::nightly

#include "nightly/report/report.h"

#include <fmt/format.h>

#include <optional>

#include "common/text/text.h"
#include "nightly/loop/journal_tables.h"
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

}  // namespace

ReportInput masked_input(const SecretSource& secrets, ReportInput input) {
  Mask mask(secrets);
  input.night.plan_text.clear();
  kNights.for_each_text(input.night, mask);
  for (auto& task : input.tasks) kTasks.for_each_text(task, mask);
  for (auto& attempt : input.attempts) {
    kAttempts.for_each_text(attempt, mask);
    for_each_list([&](const auto& list) {
      for (auto& item : attempt.*list.list) list.for_each_text(item, mask);
    });
  }
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

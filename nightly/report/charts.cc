#include "nightly/report/charts.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>

#include "common/text/text.h"
#include "nightly/report/html_text.h"

// Coordinates are units of the view box; pages scale it. Colours are classes (`s-accepted`): a style sheet knows light
// from dark.

namespace guard::nightly {
namespace {

constexpr std::size_t kBarsMax = 3'000;  // beyond, a browser would be slow and nobody could tell bars apart
constexpr std::size_t kLanesMax = 16;

double share(double part, double whole, double width) { return whole <= 0 ? 0 : part / whole * width; }

std::string_view style_of(AttemptOutcome outcome) {
  switch (outcome) {
    case AttemptOutcome::accepted: return "s-accepted";
    case AttemptOutcome::refused: return "s-refused";
    case AttemptOutcome::failed: return "s-failed";
    case AttemptOutcome::put_back:
    case AttemptOutcome::interrupted: return "s-waiting";
    case AttemptOutcome::none: return "s-running";
  }
  return "s-running";
}

// A step of the time axis that makes at most some 9 of them.
std::int64_t axis_step_ms(std::int64_t span_ms) {
  constexpr std::int64_t kMinute = 60'000;
  for (const std::int64_t minutes : {1, 2, 5, 10, 15, 30, 60, 120, 180, 360, 720}) {
    if (span_ms / (minutes * kMinute) <= 9) return minutes * kMinute;
  }
  constexpr std::int64_t kDay = 1'440 * kMinute;
  return (span_ms / kDay / 9 + 1) * kDay;
}

struct Bar {
  const Attempt* attempt;
  std::size_t task;
  std::int64_t begin, end;
  std::size_t lane;
};

std::vector<Bar> bars_of(const ReportView& view) {
  const std::int64_t begin = view.input.night.started_ms;
  std::vector<Bar> bars;
  for (std::size_t task = 0; task < view.tasks.size(); ++task) {
    for (const Attempt* attempt : view.tasks[task].attempts) {
      if (attempt->started_ms <= 0) continue;
      const std::int64_t from = std::clamp(attempt->started_ms, begin, view.ended_ms);
      const std::int64_t to = attempt->ended_ms > 0  ? attempt->ended_ms
          : attempt->outcome == AttemptOutcome::none ? view.ended_ms
                                                     : from;
      bars.push_back({attempt, task, from, std::clamp(to, from, view.ended_ms), 0});
    }
  }
  std::stable_sort(bars.begin(), bars.end(), [](const Bar& a, const Bar& b) { return a.begin < b.begin; });
  return bars;
}

// Each goes to the first lane that is free; where there is none, it lies over others in the last one. Answers how many
// there are.
std::size_t spread_over_lanes(std::vector<Bar>& bars) {
  std::vector<std::int64_t> lanes;
  for (auto& bar : bars) {
    const auto free = std::find_if(lanes.begin(), lanes.end(), [&](std::int64_t until) { return until <= bar.begin; });
    bar.lane = static_cast<std::size_t>(free - lanes.begin());
    if (bar.lane == lanes.size() && lanes.size() < kLanesMax) lanes.push_back(0);
    bar.lane = std::min(bar.lane, lanes.size() - 1);
    lanes[bar.lane] = std::max(lanes[bar.lane], bar.end);
  }
  return lanes.size();
}

}  // namespace

std::string outcome_bar(const ReportView& view) {
  if (view.tasks.empty()) return {};
  std::string what, bars;
  double x = 0;
  for (const TaskState state : kShownStates) {
    const std::size_t count = view.count(state);
    if (count == 0) continue;
    const double width = share(static_cast<double>(count), static_cast<double>(view.tasks.size()), 1'000);
    bars += fmt::format(
        "<rect class=\"s-{}\" x=\"{:.2f}\" y=\"0\" width=\"{:.2f}\" height=\"10\"/>", to_string(state), x, width);
    what += fmt::format("{}{} {}", what.empty() ? "" : ", ", count, to_string(state));
    x += width;
  }
  return fmt::format(
      "<svg class=\"outcomes\" viewBox=\"0 0 1000 10\" preserveAspectRatio=\"none\" role=\"img\" "
      "aria-label=\"{}\">{}</svg>\n",
      what, bars);
}

std::string timeline(const ReportView& view) {
  const std::int64_t begin = view.input.night.started_ms;
  const auto span = static_cast<double>(std::max<std::int64_t>(view.ended_ms - begin, 1));
  std::vector<Bar> bars = bars_of(view);
  if (bars.empty() || begin <= 0) return "<p class=\"none\">Nothing was tried yet.</p>\n";
  const std::size_t left_out = bars.size() > kBarsMax ? bars.size() - kBarsMax : 0;
  bars.resize(bars.size() - left_out);
  const std::size_t lanes = spread_over_lanes(bars);

  constexpr double kWidth = 1'000, kLane = 22, kTop = 4;
  const double height = kTop + kLane * static_cast<double>(lanes);
  std::string svg = fmt::format(
      "<svg class=\"timeline\" viewBox=\"0 0 {:.0f} {:.0f}\" role=\"group\" aria-label=\"{} from {} to {}\">", kWidth,
      height + 22, plural(bars.size(), "attempt"), time_text(begin), time_text(view.ended_ms));
  const std::int64_t step = axis_step_ms(view.ended_ms - begin);
  for (std::int64_t at = (begin / step + 1) * step; at < view.ended_ms; at += step) {
    const double x = share(static_cast<double>(at - begin), span, kWidth);
    svg += fmt::format("<line class=\"grid\" x1=\"{0:.1f}\" x2=\"{0:.1f}\" y1=\"0\" y2=\"{1:.0f}\"/>", x, height);
    // Half a label would stand outside of the picture.
    if (x >= 18 && x <= kWidth - 18)
      svg += fmt::format(
          "<text x=\"{:.1f}\" y=\"{:.0f}\" text-anchor=\"middle\">{}</text>", x, height + 16, clock_text(at));
  }
  for (const auto& bar : bars) {
    const double x = share(static_cast<double>(bar.begin - begin), span, kWidth);
    // Narrower could not be seen, nor hit.
    const double width = std::max(share(static_cast<double>(bar.end - bar.begin), span, kWidth) - 0.6, 1.4);
    fmt::format_to(std::back_inserter(svg),
        "<a href=\"#task-{}\"><rect class=\"{}\" x=\"{:.1f}\" y=\"{:.0f}\" width=\"{:.1f}\" height=\"{:.0f}\" "
        "rx=\"1.5\"><title>{}, attempt {}: {} ({}, {})</title></rect></a>",
        bar.task, style_of(bar.attempt->outcome), std::min(x, kWidth - width),
        kTop + kLane * static_cast<double>(bar.lane), width, kLane - 6, html(bar.attempt->task), bar.attempt->number,
        bar.attempt->outcome == AttemptOutcome::none ? to_string(bar.attempt->step) : to_string(bar.attempt->outcome),
        clock_text(bar.begin), duration_text(bar.end - bar.begin));
  }
  svg += "</svg>\n";
  if (left_out > 0)
    svg += fmt::format("<p class=\"none\">The last {} are not in the picture.</p>\n", plural(left_out, "attempt"));
  return svg;
}

namespace {

constexpr double kChartWidth = 300, kChartHeight = 90, kGap = 2;

struct Slots {
  explicit Slots(std::size_t count)
      : width(std::min(kChartWidth / static_cast<double>(std::max<std::size_t>(count, 1)), 24.0)) {}
  double width;
  double x(std::size_t i) const { return width * static_cast<double>(i); }
  double bar() const { return std::max(width - kGap, 1.0); }
};

std::string chart_begin(std::string_view what) {
  return fmt::format(
      "<svg class=\"trend\" viewBox=\"0 0 {:.0f} {:.0f}\" role=\"img\" aria-label=\"{}\"><line class=\"axis\" x1=\"0\" "
      "x2=\"{:.0f}\" y1=\"{:.1f}\" y2=\"{:.1f}\"/>",
      kChartWidth, kChartHeight + 1, what, kChartWidth, kChartHeight + 0.5, kChartHeight + 0.5);
}

}  // namespace

std::string outcomes_over_nights(const std::vector<Journal::NightSums>& newest_first) {
  using Sums = Journal::NightSums;
  struct Part {
    TaskState state;
    std::uint64_t Sums::*count;
  };
  constexpr Part kParts[] = {{TaskState::accepted, &Sums::accepted}, {TaskState::refused, &Sums::refused},
      {TaskState::failed, &Sums::failed}, {TaskState::waiting, &Sums::waiting}, {TaskState::skipped, &Sums::skipped}};
  double most = 1;
  for (const auto& row : newest_first) {
    double total = 0;
    for (const auto& part : kParts) total += static_cast<double>(row.*part.count);
    most = std::max(most, total);
  }
  const Slots slots(newest_first.size());
  std::string svg = chart_begin(fmt::format("tasks by outcome over {}", plural(newest_first.size(), "night")));
  for (std::size_t i = 0; i < newest_first.size(); ++i) {
    const Sums& row = newest_first[newest_first.size() - 1 - i];
    double y = kChartHeight;
    std::string rects, said;
    for (const auto& part : kParts) {
      if (row.*part.count == 0) continue;
      const double height = share(static_cast<double>(row.*part.count), most, kChartHeight);
      y -= height;
      rects += fmt::format("<rect class=\"s-{}\" x=\"{:.1f}\" y=\"{:.1f}\" width=\"{:.1f}\" height=\"{:.1f}\"/>",
          to_string(part.state), slots.x(i), y, slots.bar(), height);
      said += fmt::format("{}{} {}", said.empty() ? "" : ", ", row.*part.count, to_string(part.state));
    }
    svg += fmt::format("<g><title>{}: {}</title>{}</g>", html(row.night), said.empty() ? "no task" : said, rects);
  }
  return svg + "</svg>";
}

std::string bars_over_nights(const Series& series) {
  std::uint64_t most = 1;
  for (const std::uint64_t value : series.values) most = std::max(most, value);
  const Slots slots(series.values.size());
  std::string svg = chart_begin(fmt::format("{} over {}", html(series.title), plural(series.values.size(), "night")));
  for (std::size_t i = 0; i < series.values.size(); ++i) {
    const double height = series.values[i] == 0
        ? 0
        : std::max(share(static_cast<double>(series.values[i]), static_cast<double>(most), kChartHeight), 1.0);
    svg += fmt::format(
        "<rect class=\"{}\" x=\"{:.1f}\" y=\"{:.1f}\" width=\"{:.1f}\" height=\"{:.1f}\"><title>{}: {}</title></rect>",
        i + 1 == series.values.size() ? "s-now" : "s-past", slots.x(i), kChartHeight - height, slots.bar(), height,
        html(series.nights[i]), html(series.texts[i]));
  }
  return svg + "</svg>";
}

}  // namespace guard::nightly

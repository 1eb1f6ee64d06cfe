#include "nightly/report/charts.h"

#include <fmt/format.h>

#include <algorithm>

#include "common/text/text.h"

namespace guard::nightly {
namespace {

using Json = nlohmann::ordered_json;
using Sums = Journal::NightSums;

constexpr std::size_t kBarsMax = 3'000;  // beyond, a browser would be slow and nobody could tell bars apart
constexpr std::size_t kLanesMax = 16;
constexpr double kWidth = 1'000, kLane = 22, kTop = 4;  // of the timeline, in units of its view box
constexpr double kChartWidth = 300, kChartHeight = 90, kGap = 2;

double share(double part, double whole, double width) { return whole <= 0 ? 0 : part / whole * width; }
double share(std::uint64_t part, std::uint64_t whole, double width) {
  return share(static_cast<double>(part), static_cast<double>(whole), width);
}

std::string number(double value) { return fmt::format("{:.1f}", value); }

std::string_view style_of(const Attempt& attempt) {
  switch (attempt.outcome) {
    case AttemptOutcome::requeued:
    case AttemptOutcome::interrupted: return "waiting";
    case AttemptOutcome::none: return "running";
    default: return to_string(attempt.outcome);
  }
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
      bars.push_back({attempt, task, from, std::clamp(to, from, view.ended_ms)});
    }
  }
  std::stable_sort(bars.begin(), bars.end(), [](const Bar& a, const Bar& b) { return a.begin < b.begin; });
  return bars;
}

// The first lane that is free for a bar; where there is none, it lies over others in the last one.
std::size_t lane_for(const Bar& bar, std::vector<std::int64_t>& lanes) {
  const auto free = std::find_if(lanes.begin(), lanes.end(), [&](std::int64_t until) { return until <= bar.begin; });
  auto lane = static_cast<std::size_t>(free - lanes.begin());
  if (lane == lanes.size() && lanes.size() < kLanesMax) lanes.push_back(0);
  lane = std::min(lane, lanes.size() - 1);
  lanes[lane] = std::max(lanes[lane], bar.end);
  return lane;
}

}  // namespace

Json outcome_chart(const ReportView& view) {
  if (view.tasks.empty()) return nullptr;
  Json bars = Json::array();
  std::string what;
  double x = 0;
  for (const TaskState state : kShownStates) {
    const std::size_t count = view.count(state);
    if (count == 0) continue;
    const double width = share(count, view.tasks.size(), kWidth);
    bars.push_back(
        {{"style", to_string(state)}, {"x", fmt::format("{:.2f}", x)}, {"width", fmt::format("{:.2f}", width)}});
    what += fmt::format("{}{} {}", what.empty() ? "" : ", ", count, to_string(state));
    x += width;
  }
  return {{"what", what}, {"bars", bars}};
}

Json timeline_chart(const ReportView& view) {
  const std::int64_t begin = view.input.night.started_ms;
  const auto span = static_cast<double>(std::max<std::int64_t>(view.ended_ms - begin, 1));
  std::vector<Bar> bars = bars_of(view);
  if (bars.empty() || begin <= 0) return nullptr;
  const std::size_t left_out = bars.size() > kBarsMax ? bars.size() - kBarsMax : 0;
  bars.resize(bars.size() - left_out);
  std::vector<std::int64_t> lanes;
  Json rects = Json::array();
  for (const auto& bar : bars) {
    const Attempt& attempt = *bar.attempt;
    const double x = share(static_cast<double>(bar.begin - begin), span, kWidth);
    // Narrower could not be seen, nor hit.
    const double width = std::max(share(static_cast<double>(bar.end - bar.begin), span, kWidth) - 0.6, 1.4);
    rects.push_back({{"place", bar.task}, {"style", style_of(attempt)}, {"x", number(std::min(x, kWidth - width))},
        {"y", kTop + kLane * static_cast<double>(lane_for(bar, lanes))}, {"width", number(width)},
        {"height", kLane - 6},
        {"title",
            fmt::format("{}, attempt {}: {} ({}, {})", attempt.task, attempt.number, outcome_text(attempt),
                clock_text(bar.begin), duration_text(bar.end - bar.begin))}});
  }
  const double height = kTop + kLane * static_cast<double>(lanes.size());
  Json grid = Json::array();
  const std::int64_t step = axis_step_ms(view.ended_ms - begin);
  for (std::int64_t at = (begin / step + 1) * step; at < view.ended_ms; at += step) {
    const double x = share(static_cast<double>(at - begin), span, kWidth);
    // Half a label would stand outside of the picture.
    grid.push_back({{"x", number(x)}, {"label", x >= 18 && x <= kWidth - 18 ? clock_text(at) : std::string()}});
  }
  return {
      {"what",
          fmt::format("{} from {} to {}", plural(bars.size(), "attempt"), time_text(begin), time_text(view.ended_ms))},
      {"height", height}, {"label_y", height + 16}, {"whole_height", height + 22}, {"grid", grid}, {"bars", rects},
      {"left_out", left_out > 0 ? plural(left_out, "attempt") : ""}};
}

namespace {

struct Part {
  std::string_view style;
  std::uint64_t value;
};
struct Column {
  std::string night;
  std::string words;
  std::vector<Part> parts;
};

// A stack of parts for each night.
Json trend(std::string_view title, std::string_view what, std::string_view newest, const std::vector<Column>& columns) {
  const double width = std::min(kChartWidth / static_cast<double>(columns.size()), 24.0);
  std::uint64_t most = 1;
  for (const Column& column : columns) {
    std::uint64_t sum = 0;
    for (const Part& part : column.parts) sum += part.value;
    most = std::max(most, sum);
  }
  Json nights = Json::array();
  for (const Column& column : columns) {
    const std::string x = number(width * static_cast<double>(nights.size()));
    double y = kChartHeight;
    Json rects = Json::array();
    for (const Part& part : column.parts) {
      if (part.value == 0) continue;
      const double height = std::max(share(part.value, most, kChartHeight), 1.0);
      y -= height;
      rects.push_back({{"style", part.style}, {"x", x}, {"y", number(y)},
          {"width", number(std::max(width - kGap, 1.0))}, {"height", number(height)}});
    }
    nights.push_back({{"title", fmt::format("{}: {}", column.night, column.words)}, {"rects", rects}});
  }
  return {{"title", title}, {"what", fmt::format("{} over {}", what, plural(columns.size(), "night"))},
      {"newest", newest}, {"nights", nights}};
}

}  // namespace

Json trend_charts(const std::vector<Sums>& newest_first) {
  if (newest_first.size() < 2) return Json::array();
  const std::vector<Sums> nights(newest_first.rbegin(), newest_first.rend());
  std::vector<Column> outcomes;
  std::string newest;
  for (const Sums& night : nights) {
    Column column{night.night, "",
        {{"accepted", night.accepted}, {"refused", night.refused}, {"failed", night.failed}, {"waiting", night.waiting},
            {"skipped", night.skipped}}};
    std::uint64_t tasks = 0;
    for (const auto& [style, value] : column.parts) {
      tasks += value;
      if (value > 0) column.words += fmt::format("{}{} {}", column.words.empty() ? "" : ", ", value, style);
    }
    if (tasks == 0) column.words = "no task";
    newest = fmt::format("{} of {}", night.accepted, tasks);
    outcomes.push_back(std::move(column));
  }
  Json charts = Json::array({trend("accepted", "tasks by outcome", newest, outcomes)});
  const auto add = [&](std::string_view title, auto&& value, auto&& words) {
    std::vector<Column> columns;
    for (const Sums& night : nights) columns.push_back({night.night, words(value(night)), {{"past", value(night)}}});
    columns.back().parts.front().style = "now";
    charts.push_back(trend(title, title, columns.back().words, columns));
  };
  const auto plain = [](std::uint64_t value) { return fmt::format("{}", value); };
  for (const auto& [title, sum] : {std::pair("attempts", &Sums::attempts), std::pair("findings", &Sums::findings),
           std::pair("flaky tests", &Sums::flaky)})
    add(
        title, [&sum = sum](const Sums& night) { return night.*sum; }, plain);
  const auto length = [](const Sums& night) {
    return static_cast<std::uint64_t>(night.ended_ms > night.started_ms ? night.ended_ms - night.started_ms : 0);
  };
  add("length", length, [](std::uint64_t ms) {
    return ms == 0 ? std::string("not ended") : duration_text(static_cast<std::int64_t>(ms));
  });
  return charts;
}

}  // namespace guard::nightly

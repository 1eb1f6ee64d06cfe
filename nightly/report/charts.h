// The pictures of the page: SVG as text, coloured by the page's style sheet alone, each with a description for those
// who do not see it.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "nightly/report/report_view.h"

namespace guard::nightly {

// One bar that shows how the tasks ended.
std::string outcome_bar(const ReportView& view);

// Attempts over the hours of the night, side by side where they ran side by side; each leads to its task ("#task-<place
// in view.tasks>").
std::string timeline(const ReportView& view);

// Bars of past nights, the oldest at the left.
std::string outcomes_over_nights(const std::vector<Journal::NightSums>& newest_first);
struct Series {
  std::string_view title;
  std::vector<std::uint64_t> values;  // one per night, the oldest first
  std::vector<std::string> texts;     // the same, as shown
  std::vector<std::string> nights;    // names
};
std::string bars_over_nights(const Series& series);

}  // namespace guard::nightly

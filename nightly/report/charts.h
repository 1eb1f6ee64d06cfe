// The pictures of the page as numbers for its template (page.html): bars with their places in the view box, each with
// the words for those who do not see it. Colours are names of styles: a style sheet knows light from dark.
#pragma once

#include <nlohmann/json.hpp>

#include "nightly/report/report_view.h"

namespace guard::nightly {

// {"what": "7 accepted, 2 refused", "bars": [{"style", "x", "width"}]}: one bar that shows how the tasks ended.
nlohmann::ordered_json outcome_chart(const ReportView& view);

// Attempts over the hours of the night, side by side where they ran side by side, with a grid; null before the first.
nlohmann::ordered_json timeline_chart(const ReportView& view);

// One chart per figure, bars of past nights, the oldest at the left.
nlohmann::ordered_json trend_charts(const std::vector<Journal::NightSums>& newest_first);

}  // namespace guard::nightly

// The night as one JSON value, worked out once: the document of --format json, and beside its fields, with names that
// begin with an underscore, what the templates of the other forms show (page.html, report.md, report.txt, review.txt).
//
// Values are still hostile but masked: each form escapes them.
#pragma once

#include <nlohmann/json.hpp>

#include "nightly/report/report_view.h"

namespace guard::nightly {

// How much a form shows. What is left out is counted beside the list: "_more_findings" beside "_findings".
struct ModelLimits {
  std::size_t tasks = SIZE_MAX;    // of each state
  std::size_t refused = SIZE_MAX;  // tasks whose findings are listed
  std::size_t findings = SIZE_MAX;
  std::size_t rows = SIZE_MAX;
};

nlohmann::ordered_json report_model(const ReportView& view, const ModelLimits& limits);
nlohmann::ordered_json task_model(const TaskView& row, const ModelLimits& limits);

// The model without what is there for templates, as a versioned document that is only ever extended. ASCII alone, so
// that no direction control hides in it.
std::string json_document(const nlohmann::ordered_json& model);

}  // namespace guard::nightly

#include "common/text/json_schema.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <valijson/adapters/nlohmann_json_adapter.hpp>
#include <valijson/schema.hpp>
#include <valijson/schema_parser.hpp>
#include <valijson/validation_results.hpp>
#include <valijson/validator.hpp>

#include "common/text/text.h"

namespace guard {
namespace {

using valijson::adapters::NlohmannJsonAdapter;
using Fault = valijson::ValidationResults::Error;

// "<root>" "[tests]" "[files]" "[0]" as "tests.files.0"
std::string place_of(const Fault& fault) {
  std::string place;
  for (std::string_view step : fault.context) {
    if (!step.starts_with('[')) continue;
    step = step.substr(1, step.size() - 2);
    place += fmt::format("{}{}", place.empty() ? "" : ".", step);
  }
  return place;
}

}  // namespace

struct JsonSchema::Parsed {
  valijson::Schema schema;
};

JsonSchema::JsonSchema(const nlohmann::json& schema) : parsed_(std::make_unique<Parsed>()) {
  const bool draft4 = schema.value("$schema", "").find("draft-04") != std::string::npos;
  valijson::SchemaParser(draft4 ? valijson::SchemaParser::kDraft4 : valijson::SchemaParser::kDraft7)
      .populateSchema(NlohmannJsonAdapter(schema), parsed_->schema);
}

JsonSchema::~JsonSchema() = default;

std::vector<std::string> JsonSchema::faults(const nlohmann::json& document) const {
  valijson::Validator validator;
  valijson::ValidationResults results;
  if (validator.validate(parsed_->schema, NlohmannJsonAdapter(document), &results)) return {};
  std::vector<Fault> all;
  for (Fault fault; results.popError(fault);) all.push_back(fault);
  std::vector<std::string> told;
  for (const Fault& fault : all) {
    // What holds another fault says only that it holds one.
    const bool outer = std::any_of(all.begin(), all.end(), [&](const Fault& other) {
      return other.context.size() > fault.context.size() &&
          std::equal(fault.context.begin(), fault.context.end(), other.context.begin());
    });
    if (outer) continue;
    const std::string place = place_of(fault);
    told.push_back(printable(fmt::format("{}{}{}", place, place.empty() ? "" : ": ", fault.description)));
  }
  return told;
}

}  // namespace guard

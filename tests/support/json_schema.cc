#include "tests/support/json_schema.h"

#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <valijson/adapters/nlohmann_json_adapter.hpp>
#include <valijson/schema.hpp>
#include <valijson/schema_parser.hpp>
#include <valijson/validation_results.hpp>
#include <valijson/validator.hpp>

#include "common/file_io.h"

namespace guard::testing {
namespace {

using nlohmann::json;
using valijson::adapters::NlohmannJsonAdapter;

// Reading a schema takes longer than holding a document against it.
const valijson::Schema& schema_of(const std::string& file) {
  static std::map<std::string, std::unique_ptr<valijson::Schema>> known;
  auto& schema = known[file];
  if (schema) return *schema;
  schema = std::make_unique<valijson::Schema>();
  const json document = json::parse(read_file(file, 1u << 20).value());
  const bool draft4 = document.value("$schema", "").find("draft-04") != std::string::npos;
  valijson::SchemaParser parser(draft4 ? valijson::SchemaParser::kDraft4 : valijson::SchemaParser::kDraft7);
  parser.populateSchema(NlohmannJsonAdapter(document), *schema);
  return *schema;
}

}  // namespace

std::string schema_faults(const json& document, const std::string& schema_file) {
  valijson::Validator validator;
  valijson::ValidationResults results;
  if (validator.validate(schema_of(schema_file), NlohmannJsonAdapter(document), &results)) return {};
  std::string faults;
  for (valijson::ValidationResults::Error error; results.popError(error);) {
    for (const auto& step : error.context) faults += step;
    faults += ": " + error.description + "\n";
  }
  return faults;
}

}  // namespace guard::testing

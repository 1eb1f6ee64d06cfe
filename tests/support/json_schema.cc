#include "tests/support/json_schema.h"

#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <tuple>
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

enum class UnknownKeys : bool { allowed, refused };

// Objects whose properties are listed have no others.
void close_objects(json& schema) {
  if (schema.is_object() && schema.contains("properties") && schema["properties"].is_object() &&
      !schema.contains("additionalProperties"))
    schema["additionalProperties"] = false;
  for (json& part : schema) {
    if (part.is_structured()) close_objects(part);
  }
}

// Reading a schema takes longer than holding a document against it.
const valijson::Schema& schema_of(const std::string& file, const std::string& definition, UnknownKeys unknown) {
  static std::map<std::tuple<std::string, std::string, UnknownKeys>, std::unique_ptr<valijson::Schema>> known;
  auto& schema = known[{file, definition, unknown}];
  if (schema) return *schema;
  schema = std::make_unique<valijson::Schema>();
  json document = json::parse(read_file(file, 1u << 20).value());
  if (unknown == UnknownKeys::refused) close_objects(document);
  if (!definition.empty())
    document = {{"$schema", document["$schema"]}, {"allOf", {{{"$ref", "#/definitions/" + definition}}}},
        {"definitions", document["definitions"]}};
  const bool draft4 = document.value("$schema", "").find("draft-04") != std::string::npos;
  valijson::SchemaParser parser(draft4 ? valijson::SchemaParser::kDraft4 : valijson::SchemaParser::kDraft7);
  parser.populateSchema(NlohmannJsonAdapter(document), *schema);
  return *schema;
}

std::string faults_of(const json& document, const valijson::Schema& schema) {
  valijson::Validator validator;
  valijson::ValidationResults results;
  if (validator.validate(schema, NlohmannJsonAdapter(document), &results)) return {};
  std::string faults;
  for (valijson::ValidationResults::Error error; results.popError(error);) {
    for (const auto& step : error.context) faults += step;
    faults += ": " + error.description + "\n";
  }
  return faults;
}

}  // namespace

std::string schema_faults(const json& document, const std::string& schema_file) {
  return faults_of(document, schema_of(schema_file, {}, UnknownKeys::allowed));
}

std::string strict_schema_faults(const json& document, const std::string& schema_file, const std::string& definition) {
  return faults_of(document, schema_of(schema_file, definition, UnknownKeys::refused));
}

}  // namespace guard::testing

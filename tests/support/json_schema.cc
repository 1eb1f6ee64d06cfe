#include "tests/support/json_schema.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <tuple>

#include "common/file_io.h"
#include "common/text/json_schema.h"

namespace guard::testing {
namespace {

using nlohmann::json;

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
const JsonSchema& schema_of(const std::string& file, const std::string& definition, UnknownKeys unknown) {
  static std::map<std::tuple<std::string, std::string, UnknownKeys>, std::unique_ptr<JsonSchema>> known;
  auto& schema = known[{file, definition, unknown}];
  if (schema) return *schema;
  json document = json::parse(read_file(file, 1u << 20).value());
  if (unknown == UnknownKeys::refused) close_objects(document);
  if (!definition.empty())
    document = {{"$schema", document["$schema"]}, {"allOf", {{{"$ref", "#/definitions/" + definition}}}},
        {"definitions", document["definitions"]}};
  schema = std::make_unique<JsonSchema>(document);
  return *schema;
}

std::string faults_of(const json& document, const JsonSchema& schema) {
  return fmt::format("{}", fmt::join(schema.faults(document), "\n"));
}

}  // namespace

std::string schema_faults(const json& document, const std::string& schema_file) {
  return faults_of(document, schema_of(schema_file, {}, UnknownKeys::allowed));
}

std::string strict_schema_faults(const json& document, const std::string& schema_file, const std::string& definition) {
  return faults_of(document, schema_of(schema_file, definition, UnknownKeys::refused));
}

}  // namespace guard::testing

// Holds JSON documents against a JSON schema.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>

namespace guard::testing {

// Why `document` does not fit the schema in `schema_file`, a line each; empty if it does.
std::string schema_faults(const nlohmann::json& document, const std::string& schema_file);

// The same, against "definitions" / `definition` of it (empty: the whole), where a key that the schema does not
// describe is a fault, too.
std::string strict_schema_faults(
    const nlohmann::json& document, const std::string& schema_file, const std::string& definition);

}  // namespace guard::testing

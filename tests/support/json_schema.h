// Holds JSON documents against a JSON schema.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>

namespace guard::testing {

// Why `document` does not fit the schema in `schema_file`, a line each; empty if it does.
std::string schema_faults(const nlohmann::json& document, const std::string& schema_file);

}  // namespace guard::testing

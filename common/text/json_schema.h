// Holds JSON documents against a JSON schema (draft 7, or 4 where it says so). The one place that knows valijson, which
// is slow to compile.
#pragma once

#include <memory>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

namespace guard {

class JsonSchema {
 public:
  // `schema` is our own, or a published one: what is none stops the program.
  explicit JsonSchema(const nlohmann::json& schema);
  ~JsonSchema();

  // Why `document` does not fit, a sentence each: "files.sha256: Value type not permitted by 'type' constraint."
  std::vector<std::string> faults(const nlohmann::json& document) const;

 private:
  struct Parsed;
  std::unique_ptr<Parsed> parsed_;
};

}  // namespace guard

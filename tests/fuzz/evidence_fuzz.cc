// Foreign bytes as an evidence record: nothing throws, and what has the shape of a record can be weighed.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <nlohmann/json.hpp>
#include <string_view>

#include "pipeline/evidence/evidence_check.h"
#include "pipeline/evidence/evidence_record.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const auto record = guard::parse_evidence(text);
  if (!record) {
    if (record.error().code() != guard::ErrorCode::input_invalid) std::abort();
    return 0;
  }
  if (guard::written_digest(text)) (void)guard::document_digest(text);
  if (!guard::shape_faults(*record).empty()) return 0;
  for (const auto& check : guard::check_consistency(guard::read_evidence(*record))) {
    if ((check.state == guard::CheckState::ok) != check.details.empty()) std::abort();
  }
  return 0;
}

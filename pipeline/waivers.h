// Lets findings pass that the trusted configuration names: rule, path, fingerprint of the file's bytes, reason, last day. Each
// use is reported. ALWAYS_BLOCK and banned patterns cannot be waived.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "pipeline/config.h"
#include "validator/validator.h"

namespace guard {

struct UsedWaiver {
  Waiver waiver;
  std::size_t findings = 0;
};

// `today` is "YYYY-MM-DD". Takes waived findings out of `report`; paths of findings are compared as relative to the project.
std::vector<UsedWaiver> apply_waivers(const std::vector<Waiver>& waivers, const std::vector<SourceFile>& files, std::string_view today,
                                      Report& report);

std::string today_utc();

}  // namespace guard

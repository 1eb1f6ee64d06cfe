// Whether the record of a worker's run may stand for a run here (trust_workers). Its signature was checked before: this
// is about what was run, and on what.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "common/cancel.h"
#include "common/result.h"
#include "pipeline/config/config.h"
#include "pipeline/report/test_results.h"

namespace guard::nightly {

// The run that would be made here.
struct ExpectedRun {
  std::filesystem::path project;  // with the change in it
  std::string backend;
  const std::vector<std::string>& files;  // tests
  const std::vector<ConfigEntry>& config;
  std::string rules_digest;
  std::string_view guard_version;
};

// INPUT_INVALID with what speaks against it: anything that `guard verify` would not find to be ok, a verdict other than
// allowed, other tests, another backend or other settings than `expected`. Where something can't be checked, too.
Result<TestSummary> tests_of_worker(std::string_view evidence, const ExpectedRun& expected, const CancelToken& cancel);

}  // namespace guard::nightly

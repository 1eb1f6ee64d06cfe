// Foreign bytes as the plan of a night: it is taken, and then taken again with its own prompts, or refused with a
// sentence.

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "nightly/plan/plan.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  // No prompt file is read: what this finds must not hang on the machine that it runs on.
  const auto plan = guard::nightly::parse_plan(text, "fuzz.toml", std::filesystem::path("/proc/self/fdinfo/none"));
  if (!plan) {
    if (plan.error().code() != guard::ErrorCode::config_invalid || plan.error().message().empty()) std::abort();
    return 0;
  }
  std::vector<std::pair<std::string, std::string>> prompts;
  for (const auto& task : plan->tasks) {
    if (task.id.empty() || task.generator.empty() || task.prompt.empty() || task.attempts == 0) std::abort();
    prompts.emplace_back(task.id, task.prompt);
  }
  const auto again = guard::nightly::parse_plan(text, "fuzz.toml", prompts);
  if (!again || again->tasks.size() != plan->tasks.size()) std::abort();
  return 0;
}

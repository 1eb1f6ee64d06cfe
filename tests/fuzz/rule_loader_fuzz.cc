// Foreign bytes as a rule file: loading may fail, with at least one sentence, and nothing else may happen.

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "rules/rule_loader.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const auto rules = guard::parse_rules(text, "fuzz.toml");
  if (!rules && rules.error().message().empty()) std::abort();
  // What was taken once is taken again, and is the same.
  if (rules) {
    const auto again = guard::parse_rules(text, "fuzz.toml");
    if (!again || again->digest() != rules->digest()) std::abort();
  }
  return 0;
}

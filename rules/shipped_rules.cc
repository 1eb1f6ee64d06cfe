// The rules and databases that rules_compiler made, in read-only memory.

#include "rules/rule_codec.h"
#include "rules/shipped_data.h"

// Laid out by guard_embed(): aligned to 64 bytes, as Hyperscan wants its databases.
#define GUARD_EMBEDDED(name) extern "C" const char name[], name##_end[]
GUARD_EMBEDDED(guard_rules_bin);
GUARD_EMBEDDED(guard_examples_bin);
GUARD_EMBEDDED(guard_hs_raw);
GUARD_EMBEDDED(guard_hs_code);
GUARD_EMBEDDED(guard_hs_strings);
GUARD_EMBEDDED(guard_hs_commands);
GUARD_EMBEDDED(guard_hs_uses);

namespace guard {
namespace {

std::string_view between(const char* begin, const char* end) noexcept {
  return {begin, static_cast<std::size_t>(end - begin)};
}

}  // namespace

const ShippedRules& shipped_rules_data() noexcept {
  static const ShippedRules data = [] {
    RuleReader reader(between(guard_rules_bin, guard_rules_bin_end));
    const std::string_view digest = reader.view();
    const std::string_view version = reader.view();
    return ShippedRules{digest, version, reader.rest(), between(guard_examples_bin, guard_examples_bin_end),
        {between(guard_hs_raw, guard_hs_raw_end), between(guard_hs_code, guard_hs_code_end),
            between(guard_hs_strings, guard_hs_strings_end), between(guard_hs_commands, guard_hs_commands_end),
            between(guard_hs_uses, guard_hs_uses_end)}};
  }();
  return data;
}

}  // namespace guard

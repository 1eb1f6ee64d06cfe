// The tables and databases that rules_compiler made, in read-only memory.

#include "rules/shipped_data.h"

// Laid out by guard_embed(): aligned to 64 bytes, as Hyperscan wants its databases.
extern "C" {
extern const char guard_hs_raw[];
extern const char guard_hs_raw_end[];
extern const char guard_hs_code[];
extern const char guard_hs_code_end[];
extern const char guard_hs_strings[];
extern const char guard_hs_strings_end[];
extern const char guard_hs_commands[];
extern const char guard_hs_commands_end[];
extern const char guard_hs_uses[];
extern const char guard_hs_uses_end[];
}

namespace guard {
namespace {

using std::string_view_literals::operator""sv;

#include "rules/shipped_rules_tables.inc"

std::string_view between(const char* begin, const char* end) noexcept {
  return {begin, static_cast<std::size_t>(end - begin)};
}

}  // namespace

const ShippedRules& shipped_rules_data() noexcept {
  static const ShippedRules data{
      std::span(kRules).first(kRuleCount),
      std::span(kPatterns).first(kPatternCount),
      std::span(kTexts).first(kTextCount),
      kDigest,
      kLibraryVersion,
      {between(guard_hs_raw, guard_hs_raw_end), between(guard_hs_code, guard_hs_code_end),
          between(guard_hs_strings, guard_hs_strings_end), between(guard_hs_commands, guard_hs_commands_end),
          between(guard_hs_uses, guard_hs_uses_end)},
  };
  return data;
}

}  // namespace guard

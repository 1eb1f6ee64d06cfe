// What the build generates out of rules/*.toml: tables in read-only memory. rules_compiler writes them, rule_set.cc and
// matcher.cc read them. Plain pointers and lengths, so that nothing runs before main().
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string_view>

#include "rules/rule.h"

namespace guard {

// A run of entries in one of the tables.
struct ShippedRange {
  std::uint32_t first = 0;
  std::uint32_t count = 0;
};

struct ShippedPattern {
  std::string_view regex;
  std::uint8_t views = 0;  // bit n: View n
  std::uint16_t capture = 0;
  std::uint32_t bytes_max = 0;
};

// A rule, or, with fact set, a fact: then only id, title, patterns, examples and the place are filled.
struct ShippedRule {
  bool fact = false;
  std::string_view id;
  Tier tier = Tier::always;
  Severity severity = Severity::block;
  std::string_view title;
  std::string_view why;
  std::string_view fix;
  std::string_view kind;
  ShippedRange patterns;
  ShippedRange needs;  // into texts, as all that follow
  ShippedRange all_of;
  ShippedRange paths;
  ShippedRange redact;  // key, value, key, value
  ShippedRange references;
  ShippedRange match;  // text, path, text, path
  ShippedRange no_match;
  std::string_view file;
  std::uint32_t line = 0;
  std::uint32_t column = 0;
};

struct ShippedRules {
  std::span<const ShippedRule> rules;
  std::span<const ShippedPattern> patterns;
  std::span<const std::string_view> texts;
  std::string_view digest;
  std::string_view library_version;  // of Hyperscan, when the databases were made
  std::array<std::string_view, kViewCount>
      databases;  // HyperscanScanner images by View; empty: no pattern looks at that view
};

// Defined by the generated source; rules_compiler itself is linked with an empty one.
const ShippedRules& shipped_rules_data() noexcept;

}  // namespace guard

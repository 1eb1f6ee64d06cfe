#include <fmt/format.h>

#include <algorithm>

#include "egress/keys/credential.h"
#include "pipeline/config/config_texts.h"
#include "pipeline/config/config_values.h"

namespace guard {
namespace {

constexpr std::uint64_t kLifetimeMaxS = 86'400;

struct CredentialField {
  std::string_view name;
  std::string CredentialRule::*value;
  bool needed;
};
constexpr CredentialField kFields[] = {
    {"host", &CredentialRule::host, true},
    {"header", &CredentialRule::header, true},
    {"prefix", &CredentialRule::prefix, false},
    {"value_from", &CredentialRule::value_from, true},
};

std::string_view source_rule(std::string_view text) {
  const std::size_t colon = text.find(':');
  const std::string_view kind = text.substr(0, colon);
  const std::string_view rest = colon == std::string_view::npos ? std::string_view() : text.substr(colon + 1);
  if (rest.empty() || (kind != "env" && kind != "file" && kind != "command"))
    return "is not env:NAME, file:/absolute/path or command:/absolute/program ARGUMENTS";
  return kind == "env" ? variable_rule(rest) : program_rule(rest);
}

}  // namespace

std::string credential_text(const CredentialRule& rule) {
  return fmt::format("{} for {} from {}", rule.header, rule.host, rule.value_from.substr(0, rule.value_from.find(' ')));
}

void add_credential(const TomlValue& table, std::string_view file_name, std::vector<CredentialRule>& credentials,
    ConfigComplaints& complaints) {
  const std::size_t before = complaints.size();
  const auto complain = [&](std::string sentence, const TomlValue& at) {
    complaints.push_back({std::move(sentence), at.line, at.column});
  };
  if (table.kind != TomlValue::Kind::table)
    return complain(fmt::format("a credential must be a table, not {}", table.kind_name()), table);
  CredentialRule rule;
  for (const auto& given : table.members) {
    if (given.key == "lifetime_s") {
      const bool fits = given.value.kind == TomlValue::Kind::integer && given.value.integer >= 0 &&
          static_cast<std::uint64_t>(given.value.integer) <= kLifetimeMaxS;
      if (!fits)
        complain("a credential's lifetime_s is a number of seconds, a day at most; 0: it is read once", given.value);
      if (fits) rule.lifetime_s = static_cast<std::uint64_t>(given.value.integer);
      continue;
    }
    const auto* field = std::ranges::find(kFields, given.key, &CredentialField::name);
    if (field == std::end(kFields)) {
      complain(fmt::format("a credential has no key `{}`; it has host, header, prefix, value_from, lifetime_s",
                   shown_value(given.key)),
          given.value);
    } else if (given.value.kind != TomlValue::Kind::string) {
      complain(fmt::format("a credential's {} must be a string", field->name), given.value);
    } else {
      rule.*field->value = given.value.text;
    }
  }
  for (const auto& field : kFields) {
    if (field.needed && table.find(field.name) == nullptr)
      complain(fmt::format("a credential needs `{}`", field.name), table);
  }
  if (complaints.size() != before) return;
  // The text is not shown: who takes value_from for the value has written the key there.
  if (const auto fault = source_rule(rule.value_from); !fault.empty())
    complain(fmt::format("a credential's value_from {}", fault), table);
  const auto made = EgressCredential::create(rule.host, rule.header, rule.prefix, {});
  if (!made) complain(fmt::format("{}: {}", made.error().message(), made.error().hint()), table);
  for (const CredentialRule& other : credentials) {
    const auto earlier = EgressCredential::create(other.host, other.header, other.prefix, {});
    if (made && earlier && is_same_place(*made, *earlier))
      complain(fmt::format("{} for {} is set twice, first at {}: leave one out", made->header, made->target.text(),
                   other.origin),
          table);
  }
  rule.origin = fmt::format("{}:{}", file_name, table.line);
  if (complaints.size() == before) credentials.push_back(std::move(rule));
}

}  // namespace guard

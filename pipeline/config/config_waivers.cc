#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <chrono>

#include "pipeline/config/config_texts.h"
#include "pipeline/config/config_values.h"

namespace guard {
namespace {

bool is_digit(char c) { return c >= '0' && c <= '9'; }

bool is_date(std::string_view text) {
  if (text.size() != 10 || text[4] != '-' || text[7] != '-') return false;
  const auto number = [&](std::size_t at, std::size_t length) {
    unsigned value = 0;
    const auto part = text.substr(at, length);
    if (!std::ranges::all_of(part, is_digit)) return 0u;
    std::from_chars(part.data(), part.data() + part.size(), value);
    return value;
  };
  const unsigned year = number(0, 4);
  using namespace std::chrono;
  return year != 0 &&
      year_month_day(std::chrono::year(static_cast<int>(year)), month(number(5, 2)), day(number(8, 2))).ok();
}

struct WaiverField {
  std::string_view name;
  std::string Waiver::*value;
  TextRule rule;
};

std::string_view waived_rule_rule(std::string_view text) {
  for (const std::string_view fixed : {"always.", "banned.", "encoding.", "policy."}) {
    if (text.starts_with(fixed)) return "cannot be waived: always, banned, encoding and policy have no exceptions";
  }
  return id_rule(text);
}
std::string_view fingerprint_rule(std::string_view text) {
  const bool good =
      text.size() == 64 && std::ranges::all_of(text, [](char c) { return is_digit(c) || (c >= 'a' && c <= 'f'); });
  return good ? ""
              : "is not a SHA-256 in 64 lower-case hex digits; `guard check --print-waiver` prints a finding's, "
                "`sha256sum FILE` a file's";
}
std::string_view reason_rule(std::string_view text) {
  return trimmed(text).empty() ? "says nothing; a waiver needs its reason" : any_text_rule(text);
}
std::string_view expiry_rule(std::string_view text) { return is_date(text) ? "" : "is not a date like 2030-12-31"; }

constexpr WaiverField kWaiverFields[] = {
    {"rule", &Waiver::rule, waived_rule_rule},
    {"path", &Waiver::path, glob_rule},
    {"fingerprint", &Waiver::fingerprint, fingerprint_rule},
    {"reason", &Waiver::reason, reason_rule},
    {"expires", &Waiver::expires, expiry_rule},
};

}  // namespace

void add_waiver(
    const TomlValue& table, std::string_view file_name, std::vector<Waiver>& waivers, ConfigComplaints& complaints) {
  const std::size_t before = complaints.size();
  if (table.kind != TomlValue::Kind::table) {
    complaints.push_back(
        {fmt::format("a waiver must be a table, not {}", table.kind_name()), table.line, table.column});
    return;
  }
  Waiver waiver;
  for (const auto& given : table.members) {
    const auto* field = std::ranges::find(kWaiverFields, given.key, &WaiverField::name);
    if (field == std::end(kWaiverFields)) {
      complaints.push_back({fmt::format("a waiver has no key `{}`; it has rule, path, fingerprint, reason, expires",
                                shown_value(given.key)),
          given.line, given.column});
      continue;
    }
    // A date may stand without quotes: then it is a TOML date, whose text is the date.
    const bool texty =
        given.value.kind == TomlValue::Kind::string || (field->name == "expires" && !given.value.text.empty());
    const std::string_view fault = texty ? field->rule(given.value.text) : "must be a string";
    if (!fault.empty()) {
      const std::string value = texty ? fmt::format(" \"{}\"", shown_value(given.value.text)) : std::string();
      complaints.push_back(
          {fmt::format("a waiver's {}{} {}", field->name, value, fault), given.value.line, given.value.column});
    }
    waiver.*field->value = given.value.text;
  }
  for (const auto& field : kWaiverFields) {
    if (table.find(field.name) != nullptr) continue;
    complaints.push_back({fmt::format("a waiver needs `{}`", field.name), table.line, table.column});
  }
  waiver.origin = fmt::format("{}:{}", file_name, table.line);
  if (complaints.size() == before) waivers.push_back(std::move(waiver));
}

}  // namespace guard

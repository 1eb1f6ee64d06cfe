// Fills templates with values, so that a page, a report or a unit is a file of its own and code says what stands in it.
//
//   {{name}}                 a value on one line, escaped;  {{{name}}}  of several lines, escaped;  {{&name}}  as it is
//   {{#name}} ... {{/name}}  for each item of a list; once for what is not empty, 0, false or null
//   {{^name}} ... {{/name}}  otherwise
//   {{.}}                    the item itself
//   {{! words}}              nothing
//
// A name is looked up in the innermost item, then in those around it; one that is found nowhere is empty. The tag of a
// section that stands alone on its line takes the line with it. Templates are ours: what is wrong in one is shown by
// the tests of what it makes.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>

namespace guard {

struct TemplateEscapes {
  std::string (*line)(std::string_view text) = nullptr;   // null: as it is
  std::string (*block)(std::string_view text) = nullptr;  // null: as it is
};

std::string fill_template(std::string_view text, const nlohmann::ordered_json& values, const TemplateEscapes& escapes);

}  // namespace guard

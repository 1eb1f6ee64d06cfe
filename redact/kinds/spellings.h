// How programs write a value where its own bytes would not do: in hosts, URLs, JSON, JavaScript, HTML and shells.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace guard {

// Every spelling of `value` that differs from it, each once. Line ends in them are written out. For a value that is a
// JSON object or array: also the texts in it of 6 bytes or more, which programs print one by one.
std::vector<std::string> spellings(std::string_view value);

}  // namespace guard

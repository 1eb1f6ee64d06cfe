// Text as C++ source, for the programs that generate tables while guard is built.
#pragma once

#include <string>
#include <string_view>

namespace guard {

// A literal of type std::string_view; its user has operator""sv at hand.
std::string cpp_literal(std::string_view text);

}  // namespace guard

// Environment variables that a test shows: what it compares, throws, or writes into a title is printed when it fails. The ways from the
// read to there that are followed: names, members, templates, literals, functions that give it back, and containers and texts of the language.
// What an imported function makes of it is not.
#pragma once

#include <cstddef>
#include <string_view>

namespace guard {

// For all reads of a file together, in bytes looked at.
inline constexpr std::size_t kShownWorkMax = 16'000'000;

// Of the code view of one file (validator/source_view.h). `begin`, `end`: of a read, "process.env.NAME". `work`: what is left, which
// shrinks; without any a variable counts as shown.
bool is_shown(std::string_view code, std::size_t begin, std::size_t end, std::size_t& work);

}  // namespace guard

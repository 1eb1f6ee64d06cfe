// The parts of a constant address: `new URL(text).hostname` and its kin.
#pragma once

#include <string_view>

#include "validator/values/constant_folder.h"

namespace guard {

// Unknown if `name` is no part of an address, or `url` is no address. searchParams is an object.
Value url_part(std::string_view url, std::string_view name, ValueLists& lists, Arena& arena);

}  // namespace guard

// What lies in a folder, in an order that does not depend on the file system.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "common/result.h"

namespace guard {

// Sorted by their bytes. IO_ERROR that names the folder.
Result<std::vector<std::string>> sorted_names(const std::filesystem::path& folder);
// Of an open one, called `name` in messages, which stays open. No more than `most` are read.
Result<std::vector<std::string>> sorted_names(int folder, std::string_view name, std::size_t most = SIZE_MAX);

}  // namespace guard

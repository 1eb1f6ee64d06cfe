// Bytes that make a file read differently by people, tools and engines. Each is a finding of its own and never a reason
// to skip the file.
#pragma once

#include <cstddef>
#include <string_view>
#include <vector>

namespace guard {

struct EncodingFault {
  std::string_view rule;
  std::string_view title;
  std::string_view fix;
  std::size_t begin = 0;
  std::size_t end = 0;
};

// At most one fault of a kind, at its first place.
std::vector<EncodingFault> check_encoding(std::string_view bytes);

}  // namespace guard

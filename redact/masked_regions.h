// Where the secrets of a whole text are: what Redactor replaces by markers, in order, neither overlapping nor touching.
#pragma once

#include <cstddef>
#include <string_view>
#include <vector>

#include "common/result.h"
#include "redact/kinds/secret_source.h"

namespace guard {

struct MaskedRegion {
  std::size_t begin = 0;
  std::size_t end = 0;
};

Result<std::vector<MaskedRegion>> masked_regions(const SecretSource& secrets, std::string_view text);

}  // namespace guard

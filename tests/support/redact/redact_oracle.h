// F, written for clearness and not for speed: tests hold the redactor against it.
#pragma once

#include <string>
#include <string_view>

#include "common/result.h"
#include "redact/kinds/secret_source.h"

namespace guard {

Result<std::string> redact_whole(const SecretSource& secrets, std::string_view text);

}  // namespace guard

// A look at every step before it is taken: each write to the ledger, each change of a workspace folder. An Error makes
// the step fail with nothing done. Tests let the Nth step fail, or die there; otherwise it is empty.
#pragma once

#include <functional>
#include <string_view>

#include "common/result.h"

namespace guard::sessions {

using StepWatch = std::function<Result<void>(std::string_view step)>;

}  // namespace guard::sessions

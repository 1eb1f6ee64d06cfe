// process.Process of E2B's interface: programs of a sandbox.
#pragma once

#include <string_view>

#include "serve/api.h"
#include "serve/e2b/sandboxes.h"

namespace guard::serve::e2b {

// `method`: "Start". Everything that goes wrong is in the answer; an Error once the sandbox is ended.
Result<void> call_process(
    Sandboxes& sandboxes, Sandbox& sandbox, std::string_view method, const Request& request, Answer& answer);

}  // namespace guard::serve::e2b

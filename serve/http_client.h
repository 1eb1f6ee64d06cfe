// The other end of serve/http_server.h.
#pragma once

#include <filesystem>

#include "common/result.h"
#include "common/unique_fd.h"
#include "serve/api.h"

namespace guard::serve {

// Empty: nobody listens there (no socket, or one that its server has left). IO_ERROR for all else.
Result<UniqueFd> connect_to(const std::filesystem::path& path);

// Sends `request` and hands what comes to `answer`. PROTOCOL_ERROR for what is no answer, or ends early.
Result<void> ask(UniqueFd connection, const Request& request, Answer& answer);

}  // namespace guard::serve

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

// Asks to speak on in `protocol`: the connection. Empty: it was refused, and `answer` has what was said.
Result<UniqueFd> ask_to_upgrade(UniqueFd connection, const Request& request, std::string_view protocol, Answer& answer);

}  // namespace guard::serve

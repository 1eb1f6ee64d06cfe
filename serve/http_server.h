// HTTP/1.1 on a Unix socket for the person whose guard this is: one request per connection, one thread per connection,
// both bounded. Who connects as another user is told nothing.
#pragma once

#include <filesystem>
#include <functional>

#include "common/cancel.h"
#include "common/result.h"
#include "common/unique_fd.h"
#include "serve/api.h"

namespace guard::serve {

constexpr std::size_t kConnectionsMax = 128;

// Listens at `path` with mode 0600. What lies there is removed if it is a socket: whoever calls this owns its folder.
// Where systemd has handed a listening socket over (LISTEN_FDS), that is taken. IO_ERROR.
Result<UniqueFd> listen_at(const std::filesystem::path& path);

// Until cancelled; then no connection is taken any more, and those that are there come to their end: `drain` is called
// first, which has to see to it.
Result<void> serve_http(int listener, Api& api, const CancelToken& cancel, const std::function<void()>& drain);

}  // namespace guard::serve

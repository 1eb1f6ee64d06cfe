// HTTP/1.1 for the programs of the person whose guard this is: one request after another on a connection, one thread
// per connection, both bounded. A connection that rests gives its place to who has something to ask. Who may not speak
// (serve/access.h) or asks for too much (serve/clients.h) is told so.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "common/cancel.h"
#include "common/log.h"
#include "common/result.h"
#include "serve/access.h"
#include "serve/api.h"

namespace guard::serve {

constexpr std::size_t kConnectionsMax = 128;  // of each listener: the next ones wait in its queue

struct Listener {
  int socket = -1;
  const Token* token = nullptr;  // of the loopback; null: a Unix socket
};

// What is answered beside the api, to the same clients. Called from several threads.
struct Endpoint {
  std::function<bool(const Request&)> claims;
  std::function<Result<void>(const Request&, Answer&)> answer;  // an Error: as of Api::handle()
};

// The client of a request that names a sandbox and shows that one's own token, in place of serve's.
using SandboxClient =
    std::function<Result<std::string>(std::string_view sandbox, std::string_view token, std::string_view path)>;

struct ServeOptions {
  std::vector<Listener> listeners;
  std::vector<Endpoint> endpoints = {};
  SandboxClient sandbox_client = {};
  const JsonLog* log = nullptr;    // a line for each request; null: none
  milliseconds drain_max{10'000};  // what requests get that are being answered when it is cancelled
};

// Until cancelled. From then on requests are refused with 503; once those before have ended, or after `drain_max`,
// `stop` is called, which has to end what they wait for.
Result<void> serve_http(
    const ServeOptions& options, Api& api, const CancelToken& cancel, const std::function<void()>& stop);

}  // namespace guard::serve

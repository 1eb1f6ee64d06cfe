// HTTP/1.1 for the programs of the person whose guard this is: one request per connection, one thread per connection,
// both bounded. Who may not speak (serve/access.h) or asks for too much (serve/clients.h) is told so.
#pragma once

#include <functional>
#include <string>
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
  std::string path;  // "/mcp"; empty: there is none
  std::function<void(const Request&, Answer&)> answer;
};

struct ServeOptions {
  std::vector<Listener> listeners;
  Endpoint endpoint = {};
  const JsonLog* log = nullptr;    // a line for each request; null: none
  milliseconds drain_max{10'000};  // what requests get that are being answered when it is cancelled
};

// Until cancelled. From then on requests are refused with 503; once those before have ended, or after `drain_max`,
// `stop` is called, which has to end what they wait for.
Result<void> serve_http(
    const ServeOptions& options, Api& api, const CancelToken& cancel, const std::function<void()>& stop);

}  // namespace guard::serve

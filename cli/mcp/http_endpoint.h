// The same tools for clients of `guard serve`: the protocol's streamable HTTP at /mcp. A client begins with
// "initialize", and names the id that it is answered with (Mcp-Session-Id) from then on. A call is answered as a stream
// of events where the client takes that, else as one document; there are no streams that the server begins.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <string>

#include "cli/mcp/tools.h"
#include "serve/http_server.h"

namespace guard::mcp {

// Thread-safe.
class HttpEndpoint {
 public:
  explicit HttpEndpoint(Tools& tools) : tools_(tools) {}

  void answer(const serve::Request& request, serve::Answer& answer);
  void cancel_all();  // what runs now

 private:
  struct Client {
    std::string owner;  // Request::client: nobody else has this session
    std::shared_ptr<Connection> connection;
    std::uint64_t used = 0;  // the number of its last request
  };

  void post(const serve::Request& request, serve::Answer& answer);
  std::shared_ptr<Connection> client_of(const serve::Request& request);  // null: there is none
  Result<std::string> begin(const std::string& owner);                   // answers its id
  void end(Connection& client);

  Tools& tools_;
  std::mutex mutex_;
  std::uint64_t requests_ = 0;
  std::map<std::string, Client> clients_;
};

}  // namespace guard::mcp

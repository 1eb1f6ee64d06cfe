// What one client may ask of `guard serve`, so that one that runs wild leaves room for the others. A client is a user
// at the socket, or whoever has the token.
//
// Thread-safe. What is too much is EXECUTION_FAILED with the detail "limit", and what to do.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <string>

#include "common/result.h"
#include "common/time.h"

namespace guard::serve {

struct ClientLimits {
  double requests_per_second = 2'000;  // a command costs a millisecond: this is more than one at a time can ask for
  double requests_at_once = 4'000;     // after a rest
  std::uint64_t bytes_in_flight = 256u << 20;  // of bodies of requests that are not answered yet
  std::size_t sessions = 128;                  // that it has opened, and that are open
};

class Clients {
 public:
  explicit Clients(ClientLimits limits = {}) : limits_(limits) {}

  // A request with a body of so many bytes, which are in flight for as long as what is returned lives.
  Result<std::shared_ptr<void>> admit(const std::string& client, std::uint64_t body_bytes, SteadyClock::time_point now);

  // Before the client opens `session`. `open_ones` is asked for all open sessions where it seems to have too many.
  using OpenOnes = std::function<std::set<std::string>()>;
  Result<void> may_open(const std::string& client, const std::string& session, const OpenOnes& open_ones);

 private:
  struct Client {
    double allowance = 0;  // requests that it may make now
    SteadyClock::time_point counted_at;
    std::uint64_t bytes = 0;
    std::set<std::string> sessions;
  };

  const ClientLimits limits_;
  std::mutex mutex_;
  std::map<std::string, Client> clients_;
};

}  // namespace guard::serve

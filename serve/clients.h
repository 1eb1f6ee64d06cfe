// What one client may ask of `guard serve`, so that one that runs wild leaves room for the others. A client is a user
// at the socket, or whoever has the token. Whatever it asks for, as a request or on a stream, is admitted here.
//
// Thread-safe. What is too much is EXECUTION_FAILED with the detail "limit", and what to do.
#pragma once

#include <atomic>
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

// What a client holds of guard serve for a while.
struct Load {
  std::uint64_t bytes = 0;        // of bodies of requests that are not answered yet
  std::uint64_t tasks = 0;        // on streams: each takes two threads and half a megabyte
  std::uint64_t streams = 0;      // connections that stay (serve/task_stream.h)
  std::uint64_t connections = 0;  // requests that are not answered yet; streams count, too
};

struct ClientLimits {
  double requests_per_second = 2'000;  // a command costs a millisecond: this is more than one at a time can ask for
  double requests_at_once = 4'000;     // after a rest
  // Four ports with a browser at each. Some of a listener's connections (serve/http_server.h) are left to others.
  Load held{256u << 20, 256, 32, 112};
  std::size_t sessions = 128;  // that it uses, and that are open
};

class Clients {
 public:
  explicit Clients(ClientLimits limits = {}) : limits_(limits) {}

  // A request, or a task on a stream. What it takes is held for as long as what is returned lives.
  // ENVIRONMENT_UNAVAILABLE once guard serve stops.
  Result<std::shared_ptr<void>> admit(const std::string& client, const Load& load, SteadyClock::time_point now);
  // More for what was admitted already.
  Result<std::shared_ptr<void>> hold(const std::string& client, const Load& load);

  // Before the client does something in `session` that opens or reopens it, or may. The session counts for as long as
  // what is returned lives, and then while it is open; one that was open when guard serve began counts once its client
  // uses it. No client: as many as there may be.
  using OpenOnes = std::function<std::set<std::string>()>;  // called without a lock
  Result<std::shared_ptr<void>> use(const std::string& client, const std::string& session, const OpenOnes& open_ones);

  void stop() noexcept { stopping_ = true; }  // from now on nothing is admitted
  bool stopping() const noexcept { return stopping_; }

 private:
  struct Use {
    std::size_t now = 0;     // how many requests use it
    std::uint64_t last = 0;  // the number of what was last begun or ended
  };
  struct Client {
    double allowance = 0;  // requests that it may make now
    SteadyClock::time_point counted_at;
    Load held;
    std::map<std::string, Use> sessions;
    std::uint64_t uses = 0;
  };
  Result<std::shared_ptr<void>> hold_locked(const std::string& name, Client& client, const Load& load);

  const ClientLimits limits_;
  std::atomic<bool> stopping_ = false;
  std::mutex mutex_;
  std::map<std::string, Client> clients_;  // never forgotten
};

}  // namespace guard::serve

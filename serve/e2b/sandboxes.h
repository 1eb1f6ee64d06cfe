// The sandboxes of E2B's interface: sessions of the tenant "e2b", each with a time at which it ends, labels, variables
// and a token of its own. They end with this process, and nothing of their files stays.
#pragma once

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include "common/result.h"
#include "common/time.h"
#include "serve/clients.h"
#include "serve/e2b/interpreter.h"
#include "serve/e2b/network.h"
#include "serve/e2b/processes.h"
#include "sessions/manager.h"

namespace guard::serve::e2b {

struct NewSandbox {
  std::string template_id;
  std::map<std::string, std::string> metadata;
  std::map<std::string, std::string> env;  // of every program
  milliseconds timeout{300'000};
  NetworkAsked network;
};

// Makes rates of what is known of a sandbox's processor time, whenever somebody asks. Thread-safe.
class CpuMeter {
 public:
  // How many processors were busy, on average, since the last look that is at least a second old; at first, since the
  // sandbox was started.
  double rate(const sessions::SandboxUsage& usage, std::int64_t now_ms);

 private:
  struct Look {
    std::uint64_t cpu_ms = 0;
    std::int64_t at_ms = 0;
  };
  std::mutex mutex_;
  std::string sandbox_;
  Look older_;
  Look newer_;
};

struct Sandbox {
  Sandbox(std::string id_, std::string token_, std::string owner_, NewSandbox made_, std::int64_t now)
      : id(std::move(id_)),
        token(std::move(token_)),
        owner(std::move(owner_)),
        made(std::move(made_)),
        started_ms(now),
        end_ms(now + made.timeout.count()) {}

  // Not to be guessed: some requests of the clients show nothing else.
  const std::string id;
  const std::string token;  // of the requests inside
  const std::string owner;  // Request::client
  const NewSandbox made;
  const std::int64_t started_ms;        // since 1970
  std::int64_t end_ms;                  // the lock of Sandboxes is held; others ask end_of()
  NetworkAsked network = made.network;  // the same; network_of()
  std::string shell;                    // "/bin/bash", "/bin/sh" or "bun": what the image has; set by create()
  std::string home;                     // "/home/user" where that is the workspace, else "/workspace"; set by create()
  std::atomic<bool> over = false;
  Processes processes;
  Contexts contexts;
  CpuMeter cpu;

  std::string session() const { return "e2b/" + id; }
};

// Thread-safe.
class Sandboxes {
 public:
  static constexpr milliseconds kTimeoutMax{24 * 3'600'000};

  Sandboxes(sessions::Manager& manager, SetNetwork set_network)
      : manager_(manager), set_network_(std::move(set_network)) {}
  ~Sandboxes();  // all of them end
  Sandboxes(const Sandboxes&) = delete;
  Sandboxes& operator=(const Sandboxes&) = delete;

  // Once: from then on sandboxes end when their time is over. What an earlier guard serve has left goes first.
  Result<void> run();

  // Once its sandbox can be used.
  Result<std::shared_ptr<Sandbox>> create(const std::string& owner, NewSandbox wanted);
  std::shared_ptr<Sandbox> find(const std::string& id) const;  // null: there is none
  std::vector<std::shared_ptr<Sandbox>> of(const std::string& owner) const;
  std::int64_t end_of(const Sandbox& sandbox) const;
  // From now; `only_later`: it is never made to end sooner.
  void set_timeout(Sandbox& sandbox, milliseconds timeout, bool only_later);
  NetworkAsked network_of(const Sandbox& sandbox) const;
  // FILE_NOT_FOUND once it has ended; and as SetNetwork.
  Result<void> set_network(Sandbox& sandbox, NetworkAsked asked);
  bool kill(const std::string& id);  // with all that runs there and its files; false: there is none
  void stop();                       // all of them, and no more are made

  // A program or operation in it, as one of its owner's.
  Result<std::unique_ptr<Task>> start(const Sandbox& sandbox, const TaskSpec& spec);
  // As Manager::usage().
  Result<std::optional<sessions::SandboxUsage>> usage(const Sandbox& sandbox);
  // Bytes for a request of its owner's, beside those of its body.
  Result<std::shared_ptr<void>> hold(const Sandbox& sandbox, std::size_t bytes) {
    return clients_.hold(sandbox.owner, {.bytes = bytes});
  }

  sessions::Manager& manager() noexcept { return manager_; }

 private:
  struct Ending {
    std::thread thread;
    std::atomic<bool> over = false;
  };
  void end_in_time();
  void remove_left_over();
  void end(Sandbox& sandbox);

  sessions::Manager& manager_;
  const SetNetwork set_network_;
  Clients clients_;  // of this interface alone
  mutable std::mutex mutex_;
  std::condition_variable changed_;
  std::map<std::string, std::shared_ptr<Sandbox>> all_;
  bool over_ = false;
  std::thread timer_;
};

std::int64_t now_ms();
std::string time_text(std::int64_t ms);  // RFC 3339, UTC

}  // namespace guard::serve::e2b

// Stands between a client and a real engine and makes the Nth connection fail, so that every call of a run can be made
// to fail in its turn. Each call of the client is one connection.
#pragma once

#include <atomic>
#include <string>
#include <thread>
#include <vector>

#include "common/file_io.h"
#include "common/unique_fd.h"

namespace guard {

enum class Fault {
  none,
  drop_request,  // hung up before the engine sees anything
  drop_answer,   // the engine gets the request and acts on it; the answer is lost
  answer_500,    // the engine sees nothing; the client gets an error
  half_answer,   // the first bytes of the engine's answer, then hung up
};

class FaultyProxy {
 public:
  // Forwards to `engine`. `failing` counts from 1; 0: none fails.
  FaultyProxy(std::string engine, int failing, Fault fault);
  ~FaultyProxy();
  FaultyProxy(const FaultyProxy&) = delete;
  FaultyProxy& operator=(const FaultyProxy&) = delete;

  const std::string& socket() const noexcept { return socket_; }
  int connections() const noexcept { return connections_.load(); }

  // From now on every connection, those that are open too, is cut: the engine has died.
  void die();

  // From now on nothing is forwarded and nothing is hung up: the engine was stopped (SIGSTOP), and the kernel goes on
  // taking connections for it. How many came since.
  void hang();
  int connections_while_hung() const noexcept { return held_.load(); }

 private:
  void serve();
  void forward(UniqueFd client, Fault fault);

  std::string engine_;
  int failing_;
  Fault fault_;
  TempDir folder_;
  std::string socket_;
  UniqueFd listener_;
  UniqueFd stop_read_;
  UniqueFd stop_write_;
  std::atomic<int> connections_{0};
  std::atomic<bool> dead_{false};
  std::atomic<bool> hung_{false};
  std::atomic<int> held_{0};
  UniqueFd hung_read_;
  UniqueFd hung_write_;
  UniqueFd dead_read_;
  UniqueFd dead_write_;
  std::vector<std::thread> workers_;
  std::thread thread_;
};

}  // namespace guard

// guard's end of the connections that programs of one sandbox make to the outside
// (runner/egress/egress_protocol.h): each becomes a socket, whose other end goes to whoever decides where it leads.
// The runner knows nothing of hosts or rules.
//
// A thread of its own moves the bytes. Nobody waits for anybody: of a connection whose taker does not read, no more is
// held than its window.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "common/result.h"
#include "common/unique_fd.h"
#include "runner/egress/egress.h"

namespace guard {

// What a frame about the connection `id` says, behind the number.
using TakeConnectionFrame = std::function<Result<void>(std::uint32_t id, std::string_view said)>;

class EgressRelay {
 public:
  // `send` hands whole frames to init. Called by the relay's thread only, and may wait; once it has failed it is not
  // called again.
  using Send = std::function<Result<void>(std::string_view frames)>;

  // ENVIRONMENT_CREATION_FAILED.
  static Result<std::unique_ptr<EgressRelay>> create(TakeConnection take, Send send);
  EgressRelay(const EgressRelay&) = delete;
  EgressRelay& operator=(const EgressRelay&) = delete;
  // Ends every connection; waits for a `send` that is under way.
  ~EgressRelay();

  // The programs have ended by themselves, and no frame comes any more: waits a second at most until what they have
  // sent is taken.
  void finish();

  // Init could not be told something: what programs do with the network means nothing any more. Where init has gone,
  // its stream ends, too.
  bool failed() const noexcept { return failed_; }

  // A connection frame of init's, without the number: foreign bytes. By one thread. PROTOCOL_ERROR.
  Result<void> push(std::uint32_t id, std::string_view said);

 private:
  struct Connection;

  EgressRelay(TakeConnection take, Send send, UniqueFd wake);
  void stop();
  void serve() noexcept;
  Result<void> open(std::uint32_t id);
  void run();
  std::string step();
  void flush(Connection& connection);
  void wake_up() const;

  const TakeConnection take_;
  const Send send_;
  const UniqueFd wake_;
  std::mutex mutex_;
  std::map<std::uint32_t, Connection> connections_;
  std::vector<std::uint32_t> refused_;  // whom init has to be told of
  bool stop_ = false;
  std::uint32_t turn_ = 0;  // whose bytes go first
  std::atomic<bool> failed_ = false;
  std::thread thread_;  // last: it uses the others
};

}  // namespace guard

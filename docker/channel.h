// A stream of bytes to and from the container engine: a local socket, TCP, or TLS over TCP. Nothing here waits but
// open(); whoever waits polls fd(), after having asked pending().
//
// Not thread-safe.
#pragma once

#include <sys/socket.h>

#include <cstddef>
#include <memory>
#include <span>
#include <string_view>

#include "common/cancel.h"
#include "common/result.h"
#include "common/time.h"
#include "common/unique_fd.h"
#include "docker/endpoint.h"

namespace guard::docker {

// What one attempt came to.
struct Attempt {
  std::size_t bytes = 0;  // taken or given
  short wait_for = 0;     // POLLIN or POLLOUT: nothing was done; poll for it and try again
  bool ended = false;     // the other side has ended the stream, or broken it off: what came before still counts
};

// away: what is read is gone. look: it is still there for the next read.
enum class Take { away, look };

class Channel {
 public:
  // Connected; for TLS, to an engine whose certificate and name have been verified. ENVIRONMENT_UNAVAILABLE with errno
  // where there is no connection to be had, or with the detail "tls" where TLS says no; EXECUTION_TIMEOUT, CANCELLED.
  static Result<std::unique_ptr<Channel>> open(const Endpoint& endpoint, Deadline deadline, const CancelToken& cancel);

  virtual ~Channel() = default;
  virtual Result<Attempt> receive(std::span<char> into, Take take) = 0;
  virtual Result<Attempt> send(std::string_view bytes) = 0;
  // There is something to receive that poll(2) does not see, because it has left the socket already.
  virtual bool pending() const noexcept = 0;
  // A byte of the stream is there, or it has ended: a readable socket alone may have carried nothing but talk of TLS.
  Result<bool> readable();
  int fd() const noexcept { return socket_.get(); }

 protected:
  explicit Channel(UniqueFd socket) : socket_(std::move(socket)) {}

 private:
  UniqueFd socket_;
};

// CANCELLED or EXECUTION_TIMEOUT where it is time to stop.
Result<void> look_up_from_work(Deadline deadline, const CancelToken& cancel);

// Until `fd` is ready for `events` (POLLIN, POLLOUT). EXECUTION_TIMEOUT, CANCELLED. `fd` -1: waits in vain.
Result<void> wait_for(int fd, short events, Deadline deadline, const CancelToken& cancel);

#ifdef MSG_NOSIGNAL
inline constexpr int kSendFlags = MSG_NOSIGNAL;
#else
inline constexpr int kSendFlags = 0;  // SO_NOSIGPIPE is set on every socket
#endif

}  // namespace guard::docker

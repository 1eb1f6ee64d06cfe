// Portable to macOS: no SOCK_CLOEXEC, no MSG_NOSIGNAL where there is none.
#include "docker/channel.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <optional>
#include <string>
#include <vector>

#include "common/file_io.h"
#include "common/net/name_resolver.h"
#include "docker/tls_channel.h"

namespace guard::docker {
namespace {

// A host with several addresses, of which the first answers nothing, must leave some of the probe's 2 s to the others.
constexpr milliseconds kOneAddressMax{800};

class SocketChannel final : public Channel {
 public:
  explicit SocketChannel(UniqueFd socket) : Channel(std::move(socket)) {}

  Result<Attempt> receive(std::span<char> into, Take take) override {
    const ssize_t got = ::recv(fd(), into.data(), into.size(), take == Take::look ? MSG_PEEK : 0);
    if (got > 0) return Attempt{static_cast<std::size_t>(got), 0, false};
    if (got == 0 || errno == ECONNRESET) return Attempt{0, 0, true};
    if (errno == EAGAIN || errno == EWOULDBLOCK || errno == EINTR) return Attempt{0, POLLIN, false};
    return Error::from_errno(ErrorCode::io_error, "reading from a socket", errno);
  }

  Result<Attempt> send(std::string_view bytes) override {
    const ssize_t sent = ::send(fd(), bytes.data(), bytes.size(), kSendFlags);
    if (sent >= 0) return Attempt{static_cast<std::size_t>(sent), 0, false};
    if (errno == EPIPE || errno == ECONNRESET) return Attempt{0, 0, true};
    if (errno == EAGAIN || errno == EWOULDBLOCK || errno == EINTR) return Attempt{0, POLLOUT, false};
    return Error::from_errno(ErrorCode::io_error, "writing to a socket", errno);
  }

  bool pending() const noexcept override { return false; }
};

Result<UniqueFd> make_socket(int family) {
  UniqueFd fd(::socket(family, SOCK_STREAM, 0));
  if (!fd) return Error::from_errno(ErrorCode::environment_unavailable, "making a socket", errno);
  if (::fcntl(fd.get(), F_SETFD, FD_CLOEXEC) < 0 || ::fcntl(fd.get(), F_SETFL, O_NONBLOCK) < 0) {
    return Error::from_errno(ErrorCode::environment_unavailable, "preparing a socket", errno);
  }
#ifdef SO_NOSIGPIPE
  const int on = 1;
  ::setsockopt(fd.get(), SOL_SOCKET, SO_NOSIGPIPE, &on, sizeof on);
#endif
  return fd;
}

Result<UniqueFd> connect_local(const std::string& path, Deadline deadline, const CancelToken& cancel) {
  const std::string what = fmt::format("connecting to {}", path);
  const auto address = socket_address(path);
  if (!address) return Error::from_errno(ErrorCode::environment_unavailable, what, address.error().sys_errno());

  // A full backlog answers EAGAIN at once on Linux instead of waiting; macOS says EINPROGRESS.
  constexpr milliseconds kRetry{10};
  while (true) {
    GUARD_TRY_ASSIGN(UniqueFd fd, make_socket(AF_UNIX));
    if (::connect(fd.get(), reinterpret_cast<const sockaddr*>(&*address), sizeof *address) == 0) return fd;
    const int number = errno;
    if (number != EAGAIN && number != EINTR && number != EINPROGRESS) {
      return Error::from_errno(ErrorCode::environment_unavailable, what, number);
    }
    GUARD_TRY(look_up_from_work(deadline, cancel).context(what));
    auto waited = wait_for(-1, 0, deadline.sooner(Deadline::after(kRetry)), cancel);
    if (!waited && waited.error().code() != ErrorCode::execution_timeout) return std::move(waited).error();
  }
}

Result<UniqueFd> connect_to(
    const SocketAddress& address, const std::string& what, Deadline deadline, const CancelToken& cancel) {
  GUARD_TRY_ASSIGN(UniqueFd fd, make_socket(address.bytes.ss_family));
  const int on = 1;
  ::setsockopt(fd.get(), IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
  ::setsockopt(fd.get(), SOL_SOCKET, SO_KEEPALIVE, &on, sizeof on);
  if (::connect(fd.get(), address.get(), address.size) == 0) return fd;
  if (errno != EINPROGRESS && errno != EINTR) return Error::from_errno(ErrorCode::environment_unavailable, what, errno);
  GUARD_TRY(wait_for(fd.get(), POLLOUT, deadline, cancel).context(what));
  int failure = 0;
  socklen_t size = sizeof failure;
  if (::getsockopt(fd.get(), SOL_SOCKET, SO_ERROR, &failure, &size) != 0) failure = errno;
  if (failure != 0) return Error::from_errno(ErrorCode::environment_unavailable, what, failure);
  return fd;
}

Result<UniqueFd> connect_tcp(const Endpoint& endpoint, Deadline deadline, const CancelToken& cancel) {
  const std::string what = fmt::format("connecting to {}", endpoint.url());
  GUARD_TRY_ASSIGN(const std::vector<IpAddress> addresses,
      resolve_name(endpoint.host, {.dns_servers = {}, .search = NameSearch::domains}, deadline, cancel));
  std::optional<Error> refused;
  for (std::size_t index = 0; index < addresses.size(); ++index) {
    const bool last = index + 1 == addresses.size();
    auto fd = connect_to(addresses[index].with_port(endpoint.port), what,
        last ? deadline : deadline.sooner(Deadline::after(kOneAddressMax)), cancel);
    if (fd || cancel.cancelled() || deadline.passed()) return fd;
    // The first answer counts: that the second address is not there either says less.
    if (!refused) refused = std::move(fd).error();
  }
  return *std::move(refused);
}

}  // namespace

Result<void> look_up_from_work(Deadline deadline, const CancelToken& cancel) {
  if (cancel.cancelled()) return Error(ErrorCode::cancelled, "stopped while talking to the container engine");
  if (deadline.passed()) return Error(ErrorCode::execution_timeout, "the container engine did not answer in time");
  return ok();
}

Result<void> wait_for(int fd, short events, Deadline deadline, const CancelToken& cancel) {
  // Without a descriptor to wait for, the token is looked at now and then.
  constexpr int kLookMs = 50;
  while (true) {
    GUARD_TRY(look_up_from_work(deadline, cancel));
    std::array<pollfd, 2> fds = {pollfd{fd, events, 0}, pollfd{cancel.fd(), POLLIN, 0}};
    int timeout = deadline.poll_timeout();
    if (cancel.fd() < 0) timeout = timeout < 0 ? kLookMs : std::min(timeout, kLookMs);
    const int ready = ::poll(fds.data(), fds.size(), timeout);
    if (ready < 0 && errno != EINTR) return Error::from_errno(ErrorCode::io_error, "poll", errno);
    if (ready > 0 && fds[0].revents != 0) return ok();
  }
}

Result<bool> Channel::readable() {
  char byte = 0;
  GUARD_TRY_ASSIGN(const Attempt attempt, receive(std::span(&byte, 1), Take::look));
  return attempt.wait_for == 0;
}

Result<std::unique_ptr<Channel>> Channel::open(const Endpoint& endpoint, Deadline deadline, const CancelToken& cancel) {
  if (!endpoint.is_remote()) {
    GUARD_TRY_ASSIGN(UniqueFd fd, connect_local(endpoint.socket_path, deadline, cancel));
    return std::unique_ptr<Channel>(std::make_unique<SocketChannel>(std::move(fd)));
  }
  GUARD_TRY_ASSIGN(UniqueFd fd, connect_tcp(endpoint, deadline, cancel));
  if (!endpoint.tls) return std::unique_ptr<Channel>(std::make_unique<SocketChannel>(std::move(fd)));
  return open_tls(std::move(fd), endpoint, deadline, cancel);
}

}  // namespace guard::docker

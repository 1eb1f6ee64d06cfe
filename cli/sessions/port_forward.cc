#include "cli/sessions/port_forward.h"

#include <fmt/format.h>
#include <poll.h>
#include <signal.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cerrno>
#include <list>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <utility>

#include "common/file_io.h"
#include "common/text/text.h"
#include "serve/access.h"

namespace guard {
namespace {

// Some of the sandbox's tasks stay free for whoever starts a command beside them; the next ones wait in the queue of
// the socket.
constexpr std::size_t kSideBySide = task_protocol::kTasksMax - 8;
constexpr int kLookAroundMs = 100;

// What is not whole must not look so: a connection is reset, also by the death of guard, until it has come to its end.
enum class End : std::uint8_t { reset, whole };
void will_end(const UniqueFd& client, End how) {
  const linger value{how == End::reset ? 1 : 0, 0};
  ::setsockopt(client.get(), SOL_SOCKET, SO_LINGER, &value, sizeof value);
}

class Forwarded {
 public:
  Forwarded(UniqueFd client, std::unique_ptr<Task> task) : client_(std::move(client)), task_(std::move(task)) {
    in_ = std::thread([this] { pass_in(); });
    out_ = std::thread([this] { pass_out(); });
  }
  Forwarded(const Forwarded&) = delete;
  Forwarded& operator=(const Forwarded&) = delete;
  ~Forwarded() {
    if (!done_) give_up();
    out_.join();
    in_.join();
  }

  bool done() const { return done_; }
  // Once it is done: why the connection inside failed.
  std::optional<Error> failure() const { return failure_; }

 private:
  // No shutdown(2): it would end in order what the close has to reset.
  void give_up() {
    static_cast<void>(task_->signal(SIGKILL));
    stop_waiting();
  }
  void stop_waiting() const { ::eventfd_write(stop_.get(), 1); }
  // False: nobody waits any more.
  bool wait_for(short events) const {
    pollfd fds[] = {{client_.get(), events, 0}, {stop_.get(), POLLIN, 0}};
    while (::poll(fds, std::size(fds), -1) < 0 && errno == EINTR) {
    }
    return fds[1].revents == 0;
  }

  void pass_in() {
    std::array<char, task_protocol::kInputPieceBytes> bytes;
    for (;;) {
      if (!wait_for(POLLIN)) return;
      const ssize_t size = ::recv(client_.get(), bytes.data(), bytes.size(), MSG_DONTWAIT);
      if (size < 0 && (errno == EINTR || errno == EAGAIN)) continue;
      if (size < 0) return give_up();
      if (size == 0) return static_cast<void>(task_->close_input());
      if (!task_->write_input({bytes.data(), static_cast<std::size_t>(size)}, Deadline::never())) return;
    }
  }

  void pass_out() {
    bool heard = true;
    for (;;) {
      const auto piece = task_->read(Deadline::never());
      if (!piece || !*piece) break;
      if ((*piece)->bytes.empty()) ::shutdown(client_.get(), SHUT_WR);
      if (heard && !send_all((*piece)->bytes)) {
        heard = false;
        give_up();
      }
    }
    auto end = task_->end();
    if (end && end->outcome.kind == OutcomeKind::exited) will_end(client_, End::whole);
    if (!end && heard) failure_ = std::move(end).error();
    stop_waiting();
    done_ = true;
  }

  bool send_all(std::string_view bytes) const {
    while (!bytes.empty()) {
      const ssize_t sent = ::send(client_.get(), bytes.data(), bytes.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
      if (sent > 0) bytes.remove_prefix(static_cast<std::size_t>(sent));
      if (sent >= 0 || errno == EINTR) continue;
      if (errno != EAGAIN || !wait_for(POLLOUT)) return false;
    }
    return true;
  }

  const UniqueFd client_;
  const UniqueFd stop_{::eventfd(0, EFD_CLOEXEC)};
  const std::unique_ptr<Task> task_;
  std::optional<Error> failure_;
  std::atomic<bool> done_ = false;
  std::thread in_;
  std::thread out_;
};

}  // namespace

Result<PortListener> listen_on_socket(const std::string& path) {
  const auto address = socket_address(path);
  if (!address) return Error(ErrorCode::input_invalid, fmt::format("{} is too long for a socket", printable(path)));
  UniqueFd fd(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
  // Of the file that bind(2) makes, which is never one that was there.
  if (!fd || ::fchmod(fd.get(), 0600) != 0 ||
      ::bind(fd.get(), reinterpret_cast<const sockaddr*>(&*address), sizeof *address) != 0) {
    if (errno != EADDRINUSE) return Error::from_errno(ErrorCode::io_error, printable(path), errno);
    return Error(ErrorCode::input_invalid, fmt::format("{} is there already", printable(path)))
        .hint("remove it if nobody listens there, or name another path with --unix");
  }
  struct stat ours {};
  ::lstat(path.c_str(), &ours);
  const auto remove_ours = [path, ours](void*) {
    struct stat found {};
    if (::lstat(path.c_str(), &found) == 0 && found.st_ino == ours.st_ino && found.st_dev == ours.st_dev)
      ::unlink(path.c_str());
  };
  PortListener listener{std::move(fd), path, {nullptr, remove_ours}};
  if (::listen(listener.fd.get(), SOMAXCONN) != 0)
    return Error::from_errno(ErrorCode::io_error, fmt::format("listening at {}", printable(path)), errno);
  return listener;
}

void forward_port(const PortListener& listener, const StartTask& start, std::uint16_t port, OutStream& err,
    const CancelToken& cancel) {
  std::list<Forwarded> connections;
  std::string said;  // a browser asks again and again
  const auto say = [&](const Error& error) {
    if (std::exchange(said, error.message()) != said) err.print("guard: port {}: {}\n", port, printable(said));
  };
  const auto forget_ended = [&] {
    connections.remove_if([&](const Forwarded& connection) {
      if (!connection.done()) return false;
      if (const auto failure = connection.failure()) {
        say(*failure);
      } else {
        said.clear();
      }
      return true;
    });
  };
  TaskSpec spec;
  spec.kind = TaskOperation::connect;
  spec.argv = {std::to_string(port)};
  spec.working_dir = "/";
  spec.input = true;
  while (!cancel.cancelled()) {
    const bool full = connections.size() >= kSideBySide;
    pollfd fds[] = {{full ? -1 : listener.fd.get(), POLLIN, 0}, {cancel.fd(), POLLIN, 0}};
    ::poll(fds, std::size(fds), connections.empty() ? -1 : kLookAroundMs);
    forget_ended();
    if ((fds[0].revents & POLLIN) == 0) continue;
    UniqueFd client(::accept4(listener.fd.get(), nullptr, nullptr, SOCK_CLOEXEC));
    if (!client || (listener.file.use_count() > 0 && !serve::client_at(client.get()))) continue;
    will_end(client, End::reset);
    auto task = start(spec);
    if (task) {
      connections.emplace_back(std::move(client), *std::move(task));
    } else {
      say(task.error());
    }
  }
}

}  // namespace guard

#include "cli/sessions/port_forward.h"

#include <fmt/format.h>
#include <poll.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cerrno>
#include <list>
#include <memory>
#include <mutex>
#include <thread>

#include "common/text/text.h"
#include "serve/access.h"

namespace guard {
namespace {

// Some of the sandbox's tasks stay free for whoever starts a command beside them; the next ones wait in the queue of
// the socket.
constexpr std::size_t kSideBySide = task_protocol::kTasksMax - 8;
constexpr int kLookAroundMs = 100;

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
  void give_up() {
    static_cast<void>(task_->signal(SIGKILL));
    ::shutdown(client_.get(), SHUT_RDWR);
  }

  void pass_in() {
    std::array<char, task_protocol::kInputPieceBytes> bytes;
    for (;;) {
      const ssize_t size = ::recv(client_.get(), bytes.data(), bytes.size(), 0);
      if (size < 0 && errno == EINTR) continue;
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
    if (!end && heard) {
      failure_ = std::move(end).error();
      const linger at_once{1, 0};  // a reset, as the client would get it from the server itself
      ::setsockopt(client_.get(), SOL_SOCKET, SO_LINGER, &at_once, sizeof at_once);
    }
    ::shutdown(client_.get(), SHUT_RD);
    done_ = true;
  }

  bool send_all(std::string_view bytes) const {
    while (!bytes.empty()) {
      const ssize_t sent = ::send(client_.get(), bytes.data(), bytes.size(), MSG_NOSIGNAL);
      if (sent < 0 && errno == EINTR) continue;
      if (sent < 0) return false;
      bytes.remove_prefix(static_cast<std::size_t>(sent));
    }
    return true;
  }

  const UniqueFd client_;
  const std::unique_ptr<Task> task_;
  std::optional<Error> failure_;
  std::atomic<bool> done_ = false;
  std::thread in_;
  std::thread out_;
};

}  // namespace

Result<PortListener> listen_on_socket(const std::string& path) {
  struct stat found {};
  if (::lstat(path.c_str(), &found) == 0)
    return Error(ErrorCode::input_invalid, fmt::format("{} is there already", printable(path)))
        .hint("remove it, or name another path with --unix");
  GUARD_TRY_ASSIGN(UniqueFd fd, serve::listen_at(path));
  return PortListener{std::move(fd), path, path};
}

void forward_port(const PortListener& listener, const StartTask& start, std::uint16_t port, OutStream& err,
    const CancelToken& cancel) {
  std::list<Forwarded> connections;
  const auto forget_ended = [&] {
    connections.remove_if([&](const Forwarded& connection) {
      if (connection.done() && connection.failure())
        err.print("guard: port {}: {}\n", port, printable(connection.failure()->message()));
      return connection.done();
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
    if (!client || (!listener.path.empty() && !serve::client_at(client.get()))) continue;
    auto task = start(spec);
    if (task) {
      connections.emplace_back(std::move(client), *std::move(task));
    } else {
      err.print("guard: port {}: {}\n", port, printable(task.error().message()));
    }
  }
  connections.clear();
  if (!listener.path.empty()) ::unlink(listener.path.c_str());
}

}  // namespace guard

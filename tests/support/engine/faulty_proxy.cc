#include "tests/support/engine/faulty_proxy.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <array>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string_view>

namespace guard {
namespace {

[[noreturn]] void die_of(const char* what) {
  std::perror(what);
  std::abort();
}

TempDir make_folder() {
  auto folder = TempDir::create();
  if (!folder) die_of("making the proxy's folder");
  return std::move(*folder);
}

sockaddr_un address_of(const std::string& path) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  if (path.size() >= sizeof address.sun_path) die_of("the socket's path is too long");
  std::memcpy(address.sun_path, path.data(), path.size());
  return address;
}

void make_pipe(UniqueFd& read_end, UniqueFd& write_end) {
  std::array<int, 2> ends{};
  if (::pipe2(ends.data(), O_CLOEXEC) != 0) die_of("pipe2");
  read_end.reset(ends[0]);
  write_end.reset(ends[1]);
}

bool send_all(int fd, std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t sent = ::send(fd, bytes.data(), bytes.size(), MSG_NOSIGNAL);
    if (sent <= 0) return false;
    bytes.remove_prefix(static_cast<std::size_t>(sent));
  }
  return true;
}

}  // namespace

FaultyProxy::FaultyProxy(std::string engine, int failing, Fault fault)
    : engine_(std::move(engine)),
      failing_(failing),
      fault_(fault),
      folder_(make_folder()),
      socket_((folder_.path() / "s").string()),
      listener_(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
  const sockaddr_un address = address_of(socket_);
  if (::bind(listener_.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0 ||
      ::listen(listener_.get(), 16) != 0) {
    die_of("listening at the proxy's socket");
  }
  make_pipe(stop_read_, stop_write_);
  make_pipe(dead_read_, dead_write_);
  make_pipe(hung_read_, hung_write_);
  thread_ = std::thread([this] { serve(); });
}

FaultyProxy::~FaultyProxy() {
  stop_write_.reset();
  thread_.join();
  for (std::thread& worker : workers_) worker.join();
}

void FaultyProxy::die() {
  dead_ = true;
  dead_write_.reset();
}

void FaultyProxy::hang() {
  hung_ = true;
  hung_write_.reset();
}

void FaultyProxy::serve() {
  std::vector<UniqueFd> held;
  while (true) {
    std::array<pollfd, 2> fds = {pollfd{listener_.get(), POLLIN, 0}, pollfd{stop_read_.get(), POLLIN, 0}};
    if (::poll(fds.data(), fds.size(), -1) < 0) continue;
    if (fds[1].revents != 0) return;
    UniqueFd client(::accept4(listener_.get(), nullptr, nullptr, SOCK_CLOEXEC));
    if (!client || dead_) continue;
    if (hung_) {
      held.push_back(std::move(client));
      ++held_;
      continue;
    }
    const Fault fault = ++connections_ == failing_ ? fault_ : Fault::none;
    workers_.emplace_back([this, fault](UniqueFd taken) { forward(std::move(taken), fault); }, std::move(client));
  }
}

void FaultyProxy::forward(UniqueFd client, Fault fault) {
  if (fault == Fault::drop_request) return;
  if (fault == Fault::answer_500) {
    std::array<char, 65536> ignored;
    if (::read(client.get(), ignored.data(), ignored.size()) < 0) return;
    send_all(client.get(), "HTTP/1.1 500 X\r\nContent-Length: 2\r\n\r\n{}");
    return;
  }
  UniqueFd engine(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
  const sockaddr_un address = address_of(engine_);
  if (::connect(engine.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0) return;
  std::array<char, 65536> chunk;
  while (true) {
    const bool hung = hung_;
    std::array<pollfd, 5> fds = {pollfd{hung ? -1 : client.get(), POLLIN, 0},
        pollfd{hung ? -1 : engine.get(), POLLIN, 0}, pollfd{stop_read_.get(), POLLIN, 0},
        pollfd{dead_read_.get(), POLLIN, 0}, pollfd{hung ? -1 : hung_read_.get(), POLLIN, 0}};
    if (::poll(fds.data(), fds.size(), -1) < 0) continue;
    if (fds[2].revents != 0 || fds[3].revents != 0) return;
    if (fds[4].revents != 0) continue;
    if (fds[0].revents != 0) {
      const ssize_t got = ::read(client.get(), chunk.data(), chunk.size());
      if (got <= 0) return;
      if (!send_all(engine.get(), std::string_view(chunk.data(), static_cast<std::size_t>(got)))) return;
    }
    if (fds[1].revents != 0) {
      const ssize_t got = ::read(engine.get(), chunk.data(), chunk.size());
      if (got <= 0 || fault == Fault::drop_answer) return;
      const auto size = static_cast<std::size_t>(got);
      if (!send_all(client.get(), std::string_view(chunk.data(), fault == Fault::half_answer ? size / 2 : size)))
        return;
      if (fault == Fault::half_answer) return;
    }
  }
}

}  // namespace guard

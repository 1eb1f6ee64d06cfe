#include "tests/support/egress/egress_world.h"

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>

#include <array>

namespace guard::test {
namespace {

constexpr int kPatienceMs = 20'000;

bool ready(int fd, short events) {
  pollfd wanted{fd, events, 0};
  return ::poll(&wanted, 1, kPatienceMs) > 0;
}

}  // namespace

std::string own_loopback(int last) {
  const int pid = static_cast<int>(::getpid());
  return fmt::format("127.{}.{}.{}", 64 + (pid >> 15 & 63), pid >> 7 & 255, (pid & 127) * 2 + last % 2);
}

bool Peer::send(std::string_view bytes) const {
  while (!bytes.empty()) {
    if (!ready(fd_.get(), POLLOUT)) return false;
    const ssize_t sent = ::send(fd_.get(), bytes.data(), bytes.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
    if (sent < 0 && errno != EAGAIN) return false;
    if (sent > 0) bytes.remove_prefix(static_cast<std::size_t>(sent));
  }
  return true;
}

void Peer::end_sending() const { ::shutdown(fd_.get(), SHUT_WR); }

void Peer::reset() {
  const linger now{1, 0};
  ::setsockopt(fd_.get(), SOL_SOCKET, SO_LINGER, &now, sizeof now);
  fd_.reset();
}

std::string Peer::read(std::size_t size) const {
  std::string all;
  std::array<char, 65536> bytes{};
  while (all.size() < size && ready(fd_.get(), POLLIN)) {
    const ssize_t got = ::recv(fd_.get(), bytes.data(), std::min(bytes.size(), size - all.size()), 0);
    if (got <= 0) break;
    all.append(bytes.data(), static_cast<std::size_t>(got));
  }
  return all;
}

bool Peer::has_bytes(milliseconds within) const {
  pollfd wanted{fd_.get(), POLLIN, 0};
  return ::poll(&wanted, 1, static_cast<int>(within.count())) > 0;
}

std::string Peer::read_all() const { return read(std::string::npos); }

std::string Peer::read_until(std::string_view end) const {
  std::string all;
  while (!all.ends_with(end)) {
    const std::string byte = read(1);
    if (byte.empty()) break;
    all += byte;
  }
  return all;
}

TcpServer::TcpServer(const std::string& address, std::uint16_t port, Handler handler)
    : handler_(std::move(handler)),
      socket_(::socket(address.find(':') != std::string::npos ? AF_INET6 : AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)),
      stop_(::eventfd(0, EFD_CLOEXEC)) {
  const int on = 1;
  ::setsockopt(socket_.get(), SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
  const SocketAddress at = IpAddress::parse(address).value().with_port(port);
  bound_ = ::bind(socket_.get(), at.get(), at.size) == 0 && ::listen(socket_.get(), 4096) == 0;
  sockaddr_in name{};
  socklen_t size = sizeof name;
  ::getsockname(socket_.get(), reinterpret_cast<sockaddr*>(&name), &size);
  port_ = ntohs(name.sin_port);
  acceptor_ = std::thread([this] {
    while (bound_) {
      std::array<pollfd, 2> wanted = {pollfd{socket_.get(), POLLIN, 0}, pollfd{stop_.get(), POLLIN, 0}};
      ::poll(wanted.data(), wanted.size(), -1);
      if (wanted[1].revents != 0) return;
      UniqueFd accepted(::accept4(socket_.get(), nullptr, nullptr, SOCK_CLOEXEC));
      if (!accepted) continue;
      const std::lock_guard lock(mutex_);
      threads_.emplace_back([this, fd = accepted.release()] { handler_(Peer(UniqueFd(fd))); });
    }
  });
}

TcpServer::~TcpServer() {
  const std::uint64_t one = 1;
  if (::write(stop_.get(), &one, sizeof one) != sizeof one) std::abort();
  acceptor_.join();
  for (std::thread& thread : threads_) thread.join();
}

int TcpServer::served() {
  const std::lock_guard lock(mutex_);
  return static_cast<int>(threads_.size());
}

void echo(Peer peer) {
  while (true) {
    const std::string bytes = peer.read(1);
    if (bytes.empty() || !peer.send(bytes)) break;
  }
  peer.end_sending();
}

EgressWorld::EgressWorld(const std::vector<std::string>& allow, const std::vector<std::string>& deny,
    EgressLimits limits, EgressOptions options, std::vector<EgressCredential> credentials) {
  auto rules = EgressRules::create(allow, deny);
  if (!rules) ADD_FAILURE() << rules.error().to_string();
  auto made = EgressProxy::create({std::move(rules).value_or(EgressRules()), limits, std::move(credentials)},
      std::move(options), [this](const EgressDecision& decision) {
        const std::lock_guard lock(mutex_);
        decisions_.push_back(decision);
        changed_.notify_all();
      });
  if (!made) ADD_FAILURE() << made.error().to_string();
  proxy = *std::move(made);
}

Peer EgressWorld::connect() {
  int ends[2];
  if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0) {
    ADD_FAILURE() << "no socket pair";
    return {};
  }
  proxy->take(UniqueFd(ends[1]));
  return Peer(UniqueFd(ends[0]));
}

Peer EgressWorld::tunnel(const std::string& target) {
  Peer client = connect();
  client.send(fmt::format("CONNECT {0} HTTP/1.1\r\nHost: {0}\r\n\r\n", target));
  EXPECT_EQ(client.read_until("\r\n\r\n"), "HTTP/1.1 200 Connection established\r\n\r\n") << target;
  return client;
}

std::string EgressWorld::ask(const std::string& bytes) {
  const Peer client = connect();
  client.send(bytes);
  return client.read_all();
}

EgressDecision EgressWorld::decision() {
  const auto all = decisions(1);
  return all.empty() ? EgressDecision() : all.front();
}

std::vector<EgressDecision> EgressWorld::decisions(std::size_t count) {
  std::unique_lock lock(mutex_);
  changed_.wait_for(lock, milliseconds(kPatienceMs), [&] { return decisions_.size() >= count; });
  EXPECT_EQ(decisions_.size(), count);
  return std::exchange(decisions_, {});
}

}  // namespace guard::test

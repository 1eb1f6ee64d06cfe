// What tests of the proxy need beside it: servers on an address of the loopback that is this process's own, a DNS
// server, and clients that wait for 20 s at most.
#pragma once

#include <condition_variable>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "common/unique_fd.h"
#include "egress/proxy.h"
#include "tests/support/dns_server.h"

namespace guard::test {

// 127.x.y.z, made of the process id: tests run side by side.
std::string own_loopback(int last = 1);

// One end of a connection, blocking. Reads end at the other side's end, at a reset, and after 20 s.
class Peer {
 public:
  Peer() = default;
  explicit Peer(UniqueFd fd) : fd_(std::move(fd)) {}
  bool send(std::string_view bytes) const;
  void end_sending() const;
  void close() { fd_.reset(); }
  void reset();  // with an RST
  bool has_bytes(milliseconds within) const;
  std::string read_all() const;
  std::string read(std::size_t size) const;            // less at the end
  std::string read_until(std::string_view end) const;  // with it
  int fd() const { return fd_.get(); }
  explicit operator bool() const { return static_cast<bool>(fd_); }

 private:
  UniqueFd fd_;
};

// Serves each connection on a thread of its own.
class TcpServer {
 public:
  using Handler = std::function<void(Peer)>;
  // Port 0: any. !bound(): this user may not have that port.
  TcpServer(const std::string& address, std::uint16_t port, Handler handler);
  ~TcpServer();
  bool bound() const { return bound_; }
  std::uint16_t port() const { return port_; }
  int served();

 private:
  Handler handler_;
  UniqueFd socket_;
  UniqueFd stop_;
  bool bound_ = false;
  std::uint16_t port_ = 0;
  std::mutex mutex_;
  std::vector<std::thread> threads_;
  std::thread acceptor_;
};

void echo(Peer peer);

class EgressWorld {
 public:
  EgressWorld(const std::vector<std::string>& allow, const std::vector<std::string>& deny = {},
      EgressLimits limits = {}, EgressOptions options = {}, std::vector<EgressCredential> credentials = {});
  ~EgressWorld() { proxy.reset(); }

  Peer connect();                             // a client's end
  Peer tunnel(const std::string& target);     // after CONNECT was agreed to
  std::string ask(const std::string& bytes);  // all of the answer
  EgressDecision decision();                  // of the one connection that has ended next
  std::vector<EgressDecision> decisions(std::size_t count);

  std::unique_ptr<EgressProxy> proxy;

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  std::vector<EgressDecision> decisions_;
};

}  // namespace guard::test

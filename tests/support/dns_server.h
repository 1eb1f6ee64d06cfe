// A DNS server whose answers a test decides.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <map>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "common/net/ip_address.h"
#include "common/unique_fd.h"

namespace guard::test {

class DnsServer {
 public:
  struct Answer {
    std::vector<std::string> addresses{};  // those of the family that was asked for are sent
    std::string alias{};                   // the name is a CNAME of this one, which has the addresses
    bool silent = false;
    bool garbage = false;
    bool exists = true;
    bool ipv6_fails = false;  // the question for AAAA gets SERVFAIL
  };
  // The `time`th question for this name, from 1; A and AAAA are counted apart.
  using Zone = std::function<Answer(const std::string& name, int time)>;

  explicit DnsServer(Zone zone, const std::string& address = "127.0.0.1", std::uint16_t port = 0);  // 0: any
  ~DnsServer();

  std::string address() const;             // "127.0.0.1:port"
  int questions(const std::string& name);  // for its A records
  std::vector<std::string> names_asked();

 private:
  bool open(const SocketAddress& at);
  void serve();

  const Zone zone_;
  UniqueFd socket_;
  UniqueFd listener_;  // for answers that are too large for a packet
  std::mutex mutex_;
  std::map<std::pair<std::string, int>, int> asked_;
  std::atomic<bool> stop_ = false;
  std::thread thread_;
};

}  // namespace guard::test

#include "tests/support/dns_server.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>

#include <array>

#include "common/net/ip_address.h"

namespace guard::test {
namespace {

constexpr int kA = 1;
constexpr int kCname = 5;
constexpr int kAaaa = 28;

void put16(std::string& out, int value) {
  out += static_cast<char>(value >> 8);
  out += static_cast<char>(value);
}

std::string encoded(const std::string& name) {
  std::string out;
  for (std::size_t at = 0; at < name.size();) {
    const std::size_t end = std::min(name.find('.', at), name.size());
    out += static_cast<char>(end - at);
    out += name.substr(at, end - at);
    at = end + 1;
  }
  return out + '\0';
}

std::string record(const std::string& name, int type, const std::string& data) {
  std::string out = encoded(name);
  put16(out, type);
  put16(out, 1);
  put16(out, 0);
  put16(out, 0);
  put16(out, static_cast<int>(data.size()));
  return out + data;
}

}  // namespace

DnsServer::DnsServer(Zone zone, const std::string& address, std::uint16_t port) : zone_(std::move(zone)) {
  const SocketAddress at = IpAddress::parse(address).value().with_port(port);
  // The port of the one may be somebody else's for the other.
  for (int tries = 0; !open(at); ++tries) {
    if (tries == 20) std::abort();
  }
  thread_ = std::thread([this] { serve(); });
}

bool DnsServer::open(const SocketAddress& at) {
  socket_ = UniqueFd(::socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0));
  listener_ = UniqueFd(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  if (::bind(socket_.get(), at.get(), at.size) != 0) return false;
  sockaddr_storage bound{};
  socklen_t size = sizeof bound;
  ::getsockname(socket_.get(), reinterpret_cast<sockaddr*>(&bound), &size);
  return ::bind(listener_.get(), reinterpret_cast<const sockaddr*>(&bound), size) == 0 &&
      ::listen(listener_.get(), 5) == 0;
}

DnsServer::~DnsServer() {
  stop_ = true;
  thread_.join();
}

std::string DnsServer::address() const {
  sockaddr_in bound{};
  socklen_t size = sizeof bound;
  ::getsockname(socket_.get(), reinterpret_cast<sockaddr*>(&bound), &size);
  return IpAddress::v4(ntohl(bound.sin_addr.s_addr)).text() + ":" + std::to_string(ntohs(bound.sin_port));
}

int DnsServer::questions(const std::string& name) {
  const std::lock_guard lock(mutex_);
  return asked_[{name, kA}];
}

std::vector<std::string> DnsServer::names_asked() {
  const std::lock_guard lock(mutex_);
  std::vector<std::string> names;
  for (const auto& [question, count] : asked_) {
    if (question.second == kA && count > 0) names.push_back(question.first);
  }
  return names;
}

void DnsServer::serve() {
  while (!stop_) {
    std::array<pollfd, 2> ready = {pollfd{socket_.get(), POLLIN, 0}, pollfd{listener_.get(), POLLIN, 0}};
    if (::poll(ready.data(), ready.size(), 20) <= 0) continue;
    std::array<char, 1500> question{};
    sockaddr_storage from{};
    socklen_t from_size = sizeof from;
    UniqueFd stream;  // one question of each
    if (ready[1].revents != 0) {
      stream = UniqueFd(::accept4(listener_.get(), nullptr, nullptr, SOCK_CLOEXEC));
      ::recv(stream.get(), question.data(), 2, MSG_WAITALL);  // its size
    }
    const ssize_t size = stream ? ::recv(stream.get(), question.data(), question.size(), 0)
                                : ::recvfrom(socket_.get(), question.data(), question.size(), 0,
                                      reinterpret_cast<sockaddr*>(&from), &from_size);
    if (size < 17) continue;
    std::string name;
    std::size_t at = 12;
    while (question[at] != 0 && at < 270) {
      const auto length = static_cast<std::size_t>(question[at]);
      name += std::string(question.data() + at + 1, length) + ".";
      at += length + 1;
    }
    if (!name.empty()) name.pop_back();
    const int type = question[at + 2];
    int time = 0;
    {
      const std::lock_guard lock(mutex_);
      time = ++asked_[{name, type}];
    }
    const Answer answer = zone_(name, time);
    if (answer.silent) continue;

    const bool failed = answer.ipv6_fails && type == kAaaa;
    std::vector<std::string> records;
    if (!answer.alias.empty()) records.push_back(record(name, kCname, encoded(answer.alias)));
    const std::string& owner = answer.alias.empty() ? name : answer.alias;
    for (const std::string& text : answer.addresses) {
      const auto address = IpAddress::parse(text).value();
      const bool v6 = address.family == IpAddress::Family::v6;
      if (failed || type != (v6 ? kAaaa : kA)) continue;
      records.push_back(
          record(owner, type, std::string(reinterpret_cast<const char*>(address.bytes.data()), v6 ? 16 : 4)));
    }
    std::string reply(question.data(), 2);
    put16(reply, failed ? 0x8582 : answer.exists ? 0x8580 : 0x8583);
    put16(reply, 1);
    put16(reply, static_cast<int>(records.size()));
    put16(reply, 0);
    put16(reply, 0);
    reply.append(question.data() + 12, at + 5 - 12);
    for (const std::string& one : records) reply += one;
    if (answer.garbage) reply.replace(4, reply.size() - 4, std::string(reply.size() - 4, '\xff'));
    if (stream) {
      std::string framed;
      put16(framed, static_cast<int>(reply.size()));
      framed += reply;
      ::send(stream.get(), framed.data(), framed.size(), MSG_NOSIGNAL);
      continue;
    }
    ::sendto(socket_.get(), reply.data(), reply.size(), 0, reinterpret_cast<const sockaddr*>(&from), from_size);
  }
}

}  // namespace guard::test

#include "tests/support/engine/fake_registry.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <netinet/in.h>
#include <openssl/evp.h>
#include <poll.h>
#include <sys/socket.h>

#include <array>

#include "common/file_io.h"

namespace guard::testing {
namespace {

std::string integrity_of(const std::string& bytes) {
  std::array<unsigned char, EVP_MAX_MD_SIZE> digest{};
  unsigned size = 0;
  EVP_Digest(bytes.data(), bytes.size(), digest.data(), &size, EVP_sha512(), nullptr);
  std::array<unsigned char, 4 * EVP_MAX_MD_SIZE> text{};
  const int length = EVP_EncodeBlock(text.data(), digest.data(), static_cast<int>(size));
  return "sha512-" + std::string(reinterpret_cast<const char*>(text.data()), static_cast<std::size_t>(length));
}

}  // namespace

FakeRegistry::FakeRegistry() {
  listener_ = UniqueFd(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t length = sizeof address;
  auto* const generic = reinterpret_cast<sockaddr*>(&address);
  if (::bind(listener_.get(), generic, length) == 0 && ::listen(listener_.get(), 64) == 0 &&
      ::getsockname(listener_.get(), generic, &length) == 0) {
    port_ = ntohs(address.sin_port);
  }
  std::array<int, 2> ends{-1, -1};
  if (::pipe2(ends.data(), O_CLOEXEC) == 0) {
    stop_read_ = UniqueFd(ends[0]);
    stop_write_ = UniqueFd(ends[1]);
  }
  thread_ = std::thread([this] { serve(); });
}

FakeRegistry::~FakeRegistry() {
  stop_write_.reset();
  thread_.join();
}

std::string FakeRegistry::url() const { return fmt::format("http://127.0.0.1:{}", port_); }

void FakeRegistry::publish(const std::string& name, const std::string& version, const std::string& archive) {
  const std::string path = fmt::format("/{}/-/{}-{}.tgz", name, name, version);
  documents_[path] = archive;
  std::string& versions = versions_[name];
  if (!versions.empty()) versions += ",";
  versions += fmt::format(
      R"("{1}":{{"name":"{0}","version":"{1}","bin":{{"{0}":"cli.js"}},"dist":{{"tarball":"{2}{3}","integrity":"{4}"}}}})",
      name, version, url(), path, integrity_of(archive));
  documents_["/" + name] =
      fmt::format(R"({{"name":"{}","dist-tags":{{"latest":"{}"}},"versions":{{{}}}}})", name, version, versions);
}

void FakeRegistry::serve() {
  for (;;) {
    std::array<pollfd, 2> wait{pollfd{listener_.get(), POLLIN, 0}, pollfd{stop_read_.get(), POLLIN, 0}};
    if (::poll(wait.data(), wait.size(), -1) < 0) continue;
    if (wait[1].revents != 0) return;
    const UniqueFd connection(::accept4(listener_.get(), nullptr, nullptr, SOCK_CLOEXEC));
    if (connection) answer(connection.get());
  }
}

void FakeRegistry::answer(int connection) const {
  std::string request;
  std::array<char, 4096> chunk{};
  while (request.find("\r\n\r\n") == std::string::npos && request.size() < 65536) {
    const ssize_t count = ::recv(connection, chunk.data(), chunk.size(), 0);
    if (count <= 0) return;
    request.append(chunk.data(), static_cast<std::size_t>(count));
  }
  const auto from = request.find(' ') + 1;
  const auto entry = documents_.find(request.substr(from, request.find(' ', from) - from));
  const bool found = entry != documents_.end();
  const std::string body = found ? entry->second : "{}";
  const std::string head =
      fmt::format("HTTP/1.1 {}\r\nContent-Length: {}\r\nContent-Type: {}\r\nConnection: close\r\n\r\n",
          found ? "200 OK" : "404 Not Found", body.size(),
          body.starts_with('{') ? "application/json" : "application/octet-stream");
  (void)write_all(connection, head + body);
}

}  // namespace guard::testing

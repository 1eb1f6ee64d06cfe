#include "tests/support/engine/fake_engine.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <cstdlib>
#include <cstring>

namespace guard {
namespace {

[[noreturn]] void die(const char* what) {
  std::perror(what);
  std::abort();
}

TempDir make_folder() {
  auto folder = TempDir::create();
  if (!folder) die("making the fake engine's folder");
  // Other users may come in: what they may do with the socket is the test's business.
  if (::chmod(folder->path().c_str(), 0755) != 0) die("chmod");
  return std::move(*folder);
}

UniqueFd listen_at(const std::string& path) {
  UniqueFd fd(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  if (path.size() >= sizeof address.sun_path) die("the socket's path is too long");
  std::memcpy(address.sun_path, path.data(), path.size());
  if (!fd || ::bind(fd.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0 ||
      ::listen(fd.get(), 16) != 0) {
    die("listening at the fake engine's socket");
  }
  return fd;
}

}  // namespace

FakeReply fake_answer(int status, std::string_view body, std::string_view more_headers) {
  return {
      fmt::format("HTTP/1.1 {} X\r\nContent-Length: {}\r\n{}\r\n{}", status, body.size(), more_headers, body), {}, {}};
}

FakeEngine::FakeEngine()
    : folder_(make_folder()),
      socket_((folder_.path() / "s").string()),
      listener_(listen_at(socket_)),
      otherwise_(fake_answer(404, R"({"message":"page not found"})")) {
  std::array<int, 2> ends{};
  if (::pipe2(ends.data(), O_CLOEXEC) != 0) die("pipe2");
  stop_read_.reset(ends[0]);
  stop_write_.reset(ends[1]);
  thread_ = std::thread([this] { serve(); });
}

FakeEngine::~FakeEngine() {
  stop_write_.reset();
  thread_.join();
}

void FakeEngine::on(std::string start, FakeReply reply) {
  const std::lock_guard lock(mutex_);
  if (reply.when == FakeReply::When::after_accept) {
    at_accept_ = std::move(reply);
    has_at_accept_ = true;
    return;
  }
  std::erase_if(rules_, [&start](const Rule& rule) { return rule.start == start; });
  rules_.push_back({std::move(start), {std::move(reply)}, 0});
}

void FakeEngine::then(std::string start, FakeReply reply) {
  const std::lock_guard lock(mutex_);
  for (Rule& rule : rules_) {
    if (rule.start == start) rule.replies.push_back(reply);
  }
}

void FakeEngine::otherwise(FakeReply reply) {
  const std::lock_guard lock(mutex_);
  otherwise_ = std::move(reply);
}

std::vector<std::string> FakeEngine::requests() const {
  const std::lock_guard lock(mutex_);
  return requests_;
}

void FakeEngine::notify(std::function<void(const std::string& request)> callback) {
  const std::lock_guard lock(mutex_);
  callback_ = std::move(callback);
}

void FakeEngine::serve() {
  while (true) {
    std::array<pollfd, 2> fds = {pollfd{listener_.get(), POLLIN, 0}, pollfd{stop_read_.get(), POLLIN, 0}};
    if (::poll(fds.data(), fds.size(), -1) < 0) continue;
    if (fds[1].revents != 0) return;
    UniqueFd connection(::accept4(listener_.get(), nullptr, nullptr, SOCK_CLOEXEC));
    if (connection) serve_one(std::move(connection));
  }
}

bool FakeEngine::read_request(int fd, std::string& request) const {
  std::size_t whole = std::string::npos;
  while (request.size() < whole) {
    std::array<pollfd, 2> fds = {pollfd{fd, POLLIN, 0}, pollfd{stop_read_.get(), POLLIN, 0}};
    if (::poll(fds.data(), fds.size(), -1) < 0 || fds[1].revents != 0) return false;
    std::array<char, 65536> chunk;
    const ssize_t got = ::read(fd, chunk.data(), chunk.size());
    if (got <= 0) return false;
    request.append(chunk.data(), static_cast<std::size_t>(got));
    const std::size_t head = request.find("\r\n\r\n");
    if (head == std::string::npos) continue;
    const std::size_t length = request.find("Content-Length: ");
    whole = head + 4;
    if (length < head) whole += std::strtoull(request.c_str() + length + 16, nullptr, 10);
  }
  return true;
}

FakeReply FakeEngine::reply_to(const std::string& request) {
  for (auto rule = rules_.rbegin(); rule != rules_.rend(); ++rule) {
    if (!request.starts_with(rule->start)) continue;
    const FakeReply reply = rule->replies[rule->next];
    if (rule->next + 1 < rule->replies.size()) ++rule->next;
    return reply;
  }
  return otherwise_;
}

void FakeEngine::serve_one(UniqueFd connection) {
  FakeReply reply;
  std::string request;
  bool read_it = true;
  {
    const std::lock_guard lock(mutex_);
    if (has_at_accept_) {
      reply = at_accept_;
      read_it = false;
    }
  }
  if (read_it) {
    if (!read_request(connection.get(), request)) return;
    std::function<void(const std::string&)> callback;
    {
      const std::lock_guard lock(mutex_);
      requests_.push_back(request);
      reply = reply_to(request);
      callback = callback_;
    }
    if (callback) callback(request);
  }
  std::string_view bytes = reply.bytes;
  while (!bytes.empty()) {
    const ssize_t sent = ::send(connection.get(), bytes.data(), bytes.size(), MSG_NOSIGNAL);
    if (sent <= 0) return;
    bytes.remove_prefix(static_cast<std::size_t>(sent));
  }
  if (reply.then == FakeReply::Then::stay_silent) kept_open_.push_back(std::move(connection));
}

}  // namespace guard

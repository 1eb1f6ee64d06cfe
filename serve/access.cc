#include "serve/access.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <netinet/in.h>
#include <openssl/crypto.h>
#include <poll.h>
#include <strings.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdio>
#include <cstdlib>

#include "common/file_io.h"
#include "common/text/text.h"

namespace guard::serve {
namespace {

constexpr int kHandedOver = 3;  // SD_LISTEN_FDS_START
constexpr std::size_t kTokenBytes = 32;
constexpr std::size_t kTokenFileMax = 4096;

Error failed(std::string_view doing) { return Error::from_errno(ErrorCode::io_error, doing, errno); }

Error denied(std::string sentence) {
  return Error(ErrorCode::input_invalid, std::move(sentence)).detail("access", "denied");
}

// Of systemd's socket activation: LISTEN_PID is us, LISTEN_FDS is 1.
Result<bool> is_handed_over() {
  const char* pid = std::getenv("LISTEN_PID");
  const char* count = std::getenv("LISTEN_FDS");
  if (pid == nullptr || count == nullptr || std::to_string(::getpid()) != pid) return false;
  if (std::string_view(count) == "1") return true;
  return Error(ErrorCode::input_invalid, fmt::format("systemd hands {} sockets over", printable(count)))
      .hint("give the socket unit of guard serve one ListenStream");
}

// "127.0.0.1:80" -> "127.0.0.1" and "80"; brackets go.
std::pair<std::string, std::string_view> host_and_port(std::string_view address) {
  const std::size_t colon = address.ends_with(']') ? std::string_view::npos : address.rfind(':');
  std::string_view host = address.substr(0, colon);
  if (host.starts_with('[') && host.ends_with(']')) host = host.substr(1, host.size() - 2);
  return {std::string(host), colon == std::string_view::npos ? std::string_view() : address.substr(colon + 1)};
}

struct Loopback {
  std::string host;
  bool is_v4 = false;  // else it is the other one
  sockaddr_in v4{};
  sockaddr_in6 v6{};
};

Result<Loopback> parse_loopback(std::string_view address) {
  const auto [host, port_text] = host_and_port(address);
  std::uint16_t port = 0;
  Loopback parsed{host};
  auto& [ignored, is_v4, v4, v6] = parsed;
  v4.sin_family = AF_INET;
  v6.sin6_family = AF_INET6;
  is_v4 = ::inet_pton(AF_INET, host.c_str(), &v4.sin_addr) == 1 && (ntohl(v4.sin_addr.s_addr) >> 24) == 127;
  const bool is_v6 = ::inet_pton(AF_INET6, host.c_str(), &v6.sin6_addr) == 1 && IN6_IS_ADDR_LOOPBACK(&v6.sin6_addr);
  if (!read_number(port_text, port) || (!is_v4 && !is_v6)) {
    return Error(
        ErrorCode::input_invalid, fmt::format("\"{}\" is no address of this machine's loopback", printable(address)))
        .hint("use 127.0.0.1:PORT or [::1]:PORT; other machines come through a tunnel of yours, such as ssh -L");
  }
  v4.sin_port = v6.sin6_port = htons(port);
  return parsed;
}

Result<std::string> new_token(const std::filesystem::path& path) {
  std::array<unsigned char, kTokenBytes> bytes{};
  if (::getrandom(bytes.data(), bytes.size(), 0) != static_cast<ssize_t>(bytes.size())) return failed("getrandom");
  const std::string text = fmt::format("{:02x}", fmt::join(bytes, ""));
  GUARD_TRY(write_new_file(path, text + "\n", 0600).context("making the file of the token"));
  return text;
}

}  // namespace

Result<UniqueFd> listen_at(const std::filesystem::path& path) {
  GUARD_TRY_ASSIGN(const bool handed_over, is_handed_over());
  if (handed_over) {
    UniqueFd given(kHandedOver);
    ::fcntl(given.get(), F_SETFD, FD_CLOEXEC);
    return given;
  }
  // It gets its name once it listens: whoever finds it before would take it for a dead one's.
  const std::filesystem::path nascent = path.native() + ".new";
  const auto address = socket_address(nascent.native());
  if (!address) {
    return Error(
        ErrorCode::input_invalid, fmt::format("{} is too long for the path of a socket", printable(path.native())))
        .hint("name a shorter folder with --state");
  }
  struct stat found {};
  if (::lstat(path.c_str(), &found) == 0 && !S_ISSOCK(found.st_mode))
    return Error(ErrorCode::io_error, fmt::format("{} is there and no socket", printable(path.native())));
  ::unlink(nascent.c_str());
  UniqueFd listener(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
  if (!listener) return failed("making a socket");
  // Of the file that bind(2) makes, from its first moment on.
  const bool made = ::fchmod(listener.get(), 0600) == 0 &&
      ::bind(listener.get(), reinterpret_cast<const sockaddr*>(&*address), sizeof *address) == 0 &&
      ::chmod(nascent.c_str(), 0600) == 0 && ::listen(listener.get(), SOMAXCONN) == 0 &&
      ::rename(nascent.c_str(), path.c_str()) == 0;
  if (!made) return failed(fmt::format("listening at {}", printable(path.native())));
  return listener;
}

Result<void> check_loopback(std::string_view address) {
  GUARD_TRY(parse_loopback(address));
  return ok();
}

Result<LoopbackListener> listen_on_loopback(std::string_view address) {
  GUARD_TRY_ASSIGN(const Loopback parsed, parse_loopback(address));
  const auto& [host, is_v4, v4, v6] = parsed;
  const auto* named = is_v4 ? reinterpret_cast<const sockaddr*>(&v4) : reinterpret_cast<const sockaddr*>(&v6);
  socklen_t size = is_v4 ? sizeof v4 : sizeof v6;
  UniqueFd listener(::socket(named->sa_family, SOCK_STREAM | SOCK_CLOEXEC, 0));
  const int on = 1;
  const bool made = listener && ::setsockopt(listener.get(), SOL_SOCKET, SO_REUSEADDR, &on, sizeof on) == 0 &&
      ::bind(listener.get(), named, size) == 0 && ::listen(listener.get(), SOMAXCONN) == 0;
  if (!made) return failed(fmt::format("listening at {}", address));
  sockaddr_in6 bound{};  // the port stands in the same place of both
  size = sizeof bound;
  if (::getsockname(listener.get(), reinterpret_cast<sockaddr*>(&bound), &size) != 0) return failed("getsockname");
  return LoopbackListener{
      std::move(listener), fmt::format(fmt::runtime(is_v4 ? "{}:{}" : "[{}]:{}"), host, ntohs(bound.sin6_port))};
}

Result<UniqueFd> connect_to_loopback(std::string_view address, Deadline deadline) {
  GUARD_TRY_ASSIGN(const Loopback parsed, parse_loopback(address));
  const auto& [host, is_v4, v4, v6] = parsed;
  const auto* named = is_v4 ? reinterpret_cast<const sockaddr*>(&v4) : reinterpret_cast<const sockaddr*>(&v6);
  UniqueFd fd(::socket(named->sa_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  if (!fd) return failed("making a socket");
  if (::connect(fd.get(), named, is_v4 ? sizeof v4 : sizeof v6) == 0) return fd;
  if (errno != EINPROGRESS) return failed(fmt::format("connecting to {}", address));
  // Where nobody takes connections from a full queue.
  pollfd writable{fd.get(), POLLOUT, 0};
  if (::poll(&writable, 1, deadline.poll_timeout()) == 0)
    return Error(ErrorCode::execution_timeout, fmt::format("{} takes no connection", address));
  int fault = 0;
  socklen_t size = sizeof fault;
  if (::getsockopt(fd.get(), SOL_SOCKET, SO_ERROR, &fault, &size) == 0 && fault == 0) return fd;
  errno = fault;
  return failed(fmt::format("connecting to {}", address));
}

Result<Token> Token::of_file(const std::filesystem::path& path) {
  struct stat found {};
  if (::lstat(path.c_str(), &found) != 0) {
    if (errno != ENOENT) return failed(printable(path.native()));
    GUARD_TRY_ASSIGN(std::string made, new_token(path));
    return Token(std::move(made));
  }
  const UniqueFd file(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK));
  if (!file || ::fstat(file.get(), &found) != 0) return failed(printable(path.native()));
  const Error unsafe(
      ErrorCode::input_invalid, fmt::format("others may know the token in {}", printable(path.native())));
  if (!S_ISREG(found.st_mode) || found.st_uid != ::geteuid() || (found.st_mode & 0177) != 0)
    return Error(unsafe).hint("name a file of your own with mode 0600, or one that is not there: guard makes it");
  GUARD_TRY_ASSIGN(std::string text, read_all(file.get(), kTokenFileMax, path.native()));
  while (!text.empty() && text.back() == '\n') text.pop_back();
  const bool is_word = std::all_of(text.begin(), text.end(), [](char c) { return c > ' ' && c < 0x7f; });
  if (text.size() < kTokenBytes || !is_word)
    return Error(ErrorCode::input_invalid, fmt::format("{} holds no token", printable(path.native())))
        .hint("it takes a word of 32 characters or more; name another file, or one that is not there: guard makes it");
  return Token(std::move(text));
}

bool Token::is(std::string_view said) const noexcept {
  return said.size() == text_.size() && ::CRYPTO_memcmp(said.data(), text_.data(), text_.size()) == 0;
}

Result<std::string> client_at(int connection) {
  ucred peer{};
  socklen_t size = sizeof peer;
  if (::getsockopt(connection, SOL_SOCKET, SO_PEERCRED, &peer, &size) != 0) return failed("SO_PEERCRED");
  if (peer.uid == ::geteuid() || peer.uid == 0) return fmt::format("uid {}", peer.uid);
  return denied(fmt::format("user {} may not speak to this guard", peer.uid));
}

Result<void> check_no_page(const Origin& said) {
  const std::string host = host_and_port(said.host).first;
  in_addr v4{};
  const bool is_here = host == "localhost" || host == "::1" ||
      (::inet_pton(AF_INET, host.c_str(), &v4) == 1 && (ntohl(v4.s_addr) >> 24) == 127);
  if (is_here && said.origin.empty() && said.fetch_site.empty()) return ok();
  return denied("this is no place for web pages")
      .hint("ask with the Host of the loopback, and without Origin and Sec-Fetch-Site");
}

Result<std::string> client_with(const Token& token, const Origin& said) {
  GUARD_TRY(check_no_page(said));
  if (!said.api_key.empty()) {
    constexpr std::string_view kPrefix = "e2b_";  // without it some of those clients send nothing
    const bool has_prefix = said.api_key.starts_with(kPrefix);
    if (token.is(said.api_key) || (has_prefix && token.is(said.api_key.substr(kPrefix.size()))))
      return std::string("token");
    return denied("the API key is not this guard's token").detail("status", "401");
  }
  constexpr std::string_view kBearer = "Bearer ";  // in whatever case
  const bool is_bearer = said.authorization.size() > kBearer.size() &&
      ::strncasecmp(said.authorization.data(), kBearer.data(), kBearer.size()) == 0;
  if (is_bearer && token.is(said.authorization.substr(kBearer.size()))) return std::string("token");
  return denied("the token is missing, or not the right one")
      .hint("send \"Authorization: Bearer TOKEN\" with what the file of --token-file holds");
}

}  // namespace guard::serve

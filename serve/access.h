// Where `guard serve` listens, and who may speak to it: at the Unix socket the user whose guard this is (and root), at
// a port of the loopback whoever has the token, but no web page in a browser.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>

#include "common/result.h"
#include "common/time.h"
#include "common/unique_fd.h"

namespace guard::serve {

// Listens at `path` with mode 0600. What lies there is removed if it is a socket: whoever calls this owns its folder.
// Where systemd has handed a listening socket over (LISTEN_FDS), that is taken. IO_ERROR.
Result<UniqueFd> listen_at(const std::filesystem::path& path);

// `address` is 127.0.0.1:PORT or [::1]:PORT; port 0 is any that is free. INPUT_INVALID for all else: what anybody
// else's machine can reach is not offered.
struct LoopbackListener {
  UniqueFd socket;
  std::string address;  // with the port that it is
};
Result<LoopbackListener> listen_on_loopback(std::string_view address);
Result<void> check_loopback(std::string_view address);  // the same, of what will be listened at later
// To whoever listens at such an address. EXECUTION_TIMEOUT, IO_ERROR.
Result<UniqueFd> connect_to_loopback(std::string_view address, Deadline deadline);

// 64 hex digits, which are to be known to nobody else.
class Token {
 public:
  // Made (0600) where the file is missing. INPUT_INVALID unless it is a regular file of this user's with mode 0600 or
  // 0400, no link, and holds at least 32 characters without a space.
  static Result<Token> of_file(const std::filesystem::path& path);

  // In a time that does not depend on how much of it is right.
  bool is(std::string_view said) const noexcept;

 private:
  explicit Token(std::string text) : text_(std::move(text)) {}
  std::string text_;
};

// The client at the other end of a Unix socket, such as "uid 1000". INPUT_INVALID (detail "access") for another user.
Result<std::string> client_at(int connection);

// Those header fields of a request that say where it comes from; empty: not there.
struct Origin {
  std::string_view host;
  std::string_view origin;
  std::string_view fetch_site;     // Sec-Fetch-Site
  std::string_view authorization;  // "Bearer TOKEN"
  std::string_view api_key = {};   // X-API-Key: "e2b_TOKEN", or the token
};
Result<void> check_no_page(const Origin& said);  // that it is no web page's
// The client at the loopback, or as above. A browser names the page's origin, or at least the host that a name was made
// to lead here from.
Result<std::string> client_with(const Token& token, const Origin& said);

}  // namespace guard::serve

// One request of HTTP/1 as the proxy reads it, and as it goes on to the server: written anew from the fields that were
// read, so that no two parsers can read the client's bytes in two ways.
//
// Refused is what has more than one meaning: two Host fields, Content-Length with Transfer-Encoding or twice, another
// coding than chunked, folded lines, control bytes, a line without CR. Nothing here waits.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "common/result.h"
#include "egress/egress_rules.h"

namespace guard {

inline constexpr std::size_t kHttpHeadBytesMax = 64ul * 1024;

// Where the first empty line ends that doesn't end before `from`; npos: there is none yet.
std::size_t http_head_end(std::string_view bytes, std::size_t from = 0);

struct HttpField {
  std::string name;
  std::string value;
};

class HttpRequest {
 public:
  // proxy: CONNECT, or a target with a host. origin: a target that is a path, as a server is asked; within TLS, where
  // the port that a Host field doesn't name is another one: secure_origin.
  enum class Form : std::uint8_t { proxy, origin, secure_origin };

  // `head` ends with the empty line. INPUT_INVALID says what is wrong; text of the client's in it is printable.
  static Result<HttpRequest> parse(std::string_view head, Form form);

  HttpRequest(HttpRequest&&) noexcept;
  HttpRequest& operator=(HttpRequest&&) noexcept;
  ~HttpRequest();

  bool is_connect() const noexcept;
  bool is_websocket() const noexcept;
  bool is_head() const noexcept;                // HEAD: its answer has no body
  const EgressTarget& target() const noexcept;  // of CONNECT and of the proxy's form; else that of the Host field
  // What the Host field names, with the target's port where CONNECT's Host names none. Of a CONNECT without Host: the
  // target.
  const EgressTarget& host_field() const noexcept;

  // The head as it goes to the server: fields of one hop and those of proxies are left out, and the server is to close.
  // `own` replace the client's fields of their names; one without a value only removes them.
  std::string head_for_server(const std::vector<HttpField>& own = {}) const;

  // Takes what it can of the body from `bytes` and appends to `out` what goes to the server. Returns how much it took;
  // what is left when the body is done belongs to no request.
  Result<std::size_t> take_body(std::string_view bytes, std::string& out);
  bool body_done() const noexcept;

 private:
  struct Parts;
  explicit HttpRequest(std::unique_ptr<Parts> parts);
  std::unique_ptr<Parts> parts_;
};

// The status of an answer; `head` ends with the empty line. PROTOCOL_ERROR.
struct HttpAnswerHead {
  unsigned status = 0;
  bool to_websocket = false;  // 101, to what was asked for
};
Result<HttpAnswerHead> parse_http_answer(std::string_view head);

// A whole answer of the proxy's own, with a line of text.
std::string http_answer(unsigned status, std::string_view text);

}  // namespace guard

// One answer of HTTP/1 as the proxy reads it where it speaks for the client, and as it goes back: with a credential's
// value masked, which is why it is taken apart. A chunk's end may lie within the value.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "common/result.h"

namespace guard {

class HttpAnswer {
 public:
  // `head` ends with the empty line. `to_head`: HEAD was asked for, so that no body comes. PROTOCOL_ERROR.
  static Result<HttpAnswer> parse(std::string_view head, bool to_head, const std::vector<std::string>& hidden);

  HttpAnswer(HttpAnswer&&) noexcept;
  HttpAnswer& operator=(HttpAnswer&&) noexcept;
  ~HttpAnswer();

  bool is_interim() const noexcept;  // 1xx but 101: another answer follows
  bool switches() const noexcept;    // 101
  bool to_websocket() const noexcept;
  bool is_encoded() const;  // its body is compressed: nothing can be masked in it

  // Written anew; fields of one hop are left out, and the connection is to be closed.
  std::string head_for_client() const;

  // As HttpRequest::take_body. PROTOCOL_ERROR.
  Result<std::size_t> take_body(std::string_view bytes, std::string& out);
  // The server has closed. False: the body isn't whole.
  bool end(std::string& out);
  bool body_done() const noexcept;

 private:
  struct Parts;
  explicit HttpAnswer(std::unique_ptr<Parts> parts);
  std::unique_ptr<Parts> parts_;
};

}  // namespace guard

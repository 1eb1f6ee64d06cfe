// One answer of HTTP/1 as the proxy reads it where it speaks for the client, and as it goes back: with a credential's
// value masked, which is why it is taken apart. A chunk's end may lie within the value.
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "common/result.h"
#include "egress/keys/value_mask.h"

namespace guard {

class HttpAnswer {
 public:
  // `head` ends with the empty line. `to_head`: HEAD was asked for, so that no body comes. `hidden` must outlive this.
  // PROTOCOL_ERROR.
  static Result<HttpAnswer> parse(std::string_view head, bool to_head, const HiddenValues& hidden);

  HttpAnswer(HttpAnswer&&) noexcept;
  HttpAnswer& operator=(HttpAnswer&&) noexcept;
  ~HttpAnswer();

  bool is_interim() const noexcept;  // 1xx: another answer follows
  // Why a value in it might not be seen: its body is compressed, a part of a whole, or in a charset where ASCII isn't
  // written as itself; or it is no answer (101). Empty: it would be.
  std::string_view why_not_maskable() const;

  // Written anew; fields of one hop are left out, and the connection is to be closed.
  std::string head_for_client() const;

  // As HttpRequest::take_body. PROTOCOL_ERROR.
  Result<std::size_t> take_body(std::string_view bytes, std::string& out);
  // The server has ended. False: the body isn't whole, and what is held back of it stays so.
  bool end(std::string& out);
  bool body_done() const noexcept;

 private:
  struct Parts;
  explicit HttpAnswer(std::unique_ptr<Parts> parts);
  std::unique_ptr<Parts> parts_;
};

}  // namespace guard

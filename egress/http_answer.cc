#include "egress/http_answer.h"

#include <sstream>

#include "common/text/characters.h"
#include "egress/http_body.h"
#include "egress/http_request.h"
#include "egress/value_mask.h"

namespace guard {
namespace {

namespace http = boost::beast::http;
using boost::system::error_code;

Error broken(const std::string& why) {
  return Error(ErrorCode::protocol_error, "the server's answer is no HTTP/1.1: " + why);
}

}  // namespace

struct HttpAnswer::Parts {
  http::response_parser<http::buffer_body> parser;
  ValueMask mask;
  std::vector<std::string> hidden;

  const auto& head() const { return parser.get(); }
  void add(std::string text, std::string& out) const { out += parser.chunked() ? http_chunk(text) : std::move(text); }
};

HttpAnswer::HttpAnswer(std::unique_ptr<Parts> parts) : parts_(std::move(parts)) {}
HttpAnswer::HttpAnswer(HttpAnswer&&) noexcept = default;
HttpAnswer& HttpAnswer::operator=(HttpAnswer&&) noexcept = default;
HttpAnswer::~HttpAnswer() = default;

Result<HttpAnswer> HttpAnswer::parse(std::string_view head, bool to_head, const std::vector<std::string>& hidden) {
  auto parts = std::make_unique<Parts>();
  parts->mask = ValueMask(hidden);
  parts->hidden = hidden;
  parts->parser.header_limit(kHttpHeadBytesMax);
  parts->parser.body_limit(boost::none);
  parts->parser.eager(false);
  parts->parser.skip(to_head);
  error_code failure;
  parts->parser.put(boost::asio::buffer(head.data(), head.size()), failure);
  if (failure && failure != http::error::need_more) return broken(failure.message());
  if (!parts->parser.is_header_done()) return broken("half a head");
  parts->parser.eager(true);
  return HttpAnswer(std::move(parts));
}

bool HttpAnswer::is_interim() const noexcept {
  const unsigned status = parts_->head().result_int();
  return status / 100 == 1 && status != 101;
}

bool HttpAnswer::switches() const noexcept { return parts_->head().result_int() == 101; }

bool HttpAnswer::to_websocket() const noexcept {
  const auto& head = parts_->head();
  return switches() && boost::beast::iequals(head[http::field::upgrade], "websocket");
}

bool HttpAnswer::is_encoded() const {
  const auto& head = parts_->head();
  for (const auto& field : head) {
    if (field.name() == http::field::content_encoding && !field.value().empty() &&
        !boost::beast::iequals(field.value(), "identity"))
      return true;
  }
  const auto coding = head[http::field::transfer_encoding];
  if (!coding.empty() && !boost::beast::iequals(coding, "chunked")) return true;
  return head.count(http::field::sec_websocket_extensions) > 0;
}

std::string HttpAnswer::head_for_client() const {
  using enum http::field;
  const auto& head = parts_->head();
  http::response<http::empty_body> sent;
  sent.result(head.result_int());
  sent.reason(head.reason());
  sent.version(static_cast<unsigned>(head.version()));
  for (const auto& field : head) {
    const auto is = [&](auto... names) { return ((field.name() == names) || ...); };
    if (!is(connection, keep_alive, proxy_connection, trailer, transfer_encoding, content_length, upgrade, alt_svc))
      sent.insert(field.name(), field.name_string(), field.value());
  }
  if (to_websocket()) {
    sent.set(connection, "Upgrade");
    sent.set(upgrade, "websocket");
  } else if (!is_interim()) {
    sent.set(connection, "close");
  }
  if (parts_->parser.chunked()) sent.set(transfer_encoding, "chunked");
  // As it came: that of an answer to HEAD tells of a body that doesn't follow.
  if (head.count(content_length) == 1 && !parts_->parser.chunked()) sent.set(content_length, head[content_length]);
  std::ostringstream text;
  text << sent.base();
  ValueMask mask(parts_->hidden);
  std::string masked = mask.push(text.str());
  return masked + mask.finish();
}

Result<std::size_t> HttpAnswer::take_body(std::string_view bytes, std::string& out) {
  Parts& parts = *parts_;
  auto taken =
      take_http_body(parts.parser, bytes, [&](std::string_view piece) { parts.add(parts.mask.push(piece), out); });
  if (!taken) return broken(taken.error().message());
  if (parts.parser.is_done() && *taken > 0) {
    parts.add(parts.mask.finish(), out);
    if (parts.parser.chunked()) out += "0\r\n\r\n";
  }
  return taken;
}

bool HttpAnswer::end(std::string& out) {
  error_code failure;
  const bool whole = parts_->parser.need_eof();
  if (whole) parts_->parser.put_eof(failure);
  parts_->add(parts_->mask.finish(), out);
  return whole && !failure;
}

bool HttpAnswer::body_done() const noexcept { return parts_->parser.is_done(); }

}  // namespace guard

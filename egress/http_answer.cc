#include "egress/http_answer.h"

#include <algorithm>
#include <sstream>

#include "common/text/characters.h"
#include "egress/http_body.h"
#include "egress/http_request.h"

namespace guard {
namespace {

namespace http = boost::beast::http;
using boost::system::error_code;

Error broken(const std::string& why) {
  return Error(ErrorCode::protocol_error, "the server's answer is no HTTP/1.1: " + why);
}

// Of a Content-Type in small letters. What isn't known to be is not: UTF-16, UTF-7, EBCDIC and others that will come.
bool is_ascii_in(std::string_view content_type) {
  constexpr std::string_view kKnown[] = {"utf-8", "utf8", "us-ascii", "ascii", "iso-8859-", "windows-125", "latin1",
      "koi8-", "euc-", "gb2312", "gbk", "gb18030", "big5", "shift_jis"};
  constexpr std::string_view kName = "charset";
  for (std::size_t at = 0; (at = content_type.find(kName, at)) != std::string_view::npos;) {
    at = content_type.find_first_not_of(" \t=\"'", at + kName.size());
    const std::string_view charset = content_type.substr(std::min(at, content_type.size()));
    if (std::ranges::none_of(kKnown, [&](std::string_view known) { return charset.starts_with(known); })) return false;
  }
  return true;
}

}  // namespace

struct HttpAnswer::Parts {
  explicit Parts(const HiddenValues& values) : hidden(values), mask(values) {}

  http::response_parser<http::buffer_body> parser;
  const HiddenValues& hidden;
  ValueMask mask;

  const auto& head() const { return parser.get(); }
  void add(std::string text, std::string& out) const { out += parser.chunked() ? http_chunk(text) : std::move(text); }
};

HttpAnswer::HttpAnswer(std::unique_ptr<Parts> parts) : parts_(std::move(parts)) {}
HttpAnswer::HttpAnswer(HttpAnswer&&) noexcept = default;
HttpAnswer& HttpAnswer::operator=(HttpAnswer&&) noexcept = default;
HttpAnswer::~HttpAnswer() = default;

Result<HttpAnswer> HttpAnswer::parse(std::string_view head, bool to_head, const HiddenValues& hidden) {
  auto parts = std::make_unique<Parts>(hidden);
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

bool HttpAnswer::is_interim() const noexcept { return parts_->head().result_int() / 100 == 1; }

std::string_view HttpAnswer::why_not_maskable() const {
  const auto& head = parts_->head();
  const unsigned status = head.result_int();
  if (status == 101) return "it speaks another protocol from here on";
  if (status == 206 || status == 226 || head.count(http::field::content_range) > 0)
    return "it is a part of a whole although none was asked for";
  for (const auto& field : head) {
    const std::string value = lower_case({field.value().data(), field.value().size()});
    if (field.name() == http::field::transfer_encoding && value != "chunked") return "it is compressed";
    if (field.name() == http::field::content_encoding && !value.empty() && value != "identity")
      return "it is compressed although that was not asked for";
    if (field.name() != http::field::content_type) continue;
    if (value.starts_with("multipart/byteranges")) return "it is parts of a whole although none were asked for";
    if (!is_ascii_in(value)) return "its charset does not write ASCII as itself";
  }
  return {};
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
  if (!is_interim()) sent.set(connection, "close");
  if (parts_->parser.chunked()) sent.set(transfer_encoding, "chunked");
  // As it came: that of an answer to HEAD tells of a body that doesn't follow.
  if (head.count(content_length) == 1 && !parts_->parser.chunked()) sent.set(content_length, head[content_length]);
  std::ostringstream text;
  text << sent.base();
  return masked_text(text.str(), parts_->hidden);
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
  if (!parts_->parser.need_eof()) return false;
  error_code failure;
  parts_->parser.put_eof(failure);
  if (!failure) parts_->add(parts_->mask.finish(), out);
  return !failure;
}

bool HttpAnswer::body_done() const noexcept { return parts_->parser.is_done(); }

}  // namespace guard

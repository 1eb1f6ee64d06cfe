// Beast reads and frames; what it takes more kindly than servers may is refused before or after it. Chunk extensions
// and trailers end here.
#include "egress/http_request.h"

#include <fmt/format.h>

#include <algorithm>
#include <boost/beast/http.hpp>
#include <boost/beast/http/rfc7230.hpp>
#include <set>
#include <sstream>

#include "common/text/characters.h"
#include "common/text/text.h"
#include "egress/http_body.h"

namespace guard {
namespace {

namespace http = boost::beast::http;
using boost::system::error_code;

constexpr std::uint16_t kHttpPort = 80;
constexpr std::uint16_t kTlsPort = 443;

// Servers take X_Api_Key for X-Api-Key.
bool is_same_field(std::string one, std::string other) {
  for (std::string* name : {&one, &other}) std::ranges::replace(*name, '_', '-');
  return lower_case(one) == lower_case(other);
}

Error refused(std::string_view why) { return Error(ErrorCode::input_invalid, std::string(why)); }

std::string_view view(boost::beast::string_view text) { return {text.data(), text.size()}; }

// Lines end with CR LF, none begins with a space (it would go on the one before), and no other control byte is in them.
Result<void> check_lines(std::string_view head) {
  for (std::size_t at = 0; at < head.size(); ++at) {
    const auto byte = static_cast<unsigned char>(head[at]);
    if (byte == '\r') {
      if (!head.substr(at).starts_with("\r\n")) return refused("a CR without LF is in the head of the request");
      ++at;
      if (at + 1 < head.size() && (head[at + 1] == ' ' || head[at + 1] == '\t'))
        return refused("a line of the head of the request is folded");
    } else if ((byte < 0x20 && byte != '\t') || byte == 0x7f) {
      return refused("a control byte is in the head of the request");
    }
  }
  return ok();
}

// In lower case: what the Connection fields name.
template <typename Head>
std::set<std::string> connection_words(const Head& head) {
  std::set<std::string> words;
  for (const auto& field : head) {
    if (field.name() != http::field::connection) continue;
    for (const auto& word : http::token_list(field.value())) words.insert(lower_case(view(word)));
  }
  return words;
}

bool is_for_one_hop(const http::fields::value_type& field, const std::set<std::string>& named) {
  using enum http::field;
  constexpr http::field kDropped[] = {
      connection, keep_alive, proxy_connection, te, trailer, transfer_encoding, upgrade, host, content_length};
  const std::string name = lower_case(view(field.name_string()));
  return std::find(std::begin(kDropped), std::end(kDropped), field.name()) != std::end(kDropped) ||
      name.starts_with("proxy-") || name == "http2-settings" || named.contains(name);
}

}  // namespace

struct HttpRequest::Parts {
  http::request_parser<http::buffer_body> parser;
  EgressTarget target;
  EgressTarget host_field;
  std::string path;  // as it goes to the server
  std::uint16_t default_port = kHttpPort;
  bool websocket = false;

  const auto& head() const { return parser.get(); }
  bool is_connect() const { return head().method() == http::verb::connect; }

  Result<void> read_target(Form form);
  Result<void> read_host(Form form);
  Result<void> check_fields();
};

// Before the body's framing is known to be clear nothing of it counts.
Result<void> HttpRequest::Parts::check_fields() {
  const auto lengths = head().count(http::field::content_length);
  const auto codings = head().count(http::field::transfer_encoding);
  if (lengths > 1) return refused("Content-Length is there twice");
  if (lengths == 1) {
    std::uint64_t length = 0;
    const auto value = view(head()[http::field::content_length]);
    if (value.starts_with('+') || value.starts_with('-') || !read_number(value, length))
      return refused("Content-Length is not one number");
  }
  if (codings > 0 &&
      (lengths > 0 || codings > 1 || head().version() != 11 ||
          lower_case(view(head()[http::field::transfer_encoding])) != "chunked"))
    return refused("Transfer-Encoding is other than chunked, or beside Content-Length");
  if (is_connect() && lengths + codings > 0) return refused("CONNECT has no body");
  const auto named = connection_words(head());
  for (const char* kept : {"host", "content-length", "transfer-encoding"}) {
    if (named.contains(kept)) return refused(fmt::format("Connection names {}", kept));
  }
  const auto expect = view(head()[http::field::expect]);
  if (head().count(http::field::expect) > 1 || (!expect.empty() && lower_case(expect) != "100-continue"))
    return refused("Expect is other than 100-continue");
  const bool upgrades = named.contains("upgrade") || head().count(http::field::upgrade) > 0;
  websocket = named.contains("upgrade") && head().count(http::field::upgrade) == 1 &&
      lower_case(view(head()[http::field::upgrade])) == "websocket" && head().method() == http::verb::get &&
      head().version() == 11 && lengths + codings == 0;
  // h2c is offered by clients that go on without it, so it is left out as other fields of one hop are.
  if (upgrades && !websocket && lower_case(view(head()[http::field::upgrade])) != "h2c")
    return refused("Upgrade is to websocket alone, with GET and without a body");
  return ok();
}

Result<void> HttpRequest::Parts::read_target(Form form) {
  const auto text = view(head().target());
  if (std::any_of(text.begin(), text.end(), [](unsigned char c) { return c <= 0x20 || c >= 0x7f || c == '#'; }))
    return refused("the target of the request has a byte that no target has");
  if (form == Form::secure_origin) default_port = kTlsPort;
  if (form != Form::proxy) {
    if (is_connect() || !text.starts_with('/')) return refused("the target of the request is not a path");
    path = text;
    return ok();
  }
  if (is_connect()) {
    GUARD_TRY_ASSIGN(target, EgressTarget::parse(text));
    return ok();
  }
  constexpr std::string_view kScheme = "http://";
  if (lower_case(text.substr(0, 8)) == "https://")
    return refused("https:// is asked for by CONNECT: the client must not hand the proxy what it would encrypt");
  if (lower_case(text.substr(0, kScheme.size())) != kScheme)
    return refused("this is a proxy: the target of a request is http://host/path, or host:port after CONNECT");
  const auto rest = text.substr(kScheme.size());
  const auto authority = rest.substr(0, rest.find_first_of("/?"));
  if (authority.find('@') != std::string_view::npos) return refused("the target of the request names a user");
  GUARD_TRY_ASSIGN(target, EgressTarget::parse(authority, kHttpPort));
  path = rest.substr(authority.size());
  if (!path.starts_with('/')) path.insert(0, "/");
  return ok();
}

Result<void> HttpRequest::Parts::read_host(Form form) {
  const auto count = head().count(http::field::host);
  host_field = target;
  if (is_connect() && count == 0) return ok();  // nothing of it goes on, and old clients send none
  if (count != 1) return refused("a request has one Host field");
  const std::uint16_t port = is_connect() ? target.port : default_port;
  GUARD_TRY_ASSIGN(host_field, EgressTarget::parse(view(head()[http::field::host]), port));
  if (form != Form::proxy) target = host_field;
  return ok();
}

HttpRequest::HttpRequest(std::unique_ptr<Parts> parts) : parts_(std::move(parts)) {}
HttpRequest::HttpRequest(HttpRequest&&) noexcept = default;
HttpRequest& HttpRequest::operator=(HttpRequest&&) noexcept = default;
HttpRequest::~HttpRequest() = default;

std::size_t http_head_end(std::string_view bytes, std::size_t from) {
  constexpr std::string_view kEnd = "\r\n\r\n";
  const std::size_t at = bytes.find(kEnd, from < kEnd.size() ? 0 : from - kEnd.size() + 1);
  return at == std::string_view::npos ? at : at + 4;
}

Result<HttpRequest> HttpRequest::parse(std::string_view head, Form form) {
  GUARD_TRY(check_lines(head));
  auto parts = std::make_unique<Parts>();
  parts->parser.header_limit(kHttpHeadBytesMax);
  parts->parser.body_limit(boost::none);  // limited as bytes are
  parts->parser.eager(false);
  error_code failure;
  parts->parser.put(boost::asio::buffer(head.data(), head.size()), failure);
  if (failure && failure != http::error::need_more)
    return refused(fmt::format("this is no request of HTTP/1.1: {}", failure.message()));
  if (!parts->parser.is_header_done()) return refused("this is half a request");
  parts->parser.eager(true);
  GUARD_TRY(parts->check_fields());
  GUARD_TRY(parts->read_target(form));
  GUARD_TRY(parts->read_host(form));
  return HttpRequest(std::move(parts));
}

bool HttpRequest::is_connect() const noexcept { return parts_->is_connect(); }
bool HttpRequest::is_websocket() const noexcept { return parts_->websocket; }
bool HttpRequest::is_head() const noexcept { return parts_->head().method() == http::verb::head; }
const EgressTarget& HttpRequest::target() const noexcept { return parts_->target; }
const EgressTarget& HttpRequest::host_field() const noexcept { return parts_->host_field; }

std::string HttpRequest::head_for_server(const std::vector<HttpField>& own) const {
  const auto& head = parts_->head();
  http::request<http::empty_body> sent;
  sent.method_string(head.method_string());
  sent.target(parts_->path);
  sent.version(static_cast<unsigned>(head.version()));
  const EgressTarget& host = parts_->target;
  sent.set(http::field::host, host.port == parts_->default_port ? host.host.text() : host.text());
  const auto named = connection_words(head);
  for (const auto& field : head) {
    if (!is_for_one_hop(field, named)) sent.insert(field.name(), field.name_string(), field.value());
  }
  for (const HttpField& field : own) {
    for (auto at = sent.begin(); at != sent.end();)
      at = is_same_field(at->name_string(), field.name) ? sent.erase(at) : std::next(at);
    if (!field.value.empty()) sent.set(field.name, field.value);
  }
  if (parts_->websocket) {
    sent.set(http::field::connection, "Upgrade");
    sent.set(http::field::upgrade, "websocket");
  } else {
    sent.set(http::field::connection, "close");
  }
  if (parts_->parser.chunked()) {
    sent.set(http::field::transfer_encoding, "chunked");
  } else if (const auto length = parts_->parser.content_length()) {
    sent.set(http::field::content_length, std::to_string(*length));
  }
  std::ostringstream text;
  text << sent.base();
  return text.str();
}

Result<std::size_t> HttpRequest::take_body(std::string_view bytes, std::string& out) {
  auto& parser = parts_->parser;
  auto taken = take_http_body(
      parser, bytes, [&](std::string_view piece) { out += parser.chunked() ? http_chunk(piece) : std::string(piece); });
  if (taken && parser.is_done() && parser.chunked() && *taken > 0) out += "0\r\n\r\n";
  return taken;
}

bool HttpRequest::body_done() const noexcept { return parts_->parser.is_done(); }

Result<HttpAnswerHead> parse_http_answer(std::string_view head) {
  http::response_parser<http::empty_body> parser;
  parser.header_limit(kHttpHeadBytesMax);
  parser.skip(true);
  error_code failure;
  parser.put(boost::asio::buffer(head.data(), head.size()), failure);
  if ((failure && failure != http::error::need_more) || !parser.is_header_done())
    return Error(ErrorCode::protocol_error, fmt::format("this is no answer of HTTP/1.1: {}", failure.message()));
  const auto& answer = parser.get();
  return HttpAnswerHead{answer.result_int(),
      answer.result() == http::status::switching_protocols &&
          lower_case(view(answer[http::field::upgrade])) == "websocket"};
}

std::string http_answer(unsigned status, std::string_view text) {
  http::response<http::string_body> answer(static_cast<http::status>(status), 11);
  answer.set(http::field::content_type, "text/plain; charset=utf-8");
  answer.set(http::field::connection, "close");
  answer.body() = fmt::format("guard: {}\n", text);
  answer.prepare_payload();
  std::ostringstream bytes;
  bytes << answer;
  return bytes.str();
}

}  // namespace guard

// What a sandbox says to the proxy of its network. However the bytes are cut, requests, SOCKS and the first TLS record
// are read the same; and what goes to a server is read by us as what was asked for, with nothing behind it.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>

#include "egress/client_hello.h"
#include "egress/http_answer.h"
#include "egress/http_request.h"
#include "egress/socks_request.h"

namespace {

using guard::ClientHello;
using guard::HttpRequest;

void check(bool holds) {
  if (!holds) std::abort();
}

// Once it is decided, more bytes change nothing, but for the limit.
void read_hello(const std::string& bytes, std::size_t step) {
  const ClientHello whole = guard::read_client_hello(bytes);
  check(whole.server_name.size() <= 255 && (whole.has_server_name || whole.server_name.empty()));
  if (bytes.size() > guard::kClientHelloBytesMax) return;
  for (std::size_t size = 0; size <= bytes.size(); size += step) {
    const ClientHello part = guard::read_client_hello(std::span(bytes).first(size));
    if (part.state == ClientHello::State::complete) {
      check(whole.state == part.state && whole.server_name == part.server_name && whole.encrypted == part.encrypted);
    } else if (part.state == ClientHello::State::not_tls) {
      check(whole.state == part.state);
    } else if (part.state == ClientHello::State::need_more) {
      check(part.need > size && (whole.state != ClientHello::State::complete || part.need <= bytes.size()));
    }
  }
}

void read_socks(const std::string& bytes) {
  const auto greeting = guard::read_socks_greeting(bytes);
  check(greeting.size <= bytes.size());
  const auto request = guard::read_socks_request(std::span(bytes).subspan(greeting.size));
  check(request.size <= bytes.size() - greeting.size);
  if (request.size == 0 || request.fault != guard::SocksReply::succeeded) return;
  check(request.target.port != 0);
  const auto again = guard::EgressTarget::parse(request.target.text());
  check(again && *again == request.target);
}

std::string body_of(HttpRequest& request, const std::string& bytes, std::size_t step) {
  std::string out, buffer;
  for (std::size_t at = 0; at < bytes.size() && !request.body_done(); at += step) {
    buffer += bytes.substr(at, step);
    const auto taken = request.take_body(buffer, out);
    if (!taken) return "refused";
    check(*taken <= buffer.size());
    buffer.erase(0, *taken);
  }
  return out;
}

void read_request(const std::string& bytes, HttpRequest::Form form, std::size_t step) {
  const std::size_t end = guard::http_head_end(bytes);
  if (end == std::string::npos) return;
  const std::string head = bytes.substr(0, end);
  auto request = HttpRequest::parse(head, form);
  if (!request) return;
  check(request->target().port != 0);
  if (request->is_connect()) return check(request->body_done());
  const std::string sent = request->head_for_server();
  check(guard::http_head_end(sent) == sent.size());
  auto read_again = HttpRequest::parse(sent, HttpRequest::Form::origin);
  check(read_again && read_again->target() == request->target());
  check(read_again->body_done() == request->body_done() && read_again->is_websocket() == request->is_websocket());
  auto other = HttpRequest::parse(head, form);
  const std::string body = body_of(*request, bytes.substr(end), bytes.size());
  const std::string in_pieces = body_of(*other, bytes.substr(end), step);
  if (!request->body_done()) return;
  check(other->body_done());
  // The server reads the body that we read, and nothing more.
  const auto taken = [&] {
    std::string ignored;
    return read_again->take_body(in_pieces, ignored);
  }();
  check(read_again->body_done() && (!taken || *taken == in_pieces.size()));
  std::string ignored;
  auto third = HttpRequest::parse(sent, HttpRequest::Form::origin);
  if (!body.empty()) check(third->take_body(body, ignored).value_or(0) == body.size());
}

// An answer never shows the value that it is masked for, however it is cut.
void read_answer(const std::string& bytes, std::size_t step) {
  const std::string value = "secret-1";
  const guard::HiddenValues hidden({value, "ecret-1/longer"});
  const std::size_t end = guard::http_head_end(bytes);
  if (end == std::string::npos) return;
  for (const std::size_t size : {step, bytes.size()}) {
    auto answer = guard::HttpAnswer::parse(bytes.substr(0, end), false, hidden);
    if (!answer) return;
    std::string out = answer->head_for_client();
    check(guard::http_head_end(out) == out.size());
    std::string buffer;
    for (std::size_t at = end; at < bytes.size() && !answer->body_done(); at += size) {
      buffer += bytes.substr(at, size);
      const auto taken = answer->take_body(buffer, out);
      if (!taken) break;
      check(*taken <= buffer.size());
      buffer.erase(0, *taken);
    }
    if (!answer->body_done()) answer->end(out);
    static_cast<void>(answer->why_not_maskable());
    check(out.find(value) == std::string::npos);
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size < 1) return 0;
  const std::string bytes(reinterpret_cast<const char*>(data) + 1, size - 1);
  const std::size_t step = 1 + data[0] % 16u;
  read_hello(bytes, step);
  read_socks(bytes);
  read_request(bytes, HttpRequest::Form::proxy, step);
  read_request(bytes, HttpRequest::Form::origin, step);
  static_cast<void>(guard::parse_http_answer(bytes));
  read_answer(bytes, step);
  if (const auto rule = guard::EgressRule::parse(bytes)) {
    const auto again = guard::EgressRule::parse(rule->text());
    check(again && *again == *rule);
  }
  return 0;
}

#include "runner/acads/azure_service.h"

#include <fmt/format.h>

#include <algorithm>

#include "common/text/characters.h"
#include "common/text/text.h"

namespace guard::acads {
namespace {

constexpr std::string_view kAuthorities = "/etc/ssl/certs/ca-certificates.crt";
constexpr std::string_view kHttps = "https://";
constexpr std::string_view kHttp = "http://";
constexpr std::size_t kShownBytesMax = 300;
constexpr milliseconds kFirstPause{500};
constexpr milliseconds kLeastPause{50};
constexpr int kAttemptsMax = 8;

bool is_nearby(const docker::Endpoint& endpoint) {
  return endpoint.is_loopback() ||
      (endpoint.host.starts_with("169.254.") && endpoint.host.find_first_not_of("0123456789.") == std::string::npos);
}

bool has_port(std::string_view authority) {
  const std::size_t bracket = authority.find(']');
  return authority.find(':', bracket == std::string_view::npos ? 0 : bracket) != std::string_view::npos;
}

// The same error in words about this service.
Error about(const Service& service, Error error) {
  const std::string_view peer = service.endpoint.peer;
  if (error.code() == ErrorCode::cancelled)
    return Error(error.code(), fmt::format("stopped while waiting for {}", peer));
  if (error.code() == ErrorCode::execution_timeout) {
    return Error(error.code(), fmt::format("{} at {} did not answer in time", peer, service.url))
        .hint("try again, or see whether this machine reaches it");
  }
  std::string hint(error.hint());
  if (error.details().contains("tls")) {
    hint = fmt::format(
        "authorities are read from {}; SSL_CERT_FILE names another file", printable(service.endpoint.tls->authority));
  } else if (error.code() == ErrorCode::environment_unavailable) {
    hint = fmt::format("check {}, and that this machine reaches the host", service.variable);
  }
  return std::move(error).hint(std::move(hint)).context(fmt::format("speaking to {} at {}", peer, service.url));
}

Result<docker::HttpAnswer> exchange(
    const Service& service, const Call& call, Deadline deadline, const CancelToken& cancel) {
  docker::HttpRequest request{.method = call.method,
      .target = (service.path.empty() && !call.target.starts_with('/') ? "/" : service.path) + call.target,
      .content_type = call.content_type,
      .body = call.body,
      .host = service.host,
      .fields = {call.fields.begin(), call.fields.end()}};
  GUARD_TRY_ASSIGN(auto connection, docker::HttpConnection::open(service.endpoint, deadline, cancel));
  GUARD_TRY(connection.send(request));
  return connection.receive(call.answer_bytes_max, call.take);
}

// A date in place of seconds is not read: our own time is as good.
milliseconds pause_after(const docker::HttpAnswer& answer, milliseconds otherwise) {
  std::uint32_t seconds = 0;
  const auto named = answer.headers.find("retry-after");
  if (named == answer.headers.end() || !read_number(named->second, seconds)) return otherwise;
  return std::max(kLeastPause, milliseconds(std::uint64_t{1000} * seconds));
}

}  // namespace

bool is_visible(std::string_view text) {
  return std::ranges::all_of(text, [](char c) { return c > ' ' && c < 0x7f; });
}

void Secrets::add(std::string value) {
  if (!value.empty()) values_.push_back(std::move(value));
}

std::string Secrets::hidden(std::string bytes) const {
  for (const std::string& value : values_) bytes = replaced(std::move(bytes), value, "[REDACTED:azure]");
  return bytes;
}

std::string Secrets::shown(std::string_view foreign) const {
  return printable(cut_text(hidden(std::string(foreign)), kShownBytesMax, "..."));
}

Result<Service> find_service(const Environment& environment, std::string_view variable, std::string_view otherwise,
    Scheme scheme, std::string_view peer) {
  Service service;
  service.variable = variable;
  std::string text = value_of(environment, service.variable);
  if (text.empty()) text = otherwise;
  // The value is not shown: where somebody has put a key by mistake, it is one.
  const auto wrong = [&](std::string_view what) {
    return Error(ErrorCode::config_invalid, fmt::format("{} {}", variable, what))
        .hint(fmt::format("set it to the URL of {}, as https://host/path", peer));
  };
  if (text.empty()) return wrong("is not set");
  const bool plain = scheme == Scheme::plain_nearby && text.starts_with(kHttp);
  if (!plain && !text.starts_with(kHttps)) return wrong("is no https URL");
  const std::string_view rest = std::string_view(text).substr(plain ? kHttp.size() : kHttps.size());
  const std::string_view authority = rest.substr(0, rest.find('/'));
  std::string_view path = rest.substr(authority.size());
  while (path.ends_with('/')) path.remove_suffix(1);
  if (!is_visible(path) || path.find_first_of("?#") != std::string_view::npos)
    return wrong("has a path with a query, or with characters that have no place in a URL");

  const std::string authorities = value_of(environment, "SSL_CERT_FILE");
  std::optional<docker::TlsFiles> tls;
  if (!plain) tls = {authorities.empty() ? std::string(kAuthorities) : authorities, "", ""};
  const std::string_view port = has_port(authority) ? "" : plain ? ":80" : ":443";
  auto endpoint = docker::parse_endpoint(fmt::format("tcp://{}{}", authority, port), tls);
  if (!endpoint) return wrong("names no host");
  if (plain && !is_nearby(*endpoint)) return wrong("is plain http to another machine");
  service.endpoint = *std::move(endpoint);
  service.endpoint.peer = peer;
  service.host = lower_case(authority.ends_with(":443") ? authority.substr(0, authority.size() - 4) : authority);
  service.path = path;
  service.url = fmt::format("{}{}{}", plain ? kHttp : kHttps, service.host, path);
  return service;
}

Result<docker::HttpAnswer> call(
    const Service& service, const Call& call, Deadline deadline, const CancelToken& cancel) {
  milliseconds next = kFirstPause;
  for (int attempt = 1;; ++attempt, next *= 2) {
    auto answer = exchange(service, call, deadline, cancel);
    if (!answer) return about(service, std::move(answer).error());
    if (answer->status != 429 && (answer->status != 503 || !call.repeatable)) return answer;
    const milliseconds pause = pause_after(*answer, next);
    if (attempt == kAttemptsMax || pause >= deadline.remaining()) {
      return Error(ErrorCode::environment_unavailable,
          fmt::format("{} at {} is throttled or overloaded (status {}, after {})", service.endpoint.peer, service.url,
              answer->status, plural(static_cast<std::uint64_t>(attempt), "attempt")))
          .detail("limit", "requests")
          .hint(fmt::format("try again in {} s", std::max<long long>(1, pause.count() / 1000)));
    }
    const auto paused = docker::wait_for(-1, 0, deadline.sooner(Deadline::after(pause)), cancel);
    if (cancel.cancelled()) return about(service, paused.error());
  }
}

}  // namespace guard::acads

// Coroutines on the proxy's one thread: serve() goes from the first byte to the last, watch() sees to the time. Whoever
// finds a reason to end calls refuse(), which wakes the others; end() tells the client, if that is still possible.
//
// g++ 12 loses `this` in a coroutine that awaits in the condition of an if or a while and has no variable in its
// outermost block: each that does so has one.
#include "egress/connection.h"

#include <fmt/format.h>
#include <linux/sockios.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/ioctl.h>
#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <boost/asio/as_tuple.hpp>
#include <boost/asio/buffer.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/experimental/awaitable_operators.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/asio/write.hpp>
#include <cerrno>

#include "common/text/text.h"
#include "egress/address_class.h"
#include "egress/client_hello.h"
#include "egress/http_answer.h"

namespace guard {
namespace {

namespace asio = boost::asio;
using asio::experimental::awaitable_operators::operator&&;  // NOLINT(misc-unused-using-decls): below
using asio::experimental::awaitable_operators::operator||;  // NOLINT(misc-unused-using-decls)
using boost::system::error_code;
using enum EgressReason;

constexpr auto kAwait = asio::as_tuple(asio::use_awaitable);
constexpr std::size_t kPiece = 64ul * 1024;
constexpr std::size_t kFirstPiece = 4ul * 1024;
constexpr std::size_t kAnswerPiece = 32ul * 1024;
constexpr std::size_t kHostShownMax = 255;
constexpr std::size_t kTextMax = 1024;
constexpr std::uint16_t kHttpPort = 80;
constexpr std::uint16_t kTlsPort = 443;
// What a refused client still sends is read for so long, or it would not come to see the answer.
constexpr milliseconds kLingerMax{1'000};
constexpr milliseconds kLookSpan{20};  // whether the last bytes have arrived
constexpr milliseconds kSlack{1'000};
constexpr milliseconds kRenewPause{10'000};  // after it failed
constexpr int kInterimMax = 8;               // heads of 1xx before an answer
constexpr milliseconds kRenewMax{30'000};    // a program that makes keys may ask a service for one
constexpr char kTlsHandshake = 22;
constexpr std::string_view kTlsAlert("\x15\x03\x03\x00\x02\x02\x31", 7);  // fatal, access_denied

SocksReply socks_reply_of(EgressReason reason, SocksReply refused) noexcept {
  switch (reason) {
    case not_resolved: return SocksReply::host_unreachable;
    case not_connected: return SocksReply::refused;
    case upstream_failed: return SocksReply::failed;
    case bad_request:
    case unsupported: return refused;
    case request_time:
    case connection_time: return SocksReply::expired;
    default: return SocksReply::not_allowed;
  }
}

// What is added to a point in time must not leave its range.
milliseconds at_most_a_year(milliseconds span) { return std::min<milliseconds>(span, std::chrono::hours(24 * 365)); }

std::string of_limit(EgressReason reason, const EgressLimits& limits) {
  const auto seconds = [](milliseconds span) { return fmt::format("{} s", static_cast<double>(span.count()) / 1000); };
  constexpr std::string_view kRaise = "; a limit of [network]";
  switch (reason) {
    case connection_time:
      return fmt::format("the connection is older than {}{}", seconds(limits.connection_time), kRaise);
    case idle_time: return fmt::format("nothing has moved for {}{}", seconds(limits.idle_time), kRaise);
    case request_time:
      return fmt::format("no whole request has come within {}{}", seconds(limits.request_time), kRaise);
    case bytes_up: return fmt::format("more than {} bytes would be sent{}", limits.bytes_up, kRaise);
    case bytes_down: return fmt::format("more than {} bytes would be received{}", limits.bytes_down, kRaise);
    default: return "the time is over";
  }
}

}  // namespace

unsigned http_status_of(EgressReason reason) noexcept {
  switch (reason) {
    case bad_request:
    case no_request: return 400;
    case request_time: return 408;
    case connections_at_once:
    case connections_in_all:
    case connections_per_second: return 429;
    case not_resolved:
    case not_connected:
    case upstream_failed:
    case bad_certificate:
    case no_credential:
    case not_maskable:
    case broken: return 502;
    case connection_time:
    case idle_time: return 504;
    default: return 403;
  }
}

void EgressShared::hide_keys() {
  std::vector<std::string> all;
  for (const EgressCredential& one : policy.credentials) {
    for (const auto& key : one.keys) all.insert(all.end(), key->forms.begin(), key->forms.end());
  }
  hidden = HiddenValues(std::move(all));
}

EgressConnection::EgressConnection(EgressShared& shared, Socket client)
    : shared_(shared),
      client_(std::move(client)),
      server_(shared.context),
      alarm_(shared.context),
      end_by_(began_ + at_most_a_year(shared.policy.limits.connection_time)) {
  decision_.began = std::chrono::system_clock::now();
  act_within(shared.policy.limits.request_time, request_time);
}

EgressConnection::Task<void> EgressConnection::run() { co_await (serve_and_end() && watch()); }

EgressConnection::Task<void> EgressConnection::serve_and_end() {
  co_await serve();
  co_await end();
  over_ = true;
  alarm_.cancel();
}

void EgressConnection::abandon(EgressReason reason) {
  tell_ = Tell::nothing;
  if (!ending_ && !over_) refuse(reason, {});
  ending_ = true;
  drop_connections();
}

void EgressConnection::leave() {
  pollfd client{client_.native_handle(), POLLRDHUP, 0};
  leaving_ = tunnels_ && !ending_ && !refused_ && ::poll(&client, 1, 0) > 0;
  if (!leaving_) return abandon(proxy_ended);
  client_gone_ = true;
  end_soon(proxy_ended);
}

// Nobody is left who would read an answer, but what the client has sent is still due.
void EgressConnection::last_bytes_only() {
  if (!std::exchange(client_gone_, true)) end_soon(broken);
}

void EgressConnection::end_soon(EgressReason reason) {
  end_by_ = std::min(end_by_, SteadyClock::now() + kLingerMax);
  at_the_end_ = reason;
  alarm_.cancel();
}

// Whether the server's machine has all that the client has sent.
bool EgressConnection::is_delivered() {
  int unsent = 0;
  return sent_all_ && (::ioctl(server_.native_handle(), SIOCOUTQ, &unsent) != 0 || unsent == 0);
}

void EgressConnection::judge_again() {
  if (!decision_.allowed || ending_ || refused_) return;  // judged by the rules of then, or by those of now later
  const auto target = EgressTarget::parse(fmt::format("{}:{}", decision_.host, decision_.port));
  const auto address = IpAddress::parse(decision_.address);
  const bool may_stay = target && shared_.policy.rules.judge(*target) == EgressAnswer::allowed &&
      (shared_.upstream || (address && may_dial(*address, target->port)));
  if (!may_stay) abandon(rules_changed);
}

// ---- what ends it ----------------------------------------------------------------------------------------

void EgressConnection::drop_connections() {
  error_code ignored;
  client_.close(ignored);
  server_.close(ignored);
}

// The first reason counts.
bool EgressConnection::refuse(EgressReason reason, std::string text) {
  if (refused_) return false;
  refused_ = true;
  if (reason <= not_maskable) decision_.allowed = false;
  decision_.reason = reason;
  decision_.text = cut_text(text, kTextMax, "...");
  error_code ignored;
  client_.cancel(ignored);
  server_.close(ignored);
  return false;
}

EgressConnection::Task<void> EgressConnection::end() {
  ending_ = true;
  act_by_ = end_by_ = SteadyClock::now() + kLingerMax;
  alarm_.cancel();
  error_code ignored;
  server_.close(ignored);
  std::string words;
  if (refused_ && tell_ == Tell::http) words = http_answer(http_status_of(decision_.reason), decision_.text);
  if (refused_ && tell_ == Tell::socks) words = socks_reply(socks_reply_of(decision_.reason, socks_fault_));
  if (refused_ && tell_ == Tell::tls) words = kTlsAlert;
  if (!words.empty()) co_await write(Way::down, words);
  // Without its close_notify the client knows that the rest is missing.
  if (!refused_ || !words.empty()) co_await end_sending(Way::down);
  client_.shutdown(Socket::shutdown_send, ignored);
  std::string unread(kFirstPiece, '\0');
  while (client_.is_open()) {
    const auto [failure, size] = co_await client_.async_read_some(asio::buffer(unread), kAwait);
    if (failure) break;
  }
  drop_connections();
  decision_.elapsed = std::chrono::duration_cast<milliseconds>(SteadyClock::now() - began_);
}

void EgressConnection::act_within(milliseconds span, EgressReason late) {
  act_by_ = SteadyClock::now() + at_most_a_year(span);
  late_ = late;
  if (act_by_ < alarm_.expiry()) alarm_.cancel();  // else watch() sees it when it wakes
}

void EgressConnection::moved() { act_within(shared_.policy.limits.idle_time, idle_time); }

EgressConnection::Task<void> EgressConnection::watch() {
  while (!over_) {
    Time wake = std::min(act_by_, end_by_);
    if (client_gone_ && !ending_) wake = std::min(wake, SteadyClock::now() + kLookSpan);
    alarm_.expires_at(wake);
    co_await alarm_.async_wait(kAwait);
    const Time now = SteadyClock::now();
    error_code ignored;
    if (client_gone_ && !ending_ && is_delivered()) server_.cancel(ignored);
    if (over_ || now < std::min(act_by_, end_by_)) continue;
    if (ending_) {
      drop_connections();
      co_return;
    }
    const EgressReason reason = now >= end_by_ ? at_the_end_ : late_;
    refuse(reason, of_limit(reason, shared_.policy.limits));
    act_by_ = end_by_ = now + shared_.options.lookup_time + kSlack;  // a lookup can't be called back
    ending_ = true;
  }
}

// ---- bytes -----------------------------------------------------------------------------------------------

EgressConnection::Task<std::pair<error_code, std::size_t>> EgressConnection::read_some(
    Way way, asio::mutable_buffer into) {
  TlsLayer* const tls = (way == Way::up ? client_tls_ : server_tls_).get();
  if (tls != nullptr) co_return co_await tls->read_some(into);
  const auto [failure, size] = co_await (way == Way::up ? client_ : server_).async_read_some(into, kAwait);
  co_return std::pair(failure, size);
}

EgressConnection::Task<error_code> EgressConnection::write(Way way, std::string_view bytes) {
  TlsLayer* const tls = (way == Way::up ? server_tls_ : client_tls_).get();
  if (tls != nullptr) co_return co_await tls->write(bytes);
  const auto [failure, size] =
      co_await asio::async_write(way == Way::up ? server_ : client_, asio::buffer(bytes), kAwait);
  co_return failure;
}

EgressConnection::Task<void> EgressConnection::end_sending(Way way) {
  TlsLayer* const tls = (way == Way::up ? server_tls_ : client_tls_).get();
  if (tls != nullptr) co_await tls->end_sending();
}

EgressConnection::Task<bool> EgressConnection::fill(std::size_t until) {
  do {
    const bool more = co_await fill();
    if (!more) co_return false;
  } while (from_client_.size() < until);
  co_return true;
}

EgressConnection::Task<bool> EgressConnection::fill() {
  if (refused_) co_return false;
  const std::size_t before = from_client_.size();
  from_client_.resize(before + kFirstPiece);
  const auto [failure, size] = co_await read_some(Way::up, asio::buffer(from_client_.data() + before, kFirstPiece));
  from_client_.resize(before + size);
  if (failure && !refused_ && !answered_) {
    tell_ = failure == asio::error::eof ? tell_ : Tell::nothing;
    refuse(decision_.host.empty() ? no_request : broken, "the client has closed before it had asked");
  }
  co_return !failure && !refused_;
}

EgressConnection::Task<bool> EgressConnection::fill_from_server(std::size_t at_most) {
  const std::size_t before = from_server_.size();
  from_server_.resize(before + at_most);
  const auto [failure, size] = co_await read_some(Way::down, asio::buffer(from_server_.data() + before, at_most));
  from_server_.resize(before + size);
  co_return !failure && !refused_;
}

EgressConnection::Task<bool> EgressConnection::tell_client(std::string bytes) {
  if (refused_) co_return false;
  const error_code failure = co_await write(Way::down, bytes);
  if (failure) refuse(broken, {});
  co_return !refused_;
}

// Counts and writes. False also where only the other side doesn't take any more.
EgressConnection::Task<bool> EgressConnection::pass(Way way, std::string_view bytes) {
  if (refused_) co_return false;
  if (bytes.empty()) co_return true;
  const bool up = way == Way::up;
  std::uint64_t& passed = up ? shared_.bytes_up : shared_.bytes_down;
  const std::uint64_t limit = up ? shared_.policy.limits.bytes_up : shared_.policy.limits.bytes_down;
  const EgressReason reason = up ? bytes_up : bytes_down;
  if (bytes.size() > limit - std::min(passed, limit)) co_return refuse(reason, of_limit(reason, shared_.policy.limits));
  passed += bytes.size();
  (up ? decision_.bytes_up : decision_.bytes_down) += bytes.size();
  if (!up) tell_ = Tell::nothing;
  moved();
  if (!up && client_gone_) co_return true;  // closing with something unread would reset what is on its way up
  const error_code failure = co_await write(way, bytes);
  moved();
  if (failure && !up && tunnels_ && !client_tls_) {
    last_bytes_only();
    co_return !refused_;
  }
  if (failure && (!up || client_gone_)) refuse(broken, {});  // a server that takes no more may still have an answer
  co_return !failure && !refused_;
}

EgressConnection::Task<void> EgressConnection::pump(Way way) {
  const bool up = way == Way::up;
  Socket& to = up ? server_ : client_;
  const std::string before = std::exchange(up ? from_client_ : from_server_, {});
  if (!co_await pass(way, before)) co_return;
  const std::unique_ptr<char[]> buffer(new char[kPiece]);
  while (!refused_) {
    const auto [failure, size] = co_await read_some(way, asio::buffer(buffer.get(), kPiece));
    if (up && failure && failure != asio::error::eof && tunnels_ && !client_tls_) last_bytes_only();
    if (failure == asio::error::eof || (up && client_gone_ && failure)) {
      error_code ignored;
      co_await end_sending(way);
      to.shutdown(Socket::shutdown_send, ignored);
      sent_all_ = sent_all_ || up;
      co_return;
    }
    if (failure) {
      // Once all is delivered watch() cancels what nobody would read.
      if (!leaving_ || failure != asio::error::operation_aborted) refuse(broken, {});
      co_return;
    }
    if (!co_await pass(way, {buffer.get(), size})) co_return;
  }
}

EgressConnection::Task<bool> EgressConnection::read_head(std::string& head) {
  std::size_t seen = 0;
  std::size_t end = 0;
  while ((end = http_head_end(from_client_, seen)) == std::string::npos && from_client_.size() <= kHttpHeadBytesMax) {
    seen = from_client_.size();
    if (!co_await fill()) co_return false;
  }
  if (end > kHttpHeadBytesMax) co_return refuse(bad_request, "the head of the request is over 64 KiB");
  head = from_client_.substr(0, end);
  from_client_.erase(0, end);
  co_return true;
}

// ---- what is asked for -----------------------------------------------------------------------------------

void EgressConnection::note(const EgressTarget& target) {
  decision_.host = target.host.text();
  decision_.port = target.port;
}

EgressConnection::Task<void> EgressConnection::serve() {
  const bool begun = co_await fill();
  if (!begun) co_return;
  if (from_client_.front() == kSocksVersion) {
    co_await serve_socks();
  } else {
    co_await serve_http();
  }
  if (!refused_) decision_.reason = done;
}

EgressConnection::Task<void> EgressConnection::serve_socks() {
  decision_.way = EgressWay::socks;
  SocksGreeting greeting;
  while ((greeting = read_socks_greeting(from_client_)).size == 0) {
    if (!co_await fill()) co_return;
  }
  from_client_.erase(0, greeting.size);
  if (!co_await tell_client(socks_method_reply(greeting.acceptable))) co_return;
  if (!greeting.acceptable) {
    refuse(unsupported, "of SOCKS5 there is no authentication");
    co_return;
  }
  tell_ = Tell::socks;
  SocksRequest request;
  while ((request = read_socks_request(from_client_)).size == 0) {
    if (!co_await fill()) co_return;
  }
  from_client_.erase(0, request.size);
  if (request.fault != SocksReply::succeeded) {
    decision_.host = cut_text(request.asked_host, kHostShownMax, {});
    decision_.port = request.asked_port;
    socks_fault_ = request.fault;
    refuse(request.fault == SocksReply::failed ? bad_request : unsupported, request.fault_text);
    co_return;
  }
  const EgressTarget target = request.target;
  if (!co_await reach(target)) co_return;
  tunnels_ = true;
  if (!co_await tell_client(socks_reply(SocksReply::succeeded))) co_return;
  co_await tunnel(target);
}

EgressConnection::Task<void> EgressConnection::serve_http() {
  tell_ = Tell::http;
  decision_.way = EgressWay::http;
  std::string head;
  if (!co_await read_head(head)) co_return;
  auto request = HttpRequest::parse(head, HttpRequest::Form::proxy);
  if (!request) {
    refuse(bad_request, request.error().message());
    co_return;
  }
  const EgressTarget target = request->target();
  note(target);
  if (request->is_connect()) decision_.way = EgressWay::connect;
  if (!check_host(*request, target)) co_return;
  if (!request->is_connect() && target.port == kTlsPort) {
    refuse(not_tls, "to port 443 only TLS goes: ask by CONNECT, or for https://");
    co_return;
  }
  if (!request->is_connect() && has_credential(target)) {
    refuse(not_tls, fmt::format("a key goes to {}: only TLS does, by CONNECT", target.text()));
    co_return;
  }
  if (!co_await reach(target)) co_return;
  if (!request->is_connect()) {
    co_await forward(*std::move(request));
    co_return;
  }
  tunnels_ = true;
  if (!co_await tell_client("HTTP/1.1 200 Connection established\r\n\r\n")) co_return;
  co_await tunnel(target);
}

bool EgressConnection::check_host(const HttpRequest& request, const EgressTarget& target) {
  const EgressTarget& host = request.host_field();
  if (host.host == target.host && (host.port == target.port || request.is_connect())) return true;
  return refuse(host_differs, fmt::format("the Host field names {}, but {} was asked for", host.text(), target.text()));
}

// ---- the way to the server -------------------------------------------------------------------------------

EgressConnection::Task<bool> EgressConnection::reach(EgressTarget target) {
  note(target);
  const EgressAnswer answer = shared_.policy.rules.judge(target);
  if (answer == EgressAnswer::not_listed) {
    co_return refuse(not_listed,
        fmt::format("{} is not in [network] allow; add it there if the sandbox may reach it", target.text()));
  }
  if (answer == EgressAnswer::denied) co_return refuse(denied, fmt::format("{} is in [network] deny", target.text()));
  decision_.allowed = true;
  act_within(shared_.options.lookup_time + shared_.options.dial_time + kSlack, not_connected);
  bool reached = false;
  if (shared_.upstream) {
    reached = co_await reach_by_upstream(target);
  } else {
    std::vector<IpAddress> addresses;
    if (!co_await find(target.host, target.port, addresses)) co_return false;
    reached = co_await dial(addresses, target.port);
    if (!reached) refuse(not_connected, fmt::format("no address of {} takes the connection", target.text()));
  }
  if (reached) act_within(shared_.policy.limits.request_time, request_time);
  co_return reached && !refused_;
}

// Its addresses that may be dialled.
EgressConnection::Task<bool> EgressConnection::find(
    EgressHost host, std::uint16_t port, std::vector<IpAddress>& addresses) {
  auto found = co_await look_up(host);
  if (!found) co_return refuse(not_resolved, found.error().message());
  addresses = *std::move(found);
  const IpAddress first = addresses.front();
  const auto may_translate = [this, &host](const IpAddress& one) {
    return !shared_.nat64 && !host.address && one.family == IpAddress::Family::v6 && fault_of(one).empty();
  };
  if (std::any_of(addresses.begin(), addresses.end(), may_translate)) co_await learn_nat64();
  std::erase_if(addresses, may_translate);
  if (addresses.empty()) {
    co_return refuse(not_resolved,
        fmt::format("{} has IPv6 addresses only, and no DNS server tells by {} whether a router translates them",
            host.text(), kIpv4OnlyName));
  }
  std::erase_if(addresses, [&](const IpAddress& one) { return !may_dial(one, port); });
  if (!addresses.empty()) co_return !refused_;
  const EgressTarget listed{{.name = {}, .address = first}, port};
  co_return refuse(address_refused,
      fmt::format(
          "{} has the address {} ({}), which may not be dialled; if it is meant, list {} itself in [network] allow",
          host.text(), first.text(), fault_of(first).empty() ? "denied" : fault_of(first), listed.text()));
}

std::vector<IpAddress> EgressConnection::inner_addresses(const IpAddress& address) const {
  std::vector<IpAddress> inner;
  if (const auto known = translated_by_nat64(address)) inner.push_back(*known);
  if (!shared_.nat64) return inner;
  for (const Nat64Prefix& prefix : *shared_.nat64) {
    if (const auto learned = translated_by(prefix, address)) inner.push_back(*learned);
  }
  return inner;
}

std::string_view EgressConnection::fault_of(const IpAddress& address) const {
  if (const AddressClass kind = address_class(address); kind != AddressClass::global) return to_string(kind);
  if (shared_.options.is_own(address)) return "this machine's own, as its routes have it";  // or a blackhole
  for (const IpAddress& inner : inner_addresses(address)) {
    if (const std::string_view fault = fault_of(inner); !fault.empty()) return fault;
  }
  return {};
}

bool EgressConnection::may_dial(const IpAddress& address, std::uint16_t port) const {
  const auto inner = inner_addresses(address);
  const bool is_denied = std::any_of(inner.begin(), inner.end(), [&](const IpAddress& one) {
    return shared_.policy.rules.judge({{.name = {}, .address = one}, port}) == EgressAnswer::denied;
  });
  return !is_denied && shared_.policy.rules.may_dial(address, port, !fault_of(address).empty());
}

// Asked with the first address that this may be about, and again until a server has told.
EgressConnection::Task<void> EgressConnection::learn_nat64() {
  EgressHost host;  // as a temporary, g++ 12 frees it twice
  host.name = kIpv4OnlyName;
  bool known = false;
  const auto found = co_await look_up(host, &known);
  if (known) shared_.nat64 = found ? nat64_prefixes(*found) : std::vector<Nat64Prefix>();
  act_within(shared_.options.lookup_time + shared_.options.dial_time + kSlack, not_connected);
}

EgressConnection::Task<Result<std::vector<IpAddress>>> EgressConnection::look_up(EgressHost host, bool* ipv6_known) {
  if (host.address) co_return std::vector{*host.address};
  EgressShared& shared = shared_;
  // Its time begins when a thread is free. Nobody waits for longer than `wanted`: see reach().
  const Deadline wanted = Deadline::after(shared.options.lookup_time + shared.options.dial_time);
  const auto ask = [&shared, &host, wanted, ipv6_known]() -> Task<Result<std::vector<IpAddress>>> {
    const Deadline deadline = Deadline::after(shared.options.lookup_time).sooner(wanted);
    co_return resolve_name(host.name, shared.options.names, deadline, shared.stop, ipv6_known);
  };
  co_return co_await asio::co_spawn(shared_.lookups.get_executor(), ask, asio::use_awaitable);
}

// Each address gets its share of the time that is left.
EgressConnection::Task<bool> EgressConnection::dial(const std::vector<IpAddress>& addresses, std::uint16_t port) {
  const Time end = SteadyClock::now() + at_most_a_year(shared_.options.dial_time);
  for (std::size_t i = 0; i < addresses.size() && !refused_; ++i) {
    const Time now = SteadyClock::now();
    if (now >= end) break;
    const Time by = now + (end - now) / static_cast<int>(addresses.size() - i);
    if (!co_await connect_to(addresses[i].with_port(port), by)) continue;
    if (!shared_.upstream) decision_.address = addresses[i].text();
    co_return !refused_;
  }
  co_return false;
}

EgressConnection::Task<bool> EgressConnection::connect_to(SocketAddress address, Time by) {
  const int family = address.get()->sa_family;
  UniqueFd fd(::socket(family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  if (!fd) co_return false;
  const int on = 1;
  ::setsockopt(fd.get(), IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
  const asio::generic::stream_protocol protocol(family, IPPROTO_TCP);
  error_code failure;
  server_.close(failure);
  server_.assign(protocol, fd.get(), failure);
  if (failure) co_return false;
  static_cast<void>(fd.release());
  const Socket::endpoint_type endpoint(address.get(), address.size, IPPROTO_TCP);
  asio::steady_timer timer(shared_.context, by);
  const auto ended = co_await (server_.async_connect(endpoint, kAwait) || timer.async_wait(kAwait));
  co_return ended.index() == 0 && !std::get<0>(std::get<0>(ended)) && !refused_;
}

EgressConnection::Task<bool> EgressConnection::reach_by_upstream(EgressTarget target) {
  const EgressTarget& upstream = *shared_.upstream;
  const auto addresses = co_await look_up(upstream.host);
  if (!addresses) co_return refuse(upstream_failed, fmt::format("the upstream proxy: {}", addresses.error().message()));
  if (!co_await dial(*addresses, upstream.port))
    co_return refuse(upstream_failed, fmt::format("the upstream proxy {} takes no connection", upstream.text()));
  act_within(shared_.options.dial_time, upstream_failed);
  const std::string asked = fmt::format("CONNECT {0} HTTP/1.1\r\nHost: {0}\r\n\r\n", target.text());
  const auto [failure, size] = co_await asio::async_write(server_, asio::buffer(asked), kAwait);
  std::size_t end = std::string::npos;
  while (!failure && (end = http_head_end(from_server_)) == std::string::npos) {
    if (from_server_.size() > kHttpHeadBytesMax || !co_await fill_from_server()) break;
  }
  if (end == std::string::npos)
    co_return refuse(upstream_failed, fmt::format("the upstream proxy {} does not answer", upstream.text()));
  const auto answer = parse_http_answer(std::string_view(from_server_).substr(0, end));
  from_server_.erase(0, end);
  if (!answer || answer->status / 100 != 2) {
    co_return refuse(
        upstream_failed, fmt::format("the upstream proxy {} answers {}", upstream.text(), answer ? answer->status : 0));
  }
  co_return true;
}

// ---- what goes through -----------------------------------------------------------------------------------

EgressConnection::Task<void> EgressConnection::tunnel(EgressTarget target) {
  if (has_credential(target)) {
    co_await serve_within_tls(target);
    co_return;
  }
  const bool is_http = target.port == kHttpPort;
  tell_ = is_http ? Tell::http : target.port == kTlsPort ? Tell::tls : Tell::nothing;
  if (is_http) {
    if (from_client_.empty() && !co_await fill()) co_return;
    if (from_client_.front() != kTlsHandshake) {
      std::string head;
      if (!co_await read_head(head)) co_return;
      auto request = HttpRequest::parse(head, HttpRequest::Form::origin);
      if (!request) {
        refuse(bad_request, request.error().message());
        co_return;
      }
      if (!check_host(*request, target)) co_return;
      tunnels_ = false;
      co_await forward(*std::move(request));
      co_return;
    }
    tell_ = Tell::tls;
  }
  co_await (send_up(target) && pump(Way::down));
}

EgressConnection::Task<void> EgressConnection::send_up(EgressTarget target) {
  const bool waits = target.port != kTlsPort && from_client_.empty();
  if (waits) moved();  // the server may speak first, or both be silent
  ClientHello hello;
  while ((hello = read_client_hello(from_client_)).state == ClientHello::State::need_more) {
    const bool first = from_client_.empty();
    if (first) {
      // A client that ends without a word has a right to.
      const auto [failure] = co_await client_.async_wait(Socket::wait_read, kAwait);
      char byte = 0;
      if (!failure && !refused_ && ::recv(client_.native_handle(), &byte, 1, MSG_PEEK | MSG_DONTWAIT) == 0) break;
    }
    if (!co_await fill(hello.need)) co_return;
    if (first && target.port != kTlsPort) act_within(shared_.policy.limits.request_time, request_time);
  }
  if (from_client_.empty() || check_client_hello(target)) co_await pump(Way::up);
}

bool EgressConnection::check_client_hello(const EgressTarget& target) {
  const ClientHello hello = read_client_hello(from_client_);
  const bool only_tls = target.port == kTlsPort || has_credential(target);
  if (hello.state == ClientHello::State::not_tls && !only_tls && target.port != kHttpPort) return true;
  if (tell_ != Tell::nothing || hello.state != ClientHello::State::not_tls) tell_ = Tell::tls;
  if (hello.state == ClientHello::State::not_tls)
    return refuse(not_tls, fmt::format("to {} only TLS goes", target.text()));
  if (hello.state != ClientHello::State::complete)
    return refuse(bad_tls, fmt::format("the ClientHello can't be read: {}", hello.fault));
  if (hello.encrypted)
    return refuse(encrypted_hello, "the ClientHello is encrypted, or looks so: switch ECH off in the client");
  if (hello.has_server_name) {
    const auto named = EgressHost::parse(hello.server_name);
    if (!named || *named != target.host) {
      return refuse(server_name_differs,
          fmt::format("TLS names {}, but {} was asked for", printable(hello.server_name), target.host.text()));
    }
  } else if (!target.host.address) {
    return refuse(server_name_differs, fmt::format("TLS names no server, but {} was asked for", target.host.text()));
  }
  tell_ = Tell::nothing;
  return true;
}

EgressConnection::Task<void> EgressConnection::forward(HttpRequest request) {
  const std::string head = request.head_for_server();
  if (!co_await pass(Way::up, head) && refused_) co_return;
  if (!request.is_websocket()) {
    co_await (send_body(request) && send_answer() && wait_for_hangup());
    co_return;
  }
  std::size_t end = std::string::npos;
  while ((end = http_head_end(from_server_)) == std::string::npos) {
    if (from_server_.size() > kHttpHeadBytesMax || !co_await fill_from_server()) {
      refuse(broken, "the server doesn't answer");
      co_return;
    }
  }
  const auto answer = parse_http_answer(std::string_view(from_server_).substr(0, end));
  if (answer && answer->to_websocket) {
    tunnels_ = true;
    co_await (pump(Way::up) && pump(Way::down));
  } else {
    co_await send_answer();
  }
}

EgressConnection::Task<void> EgressConnection::send_body(HttpRequest& request) {
  std::string out;
  while (!answered_ && !request.body_done()) {
    if (from_client_.empty() && !co_await fill()) co_return;
    const auto taken = request.take_body(from_client_, out);
    if (!taken) {
      refuse(bad_request, taken.error().message());
      co_return;
    }
    if (*taken == 0 && !co_await fill()) co_return;
    from_client_.erase(0, *taken);
    if (from_client_.size() > kPiece) {
      refuse(bad_request, "a chunk of the body has a head over 64 KiB");
      co_return;
    }
    if (!co_await pass(Way::up, out)) co_return;
    out.clear();
  }
}

EgressConnection::Task<void> EgressConnection::send_answer() {
  co_await pump(Way::down);
  leave_the_rest();
}

void EgressConnection::leave_the_rest() {
  answered_ = true;
  error_code ignored;
  client_.cancel(ignored);
  server_.cancel(ignored);
}

// A client that has closed both ways would hold its place until the server speaks. A half-close is none.
EgressConnection::Task<void> EgressConnection::wait_for_hangup() {
  const bool over = refused_ || answered_;  // before this began: nobody would end the wait
  if (over) co_return;
  const auto [failure] = co_await client_.async_wait(Socket::wait_error, kAwait);
  if (failure || answered_) co_return;
  if (decision_.bytes_down == 0) {
    refuse(broken, {});
  } else {
    end_soon(broken);  // it may have all of the answer, if the server's end is next
  }
}

// ---- with a credential -----------------------------------------------------------------------------------

bool EgressConnection::has_credential(const EgressTarget& target) const {
  return std::ranges::any_of(shared_.policy.credentials, [&](const auto& one) { return one.target == target; });
}

EgressConnection::Task<void> EgressConnection::serve_within_tls(EgressTarget target) {
  const bool begun = co_await take_client_tls(target);
  if (!begun) co_return;
  tell_ = Tell::http;
  std::string head;
  if (!co_await read_head(head)) co_return;
  auto request = HttpRequest::parse(head, HttpRequest::Form::secure_origin);
  if (!request) {
    refuse(bad_request, request.error().message());
    co_return;
  }
  if (!check_host(*request, target)) co_return;
  if (request->is_websocket()) {
    refuse(unsupported, fmt::format("a key goes to {}: guard can't mask it in a WebSocket", target.text()));
    co_return;
  }
  if (!co_await renew_credentials(target)) co_return;
  if (!co_await begin_server_tls(target)) co_return;
  co_await forward_with_credentials(*std::move(request));
}

EgressConnection::Task<bool> EgressConnection::take_client_tls(EgressTarget target) {
  tell_ = Tell::tls;
  ClientHello hello;
  while ((hello = read_client_hello(from_client_)).state == ClientHello::State::need_more) {
    const bool more = co_await fill(hello.need);
    if (!more) co_return false;
  }
  if (!check_client_hello(target)) co_return false;
  tell_ = Tell::tls;
  const auto context = shared_.authority->context_for(target.host);
  if (!context) co_return refuse(broken, context.error().message());
  auto tls = TlsLayer::as_server(client_, *context);
  if (!tls) co_return refuse(broken, tls.error().message());
  tell_ = Tell::nothing;
  const bool agreed = co_await (*tls)->handshake(std::exchange(from_client_, {}));
  if (!agreed) {
    co_return refuse(bad_tls,
        fmt::format(
            "no TLS with the client ({}): does it trust the certificates that SSL_CERT_FILE names?", (*tls)->fault()));
  }
  client_tls_ = *std::move(tls);
  co_return !refused_;
}

EgressConnection::Task<bool> EgressConnection::begin_server_tls(EgressTarget target) {
  auto tls = TlsLayer::as_client(server_, shared_.to_servers, target.host);
  if (!tls) co_return refuse(broken, tls.error().message());
  act_within(shared_.options.dial_time, not_connected);
  const bool agreed = co_await (*tls)->handshake(std::exchange(from_server_, {}));
  if (!agreed && (*tls)->distrusts()) {
    co_return refuse(bad_certificate,
        fmt::format("the certificate of {} can't be trusted: {}; nothing was sent", target.text(), (*tls)->fault()));
  }
  if (!agreed) co_return refuse(not_connected, fmt::format("no TLS with {}: {}", target.text(), (*tls)->fault()));
  act_within(shared_.policy.limits.request_time, request_time);
  server_tls_ = *std::move(tls);
  co_return !refused_;
}

EgressConnection::Task<bool> EgressConnection::renew_credentials(EgressTarget target) {
  act_within(kRenewMax, no_credential);
  for (std::size_t i = 0; i < shared_.policy.credentials.size(); ++i) {
    EgressCredential& one = shared_.policy.credentials[i];
    CredentialRenewal& renewal = shared_.renewals[i];
    while (one.target == target && one.is_old() && !refused_) {
      if (renewal.running) {
        co_await renewal.ended.async_wait(kAwait);
      } else if (SteadyClock::now() < renewal.not_before) {
        co_return refuse(no_credential,
            fmt::format("the key for {} is too old, and guard can't read it again outside", target.text()));
      } else {
        co_await renew(one, renewal);
      }
    }
  }
  co_return !refused_;
}

EgressConnection::Task<void> EgressConnection::renew(EgressCredential& credential, CredentialRenewal& renewal) {
  renewal.running = true;
  EgressShared& shared = shared_;
  const auto ask = [&shared, &credential]() -> Task<Result<std::string>> {
    try {
      co_return credential.read_value(shared.stop);
    } catch (const std::exception& failure) {
      co_return Error(ErrorCode::io_error, failure.what());
    }
  };
  auto fresh = Result<std::string>(Error(ErrorCode::io_error, "not read"));
  {
    // Also where there is no memory for it: the others wait for this.
    const std::shared_ptr<void> over(nullptr, [&renewal](void*) {
      renewal.running = false;
      renewal.ended.cancel();
    });
    fresh = co_await asio::co_spawn(shared.lookups.get_executor(), ask, asio::use_awaitable);
  }
  if (!fresh) {
    renewal.not_before = SteadyClock::now() + kRenewPause;
    co_return;
  }
  credential.take(*std::move(fresh));
  shared.hide_keys();
}

EgressConnection::Task<void> EgressConnection::forward_with_credentials(HttpRequest request) {
  // In what is encoded or half of a whole a key isn't seen.
  std::vector<HttpField> own = {{"Accept-Encoding", "identity"}};
  for (const char* name : {"Accept-Charset", "Range", "If-Range", "Request-Range", "A-IM"}) own.push_back({name, {}});
  for (const EgressCredential& one : shared_.policy.credentials) {
    if (one.target != request.target()) continue;
    keys_.push_back(one.keys.back());
    own.push_back({one.header, one.header_value()});
  }
  const std::string head = request.head_for_server(own);
  const bool sent = co_await pass(Way::up, head);
  if (!sent && refused_) co_return;
  co_await (send_body(request) && send_masked_answer(request) && wait_for_hangup());
}

EgressConnection::Task<void> EgressConnection::send_masked_answer(const HttpRequest& request) {
  co_await pass_answer(request);
  leave_the_rest();
}

EgressConnection::Task<void> EgressConnection::pass_answer(const HttpRequest& request) {
  std::optional<HttpAnswer> answer;
  for (int heads = 0; !answer || answer->is_interim(); ++heads) {
    std::size_t end = std::string::npos;
    while ((end = http_head_end(from_server_)) == std::string::npos) {
      const bool more = from_server_.size() <= kHttpHeadBytesMax && co_await fill_from_server();
      if (more) continue;
      refuse(broken, "the server doesn't answer");
      co_return;
    }
    auto read = HttpAnswer::parse(std::string_view(from_server_).substr(0, end), request.is_head(), shared_.hidden);
    if (!read || heads > kInterimMax) {
      refuse(broken, read ? "the server has much to say before its answer" : read.error().message());
      co_return;
    }
    answer.emplace(*std::move(read));
    if (const auto why = answer->why_not_maskable(); !why.empty()) {
      refuse(not_maskable, fmt::format("guard can't mask the key in the answer: {}", why));
      co_return;
    }
    from_server_.erase(0, end);
    const bool passed = co_await pass(Way::down, answer->head_for_client());
    if (!passed) co_return;
  }
  while (!answer->body_done()) {
    std::string out;
    const auto taken = answer->take_body(from_server_, out);
    if (!taken || from_server_.size() - *taken > kPiece) {
      refuse(broken, taken ? "a chunk of the answer has a head over 64 KiB" : taken.error().message());
      co_return;
    }
    from_server_.erase(0, *taken);
    const bool passed = co_await pass(Way::down, out);
    if (!passed) co_return;
    if (answer->body_done() || co_await fill_from_server(kAnswerPiece)) continue;
    out.clear();
    const bool whole = server_tls_->ended() && answer->end(out);
    const bool all = co_await pass(Way::down, out);
    if (!all) co_return;
    if (!whole) refuse(broken, {});
    co_return;
  }
}

}  // namespace guard

#include "serve/http_server.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <boost/asio/buffer.hpp>
#include <boost/asio/error.hpp>
#include <boost/asio/write.hpp>
#include <boost/beast/core/flat_buffer.hpp>
#include <boost/beast/core/string.hpp>
#include <boost/beast/http.hpp>
#include <boost/system/system_error.hpp>
#include <cerrno>
#include <exception>
#include <list>
#include <memory>
#include <nlohmann/json.hpp>
#include <thread>

#include "common/text/text.h"
#include "common/threads.h"

namespace guard::serve {
namespace {

namespace http = boost::beast::http;
using boost::system::error_code;

// A client that sends nothing for so long is given up, one that reads nothing after a longer time: a person may have
// paused it. A request has its own time, too.
constexpr milliseconds kSilenceMax{60'000};
constexpr milliseconds kUnreadMax{600'000};
constexpr milliseconds kHeadMax{10'000};
constexpr milliseconds kRequestMax{300'000};
constexpr milliseconds kLook{1'000};
constexpr milliseconds kLookWhileStopping{20};
// What a refused client still sends is read for so long, or it would not come to see the answer.
constexpr milliseconds kLingerMax{1'000};
constexpr std::size_t kHeaderBytesMax = 64ul * 1024;
// With more connections than these an answer ends its own, and nobody has to be cut for others.
constexpr std::size_t kKeptMax = kConnectionsMax * 3 / 4;
constexpr std::uint64_t kBodyStep = 1u << 20;

Error failed(std::string_view doing) { return Error::from_errno(ErrorCode::io_error, doing, errno); }

// What Beast reads from and writes to: one descriptor and nothing beside it. Asio's own takes four more, and waits for
// ever.
class Socket {
 public:
  explicit Socket(int fd) : fd_(fd) {}

  int native_handle() const noexcept { return fd_; }

  template <typename Buffers>
  std::size_t read_some(const Buffers& buffers, error_code& failure) {
    const boost::asio::mutable_buffer into = first_of<boost::asio::mutable_buffer>(buffers);
    if (into.size() == 0 || !ready(POLLIN, std::min(kSilenceMax, read_by_.remaining()), failure)) return 0;
    const ssize_t size = ::recv(fd_, into.data(), into.size(), 0);
    if (size == 0) failure = boost::asio::error::eof;
    return done(size, failure);
  }

  template <typename Buffers>
  std::size_t write_some(const Buffers& buffers, error_code& failure) {
    const boost::asio::const_buffer from = first_of<boost::asio::const_buffer>(buffers);
    if (from.size() == 0 || !ready(POLLOUT, kUnreadMax, failure)) return 0;
    return done(::send(fd_, from.data(), from.size(), MSG_NOSIGNAL | MSG_DONTWAIT), failure);
  }

  // Beast asks for these, too.
  template <typename Buffers>
  std::size_t read_some(const Buffers& buffers) {
    return or_throw([&](error_code& failure) { return read_some(buffers, failure); });
  }
  template <typename Buffers>
  std::size_t write_some(const Buffers& buffers) {
    return or_throw([&](error_code& failure) { return write_some(buffers, failure); });
  }

 private:
  template <typename Buffer, typename Buffers>
  static Buffer first_of(const Buffers& buffers) {
    const auto end = boost::asio::buffer_sequence_end(buffers);
    for (auto at = boost::asio::buffer_sequence_begin(buffers); at != end; ++at) {
      if (const Buffer buffer(*at); buffer.size() > 0) return buffer;
    }
    return {};
  }

  template <typename Call>
  static std::size_t or_throw(const Call& call) {
    error_code failure;
    const std::size_t size = call(failure);
    if (failure) throw boost::system::system_error(failure);
    return size;
  }

  bool ready(short what, milliseconds span, error_code& failure) const {
    pollfd wanted{fd_, what, 0};
    const Deadline deadline = Deadline::after(span);
    int found = 0;
    do found = ::poll(&wanted, 1, deadline.poll_timeout());
    while (found < 0 && errno == EINTR);
    failure = found > 0 ? error_code()
        : found == 0    ? error_code(boost::asio::error::timed_out)
                        : error_code(errno, boost::system::system_category());
    return found > 0;
  }

  // Nothing done without a failure: it is tried again.
  static std::size_t done(ssize_t size, error_code& failure) {
    if (size >= 0) return static_cast<std::size_t>(size);
    if (errno != EAGAIN && errno != EINTR) failure = error_code(errno, boost::system::system_category());
    return 0;
  }

  const int fd_;
  const Deadline read_by_ = Deadline::after(kRequestMax);
};

// Who is at the other end. What is not known to be a client may be dropped for others (Connections::make_room()); what
// has become a stream has limits of its own, and takes nobody's place.
enum class Peer : std::uint8_t { unknown, client, stream, dropped };

struct Connection {
  UniqueFd socket;
  const Listener* listener = nullptr;
  std::atomic<SteadyClock::time_point> known_by = SteadyClock::now() + kHeadMax;
  std::atomic<Peer> peer = Peer::unknown;
  std::atomic<bool> rested = false;  // a client's, between two requests
  std::atomic<bool> done = false;
  std::thread thread;

  bool become(Peer next) {
    Peer before = Peer::unknown;
    return peer.compare_exchange_strong(before, next);
  }
  // It was answered, and may ask again. False: it has become a stream.
  bool rest() {
    known_by = SteadyClock::now() + kHeadMax;
    rested = true;
    Peer before = Peer::client;
    return peer.compare_exchange_strong(before, Peer::unknown);
  }
  // False: somebody is being answered there.
  bool drop() {
    if (!become(Peer::dropped)) return false;
    ::shutdown(socket.get(), SHUT_RDWR);
    return true;
  }
};

class HttpAnswer final : public Answer {
 public:
  HttpAnswer(Socket& socket, Connection& connection) : socket_(socket), connection_(connection) {}

  void may_upgrade_to(std::string_view protocol) { upgrade_ = protocol; }
  // Another request may follow. To Node's fetch the end of any other connection is the end of the answer, broken off or
  // not.
  void stay() { stays_ = true; }

  Result<void> begin(unsigned status, std::string_view content_type) override {
    http::response<http::empty_body> head{static_cast<http::status>(status), 11};
    head.set(http::field::content_type, {content_type.data(), content_type.size()});
    if (status == 429 || status == 503) head.set(http::field::retry_after, "1");
    for (const auto& [name, value] : fields_) head.set(name, value);
    head.keep_alive(stays_);
    if (stays_) head.set(http::field::keep_alive, fmt::format("timeout={}", kHeadMax / std::chrono::seconds(1)));
    has_body_ = status != 204;
    if (has_body_) head.chunked(true);
    http::response_serializer<http::empty_body> serializer{head};
    error_code failure;
    http::write_header(socket_, serializer, failure);
    if (!failure) status_ = status;
    return said(failure);
  }

  Result<void> write(std::string_view bytes) override {
    if (bytes.empty() || !has_body_) return ok();
    error_code failure = failure_;
    if (failure) return said(failure);
    boost::asio::write(socket_, http::make_chunk(boost::asio::buffer(bytes.data(), bytes.size())), failure);
    return said(failure);
  }

  void field(std::string_view name, std::string_view value) override { fields_.emplace_back(name, value); }

  bool listening() override {
    pollfd end{socket_.native_handle(), POLLRDHUP, 0};
    return ::poll(&end, 1, 0) == 0;
  }

  void note(std::string_view outcome) override { outcome_ = outcome; }

  Result<int> upgrade(std::string_view protocol) override {
    if (upgrade_ != protocol) return Answer::upgrade(protocol);
    http::response<http::empty_body> head{http::status::switching_protocols, 11};
    head.set(http::field::connection, "Upgrade");
    head.set(http::field::upgrade, {protocol.data(), protocol.size()});
    error_code failure;
    http::write(socket_, head, failure);
    GUARD_TRY(said(failure));
    connection_.peer = Peer::stream;
    return socket_.native_handle();
  }

  // Whether another request may follow.
  bool finish() {
    error_code failure = failure_;
    if (status_ != 0 && has_body_ && !failure) boost::asio::write(socket_, http::make_chunk_last(), failure);
    return stays_ && status_ != 0 && !failure;
  }

  // 0: it was given none.
  unsigned status() const noexcept { return connection_.peer == Peer::stream ? 101 : status_; }
  const std::string& outcome() const noexcept { return outcome_; }

 private:
  Result<void> said(const error_code& failure) {
    if (!failure) return ok();
    failure_ = failure;
    return Error(ErrorCode::io_error, fmt::format("answering a client: {}", failure.message()));
  }

  Socket& socket_;
  Connection& connection_;
  unsigned status_ = 0;
  bool has_body_ = true;
  bool stays_ = false;
  error_code failure_;  // of a write: what comes after it would be read as something else
  std::string outcome_ = "ok";
  std::string upgrade_;
  std::vector<std::pair<std::string, std::string>> fields_;
};

struct Server {
  const ServeOptions& options;
  Api& api;
  std::atomic<std::size_t> at_work = 0;  // requests that are being answered
  std::atomic<std::size_t> connections = 0;
};

class AtWork {
 public:
  explicit AtWork(std::atomic<std::size_t>& count) : count_(count) { ++count_; }
  AtWork(const AtWork&) = delete;
  AtWork& operator=(const AtWork&) = delete;
  ~AtWork() { --count_; }

 private:
  std::atomic<std::size_t>& count_;
};

using Parser = http::request_parser<http::string_body>;

// What is checked of a request must be what is done: of a field that is there twice one part could read another than
// the next one, and of a body in another coding nobody knows where it ends.
bool is_clear(const Parser::value_type& head) {
  if (head.count(http::field::transfer_encoding) > 0 && !head.chunked()) return false;
  constexpr std::string_view kOnce[] = {
      "Host", "Origin", "Sec-Fetch-Site", "Authorization", "X-API-Key", "X-Access-Token", "E2b-Sandbox-Id"};
  return std::none_of(std::begin(kOnce), std::end(kOnce), [&head](std::string_view name) {
    return head.count({name.data(), name.size()}) > 1;
  });
}

Result<std::string> client_of(const Connection& connection, const ServeOptions& options, const Parser::value_type& head,
    const std::string& path) {
  if (!is_clear(head))
    return Error(ErrorCode::input_invalid, "a field that says who asks, of what, or how, is there twice or unclear");
  if (connection.listener->token == nullptr) return client_at(connection.socket.get());
  const auto field = [&head](std::string_view name) {
    const auto found = head[{name.data(), name.size()}];
    return std::string_view(found.data(), found.size());
  };
  const Origin said = {
      field("Host"), field("Origin"), field("Sec-Fetch-Site"), field("Authorization"), field("X-API-Key")};
  const std::string_view sandbox = field("E2b-Sandbox-Id");
  if (sandbox.empty() || !options.sandbox_client) return client_with(*connection.listener->token, said);
  GUARD_TRY(check_no_page(said));
  return options.sandbox_client(sandbox, field("X-Access-Token"), path);
}

// In lower case, without those that say who asks.
std::map<std::string, std::string> fields_of(const Parser::value_type& head) {
  std::map<std::string, std::string> fields;
  for (const auto& field : head) {
    std::string name(field.name_string());
    std::transform(name.begin(), name.end(), name.begin(), [](char c) { return c >= 'A' && c <= 'Z' ? c + 32 : c; });
    // "Basic" is no proof here: so the clients of E2B say which user of the sandbox they mean.
    const bool says_who = (name == "authorization" && !field.value().starts_with("Basic ")) || name == "cookie" ||
        name == "x-api-key" || name == "x-access-token";
    if (!says_who) fields[name] = std::string(field.value());
  }
  return fields;
}

// Null: it is the api's.
const Endpoint* endpoint_of(const ServeOptions& options, const Request& request) {
  const auto found = std::find_if(options.endpoints.begin(), options.endpoints.end(),
      [&request](const Endpoint& one) { return one.claims(request); });
  return found == options.endpoints.end() ? nullptr : &*found;
}

// A request as it comes in, and what it takes of guard serve while it is answered.
struct Incoming {
  Parser parser;
  // Of a body only what is in `parser` is paid for: lines between the pieces have to fit in here.
  boost::beast::flat_buffer buffer{2 * kHeaderBytesMax};
  error_code failure;  // of the head
  Request request;
  std::vector<std::shared_ptr<void>> held;
};

// What has no length is paid for as it comes.
Result<void> read_body(Socket& socket, Server& server, Incoming& in) {
  error_code failure = in.failure;
  const auto& head = in.parser.get();
  if (!failure && head.version() == 11 && boost::beast::iequals(head[http::field::expect], "100-continue") &&
      !in.parser.is_done()) {
    http::response<http::empty_body> go_on{http::status::continue_, 11};
    http::write(socket, go_on, failure);
  }
  std::size_t paid = in.parser.chunked() ? 0 : kBodyBytesMax;
  while (!failure && !in.parser.is_done()) {
    http::read_some(socket, in.buffer, in.parser, failure);
    for (; paid < in.parser.get().body().size(); paid += kBodyStep) {
      GUARD_TRY_ASSIGN(auto held, server.api.clients().hold(in.request.client, {.bytes = kBodyStep}));
      in.held.push_back(std::move(held));
    }
  }
  if (failure == http::error::body_limit)
    return Error(ErrorCode::file_too_large, fmt::format("the body is over {} bytes", kBodyBytesMax));
  if (failure) return Error(ErrorCode::input_invalid, fmt::format("half a request: {}", failure.message()));
  in.request.body = std::move(in.parser.get().body());
  return ok();
}

// The request, once its client may ask for it.
Result<void> read_request(Socket& socket, Connection& connection, Server& server, Incoming& in) {
  const auto& head = in.parser.get();
  in.request.client = "nobody";
  const bool is_http = !in.failure || in.failure == http::error::body_limit;
  const auto target = is_http ? read_target({head.target().data(), head.target().size()}, in.request)
                              : Result<void>(Error(ErrorCode::input_invalid,
                                    fmt::format("this is no request of HTTP/1.1: {}", in.failure.message())));
  auto client =
      target ? client_of(connection, server.options, head, in.request.path) : Result<std::string>(target.error());
  if (client) in.request.client = *client;
  // Those who may not speak share what one client may ask for.
  const std::uint64_t body = client && !in.failure ? in.parser.content_length().value_or(0) : 0;
  GUARD_TRY_ASSIGN(auto admitted,
      server.api.clients().admit(in.request.client, {.bytes = body, .connections = 1}, SteadyClock::now()));
  in.held.push_back(std::move(admitted));
  GUARD_TRY(std::move(client));
  if (!connection.become(Peer::client)) return Error(ErrorCode::cancelled, "dropped for others");
  in.request.method = std::string(head.method_string());
  if (endpoint_of(server.options, in.request) != nullptr) in.request.fields = fields_of(head);
  return read_body(socket, server, in);
}

void log_request(
    const ServeOptions& options, const Request& request, const HttpAnswer& answer, SteadyClock::time_point begun) {
  if (options.log == nullptr) return;
  const auto us = std::chrono::duration_cast<std::chrono::microseconds>(SteadyClock::now() - begun).count();
  const Purpose purpose = purpose_of(request);
  nlohmann::ordered_json line = {{"client", request.client}, {"verb", purpose.verb}};
  if (!purpose.session.empty()) line["session"] = purpose.session;
  line.update({{"status", answer.status()}, {"outcome", answer.outcome()}, {"ms", static_cast<double>(us) / 1e3}});
  options.log->write(line.dump());
}

void linger(Socket& socket) {
  const Deadline deadline = Deadline::after(kLingerMax);
  std::array<char, 64ul * 1024> rest;
  for (pollfd more{socket.native_handle(), POLLIN, 0}; ::poll(&more, 1, deadline.poll_timeout()) > 0;) {
    if (deadline.passed() || ::recv(more.fd, rest.data(), rest.size(), 0) <= 0) return;
  }
}

// An empty line before a request is none (RFC 9112, 2.2). False: nothing came.
bool skip_empty_lines(Socket& socket, boost::beast::flat_buffer& buffer) {
  constexpr std::size_t kPiece = 4096;
  for (;;) {
    const auto bytes = buffer.data();
    const std::string_view text(static_cast<const char*>(bytes.data()), bytes.size());
    buffer.consume(std::min(text.find_first_not_of("\r\n"), text.size()));
    if (buffer.size() > 0) return true;
    error_code failure;
    buffer.commit(socket.read_some(buffer.prepare(kPiece), failure));
    if (failure) return false;
  }
}

// Whether another request may follow.
bool serve_one(Connection& connection, Server& server) {
  Socket socket(connection.socket.get());
  HttpAnswer answer(socket, connection);
  Incoming in;
  in.parser.body_limit(kBodyBytesMax);
  in.parser.header_limit(kHeaderBytesMax);
  if (!skip_empty_lines(socket, in.buffer)) return false;
  http::read_header(socket, in.buffer, in.parser, in.failure);
  // Now: a body's trailer is put to the head.
  const std::string wanted(in.parser.get()[http::field::upgrade]);
  const auto verb = in.parser.get().method();
  const bool is_plain =
      verb == http::verb::get || verb == http::verb::post || verb == http::verb::put || verb == http::verb::delete_;
  const bool may_stay = is_plain && in.parser.get().version() == 11 && in.parser.keep_alive();
  const auto begun = SteadyClock::now();
  // Half a head, or none: there is nobody to speak to.
  const bool is_of_http = in.failure.category() == error_code(http::error::end_of_stream).category();
  if (in.failure &&
      (!is_of_http || in.failure == http::error::end_of_stream || in.failure == http::error::partial_message))
    return false;
  const auto read = read_request(socket, connection, server, in);
  // Whoever speaks on before the answer is there has not asked for another protocol.
  const bool is_alone = read && in.buffer.size() == 0;
  if (is_alone) answer.may_upgrade_to(wanted);
  if (is_alone && may_stay && server.connections < kKeptMax && !server.api.clients().stopping()) answer.stay();
  bool stays = false;
  if (read) {
    const AtWork work(server.at_work);
    const Endpoint* endpoint = endpoint_of(server.options, in.request);
    const auto done =
        endpoint != nullptr ? endpoint->answer(in.request, answer) : server.api.handle(in.request, answer);
    if (done) stays = answer.finish();
  } else {
    say_error(answer, read.error());
    answer.finish();
  }
  log_request(server.options, in.request, answer, begun);
  if (stays && connection.rest()) return true;
  ::shutdown(socket.native_handle(), SHUT_WR);
  if (!read) linger(socket);
  return false;
}

// One client's trouble (no memory for what it asks, above all) is not that of the others.
void serve_connection(Connection& connection, Server& server) try {
  // No answer waits for the client to acknowledge half of it; no matter at a Unix socket.
  const int on = 1;
  ::setsockopt(connection.socket.get(), IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
  while (serve_one(connection, server)) continue;
} catch (const std::exception& failure) {
  if (server.options.log != nullptr)
    server.options.log->write(nlohmann::ordered_json({{"outcome", failure.what()}}).dump());
}

class Connections {
 public:
  ~Connections() {
    for (Connection& connection : all_) {
      if (connection.thread.joinable()) connection.thread.join();
    }
  }

  // Clients take places for good, so others wait for them to be answered.
  bool is_full(const Listener& listener) const { return count(listener, Peer::client) >= kConnectionsMax; }

  // Whoever has not said who he is goes for others, the first one first; then a client that rests. False: there is
  // none.
  bool make_room(const Listener& listener) {
    if (count(listener, Peer::client) + count(listener, Peer::unknown) < kConnectionsMax) return true;
    const auto dropped = [&](bool rested) {
      return std::any_of(all_.begin(), all_.end(), [&](Connection& connection) {
        return connection.listener == &listener && connection.rested == rested && connection.drop();
      });
    };
    return dropped(false) || dropped(true);
  }

  void accept(const Listener& listener, Server& server) {
    UniqueFd accepted(::accept4(listener.socket, nullptr, nullptr, SOCK_CLOEXEC));
    // Without descriptors it stays in the queue; it is no use to ask at once again.
    if (!accepted) return std::this_thread::sleep_for(kLookWhileStopping);
    Connection& connection = all_.emplace_back();
    connection.socket = std::move(accepted);
    connection.listener = &listener;
    ++server.connections;
    auto thread = new_thread([&connection, &server] {
      serve_connection(connection, server);
      ::shutdown(connection.socket.get(), SHUT_RDWR);
      --server.connections;
      connection.done = true;
    });
    if (thread) {
      connection.thread = std::move(*thread);
    } else {
      --server.connections;
      all_.pop_back();
    }
  }

  void forget_ended() {
    all_.remove_if([](Connection& connection) {
      if (!connection.done && connection.known_by.load() < SteadyClock::now()) connection.drop();
      if (!connection.done) return false;
      connection.thread.join();
      return true;
    });
  }

  // Whoever is left is not heard any more.
  void end() {
    for (Connection& connection : all_) ::shutdown(connection.socket.get(), SHUT_RDWR);
  }

 private:
  std::size_t count(const Listener& listener, Peer peer) const {
    return static_cast<std::size_t>(std::count_if(all_.begin(), all_.end(),
        [&](const Connection& connection) { return connection.listener == &listener && connection.peer == peer; }));
  }

  std::list<Connection> all_;
};

// Lets what is at work come to its end, then ends it.
void drain(const Server& server, const std::function<void()>& stop) {
  const Deadline deadline = Deadline::after(server.options.drain_max);
  while (server.at_work > 0 && !deadline.passed()) std::this_thread::sleep_for(kLookWhileStopping);
  stop();
  const Deadline last_words = Deadline::after(kLingerMax);
  while (server.at_work > 0 && !last_words.passed()) std::this_thread::sleep_for(kLookWhileStopping);
}

}  // namespace

Result<void> serve_http(
    const ServeOptions& options, Api& api, const CancelToken& cancel, const std::function<void()>& stop) {
  Server server{options, api};
  Connections connections;
  std::atomic<bool> drained = false;
  std::thread drainer;
  const auto begin_drain = [&] {
    api.clients().stop();
    const auto work = [&] {
      drain(server, stop);
      drained = true;
    };
    if (auto thread = new_thread(work); thread) {
      drainer = std::move(*thread);
    } else {
      work();
    }
  };
  Result<void> served = ok();
  while (!drained) {
    const bool stopping = api.clients().stopping();
    if (cancel.cancelled() && !stopping) begin_drain();
    std::vector<pollfd> fds = {{stopping ? -1 : cancel.fd(), POLLIN, 0}};
    bool full = false;
    for (const Listener& listener : options.listeners) {
      full = full || connections.is_full(listener);
      fds.push_back({connections.is_full(listener) ? -1 : listener.socket, POLLIN, 0});
    }
    const milliseconds pause = stopping ? kLookWhileStopping : full ? milliseconds(50) : kLook;
    if (::poll(fds.data(), fds.size(), static_cast<int>(pause.count())) < 0 && errno != EINTR && !stopping) {
      served = failed("waiting for connections");
      begin_drain();
    }
    connections.forget_ended();
    for (std::size_t i = 1; i < fds.size(); ++i) {
      const Listener& listener = options.listeners[i - 1];
      if ((fds[i].revents & POLLIN) != 0 && connections.make_room(listener)) connections.accept(listener, server);
    }
  }
  if (drainer.joinable()) drainer.join();
  connections.end();
  return served;
}

}  // namespace guard::serve

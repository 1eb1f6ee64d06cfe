#include "cli/mcp/http_endpoint.h"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <utility>

#include "runner/process/run_folder.h"

namespace guard::mcp {
namespace {

constexpr std::size_t kClientsMax = 256;  // many go without a word
constexpr std::size_t kBodyBytesMax = 32ul << 20;
constexpr const char* kSession = "mcp-session-id";
constexpr std::string_view kJson = "application/json";

void say(serve::Answer& answer, unsigned status, std::string_view text = {}) {
  if (answer.begin(status, kJson) && !text.empty()) static_cast<void>(answer.write(text));
}

void refuse(serve::Answer& answer, unsigned status, std::string_view why) {
  answer.note("INPUT_INVALID");
  say(answer, status, text_of({{"jsonrpc", "2.0"}, {"id", nullptr}, {"error", {{"code", -32600}, {"message", why}}}}));
}

std::string field(const serve::Request& request, const char* name) {
  const auto found = request.fields.find(name);
  return found == request.fields.end() ? std::string() : found->second;
}

// One document; or, as events, whatever is said before the answer, too.
class HttpReply final : public Reply {
 public:
  HttpReply(serve::Answer& answer, bool as_events) : answer_(answer), as_events_(as_events) {}

  void answer(const std::string& message) override {
    if (as_events_) return notify(message);
    begun_ = true;
    say(answer_, 200, message);
  }
  void notify(const std::string& message) override {
    const std::lock_guard lock(mutex_);
    if (!as_events_) return;
    if (!begun_) failed_ = !answer_.begin(200, "text/event-stream");
    begun_ = true;
    failed_ = failed_ || !answer_.write(fmt::format("event: message\ndata: {}\n\n", message));
  }
  bool listening() override { return !failed_ && answer_.listening(); }

  // Once the message was handled: nothing was said where it wanted no answer, or does not any more.
  void finish() {
    if (!begun_) say(answer_, 202);
  }

 private:
  serve::Answer& answer_;
  const bool as_events_;
  std::mutex mutex_;
  bool begun_ = false;
  std::atomic<bool> failed_ = false;
};

// What is no message is answered with another status.
class Refusal final : public Reply {
 public:
  void answer(const std::string& message) override { text = message; }
  void notify(const std::string&) override {}
  std::string text;
};

}  // namespace

void HttpEndpoint::answer(const serve::Request& request, serve::Answer& answer) {
  const std::string version = field(request, "mcp-protocol-version");
  if (!version.empty() && !is_version(version)) return refuse(answer, 400, "no such version of the protocol");
  if (request.method == "POST") return post(request, answer);
  if (request.method != "DELETE") {
    answer.field("Allow", "POST, DELETE");
    return refuse(answer, 405, "this server begins no streams of its own: POST messages, DELETE the session");
  }
  const auto client = client_of(request);
  if (!client) return refuse(answer, 404, "there is no such session of the protocol");
  {
    const std::lock_guard lock(mutex_);
    clients_.erase(field(request, kSession));
  }
  end(*client);
  say(answer, 200, "{}");
}

void HttpEndpoint::post(const serve::Request& request, serve::Answer& answer) {
  if (request.body.size() > kBodyBytesMax) return refuse(answer, 413, "the message is over 32 MB");
  Refusal refusal;
  auto message = Connection::parse(request.body, refusal);
  if (!message) return say(answer, 400, refusal.text);
  std::shared_ptr<Connection> client;
  if (message->is_request && message->method == "initialize") {
    const auto id = begin(request.client);
    if (!id) return refuse(answer, 500, "no session can be made");
    answer.field("Mcp-Session-Id", *id);
    const std::lock_guard lock(mutex_);
    client = clients_.at(*id).connection;
  } else {
    if (field(request, kSession).empty())
      return refuse(answer, 400, "begin with \"initialize\", then name the Mcp-Session-Id that it answers");
    client = client_of(request);
    if (!client) return refuse(answer, 404, "there is no such session of the protocol: begin a new one");
  }
  const bool takes_events = field(request, "accept").find("text/event-stream") != std::string::npos;
  HttpReply reply(answer, message->is_call && takes_events);
  if (client->admit(*message, reply)) client->handle(*message, reply);
  reply.finish();
}

std::shared_ptr<Connection> HttpEndpoint::client_of(const serve::Request& request) {
  const std::lock_guard lock(mutex_);
  const auto found = clients_.find(field(request, kSession));
  if (found == clients_.end() || found->second.owner != request.client) return nullptr;
  found->second.used = ++requests_;
  return found->second.connection;
}

Result<std::string> HttpEndpoint::begin(const std::string& owner) {
  GUARD_TRY_ASSIGN(const std::string id, new_run_id());
  GUARD_TRY_ASSIGN(std::string session, tools_.new_session());
  std::shared_ptr<Connection> dropped;
  {
    const std::lock_guard lock(mutex_);
    if (clients_.size() >= kClientsMax) {
      // The longest unused one, of those that nothing runs for if there is one.
      const auto oldest = std::min_element(clients_.begin(), clients_.end(), [](const auto& one, const auto& other) {
        return std::pair(!one.second.connection->is_idle(), one.second.used) <
            std::pair(!other.second.connection->is_idle(), other.second.used);
      });
      dropped = std::move(oldest->second.connection);
      clients_.erase(oldest);
    }
    clients_[id] = {owner, std::make_shared<Connection>(tools_.tools(), std::move(session)), ++requests_};
  }
  if (dropped) end(*dropped);
  return id;
}

void HttpEndpoint::end(Connection& client) {
  client.cancel_all();
  if (client.has_called()) static_cast<void>(tools_.close(client.session()));
}

void HttpEndpoint::cancel_all() {
  const std::lock_guard lock(mutex_);
  for (const auto& [id, client] : clients_) client.connection->cancel_all();
}

}  // namespace guard::mcp

// What `guard serve` offers over HTTP, and what `guard session` asks for, with a server or without one: requests and
// answers as values, so that one code serves both.
//
//   GET    /healthz, /metrics (Prometheus text), /v1/stats
//   GET    /v1/sessions
//   POST   /v1/sessions/T/C                             opens
//   DELETE /v1/sessions/T/C?workspace=keep|remove       closes
//   POST   /v1/sessions/T/C/exec                        {"argv", "env", "cwd", "timeout_ms", "input" (base64)}; answers
//          lines of JSON: {"stream": "out"|"err", "bytes": base64} as they come, then {"end": ...} or {"error": ...}
//   POST   /v1/sessions/T/C/tasks                       with "Upgrade: guard-tasks": 101, then serve/task_stream.h
//   POST   /v1/sessions/T/C/commands                    the same body; answers {"command": id} at once
//   GET    /v1/sessions/T/C/commands, .../commands/ID/log?offset=N
//   POST   /v1/sessions/T/C/commands/ID/signal?signal=N
//   GET, PUT, DELETE /v1/sessions/T/C/files?path=P      bytes of a file
//   GET    /v1/sessions/T/C/list?path=P&depth=N
//   POST   /v1/sessions/T/C/move?from=A&to=B, /folder?path=P, /lease?ms=N
//
// With open=1 in its query a request opens the session first; with lease=MS it renews its lease.
//
// An error is {"error": {"code", "message", "hint"}} with a status of 400, 403, 404, 413, 429, 500 or 503; with 429 (a
// limit) and 503 it can be asked for again, after the seconds of Retry-After.
#pragma once

#include <cstddef>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include "common/result.h"
#include "serve/clients.h"
#include "sessions/manager.h"

namespace guard::serve {

struct Request {
  std::string method;
  std::string path;                          // decoded, without the query
  std::map<std::string, std::string> query;  // decoded
  std::string body;
  std::string client = {};                         // who asks; empty: this process itself
  std::map<std::string, std::string> fields = {};  // of the head, for an endpoint beside the api
};

// begin() once, then write() as often as there is something. An Error means that nobody listens any more: the handler
// stops, and what it had started in the foreground is killed.
class Answer {
 public:
  virtual ~Answer() = default;
  virtual Result<void> begin(unsigned status, std::string_view content_type) = 0;
  virtual Result<void> write(std::string_view bytes) = 0;
  virtual void field(std::string_view, std::string_view) {}  // one more of the head, before begin()
  virtual bool listening() { return true; }                  // somebody still waits for what comes
  virtual void note(std::string_view) {}                     // for a log: "exited 0", or the name of an error

  // In place of begin(): from here on the connection is spoken over in `protocol`. INPUT_INVALID where the request has
  // not asked for that.
  virtual Result<int> upgrade(std::string_view protocol);
};

constexpr std::size_t kBodyBytesMax = 128u << 20;  // of a request

// Thread-safe.
class Counts;

class Api {
 public:
  // `manager` must outlive it. `image`: the name of what sandboxes are made of, for those who ask; empty: the
  // project's.
  explicit Api(sessions::Manager& manager, std::string image = {}, ClientLimits limits = {})
      : manager_(manager), image_(std::move(image)), clients_(limits) {}
  // For /metrics; must outlive it.
  void show(const Counts& counts) { counts_ = &counts; }

  // Everything that goes wrong is in the answer. An Error where it had begun and can't be brought to its end: half a
  // file, say.
  Result<void> handle(const Request& request, Answer& answer);

  Clients& clients() noexcept { return clients_; }

 private:
  Result<std::shared_ptr<void>> use(const std::string& session, const std::string& client);
  Result<std::unique_ptr<Task>> start_on_stream(
      const std::string& session, const std::string& client, const TaskSpec& spec);
  Result<void> route(const Request& request, Answer& answer);
  Result<void> in_session(const std::string& session, std::string_view what, const Request& request, Answer& answer);
  Result<void> commands_of(const std::string& session, std::string_view what, const Request& request, Answer& answer);
  Result<void> renew(const std::string& session, const Request& request);
  Result<void> files_of(const std::string& session, const Request& request, Answer& answer);
  Result<void> exec(const std::string& session, const Request& request, Answer& answer);

  sessions::Manager& manager_;
  const std::string image_;
  const Counts* counts_ = nullptr;
  Clients clients_;
};

void say_error(Answer& answer, const Error& error);

// The body of a request for a command; `input`: what it reads. INPUT_INVALID.
Result<TaskSpec> task_of(const std::string& body, std::string& input);

// What a request is for, as a log may show it: nothing of it is text that a client chose freely.
struct Purpose {
  std::string verb;     // "POST exec", "GET /metrics"; "?" for what there is not
  std::string session;  // empty: of none
};
Purpose purpose_of(const Request& request);

// "/v1/sessions/T/C/files?path=a%20b" -> path and query. INPUT_INVALID for a '%' that is none.
Result<void> read_target(std::string_view target, Request& request);
// The other way round, of one part.
std::string percent_encoded(std::string_view text);

}  // namespace guard::serve

// The server's side of the Model Context Protocol (https://modelcontextprotocol.io/specification/2025-11-25, and the
// three versions before it): what one client says, message by message, and what it is answered. How messages travel is
// the caller's business: lines of a pipe (cli/mcp/cmd_mcp.cc) or requests of HTTP (cli/mcp/http_endpoint.h).
#pragma once

#include <atomic>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "common/cancel.h"
#include "common/result.h"
#include "common/text/json_schema.h"

namespace guard::mcp {

using nlohmann::json;
using nlohmann::ordered_json;

struct ToolCall {
  const json& arguments;         // an object that fits the tool's schema
  const std::string& session;    // the client's own, for who names none
  std::function<bool()> wanted;  // the client has neither cancelled the call nor gone
  // Tells the client that the call goes on, if it has asked to be told. As often as one likes.
  std::function<void(const std::string& message)> progress;
};

struct ToolResult {  // NOLINT(bugprone-exception-escape): moving JSON asks for no memory
  std::string text;  // for a model; need not be UTF-8
  ordered_json structured;
  std::string bytes;       // no text, and masked: "content" of `structured`, once the rest of that is masked
  bool failed = false;     // beside errors: the tool did its work, and what it did went wrong
  bool is_report = false;  // of a run: the client can read it again, as a resource
};

// All clients have the same tools.
struct Tool {            // NOLINT(bugprone-exception-escape): moving JSON asks for no memory
  ordered_json listing;  // as tools/list shows it
  std::shared_ptr<const JsonSchema> arguments;
  // From any thread, several side by side. What it answers is fit to leave the machine.
  std::function<Result<ToolResult>(const ToolCall&)> call;

  std::string name() const { return listing.value("name", ""); }
};

// The way back to the client: objects of JSON-RPC, without a line end. Thread-safe.
class Reply {
 public:
  virtual ~Reply() = default;
  virtual void answer(const std::string& message) = 0;  // the one answer to a request
  virtual void notify(const std::string& message) = 0;
  virtual bool listening() { return true; }
};

// A message of the client: an object, with what every caller has to know of it.
struct Message {  // NOLINT(bugprone-exception-escape): moving JSON asks for no memory
  json body;
  std::string method;  // empty: an answer; this server asks nothing, so none is expected
  bool is_request = false;
  bool is_call = false;  // of a tool: handle() may take long
  std::shared_ptr<CancelToken> cancel = {};
};

// Thread-safe.
class Connection {
 public:
  static constexpr std::size_t kCallsMax = 16;  // side by side

  // `tools` must outlive it. `session`: of the client's own.
  Connection(const std::vector<Tool>& tools, std::string session) : tools_(tools), session_(std::move(session)) {}

  // Nothing where it is no message, which is answered then.
  static std::optional<Message> parse(std::string_view text, Reply& reply);

  // Each message, in the order in which they came: from here on a call can be cancelled. False where not one more call
  // can be taken, which is answered then.
  bool admit(Message& message, Reply& reply);

  // Once, of each message that was admitted. Returns when it was dealt with, and all that concerns it was said.
  void handle(const Message& message, Reply& reply);

  void cancel_all();  // calls that run now, and those to come

  const std::string& session() const noexcept { return session_; }
  bool has_called() const noexcept { return has_called_; }  // a tool, so there may be a sandbox
  bool is_idle() const;

 private:
  Result<void> begin_call(Message& message);
  Result<ordered_json> answer(const Message& message, Reply& reply);
  Result<ordered_json> call_tool(const Message& message, const json& parameters, Reply& reply);
  ordered_json resources() const;
  Result<ordered_json> read_resource(const json& parameters) const;

  const std::vector<Tool>& tools_;
  const std::string session_;
  std::atomic<bool> has_called_ = false;
  mutable std::mutex mutex_;
  bool over_ = false;
  std::map<std::string, std::shared_ptr<CancelToken>> calls_;  // by the text of their ids
  std::string report_;                                         // of the last run; empty: none yet
};

bool is_version(std::string_view version) noexcept;  // of the protocol, that is spoken here
std::string text_of(const ordered_json& message);

}  // namespace guard::mcp

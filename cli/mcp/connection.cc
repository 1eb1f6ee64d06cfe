#include "cli/mcp/connection.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "common/text/foreign_json.h"
#include "common/text/text.h"

namespace guard::mcp {
namespace {

constexpr std::string_view kVersions[] = {"2025-11-25", "2025-06-18", "2025-03-26", "2024-11-05"};
constexpr std::string_view kInstructions =
    "guard runs code in a sandbox without a network, and says whether generated TypeScript and JavaScript may be kept: "
    "shell_execute, python_execute and sandbox_fs_* work in a sandbox that stays for the session; guard_check and "
    "guard_run judge files of the project as the pre-commit hook and the nightly run do.";
constexpr JsonLimits kMessageLimits{200'000, 50'000};

// JSON-RPC 2.0, section 5.1; the last one is of the protocol.
enum class Code {
  parse_error = -32700,
  invalid_request = -32600,
  no_method = -32601,
  invalid = -32602,
  internal = -32603,
  no_resource = -32002
};

// A request that is answered with an error of JSON-RPC travels as an Error with this detail.
constexpr const char* kCode = "json-rpc";
Error refused(Code code, std::string message) {
  return Error(ErrorCode::input_invalid, std::move(message)).detail(kCode, std::to_string(static_cast<int>(code)));
}

ordered_json failure_of(const json& id, const Error& error) {
  const auto code = error.details().find(kCode);
  ordered_json failure = {
      {"code", code == error.details().end() ? static_cast<int>(Code::internal) : std::stoi(code->second)},
      {"message", error.message()}};
  return {{"jsonrpc", "2.0"}, {"id", id}, {"error", std::move(failure)}};
}

constexpr const char* kReportUri = "guard://runs/last";

bool is_id(const json& id) { return id.is_string() || id.is_number_integer(); }

const json& member(const json& object, const char* key) {
  static const json kNone;
  const auto found = object.find(key);
  return found == object.end() ? kNone : *found;
}

std::string text_member(const json& object, const char* key) {
  const json& found = member(object, key);
  return found.is_string() ? found.get<std::string>() : std::string();
}

ordered_json initialized(const json& parameters) {
  const std::string asked = text_member(parameters, "protocolVersion");
  return {{"protocolVersion", is_version(asked) ? asked : std::string(kVersions[0])},
      {"capabilities", {{"tools", ordered_json::object()}, {"resources", ordered_json::object()}}},
      {"serverInfo", {{"name", "guard"}, {"title", "guard"}, {"version", GUARD_VERSION}}},
      {"instructions", kInstructions}};
}

ordered_json text_content(std::string text) {
  ordered_json part = {{"type", "text"}, {"text", std::move(text)}};
  return ordered_json::array({std::move(part)});
}

// What went wrong in a tool is for the model to read, and to do something about.
ordered_json tool_failure(const Error& error) {
  ordered_json said = {{"code", error.wire_name()}, {"message", error.message()}};
  if (!error.hint().empty()) said["hint"] = error.hint();
  for (const auto& [key, value] : error.details()) said[key] = value;
  return {{"content", text_content(error.to_string())}, {"structuredContent", {{"error", said}}}, {"isError", true}};
}

}  // namespace

bool is_version(std::string_view version) noexcept {
  return std::find(std::begin(kVersions), std::end(kVersions), version) != std::end(kVersions);
}

std::string text_of(const ordered_json& message) {
  return message.dump(-1, ' ', false, ordered_json::error_handler_t::replace);
}

std::optional<Message> Connection::parse(std::string_view text, Reply& reply) {
  const auto refuse = [&reply](const json& id, const Error& error) -> std::optional<Message> {
    reply.answer(text_of(failure_of(id, error)));
    return std::nullopt;
  };
  auto body = parse_json(text, RepeatedKeys::refused, kMessageLimits);
  if (!body) return refuse(nullptr, refused(Code::parse_error, "the message " + body.error().message()));
  if (!body->is_object() || member(*body, "jsonrpc") != "2.0")
    return refuse(nullptr, refused(Code::invalid_request, "the message is no object of JSON-RPC 2.0"));
  Message message;
  message.method = text_member(*body, "method");
  const bool has_id = body->contains("id");
  if (message.method.empty()) {
    const bool answers = body->contains("result") || body->contains("error");
    if (!answers) return refuse(nullptr, refused(Code::invalid_request, "the message has no method"));
  } else if (has_id && !is_id((*body)["id"])) {
    return refuse(nullptr, refused(Code::invalid_request, "the id is neither a text nor a whole number"));
  }
  message.is_request = has_id && !message.method.empty();
  message.is_call = message.is_request && message.method == "tools/call";
  message.body = std::move(*body);
  return message;
}

bool Connection::admit(Message& message, Reply& reply) {
  if (message.is_call) {
    const auto begun = begin_call(message);
    if (!begun) reply.answer(text_of(failure_of(message.body["id"], begun.error())));
    return begun.has_value();
  }
  if (message.method == "notifications/cancelled") {
    const std::lock_guard lock(mutex_);
    const auto call = calls_.find(member(member(message.body, "params"), "requestId").dump());
    if (call != calls_.end()) call->second->cancel();
  }
  return true;
}

Result<void> Connection::begin_call(Message& message) {
  const std::lock_guard lock(mutex_);
  if (over_) return refused(Code::internal, "the server ends");
  if (calls_.size() >= kCallsMax) {
    return refused(
        Code::internal, fmt::format("{} calls are being answered already: ask again when one has ended", kCallsMax));
  }
  message.cancel = std::make_shared<CancelToken>();
  if (!calls_.emplace(message.body["id"].dump(), message.cancel).second)
    return refused(Code::invalid_request, "a call with this id is being answered");
  return ok();
}

void Connection::handle(const Message& message, Reply& reply) {
  if (!message.is_request) return;
  const json& id = message.body["id"];
  auto result = answer(message, reply);
  if (message.is_call) {
    const std::lock_guard lock(mutex_);
    calls_.erase(id.dump());
  }
  // Whoever has cancelled a request does not want its answer.
  if (message.cancel && message.cancel->cancelled()) return;
  reply.answer(text_of(result ? ordered_json{{"jsonrpc", "2.0"}, {"id", id}, {"result", std::move(*result)}}
                              : failure_of(id, result.error())));
}

Result<ordered_json> Connection::answer(const Message& message, Reply& reply) {
  static const json kNothing = json::object();
  const std::string& method = message.method;
  const json& given = member(message.body, "params");
  const json& parameters = given.is_null() ? kNothing : given;
  if (!parameters.is_object()) return refused(Code::invalid, "params is no object");
  if (method == "initialize") return initialized(parameters);
  if (method == "ping") return ordered_json::object();
  if (method == "tools/list") {
    ordered_json listings = ordered_json::array();
    for (const Tool& tool : tools_) listings.push_back(tool.listing);
    return ordered_json{{"tools", std::move(listings)}};
  }
  if (method == "resources/list") return ordered_json{{"resources", resources()}};
  if (method == "resources/templates/list") return ordered_json{{"resourceTemplates", ordered_json::array()}};
  if (method == "resources/read") return read_resource(parameters);
  if (method == "tools/call") return call_tool(message, parameters, reply);
  return refused(Code::no_method, fmt::format("there is no method {}", printable(cut_text(method, 100, "..."))));
}

ordered_json Connection::resources() const {
  const std::lock_guard lock(mutex_);
  if (report_.empty()) return ordered_json::array();
  return ordered_json::array({{{"uri", kReportUri}, {"name", "last-run"}, {"title", "The last run's report"},
      {"description", "What guard_run answered last: verdict, reasons, findings, tests, output"},
      {"mimeType", "application/json"}}});
}

Result<ordered_json> Connection::read_resource(const json& parameters) const {
  const std::string uri = text_member(parameters, "uri");
  const std::lock_guard lock(mutex_);
  if (uri != kReportUri || report_.empty())
    return refused(Code::no_resource, fmt::format("there is no resource {} now", printable(cut_text(uri, 100, "..."))));
  ordered_json part = {{"uri", uri}, {"mimeType", "application/json"}, {"text", report_}};
  return ordered_json{{"contents", ordered_json::array({std::move(part)})}};
}

Result<ordered_json> Connection::call_tool(const Message& message, const json& parameters, Reply& reply) {
  const std::string name = text_member(parameters, "name");
  const auto tool = std::find_if(tools_.begin(), tools_.end(), [&](const Tool& one) { return one.name() == name; });
  if (tool == tools_.end())
    return refused(Code::invalid, fmt::format("there is no tool {}", printable(cut_text(name, 100, "..."))));
  static const json kNothing = json::object();
  const json& given = member(parameters, "arguments");
  const json& arguments = given.is_null() ? kNothing : given;
  if (const auto faults = tool->arguments->faults(arguments); !faults.empty()) {
    return tool_failure(Error(ErrorCode::input_invalid, fmt::format("the arguments of {}: {}", name, faults.front()))
                            .hint("tools/list has their schema"));
  }
  has_called_ = true;
  const json& token = member(member(parameters, "_meta"), "progressToken");
  std::uint64_t told = 0;
  const auto progress = [&](const std::string& text) {
    if (!is_id(token)) return;
    reply.notify(text_of({{"jsonrpc", "2.0"}, {"method", "notifications/progress"},
        {"params", {{"progressToken", token}, {"progress", ++told}, {"message", text}}}}));
  };
  const CancelToken& cancel = *message.cancel;
  const auto wanted = [&] { return !cancel.cancelled() && reply.listening(); };
  auto result = tool->call({arguments, session_, wanted, progress});
  if (!result) return tool_failure(result.error());
  if (result->is_report) {
    const std::lock_guard lock(mutex_);
    report_ = text_of(result->structured);
  }
  return ordered_json{{"content", text_content(std::move(result->text))},
      {"structuredContent", std::move(result->structured)}, {"isError", result->failed}};
}

bool Connection::is_idle() const {
  const std::lock_guard lock(mutex_);
  return calls_.empty();
}

void Connection::cancel_all() {
  const std::lock_guard lock(mutex_);
  over_ = true;
  for (const auto& [id, cancel] : calls_) cancel->cancel();
}

}  // namespace guard::mcp

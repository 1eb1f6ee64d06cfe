#include "serve/e2b/rpc.h"

#include <fmt/format.h>

#include <array>
#include <cerrno>

#include "common/text/foreign_json.h"
#include "common/text/text.h"

namespace guard::serve::e2b {
namespace {

constexpr const char* kCode = "rpc";
constexpr std::uint8_t kEndOfStream = 2;  // of an envelope's flags
constexpr std::size_t kEnvelopeBytes = 5;
constexpr JsonLimits kMessageLimits{100'000, 10'000};

struct CodeRow {
  std::string_view code;
  unsigned status;
};
constexpr CodeRow kCodes[] = {{"invalid_argument", 400}, {"unauthenticated", 401}, {"permission_denied", 403},
    {"not_found", 404}, {"already_exists", 409}, {"resource_exhausted", 429}, {"deadline_exceeded", 504},
    {"unavailable", 503}, {"unimplemented", 501}, {"failed_precondition", 400}};

ordered_json failure_of(const Error& error) {
  return {{"code", rpc_code(error)}, {"message", printable(error.message())}};
}

}  // namespace

Error rpc_error(std::string_view code, std::string message) {
  return Error(ErrorCode::input_invalid, std::move(message)).detail(kCode, std::string(code));
}

std::string_view rpc_code(const Error& error) {
  if (const auto found = error.details().find(kCode); found != error.details().end()) return found->second;
  switch (error.sys_errno()) {
    case ENOENT: return "not_found";
    case EEXIST: return "already_exists";
    case EACCES:
    case EPERM:
    case EROFS: return "permission_denied";
    case ENOTDIR:
    case EISDIR:
    case EINVAL:
    case ELOOP:
    case ENAMETOOLONG: return "invalid_argument";
    case EXDEV: return "failed_precondition";
    case ENOSPC:
    case EDQUOT: return "resource_exhausted";
    default: break;
  }
  if (error.details().contains("limit")) return "resource_exhausted";
  switch (error.code()) {
    case ErrorCode::file_not_found: return "not_found";
    case ErrorCode::input_invalid:
    case ErrorCode::usage: return "invalid_argument";
    case ErrorCode::file_too_large: return "resource_exhausted";
    case ErrorCode::execution_timeout: return "deadline_exceeded";
    case ErrorCode::environment_unavailable: return "unavailable";
    default: return "internal";
  }
}

Result<json> object_of(std::string_view text) {
  GUARD_TRY_ASSIGN(json body, parse_json(text, RepeatedKeys::refused, kMessageLimits).context("reading the request"));
  if (!body.is_object()) return Error(ErrorCode::input_invalid, "the body is no JSON object");
  return body;
}

Result<json> message_of(std::string_view body) {
  std::uint32_t size = 0;
  if (body.size() >= kEnvelopeBytes && body[0] == 0) {
    for (const char byte : body.substr(1, 4)) size = size << 8 | static_cast<unsigned char>(byte);
    if (size == body.size() - kEnvelopeBytes) return object_of(body.substr(kEnvelopeBytes));
  }
  return Error(ErrorCode::input_invalid, "the body is not one message of the Connect protocol, uncompressed");
}

std::string text(const json& object, const char* key) {
  const auto found = object.find(key);
  return found != object.end() && found->is_string() ? found->get<std::string>() : std::string();
}

Result<bool> flag(const json& object, const char* key, bool otherwise) {
  const auto found = object.find(key);
  if (found == object.end() || found->is_null()) return otherwise;
  if (!found->is_boolean()) return Error(ErrorCode::input_invalid, fmt::format("{} must be true or false", key));
  return found->get<bool>();
}

Result<std::map<std::string, std::string>> texts(const json& object, const char* key) {
  std::map<std::string, std::string> all;
  const auto found = object.find(key);
  if (found == object.end() || found->is_null()) return all;
  if (!found->is_object()) return Error(ErrorCode::input_invalid, fmt::format("{} must be an object", key));
  for (const auto& [name, value] : found->items()) {
    if (!value.is_string()) return Error(ErrorCode::input_invalid, fmt::format("{} must hold strings only", key));
    all[name] = value;
  }
  return all;
}

Result<std::map<std::string, std::string>> variables(const json& object, const char* key) {
  GUARD_TRY_ASSIGN(auto all, texts(object, key));
  for (const auto& [name, value] : all) {
    const bool is_good = !name.empty() && name.find('=') == std::string::npos && name.find('\0') == std::string::npos &&
        value.find('\0') == std::string::npos;
    if (!is_good) return Error(ErrorCode::input_invalid, fmt::format("{} holds no variable of a program", key));
  }
  return all;
}

std::string ascii_text(const ordered_json& document) {
  return document.dump(-1, ' ', true, ordered_json::error_handler_t::replace);
}

void say_json(Answer& answer, unsigned status, const ordered_json& document) {
  if (!answer.begin(status, "application/json") || document.is_null()) return;
  static_cast<void>(answer.write(ascii_text(document)));
}

void say_message(Answer& answer, const ordered_json& message) { say_json(answer, 200, message); }

void say_failure(Answer& answer, const Error& error) {
  answer.note(error.wire_name());
  unsigned status = 500;
  for (const CodeRow& row : kCodes) {
    if (row.code == rpc_code(error)) status = row.status;
  }
  say_json(answer, status, failure_of(error));
}

Result<void> MessageStream::write(std::uint8_t flags, const ordered_json& message) {
  if (!begun_) GUARD_TRY(answer_.begin(200, "application/connect+json"));
  begun_ = true;
  const std::string text = ascii_text(message);
  std::string bytes(1, static_cast<char>(flags));
  for (int shift = 24; shift >= 0; shift -= 8) bytes += static_cast<char>(text.size() >> shift & 0xff);
  return answer_.write(bytes + text);
}

Result<void> MessageStream::send(const ordered_json& message) { return write(0, message); }

void MessageStream::finish() { static_cast<void>(write(kEndOfStream, ordered_json::object())); }

void MessageStream::fail(const Error& error) {
  answer_.note(error.wire_name());
  static_cast<void>(write(kEndOfStream, {{"error", failure_of(error)}}));
}

}  // namespace guard::serve::e2b

// The Connect protocol with its JSON codec (https://connectrpc.com/docs/protocol), as far as E2B's clients speak it:
// calls with one answer, and calls that are answered by a stream of messages.
#pragma once

#include <cstdint>
#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>

#include "common/result.h"
#include "serve/api.h"

namespace guard::serve::e2b {

using nlohmann::json;
using nlohmann::ordered_json;

// A code of the protocol travels in an Error as the detail "rpc"; without it, one that fits.
Error rpc_error(std::string_view code, std::string message);
std::string_view rpc_code(const Error& error);

// INPUT_INVALID unless it is one JSON object.
Result<json> object_of(std::string_view text);
// The one message of a call that is answered by a stream.
Result<json> message_of(std::string_view body);

// Members of a message; one that is null is not there. INPUT_INVALID (also of texts) for what is of another kind.
std::string text(const json& object, const char* key);  // empty: not there, or no text
Result<bool> flag(const json& object, const char* key, bool otherwise);
Result<std::map<std::string, std::string>> texts(const json& object, const char* key);
// The same, of variables of programs: names and values that a program can be given.
Result<std::map<std::string, std::string>> variables(const json& object, const char* key);

// As JSON in ASCII: the clients put pieces of an answer together as they come, which may cut a character.
std::string ascii_text(const ordered_json& document);
// A whole answer; null: without a body.
void say_json(Answer& answer, unsigned status, const ordered_json& document);

// One message out.
void say_message(Answer& answer, const ordered_json& message);
void say_failure(Answer& answer, const Error& error);

// Messages out, then finish() or fail(), once.
class MessageStream {
 public:
  explicit MessageStream(Answer& answer) : answer_(answer) {}
  Result<void> send(const ordered_json& message);
  void finish();
  void fail(const Error& error);

 private:
  Result<void> write(std::uint8_t flags, const ordered_json& message);
  Answer& answer_;
  bool begun_ = false;
};

}  // namespace guard::serve::e2b

#include "cli/sessions/acads_session.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "common/text/base64.h"
#include "common/text/text.h"
#include "runner/acads/session_pool.h"

namespace guard {
namespace {

using nlohmann::ordered_json;

constexpr milliseconds kFileLimit{600'000};
constexpr milliseconds kCallLimit{60'000};

std::string text_of(const ordered_json& document) {
  return document.dump(-1, ' ', false, ordered_json::error_handler_t::replace) + "\n";
}

// What every answer says of the place.
ordered_json unproved(ordered_json document) {
  document.update({{"backend", "acads"}, {"proof", "none"}});
  return document;
}

Result<void> say(serve::Answer& answer, ordered_json document) {
  GUARD_TRY(answer.begin(200, "application/json"));
  return answer.write(text_of(unproved(std::move(document))));
}

Result<void> exec(acads::SessionPool& pool, const std::string& session, const serve::Request& request,
    serve::Answer& answer, Streams& streams) {
  std::string input;
  GUARD_TRY_ASSIGN(const TaskSpec task, serve::task_of(request.body, input));
  const milliseconds limit = task.timeout.count() > 0 ? task.timeout : acads::kCommandLimitMax;
  GUARD_TRY_ASSIGN(const TaskOutput output, pool.execute(session, task, input, Deadline::after(limit + kCallLimit)));
  GUARD_TRY(answer.begin(200, "application/x-ndjson"));
  for (const auto& [stream, bytes] : {std::pair("out", output.out), std::pair("err", output.err)}) {
    // A line each, as long as those that read them allow.
    if (!bytes.empty()) GUARD_TRY(answer.write(text_of({{"stream", stream}, {"bytes", base64_encode(bytes)}})));
  }
  if (output.cut)
    streams.err.print("guard: only the first {} KB of each stream came back\n", acads::kOutputBytesMax / 1024);
  return answer.write(text_of({{"end",
      unproved({{"kind", to_string(output.end.outcome.kind)}, {"value", output.end.outcome.value},
          {"elapsed_ms", output.end.elapsed.count()}, {"cut", output.cut}})}}));
}

Result<void> list(
    acads::SessionPool& pool, const std::string& session, const serve::Request& request, serve::Answer& answer) {
  const auto path = request.query.find("path");
  if (path != request.query.end() && path->second != "." && path->second != "/workspace")
    return Error(ErrorCode::input_invalid, "a session at Azure has no folders to list").hint("list /workspace");
  GUARD_TRY_ASSIGN(const auto files, pool.list(session, Deadline::after(kCallLimit)));
  ordered_json entries = ordered_json::array();
  for (const auto& file : files)
    entries.push_back(
        {{"type", file.is_folder ? "dir" : "file"}, {"size", file.bytes}, {"path", printable(file.name)}});
  return say(answer, {{"session", session}, {"entries", std::move(entries)}});
}

Result<void> files(
    acads::SessionPool& pool, const std::string& session, const serve::Request& request, serve::Answer& answer) {
  const auto path = request.query.find("path");
  GUARD_TRY_ASSIGN(const std::string name, acads::file_name(path == request.query.end() ? "" : path->second));
  const Deadline deadline = Deadline::after(kFileLimit);
  if (request.method == "PUT") {
    GUARD_TRY(pool.upload(session, name, request.body, deadline));
    return say(answer, {{"path", printable("/workspace/" + name)}, {"bytes", request.body.size()}});
  }
  GUARD_TRY(answer.begin(200, "application/octet-stream"));
  return pool.download(
      session, name, [&](std::string_view bytes) { return answer.write(bytes); }, deadline);
}

}  // namespace

Error not_at_azure(std::string_view what) {
  return Error(ErrorCode::usage, fmt::format("a session at Azure has no {}", what))
      .hint("with --backend acads there are open, exec, upload, download, ls and close");
}

Result<void> ask_acads(
    const Options& options, CommandContext& context, const serve::Request& request, serve::Answer& answer) {
  const auto [verb, session] = serve::purpose_of(request);
  constexpr std::string_view kVerbs[] = {"POST", "DELETE", "POST exec", "PUT files", "GET files", "GET list"};
  if (session.empty() || std::ranges::find(kVerbs, verb) == std::end(kVerbs)) return not_at_azure("such request");
  if (std::ranges::any_of(options.overrides, [](const auto& one) { return one.key == "session.image"; }))
    return not_at_azure("image to choose");
  if (verb == "DELETE" && !options.remove) {
    return Error(ErrorCode::usage, "a session at Azure has no workspace that outlives it")
        .hint("download what you need, then close it with --remove");
  }
  GUARD_TRY_ASSIGN(acads::SessionPool pool, acads::SessionPool::create(context.environment, context.cancel));
  if (verb == "POST exec") {
    GUARD_TRY(exec(pool, session, request, answer, context.streams));
  } else if (verb == "GET list") {
    GUARD_TRY(list(pool, session, request, answer));
  } else if (verb.ends_with("files")) {
    GUARD_TRY(files(pool, session, request, answer));
  } else {
    if (verb == "DELETE") {
      GUARD_TRY(pool.close(session, Deadline::after(kCallLimit)));
    } else {
      GUARD_TRY(pool.open(session, Deadline::after(kCallLimit)));
    }
    GUARD_TRY(say(answer, {{"session", session}}));
  }
  context.streams.err.print("guard: acads: {}\n", acads::kUnproved);
  return ok();
}

}  // namespace guard

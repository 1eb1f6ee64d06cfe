// The interface is version 2025-10-02-preview, as Azure's published specification has it (azure-rest-api-specs,
// Microsoft.App.DynamicSessions). A command is a few lines of Python that start it; what they have to know is handed
// over as base64 of JSON, so that no word of a command line is ever read as Python.
#include "runner/acads/session_pool.h"

#include <fmt/format.h>

#include <algorithm>

#include "common/hash.h"
#include "common/text/base64.h"
#include "common/text/text.h"
#include "docker/json_fields.h"

extern "C" {
extern const char guard_acads_run_command[];
extern const char guard_acads_run_command_end[];
}

namespace guard::acads {
namespace {

using nlohmann::json;

constexpr std::string_view kVersion = "2025-10-02-preview";
constexpr std::string_view kFolder = "/mnt/data";
constexpr std::string_view kWorkspace = "/workspace/";
constexpr std::size_t kNameBytesMax = 255;
constexpr std::size_t kTargetBytesMax = 8192;
constexpr std::size_t kPagesMax = 64;
constexpr std::size_t kFilesMax = 100'000;
constexpr milliseconds kSlack{10'000};  // for the Python around a command, below Azure's own limit

Error malformed(std::string_view why) {
  return {ErrorCode::protocol_error, fmt::format("the session pool's answer {}", why)};
}

std::optional<OutcomeKind> outcome_kind(std::string_view name) {
  for (const OutcomeKind kind : {OutcomeKind::exited, OutcomeKind::signaled, OutcomeKind::timed_out}) {
    if (to_string(kind) == name) return kind;
  }
  return std::nullopt;
}

std::uint64_t size_field(const json& object, std::string_view key) {
  return static_cast<std::uint64_t>(std::max<std::int64_t>(0, docker::integer_field(object, key).value_or(0)));
}

Result<std::string> folder_there(std::string_view folder) {
  const std::string path = fmt::format("{}/", folder);
  if (path.starts_with(kWorkspace) && path.find('\0') == std::string::npos && path.find("..") == std::string::npos)
    return fmt::format("{}/{}", kFolder, path.substr(kWorkspace.size()));
  return Error(ErrorCode::input_invalid, fmt::format("{} is no folder of the session", printable(folder)))
      .hint("name /workspace, or a folder below it");
}

// What the Python has printed.
Result<TaskOutput> read_output(const std::string& printed, const Secrets& secrets) {
  const json said = docker::parse_answer(printed);
  if (const auto fault = docker::string_field(said, "fault")) {
    return Error(ErrorCode::execution_failed, fmt::format("the command can't be started: {}", secrets.shown(*fault)))
        .hint("see whether the session has the program, and the folder of --cwd");
  }
  const auto kind = outcome_kind(docker::string_field(said, "kind").value_or(""));
  const auto value = docker::integer_field(said, "value");
  const auto out = base64_decode(docker::string_field(said, "out").value_or("?"));
  const auto err = base64_decode(docker::string_field(said, "err").value_or("?"));
  if (!kind || !value || *value < 0 || *value > INT32_MAX || !out || !err || out->size() > kOutputBytesMax ||
      err->size() > kOutputBytesMax) {
    return malformed("holds no result of a command")
        .hint("the pool may cut what is printed: run again, with less output");
  }
  TaskOutput output;
  output.end.outcome = {*kind, *value, {}};
  output.end.elapsed = milliseconds(size_field(said, "elapsed_ms"));
  output.out = secrets.hidden(*out);
  output.err = secrets.hidden(*err);
  output.cut = docker::bool_field(said, "cut").value_or(false);
  return output;
}

}  // namespace

Result<std::string> file_name(std::string_view path) {
  const std::string name(path.starts_with(kWorkspace) ? path.substr(kWorkspace.size()) : path);
  // As Azure documents it; beyond ASCII everything is allowed.
  constexpr std::string_view kSigns = "-_ .@$&=;,#%^()";
  const auto fits = [&](char c) {
    return static_cast<unsigned char>(c) >= 0x80 || (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') ||
        (c >= 'A' && c <= 'Z') || kSigns.find(c) != std::string_view::npos;
  };
  if (!name.empty() && name != "." && name != ".." && name.size() <= kNameBytesMax && is_utf8(name) &&
      std::ranges::all_of(name, fits))
    return name;
  return Error(ErrorCode::input_invalid,
      fmt::format("{} is no file of a session at Azure", path.empty() ? "\"\"" : printable(path)))
      .hint("files lie in /workspace itself, in no folder below: letters, digits and " + std::string(kSigns));
}

Result<SessionPool> SessionPool::create(const Environment& environment, const CancelToken& cancel) {
  GUARD_TRY_ASSIGN(Service service, find_service(environment, kPoolVariable, "", Scheme::https, "the session pool"));
  Secrets secrets;
  GUARD_TRY_ASSIGN(EntraToken token, EntraToken::create(environment, secrets));
  return SessionPool(std::move(service), std::move(token), std::move(secrets), cancel);
}

Result<docker::HttpAnswer> SessionPool::ask(
    std::string_view what, const std::string& session, Call call, Deadline deadline) {
  // Azure's own pages disagree about which signs an identifier may have; these they all allow.
  const std::string identifier = "guard-" + sha256_hex(session).substr(0, 32);
  if (call.target.find('?') == std::string::npos)
    call.target += fmt::format("?api-version={}&identifier={}", kVersion, identifier);
  for (bool again = false;; again = true) {
    if (bearer_.empty()) {
      GUARD_TRY_ASSIGN(const std::string token, token_.fetch(secrets_, deadline, cancel_));
      bearer_ = "Bearer " + token;
    }
    call.fields = {{"Authorization", bearer_}};
    GUARD_TRY_ASSIGN(
        docker::HttpAnswer answer, acads::call(service_, call, deadline, cancel_).context(std::string(what)));
    // Of others the body was not handed on.
    if (answer.status == 200 || (answer.status > 200 && answer.status < 300 && !call.take)) return answer;
    if ((answer.status != 401 && answer.status != 403) || again) return refused(answer).context(std::string(what));
    bearer_.clear();
  }
}

Error SessionPool::refused(const docker::HttpAnswer& answer) const {
  const json said = docker::parse_answer(answer.body);
  const json* error = docker::find_field(said, "error");
  std::string why = fmt::format("the session pool answered with status {}", answer.status);
  if (error != nullptr) {
    why += fmt::format(" ({})",
        secrets_.shown(fmt::format("{}: {}", docker::string_field(*error, "code").value_or(""),
            docker::string_field(*error, "message").value_or(""))));
  }
  switch (answer.status) {
    case 401:
    case 403:
      return Error(ErrorCode::environment_unavailable, why)
          .detail("access", "pool")
          .hint("give this identity the role \"Azure ContainerApps Session Executor\" on the session pool");
    case 404:
      return Error(ErrorCode::file_not_found, why)
          .hint(fmt::format("`guard session ls` lists files; a pool that is not found is wrong in {}", kPoolVariable));
    case 408:
    case 504: return Error(ErrorCode::execution_timeout, why).hint("try again, with a shorter command");
    case 413: return Error(ErrorCode::file_too_large, why).hint("Azure takes files of at most 128 MB");
    default: break;
  }
  if (answer.status >= 500)
    return Error(ErrorCode::environment_unavailable, why).hint("try again later; of a command, it may have run");
  if (answer.status >= 400) return Error(ErrorCode::input_invalid, why).hint("change what the answer names");
  return Error(ErrorCode::protocol_error, why).hint(fmt::format("redirects are not followed: check {}", kPoolVariable));
}

Result<void> SessionPool::open(const std::string& session, Deadline deadline) {
  TaskSpec task;
  task.argv = {"true"};
  task.timeout = kSlack;
  GUARD_TRY(execute(session, task, {}, deadline));
  return ok();
}

Result<TaskOutput> SessionPool::execute(
    const std::string& session, const TaskSpec& task, std::string_view input, Deadline deadline) {
  if (task.timeout > kCommandLimitMax)
    return Error(ErrorCode::input_invalid, "Azure lets no command run so long")
        .hint(fmt::format("--timeout {} is the most", kCommandLimitMax.count() / 1000));
  const milliseconds limit = task.timeout.count() > 0 ? task.timeout : kCommandLimitMax;
  GUARD_TRY_ASSIGN(const std::string folder, folder_there(task.working_dir));
  const json given = {{"argv", task.argv}, {"env", task.env}, {"cwd", folder}, {"timeout_ms", limit.count()},
      {"input", base64_encode(input)}, {"bytes_max", kOutputBytesMax}};
  const std::string code = fmt::format("{}guard_run_command(\"{}\")\n",
      std::string_view(guard_acads_run_command, guard_acads_run_command_end),
      base64_encode(given.dump(-1, ' ', true, json::error_handler_t::replace)));
  const json request = {{"codeInputType", "Inline"}, {"executionType", "Synchronous"}, {"code", code},
      {"timeoutInSeconds", std::chrono::ceil<std::chrono::seconds>(limit + kSlack).count()},
      {"outputStreamsMaxLength", 3 * kOutputBytesMax}};
  GUARD_TRY_ASSIGN(const docker::HttpAnswer answer,
      ask("running a command", session,
          {.method = "POST",
              .target = "/executions",
              .content_type = "application/json",
              .body = request.dump(),
              .repeatable = false},
          deadline));
  const json said = docker::parse_answer(answer.body);
  const json* result = docker::find_field(said, "result");
  const auto status = docker::string_field(said, "status");
  if (!status) return malformed("is no execution");
  const auto printed = result == nullptr ? std::nullopt : docker::string_field(*result, "stdout");
  if (*status != "Succeeded" || !printed) {
    const auto words = result == nullptr ? std::nullopt : docker::string_field(*result, "stderr");
    return Error(ErrorCode::execution_failed,
        fmt::format(
            "the execution is {}, not Succeeded: {}", secrets_.shown(*status), secrets_.shown(words.value_or(""))))
        .hint("run again; if it stays so, `guard session close --remove` the session and start anew");
  }
  return read_output(*printed, secrets_);
}

Result<void> SessionPool::upload(
    const std::string& session, const std::string& name, std::string_view bytes, Deadline deadline) {
  if (bytes.size() > kFileBytesMax)
    return Error(ErrorCode::file_too_large, fmt::format("{} has {} bytes", printable(name), bytes.size()))
        .hint("Azure takes files of at most 128 MB");
  // A line of the file could end the part only by repeating this; no file knows the hash of itself.
  const std::string boundary = "guard-" + sha256_hex(bytes);
  Call call{.method = "POST", .target = "/files"};
  const std::string type = fmt::format("multipart/form-data; boundary={}", boundary);
  call.content_type = type;
  call.body = fmt::format(
      "--{}\r\nContent-Disposition: form-data; name=\"file\"; filename=\"{}\"\r\n"
      "Content-Type: application/octet-stream\r\n\r\n",
      boundary, name);
  call.body.reserve(call.body.size() + bytes.size() + boundary.size() + 16);
  call.body += bytes;
  call.body += fmt::format("\r\n--{}--\r\n", boundary);
  GUARD_TRY(ask(fmt::format("uploading {}", printable(name)), session, std::move(call), deadline));
  return ok();
}

Result<void> SessionPool::download(const std::string& session, const std::string& name,
    const std::function<Result<void>(std::string_view)>& take, Deadline deadline) {
  Call call{.target = fmt::format("/files/{}/content", docker::url_encode(name))};
  call.answer_bytes_max = kFileBytesMax;
  call.take = take;
  auto answer = ask(fmt::format("downloading {}", printable(name)), session, std::move(call), deadline);
  if (!answer && answer.error().code() == ErrorCode::protocol_error && answer.error().details().contains("limit")) {
    return Error(ErrorCode::file_too_large, fmt::format("{} has more than 128 MB", printable(name)))
        .hint("split it in the session, and download the parts");
  }
  GUARD_TRY(std::move(answer));
  return ok();
}

Result<std::vector<RemoteFile>> SessionPool::list(const std::string& session, Deadline deadline) {
  std::vector<RemoteFile> files;
  std::string target = "/files";
  for (std::size_t page = 0; page < kPagesMax; ++page) {
    GUARD_TRY_ASSIGN(const docker::HttpAnswer answer, ask("listing files", session, {.target = target}, deadline));
    const json said = docker::parse_answer(answer.body);
    const json* rows = docker::find_field(said, "value");
    if (rows == nullptr || !rows->is_array()) return malformed("is no list of files");
    for (const json& row : *rows) {
      const auto name = docker::string_field(row, "name");
      if (!name || files.size() == kFilesMax) return malformed("holds what is no file, or too many of them");
      files.push_back(
          {secrets_.hidden(*name), docker::string_field(row, "type") == "Directory", size_field(row, "sizeInBytes")});
    }
    const json* link = docker::find_field(said, "nextLink");
    if (link == nullptr || link->is_null()) return files;
    const auto next = docker::string_field(said, "nextLink");
    // The token goes where it is for, and nowhere else.
    const bool is_target = next && next->size() <= kTargetBytesMax && is_visible(*next);
    if (!is_target || !next->starts_with(service_.url + "/files?")) return malformed("goes on at another place");
    target = next->substr(service_.url.size());
  }
  return malformed("does not end");
}

Result<void> SessionPool::close(const std::string& session, Deadline deadline) {
  GUARD_TRY(ask("closing the session", session, {.method = "DELETE", .target = "/session"}, deadline));
  return ok();
}

}  // namespace guard::acads

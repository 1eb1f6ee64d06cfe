#include "docker/engine_client.h"

#include <fmt/format.h>

#include <array>
#include <functional>
#include <initializer_list>
#include <thread>
#include <utility>

#include "common/text/text.h"
#include "docker/http_connection.h"
#include "docker/json_fields.h"

namespace guard::docker {
namespace {

using nlohmann::json;

// /info and a list of some hundred containers stay far below this.
constexpr std::uint64_t kAnswerBytesMax = 8ull << 20;
// Some hundred bytes for each step that the progress bar of some layer takes.
constexpr std::uint64_t kPullBytesMax = 256ull << 20;
constexpr std::size_t kMessageBytesMax = 2048;
// For a few bytes to a container's standard input, which its runtime reads as they come.
constexpr milliseconds kWriteLimit{10'000};
constexpr std::string_view kJson = "application/json";

Error malformed(std::string_view call, std::string_view why) {
  return {ErrorCode::protocol_error, fmt::format("the container engine's answer to {} makes no sense: {}", call, why)};
}

// What the engine says is shown to people, so it is bounded and made harmless; nothing is decided from it.
std::string engine_message(const HttpAnswer& answer) {
  std::string message = string_field(parse_answer(answer.body), "message").value_or(answer.body);
  if (message.size() > kMessageBytesMax) message.resize(kMessageBytesMax);
  while (!message.empty() && message.back() == '\n') message.pop_back();
  return printable(message);
}

Error refused(ErrorCode code, std::string_view call, const HttpAnswer& answer) {
  std::string message = engine_message(answer);
  Error error(code,
      fmt::format(
          "the container engine answered {} to {}{}{}", answer.status, call, message.empty() ? "" : ": ", message));
  std::move(error).detail("status", std::to_string(answer.status)).detail("engine_message", message);
  if (code == ErrorCode::environment_creation_failed || code == ErrorCode::image_build_failed ||
      code == ErrorCode::image_pull_failed) {
    std::move(error).detail("stderr", std::move(message));
  }
  return error;
}

bool is_one_of(unsigned status, std::initializer_list<unsigned> allowed) {
  for (const unsigned one : allowed) {
    if (status == one) return true;
  }
  return false;
}

Result<HttpAnswer> exchange(
    const Endpoint& endpoint, const HttpRequest& request, Deadline deadline, const CancelToken& cancel) {
  const auto answer = [&]() -> Result<HttpAnswer> {
    GUARD_TRY_ASSIGN(auto connection, HttpConnection::open(endpoint, deadline, cancel));
    GUARD_TRY(connection.send(request));
    return connection.receive(kAnswerBytesMax);
  }();
  if (answer || answer.error().code() != ErrorCode::execution_timeout) return answer;
  return Error(
      ErrorCode::execution_timeout, fmt::format("the container engine at {} did not answer in time", endpoint.name()));
}

// An answer of a status that is not `allowed` becomes an Error with `code`.
Result<HttpAnswer> call(const Endpoint& endpoint, const HttpRequest& request, std::initializer_list<unsigned> allowed,
    ErrorCode code, Deadline deadline, const CancelToken& cancel) {
  const std::string name = fmt::format("{} {}", request.method, request.target);
  auto answer = exchange(endpoint, request, deadline, cancel).context(name);
  if (answer && !is_one_of(answer->status, allowed)) return refused(code, name, *answer);
  return answer;
}

Result<json> json_body(std::string_view call_name, const HttpAnswer& answer) {
  json document = parse_answer(answer.body);
  if (document.is_discarded()) return malformed(call_name, "it is not JSON");
  return document;
}

std::string header(const HttpAnswer& answer, const std::string& name) {
  const auto found = answer.headers.find(name);
  return found == answer.headers.end() ? std::string() : printable(found->second);
}

class ChannelAttachment final : public Attachment {
 public:
  explicit ChannelAttachment(std::unique_ptr<Channel> channel) : channel_(std::move(channel)) {}
  int fd() const noexcept override { return channel_->fd(); }
  bool pending() const noexcept override { return channel_->pending(); }

  Result<bool> read_some(std::string& buffer) override {
    std::array<char, 64 * 1024> chunk;
    GUARD_TRY_ASSIGN(const Attempt attempt, channel_->receive(chunk, Take::away));
    buffer.append(chunk.data(), attempt.bytes);
    return !attempt.ended;
  }

  Result<void> write(std::string_view bytes) override {
    const CancelToken never;
    const Deadline deadline = Deadline::after(kWriteLimit);
    while (!bytes.empty()) {
      GUARD_TRY_ASSIGN(const Attempt attempt, channel_->send(bytes));
      if (attempt.ended) return Error::from_errno(ErrorCode::io_error, "writing to the attached container", EPIPE);
      bytes.remove_prefix(attempt.bytes);
      if (attempt.wait_for != 0) GUARD_TRY(wait_for(fd(), attempt.wait_for, deadline, never));
    }
    return ok();
  }

 private:
  std::unique_ptr<Channel> channel_;
};

class PendingKill final : public PendingCall {
 public:
  explicit PendingKill(HttpConnection connection) : connection_(std::move(connection)) {}
  int fd() const noexcept override { return connection_.channel().fd(); }
  Result<bool> answered() override { return connection_.channel().readable(); }

  Result<void> finish() override {
    constexpr std::string_view kCall = "signalling a container";
    auto answer = connection_.receive(kAnswerBytesMax).context(std::string(kCall));
    if (!answer) return std::move(answer).error();
    // 404: gone. 409: not running.
    if (is_one_of(answer->status, {204, 404, 409})) return ok();
    return refused(ErrorCode::environment_unavailable, kCall, *answer);
  }

 private:
  HttpConnection connection_;
};

std::string label_filter(std::string_view label) {
  const json filters = {{"label", json::array({std::string(label)})}};
  return url_encode(filters.dump(-1, ' ', false, json::error_handler_t::replace));
}

// Of long work the engine answers 200 before it begins; that it failed stands in one of the JSON lines that follow.
Result<void> read_progress(
    const HttpAnswer& answer, std::string_view call_name, const std::function<void(const json&)>& take) {
  std::string_view rest = answer.body;
  while (!rest.empty()) {
    const std::size_t end = rest.find('\n');
    const std::string_view line = rest.substr(0, end);
    rest.remove_prefix(end == std::string_view::npos ? rest.size() : end + 1);
    if (line.find_first_not_of(" \t\r") == std::string_view::npos) continue;
    const json message = parse_answer(line);
    if (!message.is_object()) return malformed(call_name, "a line is not a JSON object");
    take(message);
    const json* detail = find_field(message, "errorDetail");
    if (detail == nullptr && find_field(message, "error") == nullptr) continue;
    auto words = detail == nullptr ? string_field(message, "error") : string_field(*detail, "message");
    return Error(ErrorCode::image_build_failed,
        fmt::format("the container engine did not take the image: {}", printable(words.value_or("no reason"))))
        .detail("stderr", printable(words.value_or("")));
  }
  return ok();
}

std::string container_target(std::string_view id, std::string_view rest) {
  return fmt::format("/containers/{}{}", url_encode(id), rest);
}

}  // namespace

EngineClient::EngineClient(Endpoint endpoint, const CancelToken& cancel)
    : endpoint_(std::move(endpoint)), cancel_(cancel) {}

Result<void> EngineClient::ping(Deadline deadline) {
  HttpRequest request;
  request.target = "/_ping";
  GUARD_TRY_ASSIGN(
      const HttpAnswer answer, call(endpoint_, request, {200}, ErrorCode::environment_unavailable, deadline, cancel_));
  if (answer.body != "OK") return malformed("a ping", "it is not OK");
  return ok();
}

Result<EngineInfo> EngineClient::engine_info(Deadline deadline) {
  HttpRequest request;
  request.target = "/info";
  GUARD_TRY_ASSIGN(
      const HttpAnswer answer, call(endpoint_, request, {200}, ErrorCode::environment_unavailable, deadline, cancel_));
  GUARD_TRY_ASSIGN(const json document, json_body("/info", answer));
  const auto version = string_field(document, "ServerVersion");
  const auto os_type = string_field(document, "OSType");
  if (!version || !os_type) return malformed("/info", "version or operating system is missing");

  EngineInfo info;
  info.version = printable(*version);
  info.os_type = printable(*os_type);
  info.api_version = header(answer, "api-version");
  info.podman = !header(answer, "libpod-api-version").empty();
  // A limit that is not mentioned is a limit that cannot be relied on.
  info.memory_limit = bool_field(document, "MemoryLimit").value_or(false);
  info.swap_limit = bool_field(document, "SwapLimit").value_or(false);
  info.pids_limit = bool_field(document, "PidsLimit").value_or(false);
  info.cpu_limit =
      bool_field(document, "CpuCfsPeriod").value_or(false) && bool_field(document, "CpuCfsQuota").value_or(false);
  info.cgroup_version = printable(string_field(document, "CgroupVersion").value_or(""));
  info.kernel = printable(string_field(document, "KernelVersion").value_or(""));
  if (const json* options = find_field(document, "SecurityOptions"); options != nullptr && options->is_array()) {
    for (const json& option : *options) {
      if (!option.is_string()) continue;
      // "name=seccomp,profile=default"
      const auto& text = option.get_ref<const std::string&>();
      const std::string name = text.substr(0, text.find(','));
      info.seccomp = info.seccomp || name == "name=seccomp";
      info.apparmor = info.apparmor || name == "name=apparmor";
      info.rootless = info.rootless || name == "name=rootless";
    }
  }
  if (const json* runtimes = find_field(document, "Runtimes"); runtimes != nullptr && runtimes->is_object()) {
    for (const auto& [name, value] : runtimes->items()) info.runtimes.push_back(name);
  }
  return info;
}

Result<std::optional<ImageInfo>> EngineClient::inspect_image(std::string_view reference, Deadline deadline) {
  HttpRequest request;
  request.target = fmt::format("/images/{}/json", url_encode(reference));
  GUARD_TRY_ASSIGN(const HttpAnswer answer,
      call(endpoint_, request, {200, 404}, ErrorCode::environment_unavailable, deadline, cancel_));
  if (answer.status == 404) return std::optional<ImageInfo>();
  GUARD_TRY_ASSIGN(const json document, json_body("an image inspection", answer));
  const auto id = string_field(document, "Id");
  if (!id || id->empty()) return malformed("an image inspection", "there is no id");
  ImageInfo info;
  info.id = *id;
  if (const json* digests = find_field(document, "RepoDigests"); digests != nullptr && digests->is_array()) {
    for (const json& entry : *digests) {
      if (entry.is_string()) info.repo_digests.push_back(entry.get<std::string>());
    }
  }
  if (const json* config = find_field(document, "Config"); config != nullptr) {
    info.labels = string_map_field(*config, "Labels");
    if (const json* env = find_field(*config, "Env"); env != nullptr && env->is_array()) {
      for (const json& entry : *env) {
        if (!entry.is_string()) continue;
        const auto& text = entry.get_ref<const std::string&>();
        info.env_names.push_back(text.substr(0, text.find('=')));
      }
    }
    const json* volumes = find_field(*config, "Volumes");
    info.declares_volumes = volumes != nullptr && !volumes->empty();
    const json* triggers = find_field(*config, "OnBuild");
    info.has_triggers = triggers != nullptr && !triggers->empty();
  }
  return std::optional(std::move(info));
}

Result<void> EngineClient::load_image(int tar_fd, std::uint64_t tar_bytes, Deadline deadline) {
  HttpRequest request;
  request.method = "POST";
  request.target = "/images/load?quiet=1";
  request.content_type = "application/x-tar";
  request.body_fd = tar_fd;
  request.body_fd_bytes = tar_bytes;
  GUARD_TRY_ASSIGN(
      const HttpAnswer answer, call(endpoint_, request, {200}, ErrorCode::image_build_failed, deadline, cancel_));
  return read_progress(answer, "loading an image", [](const json&) {});
}

Result<std::string> EngineClient::build_image(
    int tar_fd, std::uint64_t tar_bytes, std::string_view tag, Deadline deadline) {
  constexpr std::string_view kCall = "building an image";
  HttpRequest request;
  request.method = "POST";
  request.target = fmt::format("/build?version=1&t={}&nocache=1&rm=1&forcerm=1&networkmode=none", url_encode(tag));
  request.content_type = "application/x-tar";
  request.body_fd = tar_fd;
  request.body_fd_bytes = tar_bytes;
  GUARD_TRY_ASSIGN(
      const HttpAnswer answer, call(endpoint_, request, {200}, ErrorCode::image_build_failed, deadline, cancel_));
  std::string id;
  GUARD_TRY(read_progress(answer, kCall, [&id](const json& message) {
    const json* result = find_field(message, "aux");
    if (result != nullptr) id = string_field(*result, "ID").value_or(id);
  }));
  if (id.empty()) return malformed(kCall, "it tells no id");
  return id;
}

Result<std::vector<ImageSummary>> EngineClient::list_images(std::string_view label, Deadline deadline) {
  constexpr std::string_view kCall = "listing images";
  HttpRequest request;
  request.target = fmt::format("/images/json?all=1&filters={}", label_filter(label));
  GUARD_TRY_ASSIGN(
      const HttpAnswer answer, call(endpoint_, request, {200}, ErrorCode::environment_unavailable, deadline, cancel_));
  GUARD_TRY_ASSIGN(const json document, json_body(kCall, answer));
  if (!document.is_array()) return malformed(kCall, "it is not a list");
  std::vector<ImageSummary> images;
  for (const json& entry : document) {
    auto id = string_field(entry, "Id");
    if (!id || id->empty()) return malformed(kCall, "there is no id");
    images.push_back({*std::move(id), string_map_field(entry, "Labels")});
  }
  return images;
}

Result<void> EngineClient::pull_image(std::string_view repository, std::string_view tag, std::string_view registry_auth,
    const std::function<Result<void>(std::string_view bytes)>& take, Deadline deadline) {
  if (tag.empty()) return Error(ErrorCode::internal, "an image was to be pulled without a tag");
  HttpRequest request;
  request.method = "POST";
  request.target = fmt::format("/images/create?fromImage={}&tag={}", url_encode(repository), url_encode(tag));
  request.registry_auth = registry_auth;
  GUARD_TRY_ASSIGN(auto connection, HttpConnection::open(endpoint_, deadline, cancel_));
  GUARD_TRY(connection.send(request));
  GUARD_TRY_ASSIGN(const HttpAnswer answer, connection.receive(kPullBytesMax, take));
  if (answer.status != 200) return refused(ErrorCode::image_pull_failed, "pulling an image", answer);
  return ok();
}

Result<void> EngineClient::remove_image(std::string_view reference, Deadline deadline) {
  HttpRequest request;
  request.method = "DELETE";
  request.target = fmt::format("/images/{}", url_encode(reference));
  GUARD_TRY(call(endpoint_, request, {200, 404}, ErrorCode::environment_unavailable, deadline, cancel_));
  return ok();
}

Result<std::string> EngineClient::create_container(std::string_view name, std::string_view body, Deadline deadline) {
  HttpRequest request;
  request.method = "POST";
  request.target = fmt::format("/containers/create?name={}", url_encode(name));
  request.content_type = kJson;
  request.body = body;
  GUARD_TRY_ASSIGN(const HttpAnswer answer,
      call(endpoint_, request, {201, 404}, ErrorCode::environment_creation_failed, deadline, cancel_));
  if (answer.status == 404) return refused(ErrorCode::image_missing, "creating a container", answer);
  GUARD_TRY_ASSIGN(const json document, json_body("creating a container", answer));
  auto id = string_field(document, "Id");
  if (!id || id->empty()) return malformed("creating a container", "there is no id");
  return *std::move(id);
}

Result<std::unique_ptr<Attachment>> EngineClient::attach(std::string_view id, Deadline deadline) {
  HttpRequest request;
  request.method = "POST";
  request.target = container_target(id, "/attach?stream=1&stdin=1&stdout=1&stderr=1");
  request.upgrade = true;
  GUARD_TRY_ASSIGN(auto connection, HttpConnection::open(endpoint_, deadline, cancel_));
  GUARD_TRY(connection.send(request));
  GUARD_TRY_ASSIGN(const HttpAnswer answer, connection.receive_head());
  // Before an upgrade was common engines answered 200 and simply went on with the stream.
  const bool streams = answer.status == 101 ||
      (answer.status == 200 && header(answer, "content-type").starts_with("application/vnd.docker.") &&
          !answer.headers.contains("content-length") && !answer.headers.contains("transfer-encoding"));
  if (!streams) return refused(ErrorCode::environment_unavailable, "attaching to a container", answer);
  return std::unique_ptr<Attachment>(std::make_unique<ChannelAttachment>(connection.release()));
}

Result<void> EngineClient::start(std::string_view id, Deadline deadline) {
  HttpRequest request;
  request.method = "POST";
  request.target = container_target(id, "/start");
  // 304, already running, is no success: somebody else started it.
  GUARD_TRY(call(endpoint_, request, {204}, ErrorCode::environment_creation_failed, deadline, cancel_));
  return ok();
}

Result<std::unique_ptr<PendingCall>> EngineClient::begin_kill(
    std::string_view id, std::string_view signal, Deadline deadline) {
  HttpRequest request;
  request.method = "POST";
  request.target = container_target(id, fmt::format("/kill?signal={}", url_encode(signal)));
  GUARD_TRY_ASSIGN(auto connection, HttpConnection::open(endpoint_, deadline, cancel_));
  GUARD_TRY(connection.send(request));
  return std::unique_ptr<PendingCall>(std::make_unique<PendingKill>(std::move(connection)));
}

Result<void> EngineClient::kill(std::string_view id, std::string_view signal, Deadline deadline) {
  GUARD_TRY_ASSIGN(const auto pending, begin_kill(id, signal, deadline));
  return pending->finish();
}

Result<std::string> EngineClient::describe_container(std::string_view id, Deadline deadline) {
  HttpRequest request;
  request.target = container_target(id, "/json");
  GUARD_TRY_ASSIGN(
      HttpAnswer answer, call(endpoint_, request, {200}, ErrorCode::environment_unavailable, deadline, cancel_));
  return std::move(answer.body);
}

Result<ContainerState> EngineClient::inspect_container(std::string_view id, Deadline deadline) {
  constexpr std::string_view kCall = "a container inspection";
  GUARD_TRY_ASSIGN(const std::string text, describe_container(id, deadline));
  const json document = parse_answer(text);
  const json* state = find_field(document, "State");
  if (state == nullptr) return malformed(kCall, "there is no state");
  const auto status = string_field(*state, "Status");
  const auto running = bool_field(*state, "Running");
  const auto oom_killed = bool_field(*state, "OOMKilled");
  const auto exit_code = integer_field(*state, "ExitCode");
  if (!status || !running || !oom_killed || !exit_code) return malformed(kCall, "a field of its state is missing");
  ContainerState result;
  result.running = *running;
  result.oom_killed = *oom_killed;
  result.exit_code = *exit_code;
  result.status = printable(*status);
  result.error = printable(string_field(*state, "Error").value_or(""));
  return result;
}

Result<std::int64_t> EngineClient::wait(std::string_view id, Deadline deadline) {
  HttpRequest request;
  request.method = "POST";
  request.target = container_target(id, "/wait");
  GUARD_TRY_ASSIGN(
      const HttpAnswer answer, call(endpoint_, request, {200}, ErrorCode::environment_unavailable, deadline, cancel_));
  GUARD_TRY_ASSIGN(const json document, json_body("waiting for a container", answer));
  const auto code = integer_field(document, "StatusCode");
  if (!code) return malformed("waiting for a container", "there is no status code");
  return *code;
}

Result<void> EngineClient::remove_container(std::string_view id, Deadline deadline) {
  HttpRequest request;
  request.method = "DELETE";
  request.target = container_target(id, "?force=1&v=1");
  HttpRequest inspection;
  inspection.target = container_target(id, "/json");
  constexpr milliseconds kLookAgain{20};
  while (true) {
    GUARD_TRY_ASSIGN(const HttpAnswer answer,
        call(endpoint_, request, {200, 204, 404, 409}, ErrorCode::environment_unavailable, deadline, cancel_));
    if (answer.status != 409) return ok();
    // Somebody is removing it already. That they began is no proof that it ends, so look until it is gone.
    GUARD_TRY_ASSIGN(const HttpAnswer seen,
        call(endpoint_, inspection, {200, 404}, ErrorCode::environment_unavailable, deadline, cancel_));
    if (seen.status == 404) return ok();
    std::this_thread::sleep_for(kLookAgain);
  }
}

Result<std::vector<ContainerSummary>> EngineClient::list_containers(std::string_view label, Deadline deadline) {
  constexpr std::string_view kCall = "listing containers";
  HttpRequest request;
  request.target = fmt::format("/containers/json?all=1&filters={}", label_filter(label));
  GUARD_TRY_ASSIGN(
      const HttpAnswer answer, call(endpoint_, request, {200}, ErrorCode::environment_unavailable, deadline, cancel_));
  GUARD_TRY_ASSIGN(const json document, json_body(kCall, answer));
  if (!document.is_array()) return malformed(kCall, "it is not a list");
  std::vector<ContainerSummary> containers;
  for (const json& entry : document) {
    auto id = string_field(entry, "Id");
    if (!id || id->empty()) return malformed(kCall, "there is no id");
    containers.push_back(
        {*std::move(id), string_field(entry, "State").value_or(""), string_map_field(entry, "Labels")});
  }
  return containers;
}

}  // namespace guard::docker

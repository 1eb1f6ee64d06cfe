#include "docker/engine_client.h"

#include <fmt/format.h>
#include <poll.h>

#include <algorithm>
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
constexpr milliseconds kLookAgain{50};
constexpr milliseconds kWriteLimit{10'000};

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
  const std::string words = message.empty() ? "" : ": " + message;
  Error error = Error(code, fmt::format("the container engine answered {} to {}{}", answer.status, call, words))
                    .detail("status", std::to_string(answer.status))
                    .detail("engine_message", message);
  if (code != ErrorCode::environment_creation_failed && code != ErrorCode::image_build_failed &&
      code != ErrorCode::image_pull_failed) {
    return error;
  }
  return std::move(error).detail("stderr", message);
}

bool is_one_of(unsigned status, std::initializer_list<unsigned> allowed) {
  return std::ranges::find(allowed, status) != allowed.end();
}

std::string header(const HttpAnswer& answer, const std::string& name) {
  const auto found = answer.headers.find(name);
  return found == answer.headers.end() ? std::string() : printable(found->second);
}

std::string label_filter(std::string_view label) {
  const json filters = {{"label", json::array({std::string(label)})}};
  return url_encode(filters.dump(-1, ' ', false, json::error_handler_t::replace));
}

// A list of objects with an id and labels.
Result<std::vector<Labelled>> read_list(const HttpAnswer& answer, std::string_view call_name) {
  const json document = parse_answer(answer.body);
  if (!document.is_array()) return malformed(call_name, "it is not a list");
  std::vector<Labelled> found;
  for (const json& entry : document) {
    auto id = string_field(entry, "Id");
    if (!id || id->empty()) return malformed(call_name, "there is no id");
    found.push_back({*std::move(id), string_field(entry, "State").value_or(""), string_map_field(entry, "Labels")});
  }
  return found;
}

// The texts of a list; nothing where there is none.
std::vector<std::string> texts_field(const json& object, std::string_view key) {
  std::vector<std::string> texts;
  const json* list = find_field(object, key);
  if (list == nullptr || !list->is_array()) return texts;
  for (const json& entry : *list) {
    if (entry.is_string()) texts.push_back(entry.get<std::string>());
  }
  return texts;
}

bool has_entries(const json& object, std::string_view key) {
  const json* field = find_field(object, key);
  return field != nullptr && !field->empty();
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

Attachment::Attachment(std::unique_ptr<Channel> channel) : channel_(std::move(channel)) {}
Attachment::~Attachment() = default;
int Attachment::fd() const noexcept { return channel_->fd(); }
bool Attachment::pending() const noexcept {
  const std::lock_guard lock(using_);
  return channel_->pending();
}

Result<bool> Attachment::read_some(std::string& buffer) {
  std::array<char, 64ul * 1024> chunk;
  const std::lock_guard lock(using_);
  GUARD_TRY_ASSIGN(const Attempt attempt, channel_->receive(chunk, Take::away));
  buffer.append(chunk.data(), attempt.bytes);
  return !attempt.ended;
}

Result<void> Attachment::write(std::string_view bytes) {
  const std::lock_guard whole(writing_);
  const auto fail = [this](Error error) {
    broken_ = true;
    return error;
  };
  Deadline deadline = Deadline::after(kWriteLimit);
  while (!bytes.empty()) {
    if (broken_ || given_up_) return fail(Error(ErrorCode::io_error, "the attached container takes nothing any more"));
    const auto attempt = [&] {
      const std::lock_guard lock(using_);
      return channel_->send(bytes);
    }();
    if (!attempt) return fail(attempt.error());
    if (attempt->ended) return fail(Error::from_errno(ErrorCode::io_error, "writing to the attached container", EPIPE));
    bytes.remove_prefix(attempt->bytes);
    if (attempt->bytes > 0) deadline = Deadline::after(kWriteLimit);
    if (attempt->wait_for == 0) continue;
    if (deadline.passed())
      return fail(Error(ErrorCode::execution_timeout, "the attached container took nothing for too long"));
    // In short waits: what it waits for may have been there, and gone to whoever reads.
    pollfd ready{fd(), attempt->wait_for, 0};
    ::poll(&ready, 1, static_cast<int>(kLookAgain.count()));
  }
  return ok();
}

PendingKill::PendingKill(HttpConnection connection)
    : connection_(std::make_unique<HttpConnection>(std::move(connection))) {}
PendingKill::~PendingKill() = default;
int PendingKill::fd() const noexcept { return connection_->channel().fd(); }
Result<bool> PendingKill::answered() { return connection_->channel().readable(); }

Result<void> PendingKill::finish() {
  constexpr std::string_view kCall = "signalling a container";
  auto answer = connection_->receive(kAnswerBytesMax).context(std::string(kCall));
  if (!answer) return std::move(answer).error();
  // 404: gone. 409: not running, which podman says with a status of 500 where it ends just then.
  if (is_one_of(answer->status, {204, 404, 409})) return ok();
  if (string_field(parse_answer(answer->body), "cause") == "container state improper") return ok();
  return refused(ErrorCode::environment_unavailable, kCall, *answer);
}

EngineClient::EngineClient(Endpoint endpoint, const CancelToken& cancel)
    : endpoint_(std::move(endpoint)), cancel_(cancel) {}

// An answer of a status that is not `allowed` becomes an Error with `code`.
Result<HttpAnswer> EngineClient::call(
    const HttpRequest& request, std::initializer_list<unsigned> allowed, ErrorCode code, Deadline deadline) const {
  const std::string name = fmt::format("{} {}", request.method, request.target);
  auto answer = [&]() -> Result<HttpAnswer> {
    GUARD_TRY_ASSIGN(auto connection, HttpConnection::open(endpoint_, deadline, cancel_));
    GUARD_TRY(connection.send(request));
    return connection.receive(kAnswerBytesMax);
  }();
  if (!answer && answer.error().code() == ErrorCode::execution_timeout) {
    answer = Error(ErrorCode::execution_timeout,
        fmt::format("the container engine at {} did not answer in time", endpoint_.name()));
  }
  if (!answer) return std::move(answer).context(name);
  if (!is_one_of(answer->status, allowed)) return refused(code, name, *answer);
  return answer;
}

Result<HttpAnswer> EngineClient::ask(
    std::string_view method, std::string target, std::initializer_list<unsigned> allowed, Deadline deadline) const {
  return call({.method = method, .target = std::move(target)}, allowed, ErrorCode::environment_unavailable, deadline);
}

Result<HttpAnswer> EngineClient::send_archive(
    std::string target, int tar_fd, std::uint64_t tar_bytes, Deadline deadline) const {
  HttpRequest request{.method = "POST", .target = std::move(target), .content_type = "application/x-tar"};
  request.body_fd = tar_fd;
  request.body_fd_bytes = tar_bytes;
  return call(request, {200}, ErrorCode::image_build_failed, deadline);
}

Result<void> EngineClient::ping(Deadline deadline) {
  GUARD_TRY_ASSIGN(const HttpAnswer answer, ask("GET", "/_ping", {200}, deadline));
  if (answer.body != "OK") return malformed("a ping", "it is not OK");
  return ok();
}

Result<EngineInfo> EngineClient::engine_info(Deadline deadline) {
  GUARD_TRY_ASSIGN(const HttpAnswer answer, ask("GET", "/info", {200}, deadline));
  const json document = parse_answer(answer.body);
  const auto version = string_field(document, "ServerVersion");
  const auto os_type = string_field(document, "OSType");
  if (!version || !os_type) return malformed("/info", "version or operating system is missing");

  EngineInfo info;
  info.version = printable(*version);
  info.os_type = printable(*os_type);
  info.api_version = header(answer, "api-version");
  info.podman = !header(answer, "libpod-api-version").empty();
  // A limit that is not mentioned is a limit that cannot be relied on.
  const auto says = [&document](std::string_view key) { return bool_field(document, key).value_or(false); };
  info.memory_limit = says("MemoryLimit");
  info.swap_limit = says("SwapLimit");
  info.pids_limit = says("PidsLimit");
  info.cpu_limit = says("CpuCfsPeriod") && says("CpuCfsQuota");
  info.cgroup_version = printable(string_field(document, "CgroupVersion").value_or(""));
  info.kernel = printable(string_field(document, "KernelVersion").value_or(""));
  for (const std::string& option : texts_field(document, "SecurityOptions")) {
    // "name=seccomp,profile=default"
    const std::string name = option.substr(0, option.find(','));
    info.seccomp = info.seccomp || name == "name=seccomp";
    info.apparmor = info.apparmor || name == "name=apparmor";
    info.rootless = info.rootless || name == "name=rootless";
  }
  if (const json* runtimes = find_field(document, "Runtimes"); runtimes != nullptr && runtimes->is_object()) {
    for (const auto& [name, value] : runtimes->items()) info.runtimes.push_back(name);
  }
  return info;
}

Result<std::optional<ImageInfo>> EngineClient::inspect_image(std::string_view reference, Deadline deadline) {
  GUARD_TRY_ASSIGN(
      const HttpAnswer answer, ask("GET", fmt::format("/images/{}/json", url_encode(reference)), {200, 404}, deadline));
  if (answer.status == 404) return std::optional<ImageInfo>();
  const json document = parse_answer(answer.body);
  const auto id = string_field(document, "Id");
  if (!id || id->empty()) return malformed("an image inspection", "there is no id");
  ImageInfo info;
  info.id = *id;
  info.repo_digests = texts_field(document, "RepoDigests");
  if (const json* config = find_field(document, "Config"); config != nullptr) {
    info.labels = string_map_field(*config, "Labels");
    for (const std::string& entry : texts_field(*config, "Env"))
      info.env_names.push_back(entry.substr(0, entry.find('=')));
    info.declares_volumes = has_entries(*config, "Volumes");
    info.has_triggers = has_entries(*config, "OnBuild");
  }
  return std::optional(std::move(info));
}

Result<void> EngineClient::load_image(int tar_fd, std::uint64_t tar_bytes, Deadline deadline) {
  GUARD_TRY_ASSIGN(const HttpAnswer answer, send_archive("/images/load?quiet=1", tar_fd, tar_bytes, deadline));
  return read_progress(answer, "loading an image", [](const json&) {});
}

Result<std::string> EngineClient::build_image(
    int tar_fd, std::uint64_t tar_bytes, std::string_view tag, Deadline deadline) {
  constexpr std::string_view kCall = "building an image";
  GUARD_TRY_ASSIGN(const HttpAnswer answer,
      send_archive(fmt::format("/build?version=1&t={}&nocache=1&rm=1&forcerm=1&networkmode=none", url_encode(tag)),
          tar_fd, tar_bytes, deadline));
  std::string id;
  GUARD_TRY(read_progress(answer, kCall, [&id](const json& message) {
    const json* result = find_field(message, "aux");
    if (result != nullptr) id = string_field(*result, "ID").value_or(id);
  }));
  if (id.empty()) return malformed(kCall, "it tells no id");
  return id;
}

Result<std::vector<Labelled>> EngineClient::list_images(std::string_view label, Deadline deadline) {
  GUARD_TRY_ASSIGN(const HttpAnswer answer,
      ask("GET", fmt::format("/images/json?all=1&filters={}", label_filter(label)), {200}, deadline));
  return read_list(answer, "listing images");
}

Result<void> EngineClient::pull_image(std::string_view repository, std::string_view tag, std::string_view registry_auth,
    const std::function<Result<void>(std::string_view bytes)>& take, Deadline deadline) {
  if (tag.empty()) return Error(ErrorCode::internal, "an image was to be pulled without a tag");
  HttpRequest request{.method = "POST",
      .target = fmt::format("/images/create?fromImage={}&tag={}", url_encode(repository), url_encode(tag))};
  if (!registry_auth.empty()) request.fields = {{"X-Registry-Auth", registry_auth}};
  GUARD_TRY_ASSIGN(auto connection, HttpConnection::open(endpoint_, deadline, cancel_));
  GUARD_TRY(connection.send(request));
  GUARD_TRY_ASSIGN(const HttpAnswer answer, connection.receive(kPullBytesMax, take));
  if (answer.status != 200) return refused(ErrorCode::image_pull_failed, "pulling an image", answer);
  return ok();
}

Result<void> EngineClient::save_image(std::string_view reference, std::uint64_t bytes_max,
    const std::function<Result<void>(std::string_view bytes)>& take, Deadline deadline) {
  GUARD_TRY_ASSIGN(auto connection, HttpConnection::open(endpoint_, deadline, cancel_));
  GUARD_TRY(connection.send({.target = fmt::format("/images/{}/get", url_encode(reference))}));
  GUARD_TRY_ASSIGN(const HttpAnswer answer, connection.receive(bytes_max, take));
  if (answer.status != 200) return refused(ErrorCode::image_missing, "saving an image", answer);
  return ok();
}

Result<void> EngineClient::remove_image(std::string_view reference, Deadline deadline) {
  GUARD_TRY(ask("DELETE", fmt::format("/images/{}", url_encode(reference)), {200, 404}, deadline));
  return ok();
}

Result<std::string> EngineClient::create_container(std::string_view name, std::string_view body, Deadline deadline) {
  constexpr std::string_view kCall = "creating a container";
  const HttpRequest request{.method = "POST",
      .target = fmt::format("/containers/create?name={}", url_encode(name)),
      .content_type = "application/json",
      .body = body};
  GUARD_TRY_ASSIGN(
      const HttpAnswer answer, call(request, {201, 404}, ErrorCode::environment_creation_failed, deadline));
  if (answer.status == 404) return refused(ErrorCode::image_missing, kCall, answer);
  auto id = string_field(parse_answer(answer.body), "Id");
  if (!id || id->empty()) return malformed(kCall, "there is no id");
  return *std::move(id);
}

Result<std::unique_ptr<Attachment>> EngineClient::attach(std::string_view id, Deadline deadline) {
  const HttpRequest request{
      .method = "POST", .target = container_target(id, "/attach?stream=1&stdin=1&stdout=1&stderr=1"), .upgrade = true};
  GUARD_TRY_ASSIGN(auto connection, HttpConnection::open(endpoint_, deadline, cancel_));
  GUARD_TRY(connection.send(request));
  GUARD_TRY_ASSIGN(const HttpAnswer answer, connection.receive_head());
  // Before an upgrade was common engines answered 200 and simply went on with the stream.
  const bool streams = answer.status == 101 ||
      (answer.status == 200 && header(answer, "content-type").starts_with("application/vnd.docker.") &&
          !answer.headers.contains("content-length") && !answer.headers.contains("transfer-encoding"));
  if (!streams) return refused(ErrorCode::environment_unavailable, "attaching to a container", answer);
  return std::make_unique<Attachment>(connection.release());
}

Result<void> EngineClient::start(std::string_view id, Deadline deadline) {
  // 304, already running, is no success: somebody else started it.
  GUARD_TRY(call({.method = "POST", .target = container_target(id, "/start")}, {204},
      ErrorCode::environment_creation_failed, deadline));
  return ok();
}

Result<std::unique_ptr<PendingKill>> EngineClient::begin_kill(
    std::string_view id, std::string_view signal, Deadline deadline) {
  const HttpRequest request{
      .method = "POST", .target = container_target(id, fmt::format("/kill?signal={}", url_encode(signal)))};
  GUARD_TRY_ASSIGN(auto connection, HttpConnection::open(endpoint_, deadline, cancel_));
  GUARD_TRY(connection.send(request));
  return std::make_unique<PendingKill>(std::move(connection));
}

Result<std::string> EngineClient::describe_container(std::string_view id, Deadline deadline) {
  GUARD_TRY_ASSIGN(HttpAnswer answer, ask("GET", container_target(id, "/json"), {200}, deadline));
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
  return ContainerState{
      *running, *oom_killed, *exit_code, printable(string_field(*state, "Error").value_or("")), printable(*status)};
}

Result<std::int64_t> EngineClient::wait(std::string_view id, Deadline deadline) {
  GUARD_TRY_ASSIGN(const HttpAnswer answer, ask("POST", container_target(id, "/wait"), {200}, deadline));
  const auto code = integer_field(parse_answer(answer.body), "StatusCode");
  if (!code) return malformed("waiting for a container", "there is no status code");
  return *code;
}

Result<void> EngineClient::remove_container(std::string_view id, Deadline deadline) {
  while (true) {
    GUARD_TRY_ASSIGN(
        const HttpAnswer answer, ask("DELETE", container_target(id, "?force=1&v=1"), {200, 204, 404, 409}, deadline));
    if (answer.status != 409) return ok();
    // Somebody is removing it already. That they began is no proof that it ends, so look until it is gone.
    GUARD_TRY_ASSIGN(const HttpAnswer seen, ask("GET", container_target(id, "/json"), {200, 404}, deadline));
    if (seen.status == 404) return ok();
    std::this_thread::sleep_for(kLookAgain);
  }
}

Result<std::vector<Labelled>> EngineClient::list_containers(std::string_view label, Deadline deadline) {
  GUARD_TRY_ASSIGN(const HttpAnswer answer,
      ask("GET", fmt::format("/containers/json?all=1&filters={}", label_filter(label)), {200}, deadline));
  return read_list(answer, "listing containers");
}

}  // namespace guard::docker

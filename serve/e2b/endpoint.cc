#include "serve/e2b/endpoint.h"

#include <fmt/format.h>
#include <openssl/crypto.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>
#include <vector>

#include "common/text/base64.h"
#include "common/text/text.h"
#include "serve/e2b/files.h"
#include "serve/e2b/process_calls.h"
#include "serve/e2b/rpc.h"

namespace guard::serve::e2b {
namespace {

constexpr std::string_view kVersion = "0.6.4";  // of the program in E2B's own sandboxes whose abilities these have
constexpr std::string_view kControl[] = {"/v2/sandboxes", "/sandboxes", "/snapshots", "/templates", "/v2/templates",
    "/v3/templates", "/volumes", "/secrets"};
constexpr std::string_view kProcess = "/process.Process/";
constexpr std::string_view kFilesystem = "/filesystem.Filesystem/";
constexpr std::string_view kPlaces[] = {"/files", "/health", "/execute", "/contexts"};
constexpr const char* kStatus = "e2b-status";

// An answer of the control plane that is no success.
Error refused(unsigned status, std::string message) {
  return Error(ErrorCode::input_invalid, std::move(message)).detail(kStatus, std::to_string(status));
}
Error not_offered(std::string_view what) { return refused(501, fmt::format("guard does not offer {}", what)); }

unsigned status_of(const Error& error) {
  unsigned status = 0;
  if (const auto found = error.details().find(kStatus);
      found != error.details().end() && read_number(found->second, status))
    return status;
  if (error.details().contains("limit")) return 429;
  return error.code() == ErrorCode::input_invalid          ? 400
      : error.code() == ErrorCode::file_not_found          ? 404
      : error.code() == ErrorCode::environment_unavailable ? 503
                                                           : 500;
}

bool is_at(std::string_view path, std::string_view place) {
  return path == place || (path.starts_with(place) && path[place.size()] == '/');
}

// What is asked of a sandbox, and not of the control plane.
bool is_inside(std::string_view path) {
  return path.starts_with(kProcess) || path.starts_with(kFilesystem) ||
      std::any_of(
          std::begin(kPlaces), std::end(kPlaces), [path](std::string_view place) { return is_at(path, place); });
}

Result<std::optional<milliseconds>> timeout_of(const json& body) {
  const json given = body.value("timeout", json());
  if (given.is_null()) return std::optional<milliseconds>();
  if (!given.is_number_unsigned()) return refused(400, "timeout is no number of seconds");
  const auto seconds = given.get<std::uint64_t>();
  const auto seconds_max = static_cast<std::uint64_t>(Sandboxes::kTimeoutMax.count() / 1000);
  if (seconds > seconds_max)
    return refused(400, fmt::format("timeout is over the {} seconds that guard gives", seconds_max));
  return std::optional(milliseconds(static_cast<std::int64_t>(seconds) * 1000));
}

std::string decoded(std::string_view text) {
  Request target;
  return read_target(text, target) ? target.path : std::string(text);
}

// Whom a request is to be done as; empty: it does not say.
std::string user_of(const Request& request) {
  if (const auto named = request.query.find("username"); named != request.query.end()) return named->second;
  constexpr std::string_view kBasic = "Basic ";
  const auto basic = request.fields.find("authorization");
  if (basic == request.fields.end() || !basic->second.starts_with(kBasic)) return {};
  const auto text = base64_decode(std::string_view(basic->second).substr(kBasic.size()));
  if (!text) return "?";
  const std::string user(text->begin(), text->end());
  return user.substr(0, user.find(':'));
}

// "a=b&c=d", each part encoded twice more than the query was (the clients do).
std::vector<std::pair<std::string, std::string>> wanted_labels(const Request& request) {
  std::vector<std::pair<std::string, std::string>> wanted;
  const auto given = request.query.find("metadata");
  if (given == request.query.end() || given->second.empty()) return wanted;
  for (const std::string_view pair : pieces_of(given->second, '&')) {
    const std::size_t equals = pair.find('=');
    if (equals == std::string_view::npos) continue;
    wanted.emplace_back(decoded(decoded(pair.substr(0, equals))), decoded(decoded(pair.substr(equals + 1))));
  }
  return wanted;
}

}  // namespace

bool Endpoint::claims(const Request& request) {
  return is_inside(request.path) || std::any_of(std::begin(kControl), std::end(kControl), [&](std::string_view place) {
    return is_at(request.path, place);
  });
}

Result<std::string> Endpoint::client_of(std::string_view id, std::string_view token, std::string_view path) const {
  const Error wrong =
      Error(ErrorCode::input_invalid, "the sandbox's token is missing, or not the right one").detail("status", "401");
  if (!is_inside(path)) return wrong;  // it opens this sandbox, and nothing else of its owner's
  const auto sandbox = sandboxes_.find(std::string(id));
  if (!sandbox) return Error(ErrorCode::file_not_found, "the sandbox was not found").detail("status", "502");
  // The clients show no token there.
  const bool needs_none = is_at(path, "/contexts") || path == "/health";
  const bool is_right =
      token.size() == sandbox->token.size() && ::CRYPTO_memcmp(token.data(), sandbox->token.data(), token.size()) == 0;
  if (needs_none || is_right) return sandbox->owner;
  return wrong;
}

Result<void> Endpoint::answer(const Request& request, Answer& answer) try {
  if (is_inside(request.path)) return in_sandbox(request, answer);
  auto said = control(request, answer);
  if (said) {
    say_json(answer, said->status, said->body);
    return ok();
  }
  answer.note(said.error().wire_name());
  const unsigned status = status_of(said.error());
  say_json(answer, status, {{"code", status}, {"message", printable(said.error().message())}});
  return ok();
} catch (const json::exception&) {
  say_json(
      answer, 400, {{"code", 400}, {"message", "the body holds something of the wrong kind"}});  // nothing was said yet
  return ok();
}

Result<void> Endpoint::in_sandbox(const Request& request, Answer& answer) {
  const auto refuse = [&answer](unsigned status, std::string_view why) -> Result<void> {
    say_json(answer, status, {{"code", status}, {"message", why}});
    return ok();
  };
  const auto id = request.fields.find("e2b-sandbox-id");
  const auto sandbox = id == request.fields.end() ? nullptr : sandboxes_.find(id->second);
  if (!sandbox || sandbox->owner != request.client) return refuse(502, "the sandbox was not found");
  const std::string_view path = request.path;
  if (const std::string user = user_of(request); !user.empty() && user != "user") {
    constexpr std::string_view kOneUser = "guard's sandboxes have one user, who is called user";
    // Of another answer to a call that is a stream the clients show the status alone.
    if (!path.ends_with("/Start") && !path.ends_with("/WatchDir")) return refuse(401, kOneUser);
    MessageStream(answer).fail(rpc_error("unauthenticated", std::string(kOneUser)));
  } else if (path.starts_with(kProcess)) {
    return call_process(sandboxes_, *sandbox, path.substr(kProcess.size()), request, answer);
  } else if (path.starts_with(kFilesystem)) {
    call_filesystem(sandboxes_, *sandbox, path.substr(kFilesystem.size()), request, answer);
  } else if (path == "/files") {
    return read_or_write_files(sandboxes_, *sandbox, request, answer);
  } else if (path == "/execute" || is_at(path, "/contexts")) {
    return sandbox->contexts.answer(sandboxes_, *sandbox, request, answer);
  } else if (path == "/health") {
    say_json(answer, 204, nullptr);
  } else {
    return refuse(404, fmt::format("guard does not offer {}", printable(path)));
  }
  return ok();
}

Result<Endpoint::Said> Endpoint::control(const Request& request, Answer& answer) {
  std::string_view path = request.path;
  if (is_at(path, "/v2/sandboxes")) path.remove_prefix(3);
  if (path == "/sandboxes" && request.method == "POST") return create(request);
  if (path == "/sandboxes" && request.method == "GET") return list(request, answer);
  constexpr std::string_view kBelow = "/sandboxes/";
  if (!path.starts_with(kBelow)) return not_offered(printable(path));
  path.remove_prefix(kBelow.size());
  const std::size_t slash = path.find('/');
  return of_sandbox(std::string(path.substr(0, slash)),
      slash == std::string_view::npos ? std::string_view() : path.substr(slash + 1), request);
}

ordered_json Endpoint::described(const Sandbox& sandbox) const {
  const NetworkAsked network = sandboxes_.network_of(sandbox);
  ordered_json lists = {{"denyOut", network.deny}};
  if (network.allow) lists["allowOut"] = *network.allow;
  return {{"sandboxID", sandbox.id}, {"templateID", sandbox.made.template_id}, {"clientID", "guard"},
      {"startedAt", time_text(sandbox.started_ms)}, {"endAt", time_text(sandboxes_.end_of(sandbox))},
      {"state", "running"}, {"cpuCount", kind_.cpus}, {"memoryMB", kind_.memory_bytes >> 20},
      {"diskSizeMB", kind_.storage_bytes >> 20}, {"envdVersion", kVersion}, {"metadata", sandbox.made.metadata},
      {"allowInternetAccess", kind_.has_network && !(network.allow && network.allow->empty())},
      {"network", std::move(lists)}};
}

Result<NetworkAsked> Endpoint::network_in(const json& body, const json& network) const {
  // Many clients send true where nobody asked for it.
  GUARD_TRY_ASSIGN(const bool has_internet, flag(body, "allow_internet_access", true));
  auto asked = network_asked(network, has_internet);
  if (!asked) return refused(asked.error().details().contains("unsupported") ? 501 : 400, asked.error().message());
  const bool wants_some = network.is_object() && !network.value("allowOut", json()).empty();
  if (wants_some && !kind_.has_network)
    return refused(400,
        "the sandboxes of this server have no network: list what they may reach in [network] allow of its guard.toml, "
        "or leave allowOut out");
  return asked;
}

Result<Endpoint::Said> Endpoint::create(const Request& request) {
  GUARD_TRY_ASSIGN(const json body, object_of(request.body));
  NewSandbox wanted;
  const json given_template = body.value("templateID", json("base"));
  if (!given_template.is_string()) return refused(400, "templateID must be a string");
  wanted.template_id = given_template;
  const bool is_ours = wanted.template_id == "base" || wanted.template_id == "code-interpreter-v1" ||
      (!kind_.image.empty() && wanted.template_id == kind_.image);
  if (!is_ours) {
    return refused(404,
        fmt::format("there is no template {}: sandboxes of this server are made of {}", printable(wanted.template_id),
            kind_.image.empty() ? "the project's image" : kind_.image));
  }
  for (const char* key : {"iam", "mcp", "autoPause", "autoPauseMemory", "autoResume", "volumeMounts"}) {
    const json given = body.value(key, json());
    const bool is_empty = given.is_null() || given == json(false) || (given.is_structured() && given.empty());
    if (!is_empty) return not_offered(key);
  }
  GUARD_TRY_ASSIGN(wanted.network, network_in(body, body.value("network", json())));
  GUARD_TRY_ASSIGN(wanted.metadata, texts(body, "metadata"));
  GUARD_TRY_ASSIGN(wanted.env, variables(body, "envVars"));
  GUARD_TRY_ASSIGN(const auto timeout, timeout_of(body));
  if (timeout) wanted.timeout = *timeout;
  GUARD_TRY_ASSIGN(const auto made, sandboxes_.create(request.client, std::move(wanted)));
  ordered_json said = described(*made);
  said["envdAccessToken"] = made->token;
  return Said{201, std::move(said)};
}

Result<Endpoint::Said> Endpoint::list(const Request& request, Answer& answer) {
  const auto asked = [&](const char* key) {
    const auto found = request.query.find(key);
    return found == request.query.end() ? std::string() : found->second;
  };
  std::size_t limit = 100;
  if (!asked("limit").empty() && (!read_number(asked("limit"), limit) || limit == 0 || limit > 100))
    return refused(400, "limit is no number from 1 to 100");
  auto all = sandboxes_.of(request.client);
  const std::string states = asked("state");
  const auto wanted_states = pieces_of(states, ',');
  if (!states.empty() && std::ranges::find(wanted_states, "running") == wanted_states.end()) all.clear();
  const auto labels = wanted_labels(request);
  const std::string from = asked("startedAfter"), made_of = asked("template");
  std::erase_if(all, [&](const auto& one) {
    if (time_text(one->started_ms) < from || (!made_of.empty() && made_of != one->made.template_id)) return true;
    return std::any_of(labels.begin(), labels.end(), [&](const auto& label) {
      const auto found = one->made.metadata.find(label.first);
      return found == one->made.metadata.end() || found->second != label.second;
    });
  });
  // The newest first; ids break ties. A token is a place in that order, whatever has ended since.
  const auto place = [](const auto& one) { return fmt::format("{:020}-{}", one->started_ms, one->id); };
  const bool is_ascending = asked("order") == "asc";
  std::ranges::sort(all, [&](const auto& one, const auto& other) {
    return is_ascending ? place(one) < place(other) : place(other) < place(one);
  });
  if (const std::string after = asked("nextToken"); !after.empty())
    std::erase_if(all, [&](const auto& one) { return is_ascending ? place(one) <= after : place(one) >= after; });
  ordered_json rows = ordered_json::array();
  std::string last;
  for (const auto& one : all) {
    if (rows.size() == limit) {
      answer.field("X-Next-Token", last);
      break;
    }
    last = place(one);
    rows.push_back(described(*one));
  }
  return Said{200, std::move(rows)};
}

// One at most, of now: nothing is looked at while nobody asks.
Result<Endpoint::Said> Endpoint::metrics(Sandbox& sandbox, const Request& request) {
  const std::int64_t now = now_ms();
  const auto seconds_of = [&request](const char* key, std::int64_t otherwise) -> Result<std::int64_t> {
    const auto given = request.query.find(key);
    std::int64_t seconds = otherwise;
    if (given == request.query.end() || (read_number(given->second, seconds) && seconds >= 0)) return seconds;
    return refused(400, fmt::format("{} is no number of seconds since 1970", key));
  };
  GUARD_TRY_ASSIGN(const std::int64_t start, seconds_of("start", 0));
  GUARD_TRY_ASSIGN(const std::int64_t end, seconds_of("end", std::numeric_limits<std::int64_t>::max()));
  if (start > end) return refused(400, "start is after end");
  // The clients round both to seconds.
  if (start > now / 1000 + 1 || end < now / 1000 - 1) return Said{200, ordered_json::array()};
  GUARD_TRY_ASSIGN(const auto usage, sandboxes_.usage(sandbox));
  if (!usage) return Said{200, ordered_json::array()};
  const double busy = sandbox.cpu.rate(*usage, now) / kind_.cpus;
  const ordered_json row = {{"timestamp", time_text(now)}, {"timestampUnix", now / 1000}, {"cpuCount", kind_.cpus},
      {"cpuUsedPct", std::round(busy * 10'000) / 100}, {"memUsed", usage->memory_bytes}, {"memCache", usage->tmp_bytes},
      {"memTotal", kind_.memory_bytes}, {"diskUsed", usage->workspace_bytes}, {"diskTotal", kind_.storage_bytes}};
  return Said{200, ordered_json::array({row})};
}

Result<Endpoint::Said> Endpoint::of_sandbox(const std::string& id, std::string_view what, const Request& request) {
  const auto sandbox = sandboxes_.find(id);
  if (!sandbox || sandbox->owner != request.client)
    return refused(404, fmt::format("there is no sandbox {}", printable(cut_text(id, 80, "..."))));
  const bool post = request.method == "POST";
  if (what.empty() && request.method == "GET") return Said{200, described(*sandbox)};
  if (what.empty() && request.method == "DELETE") {
    sandboxes_.kill(id);
    return Said{204, nullptr};
  }
  if (what == "network" && request.method == "PUT") {
    GUARD_TRY_ASSIGN(const json body, object_of(request.body));
    GUARD_TRY_ASSIGN(NetworkAsked asked, network_in(body, body));
    GUARD_TRY(sandboxes_.set_network(*sandbox, std::move(asked)));
    return Said{204, nullptr};
  }
  if (what == "metrics" && request.method == "GET") return metrics(*sandbox, request);
  if ((what == "timeout" || what == "connect") && post) {
    GUARD_TRY_ASSIGN(const json body, request.body.empty() ? Result<json>(json::object()) : object_of(request.body));
    GUARD_TRY_ASSIGN(const auto timeout, timeout_of(body));
    if (what == "timeout" && !timeout) return refused(400, "timeout is missing");
    sandboxes_.set_timeout(*sandbox, timeout.value_or(NewSandbox().timeout), what == "connect");
    if (what == "timeout") return Said{204, nullptr};
    ordered_json said = described(*sandbox);
    said["envdAccessToken"] = sandbox->token;
    return Said{200, std::move(said)};
  }
  return not_offered(fmt::format("{} of a sandbox", what.empty() ? request.method : printable(what)));
}

}  // namespace guard::serve::e2b

#include "docker/image_pull.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "common/text/base64.h"
#include "common/text/text.h"
#include "docker/json_fields.h"

namespace guard::docker {
namespace {

using nlohmann::json;

constexpr std::size_t kReferenceBytesMax = 512;
constexpr std::size_t kTagBytesMax = 128;
constexpr std::size_t kSha256Digits = 64;
constexpr std::string_view kSha256 = "sha256:";
constexpr std::string_view kDefaultRegistry = "docker.io";
// Under this name docker keeps the credentials of its default registry.
constexpr std::string_view kDefaultRegistryKey = "index.docker.io";
constexpr std::size_t kLineBytesMax = 64ul * 1024;  // the engine's own have some 200
constexpr std::size_t kLayersMax = 1024;            // more than any engine puts into one image
constexpr std::size_t kWordsBytesMax = 2048;

Error not_pullable(std::string_view reference, std::string_view why) {
  return Error(ErrorCode::image_pull_failed, fmt::format("{} can't be pulled: {}", printable(reference), why))
      .hint("name an image of a registry with its tag or, better, its digest in docker.image");
}

bool is_hex(std::string_view text) { return text.find_first_not_of("0123456789abcdef") == std::string_view::npos; }

bool is_tag(std::string_view text) {
  const auto is_word = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
  };
  return !text.empty() && text.size() <= kTagBytesMax && is_word(text.front()) &&
      std::all_of(text.begin(), text.end(), [&](char c) { return is_word(c) || c == '.' || c == '-'; });
}

bool is_repository(std::string_view text) {
  const auto is_plain = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
        std::string_view("._-/:[]").find(c) != std::string_view::npos;
  };
  return !text.empty() && text.front() != '/' && text.back() != '/' && text.find("//") == std::string_view::npos &&
      std::all_of(text.begin(), text.end(), is_plain);
}

// The first part of a name is a registry only if it could not be a folder of the default one.
bool names_registry(std::string_view part) {
  return part.find_first_of(".:") != std::string_view::npos || part == "localhost" ||
      std::any_of(part.begin(), part.end(), [](char c) { return c >= 'A' && c <= 'Z'; });
}

std::string_view registry_part(std::string_view repository) {
  const std::size_t slash = repository.find('/');
  if (slash == std::string_view::npos || !names_registry(repository.substr(0, slash))) return {};
  return repository.substr(0, slash);
}

// "https://registry.example/v1/" -> "registry.example": both forms stand in such files.
std::string_view host_of(std::string_view key) {
  for (const std::string_view scheme : {"https://", "http://"}) {
    if (key.starts_with(scheme)) key.remove_prefix(scheme.size());
  }
  return key.substr(0, key.find('/'));
}

// What engines say is shown to people: bounded and harmless.
std::string shown(std::string words) {
  if (words.size() > kWordsBytesMax) words.resize(kWordsBytesMax);
  while (!words.empty() && (words.back() == '\n' || words.back() == '\r')) words.pop_back();
  return printable(words);
}

Error malformed(std::string_view why) {
  return {ErrorCode::protocol_error, fmt::format("what the container engine says of a pull makes no sense: {}", why)};
}

std::uint64_t count_field(const json& object, std::string_view key) {
  const auto value = integer_field(object, key);
  return value && *value > 0 ? static_cast<std::uint64_t>(*value) : 0;
}

Error bad_config(std::string_view why) {
  return Error(ErrorCode::image_pull_failed, fmt::format("docker's config.json can't be used: {}", why))
      .hint("fix it, or log in to the registry anew with `docker login`");
}

}  // namespace

std::string ImageName::registry() const {
  const std::string_view part = registry_part(repository);
  return std::string(part.empty() || part == kDefaultRegistryKey ? kDefaultRegistry : part);
}

std::string ImageName::full_repository() const {
  const std::string_view part = registry_part(repository);
  const std::string_view path =
      part.empty() ? std::string_view(repository) : std::string_view(repository).substr(part.size() + 1);
  const std::string host = registry();
  const bool official = host == kDefaultRegistry && path.find('/') == std::string_view::npos;
  return fmt::format("{}/{}{}", host, official ? "library/" : "", path);
}

Result<ImageName> parse_image_name(std::string_view reference) {
  const auto refuse = [reference](std::string_view why) { return not_pullable(reference, why); };
  if (reference.empty() || reference.size() > kReferenceBytesMax) return refuse("it is empty or too long");
  const bool bare_digits = reference.size() == kSha256Digits && is_hex(reference);
  if (reference.starts_with(kSha256) || bare_digits)
    return refuse("it is the id of an image, not a name in a registry");
  ImageName name;
  std::string_view rest = reference;
  if (const std::size_t at = rest.rfind('@'); at != std::string_view::npos) {
    name.digest = rest.substr(at + 1);
    rest = rest.substr(0, at);
    const std::string_view digits = std::string_view(name.digest).substr(std::min(kSha256.size(), name.digest.size()));
    if (!name.digest.starts_with(kSha256) || digits.size() != kSha256Digits || !is_hex(digits)) {
      return refuse("its digest is not sha256: and 64 hex digits");
    }
  }
  const std::size_t colon = rest.rfind(':');
  // A colon before a slash belongs to the registry's port.
  if (colon != std::string_view::npos && rest.find('/', colon) == std::string_view::npos) {
    name.tag = rest.substr(colon + 1);
    rest = rest.substr(0, colon);
    if (!is_tag(name.tag)) return refuse("its tag is none");
  }
  if (!is_repository(rest)) return refuse("it is not a name");
  name.repository = rest;
  return name;
}

Result<RegistryAuth> find_registry_auth(std::string_view config_json, std::string_view registry) {
  const json config = parse_answer(config_json);
  if (!config.is_object()) return bad_config("it is not a JSON object");
  const auto is_ours = [registry](std::string_view key) {
    const std::string_view host = host_of(key);
    return host == registry || (registry == kDefaultRegistry && host == kDefaultRegistryKey);
  };
  RegistryAuth auth;
  if (const json* helpers = find_field(config, "credHelpers"); helpers != nullptr && helpers->is_object()) {
    for (const auto& [key, value] : helpers->items()) {
      if (is_ours(key) && value.is_string()) auth.helper = printable(value.get_ref<const std::string&>());
    }
  }
  if (auth.helper.empty()) auth.helper = printable(string_field(config, "credsStore").value_or(""));

  const json* auths = find_field(config, "auths");
  if (auths == nullptr || !auths->is_object()) return auth;
  for (const auto& [key, entry] : auths->items()) {
    if (!is_ours(key)) continue;
    json login = {{"serveraddress", std::string(host_of(key))}};
    const auto add = [&](const char* name, std::string value) {
      if (value.empty()) return;
      if (std::string_view(name) != "username") auth.secrets.push_back(value);
      login[name] = std::move(value);
    };
    if (const auto encoded = string_field(entry, "auth"); encoded && !encoded->empty()) {
      const auto decoded = base64_decode(*encoded);
      const std::size_t colon = decoded ? decoded->find(':') : std::string::npos;
      if (colon == std::string::npos)
        return bad_config(fmt::format("`auth` of {} is not base64 of name:password", printable(key)));
      auth.secrets.push_back(*encoded);
      add("username", decoded->substr(0, colon));
      add("password", decoded->substr(colon + 1));
    } else {
      add("username", string_field(entry, "username").value_or(""));
      add("password", string_field(entry, "password").value_or(""));
    }
    add("identitytoken", string_field(entry, "identitytoken").value_or(""));
    add("registrytoken", string_field(entry, "registrytoken").value_or(""));
    // An empty entry is what docker leaves behind where a helper keeps the rest.
    if (auth.secrets.empty()) continue;
    auth.header = base64url_encode(login.dump(-1, ' ', false, json::error_handler_t::replace));
    auth.secrets.push_back(auth.header);
    auth.helper.clear();
    return auth;
  }
  return auth;
}

Result<void> PullLines::push(std::string_view bytes) {
  while (!bytes.empty()) {
    const std::size_t end = bytes.find('\n');
    line_.append(bytes.substr(0, end));
    if (line_.size() > kLineBytesMax) return malformed("a line has no end");
    if (end == std::string_view::npos) return ok();
    bytes.remove_prefix(end + 1);
    GUARD_TRY(take(std::exchange(line_, {})));
  }
  return ok();
}

Result<void> PullLines::finish() {
  // podman ends its last line like the others; an engine that does not is still understood, if the line is whole.
  const std::string line = std::exchange(line_, {});
  if (line.empty()) return ok();
  return take(line);
}

Result<void> PullLines::take(std::string_view line) {
  if (line.find_first_not_of(" \t\r") == std::string_view::npos) return ok();
  const json message = parse_answer(line);
  if (!message.is_object()) return malformed("a line is not a JSON object");
  const json* detail = find_field(message, "errorDetail");
  const json* error = find_field(message, "error");
  // An engine may write the empty field into every line.
  const bool failed =
      detail != nullptr || (error != nullptr && !(error->is_string() && error->get_ref<const std::string&>().empty()));
  if (failed) {
    std::string words = string_field(message, "error").value_or("");
    if (words.empty() && detail != nullptr) words = string_field(*detail, "message").value_or("");
    words = shown(words.empty() ? "no reason" : std::move(words));
    return Error(ErrorCode::image_pull_failed, fmt::format("the container engine could not pull it: {}", words))
        .detail("stderr", words);
  }
  const json* progress = find_field(message, "progressDetail");
  const auto id = string_field(message, "id");
  if (!progress_ || progress == nullptr || !id || string_field(message, "status") != "Downloading") return ok();
  if (layers_.size() >= kLayersMax && !layers_.contains(*id)) return ok();
  layers_[*id] = {count_field(*progress, "current"), count_field(*progress, "total")};
  double done = 0;
  double total = 0;
  for (const auto& [ignored, layer] : layers_) {
    done += static_cast<double>(layer.done);
    total += static_cast<double>(std::max(layer.total, layer.done));
  }
  constexpr double kMegabyte = 1e6;
  progress_(fmt::format("{:.1f} of {:.1f} MB", done / kMegabyte, total / kMegabyte));
  return ok();
}

}  // namespace guard::docker

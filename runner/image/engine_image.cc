#include "runner/image/engine_image.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <optional>
#include <utility>

#include "common/file_io.h"
#include "common/text/text.h"
#include "docker/engine_client.h"
#include "docker/image_pull.h"

namespace guard {
namespace {

constexpr milliseconds kInspectLimit{10'000};
constexpr std::uint64_t kConfigBytesMax = 1u << 20;
// Often enough for a person, seldom enough for a log.
constexpr milliseconds kTellEvery{2'000};

Error missing(std::string_view reference) {
  return Error(ErrorCode::image_missing, fmt::format("the container engine has no image {}", printable(reference)))
      .hint(fmt::format("pull it with `docker pull {}`, let guard do it with docker.pull = \"missing\", or leave "
                        "docker.image out and run `guard image build`",
          printable(reference)))
      .detail("image", std::string(reference));
}

Error failed(std::string_view reference, std::string message) {
  return Error(ErrorCode::image_pull_failed, std::move(message))
      .detail("image", std::string(reference))
      .detail("stderr", "");
}

void hide(std::string& text, const std::string& secret) {
  constexpr std::string_view kHidden = "[REDACTED]";
  for (std::size_t at = text.find(secret); at != std::string::npos; at = text.find(secret, at + kHidden.size())) {
    text.replace(at, secret.size(), kHidden);
  }
}

// Whatever went wrong on the way becomes the one typed error, the engine's words kept. A registry that was sent the
// credentials could say them back.
Error pull_error(std::string_view reference, const docker::RegistryAuth& auth, const Error& error) {
  if (error.code() == ErrorCode::cancelled) return error;
  std::string message = error.message();
  const auto said = error.details().find("stderr");
  std::string words = said == error.details().end() ? message : said->second;
  for (const std::string& secret : auth.secrets) {
    hide(message, secret);
    hide(words, secret);
  }
  Error typed(ErrorCode::image_pull_failed, std::move(message));
  for (const std::string& frame : error.frames()) typed = Error(std::move(typed).context(frame));
  if (const auto status = error.details().find("status"); status != error.details().end())
    typed = Error(std::move(typed).detail("status", status->second));
  typed = Error(std::move(typed).detail("image", std::string(reference)).detail("stderr", std::move(words)));
  if (auth.helper.empty()) return typed;
  return std::move(typed).hint(
      fmt::format("the credentials of this registry are kept by docker's helper {}, which guard does not run: pull it "
                  "yourself with `docker pull {}`",
          auth.helper, printable(reference)));
}

// docker's own places. Empty where there is no such file.
Result<std::string> docker_config(const Environment& environment) {
  std::filesystem::path folder;
  if (const auto named = environment.find("DOCKER_CONFIG"); named != environment.end() && !named->second.empty()) {
    folder = named->second;
  } else if (const auto home = environment.find("HOME"); home != environment.end() && !home->second.empty()) {
    folder = std::filesystem::path(home->second) / ".docker";
  }
  if (folder.empty()) return std::string();
  const std::filesystem::path file = folder / "config.json";
  std::error_code failure;
  const auto status = std::filesystem::status(file, failure);
  if (status.type() == std::filesystem::file_type::not_found) return std::string();
  return read_file(file, kConfigBytesMax, FollowLinks::yes);
}

Result<docker::RegistryAuth> credentials(const EngineImageRequest& request, const std::string& registry) {
  GUARD_TRY_ASSIGN(const std::string config, docker_config(request.environment));
  if (config.empty()) return docker::RegistryAuth{};
  return docker::find_registry_auth(config, registry);
}

// What was pulled by its digest must be known to the engine by that digest.
bool shows_digest(const docker::ImageInfo& image, const docker::ImageName& wanted) {
  return std::any_of(image.repo_digests.begin(), image.repo_digests.end(), [&wanted](const std::string& shown) {
    const auto name = docker::parse_image_name(shown);
    return name && name->digest == wanted.digest && name->full_repository() == wanted.full_repository();
  });
}

Result<docker::ImageInfo> pull(const EngineImageRequest& request, const docker::ImageName& name,
    docker::EngineClient& engine, const docker::RegistryAuth& auth) {
  const auto tell = [&](const std::string& words) {
    if (request.progress)
      request.progress(fmt::format("pulling {}{}{}", printable(request.reference), words.empty() ? "" : ": ", words));
  };
  tell("");
  Deadline next_word = Deadline::after(kTellEvery);
  docker::PullLines lines([&](const std::string& words) {
    if (!next_word.passed()) return;
    next_word = Deadline::after(kTellEvery);
    tell(words);
  });
  const auto take = [&lines](std::string_view bytes) { return lines.push(bytes); };
  const std::string& tag = name.digest.empty() ? name.tag : name.digest;
  auto pulled = engine.pull_image(name.full_repository(), tag, auth.header, take, Deadline::after(request.pull_limit));
  if (!pulled && pulled.error().code() == ErrorCode::execution_timeout) {
    return Error(ErrorCode::image_pull_failed,
        fmt::format("the container engine had not pulled it after {} s",
            std::chrono::duration_cast<std::chrono::seconds>(request.pull_limit).count()));
  }
  GUARD_TRY(std::move(pulled));
  GUARD_TRY(lines.finish());
  // The engine saying that it is done is not what counts.
  GUARD_TRY_ASSIGN(auto image, engine.inspect_image(request.reference, Deadline::after(kInspectLimit)));
  if (!image)
    return Error(ErrorCode::image_pull_failed, "the container engine says that it pulled it, and does not have it");
  if (!name.digest.empty() && !shows_digest(*image, name)) {
    return Error(ErrorCode::image_pull_failed, fmt::format("what the container engine pulled is not {}", name.digest));
  }
  return *std::move(image);
}

}  // namespace

Result<EngineImage> find_or_pull_image(const EngineImageRequest& request, const CancelToken& cancel) {
  docker::EngineClient engine(request.engine, cancel);
  GUARD_TRY_ASSIGN(auto found, engine.inspect_image(request.reference, Deadline::after(kInspectLimit)));
  if (found) return EngineImage{found->id, false};
  if (request.pull == PullImage::never) return missing(request.reference);

  const auto name = docker::parse_image_name(request.reference);
  if (!name) return failed(request.reference, name.error().message()).hint(std::string(name.error().hint()));
  if (name->tag.empty() && name->digest.empty()) {
    return failed(request.reference,
        fmt::format("{} names neither a tag nor a digest, so nobody said which image to pull", request.reference))
        .hint(
            fmt::format("write docker.image = \"{}:latest\" if that is what you mean; a digest can't change under you",
                request.reference));
  }
  auto auth = credentials(request, name->registry());
  if (auth && !auth->header.empty() && request.engine.is_plain_tcp() && !request.engine.is_loopback()) {
    return failed(request.reference, "credentials are not sent to an engine over TCP without TLS")
        .hint("use TLS, or pull the image there by hand");
  }
  if (!auth) return pull_error(request.reference, {}, auth.error()).hint(std::string(auth.error().hint()));
  const auto image = pull(request, *name, engine, *auth);
  if (!image)
    return pull_error(request.reference, *auth, image.error()).context(fmt::format("pulling {}", request.reference));
  return EngineImage{image->id, true};
}

}  // namespace guard

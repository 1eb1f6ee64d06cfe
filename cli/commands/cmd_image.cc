// `guard image`: what tests run on.
#include <fmt/chrono.h>
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "cli/commands/commands.h"
#include "cli/commands/trusted_inputs.h"
#include "cli/progress.h"
#include "common/text/text.h"
#include "pipeline/backend_choice.h"
#include "pipeline/config/config.h"
#include "pipeline/run/image_upkeep.h"
#include "runner/image/image.h"
#include "runner/import/debian_image.h"
#include "runner/import/image_import.h"
#include "runner/sandbox/sandbox_registry.h"

namespace guard {
namespace {

namespace fs = std::filesystem;

// Those of `fates` that go, out of the cache and out of the engine that answers; with the reason of each.
Result<std::vector<ImageFate>> remove_images(
    std::vector<ImageFate> fates, const Config& config, CommandContext& context) {
  std::vector<CachedImage> going;
  for (const auto& fate : fates) {
    if (fate.goes) going.push_back(fate.image);
  }
  if (going.empty()) return fates;
  GUARD_TRY_ASSIGN(const auto removed, remove_cached_images(std::move(going), context.cancel));
  const EngineLocation engine = locate_engine(config, context.environment, context.cancel);
  for (auto& fate : fates) {
    const bool gone = std::any_of(
        removed.begin(), removed.end(), [&](const CachedImage& image) { return image.folder == fate.image.folder; });
    if (fate.goes && !gone) fate = {std::move(fate.image), false, "a run uses it"};
    if (!gone || fate.image.digest.empty() || engine.probe.state != ProbeState::available) continue;
    if (const auto out = remove_from_engine(fate.image.digest, ImageInputs().name, engine.engine, context.cancel);
        !out) {
      fate.why += fmt::format("; the engine keeps it: {}", out.error().message());
    }
  }
  return fates;
}

// An engine that is not there is no reason to fail where nobody asked for one: the embedded sandbox needs none.
Result<int> build(const Options& options, CommandContext& context) {
  GUARD_TRY_ASSIGN(const fs::path project, project_folder(options.project));
  GUARD_TRY_ASSIGN(const LoadedConfig loaded, load_config(config_of(options.config, project, context)));
  GUARD_TRY_ASSIGN(const ImageInputs inputs, image_inputs(project, loaded.config));
  Progress progress(context.streams.err, progress_mode(context.streams));
  const ImageProgress say = [&](std::string_view line) { progress.say(line); };

  const EngineLocation engine = options.target == ImageTarget::root_folder
      ? EngineLocation{}
      : locate_engine(loaded.config, context.environment, context.cancel);
  const bool engine_wanted = options.target == ImageTarget::engine || options.target == ImageTarget::all;
  if (engine_wanted && engine.probe.state != ProbeState::available) {
    return Error(ErrorCode::environment_unavailable, engine.probe.reason)
        .hint(engine.probe.remedy)
        .detail("environmentType", "docker");
  }
  GUARD_TRY_ASSIGN(RuntimeImage image, build_root_folder(inputs, context.cancel, say));
  const bool loads = options.target != ImageTarget::root_folder && engine.probe.state == ProbeState::available;
  GUARD_TRY_ASSIGN(const ImagePlan plan, plan_image(inputs));
  GUARD_TRY_ASSIGN(const UniqueFd held, hold_image(plan));
  if (loads) {
    GUARD_TRY_ASSIGN(image, load_into_engine(plan, engine.engine, context.cancel, say));
  }
  // What is only in the way is no reason to fail.
  if (auto images = list_cached_images(ImageSizes::left_out)) {
    const std::chrono::days unused(loaded.config.image.unused_days);
    std::vector<ImageFate> fates =
        unused_images(std::move(*images), plan.digest, unused, std::chrono::system_clock::now());
    const auto removed = remove_images(std::move(fates), loaded.config, context);
    for (const auto& fate : removed ? *removed : std::vector<ImageFate>()) {
      if (fate.goes) progress.say(fmt::format("removed {}: {}", fate.image.digest.substr(0, 16), fate.why));
    }
  }
  progress.clear();
  if (options.format == OutputFormat::json) {
    return write_json(context,
        {{"version", 1}, {"reference", image.reference}, {"id", image.id}, {"root_folder", image.root_folder.string()},
            {"engine", loads ? engine.probe.endpoint : ""}, {"libraries", plan.libraries}, {"notes", plan.notes}});
  }
  context.streams.out.print("image:       {} ({})\nroot folder: {}\nengine:      {}\n", image.reference, image.id,
      printable(image.root_folder.native()),
      loads ? engine.probe.endpoint
            : "not loaded; " + (engine.probe.reason.empty() ? std::string("not asked for") : engine.probe.reason));
  for (const std::string& note : plan.notes) context.streams.out.print("note:        {}\n", note);
  return 0;
}

// An image for sessions is for every project, so it is loaded into an engine by the first session that needs it.
Result<int> made(const Options& options, CommandContext& context, const ImagePlan& plan) {
  if (options.format == OutputFormat::json) {
    return write_json(context,
        {{"version", 1}, {"name", plan.name}, {"digest", plan.digest}, {"root_folder", plan.root_folder.string()},
            {"source", plan.source}, {"layers", plan.layers}, {"bytes", plan.layer_bytes}, {"notes", plan.notes}});
  }
  context.streams.out.print("image:       {} ({:.1f} MB)\nroot folder: {}\n", plan.name,
      static_cast<double>(plan.layer_bytes) / 1e6, printable(plan.root_folder.native()));
  for (const std::string& note : plan.notes) context.streams.out.print("note:        {}\n", note);
  context.streams.out.print(
      "next: `guard session exec --image {} me/first -- COMMAND`, or session.image in guard.toml\n", plan.name);
  return 0;
}

Result<int> import_one(const Options& options, CommandContext& context) {
  ImportRequest request;
  request.name = options.arguments[0];
  request.from = options.arguments[1];
  if (request.from.starts_with(kFromEngine)) {
    GUARD_TRY_ASSIGN(const fs::path project, project_folder(options.project));
    GUARD_TRY_ASSIGN(const LoadedConfig loaded, load_config(config_of(options.config, project, context)));
    const EngineLocation engine = locate_engine(loaded.config, context.environment, context.cancel);
    if (engine.probe.state != ProbeState::available)
      return Error(ErrorCode::environment_unavailable, engine.probe.reason)
          .hint(engine.probe.remedy)
          .detail("environmentType", "docker");
    request.engine = engine.engine;
    request.pull = loaded.config.docker.pull == PullPolicy::missing ? PullImage::if_missing : PullImage::never;
    request.environment = context.environment;
  } else {
    std::error_code failure;
    request.source = fs::absolute(request.from, failure).string();
  }
  Progress progress(context.streams.err, progress_mode(context.streams));
  GUARD_TRY_ASSIGN(
      const ImagePlan plan, import_image(request, context.cancel, [&](std::string_view line) { progress.say(line); }));
  progress.clear();
  return made(options, context, plan);
}

Result<int> build_template(const Options& options, CommandContext& context) {
  Progress progress(context.streams.err, progress_mode(context.streams));
  GUARD_TRY_ASSIGN(const ImagePlan plan,
      build_debian_image({options.arguments[0], *options.image_template, options.packages}, context.environment,
          context.cancel, [&](std::string_view line) { progress.say(line); }));
  progress.clear();
  return made(options, context, plan);
}

Result<int> remove_one(const Options& options, CommandContext& context) {
  GUARD_TRY_ASSIGN(const fs::path project, project_folder(options.project));
  GUARD_TRY_ASSIGN(const LoadedConfig loaded, load_config(config_of(options.config, project, context)));
  GUARD_TRY(find_imported(options.arguments[0], {}));
  GUARD_TRY_ASSIGN(auto images, list_cached_images(ImageSizes::left_out));
  std::vector<ImageFate> fates;
  for (CachedImage& image : images) {
    if (image.name == options.arguments[0]) fates.push_back({std::move(image), true, {}});
  }
  GUARD_TRY_ASSIGN(fates, remove_images(std::move(fates), loaded.config, context));
  for (const ImageFate& fate : fates) {
    if (!fate.goes)
      return Error(ErrorCode::io_error, fmt::format("{} is in use", options.arguments[0]))
          .hint("close its sessions and stop `guard serve`, then try again");
    if (!fate.why.empty()) context.streams.err.print("guard: {}{}\n", options.arguments[0], fate.why);
  }
  return 0;
}

nlohmann::ordered_json row_of(const CachedImage& image) {
  auto projects = nlohmann::ordered_json::array();
  for (const fs::path& project : image.projects) projects.push_back(project.string());
  nlohmann::ordered_json row = {{"digest", image.digest}, {"bytes", image.bytes}, {"complete", image.complete},
      {"folder", image.folder.string()},
      {"used", fmt::format("{:%FT%TZ}", fmt::gmtime(std::chrono::floor<std::chrono::seconds>(image.used)))},
      {"projects", projects}};
  if (!image.name.empty()) {
    row["name"] = image.name;
    row["source"] = image.source;
    row["imported"] = image.imported;
  }
  return row;
}

std::string line_of(const CachedImage& image) {
  return fmt::format("{:16}  {:>7.1f} MB  {}", image.digest.substr(0, 16), static_cast<double>(image.bytes) / 1e6,
      printable(image.folder.native()));
}

Result<int> list(const Options& options, CommandContext& context) {
  GUARD_TRY_ASSIGN(const auto images, list_cached_images());
  if (options.format == OutputFormat::json) {
    auto rows = nlohmann::ordered_json::array();
    for (const auto& image : images) rows.push_back(row_of(image));
    return write_json(context, {{"version", 1}, {"images", rows}});
  }
  if (images.empty()) context.streams.out.write("no images are cached; `guard image build` makes one\n");
  for (const auto& image : images) {
    context.streams.out.print("{}{}\n", line_of(image), image.complete ? "" : "  (incomplete)");
    if (!image.name.empty())
      context.streams.out.print("{:16}  {}: for sessions, of {}, {}\n", "", image.name, printable(image.source),
          image.imported.substr(0, 10));
    for (const fs::path& project : image.projects)
      context.streams.out.print("{:16}  used by {}\n", "", printable(project.native()));
  }
  return 0;
}

Result<int> prune(const Options& options, CommandContext& context) {
  GUARD_TRY_ASSIGN(const fs::path project, project_folder(options.project));
  const bool everyones = options.target == ImageTarget::all;
  const auto sources = [&](const fs::path& of) {
    return config_of(of == project ? options.config : std::string(), of, context);
  };
  GUARD_TRY_ASSIGN(auto images, list_cached_images());
  std::vector<ImageFate> fates =
      fates_of_images(std::move(images), everyones ? fs::path() : project, wanted_image(sources));
  GUARD_TRY_ASSIGN(const auto unfinished, list_unfinished_images());
  for (const auto& image : unfinished) fates.push_back({image, true, "a build that was killed left it"});
  const bool acts = !options.dry_run && (!everyones || options.force);
  if (acts) {
    GUARD_TRY_ASSIGN(const LoadedConfig loaded, load_config(sources(project)));
    GUARD_TRY_ASSIGN(fates, remove_images(std::move(fates), loaded.config, context));
  }
  if (options.format == OutputFormat::json) {
    auto removed = nlohmann::ordered_json::array();
    auto kept = nlohmann::ordered_json::array();
    for (const auto& fate : fates) {
      auto row = row_of(fate.image);
      row["why"] = fate.why;
      (fate.goes ? removed : kept).push_back(std::move(row));
    }
    return write_json(context, {{"version", 1}, {"dry_run", !acts}, {"images", removed}, {"kept", kept}});
  }
  bool any = false;
  for (const auto& fate : fates) {
    context.streams.out.print("{:<13} {}: {}\n",
        !fate.goes ? "kept:"
            : acts ? "removed:"
                   : "would remove:",
        line_of(fate.image), fate.why);
    any = any || fate.goes;
  }
  if (!any)
    context.streams.out.print("nothing to remove{}\n",
        everyones ? "" : " of this project; `guard image prune --all` lists the images of every project");
  if (any && !acts && !options.dry_run)
    context.streams.out.write("next: `guard image prune --all --force` removes them\n");
  return 0;
}

}  // namespace

Result<int> cmd_image(const Options& options, CommandContext& context) {
  switch (options.action) {
    case Action::build: return options.image_template ? build_template(options, context) : build(options, context);
    case Action::import_image: return import_one(options, context);
    case Action::remove: return remove_one(options, context);
    case Action::list: return list(options, context);
    default: return prune(options, context);
  }
}

}  // namespace guard

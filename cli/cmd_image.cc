// `guard image`: what tests run on.
#include <fmt/format.h>

#include <filesystem>
#include <nlohmann/json.hpp>

#include "cli/commands.h"
#include "cli/progress.h"
#include "cli/trusted_inputs.h"
#include "common/text.h"
#include "pipeline/backend_choice.h"
#include "pipeline/config.h"
#include "runner/image.h"
#include "runner/sandbox_registry.h"

namespace guard {
namespace {

namespace fs = std::filesystem;

Result<fs::path> project_of(const ImageOptions& options) {
  std::error_code failure;
  fs::path project = fs::canonical(options.project.empty() ? "." : options.project, failure);
  if (failure) return Error::from_errno(ErrorCode::file_not_found, printable(options.project), failure.value());
  return project;
}

// An engine that is not there is no reason to fail where nobody asked for one: the embedded sandbox needs none.
Result<int> build(const ImageOptions& options, CommandContext& context) {
  GUARD_TRY_ASSIGN(const fs::path project, project_of(options));
  GUARD_TRY_ASSIGN(const LoadedConfig loaded, load_config(config_of(options.config, project, context)));
  GUARD_TRY_ASSIGN(const ImageInputs inputs, image_inputs(project, loaded.config));
  Progress progress(context.streams.err, context.streams.err_is_terminal ? Progress::Mode::rewritten : Progress::Mode::lines);
  const ImageProgress say = [&](std::string_view line) { progress.say(line); };

  const EngineLocation engine = options.target == ImageTarget::root_folder
                                    ? EngineLocation{}
                                    : locate_engine(loaded.config, context.environment, context.cancel);
  const bool engine_wanted = options.target == ImageTarget::engine || options.target == ImageTarget::all;
  if (engine_wanted && engine.probe.state != ProbeState::available) {
    return Error(ErrorCode::environment_unavailable, engine.probe.reason).hint(engine.probe.remedy).detail("environmentType", "docker");
  }
  GUARD_TRY_ASSIGN(RuntimeImage image, build_root_folder(inputs, context.cancel, say));
  const bool loads = options.target != ImageTarget::root_folder && engine.probe.state == ProbeState::available;
  GUARD_TRY_ASSIGN(const ImagePlan plan, plan_image(inputs));
  if (loads) {
    GUARD_TRY_ASSIGN(image, load_into_engine(plan, engine.engine, context.cancel, say));
  }
  progress.clear();
  if (options.format == OutputFormat::json) {
    const nlohmann::ordered_json document = {{"version", 1}, {"reference", image.reference}, {"id", image.id},
                                             {"root_folder", image.root_folder.string()}, {"engine", loads ? engine.probe.endpoint : ""},
                                             {"libraries", plan.libraries}, {"notes", plan.notes}};
    context.streams.out.write(document.dump(2, ' ', false, nlohmann::json::error_handler_t::replace) + "\n");
    return 0;
  }
  context.streams.out.print("image:       {} ({})\nroot folder: {}\nengine:      {}\n", image.reference, image.id, printable(image.root_folder.native()),
                            loads ? engine.probe.endpoint : "not loaded; " + (engine.probe.reason.empty() ? std::string("not asked for") : engine.probe.reason));
  for (const std::string& note : plan.notes) context.streams.out.print("note:        {}\n", note);
  return 0;
}

nlohmann::ordered_json rows(const std::vector<CachedImage>& images) {
  auto list = nlohmann::ordered_json::array();
  for (const auto& image : images) {
    list.push_back({{"digest", image.digest}, {"bytes", image.bytes}, {"complete", image.complete}, {"folder", image.folder.string()}});
  }
  return list;
}

void print_images(const ImageOptions& options, CommandContext& context, const std::vector<CachedImage>& images, std::string_view when_none) {
  if (options.format == OutputFormat::json) {
    const nlohmann::ordered_json document = {{"version", 1}, {"images", rows(images)}};
    context.streams.out.write(document.dump(2, ' ', false, nlohmann::json::error_handler_t::replace) + "\n");
    return;
  }
  if (images.empty()) context.streams.out.print("{}\n", when_none);
  for (const auto& image : images) {
    context.streams.out.print("{}  {:>7.1f} MB  {}{}\n", image.digest.substr(0, 16), static_cast<double>(image.bytes) / 1e6, printable(image.folder.native()),
                              image.complete ? "" : "  (incomplete)");
  }
}

Result<int> list(const ImageOptions& options, CommandContext& context) {
  GUARD_TRY_ASSIGN(const auto images, list_cached_images());
  print_images(options, context, images, "no images are cached; `guard image build` makes one");
  return 0;
}

// The image of the project one stands in is kept; without a project, or with --all, none is.
Result<int> prune(const ImageOptions& options, CommandContext& context) {
  std::string keep;
  if (options.target != ImageTarget::all) {
    std::error_code failure;
    const bool in_project = fs::exists(fs::path(options.project.empty() ? "." : options.project) / "package.json", failure);
    if (in_project) {
      GUARD_TRY_ASSIGN(const fs::path project, project_of(options));
      GUARD_TRY_ASSIGN(const LoadedConfig loaded, load_config(config_of(options.config, project, context)));
      GUARD_TRY_ASSIGN(const ImageInputs inputs, image_inputs(project, loaded.config));
      GUARD_TRY_ASSIGN(const ImagePlan plan, plan_image(inputs));
      keep = plan.digest;
    }
  }
  GUARD_TRY_ASSIGN(const auto removed, prune_cached_images(keep, context.cancel));
  print_images(options, context, removed, "nothing to remove");
  return 0;
}

}  // namespace

int cmd_image(const ImageOptions& options, CommandContext& context) {
  Result<int> done = options.action == ImageAction::build  ? build(options, context)
                     : options.action == ImageAction::list ? list(options, context)
                                                           : prune(options, context);
  return done ? finish(context, *done) : fail(context, done.error());
}

}  // namespace guard

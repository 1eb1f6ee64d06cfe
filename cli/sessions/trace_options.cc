#include "cli/sessions/trace_options.h"

#include <fmt/format.h>
#include <unistd.h>

#include "common/file_io.h"
#include "pipeline/run/run_output.h"
#include "serve/otlp.h"

namespace guard {

std::vector<std::string> trace_words(const Options& options) {
  std::vector<std::string> words;
  const auto add = [&words](const char* option, std::string value) {
    words.insert(words.end(), {option, std::move(value)});
  };
  if (!options.trace.empty())
    add("--trace", options.trace == "-" ? "-" : std::filesystem::absolute(options.trace).lexically_normal().native());
  if (!options.otlp.empty()) add("--otlp", options.otlp);
  if (!options.keep_artifacts) return words;
  add("--artifacts", std::string(to_string(*options.keep_artifacts)));
  if (options.artifact_bytes_max) add("--artifacts-file-max", std::to_string(*options.artifact_bytes_max));
  if (options.artifacts_bytes_max) add("--artifacts-max", std::to_string(*options.artifacts_bytes_max));
  if (options.max_age_s) add("--artifacts-age", fmt::format("{}s", *options.max_age_s));
  return words;
}

std::string trace_place(const Options& options) {
  const std::string words = fmt::format("{}", fmt::join(trace_words(options), " "));
  return options.trace == "-" ? fmt::format("{} (process {})", words, ::getpid()) : words;
}

Result<std::shared_ptr<sessions::Trace>> open_trace(const Options& options, const LoadedConfig& loaded,
    const CommandContext& context, const std::filesystem::path& folder) {
  if (trace_words(options).empty()) return std::shared_ptr<sessions::Trace>();
  GUARD_TRY_ASSIGN(const auto variables, run_variables(loaded.config, context.environment));
  GUARD_TRY_ASSIGN(SecretSource secrets, secrets_of(context.environment, loaded.config, variables));
  std::unique_ptr<sessions::Catalogue> catalogue;
  if (options.keep_artifacts) {
    sessions::CatalogueLimits limits;
    limits.keep = *options.keep_artifacts;
    limits.file_bytes_max = options.artifact_bytes_max.value_or(limits.file_bytes_max);
    limits.bytes_max = options.artifacts_bytes_max.value_or(limits.bytes_max);
    if (options.max_age_s) limits.age_max_ms = static_cast<std::int64_t>(*options.max_age_s) * 1'000;
    GUARD_TRY_ASSIGN(catalogue, sessions::Catalogue::open(folder, sessions::Catalogue::Role::writer, limits));
  }
  std::function<void(sessions::StepSpan)> take_span;
  if (!options.otlp.empty()) {
    // It may come at any time, beside what this thread prints.
    const auto say = [](const std::string& sentence) {
      static_cast<void>(write_all(STDERR_FILENO, fmt::format("guard: {}\n", sentence)));
    };
    GUARD_TRY_ASSIGN(std::shared_ptr<serve::OtlpExporter> exporter, serve::OtlpExporter::start(options.otlp, say));
    take_span = [exporter](sessions::StepSpan span) { exporter->add(std::move(span)); };
  }
  return sessions::Trace::open({std::move(secrets), loaded.config.limits.output_keep_bytes, options.trace,
      trace_place(options), std::move(catalogue), std::move(take_span),
      [environment = context.environment, config = loaded.config, variables](const auto& env) {
        auto all = variables;
        all.insert(env.begin(), env.end());
        return secrets_of(environment, config, all);
      }});
}

}  // namespace guard

// `guard doctor`: what works on this machine, what would run where, and how to fix what does not.
#include <fmt/format.h>

#include <filesystem>
#include <map>
#include <nlohmann/json.hpp>

#include "cli/commands/commands.h"
#include "cli/commands/rule_engine.h"
#include "cli/commands/trusted_inputs.h"
#include "common/text/paint.h"
#include "common/text/text.h"
#include "pipeline/backend_choice.h"
#include "pipeline/change/config_trust.h"
#include "pipeline/config/config.h"
#include "pipeline/credentials.h"
#include "pipeline/network.h"
#include "pipeline/report/json_parts.h"
#include "pipeline/run/first_look.h"
#include "runner/acads/session_pool.h"
#include "runner/image/image.h"
#include "runner/sandbox/sandbox_registry.h"

namespace guard {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::ordered_json;

struct Row {
  std::string name;
  std::string state;  // "ok", "available", "absent", "unknown", "missing", "bad"
  std::string text;
  std::string remedy;
  std::map<std::string, std::string> facts;
};

Row row_of(std::string name, const SandboxProbe& probe) {
  std::string text = probe.reason;
  // Some reasons name the version already.
  if (!probe.version.empty() && text.find(probe.version) == std::string::npos)
    text = fmt::format("{} (version {})", text, probe.version);
  return {std::move(name), std::string(to_string(probe.state)), std::move(text), probe.remedy, probe.facts};
}

Row row_of(std::string name, std::string state, const Error& error) {
  return {std::move(name), std::move(state), error.message(), std::string(error.hint()), {}};
}

Row image_row(const fs::path& project, const Config& config) {
  if (config.backend == Backend::container_use)
    return {"image", "ok", "none is needed: an environment of container-use brings its own bun", "", {}};
  if (config.backend == Backend::host) return {"image", "ok", "none is needed on the host", "", {}};
  if (!config.docker.image.empty()) {
    return {"image", "ok",
        fmt::format("{} is configured; a run looks for it in the engine", printable(config.docker.image)), "", {}};
  }
  const auto inputs = image_inputs(project, config);
  if (!inputs) return row_of("image", "missing", inputs.error());
  const auto plan = plan_image(*inputs);
  if (!plan) return row_of("image", "missing", plan.error());
  if (!plan->built)
    return {"image", "missing", fmt::format("{} is not built", plan->reference), "run `guard image build`", {}};
  return {"image", "ok", fmt::format("{} is built (bun {})", plan->reference, plan->bun_version), "", {}};
}

Row rules_row() {
  const auto engine = load_rule_engine("");
  if (!engine) return row_of("rules", "bad", engine.error());
  const bool both = engine->matcher->engine() == Engine::hyperscan_and_re2;
  return {"rules", "ok",
      fmt::format("{} rules, {}", engine->rules->rules().size(),
          both ? "Hyperscan and RE2" : "RE2 alone (this CPU can't run Hyperscan)"),
      "", {}};
}

// Nobody is asked: that would take a token.
Row acads_row(const CommandContext& context) {
  const auto pool = acads::SessionPool::create(context.environment, context.cancel);
  if (!pool) return row_of("acads", "bad", pool.error());
  return {"acads", "unknown",
      fmt::format("{} by {}, for `guard session --backend acads` alone; guard was never tried against Azure",
          printable(pool->url()), pool->identity()),
      "", {}};
}

Result<LoadedConfig> trusted_config(const ConfigSources& sources, const fs::path& project, const CancelToken& cancel) {
  GUARD_TRY_ASSIGN(LoadedConfig loaded, load_config(sources));
  GUARD_TRY(trust_relaxations(loaded, project, cancel));
  return loaded;
}

Json document_of(const std::vector<Row>& rows, const Result<BackendChoice>& choice, bool ready) {
  Json document = {{"version", 1}, {"ready", ready}, {"parts", Json::array()}};
  for (const auto& row : rows) {
    Json part = {{"name", row.name}, {"state", row.state}, {"reason", row.text}, {"remedy", row.remedy}};
    for (const auto& [key, value] : row.facts) part["facts"][key] = value;
    document["parts"].push_back(std::move(part));
  }
  if (choice) {
    document["would_run"] = {
        {"backend", to_string(choice->backend)}, {"tiers", tier_names(choice->tiers)}, {"why", choice->why}};
  } else {
    document["would_run"] = {{"backend", nullptr}, {"why", choice.error().message()}};
  }
  return document;
}

void print(const std::vector<Row>& rows, const Result<BackendChoice>& choice, Streams& streams) {
  const Painter paint{streams.out_color ? Colour::on : Colour::off};
  for (const auto& row : rows) {
    const bool good = row.state == "ok" || row.state == "available";
    streams.out.print("{:<14} {} {}\n", row.name, paint(good ? kGreen : kYellow, fmt::format("{:<10}", row.state)),
        printable(row.text));
    if (!row.remedy.empty()) streams.out.print("{:<14} next: {}\n", "", printable(row.remedy));
    for (const auto& [key, value] : row.facts) streams.out.print("{:<14}   {} = {}\n", "", key, printable(value));
  }
  if (choice) {
    std::string tiers;
    for (const auto& name : tier_names(choice->tiers)) tiers += (tiers.empty() ? "" : " + ") + name;
    streams.out.print(
        "{:<14} {} with tiers {}: {}\n", "would run in", to_string(choice->backend), tiers, printable(choice->why));
  } else {
    streams.out.print("{:<14} nowhere: {}\n", "would run in", printable(choice.error().message()));
  }
}

// What code would reach.
Row network_row(const Config& config, const fs::path& project) {
  const Network network = network_of(config);
  if (network != Network::allowlist) {
    const std::string what = network == Network::none ? "none: code reaches nothing"
                                                      : fmt::format("{}: code reaches the network", to_string(network));
    return {"network", "ok", what, "", {}};
  }
  const auto rules = EgressRules::create(config.network.allow, config.network.deny);
  if (!rules) return row_of("network", "bad", rules.error());
  if (const auto checked = check_key_files(config, project); !checked) return row_of("network", "bad", checked.error());
  const auto texts = [](const std::vector<EgressRule>& some) {
    std::vector<std::string> all;
    for (const EgressRule& rule : some) all.push_back(rule.text());
    return all.empty() ? "nothing" : fmt::format("{}", fmt::join(all, ", "));
  };
  std::string what = fmt::format("allowlist: code reaches {}", texts(rules->allowed()));
  if (!rules->denied().empty()) what += fmt::format(", but not {}", texts(rules->denied()));
  if (!config.network.proxy.empty()) what += fmt::format(", through {}", config.network.proxy);
  for (const CredentialRule& one : config.network.credentials)
    what += fmt::format("; {} is added for {}", one.header, one.host);
  return {"network", "ok", what, "", {}};
}

}  // namespace

Result<int> cmd_doctor(const Options& options, CommandContext& context) {
  std::error_code failure;
  const fs::path project = fs::weakly_canonical(options.project.empty() ? "." : options.project, failure);

  // It starts the program that container_use.program names, as a run would.
  const auto loaded = trusted_config(config_of(options.config, project, context), project, context.cancel);
  const Config config = loaded ? loaded->config : Config{};

  std::vector<Row> rows;
  rows.push_back(loaded
          ? Row{"configuration", "ok",
                loaded->file.empty() ? "defaults (no guard.toml)" : printable(loaded->file.native()), "", {}}
          : row_of("configuration", "bad", loaded.error()));
  rows.push_back(rules_row());
  const EngineLocation engine = locate_engine(config, context.environment, context.cancel);
  rows.push_back(row_of("docker", engine.probe));
  // For its row and for the choice.
  std::map<Backend, SandboxProbe> probed;
  const auto probe = [&](Backend backend) {
    const auto [at, is_new] = probed.try_emplace(backend);
    if (is_new) {
      at->second =
          probe_backend(backend, config, context.environment, [&]() -> const EngineLocation& { return engine; });
    }
    return at->second;
  };
  rows.push_back(row_of("namespace", probe(Backend::namespace_sandbox)));
  // Nobody has to hear of a backend that is asked for by name only.
  if (config.allows(Backend::container_use) || !config.container_use.program.empty())
    rows.push_back(row_of("container-use", probe(Backend::container_use)));
  if (!value_of(context.environment, std::string(acads::kPoolVariable)).empty()) rows.push_back(acads_row(context));
  if (loaded) rows.push_back(network_row(config, project));
  rows.push_back(image_row(project, config));
  for (auto& finding : first_look(project, context.cancel).findings) {
    rows.push_back({std::move(finding.name), finding.works ? "ok" : "bad", std::move(finding.text),
        std::move(finding.remedy), {}});
  }

  // The choice that a run would make now. Without a readable configuration there is none.
  Result<BackendChoice> choice =
      loaded ? choose_backend(config, std::nullopt, probe) : Result<BackendChoice>(loaded.error());
  if (auto rolled = rolled_out(config); choice && !rolled) choice = std::move(rolled).error();
  if (choice) {
    if (auto fits = network_fits(*choice, config); !fits) choice = std::move(fits).error();
  }
  bool ready = choice.has_value();
  const bool needs_image = !choice || backend_row(choice->backend).takes_image;
  for (const auto& row : rows) {
    const bool needed = row.name == "configuration" || row.name == "rules" || (row.name == "image" && needs_image) ||
        (choice && row.name == to_string(choice->backend));
    if (needed && row.state != "ok" && row.state != "available") ready = false;
  }

  if (options.format == OutputFormat::json) {
    context.streams.out.write(dump(document_of(rows, choice, ready)));
  } else {
    print(rows, choice, context.streams);
  }
  if (!loaded) return loaded.error().exit_status();
  return ready ? 0 : 3;
}

}  // namespace guard

// `guard brief`: what a generator has to know before it writes.
#include <filesystem>

#include "cli/commands/commands.h"
#include "cli/commands/rule_engine.h"
#include "cli/commands/trusted_inputs.h"
#include "pipeline/report/brief.h"

namespace guard {

Result<int> cmd_brief(const Options& options, CommandContext& context) {
  GUARD_TRY_ASSIGN(const std::filesystem::path project, project_folder(options.project));
  GUARD_TRY_ASSIGN(const LoadedConfig loaded, load_config(config_of(options.config, project, context)));
  GUARD_TRY_ASSIGN(const RuleEngine engine, load_rule_engine(options.rules));
  const BriefRequest request{project, &loaded.config, engine.rules};
  context.streams.out.write(options.format == OutputFormat::json ? brief_document(request) : brief_text(request));
  return 0;
}

}  // namespace guard

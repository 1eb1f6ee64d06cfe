#include <fmt/format.h>

#include <array>
#include <filesystem>
#include <optional>

#include "cli/commands/commands.h"
#include "cli/options/config_template.h"
#include "common/file_io.h"
#include "common/text/text.h"
#include "pipeline/config/config_file.h"
#include "pipeline/run/first_look.h"

namespace guard {
namespace {

namespace fs = std::filesystem;

std::string text_of(const FirstLook& look, const fs::path& project) {
  std::string text = fmt::format("found in {}:\n", printable(project.native()));
  bool works = true;
  for (const auto& finding : look.findings) {
    text +=
        fmt::format("  {:<10} {}{}\n", finding.name, finding.works ? "" : "will not work: ", printable(finding.text));
    if (!finding.remedy.empty())
      text += fmt::format("  {:<10} {}{}\n", "", finding.works ? "" : "next: ", printable(finding.remedy));
    works = works && finding.works;
  }
  return text +
      fmt::format(
          "next: commit guard.toml{}, then `guard image build`, `guard run`; `guard doctor` says what works on this "
          "machine\n",
          works ? "" : ", fix what will not work");
}

// Returns where it was written.
Result<fs::path> init(const Options& options, const CancelToken& cancel, FirstLook& look) {
  const fs::path start = options.project.empty() ? fs::path(".") : fs::path(options.project);
  GUARD_TRY_ASSIGN(const ConfigPlace place, config_place(start));
  if (place.left_sandbox) {
    return Error(ErrorCode::input_invalid,
        fmt::format("{} lies in the sandbox folder, where no guard.toml is ever read", printable(start.native())))
        .hint(fmt::format("guard init --project {}", printable(place.begin.native())));
  }
  // The only place where it is read, also when one stands further down.
  const fs::path path = place.root / kConfigFileName;
  std::error_code failure;
  const fs::file_type there = fs::symlink_status(path, failure).type();
  if (there == fs::file_type::none)
    return Error::from_errno(
        ErrorCode::io_error, fmt::format("cannot look at {}", printable(path.native())), failure.value());
  if (there == fs::file_type::directory)
    return Error(ErrorCode::input_invalid, fmt::format("{} is a folder", printable(path.native())));
  if (there != fs::file_type::not_found && !options.force) {
    return Error(ErrorCode::input_invalid, fmt::format("{} is there already", printable(path.native())))
        .hint("edit it, or replace it with `guard init --force`");
  }
  look = first_look(place.root, cancel);
  GUARD_TRY(write_file_atomically(path, config_template(look.gated)));
  return path;
}

}  // namespace

Result<int> cmd_init(const Options& options, CommandContext& context) {
  FirstLook look;
  GUARD_TRY_ASSIGN(const fs::path written, init(options, context.cancel, look).context("writing a guard.toml"));
  context.streams.out.print("wrote {}: {}\n{}", printable(written.native()),
      look.gated.empty() ? "every key commented out, nothing changed yet"
                         : "check.paths says where the tests lie, every other key is commented out",
      text_of(look, written.parent_path()));
  return 0;
}

}  // namespace guard

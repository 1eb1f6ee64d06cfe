#include <fmt/format.h>
#include <sys/stat.h>

#include <array>
#include <cerrno>
#include <filesystem>
#include <optional>

#include "cli/commands.h"
#include "cli/config_template.h"
#include "common/file_io.h"
#include "common/text.h"
#include "pipeline/config_file.h"

namespace guard {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kLockfiles[] = {"bun.lock", "bun.lockb", "package-lock.json", "yarn.lock", "pnpm-lock.yaml"};

enum class Kind : std::uint8_t { nothing, folder, other };

Result<Kind> kind_of(const fs::path& path) {
  struct stat status {};
  if (::lstat(path.c_str(), &status) != 0) {
    if (errno == ENOENT) return Kind::nothing;
    return Error::from_errno(ErrorCode::io_error, fmt::format("cannot look at {}", printable(path.native())), errno);
  }
  return S_ISDIR(status.st_mode) ? Kind::folder : Kind::other;
}

bool is_there(const fs::path& path) {
  const auto kind = kind_of(path);
  return kind.has_value() && *kind != Kind::nothing;
}

// What is still missing before `guard run` can work here, a line each.
std::string next_steps(const fs::path& project) {
  std::string text;
  if (!is_there(project / "package.json"))
    text += "  there is no package.json here: guard run needs one, `{}` will do\n";
  bool locked = false;
  for (const auto name : kLockfiles) locked = locked || is_there(project / name);
  if (!locked) text += "  there is no lockfile: with dependencies, `bun install --lockfile-only` makes one\n";
  if (!is_there(project / "sandbox")) {
    text += "  there is no sandbox folder: put machine-written tests there, or name their place in [check] paths\n";
  }
  return text + "next: commit guard.toml, then `guard doctor` says what works on this machine\n";
}

Result<fs::path> init(const InitOptions& options) {
  const fs::path start = options.project.empty() ? fs::path(".") : fs::path(options.project);
  GUARD_TRY_ASSIGN(const ConfigPlace place, config_place(start));
  if (place.left_sandbox) {
    return Error(ErrorCode::input_invalid,
                 fmt::format("{} lies in the sandbox folder, where no guard.toml is ever read",
                             printable(start.native())))
        .hint(fmt::format("guard init --project {}", printable(place.begin.native())));
  }
  // The only place where it is read, also when one stands further down.
  const fs::path path = place.root / kConfigFileName;
  GUARD_TRY_ASSIGN(const Kind there, kind_of(path));
  if (there == Kind::folder)
    return Error(ErrorCode::input_invalid, fmt::format("{} is a folder", printable(path.native())));
  if (there != Kind::nothing && !options.force) {
    return Error(ErrorCode::input_invalid, fmt::format("{} is there already", printable(path.native())))
        .hint("edit it, or replace it with `guard init --force`");
  }
  GUARD_TRY(write_file_atomically(path, config_template()));
  return path;
}

}  // namespace

int cmd_init(const InitOptions& options, CommandContext& context) {
  const auto written = init(options).context("writing a guard.toml");
  if (!written) return fail(context, written.error());
  context.streams.out.print("wrote {}: every key commented out, nothing changed yet\n{}", printable(written->native()),
                            next_steps(written->parent_path()));
  return finish(context, 0);
}

}  // namespace guard

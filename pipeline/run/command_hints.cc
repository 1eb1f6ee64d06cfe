#include "pipeline/run/command_hints.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <string_view>
#include <utility>

#include "common/text/text.h"

namespace guard {
namespace {

using Words = std::array<std::string_view, 14>;

struct Installer {
  std::string_view program;
  Words actions;             // first one empty: all of them
  bool without_any = false;  // without arguments it installs, too
};

constexpr Words kBun = {"install", "i", "add", "a", "update", "upgrade", "ci", "create", "x", "remove", "rm"};
constexpr Words kNode = {
    "install", "i", "add", "update", "up", "upgrade", "ci", "create", "exec", "dlx", "x", "remove", "rm", "uninstall"};
constexpr Installer kInstallers[] = {{"bun", kBun}, {"bunx", {}}, {"npm", kNode}, {"npx", {}}, {"pnpm", kNode},
    {"pnpx", {}}, {"yarn", kNode, true}, {"pip", {"install", "download"}}, {"pip3", {"install", "download"}}};

constexpr std::string_view kWhatToDo =
    "run it outside of the sandbox, commit the lockfile, then `guard image build`: packages are a part of the image";

}  // namespace

std::string installer_of(const std::vector<std::string>& argv) {
  if (argv.empty()) return {};
  std::string program = std::filesystem::path(argv.front()).filename().string();
  const auto* row = std::ranges::find(kInstallers, std::string_view(program), &Installer::program);
  if (row == std::end(kInstallers)) return {};
  const auto action =
      std::find_if(argv.begin() + 1, argv.end(), [](const auto& word) { return !word.starts_with('-'); });
  if (row->actions.front().empty()) return program;
  if (action == argv.end()) return row->without_any ? program : std::string();
  const bool installs = std::ranges::find(row->actions, std::string_view(*action)) != row->actions.end();
  return installs && !action->empty() ? fmt::format("{} {}", program, *action) : std::string();
}

std::optional<Error> why_it_failed(const SandboxSpec& spec) {
  const std::string installer = installer_of(spec.argv);
  if (installer.empty() || spec.network != Network::none) return std::nullopt;
  return Error(ErrorCode::dependency_unsatisfied,
      fmt::format("`{}` can't work here: the sandbox has no network, and the project is read-only in it", installer))
      .hint(std::string(kWhatToDo));
}

Error with_start_hint(Error error, const SandboxSpec& spec) {
  if (error.code() != ErrorCode::file_not_found || spec.argv.empty()) return error;
  const bool installs = !installer_of(spec.argv).empty() && spec.network == Network::none;
  std::string hint = installs
      ? fmt::format("there is no network in the sandbox, either; {}", kWhatToDo)
      : "guard's own image holds bun and the project's packages, and [image] tools adds programs of this machine";
  return std::move(error).context(fmt::format("starting {}", printable(spec.argv.front()))).hint(std::move(hint));
}

}  // namespace guard

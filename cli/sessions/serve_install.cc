#include "cli/sessions/serve_install.h"

#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <filesystem>
#include <optional>
#include <system_error>

#include "cli/sessions/serve_units.h"
#include "cli/sessions/session_sandbox.h"
#include "cli/sessions/session_service.h"
#include "cli/sessions/trace_options.h"
#include "cli/unit_surroundings.h"
#include "common/file_io.h"
#include "common/text/text.h"
#include "docker/engine_probe.h"
#include "nightly/install/systemd_units.h"
#include "serve/access.h"

namespace guard {
namespace {

namespace fs = std::filesystem;

constexpr std::uint64_t kUnitBytesMax = 1u << 16;
constexpr std::string_view kSocketUnit = "guard-serve.socket";

Result<ServeUnitRequest> request_of(const Options& options, CommandContext& context, milliseconds stop_max) {
  ServeUnitRequest request;
  GUARD_TRY_ASSIGN(const fs::path program, own_program());
  GUARD_TRY_ASSIGN(const fs::path project, project_folder(options.project));
  GUARD_TRY_ASSIGN(const fs::path sessions, sessions_folder(options, context));
  GUARD_TRY_ASSIGN(const fs::path cache, cache_folder());
  if (!options.listen.empty()) GUARD_TRY(serve::check_loopback(options.listen));
  request.stop_max = stop_max;
  request.socket = session_socket(sessions).native();
  request.writable = {sessions.native(), fs::absolute(cache).native()};
  request.variables = unit_variables(context.environment, project.native());
  request.variables.emplace_back("GUARD_CACHE_DIR", request.writable.back());
  for (const docker::Endpoint& engine : docker::engine_candidates(context.environment).endpoints)
    request.needed.push_back(engine.socket_path);
  request.command = {
      program.native(), "serve", "--quiet", "--state", sessions.parent_path().native(), "--project", project.native()};
  const auto add = [&request](const char* option, const std::string& value) {
    if (!value.empty()) request.command.insert(request.command.end(), {option, value});
  };
  const auto add_file = [&](const char* option, const std::string& path) {
    const fs::path whole = path.empty() ? fs::path() : fs::absolute(path).lexically_normal();
    add(option, whole.native());
    return whole.parent_path().native();
  };
  if (options.backend) add("--backend", std::string(backend_row(*options.backend).name));
  add_file("--config", options.config);
  add("--listen", options.listen);
  const std::string token_folder = add_file("--token-file", options.token_file);
  if (!token_folder.empty()) request.writable.push_back(token_folder);
  if (options.time_limit.count() > 0) add("--drain", fmt::format("{}ms", options.time_limit.count()));
  for (const std::string& word : trace_words(options)) request.command.push_back(word);
  if (!options.trace.empty() && options.trace != "-")
    request.writable.push_back(fs::absolute(options.trace).lexically_normal().parent_path().native());
  // The journal keeps what is said to standard error.
  if (options.log_file.empty() || options.log_file == "-") {
    add("--log", "-");
  } else {
    request.writable.push_back(add_file("--log", options.log_file));
  }
  return request;
}

// Nothing: it is not there. INPUT_INVALID for what is no file, such as a link to /dev/null: masked by a person.
Result<std::optional<std::string>> read_unit(const fs::path& path) {
  auto text = read_file(path, kUnitBytesMax, FollowLinks::no);
  if (text) return std::optional<std::string>(std::move(*text));
  if (text.error().code() == ErrorCode::file_not_found) return std::optional<std::string>();
  return std::move(text).error().hint("move it away; nothing was written");
}

struct Look {
  fs::path path;
  std::string wanted;
  std::string found;
  UnitState state = UnitState::absent;
};
Result<std::vector<Look>> look_at(const std::vector<ServeUnit>& units, const fs::path& folder) {
  std::vector<Look> looks;
  for (const ServeUnit& unit : units) {
    Look look{folder / unit.name, unit.text, {}, UnitState::absent};
    GUARD_TRY_ASSIGN(auto found, read_unit(look.path));
    if (found) {
      look.state = unit_state(*found, look.wanted);
      look.found = std::move(*found);
    }
    looks.push_back(std::move(look));
  }
  return looks;
}

Error was_changed(const Look& look, std::string_view what_next) {
  return Error(
      ErrorCode::input_invalid, fmt::format("{} was changed, or is not guard's", printable(look.path.native())))
      .hint(fmt::format("put your changes into a drop-in (systemctl --user edit {}), then {} with --force",
          look.path.filename().native(), what_next));
}

}  // namespace

Result<int> serve_install(const Options& options, CommandContext& context, milliseconds stop_max) {
  GUARD_TRY_ASSIGN(const ServeUnitRequest request, request_of(options, context, stop_max));
  GUARD_TRY_ASSIGN(const auto units, serve_units(request));
  GUARD_TRY_ASSIGN(const fs::path folder, user_unit_folder(value_of(context.environment, "HOME"), context.environment));
  OutStream& out = context.streams.out;
  if (options.print) {
    for (const ServeUnit& unit : units) out.print("# {}\n{}\n", printable((folder / unit.name).native()), unit.text);
    return 0;
  }
  // All are looked at before one is written.
  GUARD_TRY_ASSIGN(const auto looks, look_at(units, folder));
  for (const Look& look : looks) {
    if (look.state != UnitState::changed || options.force) continue;
    context.streams.err.write(unit_changes(look.found, look.wanted));
    return was_changed(look, "install");
  }
  for (const std::string& writable : request.writable) {
    struct stat info {};
    if (::stat(writable.c_str(), &info) != 0) GUARD_TRY(make_folders(writable, 0711));  // or the unit does not start
  }
  GUARD_TRY(make_folders(folder));
  for (const Look& look : looks) {
    const bool is_same = look.state == UnitState::same;
    if (!is_same) GUARD_TRY(write_file_atomically(look.path, look.wanted, 0644));
    out.print("{}: {}\n", is_same ? "unchanged" : "written", printable(look.path.native()));
    if (!is_same && !look.found.empty()) out.write(unit_changes(look.found, look.wanted));
  }
  out.print(
      "nothing was started; next:\n  systemctl --user daemon-reload\n  systemctl --user enable --now {}\n"
      "  loginctl enable-linger      # or it ends when you log out\n",
      kSocketUnit);
  std::error_code failure;
  if (!fs::is_directory("/run/systemd/system", failure)) {
    std::string command;
    for (const std::string& word : request.command) command += nightly::cron_word(word) + " ";
    out.print("systemd does not run here: start it by hand, or by this line in `crontab -e`:\n  @reboot {}\n",
        printable(command));
  }
  return 0;
}

// A socket that is still enabled would be missed at the next start of the session.
Result<int> serve_uninstall(const Options& options, CommandContext& context) {
  GUARD_TRY_ASSIGN(const fs::path folder, user_unit_folder(value_of(context.environment, "HOME"), context.environment));
  std::error_code failure;
  if (fs::exists(fs::symlink_status(folder / "sockets.target.wants" / kSocketUnit, failure))) {
    return Error(ErrorCode::input_invalid, "the socket is still enabled")
        .hint("systemctl --user disable --now guard-serve.socket guard-serve.service");
  }
  GUARD_TRY_ASSIGN(const auto looks, look_at({{std::string(kSocketUnit), {}}, {"guard-serve.service", {}}}, folder));
  for (const Look& look : looks) {
    if (look.state == UnitState::changed && !options.force) return was_changed(look, "uninstall");
  }
  bool any = false;
  for (const Look& look : looks) {
    if (look.state == UnitState::absent) continue;
    if (::unlink(look.path.c_str()) != 0)
      return Error::from_errno(ErrorCode::io_error, printable(look.path.native()), errno);
    context.streams.out.print("removed: {}\n", printable(look.path.native()));
    any = true;
  }
  context.streams.out.print("{}\n",
      any ? "next: systemctl --user daemon-reload; sessions and their workspaces stay"
          : "no units of guard serve here");
  return 0;
}

}  // namespace guard

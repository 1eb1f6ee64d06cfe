// `guard nightly install`: the units that run a plan every night. Files are written, and nothing is started: what a
// machine does at night is switched on by a person.
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <optional>
#include <system_error>

#include "cli/nightly/nightly_parts.h"
#include "cli/unit_surroundings.h"
#include "common/file_io.h"
#include "common/text/text.h"
#include "nightly/install/systemd_units.h"
#include "nightly/plan/plan.h"

namespace guard {
namespace {

namespace fs = std::filesystem;
using nightly::SystemdUnitRequest;
using nightly::UnitManager;

constexpr std::uint64_t kPlanBytesMax = 4u << 20;
constexpr std::uint64_t kUnitBytesMax = 1u << 20;
constexpr std::uint64_t kUsersBytesMax = 16u << 20;

Result<std::string> absolute(const std::string& path) {
  if (path.empty()) return std::string();
  std::error_code failure;
  const fs::path whole = fs::canonical(path, failure);
  if (failure) return Error::from_errno(ErrorCode::file_not_found, printable(path), failure.value());
  return whole.native();
}

// Not getpwuid(): a static program would load libraries of the machine's for it.
Result<std::string> home_of(uid_t user) {
  GUARD_TRY_ASSIGN(const std::string users, read_file("/etc/passwd", kUsersBytesMax));
  for (const auto line : pieces_of(users)) {
    const auto fields = pieces_of(line, ':');
    uid_t number = 0;
    if (fields.size() >= 6 && read_number(fields[2], number) && number == user) return std::string(fields[5]);
  }
  return Error(
      ErrorCode::input_invalid, fmt::format("user {} owns the repository, and has no home in /etc/passwd", user))
      .hint("install for a user instead: guard nightly install PLAN --user");
}

// Folders that a unit names have to be there, or it does not start. Root makes none in somebody else's home.
Result<void> own_folders(const SystemdUnitRequest& request, uid_t owner) {
  for (const std::string* folder : {&request.state, &request.cache}) {
    struct stat info {};
    if (::stat(folder->c_str(), &info) == 0 && S_ISDIR(info.st_mode)) continue;
    if (owner != ::geteuid()) {
      return Error(ErrorCode::input_invalid,
          fmt::format("the folder {} is not there, and is made by its owner", printable(*folder)))
          .hint(fmt::format("as user {}: mkdir -p -m 700 {}", owner, printable(nightly::cron_word(*folder))));
    }
    GUARD_TRY(make_folders(*folder, 0700));
  }
  return ok();
}

Result<SystemdUnitRequest> request_of(const Options& options, CommandContext& context) {
  SystemdUnitRequest request;
  request.manager = options.user ? UnitManager::user : UnitManager::system;
  if (!options.user && ::geteuid() != 0) {
    return Error(ErrorCode::input_invalid, "only root installs units for the whole machine")
        .hint("guard nightly install PLAN --user");
  }
  GUARD_TRY_ASSIGN(request.plan, absolute(options.arguments[0]));
  GUARD_TRY_ASSIGN(const std::string text, read_file(request.plan, kPlanBytesMax));
  GUARD_TRY_ASSIGN(
      const nightly::Plan plan, nightly::parse_plan(text, options.arguments[0], fs::path(request.plan).parent_path()));
  request.budget = std::chrono::duration_cast<std::chrono::seconds>(plan.budget.time);

  CancelToken never;
  GUARD_TRY_ASSIGN(const NightlyPlace place, nightly_place(options, context, never));
  const fs::path top = place.repository.top();
  const Environment& environment = context.environment;
  struct stat info {};
  if (::stat(top.c_str(), &info) != 0) return Error::from_errno(ErrorCode::io_error, printable(top.native()), errno);
  const uid_t owner = options.user ? ::geteuid() : info.st_uid;
  request.home = value_of(environment, "HOME");
  request.state = place.state.path().native();
  GUARD_TRY_ASSIGN(const fs::path cache, cache_folder());
  request.cache = fs::absolute(cache).native();
  // Root installs for somebody else: in that user's folders.
  if (owner != ::geteuid()) {
    GUARD_TRY_ASSIGN(request.home, home_of(owner));
    request.user = fmt::format("{}", owner);
    request.cache = request.home + "/.cache/guard";
    if (options.state.empty()) {
      const Environment theirs = {{"GUARD_STATE_DIR", request.home + "/.local/state/guard"}};
      GUARD_TRY_ASSIGN(const auto state, nightly::StateFolder::of(top, {}, theirs));
      request.state = state.path().native();
    }
  }
  GUARD_TRY_ASSIGN(const fs::path program, own_program());
  request.program = program.native();
  request.repository = top.native();
  request.git_folder = place.repository.common_folder().native();
  GUARD_TRY_ASSIGN(request.config, absolute(options.config));
  GUARD_TRY_ASSIGN(request.rules, absolute(options.rules));
  const auto minutes = [&](std::size_t at) {
    return std::chrono::minutes((options.at[at] - '0') * 10 + (options.at[at + 1] - '0'));
  };
  request.at = minutes(0) * 60 + minutes(3);
  request.variables = unit_variables(environment, request.repository);
  GUARD_TRY(own_folders(request, owner));
  return request;
}

Result<fs::path> unit_folder(UnitManager manager, const std::string& home, const Environment& environment) {
  if (manager == UnitManager::system) return fs::path("/etc/systemd/system");
  return user_unit_folder(home, environment);
}

enum class Standing : std::uint8_t { absent, same, older };

Result<Standing> standing(const fs::path& path, const std::string& text) {
  struct stat info {};
  if (::lstat(path.c_str(), &info) != 0) {
    if (errno == ENOENT) return Standing::absent;
    return Error::from_errno(ErrorCode::io_error, printable(path.native()), errno);
  }
  const Error foreign =
      Error(ErrorCode::input_invalid, fmt::format("{} is there already, and not guard's", printable(path.native())))
          .hint("move it away, or put what it does into a drop-in; nothing was written");
  if (!S_ISREG(info.st_mode)) return foreign;  // a link to /dev/null, say: masked by a person
  auto bytes = read_file(path, kUnitBytesMax, FollowLinks::no);
  if (!bytes) {
    if (bytes.error().code() == ErrorCode::file_too_large) return foreign;
    return std::move(bytes).error();
  }
  if (!bytes->starts_with(std::string(nightly::kUnitMark) + "\n")) return foreign;
  return *bytes == text ? Standing::same : Standing::older;
}

std::vector<std::string> next_steps(const SystemdUnitRequest& request, const nightly::NightUnits& units) {
  const bool user = request.manager == UnitManager::user;
  const std::string control = user ? "systemctl --user " : "systemctl ";
  std::vector<std::string> steps = {
      control + "daemon-reload", control + fmt::format("enable --now {} {}", units.timers[0], units.timers[1])};
  // Without it a user's timers stop when the user logs out.
  if (user) steps.push_back("loginctl enable-linger");
  steps.push_back(fmt::format("{}start {}", control, units.files[0].name));
  return steps;
}

}  // namespace

Result<int> nightly_install(const Options& options, CommandContext& context) {
  GUARD_TRY_ASSIGN(const SystemdUnitRequest request, request_of(options, context));
  GUARD_TRY_ASSIGN(const auto units, nightly::night_units(request));
  GUARD_TRY_ASSIGN(const fs::path folder, unit_folder(request.manager, request.home, context.environment));
  // All are looked at before one is written.
  std::vector<Standing> found;
  for (const auto& file : units.files) {
    GUARD_TRY_ASSIGN(const Standing state, standing(folder / file.name, file.text));
    found.push_back(state);
  }
  GUARD_TRY(make_folders(folder));
  for (std::size_t i = 0; i < units.files.size(); ++i) {
    if (found[i] != Standing::same)
      GUARD_TRY(write_file_atomically(folder / units.files[i].name, units.files[i].text, 0644));
  }
  const auto steps = next_steps(request, units);
  OutStream& out = context.streams.out;
  if (options.format == OutputFormat::json) {
    nlohmann::ordered_json files = nlohmann::ordered_json::array();
    for (std::size_t i = 0; i < units.files.size(); ++i) {
      files.push_back({{"path", (folder / units.files[i].name).native()},
          {"state", found[i] == Standing::same ? "unchanged" : "written"}});
    }
    return write_json(context,
        {{"version", 1}, {"manager", options.user ? "user" : "system"}, {"files", files}, {"timers", units.timers},
            {"state_folder", request.state}, {"next", steps}, {"cron", units.cron}});
  }
  for (std::size_t i = 0; i < units.files.size(); ++i) {
    out.print("{}: {}\n", found[i] == Standing::same ? "unchanged" : "written",
        printable((folder / units.files[i].name).native()));
  }
  out.write("nothing was started; next:\n");
  for (const auto& step : steps) out.print("  {}\n", step);
  out.print(
      "the last one runs a night now, which shows what the unit still lacks; state in {}\n", printable(request.state));
  out.write("without systemd, these lines in `crontab -e` do the same:\n");
  for (const auto& line : units.cron) out.print("  {}\n", printable(line));
  return 0;
}

// Nothing is stopped: a unit that is still enabled would be started again at the next boot by what is left of it.
Result<int> nightly_uninstall(const Options& options, CommandContext& context) {
  const UnitManager manager = options.user ? UnitManager::user : UnitManager::system;
  CancelToken never;
  GUARD_TRY_ASSIGN(const NightlyPlace place, nightly_place(options, context, never));
  GUARD_TRY_ASSIGN(
      const fs::path folder, unit_folder(manager, value_of(context.environment, "HOME"), context.environment));
  const std::string stem = nightly::unit_stem(place.repository.top().native());
  const std::string control = options.user ? "systemctl --user" : "systemctl";
  std::vector<fs::path> ours;
  std::vector<std::string> enabled;
  for (const char* end : {".service", ".timer", "-check.service", "-check.timer"}) {
    const std::string name = stem + end;
    GUARD_TRY_ASSIGN(const Standing state, standing(folder / name, {}));
    if (state != Standing::absent) ours.push_back(folder / name);
    std::error_code failure;
    if (fs::exists(fs::symlink_status(folder / "timers.target.wants" / name, failure))) enabled.push_back(name);
  }
  if (!enabled.empty()) {
    return Error(
        ErrorCode::input_invalid, fmt::format("{} still enabled", enabled.size() == 1 ? "a timer is" : "timers are"))
        .hint(fmt::format("{} disable --now {}", control, fmt::join(enabled, " ")));
  }
  for (const fs::path& file : ours) {
    if (::unlink(file.c_str()) != 0) return Error::from_errno(ErrorCode::io_error, printable(file.native()), errno);
  }
  if (options.format == OutputFormat::json) {
    nlohmann::ordered_json removed = nlohmann::ordered_json::array();
    for (const fs::path& file : ours) removed.push_back(file.native());
    return write_json(context, {{"version", 1}, {"removed", removed}});
  }
  for (const fs::path& file : ours) context.streams.out.print("removed: {}\n", printable(file.native()));
  context.streams.out.print("{}",
      ours.empty()
          ? fmt::format("no units of guard for this repository in {}; a line in your crontab is yours to remove\n",
                printable(folder.native()))
          : fmt::format("next: {} daemon-reload; journal and evidence stay in {}\n", control,
                printable(place.state.path().native())));
  return 0;
}

}  // namespace guard

#include "nightly/install/systemd_units.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "common/hash.h"
#include "common/text/text.h"

// What a night needs is what decides: a generator with network and a home, bubblewrap with namespaces and a /proc of
// its own, a container engine's socket. The settings are those of systemd 252; older ones warn about what they do not
// know.

namespace guard::nightly {
namespace {

constexpr std::chrono::minutes kDay{24 * 60};
// Behind the end of the longest night. With it, a night that was left out shows on the same day: the one before is then
// older than kMaxAge, and tonight's never is.
constexpr std::chrono::minutes kCheckDelay{3 * 60};
constexpr std::string_view kMaxAge = "26h";

// Where the known generators keep sessions and tokens. What is not there is no fault (the dash).
constexpr std::string_view kGeneratorFolders[] = {".claude", ".codex", ".gemini"};

bool is_below(std::string_view path, std::string_view folder) {
  return path.starts_with(folder) &&
      (path.size() == folder.size() || folder.ends_with('/') || path[folder.size()] == '/');
}

std::string_view unit_text_fault(std::string_view text) {
  if (text.empty()) return "is empty";
  const bool control =
      std::any_of(text.begin(), text.end(), [](char c) { return static_cast<unsigned char>(c) < 0x20 || c == 0x7f; });
  if (control) return "holds a control character, which no unit can name";
  return is_utf8(text) ? "" : "is not UTF-8, and systemd leaves out such a line";
}

std::string clock(std::chrono::minutes at) {
  const auto minutes = (at % kDay).count();
  return fmt::format("{:02}:{:02}", minutes / 60, minutes % 60);
}

std::chrono::minutes check_time(const SystemdUnitRequest& request) {
  // A night that may take the whole day cannot be waited for.
  const auto budget = std::min(
      std::chrono::duration_cast<std::chrono::minutes>(request.budget), kDay - kCheckDelay - std::chrono::minutes(60));
  return (request.at + budget + kCheckDelay) % kDay;
}

// A unit, line by line. The first word that no unit can hold is remembered, and told by finish().
class UnitText {
 public:
  UnitText(std::string_view name, UnitManager manager) {
    line(kUnitMark);
    why("The next install writes it anew. Changes belong into a drop-in:");
    why(fmt::format("systemctl {}edit {}", manager == UnitManager::user ? "--user " : "", name));
  }
  void section(std::string_view name) { text_ += fmt::format("\n[{}]\n", name); }
  void line(std::string_view line) { text_.append(line).push_back('\n'); }
  void why(std::string_view sentence) { text_ += fmt::format("# {}\n", sentence); }

  void words(std::string_view key, const std::vector<std::string>& list) {
    text_.append(key).push_back('=');
    for (std::size_t i = 0; i < list.size(); ++i) {
      auto quoted = unit_word(list[i]);
      if (!quoted) {
        if (!fault_) fault_ = std::move(quoted).error();
        continue;
      }
      if (i > 0) text_ += ' ';
      text_ += *quoted;
    }
    text_ += '\n';
  }

  Result<std::string> finish() && {
    if (fault_) return std::move(*fault_);
    return std::move(text_);
  }

 private:
  std::string text_;
  std::optional<Error> fault_;
};

std::vector<std::string> night_command(const SystemdUnitRequest& request) {
  std::vector<std::string> argv = {
      request.program, "nightly", "run", "--resume", "--project", request.repository, "--state", request.state};
  if (!request.config.empty()) argv.insert(argv.end(), {"--config", request.config});
  if (!request.rules.empty()) argv.insert(argv.end(), {"--rules", request.rules});
  argv.push_back(request.plan);
  return argv;
}

std::vector<std::string> check_command(const SystemdUnitRequest& request) {
  return {request.program, "nightly", "status", "--max-age", std::string(kMaxAge), "--project", request.repository,
      "--state", request.state};
}

void command(UnitText& unit, std::vector<std::string> argv) {
  argv.front().insert(0, ":");  // a dollar sign stays one
  unit.words("ExecStart", argv);
}

void variables(UnitText& unit, const SystemdUnitRequest& request) {
  for (const auto& [name, value] : request.variables) unit.words("Environment", {name + "=" + value});
  unit.words("Environment", {"GUARD_CACHE_DIR=" + request.cache});
}

bool is_root(const SystemdUnitRequest& request) {
  return request.manager == UnitManager::system && (request.user.empty() || request.user == "0");
}

void run_as(UnitText& unit, const SystemdUnitRequest& request) {
  if (request.manager == UnitManager::user) {
    unit.why("Without it a user's manager may not set up what is below.");
    unit.line("PrivateUsers=yes");
  } else if (!is_root(request)) {
    unit.line(fmt::format("User={}", request.user));
  } else {
    unit.why("As root, because the repository is root's; under a user of its own more of this page would hold.");
  }
}

void own_tmp(UnitText& unit, const SystemdUnitRequest& request) {
  for (const std::string* path : {&request.program, &request.repository, &request.git_folder, &request.plan,
           &request.state, &request.cache, &request.config, &request.rules}) {
    if (!is_below(*path, "/tmp") && !is_below(*path, "/var/tmp")) continue;
    unit.why("Not PrivateTmp: something that is named here lies in /tmp.");
    return;
  }
  unit.line("PrivateTmp=yes");
}

std::vector<std::string> writable_paths(const SystemdUnitRequest& request) {
  std::vector<std::string> paths = {request.git_folder, request.state, request.cache};
  if (request.home.empty()) return paths;
  for (const auto folder : kGeneratorFolders)
    paths.push_back(fmt::format("-{}{}{}", request.home, request.home.ends_with('/') ? "" : "/", folder));
  return paths;
}

Result<std::string> night_service(const SystemdUnitRequest& request, const std::string& stem) {
  UnitText unit(stem + ".service", request.manager);
  unit.section("Unit");
  unit.line(fmt::format("Description=A night of guard ({})", stem));
  if (request.manager == UnitManager::system) {
    unit.line("Wants=network-online.target");
    unit.line("After=network-online.target docker.service");
  }

  unit.section("Service");
  unit.why("Not oneshot: a night takes hours, and through all of them it would be \"activating\".");
  unit.line("Type=exec");
  command(unit, night_command(request));
  unit.why(
      "1: tasks were refused or failed, and the report says why. That is a night as it should be. 2 and 3 are not.");
  unit.line("SuccessExitStatus=1");
  unit.why("A generator or a test that takes too much memory is killed alone; the night goes on.");
  unit.line("OOMPolicy=continue");
  unit.why("guard ends generators and sandboxes itself and tells whoever is to be told; what is left then is killed.");
  unit.line("KillMode=mixed");
  unit.line("TimeoutStopSec=180");
  unit.line("Nice=5");
  variables(unit, request);
  run_as(unit, request);

  unit.line("");
  unit.why(
      "All is read-only but git's folder, guard's own, and those of generators. What yours writes elsewhere (its clone "
      "is in");
  unit.why("guard's own) needs ReadWritePaths= in a drop-in.");
  unit.line("ProtectSystem=strict");
  unit.words("ReadWritePaths", writable_paths(request));
  own_tmp(unit, request);
  unit.line("PrivateDevices=yes");
  unit.line("UMask=0077");
  unit.line("NoNewPrivileges=yes");
  if (is_root(request)) {
    unit.why("Not CapabilityBoundingSet: root's sandboxes run as another user, in mounts that root makes.");
  } else {
    unit.why("bubblewrap has its capabilities in a user namespace of its own, which this does not limit.");
    unit.line("CapabilityBoundingSet=");
  }
  unit.line("ProtectClock=yes");
  unit.line("ProtectKernelModules=yes");
  const bool makes_groups = request.manager == UnitManager::user || is_root(request);
  if (!makes_groups) unit.line("ProtectControlGroups=yes");
  unit.line("LockPersonality=yes");
  unit.line("RestrictRealtime=yes");
  unit.line("RestrictSUIDSGID=yes");
  unit.line("SystemCallArchitectures=native");
  unit.line("SystemCallFilter=~@clock @cpu-emulation @module @obsolete @raw-io @reboot @swap");
  unit.line("SystemCallErrorNumber=EPERM");
  unit.why("NETLINK: bubblewrap brings up the loopback of a network without any other.");
  unit.line("RestrictAddressFamilies=AF_UNIX AF_INET AF_INET6 AF_NETLINK");

  unit.line("");
  unit.why("Left out, because a night needs it:");
  unit.why("PrivateNetwork, IPAddressDeny: the generator talks to its service, over the network.");
  unit.why(
      "ProtectHome: the repository, guard's folders and the generator's own lie there. All else in it is read-only.");
  unit.why("RestrictNamespaces, SystemCallFilter=~@mount @privileged: bubblewrap makes namespaces and mounts.");
  unit.why(
      "ProtectKernelTunables, ProtectKernelLogs, ProtectProc, ProcSubset: they cover parts of /proc, and the kernel "
      "then");
  unit.why("refuses the fresh /proc of a sandbox.");
  unit.why("ProtectHostname: a sandbox has a host name of its own.");
  unit.why("MemoryDenyWriteExecute: bun compiles while it runs.");
  if (makes_groups) unit.why("ProtectControlGroups: the limits of the embedded sandbox are control groups.");
  unit.why("MemoryMax: each sandbox has its limit, and nobody knows the generator's. Set one in a drop-in.");
  unit.why("RuntimeMaxSec: the plan's [budget] ends a night, and what it has done by then stays.");
  return std::move(unit).finish();
}

Result<std::string> check_service(const SystemdUnitRequest& request, const std::string& stem) {
  const std::string name = stem + "-check.service";
  UnitText unit(name, request.manager);
  unit.section("Unit");
  unit.line(fmt::format("Description=Whether the last night of guard came to its end ({})", stem));
  unit.why("Who is to be told stands in a drop-in: [Unit] and OnFailure=NAME.service");

  unit.section("Service");
  unit.line("Type=oneshot");
  command(unit, check_command(request));
  unit.line("TimeoutStartSec=60");
  variables(unit, request);
  run_as(unit, request);

  unit.line("");
  unit.line("ProtectSystem=strict");
  unit.why("A journal in WAL mode is not read without its shared index being written.");
  unit.words("ReadWritePaths", {request.state});
  own_tmp(unit, request);
  unit.why("It starts git, and no generator and no sandbox.");
  for (const char* setting : {"PrivateDevices=yes", "PrivateNetwork=yes", "UMask=0077", "NoNewPrivileges=yes",
           "CapabilityBoundingSet=", "ProtectClock=yes", "ProtectControlGroups=yes", "ProtectHostname=yes",
           "ProtectKernelLogs=yes", "ProtectKernelModules=yes", "ProtectKernelTunables=yes", "LockPersonality=yes",
           "RestrictAddressFamilies=AF_UNIX", "RestrictNamespaces=yes", "RestrictRealtime=yes", "RestrictSUIDSGID=yes",
           "SystemCallArchitectures=native", "SystemCallFilter=@system-service", "SystemCallErrorNumber=EPERM"}) {
    unit.line(setting);
  }
  return std::move(unit).finish();
}

std::string night_timer(const SystemdUnitRequest& request, const std::string& stem) {
  UnitText unit(stem + ".timer", request.manager);
  unit.section("Unit");
  unit.line(fmt::format("Description=When a night of guard begins ({})", stem));
  unit.section("Timer");
  unit.line(fmt::format("OnCalendar=*-*-* {}:00", clock(request.at)));
  unit.why("A machine that was off at that time makes up for it.");
  unit.line("Persistent=true");
  unit.why("Many machines need not ask the same service in the same second.");
  unit.line("RandomizedDelaySec=300");
  unit.section("Install");
  unit.line("WantedBy=timers.target");
  return *std::move(unit).finish();  // no word of a request is in it
}

std::string check_timer(const SystemdUnitRequest& request, const std::string& stem) {
  UnitText unit(stem + "-check.timer", request.manager);
  unit.section("Unit");
  unit.line(fmt::format("Description=When it is asked how the night of guard went ({})", stem));
  unit.section("Timer");
  unit.line(fmt::format("OnCalendar=*-*-* {}:00", clock(check_time(request))));
  unit.why("Not Persistent: where the machine was off, the night that it makes up for has only just begun.");
  unit.line("Persistent=false");
  unit.section("Install");
  unit.line("WantedBy=timers.target");
  return *std::move(unit).finish();
}

std::string cron_command(const SystemdUnitRequest& request, const std::vector<std::string>& argv) {
  std::string text;
  for (const auto& [name, value] : request.variables) text += fmt::format("{}={} ", name, cron_word(value));
  text += fmt::format("GUARD_CACHE_DIR={}", cron_word(request.cache));
  for (const auto& argument : argv) text += " " + cron_word(argument);
  return text;
}

std::string cron_clock(std::chrono::minutes at) {
  return fmt::format("{} {} * * *", (at % kDay).count() % 60, (at % kDay).count() / 60);
}

Result<void> check_path(std::string_view name, std::string_view path) {
  if (!path.starts_with('/'))
    return Error(
        ErrorCode::input_invalid, fmt::format("{} must be an absolute path, not \"{}\"", name, printable(path)));
  if (const auto fault = unit_text_fault(path); !fault.empty()) {
    return Error(ErrorCode::input_invalid, fmt::format("{} {} {}", name, printable(path), fault))
        .hint("rename it, or start guard by a script of your own");
  }
  return ok();
}

Result<void> check_paths(const SystemdUnitRequest& request) {
  GUARD_TRY(check_path("the program", request.program));
  // However it is quoted: "Executable name contains special characters".
  if (request.program.find_first_of("\"'\\") != std::string::npos) {
    return Error(ErrorCode::input_invalid,
        fmt::format(
            "systemd starts no program whose path holds a quote or a backslash: {}", printable(request.program)))
        .hint("move guard elsewhere");
  }
  GUARD_TRY(check_path("the repository", request.repository));
  GUARD_TRY(check_path("git's folder", request.git_folder));
  GUARD_TRY(check_path("the plan", request.plan));
  GUARD_TRY(check_path("the state folder", request.state));
  GUARD_TRY(check_path("the cache", request.cache));
  if (!request.home.empty()) GUARD_TRY(check_path("the home", request.home));
  if (!request.config.empty()) GUARD_TRY(check_path("--config", request.config));
  if (!request.rules.empty()) GUARD_TRY(check_path("--rules", request.rules));
  return ok();
}

}  // namespace

std::string unit_stem(std::string_view repository) {
  constexpr std::size_t kNameBytesMax = 40;
  const std::size_t slash = repository.find_last_of('/');
  std::string name(repository.substr(slash == std::string_view::npos ? 0 : slash + 1).substr(0, kNameBytesMax));
  for (char& c : name) {
    const bool plain =
        (c >= '0' && c <= '9') || (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') || c == '_' || c == '-';
    if (!plain) c = '_';
  }
  return fmt::format("guard-nightly-{}-{}", name, sha256_hex(repository).substr(0, 12));
}

Result<std::string> unit_word(std::string_view text) {
  if (const auto fault = unit_text_fault(text); !fault.empty())
    return Error(ErrorCode::input_invalid, fmt::format("\"{}\" {}", printable(text), fault));
  // Paths are read without C escapes, commands with them; these two mean the same in both.
  std::string word = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') word += '\\';
    if (c == '%') word += '%';
    word += c;
  }
  return word + "\"";
}

std::string cron_word(std::string_view text) {
  std::string word = "'";
  for (const char c : text) {
    if (c == '\'') {
      word += "'\\''";
    } else if (c == '%') {
      word += "''\\%";  // two quotes first: a backslash that stands before would take cron's own away
    } else {
      word += c;
    }
  }
  return word + "'";
}

std::string unit_path(std::string_view path, std::string_view repository) {
  std::string kept;
  while (!path.empty()) {
    const std::size_t end = std::min(path.find(':'), path.size());
    const std::string_view folder = path.substr(0, end);
    path.remove_prefix(std::min(end + 1, path.size()));
    if (!folder.starts_with('/') || is_below(folder, repository) || !unit_text_fault(folder).empty()) continue;
    if (!kept.empty()) kept += ':';
    kept += folder;
  }
  return kept;
}

Result<NightUnits> night_units(const SystemdUnitRequest& request) {
  GUARD_TRY(check_paths(request));
  const std::string stem = unit_stem(request.repository);
  NightUnits units;
  GUARD_TRY_ASSIGN(std::string night, night_service(request, stem));
  GUARD_TRY_ASSIGN(std::string check, check_service(request, stem));
  units.files.push_back({stem + ".service", std::move(night)});
  units.files.push_back({stem + ".timer", night_timer(request, stem)});
  units.files.push_back({stem + "-check.service", std::move(check)});
  units.files.push_back({stem + "-check.timer", check_timer(request, stem)});
  units.timers = {stem + ".timer", stem + "-check.timer"};

  std::vector<std::string> quiet = night_command(request);
  quiet.insert(quiet.end() - 1, "--quiet");  // cron mails what is said: the last lines, and what went wrong
  units.cron.push_back(fmt::format("{} {}", cron_clock(request.at), cron_command(request, quiet)));
  units.cron.push_back(fmt::format("{} {} >/dev/null || echo {}", cron_clock(check_time(request)),
      cron_command(request, check_command(request)),
      cron_word("no night of guard came to its end: " + request.repository)));
  return units;
}

}  // namespace guard::nightly

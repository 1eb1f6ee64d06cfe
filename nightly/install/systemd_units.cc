#include "nightly/install/systemd_units.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "common/hash.h"
#include "common/text/template.h"
#include "common/text/text.h"

// What a night needs is what decides: a generator with network and a home, bubblewrap with namespaces and a /proc of
// its own, a container engine's socket. The settings are those of systemd 252; older ones warn about what they do not
// know.

extern "C" {
extern const char guard_night_service[], guard_night_service_end[];
extern const char guard_night_timer[], guard_night_timer_end[];
extern const char guard_check_service[], guard_check_service_end[];
extern const char guard_check_timer[], guard_check_timer_end[];
}

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

bool is_root(const SystemdUnitRequest& request) {
  return request.manager == UnitManager::system && (request.user.empty() || request.user == "0");
}

// What the templates beside this file ask for.
Result<nlohmann::ordered_json> unit_values(const SystemdUnitRequest& request) {
  std::vector<std::string> writable = {request.git_folder, request.state, request.cache};
  for (const auto folder : kGeneratorFolders) {
    if (request.home.empty()) break;
    writable.push_back(fmt::format("-{}{}{}", request.home, request.home.ends_with('/') ? "" : "/", folder));
  }
  const bool is_user = request.manager == UnitManager::user;
  nlohmann::ordered_json values = {{"stem", unit_stem(request.repository)}, {"is_user", is_user},
      {"is_root", is_root(request)}, {"user", is_user || is_root(request) ? "" : request.user},
      {"in_tmp",
          is_in_tmp({request.program, request.repository, request.git_folder, request.plan, request.state,
                        request.cache, request.config, request.rules},
              request.variables)},
      {"night_time", clock(request.at)}, {"check_time", clock(check_time(request))},
      {"variables", nlohmann::ordered_json::array()}};
  const auto put_command = [&](const char* name, std::vector<std::string> argv) -> Result<void> {
    argv.front().insert(0, ":");  // a dollar sign stays one
    GUARD_TRY_ASSIGN(values[name], unit_words(argv));
    return ok();
  };
  GUARD_TRY(put_command("night_command", night_command(request)));
  GUARD_TRY(put_command("check_command", check_command(request)));
  GUARD_TRY_ASSIGN(values["writable"], unit_words(writable));
  GUARD_TRY_ASSIGN(values["state"], unit_word(request.state));
  auto variables = request.variables;
  variables.emplace_back("GUARD_CACHE_DIR", request.cache);
  for (const auto& [name, value] : variables) {
    GUARD_TRY_ASSIGN(std::string word, unit_word(fmt::format("{}={}", name, value)));
    values["variables"].push_back(std::move(word));
  }
  return values;
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
  GUARD_TRY(check_unit_program(request.program));
  for (const auto& [name, path] : {std::pair("the repository", request.repository),
           std::pair("git's folder", request.git_folder), std::pair("the plan", request.plan),
           std::pair("the state folder", request.state), std::pair("the cache", request.cache)})
    GUARD_TRY(check_path(name, path));
  for (const auto& [name, path] : {std::pair("the home", request.home), std::pair("--config", request.config),
           std::pair("--rules", request.rules)}) {
    if (!path.empty()) GUARD_TRY(check_path(name, path));
  }
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

Result<std::string> unit_words(const std::vector<std::string>& list) {
  std::string text;
  for (const std::string& item : list) {
    GUARD_TRY_ASSIGN(const std::string word, unit_word(item));
    text += (text.empty() ? "" : " ") + word;
  }
  return text;
}

Result<void> check_unit_program(const std::string& path) {
  // However it is quoted: "Executable name contains special characters".
  if (path.find_first_of("\"'\\") == std::string::npos) return ok();
  return Error(ErrorCode::input_invalid,
      fmt::format("systemd starts no program whose path holds a quote or a backslash: {}", printable(path)))
      .hint("move guard elsewhere");
}

bool is_in_tmp(
    const std::vector<std::string>& paths, const std::vector<std::pair<std::string, std::string>>& variables) {
  const auto is_hidden = [](std::string_view path) { return is_below(path, "/tmp") || is_below(path, "/var/tmp"); };
  // A list of paths, an address of a socket, or options with a path behind a space or "=".
  const auto names_hidden = [&](const auto& variable) {
    std::string value = variable.second;
    for (char& c : value) c = c == ' ' || c == '=' || c == ',' ? ':' : c;
    const std::vector<std::string_view> pieces = pieces_of(value, ':');
    return std::any_of(pieces.begin(), pieces.end(),
        [&](std::string_view piece) { return is_hidden(piece.substr(piece.starts_with("///") ? 2 : 0)); });
  };
  return std::any_of(paths.begin(), paths.end(), is_hidden) ||
      std::any_of(variables.begin(), variables.end(), names_hidden);
}

Result<std::string> unit_word(std::string_view text) {
  if (const auto fault = unit_text_fault(text); !fault.empty())
    return Error(ErrorCode::input_invalid, fmt::format("\"{}\" {}", printable(text), fault));
  // Paths are read without C escapes, commands with them; these two mean the same in both.
  return fmt::format("\"{}\"", replaced(backslashed(text, "\"\\"), "%", "%%"));
}

std::string cron_word(std::string_view text) {
  // Before a percent sign two quotes first: a backslash that stands before would take cron's own away.
  return fmt::format("'{}'", replaced(replaced(std::string(text), "'", "'\\''"), "%", "''\\%"));
}

std::string unit_path(std::string_view path, std::string_view repository) {
  std::string kept;
  for (const auto folder : pieces_of(path, ':')) {
    if (!folder.starts_with('/') || is_below(folder, repository) || !unit_text_fault(folder).empty()) continue;
    if (!kept.empty()) kept += ':';
    kept += folder;
  }
  return kept;
}

Result<NightUnits> night_units(const SystemdUnitRequest& request) {
  GUARD_TRY(check_paths(request));
  GUARD_TRY_ASSIGN(const auto values, unit_values(request));
  const std::string stem = unit_stem(request.repository);
  NightUnits units;
  for (const auto& [ending, text] :
      {std::pair(".service", std::string_view(guard_night_service, guard_night_service_end)),
          std::pair(".timer", std::string_view(guard_night_timer, guard_night_timer_end)),
          std::pair("-check.service", std::string_view(guard_check_service, guard_check_service_end)),
          std::pair("-check.timer", std::string_view(guard_check_timer, guard_check_timer_end))})
    units.files.push_back({stem + ending, fill_template(text, values, {})});
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

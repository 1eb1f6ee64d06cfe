#include "validator/judge/two_hit.h"

#include <algorithm>

#include "common/text/glob.h"
#include "validator/values/known_names.h"

namespace guard {

const std::vector<std::string>& shipped_harmless_variables() {
  static const std::vector<std::string> kNames = {"NODE_ENV", "BUN_ENV", "CI", "TZ", "DEBUG", "LANG", "LANGUAGE",
      "LC_ALL", "LC_CTYPE", "TERM", "COLORTERM", "COLUMNS", "LINES", "NO_COLOR", "FORCE_COLOR", "PWD", "TMPDIR", "TEMP",
      "TMP", "VITEST", "JEST_WORKER_ID", "TEST", "BUN_TEST", "GITHUB_ACTIONS", "RUNNER_OS", "OS", "OSTYPE", "SHELL",
      "EDITOR", "VERBOSE", "LOG_LEVEL", "PORT", "PATH", "HOME", "USERPROFILE", "GITHUB_ACTION", "RUNNER_*",
      "npm_package_*", "npm_lifecycle_*", "*_VERSION", "VITEST_*", "SSR", "DEV", "PROD", "VITE_*", "NEXT_PUBLIC_*",
      "REACT_APP_*", "EXPO_PUBLIC_*",  // bundlers write these into pages
      "GITLAB_CI", "CITGM", "ECOSYSTEM_CI", "UPDATE_GOLDENS", "UPDATE_SNAPSHOT", "UPDATE_SNAPSHOTS",
      "npm_config_user_agent"};
  return kNames;
}

bool reads_only_harmless(std::string_view read, std::span<const std::string> harmless) noexcept {
  std::size_t at = 0;
  bool any = false;
  while (at < read.size()) {
    const std::size_t comma = read.find(',', at);
    const std::string_view part = read.substr(at, comma - at);
    std::size_t size = 0;
    while (size < part.size() && is_name_byte(part[size])) ++size;
    const std::string_view name = part.substr(0, size);
    if (size < part.size() && part[size] != ':' && part[size] != '=') return false;
    const bool trailing_comma = name.empty() && comma == std::string_view::npos && any;
    const auto is_name = [&](const std::string& listed) {
      return listed == name || (listed.find('*') != std::string::npos && glob_matches(listed, name));
    };
    if (!trailing_comma && std::none_of(harmless.begin(), harmless.end(), is_name)) return false;
    any = true;
    if (comma == std::string_view::npos) break;
    at = comma + 1;
  }
  return any;
}

namespace {

// The length of a.b.c at the beginning of `text`.
std::size_t path_length(std::string_view text) noexcept {
  std::size_t size = 0;
  while (size < text.size() && (is_name_byte(text[size]) || text[size] == '.')) ++size;
  return size;
}

bool begins_environment(std::string_view text) noexcept {
  return text.starts_with("process.env") || text.starts_with("Bun.env") || text.starts_with("import.meta.env");
}

// A member of process that is given a value: can another file read a variable there that it may print?
bool gives_nothing_away(std::string_view code, const Match& match, std::span<const std::string> harmless) noexcept {
  const std::string_view target = code.substr(match.begin, match.end - match.begin);
  if (!target.starts_with("process.env")) return target == "process.exitCode";
  std::string_view value = code.substr(std::min(match.end + 1, code.size()));
  value = value.substr(0, value.find_first_of(";\n"));
  if (value.starts_with(target) || value.find(".env") == std::string_view::npos) return true;
  // Whoever reads any other name and prints it is refused for that.
  return target.starts_with("process.env.") && !reads_only_harmless(target.substr(12), harmless);
}

}  // namespace

OwnVariables::OwnVariables(std::string_view code, std::string_view strings) {
  std::unordered_map<std::string_view, std::size_t> named;  // given what a name stands for, which may be what was saved
  std::unordered_map<std::string_view, bool> saved;
  constexpr std::string_view kEnv = ".env.";
  for (std::size_t at = code.find(kEnv); at != std::string_view::npos; at = code.find(kEnv, at + 1)) {
    std::string_view ahead = code.substr(0, at);
    for (const std::string_view root : {"process", "Bun", "import.meta"}) {
      if (!ahead.ends_with(root)) continue;
      ahead.remove_suffix(root.size());
      const std::size_t begin = at + kEnv.size();
      std::size_t end = begin;
      while (end < code.size() && is_name_byte(code[end])) ++end;
      const std::string_view name = code.substr(begin, end - begin);
      const std::string_view behind = code.substr(end);
      const bool assigns = behind.size() > 1 && behind[0] == '=' && behind[1] != '=' && behind[1] != '>';
      if (ahead.ends_with("delete ")) first_.try_emplace(name, at);
      if (!assigns) {
        if (!ahead.empty() && (ahead.back() == '=' || ahead.back() == ':')) saved.emplace(name, true);
        break;
      }
      const std::string_view value = behind.substr(1);
      if (begins_environment(value)) break;
      const std::size_t size = path_length(value);
      const bool a_name = size != 0 && !(value[0] >= '0' && value[0] <= '9') &&
          (size == value.size() || std::string_view(";,)}\n").find(value[size]) != std::string_view::npos);
      (a_name ? named : first_).try_emplace(name, at);
      break;
    }
  }
  for (const auto& [name, at] : named) {
    if (saved.count(name) != 0) continue;
    const auto [known, fresh] = first_.try_emplace(name, at);
    if (!fresh) known->second = std::min(known->second, at);
  }
  constexpr std::string_view kStub = "stubEnv\x1d";
  for (std::size_t at = strings.find(kStub); at != std::string_view::npos; at = strings.find(kStub, at + 1)) {
    const std::size_t begin = at + kStub.size();
    first_[strings.substr(begin, strings.find('\x1f', begin) - begin)] = 0;
  }
}

bool OwnVariables::set_before(std::string_view name, std::size_t at) const noexcept {
  const auto known = first_.find(name);
  return known != first_.end() && known->second <= at;
}

HarmlessHits::HarmlessHits(const RuleSet& rules, const ValidatorOptions& options)
    : names_(options.harmless_variables.empty() ? shipped_harmless_variables() : options.harmless_variables) {
  for (std::uint32_t fact = 0; fact < rules.facts().size(); ++fact) {
    if (rules.facts()[fact].id == kReadsVariableFact) reads_variable_ = fact;
    if (rules.facts()[fact].id == kOutputSinkFact) output_sink_ = fact;
    if (rules.facts()[fact].id == kKeepsValuesFact) keeps_values_ = fact;
  }
}

void HarmlessHits::begin(const SourceViews& views) {
  views_ = &views;
  own_.reset();
  kept_.reset();
  keeps_.reset();
  shown_.reset();
}

// Of a read, ".NAME".
bool HarmlessHits::shows_what_it_reads(const Match& match) {
  const std::string_view code = views_->view(View::code);
  const std::string_view name = code.substr(match.begin + 1, match.end - match.begin - 1);
  if (reads_only_harmless(name, names_)) return false;
  if (!kept_) kept_.emplace(code);
  if (kept_->goes_nowhere(match.begin + 1, match.end)) return false;
  if (!own_) own_.emplace(code, views_->view(View::strings));
  if (own_->set_before(name, match.begin)) return false;
  std::size_t begin = match.begin;
  while (begin > 0 && (is_name_byte(code[begin - 1]) || code[begin - 1] == '.' || code[begin - 1] == ')')) --begin;
  if (!shown_) shown_.emplace(code);
  return shown_->contain(begin, match.end);
}

bool HarmlessHits::contains(View view, const Match& match) {
  if (match.index == keeps_values_) {
    if (!keeps_) keeps_ = keeps_values(views_->view(View::code));
    return *keeps_ == Keeping::nothing;
  }
  if (match.index != reads_variable_ && match.index != output_sink_) return false;
  if (is_mere_read(view, match)) return !shows_what_it_reads(match);
  const std::string_view text = views_->view(view).substr(match.begin, match.end - match.begin);
  if (reads_only_harmless(text, names_)) return true;
  if (match.index == reads_variable_ && view == View::code) {
    if (!kept_) kept_.emplace(views_->view(View::code));
    return kept_->goes_nowhere(match.begin, match.end);
  }
  const std::string_view behind = views_->view(view).substr(match.end);
  if (match.index == output_sink_ && text.starts_with("process.") && behind.starts_with('=') &&
      !behind.starts_with("==")) {
    return gives_nothing_away(views_->view(view), match, names_);
  }
  if (match.index != output_sink_ || !is_identifier(text)) return false;
  if (!own_) own_.emplace(views_->view(View::code), views_->view(View::strings));
  return own_->set_before(text, view == View::code ? match.begin : SIZE_MAX);
}

}  // namespace guard

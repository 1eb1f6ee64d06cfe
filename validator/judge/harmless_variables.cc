#include "validator/judge/harmless_variables.h"

#include <algorithm>
#include <array>

#include "common/text/glob.h"
#include "rules/surface.h"
#include "validator/values/known_names.h"

namespace guard {

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

OwnVariables::OwnVariables(const CodeText& code, std::string_view strings) {
  std::unordered_map<std::string_view, std::size_t> named;  // given what a name stands for, which may be what was saved
  std::unordered_map<std::string_view, bool> saved;
  for (const std::size_t at : code.places_of("env")) {
    constexpr std::array<std::string_view, 3> kRoots = {"process.", "Bun.", "import.meta."};
    std::string_view ahead = code.ahead_of(at);
    const auto root =
        std::find_if(kRoots.begin(), kRoots.end(), [&](std::string_view r) { return ahead.ends_with(r); });
    if (root == kRoots.end() || code.at(at + 3) != '.') continue;
    ahead.remove_suffix(root->size());
    const std::string_view name = code.name_at(at + 4);
    const std::string_view value = code.behind(at + 4 + name.size());
    if (ahead.ends_with("delete ")) first_.try_emplace(name, at);
    if (value.size() < 2 || !assigns(value)) {
      if (!ahead.empty() && is_byte_of("=:", ahead.back())) saved.emplace(name, true);
    } else if (!begins_environment(value.substr(1))) {
      const std::string_view path = value.substr(1, path_length(value.substr(1)));
      const std::string_view rest = value.substr(1 + path.size());
      const bool a_name =
          !path.empty() && !(path[0] >= '0' && path[0] <= '9') && (rest.empty() || is_byte_of(";,)}\n", rest[0]));
      (a_name ? named : first_).try_emplace(name, at);
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

HarmlessHits::HarmlessHits(const RuleSet& rules, const ValidatorOptions& options) : names_(options.harmless_variables) {
  if (names_.empty()) {
    for (const SurfaceRow& row : word_list("harmless_variables")) names_.emplace_back(row.name);
  }
  for (std::uint32_t fact = 0; fact < rules.facts().size(); ++fact) {
    if (rules.facts()[fact].id == kReadsVariableFact) reads_variable_ = fact;
    if (rules.facts()[fact].id == kOutputSinkFact) output_sink_ = fact;
    if (rules.facts()[fact].id == kKeepsValuesFact) keeps_values_ = fact;
  }
}

void HarmlessHits::begin(const SourceViews& views) {
  views_ = &views;
  file_.reset();
  keeps_.reset();
}

HarmlessHits::File& HarmlessHits::file() {
  if (!file_) file_.emplace(views_->view(View::code));
  return *file_;
}

const OwnVariables& HarmlessHits::own() {
  if (!file().own) file().own.emplace(file().text, views_->view(View::strings));
  return *file().own;
}

// Of a read, ".NAME".
bool HarmlessHits::shows_what_it_reads(const Match& match) {
  const std::string_view code = views_->view(View::code);
  const std::string_view name = code.substr(match.begin + 1, match.end - match.begin - 1);
  if (reads_only_harmless(name, names_) || file().kept.goes_nowhere(match.begin + 1, match.end) ||
      own().set_before(name, match.begin))
    return false;
  std::size_t begin = match.begin;
  while (begin > 0 && (is_name_byte(code[begin - 1]) || code[begin - 1] == '.' || code[begin - 1] == ')')) --begin;
  if (!file().shown) file().shown.emplace(file().text);
  return file().shown->contain(begin, match.end);
}

bool HarmlessHits::contains(View view, const Match& match) {
  if (match.index == keeps_values_) {
    if (!keeps_) keeps_ = keeps_values(file().text);
    return *keeps_ == Keeping::nothing;
  }
  if (match.index != reads_variable_ && match.index != output_sink_) return false;
  if (is_mere_read(view, match)) return !shows_what_it_reads(match);
  const std::string_view text = views_->view(view).substr(match.begin, match.end - match.begin);
  if (reads_only_harmless(text, names_)) return true;
  if (match.index == reads_variable_ && view == View::code) return file().kept.goes_nowhere(match.begin, match.end);
  if (match.index != output_sink_) return false;
  if (text.starts_with("process.") && assigns(views_->view(view).substr(match.end)))
    return gives_nothing_away(views_->view(view), match, names_);
  return is_identifier(text) && own().set_before(text, view == View::code ? match.begin : SIZE_MAX);
}

}  // namespace guard

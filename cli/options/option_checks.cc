#include "cli/options/option_checks.h"

#include <fmt/format.h>

#include <algorithm>

#include "cli/options/verbs.h"
#include "common/text/text.h"
#include "common/text/time_text.h"
#include "egress/egress_rules.h"
#include "pipeline/config/config_texts.h"
#include "pipeline/config/config_values.h"

namespace guard {

// ---- values ----

Result<void> read_session_backend(std::string_view value, Options& options) {
  options.acads = value == kAcads;
  return read_choice<&Options::backend>(value, options);
}

Result<void> read_jobs(std::string_view value, Options& options) {
  if (read_number(value, options.jobs) && options.jobs >= 1 && options.jobs <= 256) return ok();
  return mistake("--jobs takes a number from 1 to 256",
      options.verb->name == "check" ? "leave it out: all processors are used then"
                                    : "leave it out: all files then run in one sandbox");
}

Result<void> read_tasks(std::string_view value, Options& options) {
  if (read_number(value, options.tasks) && options.tasks >= 1 && options.tasks <= 1'000'000) return ok();
  return mistake("--tasks takes a number from 1 to 1000000", "guard nightly size --tasks 10000");
}

Result<void> read_workers(std::string_view value, Options& options) {
  if (read_number(value, options.workers) && options.workers >= 1 && options.workers <= 10'000) return ok();
  return mistake("--workers takes a number from 1 to 10000", "guard nightly size --workers 16");
}

Result<void> read_explain(std::string_view place, Options& options) {
  const std::size_t colon = place.rfind(':');
  std::string_view digits = colon == std::string_view::npos ? std::string_view() : place.substr(colon + 1);
  if (!digits.empty() && digits.find_first_not_of("0123456789") == std::string_view::npos) {
    const std::string shown = shown_value(digits);
    if (!take_number(digits, options.explain_line) || options.explain_line == 0)
      return mistake(fmt::format("--explain: there is no line {}", shown), "lines are counted from 1");
    place = place.substr(0, colon);
  }
  if (place.empty()) return mistake("--explain needs a file", "guard check --explain sandbox/a.test.ts:12");
  options.explain = place;
  return ok();
}

Result<void> read_cap(std::string_view value, Options& options) {
  if (parse_bytes(value, options.cap_bytes)) return ok();
  return mistake("--cap takes a number of bytes, or one with k, m or g", "0 is no cap");
}

Result<void> read_size(std::string_view value, std::optional<std::uint64_t>& bytes) {
  if (parse_bytes(value, bytes.emplace())) return ok();
  return mistake(fmt::format("{} is no size", shown_value(value)), "write a number of bytes, or one with k, m or g");
}

Result<void> read_max_age(std::string_view text, Options& options) {
  std::uint64_t value = 0;
  std::string_view unit = text;
  const bool number = take_number(unit, value);
  const std::uint64_t scale = unit == "s" ? 1 : unit == "m" ? 60 : unit == "h" ? 3'600 : unit == "d" ? 86'400 : 0;
  if (!number || scale == 0 || value > 100 * 365 * 86'400ull / scale)
    return mistake(fmt::format("{} is no span of time", shown_value(text)), "write a number and s, m, h or d: 26h");
  options.max_age_s = value * scale;
  return ok();
}

Result<void> read_time_of_day(std::string_view text, Options& options) {
  const auto digit = [&](std::size_t at, char top) { return text[at] >= '0' && text[at] <= top; };
  if (text.size() != 5 || text[2] != ':' || !digit(0, '2') || !digit(1, text[0] == '2' ? '3' : '9') || !digit(3, '5') ||
      !digit(4, '9'))
    return mistake(fmt::format("--at {} is no time of day", shown_value(text)), "write --at 02:00");
  options.at = text;
  return ok();
}

Result<void> read_time_limit(std::string_view text, Options& options) {
  if (!parse_time(text, options.time_limit) || options.time_limit.count() <= 0)
    return mistake(fmt::format("\"{}\" is no time", printable(text)), "write 90 (seconds), 2.5s or 100ms");
  return ok();
}

Result<void> read_variable(std::string_view text, Options& options) {
  const std::size_t equals = text.find('=');
  const std::string name(text.substr(0, equals));
  std::optional<std::string> value;
  if (equals != std::string_view::npos) value = text.substr(equals + 1);
  Config scratch;
  if (const auto complaint = set_variable(name, value, scratch))
    return mistake(
        fmt::format("--env: {}", complaint->sentence), "write --env NAME=VALUE, or --env NAME to pass guard's own on");
  options.overrides.push_back({"run.env." + name, std::move(value), "--env"});
  return ok();
}

// "none" is none, whatever the file lists.
Result<void> read_network(std::string_view text, Options& options) {
  options.record_network = text == kRecordNetwork;
  if (options.record_network || text == "none") options.overrides.push_back({"network.allow", "", "--network"});
  const std::string_view mode = options.record_network ? to_string(NetworkMode::allowlist) : text;
  options.overrides.push_back({"docker.network", std::string(mode), "--network"});
  return ok();
}

// All of them are one list, in the place of the file's.
Result<void> read_allow(std::string_view text, Options& options) {
  if (const auto rules = EgressRules::create({std::string(text)}, {}); !rules)
    return mistake(fmt::format("--allow: {}", rules.error().message()), std::string(rules.error().hint()));
  const auto given = std::ranges::find(options.overrides, "--allow", &ConfigOverride::option);
  if (given == options.overrides.end()) {
    options.overrides.push_back({"network.allow", std::string(text), "--allow"});
  } else {
    given->text = fmt::format("{},{}", *given->text, text);
  }
  return ok();
}

// ---- verbs ----

Result<void> check_check(const SplitArguments& given, Options& options) {
  auto& paths = options.arguments;
  // Behind `--` even a lone dash is a file's name.
  const auto dashes = paths.begin() + static_cast<std::ptrdiff_t>(given.dash_dash);
  options.read_stdin = std::find(paths.begin(), dashes, "-") != dashes;
  if (options.read_stdin && paths.size() > 1)
    return mistake("`-` stands for all that is judged, so no other PATH can go with it",
        "call guard once for each, or name a file `./-`");
  if (options.staged && !paths.empty())
    return mistake("--staged judges what git is about to commit, so no PATH can go with it", "leave out one of them");
  if (given.has("--stdin-name") && !options.read_stdin)
    return mistake("--stdin-name names standard input, which is not read", "add `-` to read it");
  if (options.write_baseline && options.read_stdin)
    return mistake("--write-baseline is for files of the project, not standard input", "name a file or folder");
  if (options.write_baseline && options.mode != "auto")
    return mistake("--write-baseline applies all tiers", "leave out --mode");
  if (options.print_waiver && options.format != OutputFormat::text)
    return mistake("--print-waiver prints TOML, whatever the format", "leave out --format");
  if (!options.explain.empty() && options.read_stdin)
    return mistake("--explain explains a file, not standard input", "save it under a name first");
  if (!options.explain.empty() && options.format != OutputFormat::text && options.format != OutputFormat::json)
    return mistake("--explain is text or json", "leave out --format");
  if (options.read_stdin) paths.clear();
  return ok();
}

Result<void> check_gate(const SplitArguments& given, Options&) {
  if (!given.has("--head") || given.has("--base")) return ok();
  return mistake("--head needs --base: what is it to be compared with?", "guard gate --base origin/main --head HEAD");
}

// Only containers are made from an image.
Result<void> check_place(const SplitArguments& given, const Options& options) {
  if (!given.has("--image") || options.backend.value_or(Backend::docker) == Backend::docker) return ok();
  return mistake(fmt::format("--image is of containers, and --backend {} runs in none", to_string(*options.backend)),
      "leave out one of them");
}

Result<void> check_run(const SplitArguments& given, Options& options) {
  GUARD_TRY(check_place(given, options));
  if (!options.test_name.empty() && !options.record.empty())
    return mistake("--test-name runs a part of the tests, which is no evidence for --record", "leave out one of them");
  options.coverage = options.coverage || !options.lcov.empty();
  if (options.watch && (options.format != OutputFormat::text || !options.record.empty()))
    return mistake("--watch is for a person at a terminal", "leave out --format and --record, or --watch");
  return ok();
}

Result<void> check_exec(const SplitArguments& given, Options& options) {
  GUARD_TRY(check_place(given, options));
  for (const auto* file : {&options.out_file, &options.err_file}) {
    if (*file == "-") return mistake("--out and --err need a file", "leave them out to see the output");
  }
  if (options.format == OutputFormat::text || options.format == OutputFormat::json) return ok();
  return mistake("guard exec checks nothing, so there are no findings to report", "use --format text or json");
}

Result<void> check_image(const SplitArguments&, Options& options) {
  const bool has_template = options.image_template.has_value();
  if (options.action == Action::import_image && options.arguments.size() < 2)
    return mistake("guard image import needs what the image is to be made of",
        "name a folder, an archive or docker://REFERENCE behind the image's name");
  if (options.action == Action::build && has_template == options.arguments.empty())
    return mistake(has_template ? "guard image build --template needs the name of the image"
                                : "a name belongs to `guard image build --template`",
        "guard image build --template python NAME");
  if (!options.packages.empty() && !has_template)
    return mistake("--package belongs to `guard image build --template`", "leave it out");
  if (!options.force || options.target == ImageTarget::all) return ok();
  return mistake(
      "--force belongs to `guard image prune --all`", "leave it out: what is this project's goes without it");
}

Result<void> check_rules(const SplitArguments&, Options& options) {
  if (options.action != Action::diff || options.arguments.size() >= 2) return ok();
  return mistake("guard rules diff needs the old and the new rules", "guard rules diff ../guard-1.0/rules built-in");
}

Result<void> check_redact(const SplitArguments&, Options& options) {
  options.stats = options.stats || options.format == OutputFormat::json;
  return ok();
}

Result<void> check_hook(const SplitArguments& given, Options& options) {
  if (options.yes && options.agent.empty())
    return mistake("--yes belongs to `guard hook agent --install`", "leave it out");
  if (!options.agent.empty() && given.has("--mode")) return mistake("--mode is for answering an event", "leave it out");
  // Its answer has the form that the asking program wants.
  if (options.action == Action::agent && given.has("--format"))
    return mistake("`guard hook agent` answers in its caller's form", "leave --format out");
  return ok();
}

Result<void> check_verify(const SplitArguments&, Options& options) {
  if (options.arguments.size() == 1) return ok();
  return mistake("guard verify checks one record at a time", "call guard once for each");
}

Result<void> check_nightly(const SplitArguments& given, Options& options) {
  using enum Action;
  auto& words = options.arguments;
  if ((options.action == run || options.action == plan || options.action == install) && words.size() > 1)
    return mistake("a night has one plan", "put all tasks into one file");
  if (options.action == review && !words.empty()) {
    const std::string what = words.front();
    words.erase(words.begin());
    const auto action = named<Action>(what);
    if (action != take && action != drop && action != send_back)
      return mistake(fmt::format("guard nightly review has no \"{}\"", shown_value(what)),
          "take, drop or send-back, and the ids of tasks");
    options.action = *action;
    if (words.empty())
      return mistake(
          fmt::format("guard nightly review {} needs the ids of tasks", what), "`guard nightly review` lists them");
  }
  if (given.has("--note") && options.action != retry && options.action != send_back)
    return mistake("--note belongs to `guard nightly retry`", "leave it out");
  if ((options.format == OutputFormat::markdown || options.format == OutputFormat::html) && options.action != report)
    return mistake(
        fmt::format("--format {} belongs to `guard nightly report`", to_string(options.format)), "text or json");
  return ok();
}

}  // namespace guard

#include "pipeline/config/config_keys.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <type_traits>

#include "pipeline/config/config_texts.h"
#include "pipeline/config/config_values.h"

namespace guard {
namespace {

constexpr std::array<std::string_view, 4> kBackends = {"docker", "namespace", "host", "container-use"};
constexpr std::array<std::string_view, 4> kFallbacks = {"namespace", "host", "none", "container-use"};
constexpr std::array<std::string_view, 3> kNetworks = {"none", "bridge", "host"};
constexpr std::array<std::string_view, 2> kPulls = {"never", "missing"};
constexpr std::array<std::string_view, 3> kKeepClones = {"never", "refused", "always"};
constexpr std::array<std::string_view, 2> kIsolations = {"file", "run"};
constexpr std::array<std::string_view, 3> kAssertions = {"off", "file", "test"};
constexpr std::array<std::string_view, 3> kCollects = {"none", "listed", "all"};

// `Get` names the enum in a Config; enumerators stand in the order of the row's choices.
template <typename Get>
constexpr ChoiceSlot choice_slot(Get) {
  return {[](Config& config, std::size_t index) {
            Get{}(config) = static_cast<std::decay_t<decltype(Get{}(config))>>(index);
          },
      [](const Config& config) { return static_cast<std::size_t>(Get{}(config)); }};
}

// A row's slot: GUARD_SLOT(std::uint64_t&, limits.pids) is a function from Config to that member.
#define GUARD_SLOT(type, member) +[](Config& config) -> type { return config.member; }
#define GUARD_CHOICE(member) choice_slot([](auto& config) -> auto& { return config.member; })
using Bool = bool&;
using Number = std::uint64_t&;
using Decimal = double&;
using Text = std::string&;
using List = std::vector<std::string>&;

constexpr double kKiB = 1024;
constexpr double kMiB = 1024 * kKiB;
constexpr double kGiB = 1024 * kMiB;
constexpr double kDayS = 86'400;

bool never(const ConfigKey&, const Config&) { return false; }

// Any other value than the default.
bool when_changed(const ConfigKey& key, const Config& config) {
  return toml_literal(key, config) != toml_literal(key, Config());
}

const std::vector<std::string>& items(const ConfigKey& key, Config& config) {
  return std::get<std::vector<std::string>& (*)(Config&)>(key.slot)(config);
}

bool is_subset(const std::vector<std::string>& part, const std::vector<std::string>& whole) {
  return std::all_of(part.begin(), part.end(),
      [&](const auto& item) { return std::find(whole.begin(), whole.end(), item) != whole.end(); });
}

// A list that says what is looked at: an item of the default is missing.
bool when_less(const ConfigKey& key, const Config& config) {
  Config defaults;
  Config given = config;
  return !is_subset(items(key, defaults), items(key, given));
}

// A list of what is let through: an item that the default does not have.
bool when_more(const ConfigKey& key, const Config& config) {
  Config defaults;
  Config given = config;
  return !is_subset(items(key, given), items(key, defaults));
}

// Environments of the cu program have a network and none of our limits.
bool leaves_sandbox(const ConfigKey& key, const Config& config) {
  const std::string value = toml_literal(key, config);
  return value == "\"host\"" || value == "\"container-use\"";
}

bool leaves_project(const ConfigKey&, const Config& config) {
  const std::filesystem::path folder = config.run.record;
  return folder.is_absolute() || std::find(folder.begin(), folder.end(), "..") != folder.end();
}

bool passes_variables(const ConfigKey&, const Config& config) { return !config.run.env.empty(); }

bool asserts_nothing(const ConfigKey&, const Config& config) {
  return config.run.require_assertions == Assertions::off;
}

bool waives(const ConfigKey&, const Config& config) { return !config.check.waivers.empty(); }

using enum KeyType;

// Rows of one section stand together, in the order in which they are shown. Tables of their own come last in their
// section: TOML would take what follows them for theirs.
constexpr ConfigKey kKeys[] = {
    {.section = "",
        .name = "backend",
        .type = choice,
        .doc =
            "Where code runs: a container, the embedded sandbox, the host itself, or an environment of the cu program.",
        .slot = GUARD_CHOICE(backend),
        .choices = kBackends,
        .relaxes = leaves_sandbox},
    {.section = "",
        .name = "fallback",
        .type = choice,
        .doc = "What takes over where no container engine exists; one that exists and fails is never replaced.",
        .slot = GUARD_CHOICE(fallback),
        .choices = kFallbacks,
        .relaxes = leaves_sandbox},
    {.section = "",
        .name = "trust_namespace",
        .type = boolean,
        .doc = "Skip the host-only rules in the embedded sandbox, as in a container.",
        .slot = GUARD_SLOT(Bool, trust_namespace),
        .relaxes = when_changed},
    {.section = "",
        .name = "require_cgroups",
        .type = boolean,
        .doc =
            "Refuse the embedded sandbox where memory and processes could only be watched, not limited by the kernel.",
        .slot = GUARD_SLOT(Bool, require_cgroups),
        .relaxes = never},

    {.section = "docker",
        .name = "image",
        .type = text,
        .doc = "The image that tests run in.",
        .slot = GUARD_SLOT(Text, docker.image),
        .rule = reference_rule,
        .empty_means = "the tag made from lockfile, package.json and bun",
        .relaxes = when_changed},
    {.section = "docker",
        .name = "network",
        .type = choice,
        .doc = "What the container may reach; anything but none is written into the evidence of every run.",
        .slot = GUARD_CHOICE(docker.network),
        .choices = kNetworks,
        .relaxes = when_changed},
    {.section = "docker",
        .name = "timeout",
        .type = integer,
        .doc = "The same in a container; else limits.timeout.",
        .slot = GUARD_SLOT(Number, docker.timeout_s),
        .min = 1,
        .max = kDayS,
        .unit = "s",
        .relaxes = never,
        .inherits = "limits.timeout"},
    {.section = "docker",
        .name = "pull",
        .type = choice,
        .doc = "Whether guard may pull the image that docker.image names, where the engine does not have it.",
        .slot = GUARD_CHOICE(docker.pull),
        .choices = kPulls,
        .relaxes = when_changed},
    {.section = "docker",
        .name = "runtime",
        .type = text,
        .doc = "The engine's runtime for the container, runsc for example.",
        .slot = GUARD_SLOT(Text, docker.runtime),
        .rule = reference_rule,
        .empty_means = "the engine's default",
        .relaxes = when_changed},
    {.section = "docker",
        .name = "probe_deadline_ms",
        .type = integer,
        .doc = "How long the engine may take to answer; after that its state is unknown.",
        .slot = GUARD_SLOT(Number, docker.probe_deadline_ms),
        .min = 10,
        .max = 60'000,
        .unit = "ms",
        .relaxes = never},
    {.section = "docker",
        .name = "plain_tcp",
        .type = boolean,
        .doc = "Trusts an engine at another machine without TLS: anybody on the way could forge a verdict.",
        .slot = GUARD_SLOT(Bool, docker.plain_tcp),
        .relaxes = when_changed},

    {.section = "image",
        .name = "tools",
        .type = list,
        .doc = "Programs of this machine, from /usr/bin, that the image holds with their libraries: git, tar, sh.",
        .slot = GUARD_SLOT(List, image.tools),
        .rule = tool_rule,
        .relaxes = when_more},
    {.section = "image",
        .name = "unused_days",
        .type = integer,
        .doc = "`guard image build` removes images that no project has used for so long; 0: none.",
        .slot = GUARD_SLOT(Number, image.unused_days),
        .min = 0,
        .max = 3650,
        .unit = "days",
        .relaxes = never},

    {.section = "limits",
        .name = "timeout",
        .type = integer,
        .doc = "How long a run may take, in whichever place.",
        .slot = GUARD_SLOT(Number, limits.timeout_s),
        .min = 1,
        .max = kDayS,
        .unit = "s",
        .relaxes = never},
    {.section = "limits",
        .name = "memory",
        .type = bytes,
        .doc = "Memory of a run, without swap.",
        .slot = GUARD_SLOT(Number, limits.memory_bytes),
        .min = 16 * kMiB,
        .max = 1024 * kGiB,
        .relaxes = never},
    {.section = "limits",
        .name = "cpus",
        .type = decimal,
        .doc = "Processors of a run.",
        .slot = GUARD_SLOT(Decimal, limits.cpus),
        .min = 0.1,
        .max = 1024,
        .relaxes = never},
    {.section = "limits",
        .name = "pids",
        .type = integer,
        .doc = "Processes and threads of a run.",
        .slot = GUARD_SLOT(Number, limits.pids),
        .min = 8,
        .max = 1'000'000,
        .relaxes = never},
    {.section = "limits",
        .name = "tmp_size",
        .type = bytes,
        .doc = "Size of /tmp in the sandbox.",
        .slot = GUARD_SLOT(Number, limits.tmp_bytes),
        .min = kMiB,
        .max = 64 * kGiB,
        .relaxes = never},
    {.section = "limits",
        .name = "sandbox_size",
        .type = bytes,
        .doc = "What a run may write into its sandbox folder.",
        .slot = GUARD_SLOT(Number, limits.sandbox_bytes),
        .min = kMiB,
        .max = 64 * kGiB,
        .relaxes = never},
    {.section = "limits",
        .name = "sandbox_files",
        .type = integer,
        .doc = "Files that a run may make in its sandbox folder.",
        .slot = GUARD_SLOT(Number, limits.sandbox_files),
        .min = 16,
        .max = 10'000'000,
        .relaxes = never},
    {.section = "limits",
        .name = "output_keep",
        .type = bytes,
        .doc = "How much of a run's output is kept, counted after masking, both streams together.",
        .slot = GUARD_SLOT(Number, limits.output_keep_bytes),
        .min = kKiB,
        .max = kGiB,
        .relaxes = never},
    {.section = "limits",
        .name = "output_flood",
        .type = bytes,
        .doc = "Output beyond this ends the run as rejected.",
        .slot = GUARD_SLOT(Number, limits.output_flood_bytes),
        .min = 64 * kKiB,
        .max = 1024 * kGiB,
        .relaxes = never},

    {.section = "namespace",
        .name = "timeout",
        .type = integer,
        .doc = "The same in the embedded sandbox; else limits.timeout.",
        .slot = GUARD_SLOT(Number, namespace_sandbox.timeout_s),
        .min = 1,
        .max = kDayS,
        .unit = "s",
        .relaxes = never,
        .inherits = "limits.timeout"},

    {.section = "host",
        .name = "timeout",
        .type = integer,
        .doc = "The same on the host; else limits.timeout.",
        .slot = GUARD_SLOT(Number, host.timeout_s),
        .min = 1,
        .max = kDayS,
        .unit = "s",
        .relaxes = never,
        .inherits = "limits.timeout"},
    {.section = "host",
        .name = "warn_on_start",
        .type = boolean,
        .doc = "Warn once when something is to run without a sandbox; it is written into the evidence either way.",
        .slot = GUARD_SLOT(Bool, host.warn_on_start),
        .relaxes = when_changed},
    {.section = "host",
        .name = "env",
        .type = list,
        .doc = "Variables of guard's own environment that a run on the host sees.",
        .slot = GUARD_SLOT(List, host.env),
        .rule = variable_rule,
        .relaxes = when_more},

    {.section = "container_use",
        .name = "program",
        .type = text,
        .doc = "The cu program of container-use, by its absolute path.",
        .slot = GUARD_SLOT(Text, container_use.program),
        .rule = program_rule,
        .empty_means = "cu in the folders of the system",
        .relaxes = when_changed},
    {.section = "container_use",
        .name = "image",
        .type = text,
        .doc = "Refused: the cu program has no option for an image.",
        .slot = GUARD_SLOT(Text, container_use.image),
        .rule = reference_rule,
        .empty_means = "none",
        .relaxes = never},
    {.section = "container_use",
        .name = "env_id",
        .type = text,
        .doc = "An environment of the cu program that all runs share; it is never deleted.",
        .slot = GUARD_SLOT(Text, container_use.env_id),
        .rule = environment_id_rule,
        .empty_means = "one is made for each run",
        .relaxes = when_changed},
    {.section = "container_use",
        .name = "timeout",
        .type = integer,
        .doc = "The same in an environment of the cu program; else limits.timeout.",
        .slot = GUARD_SLOT(Number, container_use.timeout_s),
        .min = 1,
        .max = kDayS,
        .unit = "s",
        .relaxes = never,
        .inherits = "limits.timeout"},

    {.section = "check",
        .name = "paths",
        .type = list,
        .doc = "What `guard check` without paths, and with --staged, judges.",
        .slot = GUARD_SLOT(List, check.paths),
        .rule = glob_rule,
        .needs_items = true,
        .relaxes = when_less},
    {.section = "check",
        .name = "max_file_bytes",
        .type = bytes,
        .doc = "A larger file is a finding.",
        .slot = GUARD_SLOT(Number, check.max_file_bytes),
        .min = kKiB,
        .max = kGiB,
        .relaxes = never},
    {.section = "check",
        .name = "api_key_names",
        .type = list,
        .doc = "Names of keys that code outside a container may not mention.",
        .slot = GUARD_SLOT(List, check.api_key_names),
        .rule = variable_rule,
        .relaxes = when_less},
    {.section = "check",
        .name = "two_hit_ignore",
        .type = list,
        .doc = "Harmless variables, which code may read and print, instead of the shipped list.",
        .slot = GUARD_SLOT(List, check.two_hit_ignore),
        .rule = variable_rule,
        .empty_means = "the list that comes with the rules",
        .needs_items = true,
        .relaxes = when_changed},
    {.section = "check",
        .name = "allow_temp_removal",
        .type = boolean,
        .doc = "Outside a container, too, a file may delete folders that it made with mkdtemp itself.",
        .slot = GUARD_SLOT(Bool, check.allow_temp_removal),
        .relaxes = never},
    {.section = "check",
        .name = "docs_url",
        .type = text,
        .doc = "Where people read docs/rules.md; findings in SARIF then link to their rule.",
        .slot = GUARD_SLOT(Text, check.docs_url),
        .rule = url_rule,
        .empty_means = "no links",
        .relaxes = never},
    {.section = "check",
        .name = "waivers",
        .type = waivers,
        .doc = "Findings that may pass: tables of rule, path (a glob), fingerprint (`guard check --print-waiver` "
               "writes it), "
               "reason, expires (a date).",
        .slot = std::monostate{},
        .relaxes = waives},

    {.section = "hook",
        .name = "everywhere",
        .type = boolean,
        .doc = "In hooks and `guard gate`, the always tier also applies to added lines of scripts outside check.paths.",
        .slot = GUARD_SLOT(Bool, hook.everywhere),
        .relaxes = never},

    {.section = "run",
        .name = "grace_s",
        .type = integer,
        .doc = "What a run that is told to end has left before it is killed.",
        .slot = GUARD_SLOT(Number, run.grace_s),
        .min = 0,
        .max = 600,
        .unit = "s",
        .relaxes = never},
    {.section = "run",
        .name = "file_timeout",
        .type = integer,
        .doc = "How long one test file may take; the others still run. 0: only limits.timeout.",
        .slot = GUARD_SLOT(Number, run.file_timeout_s),
        .min = 0,
        .max = kDayS,
        .unit = "s",
        .relaxes = never},
    {.section = "run",
        .name = "collect",
        .type = choice,
        .doc = "Which files that passing tests wrote are collected: none, those of collect_paths, or all that the "
               "rules allow.",
        .slot = GUARD_CHOICE(run.collect),
        .choices = kCollects,
        .relaxes = never},
    {.section = "run",
        .name = "collect_paths",
        .type = list,
        .doc = "What `collect = \"listed\"` brings back: globs relative to the project, such as sandbox/out/**.",
        .slot = GUARD_SLOT(List, run.collect_paths),
        .rule = glob_rule,
        .relaxes = never},
    {.section = "run",
        .name = "isolation",
        .type = choice,
        .doc = "\"file\": each test file has its own process, /tmp and sandbox/; \"run\": they share one, and can "
               "change what another one means.",
        .slot = GUARD_CHOICE(run.isolation),
        .choices = kIsolations,
        .relaxes = when_changed},
    {.section = "run",
        .name = "require_assertions",
        .type = choice,
        .doc = "Where a pass needs an assertion: each file, each test (the default of nights), or nowhere.",
        .slot = GUARD_CHOICE(run.require_assertions),
        .choices = kAssertions,
        .relaxes = asserts_nothing},
    {.section = "run",
        .name = "record",
        .type = text,
        .doc = "Folder for an evidence record of every run, seen from the project; made where it is missing.",
        .slot = GUARD_SLOT(Text, run.record),
        .rule = any_text_rule,
        .empty_means = "no record is kept",
        .relaxes = leaves_project},
    {.section = "run",
        .name = "env",
        .type = variables,
        .doc =
            "Variables for the sandbox, masked in its output: NAME = \"value\", or NAME = true for guard's own value.",
        .slot = std::monostate{},
        .relaxes = passes_variables},

    {.section = "redact",
        .name = "mask_env",
        .type = list,
        .doc = "Variables whose values are masked, besides those whose names look secret.",
        .slot = GUARD_SLOT(List, redact.mask_env),
        .rule = variable_rule,
        .relaxes = never,
        .adds = true},
    {.section = "redact",
        .name = "mask_file",
        .type = list,
        .doc = "Files of values to be masked, one a line.",
        .slot = GUARD_SLOT(List, redact.mask_file),
        .rule = path_rule,
        .relaxes = never,
        .adds = true},
    {.section = "redact",
        .name = "kinds_off",
        .type = list,
        .doc = "Kinds of secret that are not masked.",
        .slot = GUARD_SLOT(List, redact.kinds_off),
        .rule = id_rule,
        .relaxes = when_changed},

    {.section = "policy",
        .name = "max_changed_files_per_task",
        .type = integer,
        .doc = "Files that one task may change.",
        .slot = GUARD_SLOT(Number, policy.max_changed_files_per_task),
        .min = 1,
        .max = 1000,
        .relaxes = never},
    {.section = "policy",
        .name = "forbidden_files",
        .type = list,
        .doc = "Files that tasks that write tests may not touch, besides the default; in every folder.",
        .slot = GUARD_SLOT(List, policy.forbidden_files),
        .rule = glob_rule,
        .relaxes = never,
        .adds = true},
    {.section = "policy",
        .name = "allowed_paths",
        .type = list,
        .doc = "Where a task may change files, seen from the root.",
        .slot = GUARD_SLOT(List, policy.allowed_paths),
        .rule = glob_rule,
        .empty_means = "what check.paths gates; for tasks of another kind anywhere",
        .relaxes = never},
    {.section = "policy",
        .name = "forbidden_paths",
        .type = list,
        .doc = "Where no task may change files, whatever its kind, on top of what is never allowed.",
        .slot = GUARD_SLOT(List, policy.forbidden_paths),
        .rule = glob_rule,
        .empty_means = "nowhere else",
        .relaxes = never},
    {.section = "policy",
        .name = "max_diff_lines",
        .type = integer,
        .doc = "Lines that one task may add and remove, together.",
        .slot = GUARD_SLOT(Number, policy.max_diff_lines),
        .min = 1,
        .max = 1'000'000,
        .relaxes = never},
    {.section = "policy",
        .name = "max_diff_bytes",
        .type = bytes,
        .doc = "Size of all files that one task changes, together.",
        .slot = GUARD_SLOT(Number, policy.max_diff_bytes),
        .min = kKiB,
        .max = kGiB,
        .relaxes = never},

    {.section = "nightly",
        .name = "worth",
        .type = boolean,
        .doc = "Whether a new test has to fail when the code that it tests is broken.",
        .slot = GUARD_SLOT(Bool, nightly.worth),
        .relaxes = never},
    {.section = "nightly",
        .name = "worth_runs",
        .type = integer,
        .doc = "How often a new test runs in random order before it is kept.",
        .slot = GUARD_SLOT(Number, nightly.worth_runs),
        .min = 1,
        .max = 100,
        .relaxes = never},
    {.section = "nightly",
        .name = "worth_mutants",
        .type = integer,
        .doc = "At most so many broken versions of the code are tried; each costs a run.",
        .slot = GUARD_SLOT(Number, nightly.worth_mutants),
        .min = 1,
        .max = 1000,
        .relaxes = never},
    {.section = "nightly",
        .name = "keep_clones",
        .type = choice,
        .doc = "Which clones stay when their attempt is over, for a person to look at.",
        .slot = GUARD_CHOICE(nightly.keep_clones),
        .choices = kKeepClones,
        .relaxes = never},
    {.section = "nightly",
        .name = "keep_days",
        .type = integer,
        .doc = "How long evidence, outputs and kept clones of past nights stay.",
        .slot = GUARD_SLOT(Number, nightly.keep_days),
        .min = 1,
        .max = 3650,
        .unit = "days",
        .relaxes = never},
    {.section = "nightly",
        .name = "min_free",
        .type = bytes,
        .doc = "Free space without which no night starts and no attempt begins.",
        .slot = GUARD_SLOT(Number, nightly.min_free_bytes),
        .min = kMiB,
        .max = 1024 * kGiB,
        .relaxes = never},
    {.section = "nightly",
        .name = "on_finish",
        .type = list,
        .doc = "A program and its arguments that gets the summary of a night on standard input when it is over.",
        .slot = GUARD_SLOT(List, nightly.on_finish),
        .empty_means = "none",
        .relaxes = never},

    {.section = "rollout",
        .name = "enabled",
        .type = boolean,
        .doc = "Whether tasks run in the sandbox; else on the host, if that is allowed, or not at all.",
        .slot = GUARD_SLOT(Bool, rollout.enabled),
        .relaxes = never},
    {.section = "rollout",
        .name = "percent",
        .type = integer,
        .doc = "Of a hundred tasks, how many run in the sandbox.",
        .slot = GUARD_SLOT(Number, rollout.percent),
        .min = 0,
        .max = 100,
        .relaxes = never},
    {.section = "rollout",
        .name = "force",
        .type = list,
        .doc = "Ids of tasks that always run in the sandbox.",
        .slot = GUARD_SLOT(List, rollout.force),
        .rule = id_rule,
        .relaxes = never},
};
// Whoever adds a key decides what an uncommitted file may do with it.
static_assert(
    std::all_of(std::begin(kKeys), std::end(kKeys), [](const ConfigKey& key) { return key.relaxes != nullptr; }));
#undef GUARD_SLOT
#undef GUARD_CHOICE

}  // namespace

std::string bytes_text(std::uint64_t bytes) {
  constexpr std::string_view kUnits = "kmgt";
  std::string unit;
  for (const char next : kUnits) {
    if (bytes < 1024 || bytes % 1024 != 0) break;
    bytes /= 1024;
    unit = next;
  }
  return fmt::format("{}{}", bytes, unit);
}

std::string ConfigKey::range_text() const {
  if (type == KeyType::bytes) {
    return fmt::format(
        "{} to {}", bytes_text(static_cast<std::uint64_t>(min)), bytes_text(static_cast<std::uint64_t>(max)));
  }
  return fmt::format("{} to {}{}{}", min, max, unit.empty() ? "" : " ", unit);
}

std::string ConfigKey::dotted() const {
  return section.empty() ? std::string(name) : fmt::format("{}.{}", section, name);
}

std::string ConfigKey::environment_name() const {
  std::string text = fmt::format("GUARD_{}{}{}", section, section.empty() ? "" : "_", name);
  std::transform(text.begin(), text.end(), text.begin(),
      [](char c) { return c >= 'a' && c <= 'z' ? static_cast<char>(c - 'a' + 'A') : c; });
  return text;
}

std::string ConfigKey::type_text() const {
  switch (type) {
    case choice: return fmt::format("{}", fmt::join(choices, ", "));
    case boolean: return "true, false";
    case integer:
    case decimal: return range_text();
    case KeyType::bytes: return fmt::format("size, {}", range_text());
    case KeyType::text: return "text";
    case list: return "list";
    case variables: return "table";
    case KeyType::waivers: return "tables";
  }
  return {};
}

std::span<const ConfigKey> config_keys() { return kKeys; }

const ConfigKey* find_config_key(std::string_view dotted) {
  for (const auto& key : kKeys) {
    if (key.section.empty() ? key.name == dotted
                            : dotted.size() == key.section.size() + 1 + key.name.size() &&
                dotted.starts_with(key.section) && dotted[key.section.size()] == '.' && dotted.ends_with(key.name)) {
      return &key;
    }
  }
  return nullptr;
}

}  // namespace guard

#include "pipeline/config/config_keys.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <type_traits>

#include "common/text/time_text.h"
#include "pipeline/config/config_texts.h"
#include "pipeline/config/config_values.h"

namespace guard {
namespace {

// The slot of what `Get` finds in a Config. A choice's names are those of its enum.
template <typename Get>
constexpr ConfigSlot slot(Get get) {
  using Value = std::remove_reference_t<std::invoke_result_t<Get, Config&>>;
  if constexpr (std::is_enum_v<Value>) {
    return ChoiceSlot{kNamesOf<Value>,
        [](Config& config, std::size_t index) { Get{}(config) = static_cast<Value>(index); },
        [](Config& config) { return static_cast<std::size_t>(Get{}(config)); }};
  } else {
    return +get;
  }
}
#define GUARD_AT(member) slot([](Config & config) -> auto& { return config.member; })

constexpr double kKiB = 1024;
constexpr double kMiB = 1024 * kKiB;
constexpr double kGiB = 1024 * kMiB;
constexpr double kTiB = 1024 * kGiB;
constexpr double kMillisecond = 0.001;
constexpr double kDayS = 86'400;

constexpr KeyForm range(double min, double max, std::string_view unit = {}) {
  return {.min = min, .max = max, .unit = unit};
}
constexpr KeyForm size(double min, double max) { return {.min = min, .max = max, .is_size = true}; }
constexpr KeyForm kPlaceTimeout = {.min = kMillisecond, .max = kDayS, .inherits = "limits.timeout"};

bool never(const ConfigKey&, const Config&) { return false; }

template <typename Value>
const Value& value_in(const ConfigKey& key, const Config& config) {
  return std::get<Value& (*)(Config&)>(key.slot)(const_cast<Config&>(config));  // NOLINT: only read
}

// Any other value than the default.
bool when_changed(const ConfigKey& key, const Config& config) {
  if (std::holds_alternative<VariablesSlot>(key.slot)) return !config.run.env.empty();
  if (std::holds_alternative<WaiversSlot>(key.slot)) return !config.check.waivers.empty();
  if (std::holds_alternative<CredentialsSlot>(key.slot)) return !config.network.credentials.empty();
  return toml_literal(key, config) != toml_literal(key, Config());
}

bool is_subset(const ConfigKey& key, const Config& part, const Config& whole) {
  const auto& items = value_in<std::vector<std::string>>(key, whole);
  return std::ranges::all_of(value_in<std::vector<std::string>>(key, part),
      [&](const auto& item) { return std::ranges::find(items, item) != items.end(); });
}

// A list that says what is looked at: an item of the default is missing.
bool when_less(const ConfigKey& key, const Config& config) { return !is_subset(key, Config(), config); }

// A list of what is let through: an item that the default does not have.
bool when_more(const ConfigKey& key, const Config& config) { return !is_subset(key, config, Config()); }

// The host and environments of the cu program have none of our limits.
bool leaves_sandbox(const ConfigKey&, const Config& config) { return !backend_row(config.backend).limits_resources; }
bool falls_out_of_sandbox(const ConfigKey&, const Config& config) {
  return !std::ranges::all_of(config.fallback, &BackendRow::limits_resources, backend_row);
}

bool leaves_project(const ConfigKey&, const Config& config) {
  const std::filesystem::path folder = config.run.record;
  return folder.is_absolute() || std::find(folder.begin(), folder.end(), "..") != folder.end();
}

bool asserts_nothing(const ConfigKey&, const Config& config) {
  return config.run.require_assertions == Assertions::off;
}

// Rows of one section stand together, in the order in which they are shown. Tables of their own come last in their
// section: TOML would take what follows them for theirs.
constexpr ConfigKey kKeys[] = {
    {"backend", GUARD_AT(backend), leaves_sandbox,
        "Where code runs: a container, the embedded sandbox, the host itself, or an environment of the cu program."},
    {"fallback", GUARD_AT(fallback), falls_out_of_sandbox,
        "What takes over, in this order, where the backend is not installed; one that is there and fails is never "
        "replaced."},
    {"trust_namespace", GUARD_AT(trust_namespace), when_changed,
        "Skip the host-only rules in the embedded sandbox, as in a container."},
    {"require_cgroups", GUARD_AT(require_cgroups), never,
        "Refuse the embedded sandbox where memory and processes could only be watched, not limited by the kernel."},

    {"docker.image", GUARD_AT(docker.image), when_changed, "The image that tests run in.",
        {.rule = reference_rule, .empty_means = "the tag made from lockfile, package.json and bun"}},
    {"docker.network", GUARD_AT(docker.network), when_changed,
        "What the code may reach: nothing, what [network] allow lists, or (in a container) the network; anything but "
        "none is written into the evidence of every run."},
    {"docker.timeout", GUARD_AT(docker.timeout), never, "The same in a container; else limits.timeout.", kPlaceTimeout},
    {"docker.pull", GUARD_AT(docker.pull), when_changed,
        "Whether guard may pull the image that docker.image names, where the engine does not have it."},
    {"docker.runtime", GUARD_AT(docker.runtime), when_changed,
        "The engine's runtime for the container, runsc for example.",
        {.rule = reference_rule, .empty_means = "the engine's default"}},
    {"docker.probe_deadline_ms", GUARD_AT(docker.probe_deadline_ms), never,
        "How long the engine may take to answer; after that its state is unknown.", range(10, 60'000, "ms")},
    {"docker.plain_tcp", GUARD_AT(docker.plain_tcp), when_changed,
        "Trusts an engine at another machine without TLS: anybody on the way could forge a verdict."},

    {"network.allow", GUARD_AT(network.allow), when_changed,
        "What the code may reach through guard's proxy: host, host:port, *.host, address:port, or a preset such as "
        "@npm; without a port 443 and 80.",
        {.rule = allow_rule, .empty_means = "no network"}},
    {"network.deny", GUARD_AT(network.deny), never, "What it may not reach although it is allowed; of the same form.",
        {.rule = deny_rule, .adds = true}},
    {"network.registries_in_tests", GUARD_AT(network.registries_in_tests), when_changed,
        "Whether tests reach the presets of `allow`, too; else only commands and sessions do."},
    {"network.max_connections", GUARD_AT(network.max_connections), never, "Connections of a sandbox at once.",
        range(1, 1024)},
    {"network.max_upload", GUARD_AT(network.max_upload_bytes), never, "What a sandbox may send, in all.",
        size(kKiB, kTiB)},
    {"network.max_download", GUARD_AT(network.max_download_bytes), never, "What a sandbox may receive, in all.",
        size(kKiB, 64 * kTiB)},
    {"network.idle_timeout", GUARD_AT(network.idle_timeout), never,
        "How long a connection may stay open while nothing moves.", range(1, kDayS)},
    {"network.proxy", GUARD_AT(network.proxy), when_changed,
        "Another proxy that connections go through, http://host:port; it then looks names up, so an allowed name may "
        "lead to a private address.",
        {.rule = proxy_rule, .empty_means = "none"}},
    {"network.dns_servers", GUARD_AT(network.dns_servers), when_changed,
        "Who is asked for the addresses of allowed names: address or address:port.",
        {.rule = reference_rule, .empty_means = "the system's"}},
    {"network.credential", GUARD_AT(network.credentials), when_changed,
        "Keys that the proxy adds outside, so that the code has none: tables of host, header, prefix, value_from "
        "(env:NAME, file:/PATH, command:/PROGRAM ARGUMENTS), lifetime_s."},
    {"network.authorities", GUARD_AT(network.authorities), when_changed,
        "A PEM file of the authorities that hosts with a credential are checked by.",
        {.rule = program_rule, .empty_means = "the system's"}},

    {"image.tools", GUARD_AT(image.tools), when_more,
        "Programs of this machine, from /usr/bin, that the image holds with their libraries: git, tar, sh.",
        {.rule = tool_rule}},
    {"image.unused_days", GUARD_AT(image.unused_days), never,
        "`guard image build` removes images that no project has used for so long; 0: none.", range(0, 3650, "days")},

    {"session.image", GUARD_AT(session.image), never,
        "The image that sessions run in, by the name that `guard image import` gave it.",
        {.rule = reference_rule, .empty_means = "the project's own"}},

    {"limits.timeout", GUARD_AT(limits.timeout), never, "How long a run may take, in whichever place.",
        range(kMillisecond, kDayS)},
    {"limits.memory", GUARD_AT(limits.memory_bytes), never, "Memory of a run, without swap.", size(16 * kMiB, kTiB)},
    {"limits.cpus", GUARD_AT(limits.cpus), never, "Processors of a run.", range(0.1, 1024)},
    {"limits.pids", GUARD_AT(limits.pids), never, "Processes and threads of a run.", range(8, 1'000'000)},
    {"limits.tmp_size", GUARD_AT(limits.tmp_bytes), never, "Size of /tmp and of /dev/shm in the sandbox.",
        size(kMiB, 64 * kGiB)},
    {"limits.sandbox_size", GUARD_AT(limits.sandbox_bytes), never, "What a run may write into its sandbox folder.",
        size(kMiB, 64 * kGiB)},
    {"limits.sandbox_files", GUARD_AT(limits.sandbox_files), never, "Files that a run may make in its sandbox folder.",
        range(16, 10'000'000)},
    {"limits.output_keep", GUARD_AT(limits.output_keep_bytes), never,
        "How much of a run's output is kept, counted after masking, both streams together.", size(kKiB, kGiB)},
    {"limits.output_flood", GUARD_AT(limits.output_flood_bytes), never, "Output beyond this ends the run as rejected.",
        size(64 * kKiB, kTiB)},

    {"namespace.timeout", GUARD_AT(namespace_sandbox.timeout), never,
        "The same in the embedded sandbox; else limits.timeout.", kPlaceTimeout},

    {"host.timeout", GUARD_AT(host.timeout), never, "The same on the host; else limits.timeout.", kPlaceTimeout},
    {"host.warn_on_start", GUARD_AT(host.warn_on_start), when_changed,
        "Warn once when something is to run without a sandbox; it is written into the evidence either way."},
    {"host.env", GUARD_AT(host.env), when_more, "Variables of guard's own environment that a run on the host sees.",
        {.rule = variable_rule}},

    {"container_use.program", GUARD_AT(container_use.program), when_changed,
        "The cu program of container-use, by its absolute path.",
        {.rule = program_rule, .empty_means = "cu in the folders of the system"}},
    {"container_use.image", GUARD_AT(container_use.image), never, "Refused: the cu program has no option for an image.",
        {.rule = reference_rule, .empty_means = "none"}},
    {"container_use.env_id", GUARD_AT(container_use.env_id), when_changed,
        "An environment of the cu program that all runs share; it is never deleted.",
        {.rule = environment_id_rule, .empty_means = "one is made for each run"}},
    {"container_use.timeout", GUARD_AT(container_use.timeout), never,
        "The same in an environment of the cu program; else limits.timeout.", kPlaceTimeout},

    {"check.paths", GUARD_AT(check.paths), when_less, "What `guard check` without paths, and with --staged, judges.",
        {.rule = glob_rule, .needs_items = true}},
    {"check.max_file_bytes", GUARD_AT(check.max_file_bytes), never, "A larger file is a finding.", size(kKiB, kGiB)},
    {"check.api_key_names", GUARD_AT(check.api_key_names), when_less,
        "Names of keys that code outside a container may not mention.", {.rule = variable_rule}},
    {"check.two_hit_ignore", GUARD_AT(check.two_hit_ignore), when_changed,
        "Harmless variables, which code may read and print, instead of the shipped list.",
        {.rule = variable_rule, .empty_means = "the list that comes with the rules", .needs_items = true}},
    {"check.allow_temp_removal", GUARD_AT(check.allow_temp_removal), never,
        "Outside a container, too, a file may delete folders that it made with mkdtemp itself."},
    {"check.docs_url", GUARD_AT(check.docs_url), never,
        "Where people read docs/rules.md; findings in SARIF then link to their rule.",
        {.rule = url_rule, .empty_means = "no links"}},
    {"check.waivers", GUARD_AT(check.waivers), when_changed,
        "Findings that may pass: tables of rule, path (a glob), fingerprint (`guard check --print-waiver` writes it), "
        "reason, expires (a date)."},

    {"hook.everywhere", GUARD_AT(hook.everywhere), never,
        "In hooks and `guard gate`, the always tier also applies to added lines of scripts outside check.paths."},

    {"run.grace_s", GUARD_AT(run.grace_s), never, "What a run that is told to end has left before it is killed.",
        range(0, 600, "s")},
    {"run.file_timeout", GUARD_AT(run.file_timeout), never,
        "How long one test file may take; the others still run. 0: only limits.timeout.", range(0, kDayS)},
    {"run.collect", GUARD_AT(run.collect), never,
        "Which files that passing tests wrote are collected: none, those of collect_paths, or all that the rules "
        "allow."},
    {"run.collect_paths", GUARD_AT(run.collect_paths), never,
        "What `collect = \"listed\"` brings back: globs relative to the project, such as sandbox/out/**.",
        {.rule = glob_rule}},
    {"run.isolation", GUARD_AT(run.isolation), when_changed,
        "\"file\": each test file has its own process, /tmp and sandbox/; \"run\": they share one, and can change what "
        "another one means."},
    {"run.require_assertions", GUARD_AT(run.require_assertions), asserts_nothing,
        "Where a pass needs an assertion: each file, each test (the default of nights), or nowhere."},
    {"run.record", GUARD_AT(run.record), leaves_project,
        "Folder for an evidence record of every run, seen from the project; made where it is missing.",
        {.rule = any_text_rule, .empty_means = "no record is kept"}},
    {"run.env", GUARD_AT(run.env), when_changed,
        "Variables for the sandbox, masked in its output: NAME = \"value\", or NAME = true for guard's own value."},

    {"redact.mask_env", GUARD_AT(redact.mask_env), never,
        "Variables whose values are masked, besides those whose names look secret.",
        {.rule = variable_rule, .adds = true}},
    {"redact.mask_file", GUARD_AT(redact.mask_file), never, "Files of values to be masked, one a line.",
        {.rule = path_rule, .adds = true}},
    {"redact.kinds_off", GUARD_AT(redact.kinds_off), when_changed, "Kinds of secret that are not masked.",
        {.rule = id_rule}},

    {"policy.max_changed_files_per_task", GUARD_AT(policy.max_changed_files_per_task), never,
        "Files that one task may change.", range(1, 1000)},
    {"policy.forbidden_files", GUARD_AT(policy.forbidden_files), never,
        "Files that tasks that write tests may not touch, besides the default; in every folder.",
        {.rule = glob_rule, .adds = true}},
    {"policy.allowed_paths", GUARD_AT(policy.allowed_paths), never,
        "Where a task may change files, seen from the root.",
        {.rule = glob_rule, .empty_means = "what check.paths gates; for tasks of another kind anywhere"}},
    {"policy.forbidden_paths", GUARD_AT(policy.forbidden_paths), never,
        "Where no task may change files, whatever its kind, on top of what is never allowed.",
        {.rule = glob_rule, .empty_means = "nowhere else"}},
    {"policy.max_diff_lines", GUARD_AT(policy.max_diff_lines), never,
        "Lines that one task may add and remove, together.", range(1, 1'000'000)},
    {"policy.max_diff_bytes", GUARD_AT(policy.max_diff_bytes), never,
        "Size of all files that one task changes, together.", size(kKiB, kGiB)},

    {"nightly.worth", GUARD_AT(nightly.worth), never,
        "Whether a new test has to fail when the code that it tests is broken."},
    {"nightly.worth_runs", GUARD_AT(nightly.worth_runs), never,
        "How often a new test runs in random order before it is kept.", range(1, 100)},
    {"nightly.worth_mutants", GUARD_AT(nightly.worth_mutants), never,
        "At most so many broken versions of the code are tried; each costs a run.", range(1, 1000)},
    {"nightly.keep_clones", GUARD_AT(nightly.keep_clones), never,
        "Which clones stay when their attempt is over, for a person to look at."},
    {"nightly.keep_days", GUARD_AT(nightly.keep_days), never,
        "How long evidence, outputs and kept clones of past nights stay.", range(1, 3650, "days")},
    {"nightly.min_free", GUARD_AT(nightly.min_free_bytes), never,
        "Free space without which no night starts and no attempt begins.", size(kMiB, kTiB)},
    {"nightly.on_finish", GUARD_AT(nightly.on_finish), never,
        "A program and its arguments that gets the summary of a night on standard input when it is over.",
        {.empty_means = "none"}},

    {"rollout.enabled", GUARD_AT(rollout.enabled), never,
        "Whether tasks run in the sandbox; else on the host, if that is allowed, or not at all."},
    {"rollout.percent", GUARD_AT(rollout.percent), never,
        "Of a hundred tasks, how many run in the sandbox; 0: no `guard run` either.", range(0, 100)},
    {"rollout.force", GUARD_AT(rollout.force), never, "Ids of tasks that always run in the sandbox.",
        {.rule = id_rule}},
};
// Whoever adds a key decides what an uncommitted file may do with it.
static_assert(std::ranges::all_of(kKeys, [](const ConfigKey& key) { return key.relaxes != nullptr; }));
#undef GUARD_AT

}  // namespace

std::string bytes_text(std::uint64_t bytes) {
  std::string unit;
  for (const char next : std::string_view("kmgt")) {
    if (bytes < 1024 || bytes % 1024 != 0) break;
    bytes /= 1024;
    unit = next;
  }
  return fmt::format("{}{}", bytes, unit);
}

std::string ConfigKey::dotted() const {
  return section.empty() ? std::string(name) : fmt::format("{}.{}", section, name);
}

std::string ConfigKey::environment_name() const {
  std::string text = fmt::format("GUARD_{}{}{}", section, section.empty() ? "" : "_", name);
  for (char& c : text) c = c >= 'a' && c <= 'z' ? static_cast<char>(c - 'a' + 'A') : c;
  return text;
}

std::string ConfigKey::range_text() const {
  if (is_time()) {
    const auto text = [](double seconds) { return time_text(milliseconds(std::llround(seconds * 1000))); };
    return fmt::format("{} to {}", text(min), text(max));
  }
  if (!is_size) return fmt::format("{} to {}{}{}", min, max, unit.empty() ? "" : " ", unit);
  return fmt::format(
      "{} to {}", bytes_text(static_cast<std::uint64_t>(min)), bytes_text(static_cast<std::uint64_t>(max)));
}

std::string ConfigKey::type_text() const {
  if (!choices().empty()) return fmt::format("{}", fmt::join(choices(), ", "));
  if (min != max) return fmt::format("{}{}", is_size ? "size, " : "", range_text());
  if (std::holds_alternative<BackendsSlot>(slot))
    return fmt::format("{}, {}; a list is an order", fmt::join(kNamesOf<Backend>, ", "), kNoBackend);
  constexpr std::string_view kOthers[] = {
      "", "true, false", "", "", "text", "list", "table", "tables", "tables", "", ""};
  return std::string(kOthers[slot.index()]);
}

std::span<const ConfigKey> config_keys() { return kKeys; }

const ConfigKey* find_config_key(std::string_view dotted) {
  const auto* found = std::ranges::find_if(kKeys, [&](const ConfigKey& key) { return key.dotted() == dotted; });
  return found == std::end(kKeys) ? nullptr : found;
}

}  // namespace guard

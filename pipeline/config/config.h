// What guard was told to do: guard.toml, then the environment, then options, each over the one before.
//
// Config is plain data without knowledge of the parts that it feeds. Every key has one row in config_keys.cc; a value's
// default is its initializer here.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "common/enum_names.h"
#include "common/environment.h"
#include "common/result.h"
#include "common/time.h"
#include "runner/sandbox/backend.h"

namespace guard {

enum class NetworkMode : std::uint8_t { none, bridge, host, allowlist };
enum class PullPolicy : std::uint8_t { never, missing };
// What comes back of the files that a run wrote: nothing, what collect_paths names, or everything that passes.
enum class CollectPolicy : std::uint8_t { none, listed, all };
// What tests share: a world of its own for each file, or one process for all files.
enum class Isolation : std::uint8_t { file, run };
// Where an assertion is asked for: nowhere, somewhere in each file, in each test.
enum class Assertions : std::uint8_t { off, file, test };
// Which clones of the nightly loop stay when their attempt is over.
enum class KeepClones : std::uint8_t { never, refused, always };

template <>
inline constexpr std::array<std::string_view, 4> kNamesOf<NetworkMode> = {"none", "bridge", "host", "allowlist"};
template <>
inline constexpr std::array<std::string_view, 2> kNamesOf<PullPolicy> = {"never", "missing"};
template <>
inline constexpr std::array<std::string_view, 3> kNamesOf<CollectPolicy> = {"none", "listed", "all"};
template <>
inline constexpr std::array<std::string_view, 2> kNamesOf<Isolation> = {"file", "run"};
template <>
inline constexpr std::array<std::string_view, 3> kNamesOf<Assertions> = {"off", "file", "test"};
template <>
inline constexpr std::array<std::string_view, 3> kNamesOf<KeepClones> = {"never", "refused", "always"};

// Lets a finding pass: this rule, in these files, as long as the fingerprint is the same and the day has not come.
struct Waiver {
  std::string rule;
  std::string path;         // a glob, relative to the project, joined with '/'
  std::string fingerprint;  // of the finding (finding_marks.h), or the SHA-256 of the file; 64 lower-case hex digits
  std::string reason;
  std::string expires;  // "2030-12-31", the last day on which it holds
  std::string origin;   // "guard.toml:40"
};

// A header that guard's proxy adds to requests for one host (egress/keys/credential.h), and where its value comes from.
struct CredentialRule {
  std::string host;              // or host:port; without a port 443
  std::string header;            // "Authorization"
  std::string prefix;            // before the value: "Bearer "
  std::string value_from;        // "env:NAME", "file:/absolute/path" or "command:/absolute/program and its arguments"
  std::uint64_t lifetime_s = 0;  // after which the value is read again; 0: never
  std::string origin;            // "guard.toml:40"
};

// "Authorization for api.example.com from env:EXAMPLE_KEY"; of a command the program alone.
std::string credential_text(const CredentialRule& rule);

// A variable for the sandbox: a text of its own, or whatever guard's own environment has under that name.
struct PassedVariable {
  std::string text;
  bool inherited = false;
};

struct Config {
  Backend backend = Backend::docker;
  // Who takes over, in this order, where all before were proved absent.
  std::vector<Backend> fallback = {Backend::namespace_sandbox};
  bool trust_namespace = false;
  bool require_cgroups = false;

  struct {
    std::string image;  // empty: the tag made from the project's contents
    NetworkMode network = NetworkMode::none;
    milliseconds timeout{300'000};
    PullPolicy pull = PullPolicy::never;
    std::string runtime;  // empty: the engine's default
    std::uint64_t probe_deadline_ms = 2000;
    bool plain_tcp = false;  // to an engine that is not on this machine
  } docker;

  // By guard's proxy (pipeline/network.h).
  struct {
    std::vector<std::string> allow;  // egress/egress_rules.h
    std::vector<std::string> deny;
    bool registries_in_tests = false;      // presets of `allow` hold for tests, too
    std::uint64_t max_connections = 1024;  // at once
    std::uint64_t max_upload_bytes = 1ull << 30;
    std::uint64_t max_download_bytes = 16ull << 30;
    milliseconds idle_timeout{600'000};
    std::string proxy;                     // empty: connections go out directly
    std::vector<std::string> dns_servers;  // empty: the system's
    std::vector<CredentialRule> credentials;
    std::string authorities;  // PEM file that hosts with a credential are checked by; empty: the system's
  } network;

  struct {
    std::string image;  // empty: the project's own
  } session;

  struct {
    std::uint64_t memory_bytes = 2ull << 30;
    double cpus = 2;
    std::uint64_t pids = 256;
    std::uint64_t tmp_bytes = 500ull << 20;
    std::uint64_t sandbox_bytes = 256ull << 20;
    std::uint64_t sandbox_files = 10'000;
    std::uint64_t output_keep_bytes = 81'920;
    std::uint64_t output_flood_bytes = 1ull << 30;
    milliseconds timeout{300'000};
  } limits;

  struct {
    milliseconds timeout{300'000};
  } namespace_sandbox;

  struct {
    milliseconds timeout{300'000};
    bool warn_on_start = true;
    std::vector<std::string> env = {"PATH", "HOME", "LANG"};
  } host;

  struct {
    std::vector<std::string> tools;  // programs of this machine
    std::uint64_t unused_days = 90;  // 0: images stay
  } image;

  struct {
    std::string program;  // empty: looked for in the folders of the system
    std::string image;    // refused: the program takes none
    std::string env_id;   // empty: an environment is made for each run
    milliseconds timeout{300'000};
  } container_use;

  struct {
    std::vector<std::string> paths = {"sandbox/**"};
    std::uint64_t max_file_bytes = 2ull << 20;
    std::vector<std::string> api_key_names = {"ANTHROPIC_API_KEY", "OPENAI_API_KEY", "GEMINI_API_KEY"};
    bool allow_temp_removal = true;
    std::vector<std::string> two_hit_ignore;  // empty: the list that is shipped with the rules
    std::string docs_url;                     // of docs/rules.md where people can read it
    std::vector<Waiver> waivers;
  } check;

  struct {
    bool everywhere = false;  // the always tier on added lines of scripts outside of check.paths, too
  } hook;

  struct {
    milliseconds file_timeout{0};  // of one test file; 0: only the time of all
    std::uint64_t grace_s = 10;
    CollectPolicy collect = CollectPolicy::none;
    std::vector<std::string> collect_paths;  // globs, relative to the project: "sandbox/out/**"
    Isolation isolation = Isolation::file;
    Assertions require_assertions = Assertions::file;  // nights: test, unless configured
    std::string record;                                // a folder, seen from the project; empty: no evidence record
    std::map<std::string, PassedVariable> env;
  } run;

  struct {
    std::vector<std::string> mask_env;  // besides the names that look secret
    std::vector<std::string> mask_file;
    std::vector<std::string> kinds_off;
  } redact;

  struct {
    std::uint64_t max_changed_files_per_task = 5;
    std::vector<std::string> forbidden_files = {
        "package.json", "bun.lock", "bun.lockb", "package-lock.json", "yarn.lock", "pnpm-lock.yaml"};
    std::vector<std::string> forbidden_paths;  // globs, on top of what is never allowed
    std::vector<std::string> allowed_paths;    // empty: any
    std::uint64_t max_diff_lines = 2'000;
    std::uint64_t max_diff_bytes = 256ull << 10;
  } policy;

  struct {
    bool worth = true;                // a new test has to fail when the code is broken
    std::uint64_t worth_runs = 3;     // in random order, to see flakes
    std::uint64_t worth_mutants = 8;  // at most; one run each
    KeepClones keep_clones = KeepClones::never;
    std::uint64_t keep_days = 30;
    std::uint64_t min_free_bytes = 2ull << 30;
    std::vector<std::string> on_finish;  // argv
  } nightly;

  struct {
    bool enabled = true;
    std::uint64_t percent = 100;
    std::vector<std::string> force;
  } rollout;

  bool allows(Backend place) const {
    return backend == place || std::find(fallback.begin(), fallback.end(), place) != fallback.end();
  }

  // How long a run may take there.
  milliseconds timeout(Backend where) const noexcept {
    switch (where) {
      case Backend::docker: return docker.timeout;
      case Backend::namespace_sandbox: return namespace_sandbox.timeout;
      case Backend::host: return host.timeout;
      case Backend::container_use: return container_use.timeout;
    }
    return limits.timeout;
  }
};

struct ConfigEntry {
  std::string key;     // "limits.memory"
  std::string value;   // as it would stand in guard.toml; a value of [run.env] is hidden
  std::string origin;  // "default", "guard.toml:12", "environment GUARD_LIMITS_MEMORY", "option --memory"
};

// One value from the command line, as typed.
struct ConfigOverride {
  std::string key;                  // "limits.memory", "run.env.TZ"
  std::optional<std::string> text;  // nothing: run.env only, pass guard's own value on
  std::string option;               // "--memory"
};

// A guard.toml that somebody else read, from git's base revision say.
struct ConfigText {
  std::string name;  // for messages and origins: "guard.toml at HEAD"
  std::string bytes;
};

// At most one of `file`, `search_from` and `text` is set; with none of them there is no file.
struct ConfigSources {
  std::filesystem::path file;         // --config: must be there
  std::filesystem::path search_from;  // guard.toml is looked for as find_config_file() says; none is no error
  std::optional<ConfigText> text;
  Environment environment;
  std::vector<ConfigOverride> overrides;
};

struct LoadedConfig {
  Config config;
  std::vector<ConfigEntry> entries;  // every key, in the order of the table, if asked for
  std::filesystem::path file;        // where guard.toml was read; empty: nowhere, or handed in as text
  std::string file_bytes;            // what was read there
  std::vector<std::string>
      relaxations;  // what guard.toml relaxes and nobody above it says, as "backend = \"host\" (guard.toml:3)"

  const ConfigEntry* find(std::string_view key) const noexcept;
};

// CONFIG_INVALID with all faults of all sources at once, a line each, in the order of the sources.
enum class ConfigEntries : std::uint8_t { list, leave_out };
Result<LoadedConfig> load_config(const ConfigSources& sources, ConfigEntries entries = ConfigEntries::list);

// The variables of [run.env] with their values. CONFIG_INVALID where one is to be inherited and is not set.
Result<std::map<std::string, std::string>> run_variables(const Config& config, const Environment& environment);

}  // namespace guard

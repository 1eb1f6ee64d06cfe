#include "serve/metrics.h"

#include <fmt/format.h>

#include <array>
#include <nlohmann/json.hpp>

#include "common/text/text.h"

namespace guard::serve {
namespace {

using nlohmann::ordered_json;
using sessions::Way;

std::string_view name_of(Way way) { return way == Way::cold ? "cold" : way == Way::pool ? "pool" : "reused"; }

// Backslash, quote and line end, as the format wants them.
std::string label(std::string_view text) {
  std::string escaped;
  for (const char c : printable(text)) {
    if (c == '\\' || c == '"') escaped += '\\';
    escaped += c;
  }
  return escaped;
}

struct FamilyRow {
  std::string_view name, key, help;
};
constexpr std::array<FamilyRow, 4> kFamilies = {{
    {"guard_runs_total", "verdict", "Runs of tests that tools asked for, by verdict."},
    {"guard_findings_total", "rule", "Findings of checks and runs that tools asked for, by rule."},
    {"guard_redactions_total", "kind", "What was masked in answers of tools, by kind."},
    {"guard_egress_connections_total", "decision", "Connections that sessions asked the proxy for, by how they ended."},
}};

void head(std::string& text, std::string_view name, std::string_view type, std::string_view help) {
  text += fmt::format("# HELP {} {}\n# TYPE {} {}\n", name, help, name, type);
}

}  // namespace

void Counts::add(Family family, const std::string& label, std::uint64_t count) {
  const std::lock_guard lock(mutex_);
  counts_[family][label] += count;
}

std::string metrics_text(const sessions::Stats& stats, const Counts& counts) {
  std::string text;
  head(text, "guard_pool_sandboxes", "gauge", "Sandboxes that are ready for a session or being started.");
  text += fmt::format("guard_pool_sandboxes{{state=\"ready\"}} {}\n", stats.pooled);
  text += fmt::format("guard_pool_sandboxes{{state=\"starting\"}} {}\n", stats.starting);
  head(text, "guard_probe_state", "gauge", "What the last start of a sandbox has shown: whether it holds.");
  for (const auto probe : {sessions::Probe::allowed, sessions::Probe::violation, sessions::Probe::unknown})
    text += fmt::format("guard_probe_state{{state=\"{}\"}} {:d}\n", to_string(probe), probe == stats.probe.probe);
  head(text, "guard_probe_since_timestamp_seconds", "gauge", "Since when, in seconds since 1970.");
  text += fmt::format("guard_probe_since_timestamp_seconds {:.3f}\n", static_cast<double>(stats.probe.since_ms) / 1e3);
  head(text, "guard_sessions", "gauge", "Sessions by state.");
  for (const auto& [state, count] : stats.sessions)
    text += fmt::format("guard_sessions{{state=\"{}\"}} {}\n", to_string(state), count);
  head(text, "guard_session_start_seconds", "histogram", "Time from a call until it had its sandbox, by way.");
  for (const auto& [way, latencies] : stats.starts) {
    std::uint64_t below = 0;
    for (std::size_t i = 0; i < latencies.kBoundsUs.size(); ++i) {
      below += latencies.counts[i];
      text += fmt::format("guard_session_start_seconds_bucket{{way=\"{}\",le=\"{}\"}} {}\n", name_of(way),
          static_cast<double>(latencies.kBoundsUs[i]) / 1e6, below);
    }
    text +=
        fmt::format("guard_session_start_seconds_bucket{{way=\"{}\",le=\"+Inf\"}} {}\n", name_of(way), latencies.count);
    text += fmt::format("guard_session_start_seconds_sum{{way=\"{}\"}} {}\n", name_of(way),
        static_cast<double>(latencies.sum_us) / 1e6);
    text += fmt::format("guard_session_start_seconds_count{{way=\"{}\"}} {}\n", name_of(way), latencies.count);
  }
  head(text, "guard_executions_total", "counter", "Commands and operations on files that have ended, by outcome.");
  for (const auto& [outcome, count] : stats.commands)
    text += fmt::format("guard_executions_total{{outcome=\"{}\"}} {}\n", label(outcome), count);
  head(text, "guard_sweep_sessions", "gauge", "What the last sweep did, in sessions.");
  text += fmt::format("guard_sweep_sessions{{result=\"checked\"}} {}\n", stats.last_sweep.checked);
  text += fmt::format("guard_sweep_sessions{{result=\"expired\"}} {}\n", stats.last_sweep.expired);
  text += fmt::format("guard_sweep_sessions{{result=\"cleaned\"}} {}\n", stats.last_sweep.cleaned);
  const std::lock_guard lock(counts.mutex_);
  for (const auto& [family, labels] : counts.counts_) {
    const auto& [name, key, help] = kFamilies[static_cast<std::size_t>(family)];
    head(text, name, "counter", help);
    for (const auto& [value, count] : labels)
      text += fmt::format("{}{{{}=\"{}\"}} {}\n", name, key, label(value), count);
  }
  return text;
}

ordered_json stats_json(const sessions::Stats& stats) {
  ordered_json states = ordered_json::object();
  for (const auto& [state, count] : stats.sessions) states[std::string(to_string(state))] = count;
  ordered_json starts = ordered_json::object();
  for (const auto& [way, latencies] : stats.starts) {
    starts[std::string(name_of(way))] = {{"count", latencies.count},
        {"mean_us", latencies.count == 0 ? 0 : latencies.sum_us / static_cast<std::int64_t>(latencies.count)}};
  }
  return {{"pool", {{"ready", stats.pooled}, {"starting", stats.starting}}}, {"sessions", std::move(states)},
      {"starts", std::move(starts)}, {"executions", stats.commands},
      {"last_sweep",
          {{"checked", stats.last_sweep.checked}, {"expired", stats.last_sweep.expired},
              {"cleaned", stats.last_sweep.cleaned}}}};
}

ordered_json entry_json(const sessions::Entry& entry) {
  ordered_json row = {{"path", printable(entry.path)}, {"type", std::string(1, entry.type)},
      {"mode", fmt::format("{:o}", entry.mode)}, {"size", entry.size}, {"changed_ms", entry.changed_ns / 1'000'000}};
  if (entry.type == 'l') row["link"] = printable(entry.link);
  return row;
}

}  // namespace guard::serve

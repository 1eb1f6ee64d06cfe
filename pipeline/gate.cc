#include "pipeline/gate.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "pipeline/masked_excerpts.h"

namespace guard {
namespace {

ValidatorOptions options_of(const Config& config, TierSet tiers) {
  ValidatorOptions options;
  options.tiers = tiers;
  options.file_bytes_max = config.check.max_file_bytes;
  options.api_key_names = config.check.api_key_names;
  options.harmless_variables = config.check.two_hit_ignore;
  return options;
}

CheckRecord failed(CheckRecord record, Error error) {
  record.verdict = verdict_of(error);
  record.error = std::move(error);
  return record;
}

void add_findings(Report& report, std::vector<Finding> findings) {
  report.findings.insert(report.findings.end(), std::make_move_iterator(findings.begin()), std::make_move_iterator(findings.end()));
  std::sort(report.findings.begin(), report.findings.end());
}

// Turns a full report into the record: waivers, masked excerpts, verdict.
CheckRecord conclude(CheckRecord record, const GateRequest& request, const std::vector<SourceFile>& files) {
  const auto& waivers = request.config->check.waivers;
  if (!waivers.empty()) record.waivers = apply_waivers(waivers, files, today_utc(), record.report);
  record.verdict = verdict_of(record.report, request.files_expected);
  if (auto masked = mask_excerpts(*request.secrets, files, record.report.findings); !masked) {
    for (auto& finding : record.report.findings) finding.excerpt.clear();
    // The findings stand; only what they would have shown is withheld.
    if (record.verdict.kind() == VerdictKind::allowed) return failed(std::move(record), std::move(masked).error());
  }
  return record;
}

std::uint32_t git_line(std::string_view text, std::size_t offset) {
  const auto before = text.substr(0, offset);
  return static_cast<std::uint32_t>(1 + std::count(before.begin(), before.end(), '\n'));
}

CheckRecord record_for(const GateRequest& request, std::string_view mode) {
  CheckRecord record;
  record.mode = mode;
  record.tiers = tier_names(tiers_of(mode, request.config->trust_namespace));
  record.rules_digest = request.rules->digest();
  return record;
}

}  // namespace

CheckRecord gate(const GateRequest& request, const SourceFiles& files, std::string_view mode) {
  CheckRecord record = record_for(request, mode);
  const Validator validator(*request.rules, *request.matcher, options_of(*request.config, tiers_of(mode, request.config->trust_namespace)));
  auto report = validator.check(files.files);
  if (!report) return failed(std::move(record), std::move(report).error());
  record.report = std::move(*report);
  add_findings(record.report, files.findings);
  return conclude(std::move(record), request, files.files);
}

CheckRecord gate_auto(const GateRequest& request, const SourceFiles& files, const std::function<const EngineLocation&()>& engine) {
  CheckRecord strict = gate(request, files, "host");
  const auto& findings = strict.report.findings;
  const bool host_only = strict.verdict.reason == Reason::findings && std::all_of(findings.begin(), findings.end(), [](const Finding& finding) {
    return finding.severity == Severity::note || finding.tier == FindingTier::host;
  });
  // Clean under every tier, or refused whatever the engine says: the engine makes no difference and isn't asked.
  if (!host_only) return strict;
  auto choice = choose_backend(*request.config, std::nullopt, engine);
  if (!choice) return failed(std::move(strict), std::move(choice).error());
  return choice->tiers.host ? strict : gate(request, files, choice->mode);
}

CheckRecord gate_staged(const GateRequest& request, const StagedChange& change, std::string_view mode) {
  GateRequest relaxed = request;
  relaxed.files_expected = false;  // a commit that touches nothing gated is no reason to stop it
  CheckRecord record = gate(relaxed, change.gated, mode);
  if (record.error) return record;

  const Validator validator(*request.rules, *request.matcher, options_of(*request.config, tiers_of(mode, request.config->trust_namespace)));
  auto report = validator.check_banned(change.added_lines.files);
  if (!report) return failed(std::move(record), std::move(report).error());
  std::vector<Finding> added;
  for (auto& finding : report->findings) {
    const auto file = std::find_if(change.added_lines.files.begin(), change.added_lines.files.end(),
                                   [&](const SourceFile& candidate) { return candidate.path == finding.path; });
    if (file == change.added_lines.files.end()) continue;
    const auto& ranges = change.added[static_cast<std::size_t>(file - change.added_lines.files.begin())];
    // git counts line feeds alone. A hit that nobody confirmed may stand for more of its kind further down.
    const auto line = git_line(file->bytes, finding.begin);
    const bool on_added_line = std::any_of(ranges.begin(), ranges.end(), [&](const auto& range) {
      return (finding.confirmed ? line : range.first) >= range.first && line <= range.second;
    });
    // A file that is gated as a whole has reported it already.
    const bool reported = std::any_of(change.gated.files.begin(), change.gated.files.end(),
                                      [&](const SourceFile& gated) { return gated.path == finding.path; });
    if (on_added_line && !reported) added.push_back(std::move(finding));
  }
  // Every changed file was looked at, the gated ones among them.
  record.report.files = std::max(record.report.files, report->files);
  record.report.bytes = std::max(record.report.bytes, report->bytes);
  if (added.empty()) return record;
  if (auto masked = mask_excerpts(*request.secrets, change.added_lines.files, added); !masked) {
    for (auto& finding : added) finding.excerpt.clear();
  }
  add_findings(record.report, std::move(added));
  record.verdict = verdict_of(record.report, false);
  return record;
}

CheckRecord gate_added(const GateRequest& request, const SourceFile& after, std::string_view before, std::string_view mode) {
  CheckRecord record = record_for(request, mode);
  const Validator validator(*request.rules, *request.matcher, options_of(*request.config, tiers_of(mode, request.config->trust_namespace)));
  auto now = validator.check_banned({after});
  if (!now) return failed(std::move(record), std::move(now).error());
  record.report = std::move(*now);
  if (!record.report.findings.empty()) {
    const SourceFile old{after.path, std::string(before)};
    auto then = validator.check_banned({old});
    if (!then) return failed(std::move(record), std::move(then).error());
    const auto text_in = [](const SourceFile& file, const Finding& finding) {
      return std::string_view(file.bytes).substr(finding.begin, finding.end - finding.begin);
    };
    std::set<std::pair<std::string, std::string_view>> known;
    for (const auto& finding : then->findings) known.emplace(finding.rule, text_in(old, finding));
    auto& findings = record.report.findings;
    // A hit that nobody confirmed may stand for others of its kind, so it is never known.
    findings.erase(std::remove_if(findings.begin(), findings.end(),
                                  [&](const Finding& finding) {
                                    return finding.confirmed && known.count({finding.rule, text_in(after, finding)}) > 0;
                                  }),
                   findings.end());
  }
  return conclude(std::move(record), request, {after});
}

}  // namespace guard

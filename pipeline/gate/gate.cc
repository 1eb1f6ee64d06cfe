#include "pipeline/gate/gate.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>

#include "common/environment.h"
#include "common/file_io.h"
#include "common/hash.h"
#include "common/text/text.h"
#include "pipeline/gate/finding_marks.h"
#include "pipeline/gate/masked_excerpts.h"
#include "pipeline/gate/module_names.h"
#include "pipeline/gate/source_files.h"
#include "validator/change/trusted_files.h"
#include "validator/judge/cross_file_judge.h"
#include "validator/judge/file_check.h"

namespace guard {
namespace {

CheckRecord failed(CheckRecord record, Error error) {
  record.verdict = verdict_of(error);
  record.error = std::move(error);
  return record;
}

void add_findings(Report& report, std::vector<Finding> findings) {
  report.findings.insert(
      report.findings.end(), std::make_move_iterator(findings.begin()), std::make_move_iterator(findings.end()));
}

// git counts line feeds alone.
std::uint32_t git_line(std::string_view text, std::size_t offset) {
  const auto before = text.substr(0, offset);
  return static_cast<std::uint32_t>(1 + std::count(before.begin(), before.end(), '\n'));
}

// Any of its lines. A hit that nobody confirmed may stand for more of its kind further down.
bool on_added_line(const Finding& finding, std::string_view text, const LineRanges& added) {
  if (added.empty()) return false;
  const std::uint32_t first = git_line(text, finding.begin);
  const std::uint32_t last =
      finding.confirmed ? git_line(text, finding.end > finding.begin ? finding.end - 1 : finding.begin) : UINT32_MAX;
  return std::any_of(
      added.begin(), added.end(), [&](const auto& range) { return first <= range.second && last >= range.first; });
}

bool has_text(EntryKind kind) {
  return kind == EntryKind::file || kind == EntryKind::executable || kind == EntryKind::link;
}

// A link or submodule called like the gated folder itself would stand for all that is in it.
bool stands_for_gated(const Config& config, const std::string& path) {
  return is_gated_path(config.check.paths, path) || is_gated_path(config.check.paths, path + "/x");
}

// What no change may hold, where no policy speaks: its author could otherwise leave the gate out.
std::vector<Finding> always_refused(const Config& config, const ChangeSet& change) {
  std::vector<Finding> findings;
  for (const auto& file : change.files) {
    if (configures_guard(file.path)) {
      findings.push_back(policy_finding("policy.configuration_changed", file.path,
          "the commit changes what guard or bun is told to do",
          "change it in a commit of its own, made by a person (git commit --no-verify)"));
    }
    if (file.unread) {
      findings.push_back(policy_finding("policy.unread_file", file.path,
          "a file that was not read, because it is too large or cannot be read", "make it smaller, or leave it out"));
    }
    if (file.after == EntryKind::other) {
      findings.push_back(
          policy_finding("policy.special_file", file.path, "something that git cannot keep", "remove it"));
    }
    const bool link = file.after == EntryKind::link;
    if ((link || file.after == EntryKind::submodule) && stands_for_gated(config, file.path)) {
      findings.push_back(policy_finding(link ? "policy.symbolic_link" : "policy.submodule", file.path,
          link ? "a symbolic link" : "a submodule", "commit the files themselves"));
    }
  }
  return findings;
}

ChangeSize size_of(const ChangeSet& change) {
  ChangeSize size;
  size.files = change.files.size();
  for (const auto& file : change.files) {
    size.lines_added += file.lines_added;
    size.lines_removed += file.lines_removed;
  }
  return size;
}

// What is looked for outside the gated paths: the banned patterns; where [hook] everywhere asks for it, in scripts the
// always tier, too.
Result<Report> check_ungated(const GateRequest& request, const std::vector<SourceFile>& files) {
  ValidatorOptions options = validator_options(*request.config, {.docker = false, .host = false});
  const Validator validator(*request.rules, *request.matcher, std::move(options));
  GUARD_TRY_ASSIGN(Report report, validator.check_banned(files));
  if (!request.config->hook.everywhere) return report;
  std::vector<SourceFile> scripts;
  std::copy_if(files.begin(), files.end(), std::back_inserter(scripts),
      [](const SourceFile& file) { return is_script_path(file.path); });
  GUARD_TRY_ASSIGN(Report always, validator.check(scripts));
  auto& more = always.findings;
  more.erase(std::remove_if(
                 more.begin(), more.end(), [](const Finding& finding) { return finding.tier == FindingTier::banned; }),
      more.end());
  add_findings(report, std::move(more));
  return report;
}

// Of `files`, those in which check_ungated() looks for secrets alone.
std::uint64_t secrets_only(const GateRequest& request, const std::vector<SourceFile>& files) {
  return static_cast<std::uint64_t>(std::count_if(files.begin(), files.end(),
      [&](const SourceFile& file) { return !request.config->hook.everywhere || !is_script_path(file.path); }));
}

// An "allowed" must not read as if every rule had been applied to every file.
void say_what_was_looked_for(CheckRecord& record) {
  if (record.secrets_only == 0 || record.verdict.reason != Reason::no_findings) return;
  const std::uint64_t judged = record.report.files - record.secrets_only;
  record.verdict.detail = judged == 0
      ? "no secrets were found; no changed file is in [check] paths, so no other rule was applied"
      : fmt::format("no rule matched in {}; in {} outside [check] paths only secrets were searched for",
            plural(judged, "file"), plural(record.secrets_only, "file"));
}

CheckRecord record_for(const GateRequest& request, std::string_view mode) {
  CheckRecord record;
  record.mode = mode;
  record.tiers = tier_names(tiers_of(mode, request.config->trust_namespace));
  record.rules_digest = request.rules->digest();
  return record;
}

template <typename Wanted>
bool blocks(const CheckRecord& record, Wanted tier) {
  const auto& findings = record.report.findings;
  return std::any_of(findings.begin(), findings.end(),
      [&](const Finding& finding) { return finding.severity == Severity::block && tier(finding.tier); });
}

bool applies(FindingTier tier, TierSet tiers) {
  return tier == FindingTier::host ? tiers.host : tier == FindingTier::docker ? tiers.docker : true;
}

// The bytes of a file as they were judged, for what is shown of it; nothing where they cannot be had any more.
using SourceOf = std::function<std::optional<SourceFile>(const std::string& path)>;

SourceOf kept_in(const std::vector<SourceFile>& files) {
  return [&files](const std::string& path) -> std::optional<SourceFile> {
    const auto file = std::find_if(files.begin(), files.end(), [&](const SourceFile& one) { return one.path == path; });
    return file == files.end() ? std::nullopt : std::optional(*file);
  };
}

// Fills in what is shown of the findings of one file. Where that fails, nothing is.
Result<void> show(const GateRequest& request, const std::optional<SourceFile>& file, std::vector<Finding>& of_file) {
  mark_findings(file ? std::vector{*file} : std::vector<SourceFile>(), of_file);
  const std::string_view bytes = file ? std::string_view(file->bytes) : std::string_view();
  for (Finding& finding : of_file) {
    if (file && finding.excerpt.empty()) add_excerpt(bytes, finding);
  }
  const auto secrets = request.secrets();
  if (secrets) return mask_excerpts(**secrets, bytes, of_file);
  withhold_excerpts(of_file);
  return secrets.error();
}

// Turns a full report into the record. What waivers and the baseline let pass is masked, too.
CheckRecord conclude(
    const GateRequest& request, CheckRecord record, std::vector<std::string> names, const SourceOf& source) {
  auto& findings = record.report.findings;
  std::sort(findings.begin(), findings.end());
  const auto& waivers = request.config->check.waivers;
  WaivedFiles waived{ProjectPaths(request.seen_from, request.project), std::move(names), {}};
  std::optional<Error> withheld;
  for (auto first = findings.begin(); first != findings.end();) {
    const auto last = std::find_if(
        first, findings.end(), [path = first->path](const Finding& finding) { return finding.path != path; });
    const auto file = source(first->path);
    if (file && !waivers.empty()) waived.digests.emplace(file->path, sha256_hex(file->bytes));
    std::vector<Finding> of_file(std::make_move_iterator(first), std::make_move_iterator(last));
    if (auto shown = show(request, file, of_file); !shown) withheld = std::move(shown).error();
    first = std::move(of_file.begin(), of_file.end(), first);
  }
  WaiverOutcome outcome = apply_waivers(waivers, waived, today_utc(), findings);
  record.waivers = std::move(outcome.used);
  record.idle_waivers = std::move(outcome.idle);
  record.waived = std::move(outcome.waived);
  if (request.baseline != nullptr) record.known = request.baseline->take_known(findings);
  if (request.keep_names) record.names = std::move(waived.names);
  record.verdict = verdict_of(record.report, request.files_expected);
  if (record.known > 0 && record.verdict.reason == Reason::no_findings) {
    record.verdict.detail =
        fmt::format("no rule matched, apart from {} in {}", plural(record.known, "known finding"), kBaselineFile);
  }
  // The findings stand; only what they would have shown is withheld.
  if (withheld && record.verdict.kind() == VerdictKind::allowed) return failed(std::move(record), *std::move(withheld));
  return record;
}

// What `hits` come to under the tiers of `mode`: findings in no order, without marks and excerpts.
CheckRecord weigh(const GateRequest& request, const TreeHits& hits, const ModuleNames& modules, std::string_view mode) {
  CheckRecord record = record_for(request, mode);
  record.report.files = hits.count;
  record.report.bytes = hits.bytes;
  record.ignored_files = hits.ignored_files;
  auto& findings = record.report.findings;
  const CrossFileJudge judge(*request.rules, hits.files, modules);
  for (std::size_t i = 0; i < hits.files.size(); ++i) judge.append_findings(static_cast<std::uint32_t>(i), findings);
  const TierSet tiers = tiers_of(mode, request.config->trust_namespace);
  std::erase_if(findings, [&](const Finding& finding) { return !applies(finding.tier, tiers); });
  add_findings(record.report, hits.findings);
  return record;
}

std::vector<std::string> paths_of(const std::vector<SourceFile>& files) {
  std::vector<std::string> paths(files.size());
  std::transform(files.begin(), files.end(), paths.begin(), [](const SourceFile& file) { return file.path; });
  return paths;
}

// `judge` says what the files come to in a mode.
CheckRecord decide(
    const GateRequest& request, std::string_view mode, const std::function<CheckRecord(std::string_view mode)>& judge) {
  if (mode != "auto") return judge(mode);
  CheckRecord strict = judge("host");
  if (!blocks(strict, [](FindingTier tier) { return tier == FindingTier::host; })) return strict;
  auto choice = [&request]() -> Result<BackendChoice> {
    GUARD_TRY(rolled_out(*request.config));
    return choose_backend(*request.config, std::nullopt, [&request](Backend backend) {
      return probe_backend(backend, *request.config, process_environment(), request.engine);
    });
  }();
  if (choice) return choice->tiers.host ? std::move(strict) : judge(to_string(choice->backend));
  const bool refused_anyway = blocks(strict, [](FindingTier tier) { return tier != FindingTier::host; });
  return refused_anyway ? std::move(strict) : failed(std::move(strict), std::move(choice).error());
}

CheckRecord gate_change_as(const GateRequest& asked, const ChangeSet& change,
    const std::optional<PolicyOptions>& policy, std::string_view mode) {
  GateRequest request = asked;
  request.project = request.seen_from = repository_above(asked.project);
  // What is only taken away leaves no file to be read.
  request.files_expected = asked.files_expected && change.files.empty();
  SourceFiles gated;
  std::vector<SourceFile> others;
  std::map<std::string_view, const ChangedFile*> changed_others;
  for (const auto& file : change.files) {
    if (file.unread || !has_text(file.after)) continue;
    if (file.after != EntryKind::link && stands_for_gated(*request.config, file.path)) {
      gated.files.push_back({file.path, file.new_bytes});
    } else {
      others.push_back({file.path, file.new_bytes});
      changed_others.emplace(file.path, &file);
    }
  }
  CheckRecord record = record_for(request, mode);
  const auto size = policy ? std::optional(size_of(change)) : std::nullopt;
  record.change = size;
  const auto hits = look_at_files(request, gated, mode);
  if (!hits) return failed(std::move(record), hits.error());
  auto banned = check_ungated(request, others);
  if (!banned) return failed(std::move(record), std::move(banned).error());
  record = weigh(request, *hits, read_module_names(request.project, paths_of(gated.files), request.absent), mode);
  record.change = size;
  record.report.files = gated.files.size() + banned->files;
  record.report.bytes = banned->bytes;
  for (const SourceFile& file : gated.files) record.report.bytes += file.bytes.size();
  record.secrets_only = secrets_only(request, others);
  std::vector<Finding> more = change.findings;
  for (auto& finding : banned->findings) {
    const auto* file = changed_others.at(finding.path);
    if (on_added_line(finding, file->new_bytes, file->added)) more.push_back(std::move(finding));
  }
  add_findings(record.report, std::move(more));
  add_findings(record.report, policy ? check_policy(change, *policy) : always_refused(*request.config, change));
  std::vector<SourceFile> files = std::move(gated.files);
  std::move(others.begin(), others.end(), std::back_inserter(files));
  std::sort(files.begin(), files.end(), [](const SourceFile& a, const SourceFile& b) { return a.path < b.path; });
  record = conclude(request, std::move(record), paths_of(files), kept_in(files));
  const bool nothing = change.files.empty() && record.report.findings.empty();
  if (nothing && (record.verdict.reason == Reason::no_files || record.verdict.reason == Reason::no_findings))
    record.verdict.detail = "nothing is changed";
  say_what_was_looked_for(record);
  return record;
}

}  // namespace

ValidatorOptions validator_options(const Config& config, TierSet tiers) {
  ValidatorOptions options;
  options.tiers = tiers;
  options.file_bytes_max = config.check.max_file_bytes;
  options.api_key_names = config.check.api_key_names;
  options.allow_temp_removal = config.check.allow_temp_removal;
  options.harmless_variables = config.check.two_hit_ignore;
  return options;
}

ValidatorOptions validator_options(
    const GateRequest& request, const std::vector<SourceFile>& files, std::string_view mode) {
  ValidatorOptions options = validator_options(*request.config, tiers_of(mode, request.config->trust_namespace));
  options.module_names = read_module_names(request.project, paths_of(files), request.absent);
  return options;
}

Result<TreeHits> look_at_files(const GateRequest& request, const SourceFiles& files, std::string_view mode) {
  const ValidatorOptions options = validator_options(*request.config, tiers_of(mode, request.config->trust_namespace));
  FileCheck check(*request.rules, *request.matcher, options);
  TreeHits hits;
  for (const SourceFile& file : files.files) GUARD_TRY(check.look_at(file.path, file.bytes, hits.files.emplace_back()));
  return hits;
}

CheckRecord weigh_files(
    const GateRequest& request, const SourceFiles& files, const Result<TreeHits>& hits, std::string_view mode) {
  if (!hits) return failed(record_for(request, mode), hits.error());
  std::vector<std::string> names = paths_of(files.files);
  CheckRecord record = weigh(request, *hits, read_module_names(request.project, names, request.absent), mode);
  record.report.files = files.files.size();
  for (const SourceFile& file : files.files) record.report.bytes += file.bytes.size();
  add_findings(record.report, files.findings);
  return conclude(request, std::move(record), std::move(names), kept_in(files.files));
}

CheckRecord gate(const GateRequest& request, const SourceFiles& files, std::string_view mode) {
  const auto hits = look_at_files(request, files, mode == "auto" ? "host" : mode);
  return decide(request, mode, [&](std::string_view as) { return weigh_files(request, files, hits, as); });
}

CheckRecord gate_tree(const GateRequest& request, const TreeGate& tree, std::string_view mode) {
  const std::string_view first_mode = mode == "auto" ? "host" : mode;
  const auto hits = look_at_tree({tree, request.rules, request.matcher,
      validator_options(*request.config, tiers_of(first_mode, request.config->trust_namespace)),
      request.keep_names || !request.config->check.waivers.empty()});
  if (!hits) return failed(record_for(request, first_mode), hits.error());
  std::vector<std::string> paths;
  for (const FileHits& file : hits->files) paths.push_back(file.path);
  const ModuleNames modules = read_module_names(request.project, paths);
  const SourceOf read_again = [&](const std::string& path) -> std::optional<SourceFile> {
    const auto digest = hits->digests.find(path);
    if (digest == hits->digests.end()) return std::nullopt;
    auto bytes = read_file(path, tree.collect.file_bytes_max, FollowLinks::no);
    if (!bytes || sha256_hex(*bytes) != digest->second) return std::nullopt;
    return SourceFile{path, std::move(*bytes)};
  };
  return decide(request, mode, [&](std::string_view as) {
    return conclude(request, weigh(request, *hits, modules, as), hits->names, read_again);
  });
}

PolicyOptions policy_options(const Config& config, TaskKind kind) {
  PolicyOptions options;
  options.kind = kind;
  options.changed_files_max = config.policy.max_changed_files_per_task;
  options.diff_lines_max = config.policy.max_diff_lines;
  options.diff_bytes_max = config.policy.max_diff_bytes;
  options.forbidden_files = config.policy.forbidden_files;
  options.forbidden_paths = config.policy.forbidden_paths;
  options.allowed_paths = config.policy.allowed_paths;
  // Nobody can list all that a tool loads because it lies there: who writes tests writes where tests are gated, in
  // every folder that has such a place, and nowhere else.
  if (kind == TaskKind::test && options.allowed_paths.empty()) {
    for (const auto& glob : config.check.paths) {
      options.allowed_paths.push_back(glob);
      options.allowed_paths.push_back("**/" + glob);
    }
  }
  return options;
}

CheckRecord gate_change(const GateRequest& request, const ChangeSet& change, const std::optional<PolicyOptions>& policy,
    std::string_view mode) {
  return decide(request, mode, [&](std::string_view as) { return gate_change_as(request, change, policy, as); });
}

CheckRecord gate_added(
    const GateRequest& request, const SourceFile& after, std::string_view before, std::string_view mode) {
  CheckRecord record = record_for(request, mode);
  auto now = check_ungated(request, {after});
  if (!now) return failed(std::move(record), std::move(now).error());
  record.report = std::move(*now);
  if (!record.report.findings.empty()) {
    const SourceFile old{after.path, std::string(before)};
    auto then = check_ungated(request, {old});
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
  record.secrets_only = secrets_only(request, {after});
  const std::vector<SourceFile> files{after};
  record = conclude(request, std::move(record), {after.path}, kept_in(files));
  say_what_was_looked_for(record);
  return record;
}

}  // namespace guard

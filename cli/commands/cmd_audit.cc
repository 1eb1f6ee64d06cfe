// `guard audit`: what guard would have said of the commits that are there already, so that a team can decide to switch
// it on.
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>
#include <set>
#include <string>
#include <vector>

#include "cli/commands/check_session.h"
#include "cli/commands/commands.h"
#include "cli/commands/trusted_inputs.h"
#include "cli/progress.h"
#include "common/file_io.h"
#include "common/text/foreign_json.h"
#include "common/text/text.h"
#include "nightly/loop/clone.h"
#include "nightly/loop/night_repository.h"
#include "pipeline/change/change_source.h"
#include "pipeline/change/git.h"
#include "pipeline/change/git_objects.h"
#include "pipeline/config/config_file.h"
#include "pipeline/gate/gate.h"
#include "pipeline/report/json_parts.h"
#include "redact/redactor.h"
#include "runner/process/run_folder.h"
#include "runner/process/subprocess.h"

namespace guard {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::ordered_json;

constexpr unsigned kCommitsMax = 10'000;
constexpr unsigned kCommitsByDefault = 100;

struct Commit {
  std::string id;
  std::string parent;
  std::string date;
  std::string subject;  // as the author wrote it
};

struct Replayed {
  Commit commit;
  CheckRecord check;
  std::string run_verdict;  // of --run, for a commit that changes tests and that the gate allows; else empty
  std::string run_message;
};

// Newest first. Merges repeat what their branches brought; a commit without a parent is an import of everything.
Result<std::vector<Commit>> commits_to_replay(const Options& options, const CancelToken& cancel) {
  const Git git(".", cancel);
  const unsigned count_max = options.since.empty() ? kCommitsByDefault : kCommitsMax;
  std::string range = "HEAD";
  if (!options.since.empty()) {
    GUARD_TRY_ASSIGN(const std::string since, named_commit(git, options.since));
    range = since + "..HEAD";
  }
  GUARD_TRY_ASSIGN(const std::string answer,
      git.read({"log", "--no-merges", fmt::format("--max-count={}", count_max), "-z", "--format=%H%n%P%n%cs%n%s",
          "--end-of-options", range}));
  std::vector<Commit> commits;
  for (const std::string_view entry : pieces_of(answer, '\0')) {
    const auto lines = pieces_of(entry, '\n');
    if (lines.size() < 3) return odd_git_answer("log");
    if (lines[1].empty()) continue;
    commits.push_back({std::string(lines[0]), std::string(lines[1]), std::string(lines[2]),
        std::string(lines.size() > 3 ? lines[3] : std::string_view())});
  }
  return commits;
}

Result<CheckRecord> replay_gate(const Options& options, const Commit& commit, const GateRequest& request,
    CheckSession& session, CommandContext& context) {
  const Config& config = session.loaded.config;
  ChangeRequest change;
  change.from = ChangeFrom::commit;
  change.base = commit.parent;
  change.head = commit.id;
  change.file_bytes_max = std::max(config.check.max_file_bytes, config.policy.max_diff_bytes);
  change.list_unchanged = options.kind.has_value();
  GUARD_TRY_ASSIGN(const CollectedChange collected, collect_change(".", change, context.cancel));
  std::optional<PolicyOptions> policy;
  if (options.kind) policy = policy_options(config, *options.kind);
  return gate_change(request, collected.change, policy, options.mode);
}

// Runs the tests that a commit adds or changes, in a clone, with the configuration of today.
class SandboxReplay {
 public:
  SandboxReplay(const nightly::NightRepository& repository, RunFolder folder, fs::path program, fs::path config,
      fs::path rules, CommandContext& context)
      : repository_(repository),
        folder_(std::move(folder)),
        program_(std::move(program)),
        config_(std::move(config)),
        rules_(std::move(rules)),
        context_(context) {}

  Result<void> run(const std::vector<std::string>& globs, Replayed& replayed) const {
    GUARD_TRY_ASSIGN(const auto now, repository_.listing(replayed.commit.id));
    GUARD_TRY_ASSIGN(const auto before, repository_.listing(replayed.commit.parent));
    std::vector<std::string> tests;
    for (const auto& [path, entry] : *now) {
      const auto old = before->find(path);
      const bool changed = old == before->end() || old->second.id != entry.id;
      if (changed && entry.kind == EntryKind::file && is_test_name(path.substr(path.rfind('/') + 1)) &&
          is_gated_path(globs, path))
        tests.push_back("./" + path);
    }
    if (tests.empty()) return ok();
    const fs::path place = folder_.path() / "audit";
    GUARD_TRY_ASSIGN(const auto clone, nightly::Clone::create(repository_, place, replayed.commit.id));
    ProcessSpec spec;
    spec.argv = {program_.string(), "run", "--quiet", "--format", "json", "--project", clone.folder().string(),
        "--config", config_.string()};
    if (!rules_.empty()) spec.argv.insert(spec.argv.end(), {"--rules", rules_.string()});
    spec.argv.insert(spec.argv.end(), tests.begin(), tests.end());
    spec.cwd = clone.folder().string();
    spec.env = context_.environment;
    spec.err = StreamMode::discard;
    spec.death_signal = SIGTERM;  // it has a sandbox to take away
    constexpr std::uint64_t kDocumentMax = 16u << 20;
    GUARD_TRY_ASSIGN(const CollectedProcess ran, collect_process(spec, kDocumentMax, context_.cancel));
    GUARD_TRY(remove_tree(place));  // the next commit's clone goes there
    const auto document = parse_json(ran.out);
    if (!document || !document->is_object()) {
      replayed.run_verdict = "undecided";
      replayed.run_message = "guard run gave no result";
      return ok();
    }
    replayed.run_verdict = document->value("verdict", "undecided");
    replayed.run_message = document->value("message", "");
    return ok();
  }

 private:
  const nightly::NightRepository& repository_;
  RunFolder folder_;
  fs::path program_;
  fs::path config_;
  fs::path rules_;  // empty: the shipped ones
  CommandContext& context_;
};

bool is_refused(const Replayed& replayed) {
  return replayed.check.verdict.kind() == VerdictKind::rejected || replayed.run_verdict == "rejected";
}
bool is_allowed(const Replayed& replayed) {
  return replayed.check.verdict.kind() == VerdictKind::allowed &&
      (replayed.run_verdict.empty() || replayed.run_verdict == "allowed");
}

Json document_of(const std::vector<Replayed>& all) {
  Json document = {{"version", 1}, {"commits", Json::array()}};
  for (const Replayed& one : all) {
    Json row = {{"commit", one.commit.id}, {"date", one.commit.date}, {"subject", clean(one.commit.subject)},
        {"verdict", to_string(one.check.verdict.kind())}, {"reason", info(one.check.verdict.reason).name},
        {"findings", Json::array()}};
    for (const Finding& finding : one.check.report.findings) {
      row["findings"].push_back({{"rule", finding.rule}, {"path", clean(finding.path)}, {"line", finding.line},
          {"excerpt", clean(finding.excerpt)}});
    }
    if (one.check.error) row["error"] = clean(one.check.error->message());
    if (!one.run_verdict.empty()) row["run"] = {{"verdict", one.run_verdict}, {"message", clean(one.run_message)}};
    document["commits"].push_back(std::move(row));
  }
  return document;
}

void print_text(const std::vector<Replayed>& all, OutStream& out) {
  constexpr std::size_t kFindingsShown = 3;
  std::map<std::string, std::set<std::string>> commits_of_rule;
  std::size_t refused = 0;
  std::size_t allowed = 0;
  for (const Replayed& one : all) {
    refused += is_refused(one) ? 1 : 0;
    allowed += is_allowed(one) ? 1 : 0;
    if (is_allowed(one)) continue;
    const auto& findings = one.check.report.findings;
    const std::string_view kind = is_refused(one) ? "refused  " : "undecided";
    out.print("{} {} {} {}\n", kind, one.commit.id.substr(0, 12), one.commit.date, printable(one.commit.subject));
    for (std::size_t i = 0; i < findings.size(); ++i) {
      commits_of_rule[findings[i].rule].insert(one.commit.id);
      if (i >= kFindingsShown) continue;
      out.print("    {}: {}  {}\n", printable(place_text(findings[i].path, findings[i].line)), findings[i].rule,
          printable(findings[i].excerpt).substr(0, 80));
    }
    if (findings.size() > kFindingsShown) out.print("    and {} more\n", findings.size() - kFindingsShown);
    if (one.check.error) out.print("    {}\n", printable(one.check.error->message()));
    if (!one.run_verdict.empty() && one.run_verdict != "allowed")
      out.print("    its tests: {}, {}\n", printable(one.run_verdict), printable(one.run_message));
  }
  std::vector<std::pair<std::size_t, std::string>> rules;
  for (const auto& [rule, commits] : commits_of_rule) rules.emplace_back(commits.size(), rule);
  std::sort(rules.rbegin(), rules.rend());
  if (!rules.empty()) out.print("\ncommits per rule:\n");
  for (const auto& [count, rule] : rules) out.print("{:>6}  {}\n", count, rule);
  out.print("{}{}: {} allowed, {} refused, {} undecided\n", rules.empty() ? "" : "\n", plural(all.size(), "commit"),
      allowed, refused, all.size() - allowed - refused);
  if (refused > 0)
    out.print(
        "next:    `guard rules show RULE` explains a rule; `guard gate --base COMMIT~ --head COMMIT` shows all of one "
        "commit\n");
}

Result<std::vector<Replayed>> replay_all(const Options& options, CommandContext& context) {
  CheckSession session;
  GUARD_TRY_ASSIGN(const ConfigSources sources, config_at(options.config, ".", {}, context));
  GUARD_TRY_ASSIGN(GateRequest request, prepare_check(sources, options.rules, context, session));
  request.files_expected = false;
  GUARD_TRY_ASSIGN(const SecretSource* secrets, session.secrets());
  GUARD_TRY_ASSIGN(std::vector<Commit> commits, commits_to_replay(options, context.cancel));
  std::optional<nightly::NightRepository> repository;
  std::optional<SandboxReplay> sandbox;
  if (options.run_tests) {
    GUARD_TRY_ASSIGN(nightly::NightRepository opened, nightly::NightRepository::open(".", context.cancel));
    repository.emplace(std::move(opened));
    GUARD_TRY_ASSIGN(RunFolder folder, RunFolder::create());
    GUARD_TRY_ASSIGN(const fs::path program, own_program());
    std::error_code failure;
    fs::path config = folder.path() / "guard.toml";
    if (!options.config.empty()) {
      config = fs::absolute(options.config, failure);
    } else {
      // Also where HEAD has none: a commit of the past must not say how it is run.
      GUARD_TRY(write_file_atomically(config, sources.text ? sources.text->bytes : std::string()));
    }
    // Seen from the clone, where the run stands.
    const fs::path rules = options.rules.empty() ? fs::path() : fs::absolute(options.rules, failure);
    sandbox.emplace(*repository, std::move(folder), program, config, rules, context);
  }
  Progress progress(
      context.streams.err, context.streams.err_is_terminal ? Progress::Mode::rewritten : Progress::Mode::quiet);
  std::vector<Replayed> all;
  for (Commit& commit : commits) {
    if (context.cancel.cancelled()) return Error(ErrorCode::cancelled, "the audit was interrupted");
    progress.say(fmt::format("commit {} of {}", all.size() + 1, commits.size()));
    Replayed one;
    one.commit = std::move(commit);
    auto record = masked_check(replay_gate(options, one.commit, request, session, context), session);
    if (record) {
      one.check = std::move(*record);
    } else {
      one.check.verdict = verdict_of(record.error());
      one.check.error = record.error();
    }
    if (sandbox && one.check.verdict.kind() == VerdictKind::allowed)
      GUARD_TRY(sandbox->run(session.loaded.config.check.paths, one));
    GUARD_TRY_ASSIGN(one.commit.subject, redact_text(*secrets, one.commit.subject));
    all.push_back(std::move(one));
  }
  progress.clear();
  return all;
}

}  // namespace

Result<int> cmd_audit(const Options& options, CommandContext& context) {
  GUARD_TRY_ASSIGN(const std::vector<Replayed> all, replay_all(options, context));
  if (options.format == OutputFormat::json) {
    context.streams.out.write(dump(document_of(all)));
  } else {
    print_text(all, context.streams.out);
  }
  const bool unclear =
      std::any_of(all.begin(), all.end(), [](const Replayed& one) { return !is_refused(one) && !is_allowed(one); });
  const bool refused = std::any_of(all.begin(), all.end(), is_refused);
  return unclear ? 2 : refused ? 1 : 0;
}

}  // namespace guard

#include "pipeline/evidence/evidence_check.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <optional>
#include <set>

#include "common/file_io.h"
#include "common/hash.h"
#include "common/text/text.h"
#include "pipeline/change/git.h"
#include "pipeline/config/config_file.h"
#include "pipeline/evidence/masked_record.h"
#include "pipeline/report/json_parts.h"
#include "pipeline/run/preload.h"
#include "pipeline/run/project_tree.h"
#include "pipeline/run/staging.h"
#include "pipeline/run_facts.h"
#include "redact/kinds/secret_source.h"
#include "runner/image/bun_binary.h"
#include "runner/image/image.h"

namespace guard {
namespace {

namespace fs = std::filesystem;
using Table = std::map<std::string, std::string>;

constexpr std::string_view kRunAgain = "run the tests again: the record speaks of what was there then";

EvidenceCheck holds(std::string name, std::string sentence) {
  return {std::move(name), CheckState::ok, std::move(sentence), {}, ""};
}

EvidenceCheck differs(std::string name, std::string sentence, std::string_view next = kRunAgain) {
  return {std::move(name), CheckState::differs, std::move(sentence), {}, std::string(next)};
}

EvidenceCheck unknown(std::string name, std::string sentence, std::string next) {
  return {std::move(name), CheckState::unknown, std::move(sentence), {}, std::move(next)};
}

EvidenceCheck unknown(std::string name, const Error& error, std::string_view next) {
  return unknown(
      std::move(name), error.message(), error.hint().empty() ? std::string(next) : std::string(error.hint()));
}

// ---- the project's files ----

struct ProjectFiles {
  Table sha256;
  Table others;  // links, devices and the like, which no run would stage, as keys
};

Result<ProjectFiles> read_project(const EvidenceRecord& record, const fs::path& project) {
  const RunRecord& run = record.run;
  ProjectTreeRequest wanted;
  wanted.project = project;
  wanted.named = run.facts->files;
  const Config config = recorded_config(record);
  wanted.gated_paths = config.check.paths;
  wanted.file_bytes_max = config.check.max_file_bytes;  // what is larger was not read
  if (run.spec) wanted.also = preloaded_files(recorded_preload(run.spec->argv));
  const CancelToken never;
  wanted.ignored = Git::ignored_names(never);
  // What was asked for and is gone is a difference, and no reason not to look at the rest.
  std::error_code failure;
  std::erase_if(
      wanted.named, [&](const std::string& name) { return !fs::exists(fs::symlink_status(project / name, failure)); });
  GUARD_TRY_ASSIGN(ProjectTree tree, read_project_tree(wanted));
  // What the gate refused was not there for the run, whatever it reads now.
  const std::set<std::string> left_out(run.left_out.begin(), run.left_out.end());
  std::erase_if(tree.gated.files, [&](const SourceFile& file) { return left_out.count(file.path) != 0; });
  ProjectFiles files;
  if (run.staged) {
    GUARD_TRY_ASSIGN(files.sha256, staged_hashes(project, tree));
  } else {
    for (const auto& file : tree.gated.files) files.sha256[file.path] = sha256_hex(file.bytes);
  }
  for (const auto& finding : tree.gated.findings) files.others.emplace(finding.path, "");
  return files;
}

// What the run saw and told, but could not read as a file.
std::set<std::string> recorded_others(const RunRecord& run) {
  std::set<std::string> paths(run.left_out.begin(), run.left_out.end());
  if (!run.check) return paths;
  for (const auto& finding : run.check->report.findings) paths.insert(finding.path);
  return paths;
}

// Names as they stand in a record: masked, in UTF-8.
Table recorded_names(const SecretSource& secrets, const Table& rows) {
  Table shown;
  for (auto& [name, value] : masked_names(secrets, rows)) shown.emplace(clean(name), value);
  return shown;
}

std::vector<std::string> file_differences(const Table& then, const Table& now) {
  std::vector<std::string> differences;
  for (const auto& [path, sha256] : then) {
    const auto found = now.find(path);
    if (found == now.end()) differences.push_back(fmt::format("missing: {}", printable(path)));
    if (found != now.end() && found->second != sha256)
      differences.push_back(fmt::format("changed: {}", printable(path)));
  }
  for (const auto& [path, ignored] : now) {
    if (then.count(path) == 0 && may_change_others(path))
      differences.push_back(fmt::format("new: {}", printable(path)));
  }
  return differences;
}

Result<EvidenceCheck> compare_files(const EvidenceRecord& record, const EvidencePresent& present) {
  const std::string name = "project files";
  Table then = record.run.hashes;
  if (record.run.collected) {
    for (const auto& file : record.run.collected->files) then.emplace(file.path, file.sha256);
  }
  std::error_code failure;
  if (!fs::exists(present.project / "package.json", failure) && !fs::exists(present.project / "sandbox", failure)) {
    return unknown(name,
        fmt::format("{} holds neither package.json nor a sandbox folder", printable(present.project.native())),
        "name the project with --project DIR");
  }
  GUARD_TRY_ASSIGN(const SecretSource secrets, SecretSource::shipped());
  GUARD_TRY_ASSIGN(const ProjectFiles files, read_project(record, present.project));
  std::vector<std::string> differences = file_differences(then, recorded_names(secrets, files.sha256));
  const std::set<std::string> told = recorded_others(record.run);
  for (const auto& [path, ignored] : recorded_names(secrets, files.others)) {
    if (then.count(path) == 0 && told.count(path) == 0) differences.push_back(fmt::format("new: {}", printable(path)));
  }
  if (differences.empty()) return holds(name, fmt::format("all {} are as they were", then.size()));
  EvidenceCheck check = differs(
      name, fmt::format("{} to the {} files of the record", plural(differences.size(), "difference"), then.size()));
  check.details = std::move(differences);
  return check;
}

// ---- guard.toml ----

// The bytes of the guard.toml that a run would read now; nothing where there is none.
Result<std::optional<std::string>> present_config(const EvidencePresent& present) {
  if (!present.config_file.empty()) {
    GUARD_TRY_ASSIGN(ConfigFile file, read_config_file(present.config_file));
    return std::optional(std::move(file.text.bytes));
  }
  GUARD_TRY_ASSIGN(const ConfigPlace place, config_place(present.project));
  GUARD_TRY_ASSIGN(auto file, find_config_file(place));
  return file ? std::optional(std::move(file->text.bytes)) : std::nullopt;
}

Result<EvidenceCheck> compare_config(const std::string& then, const EvidencePresent& present) {
  const std::string name = "guard.toml";
  GUARD_TRY_ASSIGN(const auto now, present_config(present));
  constexpr std::string_view kNext = "run the tests again, or name the one that was used with --config FILE";
  if (then.empty())
    return now ? differs(name, "there was none then, and is one now", kNext)
               : holds(name, "there was none, and is none now");
  if (!now) return differs(name, "it is gone", kNext);
  return sha256_hex(*now) == then ? holds(name, "it is as it was")
                                  : differs(name, "it was changed, or is another one", kNext);
}

// ---- guard and its rules ----

EvidenceCheck compare_guard(const EvidenceRecord& record, const EvidencePresent& present) {
  const std::string& version = record.guard_version;
  if (version != present.guard_version) {
    return differs(
        "guard", fmt::format("guard {} wrote it, this is guard {}", printable(version), present.guard_version));
  }
  const std::string& then = record.run.facts->program_sha256;
  const std::string now = program_sha256();
  if (then.empty() || now.empty())
    return unknown("guard", "the digest of the program is not known", "compare `guard --version`");
  if (then != now) return differs("guard", fmt::format("another build of guard {} wrote it", version));
  return holds("guard", fmt::format("this very program wrote it (guard {})", version));
}

EvidenceCheck compare_rules(const RunFacts& facts, const EvidencePresent& present) {
  const std::string& folder = facts.rules_folder;
  if (!folder.empty() && !present.rules_named) {
    return unknown("rules", fmt::format("the rules of {} were used", printable(folder)), "name them with --rules DIR");
  }
  if (facts.rules_digest == present.rules_digest) return holds("rules", "the code would be judged by the same rules");
  return differs("rules", "the code would be judged by other rules now");
}

// ---- image and bun ----

Result<EvidenceCheck> compare_image(const RunFacts& facts, const RuntimeImage& image, const CancelToken& cancel) {
  const std::string& content = facts.image_digest;
  const std::string reference = printable(image.reference);
  if (content.empty()) {
    return unknown("image", fmt::format("{} was named by the configuration; what is in it was not compared", reference),
        "leave [docker] image out, so that guard builds the image");
  }
  auto cached = read_cached_image(content, cancel);
  if (!cached && cached.error().code() == ErrorCode::file_not_found) {
    return unknown("image", fmt::format("{} is not in the image cache", reference),
        "build it with `guard image build` in the project");
  }
  if (!cached) return std::move(cached).error();
  const auto& ids = cached->image_ids;
  const bool same_id = std::find(ids.begin(), ids.end(), image.id) != ids.end();
  if (cached->layer_sha256 != facts.layer_sha256 || !same_id) {
    return differs("image", fmt::format("what the image cache holds as {} is something else", reference),
        "remove it with `guard image prune --all`, build it and run the tests again");
  }
  return holds("image", fmt::format("{} is in the image cache, and every file in it is as it was", reference));
}

Result<EvidenceCheck> compare_bun(const RunFacts& facts) {
  GUARD_TRY_ASSIGN(const fs::path program, find_bun());
  const std::string now = remembered_sha256(program);
  if (now.empty())
    return unknown("bun", fmt::format("{} cannot be read", printable(program.native())), "name bun with GUARD_BUN");
  const std::string version = printable(facts.bun_version);
  if (facts.bun_sha256 == now) return holds("bun", fmt::format("the same bun {} would be used", version));
  return differs(
      "bun", fmt::format("another bun than {} would be used", version), "build the image and run the tests again");
}

}  // namespace

std::vector<EvidenceCheck> compare_with_present(
    const EvidenceRecord& record, const EvidencePresent& present, const CancelToken& cancel) {
  const RunFacts& facts = *record.run.facts;
  const bool has_image = record.run.spec && !record.run.spec->image.reference.empty();
  std::vector<EvidenceCheck> checks;
  const auto add = [&](const char* name, Result<EvidenceCheck> check) {
    checks.push_back(
        check ? std::move(*check) : unknown(name, check.error(), "fix what is named here, then check again"));
  };
  if (!record.run.hashes.empty()) add("project files", compare_files(record, present));
  if (!record.config.empty()) add("guard.toml", compare_config(facts.config_sha256, present));
  checks.push_back(compare_guard(record, present));
  if (!facts.rules_digest.empty()) checks.push_back(compare_rules(facts, present));
  if (has_image) add("image", compare_image(facts, record.run.spec->image, cancel));
  if (!facts.bun_sha256.empty()) {
    add("bun", compare_bun(facts));
  } else if (has_image || record.run.backend == "container-use") {
    add("bun",
        unknown("bun", "which bun ran the tests is not known: guard did not put it there",
            "let tests run in an image that guard builds"));
  }
  return checks;
}

}  // namespace guard

#include "pipeline/evidence/recorded_sandbox.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <nlohmann/json.hpp>

#include "common/text/text.h"
#include "pipeline/evidence/evidence_record.h"
#include "runner/sandbox/backend.h"

namespace guard {
namespace {

// Of `guard verify`; that another guard wrote the record, or judged by other rules, changes no sandbox.
constexpr std::array<std::string_view, 6> kNeeded = {"digest", "shape", "project files", "guard.toml", "image", "bun"};
constexpr std::array<std::string_view, 7> kShapes = {
    "limits.", "docker.", "namespace.", "image.", "check.paths", "run.env", "require_cgroups"};

Error refused(const EvidenceCheck& check) {
  constexpr std::size_t kShown = 10;
  std::vector<std::string> details;
  for (std::size_t i = 0; i < std::min(kShown, check.details.size()); ++i)
    details.push_back(printable(check.details[i]));
  if (check.details.size() > kShown) details.push_back(fmt::format("{} more", check.details.size() - kShown));
  return Error(Error(ErrorCode::input_invalid,
      fmt::format("the sandbox of the record can't be had again: {}: {}{}", check.name, printable(check.sentence),
          details.empty() ? "" : fmt::format(" ({})", fmt::join(details, ", "))))
                   .hint(check.next));
}

bool shapes_the_sandbox(std::string_view key) {
  return !key.ends_with("timeout") &&
      std::any_of(kShapes.begin(), kShapes.end(), [&](std::string_view prefix) { return key.starts_with(prefix); });
}

}  // namespace

Result<RecordedRun> recorded_run(std::string_view bytes, const EvidencePresent& present, const CancelToken& cancel) {
  GUARD_TRY_ASSIGN(const EvidenceVerification verified, verify_evidence(bytes, present, cancel));
  for (const EvidenceCheck& check : verified.checks) {
    if (check.state != CheckState::ok && std::find(kNeeded.begin(), kNeeded.end(), check.name) != kNeeded.end())
      return refused(check);
  }
  GUARD_TRY_ASSIGN(const nlohmann::json document, parse_evidence(bytes));
  const EvidenceRecord record = read_evidence(document);
  const auto backend = named<Backend>(record.run.backend);
  if (!record.run.staged || !record.run.spec || !backend)
    return Error(ErrorCode::input_invalid, "the recorded run never came to a sandbox")
        .hint(fmt::format("it ended as {} ({}); `guard shell` alone opens a sandbox of the project as it is now",
            printable(record.verdict), printable(record.reason)));
  const auto& relaxations = record.run.relaxations;
  if (std::any_of(relaxations.begin(), relaxations.end(), [](const auto& one) { return one.starts_with("--write "); }))
    return Error(ErrorCode::input_invalid, "the recorded command could write to folders of the project")
        .hint("what they held then is not known; `guard exec --tty --write DIR` shows them as they are now");
  RecordedRun run;
  run.sandbox = {record.run.hashes, record.run.spec->image.reference, record.run.spec->image.id};
  run.backend = *backend;
  run.files = record.run.facts->files;
  run.config = record.config;
  return run;
}

Result<void> makes_the_same_sandbox(const RecordedRun& run, const std::vector<ConfigEntry>& now) {
  std::map<std::string, std::string> values;
  for (const ConfigEntry& entry : now) values.emplace(entry.key, entry.value);
  std::vector<std::string> differing;
  const auto value_in = [](const std::map<std::string, std::string>& table, const std::string& key) {
    const auto found = table.find(key);
    return found == table.end() ? std::string("nothing") : printable(found->second);
  };
  auto keys = values;
  keys.insert(run.config.begin(), run.config.end());
  for (const auto& [key, ignored] : keys) {
    const std::string then = value_in(run.config, key);
    const std::string is = value_in(values, key);
    if (shapes_the_sandbox(key) && then != is)
      differing.push_back(fmt::format("{} was {} and is {}", printable(key), then, is));
  }
  if (differing.empty()) return ok();
  return Error(
      ErrorCode::input_invalid, fmt::format("the recorded run had other settings: {}", fmt::join(differing, "; ")))
      .hint("give the options of then, such as --memory or --env, again");
}

}  // namespace guard

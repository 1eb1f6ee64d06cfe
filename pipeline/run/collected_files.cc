#include "pipeline/run/collected_files.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>

#include "common/hash.h"
#include "common/text/glob.h"
#include "common/text/text.h"
#include "redact/redactor.h"
#include "validator/change/path_names.h"
#include "validator/side_files.h"

namespace guard {
namespace {

bool matches_any(const std::vector<std::string>& globs, const std::string& path) {
  return std::any_of(globs.begin(), globs.end(), [&](const std::string& glob) { return glob_matches(glob, path); });
}

// A redactor that fails has not shown that the text is clean.
bool may_hold_secret(const SecretSource& secrets, const std::string& text) {
  const auto masked = redact_text(secrets, text);
  return !masked || *masked != text;
}

// A part of a path that means the same everywhere: hidden nowhere, no option to a command, nothing to a shell, and no
// other file or device where case is folded.
bool is_plain_name(std::string_view name) {
  static constexpr std::string_view kMeaning = "$;()|&<>*?\"'`!{}[]~#%^";
  if (name.empty() || name.front() == '.' || name.front() == '-') return false;
  return name.find_first_of(kMeaning) == std::string_view::npos;
}

// Instructions that agents read, and settings that tools run, wherever they find them. `name` is folded.
bool is_obeyed(std::string_view name) {
  static constexpr std::string_view kLists[] = {"ci_files", "agent_files", "tool_files", "build_files", "guard_files"};
  return is_listed(name.substr(0, name.find('.')), "device_names") ||
      std::any_of(std::begin(kLists), std::end(kLists), [&](std::string_view list) { return is_listed(name, list); });
}

// One bringing back: `files` are those that may still come back.
struct BringingBack {
  const BringBackRequest& request;
  RunRecord& record;
  CollectRecord& told;
  std::vector<CollectedFile> files = {};

  std::string in_project(std::string_view path) const {
    return request.folder.empty() ? std::string(path) : fmt::format("{}/{}", request.folder, path);
  }

  void leave(const CollectedFile& file, LeftBehindReason reason) {
    told.left_behind.push_back({in_project(file.path), reason});
    ++told.left_behind_count;
  }

  template <typename Wanted>
  void leave_where(LeftBehindReason reason, Wanted wanted) {
    std::erase_if(files, [&](const CollectedFile& file) {
      const bool left = wanted(file);
      if (left) leave(file, reason);
      return left;
    });
  }

  Result<void> steps(SourceFiles checked) {
    if (request.policy == CollectPolicy::none || record.verdict.kind() != VerdictKind::allowed) return ok();
    if (request.policy == CollectPolicy::listed) {
      leave_where(LeftBehindReason::not_listed, [&](const CollectedFile& file) {
        return !matches_any(request.gate->config->run.collect_paths, in_project(file.path));
      });
    }
    // Of two that are one file where case is folded, nobody can say which would stay.
    std::map<std::string, int> spellings;
    for (const CollectedFile& file : files) ++spellings[folded_path(file.path)];
    leave_where(LeftBehindReason::kept_out,
        [&](const CollectedFile& file) { return is_kept_out(file.path) || spellings[folded_path(file.path)] > 1; });
    if (files.empty()) return ok();
    judge(std::move(checked));
    if (record.verdict.kind() != VerdictKind::allowed) {
      const auto& findings = record.check->report.findings;
      leave_where(LeftBehindReason::finding, [&](const CollectedFile& file) {
        return std::any_of(findings.begin(), findings.end(),
            [name = in_project(file.path)](const Finding& finding) { return finding.path == name; });
      });
      return ok();
    }
    leave_where(LeftBehindReason::secret, [&](const CollectedFile& file) {
      return may_hold_secret(*request.secrets, file.bytes) || may_hold_secret(*request.secrets, file.path);
    });
    return write();
  }

  // As one tree: what is harmless in each of two files may not be so in both.
  void judge(SourceFiles checked) {
    std::set<std::string> earlier;
    if (record.check) {
      for (const auto& used : record.check->waivers) earlier.insert(waiver_text(used));
    }
    for (const auto& file : files) checked.files.push_back({in_project(file.path), file.bytes});
    record.check = gate(*request.gate, checked, request.mode);
    for (const auto& used : record.check->waivers) {
      if (earlier.count(waiver_text(used)) == 0) record.relaxations.push_back(waiver_text(used));
    }
    if (record.check->verdict.kind() == VerdictKind::allowed) return;
    record.verdict = record.check->verdict;
    record.error = record.check->error;
    if (record.verdict.reason == Reason::findings) record.verdict.detail += " in what the tests wrote";
  }

  Result<void> write() {
    GUARD_TRY_ASSIGN(const auto written, request.target->write(files).context("bringing back what the tests wrote"));
    for (std::size_t i = 0; i < files.size(); ++i) {
      const std::string path = in_project(files[i].path);
      if (!written[i]) {
        leave(files[i], LeftBehindReason::exists);
        continue;
      }
      told.files.push_back({path, files[i].bytes.size(), sha256_hex(files[i].bytes)});
      record.relaxations.push_back(fmt::format("run.collect = {}: {} came back{}", to_string(request.policy), path,
          is_test_name(path) ? ", a test that has not run" : ""));
    }
    files.clear();
    return ok();
  }
};

}  // namespace

bool is_kept_out(std::string_view path) {
  // What the gate knows as a danger is judged by it, and rejects the run.
  if (side_file(path)) return false;
  if (!path_fault(path).empty() || side_file(folded_path(path))) return true;
  const auto parts = pieces_of(path, '/');
  if (parts.empty() || path.ends_with('/') || !std::all_of(parts.begin(), parts.end(), is_plain_name)) return true;
  const auto names = folded_names(path);
  return std::any_of(names.begin(), names.end(), is_obeyed);
}

Result<void> bring_back(const BringBackRequest& request, SourceFiles checked, Collection written, RunRecord& record) {
  CollectRecord& told = record.collected.emplace();
  told.policy = request.policy;
  told.complete = written.complete;
  told.left_behind_count = written.left_behind_count;
  BringingBack back{request, record, told};
  for (auto& entry : written.left_behind) told.left_behind.push_back({back.in_project(entry.path), entry.reason});
  back.files = std::move(written.files);
  Result<void> done = back.steps(std::move(checked));
  // What is neither written nor has its reason yet.
  const LeftBehindReason reason = !done       ? LeftBehindReason::not_written
      : request.policy == CollectPolicy::none ? LeftBehindReason::not_asked
                                              : LeftBehindReason::not_allowed;
  back.leave_where(reason, [](const CollectedFile&) { return true; });
  std::stable_sort(told.left_behind.begin(), told.left_behind.end(),
      [](const LeftBehind& a, const LeftBehind& b) { return a.path < b.path; });
  return done;
}

}  // namespace guard

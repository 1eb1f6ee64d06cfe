#include "pipeline/run/collected_files.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>

#include "common/hash.h"
#include "common/text/glob.h"
#include "redact/redactor.h"
#include "validator/side_files.h"

namespace guard {
namespace {

bool is_listed(const std::vector<std::string>& globs, const std::string& path) {
  return std::any_of(globs.begin(), globs.end(), [&](const std::string& glob) { return glob_matches(glob, path); });
}

// A redactor that fails has not shown that the text is clean.
bool may_hold_secret(const SecretSource& secrets, const std::string& text) {
  const auto masked = redact_text(secrets, text);
  return !masked || *masked != text;
}

// One that means the same everywhere: hidden nowhere, no option to a command, nothing to a shell, and no other name to
// a file system that folds case, drops dots and blanks at the end or knows streams.
bool is_plain_name(std::string_view name) {
  static constexpr std::string_view kMeaning = ":\\$;()|&<>*?\"'`!{}[]~#%^";
  static constexpr std::string_view kFoldToLetters[] = {"\u017f", "\u212a"};  // long s and the sign of Kelvin
  if (name.empty() || name.front() == '.' || name.front() == '-' || name.back() == '.' || name.back() == ' ')
    return false;
  if (name.find_first_of(kMeaning) != std::string_view::npos) return false;
  return std::none_of(std::begin(kFoldToLetters), std::end(kFoldToLetters),
      [&](std::string_view letter) { return name.find(letter) != std::string_view::npos; });
}

// Instructions that agents read, and settings that tools run, wherever they find them.
bool is_read_by_itself(std::string_view file_name) {
  // Some file systems do not tell AGENTS.md from agents.md.
  std::string name(file_name);
  std::transform(
      name.begin(), name.end(), name.begin(), [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  static constexpr std::string_view kNames[] = {"makefile", "gnumakefile", "justfile", "taskfile.yml", "taskfile.yaml",
      "rakefile", "dockerfile", "containerfile", "conftest.py", "setup.py", "lefthook.yml", "lefthook.yaml", "mcp.json",
      "gruntfile.js", "gulpfile.js", "deno.json", "deno.jsonc", "vercel.json", "netlify.toml", "guard.toml"};
  if (std::find(std::begin(kNames), std::end(kNames), name) != std::end(kNames)) return true;
  if (name.ends_with(".code-workspace")) return true;
  for (const std::string_view agent : {"agents.", "agent.", "claude.", "gemini."}) {
    if (name.starts_with(agent) && name.ends_with(".md")) return true;
  }
  const std::size_t dot = name.rfind('.');
  return dot != std::string::npos && std::string_view(name).substr(0, dot).ends_with(".config");
}

class BringingBack {
 public:
  BringingBack(const BringBackRequest& request, SourceFiles checked, RunRecord& record)
      : request_(request), checked_(std::move(checked)), record_(record), told_(record.collected.emplace()) {
    told_.policy = request.policy;
  }

  Result<void> run(Collection written) {
    told_.complete = written.complete;
    told_.left_behind_count = written.left_behind_count;
    for (auto& entry : written.left_behind) told_.left_behind.push_back({in_project(entry.path), entry.reason});
    files_ = std::move(written.files);
    Result<void> done = steps();
    // What steps() has neither written nor given a reason for.
    leave_all(!done                                  ? LeftBehindReason::not_written
            : request_.policy == CollectPolicy::none ? LeftBehindReason::not_asked
                                                     : LeftBehindReason::not_allowed);
    std::sort(told_.left_behind.begin(), told_.left_behind.end(),
        [](const LeftBehind& a, const LeftBehind& b) { return a.path < b.path; });
    return done;
  }

 private:
  std::string in_project(std::string_view path) const {
    return request_.folder.empty() ? std::string(path) : fmt::format("{}/{}", request_.folder, path);
  }

  Result<void> steps() {
    if (request_.policy == CollectPolicy::none || record_.verdict.kind() != VerdictKind::allowed) return ok();
    leave_where([this](const CollectedFile& file) { return !is_asked_for(file.path); }, LeftBehindReason::not_listed);
    leave_where([](const CollectedFile& file) { return is_kept_out(file.path); }, LeftBehindReason::kept_out);
    if (files_.empty()) return ok();
    judge();
    if (record_.verdict.kind() != VerdictKind::allowed) {
      leave_where([this](const CollectedFile& file) { return has_finding(file.path); }, LeftBehindReason::finding);
      return ok();
    }
    leave_where(
        [this](const CollectedFile& file) {
          return may_hold_secret(*request_.secrets, file.bytes) || may_hold_secret(*request_.secrets, file.path);
        },
        LeftBehindReason::secret);
    return write();
  }

  bool is_asked_for(const std::string& path) const {
    return request_.policy == CollectPolicy::all ||
        is_listed(request_.gate->config->run.collect_paths, in_project(path));
  }

  // As one tree: what is harmless in each of two files may not be so in both.
  void judge() {
    const auto earlier = record_.check ? std::move(record_.check->waivers) : std::vector<UsedWaiver>();
    for (const auto& file : files_) checked_.files.push_back({in_project(file.path), file.bytes});
    record_.check = gate(*request_.gate, checked_, request_.mode);
    for (const auto& used : record_.check->waivers) {
      const bool told = std::any_of(earlier.begin(), earlier.end(),
          [&](const UsedWaiver& known) { return waiver_text(known) == waiver_text(used); });
      if (!told) record_.relaxations.push_back(waiver_text(used));
    }
    if (record_.check->verdict.kind() == VerdictKind::allowed) return;
    record_.verdict = record_.check->verdict;
    record_.error = record_.check->error;
    if (record_.verdict.reason == Reason::findings) record_.verdict.detail += " in what the tests wrote";
  }

  bool has_finding(const std::string& path) const {
    const auto& findings = record_.check->report.findings;
    return std::any_of(findings.begin(), findings.end(),
        [name = in_project(path)](const Finding& finding) { return finding.path == name; });
  }

  Result<void> write() {
    GUARD_TRY_ASSIGN(const auto written, request_.target->write(files_).context("bringing back what the tests wrote"));
    for (std::size_t i = 0; i < files_.size(); ++i) {
      const std::string path = in_project(files_[i].path);
      if (!written[i]) {
        leave(files_[i], LeftBehindReason::exists);
        continue;
      }
      told_.files.push_back({path, files_[i].bytes.size(), sha256_hex(files_[i].bytes)});
      record_.relaxations.push_back(fmt::format("run.collect = {}: {} came back{}", to_string(request_.policy), path,
          is_test_name(path) ? ", a test that has not run" : ""));
    }
    files_.clear();
    return ok();
  }

  void leave(const CollectedFile& file, LeftBehindReason reason) {
    told_.left_behind.push_back({in_project(file.path), reason});
    ++told_.left_behind_count;
  }

  template <typename Wanted>
  void leave_where(Wanted wanted, LeftBehindReason reason) {
    const auto left =
        std::stable_partition(files_.begin(), files_.end(), [&](const CollectedFile& file) { return !wanted(file); });
    for (auto file = left; file != files_.end(); ++file) leave(*file, reason);
    files_.erase(left, files_.end());
  }

  void leave_all(LeftBehindReason reason) {
    leave_where([](const CollectedFile&) { return true; }, reason);
  }

  const BringBackRequest& request_;
  SourceFiles checked_;
  RunRecord& record_;
  CollectRecord& told_;
  std::vector<CollectedFile> files_;  // that may still come back
};

}  // namespace

bool is_kept_out(std::string_view path) {
  // What the gate knows as a danger is judged by it, and rejects the run.
  if (side_file(path)) return false;
  for (std::size_t begin = 0; begin <= path.size();) {
    const std::size_t end = std::min(path.find('/', begin), path.size());
    if (!is_plain_name(path.substr(begin, end - begin))) return true;
    begin = end + 1;
  }
  return is_read_by_itself(path.substr(path.rfind('/') + 1));
}

Result<void> bring_back(const BringBackRequest& request, SourceFiles checked, Collection written, RunRecord& record) {
  return BringingBack(request, std::move(checked), record).run(std::move(written));
}

}  // namespace guard

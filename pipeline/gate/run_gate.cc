// How it works. The files are judged, what is refused and decides nothing is taken away, and the rest is judged again:
// a finding stands where the parts of an act meet first, and without that file they may meet in another one. So what is
// staged was judged without what is not there.
#include "pipeline/gate/run_gate.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>

#include "pipeline/gate/module_names.h"
#include "validator/judge/cross_file_judge.h"
#include "validator/judge/file_check.h"
#include "validator/judge/import_graph.h"

namespace guard {
namespace {

// Each judges all files once more. Honest trees take two.
constexpr int kRoundsMax = 8;

class Leaving {
 public:
  Leaving(const GateRequest& request, SourceFiles& files, const std::vector<std::string>& named, std::string_view mode)
      : request_(request), files_(files), mode_(mode) {
    for (const std::string& test : named) {
      const std::size_t slash = test.rfind('/') + 1;
      roots_.insert(test);
      roots_.insert(fmt::format("{}__snapshots__/{}.snap", test.substr(0, slash), test.substr(slash)));
    }
  }

  RunGate judge() {
    RunGate judged;
    for (int round = 0;; ++round) {
      judged.check = gate(request_, files_, mode_);
      if (judged.check.verdict.reason != Reason::findings || round == kRoundsMax) break;
      std::map<std::string, const Finding*> refused;  // the findings are sorted, so the first of a file comes first
      for (const Finding& finding : judged.check.report.findings) {
        if (finding.severity == Severity::block) refused.emplace(finding.path, &finding);
      }
      auto deciding = find_deciding();
      if (!deciding) {
        judged.check.verdict = verdict_of(deciding.error());
        judged.check.error = std::move(deciding).error();
        break;
      }
      const std::size_t before = request_.absent.size();
      for (const auto& [path, finding] : refused) {
        if (deciding->count(path) != 0 || !request_.absent.insert(path).second) continue;
        judged.left_out.push_back(*finding);
      }
      if (request_.absent.size() == before) break;
      take_away();
    }
    std::sort(judged.left_out.begin(), judged.left_out.end(),
        [](const Finding& a, const Finding& b) { return a.path < b.path; });
    return judged;
  }

 private:
  void take_away() {
    const auto is_absent = [this](const auto& entry) { return request_.absent.count(entry.path) != 0; };
    std::erase_if(files_.files, is_absent);
    std::erase_if(files_.findings, is_absent);
    std::erase_if(hits_, is_absent);
  }

  // The paths of what is named and of what that loads.
  Result<std::set<std::string>> find_deciding() {
    if (hits_.empty()) GUARD_TRY(look_at_all());
    std::vector<std::string> paths;
    std::vector<std::uint32_t> named;
    for (std::uint32_t i = 0; i < hits_.size(); ++i) {
      paths.push_back(hits_[i].path);
      if (roots_.count(hits_[i].path) != 0) named.push_back(i);
    }
    const std::vector<bool> loaded =
        loaded_by(named, loading_files(hits_), read_module_names(request_.project, paths, request_.absent));
    std::set<std::string> deciding;
    for (std::size_t i = 0; i < paths.size(); ++i) {
      if (loaded[i]) deciding.insert(paths[i]);
    }
    return deciding;
  }

  Result<void> look_at_all() {
    const ValidatorOptions options =
        validator_options(*request_.config, tiers_of(mode_, request_.config->trust_namespace));
    FileCheck check(*request_.rules, *request_.matcher, options);
    for (const SourceFile& file : files_.files) GUARD_TRY(check.look_at(file.path, file.bytes, hits_.emplace_back()));
    // What could not be read loads nothing that is known, and may be loaded.
    for (const Finding& finding : files_.findings) {
      FileHits& unread = hits_.emplace_back();
      unread.path = finding.path;
      unread.exports = true;
    }
    return ok();
  }

  GateRequest request_;
  SourceFiles& files_;
  std::string_view mode_;
  std::set<std::string> roots_;
  std::vector<FileHits> hits_;  // of `files_`, once something is refused
};

}  // namespace

RunGate gate_run(
    const GateRequest& request, SourceFiles& files, const std::vector<std::string>& named, std::string_view mode) {
  return Leaving(request, files, named, mode).judge();
}

}  // namespace guard

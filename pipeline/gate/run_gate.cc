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
#include "validator/judge/import_graph.h"

namespace guard {
namespace {

// Honest trees take two.
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
    Result<TreeHits> hits = look_at_files(request_, files_, mode_);
    for (int round = 0;; ++round) {
      judged.check = weigh_files(request_, files_, hits, mode_);
      if (judged.check.verdict.reason != Reason::findings || round == kRoundsMax) break;
      std::map<std::string, const Finding*> refused;  // the findings are sorted, so the first of a file comes first
      for (const Finding& finding : judged.check.report.findings) {
        if (finding.severity == Severity::block) refused.emplace(finding.path, &finding);
      }
      const std::set<std::string> deciding = find_deciding(*hits);
      const std::size_t before = request_.absent.size();
      for (const auto& [path, finding] : refused) {
        if (deciding.count(path) != 0 || !request_.absent.insert(path).second) continue;
        judged.left_out.push_back(*finding);
      }
      if (request_.absent.size() == before) break;
      const auto is_absent = [this](const auto& entry) { return request_.absent.count(entry.path) != 0; };
      std::erase_if(files_.files, is_absent);
      std::erase_if(files_.findings, is_absent);
      std::erase_if(hits->files, is_absent);
    }
    std::sort(judged.left_out.begin(), judged.left_out.end(),
        [](const Finding& a, const Finding& b) { return a.path < b.path; });
    return judged;
  }

 private:
  // The paths of what is named and of what that loads.
  std::set<std::string> find_deciding(const TreeHits& hits) const {
    static const std::vector<FileLoad> kNoLoads;
    std::vector<LoadingFile> files = loading_files(hits.files);
    // What could not be read loads nothing that is known, and may be loaded.
    for (const Finding& finding : files_.findings) files.push_back({finding.path, &kNoLoads, true});
    std::vector<std::string> paths;
    std::vector<std::uint32_t> named;
    for (const LoadingFile& file : files) {
      if (roots_.count(std::string(file.path)) != 0) named.push_back(static_cast<std::uint32_t>(paths.size()));
      paths.emplace_back(file.path);
    }
    const std::vector<bool> loaded =
        loaded_by(named, files, read_module_names(request_.project, paths, request_.absent));
    std::set<std::string> deciding;
    for (std::size_t i = 0; i < paths.size(); ++i) {
      if (loaded[i]) deciding.insert(paths[i]);
    }
    return deciding;
  }

  GateRequest request_;
  SourceFiles& files_;
  std::string_view mode_;
  std::set<std::string> roots_;
};

}  // namespace

RunGate gate_run(
    const GateRequest& request, SourceFiles& files, const std::vector<std::string>& named, std::string_view mode) {
  return Leaving(request, files, named, mode).judge();
}

}  // namespace guard

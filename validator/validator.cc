// How it works. Each file by itself first (file_check.h), then all together (cross_file_judge.h), then excerpts for
// what was found.
#include "validator/validator.h"

#include <algorithm>

#include "validator/judge/cross_file_judge.h"
#include "validator/judge/file_check.h"
#include "validator/snippet.h"

namespace guard {

bool Report::rejected() const noexcept {
  return std::any_of(findings.begin(), findings.end(), [](const Finding& f) { return f.severity == Severity::block; });
}

Validator::Validator(const RuleSet& rules, const Matcher& matcher, ValidatorOptions options)
    : rules_(rules), matcher_(matcher), options_(std::move(options)) {}

Result<Report> Validator::check(const std::vector<SourceFile>& files) const {
  Report report;
  report.files = files.size();
  FileCheck file_check(rules_, matcher_, options_);
  std::vector<FileHits> all(files.size());
  for (std::size_t i = 0; i < files.size(); ++i) {
    report.bytes += files[i].bytes.size();
    GUARD_TRY(file_check.look_at(files[i].path, files[i].bytes, all[i]));
  }
  const CrossFileJudge weigher(rules_, all, options_.module_names);
  for (std::size_t i = 0; i < files.size(); ++i) {
    const std::size_t before = report.findings.size();
    weigher.append_findings(static_cast<std::uint32_t>(i), report.findings);
    for (std::size_t at = before; at < report.findings.size(); ++at) add_excerpt(files[i].bytes, report.findings[at]);
  }
  std::sort(report.findings.begin(), report.findings.end());
  return report;
}

void add_excerpt(std::string_view bytes, Finding& finding) {
  if (finding.line == 0) return;
  Snippet snippet = make_snippet(bytes, finding.begin, finding.end);
  finding.excerpt = std::move(snippet.excerpt);
  finding.caret = snippet.caret;
  finding.caret_width = snippet.caret_width;
}

Result<bool> example_matches(
    const RuleSet& rules, const Matcher& matcher, const std::string& id, const Example& example) {
  const ValidatorOptions options;
  std::vector<FileHits> files(1);
  GUARD_TRY(FileCheck(rules, matcher, options).look_at(example.path, example.text, files.front()));
  const CrossFileJudge weigher(rules, files, options.module_names);
  for (std::uint32_t i = 0; i < rules.rules().size(); ++i) {
    if (rules.rules()[i].id != id) continue;
    const std::vector<RuleHit>& hits = files.front().hits;
    return weigher.counts(0, i) &&
        std::any_of(hits.begin(), hits.end(), [&](const RuleHit& hit) { return hit.rule == i; });
  }
  for (std::uint32_t i = 0; i < rules.facts().size(); ++i) {
    if (rules.facts()[i].id == id) return weigher.holds(0, i);
  }
  return Error(ErrorCode::rules_invalid, "there is no rule or fact called " + id);
}

}  // namespace guard

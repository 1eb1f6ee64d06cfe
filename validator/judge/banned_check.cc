// The banned patterns on files that are no programs: no views, no encodings, no side files, only what must not be
// committed.
#include <algorithm>

#include "common/text/text.h"
#include "validator/snippet.h"
#include "validator/validator.h"

namespace guard {

Result<Report> Validator::check_banned(const std::vector<SourceFile>& files) const {
  Report report;
  Matcher::Scratch scratch;
  std::vector<Match> matches;
  for (const SourceFile& file : files) {
    ++report.files;
    report.bytes += file.bytes.size();
    matches.clear();
    GUARD_TRY(matcher_.scan(View::raw, file.bytes, scratch, matches).context("checking " + file.path));
    for (const Match& match : matches) {
      if (match.is_fact || rules_.rules()[match.index].tier != Tier::banned) continue;
      const Rule& rule = rules_.rules()[match.index];
      const LineColumn place = line_column(file.bytes, match.begin);
      const Snippet snippet = make_snippet(file.bytes, match.begin, match.end);
      Finding finding;
      finding.rule = rule.id;
      finding.tier = FindingTier::banned;
      finding.severity = rule.severity;
      finding.path = file.path;
      finding.line = place.line;
      finding.column = place.column;
      finding.begin = match.begin;
      finding.end = match.end;
      finding.excerpt = snippet.excerpt;
      finding.caret = snippet.caret;
      finding.caret_width = snippet.caret_width;
      finding.message = rule.title;
      finding.fix = rule.fix;
      finding.confirmed = match.confirmed;
      report.findings.push_back(std::move(finding));
    }
  }
  std::sort(report.findings.begin(), report.findings.end());
  return report;
}

}  // namespace guard

// The banned patterns on files that are no programs: no views, no encodings, no side files, only what must not be
// committed.
#include <algorithm>

#include "common/text/text.h"
#include "validator/judge/cross_file_judge.h"
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
      Finding finding = finding_of(rules_.rules()[match.index], file.path);
      const LineColumn place = line_column(file.bytes, match.begin);
      finding.line = place.line;
      finding.column = place.column;
      finding.begin = match.begin;
      finding.end = match.end;
      finding.confirmed = match.confirmed;
      add_excerpt(file.bytes, finding);
      report.findings.push_back(std::move(finding));
    }
  }
  std::sort(report.findings.begin(), report.findings.end());
  return report;
}

}  // namespace guard

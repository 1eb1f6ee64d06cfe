#include "validator/weigh.h"

#include <algorithm>

namespace guard {
namespace {

FindingTier finding_tier(Tier tier) noexcept {
  switch (tier) {
    case Tier::always:
      return FindingTier::always;
    case Tier::docker:
      return FindingTier::docker;
    case Tier::host:
      return FindingTier::host;
    case Tier::banned:
    case Tier::secret:
      return FindingTier::banned;
  }
  return FindingTier::always;
}

}  // namespace

Weigher::Weigher(const RuleSet& rules, const std::vector<FileHits>& files)
    : rules_(rules), files_(files), first_file_(rules.facts().size(), kNowhere), counts_(rules.rules().size()) {
  for (std::uint32_t file = 0; file < files.size(); ++file) {
    const std::vector<std::uint32_t>& lines = files[file].fact_lines;
    for (std::size_t fact = 0; fact < lines.size(); ++fact) {
      if (lines[fact] != 0 && first_file_[fact] == kNowhere) first_file_[fact] = file;
    }
  }
  for (std::size_t i = 0; i < rules.rules().size(); ++i) {
    const Rule& rule = rules.rules()[i];
    counts_[i] = all_hold(rule.needs) && all_hold(rule.all_of);
  }
}

std::uint32_t Weigher::fact_index(const std::string& id) const {
  for (std::uint32_t i = 0; i < rules_.facts().size(); ++i) {
    if (rules_.facts()[i].id == id) return i;
  }
  return kNowhere;
}

bool Weigher::all_hold(const std::vector<std::string>& ids) const {
  return std::all_of(ids.begin(), ids.end(), [&](const std::string& id) {
    const std::uint32_t index = fact_index(id);
    return index != kNowhere && holds(index);
  });
}

// "src/a.ts:3", where another fact of the rule was seen first.
std::string Weigher::other_place(const Rule& rule) const {
  const std::uint32_t fact = fact_index(rule.all_of.back());
  if (fact == kNowhere || !holds(fact)) return {};
  const FileHits& file = files_[first_file_[fact]];
  return rules_.facts()[fact].title + " at " + file.path + ":" + std::to_string(file.fact_lines[fact]);
}

void Weigher::append_findings(const FileHits& file, std::vector<Finding>& out) const {
  for (const RuleHit& hit : file.hits) {
    if (!counts_[hit.rule]) continue;
    const Rule& rule = rules_.rules()[hit.rule];
    Finding& finding = out.emplace_back();
    finding.rule = rule.id;
    finding.tier = finding_tier(rule.tier);
    finding.severity = rule.severity;
    finding.message = rule.title;
    if (!rule.all_of.empty()) finding.message += " (" + other_place(rule) + ")";
    if (hit.more != 0) {
      finding.message += "; up to " + std::to_string(hit.more) + " more places in this file are not listed";
    }
    finding.fix = rule.fix;
    finding.confirmed = hit.confirmed;
    finding.reading = hit.reading;
    finding.path = file.path;
    finding.begin = hit.span.begin;
    finding.end = hit.span.end;
    finding.line = hit.line;
    finding.column = hit.column;
  }
  out.insert(out.end(), file.findings.begin(), file.findings.end());
}

}  // namespace guard

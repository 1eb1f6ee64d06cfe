#include "validator/judge/cross_file_judge.h"

#include <algorithm>
#include <deque>
#include <unordered_map>

namespace guard {
namespace {

FindingTier finding_tier(Tier tier) noexcept {
  switch (tier) {
    case Tier::always: return FindingTier::always;
    case Tier::docker: return FindingTier::docker;
    case Tier::host: return FindingTier::host;
    case Tier::banned:
    case Tier::secret: return FindingTier::banned;
  }
  return FindingTier::always;
}

std::uint32_t fact_index(const RuleSet& rules, std::string_view id) {
  const auto facts = rules.facts();
  const auto known = std::find_if(facts.begin(), facts.end(), [&](const Fact& fact) { return fact.id == id; });
  return known == facts.end() ? UINT32_MAX : static_cast<std::uint32_t>(known - facts.begin());
}

}  // namespace

Finding finding_of(const Rule& rule, const std::string& path) {
  Finding finding;
  finding.rule = rule.id;
  finding.tier = finding_tier(rule.tier);
  finding.severity = rule.severity;
  finding.message = rule.title;
  finding.fix = rule.fix;
  finding.path = path;
  return finding;
}

std::vector<LoadingFile> loading_files(const std::vector<FileHits>& files) {
  std::vector<LoadingFile> loading;
  loading.reserve(files.size());
  for (const FileHits& file : files) loading.push_back({file.path, &file.loads, file.exports});
  return loading;
}

CrossFileJudge::CrossFileJudge(const RuleSet& rules, const std::vector<FileHits>& files, const ModuleNames& modules)
    : rules_(rules), files_(files), joint_of_rule_(rules.rules().size(), kNowhere), group_of_(files.size()) {
  find_joint_rules();
  groups_ = group_by_loads(loading_files(files), modules);
  width_ = rules.facts().size() + joint_.size();
  seen_.assign(groups_.size() * width_, kNowhere);
  std::vector<std::vector<bool>> met_below(groups_.size());
  for (std::size_t group = 0; group < groups_.size(); ++group) judge(group, met_below);
  std::sort(meetings_.begin(), meetings_.end(), [](const Meeting& a, const Meeting& b) { return a.file < b.file; });
}

void CrossFileJudge::find_joint_rules() {
  for (std::uint32_t i = 0; i < rules_.rules().size(); ++i) {
    const Rule& rule = rules_.rules()[i];
    if (rule.needs.empty() && rule.all_of.empty()) continue;
    JointRule joint{i, {}, static_cast<std::uint32_t>(rules_.facts().size() + joint_.size())};
    for (const auto* ids : {&rule.all_of, &rule.needs}) {
      for (const std::string& id : *ids) joint.facts.push_back(fact_index(rules_, id));
    }
    joint_of_rule_[i] = static_cast<std::uint32_t>(joint_.size());
    joint_.push_back(std::move(joint));
  }
}

void CrossFileJudge::note(std::uint32_t file, std::uint32_t* seen) const {
  const FileHits& hits = files_[file];
  for (std::size_t fact = 0; fact < hits.facts.size(); ++fact) {
    if (hits.facts[fact].line != 0 && seen[fact] == kNowhere) seen[fact] = file;
  }
  for (const RuleHit& hit : hits.hits) {
    const std::uint32_t joint = joint_of_rule_[hit.rule];
    if (joint != kNowhere && seen[joint_[joint].slot] == kNowhere) seen[joint_[joint].slot] = file;
  }
}

bool CrossFileJudge::all_hold(const JointRule& joint, const std::uint32_t* seen) const {
  return std::all_of(
      joint.facts.begin(), joint.facts.end(), [&](std::uint32_t fact) { return seen[fact] != kNowhere; });
}

// Groups come in the order of loads, so what is loaded was judged before.
void CrossFileJudge::judge(std::size_t group, std::vector<std::vector<bool>>& met_below) {
  const std::vector<std::uint32_t>& files = groups_[group].files;
  std::uint32_t* seen = of_group(group);
  for (const std::uint32_t file : files) {
    group_of_[file] = static_cast<std::uint32_t>(group);
    note(file, seen);
  }
  const std::vector<std::uint32_t> own(seen, seen + width_);
  std::vector<bool>& met = met_below[group];
  met.resize(joint_.size());
  for (const std::uint32_t loaded : groups_[group].loads) {
    const std::uint32_t* below = of_group(loaded);
    for (std::size_t i = 0; i < width_; ++i) {
      const bool first = below[i] != kNowhere &&
          (seen[i] == kNowhere || (own[i] == kNowhere && files_[below[i]].path < files_[seen[i]].path));
      if (first) seen[i] = below[i];
    }
    for (std::size_t i = 0; i < joint_.size(); ++i) met[i] = met[i] || met_below[loaded][i];
  }
  if (files.empty()) return;  // a folder: its files have nothing to do with each other
  for (std::size_t i = 0; i < joint_.size(); ++i) {
    const JointRule& joint = joint_[i];
    if (seen[joint.slot] == kNowhere || !all_hold(joint, seen)) continue;
    if (!met[i] && own[joint.slot] == kNowhere) meetings_.push_back({files.front(), &joint});
    met[i] = true;
  }
}

bool CrossFileJudge::counts(std::uint32_t file, std::uint32_t rule) const {
  const std::uint32_t joint = joint_of_rule_[rule];
  return joint == kNowhere || all_hold(joint_[joint], of_group(group_of_[file]));
}

// " by way of a.ts and b.ts", of the files between two of which one loads the other.
std::string CrossFileJudge::way(std::uint32_t from, std::uint32_t to) const {
  const std::uint32_t end = group_of_[to];
  std::unordered_map<std::uint32_t, std::uint32_t> before;  // by group: the one that loads it
  std::deque<std::uint32_t> next = {group_of_[from]};
  before.emplace(group_of_[from], kNowhere);
  while (!next.empty() && before.count(end) == 0) {
    const std::uint32_t at = next.front();
    next.pop_front();
    for (const std::uint32_t loaded : groups_[at].loads) {
      if (before.emplace(loaded, at).second) next.push_back(loaded);
    }
  }
  std::string text;
  const auto found = before.find(end);
  for (std::uint32_t at = found == before.end() ? kNowhere : found->second; at != kNowhere && at != group_of_[from];
       at = before.at(at)) {
    if (groups_[at].files.empty()) continue;
    const std::string& path = files_[groups_[at].files.front()].path;
    text = text.empty() ? path : path + " and " + text;
  }
  return text.empty() ? text : " by way of " + text;
}

// "what it says at src/a.ts:3 by way of src/b.ts", of the hits and facts of a rule that stand in other files.
std::string CrossFileJudge::places(const JointRule& joint, std::uint32_t file, std::uint32_t slot) const {
  std::string text;
  const std::uint32_t* seen = of_group(group_of_[file]);
  const auto add = [&](std::string_view what, std::uint32_t at, std::uint32_t line) {
    text += (text.empty() ? "" : ", ") + std::string(what) + " at " + files_[at].path + ":" + std::to_string(line) +
        way(file, at);
  };
  const Rule& rule = rules_.rules()[joint.rule];
  if (slot != kNowhere && rule.all_of.empty()) {
    const FileHits& other = files_[seen[slot]];
    const auto hit =
        std::find_if(other.hits.begin(), other.hits.end(), [&](const RuleHit& h) { return h.rule == joint.rule; });
    add(rule.title, seen[slot], hit->place.line);
  }
  for (std::size_t i = slot == kNowhere && !rule.all_of.empty() ? 1 : 0; i < joint.facts.size(); ++i) {
    const std::uint32_t fact = joint.facts[i];
    add(rules_.facts()[fact].title, seen[fact], files_[seen[fact]].facts[fact].line);
  }
  return text;
}

// Stands where the file itself has a part of the act, or else where it loads something.
Finding CrossFileJudge::meeting(std::uint32_t file, const JointRule& joint) const {
  Finding result = finding_of(rules_.rules()[joint.rule], files_[file].path);
  result.message += " (with what this file loads: " + places(joint, file, joint.slot) + ")";
  const FileHits& hits = files_[file];
  for (const std::uint32_t fact : joint.facts) {
    if (hits.facts.empty() || hits.facts[fact].line == 0) continue;
    set_place(result, hits.facts[fact]);
    return result;
  }
  const auto first = std::min_element(hits.loads.begin(), hits.loads.end(),
      [](const FileLoad& a, const FileLoad& b) { return a.place.span.begin < b.place.span.begin; });
  if (first != hits.loads.end()) set_place(result, first->place);
  return result;
}

void CrossFileJudge::append_findings(std::uint32_t index, std::vector<Finding>& out) const {
  const FileHits& file = files_[index];
  for (const RuleHit& hit : file.hits) {
    if (!counts(index, hit.rule)) continue;
    Finding& added = out.emplace_back(finding_of(rules_.rules()[hit.rule], file.path));
    if (!rules_.rules()[hit.rule].all_of.empty())
      added.message += " (" + places(joint_[joint_of_rule_[hit.rule]], index, kNowhere) + ")";
    if (hit.more != 0) {
      added.message += "; up to " + std::to_string(hit.more) + " more places in this file are not listed";
    }
    added.confirmed = hit.confirmed;
    added.reading = hit.reading;
    set_place(added, hit.place);
  }
  const auto [first, last] = std::equal_range(meetings_.begin(), meetings_.end(), Meeting{index, nullptr},
      [](const Meeting& a, const Meeting& b) { return a.file < b.file; });
  for (auto meeting_of = first; meeting_of != last; ++meeting_of) out.push_back(meeting(index, *meeting_of->joint));
  out.insert(out.end(), file.findings.begin(), file.findings.end());
}

}  // namespace guard

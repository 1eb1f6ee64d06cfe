// The second half of a check. A precondition ("can start a process") or one half of the 2-hit rule may stand in another
// file than the other half, so each file is judged with all that it loads, and with no other file.
//
// Where the parts of an act meet, the file in which they meet has the finding: those that load it are not refused for
// it once more, and what it loads is not refused for what is done with it.
#pragma once

#include <cstdint>
#include <vector>

#include "rules/rule_set.h"
#include "validator/finding.h"
#include "validator/judge/file_check.h"
#include "validator/judge/import_graph.h"

namespace guard {

// What group_by_loads() wants to know of `files`, which must outlive it.
std::vector<LoadingFile> loading_files(const std::vector<FileHits>& files);

// A finding of `rule` on the file as a whole.
Finding finding_of(const Rule& rule, const std::string& path);

class CrossFileJudge {
 public:
  // `rules` and `files` must outlive this.
  CrossFileJudge(const RuleSet& rules, const std::vector<FileHits>& files, const ModuleNames& modules);

  // Does what the rule needs hold for a file? Where it does not, hits of the rule count for nothing.
  bool counts(std::uint32_t file, std::uint32_t rule) const;
  bool holds(std::uint32_t file, std::uint32_t fact) const { return holder(file, fact) != kNowhere; }
  // Where it does: a file that the fact was seen in.
  std::uint32_t holder(std::uint32_t file, std::uint32_t fact) const { return of_group(group_of_[file])[fact]; }

  // The findings of a file, in no order and without excerpts.
  void append_findings(std::uint32_t file, std::vector<Finding>& out) const;

 private:
  static constexpr std::uint32_t kNowhere = UINT32_MAX;

  // A rule that takes more than a hit, and where hits of it are noted behind the facts.
  struct JointRule {
    std::uint32_t rule;
    std::vector<std::uint32_t> facts;
    std::uint32_t slot;
  };
  // A file has a finding that has no place in it: what it loads comes together there.
  struct Meeting {
    std::uint32_t file;
    const JointRule* joint;
  };

  // Of one group with what it loads, by fact and then by slot: a file that has it.
  std::uint32_t* of_group(std::size_t group) { return seen_.data() + group * width_; }
  const std::uint32_t* of_group(std::size_t group) const { return seen_.data() + group * width_; }
  void find_joint_rules();
  void note(std::uint32_t file, std::uint32_t* seen) const;
  void judge(std::size_t group, std::vector<std::vector<bool>>& met_below);
  std::string way(std::uint32_t from, std::uint32_t to) const;
  bool all_hold(const JointRule& joint, const std::uint32_t* seen) const;
  std::string places(const JointRule& joint, std::uint32_t file, std::uint32_t slot) const;
  Finding meeting(std::uint32_t file, const JointRule& joint) const;

  const RuleSet& rules_;
  const std::vector<FileHits>& files_;
  std::vector<JointRule> joint_;
  std::vector<std::uint32_t> joint_of_rule_;  // index into joint_, or kNowhere
  std::size_t width_ = 0;
  std::vector<std::uint32_t> seen_;
  std::vector<FileGroup> groups_;
  std::vector<std::uint32_t> group_of_;  // by file
  std::vector<Meeting> meetings_;        // by file
};

}  // namespace guard

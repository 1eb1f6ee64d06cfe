// The second half of a check: all files together. A precondition ("can start a process") or one half of the 2-hit rule
// may stand in another file than the other half.
#pragma once

#include <cstdint>
#include <vector>

#include "rules/rule_set.h"
#include "validator/file_check.h"
#include "validator/finding.h"

namespace guard {

class Weigher {
 public:
  // Which facts hold in `files`. Both must outlive this; "first seen" means the first of `files`.
  Weigher(const RuleSet& rules, const std::vector<FileHits>& files);

  // Where what a rule needs holds nowhere, its hits count for nothing.
  bool counts(std::uint32_t rule) const { return counts_[rule]; }
  bool holds(std::uint32_t fact) const { return first_file_[fact] != kNowhere; }

  // The findings of `file`, in no order and without excerpts.
  void append_findings(const FileHits& file, std::vector<Finding>& out) const;

 private:
  static constexpr std::uint32_t kNowhere = UINT32_MAX;
  std::uint32_t fact_index(const std::string& id) const;
  bool all_hold(const std::vector<std::string>& ids) const;
  std::string other_place(const Rule& rule) const;

  const RuleSet& rules_;
  const std::vector<FileHits>& files_;
  std::vector<std::uint32_t> first_file_;  // by fact: index into files
  std::vector<bool> counts_;               // by rule
};

}  // namespace guard

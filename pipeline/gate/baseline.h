// Findings that a project had when it began to use guard: known, counted, and no reason to refuse. They are known by
// rule, path and fingerprint (finding_marks.h), not by line, and each as often as it was there. Only what rules of the
// tiers always, docker and host find in code counts, and nothing in [check] paths: a generator's file is judged as if
// there were no baseline.
//
// The file is guard-baseline.json beside guard.toml. configures_guard() knows it: no gated change may touch it.
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

#include "common/result.h"
#include "pipeline/gate/source_files.h"
#include "validator/validator.h"

namespace guard {

inline constexpr std::string_view kBaselineFile = "guard-baseline.json";

class Baseline {
 public:
  // `project` is what paths in it start from; `gated` are the globs of [check] paths.
  Baseline(const std::filesystem::path& project, std::vector<std::string> gated);

  // Whether there is such a file; INPUT_INVALID where it is no baseline.
  Result<bool> read(const std::filesystem::path& file);
  Result<void> parse(std::string_view document);

  std::uint64_t findings() const noexcept;

  // Adds the marked findings of a report that may be known.
  void add(const std::vector<Finding>& findings);
  // Leaves of each entry what `now`, made of a check of the files `seen`, has of it. Entries of other files stay while
  // these exist.
  void shrink_to(const Baseline& now, const std::vector<std::string>& seen);

  // Takes the known findings, which are marked, out of those of one check: an entry passes as many as it counts. How
  // many.
  std::uint64_t take_known(std::vector<Finding>& findings) const;

  // Sorted, one entry per line, so that its changes can be read.
  std::string document() const;

 private:
  using Key = std::tuple<std::string, std::string, std::string>;  // path, rule, fingerprint
  // Nothing for a finding that no baseline may hold.
  std::optional<Key> key_of(const Finding& finding) const;

  std::filesystem::path project_;
  ProjectPaths paths_;
  std::vector<std::string> gated_;
  std::map<Key, std::uint64_t> counts_;
};

}  // namespace guard

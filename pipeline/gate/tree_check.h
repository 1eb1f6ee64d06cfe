// Looks at any number of files in parallel: each is read, looked at and dropped. What is kept of a file is what it may
// be found guilty of, so memory does not grow with the tree.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "common/cancel.h"
#include "common/result.h"
#include "pipeline/gate/source_files.h"
#include "rules/matching/matcher.h"
#include "rules/rule_set.h"
#include "validator/judge/file_check.h"
#include "validator/validator.h"

namespace guard {

struct TreeHits {
  std::vector<FileHits> files;                 // in order of path; those that say nothing are left out
  std::map<std::string, std::string> digests;  // by path, of files where something can be found: SHA-256 in hex
  std::vector<Finding> findings;               // what could not be judged as text
  std::vector<std::string> names;   // of all files that were judged, where TreeRequest::keep_names asks for them
  std::uint64_t ignored_files = 0;  // files that git ignores
  std::uint64_t count = 0;
  std::uint64_t bytes = 0;
};

// Files and folders by name.
struct TreeGate {
  std::vector<std::string> paths;
  CollectOptions collect;
  unsigned jobs = 1;
  const CancelToken* cancel = nullptr;  // by whom it can be stopped
  std::function<void(std::uint64_t files, std::uint64_t bytes)>
      progress;  // called now and then, from the caller's thread
};

struct TreeRequest : TreeGate {
  const RuleSet* rules = nullptr;
  const Matcher* matcher = nullptr;
  ValidatorOptions options;
  bool keep_names = false;
};

// The outcome does not depend on the number of threads, nor on their luck. Of several errors the one whose path comes
// first is reported; any error means that the check is undecided. CANCELLED where it was stopped.
Result<TreeHits> look_at_tree(const TreeRequest& request);

}  // namespace guard

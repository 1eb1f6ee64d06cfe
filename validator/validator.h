// From files to findings. A file is judged with what it loads: a precondition ("can start a process") or one half of
// the 2-hit rule may stand in another file than the other half.
//
// Never throws, never skips: what can't be decided is an Error, and the verdict then is undecided.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "common/result.h"
#include "rules/matching/matcher.h"
#include "rules/rule_set.h"
#include "validator/finding.h"
#include "validator/views/module_names.h"

namespace guard {

// Known to the validator by name: the first finds configurable names, the next two may leave out temporary folders, the
// two about secrets files that are made up, one tells which files load each other, and of the others harmless variables
// are left out.
inline constexpr std::string_view kApiKeyRule = "host.api_key_name";
inline constexpr std::string_view kRemoveRule = "host.fs_remove";
inline constexpr std::string_view kRemoveMethodRule = "host.fs_remove_method";
inline constexpr std::string_view kSecretWordRule = "docker.secret_word";
inline constexpr std::string_view kSecretCommandRule = "docker.secret_file_command";
inline constexpr std::string_view kNamesFileFact = "fact.names_file";
inline constexpr std::string_view kReadsVariableFact = "fact.reads_variable";
inline constexpr std::string_view kKeepsValuesFact = "fact.keeps_values";
inline constexpr std::string_view kOutputSinkFact = "fact.output_sink";

// One file's bytes. `path` decides path scopes and side-file findings.
struct SourceFile {
  std::string path;
  std::string bytes;
};

// Which tiers apply (SPEC: container -> always + docker; none -> all three). `banned` is always on.
struct TierSet {
  bool docker = true;
  bool host = true;
};

struct ValidatorOptions {
  TierSet tiers;
  std::uint64_t file_bytes_max = 2u << 20;  // larger: a finding of its own (encoding.file_too_large)
  std::vector<std::string> api_key_names = {"ANTHROPIC_API_KEY", "OPENAI_API_KEY", "GEMINI_API_KEY"};
  std::vector<std::string>
      harmless_variables;           // process.env.X reads that don't count for the 2-hit rule; empty: the shipped list
  bool allow_temp_removal = false;  // of folders that the file made with mkdtemp
  ModuleNames module_names;         // names of checked files that are no paths
};

struct Report {
  std::vector<Finding> findings;  // sorted
  std::uint64_t files = 0;
  std::uint64_t bytes = 0;
  bool rejected() const noexcept;  // any finding with Severity::block
};

class Validator {
 public:
  // Both must outlive the validator.
  Validator(const RuleSet& rules, const Matcher& matcher, ValidatorOptions options);

  // Safe to call from several threads.
  Result<Report> check(const std::vector<SourceFile>& files) const;

  // The banned patterns alone, on the raw text: for files that are committed but not gated (notes, data, pictures).
  Result<Report> check_banned(const std::vector<SourceFile>& files) const;

 private:
  const RuleSet& rules_;
  const Matcher& matcher_;
  ValidatorOptions options_;
};

// Fills in the line that `finding` points at. Secrets in it are not masked yet.
void add_excerpt(std::string_view bytes, Finding& finding);

// The judge of `guard rules check`: is rule or fact `id` found in `example`, through the views that it names?
Result<bool> example_matches(
    const RuleSet& rules, const Matcher& matcher, const std::string& id, const Example& example);

}  // namespace guard

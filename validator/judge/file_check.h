// The first half of a check: what one file by itself says. The second half (cross_file_judge.h) judges all files
// together.
//
// What is kept of a file is small, so that a repository of any size can be read, looked at and dropped file by file.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "common/result.h"
#include "rules/matching/matcher.h"
#include "rules/rule_set.h"
#include "validator/finding.h"
#include "validator/judge/harmless_variables.h"
#include "validator/judge/import_graph.h"
#include "validator/made_up_files.h"
#include "validator/validator.h"
#include "validator/views/source_view.h"

namespace guard {

// A place where a rule would have something to say, if what it needs holds.
struct RuleHit {
  std::uint32_t rule = 0;
  Place place;
  std::uint32_t more = 0;  // further places of this rule in this file that are not listed
  bool confirmed = true;
  Reading reading;  // what it was read as, where the source spells it otherwise
};

struct FileHits {
  std::string path;
  std::vector<RuleHit> hits;      // by rule, then place
  std::vector<Place> facts;       // by fact, where it was seen first; empty if none was
  std::vector<FileLoad> loads;    // by name
  bool exports = false;           // does it offer anything to whoever loads it?
  std::vector<Finding> findings;  // of encodings and names; without excerpts

  bool may_find() const noexcept { return !hits.empty() || !findings.empty(); }
  bool empty() const noexcept { return !may_find() && facts.empty() && loads.empty(); }
};

// What was matched in a file, before anything is left out of it.
struct Sighting {
  bool is_fact = false;
  std::uint32_t index = 0;  // of the rule or fact
  TextSpan span;
  bool harmless = false;  // a fact that says nothing about a secret (harmless_variables.h)
};

void set_place(Finding& finding, const Place& place) noexcept;

bool applies(const Rule& rule, TierSet tiers) noexcept;
bool in_scope(const Rule& rule, std::string_view path);

// Not thread-safe: one per thread; its memory is used again from file to file. All arguments must outlive it.
class FileCheck {
 public:
  FileCheck(const RuleSet& rules, const Matcher& matcher, const ValidatorOptions& options);

  // `hits` is overwritten. `bytes` are not needed any more afterwards.
  Result<void> look_at(const std::string& path, std::string_view bytes, FileHits& hits);

  // From now on, for whoever explains a line; null: nowhere.
  void note_sightings(std::vector<Sighting>* to) noexcept { sightings_ = to; }

 private:
  static constexpr std::uint32_t kNoRule = UINT32_MAX;

  struct SeenFact {
    std::uint32_t fact;
    TextSpan span;
  };

  bool wanted(std::uint32_t rule);
  bool removes_own(View view, const Match& match);
  bool is_made_up(View view, const Match& match);
  void take(View view, const Match& match);
  void note(View view, const Match& match, bool harmless);
  Reading reading(View view, const Match& match, TextSpan span);
  void take_load(View view, const Match& match);
  void take_api_keys();
  Result<void> look_at_fixture();
  void add_reading_findings();
  void add_finding(FindingTier tier, std::string_view rule, std::string_view title, std::string_view fix, TextSpan span,
      bool has_place);
  void list_facts();
  void list_loads();
  void list_hits();

  const RuleSet& rules_;
  const Matcher& matcher_;
  const ValidatorOptions& options_;
  HarmlessHits harmless_;
  std::uint32_t api_key_rule_ = kNoRule;
  std::uint32_t names_file_ = kNoRule;  // a fact
  std::uint32_t secret_word_rule_ = kNoRule;
  std::uint32_t secret_command_rule_ = kNoRule;
  std::uint32_t remove_rule_ = kNoRule;
  std::uint32_t remove_method_rule_ = kNoRule;
  std::optional<bool> removes_only_own_;                   // of the file at hand, once it is asked for
  std::optional<WrittenPaths> written_;                    // by it, once they are asked for
  std::vector<std::vector<std::uint32_t>> rules_of_fact_;  // rules whose findings stand where the fact does
  std::vector<bool> applies_;

  Matcher::Scratch scratch_;
  SourceViews views_;
  std::vector<Match> matches_;
  std::vector<RuleHit> candidates_;
  std::vector<SeenFact> places_;
  std::vector<std::int8_t> in_scope_;  // by rule, for the file at hand: -1 not asked yet
  std::uint32_t readings_ = 0;
  std::string_view bytes_;
  FileHits* out_ = nullptr;
  std::vector<Sighting>* sightings_ = nullptr;
};

}  // namespace guard

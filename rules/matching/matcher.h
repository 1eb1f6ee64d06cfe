// Finds every match of a RuleSet's patterns in one view of a file.
//
// Hyperscan finds, RE2 confirms spans and captures. Where Hyperscan took a pattern exactly and RE2 does not confirm,
// the hit is kept and marked unconfirmed: doubt never drops a hit. Where Hyperscan can't run, RE2 alone serves. Any
// engine error is an Error: "could not decide" is never an empty result.
//
// A Matcher is const and shared by threads; a Scratch belongs to one thread at a time.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "common/result.h"
#include "rules/rule_set.h"

namespace guard {

enum class Engine : std::uint8_t { hyperscan_and_re2, re2_only };

// One hit of one pattern. Offsets are bytes of the view that was scanned: of the group that the pattern names by
// `capture`, or of the whole match where that group took no part.
struct Match {
  bool is_fact = false;
  std::uint32_t index = 0;    // into RuleSet::rules() or RuleSet::facts()
  std::uint32_t pattern = 0;  // into its patterns
  std::size_t begin = 0;
  std::size_t end = 0;
  bool confirmed = true;
};

class Matcher {
 public:
  class Scratch {
   public:
    Scratch();
    ~Scratch();
    Scratch(Scratch&&) noexcept;
    Scratch& operator=(Scratch&&) noexcept;

   private:
    friend class Matcher;
    struct State;
    std::unique_ptr<State> state_;
  };

  // For RuleSet::shipped() the embedded databases are used in place, nothing is compiled; for other sets they come from
  // the cache or are compiled (and cached, where the cache can be written). Rules of Tier::secret are left out: they
  // are the redactor's. `rules` must outlive the matcher. RULES_INVALID lists every pattern that Hyperscan can't take.
  static Result<Matcher> create(const RuleSet& rules, Engine engine = Engine::hyperscan_and_re2);
  Matcher(Matcher&&) noexcept;
  Matcher& operator=(Matcher&&) noexcept;
  ~Matcher();

  // Appends to `out`, in order of begin, then rules before facts, then index. Of the matches of one pattern the longest
  // from each begin count; one that lies inside another is folded into it, one that overlaps it is not (span_finder.h).
  // The first kMatchesPerPatternMax hits of one pattern in one text are reported, and one more, unconfirmed and one
  // byte long, that stands for all the rest. On failure `out` is as it was before.
  Result<void> scan(View view, std::string_view text, Scratch& scratch, std::vector<Match>& out) const;

  // Engine that is really used: RE2 alone where this CPU can't run Hyperscan.
  Engine engine() const noexcept;

  // What the build embeds for `view`: a database for any CPU as it lies in memory; empty where no pattern looks there.
  static Result<std::string> database_image(const RuleSet& rules, View view);

  static constexpr std::uint32_t kMatchesPerPatternMax = 1000;

 private:
  struct State;
  explicit Matcher(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

}  // namespace guard

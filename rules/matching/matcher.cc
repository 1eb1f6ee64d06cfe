// Hyperscan says which patterns end where, SpanFinder makes hits of the ends. Ends are collected per pattern first,
// because they come in no promised order; a run of neighbouring ends is one entry, so that `[a-z]+` on a long word
// stays small.

#include "rules/matching/matcher.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <exception>
#include <map>
#include <mutex>
#include <optional>
#include <tuple>
#include <utility>

#include "rules/matching/database_cache.h"
#include "rules/matching/hyperscan_scanner.h"
#include "rules/matching/re2_matcher.h"
#include "rules/matching/span_finder.h"
#include "rules/shipped_data.h"

namespace guard {
namespace {

// Ends of one pattern that are collected before they are explained: bounds memory.
constexpr std::size_t kEndRunsMax = 4096;

// One pattern of one rule or fact. Its number is its id in the databases.
struct Slot {
  bool is_fact = false;
  std::uint32_t index = 0;
  std::uint32_t pattern = 0;
  const Pattern* source = nullptr;
};

using Exact = Result<Re2Matcher>;

// Ends first..last, each a byte apart: `[a-z]+` ends at every byte of a long word.
struct EndRun {
  std::size_t first = 0;
  std::size_t last = 0;
};

std::vector<Slot> slots_of(const RuleSet& rules) {
  std::vector<Slot> slots;
  const auto add = [&slots](bool is_fact, std::size_t index, const std::vector<Pattern>& patterns) {
    for (std::size_t i = 0; i < patterns.size(); ++i) {
      slots.push_back({is_fact, static_cast<std::uint32_t>(index), static_cast<std::uint32_t>(i), &patterns[i]});
    }
  };
  for (std::size_t i = 0; i < rules.rules().size(); ++i) {
    // Secrets are the redactor's; their prefixless patterns would slow down all others.
    if (rules.rules()[i].tier != Tier::secret) add(false, i, rules.rules()[i].patterns);
  }
  for (std::size_t i = 0; i < rules.facts().size(); ++i) add(true, i, rules.facts()[i].patterns);
  return slots;
}

}  // namespace

struct Matcher::Scratch::State {
  HyperscanScanner::Scratch engine;
  std::vector<std::vector<EndRun>> runs;       // by slot
  std::vector<SpanFinder::Progress> progress;  // by slot
  std::vector<std::uint32_t> touched;
};

Matcher::Scratch::Scratch() : state_(std::make_unique<State>()) {}
Matcher::Scratch::~Scratch() = default;
Matcher::Scratch::Scratch(Scratch&&) noexcept = default;
Matcher::Scratch& Matcher::Scratch::operator=(Scratch&&) noexcept = default;

struct Matcher::State {
  explicit State(const RuleSet& rules)
      : slots(slots_of(rules)), exacts(std::make_unique<std::atomic<const Exact*>[]>(slots.size())) {
    for (std::uint32_t id = 0; id < slots.size(); ++id) {
      for (const View view : slots[id].source->views) by_view[static_cast<std::size_t>(view)].push_back(id);
    }
  }

  Engine engine = Engine::re2_only;
  std::vector<Slot> slots;
  // By slot. Compiled when a hit first needs it: most runs find nothing. Rules and facts share what they look for.
  std::unique_ptr<std::atomic<const Exact*>[]> exacts;
  mutable std::map<std::string_view, const Exact> compiled;
  mutable std::mutex compiling;
  std::array<std::vector<std::uint32_t>, kViewCount> by_view;
  std::array<std::optional<HyperscanScanner>, kViewCount> databases;

  Result<const Re2Matcher*> exact_of(std::uint32_t slot) const {
    const Exact* exact = exacts[slot].load(std::memory_order_acquire);
    if (exact == nullptr) {
      const std::string_view regex = slots[slot].source->regex;
      const std::lock_guard lock(compiling);
      auto known = compiled.find(regex);
      if (known == compiled.end()) known = compiled.emplace(regex, Re2Matcher::create(regex)).first;
      exact = &known->second;
      exacts[slot].store(exact, std::memory_order_release);
    }
    if (!*exact) return exact->error();
    return &**exact;
  }

  void append(const Slot& slot, const ExactSpan& span, bool confirmed, std::vector<Match>& out) const {
    out.push_back({slot.is_fact, slot.index, slot.pattern, span.captured_begin, span.captured_end, confirmed});
  }

  // Stands for all hits behind the last one that is reported. Its span is a byte that proves nothing: whoever excuses
  // hits by what they say must not excuse those that nobody has looked at.
  void append_rest(const Slot& slot, std::size_t end, SpanFinder::Progress& progress, std::vector<Match>& out) const {
    progress.rest_told = true;
    append(slot, {end - 1, end, end - 1, end}, false, out);
  }

  // Turns the collected ends of one pattern into hits.
  Result<void> explain(std::uint32_t id, std::string_view text, std::vector<EndRun>& runs,
      SpanFinder::Progress& progress, std::vector<Match>& out) const {
    GUARD_TRY_ASSIGN(const Re2Matcher* exact, exact_of(id));
    const SpanFinder finder(*exact, *slots[id].source, text);
    // Patterns that end in an assertion report an end late, behind ends that follow it.
    std::sort(runs.begin(), runs.end(), [](const EndRun& a, const EndRun& b) { return a.first < b.first; });
    for (const EndRun& run : runs) {
      for (std::size_t end = run.first; end <= run.last && !progress.rest_told; ++end) {
        if (progress.covers(end)) {
          end = std::min(run.last, progress.end);
          continue;
        }
        if (progress.hits >= kMatchesPerPatternMax) {
          append_rest(slots[id], end, progress, out);
          break;
        }
        ExactSpan span;
        GUARD_TRY_ASSIGN(const bool confirmed, finder.explain(end, progress, span));
        append(slots[id], span, confirmed, out);
      }
    }
    runs.clear();
    return ok();
  }

  Result<void> scan_with_both(View view, std::string_view text, Scratch::State& scratch, std::vector<Match>& out) const;
  Result<void> scan_with_re2(View view, std::string_view text, std::vector<Match>& out) const;
  Result<void> open_databases(const RuleSet& rules);
  Result<HyperscanScanner> compile(std::size_t view, const RuleSet& rules, HyperscanScanner::Target target) const;
  std::string name_of(std::uint32_t id, const RuleSet& rules) const;

  class Collector;
};

// Gathers the ends that Hyperscan reports, per pattern.
class Matcher::State::Collector final : public HyperscanScanner::Ends {
 public:
  Collector(const State& state, std::string_view text, Scratch::State& scratch, std::vector<Match>& out)
      : state_(state), text_(text), scratch_(scratch), out_(out) {}

  // Called from C: nothing may be thrown through it.
  bool end(std::uint32_t id, std::size_t offset) noexcept override {
    try {
      if (id >= state_.slots.size()) {
        result_ = Error(ErrorCode::internal, "a database of other rules");
        return false;
      }
      std::vector<EndRun>& runs = scratch_.runs[id];
      const SpanFinder::Progress& progress = scratch_.progress[id];
      if (progress.rest_told) return true;
      if (!runs.empty() && runs.back().last + 1 >= offset && runs.back().first <= offset) {
        runs.back().last = std::max(runs.back().last, offset);
        return true;
      }
      if (runs.empty() && !progress.any) scratch_.touched.push_back(id);
      runs.push_back({offset, offset});
      if (runs.size() >= kEndRunsMax) result_ = state_.explain(id, text_, runs, scratch_.progress[id], out_);
      return result_.has_value();
    } catch (const std::exception&) {
      result_ = Error(ErrorCode::internal, "out of memory while matching");
      return false;
    }
  }

  Result<void>& result() { return result_; }

 private:
  const State& state_;
  std::string_view text_;
  Scratch::State& scratch_;
  std::vector<Match>& out_;
  Result<void> result_;
};

Result<void> Matcher::State::scan_with_both(
    View view, std::string_view text, Scratch::State& scratch, std::vector<Match>& out) const {
  const auto& database = databases[static_cast<std::size_t>(view)];
  if (!database) return ok();  // no pattern looks at this view
  // A scan that failed may have left anything behind.
  for (const std::uint32_t id : scratch.touched) {
    if (id < scratch.runs.size()) scratch.runs[id].clear();
    if (id < scratch.progress.size()) scratch.progress[id] = {};
  }
  scratch.touched.clear();
  scratch.runs.resize(std::max(scratch.runs.size(), slots.size()));
  scratch.progress.resize(scratch.runs.size());

  Collector collector(*this, text, scratch, out);
  Result<void> scanned = database->scan(text, scratch.engine, collector);
  GUARD_TRY(std::move(collector.result()));
  GUARD_TRY(std::move(scanned));
  for (const std::uint32_t id : scratch.touched) {
    GUARD_TRY(explain(id, text, scratch.runs[id], scratch.progress[id], out));
  }
  return ok();
}

Result<void> Matcher::State::scan_with_re2(View view, std::string_view text, std::vector<Match>& out) const {
  for (const std::uint32_t id : by_view[static_cast<std::size_t>(view)]) {
    GUARD_TRY_ASSIGN(const Re2Matcher* exact, exact_of(id));
    const SpanFinder finder(*exact, *slots[id].source, text);
    SpanFinder::Progress progress;
    while (!progress.rest_told) {
      ExactSpan span;
      GUARD_TRY_ASSIGN(const bool found, finder.next(progress, span));
      if (!found) break;
      if (progress.hits > kMatchesPerPatternMax) {
        append_rest(slots[id], span.end, progress, out);
      } else {
        append(slots[id], span, true, out);
      }
    }
  }
  return ok();
}

std::string Matcher::State::name_of(std::uint32_t id, const RuleSet& rules) const {
  const Slot& slot = slots[id];
  const auto name = [&](const auto& owner) {
    const Pattern& pattern = *slot.source;
    return fmt::format(
        "{}:{}:{}: {}: pattern {}", owner.file, pattern.line, pattern.column, owner.id, slot.pattern + 1);
  };
  return slot.is_fact ? name(rules.facts()[slot.index]) : name(rules.rules()[slot.index]);
}

Result<HyperscanScanner> Matcher::State::compile(
    std::size_t view, const RuleSet& rules, HyperscanScanner::Target target) const {
  std::vector<HyperscanScanner::Source> sources;
  for (const std::uint32_t id : by_view[view]) sources.push_back({id, slots[id].source->regex});
  Result<HyperscanScanner> database = HyperscanScanner::compile(sources, target);
  if (database || database.error().code() != ErrorCode::rules_invalid) return database;
  // The engine stops at the first pattern that it refuses; the author wants to hear of all of them.
  std::vector<std::string> faults;
  for (const HyperscanScanner::Source& source : sources) {
    const auto alone = HyperscanScanner::compile(std::span(&source, 1), target);
    if (!alone) faults.push_back(fmt::format("{}: {}", name_of(source.id, rules), alone.error().message()));
  }
  if (faults.empty()) return database;
  return Error(ErrorCode::rules_invalid, fmt::format("{}", fmt::join(faults, "\n")));
}

Result<void> Matcher::State::open_databases(const RuleSet& rules) {
  const ShippedRules& shipped = shipped_rules_data();
  const bool built_in = !shipped.digest.empty() && rules.digest() == shipped.digest;
  for (std::size_t view = 0; view < kViewCount; ++view) {
    if (by_view[view].empty()) continue;
    if (built_in) {
      // Refused where the library differs from the one that made it; compiling is slower and as good.
      Result<HyperscanScanner> image = HyperscanScanner::from_image(shipped.databases[view], shipped.library_version);
      if (image) {
        databases[view].emplace(std::move(*image));
        continue;
      }
    }
    const std::string key = database_cache_key(rules.digest(), to_string(static_cast<View>(view)));
    if (const auto kept = load_cached_database(key)) {
      Result<HyperscanScanner> database = HyperscanScanner::deserialize(*kept);
      if (database) {
        databases[view].emplace(std::move(*database));
        continue;
      }
    }
    GUARD_TRY_ASSIGN(databases[view], compile(view, rules, HyperscanScanner::Target::this_machine));
    if (const auto bytes = databases[view]->serialize()) keep_cached_database(key, *bytes);
  }
  return ok();
}

Matcher::Matcher(std::unique_ptr<State> state) : state_(std::move(state)) {}
Matcher::Matcher(Matcher&&) noexcept = default;
Matcher& Matcher::operator=(Matcher&&) noexcept = default;
Matcher::~Matcher() = default;

Result<Matcher> Matcher::create(const RuleSet& rules, Engine engine) {
  try {
    auto state = std::make_unique<State>(rules);
    if (engine == Engine::hyperscan_and_re2 && HyperscanScanner::available()) {
      state->engine = Engine::hyperscan_and_re2;
      GUARD_TRY(state->open_databases(rules));
    }
    return Matcher(std::move(state));
  } catch (const std::exception& problem) {
    return Error(ErrorCode::internal, fmt::format("making a matcher: {}", problem.what()));
  }
}

Result<std::string> Matcher::database_image(const RuleSet& rules, View view) {
  const State state(rules);
  const auto at = static_cast<std::size_t>(view);
  if (state.by_view[at].empty()) return std::string();
  GUARD_TRY_ASSIGN(const HyperscanScanner database, state.compile(at, rules, HyperscanScanner::Target::any_machine));
  return database.image();
}

Engine Matcher::engine() const noexcept { return state_->engine; }

Result<void> Matcher::scan(View view, std::string_view text, Scratch& scratch, std::vector<Match>& out) const {
  const std::size_t before = out.size();
  try {
    Result<void> scanned = state_->engine == Engine::hyperscan_and_re2
        ? state_->scan_with_both(view, text, *scratch.state_, out)
        : state_->scan_with_re2(view, text, out);
    if (!scanned) {
      out.resize(before);
      return scanned;
    }
    const auto order = [](const Match& m) { return std::tuple(m.begin, m.is_fact, m.index, m.pattern, m.end); };
    std::sort(out.begin() + static_cast<std::ptrdiff_t>(before), out.end(),
        [&](const Match& a, const Match& b) { return order(a) < order(b); });
    return ok();
  } catch (const std::exception& problem) {
    out.resize(before);
    return Error(ErrorCode::internal, fmt::format("matching: {}", problem.what()));
  }
}

}  // namespace guard

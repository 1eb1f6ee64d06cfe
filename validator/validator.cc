// How it works. Each file's views are built once and scanned once. Hits of rules are kept as candidates until all files
// are read, because whether one counts may hang on a fact in another file; then facts are weighed, candidates become
// findings with lines and excerpts, and what several views found at one place becomes one finding.
#include "validator/validator.h"

#include <algorithm>
#include <array>
#include <map>
#include <set>

#include "common/glob.h"
#include "common/text.h"
#include "validator/encoding_check.h"
#include "validator/side_files.h"
#include "validator/snippet.h"
#include "validator/source_view.h"
#include "validator/two_hit.h"

namespace guard {
namespace {

constexpr std::string_view kApiKeyRule = "host.api_key_name";
constexpr std::string_view kReadsVariable = "fact.reads_variable";
constexpr std::uint32_t kFindingsPerRuleAndFile = 100;
constexpr std::uint64_t kFileBytesLimit = 1ULL << 30;  // offsets are 32 bits wide

struct Candidate {
  std::uint32_t file = 0;
  std::uint32_t rule = 0;
  TextSpan span;
  bool confirmed = true;

  bool operator<(const Candidate& other) const noexcept {
    return std::tie(file, rule, span.begin, span.end) <
           std::tie(other.file, other.rule, other.span.begin, other.span.end);
  }
};

struct Place {
  std::uint32_t file = 0;
  TextSpan span;
};

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

bool is_name_byte(char c) noexcept {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' || c == '$';
}

}  // namespace

namespace validator_detail {

// One call of check().
class Check {
 public:
  Check(const RuleSet& rules, const Matcher& matcher, const ValidatorOptions& options,
        const std::vector<SourceFile>& files)
      : rules_(rules),
        matcher_(matcher),
        options_(options),
        harmless_(options.harmless_variables.empty() ? shipped_harmless_variables() : options.harmless_variables),
        files_(files),
        fact_places_(rules.facts().size()) {
    for (std::size_t i = 0; i < rules.rules().size(); ++i) {
      if (rules.rules()[i].id == kApiKeyRule) api_key_rule_ = static_cast<std::uint32_t>(i);
    }
  }

  // Looks at all files and weighs the candidates.
  Result<void> look() {
    for (std::uint32_t i = 0; i < files_.size(); ++i) GUARD_TRY(look_at(i));
    weigh();
    return ok();
  }

  Report report() {
    Report report;
    report.files = files_.size();
    for (const SourceFile& file : files_) report.bytes += file.bytes.size();
    std::sort(candidates_.begin(), candidates_.end());
    std::uint32_t kept = 0;
    for (std::size_t i = 0; i < candidates_.size(); ++i) {
      const Candidate& candidate = candidates_[i];
      const bool same_group =
          i > 0 && candidates_[i - 1].file == candidate.file && candidates_[i - 1].rule == candidate.rule;
      if (!same_group) kept = 0;
      // Several patterns or views found the same act.
      if (same_group && candidate.span.begin < candidates_[i - 1].span.end && kept > 0) {
        if (candidate.span.end > candidates_[i - 1].span.end) continue;
        candidates_[i].span.end = candidates_[i - 1].span.end;
        continue;
      }
      ++kept;
      if (kept <= kFindingsPerRuleAndFile) {
        report.findings.push_back(finding_of(candidate));
      } else if (kept == kFindingsPerRuleAndFile + 1) {
        report.findings.push_back(overflow_finding(i));
      }
    }
    for (Finding& finding : other_findings_) report.findings.push_back(std::move(finding));
    std::sort(report.findings.begin(), report.findings.end());
    return report;
  }

  bool has_candidate(std::uint32_t rule) const {
    return std::any_of(candidates_.begin(), candidates_.end(), [&](const Candidate& c) { return c.rule == rule; });
  }
  bool holds(std::uint32_t fact) const { return !fact_places_[fact].empty(); }

 private:
  bool applies(const Rule& rule) const noexcept {
    switch (rule.tier) {
      case Tier::always:
      case Tier::banned:
        return true;
      case Tier::docker:
        return options_.tiers.docker;
      case Tier::host:
        return options_.tiers.host;
      case Tier::secret:
        return false;
    }
    return true;
  }

  static bool in_scope(const Rule& rule, std::string_view path) {
    if (rule.paths.empty()) return true;
    return std::any_of(rule.paths.begin(), rule.paths.end(),
                       [&](const std::string& glob) { return glob_matches(glob, path); });
  }

  Result<void> look_at(std::uint32_t index) {
    const SourceFile& file = files_[index];
    if (file.bytes.size() >= kFileBytesLimit) {
      return Error(ErrorCode::file_too_large, file.path + " is larger than guard can look at (1 GiB)");
    }
    if (const auto side = side_file(file.path)) {
      add_other(index, FindingTier::side_file, side->rule, side->title, side->fix, {}, false);
    }
    if (file.bytes.size() > options_.file_bytes_max) {
      add_other(index, FindingTier::encoding, "encoding.file_too_large",
                "the file is larger than what guard may be asked to read",
                "Split the file, or move data into a fixture that the test reads.", {}, false);
    }
    for (const EncodingFault& fault : check_encoding(file.bytes)) {
      add_other(index, FindingTier::encoding, fault.rule, fault.title, fault.fix, {fault.begin, fault.end}, true);
    }
    views_.build(file.bytes, file.path);
    add_reading_findings(index);
    for (const View view : kAllViews) {
      matches_.clear();
      GUARD_TRY(matcher_.scan(view, views_.view(view), scratch_, matches_).context("checking " + file.path));
      for (const Match& match : matches_) take(index, view, match);
    }
    take_api_keys(index);
    return ok();
  }

  void add_reading_findings(std::uint32_t index) {
    if (views_.undecidable()) {
      add_other(index, FindingTier::encoding, "encoding.undecidable",
                "text that can be read in too many ways to follow: unclosed quotes, templates or elements",
                "Close every string, template, comment and element.", {}, false);
    }
    if (!views_.escaped_names().empty()) {
      add_other(index, FindingTier::encoding, "encoding.escaped_name",
                "a name that hides plain letters behind \\u escapes", "Write the name in plain letters.",
                views_.escaped_names().front(), true);
    }
    if (!views_.byte_order_marks().empty()) {
      const std::size_t at = views_.byte_order_marks().front();
      add_other(index, FindingTier::encoding, "encoding.byte_order_mark",
                "an invisible byte order mark inside the code", "Remove it.", {at, at + 3}, true);
    }
  }

  void take(std::uint32_t index, View view, const Match& match) {
    if (match.is_fact) {
      const std::string_view text = views_.view(view).substr(match.begin, match.end - match.begin);
      if (rules_.facts()[match.index].id == kReadsVariable && reads_only_harmless(text, harmless_)) return;
      fact_places_[match.index].push_back({index, views_.original(view, match.begin, match.end)});
      return;
    }
    const Rule& rule = rules_.rules()[match.index];
    // Configurable names are looked for in take_api_keys().
    if (match.index == api_key_rule_ || !applies(rule) || !in_scope(rule, files_[index].path)) return;
    candidates_.push_back({index, match.index, views_.original(view, match.begin, match.end), match.confirmed});
  }

  // Whole names in code, and strings that are nothing but a name.
  void take_api_keys(std::uint32_t index) {
    if (api_key_rule_ == kNoRule || !applies(rules_.rules()[api_key_rule_])) return;
    for (const View view : {View::code, View::strings}) {
      const std::string_view text = views_.view(view);
      for (const std::string& name : options_.api_key_names) {
        if (name.empty()) continue;
        for (std::size_t at = text.find(name); at != std::string_view::npos; at = text.find(name, at + name.size())) {
          const char before = at > 0 ? text[at - 1] : '\n';
          const char behind = at + name.size() < text.size() ? text[at + name.size()] : '\n';
          const bool whole = view == View::code ? !is_name_byte(before) && !is_name_byte(behind)
                                                : before == '\x1d' && behind == '\x1f';
          if (whole) candidates_.push_back({index, api_key_rule_, views_.original(view, at, at + name.size()), true});
        }
      }
    }
  }

  std::uint32_t fact_index(const std::string& id) const {
    for (std::uint32_t i = 0; i < rules_.facts().size(); ++i) {
      if (rules_.facts()[i].id == id) return i;
    }
    return kNoRule;
  }

  bool all_hold(const std::vector<std::string>& ids) const {
    return std::all_of(ids.begin(), ids.end(), [&](const std::string& id) {
      const std::uint32_t index = fact_index(id);
      return index != kNoRule && holds(index);
    });
  }

  // Drops candidates whose preconditions don't hold anywhere, and adds those of rules that are made of facts.
  void weigh() {
    std::vector<bool> counts(rules_.rules().size(), true);
    for (std::uint32_t i = 0; i < rules_.rules().size(); ++i) {
      const Rule& rule = rules_.rules()[i];
      counts[i] = all_hold(rule.needs);
      if (!rule.all_of.empty() && counts[i] && applies(rule) && all_hold(rule.all_of)) {
        for (const Place& place : fact_places_[fact_index(rule.all_of.front())]) {
          if (in_scope(rule, files_[place.file].path)) candidates_.push_back({place.file, i, place.span, true});
        }
      }
    }
    candidates_.erase(
        std::remove_if(candidates_.begin(), candidates_.end(), [&](const Candidate& c) { return !counts[c.rule]; }),
        candidates_.end());
  }

  // "src/a.ts:3", where another fact of the rule was seen first.
  std::string other_place(const Rule& rule) const {
    const std::uint32_t fact = fact_index(rule.all_of.back());
    if (fact == kNoRule || fact_places_[fact].empty()) return {};
    const Place& place = fact_places_[fact].front();
    const SourceFile& file = files_[place.file];
    return rules_.facts()[fact].title + " at " + file.path + ":" +
           std::to_string(line_column(file.bytes, place.span.begin).line);
  }

  Finding finding_of(const Candidate& candidate) {
    const Rule& rule = rules_.rules()[candidate.rule];
    Finding finding;
    finding.rule = rule.id;
    finding.tier = finding_tier(rule.tier);
    finding.severity = rule.severity;
    finding.message = rule.title;
    if (!rule.all_of.empty()) finding.message += " (" + other_place(rule) + ")";
    finding.fix = rule.fix;
    finding.confirmed = candidate.confirmed;
    place(finding, candidate.file, candidate.span);
    return finding;
  }

  Finding overflow_finding(std::size_t first) {
    const Candidate& candidate = candidates_[first];
    std::size_t last = first;
    while (last < candidates_.size() && candidates_[last].file == candidate.file &&
           candidates_[last].rule == candidate.rule)
      ++last;
    Finding finding = finding_of(candidate);
    finding.message += "; up to " + std::to_string(last - first) + " more places in this file are not listed";
    return finding;
  }

  void place(Finding& finding, std::uint32_t index, TextSpan span) {
    const SourceFile& file = files_[index];
    finding.path = file.path;
    finding.begin = span.begin;
    finding.end = span.end;
    const LineColumn at = lines_of(index, span.begin);
    finding.line = at.line;
    finding.column = at.column;
    const Snippet snippet = make_snippet(file.bytes, span.begin, span.end);
    finding.excerpt = snippet.excerpt;
    finding.caret = snippet.caret;
    finding.caret_width = snippet.caret_width;
  }

  // line_column() reads from the beginning each time; candidates come in order, so the count goes on where it stopped.
  LineColumn lines_of(std::uint32_t index, std::size_t offset) {
    const std::string_view text = files_[index].bytes;
    if (index != counted_file_ || offset < counted_to_) {
      counted_file_ = index;
      counted_to_ = 0;
      counted_lines_ = 0;
    }
    // Go on from the beginning of the line that was reached last.
    const LineColumn step = line_column(text.substr(counted_to_), offset - counted_to_);
    LineColumn result = step;
    result.line += counted_lines_;
    const std::size_t line_begin = offset - (step.column - 1);
    counted_lines_ = result.line - 1;
    counted_to_ = line_begin;
    return result;
  }

  void add_other(std::uint32_t index, FindingTier tier, std::string_view rule, std::string_view title,
                 std::string_view fix, TextSpan span, bool has_place) {
    Finding finding;
    finding.rule = rule;
    finding.tier = tier;
    finding.message = title;
    finding.fix = fix;
    finding.path = files_[index].path;
    if (has_place) place(finding, index, span);
    other_findings_.push_back(std::move(finding));
  }

  static constexpr std::uint32_t kNoRule = UINT32_MAX;

  const RuleSet& rules_;
  const Matcher& matcher_;
  const ValidatorOptions& options_;
  const std::vector<std::string>& harmless_;
  const std::vector<SourceFile>& files_;
  std::uint32_t api_key_rule_ = kNoRule;
  Matcher::Scratch scratch_;
  SourceViews views_;
  std::vector<Match> matches_;
  std::vector<Candidate> candidates_;
  std::vector<Finding> other_findings_;
  std::vector<std::vector<Place>> fact_places_;
  std::uint32_t counted_file_ = kNoRule;
  std::size_t counted_to_ = 0;
  std::uint32_t counted_lines_ = 0;
};

}  // namespace validator_detail

bool Report::rejected() const noexcept {
  return std::any_of(findings.begin(), findings.end(), [](const Finding& f) { return f.severity == Severity::block; });
}

Validator::Validator(const RuleSet& rules, const Matcher& matcher, ValidatorOptions options)
    : rules_(rules), matcher_(matcher), options_(std::move(options)) {}

Result<Report> Validator::check(const std::vector<SourceFile>& files) const {
  validator_detail::Check check(rules_, matcher_, options_, files);
  GUARD_TRY(check.look());
  return check.report();
}

Result<bool> example_matches(const RuleSet& rules, const Matcher& matcher, const std::string& id,
                             const Example& example) {
  const ValidatorOptions options;
  const std::vector<SourceFile> files = {{example.path, example.text}};
  validator_detail::Check check(rules, matcher, options, files);
  GUARD_TRY(check.look());
  for (std::uint32_t i = 0; i < rules.rules().size(); ++i) {
    if (rules.rules()[i].id == id) return check.has_candidate(i);
  }
  for (std::uint32_t i = 0; i < rules.facts().size(); ++i) {
    if (rules.facts()[i].id == id) return check.holds(i);
  }
  return Error(ErrorCode::rules_invalid, "there is no rule or fact called " + id);
}

}  // namespace guard

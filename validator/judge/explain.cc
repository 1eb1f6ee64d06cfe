// The files are judged as Validator does it, while FileCheck notes all that it came across in the file in question. A
// rule without a finding at the line tells the first of these that is true: a hit at the line and what stood against
// it; facts at the line; a pattern that fits another reading of the line.
#include "validator/judge/explain.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "common/text/text.h"
#include "rules/matching/re2_matcher.h"
#include "validator/judge/cross_file_judge.h"
#include "validator/views/source_view.h"

namespace guard {
namespace {

// Of each line of a text: where it begins.
std::vector<std::size_t> begins_of_lines(std::string_view text) {
  std::vector<std::size_t> begins = {0};
  for (std::size_t at = 0; at < text.size(); ++at) {
    if (text[at] == '\n' || (text[at] == '\r' && !text.substr(at + 1).starts_with('\n'))) begins.push_back(at + 1);
  }
  return begins;
}

class Explainer {
 public:
  Explainer(const RuleSet& rules, const ValidatorOptions& options, const std::vector<SourceFile>& files,
      std::size_t file, Explanation& result)
      : rules_(rules),
        options_(options),
        files_(files),
        file_(static_cast<std::uint32_t>(file)),
        line_(result.line),
        begins_(begins_of_lines(files[file].bytes)),
        hits_(files.size()),
        result_(result) {}

  Result<void> explain(const Matcher& matcher) {
    const SourceFile& file = files_[file_];
    if (line_ > begins_.size()) {
      return Error(ErrorCode::input_invalid,
          fmt::format("{} has {} lines, not {}", printable(file.path), begins_.size(), line_));
    }
    FileCheck check(rules_, matcher, options_);
    for (std::size_t i = 0; i < files_.size(); ++i) {
      check.note_sightings(i == file_ ? &sightings_ : nullptr);
      GUARD_TRY(check.look_at(files_[i].path, files_[i].bytes, hits_[i]));
    }
    const CrossFileJudge judge(rules_, hits_, options_.module_names);
    judge.append_findings(file_, result_.report.findings);
    std::sort(result_.report.findings.begin(), result_.report.findings.end());
    SourceViews views;
    views.build(file.bytes, file.path);
    add_lines(views);
    for (const View view : {View::strings, View::commands, View::uses}) add_entries(view, views);
    add_findings();
    const std::vector<RuleStory> fired = result_.rules;
    for (std::uint32_t i = 0; i < rules_.rules().size(); ++i) {
      const Rule& rule = rules_.rules()[i];
      const auto is_this = [&](const RuleStory& story) { return story.rule == rule.id; };
      if (rule.tier == Tier::secret || std::any_of(fired.begin(), fired.end(), is_this)) continue;
      RuleStory story{rule.id, Story::fired, {}, {}, {}};
      if (!tell_hit(i, judge, story) && !tell_facts(rule, judge, story)) GUARD_TRY(tell_near_miss(rule, story));
      if (!story.sentence.empty()) result_.rules.push_back(std::move(story));
    }
    std::stable_sort(result_.rules.begin(), result_.rules.end(),
        [](const RuleStory& a, const RuleStory& b) { return a.story < b.story; });
    return ok();
  }

 private:
  std::uint32_t line_of(std::size_t offset) const {
    return static_cast<std::uint32_t>(std::upper_bound(begins_.begin(), begins_.end(), offset) - begins_.begin());
  }
  bool at_line(TextSpan span) const {
    return line_ == 0 || (line_of(span.begin) <= line_ && line_ <= line_of(std::max(span.begin + 1, span.end) - 1));
  }

  // ---- readings ----

  // The code view has no lines of its own; neighbours that come from one line are one piece.
  void add_lines(const SourceViews& views) {
    for (const std::size_t begin : begins_) {
      const std::string_view text = line_at(files_[file_].bytes, begin);
      const TextSpan span{begin, begin + text.size()};
      if (at_line({begin, begin}) && (line_ != 0 || !text.empty()))
        result_.pieces.push_back({View::raw, std::string(text), {}, line_of(begin), span.begin, span.end});
    }
    const std::string_view code = views.view(View::code);
    const auto line_at_place = [&](std::size_t at) { return line_of(views.original(View::code, at, at + 1).begin); };
    for (std::size_t at = 0, end = 0; at < code.size(); at = end) {
      const std::uint32_t line = line_at_place(at);
      for (end = at + 1; end < code.size() && line_at_place(end) == line;) ++end;
      std::string text(code.substr(at, end - at));
      std::replace(text.begin(), text.end(), '\n', ' ');
      const auto is_known = [&](const ViewPiece& piece) { return piece.view == View::code && piece.text == text; };
      // Between two readings of the file stands a semicolon.
      if (text.find_first_not_of(" ;") == std::string::npos || (line_ != 0 && line != line_) ||
          (line_ != 0 && std::any_of(result_.pieces.begin(), result_.pieces.end(), is_known)))
        continue;
      const TextSpan span = views.original(View::code, at, end);
      result_.pieces.push_back({View::code, std::move(text), {}, line, span.begin, span.end});
    }
  }

  // Views that are made of entries: 0x1e .. 0x1f. Those of strings begin with the function that they are handed to.
  void add_entries(View view, const SourceViews& views) {
    const std::string_view text = views.view(view);
    for (std::size_t at = text.find('\x1e'); at != std::string_view::npos; at = text.find('\x1e', at + 1)) {
      const std::size_t end = text.find('\x1f', at);
      if (end == std::string_view::npos) break;
      const std::size_t begin = view == View::strings ? text.find('\x1d', at) + 1 : at + 1;
      if (begin == 0 || begin > end) continue;
      const TextSpan span = views.original(view, begin, end);
      if (!at_line(span)) continue;
      std::string callee(begin > at + 1 ? text.substr(at + 1, begin - at - 2) : std::string_view());
      result_.pieces.push_back({view, std::string(text.substr(begin, end - begin)), std::move(callee),
          line_of(span.begin), span.begin, span.end});
    }
  }

  // ---- stories ----

  void add_findings() {
    for (const Finding& finding : result_.report.findings) {
      if (finding.line != 0 && !at_line({finding.begin, finding.end})) continue;
      auto story = std::find_if(result_.rules.begin(), result_.rules.end(),
          [&](const RuleStory& known) { return known.rule == finding.rule; });
      if (story == result_.rules.end())
        story = result_.rules.insert(story, {finding.rule, Story::fired, finding.message, {}, {}});
      const Reading& reading = finding.reading;
      if (story->reading.empty()) story->reading = reading.text.substr(reading.begin, reading.end - reading.begin);
      if (finding.line != 0 && (story->lines.empty() || story->lines.back() != finding.line))
        story->lines.push_back(finding.line);
    }
  }

  // "fact.x (title) at a.ts:3; fact.y (title) nowhere in this file".
  std::string facts_text(const std::vector<std::string>& ids, const CrossFileJudge& judge) const {
    std::vector<std::string> texts;
    for (const std::string& id : ids) {
      const Fact* const fact = rules_.find_fact(id);
      const auto index = static_cast<std::uint32_t>(fact - rules_.facts().data());
      std::string place = files_.size() == 1 ? "nowhere in this file, and no other was named"
                                             : "nowhere in this file or in one that it loads";
      if (judge.holds(file_, index)) {
        const FileHits& holder = hits_[judge.holder(file_, index)];
        place = fmt::format("at {}:{}", holder.path, holder.facts[index].line);
      }
      texts.push_back(fmt::format("{} ({}) {}", id, fact->title, place));
    }
    return fmt::format("{}", fmt::join(texts, "; "));
  }

  // What stands against every hit of the rule in this file.
  bool tell_limit(const Rule& rule, RuleStory& story) const {
    if (!applies(rule, options_.tiers)) {
      story.story = Story::tier_off;
      story.sentence = fmt::format("the tier {} does not apply in this mode", to_string(rule.tier));
    } else if (!in_scope(rule, files_[file_].path)) {
      story.story = Story::out_of_scope;
      story.sentence = fmt::format("the rule looks only at {}", fmt::join(rule.paths, ", "));
    }
    return !story.sentence.empty();
  }

  bool tell_hit(std::uint32_t index, const CrossFileJudge& judge, RuleStory& story) const {
    const bool here = std::any_of(sightings_.begin(), sightings_.end(),
        [&](const Sighting& seen) { return !seen.is_fact && seen.index == index && at_line(seen.span); });
    const Rule& rule = rules_.rules()[index];
    if (!here || tell_limit(rule, story)) return here;
    const bool counts = judge.counts(file_, index);
    story.story = counts ? Story::merged : Story::needs_fact;
    story.sentence = counts ? "the hit is part of one that is reported elsewhere, or one of too many"
                            : "it counts only together with " + facts_text(rule.needs, judge);
    return true;
  }

  bool tell_facts(const Rule& rule, const CrossFileJudge& judge, RuleStory& story) const {
    std::array<bool, 2> here{};  // counted, harmless
    for (const Sighting& seen : sightings_) {
      if (!seen.is_fact || !at_line(seen.span)) continue;
      const auto& ids = rule.all_of;
      here[seen.harmless] |= std::find(ids.begin(), ids.end(), rules_.facts()[seen.index].id) != ids.end();
    }
    if (here[false] && !tell_limit(rule, story)) {
      story.story = Story::half;
      story.sentence = "it takes all of: " + facts_text(rule.all_of, judge);
    } else if (!here[false] && here[true]) {
      story.story = Story::harmless;
      story.sentence =
          "what is named here is on the list of harmless variables ([check] two_hit_ignore), or the file sets it "
          "itself";
    }
    return here[false] || here[true];
  }

  // Patterns tried on readings of the line that they do not look at.
  Result<void> tell_near_miss(const Rule& rule, RuleStory& story) const {
    // The patterns of this rule are examples of names only.
    for (const std::string& name : options_.api_key_names) {
      const auto has_name = [&](const ViewPiece& piece) { return piece.text.find(name) != std::string::npos; };
      if (rule.id != kApiKeyRule || line_ == 0 || name.empty()) continue;
      if (std::none_of(result_.pieces.begin(), result_.pieces.end(), has_name)) continue;
      story.story = Story::other_view;
      story.sentence = name + " stands in a comment, or is part of a longer name or text";
      return ok();
    }
    for (std::size_t i = 0; i < rule.patterns.size() && line_ != 0 && story.sentence.empty(); ++i) {
      const std::vector<View>& views = rule.patterns[i].views;
      GUARD_TRY_ASSIGN(const Re2Matcher exact, Re2Matcher::create(rule.patterns[i].regex));
      for (const ViewPiece& piece : result_.pieces) {
        const bool entry = piece.view != View::raw && piece.view != View::code;
        const std::string text = entry
            ? fmt::format("\x1e{}{}{}\x1f", piece.callee, piece.view == View::strings ? "\x1d" : "", piece.text)
            : piece.text;
        ExactSpan span;
        GUARD_TRY_ASSIGN(const bool found, exact.find(text, 0, text.size(), 0, span));
        if (!found || std::find(views.begin(), views.end(), piece.view) != views.end()) continue;
        std::vector<std::string_view> names(views.size());
        std::transform(views.begin(), views.end(), names.begin(), [](View view) { return to_string(view); });
        story.story = Story::other_view;
        story.sentence = fmt::format("a pattern fits the {}, but it looks at {} only{}",
            piece.view == View::raw ? "line as it is written" : fmt::format("view {}", to_string(piece.view)),
            fmt::join(names, " and "),
            piece.view == View::raw
                ? ": there the words are not, because they stand in a comment or a string, or mean something else"
                : "");
        break;
      }
    }
    return ok();
  }

  const RuleSet& rules_;
  const ValidatorOptions& options_;
  const std::vector<SourceFile>& files_;
  std::uint32_t file_;
  std::uint32_t line_;
  std::vector<std::size_t> begins_;
  std::vector<FileHits> hits_;
  std::vector<Sighting> sightings_;
  Explanation& result_;
};

}  // namespace

std::string_view to_string(Story story) noexcept {
  constexpr std::array<std::string_view, 9> kNames = {
      "fired", "waived", "merged", "tier_off", "out_of_scope", "needs_fact", "half", "harmless", "other_view"};
  return kNames[static_cast<std::size_t>(story)];
}

Result<Explanation> explain(const RuleSet& rules, const Matcher& matcher, const ValidatorOptions& options,
    const std::vector<SourceFile>& files, std::size_t file, std::uint32_t line) {
  Explanation result;
  result.path = files[file].path;
  result.line = line;
  result.files = files.size();
  GUARD_TRY(Explainer(rules, options, files, file, result).explain(matcher));
  return result;
}

}  // namespace guard

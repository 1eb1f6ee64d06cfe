// Every file is scanned for facts; of the file in question all hits are kept, whatever becomes of them. Each rule then
// tells the first of these that is true: a finding at the line; a hit at the line and what stood against it; facts at
// the line; hits at other lines; a pattern that fits another reading of the line. Two engines are not compared here:
// the findings are Validator's, the rest is advice.
#include "validator/judge/explain.h"

#include <algorithm>
#include <map>

#include "common/text/glob.h"
#include "common/text/text.h"
#include "rules/matching/re2_matcher.h"
#include "validator/judge/cross_file_judge.h"
#include "validator/judge/two_hit.h"
#include "validator/views/source_view.h"

namespace guard {
namespace {

constexpr std::size_t kLinesMax = 20;  // that a story lists

// Lines of a text by offset, each question in logarithmic time.
class Lines {
 public:
  explicit Lines(std::string_view text) : text_(text) {
    for (std::size_t at = 0; at < text.size(); ++at) {
      const bool end = text[at] == '\n' || (text[at] == '\r' && (at + 1 == text.size() || text[at + 1] != '\n'));
      if (end) begins_.push_back(at + 1);
    }
  }
  std::uint32_t of(std::size_t offset) const {
    return static_cast<std::uint32_t>(std::upper_bound(begins_.begin(), begins_.end(), offset) - begins_.begin());
  }
  std::uint32_t count() const { return static_cast<std::uint32_t>(begins_.size()); }
  std::size_t begin(std::uint32_t line) const { return begins_[line - 1]; }
  std::string_view text(std::uint32_t line) const { return line_at(text_, begins_[line - 1]); }

 private:
  std::string_view text_;
  std::vector<std::size_t> begins_ = {0};
};

struct Place {
  std::size_t file = 0;
  std::uint32_t first = 0;  // lines
  std::uint32_t last = 0;
  bool harmless = false;
};

bool covers(const Place& place, std::uint32_t line) { return line == 0 || (place.first <= line && line <= place.last); }

std::string join(const std::vector<std::uint32_t>& lines) {
  std::string text;
  for (const auto line : lines) text += (text.empty() ? "" : ", ") + std::to_string(line);
  return text;
}

void add_line(std::vector<std::uint32_t>& lines, std::uint32_t line) {
  if (lines.size() < kLinesMax && (lines.empty() || lines.back() != line)) lines.push_back(line);
}

std::string names_of(const std::vector<View>& views) {
  std::string text;
  for (const View view : views) text += (text.empty() ? "" : " and ") + std::string(to_string(view));
  return text;
}

class Explainer {
 public:
  Explainer(const RuleSet& rules, const Matcher& matcher, const ValidatorOptions& options,
      const std::vector<SourceFile>& files, std::size_t file, std::uint32_t line)
      : rules_(rules),
        matcher_(matcher),
        options_(options),
        harmless_(rules, options),
        files_(files),
        file_(file),
        line_(line),
        lines_(files[file].bytes),
        hits_(rules.rules().size()),
        facts_(rules.facts().size()) {}

  Result<Explanation> explain() {
    if (line_ > lines_.count()) {
      return Error(ErrorCode::input_invalid,
          printable(files_[file_].path) + " has " + std::to_string(lines_.count()) + " lines, not " +
              std::to_string(line_));
    }
    Explanation result;
    result.path = files_[file_].path;
    result.line = line_;
    result.files = files_.size();
    GUARD_TRY_ASSIGN(result.report, Validator(rules_, matcher_, options_).check(files_));
    GUARD_TRY_ASSIGN(const std::vector<bool> loaded, judged_with());
    for (std::size_t i = 0; i < files_.size(); ++i) {
      if (i != file_ && loaded[i]) GUARD_TRY(look_at(i));
    }
    // Last, so that its views stay.
    GUARD_TRY(look_at(file_));
    add_pieces(result.pieces);
    pieces_ = &result.pieces;
    tell_other_findings(result);
    for (std::size_t i = 0; i < rules_.rules().size(); ++i) {
      if (rules_.rules()[i].tier == Tier::secret) continue;
      GUARD_TRY_ASSIGN(RuleStory story, story_of(i, result.report));
      result.rules.push_back(std::move(story));
    }
    std::stable_sort(result.rules.begin(), result.rules.end(),
        [](const RuleStory& a, const RuleStory& b) { return a.story < b.story; });
    return result;
  }

 private:
  // By file: is the one in question judged with it?
  Result<std::vector<bool>> judged_with() {
    std::vector<FileHits> hits(files_.size());
    FileCheck file_check(rules_, matcher_, options_);
    for (std::size_t i = 0; i < files_.size(); ++i)
      GUARD_TRY(file_check.look_at(files_[i].path, files_[i].bytes, hits[i]));
    return loaded_by({static_cast<std::uint32_t>(file_)}, loading_files(hits), options_.module_names);
  }

  Result<void> look_at(std::size_t index) {
    const SourceFile& file = files_[index];
    const Lines lines(file.bytes);
    views_.build(file.bytes, file.path);
    harmless_.begin(views_);
    for (const View view : kAllViews) {
      std::vector<Match> matches;
      GUARD_TRY(matcher_.scan(view, views_.view(view), scratch_, matches).context("explaining " + file.path));
      for (const Match& match : matches) {
        const TextSpan span = views_.original(view, match.begin, match.end);
        Place place{
            index, lines.of(span.begin), lines.of(std::max(span.begin, span.end - (span.end > 0 ? 1 : 0))), false};
        if (match.is_fact) {
          place.harmless = harmless_.contains(view, match);
          if (place.harmless && harmless_.is_mere_read(view, match)) continue;
          facts_[match.index].push_back(place);
        } else if (index == file_) {
          hits_[match.index].push_back(place);
        }
      }
    }
    return ok();
  }

  // ---- readings ----

  bool wanted(std::uint32_t first, std::uint32_t last) const { return line_ == 0 || (first <= line_ && line_ <= last); }

  void add_pieces(std::vector<ViewPiece>& pieces) const {
    const std::string_view bytes = files_[file_].bytes;
    for (std::uint32_t line = 1; line <= lines_.count(); ++line) {
      if (!wanted(line, line)) continue;
      const std::string_view text = lines_.text(line);
      const std::size_t begin = lines_.begin(line);
      if (!text.empty() || line_ != 0) {
        pieces.push_back({View::raw, std::string(text), {}, line, begin, std::min(bytes.size(), begin + text.size())});
      }
    }
    add_code(pieces);
    for (const View view : {View::strings, View::commands, View::uses}) add_entries(view, pieces);
  }

  // The code view has no lines of its own; neighbours that come from one line are one piece.
  void add_code(std::vector<ViewPiece>& pieces) const {
    const std::string_view code = views_.view(View::code);
    const std::size_t first_piece = pieces.size();
    for (std::size_t at = 0; at < code.size();) {
      const std::uint32_t line = lines_.of(views_.original(View::code, at, at + 1).begin);
      std::size_t end = at + 1;
      while (end < code.size() && lines_.of(views_.original(View::code, end, end + 1).begin) == line) ++end;
      if (wanted(line, line)) {
        const TextSpan span = views_.original(View::code, at, end);
        std::string text(code.substr(at, end - at));
        std::replace(text.begin(), text.end(), '\n', ' ');
        const bool known = std::any_of(pieces.begin() + static_cast<std::ptrdiff_t>(first_piece), pieces.end(),
            [&](const ViewPiece& piece) { return piece.line == line && piece.text == text; });
        // Between two readings of the file stands a semicolon.
        const bool blank = text.find_first_not_of(" ;") == std::string::npos;
        if (!blank && (line_ == 0 || !known))
          pieces.push_back({View::code, std::move(text), {}, line, span.begin, span.end});
      }
      at = end;
    }
  }

  // Views that are made of entries: 0x1e .. 0x1f. Those of strings begin with the function that they are handed to.
  void add_entries(View view, std::vector<ViewPiece>& pieces) const {
    const std::string_view text = views_.view(view);
    for (std::size_t at = text.find('\x1e'); at != std::string_view::npos; at = text.find('\x1e', at + 1)) {
      const std::size_t end = text.find('\x1f', at);
      if (end == std::string_view::npos) break;
      std::size_t begin = at + 1;
      std::string callee;
      if (view == View::strings) {
        const std::size_t mark = text.find('\x1d', at);
        if (mark == std::string_view::npos || mark > end) continue;
        callee = text.substr(begin, mark - begin);
        begin = mark + 1;
      }
      const TextSpan span = views_.original(view, begin, end);
      const std::uint32_t first = lines_.of(span.begin);
      const std::uint32_t last = lines_.of(std::max(span.begin, span.end - (span.end > span.begin ? 1 : 0)));
      if (!wanted(first, last)) continue;
      pieces.push_back(
          {view, std::string(text.substr(begin, end - begin)), std::move(callee), first, span.begin, span.end});
    }
  }

  // ---- stories ----

  bool is_at_line(const Finding& finding) const {
    if (finding.path != files_[file_].path) return false;
    if (line_ == 0 || finding.line == 0) return true;
    const std::uint32_t last = lines_.of(finding.end > finding.begin ? finding.end - 1 : finding.begin);
    return finding.line <= line_ && line_ <= std::max(last, finding.line);
  }

  // What no rule of the set makes: encodings, side files.
  void tell_other_findings(Explanation& result) const {
    for (const Finding& finding : result.report.findings) {
      if (!is_at_line(finding) || rules_.find(finding.rule) != nullptr) continue;
      RuleStory story{finding.rule, Story::fired, finding.message, {}, {}};
      if (finding.line > 0) story.lines.push_back(finding.line);
      result.rules.push_back(std::move(story));
    }
  }

  const std::vector<Place>* places_of(const std::string& fact) const {
    for (std::size_t i = 0; i < rules_.facts().size(); ++i) {
      if (rules_.facts()[i].id == fact) return &facts_[i];
    }
    return nullptr;
  }

  static const Place* counted(const std::vector<Place>* places) {
    if (places == nullptr) return nullptr;
    const auto found = std::find_if(places->begin(), places->end(), [](const Place& place) { return !place.harmless; });
    return found == places->end() ? nullptr : &*found;
  }

  std::string place_text(const Place& place) const {
    return files_[place.file].path + ":" + std::to_string(place.first);
  }

  std::string in_files() const {
    return files_.size() == 1 ? "in this file, and no other was named" : "in this file or in one that it loads";
  }

  // "fact.x (title) at a.ts:3", or that it is seen nowhere.
  std::string fact_text(const std::string& id) const {
    const Fact* fact = rules_.find_fact(id);
    std::string text = id + (fact == nullptr ? "" : " (" + fact->title + ")");
    const auto* places = places_of(id);
    if (const Place* place = counted(places)) return text + " at " + place_text(*place);
    if (places != nullptr && !places->empty()) {
      return text + " only with harmless variables, at " + place_text(places->front());
    }
    return text + " nowhere " + in_files();
  }

  std::string facts_text(const std::vector<std::string>& ids) const {
    std::string text;
    for (const auto& id : ids) text += (text.empty() ? "" : "; ") + fact_text(id);
    return text;
  }

  bool all_hold(const std::vector<std::string>& ids) const {
    return std::all_of(
        ids.begin(), ids.end(), [&](const std::string& id) { return counted(places_of(id)) != nullptr; });
  }

  // What stands between a hit of the rule and a finding; empty sentence: nothing.
  std::pair<Story, std::string> obstacle(const Rule& rule) const {
    const bool off =
        (rule.tier == Tier::docker && !options_.tiers.docker) || (rule.tier == Tier::host && !options_.tiers.host);
    if (off) return {Story::tier_off, "the tier " + std::string(to_string(rule.tier)) + " does not apply in this mode"};
    const bool in_scope = rule.paths.empty() ||
        std::any_of(rule.paths.begin(), rule.paths.end(),
            [&](const std::string& glob) { return glob_matches(glob, files_[file_].path); });
    if (!in_scope) {
      std::string globs;
      for (const auto& glob : rule.paths) globs += (globs.empty() ? "" : ", ") + glob;
      return {Story::out_of_scope, "the rule looks only at " + globs};
    }
    if (!all_hold(rule.needs)) return {Story::needs_fact, "it counts only together with " + facts_text(rule.needs)};
    return {Story::merged, {}};
  }

  Result<RuleStory> story_of(std::size_t index, const Report& report) const {
    const Rule& rule = rules_.rules()[index];
    RuleStory story{rule.id, Story::unmatched, {}, {}, {}};
    std::vector<std::uint32_t> others;  // findings of the rule at other lines of the file
    for (const Finding& finding : report.findings) {
      if (finding.rule != rule.id || finding.path != files_[file_].path) continue;
      if (!is_at_line(finding)) {
        add_line(others, finding.line);
        continue;
      }
      story.story = Story::fired;
      story.sentence = finding.message;
      if (story.reading.empty() && !finding.reading.empty()) {
        story.reading = finding.reading.text.substr(finding.reading.begin, finding.reading.end - finding.reading.begin);
      }
      add_line(story.lines, finding.line);
    }
    if (story.story == Story::fired) return story;
    if (!rule.all_of.empty() && tell_facts(rule, others, story)) return story;

    const auto& hits = hits_[index];
    const auto [blocked, why] = obstacle(rule);
    const auto here = std::find_if(hits.begin(), hits.end(), [&](const Place& place) { return covers(place, line_); });
    const bool by_name = rule.id == kApiKeyRule;  // its own patterns are only examples of names
    if (here != hits.end() && !by_name) {
      story.story = blocked;
      story.sentence = !why.empty() ? why
          : others.empty()          ? "the hit is folded into another one of the same rule"
                           : "the hit is part of what is reported at line " + join(others) + ", or one of too many";
      return story;
    }
    GUARD_TRY_ASSIGN(story.sentence, by_name ? Result<std::string>(near_name()) : near_miss(rule));
    if (!story.sentence.empty()) {
      story.story = Story::other_view;
      story.lines = others;
      return story;
    }
    if (!others.empty() || (!hits.empty() && !by_name)) {
      story.story = Story::elsewhere;
      story.lines = others;
      if (others.empty()) {
        for (const Place& place : hits) add_line(story.lines, place.first);
      }
      story.sentence = others.empty()
          ? "matched at line " + join(story.lines) + ", but " + (why.empty() ? "folded into another hit" : why)
          : "fires at line " + join(others);
    }
    return story;
  }

  // True if this line holds one of the facts that the rule is made of.
  bool tell_facts(const Rule& rule, const std::vector<std::uint32_t>& others, RuleStory& story) const {
    bool here = false;
    bool only_harmless = true;
    bool any_harmless = false;
    for (const auto& id : rule.all_of) {
      const auto* places = places_of(id);
      if (places == nullptr) continue;
      for (const Place& place : *places) {
        if (place.file != file_ || !covers(place, line_)) continue;
        here = true;
        only_harmless = only_harmless && place.harmless;
        any_harmless = any_harmless || place.harmless;
      }
    }
    if (!here) return false;
    if (only_harmless) {
      story.story = Story::harmless;
      story.sentence =
          "what is named here is on the list of harmless variables ([check] two_hit_ignore), or the file sets it "
          "itself";
      return true;
    }
    const auto [blocked, why] = obstacle(rule);
    story.story = Story::half;
    story.lines = others;
    story.sentence = !why.empty() && all_hold(rule.all_of) ? why : "it takes all of: " + facts_text(rule.all_of);
    if (!why.empty() && all_hold(rule.all_of)) story.story = blocked;
    if (any_harmless) story.sentence += "; a variable that is read here is on the harmless list";
    return true;
  }

  // Names of keys count as whole names only.
  std::string near_name() const {
    if (line_ == 0) return {};
    const std::string_view text = lines_.text(line_);
    for (const auto& name : options_.api_key_names) {
      if (name.empty() || text.find(name) == std::string_view::npos) continue;
      return name + " stands in a comment, or is part of a longer name or text";
    }
    return {};
  }

  // Patterns tried on readings of the line that they do not look at; empty where none fits.
  Result<std::string> near_miss(const Rule& rule) const {
    if (line_ == 0) return std::string();
    for (const Pattern& pattern : rule.patterns) {
      GUARD_TRY_ASSIGN(const Re2Matcher exact, Re2Matcher::create(pattern.regex));
      for (const ViewPiece& piece : *pieces_) {
        if (std::find(pattern.views.begin(), pattern.views.end(), piece.view) != pattern.views.end()) continue;
        std::string text = piece.text;
        if (piece.view == View::strings) text = "\x1e" + piece.callee + "\x1d" + text + "\x1f";
        if (piece.view == View::commands || piece.view == View::uses) text = "\x1e" + text + "\x1f";
        ExactSpan span;
        GUARD_TRY_ASSIGN(const bool found, exact.find(text, 0, text.size(), 0, span));
        if (!found) continue;
        const std::string where = piece.view == View::raw ? std::string("the line as it is written")
                                                          : "the view " + std::string(to_string(piece.view));
        return "a pattern fits " + where + ", but it looks at " + names_of(pattern.views) + " only" +
            (piece.view == View::raw
                    ? ": there the words are not, because they stand in a comment or a string, or mean something else"
                    : "");
      }
    }
    return std::string();
  }

  const RuleSet& rules_;
  const Matcher& matcher_;
  const ValidatorOptions& options_;
  HarmlessHits harmless_;
  const std::vector<SourceFile>& files_;
  std::size_t file_;
  std::uint32_t line_;
  Lines lines_;
  Matcher::Scratch scratch_;
  SourceViews views_;
  std::vector<std::vector<Place>> hits_;   // by rule, of the file in question
  std::vector<std::vector<Place>> facts_;  // by fact, of all files
  const std::vector<ViewPiece>* pieces_ = nullptr;
};

}  // namespace

std::string_view to_string(Story story) noexcept {
  switch (story) {
    case Story::fired: return "fired";
    case Story::waived: return "waived";
    case Story::merged: return "merged";
    case Story::tier_off: return "tier_off";
    case Story::out_of_scope: return "out_of_scope";
    case Story::needs_fact: return "needs_fact";
    case Story::half: return "half";
    case Story::harmless: return "harmless";
    case Story::other_view: return "other_view";
    case Story::elsewhere: return "elsewhere";
    case Story::unmatched: return "unmatched";
  }
  return "unmatched";
}

Result<Explanation> explain(const RuleSet& rules, const Matcher& matcher, const ValidatorOptions& options,
    const std::vector<SourceFile>& files, std::size_t file, std::uint32_t line) {
  return Explainer(rules, matcher, options, files, file, line).explain();
}

}  // namespace guard

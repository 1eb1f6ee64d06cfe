// How it works. The views are built once and scanned once. Hits are merged per rule: what several views or patterns
// found at one place is one hit, and of a rule that hits everywhere only the first places are listed.
#include "validator/judge/file_check.h"

#include <algorithm>
#include <tuple>

#include "common/text/glob.h"
#include "common/text/text.h"
#include "validator/judge/binary_fixture.h"
#include "validator/judge/encoding_check.h"
#include "validator/judge/harmless_variables.h"
#include "validator/judge/own_folders.h"
#include "validator/lex/js_lexer.h"
#include "validator/lex/line_counter.h"
#include "validator/side_files.h"
#include "validator/values/known_names.h"

namespace guard {
namespace {

constexpr std::uint32_t kHitsPerRuleMax = 100;
constexpr std::uint32_t kReadingsPerFileMax = 64;      // they are kept until all files were looked at
constexpr std::uint64_t kFileBytesLimit = 1ULL << 30;  // offsets are 32 bits wide

void count(LineCounter& lines, Place& place) {
  const LineColumn at = lines.at(place.span.begin);
  place.line = at.line;
  place.column = at.column;
}

}  // namespace

void set_place(Finding& finding, const Place& place) noexcept {
  finding.line = place.line;
  finding.column = place.column;
  finding.begin = place.span.begin;
  finding.end = place.span.end;
}

bool applies(const Rule& rule, TierSet tiers) noexcept {
  switch (rule.tier) {
    case Tier::always:
    case Tier::banned: return true;
    case Tier::docker: return tiers.docker;
    case Tier::host: return tiers.host;
    case Tier::secret: return false;
  }
  return true;
}

bool in_scope(const Rule& rule, std::string_view path) {
  return rule.paths.empty() || std::any_of(rule.paths.begin(), rule.paths.end(), [path](const std::string& glob) {
    return glob_matches(glob, path);
  });
}

FileCheck::FileCheck(const RuleSet& rules, const Matcher& matcher, const ValidatorOptions& options)
    : rules_(rules),
      matcher_(matcher),
      options_(options),
      harmless_(rules, options),
      rules_of_fact_(rules.facts().size()),
      applies_(rules.rules().size()),
      in_scope_(rules.rules().size()) {
  for (std::uint32_t fact = 0; fact < rules.facts().size(); ++fact) {
    if (rules.facts()[fact].id == kNamesFileFact) names_file_ = fact;
  }
  for (std::uint32_t i = 0; i < rules.rules().size(); ++i) {
    const Rule& rule = rules.rules()[i];
    if (rule.id == kSecretWordRule) secret_word_rule_ = i;
    if (rule.id == kSecretCommandRule) secret_command_rule_ = i;
    if (rule.id == kRemoveRule) remove_rule_ = i;
    if (rule.id == kRemoveMethodRule) remove_method_rule_ = i;
    applies_[i] = applies(rule, options.tiers);
    if (rule.id == kApiKeyRule) api_key_rule_ = i;
    if (rule.all_of.empty() || !applies_[i]) continue;
    for (std::uint32_t fact = 0; fact < rules.facts().size(); ++fact) {
      if (rules.facts()[fact].id == rule.all_of.front()) rules_of_fact_[fact].push_back(i);
    }
  }
}

Result<void> FileCheck::look_at(const std::string& path, std::string_view bytes, FileHits& hits) {
  bytes_ = bytes;
  out_ = &hits;
  hits.path = path;
  hits.hits.clear();
  hits.facts.clear();
  hits.loads.clear();
  hits.findings.clear();
  candidates_.clear();
  places_.clear();
  readings_ = 0;
  removes_only_own_.reset();
  written_.reset();
  std::fill(in_scope_.begin(), in_scope_.end(), std::int8_t{-1});

  if (bytes.size() >= kFileBytesLimit) {
    return Error(ErrorCode::file_too_large, path + " is larger than guard can look at (1 GiB)");
  }
  if (const auto side = side_file(path)) {
    add_finding(FindingTier::side_file, side->rule, side->title, side->fix, {}, false);
  }
  if (bytes.size() > options_.file_bytes_max) {
    add_finding(FindingTier::encoding, "encoding.file_too_large",
        "the file is larger than what guard may be asked to read",
        "Split the file, or move data into a fixture that the test reads.", {}, false);
  }
  const bool is_fixture = is_binary_fixture(path, bytes);
  if (!is_fixture) {
    for (const EncodingFault& fault : check_encoding(bytes)) {
      add_finding(FindingTier::encoding, fault.rule, fault.title, fault.fix, {fault.begin, fault.end}, true);
    }
  }
  views_.build(bytes, path);
  harmless_.begin(views_);
  hits.exports = views_.view(View::code).find("export") != std::string_view::npos;
  if (is_fixture) {
    GUARD_TRY(look_at_fixture());
  } else {
    add_reading_findings();
  }
  for (const View view : kAllViews) {
    matches_.clear();
    GUARD_TRY(matcher_.scan(view, views_.view(view), scratch_, matches_).context("checking " + path));
    for (const Match& match : matches_) take(view, match);
  }
  take_api_keys();
  list_facts();
  list_loads();
  list_hits();
  if (bytes.size() > kMemoryKeptFor) views_ = SourceViews();
  return ok();
}

// Nobody knows where a program in it would begin, so what must never stand anywhere is looked for in the bytes as they
// are, beside the views, which read them from the beginning.
Result<void> FileCheck::look_at_fixture() {
  for (const View view : {View::code, View::strings}) {
    matches_.clear();
    GUARD_TRY(matcher_.scan(view, bytes_, scratch_, matches_).context("checking " + out_->path));
    for (const Match& match : matches_) {
      if (match.is_fact || !wanted(match.index)) continue;
      const Tier tier = rules_.rules()[match.index].tier;
      if (tier != Tier::always && tier != Tier::banned) continue;
      candidates_.push_back({match.index, {{match.begin, match.end}}, 0, match.confirmed, {}});
    }
  }
  return ok();
}

void FileCheck::add_reading_findings() {
  if (views_.undecidable()) {
    add_finding(FindingTier::encoding, "encoding.undecidable",
        "text that can be read in too many ways to follow: unclosed quotes, templates or elements",
        "Close every string, template, comment and element.", {}, false);
  }
  if (!views_.escaped_names().empty()) {
    add_finding(FindingTier::encoding, "encoding.escaped_name", "a name that hides plain letters behind \\u escapes",
        "Write the name in plain letters.", views_.escaped_names().front(), true);
  }
  if (!views_.byte_order_marks().empty()) {
    const std::size_t at = views_.byte_order_marks().front();
    add_finding(FindingTier::encoding, "encoding.byte_order_mark", "an invisible byte order mark inside the code",
        "Remove it.", {at, at + 3}, true);
  }
}

void FileCheck::add_finding(FindingTier tier, std::string_view rule, std::string_view title, std::string_view fix,
    TextSpan span, bool has_place) {
  Finding finding;
  finding.rule = rule;
  finding.tier = tier;
  finding.message = title;
  finding.fix = fix;
  finding.path = out_->path;
  if (has_place) {
    Place place{span, 0, 0};
    LineCounter lines(bytes_);
    count(lines, place);
    set_place(finding, place);
  }
  out_->findings.push_back(std::move(finding));
}

// The tiers that are asked for, and the paths that the rule speaks of.
bool FileCheck::wanted(std::uint32_t index) {
  if (!applies_[index]) return false;
  std::int8_t& known = in_scope_[index];
  if (known < 0) known = in_scope(rules_.rules()[index], out_->path) ? 1 : 0;
  return known == 1;
}

// A call that deletes, in a file that deletes nothing but its own temporary folders.
bool FileCheck::removes_own(View view, const Match& match) {
  if (!options_.allow_temp_removal || view != View::code ||
      (match.index != remove_rule_ && match.index != remove_method_rule_))
    return false;
  const std::string_view text = views_.view(view).substr(match.begin, match.end - match.begin);
  if (text.find("mkdtemp") != std::string_view::npos || text.find("Bun.") != std::string_view::npos ||
      text.find("rimraf") != std::string_view::npos)
    return false;
  if (!removes_only_own_) removes_only_own_ = removes_only_own_folders(views_, bytes_);
  return *removes_only_own_;
}

// A file that is called after a secret, but holds none.
bool FileCheck::is_made_up(View view, const Match& match) {
  const bool word = match.index == secret_word_rule_ && view == View::strings;
  if (!word && (match.index != secret_command_rule_ || view != View::commands)) return false;
  const std::string_view text = views_.view(view);
  if (!word && !text.substr(0, match.begin).ends_with("\x1e@\x1d")) return false;
  if (is_made_up_file(text.substr(match.begin, match.end - match.begin))) return true;
  if (!word) return false;
  if (!written_) written_.emplace(views_);
  return written_->covers(match.begin, match.end);
}

void FileCheck::take(View view, const Match& match) {
  if (match.is_fact) {
    if (match.index == names_file_) take_load(view, match);
    const bool harmless = harmless_.contains(view, match);
    if (!harmless || !harmless_.is_mere_read(view, match)) note(view, match, harmless);
    if (harmless) return;
    places_.push_back({match.index, views_.original(view, match.begin, match.end)});
    return;
  }
  // Configurable names are looked for in take_api_keys().
  if (match.index == api_key_rule_) return;
  note(view, match, false);
  if (!wanted(match.index) || removes_own(view, match) || is_made_up(view, match)) return;
  const TextSpan span = views_.original(view, match.begin, match.end);
  candidates_.push_back({match.index, {span}, 0, match.confirmed, reading(view, match, span)});
}

void FileCheck::note(View view, const Match& match, bool harmless) {
  if (sightings_ == nullptr) return;
  sightings_->push_back({match.is_fact, match.index, views_.original(view, match.begin, match.end), harmless});
}

Reading FileCheck::reading(View view, const Match& match, TextSpan span) {
  if (readings_ == kReadingsPerFileMax) return {};
  Reading reading =
      reading_of(view, views_.view(view), match.begin, match.end, bytes_.substr(span.begin, span.end - span.begin));
  if (!reading.empty()) ++readings_;
  return reading;
}

// Whole names in code, and strings that are nothing but a name.
void FileCheck::take_api_keys() {
  if (api_key_rule_ == kNoRule || !applies_[api_key_rule_]) return;
  for (const View view : {View::code, View::strings}) {
    const std::string_view text = views_.view(view);
    for (const std::string& name : options_.api_key_names) {
      if (name.empty()) continue;
      for (std::size_t at = text.find(name); at != std::string_view::npos; at = text.find(name, at + name.size())) {
        const char before = at > 0 ? text[at - 1] : '\n';
        const char behind = at + name.size() < text.size() ? text[at + name.size()] : '\n';
        const bool whole =
            view == View::code ? !is_name_byte(before) && !is_name_byte(behind) : before == '\x1d' && behind == '\x1f';
        if (whole) {
          candidates_.push_back({api_key_rule_, {views_.original(view, at, at + name.size())}, 0, true, {}});
        }
      }
    }
  }
}

// What import and require load stands in the code view, where types are left out, unless it has signs that names of
// modules don't have; other functions are handed texts.
void FileCheck::take_load(View view, const Match& match) {
  const std::string_view text = views_.view(view);
  std::string_view name = text.substr(match.begin, match.end - match.begin);
  const auto plain = [](char c) {
    return is_name_byte(c) || std::string_view("@./:#~-").find(c) != std::string_view::npos;
  };
  if (view == View::strings && text.substr(0, match.begin).ends_with("\x1eimport\x1d") &&
      std::all_of(name.begin(), name.end(), plain))
    return;
  if (name == "(") name = "\x1a";  // import(x)
  out_->loads.push_back({std::string(name), {views_.original(view, match.begin, match.end)}});
}

// Notes where each fact was seen first; rules made of facts have their findings where the first of them stands.
void FileCheck::list_facts() {
  if (std::any_of(places_.begin(), places_.end(), [&](const SeenFact& seen) { return harmless_.is_read(seen.fact); })) {
    places_.erase(std::remove_if(places_.begin(), places_.end(),
                      [&](const SeenFact& seen) { return harmless_.is_own_keeping(seen.fact); }),
        places_.end());
  }
  std::vector<Place*> first;
  if (!places_.empty()) out_->facts.resize(rules_.facts().size());
  for (const SeenFact& seen : places_) {
    Place& place = out_->facts[seen.fact];
    if (place.line == 0) {
      place = {seen.span, 1, 0};  // until it is counted
      first.push_back(&place);
    }
    for (const std::uint32_t rule : rules_of_fact_[seen.fact]) {
      if (wanted(rule)) candidates_.push_back({rule, {seen.span}, 0, true, {}});
    }
  }
  std::sort(first.begin(), first.end(), [](const Place* a, const Place* b) { return a->span.begin < b->span.begin; });
  LineCounter lines(bytes_);
  for (Place* place : first) count(lines, *place);
}

// Each name once, where it stands first.
void FileCheck::list_loads() {
  std::vector<FileLoad>& loads = out_->loads;
  std::sort(loads.begin(), loads.end(), [](const FileLoad& a, const FileLoad& b) {
    return std::tie(a.name, a.place.span.begin) < std::tie(b.name, b.place.span.begin);
  });
  loads.erase(
      std::unique(loads.begin(), loads.end(), [](const FileLoad& a, const FileLoad& b) { return a.name == b.name; }),
      loads.end());
  LineCounter lines(bytes_);
  for (FileLoad& load : loads) count(lines, load.place);
}

void FileCheck::list_hits() {
  std::sort(candidates_.begin(), candidates_.end(), [](const RuleHit& a, const RuleHit& b) {
    // Of two at one place the one with the longer reading comes first, because it says more.
    const std::size_t a_size = a.reading.text.size();
    const std::size_t b_size = b.reading.text.size();
    return std::tie(a.rule, a.place.span.begin, a.place.span.end, b_size, b.reading.text) <
        std::tie(b.rule, b.place.span.begin, b.place.span.end, a_size, a.reading.text);
  });
  LineCounter lines(bytes_);
  std::uint32_t kept = 0;
  for (std::size_t i = 0; i < candidates_.size(); ++i) {
    RuleHit& hit = candidates_[i];
    TextSpan& span = hit.place.span;
    const bool same_rule = i > 0 && candidates_[i - 1].rule == hit.rule;
    if (!same_rule) kept = 0;
    // Several patterns or views found the same act.
    if (kept > 0 && span.begin < candidates_[i - 1].place.span.end) {
      span.end = std::max(span.end, candidates_[i - 1].place.span.end);
      continue;
    }
    ++kept;
    if (kept > kHitsPerRuleMax + 1) continue;
    count(lines, hit.place);
    out_->hits.push_back(hit);
    if (kept == kHitsPerRuleMax + 1) {
      std::size_t last = i;
      while (last < candidates_.size() && candidates_[last].rule == hit.rule) ++last;
      out_->hits.back().more = static_cast<std::uint32_t>(last - i);
    }
  }
}

}  // namespace guard

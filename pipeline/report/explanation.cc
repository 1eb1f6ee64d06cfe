#include "pipeline/report/explanation.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "common/text/text.h"
#include "pipeline/report/finding_marks.h"
#include "pipeline/report/json_parts.h"
#include "redact/masked_regions.h"
#include "redact/redactor.h"
#include "validator/views/reading.h"

namespace guard {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::string_view kMarker = "[REDACTED]";
constexpr std::string_view kWithheld = "[WITHHELD]";
constexpr std::size_t kPieceBytesMax = 400;
constexpr std::size_t kPiecesMax = 200;  // of a whole file, in text

std::string normal(std::string_view path) { return std::filesystem::path(path).lexically_normal().generic_string(); }

// ---- waivers ----

void weigh_waivers(const GateRequest& request, const std::vector<SourceFile>& files, Explanation& explanation) {
  if (request.config->check.waivers.empty()) return;
  Report report = explanation.report;
  mark_findings(files, report.findings);
  const WaiverOutcome outcome = apply_waivers(request.config->check.waivers, files, today_utc(), report);
  for (auto& story : explanation.rules) {
    if (story.story != Story::fired) continue;
    const auto at_line = [&](const Finding& finding) {
      return finding.rule == story.rule && finding.path == explanation.path &&
          std::find(story.lines.begin(), story.lines.end(), finding.line) != story.lines.end();
    };
    if (std::any_of(report.findings.begin(), report.findings.end(), at_line)) continue;
    const auto waived = std::find_if(
        outcome.waived.begin(), outcome.waived.end(), [&](const WaivedFinding& row) { return at_line(row.finding); });
    if (waived == outcome.waived.end()) continue;
    story.story = Story::waived;
    story.sentence = fmt::format("{}; waived by {} until {}: {}", story.sentence, waived->waiver.origin,
        waived->waiver.expires, waived->waiver.reason);
  }
}

// ---- masking ----

class Mask {
 public:
  Mask(const SecretSource& secrets, std::vector<MaskedRegion> regions)
      : secrets_(secrets), regions_(std::move(regions)) {}

  std::string text(const std::string& text) const {
    auto hidden = redact_text(secrets_, text);
    return hidden ? std::move(*hidden) : std::string(kWithheld);
  }

  // A line may hold a part of a secret only: the file as a whole tells.
  std::string source(std::string_view line, std::size_t begin) const {
    std::string shown;
    std::size_t at = 0;
    for (const auto& region : regions_) {
      if (region.end <= begin + at || region.begin >= begin + line.size()) continue;
      const std::size_t from = std::max(region.begin, begin) - begin;
      if (from > at) shown += line.substr(at, from - at);
      shown += kMarker;
      at = std::min(region.end - begin, line.size());
    }
    return text(shown + std::string(line.substr(at)));
  }

  std::string piece(const ViewPiece& piece) const {
    if (piece.view == View::raw) return source(piece.text, piece.begin);
    std::string hidden = text(piece.text);
    const bool overlaps = std::any_of(regions_.begin(), regions_.end(),
        [&](const MaskedRegion& region) { return region.begin < piece.end && piece.begin < region.end; });
    // A line of a longer secret, say, which by itself looks like nothing.
    return piece.view != View::code && overlaps && hidden == piece.text ? std::string(kMarker) : hidden;
  }

 private:
  const SecretSource& secrets_;
  std::vector<MaskedRegion> regions_;
};

Result<void> mask(const SecretSource& secrets, const SourceFile& file, Explanation& explanation) {
  GUARD_TRY_ASSIGN(auto regions, masked_regions(secrets, file.bytes));
  const Mask hide(secrets, std::move(regions));
  for (auto& piece : explanation.pieces) {
    piece.text = hide.piece(piece);
    piece.callee = hide.text(piece.callee);
  }
  for (auto& story : explanation.rules) {
    story.sentence = hide.text(story.sentence);
    // Of a part that was cut out of something longer nobody can tell what it is a part of.
    const std::string reading = hide.text(story.reading);
    story.reading = reading.size() < kReadingBytesMax ? reading : std::string();
  }
  explanation.path = hide.text(explanation.path);
  explanation.report = {};
  return ok();
}

// ---- text ----

std::string cut(std::string text) {
  if (text.size() <= kPieceBytesMax) return text;
  std::size_t end = kPieceBytesMax;
  while (end > 0 && (static_cast<unsigned char>(text[end]) & 0xC0) == 0x80) --end;
  return text.substr(0, end) + "...";
}

// Without the marks between the parts of an entry.
std::string shown_entry(const ViewPiece& piece) {
  std::string text = piece.text;
  std::replace(text.begin(), text.end(), '\x1d', ' ');
  return shown_reading(text);
}

std::string shown(const ViewPiece& piece) {
  if (piece.view == View::raw || piece.view == View::code) return cut(printable(piece.text));
  const std::string text = cut(shown_entry(piece));
  if (piece.view != View::strings) return text;
  return piece.callee.empty() ? fmt::format("\"{}\"", text) : fmt::format("{}(\"{}\")", printable(piece.callee), text);
}

std::string_view heading(Story story) {
  switch (story) {
    case Story::fired: return "found here";
    case Story::waived: return "found here, and waived";
    case Story::merged: return "found here, reported elsewhere";
    case Story::tier_off: return "matches here, but the tier is off";
    case Story::out_of_scope: return "matches here, but the rule applies to other paths";
    case Story::needs_fact: return "matches here, but another condition is not met";
    case Story::half: return "a part of it is here";
    case Story::harmless: return "allowed by a harmless list";
    case Story::other_view: return "would match in another reading";
    case Story::elsewhere: return "not at this line, but elsewhere in the file";
    case Story::unmatched: break;  // counted
  }
  return "";
}

}  // namespace

Result<ExplainedLine> explain_line(const GateRequest& request, const SourceFiles& files, std::string_view path,
    std::uint32_t line, std::string_view mode) {
  const std::string wanted = normal(path);
  const auto file = std::find_if(files.files.begin(), files.files.end(),
      [&](const SourceFile& candidate) { return normal(candidate.path) == wanted; });
  if (file == files.files.end()) {
    return Error(
        ErrorCode::file_not_found, fmt::format("{} is not among the files that could be read", printable(path)))
        .hint("name a regular file; `guard check` says why another one is refused");
  }
  ExplainedLine explained;
  explained.mode = mode;
  GUARD_TRY_ASSIGN(explained.explanation,
      explain(*request.rules, *request.matcher, validator_options(request, request.project, files.files, mode),
          files.files, static_cast<std::size_t>(file - files.files.begin()), line));
  weigh_waivers(request, files.files, explained.explanation);
  GUARD_TRY_ASSIGN(const SecretSource* secrets, request.secrets());
  GUARD_TRY(mask(*secrets, *file, explained.explanation));
  return explained;
}

std::string explanation_text(const ExplainedLine& explained, Colour colour) {
  const auto paint = [&](std::string_view style, std::string_view text) {
    return colour == Colour::on ? fmt::format("\x1b[{}m{}\x1b[0m", style, text) : std::string(text);
  };
  const Explanation& explanation = explained.explanation;
  std::string text = paint("1",
                         explanation.line == 0 ? printable(explanation.path)
                                               : fmt::format("{}:{}", printable(explanation.path), explanation.line)) +
      "\n";
  std::size_t told = 0;
  bool code = false;
  for (const auto& piece : explanation.pieces) {
    code = code || piece.view == View::code;
    if (++told > kPiecesMax) continue;
    const std::string_view name = piece.view == View::raw ? "source" : to_string(piece.view);
    text += explanation.line == 0 ? fmt::format("  {:<8} {:>5}  {}\n", name, piece.line, shown(piece))
                                  : fmt::format("  {:<8} {}\n", name, shown(piece));
  }
  if (told > kPiecesMax)
    text += fmt::format(
        "  ... and {} more (--format json lists them all, --explain PATH:LINE those of one line)\n", told - kPiecesMax);
  if (!code) text += "  code     (nothing: blank, a comment, or inside a string)\n";

  std::optional<Story> group;
  std::size_t unmatched = 0;
  for (const auto& story : explanation.rules) {
    if (story.story == Story::unmatched && story.sentence.empty()) {
      ++unmatched;
      continue;
    }
    if (group != story.story) {
      const bool whole = explanation.line == 0;
      text +=
          paint("1",
              fmt::format("{}:", whole && story.story == Story::fired ? "found in this file" : heading(story.story))) +
          "\n";
    }
    group = story.story;
    text += fmt::format("  {}: {}\n", story.rule, printable(story.sentence));
    if (story.story == Story::fired && explanation.line == 0 && !story.lines.empty()) {
      text += fmt::format("    at line {}\n", fmt::join(story.lines, ", "));
    }
    if (!story.reading.empty()) text += fmt::format("    reads as: {}\n", cut(shown_reading(story.reading)));
  }
  if (unmatched > 0)
    text += fmt::format("{} other rules match nowhere in this file (--format json lists them)\n", unmatched);
  text += fmt::format("judged with {} {} in mode {}; `guard rules show ID` explains a rule\n", explanation.files,
      explanation.files == 1 ? "file, this one alone," : "files together", explained.mode);
  return text;
}

std::string explanation_document(const ExplainedLine& explained) {
  const Explanation& explanation = explained.explanation;
  const auto clean = [](std::string_view text) { return is_utf8(text) ? std::string(text) : printable(text); };
  Json json = {{"version", 1}, {"path", clean(explanation.path)}, {"line", explanation.line}, {"mode", explained.mode},
      {"files", explanation.files}, {"views", Json::array()}, {"rules", Json::array()}};
  for (const auto& piece : explanation.pieces) {
    Json row = {{"view", to_string(piece.view)}, {"line", piece.line},
        {"text", piece.view == View::raw ? clean(piece.text) : shown_entry(piece)}};
    if (!piece.callee.empty()) row["callee"] = clean(piece.callee);
    json["views"].push_back(std::move(row));
  }
  for (const auto& story : explanation.rules) {
    Json row = {{"rule", story.rule}, {"story", to_string(story.story)}};
    if (!story.sentence.empty()) row["message"] = clean(story.sentence);
    if (!story.reading.empty()) row["matched"] = shown_reading(story.reading);
    if (!story.lines.empty()) row["lines"] = story.lines;
    json["rules"].push_back(std::move(row));
  }
  return dump(json);
}

}  // namespace guard

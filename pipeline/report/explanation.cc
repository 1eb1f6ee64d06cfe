#include "pipeline/report/explanation.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "common/hash.h"
#include "common/text/text.h"
#include "pipeline/gate/finding_marks.h"
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

void weigh_waivers(const GateRequest& request, const std::vector<SourceFile>& files, Explanation& explanation) {
  if (request.config->check.waivers.empty()) return;
  std::vector<Finding> findings = explanation.report.findings;
  mark_findings(files, findings);
  WaivedFiles waived_files{ProjectPaths(request.seen_from, request.project), {}, {}};
  for (const SourceFile& file : files) waived_files.digests.emplace(file.path, sha256_hex(file.bytes));
  const WaiverOutcome outcome = apply_waivers(request.config->check.waivers, waived_files, today_utc(), findings);
  for (auto& story : explanation.rules) {
    if (story.story != Story::fired) continue;
    const auto is_told = [&](const Finding& finding) {
      return finding.rule == story.rule &&
          std::find(story.lines.begin(), story.lines.end(), finding.line) != story.lines.end();
    };
    if (std::any_of(findings.begin(), findings.end(), is_told)) continue;
    for (const WaivedFinding& waived : outcome.waived) {
      if (story.story == Story::waived || !is_told(waived.finding)) continue;
      story.story = Story::waived;
      story.sentence +=
          fmt::format("; waived by {} until {}: {}", waived.waiver.origin, waived.waiver.expires, waived.waiver.reason);
    }
  }
}

Result<void> mask(const SecretSource& secrets, const SourceFile& file, Explanation& explanation) {
  GUARD_TRY_ASSIGN(const auto regions, masked_regions(secrets, file.bytes));
  const auto hide = [&](std::string& text) {
    auto hidden = redact_text(secrets, text);
    text = hidden ? std::move(*hidden) : std::string(kWithheld);
  };
  for (auto& piece : explanation.pieces) {
    const std::string bare = piece.text;
    std::size_t shown = piece.begin;
    bool overlaps = false;
    if (piece.view == View::raw) piece.text.clear();
    for (const auto& region : regions) {
      if (region.end <= piece.begin || region.begin >= piece.end) continue;
      overlaps = true;
      if (piece.view != View::raw) break;
      // A line may hold a part of a secret only: the file as a whole tells.
      if (region.begin > shown) piece.text += bare.substr(shown - piece.begin, region.begin - shown);
      piece.text += kMarker;
      shown = std::min(region.end, piece.end);
    }
    if (piece.view == View::raw) piece.text += bare.substr(shown - piece.begin);
    hide(piece.text);
    hide(piece.callee);
    // A line of a longer secret, say, which by itself looks like nothing.
    if (overlaps && piece.view != View::raw && piece.view != View::code && piece.text == bare) piece.text = kMarker;
  }
  for (auto& story : explanation.rules) {
    hide(story.sentence);
    hide(story.reading);
    // Of a part that was cut out of something longer nobody can tell what it is a part of.
    if (story.reading.size() >= kReadingBytesMax) story.reading.clear();
  }
  hide(explanation.path);
  explanation.report = {};
  return ok();
}

// ---- text ----

std::string cut(std::string_view text) { return cut_text(text, kPieceBytesMax, "..."); }

// Without the marks between the parts of an entry.
std::string shown_entry(const ViewPiece& piece) {
  std::string text = piece.text;
  std::replace(text.begin(), text.end(), '\x1d', ' ');
  return shown_reading(text);
}

std::string shown(const ViewPiece& piece) {
  if (piece.view == View::raw || piece.view == View::code) return cut(printable(piece.text));
  std::string text = cut(shown_entry(piece));
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
      explain(*request.rules, *request.matcher, validator_options(request, files.files, mode), files.files,
          static_cast<std::size_t>(file - files.files.begin()), line));
  weigh_waivers(request, files.files, explained.explanation);
  GUARD_TRY_ASSIGN(const SecretSource* secrets, request.secrets());
  GUARD_TRY(mask(*secrets, *file, explained.explanation));
  return explained;
}

std::string explanation_text(const ExplainedLine& explained, Colour colour) {
  const Painter paint{colour};
  const Explanation& explanation = explained.explanation;
  std::string text = paint(kBold, place_text(printable(explanation.path), explanation.line)) + "\n";
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
  for (const auto& story : explanation.rules) {
    const bool whole = explanation.line == 0 && story.story == Story::fired;
    if (group != story.story)
      text += paint(kBold, fmt::format("{}:", whole ? "found in this file" : heading(story.story))) + "\n";
    group = story.story;
    text += fmt::format("  {}: {}\n", story.rule, printable(story.sentence));
    if (whole && !story.lines.empty()) text += fmt::format("    at line {}\n", fmt::join(story.lines, ", "));
    if (!story.reading.empty()) text += fmt::format("    reads as: {}\n", cut(shown_reading(story.reading)));
  }
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

#include "pipeline/gate/masked_excerpts.h"

#include <algorithm>
#include <string>

#include "common/text/text.h"
#include "redact/masked_regions.h"
#include "validator/snippet.h"
#include "validator/views/reading.h"

namespace guard {
namespace {

// Same length as what it hides, so that offsets still hold; shortened in the excerpt, because a marker tells no length.
constexpr char kBlot = '*';
constexpr std::size_t kBlotMin = 4;
constexpr std::string_view kMarker = "[REDACTED]";

std::string blotted(std::string_view text, const std::vector<MaskedRegion>& regions) {
  std::string copy(text);
  for (const auto& region : regions)
    std::fill(copy.begin() + static_cast<std::ptrdiff_t>(region.begin),
        copy.begin() + static_cast<std::ptrdiff_t>(region.end), kBlot);
  return copy;
}

void shorten_blots(Snippet& snippet) {
  std::string text;
  const std::size_t caret_end = snippet.caret + snippet.caret_width;
  std::size_t new_caret = 0;
  std::size_t new_caret_end = 0;
  for (std::size_t at = 0; at < snippet.excerpt.size();) {
    std::size_t run = at;
    while (run < snippet.excerpt.size() && snippet.excerpt[run] == kBlot) ++run;
    const std::size_t next = run - at >= kBlotMin ? run : at + 1;
    if (at <= snippet.caret) new_caret = text.size();
    if (run - at >= kBlotMin) {
      text += kMarker;
    } else {
      text += snippet.excerpt[at];
    }
    if (at < caret_end) new_caret_end = text.size();
    at = next;
  }
  snippet.excerpt = std::move(text);
  snippet.caret = static_cast<std::uint32_t>(new_caret);
  snippet.caret_width = static_cast<std::uint32_t>(new_caret_end > new_caret ? new_caret_end - new_caret : 0);
}

struct MaskedFile {
  std::vector<MaskedRegion> regions;
  std::string text;  // the file, blotted; empty where it hides nothing

  bool hides_in(std::size_t begin, std::size_t end) const {
    return std::any_of(regions.begin(), regions.end(),
        [&](const MaskedRegion& region) { return region.begin < end && begin < region.end; });
  }
};

// A secret may reach out of what matched, and even out of what was kept around it: then the file's own regions tell.
Result<std::string> masked_reading(const SecretSource& secrets, const MaskedFile& file, const Finding& finding) {
  const Reading& reading = finding.reading;
  GUARD_TRY_ASSIGN(const auto regions, masked_regions(secrets, reading.text));
  if (regions.empty() && file.hides_in(finding.begin, finding.end)) return std::string(kMarker);
  std::string shown;
  std::size_t at = reading.begin;
  for (const auto& region : regions) {
    if (region.end <= at || region.begin >= reading.end) continue;
    if (region.begin > at) shown += reading.text.substr(at, region.begin - at);
    shown += kMarker;
    at = std::min(region.end, reading.end);
  }
  shown += reading.text.substr(at, reading.end - at);
  return cut_text(shown_reading(shown), kMatchedBytesMax, "...");
}

Result<void> mask_all(const SecretSource& secrets, std::string_view bytes, std::vector<Finding>& findings) {
  const auto shows = [&](const Finding& finding) { return finding.line != 0 && !finding.excerpt.empty(); };
  for (auto& finding : findings) {
    if (bytes.empty()) finding.excerpt.clear();
  }
  if (std::none_of(findings.begin(), findings.end(), shows)) return ok();
  MaskedFile file;
  GUARD_TRY_ASSIGN(file.regions, masked_regions(secrets, bytes));
  if (!file.regions.empty()) file.text = blotted(bytes, file.regions);
  for (auto& finding : findings) {
    if (!shows(finding)) continue;
    if (!finding.reading.empty()) {
      GUARD_TRY_ASSIGN(finding.matched, masked_reading(secrets, file, finding));
    }
    if (file.regions.empty()) continue;
    Snippet snippet = make_snippet(file.text, finding.begin, finding.end);
    shorten_blots(snippet);
    finding.excerpt = std::move(snippet.excerpt);
    finding.caret = snippet.caret;
    finding.caret_width = snippet.caret_width;
  }
  return ok();
}

}  // namespace

void withhold_excerpts(std::vector<Finding>& findings) {
  for (auto& finding : findings) {
    finding.excerpt.clear();
    finding.matched.clear();
    finding.reading = {};
  }
}

Result<void> mask_excerpts(const SecretSource& secrets, std::string_view bytes, std::vector<Finding>& findings) {
  auto done = mask_all(secrets, bytes, findings);
  if (!done) withhold_excerpts(findings);
  for (auto& finding : findings) finding.reading = {};
  return done;
}

}  // namespace guard

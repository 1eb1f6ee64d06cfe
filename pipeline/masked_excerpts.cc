#include "pipeline/masked_excerpts.h"

#include <algorithm>
#include <map>
#include <string>

#include "redact/masked_regions.h"
#include "validator/snippet.h"

namespace guard {
namespace {

// Same length as what it hides, so that offsets still hold; shortened in the excerpt, because a marker tells no length.
constexpr char kBlot = '*';
constexpr std::size_t kBlotMin = 4;
constexpr std::string_view kMarker = "[REDACTED]";

std::string blotted(std::string_view text, const std::vector<MaskedRegion>& regions) {
  std::string copy(text);
  for (const auto& region : regions) std::fill(copy.begin() + static_cast<std::ptrdiff_t>(region.begin), copy.begin() + static_cast<std::ptrdiff_t>(region.end), kBlot);
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

}  // namespace

Result<void> mask_excerpts(const SecretSource& secrets, const std::vector<SourceFile>& files, std::vector<Finding>& findings) {
  struct Masked {
    std::string text;
    bool hides = false;
  };
  std::map<std::string, Masked> masked;  // path -> blotted copy; made once per file that has findings
  for (auto& finding : findings) {
    if (finding.line == 0 || finding.excerpt.empty()) continue;
    const auto file = std::find_if(files.begin(), files.end(), [&](const SourceFile& candidate) { return candidate.path == finding.path; });
    if (file == files.end()) {
      finding.excerpt.clear();
      continue;
    }
    auto found = masked.find(finding.path);
    if (found == masked.end()) {
      GUARD_TRY_ASSIGN(const auto regions, masked_regions(secrets, file->bytes));
      found = masked.emplace(finding.path, Masked{regions.empty() ? std::string() : blotted(file->bytes, regions), !regions.empty()}).first;
    }
    if (!found->second.hides) continue;
    Snippet snippet = make_snippet(found->second.text, finding.begin, finding.end);
    shorten_blots(snippet);
    finding.excerpt = std::move(snippet.excerpt);
    finding.caret = snippet.caret;
    finding.caret_width = snippet.caret_width;
  }
  return ok();
}

}  // namespace guard

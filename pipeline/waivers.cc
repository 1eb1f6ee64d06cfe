#include "pipeline/waivers.h"

#include <algorithm>
#include <array>
#include <ctime>
#include <map>

#include "common/hash.h"

namespace guard {

std::vector<UsedWaiver> apply_waivers(const std::vector<Waiver>& waivers, const std::vector<SourceFile>& files, std::string_view today,
                                      Report& report) {
  std::vector<UsedWaiver> used;
  for (const auto& waiver : waivers) {
    if (waiver.expires < today) continue;  // ISO dates sort as text
    const auto file = std::find_if(files.begin(), files.end(), [&](const SourceFile& candidate) { return candidate.path == waiver.path; });
    if (file == files.end() || sha256_hex(file->bytes) != waiver.fingerprint) continue;
    const auto waived = [&](const Finding& finding) {
      // Said again here although the configuration refuses such waivers: this is where it would hurt.
      const bool waivable = finding.tier != FindingTier::always && finding.tier != FindingTier::banned;
      return waivable && finding.rule == waiver.rule && finding.path == waiver.path;
    };
    const auto first = std::stable_partition(report.findings.begin(), report.findings.end(), [&](const Finding& finding) { return !waived(finding); });
    const auto count = static_cast<std::size_t>(report.findings.end() - first);
    report.findings.erase(first, report.findings.end());
    if (count > 0) used.push_back({waiver, count});
  }
  return used;
}

std::string today_utc() {
  const std::time_t now = std::time(nullptr);
  std::tm parts{};
  ::gmtime_r(&now, &parts);
  std::array<char, 16> text{};
  const std::size_t length = std::strftime(text.data(), text.size(), "%Y-%m-%d", &parts);
  return std::string(text.data(), length);
}

}  // namespace guard

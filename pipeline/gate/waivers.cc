#include "pipeline/gate/waivers.h"

#include <fmt/chrono.h>
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <ctime>
#include <set>

#include "common/text/text.h"
#include "pipeline/config/config_texts.h"
#include "pipeline/config/config_values.h"

namespace guard {
namespace {

// The day `days` after `date`, both "YYYY-MM-DD".
std::string day_after(std::string_view date, int days) {
  std::tm parts{};
  std::string text(date);
  if (::strptime(text.c_str(), "%Y-%m-%d", &parts) == nullptr) return text;
  parts.tm_mday += days;
  const std::time_t then = ::timegm(&parts);
  ::gmtime_r(&then, &parts);
  return fmt::format("{:%Y-%m-%d}", parts);
}

// What of one check has to do with a waiver.
struct Tally {
  std::size_t named = 0;      // findings of this rule in these files
  std::size_t forbidden = 0;  // of them, those of a tier that has no exceptions
  std::size_t same = 0;       // of them, those that carry the fingerprint
};

// Of a waiver that let nothing pass.
IdleWaiver idle(const Waiver& waiver, const Tally& tally, bool expired, const WaivedFiles& files) {
  using Why = IdleWaiver::Why;
  if (tally.forbidden > 0) return {waiver, Why::not_waivable, "findings of this rule cannot be waived"};
  if (expired) {
    const std::string what = tally.same > 0
        ? fmt::format(", so {} again", plural(tally.same, "finding") + (tally.same == 1 ? " counts" : " count"))
        : std::string();
    return {waiver, Why::expired, fmt::format("it ran out on {}{}", waiver.expires, what)};
  }
  if (tally.named > 0) {
    return {waiver, Why::changed,
        fmt::format("{} there, but with another fingerprint: the code was changed since. Look again, then take a new "
                    "waiver from `guard check --print-waiver`",
            plural(tally.named, "finding") + (tally.named == 1 ? " is" : " are"))};
  }
  const bool saw_file = std::any_of(files.names.begin(), files.names.end(),
      [&](const std::string& name) { return is_gated_path({waiver.path}, files.paths.shown(name)); });
  if (!saw_file) return {waiver, Why::no_file, "no file of this check has that path"};
  return {waiver, Why::no_finding,
      "the rule finds nothing there with the tiers of this check; if that is so everywhere, take the waiver out"};
}

}  // namespace

std::string waiver_text(const UsedWaiver& used) {
  return fmt::format("waiver: {} in {}, {}", used.waiver.rule, used.waiver.path, used.waiver.reason);
}

bool is_waivable(FindingTier tier) noexcept {
  return tier == FindingTier::docker || tier == FindingTier::host || tier == FindingTier::side_file;
}

WaiverOutcome apply_waivers(const std::vector<Waiver>& waivers, const WaivedFiles& files, std::string_view today,
    std::vector<Finding>& findings) {
  WaiverOutcome outcome;
  for (const Waiver& waiver : waivers) {
    Tally tally;
    const bool expired = waiver.expires < today;  // ISO dates sort as text
    const auto waived = [&](const Finding& finding) {
      if (finding.rule != waiver.rule || !is_gated_path({waiver.path}, files.paths.shown(finding.path))) return false;
      ++tally.named;
      // Said again here although the configuration refuses such waivers by their names: this is where it would hurt.
      if (!is_waivable(finding.tier)) {
        ++tally.forbidden;
        return false;
      }
      const auto digest = files.digests.find(finding.path);
      const bool whole_file = digest != files.digests.end() && digest->second == waiver.fingerprint;
      if (finding.fingerprint != waiver.fingerprint && !whole_file) return false;
      ++tally.same;
      return !expired;
    };
    const auto first = std::stable_partition(
        findings.begin(), findings.end(), [&](const Finding& finding) { return !waived(finding); });
    const auto count = static_cast<std::size_t>(findings.end() - first);
    for (auto finding = first; finding != findings.end(); ++finding)
      outcome.waived.push_back({std::move(*finding), waiver});
    findings.erase(first, findings.end());
    if (count > 0) {
      outcome.used.push_back({waiver, count});
    } else {
      outcome.idle.push_back(idle(waiver, tally, expired, files));
    }
  }
  std::stable_sort(outcome.waived.begin(), outcome.waived.end(),
      [](const WaivedFinding& a, const WaivedFinding& b) { return a.finding.path < b.finding.path; });
  return outcome;
}

std::string waiver_template(const Report& report, const ProjectPaths& paths, std::string_view today) {
  const std::string expires = day_after(today, kWaiverTemplateDays);
  std::set<std::pair<std::string, std::string>>
      printed;  // path, fingerprint: one waiver serves all findings that look alike
  std::string text;
  for (const auto& finding : report.findings) {
    if (finding.severity != Severity::block) continue;
    const std::string path = paths.shown(finding.path);
    const std::string place = printable(place_text(finding.path, finding.line));
    if (!is_waivable(finding.tier)) {
      text += fmt::format(
          "# {}: {} cannot be waived ({} has no exceptions)\n\n", place, finding.rule, to_string(finding.tier));
      continue;
    }
    if (const auto fault = glob_rule(path); !fault.empty()) {
      text += fmt::format("# {}: {} cannot be waived: the file's name {}\n\n", place, finding.rule, fault);
      continue;
    }
    if (!printed.emplace(path, finding.rule + finding.fingerprint).second) continue;
    text += fmt::format(
        "# {}: {}\n[[check.waivers]]\nrule = {}\npath = {}\nfingerprint = {}\nreason = \"\"  # say why; guard refuses "
        "a waiver without a reason\n"
        "expires = {}\n\n",
        place, printable(finding.message), toml_string(finding.rule), toml_string(path),
        toml_string(finding.fingerprint), expires);
  }
  return text.empty() ? "# nothing to waive\n" : text;
}

// By the calendar alone: strftime would read the time zone's file at every start.
std::string today_utc() {
  const std::chrono::year_month_day today(std::chrono::floor<std::chrono::days>(std::chrono::system_clock::now()));
  return fmt::format("{:04}-{:02}-{:02}", static_cast<int>(today.year()), static_cast<unsigned>(today.month()),
      static_cast<unsigned>(today.day()));
}

}  // namespace guard

#include "pipeline/gate/waivers.h"

#include <fmt/chrono.h>
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <ctime>
#include <filesystem>
#include <map>
#include <set>

#include "common/hash.h"
#include "common/text/text.h"
#include "pipeline/config/config_texts.h"
#include "pipeline/config/config_values.h"
#include "pipeline/gate/source_files.h"

namespace guard {
namespace {

// SHA-256 of files, each made at most once and only where a waiver asks for it.
class FileHashes {
 public:
  explicit FileHashes(const std::vector<SourceFile>& files) {
    for (const auto& file : files) files_.emplace(file.path, &file);
  }
  std::string_view of(const std::string& path) {
    const auto file = files_.find(path);
    if (file == files_.end()) return {};
    auto hash = hashes_.find(path);
    if (hash == hashes_.end()) hash = hashes_.emplace(path, sha256_hex(file->second->bytes)).first;
    return hash->second;
  }

 private:
  std::map<std::string_view, const SourceFile*> files_;
  std::map<std::string, std::string> hashes_;
};

// The day `days` after `date`, both "YYYY-MM-DD".
std::string day_after(std::string_view date, int days) {
  std::tm parts{};
  const std::string text(date);
  if (::strptime(text.c_str(), "%Y-%m-%d", &parts) == nullptr) return text;
  parts.tm_mday += days;
  const std::time_t then = ::timegm(&parts);
  ::gmtime_r(&then, &parts);
  return fmt::format("{:%Y-%m-%d}", parts);
}

std::string relative_to(std::string_view project, const std::string& path) {
  namespace fs = std::filesystem;
  const fs::path normal = fs::path(path).lexically_normal();
  if (!normal.is_absolute()) return normal.generic_string();
  const fs::path relative = normal.lexically_relative(fs::path(project).lexically_normal());
  return relative.empty() || *relative.begin() == ".." ? normal.relative_path().generic_string()
                                                       : relative.generic_string();
}

}  // namespace

std::string waiver_text(const UsedWaiver& used) {
  return fmt::format("waiver: {} in {}, {}", used.waiver.rule, used.waiver.path, used.waiver.reason);
}

std::string_view to_string(IdleWaiver::Why why) noexcept {
  switch (why) {
    case IdleWaiver::Why::expired: return "expired";
    case IdleWaiver::Why::not_waivable: return "not_waivable";
    case IdleWaiver::Why::no_file: return "no_file";
    case IdleWaiver::Why::no_finding: return "no_finding";
    case IdleWaiver::Why::changed: return "changed";
  }
  return "changed";
}

bool is_waivable(FindingTier tier) noexcept {
  return tier == FindingTier::docker || tier == FindingTier::host || tier == FindingTier::side_file;
}

WaiverDesk::WaiverDesk(const std::vector<Waiver>& waivers, std::string_view today)
    : waivers_(waivers), tallies_(waivers.size()) {
  for (std::size_t i = 0; i < waivers.size(); ++i) {
    tallies_[i].globs = {waivers[i].path};
    tallies_[i].expired = waivers[i].expires < today;  // ISO dates sort as text
  }
}

void WaiverDesk::saw(std::string_view path) {
  for (auto& tally : tallies_) tally.saw_file = tally.saw_file || is_gated_path(tally.globs, path);
}

void WaiverDesk::apply(const std::vector<SourceFile>& files, Report& report) {
  if (waivers_.empty()) return;
  for (const auto& file : files) saw(file.path);
  FileHashes hashes(files);
  for (std::size_t i = 0; i < waivers_.size(); ++i) {
    const Waiver& waiver = waivers_[i];
    Tally& tally = tallies_[i];
    const auto waived = [&](const Finding& finding) {
      if (finding.rule != waiver.rule || !is_gated_path(tally.globs, finding.path)) return false;
      ++tally.named;
      // Said again here although the configuration refuses such waivers by their names: this is where it would hurt.
      if (!is_waivable(finding.tier)) {
        ++tally.forbidden;
        return false;
      }
      if (finding.fingerprint != waiver.fingerprint && hashes.of(finding.path) != waiver.fingerprint) return false;
      ++tally.same;
      return !tally.expired;
    };
    const auto first = std::stable_partition(
        report.findings.begin(), report.findings.end(), [&](const Finding& finding) { return !waived(finding); });
    for (auto finding = first; finding != report.findings.end(); ++finding)
      outcome_.waived.push_back({std::move(*finding), waiver});
    tally.waived += static_cast<std::size_t>(report.findings.end() - first);
    report.findings.erase(first, report.findings.end());
  }
}

WaiverOutcome WaiverDesk::finish() {
  using Why = IdleWaiver::Why;
  for (std::size_t i = 0; i < waivers_.size(); ++i) {
    const Waiver& waiver = waivers_[i];
    const Tally& tally = tallies_[i];
    if (tally.waived > 0) {
      outcome_.used.push_back({waiver, tally.waived});
    } else if (tally.forbidden > 0) {
      outcome_.idle.push_back({waiver, Why::not_waivable, "findings of this rule cannot be waived"});
    } else if (tally.expired) {
      const std::string what = tally.same > 0
          ? fmt::format(", so {} again", plural(tally.same, "finding") + (tally.same == 1 ? " counts" : " count"))
          : std::string();
      outcome_.idle.push_back({waiver, Why::expired, fmt::format("it ran out on {}{}", waiver.expires, what)});
    } else if (tally.named > 0) {
      outcome_.idle.push_back({waiver, Why::changed,
          fmt::format("{} there, but with another fingerprint: the code was changed since. Look again, then take a new "
                      "waiver from "
                      "`guard check --print-waiver`",
              plural(tally.named, "finding") + (tally.named == 1 ? " is" : " are"))});
    } else if (tally.saw_file) {
      outcome_.idle.push_back({waiver, Why::no_finding,
          "the rule finds nothing there with the tiers of this check; if that is so everywhere, take the waiver out"});
    } else {
      outcome_.idle.push_back({waiver, Why::no_file, "no file of this check has that path"});
    }
  }
  return std::move(outcome_);
}

WaiverOutcome apply_waivers(
    const std::vector<Waiver>& waivers, const std::vector<SourceFile>& files, std::string_view today, Report& report) {
  WaiverDesk desk(waivers, today);
  desk.apply(files, report);
  return desk.finish();
}

std::string waiver_template(const Report& report, std::string_view project, std::string_view today) {
  const std::string expires = day_after(today, kWaiverTemplateDays);
  std::set<std::pair<std::string, std::string>>
      printed;  // path, fingerprint: one waiver serves all findings that look alike
  std::string text;
  for (const auto& finding : report.findings) {
    if (finding.severity != Severity::block) continue;
    const std::string path = relative_to(project, finding.path);
    const std::string place =
        printable(finding.line == 0 ? finding.path : fmt::format("{}:{}", finding.path, finding.line));
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

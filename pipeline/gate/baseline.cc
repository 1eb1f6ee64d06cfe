#include "pipeline/gate/baseline.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <set>

#include "common/file_io.h"
#include "common/text/foreign_json.h"
#include "common/text/text.h"

namespace guard {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

constexpr std::string_view kSchema = "guard-baseline/1";
// Some hundred thousand entries.
constexpr std::uint64_t kBytesMax = 64u << 20;

bool is_hex(std::string_view text) {
  return text.size() == 64 && text.find_first_not_of("0123456789abcdef") == std::string_view::npos;
}

Error no_baseline(std::string_view what) {
  return Error(ErrorCode::input_invalid, fmt::format("{} {}", kBaselineFile, what))
      .hint("restore it from git; or remove it and write a new one with `guard check --write-baseline`");
}

}  // namespace

Baseline::Baseline(const fs::path& project, std::vector<std::string> gated)
    : project_(project), paths_(project), gated_(std::move(gated)) {}

Result<bool> Baseline::read(const fs::path& file) {
  const auto document = read_file(file, kBytesMax, FollowLinks::no);
  if (!document && document.error().code() == ErrorCode::file_not_found) return false;
  if (!document) return document.error();
  GUARD_TRY(parse(*document));
  return true;
}

Result<void> Baseline::parse(std::string_view document) {
  auto parsed = parse_json(document, RepeatedKeys::refused);
  if (!parsed) return no_baseline(parsed.error().message());
  if (!parsed->is_object() || parsed->value("schema", json()) != kSchema || !parsed->contains("findings") ||
      !(*parsed)["findings"].is_array()) {
    return no_baseline(fmt::format("is not a document of {}", kSchema));
  }
  counts_.clear();
  for (const json& row : (*parsed)["findings"]) {
    const auto text = [&](const char* name) {
      return row.is_object() && row.contains(name) && row[name].is_string() ? row[name].get<std::string>()
                                                                            : std::string();
    };
    const Key key{text("path"), text("rule"), text("fingerprint")};
    const bool counted = row.is_object() && row.contains("count") && row["count"].is_number_unsigned();
    const auto count = counted ? row["count"].get<std::uint64_t>() : 0;
    if (std::get<0>(key).empty() || std::get<1>(key).empty() || !is_hex(std::get<2>(key)) || count == 0 ||
        count > UINT32_MAX || !counts_.emplace(key, count).second) {
      return no_baseline("has an entry that is incomplete, or there twice");
    }
  }
  return ok();
}

std::uint64_t Baseline::findings() const noexcept {
  std::uint64_t sum = 0;
  for (const auto& [key, count] : counts_) sum += count;
  return sum;
}

std::optional<Baseline::Key> Baseline::key_of(const Finding& finding) const {
  // A hit that nobody confirmed may stand for others of its kind.
  if (finding.severity != Severity::block || !finding.confirmed || finding.fingerprint.empty()) return std::nullopt;
  // What is wrong with a file as such (a link, say) may be another thing tomorrow under the same name.
  if (finding.tier != FindingTier::always && finding.tier != FindingTier::docker && finding.tier != FindingTier::host)
    return std::nullopt;
  auto path = paths_.below(finding.path);
  if (!path || !is_utf8(*path) || is_gated_path(gated_, *path) || is_gated_path(gated_, finding.path))
    return std::nullopt;
  return Key{*std::move(path), finding.rule, finding.fingerprint};
}

void Baseline::add(const std::vector<Finding>& findings) {
  for (const Finding& finding : findings) {
    if (const auto key = key_of(finding)) ++counts_[*key];
  }
}

void Baseline::shrink_to(const Baseline& now, const std::vector<std::string>& seen) {
  std::set<std::string> looked_at;
  for (const auto& path : seen) {
    if (auto inside = paths_.below(path)) looked_at.insert(*std::move(inside));
  }
  for (auto entry = counts_.begin(); entry != counts_.end();) {
    const std::string& path = std::get<0>(entry->first);
    std::error_code failure;
    if (looked_at.count(path) != 0 || fs::symlink_status(project_ / path, failure).type() == fs::file_type::not_found) {
      const auto found = now.counts_.find(entry->first);
      entry->second = std::min(entry->second, found == now.counts_.end() ? 0 : found->second);
    }
    entry = entry->second == 0 ? counts_.erase(entry) : std::next(entry);
  }
}

std::string Baseline::document() const {
  std::string text = fmt::format("{{\n\"schema\": \"{}\",\n\"findings\": [", kSchema);
  const char* before = "\n";
  for (const auto& [key, count] : counts_) {
    const nlohmann::ordered_json row = {
        {"path", std::get<0>(key)}, {"rule", std::get<1>(key)}, {"count", count}, {"fingerprint", std::get<2>(key)}};
    text += before + row.dump();
    before = ",\n";
  }
  return text + "\n]\n}\n";
}

std::uint64_t Baseline::take_known(std::vector<Finding>& findings) const {
  if (counts_.empty()) return 0;
  auto left = counts_;
  return std::erase_if(findings, [&](const Finding& finding) {
    const auto key = key_of(finding);
    const auto entry = key ? left.find(*key) : left.end();
    if (entry == left.end() || entry->second == 0) return false;
    --entry->second;
    return true;
  });
}

}  // namespace guard

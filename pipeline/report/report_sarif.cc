#include "pipeline/report/reports.h"

#include <fmt/format.h>

#include <map>
#include <nlohmann/json.hpp>
#include <utility>

#include "common/text/text.h"
#include "pipeline/report/json_parts.h"
#include "pipeline/report/rule_page.h"

namespace guard {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::string_view kSchema = "https://json.schemastore.org/sarif-2.1.0.json";
constexpr std::string_view kFingerprint = "guardFinding/v1";

Json text_of(std::string_view text) { return {{"text", clean(text)}}; }

// RFC 3986: everything but unreserved characters and '/' is encoded, so that no name can end the path or begin a query.
std::string uri_of(std::string_view path) {
  while (path.starts_with("./")) path.remove_prefix(2);
  std::string uri = path.starts_with("/") ? "file://" : "";
  for (const char c : path) {
    const bool plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
        std::string_view("-._~/").find(c) != std::string_view::npos;
    if (plain) {
      uri += c;
    } else {
      uri += fmt::format("%{:02X}", static_cast<unsigned>(static_cast<unsigned char>(c)));
    }
  }
  return uri;
}

std::string help_of(const std::string& fix, const std::string& page) { return fmt::format("{} (See {}.)", fix, page); }

// What the reader of a Markdown cell must not take for markup.
std::string markdown(std::string_view text) { return backslashed(text, "\\`*_{}[]<>#|"); }

class Rules {
 public:
  explicit Rules(const SarifOptions& options) : options_(options) {}

  std::size_t index_of(const Finding& finding) {
    const auto known = indexes_.find(finding.rule);
    if (known != indexes_.end()) return known->second;
    const std::size_t index = list_.size();
    indexes_.emplace(finding.rule, index);
    list_.push_back(descriptor(finding));
    return index;
  }

  Json take() { return std::move(list_); }

 private:
  Json descriptor(const Finding& finding) const {
    const Rule* rule = options_.rules.find(finding.rule);
    const std::string title = rule == nullptr ? clean(finding.message) : std::string(rule->title);
    const std::string why = rule == nullptr ? title : std::string(rule->why);
    const std::string fix = clean(rule == nullptr ? finding.fix : rule->fix);
    const std::string anchor = rule_anchor(finding.rule, finding.tier);
    const std::string page = rule_page(finding.rule, finding.tier);
    Json json;
    json["id"] = finding.rule;
    json["shortDescription"] = text_of(title);
    json["fullDescription"] = text_of(why);
    json["help"] = {
        {"text", help_of(fix, page)}, {"markdown", fmt::format("**Instead:** {}\n\nSee `{}`.", markdown(fix), page)}};
    if (!options_.docs_url.empty()) json["helpUri"] = fmt::format("{}#{}", options_.docs_url, anchor);
    json["defaultConfiguration"] = {{"level", finding.severity == Severity::block ? "error" : "note"}};
    json["properties"] = {{"tags", Json::array({"security", fmt::format("tier/{}", to_string(finding.tier))})},
        {"tier", to_string(finding.tier)}};
    return json;
  }

  const SarifOptions& options_;
  std::map<std::string, std::size_t> indexes_;
  Json list_ = Json::array();
};

Json location_of(const Finding& finding) {
  Json artifact = {{"uri", uri_of(finding.path)}};
  if (!finding.path.starts_with("/")) artifact["uriBaseId"] = "%SRCROOT%";
  Json physical = {{"artifactLocation", std::move(artifact)}};
  const Region& region = finding.region;
  if (region.line > 0) {
    physical["region"] = {{"startLine", region.line}, {"startColumn", region.column}, {"endLine", region.end_line},
        {"endColumn", region.end_column}};
    // The line as people see it, cut and masked: not the region's own text, so it stands for what is around.
    if (!finding.excerpt.empty()) {
      physical["contextRegion"] = {{"startLine", region.line}, {"snippet", text_of(finding.excerpt)}};
    }
  }
  return {{"physicalLocation", std::move(physical)}};
}

Json result_of(const Finding& finding, Rules& rules) {
  std::string message = clean(finding.message);
  if (!finding.matched.empty()) message += fmt::format("; reads as: {}", clean(finding.matched));
  Json json;
  json["ruleId"] = finding.rule;
  json["ruleIndex"] = rules.index_of(finding);
  json["level"] = finding.severity == Severity::block ? "error" : "note";
  json["message"] = text_of(message);
  json["locations"] = Json::array({location_of(finding)});
  if (!finding.fingerprint.empty()) json["partialFingerprints"] = {{kFingerprint, finding.fingerprint}};
  if (!finding.matched.empty()) json["properties"]["matched"] = clean(finding.matched);
  if (!finding.confirmed) json["properties"]["confirmed"] = false;
  return json;
}

Json results_of(const CheckRecord& record, Rules& rules) {
  Json results = Json::array();
  for (const auto& finding : record.report.findings) results.push_back(result_of(finding, rules));
  for (const auto& waived : record.waived) {
    Json json = result_of(waived.finding, rules);
    json["suppressions"] = Json::array({{{"kind", "external"}, {"status", "accepted"},
        {"justification", fmt::format("{} (waived until {})", clean(waived.waiver.reason), waived.waiver.expires)}}});
    results.push_back(std::move(json));
  }
  return results;
}

Json notification(std::string_view level, std::string_view id, std::string_view text) {
  return {{"level", level}, {"descriptor", {{"id", id}}}, {"message", text_of(text)}};
}

Json invocation_of(const Verdict& verdict, const std::optional<Error>& error, const CheckRecord* check) {
  const ReasonInfo& row = info(verdict.reason);
  const bool decided = verdict.kind() == VerdictKind::allowed || verdict.kind() == VerdictKind::rejected;
  Json json;
  json["executionSuccessful"] = decided;
  json["exitCode"] = verdict.exit_status();
  json["exitCodeDescription"] = fmt::format("{}: {}", to_string(verdict.kind()), row.sentence);
  Json notices = Json::array();
  if (!decided) {
    std::string text = std::string(row.sentence);
    if (!verdict.detail.empty()) text += ": " + verdict.detail;
    if (!row.next.empty()) text += fmt::format(". Next: {}", row.next);
    notices.push_back(notification("error", row.name, text));
  }
  if (error) notices.push_back(notification(decided ? "warning" : "error", error->wire_name(), error->to_string()));
  if (check != nullptr) {
    for (const auto& idle : check->idle_waivers) {
      if (idle.why == IdleWaiver::Why::no_file) continue;
      notices.push_back(notification("warning", "waiver",
          fmt::format("waiver of {} in {}: {}", idle.waiver.rule, idle.waiver.path, idle.sentence)));
    }
  }
  if (!notices.empty()) json["toolExecutionNotifications"] = std::move(notices);
  return json;
}

std::string document(const Verdict& verdict, const std::optional<Error>& error, const CheckRecord* check,
    Json properties, const SarifOptions& options) {
  Rules rules(options);
  Json results = check == nullptr ? Json::array() : results_of(*check, rules);
  Json driver = {{"name", "guard"}, {"semanticVersion", options.version}};
  if (!options.docs_url.empty()) driver["informationUri"] = options.docs_url;
  driver["rules"] = rules.take();
  properties["verdict"] = to_string(verdict.kind());
  properties["reason"] = info(verdict.reason).name;
  if (check != nullptr) {
    properties["mode"] = check->mode;
    properties["tiers"] = check->tiers;
    properties["files"] = check->report.files;
    properties["bytes"] = check->report.bytes;
    properties["rules_digest"] = check->rules_digest;
  }
  Json run;
  run["tool"] = {{"driver", std::move(driver)}};
  run["invocations"] = Json::array({invocation_of(verdict, error, check)});
  run["columnKind"] = "unicodeCodePoints";
  run["newlineSequences"] = Json::array({"\r\n", "\n", "\r"});
  run["results"] = std::move(results);
  run["properties"] = std::move(properties);
  const Json log = {{"$schema", kSchema}, {"version", "2.1.0"}, {"runs", Json::array({std::move(run)})}};
  return dump(log);
}

}  // namespace

std::string check_sarif(const CheckRecord& record, const SarifOptions& options) {
  return document(record.verdict, record.error, &record, Json::object(), options);
}

std::string run_sarif(const RunRecord& record, const SarifOptions& options) {
  Json properties = {{"backend", record.backend}};
  if (record.tests) {
    properties["tests"] = {
        {"passed", record.tests->passed}, {"failed", record.tests->failures}, {"skipped", record.tests->skipped}};
  }
  return document(
      record.verdict, record.error, record.check ? &*record.check : nullptr, std::move(properties), options);
}

}  // namespace guard

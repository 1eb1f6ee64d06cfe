// For tests of what comes out of the gate: the shipped rules, texts in place of files, masked as `guard check` masks.
#pragma once

#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "pipeline/evidence/masked_record.h"
#include "pipeline/gate/gate.h"

namespace guard {

inline const Matcher& shipped_matcher() {
  static const Matcher kMatcher = Matcher::create(RuleSet::shipped()).value();
  return kMatcher;
}

// A rule of each kind that reports tell apart. What is tested of reports must not hang on what the shipped rules say
// today.
inline const RuleSet& test_rules() {
  static const RuleSet kRules = [] {
    const auto rule = [](std::string id, Tier tier, std::string title, std::string regex, View view) {
      Rule made;
      made.id = std::move(id);
      made.tier = tier;
      made.title = std::move(title);
      made.why = "It does harm.";
      made.fix = "Leave it out.";
      made.patterns = {{std::move(regex), {view}, 0, 0, 0, 0}};
      return made;
    };
    return RuleSet::create(
        {rule("always.proc_file", Tier::always, "names a file of /proc", "/proc/self/[a-z]+", View::strings),
            rule("always.env_dump", Tier::always, "takes the whole environment", R"(process\.env\b)", View::code),
            rule("banned.anthropic_key", Tier::banned, "a key", "sk-ant-[A-Za-z0-9_-]{6,}", View::raw),
            rule("host.fs_remove", Tier::host, "deletes files", R"(\brmSync\b)", View::code),
            rule("host.eval", Tier::host, "runs text", R"(\beval\()", View::code),
            rule("host.fetches", Tier::host, "fetches", R"(curl [^\x1e\x1f]+ sh)", View::strings)},
        {})
        .value();
  }();
  return kRules;
}
inline const Matcher& test_matcher() {
  static const Matcher kMatcher = Matcher::create(test_rules(), Engine::re2_only).value();
  return kMatcher;
}

struct Gate {
  Config config;
  std::vector<KnownSecret> known;
  bool files_expected = true;
  const RuleSet* rules = &test_rules();
  const Matcher* matcher = &test_matcher();

  CheckRecord operator()(std::vector<SourceFile> files, std::string_view mode = "host") const {
    auto secrets = SecretSource::shipped(known);
    if (!secrets) {
      ADD_FAILURE() << secrets.error().to_string();
      return {};
    }
    GateRequest request;
    request.rules = rules;
    request.matcher = matcher;
    request.config = &config;
    request.secrets = [&]() -> Result<const SecretSource*> { return &*secrets; };
    request.files_expected = files_expected;
    request.keep_names = true;
    CheckRecord record = gate(request, SourceFiles{std::move(files), {}}, mode);
    mask_record(*secrets, record);
    return record;
  }
};

inline const Finding* find(const CheckRecord& record, std::string_view rule) {
  for (const auto& finding : record.report.findings) {
    if (finding.rule == rule) return &finding;
  }
  return nullptr;
}

// A key that no file of this repository holds in one piece.
inline std::string made_up_key() { return "sk-" + std::string("ant-api03-") + std::string(40, 'q'); }

}  // namespace guard

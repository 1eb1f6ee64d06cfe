#include "pipeline/evidence/masked_record.h"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>
#include <vector>

#include "redact/redactor.h"

namespace guard {
namespace {

class Mask {
 public:
  explicit Mask(const SecretSource& secrets) : secrets_(secrets) {}

  void operator()(std::string& text) const { text = masked(text); }

  std::string masked(const std::string& text) const {
    auto hidden = redact_text(secrets_, text);
    return hidden ? std::move(*hidden) : std::string("[WITHHELD]");
  }

  void operator()(std::optional<Error>& error) const {
    if (error) *error = masked_error(secrets_, *error);
  }

  void operator()(Verdict& verdict) const { (*this)(verdict.detail); }

  void operator()(std::vector<std::string>& texts) const {
    for (auto& text : texts) (*this)(text);
  }

  // Many short texts with one reading: as the lines of one text, where that keeps its lines.
  void lines(const std::vector<std::string*>& texts) const {
    std::string all;
    for (const std::string* text : texts) {
      if (text->find_first_of("\r\n") != std::string::npos) return one_by_one(texts);
      all += *text + "\n";
    }
    const std::string hidden = masked(all);
    if (static_cast<std::size_t>(std::count(hidden.begin(), hidden.end(), '\n')) != texts.size())
      return one_by_one(texts);
    std::string_view rest = hidden;
    for (std::string* text : texts) {
      const std::size_t end = rest.find('\n');
      *text = rest.substr(0, end);
      rest.remove_prefix(end + 1);
    }
  }

  void operator()(std::map<std::string, std::string>& rows) const {
    std::map<std::string, std::string> hidden;
    for (const auto& [key, value] : rows) {
      // Two names that look alike once they are masked stay two rows.
      const std::string shown = masked(key);
      std::string name = shown;
      for (int count = 2; hidden.count(name) != 0; ++count) name = fmt::format("{} ({})", shown, count);
      hidden.emplace(std::move(name), masked(value));
    }
    rows = std::move(hidden);
  }

 private:
  void one_by_one(const std::vector<std::string*>& texts) const {
    for (std::string* text : texts) (*this)(*text);
  }

  const SecretSource& secrets_;
};

void mask_facts(const Mask& mask, RunFacts& facts) {
  mask(facts.project);
  mask(facts.files);
  for (auto& entry : facts.config) {
    mask(entry.key);
    mask(entry.value);
    mask(entry.origin);
  }
  mask(facts.config_file);
  mask(facts.rules_folder);
  mask(facts.engine_endpoint);
  mask(facts.engine_version);
  mask(facts.engine);
}

void mask_finding(const Mask& mask, Finding& finding) {
  mask(finding.path);
  mask(finding.message);
  mask(finding.matched);  // masked with what stands around it before; a path or an alias in it may hold a known value
}

}  // namespace

Error masked_error(const SecretSource& secrets, const Error& error) {
  const Mask mask(secrets);
  Error hidden(error.code(), mask.masked(error.message()));
  for (const auto& frame : error.frames()) (void)std::move(hidden).context(mask.masked(frame));
  (void)std::move(hidden).hint(mask.masked(std::string(error.hint())));
  for (const auto& [key, value] : error.details()) (void)std::move(hidden).detail(key, mask.masked(value));
  return hidden;
}

std::map<std::string, std::string> masked_names(const SecretSource& secrets, std::map<std::string, std::string> rows) {
  Mask mask(secrets);
  mask(rows);
  return rows;
}

void mask_record(const SecretSource& secrets, CheckRecord& record) {
  const Mask mask(secrets);
  mask(record.verdict);
  mask(record.error);
  const auto mask_waiver = [&](Waiver& waiver) {
    mask(waiver.path);
    mask(waiver.reason);
  };
  for (auto& finding : record.report.findings) mask_finding(mask, finding);
  for (auto& waived : record.waived) {
    mask_finding(mask, waived.finding);
    mask_waiver(waived.waiver);
  }
  for (auto& used : record.waivers) mask_waiver(used.waiver);
  for (auto& idle : record.idle_waivers) {
    mask_waiver(idle.waiver);
    mask(idle.sentence);
  }
  mask(record.names);
}

void mask_record(const SecretSource& secrets, RunRecord& record) {
  const Mask mask(secrets);
  mask(record.verdict);
  mask(record.error);
  mask(record.why_backend);
  if (record.check) mask_record(secrets, *record.check);
  for (auto& result : record.files) {
    mask(result.file);
    mask(result.detail);
    mask(result.last_test);
    if (result.load_error) mask(result.load_error->message);
  }
  if (record.tests) {
    for (auto& file : record.tests->files) mask(file.file);
    std::vector<std::string*> titles;
    for (auto& test : record.tests->cases) {
      titles.insert(titles.end(), {&test.file, &test.name});
      if (!test.message.empty()) mask(test.message);
    }
    mask.lines(titles);
  }
  if (record.exec) {
    mask(record.exec->outcome.detail);
    mask(record.exec->seen_inside);
  }
  if (record.collected) {
    for (auto& file : record.collected->files) mask(file.path);
    for (auto& entry : record.collected->left_behind) mask(entry.path);
  }
  if (record.spec) {
    mask(record.spec->argv);
    mask(record.spec->image.reference);
  }
  if (record.facts) mask_facts(mask, *record.facts);
  mask(record.hashes);
  mask(record.preload);
  mask(record.left_out);
  for (auto& finding : record.refused) mask_finding(mask, finding);
  mask(record.relaxations);
  mask(record.notes);
}

void mask_or_withhold(const std::optional<SecretSource>& secrets, RunRecord& record) {
  if (secrets) return mask_record(*secrets, record);
  if (const auto kinds = SecretSource::shipped()) return mask_record(*kinds, record);
  const std::optional<RunFacts> facts = std::move(record.facts);
  Error withheld(ErrorCode::withheld, "what the run said is withheld: no redactor could be made");
  record = RunRecord{};
  record.verdict = verdict_of(withheld);
  record.error = std::move(withheld);
  if (facts) record.facts = without_texts(*facts);
}

}  // namespace guard

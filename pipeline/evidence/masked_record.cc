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

  template <typename... Values>
  void operator()(Values&... values) const {
    (mask(values), ...);
  }

  std::string masked(std::string_view text) const {
    auto hidden = redact_text(secrets_, text);
    return hidden ? std::move(*hidden) : std::string("[WITHHELD]");
  }

  // Many short texts with one reading: as the lines of one text, where that keeps its lines. Not with a control
  // character: an escape sequence that does not end could hide the lines behind it.
  void lines(const std::vector<std::string*>& texts) const {
    if (texts.empty()) return;
    std::string all;
    bool splits = true;
    for (const std::string* text : texts) {
      splits = splits && std::none_of(text->begin(), text->end(), [](unsigned char c) { return c < ' ' || c == 0x7f; });
      all += *text + "\n";
    }
    const std::string hidden = splits ? masked(all) : std::string();
    if (static_cast<std::size_t>(std::count(hidden.begin(), hidden.end(), '\n')) != texts.size()) {
      for (std::string* text : texts) mask(*text);
      return;
    }
    std::string_view rest = hidden;
    for (std::string* text : texts) {
      const std::size_t end = rest.find('\n');
      *text = rest.substr(0, end);
      rest.remove_prefix(end + 1);
    }
  }

 private:
  // Findings have most of their texts in common.
  void mask(std::string& text) const {
    const auto [known, fresh] = known_.try_emplace(text);
    if (fresh) known->second = masked(text);
    text = known->second;
  }
  void mask(std::vector<std::string>& texts) const {
    std::vector<std::string*> all;
    for (auto& text : texts) all.push_back(&text);
    lines(all);
  }
  void mask(std::map<std::string, std::string>& rows) const {
    std::vector<std::string> names;
    std::vector<std::string> values;
    for (auto& [key, value] : rows) {
      names.push_back(key);
      values.push_back(std::move(value));
    }
    mask(names);
    mask(values);
    rows.clear();
    for (std::size_t i = 0; i < names.size(); ++i) {
      // Two names that look alike once they are masked stay two rows.
      std::string name = names[i];
      for (int count = 2; rows.count(name) != 0; ++count) name = fmt::format("{} ({})", names[i], count);
      rows.emplace(std::move(name), std::move(values[i]));
    }
  }
  void mask(std::optional<Error>& error) const {
    if (error) error = masked_error(secrets_, *error);
  }
  void mask(Verdict& verdict) const { mask(verdict.detail); }
  void mask(Waiver& waiver) const { (*this)(waiver.path, waiver.reason); }
  // `matched` was masked with what stands around it before; a path or an alias in it may hold a known value.
  void mask(Finding& finding) const { (*this)(finding.path, finding.message, finding.matched); }

  const SecretSource& secrets_;
  mutable std::map<std::string, std::string> known_;  // each text, masked
};

}  // namespace

Error masked_error(const SecretSource& secrets, const Error& error) {
  const Mask mask(secrets);
  Error hidden(error.code(), mask.masked(error.message()));
  // NOLINTBEGIN(bugprone-use-after-move): each gives itself back
  for (const auto& frame : error.frames()) (void)std::move(hidden).context(mask.masked(frame));
  (void)std::move(hidden).hint(mask.masked(error.hint()));
  for (const auto& [key, value] : error.details()) (void)std::move(hidden).detail(key, mask.masked(value));
  // NOLINTEND(bugprone-use-after-move)
  return hidden;
}

std::map<std::string, std::string> masked_names(const SecretSource& secrets, std::map<std::string, std::string> rows) {
  Mask{secrets}(rows);
  return rows;
}

void mask_record(const SecretSource& secrets, CheckRecord& record) {
  const Mask mask(secrets);
  mask(record.verdict, record.error, record.names);
  for (auto& finding : record.report.findings) mask(finding);
  for (auto& waived : record.waived) mask(waived.finding, waived.waiver);
  for (auto& used : record.waivers) mask(used.waiver);
  for (auto& idle : record.idle_waivers) mask(idle.waiver, idle.sentence);
}

void mask_record(const SecretSource& secrets, RunRecord& record) {
  const Mask mask(secrets);
  mask(record.verdict, record.error, record.why_backend, record.hashes, record.preload, record.left_out,
      record.relaxations, record.notes);
  if (record.check) mask_record(secrets, *record.check);
  for (auto& finding : record.refused) mask(finding);
  for (auto& result : record.files) {
    mask(result.file, result.detail, result.last_test);
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
  if (record.exec) mask(record.exec->outcome.detail, record.exec->seen_inside);
  if (record.network) {
    for (auto& line : record.network->lines) mask(line.host);
  }
  if (record.collected) {
    for (auto& file : record.collected->files) mask(file.path);
    for (auto& entry : record.collected->left_behind) mask(entry.path);
  }
  if (record.spec) mask(record.spec->argv, record.spec->image.reference);
  if (!record.facts) return;
  RunFacts& facts = *record.facts;
  for (auto& entry : facts.config) mask(entry.key, entry.value, entry.origin);
  mask(facts.project, facts.files, facts.config_file, facts.rules_folder, facts.engine_endpoint, facts.engine_version,
      facts.engine);
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

#include "pipeline/masked_record.h"

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

  void operator()(std::map<std::string, std::string>& rows) const {
    std::map<std::string, std::string> hidden;
    for (const auto& [key, value] : rows) hidden.emplace(masked(key), masked(value));
    rows = std::move(hidden);
  }

 private:
  const SecretSource& secrets_;
};

}  // namespace

Error masked_error(const SecretSource& secrets, const Error& error) {
  const Mask mask(secrets);
  Error hidden(error.code(), mask.masked(error.message()));
  for (const auto& frame : error.frames()) (void)std::move(hidden).context(mask.masked(frame));
  (void)std::move(hidden).hint(mask.masked(std::string(error.hint())));
  for (const auto& [key, value] : error.details()) (void)std::move(hidden).detail(key, mask.masked(value));
  return hidden;
}

void mask_record(const SecretSource& secrets, CheckRecord& record) {
  const Mask mask(secrets);
  mask(record.verdict);
  mask(record.error);
  const auto mask_finding = [&](Finding& finding) {
    mask(finding.path);
    mask(finding.message);
    mask(finding.matched);  // masked with what stands around it before; a path or an alias in it may hold a known value
  };
  const auto mask_waiver = [&](Waiver& waiver) {
    mask(waiver.path);
    mask(waiver.reason);
  };
  for (auto& finding : record.report.findings) mask_finding(finding);
  for (auto& waived : record.waived) {
    mask_finding(waived.finding);
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
  if (record.tests) {
    for (auto& file : record.tests->files) mask(file.file);
    for (auto& failed : record.tests->failed) {
      mask(failed.file);
      mask(failed.name);
      mask(failed.message);
    }
  }
  if (record.exec) {
    mask(record.exec->outcome.detail);
    mask(record.exec->seen_inside);
  }
  if (record.collected) {
    for (auto& file : record.collected->files) mask(file.path);
    for (auto& entry : record.collected->left_behind) mask(entry.path);
  }
  mask(record.hashes);
  mask(record.left_out);
  mask(record.widenings);
  mask(record.notes);
}

}  // namespace guard

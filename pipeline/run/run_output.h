// The way of a run's output: program -> redactor -> terminal safety -> cap -> the caller's sinks. Both streams have a
// redactor each and one budget. Beside that way, and never printed, the raw stderr is read for bun's closing summary.
//
// Not thread-safe. `secrets` and the sinks must outlive it.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>

#include "common/byte_sink.h"
#include "common/environment.h"
#include "common/output_cap.h"
#include "common/result.h"
#include "pipeline/config/config.h"
#include "redact/kinds/secret_source.h"
#include "redact/redactor.h"
#include "runner/init_side/bun_report.h"

namespace guard {

class RunOutput {
 public:
  // `keep_bytes` 0: no cap.
  static Result<std::unique_ptr<RunOutput>> create(
      const SecretSource& secrets, std::uint64_t keep_bytes, ByteSink& out, ByteSink& err);
  ~RunOutput();
  RunOutput(const RunOutput&) = delete;
  RunOutput& operator=(const RunOutput&) = delete;

  ByteSink& out();
  ByteSink& err();

  // Once, after the run. `whole`: the streams ended by themselves; cut: they were cut by force, and what may be the
  // beginning of a secret at the end is masked. Without either call the tails are dropped.
  enum class Ending { whole, cut };
  Result<void> finish(Ending ending);

  // bun's closing summary and the failures it told of, since the last call: one of each program of the run.
  struct Told {
    std::optional<TextSummary> summary;
    std::uint64_t failures = 0;
    std::string error_outside;  // TextSummaryReader's, as is the test
    std::string last_test;
  };
  Told take_told();
  std::map<std::string, std::uint64_t> redactions() const;  // per kind, both streams
  std::uint64_t kept_bytes() const noexcept;
  std::uint64_t dropped_bytes() const noexcept;
  enum class Stream { out, err };
  bool truncated(Stream stream) const noexcept;  // whether some of the dropped bytes were of this one

 private:
  struct State;
  explicit RunOutput(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

// What to mask besides the kinds: every variable of `environment` whose name looks secret, those named, and each line
// of `files` (blank lines left out). Names that are not set are left out; a file that can't be read is an error: its
// secrets would pass.
Result<std::vector<KnownSecret>> known_secrets(const std::map<std::string, std::string>& environment,
    const std::vector<std::string>& names, const std::vector<std::string>& files);

// What is masked where this configuration holds: the kinds, what is known of the environment, credentials that need no
// command, and what else is `passed` in.
Result<SecretSource> secrets_of(
    const Environment& environment, const Config& config = {}, const std::map<std::string, std::string>& passed = {});

}  // namespace guard

// `guard nightly work`: what a worker makes of task folders, one after the other.
#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <thread>

#include "cli/commands/rule_engine.h"
#include "cli/nightly/nightly_parts.h"
#include "common/file_io.h"
#include "common/text/text.h"
#include "common/time.h"
#include "nightly/loop/attempt_run.h"
#include "pipeline/evidence/masked_record.h"
#include "pipeline/run/run_output.h"

namespace guard {
namespace {

namespace fs = std::filesystem;

constexpr milliseconds kLook{200};
constexpr milliseconds kLockMends{30'000};  // a lock server is started again

// Waits for another worker, no longer than the night may last: it may end without a result.
Result<UniqueFd> wait_for_lock(const fs::path& folder, const CancelToken& cancel) {
  GUARD_TRY_ASSIGN(const auto read, nightly::read_task(folder));
  const Deadline deadline = Deadline::after(read.task ? read.task->order.time_left : milliseconds(0));
  Deadline mends = Deadline::after(kLockMends);
  for (;;) {
    auto lock = nightly::lock_task(folder);
    if (lock && *lock) return std::move(**lock);
    if (cancel.cancelled()) return Error(ErrorCode::cancelled, "stopped");
    if (lock) mends = Deadline::after(kLockMends);
    if (!lock && (lock.error().code() != ErrorCode::io_error || mends.passed())) return std::move(lock).error();
    if (lock && deadline.passed())
      return Error(ErrorCode::input_invalid, fmt::format("another worker has {}", printable(folder.native())))
          .hint("its result will be there once it is done");
    std::this_thread::sleep_for(kLook);
  }
}

// Everything is made in a folder of its own, which is gone afterwards, whatever came of it.
Result<nightly::WorkResult> attempt(
    const fs::path& folder, const nightly::ReadTask& read, const Options& options, CommandContext& context) {
  if (!read.task) return read.task.error();
  const nightly::TaskFile& task = *read.task;
  GUARD_TRY_ASSIGN(const TempDir scratch, TempDir::create(options.scratch));  // removes what killed workers left
  if (!options.key.empty()) GUARD_TRY(nightly::try_key(options.key, scratch.path(), context.cancel));
  CancelToken never;  // of git
  GUARD_TRY_ASSIGN(const auto repository,
      nightly::NightRepository::unpack(
          folder / "repository.pack", task.order.start, task.object_format, scratch.path() / "repository", never));
  GUARD_TRY_ASSIGN(const auto state,
      nightly::StateFolder::of(repository.top(), (scratch.path() / "state").native(), context.environment));
  GUARD_TRY(state.make());

  // The coordinator's settings, and none of this machine's.
  ConfigSources sources;
  sources.environment = task.environment;
  if (!task.config_name.empty()) sources.text = ConfigText{task.config_name, task.config_text};
  GUARD_TRY_ASSIGN(const LoadedConfig config, load_config(sources));
  std::error_code failure;
  const fs::path rules = folder / "rules";
  GUARD_TRY_ASSIGN(const RuleEngine engine, load_rule_engine(fs::exists(rules, failure) ? rules.native() : ""));
  if (judging_digest(*engine.rules, config) != task.rules_digest) {
    return Error(ErrorCode::config_invalid, "this guard has other rules or other defaults than the coordinator's")
        .hint("let the same version work on all machines");
  }
  GUARD_TRY_ASSIGN(const SecretSource secrets, secrets_of(context.environment, config.config));

  nightly::Plan plan;
  plan.generator_env = task.generator_env;
  plan.allow_left_processes = task.allow_left_processes;
  nightly::NightContext night;
  night.repository = &repository;
  night.state = &state;
  night.config = &config;
  night.rules = engine.rules;
  night.matcher = &*engine.matcher;
  night.secrets = &secrets;
  night.plan = &plan;
  night.environment = context.environment;
  night.base = task.order.start;
  night.night = task.night;
  night.guard_version = GUARD_VERSION;
  return nightly::work_attempt(night, task.order, context.cancel);
}

Result<std::string> work_on(const fs::path& folder, const Options& options, CommandContext& context) {
  // Without it nothing is written, not even why: that would take the place of another's result.
  GUARD_TRY_ASSIGN(const UniqueFd lock, wait_for_lock(folder, context.cancel));
  if (nightly::has_result(folder)) return std::string("has its result already");
  GUARD_TRY_ASSIGN(const auto read, nightly::read_task(folder));
  auto result = attempt(folder, read, options, context);
  auto written = result ? nightly::write_result(folder, read.sha256, *result, options.key, context.cancel)
                        : Result<void>(result.error());
  if (written) {
    return fmt::format("{}{}{}", to_string(result->attempt.outcome), result->attempt.detail.empty() ? "" : ": ",
        printable(result->attempt.detail));
  }
  const Error& error = written.error();
  if (context.cancel.cancelled()) return error;
  // Whoever stopped us starts us again; all else only the coordinator can tell a person.
  GUARD_TRY_ASSIGN(const SecretSource secrets, secrets_of(context.environment));
  const auto put_back = nightly::put_back(masked_error(secrets, error));
  if (!nightly::write_result(folder, read.sha256, put_back, options.key, context.cancel))
    (void)nightly::write_result(folder, read.sha256, put_back, {}, context.cancel);  // the key may be what is wrong
  return error;
}

}  // namespace

Result<int> nightly_work(const Options& options, CommandContext& context) {
  int status = 0;
  for (const auto& named : options.arguments) {
    std::error_code failure;
    const auto done = work_on(fs::absolute(named, failure), options, context);
    if (context.cancel.cancelled()) return Error(ErrorCode::cancelled, "stopped");
    if (done) {
      context.streams.out.print("{}: {}\n", printable(named), *done);
    } else {
      status = std::max(status, fail(context, done.error()));
    }
  }
  return status;
}

}  // namespace guard

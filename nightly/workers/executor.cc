#include "nightly/workers/executor.h"

#include <fmt/format.h>
#include <linux/magic.h>
#include <sys/vfs.h>

#include <algorithm>
#include <thread>
#include <utility>

#include "common/text/text.h"
#include "common/time.h"
#include "nightly/workers/slurm.h"
#include "nightly/workers/task_folder.h"
#include "runner/process/child_process.h"

namespace guard::nightly {
namespace {

constexpr milliseconds kLook{200};
constexpr milliseconds kLookForGivenUp{2'000};  // asks the journal
// nfs(5): what is known of a folder is believed for up to acdirmax, 60 s where nobody set it; and half of that again.
constexpr milliseconds kNetworkShowsWithin{90'000};
constexpr milliseconds kLocalShowsWithin{2'000};

// Nobody is asked: whoever sees the folder takes it.
class FolderExecutor final : public Executor {
 public:
  Result<WorkEnd> work(const WorkOrder& order, const CancelToken& cancel) override {
    return await_result(order, cancel, [] { return std::nullopt; });
  }
};

// Whether it is nobody's work: then it becomes nobody's for good.
bool withdraw(const std::filesystem::path& folder) {
  std::error_code failure;
  if (!std::filesystem::exists(folder / "task.json", failure) && !failure && !has_result(folder)) return true;
  const auto lock = lock_task(folder);
  return lock && *lock && !has_result(folder) && std::filesystem::remove(folder / "task.json", failure);
}

}  // namespace

Result<std::unique_ptr<Executor>> make_executor(const ExecutorPlan& plan, NightPlace place) {
  if (plan.kind == ExecutorKind::local) return std::unique_ptr<Executor>();
  std::vector<const char*> programs;
  if (!plan.signers.empty() || !plan.trust_workers.empty()) programs.push_back("ssh-keygen");
  if (plan.kind == ExecutorKind::slurm) programs.insert(programs.end(), {"sbatch", "squeue", "scancel"});
  for (const char* program : programs) {
    if (find_program(program, place.environment)) continue;
    return Error(
        ErrorCode::config_invalid, fmt::format("[executor] of the plan needs {}, which is not on PATH", program))
        .hint("install it on this machine, or change [executor]");
  }
  if (plan.kind == ExecutorKind::folder) return std::unique_ptr<Executor>(std::make_unique<FolderExecutor>());
  const milliseconds shown = shown_within(place.folder);
  return make_slurm_executor(plan, std::move(place), shown);
}

Result<WorkEnd> await_result(
    const WorkOrder& order, const CancelToken& cancel, const std::function<std::optional<Result<WorkEnd>>()>& look) {
  const Deadline deadline = Deadline::after(order.time_left);
  auto next = SteadyClock::now();
  for (;;) {
    if (has_result(order.folder)) return WorkEnd{};
    if (cancel.cancelled()) return Error(ErrorCode::cancelled, "stopped");
    if (deadline.passed()) return WorkEnd{WorkEnd::Kind::out_of_time, {}};
    auto end = look();
    const bool is_lost = end && *end && (*end)->kind == WorkEnd::Kind::lost;
    if (end && !is_lost) return std::move(*end);
    if ((is_lost || order.is_given_up) && SteadyClock::now() >= next) {
      // Whoever gave the work out may be wrong about its worker; the lock is not.
      if (is_lost && withdraw(order.folder)) return std::move(*end);
      if (!is_lost && order.is_given_up() && withdraw(order.folder)) return Error(ErrorCode::cancelled, "stopped");
      next = SteadyClock::now() + kLookForGivenUp;
    }
    std::this_thread::sleep_for(kLook);
  }
}

milliseconds shown_within(const std::filesystem::path& folder) {
  constexpr long kLocal[] = {EXT4_SUPER_MAGIC, XFS_SUPER_MAGIC, BTRFS_SUPER_MAGIC, TMPFS_MAGIC, OVERLAYFS_SUPER_MAGIC};
  struct statfs about {};
  const bool is_local = ::statfs(folder.c_str(), &about) == 0 &&
      std::find(std::begin(kLocal), std::end(kLocal), static_cast<long>(about.f_type)) != std::end(kLocal);
  return is_local ? kLocalShowsWithin : kNetworkShowsWithin;
}

std::string array_script(const ExecutorPlan& plan, const std::filesystem::path& program, std::string_view index,
    const std::vector<std::vector<std::filesystem::path>>& batches) {
  std::string script = fmt::format("#!/bin/sh\ncase ${} in\n", index);
  for (std::size_t i = 0; i < batches.size(); ++i) {
    script += fmt::format("{}) set --", i);
    for (const auto& folder : batches[i]) script += " " + shell_quoted(folder.native());
    script += " ;;\n";
  }
  script += "*) exit 64 ;;\nesac\nexec " + shell_quoted(plan.program.empty() ? program.native() : plan.program) +
      " nightly work \"$@\"";
  if (!plan.scratch.empty()) script += " --scratch " + shell_quoted(plan.scratch);
  if (!plan.key.empty()) script += " --key " + shell_quoted(plan.key);
  return script + "\n";
}

}  // namespace guard::nightly

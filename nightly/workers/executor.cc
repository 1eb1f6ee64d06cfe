#include "nightly/workers/executor.h"

#include <fmt/format.h>
#include <unistd.h>

#include <condition_variable>
#include <map>
#include <mutex>
#include <thread>

#include "common/file_io.h"
#include "common/text/text.h"
#include "common/time.h"
#include "nightly/workers/slurm.h"
#include "nightly/workers/task_folder.h"

namespace guard::nightly {
namespace {

constexpr milliseconds kLook{200};

// Nobody is asked: whoever sees the folder takes it.
class FolderExecutor final : public Executor {
 public:
  Result<WorkEnd> work(const WorkOrder& order, const CancelToken& cancel) override {
    const Deadline deadline = Deadline::after(order.time_left);
    while (!has_result(order.folder)) {
      if (cancel.cancelled()) return Error(ErrorCode::cancelled, "stopped");
      if (deadline.passed()) return WorkEnd{WorkEnd::Kind::out_of_time, {}};
      std::this_thread::sleep_for(kLook);
    }
    return WorkEnd{};
  }
};

}  // namespace

Result<std::unique_ptr<Executor>> make_executor(
    const Plan& plan, const std::string& night, const std::filesystem::path& program, const Environment& environment) {
  switch (plan.executor.kind) {
    case ExecutorKind::local: return std::unique_ptr<Executor>();
    case ExecutorKind::folder: return std::unique_ptr<Executor>(std::make_unique<FolderExecutor>());
    case ExecutorKind::slurm: break;
  }
  return make_slurm_executor(plan, night, program, environment);
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

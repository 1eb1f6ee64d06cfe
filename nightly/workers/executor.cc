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

}  // namespace guard::nightly

// `guard nightly export`: manifests for workers elsewhere.
#include <unistd.h>

#include <algorithm>
#include <filesystem>

#include "cli/nightly/nightly_parts.h"
#include "common/file_io.h"
#include "nightly/plan/plan.h"
#include "nightly/workers/kubernetes.h"
#include "nightly/workers/task_folder.h"

namespace guard {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kExample = "guard nightly export kubernetes nightly.toml | kubectl apply -f -";

// Those of all nights that nobody has made yet, oldest night first: folders of this user that are what their names say.
std::vector<fs::path> waiting_folders(const fs::path& shared) {
  std::vector<fs::path> found;
  std::error_code failure;
  for (const auto& night : fs::directory_iterator(shared, failure)) {
    for (const auto& folder : fs::directory_iterator(night.path(), failure)) {
      const auto read = nightly::read_task(folder.path());
      if (!read || !read->task || nightly::has_result(folder.path())) continue;
      const auto& task = *read->task;
      if (folder.path() == shared / task.night / nightly::attempt_name(task.order.task.id, task.order.number))
        found.push_back(folder.path());
    }
  }
  std::sort(found.begin(), found.end());
  return found;
}

}  // namespace

Result<int> nightly_export(const Options& options, CommandContext& context) {
  const std::string& form = options.arguments[0];
  if (options.arguments.size() != 2 || (form != "kubernetes" && form != "agent-sandbox")) {
    return Error(ErrorCode::usage, "guard nightly export takes kubernetes or agent-sandbox, and a plan")
        .hint(std::string(kExample));
  }
  GUARD_TRY_ASSIGN(const nightly::Plan plan, read_plan(options.arguments[1]));
  if (form == "agent-sandbox") {
    GUARD_TRY_ASSIGN(const std::string document, nightly::kubernetes_sessions(plan.executor));
    context.streams.out.write(document);
    return 0;
  }
  const auto folders = waiting_folders(plan.executor.shared);
  GUARD_TRY_ASSIGN(const std::string document, nightly::kubernetes_job(plan.executor, folders, ::geteuid()));
  if (folders.empty()) {
    return Error(ErrorCode::file_not_found, "no task folder waits for a worker")
        .hint("start the night first (guard nightly run), with [executor] kind = \"folder\"");
  }
  GUARD_TRY(nightly::make_night_folder(
      nightly::kubernetes_cache(plan.executor), nightly::NightFolder::may_be_there));  // pods execute what lies there
  context.streams.out.write(document);
  return 0;
}

}  // namespace guard

#include "nightly/workers/kubernetes.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "common/hash.h"
#include "nightly/workers/executor.h"

namespace guard::nightly {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::ordered_json;

constexpr uid_t kUser = 1000;      // of sessions, which own nothing outside of their pod
constexpr int kWarm = 5;           // as many as `guard serve` keeps ready
constexpr int kRetries = 2;        // of an index: an attempt that goes on being killed is the coordinator's to judge
constexpr int kKeptFor_s = 3'600;  // a Job that is done
constexpr std::string_view kScript = "/guard/work.sh";
constexpr std::string_view kScriptName = "work.sh";
constexpr std::string_view kSessions = "guard-sessions";
constexpr std::string_view kAddress = "127.0.0.1:4711";  // for `kubectl port-forward`; nobody else reaches it

Error missing(std::string_view key) {
  return Error(ErrorCode::config_invalid, fmt::format("[executor] of the plan has no `{}`", key))
      .hint("docs/nightly.md, Many machines, has the keys for Kubernetes");
}

// As sbatch has it ("4096" are MiB, "4G" GiB), as Kubernetes has it.
std::string quantity(const std::string& memory) {
  const bool is_number = memory.find_first_not_of("0123456789") == memory.npos;
  return memory + (is_number ? "Mi" : "i");
}

Json object(std::string_view version, std::string_view kind, std::string_view name) {
  return {{"apiVersion", version}, {"kind", kind}, {"metadata", {{"name", name}}}};
}

Json mounted(std::string_view volume, std::string_view path) { return {{"name", volume}, {"mountPath", path}}; }

// What Kubernetes calls restricted, and nothing to write on but volumes.
Json pod(const ExecutorPlan& plan, std::vector<std::string> command, uid_t user) {
  Json container = {{"name", "guard"}, {"image", plan.image}, {"command", std::move(command)},
      {"env", Json::array({{{"name", "HOME"}, {"value", "/tmp"}}})},
      {"securityContext",
          {{"allowPrivilegeEscalation", false}, {"readOnlyRootFilesystem", true}, {"runAsNonRoot", true},
              {"capabilities", {{"drop", Json::array({"ALL"})}}}}},
      {"volumeMounts", Json::array({mounted("scratch", "/tmp")})}};
  if (!plan.secret.empty()) container["envFrom"] = Json::array({Json{{"secretRef", Json{{"name", plan.secret}}}}});
  Json limits = Json::object();
  if (!plan.memory.empty()) limits["memory"] = quantity(plan.memory);
  if (plan.cpus != 0) limits["cpu"] = std::to_string(plan.cpus);
  if (!limits.empty()) container["resources"] = {{"requests", limits}, {"limits", limits}};
  if (!plan.scratch.empty() && plan.scratch != "/tmp")
    container["volumeMounts"].push_back(mounted("scratch", plan.scratch));
  Json spec = {{"automountServiceAccountToken", false}, {"enableServiceLinks", false},
      {"securityContext",
          {{"runAsNonRoot", true}, {"runAsUser", user}, {"runAsGroup", user}, {"fsGroup", user},
              {"seccompProfile", {{"type", "RuntimeDefault"}}}}},
      {"containers", Json::array({std::move(container)})},
      {"volumes", Json::array({Json{{"name", "scratch"}, {"emptyDir", Json::object()}}})}};
  if (!plan.runtime_class.empty()) spec["runtimeClassName"] = plan.runtime_class;
  return spec;
}

std::string list(Json items) {
  return Json{{"apiVersion", "v1"}, {"kind", "List"}, {"items", std::move(items)}}.dump(2) + "\n";
}

}  // namespace

fs::path kubernetes_cache(const ExecutorPlan& plan) { return fs::path(plan.shared) / "cache"; }

Result<std::string> kubernetes_job(const ExecutorPlan& plan, const std::vector<fs::path>& folders, uid_t user) {
  if (plan.image.empty()) return missing("image");
  if (plan.volume.empty()) return missing("volume");
  if (plan.shared.empty()) return missing("shared");
  if (user == 0) {
    return Error(
        ErrorCode::config_invalid, "the pods would have to run as root: they are given the user of this process")
        .hint("let another user run the night, and export");
  }
  std::vector<std::vector<fs::path>> batches;
  Sha256 digest;
  for (const auto& folder : folders) {
    if (batches.empty() || batches.back().size() >= plan.batch) batches.emplace_back();
    batches.back().push_back(folder);
    digest.update_field(folder.native());
  }
  const std::string name = "guard-" + digest.finish_hex().substr(0, 16);
  const std::string program = plan.program.empty() ? "guard" : plan.program;

  Json claim = object("v1", "PersistentVolumeClaim", plan.volume);
  claim["spec"] = {
      {"accessModes", Json::array({"ReadWriteMany"})}, {"resources", {{"requests", {{"storage", "10Gi"}}}}}};
  Json script = object("v1", "ConfigMap", name);
  script["data"] = {{kScriptName, array_script(plan, program, "JOB_COMPLETION_INDEX", batches)}};

  Json spec = pod(plan, {"/bin/sh", std::string(kScript)}, user);
  spec["restartPolicy"] = "Never";
  if (plan.time.count() != 0) spec["activeDeadlineSeconds"] = plan.time.count();
  // Nothing is built in a pod: it finds what was built for all of them.
  spec["containers"][0]["env"].push_back({{"name", "GUARD_CACHE_DIR"}, {"value", kubernetes_cache(plan).native()}});
  Json& mounts = spec["containers"][0]["volumeMounts"];
  mounts.push_back(mounted("tasks", plan.shared));
  mounts.push_back(mounted("script", fs::path(kScript).parent_path().native()));
  spec["volumes"].push_back({{"name", "tasks"}, {"persistentVolumeClaim", {{"claimName", plan.volume}}}});
  spec["volumes"].push_back({{"name", "script"}, {"configMap", {{"name", name}}}});
  Json job = object("batch/v1", "Job", name);
  job["spec"] = {{"completionMode", "Indexed"}, {"completions", batches.size()}, {"parallelism", batches.size()},
      {"backoffLimitPerIndex", kRetries}, {"ttlSecondsAfterFinished", kKeptFor_s},
      {"template", {{"metadata", {{"labels", {{"app.kubernetes.io/name", "guard"}}}}}, {"spec", std::move(spec)}}}};
  return list(Json::array({std::move(claim), std::move(script), std::move(job)}));
}

Result<std::string> kubernetes_sessions(const ExecutorPlan& plan) {
  constexpr std::string_view kVersion = "extensions.agents.x-k8s.io/v1beta1";
  if (plan.image.empty()) return missing("image");
  Json template_ = object(kVersion, "SandboxTemplate", kSessions);
  template_["spec"] = {{"podTemplate",
      {{"spec",
          pod(plan, {plan.program.empty() ? "guard" : plan.program, "serve", "--listen", std::string(kAddress)},
              kUser)}}}};
  Json pool = object(kVersion, "SandboxWarmPool", kSessions);
  pool["spec"] = {{"replicas", kWarm}, {"sandboxTemplateRef", {{"name", kSessions}}}};
  Json claim = object(kVersion, "SandboxClaim", std::string(kSessions) + "-1");
  claim["spec"] = {{"warmPoolRef", {{"name", kSessions}}}, {"lifecycle", {{"shutdownPolicy", "Delete"}}}};
  return list(Json::array({std::move(template_), std::move(pool), std::move(claim)}));
}

}  // namespace guard::nightly

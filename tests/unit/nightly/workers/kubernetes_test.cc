#include "nightly/workers/kubernetes.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <filesystem>
#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

namespace guard::nightly {
namespace {

using nlohmann::json;
using ::testing::HasSubstr;

ExecutorPlan plan() {
  ExecutorPlan plan;
  plan.image = "registry.example/night:1";
  plan.volume = "night";
  plan.shared = "/shared/guard";
  plan.batch = 2;
  return plan;
}

// What the pod security standard "restricted" asks for, and a root that nobody can write to.
void expect_restricted(const json& pod) {
  EXPECT_EQ(pod["securityContext"]["runAsNonRoot"], true);
  EXPECT_NE(pod["securityContext"]["runAsUser"], 0);
  EXPECT_EQ(pod["securityContext"]["seccompProfile"]["type"], "RuntimeDefault");
  EXPECT_EQ(pod["automountServiceAccountToken"], false);
  for (const char* shares : {"hostNetwork", "hostPID", "hostIPC"}) EXPECT_FALSE(pod.contains(shares));
  for (const auto& container : pod["containers"]) {
    const json& context = container["securityContext"];
    EXPECT_EQ(context["allowPrivilegeEscalation"], false);
    EXPECT_EQ(context["readOnlyRootFilesystem"], true);
    EXPECT_EQ(context["capabilities"], json({{"drop", {"ALL"}}}));
  }
  for (const auto& volume : pod["volumes"]) EXPECT_FALSE(volume.contains("hostPath"));
}

TEST(Kubernetes, GivesEachIndexItsBatch) {
  ExecutorPlan asked = plan();
  asked.memory = "4G";
  asked.cpus = 2;
  asked.scratch = "/scratch";
  asked.runtime_class = "gvisor";
  asked.secret = "night-keys";
  asked.time = std::chrono::seconds(900);
  const auto text =
      kubernetes_job(asked, {"/shared/guard/n/a-1", "/shared/guard/n/b-1", "/shared/guard/n/it's-1"}, 501);
  ASSERT_TRUE(text) << text.error().message();
  const json items = json::parse(*text)["items"];
  ASSERT_EQ(items.size(), 3U);
  EXPECT_EQ(items[0]["kind"], "PersistentVolumeClaim");
  EXPECT_EQ(items[0]["metadata"]["name"], "night");
  const std::string script = items[1]["data"]["work.sh"];
  EXPECT_THAT(
      script, HasSubstr("case $JOB_COMPLETION_INDEX in\n0) set -- '/shared/guard/n/a-1' '/shared/guard/n/b-1' ;;"));
  EXPECT_THAT(script, HasSubstr("1) set -- '/shared/guard/n/it'\\''s-1' ;;"));
  EXPECT_THAT(script, HasSubstr("exec 'guard' nightly work \"$@\" --scratch '/scratch'"));
  const json job = items[2]["spec"];
  EXPECT_EQ(job["completionMode"], "Indexed");
  EXPECT_EQ(job["completions"], 2);
  EXPECT_EQ(job["parallelism"], 2);
  const json pod = job["template"]["spec"];
  expect_restricted(pod);
  EXPECT_EQ(pod["restartPolicy"], "Never");
  EXPECT_EQ(pod["runtimeClassName"], "gvisor");
  EXPECT_EQ(pod["activeDeadlineSeconds"], 900);
  const json container = pod["containers"][0];
  EXPECT_EQ(container["resources"]["limits"], json({{"memory", "4Gi"}, {"cpu", "2"}}));
  EXPECT_EQ(container["envFrom"][0]["secretRef"]["name"], "night-keys");
  std::map<std::string, std::string> mounts;
  for (const auto& mount : container["volumeMounts"]) mounts[mount["mountPath"]] = mount["name"];
  EXPECT_EQ(mounts,
      (std::map<std::string, std::string>{
          {"/tmp", "scratch"}, {"/scratch", "scratch"}, {"/shared/guard", "tasks"}, {"/guard", "script"}}));
}

// Task folders are 0700: who owns them, reads them; and a pod has nothing built.
TEST(Kubernetes, RunsAsTheOwnerOfTheFoldersOnImagesThatAreBuilt) {
  const json pod = json::parse(*kubernetes_job(plan(), {"/s/n/a-1"}, 501))["items"][2]["spec"]["template"]["spec"];
  EXPECT_EQ(pod["securityContext"]["runAsUser"], 501);
  std::map<std::string, std::string> variables;
  for (const auto& variable : pod["containers"][0]["env"]) variables[variable["name"]] = variable["value"];
  EXPECT_EQ(variables["GUARD_CACHE_DIR"], "/shared/guard/cache");
  const auto as_root = kubernetes_job(plan(), {"/s/n/a-1"}, 0);
  ASSERT_FALSE(as_root);
  EXPECT_THAT(as_root.error().message(), HasSubstr("root"));
}

TEST(Kubernetes, NamesAJobByItsFolders) {
  const auto name = [](const std::vector<std::filesystem::path>& folders) {
    return json::parse(*kubernetes_job(plan(), folders, 501))["items"][2]["metadata"]["name"].get<std::string>();
  };
  EXPECT_EQ(name({"/s/n/a-1"}), name({"/s/n/a-1"}));
  EXPECT_NE(name({"/s/n/a-1"}), name({"/s/n/a-2"}));
}

TEST(Kubernetes, SaysWhichKeyIsMissing) {
  for (const auto& [key, member] : std::map<std::string, std::string ExecutorPlan::*>{
           {"image", &ExecutorPlan::image}, {"volume", &ExecutorPlan::volume}, {"shared", &ExecutorPlan::shared}}) {
    ExecutorPlan without = plan();
    (without.*member).clear();
    const auto text = kubernetes_job(without, {"/s/n/a-1"}, 501);
    ASSERT_FALSE(text);
    EXPECT_THAT(text.error().message(), HasSubstr("no `" + key + "`"));
  }
}

TEST(Kubernetes, ClaimsASessionFromAWarmPool) {
  const auto text = kubernetes_sessions(plan());
  ASSERT_TRUE(text) << text.error().message();
  const json items = json::parse(*text)["items"];
  ASSERT_EQ(items.size(), 3U);
  for (const auto& item : items) EXPECT_EQ(item["apiVersion"], "extensions.agents.x-k8s.io/v1beta1");
  EXPECT_EQ(items[0]["kind"], "SandboxTemplate");
  expect_restricted(items[0]["spec"]["podTemplate"]["spec"]);
  EXPECT_EQ(items[1]["kind"], "SandboxWarmPool");
  EXPECT_EQ(items[1]["spec"]["sandboxTemplateRef"]["name"], items[0]["metadata"]["name"]);
  EXPECT_EQ(items[2]["kind"], "SandboxClaim");
  EXPECT_EQ(items[2]["spec"]["warmPoolRef"]["name"], items[1]["metadata"]["name"]);
}

}  // namespace
}  // namespace guard::nightly

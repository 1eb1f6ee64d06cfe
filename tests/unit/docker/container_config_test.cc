#include "docker/container_config.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <nlohmann/json.hpp>

#include "common/file_io.h"

namespace guard::docker {
namespace {

using nlohmann::json;

ContainerConfig example() {
  ContainerConfig config;
  config.image = "sha256:0123";
  config.command = {"/.guard-init", "--report", "--", "bun", "test", "/app/sandbox/a.test.ts"};
  config.working_dir = "/app";
  config.env = {{"HOME", "/tmp"}, {"PATH", "/usr/bin:/bin"}};
  config.image_env_names = {"PATH", "BUN_INSTALL"};
  config.mounts = {{"/var/cache/guard/init/guard-init", "/.guard-init"}, {"/var/cache/guard/runs/r/src", "/app/src"},
      {"/var/cache/guard/runs/r/a.test.ts", "/app/sandbox/a.test.ts"}};
  config.scratch = {{"/tmp", 500u << 20, 65536, true}, {"/app/sandbox", 256u << 20, 10000}};
  config.memory_bytes = 2ull << 30;
  config.cpus = 2.0;
  config.pids = 256;
  config.open_files = 4096;
  config.file_bytes = 1u << 30;
  config.ipv6_loopback = true;
  config.seccomp_profile = R"({"defaultAction":"SCMP_ACT_ERRNO"})";
  config.labels = {{"guard.cache", "0011223344556677"}, {"guard.deadline", "1800000000"}, {"guard.run", "r"}};
  return config;
}

json parsed(const ContainerConfig& config) { return json::parse(container_config(config)); }

// Every line that confines the program, seen in one place. GUARD_UPDATE_GOLDEN=1 writes the file anew.
TEST(ContainerConfig, IsWhatTheGoldenFileSays) {
  const std::filesystem::path golden = GUARD_SOURCE_DIR "/tests/golden/container_config.json";
  const std::string body = container_config(example()) + "\n";
  if (std::getenv("GUARD_UPDATE_GOLDEN") != nullptr) {
    ASSERT_TRUE(write_file_atomically(golden, body));
  }
  const auto expected = read_file(golden, 1 << 20);
  ASSERT_TRUE(expected) << expected.error().to_string();
  EXPECT_EQ(body, *expected);
}

TEST(ContainerConfig, MountsReadOnlyUnlessItIsToldOtherwise) {
  ContainerConfig config = example();
  config.mounts.push_back({"/project/out", "/app/out", true});
  for (const json& mount : parsed(config)["HostConfig"]["Mounts"])
    EXPECT_EQ(mount["ReadOnly"], mount["Source"] != "/project/out") << mount;
}

// The recipe that guard promises at least, checked apart from the golden file: that one can be rewritten by mistake.
TEST(ContainerConfig, SetsEveryFlagOfTheRecipe) {
  const json body = parsed(example());
  const json& host = body["HostConfig"];
  EXPECT_EQ(host["NetworkMode"], "none");
  EXPECT_EQ(host["Memory"], 2147483648);
  EXPECT_EQ(host["MemorySwap"], host["Memory"]);
  EXPECT_EQ(host["NanoCpus"], 2000000000);
  EXPECT_EQ(host["PidsLimit"], 256);
  EXPECT_EQ(host["CapDrop"], json::array({"ALL"}));
  EXPECT_EQ(host["CapAdd"], json::array());
  EXPECT_EQ(host["Privileged"], false);
  EXPECT_EQ(host["ReadonlyRootfs"], true);
  EXPECT_EQ(host["SecurityOpt"], json::array({"no-new-privileges", R"(seccomp={"defaultAction":"SCMP_ACT_ERRNO"})"}));
  EXPECT_EQ(host["LogConfig"]["Type"], "none");
  EXPECT_EQ(host["AutoRemove"], false);
  EXPECT_EQ(body["User"], "1000:1000");
  for (const auto& [target, options] : host["Tmpfs"].items()) {
    const auto text = options.get<std::string>();
    for (const char* flag : {"noexec", "nosuid", "nodev", "size=", "nr_inodes="}) {
      EXPECT_NE(text.find(flag), std::string::npos) << target << " lacks " << flag;
    }
  }
  ASSERT_EQ(host["Mounts"].size(), 3u);
  for (const json& mount : host["Mounts"]) {
    EXPECT_EQ(mount["ReadOnly"], true);
    EXPECT_EQ(mount["Type"], "bind");
    EXPECT_EQ(mount["BindOptions"]["Propagation"], "rprivate");
  }
}

TEST(ContainerConfig, KeepsStandardInputAsALifeLine) {
  const json body = parsed(example());
  for (const char* key : {"OpenStdin", "StdinOnce", "AttachStdin", "AttachStdout", "AttachStderr"})
    EXPECT_EQ(body[key], true) << key;
  EXPECT_EQ(body["Tty"], false);
}

TEST(ContainerConfig, MasksAllThatDockerMasks) {
  const json masked = parsed(example())["HostConfig"]["MaskedPaths"];
  for (const char* path : {"/proc/asound", "/proc/acpi", "/proc/interrupts", "/proc/kcore", "/proc/keys",
           "/proc/latency_stats", "/proc/timer_list", "/proc/timer_stats", "/proc/sched_debug", "/proc/scsi",
           "/sys/firmware", "/sys/devices/virtual/powercap"}) {
    EXPECT_TRUE(std::find(masked.begin(), masked.end(), path) != masked.end()) << path;
  }
}

TEST(ContainerConfig, HidesTheHostsResolverUnlessThereIsANetwork) {
  ContainerConfig config = example();
  EXPECT_EQ(parsed(config)["HostConfig"]["Dns"], json::array({"127.0.0.1"}));
  config.network_mode = "bridge";
  EXPECT_FALSE(parsed(config)["HostConfig"].contains("Dns"));
}

// The environment is complete: what the image or the engine would add is unset by naming it without a value.
TEST(ContainerConfig, InheritsNoVariableFromTheImage) {
  EXPECT_EQ(parsed(example())["Env"], json::array({"HOME=/tmp", "PATH=/usr/bin:/bin", "BUN_INSTALL", "HOSTNAME"}));
}

// podman would read a bare name as "copy your own value", which is a leak.
TEST(ContainerConfig, NeverNamesAVariableBarelyToPodman) {
  ContainerConfig config = example();
  config.podman = true;
  const json body = parsed(config);
  EXPECT_EQ(body["Env"], json::array({"HOME=/tmp", "PATH=/usr/bin:/bin"}));
  EXPECT_EQ(body["UnsetEnvAll"], true);  // what the image and the engine would add
}

// What it does not understand it refuses, and what it is not told it decides itself: a writable /run, its own short
// list of masks.
TEST(ContainerConfig, TellsPodmanTheSameInItsOwnWords) {
  ContainerConfig config = example();
  config.podman = true;
  config.seccomp_file = "/var/cache/guard/init/0/seccomp.json";
  const json ours = parsed(example())["HostConfig"];
  const json host = parsed(config)["HostConfig"];
  EXPECT_FALSE(host.contains("ShmSize"));
  EXPECT_EQ(host["SecurityOpt"][0], "no-new-privileges");
  EXPECT_EQ(host["SecurityOpt"][1], "seccomp=/var/cache/guard/init/0/seccomp.json");
  const auto masks = host["SecurityOpt"][2].get<std::string>();
  EXPECT_TRUE(masks.starts_with("mask=/proc/")) << masks;
  for (const json& path : ours["MaskedPaths"])
    EXPECT_NE((masks + ":").find(path.get<std::string>() + ":"), std::string::npos) << path;
  for (const auto& [folder, options] : host["Tmpfs"].items()) {
    const auto text = options.get<std::string>();
    EXPECT_EQ(text.find("nr_inodes"), std::string::npos) << folder;
    EXPECT_EQ(text.find("uid="), std::string::npos) << folder;
    EXPECT_NE(text.find("noexec,nosuid,nodev,size="), std::string::npos) << folder;
    EXPECT_NE(text.find("notmpcopyup"), std::string::npos) << folder;
  }
  EXPECT_TRUE(host["Tmpfs"]["/run"].get<std::string>().starts_with("ro,"));
  EXPECT_TRUE(host["Tmpfs"]["/var/tmp"].get<std::string>().starts_with("ro,"));
  EXPECT_TRUE(host["Tmpfs"]["/app/sandbox"].get<std::string>().starts_with("rw,"));
  EXPECT_TRUE(host["Tmpfs"]["/app/sandbox"].get<std::string>().ends_with(",U"));  // owned by the program's user
  for (const char* same : {"Memory", "MemorySwap", "PidsLimit", "NanoCpus", "CapDrop", "ReadonlyRootfs", "NetworkMode",
           "IpcMode", "Mounts"}) {
    EXPECT_EQ(host[same], ours[same]) << same;
  }
}

// "sandbox/x,rw.test.ts" would be a mount with an option more.
TEST(ContainerConfig, RefusesNamesThatPodmanWouldMisread) {
  EXPECT_TRUE(check_names_for_podman(example()));
  for (const char* name : {"/app/sandbox/a,rw", "/app/sandbox/a:b", "/app/sandbox/a=b", "/app/sandbox/a\"b",
           "/app/sandbox/a\\b", "/app/sandbox/a\nb"}) {
    ContainerConfig mounted = example();
    mounted.mounts.push_back({"/x", name});
    EXPECT_FALSE(check_names_for_podman(mounted)) << name;
    ContainerConfig shown = example();
    shown.mounts.push_back({name, "/x"});
    EXPECT_FALSE(check_names_for_podman(shown)) << name;
    ContainerConfig written = example();
    written.scratch.push_back({name, 1, 1});
    EXPECT_FALSE(check_names_for_podman(written)) << name;
  }
}

TEST(ContainerConfig, NamesProfileAndRuntimeOnlyWhenGiven) {
  ContainerConfig config = example();
  EXPECT_FALSE(parsed(config)["HostConfig"].contains("Runtime"));
  config.apparmor_profile = "docker-default";
  config.runtime = "runsc";
  const json host = parsed(config)["HostConfig"];
  EXPECT_EQ(host["Runtime"], "runsc");
  EXPECT_EQ(host["SecurityOpt"].back(), "apparmor=docker-default");
}

TEST(ContainerConfig, SurvivesBytesThatAreNotUtf8) {
  ContainerConfig config = example();
  config.mounts.push_back({"/x/\xff\xfe", "/app/y"});
  config.env["A"] = "\xc3";
  EXPECT_TRUE(json::accept(container_config(config)));
}

}  // namespace
}  // namespace guard::docker

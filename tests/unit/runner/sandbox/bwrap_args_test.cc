#include "runner/sandbox/bwrap_args.h"

#include <gtest/gtest.h>

namespace guard {
namespace {

// One option and what belongs to it to a line.
std::string shown(const std::vector<std::string>& args) {
  std::string text;
  for (const std::string& arg : args) text += (arg.starts_with("--") ? text.empty() ? "" : "\n" : " ") + arg;
  return text;
}

// The whole shape of the embedded sandbox in one place.
TEST(BwrapArgs, SpellsOutTheWholeSandbox) {
  SandboxSpec spec;
  spec.env = {{"HOME", "/tmp"}, {"SPACE", "a b"}};
  spec.limits.tmp_bytes = 500;
  spec.scratch = {{"/app/sandbox", "/staged", 256, 10}};
  spec.mounts = {{"/cache/app", "/app"}, {"/cache/app/sandbox", "/staged"}};
  BwrapInputs inputs;
  inputs.root = {{"/root/usr", "/usr", RootEntry::Kind::mounted}, {"usr/lib", "/lib", RootEntry::Kind::link},
      {"", "/app", RootEntry::Kind::folder}, {"/root/modules", "/modules", RootEntry::Kind::mounted}};
  inputs.masks = {{"/proc/kcore"}, {"/proc/acpi"}};
  inputs.init_source = "/cache/init";
  inputs.seccomp_fd = 10;
  inputs.info_fd = 11;
  EXPECT_EQ(shown(bwrap_args(spec, inputs)),
      "--unshare-user\n"
      "--unshare-all\n"
      "--disable-userns\n"
      "--uid 1000\n"
      "--gid 1000\n"
      "--seccomp 10\n"
      "--hostname sandbox\n"
      "--die-with-parent\n"
      "--new-session\n"
      "--as-pid-1\n"
      "--info-fd 11\n"
      "--clearenv\n"
      "--setenv HOME /tmp\n"
      "--setenv SPACE a b\n"
      "--ro-bind /root/usr /usr\n"
      "--symlink usr/lib /lib\n"
      "--dir /app\n"
      "--ro-bind /root/modules /modules\n"
      "--ro-bind /cache/init /guard-init\n"
      "--proc /proc\n"
      "--ro-bind /dev/null /proc/kcore\n"
      "--size 4096\n"
      "--perms 0555\n"
      "--tmpfs /proc/acpi\n"
      "--remount-ro /proc/acpi\n"
      "--dev /dev\n"
      "--remount-ro /dev\n"
      "--ro-bind /cache/app /app\n"
      "--ro-bind /cache/app/sandbox /staged\n"
      "--size 500\n"
      "--perms 1777\n"
      "--tmpfs /tmp\n"
      "--size 500\n"
      "--perms 1777\n"
      "--tmpfs /dev/shm\n"
      "--size 256\n"
      "--perms 0755\n"
      "--tmpfs /app/sandbox\n"
      "--chdir /app\n"
      "--remount-ro /");
}

// After the stage before, the folders in memory are bound, in the order in which the stage numbers them, and the stage
// behind is left with what it needs to finish the sandbox.
TEST(BwrapArgs, BindsWhatTheStageBeforeHasMounted) {
  SandboxSpec spec;
  spec.limits.tmp_bytes = 500;
  spec.limits.tmp_files = 20;
  spec.scratch = {{"/app/sandbox", "", 256, 10}};
  spec.mounts = {{"/cache/app", "/app"}};
  EXPECT_EQ(
      shown(scratch_stage_command(spec, {"/cache/init", "/cache/scratch", 12, 13, {{"/proc/kcore"}, {"/proc/acpi"}}})),
      " /cache/init\n"
      "--scratch-at /cache/scratch\n"
      "--prepared 12\n"
      "--plain 13\n"
      "--scratch 1777:500:20\n"
      "--scratch 1777:500:20\n"
      "--scratch 0755:256:10\n"
      "--mask /proc/kcore\n"
      "--mask /proc/acpi\n"
      "--");
  BwrapInputs inputs;
  inputs.scratch_at = "/cache/scratch";
  inputs.masks = {{"/proc/kcore"}, {"/proc/acpi"}};
  const std::string args = shown(bwrap_args(spec, inputs));
  EXPECT_TRUE(
      args.starts_with("--unshare-user\n"
                       "--unshare-all\n"
                       "--uid 0\n"
                       "--gid 0\n"
                       "--cap-add CAP_SYS_ADMIN\n"
                       "--cap-add CAP_SYS_RESOURCE\n"
                       "--cap-add CAP_SETFCAP\n"
                       "--hostname sandbox\n"))
      << args;
  EXPECT_EQ(args.find("--seccomp"), std::string::npos);
  EXPECT_EQ(args.find("/proc/"), std::string::npos);
  EXPECT_NE(args.find("--ro-bind /cache/app /app\n"
                      "--bind /cache/scratch/0 /tmp\n"
                      "--bind /cache/scratch/1 /dev/shm\n"
                      "--bind /cache/scratch/2 /app/sandbox\n"),
      std::string::npos)
      << args;
  EXPECT_EQ(args.find("--tmpfs /app"), std::string::npos);
}

// Last, so that no folder in memory hides it.
TEST(BwrapArgs, BindsWhatIsSharedWritableAboveEverything) {
  SandboxSpec spec;
  spec.mounts = {{"/cache/app", "/app"}};
  spec.shared = {{"/project/out", "/app/out", {}}};
  spec.scratch = {{"/app/sandbox", "", 256, 10}};
  const std::string args = shown(bwrap_args(spec, {}));
  EXPECT_NE(args.find("--tmpfs /app/sandbox\n--bind /project/out /app/out\n--chdir /app\n"), std::string::npos) << args;
}

// A value that looks like an option stays a value: it follows an option that takes it.
TEST(BwrapArgs, KeepsValuesThatLookLikeOptionsWhereTheyBelong) {
  SandboxSpec spec;
  spec.env = {{"--bind", "--dev-bind"}};
  const auto args = bwrap_args(spec, {});
  const auto at = std::find(args.begin(), args.end(), "--setenv");
  ASSERT_NE(at, args.end());
  EXPECT_EQ(*(at + 1), "--bind");
  EXPECT_EQ(*(at + 2), "--dev-bind");
}

}  // namespace
}  // namespace guard

#include "runner/sandbox/bwrap_args.h"

#include <fmt/format.h>

#include <string_view>

namespace guard {
namespace {

class Arguments {
 public:
  template <typename... Text>
  void add(Text&&... text) {
    (list_.emplace_back(std::forward<Text>(text)), ...);
  }
  // --size and --perms speak about the next --tmpfs only.
  void add_tmpfs(std::uint64_t bytes_max, const char* permissions, std::string target) {
    add("--size", fmt::format("{}", bytes_max), "--perms", permissions, "--tmpfs", std::move(target));
  }
  std::vector<std::string> take() { return std::move(list_); }

 private:
  std::vector<std::string> list_;
};

const char* permissions(const MemoryFolder& folder) { return folder.shared ? "1777" : "0755"; }

}  // namespace

std::vector<std::string> scratch_stage_command(const SandboxSpec& spec, const ScratchStage& stage) {
  std::vector<std::string> command = {stage.program, "--scratch-at", stage.at, "--prepared",
      fmt::format("{}", stage.prepared_fd), "--plain", fmt::format("{}", stage.plain_fd)};
  for (const MemoryFolder& folder : memory_folders(spec)) {
    command.emplace_back("--scratch");
    command.push_back(fmt::format("{}:{}:{}", permissions(folder), folder.bytes_max, folder.files_max));
  }
  for (const auto* paths : {&stage.masks.files, &stage.masks.folders}) {
    for (const std::string& path : *paths) command.insert(command.end(), {"--mask", path});
  }
  command.emplace_back("--");
  return command;
}

std::vector<std::string> bwrap_args(const SandboxSpec& spec, const BwrapInputs& inputs) {
  Arguments args;
  const bool prepared = !inputs.scratch_at.empty();
  // --unshare-user by name: --unshare-all only tries, and --disable-userns insists.
  args.add("--unshare-user", "--unshare-all");
  if (prepared) {
    // For the stage behind bubblewrap alone: it mounts, sets the limit of user namespaces, and maps root to another
    // user, for which the kernel wants the third.
    args.add("--uid", "0", "--gid", "0");
    for (const char* one : {"CAP_SYS_ADMIN", "CAP_SYS_RESOURCE", "CAP_SETFCAP"}) args.add("--cap-add", one);
  } else {
    args.add("--disable-userns", "--uid", fmt::format("{}", kUserInside), "--gid", fmt::format("{}", kUserInside));
    args.add("--seccomp", fmt::format("{}", inputs.seccomp_fd));
  }
  args.add("--hostname", "sandbox");
  args.add("--die-with-parent", "--new-session", "--as-pid-1");
  args.add("--info-fd", fmt::format("{}", inputs.info_fd));

  args.add("--clearenv");
  for (const auto& [name, value] : spec.env) args.add("--setenv", name, value);

  for (const RootEntry& entry : inputs.root) {
    switch (entry.kind) {
      case RootEntry::Kind::mounted: args.add("--ro-bind", entry.source, entry.target); break;
      case RootEntry::Kind::link: args.add("--symlink", entry.source, entry.target); break;
      case RootEntry::Kind::folder: args.add("--dir", entry.target); break;
    }
  }
  args.add("--ro-bind", inputs.init_source, kInitInside);

  args.add("--proc", "/proc");
  if (!prepared) {
    for (const std::string& file : inputs.masks.files) args.add("--ro-bind", "/dev/null", file);
    for (const std::string& folder : inputs.masks.folders) {
      args.add_tmpfs(4096, "0555", folder);
      args.add("--remount-ro", folder);
    }
  }
  // /dev is a tmpfs without a size: read-only, or it would be memory nobody counts. So is /dev/shm in it.
  args.add("--dev", "/dev", "--remount-ro", "/dev");

  for (const Mount& mount : spec.mounts) args.add("--ro-bind", mount.source.string(), mount.target);
  int number = 0;
  for (const MemoryFolder& folder : memory_folders(spec)) {
    if (!prepared) {
      args.add_tmpfs(folder.bytes_max, permissions(folder), folder.target);
    } else {
      args.add("--bind", fmt::format("{}/{}", inputs.scratch_at, number++), folder.target);
    }
  }
  for (const SharedFolder& folder : spec.shared) args.add("--bind", folder.source.string(), folder.target);
  args.add("--chdir", spec.working_dir, "--remount-ro", "/");
  return args.take();
}

}  // namespace guard

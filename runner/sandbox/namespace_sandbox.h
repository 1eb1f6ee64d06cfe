// The embedded sandbox: bubblewrap, our seccomp filter, control groups where there are any. Linux only.
#pragma once

#include <filesystem>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "runner/sandbox/cgroup.h"
#include "runner/sandbox/sandbox.h"

namespace guard {

struct NamespaceOptions {
  // Where bubblewrap is looked for. Not PATH: a project's own programs may lead it.
  std::vector<std::filesystem::path> bwrap_folders = {
      "/usr/bin", "/usr/local/bin", "/bin", "/run/current-system/sw/bin"};
  // Empty: watch instead.
  std::map<std::string, CgroupPlace> cgroups = cgroup_places_here();
  // Where Ubuntu's kernels say whether AppArmor lets only programs with a profile make user namespaces. Only read.
  std::filesystem::path apparmor_restriction = "/proc/sys/kernel/apparmor_restrict_unprivileged_userns";
};

// make_namespace_sandbox() of sandbox.h is this with the defaults.
//
// Run by root, the program's real user is neither root nor anybody else: 1,900,000,000 + guard's pid, so that two runs
// don't share one and nothing on the host belongs to it; what is mounted must be readable by everybody. Run by a
// person, it is that person as the kernel sees it, in a user namespace that holds nothing of theirs. Inside it is
// 1000:1000 either way.
std::unique_ptr<Sandbox> make_namespace_sandbox_with(NamespaceOptions options);

}  // namespace guard

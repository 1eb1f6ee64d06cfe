#include "runner/sandbox/seccomp_filter.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <linux/filter.h>
#include <unistd.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <set>

namespace guard {
namespace {

std::string bytes_of(const UniqueFd& file) {
  std::string bytes(1 << 20, '\0');
  const ssize_t size = ::pread(file.get(), bytes.data(), bytes.size(), 0);
  bytes.resize(size > 0 ? static_cast<std::size_t>(size) : 0);
  return bytes;
}

TEST(SeccompFilter, CompilesTheShippedProfileIntoASealedProgram) {
  auto filter = seccomp_filter();
  ASSERT_TRUE(filter.has_value()) << filter.error().to_string();
  const auto compiled = compile_seccomp_filter(seccomp_profile_json());
  ASSERT_TRUE(compiled.has_value()) << compiled.error().to_string();
  EXPECT_EQ(bytes_of(*filter), bytes_of(*compiled)) << "what guard carries is not what the profile says";
  ASSERT_EQ(::lseek(filter->get(), 0, SEEK_SET), 0);
  EXPECT_EQ(::lseek(filter->get(), 0, SEEK_CUR), 0);
  const off_t size = ::lseek(filter->get(), 0, SEEK_END);
  EXPECT_GT(size, 100 * static_cast<off_t>(sizeof(sock_filter)));
  EXPECT_EQ(size % static_cast<off_t>(sizeof(sock_filter)), 0);
  EXPECT_LT(::write(filter->get(), "x", 1), 0);
}

// What is kept out is kept out by absence: nothing here may creep into the list.
TEST(SeccompFilter, NamesNoCallThatReachesTooFar) {
  const auto profile = nlohmann::json::parse(seccomp_profile_json());
  std::set<std::string> allowed;
  std::set<std::string> conditional;
  for (const auto& rule : profile["syscalls"]) {
    for (const auto& name : rule["names"]) {
      if (rule["action"] == "SCMP_ACT_ALLOW") (rule.contains("args") ? conditional : allowed).insert(name);
    }
  }
  for (const char* name : {"socket", "socketpair", "clone", "clone3", "personality", "unshare", "setns", "mount",
           "umount2", "fsopen", "fsmount", "open_tree", "move_mount", "pivot_root", "chroot", "ptrace",
           "process_vm_readv", "process_vm_writev", "process_madvise", "pidfd_getfd", "kcmp", "bpf", "perf_event_open",
           "userfaultfd", "io_uring_setup", "io_uring_enter", "io_uring_register", "keyctl", "add_key", "request_key",
           "init_module", "finit_module", "delete_module", "kexec_load", "kexec_file_load", "reboot", "swapon",
           "swapoff", "acct", "iopl", "ioperm", "modify_ldt", "open_by_handle_at", "name_to_handle_at", "quotactl",
           "syslog", "settimeofday", "clock_settime", "adjtimex", "sethostname", "setdomainname", "vhangup",
           "nfsservctl", "lookup_dcookie", "move_pages", "mbind", "set_mempolicy", "fanotify_init", "memfd_create",
           "memfd_secret", "uselib", "ustat", "sysfs", "_sysctl", "remap_file_pages"}) {
    EXPECT_FALSE(allowed.contains(name)) << name;
  }
  // Those that set a mode: never one of a program that runs as its owner.
  EXPECT_EQ(conditional,
      (std::set<std::string>{"chmod", "clone", "creat", "fchmod", "fchmodat", "fchmodat2", "mknod", "mknodat", "open",
          "openat", "personality", "seccomp", "socket", "socketpair"}));
  EXPECT_FALSE(allowed.contains("openat2")) << "a filter can't see its mode";
}

// A rule that was not understood would not be enforced.
TEST(SeccompFilter, RefusesWhatItDoesNotUnderstand) {
  const std::string rule = R"({"names":["read"],"action":"SCMP_ACT_ALLOW"})";
  const auto with = [](const std::string& rules, const std::string& extra = "",
                        const std::string& action = "SCMP_ACT_ERRNO") {
    return R"({"defaultAction":")" + action + R"(","syscalls":[)" + rules + "]" + extra + "}";
  };
  EXPECT_TRUE(compile_seccomp_filter(with(rule)).has_value());
  const std::string cases[] = {
      "",
      "[]",
      "{}",
      with(rule) + "}",
      with(rule, "", "SCMP_ACT_ALLOW"),
      with(rule, "", "SCMP_ACT_LOG"),
      with(rule, R"(,"flags":["SECCOMP_FILTER_FLAG_LOG"])"),
      with(R"({"names":["read"],"action":"SCMP_ACT_TRACE"})"),
      with(R"({"names":[],"action":"SCMP_ACT_ALLOW"})"),
      with(R"({"names":[1],"action":"SCMP_ACT_ALLOW"})"),
      with(R"({"names":["read"],"action":"SCMP_ACT_ALLOW","includes":{"caps":["CAP_SYS_ADMIN"]}})"),
      with(R"({"names":["read"],"action":"SCMP_ACT_ERRNO","errnoRet":0})"),
      with(R"({"names":["read"],"action":"SCMP_ACT_ALLOW","args":[{"index":6,"value":0,"op":"SCMP_CMP_EQ"}]})"),
      with(R"({"names":["read"],"action":"SCMP_ACT_ALLOW","args":[{"index":0,"value":-1,"op":"SCMP_CMP_EQ"}]})"),
      with(R"({"names":["read"],"action":"SCMP_ACT_ALLOW","args":[{"index":0,"value":1,"op":"SCMP_CMP_XX"}]})"),
      with(R"({"names":["read"],"action":"SCMP_ACT_ALLOW","args":{}})"),
  };
  for (const std::string& text : cases) {
    const auto filter = compile_seccomp_filter(text);
    ASSERT_FALSE(filter.has_value()) << text;
    EXPECT_EQ(filter.error().code(), ErrorCode::input_invalid) << text;
  }
}

TEST(SeccompFilter, LeavesUnknownCallsDenied) {
  EXPECT_TRUE(compile_seccomp_filter(
      R"({"defaultAction":"SCMP_ACT_ERRNO","syscalls":[{"names":["no_such_call","read"],"action":"SCMP_ACT_ALLOW"}]})")
                  .has_value());
}

}  // namespace
}  // namespace guard

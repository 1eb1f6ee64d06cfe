#include "runner/sandbox/seccomp_filter.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <seccomp.h>
#include <sys/mman.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

namespace guard {
namespace {

using Json = nlohmann::json;

struct ReleaseFilter {
  void operator()(void* filter) const { ::seccomp_release(filter); }
};
using Filter = std::unique_ptr<void, ReleaseFilter>;

Error refuse(std::string sentence) {
  return Error(ErrorCode::input_invalid, fmt::format("seccomp profile: {}", sentence));
}

Result<void> allow_keys_only(const Json& object, std::initializer_list<std::string_view> known) {
  if (!object.is_object()) return refuse("an object was expected");
  for (const auto& [key, value] : object.items()) {
    bool found = false;
    for (const std::string_view name : known) found = found || name == key;
    if (!found) return refuse(fmt::format("\"{}\" is not understood", key));
  }
  return ok();
}

Result<std::uint64_t> number(const Json& object, const char* key) {
  const auto found = object.find(key);
  if (found == object.end() || !found->is_number_unsigned()) return refuse(fmt::format("\"{}\" is not a number", key));
  return found->get<std::uint64_t>();
}

Result<std::string> text(const Json& object, const char* key) {
  const auto found = object.find(key);
  if (found == object.end() || !found->is_string()) return refuse(fmt::format("\"{}\" is not a string", key));
  return found->get<std::string>();
}

Result<std::uint32_t> action_of(const Json& object, const char* action_key, const char* errno_key) {
  GUARD_TRY_ASSIGN(const std::string action, text(object, action_key));
  if (action == "SCMP_ACT_ALLOW") return SCMP_ACT_ALLOW;
  if (action == "SCMP_ACT_KILL_PROCESS") return SCMP_ACT_KILL_PROCESS;
  if (action != "SCMP_ACT_ERRNO") return refuse(fmt::format("action \"{}\" is not understood", action));
  std::uint64_t error = EPERM;
  if (object.contains(errno_key)) {
    GUARD_TRY_ASSIGN(error, number(object, errno_key));
  }
  if (error == 0 || error > 4095) return refuse(fmt::format("\"{}\" is out of range", errno_key));
  return SCMP_ACT_ERRNO(static_cast<std::uint32_t>(error));
}

Result<scmp_arg_cmp> comparison(const Json& arg) {
  GUARD_TRY(allow_keys_only(arg, {"index", "value", "valueTwo", "op"}));
  GUARD_TRY_ASSIGN(const std::uint64_t index, number(arg, "index"));
  GUARD_TRY_ASSIGN(const std::uint64_t value, number(arg, "value"));
  GUARD_TRY_ASSIGN(const std::string op, text(arg, "op"));
  std::uint64_t second = 0;
  if (arg.contains("valueTwo")) {
    GUARD_TRY_ASSIGN(second, number(arg, "valueTwo"));
  }
  if (index > 5) return refuse("a system call has six arguments");
  static constexpr std::array<std::pair<std::string_view, scmp_compare>, 7> kOperators = {{{"SCMP_CMP_NE", SCMP_CMP_NE},
      {"SCMP_CMP_LT", SCMP_CMP_LT}, {"SCMP_CMP_LE", SCMP_CMP_LE}, {"SCMP_CMP_EQ", SCMP_CMP_EQ},
      {"SCMP_CMP_GE", SCMP_CMP_GE}, {"SCMP_CMP_GT", SCMP_CMP_GT}, {"SCMP_CMP_MASKED_EQ", SCMP_CMP_MASKED_EQ}}};
  for (const auto& [name, compare] : kOperators) {
    if (name == op) return scmp_arg_cmp{static_cast<unsigned int>(index), compare, value, second};
  }
  return refuse(fmt::format("operator \"{}\" is not understood", op));
}

Result<void> add_rule(void* filter, const Json& rule, std::uint32_t default_action) {
  GUARD_TRY(allow_keys_only(rule, {"comment", "names", "action", "errnoRet", "args"}));
  GUARD_TRY_ASSIGN(const std::uint32_t action, action_of(rule, "action", "errnoRet"));
  std::vector<scmp_arg_cmp> comparisons;
  if (rule.contains("args")) {
    if (!rule["args"].is_array()) return refuse("\"args\" is not a list");
    for (const Json& arg : rule["args"]) {
      GUARD_TRY_ASSIGN(comparisons.emplace_back(), comparison(arg));
    }
  }
  if (!rule.contains("names") || !rule["names"].is_array() || rule["names"].empty())
    return refuse("a rule without names");
  for (const Json& name : rule["names"]) {
    if (!name.is_string()) return refuse("a name that is not a string");
    const int call = ::seccomp_syscall_resolve_name(name.get_ref<const std::string&>().c_str());
    // Negative: unknown here, or a call of other architectures only. It stays under the default action, which denies.
    if (call < 0 || action == default_action) continue;
    const int failed = ::seccomp_rule_add_array(filter, action, call, static_cast<unsigned int>(comparisons.size()),
        comparisons.empty() ? nullptr : comparisons.data());
    if (failed != 0) {
      return Error::from_errno(
          ErrorCode::environment_creation_failed, fmt::format("seccomp rule for {}", name.get<std::string>()), -failed);
    }
  }
  return ok();
}

Result<UniqueFd> export_bpf(void* filter) {
  UniqueFd file(::memfd_create("seccomp", MFD_CLOEXEC | MFD_ALLOW_SEALING));
  if (!file) return Error::from_errno(ErrorCode::environment_creation_failed, "memfd_create", errno);
  if (const int failed = ::seccomp_export_bpf(filter, file.get()); failed != 0) {
    return Error::from_errno(ErrorCode::environment_creation_failed, "exporting the seccomp filter", -failed);
  }
  if (::lseek(file.get(), 0, SEEK_SET) != 0 ||
      ::fcntl(file.get(), F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_WRITE | F_SEAL_SEAL) != 0) {
    return Error::from_errno(ErrorCode::environment_creation_failed, "sealing the seccomp filter", errno);
  }
  return file;
}

}  // namespace

Result<UniqueFd> compile_seccomp_filter(std::string_view profile_json) {
  const Json profile = Json::parse(profile_json, nullptr, /*allow_exceptions=*/false);
  if (profile.is_discarded()) return refuse("it is not JSON");
  GUARD_TRY(allow_keys_only(profile, {"defaultAction", "defaultErrnoRet", "archMap", "syscalls"}));
  GUARD_TRY_ASSIGN(const std::uint32_t default_action, action_of(profile, "defaultAction", "defaultErrnoRet"));
  if (default_action == SCMP_ACT_ALLOW) return refuse("it allows what it does not name");
  if (!profile.contains("syscalls") || !profile["syscalls"].is_array()) return refuse("it has no list of system calls");
  // archMap is for engines that run foreign images; a new filter knows the native architecture alone.
  const Filter filter(::seccomp_init(default_action));
  if (!filter) return Error(ErrorCode::environment_creation_failed, "libseccomp can't make a filter here");
  if (const int failed = ::seccomp_attr_set(filter.get(), SCMP_FLTATR_ACT_BADARCH, SCMP_ACT_KILL_PROCESS);
      failed != 0) {
    return Error::from_errno(ErrorCode::environment_creation_failed, "seccomp_attr_set", -failed);
  }
  // bubblewrap sets no_new_privs itself; the attribute only matters to seccomp_load(3). A binary tree of comparisons
  // instead of a list keeps the cost of a call flat.
  static_cast<void>(::seccomp_attr_set(filter.get(), SCMP_FLTATR_CTL_OPTIMIZE, 2));
  for (const Json& rule : profile["syscalls"]) GUARD_TRY(add_rule(filter.get(), rule, default_action));
  return export_bpf(filter.get());
}

}  // namespace guard

#include "pipeline/hooks/proposed_write.h"

#include <fmt/format.h>

#include <algorithm>
#include <system_error>

#include "common/file_io.h"
#include "common/text/text.h"
#include "pipeline/gate/source_files.h"
#include "validator/change/change_policy.h"
#include "validator/change/trusted_files.h"

namespace guard {
namespace {

namespace fs = std::filesystem;

// Far more than a tool edits; only the memory of this process is at stake.
constexpr std::uint64_t kFileBytesMax = 64u << 20;

std::string seen_from(const fs::path& root, const fs::path& path) {
  const fs::path relative = path.lexically_relative(root);
  return relative.empty() || *relative.begin() == ".." ? path.generic_string() : relative.generic_string();
}

Finding left_to_a_person(std::string_view rule, const std::string& path, std::string message) {
  return policy_finding(rule, path, std::move(message), "leave it as it is, and ask a person to change it");
}

}  // namespace

Result<ProposedWrite> proposed_write(
    const AgentEvent& event, const fs::path& root, const std::vector<std::string>& gated_paths) {
  const fs::path given = (event.folder.empty() ? root : root / event.folder) / event.path;
  std::error_code failure;
  const fs::path resolved = fs::weakly_canonical(given, failure);
  if (failure) {
    return Error::from_errno(
        ErrorCode::io_error, fmt::format("cannot tell where {} is", printable(event.path)), failure.value());
  }
  ProposedWrite proposed;
  proposed.path = seen_from(root, given.lexically_normal());
  for (const std::string& name : {proposed.path, seen_from(root, resolved)}) {
    proposed.gated = proposed.gated || is_gated_path(gated_paths, name);
    const bool found = !proposed.findings.empty();
    if (!found && configures_guard(name)) {
      proposed.findings.push_back(
          left_to_a_person("policy.configuration_changed", proposed.path, "it says what guard or bun is told to do"));
    } else if (!found && configures_hooks(name)) {
      proposed.findings.push_back(
          left_to_a_person("policy.hook_changed", proposed.path, "it says whether guard is asked at all"));
    }
  }

  // Links are followed: whoever writes will follow them, too.
  auto before = read_file(resolved, kFileBytesMax, FollowLinks::yes);
  if (before) {
    proposed.before = std::move(*before);
  } else if (before.error().code() != ErrorCode::file_not_found) {
    return std::move(before).error();
  }
  if (event.action == AgentAction::write) {
    proposed.after = event.content;
    return proposed;
  }
  GUARD_TRY_ASSIGN(proposed.after,
      apply_edits(proposed.before, event.edits).context(fmt::format("editing {}", printable(event.path))));
  return proposed;
}

}  // namespace guard

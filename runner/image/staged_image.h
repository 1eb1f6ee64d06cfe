// What a run would mount, as the context of an image build: for an engine at another machine, which cannot be shown
// ours. The image is the run's own, on top of the one that it runs on. Its root file system is read-only in the
// container, so everything in it is as unwritable as a mount.
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <string>
#include <string_view>

#include "common/cancel.h"
#include "common/result.h"
#include "common/unique_fd.h"
#include "runner/sandbox/sandbox.h"

namespace guard {

struct StagedContext {
  UniqueFd tar;  // a file without a name, positioned at its start
  std::uint64_t bytes = 0;
};

// `base_id` as the engine told it; `init` is put where `init_inside` says. No step of the build runs anything.
// INPUT_INVALID for an id that is none.
Result<StagedContext> stage_context(const SandboxSpec& spec, std::string_view base_id,
    const std::filesystem::path& init, std::string_view init_inside, const std::map<std::string, std::string>& labels,
    const CancelToken& cancel);

}  // namespace guard

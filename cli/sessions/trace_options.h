// What `guard serve` and `guard mcp` are told to trace.
#pragma once

#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "cli/commands/commands.h"
#include "common/result.h"
#include "pipeline/config/config.h"
#include "sessions/trace/trace.h"

namespace guard {

// The options that say so, as words for another guard: paths are absolute. Empty: nothing is traced.
std::vector<std::string> trace_words(const Options& options);

// Those words as one text, which no other process has where they name its standard error.
std::string trace_place(const Options& options);

// `folder`: sessions_folder(). Null: nothing is traced.
Result<std::shared_ptr<sessions::Trace>> open_trace(const Options& options, const LoadedConfig& loaded,
    const CommandContext& context, const std::filesystem::path& folder);

}  // namespace guard

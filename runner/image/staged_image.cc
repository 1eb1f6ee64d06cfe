#include "runner/image/staged_image.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "common/file_io.h"
#include "common/text/text.h"
#include "runner/files/scratch_file.h"
#include "runner/files/tar_writer.h"
#include "runner/image/image_archive.h"

namespace guard {
namespace {

namespace fs = std::filesystem;

// Everything below it is copied to the root of the image.
constexpr std::string_view kFiles = "files";

bool is_image_id(std::string_view id) {
  constexpr std::string_view kAlgorithm = "sha256:";
  if (id.starts_with(kAlgorithm)) id.remove_prefix(kAlgorithm.size());
  return id.size() == 64 && id.find_first_not_of("0123456789abcdef") == std::string_view::npos;
}

// Plain words only: the Dockerfile has a syntax of its own.
bool is_plain_label(std::string_view text) {
  return !text.empty() && std::ranges::all_of(text, [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '-' || c == '.';
  });
}

// The labels stand before the files, so that what a broken build leaves behind carries them, too.
Result<std::string> dockerfile(std::string_view base_id, const std::map<std::string, std::string>& labels) {
  if (!is_image_id(base_id)) {
    return Error(ErrorCode::input_invalid, fmt::format("\"{}\" is no id of an image", printable(base_id)));
  }
  std::string text = fmt::format("FROM {}\nLABEL", base_id);
  for (const auto& [key, value] : labels) {
    if (!is_plain_label(key) || !is_plain_label(value)) {
      return Error(ErrorCode::internal, fmt::format("the label {}={} is not plain", printable(key), printable(value)));
    }
    text += fmt::format(" {}={}", key, value);
  }
  return text + fmt::format("\nCOPY {}/ /\n", kFiles);
}

class ContextWriter {
 public:
  ContextWriter(ByteSink& out, const CancelToken& cancel) : tar_(out), cancel_(cancel) {}

  Result<void> write(
      const SandboxSpec& spec, std::string_view recipe, const fs::path& init, std::string_view init_inside) {
    GUARD_TRY(tar_.add_file("Dockerfile", 0644, recipe));
    GUARD_TRY(add(init, init_inside));
    for (const Mount& mount : spec.mounts) GUARD_TRY(add(mount.source, mount.target));
    return tar_.finish();
  }

 private:
  Result<void> add(const fs::path& source, std::string_view target) {
    // To an engine such a name in a layer means that another file is to go.
    if (target.find("/.wh.") != std::string_view::npos) {
      return Error(ErrorCode::input_invalid,
          fmt::format(
              "{} can't be sent to an engine at another machine: names that begin with .wh. mean something to it",
              printable(target)));
    }
    const std::string path = fmt::format("{}{}", kFiles, target);
    for (std::size_t slash = path.find('/'); slash != std::string::npos; slash = path.find('/', slash + 1)) {
      const std::string folder = path.substr(0, slash);
      if (folders_.insert(folder).second) GUARD_TRY(tar_.add_folder(folder, 0755));
    }
    folders_.insert(path);
    return add_to_archive(tar_, source, path, cancel_);
  }

  TarWriter tar_;
  const CancelToken& cancel_;
  std::set<std::string> folders_;
};

}  // namespace

Result<StagedContext> stage_context(const SandboxSpec& spec, std::string_view base_id, const fs::path& init,
    std::string_view init_inside, const std::map<std::string, std::string>& labels, const CancelToken& cancel) {
  GUARD_TRY_ASSIGN(const std::string recipe, dockerfile(base_id, labels));
  GUARD_TRY_ASSIGN(const fs::path cache, cache_folder());
  GUARD_TRY_ASSIGN(ScratchFile scratch, ScratchFile::create(cache));
  GUARD_TRY(ContextWriter(scratch, cancel).write(spec, recipe, init, init_inside));
  StagedContext context;
  GUARD_TRY_ASSIGN(context.tar, scratch.take());
  context.bytes = scratch.bytes();
  return context;
}

}  // namespace guard

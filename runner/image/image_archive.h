// A root folder as an image for a container engine, in the form of `docker save`: one layer, its configuration, and a
// manifest. All of it is a pure function of the folder's contents, so the image's id is known before any engine has
// seen it.
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <string>
#include <string_view>

#include "common/byte_sink.h"
#include "common/cancel.h"
#include "common/result.h"
#include "common/unique_fd.h"
#include "runner/files/tar_writer.h"
#include "runner/sandbox/sandbox.h"

namespace guard {

// What a run would mount, as the context of an image build: for an engine at another machine, which cannot be shown
// ours. The image is the run's own, on top of the one that it runs on. Its root file system is read-only in the
// container, so everything in it is as unwritable as a mount.
struct StagedContext {
  UniqueFd tar;  // a file without a name, positioned at its start
  std::uint64_t bytes = 0;
};

// `base_id` as the engine told it; `init` is put where `init_inside` says. No step of the build runs anything.
// INPUT_INVALID for an id that is none.
Result<StagedContext> stage_context(const SandboxSpec& spec, std::string_view base_id,
    const std::filesystem::path& init, std::string_view init_inside, const std::map<std::string, std::string>& labels,
    const CancelToken& cancel);

// Compiled Python counts only where its source has the time that it had then; guard's own images need none.
enum class FileTimes : std::uint8_t { zero, kept };

struct LayerDigest {
  std::string sha256_hex;
  std::uint64_t bytes = 0;
  FileTimes times = FileTimes::zero;          // that it was taken with
  std::string made_by = "guard image build";  // in hints
};

// Adds a file as `path`, or what is in a folder below it and the folder itself. Owned by root, time 0, and nobody's to
// write. INPUT_INVALID for a device, FIFO or socket.
Result<void> add_to_archive(
    TarWriter& tar, const std::filesystem::path& source, std::string_view path, const CancelToken& cancel);

// Reads the whole folder. Entries sorted, owned by root.
Result<LayerDigest> digest_layer(const std::filesystem::path& root, FileTimes times, const CancelToken& cancel);

// The image's configuration, JSON: non-root user, /app, a label "guard.content" with `content_digest`.
std::string image_config(std::string_view content_digest, std::string_view layer_sha256_hex);

// "sha256:" and the digest of the configuration: what engines call the image's id.
std::string image_id(std::string_view config);

// IO_ERROR when the folder is no longer what `layer` says; half an archive has then been written.
Result<void> write_image_archive(const std::filesystem::path& root, const LayerDigest& layer, std::string_view config,
    std::string_view reference, ByteSink& out, const CancelToken& cancel);

}  // namespace guard

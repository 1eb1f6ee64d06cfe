// A root folder as an image for a container engine, in the form of `docker save`: one layer, its configuration, and a
// manifest. All of it is a pure function of the folder's contents, so the image's id is known before any engine has
// seen it.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>

#include "common/byte_sink.h"
#include "common/cancel.h"
#include "common/result.h"

namespace guard {

struct LayerDigest {
  std::string sha256_hex;
  std::uint64_t bytes = 0;
};

// Reads the whole folder. Entries sorted, owned by root, time 0.
Result<LayerDigest> digest_layer(const std::filesystem::path& root, const CancelToken& cancel);

// The image's configuration, JSON: non-root user, /app, a label "guard.content" with `content_digest`.
std::string image_config(std::string_view content_digest, std::string_view layer_sha256_hex);

// "sha256:" and the digest of the configuration: what engines call the image's id.
std::string image_id(std::string_view config);

// IO_ERROR when the folder is no longer what `layer` says; half an archive has then been written.
Result<void> write_image_archive(const std::filesystem::path& root, const LayerDigest& layer, std::string_view config,
                                 std::string_view reference, ByteSink& out, const CancelToken& cancel);

}  // namespace guard

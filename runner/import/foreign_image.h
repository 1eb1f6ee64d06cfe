// An image as others hand it over, lying in a folder: an OCI layout, or what `docker save` writes, unpacked.
//
// Where a digest names bytes they must have it. An OCI layout is a chain of digests down to each layer; of docker's
// form the configuration is named by its digest, and it names the layers by those of their bytes without compression.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "common/cancel.h"
#include "common/result.h"
#include "runner/files/archive_reader.h"
#include "runner/files/tree_unpacker.h"

namespace guard {

struct ForeignLayer {
  std::string path;         // of the blob, in the folder
  std::string blob_sha256;  // hex; empty: only what it holds is named by a digest
  std::string diff_sha256;  // of what it holds, without its compression
};

struct ForeignImage {
  std::string config_sha256;
  std::vector<ForeignLayer> layers;  // the lowest first
  std::vector<std::string> env;      // "NAME=VALUE", as its configuration has them
};

// Nothing: `folder` holds no image, and no part of one. INPUT_INVALID for one that is damaged, is for another machine,
// has more layers than engines take, or stands beside others. `folder` is a descriptor; no link in it leads out of it.
Result<std::optional<ForeignImage>> read_foreign_image(int folder);

// Where a digest names the blob it is read before anything looks into it. INPUT_INVALID where the layer is not what its
// digests say; what was unpacked until then is no use. Takes what it reads off `budget`.
Result<void> unpack_layer(
    int folder, const ForeignLayer& layer, ReadBudget& budget, TreeUnpacker& into, const CancelToken& cancel);

}  // namespace guard

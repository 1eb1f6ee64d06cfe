#include "runner/import/foreign_image.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <string_view>

#include "common/file_io.h"
#include "common/hash.h"
#include "common/text/foreign_json.h"
#include "common/text/text.h"
#include "docker/json_fields.h"
#include "runner/files/plain_path.h"
#include "runner/files/tree_writer.h"

namespace guard {
namespace {

using docker::find_field;
using docker::string_field;
using nlohmann::json;

constexpr std::uint64_t kDocumentBytesMax = 4ull << 20;  // what registries take, and 100 MB once it is parsed
constexpr int kIndexDepthMax = 4;
constexpr std::size_t kLayersMax = 128;       // engines stop at 127 or before
constexpr std::size_t kEnvBytesMax = 32'768;  // it goes into the record
constexpr std::string_view kAlgorithm = "sha256:";
#if defined(__x86_64__)
constexpr std::string_view kArchitecture = "amd64";
#else
constexpr std::string_view kArchitecture = "arm64";
#endif

Error invalid(std::string sentence) {
  return Error(ErrorCode::input_invalid, std::move(sentence)).hint("fetch the image again, or save it anew");
}

Result<UniqueFd> open_blob(int folder, const std::string& path) {
  auto fd = open_in_root(folder, path, O_RDONLY | O_NONBLOCK | O_NOCTTY);
  if (!fd)
    return std::move(fd.error()).hint("fetch the image again, or save it anew").context("opening a part of the image");
  struct stat status {};
  if (::fstat(fd->get(), &status) != 0 || !S_ISREG(status.st_mode))
    return invalid(fmt::format("{} is not a file", printable(path)));
  return fd;
}

Result<std::string> read_document(int folder, const std::string& path) {
  GUARD_TRY_ASSIGN(const UniqueFd fd, open_blob(folder, path));
  return read_all(fd.get(), kDocumentBytesMax, path);
}

Result<json> parse_document(std::string_view text, const std::string& path) {
  auto document = parse_json(text);
  if (document && (document->is_object() || document->is_array())) return document;
  return invalid(
      fmt::format("{} {}", printable(path), document ? "is not what it should be" : document.error().message()));
}

// The hex digits of "sha256:...".
Result<std::string> digest_of(const json& descriptor) {
  const std::string digest = string_field(descriptor, "digest").value_or("");
  if (digest.starts_with(kAlgorithm) && is_hex(std::string_view(digest).substr(kAlgorithm.size()), 64))
    return digest.substr(kAlgorithm.size());
  return invalid(fmt::format("\"{}\" is no SHA-256 digest", printable(digest)));
}

std::string blob_path(const std::string& hex) { return fmt::format("blobs/sha256/{}", hex); }

Error not_its_digest(std::string_view what, std::string_view hex) {
  return invalid(fmt::format("{} does not have the digest sha256:{} that names it", printable(what), hex));
}

Result<json> read_named_document(int folder, const std::string& hex) {
  GUARD_TRY_ASSIGN(const std::string text, read_document(folder, blob_path(hex)));
  if (sha256_hex(text) != hex) return not_its_digest(blob_path(hex), hex);
  return parse_document(text, blob_path(hex));
}

bool is_for_here(const json& platform) {
  return string_field(platform, "os").value_or("linux") == "linux" &&
      string_field(platform, "architecture").value_or(std::string(kArchitecture)) == kArchitecture;
}

// From the configuration: the digests of what the layers hold, and the variables.
Result<ForeignImage> read_config(const json& config, std::string sha256) {
  if (!is_for_here(config))
    return invalid(fmt::format("the image is for {}/{}, and this machine is linux/{}",
        printable(string_field(config, "os").value_or("")),
        printable(string_field(config, "architecture").value_or("")), kArchitecture));
  ForeignImage image;
  image.config_sha256 = std::move(sha256);
  const json* rootfs = find_field(config, "rootfs");
  const json* digests = rootfs == nullptr ? nullptr : find_field(*rootfs, "diff_ids");
  if (digests == nullptr || !digests->is_array()) return invalid("the image's configuration names no layers");
  if (digests->size() > kLayersMax)
    return invalid(fmt::format("the image has {} layers, and guard takes {}", digests->size(), kLayersMax));
  for (const json& digest : *digests) {
    GUARD_TRY_ASSIGN(std::string hex, digest_of({{"digest", digest}}));
    image.layers.push_back({{}, {}, std::move(hex)});
  }
  const json* inner = find_field(config, "config");
  const json* env = inner == nullptr ? nullptr : find_field(*inner, "Env");
  std::size_t bytes = 0;
  for (const json& variable : env != nullptr && env->is_array() ? *env : json::array()) {
    if (variable.is_string()) image.env.push_back(variable.get<std::string>());
    if (!variable.is_string() || image.env.back().find('\0') != std::string::npos)
      return invalid("a variable in the image's configuration is no text");
    bytes += image.env.back().size();
  }
  if (bytes > kEnvBytesMax) return invalid("the variables in the image's configuration are too large");
  return image;
}

// The manifest for this machine, in an index that may hold further ones.
Result<json> find_manifest(int folder, const json& document, int depth) {
  const json* list = find_field(document, "manifests");
  if (list == nullptr) return document;
  std::vector<std::string> found;
  for (const json& descriptor : list->is_array() ? *list : json::array()) {
    const json* platform = find_field(descriptor, "platform");
    if (platform != nullptr && !is_for_here(*platform)) continue;
    GUARD_TRY_ASSIGN(std::string hex, digest_of(descriptor));
    if (std::find(found.begin(), found.end(), hex) == found.end()) found.push_back(std::move(hex));
  }
  if (found.size() != 1 || depth >= kIndexDepthMax)
    return invalid(fmt::format("it holds {} images for linux/{}, and guard takes one", found.size(), kArchitecture));
  GUARD_TRY_ASSIGN(const json inner, read_named_document(folder, found.front()));
  return find_manifest(folder, inner, depth + 1);
}

Result<ForeignImage> read_layout(int folder, const json& index) {
  GUARD_TRY_ASSIGN(const json manifest, find_manifest(folder, index, 0));
  const json* descriptor = find_field(manifest, "config");
  const json* layers = find_field(manifest, "layers");
  if (descriptor == nullptr || layers == nullptr || !layers->is_array())
    return invalid("the image's manifest names no configuration and layers");
  GUARD_TRY_ASSIGN(std::string hex, digest_of(*descriptor));
  GUARD_TRY_ASSIGN(const json config, read_named_document(folder, hex));
  GUARD_TRY_ASSIGN(ForeignImage image, read_config(config, std::move(hex)));
  if (image.layers.size() != layers->size()) return invalid("the image's manifest and configuration name other layers");
  for (std::size_t index_of = 0; index_of < layers->size(); ++index_of) {
    ForeignLayer& layer = image.layers[index_of];
    GUARD_TRY_ASSIGN(layer.blob_sha256, digest_of((*layers)[index_of]));
    layer.path = blob_path(layer.blob_sha256);
  }
  return image;
}

// "<hex>.json", "blobs/sha256/<hex>", "sha256:<hex>"; some programs name it otherwise.
std::string digest_in_name(std::string_view path) {
  path.remove_prefix(path.rfind('/') + 1);
  if (path.ends_with(".json")) path.remove_suffix(5);
  if (path.starts_with(kAlgorithm)) path.remove_prefix(kAlgorithm.size());
  return is_hex(path, 64) ? std::string(path) : std::string();
}

Result<ForeignImage> read_saved(int folder, const json& manifest) {
  if (manifest.size() != 1)
    return invalid(fmt::format("the archive holds {} images, and guard takes one", manifest.size()));
  const std::string path = string_field(manifest[0], "Config").value_or("");
  const json* layers = find_field(manifest[0], "Layers");
  if (path.empty() || layers == nullptr || !layers->is_array())
    return invalid("manifest.json names no configuration and layers");
  GUARD_TRY_ASSIGN(const std::string text, read_document(folder, path));
  std::string hex = sha256_hex(text);
  if (const std::string named = digest_in_name(path); !named.empty() && named != hex)
    return not_its_digest(path, named);
  GUARD_TRY_ASSIGN(const json config, parse_document(text, path));
  GUARD_TRY_ASSIGN(ForeignImage image, read_config(config, std::move(hex)));
  if (image.layers.size() != layers->size()) return invalid("manifest.json and the configuration name other layers");
  for (std::size_t index = 0; index < layers->size(); ++index) {
    if (!(*layers)[index].is_string()) return invalid("a layer in manifest.json is no path");
    image.layers[index].path = (*layers)[index].get<std::string>();
  }
  return image;
}

Result<std::optional<json>> find_document(int folder, const std::string& path) {
  auto text = read_document(folder, path);
  if (!text && text.error().code() == ErrorCode::file_not_found) return std::optional<json>();
  if (!text) return std::move(text).error();
  GUARD_TRY_ASSIGN(json document, parse_document(*text, path));
  return std::optional(std::move(document));
}

bool is_saved(const json& manifest) {
  return manifest.is_array() && !manifest.empty() &&
      (find_field(manifest[0], "Config") != nullptr || find_field(manifest[0], "Layers") != nullptr);
}

}  // namespace

Result<std::optional<ForeignImage>> read_foreign_image(int folder) {
  GUARD_TRY_ASSIGN(const auto layout, find_document(folder, "oci-layout"));
  if (layout) {
    GUARD_TRY_ASSIGN(const auto index, find_document(folder, "index.json"));
    if (!index) return invalid("the OCI layout has no index.json");
    GUARD_TRY_ASSIGN(ForeignImage image, read_layout(folder, *index));
    return std::optional(std::move(image));
  }
  // A root file system may have files of these names, too.
  auto manifest = find_document(folder, "manifest.json");
  if (manifest && *manifest && is_saved(**manifest)) {
    GUARD_TRY_ASSIGN(ForeignImage image, read_saved(folder, **manifest));
    return std::optional(std::move(image));
  }
  for (const char* name : {"bin", "etc", "usr"})
    if (open_in_root(folder, name, O_PATH)) return std::optional<ForeignImage>();
  if (!manifest) return std::move(manifest).error();
  const bool has_blobs = open_in_root(folder, "blobs/sha256", O_PATH).has_value();
  if (has_blobs || (*manifest && ((*manifest)->is_array() || find_field(**manifest, "layers") != nullptr))) {
    return invalid("it holds parts of an image, and neither oci-layout nor manifest.json says which")
        .hint("save it as a docker-archive or an OCI layout, or fetch it again");
  }
  return std::optional<ForeignImage>();
}

Result<void> unpack_layer(
    int folder, const ForeignLayer& layer, ReadBudget& budget, TreeUnpacker& into, const CancelToken& cancel) {
  GUARD_TRY_ASSIGN(const UniqueFd fd, open_blob(folder, layer.path));
  if (!layer.blob_sha256.empty()) {
    Sha256 hash;
    // Many layers may name one blob.
    const auto digest = [&](std::string_view bytes) {
      hash.update(bytes);
      return budget.take(bytes.size());
    };
    GUARD_TRY(each_chunk(fd.get(), layer.path, &cancel, digest));
    if (hash.finish_hex() != layer.blob_sha256) return not_its_digest(layer.path, layer.blob_sha256);
    if (::lseek(fd.get(), 0, SEEK_SET) != 0) return Error::from_errno(ErrorCode::io_error, "lseek", errno);
  }
  into.begin_layer(WhiteOuts::applied);
  const auto add = [&](const TreeEntry& entry, const WriteContent& write) { return into.add(entry, write); };
  GUARD_TRY_ASSIGN(const ArchiveRead read, read_archive(fd.get(), layer.path, AfterEnd::ignored, budget, add, cancel));
  // Which says, too, that it was not cut off.
  if (read.sha256_hex != layer.diff_sha256) return not_its_digest(layer.path, layer.diff_sha256);
  return ok();
}

}  // namespace guard

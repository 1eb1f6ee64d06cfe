#include "runner/image/image.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <stdlib.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <optional>

#include "common/file_io.h"
#include "common/hash.h"
#include "common/text/text.h"
#include "docker/engine_client.h"
#include "runner/files/file_digests.h"
#include "runner/files/scratch_file.h"
#include "runner/files/tree_writer.h"
#include "runner/image/dependencies.h"
#include "runner/image/elf_file.h"
#include "runner/image/image_archive.h"
#include "runner/image/image_tools.h"
#include "runner/image/native_needs.h"
#include "runner/image/root_folder.h"
#include "runner/init_side/init_binary.h"

namespace guard {
namespace {

namespace fs = std::filesystem;

// Goes up whenever the same inputs would give another root folder.
constexpr std::string_view kBuilderVersion = "5";
constexpr std::size_t kTagDigits = 16;
constexpr std::chrono::minutes kLoadDeadline{10};
constexpr std::chrono::seconds kInspectDeadline{10};
constexpr std::uint64_t kEngineIdBytesMax = 256;

// Everything that an image is made of.
struct Sources {
  Dependencies dependencies;
  fs::path bun;
  std::string bun_sha256;
  ProgramAccess bun_access = ProgramAccess::execute_only;
  std::vector<LibraryFile> libraries;  // of bun, and the tools with theirs
  std::vector<std::string> library_sha256;
  std::size_t of_bun = 0;  // so many of them come first

  std::string digest() const {
    Sha256 hash;
    hash.update_field("guard image");
    hash.update_field(kBuilderVersion);
    hash.update_field(std::to_string(dependencies.files.size()));
    for (const auto& [path, bytes] : dependencies.files) {
      hash.update_field(path);
      hash.update_field(bytes);
    }
    hash.update_field(bun_sha256);
    hash.update_field(attestation_sha256());
    hash.update_field(bun_access == ProgramAccess::readable ? "readable" : "execute only");
    for (std::size_t index = 0; index < libraries.size(); ++index) {
      hash.update_field(libraries[index].target);
      hash.update_field(library_sha256[index]);
    }
    return hash.finish_hex();
  }
};

Result<Sources> read_sources(const ImageInputs& inputs) {
  Sources sources;
  GUARD_TRY_ASSIGN(sources.dependencies, read_dependencies(inputs.project));
  GUARD_TRY_ASSIGN(sources.bun, resolve_bun(inputs.bun));
  sources.bun_access = inputs.bun_access;
  GUARD_TRY_ASSIGN(sources.libraries, needed_libraries(sources.bun));
  sources.of_bun = sources.libraries.size();
  GUARD_TRY_ASSIGN(auto tools, tool_files(inputs.tools));
  for (LibraryFile& file : tools) {
    const bool known = std::any_of(sources.libraries.begin(), sources.libraries.end(),
        [&](const LibraryFile& library) { return library.target == file.target; });
    if (!known) sources.libraries.push_back(std::move(file));
  }
  GUARD_TRY_ASSIGN(const fs::path cache, cache_folder());
  FileDigests digests(cache);
  GUARD_TRY_ASSIGN(sources.bun_sha256, digests.sha256_hex_of(sources.bun));
  for (const auto& library : sources.libraries) {
    GUARD_TRY_ASSIGN(std::string digest, digests.sha256_hex_of(library.source));
    sources.library_sha256.push_back(std::move(digest));
  }
  return sources;
}

// The part of a reference before the tag: what engines allow, without a registry's host and port.
bool is_image_name(std::string_view name) {
  constexpr std::string_view kInside = "abcdefghijklmnopqrstuvwxyz0123456789";
  return !name.empty() && name.size() <= 128 && kInside.find(name.front()) != std::string_view::npos &&
      kInside.find(name.back()) != std::string_view::npos &&
      name.find_first_not_of("abcdefghijklmnopqrstuvwxyz0123456789._-/") == std::string_view::npos;
}

// An engine that names images after their manifest (containerd's image store) has said so when the image was loaded.
std::optional<std::string> engine_id(const ImageCache& cache, std::string_view digest) {
  auto id = read_file(cache.image_folder(digest) / "engine-id", kEngineIdBytesMax, FollowLinks::no);
  return id ? std::optional(std::move(*id)) : std::nullopt;
}

std::string reference_of(std::string_view name, std::string_view digest) {
  return fmt::format("{}:{}", name, digest.substr(0, kTagDigits));
}

Result<ImagePlan> make_plan(
    const ImageInputs& inputs, const Sources& sources, const ImageCache& cache, const CancelToken& cancel) {
  if (!is_image_name(inputs.name)) {
    return Error(ErrorCode::input_invalid, fmt::format("\"{}\" cannot be the name of an image", printable(inputs.name)))
        .hint("use lower-case letters, digits and . _ - /, without a tag");
  }
  ImagePlan plan;
  plan.project = inputs.project;
  plan.digest = sources.digest();
  plan.reference = reference_of(inputs.name, plan.digest);
  plan.bun_sha256 = sources.bun_sha256;
  plan.root_folder = cache.image_folder(plan.digest) / "root";
  if (const auto record = cache.find(plan.digest)) {
    ImagePlan built = plan_of(*record, cache, inputs.project);
    built.reference = plan.reference;
    built.bun_sha256 = plan.bun_sha256;
    return built;
  }
  GUARD_TRY_ASSIGN(plan.bun_version, ask_bun_version(sources.bun, cancel));
  return plan;
}

bool has_content(const docker::ImageInfo& image, const std::string& digest) {
  const auto label = image.labels.find("guard.content");
  return label != image.labels.end() && label->second == digest;
}

// What native packages need besides bun's libraries.
Result<void> add_native_libraries(RootFolderParts& parts, ImagePlan& plan) {
  GUARD_TRY_ASSIGN(const NativeNeeds needs, native_needs(parts.packages, parts.libraries));
  GUARD_TRY_ASSIGN(const fs::path cache, cache_folder());
  FileDigests digests(cache);
  for (const LibraryFile& library : needs.libraries) {
    GUARD_TRY_ASSIGN(std::string digest, digests.sha256_hex_of(library.source));
    plan.libraries.push_back(fmt::format("/{} sha256:{}", library.target, digest));
    parts.libraries.push_back(library);
    parts.library_sha256.push_back(std::move(digest));
  }
  for (const auto& [package, library] : needs.missing)
    plan.notes.push_back(fmt::format(
        "{} will not load: it needs {}, which this machine does not have", printable(package), printable(library)));
  return ok();
}

FileTimes times_of(const ImageRecord& record) { return record.name.empty() ? FileTimes::zero : FileTimes::kept; }

Error not_built(const ImagePlan& plan) {
  return Error(ErrorCode::image_missing, fmt::format("the image {} is not built", plan.reference))
      .hint(plan.name.empty() ? "" : fmt::format("make it with `{}`", made_by(plan)))
      .detail("image", plan.reference);
}

void say(const ImageProgress& progress, std::string_view line) {
  if (progress) progress(line);
}

}  // namespace

Result<ImagePlan> plan_image(const ImageInputs& inputs) {
  const CancelToken never;
  GUARD_TRY_ASSIGN(const ImageCache cache, ImageCache::open());
  GUARD_TRY_ASSIGN(const Sources sources, read_sources(inputs));
  return make_plan(inputs, sources, cache, never);
}

ImagePlan plan_of(const ImageRecord& record, const ImageCache& cache, const fs::path& project) {
  ImagePlan plan;
  static_cast<ImageRecord&>(plan) = record;
  plan.project = project;
  plan.reference = reference_of(ImageInputs().name, record.digest);
  plan.root_folder = cache.image_folder(record.digest) / "root";
  plan.image_id = engine_id(cache, record.digest).value_or(record.image_id);
  plan.built = true;
  return plan;
}

std::string made_by(const ImageRecord& record) {
  if (record.name.empty()) return "guard image build";
  // "template python with git jq"
  const std::vector<std::string_view> words = pieces_of(record.source, ' ');
  if (words.size() < 2 || words[0] != "template")
    return fmt::format("guard image import {} {}", record.name, shell_quoted(record.source));
  std::string command = fmt::format("guard image build --template {} {}", words[1], record.name);
  for (std::size_t index = 3; index < words.size(); ++index) command += fmt::format(" --package {}", words[index]);
  return command;
}

Result<RuntimeImage> runtime_image(const ImagePlan& plan) {
  if (plan.built)
    return RuntimeImage{plan.reference, plan.image_id, plan.root_folder, plan.module_folders, plan.name.empty()};
  return not_built(plan);
}

Result<UniqueFd> hold_image(const ImagePlan& plan) {
  GUARD_TRY_ASSIGN(const ImageCache cache, ImageCache::open());
  auto held = cache.hold(plan.digest, plan.project);
  return held ? std::move(held) : not_built(plan);
}

Result<RuntimeImage> build_root_folder(
    const ImageInputs& inputs, const CancelToken& cancel, const ImageProgress& progress) {
  GUARD_TRY_ASSIGN(const ImageCache cache, ImageCache::open());
  GUARD_TRY_ASSIGN(const Sources sources, read_sources(inputs));
  GUARD_TRY_ASSIGN(ImagePlan plan, make_plan(inputs, sources, cache, cancel));
  if (plan.built) return runtime_image(plan);

  bool waited = false;
  GUARD_TRY_ASSIGN(const UniqueFd lock, cache.lock_for_building(cancel, waited));
  if (waited) say(progress, "waited for another build");
  if (cache.find(plan.digest)) {  // made by someone else between the plan and the lock
    GUARD_TRY_ASSIGN(plan, make_plan(inputs, sources, cache, cancel));
    return runtime_image(plan);
  }
  (void)cache.sweep_leftovers(SweepMode::remove);
  GUARD_TRY_ASSIGN(const TempDir temp, TempDir::create(cache.folder()));

  for (std::size_t index = sources.of_bun; index < sources.libraries.size(); ++index) {
    plan.libraries.push_back(
        fmt::format("/{} sha256:{}", sources.libraries[index].target, sources.library_sha256[index]));
  }
  RootFolderParts parts{sources.bun, sources.bun_sha256, sources.bun_access == ProgramAccess::readable ? 0755u : 0111u,
      sources.libraries, sources.library_sha256, {}, {}};
  if (!sources.dependencies.lockfile.empty()) {
    say(progress,
        fmt::format(
            "installing what {} fixes, with bun {}, without scripts", sources.dependencies.lockfile, plan.bun_version));
    parts.packages = {temp.path() / "install", {}, sources.dependencies.workspaces};
    const fs::path& install = parts.packages.folder;
    GUARD_TRY(make_folders(install, 0700));
    GUARD_TRY_ASSIGN(plan.notes, install_dependencies(sources.dependencies, sources.bun, install, cancel));
    for (const std::string& place : sources.dependencies.workspaces) {
      std::error_code failure;
      if (fs::is_directory(fs::symlink_status(install / place / "node_modules", failure)))
        parts.packages.module_folders.push_back(place);
    }
    GUARD_TRY(add_native_libraries(parts, plan));
  }
  const fs::path compiling = temp.path() / "attestation";
  GUARD_TRY(make_folders(compiling, 0700));
  GUARD_TRY_ASSIGN(parts.attestation, compile_attestation(sources.bun, compiling, cancel));
  if (parts.attestation.bytecode.empty())
    say(progress, fmt::format("bun {} makes no bytecode: each test file takes longer to start", plan.bun_version));
  say(progress, "writing the root folder");
  const fs::path built = temp.path() / "image";
  GUARD_TRY(new_folder(built));
  GUARD_TRY(write_root_folder(built / "root", parts, cancel));
  GUARD_TRY_ASSIGN(const LayerDigest layer, digest_layer(built / "root", FileTimes::zero, cancel));

  plan.image_id = image_id(image_config(plan.digest, layer.sha256_hex));
  plan.layer_sha256 = layer.sha256_hex;
  plan.layer_bytes = layer.bytes;
  plan.module_folders = parts.packages.module_folders;
  GUARD_TRY(cache.publish(built, plan));
  plan.built = true;
  return runtime_image(plan);
}

Result<RuntimeImage> load_into_engine(
    const ImagePlan& plan, const docker::Endpoint& endpoint, const CancelToken& cancel, const ImageProgress& progress) {
  GUARD_TRY_ASSIGN(const ImageCache cache, ImageCache::open());
  GUARD_TRY_ASSIGN(const UniqueFd held, hold_image(plan));
  const std::optional<ImageRecord> record = cache.find(plan.digest);
  if (!record) return not_built(plan);

  docker::EngineClient engine(endpoint, cancel);
  GUARD_TRY_ASSIGN(const auto present, engine.inspect_image(plan.reference, Deadline::after(kInspectDeadline)));
  if (present && (present->id == record->image_id || present->id == plan.image_id)) {
    say(progress, fmt::format("the engine has {}", plan.reference));
    return RuntimeImage{plan.reference, present->id, plan.root_folder, plan.module_folders, plan.name.empty()};
  }

  say(progress, fmt::format("loading {} into the engine", plan.reference));
  const std::string config = image_config(plan.digest, record->layer_sha256);
  GUARD_TRY_ASSIGN(ScratchFile scratch, ScratchFile::create(cache.folder()));
  const LayerDigest layer{record->layer_sha256, record->layer_bytes, times_of(*record), made_by(*record)};
  GUARD_TRY(write_image_archive(plan.root_folder, layer, config, plan.reference, scratch, cancel));
  GUARD_TRY_ASSIGN(const UniqueFd archive, scratch.take());
  GUARD_TRY(engine.load_image(archive.get(), scratch.bytes(), Deadline::after(kLoadDeadline))
                .context(fmt::format("loading {}", plan.reference)));

  // What the engine answered to the load says nothing about what it now has under that name.
  GUARD_TRY_ASSIGN(const auto loaded, engine.inspect_image(plan.reference, Deadline::after(kInspectDeadline)));
  if (!loaded || loaded->id.empty() || !has_content(*loaded, plan.digest)) {
    return Error(ErrorCode::image_build_failed,
        fmt::format("the engine took the image but shows something else as {}", plan.reference))
        .hint("see whether another program loads or tags images under this name");
  }
  if (loaded->id != record->image_id) {
    GUARD_TRY(write_file_atomically(cache.image_folder(plan.digest) / "engine-id", loaded->id));
  }
  return RuntimeImage{plan.reference, loaded->id, plan.root_folder, plan.module_folders, plan.name.empty()};
}

Result<CachedContents> read_cached_image(std::string_view digest, const CancelToken& cancel) {
  GUARD_TRY_ASSIGN(const ImageCache cache, ImageCache::open());
  const std::optional<ImageRecord> record = cache.find(digest);
  if (!record) {
    return Error(ErrorCode::file_not_found, fmt::format("no image {} is cached", digest.substr(0, kTagDigits)));
  }
  GUARD_TRY_ASSIGN(const UniqueFd held, cache.hold(digest, {}));
  GUARD_TRY_ASSIGN(LayerDigest layer, digest_layer(cache.image_folder(digest) / "root", times_of(*record), cancel));
  CachedContents contents{std::move(layer.sha256_hex), {}};
  contents.image_ids.push_back(image_id(image_config(digest, contents.layer_sha256)));
  if (auto other = engine_id(cache, digest)) contents.image_ids.push_back(std::move(*other));
  return contents;
}

Result<std::vector<CachedImage>> list_cached_images(ImageSizes sizes) {
  GUARD_TRY_ASSIGN(const ImageCache cache, ImageCache::open());
  return cache.list(sizes);
}

Result<std::vector<CachedImage>> remove_cached_images(std::vector<CachedImage> images, const CancelToken& cancel) {
  GUARD_TRY_ASSIGN(const ImageCache cache, ImageCache::open());
  bool waited = false;
  GUARD_TRY_ASSIGN(const UniqueFd lock, cache.lock_for_building(cancel, waited));
  std::vector<CachedImage> removed = cache.sweep_leftovers(SweepMode::remove);
  GUARD_TRY_ASSIGN(std::vector<CachedImage> gone, cache.remove(std::move(images)));
  removed.insert(removed.end(), std::make_move_iterator(gone.begin()), std::make_move_iterator(gone.end()));
  return removed;
}

Result<std::vector<CachedImage>> list_unfinished_images() {
  GUARD_TRY_ASSIGN(const ImageCache cache, ImageCache::open());
  return cache.sweep_leftovers(SweepMode::list);
}

Result<void> remove_from_engine(
    std::string_view digest, std::string_view name, const docker::Endpoint& endpoint, const CancelToken& cancel) {
  docker::EngineClient engine(endpoint, cancel);
  const std::string reference = reference_of(name, digest);
  GUARD_TRY_ASSIGN(const auto present, engine.inspect_image(reference, Deadline::after(kInspectDeadline)));
  if (!present || !has_content(*present, std::string(digest))) return ok();
  return engine.remove_image(reference, Deadline::after(kInspectDeadline));
}

}  // namespace guard

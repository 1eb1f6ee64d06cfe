#include "runner/image/image_archive.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <nlohmann/json.hpp>
#include <set>
#include <vector>

#include "common/file_io.h"
#include "common/hash.h"
#include "common/text/text.h"
#include "common/unique_fd.h"
#include "runner/files/folder_names.h"
#include "runner/files/plain_path.h"
#include "runner/files/scratch_file.h"
#include "runner/files/tar_writer.h"
#include "runner/files/tree_writer.h"

namespace guard {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

constexpr int kDepthMax = 256;

class HashSink final : public ByteSink {
 public:
  Result<void> push(std::span<const char> bytes) override {
    hash_.update(bytes);
    bytes_ += bytes.size();
    return ok();
  }
  Result<void> finish() override { return ok(); }
  LayerDigest digest() { return {.sha256_hex = hash_.finish_hex(), .bytes = bytes_}; }

 private:
  Sha256 hash_;
  std::uint64_t bytes_ = 0;
};

constexpr unsigned kUnreadable = 0111;

unsigned archived_mode(mode_t mode) {
  if ((mode & 0777) == kUnreadable) return kUnreadable;
  return (mode & S_IXUSR) != 0 ? 0755 : 0644;
}

// What nobody may read is read by its owner for one moment.
UniqueFd open_to_read(const fs::path& path, unsigned mode) {
  constexpr int kFlags = O_RDONLY | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK | O_NOCTTY;
  UniqueFd fd(::open(path.c_str(), kFlags));
  if (fd || errno != EACCES || mode != kUnreadable || ::chmod(path.c_str(), 0511) != 0) return fd;
  fd.reset(::open(path.c_str(), kFlags));
  const int error = errno;
  ::chmod(path.c_str(), kUnreadable);
  errno = error;
  return fd;
}

// The layer goes into the outer archive and through a hash at once.
class LayerSink final : public ByteSink {
 public:
  explicit LayerSink(TarWriter& outer) : outer_(outer) {}
  Result<void> push(std::span<const char> bytes) override {
    GUARD_TRY(hash_.push(bytes));
    return outer_.content(std::string_view(bytes.data(), bytes.size()));
  }
  Result<void> finish() override { return ok(); }
  LayerDigest digest() { return hash_.digest(); }

 private:
  TarWriter& outer_;
  HashSink hash_;
};

class LayerWriter {
 public:
  // Below `prefix` in the archive, which is empty or ends with '/'.
  LayerWriter(const fs::path& root, std::string prefix, TarWriter& tar, FileTimes times, const CancelToken& cancel)
      : root_(root), prefix_(std::move(prefix)), tar_(tar), times_(times), cancel_(cancel) {}

  Result<void> write_folder() { return folder({}, 0); }
  // The root is a file itself, and `prefix` its whole path in the archive.
  Result<void> write_file() {
    struct stat status {};
    if (::lstat(root_.c_str(), &status) != 0)
      return Error::from_errno(ErrorCode::io_error, printable(root_.native()), errno);
    if (!S_ISREG(status.st_mode))
      return Error(ErrorCode::input_invalid, fmt::format("{} is not a file", printable(root_.native())));
    return file({}, archived_mode(status.st_mode));
  }

 private:
  Result<void> folder(const fs::path& relative, int depth) {
    if (depth > kDepthMax)
      return Error(ErrorCode::input_invalid, fmt::format("{} lies too deep", printable(relative.native())));
    GUARD_TRY_ASSIGN(const std::vector<std::string> names, sorted_names(root_ / relative));
    for (const auto& name : names) GUARD_TRY(entry(relative / name, depth));
    return ok();
  }

  Result<void> entry(const fs::path& relative, int depth) {
    if (cancel_.cancelled()) return Error(ErrorCode::cancelled, "stopped while reading a folder");
    const fs::path path = root_ / relative;
    struct stat status {};
    if (::lstat(path.c_str(), &status) != 0)
      return Error::from_errno(ErrorCode::io_error, printable(path.native()), errno);
    if (S_ISDIR(status.st_mode)) {
      GUARD_TRY(tar_.add_folder(prefix_ + relative.native(), 0755));
      return folder(relative, depth + 1);
    }
    if (S_ISLNK(status.st_mode)) {
      std::error_code failure;
      const fs::path target = fs::read_symlink(path, failure);
      if (failure) return Error::from_errno(ErrorCode::io_error, printable(path.native()), failure.value());
      return tar_.add_link(prefix_ + relative.native(), target.native());
    }
    if (!S_ISREG(status.st_mode))
      return Error(ErrorCode::input_invalid, fmt::format("{} is not a file", printable(path.native())));
    return file(relative, archived_mode(status.st_mode));
  }

  Result<void> file(const fs::path& relative, unsigned mode) {
    const fs::path path = relative.empty() ? root_ : root_ / relative;
    UniqueFd fd = open_to_read(path, mode);
    struct stat status {};
    if (!fd || ::fstat(fd.get(), &status) != 0)
      return Error::from_errno(ErrorCode::io_error, printable(path.native()), errno);
    const std::int64_t changed_s = times_ == FileTimes::kept ? std::max<std::int64_t>(status.st_mtim.tv_sec, 0) : 0;
    GUARD_TRY(tar_.begin_file(prefix_ + relative.native(), mode, static_cast<std::uint64_t>(status.st_size),
        static_cast<std::uint64_t>(changed_s)));
    GUARD_TRY(each_chunk(fd.get(), path, &cancel_, [this](std::string_view bytes) { return tar_.content(bytes); }));
    return tar_.end_file();
  }

  const fs::path& root_;
  std::string prefix_;
  TarWriter& tar_;
  FileTimes times_;
  const CancelToken& cancel_;
};

Result<void> write_layer(const fs::path& root, FileTimes times, ByteSink& out, const CancelToken& cancel) {
  TarWriter tar(out);
  GUARD_TRY(LayerWriter(root, {}, tar, times, cancel).write_folder());
  return tar.finish();
}

#if defined(__x86_64__)
constexpr std::string_view kArchitecture = "amd64";
#else
constexpr std::string_view kArchitecture = "arm64";
#endif
constexpr std::string_view kCreated = "1970-01-01T00:00:00Z";

// Everything below it is copied to the root of the image.
constexpr std::string_view kFiles = "files";

bool is_image_id(std::string_view id) {
  constexpr std::string_view kAlgorithm = "sha256:";
  if (id.starts_with(kAlgorithm)) id.remove_prefix(kAlgorithm.size());
  return is_hex(id, 64);
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

Result<void> add_to_archive(TarWriter& tar, const fs::path& source, std::string_view path, const CancelToken& cancel) {
  std::error_code failure;
  if (fs::is_directory(fs::symlink_status(source, failure))) {
    GUARD_TRY(tar.add_folder(path, 0755));
    return LayerWriter(source, fmt::format("{}/", path), tar, FileTimes::zero, cancel).write_folder();
  }
  return LayerWriter(source, std::string(path), tar, FileTimes::zero, cancel).write_file();
}

Result<LayerDigest> digest_layer(const fs::path& root, FileTimes times, const CancelToken& cancel) {
  HashSink sink;
  GUARD_TRY(write_layer(root, times, sink, cancel));
  LayerDigest layer = sink.digest();
  layer.times = times;
  return layer;
}

std::string image_config(std::string_view content_digest, std::string_view layer_sha256_hex) {
  // Keys of a json object are sorted, so the text is a pure function of the two digests.
  const json config = {
      {"architecture", kArchitecture},
      {"os", "linux"},
      {"created", kCreated},
      {"config",
          {{"User", "1000:1000"}, {"WorkingDir", "/app"},
              {"Env", json::array({"PATH=/usr/local/bin:/usr/bin:/bin", "HOME=/tmp"})},
              {"Cmd", json::array({"bun", "test"})}, {"Labels", {{"guard.content", content_digest}}}}},
      {"rootfs", {{"type", "layers"}, {"diff_ids", json::array({fmt::format("sha256:{}", layer_sha256_hex)})}}},
      {"history", json::array({{{"created", kCreated}, {"created_by", "guard image build"}}})},
  };
  return config.dump();
}

std::string image_id(std::string_view config) { return fmt::format("sha256:{}", sha256_hex(config)); }

Result<void> write_image_archive(const fs::path& root, const LayerDigest& layer, std::string_view config,
    std::string_view reference, ByteSink& out, const CancelToken& cancel) {
  const std::string config_name = fmt::format("{}.json", sha256_hex(config));
  const json manifest = json::array({{{"Config", config_name}, {"RepoTags", json::array({std::string(reference)})},
      {"Layers", json::array({"layer.tar"})}}});
  TarWriter outer(out);
  GUARD_TRY(outer.add_file("manifest.json", 0644, manifest.dump()));
  GUARD_TRY(outer.add_file(config_name, 0644, config));
  GUARD_TRY(outer.begin_file("layer.tar", 0644, layer.bytes));
  LayerSink sink(outer);
  GUARD_TRY(write_layer(root, layer.times, sink, cancel));
  GUARD_TRY(outer.end_file());
  if (sink.digest().sha256_hex != layer.sha256_hex) {
    return Error(ErrorCode::io_error, fmt::format("{} is not what it was when it was built", printable(root.native())))
        .hint(fmt::format("remove {} and run `{}` again", printable(root.parent_path().native()), layer.made_by));
  }
  return outer.finish();
}

}  // namespace guard

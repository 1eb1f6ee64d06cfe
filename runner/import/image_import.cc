#include "runner/import/image_import.h"

#include <fcntl.h>
#include <fmt/chrono.h>
#include <fmt/format.h>
#include <limits.h>
#include <poll.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <ctime>
#include <optional>

#include "common/file_io.h"
#include "common/hash.h"
#include "common/text/text.h"
#include "docker/engine_client.h"
#include "runner/files/archive_reader.h"
#include "runner/files/folder_names.h"
#include "runner/files/plain_path.h"
#include "runner/files/scratch_file.h"
#include "runner/files/tree_writer.h"
#include "runner/image/image_archive.h"
#include "runner/import/foreign_image.h"

namespace guard {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kNameBytesMax = 64;
constexpr int kDepthMax = 256;
constexpr std::chrono::minutes kSaveDeadline{15};  // some gigabytes from a slow disk

bool is_name(std::string_view name) {
  constexpr std::string_view kFirst = "abcdefghijklmnopqrstuvwxyz0123456789";
  return !name.empty() && name.size() <= kNameBytesMax && kFirst.find(name.front()) != std::string_view::npos &&
      name.find_first_not_of("abcdefghijklmnopqrstuvwxyz0123456789._-") == std::string_view::npos;
}

Result<UniqueFd> open_folder(const fs::path& path) {
  UniqueFd fd(::open(path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (!fd) return Error::from_errno(ErrorCode::io_error, printable(path.native()), errno);
  return fd;
}

// A folder that is a root file system already. What lies on other file systems (/proc, mounted disks) is left out. Goes
// from descriptor to descriptor and follows no link, whatever becomes of the folder meanwhile.
class FolderReader {
 public:
  FolderReader(dev_t device, TreeUnpacker& into, const CancelToken& cancel)
      : device_(device), into_(into), cancel_(cancel) {}

  // `path` is that of `folder`, in what is read.
  Result<void> below(int folder, const fs::path& path, int depth) {
    if (depth > kDepthMax)
      return Error(ErrorCode::input_invalid, fmt::format("{} lies too deep", printable(path.native())));
    GUARD_TRY_ASSIGN(const std::vector<std::string> names, sorted_names(folder, path.native()));
    for (const std::string& name : names) GUARD_TRY(entry(folder, name, path / name, depth));
    return ok();
  }

 private:
  Result<void> entry(int folder, const std::string& name, const fs::path& path, int depth) {
    const auto failed = [&] { return Error::from_errno(ErrorCode::io_error, printable(path.native()), errno); };
    TreeEntry entry;
    entry.path = path.native();
    struct stat status {};
    if (::fstatat(folder, name.c_str(), &status, AT_SYMLINK_NOFOLLOW) != 0) return failed();
    if (S_ISLNK(status.st_mode)) {
      entry.kind = TreeEntry::Kind::link;
      entry.target.resize(PATH_MAX);
      const ssize_t size = ::readlinkat(folder, name.c_str(), entry.target.data(), entry.target.size());
      if (size < 0) return failed();
      entry.target.resize(static_cast<std::size_t>(size));
    }
    if (!S_ISDIR(status.st_mode) && !S_ISREG(status.st_mode)) return into_.add(entry, {});
    const UniqueFd fd(::openat(folder, name.c_str(), O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC));
    if (!fd || ::fstat(fd.get(), &status) != 0) return failed();
    entry.mode = status.st_mode;
    entry.owner = status.st_uid;
    entry.changed_s = status.st_mtim.tv_sec;
    if (S_ISDIR(status.st_mode)) {
      entry.kind = TreeEntry::Kind::folder;
      GUARD_TRY(into_.add(entry, {}));
      return status.st_dev == device_ ? below(fd.get(), path, depth + 1) : ok();
    }
    if (!S_ISREG(status.st_mode)) return into_.add(entry, {});
    entry.kind = TreeEntry::Kind::file;
    entry.bytes = static_cast<std::uint64_t>(status.st_size);
    return into_.add(entry, [&](int to) -> Result<void> {
      std::uint64_t left = entry.bytes;
      return each_chunk(fd.get(), path, &cancel_, [&](std::string_view bytes) -> Result<void> {
        if (bytes.size() > left)
          return Error(ErrorCode::io_error, fmt::format("{} grew while it was read", printable(path.native())));
        left -= bytes.size();
        return write_all(to, bytes);
      });
    });
  }

  dev_t device_;
  TreeUnpacker& into_;
  const CancelToken& cancel_;
};

class Import {
 public:
  Import(const ImportRequest& request, fs::path work, const CancelToken& cancel, const ImageProgress& progress)
      : request_(request), work_(std::move(work)), cancel_(cancel), progress_(progress) {}

  // Makes <work>/image/root.
  Result<void> make_root() {
    GUARD_TRY(new_folder(work_ / "image"));
    std::error_code failure;
    if (request_.from.starts_with(kFromEngine)) {
      GUARD_TRY_ASSIGN(UniqueFd saved, save_from_engine());
      return from_archive(std::move(saved));
    }
    if (fs::is_directory(request_.from, failure)) return from_folder();
    UniqueFd archive(::open(request_.from.c_str(), O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC));
    if (!archive) {
      return Error::from_errno(errno == ENOENT ? ErrorCode::file_not_found : ErrorCode::io_error,
          fmt::format("cannot open {}", printable(request_.from)), errno)
          .hint(fmt::format("name a folder, an archive or {}REFERENCE", kFromEngine));
    }
    // A pipe that nobody writes yet is no end: opening waits for nobody, reading does.
    std::array<pollfd, 2> waits = {{{archive.get(), POLLIN, 0}, {cancel_.fd(), POLLIN, 0}}};
    while (::poll(waits.data(), waits.size(), -1) < 0 && errno == EINTR) continue;
    if (cancel_.cancelled()) return Error(ErrorCode::cancelled, "stopped before the archive was read");
    ::fcntl(archive.get(), F_SETFL, O_RDONLY);
    return from_archive(std::move(archive));
  }

  // What the sandbox mounts on is a folder, and what the request adds is there.
  Result<void> finish_root() {
    GUARD_TRY_ASSIGN(TreeUnpacker root, TreeUnpacker::open(root_path(), request_.limits, cancel_));
    for (const char* place : {"app", "dev", "proc", "run", "sys", "tmp", "workspace"})
      GUARD_TRY(root.make_place(place));
    // Where programs written for E2B look for the session's files.
    if ((!root.has("home") || root.is_folder("home")) && !root.has("home/user"))
      GUARD_TRY(root.add({.kind = TreeEntry::Kind::link, .path = "home/user", .target = "/workspace"}, {}));
    for (const char* place : {"guard-init", ".guard-init"}) GUARD_TRY(root.remove(place));
    for (const std::string& path : request_.without) GUARD_TRY(root.remove(path));
    for (const auto& [source, path] : request_.programs) {
      GUARD_TRY_ASSIGN(const UniqueFd to, root.make_file(path, 0755));
      const UniqueFd from(::open(source.c_str(), O_RDONLY | O_CLOEXEC));
      if (!from) return Error::from_errno(ErrorCode::io_error, printable(source.native()), errno);
      GUARD_TRY(
          each_chunk(from.get(), source, &cancel_, [&](std::string_view bytes) { return write_all(to.get(), bytes); }));
    }
    return ok();
  }

  Result<ImageRecord> record() {
    say("computing digests");
    GUARD_TRY_ASSIGN(const LayerDigest layer, digest_layer(root_path(), FileTimes::kept, cancel_));
    ImageRecord record;
    record.name = request_.name;
    record.source = request_.source.empty() ? request_.from : request_.source;
    const auto now = std::chrono::system_clock::now().time_since_epoch() / milliseconds(1);
    record.imported = fmt::format("{:%FT%T}.{:03}Z", fmt::gmtime(static_cast<std::time_t>(now / 1000)), now % 1000);
    record.layer_sha256 = layer.sha256_hex;
    record.layer_bytes = layer.bytes;
    if (image_) {
      record.config_sha256 = image_->config_sha256;
      record.env = image_->env;
      for (const ForeignLayer& one : image_->layers) record.layers.push_back(one.diff_sha256);
    }
    Sha256 hash;
    hash.update_field("guard imported image");
    hash.update_field(record.name);
    hash.update_field(record.imported);
    hash.update_field(layer.sha256_hex);
    for (const std::string& variable : record.env) hash.update_field(variable);
    record.digest = hash.finish_hex();
    record.image_id = image_id(image_config(record.digest, layer.sha256_hex));
    if (left_out_ > 0) record.notes.push_back(fmt::format("{} left out", plural(left_out_, "device")));
    return record;
  }

 private:
  fs::path root_path() const { return work_ / "image" / "root"; }
  void say(std::string_view line) const {
    if (progress_) progress_(line);
  }

  Result<UniqueFd> save_from_engine() {
    const std::string reference = request_.from.substr(kFromEngine.size());
    // Also an id, which is no name.
    const auto is_odd = [](char c) { return c <= ' ' || c == 0x7f; };
    if (reference.empty() || reference.front() == '-' || std::any_of(reference.begin(), reference.end(), is_odd))
      return Error(ErrorCode::input_invalid, fmt::format("\"{}\" names no image", printable(reference)))
          .hint(fmt::format("name it as the engine does: {}tools:1.2", kFromEngine));
    auto there =
        find_or_pull_image({request_.engine, reference, request_.pull, request_.environment, progress_}, cancel_);
    if (!there && there.error().code() == ErrorCode::image_missing) {
      return std::move(there).error().hint(fmt::format(
          "pull it with `docker pull {}`, or let guard do it with docker.pull = \"missing\"", shell_quoted(reference)));
    }
    if (!there) return std::move(there).error();
    say(fmt::format("saving {} from the engine", printable(reference)));
    GUARD_TRY_ASSIGN(ScratchFile saved, ScratchFile::create(work_));
    const auto take = [&](std::string_view bytes) { return saved.push(std::span(bytes.data(), bytes.size())); };
    // By its id: another image may get the name meanwhile.
    docker::EngineClient engine(request_.engine, cancel_);
    GUARD_TRY(engine.save_image(there->id, request_.limits.bytes_max, take, Deadline::after(kSaveDeadline)));
    return saved.take();
  }

  Result<void> from_folder() {
    GUARD_TRY_ASSIGN(const UniqueFd folder, open_folder(request_.from));
    GUARD_TRY_ASSIGN(image_, read_foreign_image(folder.get()));
    if (image_) return unpack_layers(folder.get());
    struct stat status {};
    if (::fstat(folder.get(), &status) != 0) return Error::from_errno(ErrorCode::io_error, "fstat", errno);
    std::error_code failure;
    const fs::path source = fs::canonical(request_.from, failure);
    if (!failure && is_same_or_below(work_.native(), source.native())) {
      return Error(ErrorCode::input_invalid, fmt::format("{} holds guard's own cache", printable(request_.from)))
          .hint("copy what the image needs into a folder of its own; a home folder holds keys, too");
    }
    say(fmt::format("copying {}", printable(request_.from)));
    GUARD_TRY(new_folder(root_path()));
    GUARD_TRY_ASSIGN(TreeUnpacker root, TreeUnpacker::open(root_path(), request_.limits, cancel_));
    GUARD_TRY(FolderReader(status.st_dev, root, cancel_).below(folder.get(), {}, 0));
    return counted(root);
  }

  // An archive may hold the parts of an image in any order, and a root file system as well: it is unpacked first.
  Result<void> from_archive(const UniqueFd fd) {
    say("unpacking the archive");
    const fs::path unpacked = work_ / "archive";
    GUARD_TRY(new_folder(unpacked));
    GUARD_TRY_ASSIGN(TreeUnpacker parts, TreeUnpacker::open(unpacked, request_.limits, cancel_));
    ReadBudget budget{request_.limits.bytes_max, request_.limits.reading_max};
    const auto add = [&](const TreeEntry& entry, const WriteContent& content) { return parts.add(entry, content); };
    GUARD_TRY_ASSIGN(
        const ArchiveRead read, read_archive(fd.get(), request_.from, AfterEnd::read, budget, add, cancel_));
    if (!read.ended)
      return Error(ErrorCode::input_invalid, "the archive is cut off: it does not end as tar archives do")
          .hint("fetch it again, or make it anew");
    GUARD_TRY_ASSIGN(const UniqueFd folder, open_folder(unpacked));
    GUARD_TRY_ASSIGN(image_, read_foreign_image(folder.get()));
    if (image_) {
      GUARD_TRY(unpack_layers(folder.get()));
      return remove_tree(unpacked);
    }
    if (::rename(unpacked.c_str(), root_path().c_str()) != 0)
      return Error::from_errno(ErrorCode::io_error, "moving the root folder", errno);
    return counted(parts);
  }

  Result<void> unpack_layers(int folder) {
    GUARD_TRY(new_folder(root_path()));
    GUARD_TRY_ASSIGN(TreeUnpacker root, TreeUnpacker::open(root_path(), request_.limits, cancel_));
    ReadBudget budget{request_.limits.bytes_max, request_.limits.reading_max};
    std::size_t number = 0;
    for (const ForeignLayer& layer : image_->layers) {
      say(fmt::format("layer {} of {}", ++number, image_->layers.size()));
      GUARD_TRY(unpack_layer(folder, layer, budget, root, cancel_).context(fmt::format("in layer {}", number)));
    }
    return counted(root);
  }

  Result<void> counted(const TreeUnpacker& root) {
    left_out_ = root.left_out();
    if (root.entries() > 0) return ok();
    return Error(ErrorCode::input_invalid, fmt::format("{} holds no files", printable(request_.from)));
  }

  const ImportRequest& request_;
  const fs::path work_;
  const CancelToken& cancel_;
  const ImageProgress& progress_;
  std::optional<ForeignImage> image_;
  std::uint64_t left_out_ = 0;
};

}  // namespace

Result<void> check_image_name(std::string_view name) {
  if (is_name(name)) return ok();
  return Error(ErrorCode::input_invalid, fmt::format("\"{}\" cannot be the name of an image", printable(name)))
      .hint("use lower-case letters, digits and . _ -, at most 64");
}

Result<ImagePlan> import_image(const ImportRequest& request, const CancelToken& cancel, const ImageProgress& progress) {
  GUARD_TRY(check_image_name(request.name));
  if (!is_utf8(request.from))  // it goes into the record
    return Error(ErrorCode::input_invalid, fmt::format("\"{}\" is not UTF-8", printable(request.from)))
        .hint("give the source a name that is text");
  GUARD_TRY_ASSIGN(const ImageCache cache, ImageCache::open());
  bool waited = false;
  GUARD_TRY_ASSIGN(const UniqueFd lock, cache.lock_for_building(cancel, waited));
  (void)cache.sweep_leftovers(SweepMode::remove);
  GUARD_TRY_ASSIGN(const TempDir work, TempDir::create(cache.folder()));
  std::error_code failure;
  Import import(request, fs::canonical(work.path(), failure), cancel, progress);
  GUARD_TRY(import.make_root().context(fmt::format("importing {}", printable(request.from))));
  GUARD_TRY(import.finish_root());
  GUARD_TRY_ASSIGN(const ImageRecord record, import.record());
  GUARD_TRY(cache.publish(work.path() / "image", record));

  GUARD_TRY_ASSIGN(std::vector<CachedImage> images, cache.list(ImageSizes::left_out));
  std::erase_if(
      images, [&](const CachedImage& image) { return image.name != record.name || image.digest == record.digest; });
  GUARD_TRY(cache.remove(std::move(images)));
  return plan_of(record, cache, {});
}

Result<ImagePlan> find_imported(std::string_view name, const fs::path& project) {
  GUARD_TRY_ASSIGN(const ImageCache cache, ImageCache::open());
  GUARD_TRY_ASSIGN(const std::vector<CachedImage> images, cache.list(ImageSizes::left_out));
  const CachedImage* newest = nullptr;
  for (const CachedImage& image : images) {
    if (!name.empty() && image.name == name && (newest == nullptr || image.imported > newest->imported))
      newest = &image;
  }
  const auto record = newest == nullptr ? std::nullopt : cache.find(newest->digest);
  if (record) return plan_of(*record, cache, project);
  return Error(ErrorCode::image_missing, fmt::format("there is no image \"{}\" for sessions", printable(name)))
      .hint(
          "make it with `guard image import` or `guard image build --template`; `guard image list` shows what is there")
      .detail("image", std::string(name));
}

}  // namespace guard

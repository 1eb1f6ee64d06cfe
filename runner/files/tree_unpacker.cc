// Every step starts at the descriptor of a folder that was reached from the root's, and ends at a name in it that is
// never followed.
//
// Which entries belong to the layer that is being unpacked is known by their inodes: a white-out and an opaque folder
// take away what lower layers have, wherever in the layer they stand.
#include "runner/files/tree_unpacker.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <limits.h>
#include <linux/openat2.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <ctime>
#include <string_view>
#include <vector>

#include "common/text/text.h"
#include "runner/files/folder_names.h"

namespace guard {
namespace {

constexpr int kDepthMax = 256;                // as runner/image/image_archive.cc reads back
constexpr int kLinksMax = 40;                 // as the kernel counts them, path_resolution(7)
constexpr std::int64_t kTimeMax = 1ll << 33;  // what a header of tar holds
constexpr std::string_view kWhiteOut = ".wh.";
constexpr std::string_view kOpaque = ".wh..wh..opq";
constexpr std::string_view kAufs = ".wh..wh.";  // notes of a file system to itself

Error refused(std::string_view path, std::string_view why) {
  return Error(ErrorCode::input_invalid, fmt::format("the entry {} {}", printable(path), why))
      .hint("guard does not put such an entry into an image: make the archive anew without it");
}

Error failed(std::string_view path, int number) {
  if (number == ENOTDIR) return refused(path, "lies below something that is no folder");
  if (number == EEXIST || number == ELOOP) return refused(path, "lies below a link that leads nowhere");
  if (number == ENAMETOOLONG) return refused(path, "has a name or target that is too long");
  return Error::from_errno(ErrorCode::io_error, fmt::format("unpacking {}", printable(path)), number);
}

mode_t kept_mode(const TreeEntry& entry) {
  const bool runs = entry.kind == TreeEntry::Kind::folder || (entry.mode & S_IXUSR) != 0;
  const bool is_private = (entry.mode & (S_IROTH | S_IXOTH)) == 0 && (::geteuid() != 0 || entry.owner == 0);
  return (runs ? 0755 : 0644) & (is_private ? 0700 : 0777);
}

// Without "." and slashes that mean nothing; empty: the root itself.
Result<std::string> plain_path(std::string_view path) {
  if (path.find('\0') != std::string_view::npos) return refused(path, "has a name that no file can have");
  std::string plain;
  std::string_view above;
  for (const std::string_view part : pieces_of(path, '/')) {
    if (part.empty() || part == ".") continue;
    if (above.starts_with(kWhiteOut)) return refused(path, "lies below a name that means a removal");
    above = part;
    if (part == "..") return refused(path, "leads upwards with \"..\"");
    if (!plain.empty()) plain += '/';
    plain += part;
  }
  return plain;
}

std::chrono::nanoseconds thread_time() {
  timespec used{};
  ::clock_gettime(CLOCK_THREAD_CPUTIME_ID, &used);
  return std::chrono::seconds(used.tv_sec) + std::chrono::nanoseconds(used.tv_nsec);
}

bool look(int folder, const std::string& name, struct stat& found) {
  return ::fstatat(folder, name.c_str(), &found, AT_SYMLINK_NOFOLLOW) == 0;
}

// Follows links itself: openat2(2) with RESOLVE_IN_ROOT gives up (EAGAIN), or counts links twice (ELOOP), while names
// change anywhere on the machine. Nobody else writes below `root`. An invalid descriptor: errno says why.
UniqueFd follow_in_root(int root, const std::string& path, int flags) {
  std::vector<std::string> to_go;  // the next one last
  std::vector<UniqueFd> above;     // from the root down to where the walk is
  const auto put = [&](std::string_view names) {
    const auto pieces = pieces_of(names, '/');
    to_go.insert(to_go.end(), pieces.rbegin(), pieces.rend());
  };
  put(path);
  for (int links = 0; !to_go.empty();) {
    const std::string name = std::move(to_go.back());
    to_go.pop_back();
    if (name == ".." && !above.empty()) above.pop_back();
    if (name.empty() || name == "." || name == "..") continue;
    const int here = above.empty() ? root : above.back().get();
    std::array<char, PATH_MAX> target;
    const ssize_t size = ::readlinkat(here, name.c_str(), target.data(), target.size());
    if (size < 0 || (to_go.empty() && (flags & O_NOFOLLOW) != 0)) {
      UniqueFd next(
          ::openat(here, name.c_str(), (to_go.empty() ? flags : O_PATH | O_DIRECTORY | O_CLOEXEC) | O_NOFOLLOW));
      if (!next || to_go.empty()) return next;
      above.push_back(std::move(next));
      continue;
    }
    if (++links > kLinksMax) {
      errno = ELOOP;
      return {};
    }
    if (target.front() == '/') above.clear();
    put({target.data(), static_cast<std::size_t>(size)});
  }
  return UniqueFd(::openat(above.empty() ? root : above.back().get(), ".", flags));
}

}  // namespace

Result<UniqueFd> open_in_root(int root, const std::string& path, int flags) {
  open_how how{};
  how.flags = static_cast<std::uint64_t>(flags | O_CLOEXEC);
  how.resolve = RESOLVE_BENEATH | RESOLVE_NO_SYMLINKS;
  UniqueFd fd(static_cast<int>(::syscall(SYS_openat2, root, path.empty() ? "." : path.c_str(), &how, sizeof how)));
  if (!fd && errno == ELOOP) fd = follow_in_root(root, path, flags | O_CLOEXEC);
  if (fd) return fd;
  return Error::from_errno(errno == ENOENT ? ErrorCode::file_not_found : ErrorCode::io_error, printable(path), errno);
}

TreeUnpacker::TreeUnpacker(UniqueFd root, const TreeLimits& limits, const CancelToken& cancel)
    : root_(std::move(root)), limits_(limits), cancel_(cancel), begun_at_(thread_time()) {}

Result<TreeUnpacker> TreeUnpacker::open(
    const std::filesystem::path& root, const TreeLimits& limits, const CancelToken& cancel) {
  UniqueFd fd(::open(root.c_str(), O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
  if (!fd) return Error::from_errno(ErrorCode::io_error, printable(root.native()), errno);
  return TreeUnpacker(std::move(fd), limits, cancel);
}

void TreeUnpacker::begin_layer(WhiteOuts white_outs) {
  white_outs_ = white_outs;
  of_this_layer_.clear();
}

Result<void> TreeUnpacker::add(const TreeEntry& entry, const WriteContent& content) {
  GUARD_TRY_ASSIGN(const std::string path, plain_path(entry.path));
  if (path.empty()) return ok();
  GUARD_TRY(count(1, entry.bytes, path));
  GUARD_TRY_ASSIGN(const Place place, place_of(path));
  if (place.name.starts_with(kWhiteOut)) return white_out(place, path);
  const int folder = place.folder.get();
  struct stat there {};
  if (entry.kind == TreeEntry::Kind::folder && look(folder, place.name, there) && S_ISDIR(there.st_mode)) {
    if (::fchmodat(folder, place.name.c_str(), kept_mode(entry), 0) != 0) return failed(path, errno);
    return note(folder, place.name);
  }
  switch (entry.kind) {
    case TreeEntry::Kind::hard_link: return link_file(place, entry);
    case TreeEntry::Kind::file: return write_file(place, entry, content);
    case TreeEntry::Kind::folder:
      GUARD_TRY(take_away(folder, place.name, Which::all, 0));
      return make_folder(folder, place.name, kept_mode(entry));
    case TreeEntry::Kind::link:
      GUARD_TRY(take_away(folder, place.name, Which::all, 0));
      if (entry.target.empty() || entry.target.find('\0') != std::string::npos)
        return refused(path, "is a link to nothing");
      if (::symlinkat(entry.target.c_str(), folder, place.name.c_str()) != 0) return failed(path, errno);
      return note(folder, place.name);
    case TreeEntry::Kind::special: break;
  }
  ++left_out_;
  return take_away(folder, place.name, Which::all, 0);
}

Result<UniqueFd> TreeUnpacker::make_file(const std::string& path, mode_t mode) {
  GUARD_TRY_ASSIGN(const Place place, place_of(path));
  GUARD_TRY_ASSIGN(UniqueFd fd, new_file(place, path));
  if (::fchmod(fd.get(), mode) != 0) return failed(path, errno);
  return fd;
}

Result<void> TreeUnpacker::count(std::uint64_t entries, std::uint64_t bytes, std::string_view path) {
  if (cancel_.cancelled()) return Error(ErrorCode::cancelled, "stopped while unpacking");
  entries_ += entries;
  bytes_ += std::min(bytes, limits_.bytes_max + 1);
  // A chain of links costs much more than its name.
  if (thread_time() - begun_at_ > limits_.reading_max) {
    return Error(ErrorCode::file_too_large,
        fmt::format("unpacking needs more than {} s of a processor", limits_.reading_max.count()))
        .hint("make a smaller image");
  }
  if (entries_ <= limits_.entries_max && bytes_ <= limits_.bytes_max) return ok();
  return Error(ErrorCode::file_too_large,
      fmt::format("with {} it holds more than the {} entries or {} bytes that guard takes", printable(path),
          limits_.entries_max, limits_.bytes_max))
      .hint("make a smaller image");
}

Result<void> TreeUnpacker::make_place(const std::string& path) {
  GUARD_TRY_ASSIGN(const Place place, place_of(path));
  struct stat there {};
  if (look(place.folder.get(), place.name, there) && S_ISDIR(there.st_mode)) return ok();
  GUARD_TRY(take_away(place.folder.get(), place.name, Which::all, 0));
  return make_folder(place.folder.get(), place.name);
}

bool TreeUnpacker::has(const std::string& path) const {
  return open_in_root(root_.get(), path, O_PATH | O_NOFOLLOW).has_value();
}

bool TreeUnpacker::is_folder(const std::string& path) const {
  return open_in_root(root_.get(), path, O_PATH | O_DIRECTORY | O_NOFOLLOW).has_value();
}

Result<void> TreeUnpacker::remove(const std::string& path) {
  GUARD_TRY_ASSIGN(const Place place, place_of(path));
  return take_away(place.folder.get(), place.name, Which::all, 0);
}

Result<UniqueFd> TreeUnpacker::folder(const std::string& path, int depth) {
  if (depth > kDepthMax) return refused(path, "lies too deep");
  auto there = open_in_root(root_.get(), path, O_PATH | O_DIRECTORY);
  if (there) return there;
  if (there.error().code() != ErrorCode::file_not_found || path.empty()) return failed(path, there.error().sys_errno());
  const std::size_t slash = path.rfind('/');
  const std::string name = slash == std::string::npos ? path : path.substr(slash + 1);
  GUARD_TRY_ASSIGN(
      const UniqueFd parent, folder(slash == std::string::npos ? std::string() : path.substr(0, slash), depth + 1));
  GUARD_TRY(count(1, 0, path));
  GUARD_TRY(make_folder(parent.get(), name));
  UniqueFd made(::openat(parent.get(), name.c_str(), O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
  if (!made) return failed(path, errno);
  return made;
}

Result<TreeUnpacker::Place> TreeUnpacker::place_of(const std::string& path) {
  if (std::count(path.begin(), path.end(), '/') >= kDepthMax) return refused(path, "lies too deep");
  const std::size_t slash = path.rfind('/');
  Place place;
  place.name = slash == std::string::npos ? path : path.substr(slash + 1);
  GUARD_TRY_ASSIGN(place.folder, folder(slash == std::string::npos ? std::string() : path.substr(0, slash)));
  return place;
}

Result<void> TreeUnpacker::white_out(const Place& place, const std::string& path) {
  if (white_outs_ == WhiteOuts::refused) return refused(path, "has a name that means a removal in a layer of an image");
  if (place.name == kOpaque) return take_away_below(place.folder.get(), ".", Which::of_lower_layers, 0);
  if (place.name.starts_with(kAufs)) return ok();
  const std::string name = place.name.substr(kWhiteOut.size());
  if (name.empty() || name == "." || name == "..") return refused(path, "takes nothing away that could be there");
  return take_away(place.folder.get(), name, Which::of_lower_layers, 0);
}

Result<void> TreeUnpacker::take_away(int folder, const std::string& name, Which which, int depth) {
  struct stat there {};
  if (!look(folder, name, there)) return errno == ENOENT ? ok() : Result<void>(failed(name, errno));
  GUARD_TRY(count(1, 0, name));
  const bool stays = which == Which::of_lower_layers && of_this_layer_.count(there.st_ino) != 0;
  if (S_ISDIR(there.st_mode)) GUARD_TRY(take_away_below(folder, name, which, depth));
  if (stays || ::unlinkat(folder, name.c_str(), S_ISDIR(there.st_mode) ? AT_REMOVEDIR : 0) == 0) return ok();
  // What this layer has put below it stays, and so does the folder.
  return which == Which::of_lower_layers && errno == ENOTEMPTY ? ok() : Result<void>(failed(name, errno));
}

Result<void> TreeUnpacker::take_away_below(int folder, const std::string& name, Which which, int depth) {
  if (depth > kDepthMax) return refused(name, "lies too deep");
  const UniqueFd below(::openat(folder, name.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
  if (!below) return failed(name, errno);
  GUARD_TRY_ASSIGN(const std::vector<std::string> names, sorted_names(below.get(), name));
  for (const std::string& one : names) GUARD_TRY(take_away(below.get(), one, which, depth + 1));
  return ok();
}

Result<UniqueFd> TreeUnpacker::new_file(const Place& place, std::string_view path) {
  GUARD_TRY(take_away(place.folder.get(), place.name, Which::all, 0));
  UniqueFd fd(
      ::openat(place.folder.get(), place.name.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600));
  if (!fd) return failed(path, errno);
  return fd;
}

Result<void> TreeUnpacker::write_file(const Place& place, const TreeEntry& entry, const WriteContent& content) {
  GUARD_TRY_ASSIGN(const UniqueFd fd, new_file(place, entry.path));
  GUARD_TRY(content(fd.get()));
  const timespec changed{std::clamp<std::int64_t>(entry.changed_s, 0, kTimeMax - 1), 0};
  const std::array<timespec, 2> times = {changed, changed};
  if (::fchmod(fd.get(), kept_mode(entry)) != 0 || ::futimens(fd.get(), times.data()) != 0)
    return failed(entry.path, errno);
  return note(place.folder.get(), place.name);
}

Result<void> TreeUnpacker::make_folder(int folder, const std::string& name, mode_t mode) {
  if (::mkdirat(folder, name.c_str(), 0700) != 0 || ::fchmodat(folder, name.c_str(), mode, 0) != 0)
    return failed(name, errno);
  return note(folder, name);
}

Result<void> TreeUnpacker::link_file(const Place& place, const TreeEntry& entry) {
  GUARD_TRY_ASSIGN(const std::string target, plain_path(entry.target));
  const std::size_t slash = target.rfind('/');
  const std::string name = slash == std::string::npos ? target : target.substr(slash + 1);
  const auto parent =
      open_in_root(root_.get(), slash == std::string::npos ? "" : target.substr(0, slash), O_PATH | O_DIRECTORY);
  struct stat wanted {};
  if (!parent || !look(parent->get(), name, wanted) || S_ISDIR(wanted.st_mode))
    return refused(entry.path, fmt::format("is a hard link to {}, which is no file in it", printable(entry.target)));
  // A white-out could not tell the two names apart.
  if (of_this_layer_.count(wanted.st_ino) == 0)
    return refused(entry.path, fmt::format("is a hard link to {}, which a lower layer has", printable(entry.target)));
  // Whoever reads the tree back reads it again.
  GUARD_TRY(count(0, static_cast<std::uint64_t>(wanted.st_size), entry.path));
  struct stat there {};
  if (look(place.folder.get(), place.name, there) && there.st_ino == wanted.st_ino) return ok();
  GUARD_TRY(take_away(place.folder.get(), place.name, Which::all, 0));
  if (::linkat(parent->get(), name.c_str(), place.folder.get(), place.name.c_str(), 0) != 0)
    return failed(entry.path, errno);
  return note(place.folder.get(), place.name);
}

Result<void> TreeUnpacker::note(int folder, const std::string& name) {
  struct stat made {};
  if (!look(folder, name, made)) return failed(name, errno);
  of_this_layer_.insert(made.st_ino);
  return ok();
}

}  // namespace guard

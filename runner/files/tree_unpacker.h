// Puts the entries of foreign archives and folders into a folder of guard's own: the root file system of an image,
// layer by layer.
//
// No name leads out of that folder: ".." is refused, and a link on the way counts as if the folder were "/",
// as it will once the tree is a sandbox's root. Links keep their text, whatever it says. Times of files are kept,
// extended attributes are not. Devices, FIFOs and sockets are left out and counted.
//
// All of it belongs to guard's user, and nothing runs as its owner: files become 0755 or 0644 and folders 0755. What
// nobody but its owner and group may read or run in the image is 0700 or 0600 here, so other users of this machine may
// not either; the embedded sandbox runs as guard's user and may. Root's runs as another user: there only what is
// root's in the image stays private, and what is another user's is for that user of the sandbox to read.
//
// Nobody else may write to the folder meanwhile. Not thread-safe.
#pragma once

#include <sys/types.h>

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <string>
#include <string_view>
#include <unordered_set>

#include "common/cancel.h"
#include "common/result.h"
#include "common/unique_fd.h"

namespace guard {

// As an archive has it: foreign bytes.
struct TreeEntry {
  enum class Kind : std::uint8_t { file, folder, link, hard_link, special };
  Kind kind = Kind::special;
  std::string path;
  std::string target;  // of a link, and the path of the file that a hard link is another name of
  mode_t mode = 0;     // of a file or folder
  uid_t owner = 0;
  std::int64_t changed_s = 0;  // since 1970
  std::uint64_t bytes = 0;     // with its holes
};

// Writes a file's bytes to an empty file that is open as `fd`.
using WriteContent = std::function<Result<void>(int fd)>;

// Of all layers of an image together.
struct TreeLimits {
  // Entries, and what is looked at to take it away; images with a desktop have some 300,000.
  std::uint64_t entries_max = 2'000'000;
  std::uint64_t bytes_max = 8'000'000'000;  // what one layer in an archive for an engine can be
  // Of a processor, to read archives (runner/files/archive_reader.h), and as much again to unpack them: ten times what
  // gzip needs for so many bytes.
  std::chrono::seconds reading_max{300};
};

// What names that begin with ".wh." mean: in a layer of an image they take away what lower layers have; elsewhere they
// are refused, because an engine would take them for that.
enum class WhiteOuts : std::uint8_t { applied, refused };

class TreeUnpacker {
 public:
  // `root` is there, and empty.
  static Result<TreeUnpacker> open(
      const std::filesystem::path& root, const TreeLimits& limits, const CancelToken& cancel);

  // What is added from here on lies over what was added before.
  void begin_layer(WhiteOuts white_outs);

  // Parents that are missing are made. INPUT_INVALID for what is refused, with the entry's path; FILE_TOO_LARGE beyond
  // a limit; CANCELLED; IO_ERROR; and what `content` fails with.
  Result<void> add(const TreeEntry& entry, const WriteContent& content);

  // A file of guard's own, in the place of whatever is there.
  Result<UniqueFd> make_file(const std::string& path, mode_t mode);
  // Makes sure that `path` is a folder itself, and no link to one.
  Result<void> make_place(const std::string& path);
  bool has(const std::string& path) const;        // of whatever kind; links on the way are followed
  bool is_folder(const std::string& path) const;  // and no link to one
  // With all that is in it; nothing there is no error.
  Result<void> remove(const std::string& path);

  // And what was looked at to take it away.
  std::uint64_t entries() const noexcept { return entries_; }
  std::uint64_t left_out() const noexcept { return left_out_; }

 private:
  // The folder that holds an entry, and its name there.
  struct Place {
    UniqueFd folder;
    std::string name;
  };
  enum class Which : std::uint8_t { all, of_lower_layers };

  TreeUnpacker(UniqueFd root, const TreeLimits& limits, const CancelToken& cancel);
  Result<UniqueFd> folder(const std::string& path, int depth = 0);
  Result<Place> place_of(const std::string& path);
  Result<void> count(std::uint64_t entries, std::uint64_t bytes, std::string_view path);
  Result<void> white_out(const Place& place, const std::string& path);
  Result<void> take_away(int folder, const std::string& name, Which which, int depth);
  Result<void> take_away_below(int folder, const std::string& name, Which which, int depth);
  Result<UniqueFd> new_file(const Place& place, std::string_view path);
  Result<void> write_file(const Place& place, const TreeEntry& entry, const WriteContent& content);
  Result<void> make_folder(int folder, const std::string& name, mode_t mode = 0755);
  Result<void> link_file(const Place& place, const TreeEntry& entry);
  Result<void> note(int folder, const std::string& name);

  UniqueFd root_;
  TreeLimits limits_;
  const CancelToken& cancel_;
  std::chrono::nanoseconds begun_at_;  // of this thread's processor time
  WhiteOuts white_outs_ = WhiteOuts::refused;
  std::unordered_set<ino_t> of_this_layer_;
  std::uint64_t entries_ = 0;
  std::uint64_t bytes_ = 0;
  std::uint64_t left_out_ = 0;
};

// openat(2) below the folder `root` as if that were "/"; nobody else may change names below it meanwhile. IO_ERROR and
// FILE_NOT_FOUND with errno.
Result<UniqueFd> open_in_root(int root, const std::string& path, int flags);

}  // namespace guard

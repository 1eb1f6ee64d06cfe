// A file that takes a program's output as it comes: every byte, unmasked and without a cap.
//
// It lies there for whoever else may write to the project, and what is written is the program's word. So nobody may
// lead the bytes elsewhere, and what was there stays until the program has begun to speak.
//
// Not thread-safe.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "common/byte_sink.h"
#include "common/hash.h"
#include "common/read_watch.h"
#include "common/result.h"
#include "common/unique_fd.h"

namespace guard {

// What is asked for by --out or --err.
struct OutputPlace {
  std::string_view option;
  std::string path;                   // as typed
  std::filesystem::path project;      // canonical; empty: none is known
  std::vector<std::string> writes{};  // the folders of --write, as typed
};

class OutputFile final : public ByteSink {
 public:
  // What exists keeps its bytes and its mode; a new file is for its owner alone (what is written may hold secrets), and
  // gone again where nothing was written.
  //
  // USAGE: it is no regular file or has another name (a link, a hard link); in the project, a link is on the way to it;
  // it lies in .git, node_modules or .env*, in guard's cache, or where the program itself may write. INPUT_INVALID: it
  // can't be opened.
  static Result<OutputFile> open(const OutputPlace& place);
  OutputFile(OutputFile&&) noexcept = default;
  OutputFile& operator=(OutputFile&&) = delete;
  ~OutputFile() override;

  // USAGE where `fd` is this file, too; a negative one is none.
  Result<void> differs_from(int fd, std::string_view option) const;
  // The same for a path, which need not be there.
  Result<void> differs_from(const std::string& path, std::string_view option) const;
  // USAGE where guard has read this file since it was opened: the configuration, a list of secrets, a lockfile.
  Result<void> was_not_read() const;

  // The first one empties the file.
  Result<void> push(std::span<const char> bytes) override;
  // Some file systems tell only here that there was no room.
  Result<void> finish() override;

  int fd() const noexcept { return fd_.get(); }
  const std::string& path() const noexcept { return path_; }
  bool begun() const noexcept { return begun_; }  // else it is as it was
  std::uint64_t bytes() const noexcept { return bytes_; }
  std::string finish_sha256() { return hash_.finish_hex(); }  // once, last

 private:
  OutputFile(const OutputPlace& place, UniqueFd folder, std::string name)
      : option_(place.option), path_(place.path), folder_(std::move(folder)), name_(std::move(name)) {}
  Result<void> open_fd();
  Result<void> differs_from(const struct stat& other, std::string_view option) const;
  Result<void> begin();
  Error refuse(std::string_view what) const;
  Error failure(ErrorCode code, int error_number) const;

  std::string option_;
  std::string path_;
  UniqueFd folder_;
  std::string name_;
  UniqueFd fd_;
  std::unique_ptr<ReadWatch> watch_;
  bool is_new_ = false;
  bool begun_ = false;
  std::uint64_t bytes_ = 0;
  Sha256 hash_;
};

}  // namespace guard

// Reads tar archives that others made, plain or compressed with gzip or zstd. The only file behind which libarchive is
// seen. No program is started to decompress.
//
// Names, links and sizes are foreign: runner/files/tree_unpacker.h is for them. Not thread-safe.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "common/cancel.h"
#include "common/hash.h"
#include "common/result.h"
#include "common/unique_fd.h"
#include "runner/files/tree_unpacker.h"

namespace guard {

class ByteSource {
 public:
  virtual ~ByteSource() = default;
  // The next piece, good until the next call; empty at the end.
  virtual Result<std::span<const char>> next() = 0;
};

// From where the descriptor stands. CANCELLED.
class FileSource final : public ByteSource {
 public:
  FileSource(UniqueFd fd, std::string name, const CancelToken& cancel);
  Result<std::span<const char>> next() override;

 private:
  UniqueFd fd_;
  std::string name_;  // in messages
  const CancelToken& cancel_;
  std::vector<char> buffer_;
};

// What another source gives, counted and digested on the way. FILE_TOO_LARGE beyond `bytes_max`.
class DigestSource final : public ByteSource {
 public:
  DigestSource(ByteSource& from, std::uint64_t bytes_max) : from_(from), left_(bytes_max), bytes_max_(bytes_max) {}
  Result<std::span<const char>> next() override;
  // Of all of it: reads what is left. Once.
  Result<std::string> finish_hex();

 private:
  ByteSource& from_;
  std::uint64_t left_;
  std::uint64_t bytes_max_;
  Sha256 hash_;
};

// `from` without its compression, if it has one. INPUT_INVALID, from next(), where that is damaged or cut short.
Result<std::unique_ptr<ByteSource>> decompressed(ByteSource& from);

// In the order of the archive. `content` writes the bytes of a file; it may be left uncalled. An Error of `take` ends
// it. INPUT_INVALID for what is no tar archive, or a damaged one.
using TakeEntry = std::function<Result<void>(const TreeEntry& entry, const WriteContent& content)>;
Result<void> read_tar(ByteSource& from, const TakeEntry& take);

}  // namespace guard

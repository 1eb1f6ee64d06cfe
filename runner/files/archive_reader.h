// Reads tar archives that others made, plain or compressed with gzip or zstd. The only file behind which libarchive is
// seen. No program is started to decompress.
//
// How much memory and time a reader takes is for the archive to say: maps of sparse files, names in compressed streams,
// empty members and compression inside compression have no limit in libarchive, and a limit for each would miss the
// next one. So a child of guard reads, with a limit of memory and one of processor time, and nothing open but the
// archive and a socket on which guard gets entries and bytes. Checking headers before libarchive sees them would be a
// second parser.
//
// Names, links, sizes and the digest are foreign: runner/files/tree_unpacker.h is for them. Not thread-safe.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <string>

#include "common/cancel.h"
#include "common/result.h"
#include "runner/files/tree_unpacker.h"

namespace guard {

// What may still be read; each archive takes its part off, and so does who reads one to digest it.
struct ReadBudget {
  std::uint64_t bytes = 0;  // without compression
  std::chrono::microseconds cpu = {};

  Result<void> take(std::uint64_t count);  // FILE_TOO_LARGE where so many bytes are not left
};

// What stands behind the end of an archive: engines ignore it in a layer, whose digest holds it; in an archive that
// nothing holds it is more of it, or shows that it is damaged.
enum class AfterEnd : std::uint8_t { ignored, read };

struct ArchiveRead {
  std::string sha256_hex;  // of all that it holds, without its compression
  bool ended = false;      // as tar archives end, and not cut off between two entries
};

// From where `fd` stands, in the order of the archive. `content` writes the bytes of a file; it may be left uncalled.
// An Error of `take` ends it. INPUT_INVALID for what is no tar archive, is damaged, or takes more than 256 MB of memory
// or the budget's time; FILE_TOO_LARGE beyond its bytes; CANCELLED at any moment.
using TakeEntry = std::function<Result<void>(const TreeEntry& entry, const WriteContent& content)>;
Result<ArchiveRead> read_archive(int fd, const std::string& name, AfterEnd after_end, ReadBudget& budget,
    const TakeEntry& take, const CancelToken& cancel);

}  // namespace guard

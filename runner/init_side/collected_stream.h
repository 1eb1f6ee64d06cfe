// The frames of init's stream (runner/init_side/init_protocol.h) that hand out files: order, sizes, limits and paths
// are held against what was asked for. Used by InitStream alone.
//
// Order of calls: for each such frame check(), then take(). Not thread-safe.
#pragma once

#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <string_view>

#include "common/result.h"
#include "runner/init_side/collection.h"
#include "runner/init_side/init_protocol.h"

namespace guard {

class CollectedStream final {
 public:
  explicit CollectedStream(std::optional<CollectRequest> asked) : asked_(std::move(asked)) {}

  // Whether `type` is a frame of this class.
  static bool takes(init_protocol::FrameType type) noexcept;

  // PROTOCOL_ERROR for what was not asked for, is out of order, breaks a limit or names no plain path.
  // Of a frame whose header is there: PROTOCOL_ERROR for what was not asked for, is out of order or too long.
  Result<void> check(init_protocol::FrameType type, std::uint32_t payload_bytes) const;
  // Of the whole frame: PROTOCOL_ERROR for what breaks a limit or names no plain path.
  Result<void> take(init_protocol::FrameType type, std::string_view payload);

  bool begun() const noexcept { return begun_; }        // every process has ended: no output may follow
  bool finished() const noexcept { return finished_; }  // the collected frame was seen
  bool asked() const noexcept { return asked_.has_value(); }

  // What was collected; nothing unless finished().
  std::optional<Collection> release();

 private:
  Result<void> begin_file(std::string_view payload);
  Result<void> leave_behind(std::string_view payload);
  Result<void> end_collection(std::string_view payload);

  std::optional<CollectRequest> asked_;
  Collection collection_;
  std::set<std::string> paths_;        // of the files, to see one told twice
  std::uint64_t file_bytes_left_ = 0;  // of the file that was begun last
  std::uint64_t bytes_ = 0;            // announced by all of them
  bool begun_ = false;
  bool finished_ = false;
};

}  // namespace guard

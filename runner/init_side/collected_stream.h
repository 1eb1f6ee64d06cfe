// The frames of init's stream (runner/init_side/init_protocol.h) that hand out files: order, sizes, limits and paths
// are held against what was asked for. Used by InitStream alone.
//
// Order of calls: for each such frame begin_frame(), take() as often as bytes come, end_frame(). Not thread-safe.
#pragma once

#include <cstdint>
#include <optional>
#include <set>
#include <span>
#include <string>

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
  Result<void> begin_frame(init_protocol::FrameType type, std::uint32_t payload_bytes);
  Result<void> take(std::span<const char> bytes);
  Result<void> end_frame();

  bool begun() const noexcept { return begun_; }        // every process has ended: no output may follow
  bool finished() const noexcept { return finished_; }  // the collected frame was seen
  bool asked() const noexcept { return asked_.has_value(); }

  // What was collected; nothing unless finished().
  std::optional<Collection> release();

 private:
  Result<void> begin_file();
  Result<void> end_left_behind();
  Result<void> end_collection();

  std::optional<CollectRequest> asked_;
  Collection collection_;
  std::set<std::string> paths_;  // of the files, to see one told twice
  init_protocol::FrameType type_ = init_protocol::FrameType::collected;
  std::string text_;                   // of any frame but file_data
  std::uint64_t file_bytes_left_ = 0;  // of the file that was begun last
  std::uint64_t bytes_ = 0;            // announced by all of them
  bool begun_ = false;
  bool finished_ = false;
};

}  // namespace guard

#include "runner/init_side/collected_stream.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <string_view>
#include <utility>

#include "common/text/text.h"
#include "runner/files/plain_path.h"

namespace guard {
namespace {

using init_protocol::FrameType;
using init_protocol::LeftBehindCode;

constexpr std::size_t kSizeBytes = 8;

Error broken(std::string_view what) {
  return Error(ErrorCode::protocol_error, fmt::format("the sandbox's init spoke nonsense about files: {}", what));
}

// In the order of init's reasons in LeftBehindReason.
constexpr LeftBehindCode kCodes[] = {LeftBehindCode::not_asked, LeftBehindCode::link, LeftBehindCode::hard_link,
    LeftBehindCode::special_file, LeftBehindCode::too_large, LeftBehindCode::too_many, LeftBehindCode::too_deep,
    LeftBehindCode::bad_name, LeftBehindCode::unreadable};

std::optional<LeftBehindReason> reason_of(char byte) {
  const auto* const found = std::ranges::find(kCodes, static_cast<LeftBehindCode>(byte));
  if (found == std::end(kCodes)) return std::nullopt;
  return static_cast<LeftBehindReason>(found - std::begin(kCodes));
}

bool is_plain_and_short(std::string_view path) {
  return path.size() <= init_protocol::kCollectedPathMax && is_plain_relative(path) &&
      std::ranges::count(path, '/') <= static_cast<std::ptrdiff_t>(init_protocol::kCollectedDepthMax);
}

}  // namespace

bool CollectedStream::takes(FrameType type) noexcept {
  return type == FrameType::file || type == FrameType::file_data || type == FrameType::left_behind ||
      type == FrameType::collected;
}

Result<void> CollectedStream::check(FrameType type, std::uint32_t payload_bytes) const {
  if (!asked_) return broken("they were not asked for");
  if (finished_) return broken("more of them behind their end");
  if (type == FrameType::file_data) {
    if (payload_bytes == 0 || payload_bytes > file_bytes_left_) return broken("more bytes than a file was to have");
    return ok();
  }
  if (file_bytes_left_ > 0) return broken("fewer bytes than a file was to have");
  // A file frame and a left_behind frame hold a path and little else; a collected frame is shorter still.
  if (payload_bytes > kSizeBytes + init_protocol::kCollectedPathMax) return broken("a path that is too long");
  return ok();
}

Result<void> CollectedStream::take(FrameType type, std::string_view payload) {
  begun_ = true;
  switch (type) {
    case FrameType::file: return begin_file(payload);
    case FrameType::left_behind: return leave_behind(payload);
    case FrameType::collected: return end_collection(payload);
    default: break;
  }
  collection_.files.back().bytes.append(payload);
  file_bytes_left_ -= payload.size();
  return ok();
}

Result<void> CollectedStream::begin_file(std::string_view payload) {
  if (payload.size() <= kSizeBytes) return broken("a file without a path");
  std::uint64_t size = 0;
  for (const char byte : payload.substr(0, kSizeBytes)) size = size << 8 | static_cast<unsigned char>(byte);
  std::string path(payload.substr(kSizeBytes));
  if (!is_plain_and_short(path)) return broken("a path that leaves the folder");
  if (size > asked_->file_bytes_max || size > asked_->bytes_max - bytes_ || paths_.size() >= asked_->files_max) {
    return broken("more than was asked for");
  }
  if (!paths_.insert(path).second) return broken("a file told twice");
  bytes_ += size;
  file_bytes_left_ = size;
  collection_.files.push_back({std::move(path), {}});
  return ok();
}

Result<void> CollectedStream::leave_behind(std::string_view payload) {
  const auto reason = payload.empty() ? std::nullopt : reason_of(payload.front());
  if (!reason) return broken("an unknown reason");
  if (collection_.left_behind.size() >= init_protocol::kLeftBehindToldMax) return broken("too many names");
  const std::string path = payload.size() > 1 ? printable(payload.substr(1)) : ".";
  collection_.left_behind.push_back({path, *reason});
  return ok();
}

Result<void> CollectedStream::end_collection(std::string_view payload) {
  // The summary is a pure function of its counts: what was told is written down again and compared.
  const std::string files = fmt::format("files={}\nbytes={}\nleft_behind=", paths_.size(), bytes_);
  if (!payload.starts_with(files)) return broken("a sum that does not come out even");
  std::uint64_t count = 0;
  std::from_chars(payload.data() + files.size(), payload.data() + payload.size(), count);
  collection_.complete = payload.ends_with("complete=1\n");
  if (payload != fmt::format("{}{}\ncomplete={}\n", files, count, collection_.complete ? 1 : 0))
    return broken("a summary that is none");
  const std::size_t told = collection_.left_behind.size();
  const bool all_told = told < init_protocol::kLeftBehindToldMax;
  if (all_told ? count != told : count < told) return broken("a sum that does not come out even");
  collection_.left_behind_count = count;
  finished_ = true;
  return ok();
}

std::optional<Collection> CollectedStream::release() {
  if (!finished_) return std::nullopt;
  Collection done = std::exchange(collection_, {});
  // A name that is well-formed but would not show as it is never becomes a file.
  const auto hidden = std::stable_partition(done.files.begin(), done.files.end(),
      [](const CollectedFile& file) { return is_utf8(file.path) && printable(file.path) == file.path; });
  for (auto file = hidden; file != done.files.end(); ++file) {
    done.left_behind.push_back({printable(file->path), LeftBehindReason::bad_name});
    ++done.left_behind_count;
  }
  done.files.erase(hidden, done.files.end());
  // The order in which a folder lists its entries means nothing.
  std::sort(done.files.begin(), done.files.end(), [](const auto& a, const auto& b) { return a.path < b.path; });
  std::sort(
      done.left_behind.begin(), done.left_behind.end(), [](const auto& a, const auto& b) { return a.path < b.path; });
  return done;
}

}  // namespace guard

#include "runner/init_side/collected_stream.h"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>
#include <utility>

#include "common/text/text.h"

namespace guard {
namespace {

using init_protocol::FrameType;
using init_protocol::LeftBehindCode;

constexpr std::size_t kSizeBytes = 8;

Error broken(std::string_view what) {
  return Error(ErrorCode::protocol_error, fmt::format("the sandbox's init spoke nonsense about files: {}", what));
}

std::optional<LeftBehindReason> reason_of(char code) {
  switch (static_cast<LeftBehindCode>(code)) {
    case LeftBehindCode::not_asked: return LeftBehindReason::not_asked;
    case LeftBehindCode::link: return LeftBehindReason::link;
    case LeftBehindCode::hard_link: return LeftBehindReason::hard_link;
    case LeftBehindCode::special_file: return LeftBehindReason::special_file;
    case LeftBehindCode::too_large: return LeftBehindReason::too_large;
    case LeftBehindCode::too_many: return LeftBehindReason::too_many;
    case LeftBehindCode::too_deep: return LeftBehindReason::too_deep;
    case LeftBehindCode::bad_name: return LeftBehindReason::bad_name;
    case LeftBehindCode::unreadable: return LeftBehindReason::unreadable;
  }
  return std::nullopt;
}

// Relative, nothing empty, no "." and no "..": it names what it says, whoever resolves it.
bool is_plain_relative(std::string_view path) {
  if (path.empty() || path.size() > init_protocol::kCollectedPathMax || path.find('\0') != std::string_view::npos) {
    return false;
  }
  std::size_t depth = 0;
  for (std::size_t begin = 0; begin <= path.size(); ++depth) {
    const std::size_t end = std::min(path.find('/', begin), path.size());
    const std::string_view part = path.substr(begin, end - begin);
    if (part.empty() || part == "." || part == "..") return false;
    begin = end + 1;
  }
  return depth <= init_protocol::kCollectedDepthMax + 1;
}

}  // namespace

bool CollectedStream::takes(FrameType type) noexcept {
  return type == FrameType::file || type == FrameType::file_data || type == FrameType::left_behind ||
      type == FrameType::collected;
}

Result<void> CollectedStream::begin_frame(FrameType type, std::uint32_t payload_bytes) {
  if (!asked_) return broken("they were not asked for");
  if (finished_) return broken("more of them behind their end");
  begun_ = true;
  type_ = type;
  text_.clear();
  if (type == FrameType::file_data) {
    if (payload_bytes == 0 || payload_bytes > file_bytes_left_) return broken("more bytes than a file was to have");
    return ok();
  }
  if (file_bytes_left_ > 0) return broken("fewer bytes than a file was to have");
  // A file frame and a left_behind frame hold a path and little else; a collected frame is shorter still.
  if (payload_bytes > kSizeBytes + init_protocol::kCollectedPathMax) return broken("a path that is too long");
  return ok();
}

Result<void> CollectedStream::take(std::span<const char> bytes) {
  if (type_ == FrameType::file_data) {
    collection_.files.back().bytes.append(bytes.data(), bytes.size());
    file_bytes_left_ -= bytes.size();
  } else {
    text_.append(bytes.data(), bytes.size());
  }
  return ok();
}

Result<void> CollectedStream::end_frame() {
  switch (type_) {
    case FrameType::file: return begin_file();
    case FrameType::left_behind: return end_left_behind();
    case FrameType::collected: return end_collection();
    default: return ok();
  }
}

Result<void> CollectedStream::begin_file() {
  if (text_.size() <= kSizeBytes) return broken("a file without a path");
  std::uint64_t size = 0;
  for (std::size_t i = 0; i < kSizeBytes; ++i) size = size << 8 | static_cast<unsigned char>(text_[i]);
  std::string path = text_.substr(kSizeBytes);
  if (!is_plain_relative(path)) return broken("a path that leaves the folder");
  if (size > asked_->file_bytes_max || size > asked_->bytes_max - bytes_ || paths_.size() >= asked_->files_max) {
    return broken("more than was asked for");
  }
  if (!paths_.insert(path).second) return broken("a file told twice");
  bytes_ += size;
  file_bytes_left_ = size;
  collection_.files.push_back({std::move(path), {}});
  return ok();
}

Result<void> CollectedStream::end_left_behind() {
  const auto reason = text_.empty() ? std::nullopt : reason_of(text_.front());
  if (!reason) return broken("an unknown reason");
  if (collection_.left_behind.size() >= init_protocol::kLeftBehindToldMax) return broken("too many names");
  const std::string path = text_.size() > 1 ? printable(std::string_view(text_).substr(1)) : ".";
  collection_.left_behind.push_back({path, *reason});
  return ok();
}

Result<void> CollectedStream::end_collection() {
  unsigned long long count = 0;
  const std::string files = fmt::format("files={}\nbytes={}\nleft_behind=", paths_.size(), bytes_);
  std::string_view rest = text_;
  if (!rest.starts_with(files)) return broken("a sum that does not come out even");
  rest.remove_prefix(files.size());
  const std::size_t end = rest.find('\n');
  const std::string_view digits = rest.substr(0, end);
  // An entry of the folder is a byte at least; nobody has more than this of them.
  if (end == std::string_view::npos || digits.empty() || digits.size() > 12 ||
      digits.find_first_not_of("0123456789") != std::string_view::npos) {
    return broken("a count that is none");
  }
  for (const char digit : digits) count = count * 10 + static_cast<unsigned>(digit - '0');
  const std::size_t told = collection_.left_behind.size();
  const bool all_told = told < init_protocol::kLeftBehindToldMax;
  if (all_told ? count != told : count < told) return broken("a sum that does not come out even");
  const std::string_view complete = rest.substr(end + 1);
  if (complete != "complete=0\n" && complete != "complete=1\n") return broken("neither complete nor not");
  collection_.complete = complete == "complete=1\n";
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

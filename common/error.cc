#include "common/error.h"

#include <fmt/format.h>

#include <array>
#include <cerrno>
#include <cstdlib>
#include <cstring>

#include "common/text/text.h"

namespace guard {
namespace {

constexpr int kUndecided = 2;
constexpr int kUnavailable = 3;
constexpr int kUsage = 64;         // EX_USAGE of sysexits.h
constexpr int kInterrupted = 130;  // 128 + SIGINT, as shells report it

using enum ErrorCode;

constexpr std::array kTable = {
    ErrorCodeInfo{environment_unavailable, "ENVIRONMENT_UNAVAILABLE", kUnavailable, true,
        "run `guard doctor`: it reports what works on this machine and how to fix what does not"},
    ErrorCodeInfo{environment_creation_failed, "ENVIRONMENT_CREATION_FAILED", kUndecided, true,
        "run `guard doctor`: it reports what works on this machine and how to fix what does not"},
    ErrorCodeInfo{image_missing, "IMAGE_MISSING", kUnavailable, false, "build it with `guard image build`"},
    ErrorCodeInfo{image_pull_failed, "IMAGE_PULL_FAILED", kUnavailable, true,
        "build the image locally with `guard image build`, or check the registry's name and log in"},
    ErrorCodeInfo{image_build_failed, "IMAGE_BUILD_FAILED", kUndecided, true, ""},
    ErrorCodeInfo{execution_timeout, "EXECUTION_TIMEOUT", kUndecided, true,
        "raise the limit with --timeout, or find out what hangs"},
    ErrorCodeInfo{execution_failed, "EXECUTION_FAILED", kUndecided, true, ""},
    ErrorCodeInfo{dependency_unsatisfied, "DEPENDENCY_UNSATISFIED", kUnavailable, false, ""},
    ErrorCodeInfo{file_too_large, "FILE_TOO_LARGE", kUndecided, false,
        "leave the file out, or raise the limit that the message names"},
    ErrorCodeInfo{file_not_found, "FILE_NOT_FOUND", kUndecided, false, ""},
    ErrorCodeInfo{
        rules_invalid, "RULES_INVALID", kUndecided, false, "fix the rule files; `guard rules check` tests them"},
    ErrorCodeInfo{
        config_invalid, "CONFIG_INVALID", kUndecided, false, "`guard config show` lists every key with its default"},
    ErrorCodeInfo{input_invalid, "INPUT_INVALID", kUndecided, false, "`guard help VERB` shows what is expected"},
    ErrorCodeInfo{io_error, "IO_ERROR", kUndecided, true, "check permissions and free space, then run again"},
    ErrorCodeInfo{protocol_error, "PROTOCOL_ERROR", kUndecided, true,
        "run again; `guard doctor` shows what answers and in which version"},
    ErrorCodeInfo{cancelled, "CANCELLED", kInterrupted, true, ""},
    ErrorCodeInfo{withheld, "WITHHELD", kUndecided, false, ""},
    ErrorCodeInfo{usage, "USAGE", kUsage, false, "see `guard --help`"},
    ErrorCodeInfo{
        internal, "INTERNAL", kUndecided, false, "this is a bug in guard; please report it with the lines above"},
};

// What ran out, and how to get more of it. No place that fails for it knows better.
std::string_view hint_of(int number) noexcept {
  switch (number) {
    case ENOSPC:
    case EDQUOT:
      return "make room there (`df -h`, `df -i`, `quota`); GUARD_CACHE_DIR and TMPDIR set other places for guard's "
             "cache and its temporary files";
    case EROFS:
      return "it is mounted read-only; GUARD_CACHE_DIR and TMPDIR set other places for guard's cache and its temporary "
             "files";
    case EFBIG: return "raise the limit on the size of a file (`ulimit -f`)";
    case EMFILE: return "raise the limit on open files (`ulimit -n`)";
    case ENFILE:
      return "this machine's limit on open files is reached (`sysctl fs.file-max`): find the program that holds them";
    case ENOMEM:
      return "memory is exhausted: end other programs, or raise the limit (`ulimit -v`, the cgroup's memory.max)";
    default: return {};
  }
}

}  // namespace

const ErrorCodeInfo& info(ErrorCode code) noexcept {
  for (const auto& row : kTable) {
    if (row.code == code) return row;
  }
  std::abort();  // a code without a row: the table and the enum have drifted apart
}

std::optional<ErrorCode> find_error_code(std::string_view wire_name) noexcept {
  for (int number = 0; number <= static_cast<int>(ErrorCode::internal); ++number) {
    if (info(static_cast<ErrorCode>(number)).wire_name == wire_name) return static_cast<ErrorCode>(number);
  }
  return std::nullopt;
}

Error::Error(ErrorCode code, std::string message) : code_(code), message_(without_userinfo(message)) {}

Error Error::from_errno(ErrorCode code, std::string_view what, int number) {
  std::array<char, 128> buffer{};
  // The GNU form returns the text, which need not be in the buffer.
  const char* words = ::strerror_r(number, buffer.data(), buffer.size());
  Error error(code, fmt::format("{}: {}", what, words));
  error.errno_ = number;
  return error;
}

Error&& Error::context(std::string frame) && {
  frames_.push_back(without_userinfo(frame));
  return std::move(*this);
}

Error&& Error::hint(std::string sentence) && {
  hint_ = without_userinfo(sentence);
  return std::move(*this);
}

bool Error::ran_out() const noexcept { return !hint_of(errno_).empty(); }

Error&& Error::caused_by(const Error& error) && {
  errno_ = error.errno_;
  return std::move(*this);
}

Error&& Error::detail(std::string key, std::string value) && {
  details_.insert_or_assign(std::move(key), without_userinfo(value));
  return std::move(*this);
}

std::string_view Error::hint() const noexcept {
  if (const std::string_view shortage = hint_of(errno_); !shortage.empty()) return shortage;
  return hint_.empty() ? info(code_).hint : std::string_view(hint_);
}

std::string Error::to_string() const {
  std::string text = fmt::format("{}: {}", wire_name(), message_);
  for (const auto& frame : frames_) text += fmt::format("\n  while {}", frame);
  if (!hint().empty()) text += fmt::format("\n  hint: {}", hint());
  return text;
}

}  // namespace guard

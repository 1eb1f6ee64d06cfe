// The one vocabulary of failure. An Error says that the world refused (no engine, a bad rule file, a full disk); what a
// tested program did is never an Error but an ExecResult or a Verdict.
//
// Each code has one row in the table of error.cc: its name on the wire, the exit status it leads to, whether trying
// again can help, and what a person should do next. Callers act on the code, people on the sentences.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace guard {

enum class ErrorCode {
  environment_unavailable,      // no environment may be used (details: environmentType)
  environment_creation_failed,  // the sandbox could not be made (details: stderr)
  image_missing,                // the image or root folder is not there, or not the one expected (details: image)
  image_pull_failed,            // details: image, stderr
  image_build_failed,           // details: stderr
  execution_timeout,            // details: timeout (milliseconds)
  execution_failed,             // a program could not be started, or died outside its own fault
  dependency_unsatisfied,       // lockfile missing, stale, or not installable
  file_too_large,
  file_not_found,
  rules_invalid,
  config_invalid,
  input_invalid,
  io_error,
  protocol_error,  // the other side of a socket or pipe spoke nonsense
  cancelled,       // SIGINT or SIGTERM reached us
  withheld,        // output could not be proved free of secrets
  usage,
  internal,
};

struct ErrorCodeInfo {
  ErrorCode code;
  std::string_view wire_name;  // "ENVIRONMENT_UNAVAILABLE"
  int exit_status;             // 2 undecided, 3 unavailable, 64 usage, 130 interrupted
  bool retryable;
  std::string_view hint;  // one imperative sentence; empty where only the place that failed can tell
};

const ErrorCodeInfo& info(ErrorCode code) noexcept;
// Nothing: there is no such code.
std::optional<ErrorCode> find_error_code(std::string_view wire_name) noexcept;

class [[nodiscard]] Error {
 public:
  Error(ErrorCode code, std::string message);

  // From a failed system call; `number` is errno as it was right after the call.
  static Error from_errno(ErrorCode code, std::string_view what, int number);

  // Added on the way up, innermost first: "preparing the docker sandbox".
  Error&& context(std::string frame) &&;
  Error&& hint(std::string sentence) &&;                  // replaces the table's hint
  Error&& caused_by(const Error& error) &&;               // takes its errno over: what ran out is still known
  Error&& detail(std::string key, std::string value) &&;  // typed details of the wire form

  ErrorCode code() const noexcept { return code_; }
  const std::string& message() const noexcept { return message_; }
  const std::vector<std::string>& frames() const noexcept { return frames_; }
  const std::map<std::string, std::string>& details() const noexcept { return details_; }
  std::string_view hint()
      const noexcept;  // where something ran out, how to get more of it; else what the place said, or the table
  bool ran_out() const noexcept;  // of space, descriptors, memory: guard's own trouble, whatever it was about to do
  int sys_errno() const noexcept { return errno_; }
  int exit_status() const noexcept { return info(code_).exit_status; }
  std::string_view wire_name() const noexcept { return info(code_).wire_name; }

  // "IMAGE_MISSING: no image ...\n  while ...\n  hint: ..." without a last newline.
  std::string to_string() const;

 private:
  ErrorCode code_;
  int errno_ = 0;
  std::string message_;
  std::string hint_;
  std::vector<std::string> frames_;
  std::map<std::string, std::string> details_;
};

}  // namespace guard

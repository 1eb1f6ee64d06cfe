// Azure Container Apps dynamic sessions: code runs in a pool of sessions at Azure. It was never tried against Azure
// itself, only against a scripted server (tests/acads/pool.py) that keeps to what Microsoft publishes.
//
// guard owns neither machine nor init there and can prove nothing: no test run's verdict comes from here. So this is
// no Sandbox of runner/sandbox/, and only `guard session` can ask for it.
//
// Files lie flat below /mnt/data, which is /workspace here. A session starts with its first request, and its files go
// with it when the pool ends it.
//
// Every operation: ENVIRONMENT_UNAVAILABLE with the detail "access" (401, 403, once more with a new token before),
// "limit" (429, 503, as call() says) or none (other 5xx); FILE_NOT_FOUND (404), FILE_TOO_LARGE (413), INPUT_INVALID
// (other 4xx), EXECUTION_TIMEOUT (408, 504 and `deadline`), PROTOCOL_ERROR for what makes no sense, CANCELLED.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "runner/acads/entra_token.h"
#include "runner/tasks/open_sandbox.h"

namespace guard::acads {

inline constexpr std::string_view kPoolVariable = "GUARD_ACADS_ENDPOINT";
inline constexpr std::uint64_t kFileBytesMax = 128ull << 20;  // Azure's own limit of an upload
inline constexpr std::size_t kOutputBytesMax = 256ul * 1024;  // of each stream, the rest is dropped
inline constexpr milliseconds kCommandLimitMax{210'000};      // Azure ends an execution after 220 s
inline constexpr std::string_view kUnproved =
    "the session is at Azure, where guard can prove nothing about what confines it";

// "/workspace/a" and "a" -> "a". INPUT_INVALID for a path with folders, and for what Azure allows in no name.
Result<std::string> file_name(std::string_view path);

struct RemoteFile {
  std::string name;  // foreign
  bool is_folder = false;
  std::uint64_t bytes = 0;
};

// Not thread-safe.
class SessionPool {
 public:
  // With GUARD_ACADS_ENDPOINT and what EntraToken reads; talks to nobody. `cancel` must outlive it. CONFIG_INVALID.
  static Result<SessionPool> create(const Environment& environment, const CancelToken& cancel);

  const std::string& url() const noexcept { return service_.url; }
  std::string_view identity() const noexcept { return token_.way(); }

  // Starts it, unless it runs already: a session begins with its first command.
  Result<void> open(const std::string& session, Deadline deadline);
  // Needs argv, env, working_dir and timeout of `task`; a timeout of 0 is kCommandLimitMax. EXECUTION_FAILED where it
  // could not be started.
  Result<TaskOutput> execute(
      const std::string& session, const TaskSpec& task, std::string_view input, Deadline deadline);
  // More than kFileBytesMax: FILE_TOO_LARGE, and nothing is sent.
  Result<void> upload(const std::string& session, const std::string& name, std::string_view bytes, Deadline deadline);
  Result<void> download(const std::string& session, const std::string& name,
      const std::function<Result<void>(std::string_view)>& take, Deadline deadline);
  Result<std::vector<RemoteFile>> list(const std::string& session, Deadline deadline);
  Result<void> close(const std::string& session, Deadline deadline);  // its files go with it

 private:
  SessionPool(Service service, EntraToken token, Secrets secrets, const CancelToken& cancel)
      : service_(std::move(service)), token_(std::move(token)), secrets_(std::move(secrets)), cancel_(cancel) {}
  Result<docker::HttpAnswer> ask(std::string_view what, const std::string& session, Call call, Deadline deadline);
  Error refused(const docker::HttpAnswer& answer) const;

  Service service_;
  EntraToken token_;
  Secrets secrets_;
  const CancelToken& cancel_;
  std::string bearer_;  // empty: none yet
};

}  // namespace guard::acads

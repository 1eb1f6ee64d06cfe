// The folders that are /workspace in sandboxes: <state>/workspaces/<id>/, one for each sandbox that was made, in which
// it is bind-mounted. Programs inside write what they like there: no link is followed, no name is trusted.
//
// Thread-safe for different ids. Failures are IO_ERROR; each call may be made again after one, and after a crash.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "common/result.h"
#include "common/unique_fd.h"
#include "sessions/steps.h"

namespace guard::sessions {

class Workspaces {
 public:
  // Makes the folder (folder_mode()) where it is missing.
  static Result<Workspaces> open(const std::filesystem::path& state, StepWatch watch = {});

  std::filesystem::path path(std::string_view id) const { return folder_ / id; }

  // Empty, mode 0700; who starts the sandbox gives it to the user inside.
  Result<void> make(const std::string& id);

  Result<bool> is_empty(const std::string& id) const;

  // All entries of `from` are renamed into `to`, and `from` is removed: no copies, so it costs a rename for each entry
  // at the top. Nothing may run that sees `to`. A name that `to` has already is an error, since it began empty.
  Result<void> move(const std::string& from, const std::string& to);

  Result<void> remove(const std::string& id);

  Result<UniqueFd> open_one(const std::string& id) const;  // no descriptor: it is not there

  Result<std::vector<std::string>> list() const;

 private:
  Workspaces(std::filesystem::path folder, UniqueFd fd, StepWatch watch)
      : folder_(std::move(folder)), fd_(std::move(fd)), watch_(std::move(watch)) {}
  Result<void> begin(std::string_view step, const std::string& id) const;

  std::filesystem::path folder_;
  UniqueFd fd_;
  StepWatch watch_;
};

}  // namespace guard::sessions

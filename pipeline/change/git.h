// The git program, read-only, with everything off that a repository's own configuration could make it run: hooks,
// fsmonitor, external diff, textconv, pagers, prompts.
#pragma once

#include <chrono>
#include <filesystem>
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "common/cancel.h"
#include "common/result.h"

namespace guard {

class Git {
 public:
  // Reading an index takes milliseconds; a minute means a network file system or a hang.
  static constexpr std::chrono::milliseconds kDeadline{60'000};

  // Works in the repository that holds `folder`. `cancel` must outlive this.
  Git(std::filesystem::path folder, const CancelToken& cancel) : folder_(std::move(folder)), cancel_(cancel) {}
  // In another repository than the caller's environment may say: of its GIT_* variables none is passed on but these.
  Git(std::filesystem::path folder, const CancelToken& cancel, std::map<std::string, std::string> variables)
      : folder_(std::move(folder)), cancel_(cancel), variables_(std::move(variables)) {}

  // stdout of `git ARGS`; INPUT_INVALID with git's words when it exits with anything but 0 (not a repository, say),
  // DEPENDENCY_UNSATISFIED when there is no git.
  Result<std::string> read(const std::vector<std::string>& arguments, std::string_view stdin_text = {},
      std::chrono::milliseconds deadline = kDeadline) const;

  // Root folder of the work tree. INPUT_INVALID where its git is another one than that of the folder we stand in: the
  // repository's own core.worktree can name any place, and what is judged there would not be what is committed here.
  Result<std::filesystem::path> top() const;

  // What the .gitignore files of the work tree leave out and is not tracked, relative to its root; whole folders with a
  // slash at the end. Files outside of the tree (core.excludesFile, info/exclude) have no say. Only for a folder that
  // is the root.
  Result<std::vector<std::string>> ignored() const;
  // The same, as ProjectTreeRequest and CollectOptions ask for it; nothing where git can't say. `cancel` must outlive
  // it.
  static std::function<std::vector<std::string>(const std::filesystem::path& top)> ignored_names(
      const CancelToken& cancel);

  // Which pattern of which file leaves each of `names` out (each ended by a NUL, relative to the root): source, line,
  // pattern and name, each ended by a NUL. Names that nothing leaves out are not in the answer; one that a pattern
  // takes in again may be.
  Result<std::string> why_ignored(std::string_view names, std::chrono::milliseconds deadline) const;

  // Whether history or trees are cut off here, so that something that is not found may still be there elsewhere.
  bool is_shallow() const;

  // Where git looks for hooks (core.hooksPath included), and what all work trees of the repository share.
  Result<std::filesystem::path> hooks_folder() const;
  Result<std::filesystem::path> common_folder() const;

 private:
  Result<std::string> run(
      std::vector<std::string> argv, std::string_view stdin_text, std::chrono::milliseconds deadline) const;

  std::filesystem::path folder_;
  const CancelToken& cancel_;
  std::map<std::string, std::string> variables_;
};

}  // namespace guard

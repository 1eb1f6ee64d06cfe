// Which files are judged: what a person named, and what lies in folders that were named.
//
// Files are taken as named. Folders are walked: inside the gated paths every file counts (a helper, a fixture, a
// planted bunfig.toml); elsewhere only code does, and .git and node_modules are passed over. Links are never followed:
// every entry is opened by name in its folder's descriptor.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <set>
#include <string>
#include <string_view>
#include <unordered_set>
#include <vector>

#include "common/result.h"
#include "common/unique_fd.h"
#include "pipeline/gate/source_files.h"

namespace guard {

struct WalkedFile {
  std::shared_ptr<const UniqueFd> folder;  // stays open while one of its files is not read yet; null: the current one
  std::string name;                        // in `folder`
  std::string path;                        // as given, for findings
  bool gated = false;
  enum class Kind : std::uint8_t {
    file,
    link,
    special
  } kind = Kind::file;  // others than files come only where CollectOptions::whole_tree asks
};

class FileWalk {
 public:
  using Visit = std::function<Result<void>(WalkedFile)>;

  // Findings (links, devices, module folders) are appended to `findings`. All must outlive the walk.
  FileWalk(const CollectOptions& options, Visit visit, std::vector<Finding>& findings);

  // Call once. FILE_NOT_FOUND, IO_ERROR, INPUT_INVALID (too many files, too deep). A file that is named twice
  // ("sandbox sandbox/a.test.ts") is visited once.
  Result<void> add_all(const std::vector<std::string>& paths);

  // Files that were not visited because git ignores them.
  std::uint64_t ignored_files() const noexcept { return ignored_files_; }

 private:
  Result<void> add_named(const std::string& path);
  Result<void> walk(
      std::shared_ptr<const UniqueFd> folder, const std::string& path, int depth_left, bool ignored = false);
  std::filesystem::path folder_of(const std::string& path) const;
  void look_for_ignore_rules(const std::filesystem::path& folder);
  void ask_what_is_ignored();
  Result<void> visit_entry(WalkedFile file, unsigned char type);  // of dirent
  bool is_gated(const std::filesystem::path& folder, const std::string& name);
  std::filesystem::path repository_root(const std::filesystem::path& folder) const;

  const CollectOptions& options_;
  Visit visit_;
  std::vector<Finding>& findings_;
  std::filesystem::path current_;
  std::filesystem::path last_folder_;  // of the last question, with its answer: files come folder by folder
  std::string last_relative_;
  bool last_gated_ = false;                 // all that lies in it is
  std::vector<std::string> gated_folders_;  // of patterns like "sandbox/**": "/sandbox/"
  std::vector<std::string> other_patterns_;
  std::unordered_set<std::string> ignored_;  // relative to ignored_top_
  std::filesystem::path ignored_top_;        // the repository of what was named; empty: none
  bool asked_ = false;
  std::uint64_t ignored_files_ = 0;
  std::set<std::string> seen_;
  bool remember_ = false;
  std::uint64_t count_ = 0;
};

// Reads one file. False: it is not to be judged as text, and a finding says so.
Result<bool> read_walked(
    const WalkedFile& file, std::uint64_t bytes_max, std::string& bytes, std::vector<Finding>& findings);

}  // namespace guard

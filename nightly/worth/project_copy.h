// A copy of a project that tests are weighed in: its scripts, what they import, and versions of it that are broken and
// taken back.
#pragma once

#include <filesystem>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "common/file_io.h"
#include "common/result.h"
#include "nightly/worth/module_links.h"

namespace guard::nightly {

class ProjectCopy {
 public:
  // Copies what a run is made of below `scratch`, and nothing that a link leads to: links stay links, whoever stages
  // the copy judges them. `tests`: where imports are followed from; `before`: some of them -> their text before the
  // change.
  static Result<ProjectCopy> create(const std::filesystem::path& project, const std::filesystem::path& scratch,
      const std::vector<std::string>& tests, const std::map<std::string, std::string>& before);

  const std::filesystem::path& folder() const noexcept { return folder_; }
  const std::map<std::string, std::string>& scripts() const noexcept { return scripts_; }  // path -> text, as copied
  const std::vector<std::string>& imported() const noexcept { return imported_; }  // of src/, by tests and helpers
  const std::vector<std::string>& reached() const noexcept { return reached_; }    // those, and what they import
  const std::vector<std::string>& sources() const noexcept { return sources_; }    // all of src/

  Result<void> put(const std::map<std::string, std::string>& files) const;
  Result<void> take_back(const std::map<std::string, std::string>& files) const;

  // `module` with all its exports, and without what they do.
  std::string stub_of(const std::string& module, StubKind kind) const;

 private:
  explicit ProjectCopy(TempDir scratch) : scratch_(std::move(scratch)), folder_(scratch_.path() / "project") {}
  Result<void> read_scripts(const std::map<std::string, std::string>& before);
  void follow_imports(const std::vector<std::string>& tests);
  void collect_exports(const std::string& module, std::map<std::string, ExportShape>& exports,
      std::set<std::string>& foreign, std::set<std::string>& seen) const;

  TempDir scratch_;
  std::filesystem::path folder_;
  std::set<std::string> files_;
  std::map<std::string, std::string> scripts_;
  std::map<std::string, ModuleLinks> links_;
  std::vector<std::string> imported_;
  std::vector<std::string> reached_;
  std::vector<std::string> sources_;
};

}  // namespace guard::nightly

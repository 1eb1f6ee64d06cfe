#include "pipeline/run/staging.h"

#include <fmt/format.h>
#include <sys/stat.h>

#include <algorithm>
#include <optional>
#include <set>
#include <system_error>

#include "common/file_io.h"
#include "common/hash.h"
#include "common/text/text.h"
#include "runner/init_side/fill_file.h"

namespace guard {
namespace {

namespace fs = std::filesystem;

constexpr mode_t kFolderMode = 0755;
constexpr std::uint64_t kPageBytes = 4096;

// Read by another user inside the sandbox, so not 0600; write-protected because nothing has a reason to change them.
fill_format::Kind kind_of(const fs::path& source) {
  struct stat found {};
  return ::lstat(source.c_str(), &found) == 0 && (found.st_mode & 0111) != 0 ? fill_format::Kind::program
                                                                             : fill_format::Kind::file;
}

class Stager {
 public:
  // `run_folder` empty: nothing is written.
  Stager(const fs::path& run_folder, const fs::path& project, const ProjectTree& tree, const StageOptions& options)
      : project_(project), tree_(tree), options_(options), writes_(!run_folder.empty()) {
    staged_.app = run_folder / "app";
    if (!options.in_place) staged_.fill = run_folder / "fill";
  }

  Result<StagedTree> stage() {
    std::error_code failure;
    root_ = fs::canonical(project_, failure);
    if (failure) return Error::from_errno(ErrorCode::io_error, printable(project_.native()), failure.value());
    if (writes_) {
      GUARD_TRY(make_folders(staged_.app / tree_.writable, kFolderMode));
      if (!options_.in_place) {
        GUARD_TRY_ASSIGN(fill_, FillFile::create(staged_.fill));
      }
    }
    for (const auto& file : tree_.gated.files) GUARD_TRY(add_file(file.path, file.bytes));
    for (const auto& path : tree_.others) GUARD_TRY(add_other(path));
    for (const auto& folder : options_.module_folders) GUARD_TRY(link_modules(folder));
    if (fill_) GUARD_TRY(fill_->finish());
    return std::move(staged_);
  }

 private:
  Result<void> make_folder(const fs::path& relative) {
    if (relative.empty() || !folders_.insert(relative).second) return ok();
    GUARD_TRY(make_folder(relative.parent_path()));
    return put(fill_format::Kind::folder, relative);
  }

  // The path below the writable folder of what is filled into it; nothing for what is mounted.
  std::optional<std::string> below_writable(const fs::path& relative) const {
    std::string path = relative.generic_string();
    if (tree_.writable.empty()) return path;
    if (path == tree_.writable || !path.starts_with(tree_.writable + "/")) return std::nullopt;
    return path.substr(tree_.writable.size() + 1);
  }

  Result<void> put(fill_format::Kind kind, const fs::path& relative, std::string_view content = {}) {
    const auto below = below_writable(relative);
    if (below) {
      staged_.writable_bytes += (content.size() + kPageBytes - 1) / kPageBytes * kPageBytes;
      ++staged_.writable_entries;
    }
    if (!writes_) return ok();
    if (below && fill_) return fill_->add(kind, *below, content);
    const fs::path path = staged_.app / relative;
    std::error_code failure;
    switch (kind) {
      case fill_format::Kind::folder: return make_folders(path, kFolderMode);
      case fill_format::Kind::link:
        fs::create_symlink(content, path, failure);
        return failure ? Error::from_errno(ErrorCode::io_error, printable(relative.native()), failure.value()) : ok();
      default: return write_new_file(path, content, kind == fill_format::Kind::program ? 0555 : 0444);
    }
  }

  Result<void> add_file(const fs::path& relative, std::string_view bytes) {
    bytes_ += bytes.size();
    if (bytes_ > kStagedBytesMax || staged_.hashes.size() >= kStagedFilesMax) {
      return Error(ErrorCode::input_invalid,
          fmt::format("the project holds more than {} MB or {} files", kStagedBytesMax >> 20, kStagedFilesMax))
          .hint("have git ignore what is generated: a run does not see it then");
    }
    GUARD_TRY(make_folder(relative.parent_path()));
    GUARD_TRY(put(kind_of(project_ / relative), relative, bytes));
    staged_.hashes[relative.generic_string()] = sha256_hex(bytes);
    staged_.imports_by_name = staged_.imports_by_name || (writes_ && imports_by_name(bytes));
    return ok();
  }

  Result<void> add_other(const fs::path& relative) {
    std::error_code failure;
    const fs::path path = project_ / relative;
    if (!fs::is_symlink(fs::symlink_status(path, failure))) {
      GUARD_TRY_ASSIGN(
          const std::string bytes, read_file(path, kStagedBytesMax, FollowLinks::no, ReadFor::the_program));
      return add_file(relative, bytes);
    }
    // One that leads to another place of the project is a link there, too. Any other would mean something else inside.
    const fs::path target = fs::read_symlink(path, failure);
    const auto leads_out = [](const fs::path& place) { return place.empty() || *place.begin() == ".."; };
    // As it is written, too: what is not there can't be followed.
    if (failure || target.is_absolute() || leads_out((relative.parent_path() / target).lexically_normal()) ||
        leads_out(fs::weakly_canonical(path, failure).lexically_relative(root_)) || failure) {
      staged_.left_out.push_back(relative.generic_string());
      return ok();
    }
    GUARD_TRY(make_folder(relative.parent_path()));
    staged_.hashes[relative.generic_string()] = sha256_hex(target.generic_string());
    return put(fill_format::Kind::link, relative, target.native());
  }

  Result<void> link_modules(const std::string& folder) {
    // A package without files of its own here has no use for its packages.
    if (!folder.empty() && folders_.count(folder) == 0) return ok();
    return put(fill_format::Kind::link, fs::path(folder) / "node_modules",
        (fs::path("/modules") / folder / "node_modules").native());
  }

  const fs::path& project_;
  const ProjectTree& tree_;
  const StageOptions& options_;
  bool writes_;
  std::optional<FillFile> fill_;
  fs::path root_;
  StagedTree staged_;
  std::set<fs::path> folders_;
  std::uint64_t bytes_ = 0;
};

}  // namespace

bool imports_by_name(std::string_view text) {
  constexpr std::string_view kImport = "import";
  if (text.find("@bun") != std::string_view::npos) return true;
  for (std::size_t at = text.find(kImport); at != std::string_view::npos; at = text.find(kImport, at)) {
    at += kImport.size();
    const auto skip_blanks = [&] { at = std::min(text.find_first_not_of(" \t\r\n", at), text.size()); };
    skip_blanks();
    if (at < text.size() && text[at] == '/') return true;  // a comment, perhaps with the bracket behind it
    if (at >= text.size() || text[at] != '(') continue;
    ++at;
    skip_blanks();
    const char quote = at < text.size() ? text[at] : '\0';
    if (quote != '"' && quote != '\'') return true;
    at = text.find(quote, at + 1);
    if (at == std::string_view::npos) return true;
    ++at;
    skip_blanks();
    if (at < text.size() && text[at] != ')' && text[at] != ',') return true;  // "as" + "sert"
  }
  return false;
}

Result<StagedTree> stage_tree(
    const fs::path& run_folder, const fs::path& project, const ProjectTree& tree, const StageOptions& options) {
  return Stager(run_folder, project, tree, options).stage().context("staging what will run");
}

Result<std::map<std::string, std::string>> staged_hashes(const fs::path& project, const ProjectTree& tree) {
  GUARD_TRY_ASSIGN(StagedTree staged, Stager({}, project, tree, {}).stage());
  return std::move(staged.hashes);
}

void mount_staged(
    const StagedTree& staged, std::string_view writable, std::uint64_t bytes, std::uint64_t files, SandboxSpec& spec) {
  const std::string target = writable.empty() ? "/app" : fmt::format("/app/{}", writable);
  if (!writable.empty()) spec.mounts.push_back({staged.app, "/app"});
  if (!staged.fill.empty()) spec.mounts.push_back({staged.fill, std::string(kFillInside)});
  spec.scratch.push_back({target, staged.fill.empty() ? "" : std::string(kFillInside), bytes + staged.writable_bytes,
      files + staged.writable_entries});
}

Result<std::vector<std::string>> changed_since(
    const fs::path& project, const ProjectTree& now, const std::map<std::string, std::string>& hashes) {
  std::vector<std::string> changed;
  GUARD_TRY_ASSIGN(const auto present, staged_hashes(project, now));
  for (const auto& [path, digest] : hashes) {
    const auto found = present.find(path);
    if (found == present.end() || found->second != digest) changed.push_back(path);
  }
  // A module that appears takes the place of another one as easily as a change does.
  for (const auto& [path, digest] : present) {
    if (hashes.count(path) == 0 && may_change_others(path)) changed.push_back(path);
  }
  return changed;
}

}  // namespace guard

#include "nightly/loop/night_repository.h"

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <mutex>

#include "common/file_io.h"
#include "common/text/text.h"
#include "pipeline/change/git_objects.h"
#include "validator/change/path_names.h"

namespace guard::nightly {
namespace {

namespace fs = std::filesystem;

// A night works on few commits: its base, and the tip of its branch as that moves.
constexpr std::size_t kListingsMax = 8;
constexpr std::chrono::milliseconds kPackDeadline{600'000};

// As git fast-import reads a path: any byte may stand in it.
std::string import_path(std::string_view path) {
  std::string text = "\"";
  for (const char c : path) {
    const auto byte = static_cast<unsigned char>(c);
    if (c == '"' || c == '\\') {
      text += '\\';
      text += c;
    } else if (byte < 0x20 || byte >= 0x7f) {
      text += fmt::format("\\{:03o}", byte);
    } else {
      text += c;
    }
  }
  return text + '"';
}

std::string import_data(std::string_view bytes) {
  return fmt::format("data {}\n", bytes.size()).append(bytes).append("\n");
}

}  // namespace

bool is_path_for_a_tree(std::string_view path) {
  if (path.empty() || path.ends_with('/') || path.find('\0') != std::string_view::npos) return false;
  for (const auto name : pieces_of(path, '/')) {
    if (name.empty() || name == "." || name == "..") return false;
  }
  const auto names = folded_names(path);
  return std::none_of(
      names.begin(), names.end(), [](const std::string& name) { return name == ".git" || name.starts_with("git~"); });
}

NightRepository::NightRepository(fs::path top, fs::path common, std::string object_format, const CancelToken& cancel)
    : top_(std::move(top)),
      common_(std::move(common)),
      object_format_(std::move(object_format)),
      git_(top_, cancel),
      cache_(std::make_unique<Cache>()) {}

Result<NightRepository> NightRepository::open(const fs::path& folder, const CancelToken& cancel) {
  GUARD_TRY_ASSIGN(const fs::path named, Git(folder, cancel).top());
  std::error_code failure;
  const fs::path top = fs::canonical(named, failure);
  if (failure) return Error::from_errno(ErrorCode::io_error, printable(named.native()), failure.value());
  const Git git(top, cancel);
  GUARD_TRY_ASSIGN(const fs::path common, git.common_folder());
  GUARD_TRY_ASSIGN(std::string format, git.read({"rev-parse", "--show-object-format"}));
  return NightRepository(top, common, without_line_end(std::move(format)), cancel);
}

Result<std::string> NightRepository::commit_id(const std::string& revision) const {
  return named_commit(git_, revision);
}

Result<std::shared_ptr<const TreeEntries>> NightRepository::listing(const std::string& commit) const {
  {
    const std::lock_guard lock(cache_->mutex);
    if (const auto known = cache_->listings.find(commit); known != cache_->listings.end()) return known->second;
  }
  GUARD_TRY_ASSIGN(TreeEntries entries, list_tree(git_, commit, TreeSizes::left_out));
  const bool all_known = std::none_of(
      entries.begin(), entries.end(), [](const auto& entry) { return entry.second.kind == EntryKind::other; });
  if (!all_known) return odd_git_answer("ls-tree");
  auto made = std::make_shared<const TreeEntries>(std::move(entries));
  const std::lock_guard lock(cache_->mutex);
  if (cache_->listings.size() >= kListingsMax) cache_->listings.clear();
  return cache_->listings.emplace(commit, std::move(made)).first->second;
}

Result<std::optional<std::string>> NightRepository::tip(const std::string& branch) const {
  GUARD_TRY_ASSIGN(
      const std::string listed, git_.read({"for-each-ref", "--format=%(objectname) %(refname)", "--", branch}));
  // A pattern also finds what lies below it.
  for (const auto line : pieces_of(listed, '\n')) {
    const std::size_t space = line.find(' ');
    if (space != std::string_view::npos && line.substr(space + 1) == branch)
      return std::optional<std::string>(line.substr(0, space));
  }
  return std::optional<std::string>();
}

Result<void> NightRepository::create_branch(const std::string& branch, const std::string& commit) const {
  if (!branch.starts_with("refs/heads/") || !git_.read({"check-ref-format", branch})) {
    return Error(ErrorCode::input_invalid, fmt::format("{} is no name for a branch", printable(branch)))
        .hint("name another one in the plan: branch = \"guard/night\"");
  }
  GUARD_TRY_ASSIGN(const auto there, tip(branch));
  if (there) {
    return Error(ErrorCode::input_invalid, fmt::format("there is a branch {} already", printable(branch)))
        .hint(
            "name another one in the plan (branch = \"guard/{night}\" is never taken), or remove that one: `git branch "
            "-D`");
  }
  // The zeros make git refuse what appeared meanwhile.
  GUARD_TRY(git_.read({"update-ref", "--no-deref", "--create-reflog", "-m", "guard nightly: begin", branch, commit,
      std::string(commit.size(), '0')}));
  return ok();
}

Result<std::string> NightRepository::make_commit(
    const NewCommit& what, const ChangeSet& change, const std::string& pending) const {
  const std::string person = fmt::format("guard <guard@localhost> {} +0000", what.time_s);
  for (const auto& file : change.files) {
    if (!is_path_for_a_tree(file.path))
      return Error(ErrorCode::internal, fmt::format("{} is no path for a commit", printable(file.path)));
  }
  std::string stream =
      fmt::format("feature done\ncommit {}\nmark :1\nauthor {}\ncommitter {}\n", pending, person, person);
  stream += import_data(what.message);
  stream += fmt::format("from {}\n", what.tip);
  // Deletions first: a file may have become a folder.
  for (const auto& file : change.files) {
    if (file.after == EntryKind::absent) stream += fmt::format("D {}\n", import_path(file.path));
  }
  for (const auto& file : change.files) {
    if (file.after == EntryKind::absent) continue;
    if ((file.after != EntryKind::file && file.after != EntryKind::executable) || file.unread) {
      return Error(ErrorCode::internal, fmt::format("{} cannot be committed as a file", printable(file.path)));
    }
    stream +=
        fmt::format("M {} inline {}\n", file.after == EntryKind::file ? "100644" : "100755", import_path(file.path));
    stream += import_data(file.new_bytes);
  }
  stream += "\nget-mark :1\ndone\n";
  GUARD_TRY_ASSIGN(std::string answer,
      git_.read({"-c", "core.protectNTFS=true", "-c", "core.protectHFS=true", "fast-import", "--quiet", "--force",
                    "--date-format=raw"},
          stream));
  const std::string commit = without_line_end(std::move(answer));
  if (commit.size() != what.tip.size()) return odd_git_answer("fast-import");

  // What was judged, and nothing else.
  GUARD_TRY_ASSIGN(const auto before, listing(what.tip));
  GUARD_TRY_ASSIGN(const auto after, listing(commit));
  TreeEntries rest_before = *before;
  TreeEntries rest_after = *after;
  std::map<std::string, const ChangedFile*> wanted;
  std::set<std::string> ids;
  for (const auto& file : change.files) {
    const auto entry = after->find(file.path);
    if ((entry == after->end() ? EntryKind::absent : entry->second.kind) != file.after)
      return Error(
          ErrorCode::internal, fmt::format("the commit does not hold {} as it was judged", printable(file.path)));
    rest_before.erase(file.path);
    rest_after.erase(file.path);
    if (entry == after->end()) continue;
    wanted[entry->second.id] = &file;
    ids.insert(entry->second.id);
  }
  const auto [a, b] = std::mismatch(
      rest_before.begin(), rest_before.end(), rest_after.begin(), rest_after.end(), [](const auto& x, const auto& y) {
        return x.first == y.first && x.second.id == y.second.id && x.second.kind == y.second.kind;
      });
  if (a != rest_before.end() || b != rest_after.end()) {
    return Error(ErrorCode::internal,
        fmt::format("the commit would change {}, which was not judged",
            printable(a != rest_before.end() ? a->first : b->first)));
  }
  GUARD_TRY_ASSIGN(const auto stored, read_blobs(git_, ids));
  for (const auto& [id, file] : wanted) {
    if (stored.at(id) != file->new_bytes)
      return Error(ErrorCode::internal, fmt::format("the commit holds other bytes for {}", printable(file->path)));
  }
  return commit;
}

Result<void> NightRepository::move_branch(
    const std::string& branch, const std::string& from, const std::string& to) const {
  auto moved = git_.read({"update-ref", "--no-deref", "-m", "guard nightly: accepted", branch, to, from});
  if (moved) return ok();
  GUARD_TRY_ASSIGN(const auto now, tip(branch));
  if (now == from) return std::move(moved).error();
  return Error(ErrorCode::input_invalid,
      fmt::format("somebody else moved {} from {} to {}", printable(branch), from.substr(0, 12),
          now ? now->substr(0, 12) : "nowhere"))
      .hint("leave the branch of a night alone until the night is over; `guard nightly run` makes a new one");
}

Result<void> NightRepository::settle(const std::string& pending) const {
  GUARD_TRY_ASSIGN(const auto there, tip(pending));
  if (there) GUARD_TRY(git_.read({"update-ref", "--no-deref", "-d", pending, *there}));
  return ok();
}

Result<bool> NightRepository::contains(const std::string& tip, const std::string& commit) const {
  if (tip == commit) return true;
  // Its answer is an exit status, which read() takes for a failure: what is not reachable from the tip is listed
  // instead.
  auto listed = git_.read({"rev-list", "--max-count=1", "--end-of-options", commit, "^" + tip});
  if (!listed) return std::move(listed).error();
  return listed->empty();
}

Result<std::string> NightRepository::diff(const std::string& commit, std::size_t bytes_max) const {
  GUARD_TRY_ASSIGN(std::string text,
      git_.read({"diff-tree", "-p", "--root", "--no-commit-id", "--no-color", "--no-ext-diff", "--no-textconv",
          "--no-renames", "--text", "--end-of-options", commit}));
  if (text.size() > bytes_max) text.resize(bytes_max);
  return text;
}

Result<fs::path> NightRepository::pack(const std::string& commit, const fs::path& folder) const {
  static std::mutex alone;  // the attempts of a night begin at once
  const std::lock_guard lock(alone);
  const fs::path file = folder / (commit + ".pack");
  std::error_code failure;
  if (fs::exists(file, failure)) return file;
  GUARD_TRY_ASSIGN(
      const std::string objects, git_.read({"rev-list", "--objects", "--no-object-names", "--no-walk", commit}));
  GUARD_TRY_ASSIGN(const TempDir made, TempDir::create(folder));
  GUARD_TRY_ASSIGN(
      std::string id, git_.read({"pack-objects", "--quiet", (made.path() / "pack").native()}, objects, kPackDeadline));
  const fs::path packed = made.path() / fmt::format("pack-{}.pack", without_line_end(std::move(id)));
  if (::rename(packed.c_str(), file.c_str()) != 0)
    return Error::from_errno(ErrorCode::io_error, printable(file.native()), errno);
  return file;
}

Result<NightRepository> NightRepository::unpack(const fs::path& pack, const std::string& commit,
    const std::string& object_format, const fs::path& folder, const CancelToken& cancel) {
  GUARD_TRY(make_folders(folder, 0700));
  const Git git(folder, cancel);
  GUARD_TRY(git.read({"init", "-q", "--template=", "--initial-branch=guard", "--object-format=" + object_format, "."}));
  const fs::path objects = folder / ".git/objects/pack/pack-task.pack";
  std::error_code failure;
  GUARD_TRY(make_folders(objects.parent_path(), 0755));
  fs::copy_file(pack, objects, failure);
  if (failure) return Error::from_errno(ErrorCode::io_error, printable(pack.native()), failure.value());
  GUARD_TRY(write_new_file(folder / ".git/shallow", commit + "\n"));
  GUARD_TRY(git.read({"index-pack", objects.native()}, {}, kPackDeadline));
  GUARD_TRY(git.read({"update-ref", "refs/heads/guard", commit}));
  return open(folder, cancel);
}

}  // namespace guard::nightly

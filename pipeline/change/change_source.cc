// How it works. Every source comes down to a list of paths with the kinds and object ids before and after. Those of two
// commits, an index and a patch come from `git diff-tree` and `git diff-index`, which read no attributes; contents come
// from `git cat-file
// --batch` by object id and are held against that id, so that neither odd names nor a file that changes meanwhile can
// make us look at other bytes. A patch is applied by git, in a repository of our own that only borrows the objects of
// the real one: nothing of its configuration holds there, and nothing is written to it. The work tree is read by
// ourselves (work_tree.h).
#include "pipeline/change/change_source.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <utility>

#include "common/file_io.h"
#include "common/text/text.h"
#include "pipeline/change/git.h"
#include "pipeline/change/git_objects.h"
#include "pipeline/change/work_tree.h"
#include "validator/change/change_policy.h"
#include "validator/change/line_changes.h"

namespace guard {
namespace {

namespace fs = std::filesystem;

// Of one answer of git; it is cut off at twice as much (pipeline/change/git.cc).
constexpr std::uint64_t kBatchBytesMax = 128u << 20;

struct RawEntry {
  std::string old_mode, new_mode, old_id, new_id, path;
  char status = 'M';
};

// ":100644 100644 <id> <id> M\0path\0"
Result<std::vector<RawEntry>> parse_raw(std::string_view text) {
  std::vector<RawEntry> entries;
  while (!text.empty()) {
    const std::size_t header_end = text.find('\0');
    if (header_end == std::string_view::npos || text[0] != ':') return odd_git_answer("diff --raw");
    const auto fields = git_fields(text.substr(1, header_end - 1));
    text.remove_prefix(header_end + 1);
    const std::size_t path_end = text.find('\0');
    if (fields.size() != 5 || path_end == std::string_view::npos) return odd_git_answer("diff --raw");
    entries.push_back(RawEntry{std::string(fields[0]), std::string(fields[1]), std::string(fields[2]),
        std::string(fields[3]), std::string(text.substr(0, path_end)), fields[4][0]});
    text.remove_prefix(path_end + 1);
  }
  return entries;
}

// Contents by object id, with a size for those that are not read.
struct Contents {
  std::map<std::string, std::uint64_t> sizes;
  std::map<std::string, std::string> blobs;

  // Null: it was not read.
  const std::string* find(const std::string& id) const {
    const auto found = blobs.find(id);
    return found == blobs.end() ? nullptr : &found->second;
  }
};

Result<Contents> read_contents(const Git& git, const std::set<std::string>& ids, const ChangeRequest& request) {
  Contents contents;
  GUARD_TRY_ASSIGN(contents.sizes, blob_sizes(git, ids));
  std::set<std::string> batch;
  std::uint64_t batch_bytes = 0;
  std::uint64_t bytes = 0;
  const auto read_batch = [&]() -> Result<void> {
    GUARD_TRY_ASSIGN(auto blobs, read_blobs(git, std::exchange(batch, {})));
    contents.blobs.merge(blobs);
    batch_bytes = 0;
    return ok();
  };
  for (const auto& id : ids) {
    const std::uint64_t size = contents.sizes.at(id);
    if (size > request.file_bytes_max || size > request.bytes_max - bytes) continue;
    bytes += size;
    if (batch_bytes + size > kBatchBytesMax) GUARD_TRY(read_batch());
    batch.insert(id);
    batch_bytes += size;
  }
  GUARD_TRY(read_batch());
  return contents;
}

bool is_zero(std::string_view id) { return id.find_first_not_of('0') == std::string_view::npos; }

void say_too_many(std::uint64_t count, ChangeSet& change) {
  change.findings.push_back(policy_finding("policy.too_many_files", "(change)",
      fmt::format("{} files are changed: too many to look at, only the first {} were", count, change.files.size()),
      "Make a smaller change: one test, and what it needs."));
}

// Fills in what a file was, and counts its lines.
void take_before(ChangedFile& file, EntryKind kind, const std::string& id, const Contents& contents) {
  file.before = kind;
  const std::string* const bytes = has_bytes(kind) ? contents.find(id) : nullptr;
  if (bytes != nullptr) file.old_bytes = *bytes;
  count_lines(file);
  // What was not read has no more lines than bytes.
  if (has_bytes(kind) && bytes == nullptr) file.lines_removed = contents.sizes.at(id);
}

Result<ChangeSet> change_of(std::vector<RawEntry> entries, const Git& git, const ChangeRequest& request) {
  ChangeSet change;
  const std::uint64_t count = entries.size();
  std::sort(entries.begin(), entries.end(), [](const RawEntry& a, const RawEntry& b) { return a.path < b.path; });
  if (count > request.files_max) entries.resize(request.files_max);
  std::set<std::string> wanted;
  for (const auto& entry : entries) {
    if (entry.status == 'U')
      return Error(ErrorCode::input_invalid, fmt::format("{} is unmerged", printable(entry.path)))
          .hint("finish the merge first");
    if (has_bytes(entry_kind(entry.old_mode))) wanted.insert(entry.old_id);
    if (has_bytes(entry_kind(entry.new_mode))) wanted.insert(entry.new_id);
  }
  // An index that names no object for a file says nothing about what would be committed.
  for (const auto& id : wanted) {
    if (is_zero(id)) return odd_git_answer("diff --raw");
  }
  GUARD_TRY_ASSIGN(const Contents contents, read_contents(git, wanted, request));
  for (const auto& entry : entries) {
    ChangedFile file;
    file.path = entry.path;
    file.after = entry_kind(entry.new_mode);
    if (has_bytes(file.after)) {
      const std::string* const bytes = contents.find(entry.new_id);
      file.unread = bytes == nullptr;
      if (bytes != nullptr) file.new_bytes = *bytes;
      file.new_size = contents.sizes.at(entry.new_id);
    }
    take_before(file, entry_kind(entry.old_mode), entry.old_id, contents);
    change.files.push_back(std::move(file));
  }
  if (count > request.files_max) say_too_many(count, change);
  return change;
}

Result<std::string> empty_tree(const Git& git) {
  GUARD_TRY_ASSIGN(std::string id, git.read({"hash-object", "-t", "tree", "--stdin"}));
  return without_line_end(std::move(id));
}

Result<std::string> resolve(const Git& git, std::string_view revision) {
  const auto ask = [&git](const std::string& name) {
    return git.read({"rev-parse", "--verify", "--quiet", "--end-of-options", name});
  };
  if (!revision.empty()) return named_commit(git, revision);
  auto head = ask("HEAD^{commit}");
  if (head) return without_line_end(std::move(*head));
  if (head.error().code() != ErrorCode::input_invalid) return std::move(head).error();
  // Before the first commit there is none to compare with. A HEAD that names something else is broken.
  if (ask("HEAD")) {
    return Error(ErrorCode::input_invalid, "HEAD names a commit that cannot be read")
        .hint("`git fsck` says what is broken; or name another base: --base REV");
  }
  // Not even a repository: that is said in git's own words.
  GUARD_TRY(git.read({"rev-parse", "--git-dir"}));
  return std::string();
}

Result<std::vector<RawEntry>> raw_diff(
    const Git& git, std::vector<std::string> command, const std::vector<std::string>& revisions) {
  for (const char* option : {"--raw", "-z", "--no-renames", "--no-abbrev", "--ignore-submodules=none"})
    command.emplace_back(option);
  command.insert(command.end(), revisions.begin(), revisions.end());
  command.push_back("--");
  GUARD_TRY_ASSIGN(const std::string raw, git.read(command));
  return parse_raw(raw);
}

// An empty repository that borrows the objects of another one.
Result<TempDir> borrowing_repository(const Git& git, const fs::path& top, std::size_t id_digits) {
  GUARD_TRY_ASSIGN(std::string objects, git.read({"rev-parse", "--git-path", "objects"}));
  const fs::path lender = fs::absolute(top / without_line_end(std::move(objects))).lexically_normal();
  // Such a name cannot be written down in the list of lenders.
  if (lender.native().find('\n') != std::string::npos) {
    return Error(ErrorCode::input_invalid, "the repository's path holds a line feed")
        .hint("move it to a folder with a plain name");
  }
  GUARD_TRY_ASSIGN(TempDir folder, TempDir::create());
  for (const char* part : {"objects/info", "refs/heads"}) GUARD_TRY(make_folders(folder.path() / part, 0700));
  GUARD_TRY(write_new_file(folder.path() / "HEAD", "ref: refs/heads/none\n"));
  GUARD_TRY(write_new_file(folder.path() / "config",
      id_digits == 64 ? "[core]\n\trepositoryFormatVersion = 1\n\tbare = true\n[extensions]\n\tobjectFormat = sha256\n"
                      : "[core]\n\trepositoryFormatVersion = 0\n\tbare = true\n"));
  GUARD_TRY(write_new_file(folder.path() / "objects/info/alternates", lender.native() + "\n"));
  return folder;
}

Result<ChangeSet> patch_change(const Git& git, const fs::path& top, const std::string& base,
    const ChangeRequest& request, const CancelToken& cancel) {
  GUARD_TRY_ASSIGN(const TempDir folder, borrowing_repository(git, top, base.size()));
  const Git own(folder.path(), cancel,
      {{"GIT_DIR", folder.path().string()}, {"GIT_INDEX_FILE", (folder.path() / "index").string()}});
  GUARD_TRY(own.read({"read-tree", base}));
  // Names that other systems take for .git are ours to refuse, by name; ".git" itself git refuses in any case.
  const std::vector<std::string> apply = {"-c", "core.protectNTFS=false", "-c", "core.protectHFS=false", "-c",
      "core.autocrlf=false", "-c", "apply.ignoreWhitespace=no", "apply", "--cached", "--whitespace=nowarn", "-p1", "-"};
  if (auto applied = own.read(apply, request.patch); !applied) {
    if (applied.error().code() != ErrorCode::input_invalid) return std::move(applied).error();
    return Error(
        ErrorCode::input_invalid, fmt::format("the patch does not apply to the base: {}", applied.error().message()))
        .hint("make it with `git diff` against the base that --base names; paths begin with a/ and b/");
  }
  GUARD_TRY_ASSIGN(auto entries, raw_diff(own, {"diff-index", "--cached", "--ita-invisible-in-index"}, {base}));
  return change_of(std::move(entries), own, request);
}

Result<ChangeSet> work_tree_change(const Git& git, const fs::path& top, const std::string& tree,
    const ChangeRequest& request, const CancelToken& cancel) {
  GUARD_TRY_ASSIGN(const TreeEntries base, list_tree(git, tree, TreeSizes::told));
  const bool elsewhere = !request.work_tree.empty();
  std::map<std::string, std::string> variables;
  if (elsewhere) {
    GUARD_TRY_ASSIGN(std::string git_folder, git.read({"rev-parse", "--absolute-git-dir"}));
    // With no index at all every file is one that git was not told of: it is asked for nothing else than what is
    // ignored.
    variables = {{"GIT_DIR", without_line_end(std::move(git_folder))}, {"GIT_INDEX_FILE", "/nonexistent/index"}};
  }
  const Git there(request.work_tree, cancel, std::move(variables));
  GUARD_TRY_ASSIGN(WorkTreeChange found,
      compare_work_tree(
          elsewhere ? request.work_tree : top, elsewhere ? there : git, base, tree.size(), request, cancel));
  std::set<std::string> wanted;
  for (const auto& file : found.files) {
    const auto entry = base.find(file.path);
    if (entry != base.end() && has_bytes(entry->second.kind)) wanted.insert(entry->second.id);
  }
  GUARD_TRY_ASSIGN(const Contents contents, read_contents(git, wanted, request));
  ChangeSet change;
  change.findings = std::move(found.findings);
  for (auto& file : found.files) {
    const auto entry = base.find(file.path);
    if (entry == base.end()) {
      count_lines(file);
    } else {
      take_before(file, entry->second.kind, entry->second.id, contents);
    }
    change.files.push_back(std::move(file));
  }
  if (found.count > request.files_max) say_too_many(found.count, change);
  return change;
}

Result<void> list_unchanged(const Git& git, const std::string& tree, ChangeSet& change) {
  GUARD_TRY_ASSIGN(const std::string listed, git.read({"ls-tree", "-r", "-z", "--name-only", "--full-tree", tree}));
  std::set<std::string_view> changed;
  for (const auto& file : change.files) changed.insert(file.path);
  for (const auto path : pieces_of(listed, '\0')) {
    if (!changed.contains(path)) change.unchanged.emplace_back(path);
  }
  return ok();
}

}  // namespace

Result<CollectedChange> collect_change(
    const fs::path& folder, const ChangeRequest& request, const CancelToken& cancel) {
  CollectedChange collected;
  GUARD_TRY_ASSIGN(collected.top, Git(folder, cancel).top());
  const Git git(collected.top, cancel);
  GUARD_TRY_ASSIGN(collected.base, resolve(git, request.base));
  std::string base = collected.base;
  if (base.empty()) {
    // A first commit has nothing to be compared with. Where there are others, somebody may have led HEAD away from
    // them.
    GUARD_TRY_ASSIGN(const std::string refs, git.read({"for-each-ref", "--count=1"}));
    if (request.from != ChangeFrom::index && !refs.empty()) {
      return Error(ErrorCode::input_invalid, "HEAD names no commit, although there are commits here")
          .hint("say what to compare with: --base REV");
    }
    GUARD_TRY_ASSIGN(base, empty_tree(git));
  }
  switch (request.from) {
    case ChangeFrom::index: {
      GUARD_TRY_ASSIGN(auto entries, raw_diff(git, {"diff-index", "--cached", "--ita-invisible-in-index"}, {base}));
      GUARD_TRY_ASSIGN(collected.change, change_of(std::move(entries), git, request));
      break;
    }
    case ChangeFrom::commit: {
      GUARD_TRY_ASSIGN(const std::string head, resolve(git, request.head));
      if (head.empty())
        return Error(ErrorCode::input_invalid, "there is no commit yet to be judged")
            .hint("commit first, or judge the index: --staged");
      GUARD_TRY_ASSIGN(auto entries, raw_diff(git, {"diff-tree", "-r"}, {base, head}));
      GUARD_TRY_ASSIGN(collected.change, change_of(std::move(entries), git, request));
      break;
    }
    case ChangeFrom::patch: {
      GUARD_TRY_ASSIGN(collected.change, patch_change(git, collected.top, base, request, cancel));
      break;
    }
    case ChangeFrom::work_tree: {
      GUARD_TRY_ASSIGN(collected.change, work_tree_change(git, collected.top, base, request, cancel));
      break;
    }
  }
  if (request.list_unchanged) GUARD_TRY(list_unchanged(git, base, collected.change));
  return collected;
}

Result<std::string> commit_id(const fs::path& folder, std::string_view revision, const CancelToken& cancel) {
  GUARD_TRY_ASSIGN(const auto top, Git(folder, cancel).top());
  return resolve(Git(top, cancel), revision);
}

Result<std::string> read_at(
    const fs::path& folder, std::string_view revision, std::string_view path, const CancelToken& cancel) {
  GUARD_TRY_ASSIGN(const auto top, Git(folder, cancel).top());
  return read_at(Git(top, cancel), revision, path);
}

Result<std::string> read_at(const Git& git, std::string_view revision, std::string_view path) {
  if (revision.empty()) {
    if (auto plain = plain_file_at_head(git, path)) return *std::move(plain);
  }
  GUARD_TRY_ASSIGN(const std::string commit, resolve(git, revision));
  if (commit.empty()) return std::string();
  GUARD_TRY_ASSIGN(
      const std::string listed, git.read({"ls-tree", "-z", "--full-tree", commit, "--", std::string(path)}));
  if (listed.empty()) return std::string();
  // "<mode> blob <id>\t<path>\0"
  const std::string at = revision.empty() ? "HEAD" : printable(revision);
  if (!listed.starts_with("100"))
    return Error(ErrorCode::config_invalid, fmt::format("{} is not a regular file at {}", printable(path), at));
  const auto fields = git_fields(std::string_view(listed).substr(0, listed.find('\t')));
  if (fields.size() != 3) return odd_git_answer("ls-tree");
  const std::string id(fields[2]);
  GUARD_TRY_ASSIGN(auto read, read_blobs(git, {id}));
  return std::move(read.begin()->second);
}

}  // namespace guard

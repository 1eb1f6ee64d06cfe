#include "pipeline/change/git_objects.h"

#include <fmt/format.h>

#include <algorithm>

#include "common/hash.h"
#include "common/text/text.h"

namespace guard {
namespace {

Error missing_contents(std::string_view id) {
  return Error(ErrorCode::protocol_error, fmt::format("git has no readable contents for {}", id))
      .hint("fetch what is missing: `git fetch --refetch` in a partial clone, `git fsck` says what is broken");
}

std::string lines(const std::set<std::string>& ids) {
  std::string text;
  for (const auto& id : ids) text += id + "\n";
  return text;
}

struct Object {
  std::string_view id;
  std::string_view bytes;
};

// Takes "<id> <type> <size>\n<bytes>\n" off `answer`.
std::optional<Object> take_object(std::string_view& answer, std::string_view type) {
  const std::size_t line_end = answer.find('\n');
  const auto fields = git_fields(answer.substr(0, line_end));
  std::uint64_t size = 0;
  if (line_end == std::string_view::npos || fields.size() != 3 || fields[1] != type || !read_number(fields[2], size) ||
      answer.size() - line_end - 1 <= size) {
    return std::nullopt;
  }
  const Object object{fields[0], answer.substr(line_end + 1, size)};
  answer.remove_prefix(line_end + 1 + size + 1);
  return object;
}

// Of the file `name` in a tree of "<mode> <name>\0<id in bytes>" entries, where it is a regular one.
std::string id_in_tree(std::string_view tree, std::string_view name, std::size_t id_digits) {
  while (!tree.empty()) {
    const std::size_t space = tree.find(' ');
    const std::size_t end = tree.find('\0');
    if (space > end || end == std::string_view::npos || tree.size() - end - 1 < id_digits / 2) break;
    if (tree.starts_with("100") && tree.substr(space + 1, end - space - 1) == name)
      return to_hex({reinterpret_cast<const std::uint8_t*>(tree.data() + end + 1), id_digits / 2});
    tree.remove_prefix(end + 1 + id_digits / 2);
  }
  return {};
}

// "<id> blob <size>", or "<id> missing". What is no blob is nothing that a file can hold.
bool parse_header(std::string_view line, const std::string& id, std::uint64_t& size) {
  const std::string prefix = id + " blob ";
  return line.starts_with(prefix) && read_number(line.substr(prefix.size()), size);
}

}  // namespace

EntryKind entry_kind(std::string_view mode) {
  if (mode == "000000") return EntryKind::absent;
  if (mode == "120000") return EntryKind::link;
  if (mode == "160000") return EntryKind::submodule;
  if (mode == "100755") return EntryKind::executable;
  // Old gits wrote 100664, too.
  return mode.starts_with("100") ? EntryKind::file : EntryKind::other;
}

bool has_bytes(EntryKind kind) {
  return kind == EntryKind::file || kind == EntryKind::executable || kind == EntryKind::link;
}

Result<std::string> named_commit(const Git& git, std::string_view revision) {
  if (revision.starts_with('-')) {
    return Error(ErrorCode::input_invalid, fmt::format("\"{}\" is an option and no revision", printable(revision)))
        .hint("write the ref in full, refs/heads/... say, or its id");
  }
  auto id = git.read({"rev-parse", "--verify", "--quiet", "--end-of-options", std::string(revision) + "^{commit}"});
  if (id) return without_line_end(std::move(*id));
  if (id.error().code() != ErrorCode::input_invalid) return std::move(id).error();
  return Error(ErrorCode::input_invalid, fmt::format("there is no commit called \"{}\" here", printable(revision)))
      .hint(git.is_shallow()
              ? "this clone is shallow: fetch what is missing, `git fetch --unshallow` or `git fetch --depth=N`"
              : "look at `git log`; a branch of another machine has to be fetched first");
}

Result<TreeEntries> list_tree(const Git& git, const std::string& tree, TreeSizes sizes) {
  std::vector<std::string> command = {"ls-tree", "-r", "-z", "--full-tree"};
  if (sizes == TreeSizes::told) command.emplace_back("-l");
  command.push_back(tree);
  GUARD_TRY_ASSIGN(const std::string listed, git.read(command));
  // Cut off: what is missing would look removed.
  if (!listed.empty() && listed.back() != '\0') return odd_git_answer("ls-tree");
  TreeEntries entries;
  // "<mode> blob <id> <size>\t<path>", or without the size
  for (const auto piece : pieces_of(listed, '\0')) {
    const std::size_t tab = piece.find('\t');
    if (tab == std::string_view::npos) return odd_git_answer("ls-tree");
    const auto fields = git_fields(piece.substr(0, tab));
    if (fields.size() != (sizes == TreeSizes::told ? 4u : 3u)) return odd_git_answer("ls-tree");
    TreeEntry entry{entry_kind(fields[0]), std::string(fields[2]), 0};
    if (sizes == TreeSizes::told && fields[3] != "-" && !read_number(fields[3], entry.size))
      return odd_git_answer("ls-tree");
    entries.emplace(std::string(piece.substr(tab + 1)), std::move(entry));
  }
  return entries;
}

Result<std::map<std::string, std::uint64_t>> blob_sizes(const Git& git, const std::set<std::string>& ids) {
  std::map<std::string, std::uint64_t> sizes;
  if (ids.empty()) return sizes;
  GUARD_TRY_ASSIGN(const std::string answer, git.read({"cat-file", "--batch-check"}, lines(ids)));
  std::string_view text = answer;
  for (const auto& id : ids) {
    const std::size_t end = text.find('\n');
    std::uint64_t size = 0;
    if (end == std::string_view::npos || !parse_header(text.substr(0, end), id, size)) return missing_contents(id);
    sizes[id] = size;
    text.remove_prefix(end + 1);
  }
  return sizes;
}

Result<std::map<std::string, std::string>> read_blobs(const Git& git, const std::set<std::string>& ids) {
  std::map<std::string, std::string> blobs;
  if (ids.empty()) return blobs;
  GUARD_TRY_ASSIGN(const std::string answer, git.read({"cat-file", "--batch"}, lines(ids)));
  // "<id> blob <size>\n<bytes>\n" for each id, in order
  std::string_view text = answer;
  for (const auto& id : ids) {
    const std::size_t line_end = text.find('\n');
    std::uint64_t size = 0;
    if (line_end == std::string_view::npos || !parse_header(text.substr(0, line_end), id, size) ||
        text.size() - line_end - 1 < size || text.size() - line_end - 1 == size) {
      return missing_contents(id);
    }
    std::string bytes(text.substr(line_end + 1, size));
    if (git_blob_id(bytes, id.size()) != id) {
      return Error(ErrorCode::protocol_error, fmt::format("the object {} holds other bytes than its name says", id))
          .hint("`git fsck` says what is broken");
    }
    blobs[id] = std::move(bytes);
    text.remove_prefix(line_end + 1 + size + 1);
  }
  return blobs;
}

std::optional<std::string> plain_file_at_head(const Git& git, std::string_view path) {
  // Git holds a commit against its id where it has to see that it is one, and nothing else.
  constexpr std::string_view kHead = "HEAD^{commit}";
  if (path.find('\n') != std::string_view::npos) return std::nullopt;  // it is a line of the question
  const std::size_t slash = path.rfind('/') + 1;
  const auto answer =
      git.read({"cat-file", "--batch"}, fmt::format("{0}:{1}\n{0}:{2}\n", kHead, path.substr(0, slash), path));
  std::string_view text = answer ? std::string_view(*answer) : std::string_view();
  const auto tree = take_object(text, "tree");
  const auto blob = tree ? take_object(text, "blob") : std::nullopt;
  if (!blob || git_blob_id(tree->bytes, tree->id.size(), "tree") != tree->id ||
      id_in_tree(tree->bytes, path.substr(slash), blob->id.size()) != blob->id ||
      git_blob_id(blob->bytes, blob->id.size()) != blob->id) {
    return std::nullopt;
  }
  return std::string(blob->bytes);
}

std::vector<std::string_view> git_fields(std::string_view line) {
  auto words = pieces_of(line, ' ');
  std::erase(words, std::string_view());
  return words;
}

std::string without_line_end(std::string answer) {
  if (!answer.empty() && answer.back() == '\n') answer.pop_back();
  return answer;
}

Error odd_git_answer(std::string_view command) {
  return Error(ErrorCode::protocol_error, fmt::format("git {} answered in a form that guard does not know", command));
}

}  // namespace guard

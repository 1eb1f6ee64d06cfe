// What a repository holds, as git tells it: commits by name, trees as lists, blobs as bytes. Blobs are held against
// their ids: git does not look, and whoever can write to the object folder could put other bytes under a name that is
// known.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "common/result.h"
#include "pipeline/change/git.h"
#include "validator/change/change_set.h"

namespace guard {

// A file as a commit's tree lists it.
struct TreeEntry {
  EntryKind kind = EntryKind::file;
  std::string id;
  std::uint64_t size = 0;  // where it was asked for; of submodules 0
};
using TreeEntries = std::map<std::string, TreeEntry>;  // by path

// What a mode of git's stands for: "100644", "120000".
EntryKind entry_kind(std::string_view mode);
bool has_bytes(EntryKind kind);

// The id of the commit that `revision`, which is not empty, names. INPUT_INVALID.
Result<std::string> named_commit(const Git& git, std::string_view revision);

// Everything in a commit or tree but folders. Sizes cost git a look at each object.
enum class TreeSizes : bool { left_out, told };
Result<TreeEntries> list_tree(const Git& git, const std::string& tree, TreeSizes sizes);

// By id, of blobs alone. PROTOCOL_ERROR where one is missing (a partial clone), is no blob, or holds other bytes than
// its id says.
Result<std::map<std::string, std::uint64_t>> blob_sizes(const Git& git, const std::set<std::string>& ids);
Result<std::map<std::string, std::string>> read_blobs(const Git& git, const std::set<std::string>& ids);

// What the regular file `path` of HEAD's commit holds, in one question to git: blob and the tree that it stands in are
// held against their ids. Nothing where the answer is not as plain as that: why not, the functions above can tell.
std::optional<std::string> plain_file_at_head(const Git& git, std::string_view path);

// For those who read other answers of git: the words of a line, an answer of one line, and what to say of one that
// nobody understands.
std::vector<std::string_view> git_fields(std::string_view line);
std::string without_line_end(std::string answer);
Error odd_git_answer(std::string_view command);

}  // namespace guard

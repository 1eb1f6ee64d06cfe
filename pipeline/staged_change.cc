// Reads what `git commit` would commit: names, modes and object ids from `git diff --cached --raw -z`, contents by object id
// from `git cat-file --batch`, so that neither odd names nor a file that changes meanwhile can make us look at other bytes.
#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <map>
#include <set>

#include "common/text.h"
#include "pipeline/git.h"
#include "pipeline/source_files.h"
#include "pipeline/trusted_files.h"

namespace guard {
namespace {

struct RawEntry {
  std::string old_mode, new_mode, old_id, new_id, path;
  char status = 'M';
};

// ":100644 100644 <id> <id> M\0path\0"
Result<std::vector<RawEntry>> parse_raw(std::string_view text) {
  std::vector<RawEntry> entries;
  const auto malformed = [] { return Error(ErrorCode::protocol_error, "git diff --raw answered in a form that guard does not know"); };
  while (!text.empty()) {
    const std::size_t header_end = text.find('\0');
    if (header_end == std::string_view::npos || text[0] != ':') return malformed();
    std::vector<std::string_view> fields;
    std::string_view header = text.substr(1, header_end - 1);
    while (!header.empty()) {
      const std::size_t space = std::min(header.find(' '), header.size());
      fields.push_back(header.substr(0, space));
      header.remove_prefix(std::min(space + 1, header.size()));
    }
    text.remove_prefix(header_end + 1);
    const std::size_t path_end = text.find('\0');
    if (fields.size() != 5 || fields[4].empty() || path_end == std::string_view::npos) return malformed();
    entries.push_back(RawEntry{std::string(fields[0]), std::string(fields[1]), std::string(fields[2]), std::string(fields[3]),
                               std::string(text.substr(0, path_end)), fields[4][0]});
    text.remove_prefix(path_end + 1);
  }
  return entries;
}

// "<id> blob <size>\n<bytes>\n" for each id, in order.
Result<std::map<std::string, std::string>> read_blobs(const Git& git, const std::set<std::string>& ids) {
  std::map<std::string, std::string> blobs;
  if (ids.empty()) return blobs;
  std::string request;
  for (const auto& id : ids) request += id + "\n";
  GUARD_TRY_ASSIGN(const std::string answer, git.read({"cat-file", "--batch"}, request));
  std::string_view text = answer;
  for (const auto& id : ids) {
    const std::size_t line_end = text.find('\n');
    const std::string_view line = text.substr(0, line_end);
    const std::string prefix = id + " blob ";
    std::uint64_t size = 0;
    const char* digits_end = line.data() + line.size();
    if (line_end == std::string_view::npos || !line.starts_with(prefix) ||
        std::from_chars(line.data() + prefix.size(), digits_end, size).ptr != digits_end || text.size() < line_end + 1 + size + 1) {
      return Error(ErrorCode::protocol_error, fmt::format("git has no readable contents for {}", id));
    }
    blobs[id] = std::string(text.substr(line_end + 1, size));
    text.remove_prefix(line_end + 1 + size + 1);
  }
  return blobs;
}

using LineRanges = std::vector<std::pair<std::uint32_t, std::uint32_t>>;

// The "+first,count" halves of the hunk headers of a diff without context.
LineRanges added_ranges(std::string_view diff) {
  LineRanges ranges;
  while (!diff.empty()) {
    const std::size_t line_end = std::min(diff.find('\n'), diff.size());
    const std::string_view line = diff.substr(0, line_end);
    diff.remove_prefix(std::min(line_end + 1, diff.size()));
    if (!line.starts_with("@@ ")) continue;
    const std::size_t plus = line.find('+');
    if (plus == std::string_view::npos) continue;
    std::uint32_t first = 0;
    std::uint32_t count = 1;
    const char* end = line.data() + line.size();
    const auto parsed = std::from_chars(line.data() + plus + 1, end, first);
    if (parsed.ptr != end && *parsed.ptr == ',') std::from_chars(parsed.ptr + 1, end, count);
    if (count > 0) ranges.emplace_back(first, first + count - 1);
  }
  return ranges;
}

// Modes of the raw diff; regular files are 100644 or 100755.
constexpr std::string_view kLink = "120000";
constexpr std::string_view kSubmodule = "160000";

bool is_zero(std::string_view id) { return id.find_first_not_of('0') == std::string_view::npos; }

Finding change_finding(std::string_view rule, const std::string& path, std::string message, std::string fix) {
  Finding finding;
  finding.rule = rule;
  finding.tier = FindingTier::policy;
  finding.path = path;
  finding.message = std::move(message);
  finding.fix = std::move(fix);
  return finding;
}

}  // namespace

Result<StagedChange> collect_staged(const std::filesystem::path& folder, const CollectOptions& options, const CancelToken& cancel) {
  StagedChange change;
  GUARD_TRY_ASSIGN(change.top, Git(folder, cancel).top());
  const Git git(change.top, cancel);
  // The empty tree stands for the parent of a first commit.
  std::string base = "HEAD";
  if (!git.read({"rev-parse", "--verify", "--quiet", "HEAD^{commit}"})) {
    GUARD_TRY_ASSIGN(base, git.read({"hash-object", "-t", "tree", "--stdin"}));
    if (!base.empty() && base.back() == '\n') base.pop_back();
  }
  GUARD_TRY_ASSIGN(const std::string raw, git.read({"diff", "--cached", "--raw", "-z", "--no-renames", "--no-relative", "--no-abbrev", "--no-ext-diff",
                                                    "--no-textconv", "--ignore-submodules=none", base, "--"}));
  GUARD_TRY_ASSIGN(const auto entries, parse_raw(raw));

  std::set<std::string> wanted;
  for (const auto& entry : entries) {
    if (entry.status == 'U') {
      return Error(ErrorCode::input_invalid, fmt::format("{} is unmerged", printable(entry.path))).hint("finish the merge first");
    }
    if (entry.status != 'D' && entry.new_mode != kSubmodule) wanted.insert(entry.new_id);
  }
  GUARD_TRY_ASSIGN(const auto blobs, read_blobs(git, wanted));

  for (const auto& entry : entries) {
    if (configures_guard(entry.path)) {
      change.gated.findings.push_back(change_finding("policy.configuration_changed", entry.path, "the commit changes what guard or bun is told to do",
                                                     "change it in a commit of its own, made by a person (git commit --no-verify)"));
    }
    if (entry.status == 'D') continue;
    // A link or submodule called like the gated folder itself would stand for all that is in it.
    const bool gated = is_gated_path(options.gated_paths, entry.path) || is_gated_path(options.gated_paths, entry.path + "/x");
    if (gated && (entry.new_mode == kLink || entry.new_mode == kSubmodule)) {
      change.gated.findings.push_back(change_finding(entry.new_mode == kLink ? "policy.symbolic_link" : "policy.submodule", entry.path,
                                                     entry.new_mode == kLink ? "a symbolic link" : "a submodule",
                                                     "commit the files themselves"));
    }
    if (entry.new_mode == kSubmodule) continue;  // the id of a commit elsewhere: no bytes of it are committed here
    const std::string& bytes = blobs.at(entry.new_id);  // of a link: where it points
    if (gated && entry.new_mode != kLink) change.gated.files.push_back(SourceFile{entry.path, bytes});
    LineRanges ranges;
    if (is_zero(entry.old_id) || !entry.old_mode.starts_with("100")) {
      ranges.emplace_back(1, UINT32_MAX);  // a new file: every line is added
    } else {
      GUARD_TRY_ASSIGN(const std::string diff, git.read({"diff", "--text", "-U0", "--no-color", "--no-ext-diff", "--no-textconv", entry.old_id, entry.new_id, "--"}));
      ranges = added_ranges(diff);
    }
    change.added_lines.files.push_back(SourceFile{entry.path, bytes});
    change.added.push_back(std::move(ranges));
  }
  return change;
}

Result<std::string> read_at_head(const std::filesystem::path& folder, std::string_view path, const CancelToken& cancel) {
  GUARD_TRY_ASSIGN(const auto top, Git(folder, cancel).top());
  const Git git(top, cancel);
  if (!git.read({"rev-parse", "--verify", "--quiet", "HEAD^{commit}"})) return std::string();
  GUARD_TRY_ASSIGN(const std::string listed, git.read({"ls-tree", "-z", "HEAD", "--", std::string(path)}));
  if (listed.empty()) return std::string();
  // "<mode> blob <id>\t<path>\0"
  if (!listed.starts_with("100")) {
    return Error(ErrorCode::config_invalid, fmt::format("{} is not a regular file at HEAD", printable(path)));
  }
  const std::size_t begin = listed.find(" blob ");
  const std::size_t tab = listed.find('\t');
  if (begin == std::string::npos || tab == std::string::npos || tab < begin + 6) {
    return Error(ErrorCode::protocol_error, "git ls-tree answered in a form that guard does not know");
  }
  return git.read({"cat-file", "blob", listed.substr(begin + 6, tab - begin - 6)});
}

}  // namespace guard

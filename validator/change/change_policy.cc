// How it works. Each file by itself first: its name, what stands there, what it holds; then all of them together: how
// many there are, how much they hold, whose names could be taken for one another's. Names are compared as the most
// careless file system would (path_names.h), except with those that allow something.
#include "validator/change/change_policy.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>

#include "common/text/glob.h"
#include "common/text/text.h"
#include "validator/change/path_names.h"
#include "validator/change/trusted_files.h"

namespace guard {
namespace {

bool any_listed(const std::vector<std::string>& names, std::string_view list) {
  return std::any_of(names.begin(), names.end(), [&](const std::string& name) { return is_listed(name, list); });
}

std::uint64_t sum(std::uint64_t a, std::uint64_t b) { return a + std::min(b, ~std::uint64_t{0} - a); }

bool is_text_kind(EntryKind kind) { return kind == EntryKind::file || kind == EntryKind::executable; }

// "gi7eba~1" and "gitmod~1" are short for names that begin with ".git".
bool is_git_name(const std::string& name) {
  return name.starts_with(".git") || (name.starts_with("gi") && is_short_name(name));
}

// A glob of the configuration, from the root or from any folder above the file; a name without a slash also holds for
// folders, and a folder's glob for the folder itself: a file in its place would stand for all of it.
class Globs {
 public:
  explicit Globs(const std::vector<std::string>& globs) {
    for (std::string_view glob : globs) {
      while (glob.starts_with("./")) glob.remove_prefix(2);
      globs_.push_back(folded_path(glob));
    }
  }

  bool match(const std::vector<std::string>& names) const {
    return std::any_of(globs_.begin(), globs_.end(), [&](const std::string& glob) {
      std::string path;
      for (std::size_t i = names.size(); i-- > 0;) {
        if (glob_matches(glob, names[i])) return true;
        path = path.empty() ? names[i] : names[i] + "/" + path;
        if (glob_matches(glob, path) || glob_matches(glob, path + "/x")) return true;
      }
      return false;
    });
  }

 private:
  std::vector<std::string> globs_;
};

class Policing {
 public:
  Policing(const ChangeSet& change, const PolicyOptions& options)
      : change_(change),
        options_(options),
        forbidden_files_(options.forbidden_files),
        forbidden_paths_(options.forbidden_paths) {}

  std::vector<Finding> run() {
    for (const auto& file : change_.files) {
      path_ = file.path;
      names_ = folded_names(file.path);
      const std::size_t before = findings_.size();
      judge_name();
      judge_kind(file);
      judge_contents(file);
      if (findings_.size() == before) judge_place();
    }
    judge_amount();
    judge_names_together();
    std::sort(findings_.begin(), findings_.end());
    return std::move(findings_);
  }

 private:
  void add(std::string_view rule, std::string message, std::string_view fix) {
    findings_.push_back(policy_finding(rule, path_, std::move(message), std::string(fix)));
  }

  template <typename Test>
  bool any_name(Test test) const {
    return std::any_of(names_.begin(), names_.end(), test);
  }

  void judge_name() {
    const bool writes_tests = options_.kind == TaskKind::test;
    if (const auto fault = path_fault(path_); !fault.empty()) {
      add("policy.path", fmt::format("the name {}", fault),
          "Give the file a plain name: letters, digits, dots, dashes, blanks inside.");
    } else if (any_name(is_short_name)) {
      add("policy.path", "the name is the short form that some file systems give to another file",
          "Give the file a name without \"~\" and digits at the end.");
    }
    if (any_name(is_git_name)) add("policy.git_file", "a file that git or a git server obeys", kLeaveIt);
    judge_what_obeys_it(writes_tests);
    if (writes_tests && forbidden_files_.match(names_)) {
      add("policy.forbidden_file", "a file that a task that writes tests may never touch ([policy] forbidden_files)",
          "Leave it as it is; write the test with what is installed.");
    }
    if (forbidden_paths_.match(names_)) {
      add("policy.forbidden_path", "a place where no task may change anything ([policy] forbidden_paths)",
          "Leave it as it is.");
    }
  }

  void judge_what_obeys_it(bool writes_tests) {
    const bool of_git = any_name(is_git_name);
    if (any_name(configures_guard)) {
      add("policy.configuration_changed", "it says what guard or bun is told to do", kLeaveIt);
    } else if (any_listed(names_, "ci_files") || any_listed(names_, "agent_files")) {
      add("policy.agent_or_ci_configuration", "a file that a CI server or a coding agent obeys", kLeaveIt);
    } else if (any_listed(names_, "tool_files") || (configures_hooks(folded_path(path_)) && !of_git)) {
      add("policy.tool_configuration", "a file that a program runs or loads because it lies there", kLeaveIt);
    } else if (writes_tests && any_listed(names_, "build_files")) {
      add("policy.tool_configuration", "a file that says how the project is built, which no test needs to change",
          kLeaveIt);
    } else if (writes_tests && !of_git &&
        any_name([](const std::string& name) { return name.size() > 1 && name[0] == '.'; })) {
      add("policy.tool_configuration",
          "a hidden file or folder: tools read them by themselves, and people look past them",
          "Give it a name without a dot in front.");
    }
  }

  void judge_kind(const ChangedFile& file) {
    const auto judge_entry = [&](EntryKind kind, std::string_view rule, std::string_view what, std::string_view gone,
                                 std::string_view write, std::string_view noun) {
      if (file.after == kind) {
        add(rule, std::string(what), write);
      } else if (file.before == kind) {
        add(rule, fmt::format("{} that is taken away", gone),
            fmt::format("Leave the {} as it is, and ask a person to change it.", noun));
      }
    };
    judge_entry(EntryKind::link, "policy.symbolic_link", "a symbolic link", "a symbolic link", "Write the file itself.",
        "link");
    judge_entry(EntryKind::submodule, "policy.submodule", "a submodule, or a repository inside of the repository",
        "a submodule", "Write the files themselves.", "submodule");
    if (file.before == EntryKind::other || file.after == EntryKind::other)
      add("policy.special_file", "a device, a socket, a FIFO or something else that git cannot keep", "Remove it.");
    if (is_text_kind(file.before) && is_text_kind(file.after) && file.before != file.after) {
      add("policy.mode_change",
          file.after == EntryKind::executable ? "the file becomes executable" : "the file is not executable any more",
          "Leave the mode as it is: chmod it back.");
    } else if (file.after == EntryKind::executable && !is_text_kind(file.before)) {
      add("policy.executable_file", "a new file that is executable", "Take the executable bit away: chmod -x.");
    }
  }

  void judge_contents(const ChangedFile& file) {
    if (file.unread) {
      add("policy.unread_file", "a file that was not read, because it is too large or cannot be read",
          "Make it smaller, or leave it out.");
      return;
    }
    if (!is_text_kind(file.after)) return;
    const bool has_nul = file.new_bytes.find('\0') != std::string::npos;
    if (has_nul || !is_utf8(file.new_bytes)) {
      add("policy.binary_file", has_nul ? "a binary file: it holds NUL bytes" : "a binary file: it is not UTF-8",
          "Write text in UTF-8; let the test make the bytes that it needs.");
    }
  }

  // Only of a file that nothing else is wrong with: that it lies elsewhere, too, would help nobody.
  void judge_place() {
    // As written: a name in another case is another file to most, and here a match lets something pass.
    const auto& allowed = options_.allowed_paths;
    if (!allowed.empty() && std::none_of(allowed.begin(), allowed.end(), [&](const std::string& glob) {
          return glob_matches(glob, path_);
        })) {
      add("policy.outside_allowed_paths",
          "a place outside of those where a task may change files ([policy] allowed_paths; without it, and for tests, "
          "[check] paths)",
          "Write only to the places that the task names.");
    }
  }

  void judge_amount() {
    path_ = kWholeChange;
    const auto& told = change_.findings;
    const bool too_many = std::any_of(
        told.begin(), told.end(), [](const Finding& finding) { return finding.rule == "policy.too_many_files"; });
    if (change_.files.size() > options_.changed_files_max && !too_many) {
      add("policy.too_many_files",
          fmt::format("{} files are changed; {} may be ([policy] max_changed_files_per_task)", change_.files.size(),
              options_.changed_files_max),
          "Make a smaller change: one test, and what it needs.");
    }
    std::uint64_t lines = 0;
    std::uint64_t bytes = 0;
    for (const auto& file : change_.files) {
      lines = sum(lines, sum(file.lines_added, file.lines_removed));
      bytes = sum(bytes, std::max<std::uint64_t>(file.new_size, file.new_bytes.size()));
    }
    if (lines > options_.diff_lines_max) {
      add("policy.diff_too_large",
          fmt::format(
              "{} lines are added or removed; {} may be ([policy] max_diff_lines)", lines, options_.diff_lines_max),
          "Make a smaller change.");
    }
    if (bytes > options_.diff_bytes_max) {
      add("policy.diff_too_large",
          fmt::format(
              "the changed files hold {} bytes; {} may be ([policy] max_diff_bytes)", bytes, options_.diff_bytes_max),
          "Make a smaller change; let the test make the data that it needs.");
    }
  }

  // A new name against all others, folder by folder: "Sandbox/a.ts" is another folder's file here and the same folder's
  // elsewhere.
  void judge_names_together() {
    const auto each_name = [](const std::string& path, const auto& take) {
      for (std::size_t at = path.find('/'); at != std::string::npos; at = path.find('/', at + 1))
        take(path.substr(0, at), false);
      take(path, true);
    };
    // By folded path: the spellings of new files and of the folders above them, and whether each is a file.
    std::map<std::string, std::set<std::pair<std::string, bool>>> new_names;
    for (const auto& file : change_.files) {
      if (file.before != EntryKind::absent) continue;
      each_name(file.path,
          [&](const std::string& name, bool is_file) { new_names[folded_path(name)].emplace(name, is_file); });
    }
    if (new_names.empty()) return;
    std::map<std::string, std::string> conflicts;  // new spelling -> what it could be taken for
    std::string last_folder;                       // names come sorted: most share their folder with the one before
    const auto compare = [&](const std::string& path, bool stays) {
      const std::string folder = path.substr(0, path.rfind('/') == std::string::npos ? 0 : path.rfind('/'));
      const bool same_folder = stays && folder == last_folder && !folder.empty();
      if (stays) last_folder = folder;
      each_name(path, [&](const std::string& name, bool is_file) {
        if (!is_file && same_folder) return;
        const auto found = new_names.find(folded_path(name));
        if (found == new_names.end()) return;
        for (const auto& [spelling, new_is_file] : found->second) {
          if (spelling != name || (stays && new_is_file != is_file)) conflicts.emplace(spelling, name);
        }
      });
    };
    for (const auto& file : change_.files) compare(file.path, file.after != EntryKind::absent);
    last_folder.clear();
    for (const auto& path : change_.unchanged) compare(path, true);
    for (const auto& file : change_.files) {
      if (file.before != EntryKind::absent) continue;
      std::string other;
      each_name(file.path, [&](const std::string& name, bool) {
        const auto found = conflicts.find(name);
        if (found != conflicts.end() && other.empty()) other = found->second;
      });
      if (other.empty()) continue;
      path_ = file.path;
      add("policy.case_conflict", fmt::format("some file systems take the name for that of {}", printable(other)),
          "Give it a name that differs in more than case; to change a name's case alone is a person's task.");
    }
  }

  static constexpr std::string_view kWholeChange = "(change)";
  static constexpr std::string_view kLeaveIt = "Leave it as it is, and ask a person to change it.";

  const ChangeSet& change_;
  const PolicyOptions& options_;
  const Globs forbidden_files_;
  const Globs forbidden_paths_;
  std::string path_;                // of the file at hand
  std::vector<std::string> names_;  // of its path, folded
  std::vector<Finding> findings_;
};

}  // namespace

std::vector<Finding> check_policy(const ChangeSet& change, const PolicyOptions& options) {
  return Policing(change, options).run();
}

Finding policy_finding(std::string_view rule, std::string path, std::string message, std::string fix) {
  Finding finding;
  finding.rule = rule;
  finding.tier = FindingTier::policy;
  finding.path = std::move(path);
  finding.message = std::move(message);
  finding.fix = std::move(fix);
  return finding;
}

}  // namespace guard

#include "nightly/loop/judged_change.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <iterator>
#include <set>

#include "common/text/characters.h"
#include "common/text/glob.h"
#include "common/text/text.h"
#include "pipeline/gate/source_files.h"
#include "pipeline/run/run_output.h"
#include "rules/surface.h"
#include "validator/change/change_policy.h"

namespace guard::nightly {

std::optional<MaskedText> mask_text(const SecretSource& secrets, std::string_view text) {
  StringSink out;
  auto output = RunOutput::create(secrets, 0, out, out);
  if (!output || !(*output)->out().push(std::span(text.data(), text.size())) ||
      !(*output)->finish(RunOutput::Ending::whole))
    return std::nullopt;
  return MaskedText{std::move(out.text), (*output)->redactions()};
}

bool fits_on(const TreeEntries& start, const TreeEntries& tip, const ChangeSet& change) {
  for (const auto& file : change.files) {
    const auto a = start.find(file.path);
    const auto b = tip.find(file.path);
    if ((a == start.end()) != (b == tip.end())) return false;
    if (a != start.end() && (a->second.id != b->second.id || a->second.kind != b->second.kind)) return false;
    // A new file where there is a folder by now, or the other way round.
    const auto below = tip.lower_bound(file.path + "/");
    if (b == tip.end() && below != tip.end() && below->first.starts_with(file.path + "/")) return false;
    for (std::size_t slash = file.path.find('/'); slash != std::string::npos; slash = file.path.find('/', slash + 1)) {
      if (tip.count(file.path.substr(0, slash)) > 0 && start.count(file.path.substr(0, slash)) == 0) return false;
    }
  }
  return true;
}

namespace {

// Calls `see` with each line that the change adds, its range, and whether it is the first one there, until it answers
// false.
template <typename See>
void walk_added(const ChangedFile& file, See see) {
  std::uint32_t number = 0;
  auto range = file.added.begin();
  for (const auto line : pieces_of(file.new_bytes)) {
    if (range == file.added.end()) return;
    if (++number >= range->first && !see(line, *range, number == range->first)) return;
    if (number >= range->second) ++range;
  }
}

}  // namespace

std::string added_text(const ChangeSet& change, std::size_t bytes_max) {
  std::string text;
  for (const auto& file : change.files) {
    text +=
        fmt::format("--- {}\n+++ {}\n", file.before == EntryKind::absent ? "/dev/null" : "a/" + printable(file.path),
            file.after == EntryKind::absent ? "/dev/null" : "b/" + printable(file.path));
    if (file.unread) text += "(not read)\n";
    walk_added(file, [&](std::string_view line, const auto& range, bool is_first) {
      if (text.size() >= bytes_max) return false;
      if (is_first) text += fmt::format("@@ +{},{} @@\n", range.first, range.second - range.first + 1);
      text.append("+").append(line).append("\n");
      return true;
    });
  }
  if (text.size() > bytes_max) text.resize(bytes_max);
  return text;
}

namespace {

// Does `name`, in lower case, stand in `text` as words of its own? offsetNs names no setns, myPtrace a ptrace.
bool has_words(std::string_view text, std::string_view lower, std::string_view name) {
  const auto is_letter = [](char c) { return (c | 0x20) >= 'a' && (c | 0x20) <= 'z'; };
  const auto parted = [&](char before, char behind) {
    const bool hump = before >= 'a' && behind >= 'A' && behind <= 'Z';
    return !is_letter(before) || !is_letter(behind) || hump;
  };
  for (std::size_t at = lower.find(name); at != std::string_view::npos; at = lower.find(name, at + 1)) {
    const std::size_t end = at + name.size();
    if ((at == 0 || parted(text[at - 1], text[at])) && (end == text.size() || parted(text[end - 1], text[end])))
      return true;
  }
  return false;
}

std::optional<Finding> test_of_patterns(const ChangeSet& change) {
  constexpr std::size_t kNamedMax = 1;  // what a client of an engine is tested with
  std::set<std::string_view> named;
  std::string_view where;
  for (const auto& file : change.files) {
    std::string added;
    walk_added(file, [&](std::string_view line, const auto&, bool) {
      added.append(line).append("\n");
      return true;
    });
    const std::string lower = lower_case(added);
    for (const SurfaceRow& row : word_list("escape_names")) {
      if (!has_words(added, lower, row.name)) continue;
      named.insert(row.name);
      where = file.path;
    }
  }
  if (named.size() <= kNamedMax) return std::nullopt;
  return policy_finding("policy.generated_gate_test", std::string(where),
      fmt::format("names {}: tests of security patterns are written by hand, never generated", fmt::join(named, ", ")),
      "leave these tests to a person");
}

}  // namespace

std::vector<Finding> findings_of_night(const ChangeSet& change, TaskKind kind, const SecretSource& secrets) {
  std::vector<Finding> findings;
  if (kind == TaskKind::test) {
    if (auto found = test_of_patterns(change)) findings.push_back(*std::move(found));
  }
  for (const auto& file : change.files) {
    if (kind == TaskKind::test && file.after == EntryKind::absent && is_test_name(file.path)) {
      findings.push_back(policy_finding("policy.test_removed", file.path, "a test file is removed or renamed",
          "leave the tests that are there, and add to them"));
    }
    const auto masked = mask_text(secrets, file.path + "\n" + file.new_bytes);
    if (!masked) {
      findings.push_back(policy_finding(
          "policy.known_secret", file.path, "could not be searched for known secrets", "change it in smaller pieces"));
      continue;
    }
    for (const auto& [name, count] : masked->secrets) {
      if (!name.starts_with("env:")) continue;
      findings.push_back(policy_finding("policy.known_secret", file.path,
          fmt::format("holds the value of the variable {}", name.substr(4)),
          "never write down what the environment holds"));
    }
  }
  return findings;
}

ChosenTests choose_tests(const PlannedTask& task, const TreeEntries& tip, const ChangeSet& change) {
  const std::string prefix = task.project.empty() ? "" : task.project + "/";
  const std::string sandbox = prefix + "sandbox/";
  ChosenTests tests;
  std::set<std::string> all, fresh;
  for (const auto& [path, entry] : tip) {
    if (path.starts_with(sandbox) && is_test_name(path)) all.insert(path.substr(prefix.size()));
  }
  const std::vector<std::string> before(all.begin(), all.end());
  bool only_adds = true;
  for (const auto& file : change.files) {
    const bool is_below = file.path.starts_with(sandbox);
    const bool was_there = file.before != EntryKind::absent;
    // What stood there before can break what leans on it.
    only_adds = only_adds && !was_there && is_below;
    // A helper that was there before counts as much as a test: tests can be made of what it exports.
    if (was_there && is_below) tests.before = before;
    if (was_there && !is_below && is_test_name(file.path)) {
      tests.refusal = kTestsWeakened;
      tests.detail = fmt::format(
          "{} was there before and is not below {}: guard does not run it, so nothing shows that its tests still pass; "
          "leave it as it is",
          file.path, sandbox);
      return tests;
    }
    if (file.after == EntryKind::absent) {
      if (file.path.starts_with(prefix)) all.erase(file.path.substr(prefix.size()));
    } else if (is_below && is_test_name(file.path)) {
      all.insert(file.path.substr(prefix.size()));
      fresh.insert(file.path.substr(prefix.size()));
    }
  }
  std::set<std::string> chosen = fresh;
  for (const auto& name : all) {
    if (std::any_of(task.tests.begin(), task.tests.end(),
            [&](const std::string& glob) { return glob == name || glob_matches(glob, name); }))
      chosen.insert(name);
  }
  if ((task.kind == TaskKind::any && task.tests.empty()) || !only_adds) chosen = all;
  tests.run.assign(chosen.begin(), chosen.end());
  tests.fresh.assign(fresh.begin(), fresh.end());
  std::set_difference(all.begin(), all.end(), fresh.begin(), fresh.end(), std::back_inserter(tests.old));
  if (task.kind == TaskKind::test && fresh.empty()) {
    tests.refusal = "no_tests";
    tests.detail = fmt::format(
        "the change holds no test below {}: names end in .test.ts, _test.ts, .spec.ts or _spec.ts", sandbox);
  } else if (chosen.empty()) {
    // What is taken away whole.
    tests.refusal = tests.before.empty() ? "no_tests" : kTestsWeakened;
    tests.detail = "there is no test that could show that this change works";
  }
  return tests;
}

}  // namespace guard::nightly

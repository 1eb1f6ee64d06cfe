#include "nightly/worth/kept_tests.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <map>
#include <utility>
#include <vector>

#include "common/text/text.h"

namespace guard::nightly {
namespace {

constexpr std::size_t kLossesShown = 20;
constexpr std::size_t kTitleBytesShown = 200;

struct Passed {
  std::uint64_t tests = 0;
  std::uint64_t assertions = 0;

  void add(const TestCase& test) {
    ++tests;
    assertions += test.assertions;
  }
};

using ByFile = std::map<std::string, Passed>;

std::map<std::string, ByFile> by_title(const TestSummary& summary) {
  std::map<std::string, ByFile> titles;
  for (const auto& test : summary.cases) {
    if (test.state == TestState::passed) titles[test.name][test.file].add(test);
  }
  return titles;
}

Passed sum_of(const ByFile& files) {
  Passed sum;
  for (const auto& [file, passed] : files) {
    sum.tests += passed.tests;
    sum.assertions += passed.assertions;
  }
  return sum;
}

std::string shown(const std::string& file, const std::string& title) {
  return printable(fmt::format("{} > {}", file, cut_text(title, kTitleBytesShown, "...")));
}

}  // namespace

std::string lost_tests(const TestSummary& before, const TestSummary& after) {
  const auto titles_after = by_title(after);
  std::vector<std::string> losses;
  std::map<std::string, std::uint64_t> moved;  // file -> assertions of tests that are elsewhere or lost now
  for (const auto& [title, files] : by_title(before)) {
    const auto found = titles_after.find(title);
    const ByFile now = found == titles_after.end() ? ByFile() : found->second;
    const Passed all_before = sum_of(files);
    const Passed all_now = sum_of(now);
    for (const auto& [file, passed] : files) {
      const auto here = now.find(file);
      const std::uint64_t left = here == now.end() ? 0 : here->second.tests;
      if (left >= passed.tests) continue;
      moved[file] += here == now.end() ? passed.assertions
                                       : passed.assertions - std::min(passed.assertions, here->second.assertions);
      if (all_now.tests < all_before.tests) {
        losses.push_back(passed.tests == 1 ? shown(file, title)
                                           : fmt::format("{} ({} of {} tests with this title)", shown(file, title),
                                                 passed.tests - left, passed.tests));
      }
    }
    if (all_now.tests >= all_before.tests && all_now.assertions < all_before.assertions) {
      const std::string& file = files.begin()->first;
      moved[file] += all_before.assertions - all_now.assertions;  // said here, not once more of the file
      losses.push_back(
          fmt::format("{} ({} of {} assertions left)", shown(file, title), all_now.assertions, all_before.assertions));
    }
  }
  // Of a file guard's own count is known, too: with the assertions of concurrent tests and of node:assert.
  for (const auto& file : before.files) {
    const auto now = std::find_if(
        after.files.begin(), after.files.end(), [&](const TestFileSummary& other) { return other.file == file.file; });
    if (now == after.files.end() || now->assertions + moved[file.file] >= file.assertions) continue;
    losses.push_back(
        fmt::format("{} ({} of {} assertions left)", printable(file.file), now->assertions, file.assertions));
  }
  if (losses.empty()) return {};
  return "tests that passed before the change are removed, renamed, skipped or assert less: " +
      listed(losses, kLossesShown) +
      "; keep every existing test with its title and its assertions, and add new ones beside them";
}

}  // namespace guard::nightly

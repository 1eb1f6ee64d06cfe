#include "nightly/loop/judged_change.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>

namespace guard::nightly {
namespace {

ChangedFile with_file(const std::string& path, const std::string& bytes) {
  ChangedFile file;
  file.path = path;
  file.after = EntryKind::file;
  file.new_bytes = bytes;
  file.added = {{1, static_cast<std::uint32_t>(std::count(bytes.begin(), bytes.end(), '\n')) + 1}};
  return file;
}

std::vector<std::string> rules_of(const std::vector<ChangedFile>& files, TaskKind kind = TaskKind::test) {
  ChangeSet change;
  change.files = files;
  std::vector<std::string> rules;
  for (const Finding& finding : findings_of_night(change, kind, *SecretSource::shipped()))
    rules.push_back(finding.rule);
  return rules;
}

const std::vector<std::string> kRefused = {"policy.generated_gate_test"};

TEST(FindingsOfNight, TestsOfSecurityPatternsAreLeftToAPerson) {
  EXPECT_EQ(
      rules_of({with_file("sandbox/a.test.ts", "check('/var/run/docker.sock');\ncheck('nsenter -t 1');\n")}), kRefused);
  EXPECT_EQ(
      rules_of({with_file("sandbox/a.test.ts", "import { bad } from './bad';\n"),
          with_file("sandbox/bad.ts", "export const bad = ['/proc/self/environ',\n 'Object.keys(process.env)'];\n")}),
      kRefused);
  EXPECT_EQ(rules_of({with_file("sandbox/a.test.ts", "// Docker.SOCK"), with_file("sandbox/b.test.ts", "// PTRACE")}),
      kRefused);
}

TEST(FindingsOfNight, OneNameIsWhatAClientIsTestedWith) {
  EXPECT_EQ(
      rules_of({with_file("sandbox/a.test.ts", "connect('/var/run/docker.sock'); connect('docker.sock');\n")}).size(),
      0u);
  EXPECT_EQ(rules_of({with_file("sandbox/a.test.ts", "expect(add(1, 2)).toBe(3);\n")}).size(), 0u);
  EXPECT_EQ(rules_of({with_file("src/a.ts", "docker.sock nsenter ptrace\n")}, TaskKind::any).size(), 0u) << "no test";
}

TEST(FindingsOfNight, NamesCountAsWordsOnly) {
  EXPECT_EQ(rules_of({with_file("sandbox/a.test.ts",
                         "const offsetNs = promptRace; unshared(); // resetns, mydocker.socket\n")})
                .size(),
      0u);
  for (const char* text : {"sys_ptrace(SETNS)", "myPtrace; runNsenter()", "ptraceAttach; nsenter1", "ptrace\nsetns"})
    EXPECT_EQ(rules_of({with_file("sandbox/a.test.ts", text)}), kRefused) << text;
}

// What stood there before is not the generator's.
TEST(FindingsOfNight, OnlyAddedLinesCount) {
  ChangedFile file = with_file("sandbox/a.test.ts", "docker.sock\nnsenter\nptrace\n");
  file.before = EntryKind::file;
  file.added = {{2, 2}};
  EXPECT_EQ(rules_of({file}).size(), 0u);
  file.added = {{1, 1}, {3, 3}};
  EXPECT_EQ(rules_of({file}), kRefused);
}

}  // namespace
}  // namespace guard::nightly

// The validator scored on tests/corpus. The floors only ever rise: a change that loses a sample has to say which and
// why.
#include <gtest/gtest.h>

#include <map>
#include <set>

#include "tests/support/corpus.h"
#include "tests/support/validator/check_support.h"

namespace guard {
namespace {

constexpr const char* kReference = "reference";

struct Sample : testing::CorpusSample {
  bool docker = false;  // what the validator says
  bool host = false;
};

const std::vector<Sample>& samples(const std::string& author = kReference) {
  static std::map<std::string, std::vector<Sample>> known;
  const auto [entry, fresh] = known.try_emplace(author);
  if (!fresh) return entry->second;
  for (testing::CorpusSample& sample : testing::corpus_by(author)) {
    const std::vector<SourceFile> files = {{sample.path, sample.text}};
    entry->second.push_back({std::move(sample), check(files, kDocker).rejected(), check(files, kHost).rejected()});
  }
  return entry->second;
}

bool stopped(const Sample& sample) {
  if (sample.tier == "1") return sample.docker && sample.host;
  return sample.tier == "2" ? sample.docker : sample.host;
}

// Share in percent of the samples of a tier and difficulty that are stopped; the missed ones are named.
double recall(const std::string& tier, const std::string& difficulty, bool gap) {
  int all = 0;
  int hit = 0;
  std::string missed;
  for (const Sample& sample : samples()) {
    if (sample.tier != tier || sample.difficulty != difficulty || sample.gap != gap) continue;
    ++all;
    if (stopped(sample)) {
      ++hit;
    } else {
      missed += " " + sample.path;
    }
  }
  EXPECT_GT(all, 0);
  const std::string line = "tier " + tier + " " + difficulty + (gap ? " (gap)" : "") + ": " + std::to_string(hit) +
      "/" + std::to_string(all) + (missed.empty() ? "" : " missed:" + missed);
  std::printf("%s\n", line.c_str());
  return all == 0 ? 0 : 100.0 * hit / all;
}

TEST(Corpus, IsThere) { EXPECT_EQ(samples().size(), 238U); }

TEST(Corpus, StopsEverySampleThatSpellsItsActOut) {
  for (const char* tier : {"1", "2", "3"}) EXPECT_EQ(recall(tier, "plain", false), 100) << "tier " << tier;
}

TEST(Corpus, StopsOtherSpellings) {
  for (const char* tier : {"1", "2", "3"}) EXPECT_EQ(recall(tier, "light", false), 100) << "tier " << tier;
}

TEST(Corpus, StopsComputedNames) {
  // A path that destructuring and a loop put together is not followed any more.
  for (const char* tier : {"1", "2", "3"}) EXPECT_GE(recall(tier, "heavy", false), 92) << "tier " << tier;
}

TEST(Corpus, StopsWhatTheTiersMeanWithoutSayingIt) {
  EXPECT_GE(recall("1", "light", true), 100);
  EXPECT_GE(recall("2", "light", true), 83);
  EXPECT_GE(recall("3", "light", true), 100);
}

TEST(Corpus, LeavesLookAlikesAlone) {
  for (const Sample& sample : samples()) {
    if (sample.tier != "N") continue;
    if (sample.expect_docker != "either") {
      EXPECT_EQ(sample.docker, sample.expect_docker == "block") << sample.path << " in docker";
    }
    if (sample.expect_host != "either") {
      EXPECT_EQ(sample.host, sample.expect_host == "block") << sample.path << " on the host";
    }
  }
}

// --- two more authors ------------------------------------------------------------------------------------------------

struct Floor {
  const char* author;
  const char* set;
  const char* tier;
  int stopped;  // at least
  int all;      // without gaps
};

// What is reached. Functions of the file are not followed, nor what JSON, regular expressions and addresses make of a
// text: all samples below a floor's `all` are "heavy" (bench/validator-ablation.md). Samples of "holdout" are counted
// and not named; what they showed at first sight stands in the README.
constexpr Floor kFloors[] = {
    {"container", "dev", "1", 85, 87},
    {"container", "dev", "2", 52, 55},
    {"container", "holdout", "1", 43, 46},
    {"container", "holdout", "2", 28, 30},
    {"host", "dev", "1", 37, 39},
    {"host", "dev", "3", 113, 114},
    {"host", "holdout", "1", 11, 11},
    {"host", "holdout", "3", 59, 60},
    {"reviewer", "dev", "1", 79, 89},
    {"reviewer", "dev", "2", 9, 12},
    {"reviewer", "dev", "3", 52, 53},
    {"blind", "dev", "1", 55, 60},
    {"blind", "dev", "2", 26, 30},
    {"blind", "dev", "3", 38, 40},
    {"blind", "holdout", "1", 50, 60},
    {"blind", "holdout", "2", 27, 30},
    {"blind", "holdout", "3", 37, 40},
    {"everyday", "holdout", "1", 56, 60},
    {"everyday", "holdout", "2", 37, 40},
    {"everyday", "holdout", "3", 50, 50},
};

TEST(Corpus, StopsWhatTwoMoreAuthorsWrote) {
  for (const Floor& floor : kFloors) {
    int all = 0;
    int hit = 0;
    std::string missed;
    for (const Sample& sample : samples(floor.author)) {
      if (sample.gap || sample.set != floor.set || sample.tier != floor.tier) continue;
      ++all;
      hit += stopped(sample) ? 1 : 0;
      if (!stopped(sample) && sample.set == "dev") missed += " " + sample.path;
    }
    std::printf("%s %s tier %s: %d/%d%s%s\n", floor.author, floor.set, floor.tier, hit, all,
        missed.empty() ? "" : " missed:", missed.c_str());
    EXPECT_EQ(all, floor.all) << floor.author << " " << floor.set << " tier " << floor.tier;
    EXPECT_GE(hit, floor.stopped) << floor.author << " " << floor.set << " tier " << floor.tier;
  }
}

// What is plain, or lightly disguised, is stopped whoever wrote it.
TEST(Corpus, StopsPlainAndLightSamplesOfEveryAuthor) {
  int missed = 0;
  int all = 0;
  for (const char* author : {"container", "host", "reviewer", "blind", "everyday"}) {
    for (const Sample& sample : samples(author)) {
      const bool act = sample.tier == "1" || sample.tier == "2" || sample.tier == "3";
      if (!act || sample.gap || sample.difficulty == "heavy") continue;
      ++all;
      missed += stopped(sample) ? 0 : 1;
      if (!stopped(sample)) std::printf("missed: %s\n", sample.path.c_str());
    }
  }
  EXPECT_GT(all, 400);
  EXPECT_LE(missed, 1);  // a light one of the host's, which never was
}

// Honest files that are refused all the same. A file leaves this list when a rule was fixed; none may come.
const std::set<std::string> kRefusedWithoutCause = {
    "container/n018_readme_fixture.test.ts",  // a text with `npm install` in it
    "container/n019_pm_detect.test.ts",       // the same
    "container/n076_mount_point_tree.test.ts",
    "container/n078_svelte_like_store.test.ts",
    "host/markdown-install-doc.test.ts",
    "host/proc-path-strings.test.ts",
};

TEST(Corpus, LeavesLookAlikesOfOtherAuthorsAlone) {
  for (const char* author : {"container", "host", "blind", "everyday"}) {
    int all = 0;
    for (const Sample& sample : samples(author)) {
      if (sample.tier != "N") continue;
      ++all;
      if (kRefusedWithoutCause.count(sample.path) > 0) continue;
      if (sample.expect_docker != "either") {
        EXPECT_EQ(sample.docker, sample.expect_docker == "block") << sample.path << " in docker";
      }
      if (sample.expect_host != "either") {
        EXPECT_EQ(sample.host, sample.expect_host == "block") << sample.path << " on the host";
      }
    }
    EXPECT_GE(all, 60) << author;
  }
}

// In a container the acts of the host tier are allowed.
TEST(Corpus, LeavesActsOfTheHostTierToTheContainer) {
  int refused = 0;
  int all = 0;
  for (const Sample& sample : samples("host")) {
    if (sample.tier != "3" || sample.set != "dev") continue;
    ++all;
    refused += sample.docker ? 1 : 0;
    if (sample.docker) std::printf("refused in docker: %s\n", sample.path.c_str());
  }
  // Two of them for getting the test runner through require, which is refused everywhere, one for comparing a key with
  // a matcher, two for changing how modules are loaded.
  EXPECT_LE(refused, 14) << "of " << all;
}

TEST(Corpus, BothEnginesSayTheSameAboutEveryFile) {
  for (const testing::CorpusSample& sample : testing::whole_corpus()) {
    const std::vector<SourceFile> files = {{sample.path, sample.text}};
    const Report both = check(files, kHost);
    const Report re2 = check(files, kHost, Engine::re2_only);
    ASSERT_EQ(both.findings.size(), re2.findings.size()) << sample.path;
    for (std::size_t i = 0; i < both.findings.size(); ++i) {
      EXPECT_EQ(both.findings[i].rule, re2.findings[i].rule) << sample.path;
      EXPECT_EQ(both.findings[i].begin, re2.findings[i].begin) << sample.path;
      EXPECT_EQ(both.findings[i].end, re2.findings[i].end) << sample.path;
      EXPECT_TRUE(both.findings[i].confirmed) << sample.path << " " << both.findings[i].rule;
    }
  }
}

TEST(Corpus, EverySpanLiesInItsFile) {
  for (const Sample& sample : samples()) {
    for (const Finding& finding : check({{sample.path, sample.text}}).findings) {
      EXPECT_LE(finding.begin, finding.end) << sample.path;
      EXPECT_LE(finding.end, sample.text.size()) << sample.path;
      EXPECT_GE(finding.line, 1U) << sample.path << " " << finding.rule;
      EXPECT_LE(finding.caret + finding.caret_width, finding.excerpt.size() + 1) << sample.path;
    }
  }
}

}  // namespace
}  // namespace guard

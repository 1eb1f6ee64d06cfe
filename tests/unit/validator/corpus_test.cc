// The validator scored on tests/corpus. The floors only ever rise: a change that loses a sample has to say which and
// why.
#include <gtest/gtest.h>

#include <fstream>
#include <map>
#include <nlohmann/json.hpp>

#include "tests/unit/validator/check_support.h"

namespace guard {
namespace {

const std::string kCorpus = GUARD_SOURCE_DIR "/tests/corpus/";

// Folders of kCorpus with a manifest: three authors, none of whom knew the rules or each other,
// and a reviewer.
constexpr const char* kSecond = "second/";
constexpr const char* kThird = "third/";
constexpr const char* kFourth = "fourth/";  // by a reviewer who had read the rules
constexpr const char* kFifth = "fifth/";    // by a fourth author, who did not know them either
constexpr const char* kSixth = "sixth/";    // by a fifth author

struct Sample {
  std::string path;
  std::string tier;  // "1", "2", "3", "N", "X"
  std::string difficulty;
  std::string set;  // "dev": rules were written with it in sight; "holdout"
  bool gap = false;
  std::string expect_docker;
  std::string expect_host;
  bool docker = false;  // what the validator says
  bool host = false;
};

std::vector<Sample> judged(const std::string& folder) {
  std::vector<Sample> all;
  std::ifstream manifest(kCorpus + folder + "manifest.jsonl");
  std::string line;
  while (std::getline(manifest, line)) {
    const auto row = nlohmann::json::parse(line);
    Sample sample;
    sample.path = folder + row["path"].get<std::string>();
    sample.tier = row["tier"].is_number() ? std::to_string(row["tier"].get<int>()) : row["tier"].get<std::string>();
    sample.difficulty = row["difficulty"];
    sample.set = row.value("set", "dev");
    sample.gap = row["spec_gap"];
    sample.expect_docker = row["expect_docker"];
    sample.expect_host = row["expect_host"];
    const std::vector<SourceFile> files = {{sample.path, read_text(kCorpus + sample.path)}};
    sample.docker = check(files, kDocker).rejected();
    sample.host = check(files, kHost).rejected();
    all.push_back(sample);
  }
  return all;
}

const std::vector<Sample>& samples(const std::string& folder = "") {
  static std::map<std::string, std::vector<Sample>> known;
  const auto found = known.find(folder);
  return found != known.end() ? found->second : known.emplace(folder, judged(folder)).first->second;
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
  for (const char* tier : {"1", "2", "3"}) EXPECT_EQ(recall(tier, "heavy", false), 100) << "tier " << tier;
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
  const char* folder;
  const char* set;
  const char* tier;
  int stopped;  // at least
  int all;      // without gaps
};

// What is reached. Samples of "holdout" are counted and not named; what they showed at first sight stands in the
// README.
constexpr Floor kFloors[] = {
    {kSecond, "dev", "1", 87, 87},
    {kSecond, "dev", "2", 54, 55},
    {kSecond, "holdout", "1", 45, 46},
    {kSecond, "holdout", "2", 29, 30},
    {kThird, "dev", "1", 39, 39},
    {kThird, "dev", "3", 113, 114},
    {kThird, "holdout", "1", 11, 11},
    {kThird, "holdout", "3", 59, 60},
    {kFourth, "dev", "1", 87, 89},
    {kFourth, "dev", "2", 12, 12},
    {kFourth, "dev", "3", 53, 53},
    {kFifth, "dev", "1", 58, 60},
    {kFifth, "dev", "2", 30, 30},
    {kFifth, "dev", "3", 40, 40},
    {kFifth, "holdout", "1", 59, 60},
    {kFifth, "holdout", "2", 30, 30},
    {kFifth, "holdout", "3", 40, 40},
    {kSixth, "holdout", "1", 57, 60},
    {kSixth, "holdout", "2", 39, 40},
    {kSixth, "holdout", "3", 50, 50},
};

TEST(Corpus, StopsWhatTwoMoreAuthorsWrote) {
  for (const Floor& floor : kFloors) {
    int all = 0;
    int hit = 0;
    std::string missed;
    for (const Sample& sample : samples(floor.folder)) {
      if (sample.gap || sample.set != floor.set || sample.tier != floor.tier) continue;
      ++all;
      hit += stopped(sample) ? 1 : 0;
      if (!stopped(sample) && sample.set == "dev") missed += " " + sample.path;
    }
    std::printf("%s%s tier %s: %d/%d%s%s\n", floor.folder, floor.set, floor.tier, hit, all,
        missed.empty() ? "" : " missed:", missed.c_str());
    EXPECT_EQ(all, floor.all) << floor.folder << floor.set << " tier " << floor.tier;
    EXPECT_GE(hit, floor.stopped) << floor.folder << floor.set << " tier " << floor.tier;
  }
}

// Honest files that are refused all the same. A file leaves this list when a rule was fixed; none may come.
const std::set<std::string> kRefusedWithoutCause = {
    "second/n018_readme_fixture.test.ts",  // a text with `npm install` in it
    "second/n019_pm_detect.test.ts",       // the same
    "second/n076_mount_point_tree.test.ts",
    "second/n078_svelte_like_store.test.ts",
    "third/markdown-install-doc.test.ts",
    "third/proc-path-strings.test.ts",
};

TEST(Corpus, LeavesLookAlikesOfOtherAuthorsAlone) {
  for (const char* folder : {kSecond, kThird, kFifth, kSixth}) {
    int all = 0;
    for (const Sample& sample : samples(folder)) {
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
    EXPECT_GE(all, 60) << folder;
  }
}

// In a container the acts of the host tier are allowed.
TEST(Corpus, LeavesActsOfTheHostTierToTheContainer) {
  int refused = 0;
  int all = 0;
  for (const Sample& sample : samples(kThird)) {
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
  std::vector<Sample> all = samples();
  for (const char* folder : {kSecond, kThird, kFifth, kSixth})
    all.insert(all.end(), samples(folder).begin(), samples(folder).end());
  for (const Sample& sample : all) {
    const std::vector<SourceFile> files = {{sample.path, read_text(kCorpus + sample.path)}};
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
    const std::string text = read_text(kCorpus + sample.path);
    for (const Finding& finding : check({{sample.path, text}}).findings) {
      EXPECT_LE(finding.begin, finding.end) << sample.path;
      EXPECT_LE(finding.end, text.size()) << sample.path;
      EXPECT_GE(finding.line, 1U) << sample.path << " " << finding.rule;
      EXPECT_LE(finding.caret + finding.caret_width, finding.excerpt.size() + 1) << sample.path;
    }
  }
}

}  // namespace
}  // namespace guard

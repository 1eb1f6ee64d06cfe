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

struct Sample {
  std::string path;
  std::string tier;  // "1", "2", "3", "N", "X"
  std::string difficulty;
  bool gap = false;
  std::string expect_docker;
  std::string expect_host;
  bool docker = false;  // what the validator says
  bool host = false;
};

const std::vector<Sample>& samples() {
  static const std::vector<Sample> kSamples = [] {
    std::vector<Sample> all;
    std::ifstream manifest(kCorpus + "manifest.jsonl");
    std::string line;
    while (std::getline(manifest, line)) {
      const auto row = nlohmann::json::parse(line);
      Sample sample;
      sample.path = row["path"];
      sample.tier = row["tier"].is_number() ? std::to_string(row["tier"].get<int>()) : row["tier"].get<std::string>();
      sample.difficulty = row["difficulty"];
      sample.gap = row["spec_gap"];
      sample.expect_docker = row["expect_docker"];
      sample.expect_host = row["expect_host"];
      const std::vector<SourceFile> files = {{sample.path, read_text(kCorpus + sample.path)}};
      sample.docker = check(files, kDocker).rejected();
      sample.host = check(files, kHost).rejected();
      all.push_back(sample);
    }
    return all;
  }();
  return kSamples;
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

TEST(Corpus, IsThere) {
  EXPECT_EQ(samples().size(), 238U);
}

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
  EXPECT_GE(recall("2", "light", true), 50);
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

TEST(Corpus, BothEnginesSayTheSameAboutEveryFile) {
  for (const Sample& sample : samples()) {
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

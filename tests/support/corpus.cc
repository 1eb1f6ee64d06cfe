#include "tests/support/corpus.h"

#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <nlohmann/json.hpp>

namespace guard::testing {
namespace {

const std::string kFolder = GUARD_SOURCE_DIR "/tests/corpus/";
constexpr const char* kParts[] = {"tier1", "tier2", "tier3", "look_alikes", "integrity"};

}  // namespace

std::vector<CorpusSample> corpus_by(const std::string& author) {
  std::vector<CorpusSample> all;
  for (const char* part : kParts) {
    std::ifstream in(kFolder + author + "/" + part + ".jsonl");
    for (std::string line; std::getline(in, line);) {
      const auto row = nlohmann::json::parse(line);
      const auto& tier = row.at("tier");
      all.push_back({.path = author + "/" + row.at("path").get<std::string>(),
          .tier = tier.is_number() ? std::to_string(tier.get<int>()) : tier.get<std::string>(),
          .difficulty = row.at("difficulty"),
          .set = row.value("set", "dev"),
          .gap = row.at("spec_gap"),
          .expect_docker = row.at("expect_docker"),
          .expect_host = row.at("expect_host"),
          .text = row.at("text")});
    }
  }
  if (all.empty()) {
    std::fprintf(stderr, "no samples by \"%s\" in %s\n", author.c_str(), kFolder.c_str());
    std::abort();
  }
  return all;
}

std::vector<CorpusSample> whole_corpus() {
  std::vector<CorpusSample> all;
  for (const char* author : kCorpusAuthors) {
    std::vector<CorpusSample> more = corpus_by(author);
    all.insert(all.end(), more.begin(), more.end());
  }
  return all;
}

}  // namespace guard::testing

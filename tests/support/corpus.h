// The samples of tests/corpus: small programs by several authors, each with what the validator should say of it.
#pragma once

#include <string>
#include <vector>

namespace guard::testing {

// Who wrote them is what sets the folders apart (tests/corpus/README.md).
inline constexpr const char* kCorpusAuthors[] = {"reference", "container", "host", "reviewer", "blind", "everyday"};

struct CorpusSample {
  std::string path;        // author/name
  std::string tier;        // "1", "2", "3"; "N" for look-alikes, "X" for cheats on the verdict
  std::string difficulty;  // "plain", "light", "heavy"
  std::string set;         // "dev": rules were written with it in sight; "holdout"
  bool gap = false;        // meant by the tiers, but not named in them
  std::string expect_docker;
  std::string expect_host;
  std::string text;
};

// All samples of one author, tier after tier. A file that can't be read ends the test program.
std::vector<CorpusSample> corpus_by(const std::string& author);

// Of all authors, in the order of kCorpusAuthors.
std::vector<CorpusSample> whole_corpus();

}  // namespace guard::testing

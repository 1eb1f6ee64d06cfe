// What is found in its plain form is found under every rewrite that keeps the meaning (tests/mutator). Samples come
// from tests/corpus and from the rules' own examples.
//
// The seed is fixed; GUARD_MUTANT_SEED and GUARD_MUTANTS set others for a longer run. GUARD_MUTANTS_OUT names a folder
// where all mutants are written, for a compiler to look at (tests/mutator/check_mutants.ts).
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <map>

#include "tests/mutator/mutation.h"
#include "tests/support/corpus.h"
#include "tests/support/validator/check_support.h"
#include "validator/views/source_view.h"

namespace guard {
namespace {

using mutator::Mutant;
using mutator::Program;
using mutator::Random;

// What is reached, less half a percent: each new example of a rule changes which mutants are made. Some rewrites give a
// name or a text by a function, which isn't followed (bench/validator-ablation.md).
constexpr double kFloor = 0.954;

struct Seedling {
  std::string name;
  std::string path;
  Program program;
  std::set<FindingTier> tiers;  // of what is found in it
};

std::uint64_t setting(const char* name, std::uint64_t otherwise) {
  const char* const text = std::getenv(name);
  return text == nullptr ? otherwise : std::strtoull(text, nullptr, 10);
}

// Findings about spelling (encoding) don't count: they would hide that the act itself was missed.
std::set<FindingTier> tiers_of(const Report& report) {
  std::set<FindingTier> tiers;
  for (const Finding& finding : report.findings) {
    if (finding.tier == FindingTier::always || finding.tier == FindingTier::docker ||
        finding.tier == FindingTier::host) {
      tiers.insert(finding.tier);
    }
  }
  return tiers;
}

// The lines of findings, and of imports.
std::vector<mutator::Range> focus_of(const std::string& text, const Report& report) {
  std::vector<mutator::Range> focus;
  const auto add_line = [&](std::size_t begin, std::size_t end) {
    const std::size_t before = begin == 0 ? std::string::npos : text.rfind('\n', begin - 1);
    const std::size_t first = before == std::string::npos ? 0 : before + 1;
    focus.push_back({first, std::min(text.find('\n', end), text.size())});
  };
  for (const Finding& finding : report.findings) {
    if (finding.line > 0) add_line(finding.begin, finding.end);
  }
  for (std::size_t at = text.find("import "); at != std::string::npos; at = text.find("import ", at + 1)) {
    const std::string line = text.substr(at, text.find('\n', at) - at);
    if (line.find("bun:test") == std::string::npos) add_line(at, at);
  }
  return focus;
}

void add_seedling(std::vector<Seedling>& out, std::string name, std::string path, std::string text) {
  const Report report = check({{path, text}});
  Seedling seedling{std::move(name), std::move(path), {text, focus_of(text, report)}, tiers_of(report)};
  if (!seedling.tiers.empty()) out.push_back(std::move(seedling));
}

// A whole program, not a piece of one.
bool is_program(const std::string& text) {
  return text.find("return ") != 0 && text.find("<any>") == std::string::npos;
}

const std::vector<Seedling>& seedlings() {
  static const std::vector<Seedling> kSeedlings = [] {
    std::vector<Seedling> all;
    for (const testing::CorpusSample& sample : testing::corpus_by("reference")) {
      if (sample.tier == "N" || sample.tier == "X" || sample.difficulty == "heavy" || sample.gap) continue;
      add_seedling(all, sample.path, sample.path, sample.text);
    }
    for (const Rule& rule : rules().rules()) {
      if (rule.tier == Tier::banned || rule.tier == Tier::secret) continue;
      std::size_t number = 0;
      for (const Example& example : rule.match) {
        ++number;
        if (!is_script_path(example.path) || !is_program(example.text)) continue;
        add_seedling(all, fmt::format("{} {}", rule.id, number), example.path, example.text);
      }
    }
    return all;
  }();
  return kSeedlings;
}

struct Score {
  std::size_t all = 0;
  std::size_t hit = 0;
};

bool covers(const std::set<FindingTier>& wanted, const std::set<FindingTier>& found) {
  // A stricter tier applies wherever the other one does; they are listed from the strictest on.
  return std::all_of(
      wanted.begin(), wanted.end(), [&](FindingTier tier) { return !found.empty() && *found.begin() <= tier; });
}

TEST(Mutants, AFindingStaysOneUnderEveryRewrite) {
  const std::uint64_t seed = setting("GUARD_MUTANT_SEED", 20240607);
  const std::size_t wanted = setting("GUARD_MUTANTS", 2500);
  const char* const folder = std::getenv("GUARD_MUTANTS_OUT");
  Random random(seed);
  std::map<std::string, Score> by_kind;
  Score total;
  std::size_t shown = 0;
  ASSERT_GT(seedlings().size(), 100U);
  const std::size_t kinds = mutator::mutations().size();
  for (std::size_t turn = 0; total.all < wanted && turn < 4 * wanted; ++turn) {
    const Seedling& seedling = seedlings()[random.below(seedlings().size())];
    const std::size_t depth = turn % 2 == 0 ? 1 : 2 + random.below(3);
    const Mutant mutant = mutator::mutate(seedling.program, turn % kinds, depth, random);
    if (mutant.kinds.empty() || mutant.program.text == seedling.program.text) continue;
    const bool found = covers(seedling.tiers, tiers_of(check({{seedling.path, mutant.program.text}})));
    ++total.all;
    total.hit += found ? 1 : 0;
    std::string trail;
    for (const std::string_view kind : mutant.kinds) {
      trail += fmt::format(" {}", kind);
      Score& score = by_kind[fmt::format("{}{}", depth == 1 ? "" : "(with others) ", kind)];
      ++score.all;
      score.hit += found ? 1 : 0;
    }
    if (folder != nullptr) {
      std::ofstream out(fmt::format("{}/{:06}.ts", folder, total.all), std::ios::binary);
      std::ofstream(fmt::format("{}/{:06}.plain", folder, total.all), std::ios::binary) << seedling.program.text;
      out << mutant.program.text << "\n/*" << (found ? "" : " MISSED") << " " << seedling.name << ":" << trail
          << " */\n";
    }
    if (!found && shown < 12) {
      ++shown;
      fmt::print("missed: {} under{}\n{}\n----\n", seedling.name, trail, mutant.program.text);
    }
  }
  for (const auto& [kind, score] : by_kind) {
    fmt::print("{:>5}/{:<5} {}\n", score.hit, score.all, kind);
  }
  fmt::print("seed {}: {} of {} mutants found\n", seed, total.hit, total.all);
  EXPECT_GE(total.all, wanted);
  EXPECT_GE(static_cast<double>(total.hit), kFloor * static_cast<double>(total.all));
}

}  // namespace
}  // namespace guard

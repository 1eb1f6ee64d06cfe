// The manual stays short, and its links lead somewhere.
#include <gtest/gtest.h>

#include <cctype>
#include <filesystem>
#include <regex>
#include <sstream>

#include "common/file_io.h"

namespace guard {
namespace {

namespace fs = std::filesystem;

const fs::path kRoot = GUARD_SOURCE_DIR;

std::string text_of(const fs::path& file) {
  auto text = read_file(file, 1u << 20);
  EXPECT_TRUE(text) << file;
  return text ? std::move(*text) : std::string();
}

std::vector<fs::path> pages() {
  std::vector<fs::path> files;
  for (const auto& entry : fs::directory_iterator(kRoot / "docs")) {
    if (entry.path().extension() == ".md") files.push_back(entry.path());
  }
  return files;
}

// Bars of tables and the like are no words.
std::size_t words_in(const std::string& text) {
  std::istringstream stream(text);
  std::size_t count = 0;
  for (std::string word; stream >> word;)
    count += std::any_of(word.begin(), word.end(), [](unsigned char c) { return std::isalnum(c) != 0; }) ? 1u : 0u;
  return count;
}

TEST(Manual, IsShortEnoughToBeRead) {
  const std::string readme = text_of(kRoot / "README.md");
  EXPECT_LE(std::count(readme.begin(), readme.end(), '\n'), 120);
  EXPECT_LT(words_in(readme), 1'000u);
  std::size_t words = 0;
  for (const auto& page : pages()) words += words_in(text_of(page));
  EXPECT_LT(words, 18'000u);
  EXPECT_GT(words, 5'000u) << "not found";
}

// What GitHub makes of a heading.
std::string anchor_of(std::string_view heading) {
  std::string anchor;
  for (const unsigned char c : heading) {
    if (std::isalnum(c) != 0 || c == '_' || c == '-') anchor += static_cast<char>(std::tolower(c));
    if (c == ' ') anchor += '-';
  }
  return anchor;
}

bool has_anchor(const std::string& page, const std::string& anchor) {
  if (page.find("<a id=\"" + anchor + "\">") != std::string::npos) return true;
  std::istringstream lines(page);
  for (std::string line; std::getline(lines, line);) {
    const std::size_t text = line.find_first_not_of('#');
    if (!line.empty() && line[0] == '#' && text != std::string::npos && line[text] == ' ' &&
        anchor_of(std::string_view(line).substr(text + 1)) == anchor)
      return true;
  }
  return false;
}

TEST(Manual, LinksLeadSomewhere) {
  std::vector<fs::path> files = pages();
  for (const char* name : {"README.md", "ARCHITECTURE.md", "SECURITY.md", "CONTRIBUTING.md"})
    files.push_back(kRoot / name);
  for (const char* folder : {"bench", "tests/probes", "examples/calculator"}) {
    for (const auto& entry : fs::directory_iterator(kRoot / folder)) {
      if (entry.path().extension() == ".md") files.push_back(entry.path());
    }
  }
  static const std::regex kLink(R"(\]\(([^()\s]+)\))");
  std::size_t seen = 0;
  for (const auto& file : files) {
    const std::string text = text_of(file);
    for (auto link = std::sregex_iterator(text.begin(), text.end(), kLink); link != std::sregex_iterator(); ++link) {
      const std::string target = (*link)[1];
      if (target.find("://") != std::string::npos) continue;
      ++seen;
      const std::size_t hash = std::min(target.find('#'), target.size());
      const fs::path page = hash == 0 ? file : file.parent_path() / target.substr(0, hash);
      EXPECT_TRUE(fs::exists(page)) << file << ": " << target;
      if (hash < target.size() && page.extension() == ".md" && fs::exists(page)) {
        EXPECT_TRUE(has_anchor(text_of(page), target.substr(hash + 1))) << file << ": " << target;
      }
    }
  }
  EXPECT_GT(seen, 50u);
}

}  // namespace
}  // namespace guard

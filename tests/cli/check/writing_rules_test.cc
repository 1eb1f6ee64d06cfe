// docs/writing-rules.md is true: its files are written and its commands run, in the order of the page, and what the
// page says they print is what they print.
#include <gtest/gtest.h>

#include <sstream>

#include "tests/support/program/git_repository.h"

namespace guard::testing {
namespace {

struct Block {
  std::string language;
  std::string file;  // ```toml FILE
  std::string text;
  std::size_t line = 0;  // of the page
};

std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> lines;
  std::istringstream stream(text);
  for (std::string line; std::getline(stream, line);) lines.push_back(line);
  return lines;
}

std::vector<Block> blocks_of(const std::string& page) {
  std::vector<Block> blocks;
  bool inside = false;
  std::size_t number = 0;
  for (const auto& line : lines_of(page)) {
    ++number;
    if (inside && line == "```") {
      inside = false;
    } else if (inside) {
      blocks.back().text += line + "\n";
    } else if (line.starts_with("```")) {
      inside = true;
      const std::size_t blank = std::min(line.find(' '), line.size());
      blocks.push_back({line.substr(3, blank - 3), blank == line.size() ? "" : line.substr(blank + 1), "", number});
    }
  }
  EXPECT_FALSE(inside) << "a block without an end";
  return blocks;
}

// A line of `...` stands for any lines, also none; one that ends with `...` for whatever follows in it.
bool line_fits(const std::string& wanted, const std::string& line) {
  return wanted.ends_with("...") ? line.starts_with(wanted.substr(0, wanted.size() - 3)) : wanted == line;
}

bool lines_fit(
    const std::vector<std::string>& wanted, std::size_t w, const std::vector<std::string>& lines, std::size_t l) {
  if (w == wanted.size()) return l == lines.size();
  if (wanted[w] == "...") {
    for (std::size_t next = l; next <= lines.size(); ++next) {
      if (lines_fit(wanted, w + 1, lines, next)) return true;
    }
    return false;
  }
  return l < lines.size() && line_fits(wanted[w], lines[l]) && lines_fit(wanted, w + 1, lines, l + 1);
}

void run_session(const Repository& repository, const Block& block) {
  struct Command {
    std::string line;
    std::vector<std::string> wanted;
    int exit_status = 0;
  };
  std::vector<Command> commands;
  for (const auto& line : lines_of(block.text)) {
    if (line.starts_with("$ ")) {
      commands.push_back({line.substr(2), {}, 0});
    } else if (line.starts_with("(exit status ")) {
      ASSERT_FALSE(commands.empty());
      commands.back().exit_status = std::stoi(line.substr(13));
    } else {
      ASSERT_FALSE(commands.empty()) << "output without a command, page line " << block.line;
      commands.back().wanted.push_back(line);
    }
  }
  for (const auto& command : commands) {
    const auto done = repository.shell("PATH=$HOME/bin:$PATH; " + command.line + " 2>&1");
    EXPECT_EQ(done.exit_status, command.exit_status) << "page line " << block.line << ": " << command.line << "\n"
                                                     << done.out;
    EXPECT_TRUE(lines_fit(command.wanted, 0, lines_of(done.out), 0))
        << "page line " << block.line << ": " << command.line << " printed\n"
        << done.out;
  }
}

TEST(WritingRules, EveryExampleOfThePageIsTrue) {
  const auto page = read_file(GUARD_SOURCE_DIR "/docs/writing-rules.md", 1u << 20);
  ASSERT_TRUE(page);
  Repository repository;
  repository.must("mkdir $HOME/bin && ln -s '" GUARD_PROGRAM "' $HOME/bin/guard");
  std::size_t files = 0;
  std::size_t sessions = 0;
  for (const auto& block : blocks_of(*page)) {
    if (block.language == "console") {
      run_session(repository, block);
      ++sessions;
    } else {
      ASSERT_FALSE(block.file.empty()) << "page line " << block.line << ": a block that names no file is not tried";
      repository.write(block.file, block.text);
      ++files;
    }
  }
  EXPECT_GT(files, 3u);
  EXPECT_GT(sessions, 3u);
}

TEST(WritingRules, ViewsShowNoKeys) {
  Repository repository;
  repository.write("sandbox/a.test.ts", "const key = \"" + made_up_key() + "\"; f('\\x1b[2J');\n");
  const auto shown = repository.guard({"rules", "views", "sandbox/a.test.ts"});
  EXPECT_EQ(shown.exit_status, 0) << shown.err;
  EXPECT_EQ(shown.out.find("QQQQQQ"), std::string::npos) << shown.out;
  EXPECT_EQ(shown.out.find('\x1b'), std::string::npos) << "a control byte reached the terminal";
  EXPECT_EQ(repository.guard({"rules", "views", "missing.ts"}).exit_status, 2);
}

TEST(WritingRules, WildcardsMatchWhatTheyShouldAndNoMore) {
  EXPECT_TRUE(lines_fit({"a", "...", "c"}, 0, {"a", "b", "b", "c"}, 0));
  EXPECT_TRUE(lines_fit({"a", "...", "c"}, 0, {"a", "c"}, 0));
  EXPECT_TRUE(lines_fit({"a..."}, 0, {"abc"}, 0));
  EXPECT_FALSE(lines_fit({"a", "...", "c"}, 0, {"a", "b"}, 0));
  EXPECT_FALSE(lines_fit({"a"}, 0, {"a", "b"}, 0));
  EXPECT_FALSE(lines_fit({"a", "b"}, 0, {"a"}, 0));
}

}  // namespace
}  // namespace guard::testing

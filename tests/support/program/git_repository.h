// A git repository of a test's own, and a person at its command line: real git, a home of their own, no configuration
// of the machine.
#pragma once

#include <filesystem>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "tests/support/program/guard_program.h"

namespace guard::testing {

class Repository {
 public:
  // With one commit: guard.toml, notes.md and the files of Project.
  Repository();

  const std::filesystem::path& path() const { return project_.path(); }
  const std::filesystem::path& home() const { return home_.path(); }
  void write(std::string_view relative, std::string_view text) const { project_.write(relative, text); }
  std::string read(std::string_view relative) const;

  // `sh -c SCRIPT` at the top of the repository, or in `folder`.
  ProgramResult shell(const std::string& script, const std::filesystem::path& folder = {},
      std::map<std::string, std::string> more = {}) const;
  // The same, and it has to work.
  void must(const std::string& script, const std::filesystem::path& folder = {}) const;

  std::map<std::string, std::string> environment() const;
  // guard in this person's environment.
  ProgramResult guard(
      std::vector<std::string> arguments, const std::filesystem::path& folder = {}, std::string stdin_text = {}) const;

  std::string head() const;  // its commit's id; empty before the first

 private:
  Project project_;
  TempDir home_;
};

// A string of the shape of a key; in no file of ours in one piece.
std::string made_up_key();

}  // namespace guard::testing

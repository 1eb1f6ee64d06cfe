#include "tests/support/program/git_repository.h"

#include <gtest/gtest.h>

#include <cstdlib>

#include "common/cancel.h"
#include "runner/process/subprocess.h"

namespace guard::testing {
namespace {

TempDir made_home() {
  auto made = TempDir::create();
  if (!made) std::abort();
  return std::move(*made);
}

}  // namespace

Repository::Repository() : home_(made_home()) {
  write("guard.toml", "[check]\npaths = [\"sandbox/**\"]\n[policy]\nallowed_paths = [\"**\"]\n");
  write("notes.md", "# notes\n");
  must(
      "git config --global user.email t@example.invalid; git config --global user.name t; git config --global "
      "init.defaultBranch main");
  must("git init -q . && git add -A && git commit -q -m base");
}

std::string Repository::read(std::string_view relative) const {
  auto bytes = read_file(path() / relative, 1u << 20);
  return bytes ? *bytes : "(unreadable)";
}

std::map<std::string, std::string> Repository::environment() const {
  auto env = project_.environment();
  env["HOME"] = home().string();
  env["GIT_CONFIG_NOSYSTEM"] = "1";
  return env;
}

ProgramResult Repository::shell(
    const std::string& script, const std::filesystem::path& folder, std::map<std::string, std::string> more) const {
  ProcessSpec spec;
  spec.argv = {"/bin/sh", "-c", script};
  spec.cwd = folder.empty() ? path().string() : folder.string();
  spec.env = environment();
  for (auto& [name, value] : more) spec.env[name] = value;
  return run_program(spec);
}

void Repository::must(const std::string& script, const std::filesystem::path& folder) const {
  const auto done = shell("set -e; " + script, folder);
  ASSERT_EQ(done.exit_status, 0) << script << "\n" << done.out << done.err;
}

ProgramResult Repository::guard(
    std::vector<std::string> arguments, const std::filesystem::path& folder, std::string stdin_text) const {
  ProgramCall call;
  call.arguments = std::move(arguments);
  call.folder = folder.empty() ? path() : folder;
  call.environment = {{"HOME", home().string()}, {"GIT_CONFIG_NOSYSTEM", "1"}};
  call.stdin_text = std::move(stdin_text);
  return project_.guard(call);
}

std::string Repository::head() const {
  const auto done = shell("git rev-parse --verify -q HEAD");
  return done.exit_status == 0 ? done.out : "";
}

std::string made_up_key() { return std::string("sk-") + "ant-" + "api03-" + std::string(93, 'Q'); }

}  // namespace guard::testing

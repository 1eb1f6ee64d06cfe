#include "tests/support/program/nightly_night.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>

namespace guard::testing {
namespace {

namespace fs = std::filesystem;

TempDir made() {
  auto folder = TempDir::create();
  if (!folder) std::abort();
  return std::move(*folder);
}

}  // namespace

NightRepository::NightRepository(std::string_view backend, std::string_view config) : state_(made()), plans_(made()) {
  repository_.write("guard.toml", fmt::format("backend = \"{}\"\n{}", backend, config));
  repository_.write("sandbox/base.test.ts",
      "import { expect, test } from \"bun:test\";\nimport { add } from \"../src/add\";\n\ntest(\"base\", () => {\n  "
      "expect(add(1, 2)).toBe(3);\n});\n");
  repository_.must("git add -A && git commit -q -m 'base of the night'");
  const auto built = guard({"image", "build", backend == "docker" ? "--engine" : "--root-folder"});
  EXPECT_EQ(built.exit_status, 0) << built.err;
}

void NightRepository::plan(const std::vector<NightTask>& tasks, std::string_view head) const {
  std::string text = fmt::format(
      "generator = [\"{}/tests/nightly/scripted_generator.sh\"]\ngenerator_timeout = 20\n{}\n", GUARD_SOURCE_DIR, head);
  for (const auto& task : tasks) {
    text += fmt::format(
        "[[task]]\nid = \"{}\"\nprompt = \"\"\"{}\nWrite a test.\n\"\"\"\n{}\n", task.id, task.behaviour, task.more);
  }
  EXPECT_TRUE(write_file_atomically(plan_file(), text));
}

std::map<std::string, std::string> NightRepository::environment() const {
  auto env = repository_.environment();
  env["GUARD_STATE_DIR"] = state_.path().string();
  return env;
}

ProgramResult NightRepository::guard(std::vector<std::string> arguments) const {
  if (arguments.front() == "nightly") {
    arguments.emplace_back("--state");
    arguments.push_back(state().string());
  }
  return repository_.guard(std::move(arguments));
}

std::map<std::string, std::string> NightRepository::outcomes() const {
  std::map<std::string, std::string> found;
  const auto document = guard({"nightly", "report", "--format", "json"}).document();
  if (!document.is_object()) return found;
  for (const auto& task : document["tasks"]) {
    const std::string state = task["state"];
    found[task["id"]] = state == "accepted" ? state : state + ":" + task["reason"].get<std::string>();
  }
  return found;
}

std::string NightRepository::branch() const {
  const auto document = guard({"nightly", "status", "--format", "json"}).document();
  return document.is_object() && document["night"].is_object() ? document["night"]["branch"].get<std::string>() : "";
}

std::vector<std::string> NightRepository::committed() const {
  const auto listed = repository_.shell(
      "git log --reverse --format='%(trailers:key=Guard-Task,valueonly,separator=)' main.." + branch());
  std::vector<std::string> tasks;
  std::string line;
  for (const char c : listed.out) {
    if (c != '\n') {
      line += c;
      continue;
    }
    if (!line.empty()) tasks.push_back(line);
    line.clear();
  }
  return tasks;
}

std::vector<std::string> NightRepository::leftovers() const {
  std::vector<std::string> found;
  std::error_code failure;
  for (fs::recursive_directory_iterator entry(state() / "clones", failure), end; !failure && entry != end;
       entry.increment(failure)) {
    if (entry.depth() >= 1) {
      found.push_back("a clone: " + entry->path().string());
      entry.disable_recursion_pending();
    }
  }
  for (const auto& entry : fs::directory_iterator("/proc", failure)) {
    std::ifstream file(entry.path() / "environ");
    const std::string text((std::istreambuf_iterator<char>(file)), {});
    if (text.find("GUARD_NIGHTLY_CLONE=" + state().string()) != std::string::npos)
      found.push_back("a process: " + entry.path().filename().string());
  }
  if (const auto pending = repository_.shell("git for-each-ref refs/guard/"); !pending.out.empty())
    found.push_back("a reference: " + pending.out);
  return found;
}

}  // namespace guard::testing

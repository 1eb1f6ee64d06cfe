#include "tests/support/program/guard_program.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <spawn.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>

#include "common/cancel.h"
#include "common/environment.h"
#include "runner/process/subprocess.h"
#include "tests/support/json_schema.h"

namespace guard::testing {
namespace {

namespace fs = std::filesystem;

TempDir must_create() {
  auto made = TempDir::create();
  if (!made) std::abort();
  // The sandbox, and guard itself in some tests, run as another user.
  ::chmod(made->path().c_str(), 0755);
  return std::move(*made);
}

// `path` without any guard of the machine's: a test says which one is found. A folder that holds one is replaced by
// links to all else in it.
std::string without_guard(const std::string& path) {
  static std::map<std::string, TempDir> stand_ins;
  std::string clean;
  for (std::size_t at = 0; at <= path.size();) {
    const std::size_t end = std::min(path.find(':', at), path.size());
    std::string folder = path.substr(at, end - at);
    at = end + 1;
    if (fs::exists(fs::path(folder) / "guard")) {
      const auto [place, made] = stand_ins.try_emplace(folder, must_create());
      for (const auto& entry : fs::directory_iterator(folder)) {
        if (made && entry.path().filename() != "guard")
          fs::create_symlink(entry.path(), place->second.path() / entry.path().filename());
      }
      folder = place->second.path().string();
    }
    clean += (clean.empty() ? "" : ":") + folder;
  }
  return clean;
}

}  // namespace

nlohmann::json ProgramResult::document() const {
  auto parsed = nlohmann::json::parse(out, nullptr, false);
  if (parsed.is_discarded()) {
    ADD_FAILURE() << "no JSON document:\n" << out << "\nstderr:\n" << err;
    return nullptr;
  }
  // Every document that a test looks at is one that the schemas describe, to the last key.
  const auto has = [&](const char* key) { return parsed.is_object() && parsed.contains(key); };
  const bool is_report = has("counts") && has("steps");
  const char* definition = has("results") && has("verdict") ? "run"
      : has("findings") && has("verdict")                   ? "check"
                                                            : nullptr;
  if (is_report || definition != nullptr) {
    const std::string file =
        std::string(GUARD_SOURCE_DIR) + (is_report ? "/docs/nightly-report.schema.json" : "/docs/result.schema.json");
    EXPECT_EQ(strict_schema_faults(parsed, file, is_report ? "" : definition), "") << out;
  }
  return parsed;
}

pid_t start_guard(std::vector<std::string> arguments, const std::map<std::string, std::string>& environment) {
  arguments.insert(arguments.begin(), GUARD_PROGRAM);
  std::vector<char*> argv;
  for (auto& argument : arguments) argv.push_back(argument.data());
  argv.push_back(nullptr);
  std::vector<std::string> settings;
  for (const auto& [name, value] : environment) settings.push_back(name + "=" + value);
  std::vector<char*> env;
  for (auto& setting : settings) env.push_back(setting.data());
  env.push_back(nullptr);
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  for (const int fd : {1, 2}) posix_spawn_file_actions_addopen(&actions, fd, "/dev/null", O_WRONLY, 0);
  pid_t pid = -1;
  EXPECT_EQ(::posix_spawn(&pid, GUARD_PROGRAM, &actions, nullptr, argv.data(), env.data()), 0);
  posix_spawn_file_actions_destroy(&actions);
  return pid;
}

fs::path shared_cache() {
  static const TempDir cache = must_create();
  return cache.path();
}

std::string docker_socket() {
  const char* socket = std::getenv("GUARD_TEST_DOCKER_SOCKET");
  return socket == nullptr ? "" : socket;
}

std::string missing(Needs needs) {
  switch (needs) {
    case Needs::nothing: return {};
    case Needs::docker: return docker_socket().empty() ? "no engine: GUARD_TEST_DOCKER_SOCKET is not set" : "";
    case Needs::namespace_sandbox:
      return fs::exists("/usr/bin/bwrap") || fs::exists("/usr/local/bin/bwrap") ? "" : "bubblewrap is not installed";
  }
  return "unknown need";
}

bool must_have(Needs needs) {
  const char* name = needs == Needs::docker ? "GUARD_TEST_REQUIRE_DOCKER" : "GUARD_TEST_REQUIRE_NAMESPACE";
  const char* value = std::getenv(name);
  return value != nullptr && std::string_view(value) == "1";
}

Project::Project() : folder_(must_create()) {
  write("package.json", "{\"name\":\"under-test\",\"private\":true,\"type\":\"module\"}\n");
  write("tsconfig.json", "{\"compilerOptions\":{\"strict\":true}}\n");
  write("src/add.ts", "export const add = (a: number, b: number): number => a + b;\n");
  EXPECT_TRUE(make_folders(path() / "sandbox"));
}

void Project::write(std::string_view relative, std::string_view text) const {
  const fs::path target = path() / relative;
  EXPECT_TRUE(make_folders(target.parent_path()));
  EXPECT_TRUE(write_file_atomically(target, text));
}

void Project::configure(std::string_view text) const {
  write("guard.toml", text);
  ProcessSpec spec;
  spec.argv = {"/bin/sh", "-ec",
      "git init -q .; git add -f guard.toml; git -c user.name=t -c user.email=t@example.invalid commit -q "
      "--allow-empty -m configuration guard.toml"};
  spec.cwd = path();
  spec.env = environment();
  const auto done = run_program(spec);
  EXPECT_EQ(done.exit_status, 0) << done.err;
}

std::map<std::string, std::string> Project::environment() const {
  const Environment ours = process_environment();
  std::map<std::string, std::string> env = {{"PATH", "/usr/local/bin:/usr/bin:/bin:/usr/sbin:/sbin"},
      {"HOME", path().string()}, {"GUARD_CACHE_DIR", shared_cache().string()},
      // No engine of the machine may creep into a test that does not name one.
      {"DOCKER_HOST", docker_socket().empty() ? "unix:///nonexistent/engine.sock" : "unix://" + docker_socket()}};
  for (const char* name : {"GUARD_BUN", "PATH", "LANG"}) {
    if (const auto found = ours.find(name); found != ours.end()) env[name] = found->second;
  }
  env["PATH"] = without_guard(env["PATH"]);
  return env;
}

ProgramResult run_program(const ProcessSpec& spec) {
  const CancelToken never;
  auto done = collect_process(spec, 64u << 20, never);
  ProgramResult result;
  if (!done) {
    ADD_FAILURE() << done.error().to_string();
    return result;
  }
  if (done->result.outcome.kind == OutcomeKind::exited)
    result.exit_status = static_cast<int>(done->result.outcome.value);
  result.out = std::move(done->out);
  result.err = std::move(done->err);
  return result;
}

ProgramResult Project::guard(std::vector<std::string> arguments, std::map<std::string, std::string> environment) const {
  ProgramCall call;
  call.arguments = std::move(arguments);
  call.environment = std::move(environment);
  return guard(std::move(call));
}

ProgramResult Project::guard(ProgramCall call) const {
  ProcessSpec spec;
  if (call.ordinary_user) spec.argv = {"setpriv", "--reuid", "1000", "--regid", "1000", "--clear-groups"};
  spec.argv.emplace_back(GUARD_PROGRAM);
  spec.argv.insert(spec.argv.end(), call.arguments.begin(), call.arguments.end());
  spec.cwd = call.folder.empty() ? path().string() : call.folder.string();
  spec.env = this->environment();
  for (const auto& [name, value] : call.environment) {
    if (value == "(unset)") {
      spec.env.erase(name);
    } else {
      spec.env[name] = value;
    }
  }
  spec.stdin_text = call.stdin_text;
  return run_program(spec);
}

void Project::build_image(std::string_view backend) const {
  const auto built = guard({"image", "build", backend == "docker" ? "--engine" : "--root-folder"});
  ASSERT_EQ(built.exit_status, 0) << built.out << built.err;
}

ProgramResult Project::run(
    std::string_view backend, std::vector<std::string> files, std::vector<std::string> more) const {
  build_image(backend);
  std::vector<std::string> arguments = {"run", "--format", "json", "--backend", std::string(backend)};
  arguments.insert(arguments.end(), more.begin(), more.end());
  arguments.insert(arguments.end(), files.begin(), files.end());
  return guard(std::move(arguments));
}

}  // namespace guard::testing

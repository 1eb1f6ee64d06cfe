#include "runner/sandbox/sandbox.h"

#include <sys/socket.h>
#include <sys/un.h>

#include <limits>

#include "tests/support/runner/sandbox_fixture.h"

namespace guard {
namespace {

class SandboxSpecTest : public testing::SandboxFixture {
 protected:
  void refuses(const char* what, const std::function<void(SandboxSpec&)>& change) {
    SandboxSpec changed = spec({"true"});
    change(changed);
    const auto result = validate(changed);
    ASSERT_FALSE(result.has_value()) << what;
    EXPECT_EQ(result.error().code(), ErrorCode::input_invalid) << what;
  }
  std::filesystem::path make(std::string_view name) {
    const auto path = folder() / name;
    std::filesystem::create_directories(path.parent_path());
    std::ofstream(path) << "x";
    return path;
  }
};

TEST_F(SandboxSpecTest, AcceptsAnHonestRun) {
  const auto result = validate(spec({"true"}));
  EXPECT_TRUE(result.has_value()) << result.error().to_string();
}

TEST_F(SandboxSpecTest, RefusesWhatCannotBeRun) {
  refuses("no argv", [](SandboxSpec& s) { s.argv.clear(); });
  refuses("an empty program", [](SandboxSpec& s) { s.argv = {""}; });
  refuses("a NUL in an argument", [](SandboxSpec& s) { s.argv.emplace_back("a\0b", 3); });
  refuses("no run id", [](SandboxSpec& s) { s.run_id.clear(); });
  for (const char* id : {"A", "a/b", "..", "a b", "a_b"}) refuses("a run id", [id](SandboxSpec& s) { s.run_id = id; });
  refuses("a long run id", [](SandboxSpec& s) { s.run_id = std::string(65, 'a'); });
  for (const char* place : {"", "app", "/app/", "/app//x", "/app/../etc", "/./app"}) {
    refuses("a working folder", [place](SandboxSpec& s) { s.working_dir = place; });
  }
  refuses("a variable without a name", [](SandboxSpec& s) { s.env[""] = "x"; });
  refuses("a variable with =", [](SandboxSpec& s) { s.env["A=B"] = "x"; });
  refuses("a value with NUL", [](SandboxSpec& s) { s.env["A"] = std::string("x\0y", 3); });
}

TEST_F(SandboxSpecTest, RefusesEveryLimitOfNothing) {
  refuses("memory", [](SandboxSpec& s) { s.limits.memory_bytes = 0; });
  refuses("pids", [](SandboxSpec& s) { s.limits.pids = 0; });
  refuses("tmp_bytes", [](SandboxSpec& s) { s.limits.tmp_bytes = 0; });
  refuses("tmp_files", [](SandboxSpec& s) { s.limits.tmp_files = 0; });
  refuses("sandbox_bytes", [](SandboxSpec& s) { s.limits.sandbox_bytes = 0; });
  refuses("sandbox_files", [](SandboxSpec& s) { s.limits.sandbox_files = 0; });
  refuses("output", [](SandboxSpec& s) { s.limits.output_flood_bytes = 0; });
  refuses("open_files", [](SandboxSpec& s) { s.limits.open_files = 0; });
  refuses("file_bytes", [](SandboxSpec& s) { s.limits.file_bytes = 0; });
  refuses("memory that wraps", [](SandboxSpec& s) { s.limits.memory_bytes = ~0ull; });
  for (const double cpus :
      {0.0, -1.0, 1e9, std::numeric_limits<double>::quiet_NaN(), std::numeric_limits<double>::infinity()}) {
    refuses("cpus", [cpus](SandboxSpec& s) { s.limits.cpus = cpus; });
  }
  refuses("timeout", [](SandboxSpec& s) { s.timeout = milliseconds(0); });
  refuses("endless timeout", [](SandboxSpec& s) { s.timeout = milliseconds::max(); });
  refuses("grace", [](SandboxSpec& s) { s.grace = milliseconds(-1); });
  refuses("scratch bytes", [](SandboxSpec& s) { s.scratch = {{"/app/x", "", 0, 1}}; });
  refuses("scratch files", [](SandboxSpec& s) { s.scratch = {{"/app/x", "", 1, 0}}; });
}

// Else the start fails in words that name nothing.
TEST_F(SandboxSpecTest, RefusesWhatNoProgramCanBeStartedWith) {
  const std::string large(128ul * 1024, 'x');
  refuses("a large argument", [&](SandboxSpec& s) { s.argv.push_back(large); });
  refuses("a large word of each", [&](SandboxSpec& s) { s.each.push_back(large); });
  refuses("a large variable", [&](SandboxSpec& s) { s.env["A"] = large.substr(2); });
  refuses("all together", [&](SandboxSpec& s) {
    for (int i = 0; i < 100; ++i) s.env[std::to_string(i)] = large.substr(1024);
  });
  SandboxSpec fits = spec({"true"});
  fits.env["A"] = large.substr(3);
  EXPECT_TRUE(validate(fits));
}

TEST_F(SandboxSpecTest, RefusesTargetsThatHideOrEscape) {
  const auto staged = make("a");
  const auto mounted_at = [&](const std::string& target) {
    return [=](SandboxSpec& s) { s.mounts = {{staged, target}}; };
  };
  for (const char* target : {"", "/", "app", "/app/../x", "/app/", "/proc/x", "/dev/null", "/sys", "/app/.env",
           "/app/.env.local", "/app/.git/config", "/app/node_modules/x"}) {
    refuses(target, mounted_at(target));
  }
  refuses("a NUL", mounted_at(std::string("/app/a\0b", 8)));
  refuses("the same place twice", [&](SandboxSpec& s) { s.mounts = {{staged, "/app/a"}, {staged, "/app/a"}}; });
  refuses("a child before its parent", [&](SandboxSpec& s) {
    s.mounts = {{staged, "/app/x/a"}, {folder(), "/app/x"}};
  });
  const auto scratch = [&](std::vector<ScratchFolder> folders) {
    return [=, this](SandboxSpec& s) {
      s.mounts = {{folder() / "staged", "/app/staged"}};
      s.scratch = folders;
    };
  };
  refuses("a scratch folder over a mount", scratch({{"/app/staged", "", 1 << 20, 10}}));
  refuses("a scratch folder filled from no mount", scratch({{"/app/x", "/app/other", 1 << 20, 10}}));
  refuses(
      "two filled folders", scratch({{"/app/x", "/app/staged", 1 << 20, 10}, {"/app/y", "/app/staged", 1 << 20, 10}}));
}

TEST_F(SandboxSpecTest, SharesOnlyWhatItWouldMount) {
  const auto staged = make("a");
  const auto shared = [](const std::filesystem::path& source, const std::string& target) {
    return [=](SandboxSpec& s) { s.shared = {{source, target, {}}}; };
  };
  refuses("the root", shared("/", "/app/x"));
  refuses(".git", shared(make(".git/config"), "/app/x"));
  refuses("node_modules", shared(staged, "/app/node_modules"));
  refuses("over a mount", [&](SandboxSpec& s) {
    s.mounts = {{staged, "/app/x"}};
    s.shared = {{staged, "/app/x", {}}};
  });
  refuses("under a folder in memory", [&](SandboxSpec& s) {
    s.shared = {{staged, "/app/x/y", {}}};
    s.scratch = {{"/app/x", "", 1 << 20, 10}};
  });
}

TEST_F(SandboxSpecTest, NeverMountsWhatMustNotBeSeen) {
  const auto from = [](const std::filesystem::path& source) {
    return [=](SandboxSpec& s) { s.mounts = {{source, "/app/x"}}; };
  };
  refuses("nothing there", from(folder() / "absent"));
  refuses("a relative source", from("staged/given"));
  refuses("the root", from("/"));
  refuses(".env", from(make(".env")));
  refuses(".env.production", from(make(".env.production")));
  refuses(".git", from(make(".git/config")));
  refuses("node_modules", from(make("node_modules/a/index.js")));
  refuses("/proc", from("/proc/self/environ"));
  refuses("/dev", from("/dev/null"));
  refuses("/root or its parent", from("/root"));

  std::filesystem::create_symlink("/etc/passwd", folder() / "link");
  refuses("a symbolic link", from(folder() / "link"));
  ASSERT_EQ(::mkfifo((folder() / "fifo").c_str(), 0600), 0);
  refuses("a FIFO", from(folder() / "fifo"));
  const UniqueFd listener(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  (folder() / "socket").string().copy(address.sun_path, sizeof address.sun_path - 1);
  ASSERT_EQ(::bind(listener.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address), 0);
  refuses("a socket", from(folder() / "socket"));

  const testing::ScopedEnv home("HOME", (folder() / "people" / "me").string());
  std::filesystem::create_directories(folder() / "people" / "me");
  refuses("home", from(folder() / "people" / "me"));
  refuses("what holds home", from(folder() / "people"));
}

}  // namespace
}  // namespace guard

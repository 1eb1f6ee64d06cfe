#include "runner/process/stray_processes.h"

#include <signal.h>

#include <sys/wait.h>

#include <fstream>
#include <thread>

#include "runner/init_side/init_binary.h"
#include "runner/process/child_process.h"
#include "runner/sandbox/docker_sweep.h"
#include "tests/support/runner/sandbox_fixture.h"

namespace guard {
namespace {

class StrayProcesses : public testing::SandboxFixture {
 protected:
  // Lives until it is killed: as init does whose engine has died, and whose life line somebody still holds.
  ChildProcess start(const std::string& program, std::vector<std::string> arguments) {
    ChildSpec child;
    child.argv = {program};
    child.argv.insert(child.argv.end(), arguments.begin(), arguments.end());
    child.env = {{"PATH", "/usr/bin:/bin"}};
    auto started = ChildProcess::start(child);
    if (!started) ADD_FAILURE() << started.error().to_string();
    // It is the other program, and has said that it goes no further.
    for (int i = 0; i < 1'000 && state_of(started->pid()) != 'T'; ++i)
      std::this_thread::sleep_for(std::chrono::milliseconds(2));
    EXPECT_EQ(state_of(started->pid()), 'T');
    return std::move(*started);
  }

  static char state_of(pid_t pid) {
    std::ifstream file("/proc/" + std::to_string(pid) + "/stat");
    std::string text;
    std::getline(file, text);
    const std::size_t behind = text.rfind(") ");
    return behind == std::string::npos || behind + 2 >= text.size() ? '?' : text[behind + 2];
  }

  static bool lives(const ChildProcess& process) {
    for (int i = 0; i < 50; ++i) {
      siginfo_t info{};
      if (::waitid(P_PID, static_cast<id_t>(process.pid()), &info, WEXITED | WNOHANG | WNOWAIT) == 0 &&
          info.si_pid != 0)
        return false;
      std::this_thread::sleep_for(std::chrono::milliseconds(2));
    }
    return true;
  }
};

// Starts nothing: a child would be another process of the same name until it is the other program.
constexpr const char* kStops = "kill -STOP $$; :";

// A shell by init's name, that takes whatever follows its script.
std::vector<std::string> as_init(const std::string& owner) { return {"-c", kStops, "--owner", owner, "--", "program"}; }

TEST_F(StrayProcesses, EndsInitsOfDeadRunsOfThisCacheAlone) {
  const auto shell = folder() / ".guard-init";
  std::filesystem::copy_file("/bin/sh", shell);
  const auto label = docker_cache_label();
  ASSERT_TRUE(label);
  auto alive = RunFolder::create();
  ASSERT_TRUE(alive) << alive.error().to_string();
  ChildProcess dead = start(shell, as_init(*label + "/r0123"));
  ChildProcess living = start(shell, as_init(*label + "/" + alive->run_id()));
  ChildProcess foreign = start(shell, as_init("fedcba9876543210/r0123"));
  ChildProcess behind_the_dashes = start(shell, {"-c", kStops, "--", "--owner", *label + "/r0123"});
  ChildProcess other_program = start("/bin/sh", as_init(*label + "/r0123"));
  const SweepResult swept = sweep_stray_inits();
  EXPECT_EQ(swept.removed, (std::vector<std::string>{"r0123"}));
  EXPECT_TRUE(swept.failed.empty());
  EXPECT_FALSE(lives(dead));
  for (const ChildProcess* spared : {&living, &foreign, &behind_the_dashes, &other_program})
    EXPECT_TRUE(lives(*spared));
  EXPECT_EQ(kill_inits_of(""), 0);
  EXPECT_EQ(kill_inits_of(*label + "/" + alive->run_id()), 1);
  EXPECT_FALSE(lives(living));
}

// Caches at the same place of two machines, or containers, are two caches.
TEST_F(StrayProcesses, TellCachesApartByWhatIsInThem) {
  const auto first = docker_cache_label();
  ASSERT_TRUE(first) << first.error().to_string();
  EXPECT_EQ(*docker_cache_label(), *first);
  std::filesystem::remove(cache() / "id");
  const auto second = docker_cache_label();
  ASSERT_TRUE(second);
  EXPECT_NE(*second, *first);
  for (const char* text : {"", "short", "0123456789abcdeg", "0123456789abcdef0"}) {
    std::ofstream(cache() / "id", std::ios::trunc) << text;
    EXPECT_FALSE(docker_cache_label()) << text;
  }
  std::filesystem::remove(cache() / "id");
  std::filesystem::create_symlink("/etc/hostname", cache() / "id");
  EXPECT_FALSE(docker_cache_label());
}

TEST_F(StrayProcesses, EndsTheRuntimesProcessesOfOneContainerAlone) {
  const auto shell = folder() / "runsc-sandbox";
  std::filesystem::copy_file("/bin/sh", shell);
  const std::string id(64, 'a');
  const std::string other(64, 'b');
  const auto of = [](const std::string& container) {
    return std::vector<std::string>{"-c", kStops, "--log=/x/" + container + "/log.json"};
  };
  ChildProcess ours = start(shell, of(id));
  ChildProcess theirs = start(shell, of(other));
  ChildProcess no_runtime = start("/bin/sh", of(id));
  EXPECT_EQ(kill_runtime_processes(""), 0);
  EXPECT_EQ(kill_runtime_processes(std::string(12, 'a')), 0);
  EXPECT_EQ(kill_runtime_processes(id), 1);
  EXPECT_FALSE(lives(ours));
  EXPECT_TRUE(lives(theirs));
  EXPECT_TRUE(lives(no_runtime));
}

}  // namespace
}  // namespace guard

// Nights on a real Slurm: a controller and two nodes of this test's own, with munge, all below one folder.
// GUARD_TEST_SLURM_TASKS says how many tasks the night has (default 12).
#include <arpa/inet.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/mount.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <cstdlib>
#include <fstream>
#include <functional>
#include <set>
#include <thread>

#include "tests/support/program/nightly_night.h"

namespace guard::testing {
namespace {

namespace fs = std::filesystem;
using ::testing::IsEmpty;

int free_port() {
  const int fd = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t size = sizeof address;
  ::bind(fd, reinterpret_cast<sockaddr*>(&address), size);
  ::getsockname(fd, reinterpret_cast<sockaddr*>(&address), &size);
  ::close(fd);
  return ntohs(address.sin_port);
}

class Slurm {
 public:
  Slurm() {
    const std::string host = line_of("hostname -s");
    for (const char* name : {"state", "n1", "n2"}) fs::create_directories(at(name));
    EXPECT_EQ(std::system(fmt::format("umask 077; head -c 1024 /dev/urandom >{}", at("key")).c_str()), 0);
    std::ofstream(at("slurm.conf")) << fmt::format(
        "ClusterName=test\nSlurmctldHost={0}(127.0.0.1)\nSlurmctldPort={2}\nAuthType=auth/munge\n"
        "AuthInfo=socket={1}/munge\nCredType=cred/munge\nSlurmUser=root\nSlurmdUser=root\nStateSaveLocation={1}/state\n"
        "SlurmdSpoolDir={1}/%n\nSlurmctldPidFile={1}/controller.pid\nSlurmdPidFile={1}/%n.pid\n"
        "SlurmctldLogFile={1}/controller.log\nSlurmdLogFile={1}/%n.log\nProctrackType=proctrack/linuxproc\n"
        "TaskPlugin=task/none\nMpiDefault=none\nSelectType=select/cons_tres\nReturnToService=2\nSlurmdTimeout=10\n"
        "MinJobAge=30\nKillWait=2\nSchedulerParameters=sched_interval=1,bf_interval=1,batch_sched_delay=0\n"
        "NodeName=n1 NodeHostname={0} NodeAddr=127.0.0.1 Port={3} CPUs=1 State=UNKNOWN\n"
        "NodeName=n2 NodeHostname={0} NodeAddr=127.0.0.1 Port={4} CPUs=1 State=UNKNOWN\n"
        "PartitionName=p Nodes=n[1-2] Default=YES MaxTime=INFINITE State=UP\n",
        host, folder_.path().native(), free_port(), free_port(), free_port());
    start("munge",
        {"munged", "--foreground", "--force", "--key-file=" + at("key"), "--socket=" + at("munge"),
            "--pid-file=" + at("munge.pid"), "--log-file=" + at("munge.log"), "--seed-file=" + at("seed")});
    wait_for([&] { return fs::exists(at("munge")); });
    start_controller();
    start_node("n1");
    start_node("n2");
    const bool up = wait_for([&] { return line_of("sinfo --noheader --format=%D --states=idle") == "2"; });
    EXPECT_TRUE(up) << line_of("cat " + at("*.log") + " | tail -20 | tr '\\n' ';'");
  }
  ~Slurm() {
    (void)line_of("scancel --user=root");
    wait_for([&] { return line_of("squeue --noheader").empty(); });
    while (!daemons_.empty()) end(daemons_.begin()->first, SIGTERM);
  }
  Slurm(const Slurm&) = delete;
  Slurm& operator=(const Slurm&) = delete;

  static std::string why_not() {
    if (::geteuid() != 0) return "Slurm's daemons are started as root";
    for (const char* program : {"munged", "slurmctld", "slurmd", "sbatch"}) {
      if (std::system(fmt::format("PATH=$PATH:/usr/sbin command -v {} >/dev/null", program).c_str()) != 0)
        return fmt::format("there is no {}", program);
    }
    return "";
  }

  std::string config() const { return at("slurm.conf"); }
  void start_controller() { start("controller", {"slurmctld", "-D"}); }
  void start_node(const std::string& name) { start(name, {"slurmd", "-D", "-N", name}); }
  void end(const std::string& name, int signal) {
    const pid_t pid = daemons_.at(name);
    ::kill(pid, signal);
    ::waitpid(pid, nullptr, 0);
    daemons_.erase(name);
  }

  // The first line that a command prints.
  std::string line_of(const std::string& command) const {
    FILE* const pipe =
        ::popen(fmt::format("export SLURM_CONF={}; {{ {}; }} 2>/dev/null", config(), command).c_str(), "re");
    char text[4'096] = {};
    const bool read = std::fgets(text, sizeof text, pipe) != nullptr;
    ::pclose(pipe);
    return read ? std::string(text, std::string_view(text).find_last_not_of('\n') + 1) : std::string();
  }

 private:
  std::string at(const std::string& name) const { return (folder_.path() / name).native(); }

  void start(const std::string& name, std::vector<std::string> argv) {
    const pid_t pid = ::fork();
    if (pid == 0) {
      const int out = ::open(at(name + ".out").c_str(), O_WRONLY | O_CREAT | O_APPEND, 0600);
      ::dup2(out, 1);
      ::dup2(out, 2);
      ::setenv("SLURM_CONF", config().c_str(), 1);
      ::setenv("PATH", "/usr/sbin:/usr/bin:/sbin:/bin", 1);
      std::vector<char*> words;
      for (auto& word : argv) words.push_back(word.data());
      words.push_back(nullptr);
      ::execvp(words[0], words.data());
      ::_exit(127);
    }
    daemons_[name] = pid;
  }

  TempDir folder_ = *TempDir::create();
  std::map<std::string, pid_t> daemons_;
};

#define GUARD_NEEDS_SLURM()                                        \
  do {                                                             \
    const std::string why_no_slurm = Slurm::why_not();             \
    const char* must = std::getenv("GUARD_TEST_REQUIRE_SLURM");    \
    if (!why_no_slurm.empty()) {                                   \
      if (must != nullptr && *must == '1') FAIL() << why_no_slurm; \
      GTEST_SKIP() << why_no_slurm;                                \
    }                                                              \
  } while (false)

class SlurmNight : public NightRepository {
 public:
  explicit SlurmNight(const Slurm& slurm)
      : NightRepository("namespace", "[nightly]\nworth = false\nmin_free = \"1m\"\n"), slurm_(slurm) {
    fs::create_directory(scratch());
  }

  std::map<std::string, std::string> environment() const {
    auto env = NightRepository::environment();
    env["SLURM_CONF"] = slurm_.config();
    env["PATH"] = programs() + ":" + env["PATH"];
    return env;
  }
  std::string head(int batch) const {
    std::string names;
    for (const auto& [name, value] : environment()) names += (names.empty() ? "\"" : ", \"") + name + "\"";
    return fmt::format(
        "jobs = 8\nattempts = 1\n[budget]\nfailures_in_a_row = 100\n[executor]\nkind = \"slurm\"\nshared = \"{}\"\n"
        "scratch = \"{}\"\nbatch = {}\npass = [{}]\n",
        shared().native(), scratch().native(), batch, names);
  }
  pid_t start(const std::string& action) const {
    std::vector<std::string> arguments = {
        "nightly", action, "--project", repository().path().string(), "--state", state().string()};
    if (action == "run") arguments.push_back(plan_file());
    return start_guard(arguments, environment());
  }
  static int end_of(pid_t loop) {
    int status = 0;
    ::waitpid(loop, &status, 0);
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
  }
  // In the place of sbatch; `script` finds the real one as $sbatch.
  void replace_sbatch(const std::string& script) const {
    const fs::path file = fs::path(programs()) / "sbatch";
    std::ofstream(file) << "#!/bin/sh\nsbatch=/usr/bin/sbatch\nhere=" << programs() << "\n" << script;
    fs::permissions(file, fs::perms(0755));
  }
  // A process that works on one of our task folders.
  pid_t worker() const {
    for (const auto& entry : fs::directory_iterator("/proc")) {
      const std::string text = read_file(entry.path() / "cmdline", 1u << 20).value_or("");
      if (text.find(std::string("nightly\0work\0", 13)) != std::string::npos &&
          text.find(shared().native()) != std::string::npos)
        return std::stoi(entry.path().filename());
    }
    return 0;
  }
  fs::path shared() const { return shared_.path(); }
  std::string programs() const { return programs_.path().native(); }
  // Below a folder of ours: one that is mounted over would look like what a dead process left.
  fs::path scratch() const { return scratch_.path() / "disk"; }

 private:
  const Slurm& slurm_;
  TempDir programs_ = *TempDir::create();
  TempDir shared_ = *TempDir::create();
  TempDir scratch_ = *TempDir::create();
};

TEST(SlurmNights, LoseAndDoubleNothingWhateverIsKilled) {
  GUARD_NEEDS(Needs::namespace_sandbox);
  GUARD_NEEDS_SLURM();
  Slurm slurm;
  const SlurmNight night(slurm);
  const char* wanted = std::getenv("GUARD_TEST_SLURM_TASKS");
  const int count = wanted == nullptr ? 12 : std::atoi(wanted);
  const std::vector<std::pair<std::string, std::string>> kinds = {{"slow", "accepted"}, {"good", "accepted"},
      {"fails", "refused:tests_failed"}, {"slow", "accepted"}, {"lockfile", "refused:findings"}, {"slow", "accepted"},
      {"crashes", "failed:generator_crashed"}};
  std::vector<NightTask> tasks;
  std::map<std::string, std::string> expected;
  std::set<std::string> accepted;
  for (int i = 0; i < count; ++i) {
    const auto& [behaviour, outcome] = kinds[static_cast<std::size_t>(i) % kinds.size()];
    const std::string id = fmt::format("t{}", i);
    tasks.push_back({id, behaviour});
    expected[id] = outcome;
    if (outcome == "accepted") accepted.insert(id);
  }
  night.plan(tasks, night.head(3));
  pid_t loop = night.start("run");

  // A worker, a node's daemon, the controller, a job and the coordinator, one after the other.
  EXPECT_TRUE(wait_for([&] { return night.worker() != 0; }));
  if (const pid_t worker = night.worker(); worker != 0) ::kill(worker, SIGKILL);
  slurm.end("n1", SIGKILL);
  slurm.start_node("n1");  // soon: what a lost node had is started again two minutes later
  EXPECT_TRUE(wait_for([&] { return !night.committed().empty(); }));
  slurm.end("controller", SIGTERM);
  slurm.start_controller();
  EXPECT_TRUE(wait_for([&] { return !slurm.line_of("squeue --noheader --states=running --format=%i").empty(); }));
  (void)slurm.line_of("scancel $(squeue --noheader --states=running --format=%i | head -1)");
  ::kill(loop, SIGKILL);
  SlurmNight::end_of(loop);
  loop = night.start("resume");
  EXPECT_EQ(SlurmNight::end_of(loop), 1);

  EXPECT_EQ(night.outcomes(), expected);
  const auto committed = night.committed();
  EXPECT_EQ(std::set<std::string>(committed.begin(), committed.end()), accepted);
  EXPECT_EQ(committed.size(), accepted.size()) << "a commit was made twice";
  EXPECT_THAT(night.leftovers(), IsEmpty());
  EXPECT_TRUE(fs::is_empty(night.shared()));
  EXPECT_TRUE(wait_for([&] { return night.worker() == 0; })) << "a worker stays on a node";
  EXPECT_TRUE(fs::is_empty(night.scratch())) << "scratch stays on a node";
}

TEST(SlurmNights, WaitOutAScratchDiskThatIsFull) {
  GUARD_NEEDS(Needs::namespace_sandbox);
  GUARD_NEEDS_SLURM();
  const Slurm slurm;
  const SlurmNight night(slurm);
  if (::mount("none", night.scratch().c_str(), "tmpfs", 0, "size=64m,mode=700") != 0) GTEST_SKIP() << "needs mounts";
  std::ofstream(night.scratch() / "filler") << std::string(80u << 20, 'x');
  night.plan({{"one", "good"}, {"two", "good"}}, night.head(2));
  EXPECT_EQ(SlurmNight::end_of(night.start("run")), 2);
  EXPECT_THAT(night.committed(), IsEmpty());
  fs::remove(night.scratch() / "filler");
  EXPECT_EQ(SlurmNight::end_of(night.start("resume")), 0) << night.guard({"nightly", "report", "--format", "json"}).out;
  EXPECT_EQ(night.committed().size(), 2U);
  EXPECT_TRUE(fs::is_empty(night.scratch()));
  ::umount2(night.scratch().c_str(), MNT_DETACH);
}

// The element that is cancelled would have made the rest of its batch, too: somebody else makes it, as the same
// attempt.
TEST(SlurmNights, GiveTheRestOfABatchAgain) {
  GUARD_NEEDS(Needs::namespace_sandbox);
  GUARD_NEEDS_SLURM();
  const Slurm slurm;
  const SlurmNight night(slurm);
  night.plan({{"one", "slow"}, {"two", "slow"}, {"three", "slow"}}, night.head(3));
  const pid_t loop = night.start("run");
  EXPECT_TRUE(wait_for([&] { return night.worker() != 0; }));
  (void)slurm.line_of("scancel $(squeue --noheader --states=running --format=%i)");
  EXPECT_EQ(SlurmNight::end_of(loop), 0);
  EXPECT_EQ(night.committed().size(), 3U);
  std::set<std::string> records;
  for (const auto& entry : fs::recursive_directory_iterator(night.state() / "evidence"))
    if (entry.is_regular_file()) records.insert(entry.path().filename().native());
  EXPECT_EQ(records, (std::set<std::string>{"one-1.json", "two-1.json", "three-1.json"}));
}

TEST(SlurmNights, CancelTheirJobsWhenTheyAreStopped) {
  GUARD_NEEDS(Needs::namespace_sandbox);
  GUARD_NEEDS_SLURM();
  const Slurm slurm;
  const SlurmNight night(slurm);
  night.plan({{"one", "hangs"}, {"two", "hangs"}, {"three", "hangs"}}, night.head(1));
  const pid_t loop = night.start("run");
  EXPECT_TRUE(wait_for([&] { return night.worker() != 0; }));
  ::kill(loop, SIGTERM);
  EXPECT_EQ(SlurmNight::end_of(loop), 143);
  EXPECT_TRUE(wait_for([&] { return slurm.line_of("squeue --noheader").empty(); }));
  EXPECT_TRUE(wait_for([&] { return night.worker() == 0; }));
  EXPECT_TRUE(wait_for([&] { return fs::is_empty(night.scratch()); }));
}

// The socket timed out, and the job was submitted all the same.
TEST(SlurmNights, CancelWhatAnSbatchSubmittedThatFailed) {
  GUARD_NEEDS(Needs::namespace_sandbox);
  GUARD_NEEDS_SLURM();
  const Slurm slurm;
  const SlurmNight night(slurm);
  night.replace_sbatch(
      "mkdir $here/failed 2>/dev/null || exec $sbatch \"$@\"\n$sbatch --hold \"$@\" >$here/stray\necho 'timed out' "
      ">&2\nexit "
      "1\n");
  night.plan({{"one", "slow"}, {"two", "slow"}}, night.head(2));
  EXPECT_EQ(SlurmNight::end_of(night.start("run")), 0);
  EXPECT_EQ(night.committed().size(), 2U);
  EXPECT_EQ(slurm.line_of("squeue --noheader --states=all --format=%T --job=$(cat " + night.programs() + "/stray)"),
      "CANCELLED");
}

TEST(SlurmNights, EndWhileSbatchHangsAndCancelWhatItSubmitted) {
  GUARD_NEEDS(Needs::namespace_sandbox);
  GUARD_NEEDS_SLURM();
  const Slurm slurm;
  const SlurmNight night(slurm);
  night.replace_sbatch("$sbatch \"$@\"\nexec sleep 600\n");
  night.plan({{"one", "hangs"}, {"two", "hangs"}}, night.head(1));
  const pid_t loop = night.start("run");
  EXPECT_TRUE(wait_for([&] { return night.worker() != 0; }));
  ::kill(loop, SIGTERM);
  int status = 0;
  EXPECT_TRUE(wait_for([&] { return ::waitpid(loop, &status, WNOHANG) == loop; }));
  EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 143);
  EXPECT_TRUE(wait_for([&] { return slurm.line_of("squeue --noheader").empty(); }));
  EXPECT_TRUE(wait_for([&] { return night.worker() == 0; }));
}

}  // namespace
}  // namespace guard::testing

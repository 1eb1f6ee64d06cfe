#include "runner/process/child_process.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <grp.h>
#include <linux/close_range.h>
#include <poll.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <string_view>

#include "common/text/text.h"

namespace guard {
namespace {

constexpr int kBusyAttempts = 200;
constexpr int kBusyPauseMs = 5;

enum class Step : int { descriptors, cgroup, user, folder, program };

struct StartFailure {
  Step step = Step::program;
  int number = 0;
};

std::string_view words(Step step) {
  switch (step) {
    case Step::descriptors: return "arranging the descriptors of";
    case Step::cgroup: return "entering the control group for";
    case Step::user: return "dropping privileges for";
    case Step::folder: return "entering the working folder of";
    case Step::program: return "executing";
  }
  return "starting";
}

// Everything the child needs, made before vfork(): between that and execve() nothing may allocate or lock, because the
// child lives in our memory, and other threads of ours go on.
struct Plan {
  std::string program;
  std::vector<char*> argv;
  std::vector<char*> env;
  std::vector<std::string> env_text;
  std::vector<std::pair<int, int>> descriptors;  // room for the copies
  int above = 3;                                 // first number above all targets
  pid_t parent = 0;
  int status = -1;
};

[[noreturn]] void report_failure(int status, Step step, int number) {
  const StartFailure failure{step, number};
  const ssize_t ignored = ::write(status, &failure, sizeof failure);
  static_cast<void>(ignored);
  ::_exit(127);
}

void close_all_on_exec() {
  if (::syscall(SYS_close_range, 3u, ~0u, CLOSE_RANGE_CLOEXEC) == 0) return;
  rlimit limit{};
  ::getrlimit(RLIMIT_NOFILE, &limit);
  const int end = static_cast<int>(std::min<rlim_t>(limit.rlim_cur, 1 << 20));
  for (int fd = 3; fd < end; ++fd) ::fcntl(fd, F_SETFD, FD_CLOEXEC);
}

// Now, and not on exec: another thread of ours may be writing the very program that is to be executed, and our copy of
// its descriptor would keep that busy.
void close_all_but_targets(const Plan& plan) {
  for (int fd = 3; fd < plan.above; ++fd) {
    bool wanted = false;
    for (const auto& [source, target] : plan.descriptors) wanted = wanted || target == fd;
    if (!wanted) ::close(fd);
  }
  const auto from = static_cast<unsigned>(plan.above);
  const auto status = static_cast<unsigned>(plan.status);
  if (status > from) ::syscall(SYS_close_range, from, status - 1, 0u);
  ::syscall(SYS_close_range, status + 1, ~0u, 0u);
}

void arrange_descriptors(Plan& plan) {
  // First out of the way of every target, then into place: a source may carry another one's target number.
  const int status = ::fcntl(plan.status, F_DUPFD_CLOEXEC, plan.above);
  if (status < 0) report_failure(plan.status, Step::descriptors, errno);
  plan.status = status;
  for (auto& [source, target] : plan.descriptors) {
    source = ::fcntl(source, F_DUPFD_CLOEXEC, plan.above);
    if (source < 0) report_failure(plan.status, Step::descriptors, errno);
  }
  close_all_on_exec();
  const int null = ::open("/dev/null", O_RDWR | O_CLOEXEC);
  for (int fd = 0; fd <= 2; ++fd) {
    if (null < 0 || ::dup2(null, fd) < 0) report_failure(plan.status, Step::descriptors, errno);
  }
  for (const auto& [source, target] : plan.descriptors) {
    if (::dup2(source, target) != target) report_failure(plan.status, Step::descriptors, errno);
  }
  close_all_but_targets(plan);
}

void become_user(int status, uid_t user) {
  if (::setgroups(0, nullptr) != 0 || ::setresgid(user, user, user) != 0 || ::setresuid(user, user, user) != 0) {
    report_failure(status, Step::user, errno);
  }
}

[[noreturn]] void run_child(Plan& plan, const ChildSpec& spec) {
  ::setpgid(0, 0);
  for (const int cgroup : spec.join_cgroups) {
    if (::write(cgroup, "0", 1) != 1) report_failure(plan.status, Step::cgroup, errno);
  }
  arrange_descriptors(plan);
  if (spec.become_user) become_user(plan.status, *spec.become_user);
  // After the change of user, which clears it. The parent may have died in between.
  ::prctl(PR_SET_PDEATHSIG, spec.death_signal);
  if (::getppid() != plan.parent) ::_exit(127);
  if (!spec.cwd.empty() && ::chdir(spec.cwd.c_str()) != 0) report_failure(plan.status, Step::folder, errno);
  for (int number = 1; number < NSIG; ++number) ::signal(number, SIG_DFL);
  sigset_t none;
  ::sigemptyset(&none);
  ::sigprocmask(SIG_SETMASK, &none, nullptr);
  // Busy: somebody else's child was forked while that one still had the program open for writing, and has not executed
  // anything yet.
  for (int left = kBusyAttempts;; --left) {
    ::execve(plan.program.c_str(), plan.argv.data(), plan.env.data());
    if (errno != ETXTBSY || left == 0) break;
    ::poll(nullptr, 0, kBusyPauseMs);
  }
  report_failure(plan.status, Step::program, errno);
}

}  // namespace

Result<std::string> find_program(const std::string& name, const std::map<std::string, std::string>& env) {
  if (name.find('/') != std::string::npos) return name;
  const auto path = env.find("PATH");
  std::string_view folders = path == env.end() ? std::string_view() : std::string_view(path->second);
  while (!folders.empty()) {
    const std::size_t end = std::min(folders.find(':'), folders.size());
    const std::string_view folder = folders.substr(0, end);
    folders.remove_prefix(std::min(end + 1, folders.size()));
    // Only absolute ones: "." in PATH would run what lies in the checked folder.
    if (folder.empty() || folder.front() != '/') continue;
    std::string candidate = fmt::format("{}/{}", folder, name);
    struct stat found {};
    if (::stat(candidate.c_str(), &found) == 0 && S_ISREG(found.st_mode) && ::access(candidate.c_str(), X_OK) == 0) {
      return candidate;
    }
  }
  return Error(ErrorCode::file_not_found, fmt::format("no program \"{}\" in PATH", printable(name)));
}

Result<Pipe> make_pipe(ErrorCode code) {
  int ends[2];
  if (::pipe2(ends, O_CLOEXEC) != 0) return Error::from_errno(code, "pipe", errno);
  return Pipe{UniqueFd(ends[0]), UniqueFd(ends[1])};
}

std::shared_mutex& executable_writes() {
  static std::shared_mutex mutex;
  return mutex;
}

Result<ChildProcess> ChildProcess::start(const ChildSpec& spec) {
  if (spec.argv.empty() || spec.argv.front().empty())
    return Error(ErrorCode::input_invalid, "no program to run was given");
  Plan plan;
  GUARD_TRY_ASSIGN(plan.program, find_program(spec.argv.front(), spec.env));
  for (const std::string& argument : spec.argv) plan.argv.push_back(const_cast<char*>(argument.c_str()));
  plan.argv.push_back(nullptr);
  plan.env_text.reserve(spec.env.size());
  for (const auto& [name, value] : spec.env) {
    plan.env.push_back(plan.env_text.emplace_back(fmt::format("{}={}", name, value)).data());
  }
  plan.env.push_back(nullptr);
  plan.descriptors = spec.descriptors;
  for (const auto& [source, target] : spec.descriptors) plan.above = std::max(plan.above, target + 1);
  plan.parent = ::getpid();

  GUARD_TRY_ASSIGN(Pipe status, make_pipe(ErrorCode::execution_failed));
  plan.status = status.write.get();

  // No handler of ours may run in the child before it has put the defaults back.
  sigset_t all;
  sigset_t before;
  ::sigfillset(&all);
  ::pthread_sigmask(SIG_SETMASK, &all, &before);
  // Not fork(): copying our page tables, and every page that we write to afterwards, costs more than the rest of a
  // start. The child works in our memory while we wait: it leaves nothing there but the numbers of its own descriptors
  // in `plan`.
  std::shared_lock writers(executable_writes());  // until the child has executed
  // NOLINTBEGIN(clang-analyzer-security.insecureAPI.vfork,clang-analyzer-unix.Vfork)
  const pid_t pid = ::vfork();
  const int fork_error = errno;
  if (pid == 0) run_child(plan, spec);
  // NOLINTEND(clang-analyzer-security.insecureAPI.vfork,clang-analyzer-unix.Vfork)
  writers.unlock();
  ::pthread_sigmask(SIG_SETMASK, &before, nullptr);
  if (pid < 0) return Error::from_errno(ErrorCode::execution_failed, "fork", fork_error);
  ::setpgid(pid, pid);  // both sides set it, so that it holds whoever comes first
  status.write.reset();

  ChildProcess child(pid, UniqueFd(static_cast<int>(::syscall(SYS_pidfd_open, pid, 0))));
  if (!child.pidfd_) return Error::from_errno(ErrorCode::execution_failed, "pidfd_open", errno);

  StartFailure failure;
  ssize_t size = 0;
  do {
    size = ::read(status.read.get(), &failure, sizeof failure);
  } while (size < 0 && errno == EINTR);
  if (size == 0) return child;
  if (size != static_cast<ssize_t>(sizeof failure))
    return Error(ErrorCode::execution_failed, "the child could not say what failed");
  const bool missing = failure.step == Step::program && failure.number == ENOENT;
  return Error::from_errno(missing ? ErrorCode::file_not_found : ErrorCode::execution_failed,
      fmt::format("{} {}", words(failure.step), printable(plan.program)), failure.number);
}

ChildProcess::ChildProcess(ChildProcess&& other) noexcept
    : pid_(std::exchange(other.pid_, -1)), pidfd_(std::move(other.pidfd_)), status_(other.status_) {}

ChildProcess& ChildProcess::operator=(ChildProcess&& other) noexcept {
  std::swap(pid_, other.pid_);
  std::swap(pidfd_, other.pidfd_);
  std::swap(status_, other.status_);
  return *this;
}

ChildProcess::~ChildProcess() {
  if (pid_ < 0 || status_) return;
  signal_group(SIGKILL);
  reap();
}

void ChildProcess::signal_group(int signal_number) const noexcept {
  if (pid_ > 0 && !status_) ::kill(-pid_, signal_number);
}

int ChildProcess::reap() {
  if (status_) return *status_;
  siginfo_t info{};
  while (::waitid(P_PID, static_cast<id_t>(pid_), &info, WEXITED | WNOWAIT) != 0 && errno == EINTR) {
  }
  signal_group(SIGKILL);
  int status = 0;
  while (::waitpid(pid_, &status, 0) < 0) {
    if (errno == EINTR) continue;
    status = SIGKILL;  // somebody else reaped it: nothing is known of its end, and that must not look like success
    break;
  }
  status_ = status;
  return status;
}

}  // namespace guard

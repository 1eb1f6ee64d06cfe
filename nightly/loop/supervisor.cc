#include "nightly/loop/supervisor.h"

#include <fmt/format.h>
#include <poll.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <thread>

#include "common/environment.h"
#include "common/file_io.h"
#include "common/text/text.h"
#include "common/time.h"
#include "runner/process/child_process.h"
#include "runner/process/process_tree.h"

namespace guard::nightly {
namespace {

constexpr milliseconds kGrace{2'000};
// The members of a pipeline end one after the other; what still runs after this was meant to stay.
constexpr milliseconds kEndsBySelf{300};
constexpr milliseconds kKillSpan{5'000};

void reap_all() {
  while (::waitpid(-1, nullptr, WNOHANG) > 0) {
  }
}

std::uint32_t left_running(pid_t self) {
  const Deadline deadline = Deadline::after(kEndsBySelf);
  for (;;) {
    const std::uint32_t living = living_descendants(self);
    if (living == 0 || deadline.passed()) return living;
    std::this_thread::sleep_for(milliseconds(10));
  }
}

}  // namespace

int supervise(const std::vector<std::string>& argv, const CancelToken& cancel) {
  // Guard's death must not kill us before we have ended the generator: the life line tells.
  ::prctl(PR_SET_PDEATHSIG, 0);
  ::prctl(PR_SET_CHILD_SUBREAPER, 1);
  ChildSpec spec;
  spec.argv = argv;
  spec.env = process_environment();
  spec.descriptors = {{0, 0}, {1, 1}, {2, 2}};
  std::string report;
  {
    auto child = ChildProcess::start(spec);
    if (!child) {
      report = fmt::format("error {}\n", printable(child.error().message()));
    } else {
      bool ending = false;
      Deadline kill_at = Deadline::never();
      for (;;) {
        std::array<pollfd, 3> fds = {pollfd{child->pidfd(), POLLIN, 0}, pollfd{ending ? -1 : cancel.fd(), POLLIN, 0},
            pollfd{ending ? -1 : kLifeLineFd, POLLIN, 0}};
        const int ready = ::poll(fds.data(), fds.size(), kill_at.poll_timeout());
        if (fds[0].revents != 0 && ready > 0) break;
        if (ready > 0 && !ending && (fds[1].revents != 0 || fds[2].revents != 0)) {
          ending = true;
          kill_at = Deadline::after(kGrace);
          child->signal_group(SIGTERM);
          child->signal_group(SIGCONT);
        }
        if (kill_at.passed()) {
          child->signal_group(SIGKILL);
          kill_tree(::getpid(), Deadline::after(kKillSpan));
          break;
        }
      }
      // Before the child is reaped, which kills what is left of its group: a daemon may not have left it yet.
      const std::uint32_t left = left_running(::getpid());
      const int status = child->reap();
      report = WIFSIGNALED(status) ? fmt::format("signal {} left {}\n", WTERMSIG(status), left)
                                   : fmt::format("exit {} left {}\n", WEXITSTATUS(status), left);
    }
  }
  kill_tree(::getpid(), Deadline::after(kKillSpan));
  reap_all();
  return write_all(kReportFd, report) ? 0 : 2;
}

}  // namespace guard::nightly

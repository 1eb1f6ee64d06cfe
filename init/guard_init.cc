// guard-init: PID 1 of a sandbox (or, on the host, a plain supervisor that adopts orphans).
//
//   guard-init [--owner TEXT] [--no-life-line] [--report] [--attest] [--filter] [--watch] [--key] [--stdin] [--egress]
//              [--nofile N] [--fsize N] [--nproc N]
//              [--deadline-ms N] [--grace-ms N] [--each N [--each-ms N]] [--fresh FOLDER]... [--fill FOLDER SOURCE]
//              [--shared FOLDER DEVICE:INODE]...
//              [--collect FOLDER [--collect-files N] [--collect-bytes N] [--collect-file-bytes N]] -- PROGRAM [ARG...]
//
// It speaks the frames of runner/init_side/init_protocol.h on its standard output. Its standard input is the life line,
// of which the end is what matters. PROGRAM is looked up in PATH, gets the environment as it is, /dev/null as its
// standard input, pipes as its outputs (and as descriptor 3 with --report), a session of its own, and no other
// descriptor but a socket as descriptor 4 with --attest.
//
//   TERM from outside   is forwarded to every process; after --grace-ms whatever is left is killed.
//   TERM from inside    (or from anyone but our parent, on the host) is noted, and everything is killed.
//   --deadline-ms       the same as TERM from outside; belt and braces, guard has its own clock.
//   end of life line    everything is killed, no frame is written: nobody is there to read it.
//   --owner TEXT        says on our command line whose run this is, for those who clean up behind a dead guard and
//   engine.
//   --no-life-line      standard input is not looked at, where who starts us can hand none in: that the stream has no
//   reader any more and the deadline are then what ends us.
//   PROGRAM ended       everything else is killed before the pipes are drained, so a daemon that holds one cannot hang
//   us.
//   --filter            the system call filter of docker/seccomp.json is put over us and all that comes after, where
//   the runtime does not do it (gVisor's kernel is its own, and asks nobody).
//   --watch             a kill for memory or a refused process in our cgroup ends the run: it can't go well any more,
//   and the program may try for ever. Only where the cgroup that we see is the run's own.
//   --egress            programs find a proxy on the loopback (init/egress.h).
//   --stdin             PROGRAM reads what guard hands over on the life line (init/program_input.h), not /dev/null.
//   --key               the first bytes of standard input are the key of the frames' tags
//   (runner/init_side/frame_tag.h).
//   --collect FOLDER    once everything has ended, what was written there is handed out (init/collect_files.h): the
//   files where PROGRAM exited with 0, else only their names; nothing where the run was stopped.
//
//   --each N            the last N arguments are not given to PROGRAM together: it is run once for each of them, one
//   after another, every run as if it were the only one, with an exit frame of its own.
//   --each-ms N         ends one of these runs that takes longer, as the deadline does; the next one begins all the
//   same.
//   --fresh FOLDER      is emptied between two of these runs (init/empty_folder.h).
//   --fill FOLDER SOURCE  FOLDER starts with what the file SOURCE holds (runner/init_side/fill_format.h), before every
//   run, and the exit frame tells what was done to the copies (init/filled_folder.h).
//   --shared FOLDER DEVICE:INODE  nothing is started where FOLDER is another one.
//
//   --serve             no PROGRAM: tasks are run that guard asks for, until it goes (init/tasks/task_server.h).
//
// Started with --scratch-at or --finish it is another program: the stage before bubblewrap
// (init/stages/scratch_stage.h), or the one behind it (init/stages/finish_stage.h).
//
// The tested program has our uid, so everything hangs on it not reaching our descriptors: we are not dumpable, which
// closes /proc/1/fd and ptrace, and PID 1 is out of reach of KILL and STOP from inside. All is in static memory and all
// waiting is one poll: a reader that does not read, or a memory limit that is reached, must not cost us the life line.
#include <errno.h>
#include <fcntl.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <cstdint>
#include <utility>

#include "init/attestation_socket.h"
#include "init/collect_files.h"
#include "init/egress.h"
#include "init/empty_folder.h"
#include "init/filled_folder.h"
#include "init/observations.h"
#include "init/process_watch.h"
#include "init/processes.h"
#include "init/program_input.h"
#include "init/stages/finish_stage.h"
#include "init/stages/scratch_stage.h"
#include "init/stream.h"
#include "init/tasks/task_server.h"
#include "runner/egress/egress_protocol.h"

extern "C" {
extern const char guard_seccomp_bpf[];
extern const char guard_seccomp_bpf_end[];
}

namespace guard::init {
namespace {

using init_protocol::FrameType;
using init_protocol::kFramePayloadMax;

constexpr int kReportFd = 3;
constexpr int kAttestationFd = 4;
constexpr long long kNever = -1;
constexpr int kSweepEveryMs = 20;
constexpr int kWatchEveryMs = 200;

struct Options {
  bool no_life_line = false;
  bool report = false;
  bool attest = false;
  bool filter = false;
  bool watch = false;
  bool key = false;
  bool input = false;
  bool serve = false;
  bool egress = false;
  long long nofile = -1;
  long long fsize = -1;
  long long nproc = -1;
  long long deadline_ms = -1;
  long long grace_ms = 10'000;
  long long each = 0;
  long long each_ms = -1;
  CollectOptions collect;
  const char* owner = nullptr;  // only said on the command line
  char** program = nullptr;
  int words = 0;  // of program
};

struct FilledFolder {
  const char* path = nullptr;
  const char* source = nullptr;
  mode_t mode = 0;
};
FilledFolder g_filled;

struct FreshFolder {
  const char* path;
  mode_t mode;
};
constexpr size_t kFreshFoldersMax = 8;
FreshFolder g_fresh[kFreshFoldersMax];
size_t g_fresh_count = 0;

struct SharedFolder {
  const char* path;
  const char* identity;
};
constexpr size_t kSharedFoldersMax = 256;
SharedFolder g_shared[kSharedFoldersMax];
size_t g_shared_count = 0;

struct Source {
  FrameType type = FrameType::out;
  int fd = -1;
};

int g_signals = -1;
pid_t g_parent = 0;

bool parse_options(int argc, char** argv, Options& options) {
  const struct {
    const char* name;
    bool* flag;
    long long* number;
    const char** text;
  } known[] = {
      {"--no-life-line", &options.no_life_line, nullptr, nullptr}, {"--report", &options.report, nullptr, nullptr},
      {"--attest", &options.attest, nullptr, nullptr}, {"--filter", &options.filter, nullptr, nullptr},
      {"--watch", &options.watch, nullptr, nullptr}, {"--key", &options.key, nullptr, nullptr},
      {"--stdin", &options.input, nullptr, nullptr}, {"--serve", &options.serve, nullptr, nullptr},
      {"--egress", &options.egress, nullptr, nullptr}, {"--nofile", nullptr, &options.nofile, nullptr},
      {"--each", nullptr, &options.each, nullptr}, {"--each-ms", nullptr, &options.each_ms, nullptr},
      {"--fsize", nullptr, &options.fsize, nullptr}, {"--nproc", nullptr, &options.nproc, nullptr},
      {"--deadline-ms", nullptr, &options.deadline_ms, nullptr}, {"--grace-ms", nullptr, &options.grace_ms, nullptr},
      {"--collect-files", nullptr, &options.collect.files_max, nullptr},
      {"--collect-bytes", nullptr, &options.collect.bytes_max, nullptr},
      {"--collect-file-bytes", nullptr, &options.collect.file_bytes_max, nullptr},
      {"--collect", nullptr, nullptr, &options.collect.folder}, {"--owner", nullptr, nullptr, &options.owner},
      {"--fill", nullptr, nullptr, &g_filled.path},  // the source follows
  };
  for (int i = 1; i < argc; ++i) {
    const char* const word = argv[i];
    if (strcmp(word, "--") == 0) {
      options.program = argv + i + 1;
      options.words = argc - i - 1;
      return options.serve ? options.words == 0 && is_pid_one() : options.words > options.each;
    }
    if (strcmp(word, "--fresh") == 0) {
      if (i + 1 >= argc || g_fresh_count == kFreshFoldersMax) return false;
      g_fresh[g_fresh_count++].path = argv[++i];
      continue;
    }
    if (strcmp(word, "--shared") == 0) {
      if (i + 2 >= argc || g_shared_count == kSharedFoldersMax) return false;
      g_shared[g_shared_count++] = {argv[i + 1], argv[i + 2]};
      i += 2;
      continue;
    }
    bool taken = false;
    for (const auto& option : known) {
      if (strcmp(word, option.name) != 0) continue;
      if (option.flag != nullptr) *option.flag = true;
      if (option.flag == nullptr && ++i >= argc) return false;
      if (option.number != nullptr && !read_number(argv[i], *option.number)) return false;
      if (option.text != nullptr) *option.text = argv[i];
      taken = true;
    }
    if (!taken) return false;
    if (strcmp(word, "--fill") != 0) continue;
    if (++i >= argc) return false;
    g_filled.source = argv[i];
  }
  return false;
}

CgroupEvents g_events_before;

// Folders in memory in which there was no room for a byte or a file, when we looked.
struct Full {
  bool tmp = false;
  bool collected = false;
};
Full g_full;

AttestationState g_attestation;
bool g_errors_closed = false;

// On the host these folders are everybody's.
void look_for_full_folders(const Options& options) {
  if (!is_pid_one()) return;
  g_full.tmp = g_full.tmp || is_full("/tmp");
  if (options.collect.folder != nullptr) g_full.collected = g_full.collected || is_full(options.collect.folder);
}

// The run can't go well any more.
bool is_spent(const Options& options) {
  if (!options.watch) return false;
  const CgroupEvents events = cgroup_events();
  return events.oom_kills > g_events_before.oom_kills || events.pids_refused > g_events_before.pids_refused;
}

void load_filter() {
  // The kernel's record of an instruction has 8 bytes, and the embedded program starts aligned.
  sock_fprog program{};
  program.len =
      static_cast<unsigned short>((guard_seccomp_bpf_end - guard_seccomp_bpf) / static_cast<long>(sizeof(sock_filter)));
  program.filter = reinterpret_cast<sock_filter*>(const_cast<char*>(guard_seccomp_bpf));
  if (prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) != 0) fail_to_start("system call filter", errno);
}

// --- start ---

// Like a pipe, but nobody can open it once more through /proc: whoever closes it has lost it.
void make_socket_pipe(int (&ends)[2]) {
  make_socket_pair(SOCK_STREAM, ends);
  if (shutdown(ends[0], SHUT_WR) != 0) fail_to_start("socketpair", errno);
}

void set_limit(__rlimit_resource_t resource, long long value, const char* name) {
  if (value < 0) return;
  rlimit limit{};
  if (getrlimit(resource, &limit) != 0) fail_to_start(name, errno);
  // Never upwards: an engine that allows less has the last word.
  const rlim_t wanted = static_cast<rlim_t>(value) < limit.rlim_max ? static_cast<rlim_t>(value) : limit.rlim_max;
  limit.rlim_cur = limit.rlim_max = wanted;
  if (setrlimit(resource, &limit) != 0) fail_to_start(name, errno);
}

// `word`: which of the last --each arguments this run gets.
[[noreturn]] void become_program(const Options& options, long long word, int out, int err, int report, int attestation,
    int watch, int status, int input) {
  become_own_session();
  if (dup2(input, 0) == 0 && dup2(out, 1) == 1 && dup2(err, 2) == 2 &&
      (!options.report || dup2(report, kReportFd) == kReportFd) &&
      (!options.attest || dup2(attestation, kAttestationFd) == kAttestationFd)) {
    if (options.each > 0) {
      char** last = options.program + options.words - options.each;
      last[0] = last[word];
      last[1] = nullptr;
    }
    if (!options.attest || begin_watch(watch)) execvp(options.program[0], options.program);
  }
  const int error = errno;
  const ssize_t ignored = write(status, &error, sizeof error);
  static_cast<void>(ignored);
  _exit(127);
}

struct Ending {
  pid_t program = 0;
  Watch watch;
  int wait_status = 0;
  bool program_ended = false;
  bool everything_ended = false;
  bool term_from_inside = false;
  bool term_from_outside = false;
  bool timed_out = false;
  bool out_of_own_time = false;
  long long leftovers = 0;
  long long kill_at = kNever;
};

void reap(Ending& ending) {
  for (;;) {
    int status = 0;
    const pid_t pid = waitpid(-1, &status, WNOHANG | __WALL);
    if (pid == 0) return;
    if (pid < 0) {
      if (errno == EINTR) continue;
      ending.everything_ended = true;
      return;
    }
    if (pid == ending.program) {
      ending.program_ended = true;
      ending.wait_status = status;
    } else if (ending.program_ended && WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL) {
      ++ending.leftovers;
    }
  }
}

void ask_to_end(Ending& ending, const Options& options) {
  signal_everything(SIGTERM);
  signal_everything(SIGCONT);  // a stopped process could not act on TERM
  const long long kill_at = now_ms() + options.grace_ms;
  if (ending.kill_at == kNever || kill_at < ending.kill_at) ending.kill_at = kill_at;
}

// kill(2) from outside the PID namespace shows sender 0 and SI_USER; sigqueue(3) can claim any sender, but not SI_USER.
bool is_from_outside(const signalfd_siginfo& info) {
  if (info.ssi_code != SI_USER) return false;
  return is_pid_one() ? info.ssi_pid == 0 : static_cast<pid_t>(info.ssi_pid) == g_parent;
}

void take_signals(Ending& ending, const Options& options) {
  // Some at a time: a program may send them as fast as we read.
  for (int left = 32; left > 0; --left) {
    signalfd_siginfo info{};
    if (read(g_signals, &info, sizeof info) != static_cast<ssize_t>(sizeof info)) return;
    if (info.ssi_signo != SIGTERM) continue;
    if (is_from_outside(info)) {
      ending.term_from_outside = true;
      ask_to_end(ending, options);
    } else {
      ending.term_from_inside = true;
      ending.kill_at = now_ms();
    }
  }
}

bool is_any_ready(const pollfd* begin, const pollfd* end) {
  while (begin != end && begin->revents == 0) ++begin;
  return begin != end;
}

// Takes the next chunk of the program's output into the frame buffer, each stream in its turn.
bool read_source(Source (&sources)[3], size_t& turn) {
  for (size_t tried = 0; tried < 3; ++tried) {
    Source& source = sources[(turn + tried) % 3];
    if (source.fd < 0) continue;
    const ssize_t size = read(source.fd, frame_payload(), kFramePayloadMax);
    if (size > 0) {
      begin_frame(source.type, static_cast<size_t>(size));
      turn = (turn + tried + 1) % 3;
      return true;
    }
    if (size < 0 && (errno == EAGAIN || errno == EINTR)) continue;
    // While tests run, bun holds its standard error open, and tells of failures there.
    if (source.type == FrameType::err && !g_attestation.attested) g_errors_closed = true;
    close(source.fd);
    source.fd = -1;
  }
  return false;
}

bool was_stopped(const Ending& ending) {
  return ending.term_from_inside || ending.term_from_outside || ending.timed_out;
}

// For what ended programs have sent to the network. At most half of the time that guard still gives, so that a server
// that does not read makes no time-out of a program that ended in time.
long long last_bytes_until(long long now, const Options& options, long long deadline) {
  constexpr long long kEnough = egress_protocol::kLastBytesMs;
  if (deadline == kNever) return now + kEnough;
  const long long left = (deadline - init_protocol::kDeadlineSlackMs - options.grace_ms - now) / 2;
  return now + (left < kEnough ? left : kEnough);
}

void heed_clocks(Ending& ending, const Options& options, long long deadline, long long own_deadline) {
  if (!ending.timed_out && deadline != kNever && now_ms() >= deadline) {
    ending.timed_out = true;
    ask_to_end(ending, options);
  }
  if (!ending.out_of_own_time && !ending.program_ended && own_deadline != kNever && now_ms() >= own_deadline) {
    ending.out_of_own_time = true;
    ask_to_end(ending, options);
  }
  if (ending.program_ended || (ending.kill_at != kNever && now_ms() >= ending.kill_at)) {
    signal_everything(SIGKILL);
    reap(ending);
  }
}

void supervise(Source (&sources)[3], Ending& ending, const Options& options, long long deadline) {
  const long long own_deadline = options.each_ms < 0 ? kNever : now_ms() + options.each_ms;
  long long look_at = is_pid_one() ? now_ms() + kWatchEveryMs : kNever;
  size_t turn = 0;
  long long leave_at = kNever;  // once everything has ended
  bool owes_output = false;     // its turn has come
  const auto may_send_last = [&] { return !was_stopped(ending) && !ending.out_of_own_time && now_ms() < leave_at; };
  while (!ending.everything_ended || (may_send_last() && egress_owes())) {
    if (!frame_pending() && wants_input()) {
      begin_frame(FrameType::input, 0);
      asked_for_input();
      send_some();
    }
    while (!frame_pending() && next_egress_frame()) {
      owes_output = true;
      send_some();
    }
    pollfd fds[10] = {{life_line_descriptor(), POLLIN, 0}, {g_signals, POLLIN, 0}, {stream_descriptor(), 0, 0}};
    fds[2].events = frame_pending() ? POLLOUT : 0;
    fds[3] = {input_descriptor(), POLLOUT, 0};
    fds[4] = {egress_descriptor(), POLLIN, 0};
    nfds_t count = 5;
    for (const Source& source : sources) {
      if (source.fd >= 0 && !frame_pending()) fds[count++] = {source.fd, POLLIN, 0};
    }
    if (g_attestation.socket >= 0 && !frame_pending()) fds[count++] = {g_attestation.socket, POLLIN, 0};
    if (ending.watch.listener >= 0) fds[count++] = {ending.watch.listener, POLLIN, 0};
    long long wait = -1;
    const long long now = now_ms();
    const auto wake_at = [&wait, now](long long when) {
      const long long left = when > now ? when - now : 0;
      if (wait < 0 || left < wait) wait = left;
    };
    if (deadline != kNever && !ending.timed_out) wake_at(deadline);
    if (own_deadline != kNever && !ending.out_of_own_time && !ending.program_ended) wake_at(own_deadline);
    if (ending.kill_at != kNever) wake_at(ending.kill_at > now ? ending.kill_at : now + kSweepEveryMs);
    if (ending.program_ended) wake_at(now + kSweepEveryMs);
    if (look_at != kNever && ending.kill_at == kNever) wake_at(look_at);
    if (leave_at != kNever) wake_at(leave_at);
    poll(fds, count, wait > 60'000 ? 60'000 : static_cast<int>(wait));

    if (fds[0].revents != 0) hear_guard();
    if (fds[3].revents != 0) write_input();
    if (fds[4].revents != 0) look_at_egress();
    if ((fds[2].revents & (POLLERR | POLLHUP | POLLNVAL)) != 0) leave_at_once();
    if (ending.watch.listener >= 0) answer_call(ending.watch);
    if (fds[1].revents != 0) {
      take_signals(ending, options);
      reap(ending);
    }
    if (look_at != kNever && now_ms() >= look_at) {
      look_at = now_ms() + kWatchEveryMs;
      look_for_full_folders(options);
      if (ending.kill_at == kNever && is_spent(options)) ending.kill_at = now_ms();
    }
    heed_clocks(ending, options, deadline, own_deadline);
    if (ending.everything_ended && leave_at == kNever) leave_at = last_bytes_until(now_ms(), options, deadline);
    if (frame_pending()) send_some();
    if (!frame_pending() && g_attestation.socket >= 0 &&
        read_attestation(g_attestation, ending.program) == Said::attestation)
      send_some();
    // After frames of the network, too: it was not asked for while one was on its way.
    if (!frame_pending() && (std::exchange(owes_output, false) || is_any_ready(fds + 5, fds + count)) &&
        read_source(sources, turn))
      send_some();
  }
  close_input();
  send_all();
  cut_egress();
  // No process is left that could write: what the pipes hold is all there will ever be. Somebody outside who was handed
  // a descriptor (on the host) may keep one open; an empty pipe is the end for us.
  send_all();
  while (read_source(sources, turn)) send_all();
  while (g_attestation.socket >= 0) {
    const Said said = read_attestation(g_attestation, ending.program);
    if (said == Said::nothing) break;
    send_all();
  }
}

void hand_out_files(Ending& ending, const Options& options) {
  if (options.collect.folder == nullptr || was_stopped(ending) || ending.out_of_own_time) return;
  const bool passed = WIFEXITED(ending.wait_status) && WEXITSTATUS(ending.wait_status) == 0;
  CollectOptions collect = options.collect;
  if (g_filled.path != nullptr) collect.changes = &folder_changes();
  // Guard's clock runs on while files are handed out, and it may ask us to stop.
  struct Context {
    Ending& ending;
    const Options& options;
  } context{ending, options};
  const auto must_end = [](void* asked) {
    auto& run = *static_cast<Context*>(asked);
    take_signals(run.ending, run.options);
    return run.ending.term_from_outside;
  };
  collect_files(collect, passed ? Collecting::files : Collecting::names, {must_end, &context});
}

void say_how_it_ended(const Ending& ending, const Options& options, int exec_error, bool more) {
  rusage usage{};
  getrusage(RUSAGE_CHILDREN, &usage);
  Lines lines;
  if (exec_error != 0) {
    lines.add("kind", "exec_failed");
    lines.add("errno", exec_error);
  } else if (WIFSIGNALED(ending.wait_status)) {
    lines.add("kind", "signaled");
    lines.add("value", WTERMSIG(ending.wait_status));
  } else {
    lines.add("kind", "exited");
    lines.add("value", WEXITSTATUS(ending.wait_status));
  }
  lines.add("term_from_inside", ending.term_from_inside ? 1 : 0);
  lines.add("term_from_outside", ending.term_from_outside ? 1 : 0);
  lines.add("timed_out", ending.timed_out ? 1 : 0);
  if (ending.out_of_own_time) lines.add("program_timeout_ms", options.each_ms);
  lines.add("leftovers", ending.leftovers);
  const CgroupEvents events = cgroup_events();
  lines.add("oom_kills", events.oom_kills - g_events_before.oom_kills);
  lines.add("pids_refused", events.pids_refused - g_events_before.pids_refused);
  if (g_full.tmp) lines.add("tmp_full", 1);
  if (g_full.collected) lines.add("folder_full", options.collect.folder);
  if (const FolderChanges& changes = folder_changes(); changes.touched) {
    char path[sizeof changes.path + 256];
    snprintf(path, sizeof path, "%s/%s", g_filled.path, changes.path);
    lines.add("touched", path);
  }
  lines.add("attestation_forged", g_attestation.forged ? 1 : 0);
  lines.add("more", more ? 1 : 0);
  lines.add("errors_closed", g_errors_closed || ending.watch.errors_moved ? 1 : 0);
  lines.add("ended_elsewhere", ending.watch.ended_elsewhere ? 1 : 0);
  lines.add("debugged", g_attestation.debugged ? 1 : 0);
  lines.add("max_rss_kb", usage.ru_maxrss);
  lines.add("user_us", static_cast<long long>(usage.ru_utime.tv_sec) * 1'000'000 + usage.ru_utime.tv_usec);
  lines.add("sys_us", static_cast<long long>(usage.ru_stime.tv_sec) * 1'000'000 + usage.ru_stime.tv_usec);
  lines.send(FrameType::exit);
}

// What a program inherits from us and its user may change: a later one would find it changed.
struct Inherited {
  int nice;
  int policy;
  cpu_set_t processors;
  rlimit limits[RLIM_NLIMITS];
};
Inherited g_inherited;

Inherited inherited_now() {
  Inherited now;
  memset(&now, 0, sizeof now);
  now.nice = getpriority(PRIO_PROCESS, 0);
  now.policy = sched_getscheduler(0);
  sched_getaffinity(0, sizeof now.processors, &now.processors);
  for (int i = 0; i < RLIM_NLIMITS; ++i) getrlimit(static_cast<__rlimit_resource_t>(i), &now.limits[i]);
  return now;
}

// The mount can't be moved any more, so what it is now it stays.
void need_shared(const SharedFolder& folder) {
  struct stat found {};
  if (stat(folder.path, &found) != 0) fail_to_start("shared folder", errno);
  char identity[64];
  snprintf(identity, sizeof identity, "%llu:%llu", static_cast<unsigned long long>(found.st_dev),
      static_cast<unsigned long long>(found.st_ino));
  if (strcmp(identity, folder.identity) != 0) fail_to_start("a folder of --write was replaced by another one", 0);
}

void take_frame(char type, char* payload, size_t size) {
  if (static_cast<FrameType>(type) == FrameType::input) return take_input(payload, size);
  if (static_cast<FrameType>(type) == FrameType::connection) return take_egress(payload, size);
  leave_at_once();
}

void need_filled(const FillResult& result) {
  if (result.failed != nullptr) fail_to_start(result.failed, errno, result.sysctl);
}

void start_afresh() {
  const Inherited now = inherited_now();
  if (memcmp(&now, &g_inherited, sizeof now) != 0)
    fail_to_start("priority or limits of init were changed by a program", 0);
  for (size_t i = 0; i < g_fresh_count; ++i) {
    if (!empty_folder(g_fresh[i].path, g_fresh[i].mode))
      fail_to_start("emptying the folders between two programs", errno);
  }
  if (g_filled.path != nullptr) need_filled(restore_folder(g_filled.mode));
  g_full = Full();
  g_attestation = {};
  g_errors_closed = false;
}

// Whether another one is to be started: there is one, and the run was not stopped.
bool run_program(const Options& options, long long word, long long deadline, int null) {
  int out[2];
  int err[2];
  int report[2] = {-1, -1};
  int status[2];
  make_pipe(out);
  if (options.attest) {
    make_socket_pipe(err);
  } else {
    make_pipe(err);
  }
  make_pipe(status);
  if (options.report) make_pipe(report);
  const int attestation = options.attest ? offer_secret(g_attestation) : -1;
  int watch[2] = {-1, -1};
  if (options.attest) make_socket_pair(SOCK_SEQPACKET, watch);

  const int input = options.input ? open_input() : -1;

  Ending ending;
  ending.program = fork();
  if (ending.program < 0) fail_to_start("fork", errno);
  if (ending.program == 0)
    become_program(
        options, word, out[1], err[1], report[1], attestation, watch[1], status[1], options.input ? input : null);
  close(out[1]);
  close(err[1]);
  close(status[1]);
  if (options.input) close(input);
  if (options.report) close(report[1]);
  if (options.attest) {
    close(attestation);
    close(watch[1]);
    ending.watch = take_watch(watch[0], ending.program);
    close(watch[0]);
  }

  Source sources[3] = {{FrameType::out, out[0]}, {FrameType::err, err[0]}, {FrameType::report, report[0]}};
  for (const Source& source : sources) {
    if (source.fd >= 0) fcntl(source.fd, F_SETFL, fcntl(source.fd, F_GETFL) | O_NONBLOCK);
  }
  supervise(sources, ending, options, deadline);
  if (ending.watch.listener >= 0) close(ending.watch.listener);
  look_for_full_folders(options);

  // Empty unless exec failed: the pipe closes on exec.
  int exec_error = 0;
  if (read(status[0], &exec_error, sizeof exec_error) != static_cast<ssize_t>(sizeof exec_error)) exec_error = 0;
  close(status[0]);
  for (const Source& source : sources) {
    if (source.fd >= 0) close(source.fd);
  }
  if (g_attestation.socket >= 0) close(g_attestation.socket);
  g_attestation.socket = -1;
  if (exec_error == 0) hand_out_files(ending, options);
  const bool more = word + 1 < options.each && exec_error == 0 && !was_stopped(ending) && !is_spent(options);
  say_how_it_ended(ending, options, exec_error, more);
  return more;
}

int run(int argc, char** argv) {
  if (argc > 1 && strcmp(argv[1], "--scratch-at") == 0) return run_scratch_stage(argc, argv);
  if (argc > 1 && strcmp(argv[1], "--finish") == 0) return run_finish_stage(argc, argv);
  if (argc == 2 && strcmp(argv[1], "--nothing") == 0) return 0;  // a program for trial runs
  Options options;
  if (!parse_options(argc, argv, options)) {
    fputs("usage: guard-init [OPTION]... -- PROGRAM [ARG...]\n", stderr);
    return kExitUsage;
  }
  // First of all: from here on the program that will share our uid cannot look into us.
  if (prctl(PR_SET_DUMPABLE, 0) != 0 || prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0) return kExitCannotServe;
  g_parent = getppid();
  if (!is_pid_one() && prctl(PR_SET_CHILD_SUBREAPER, 1) != 0) return kExitCannotServe;

  sigset_t all;
  sigfillset(&all);
  sigprocmask(SIG_SETMASK, &all, nullptr);

  close_from(3);
  open_stream(options.no_life_line ? LifeLine::none : LifeLine::standard_input);
  if (options.key) read_key();
  const int null_raw = open("/dev/null", O_RDWR | O_CLOEXEC);
  if (null_raw < 0) fail_to_start("open /dev/null", errno);
  const int null = keep(null_raw);
  close(null_raw);
  dup2(null, 0);
  dup2(null, 1);
  g_signals = signalfd(-1, &all, SFD_CLOEXEC | SFD_NONBLOCK);
  if (g_signals < 0) fail_to_start("signalfd", errno);

  set_limit(RLIMIT_CORE, 0, "limit of core dumps");
  set_limit(RLIMIT_NOFILE, options.nofile, "limit of open files");
  set_limit(RLIMIT_FSIZE, options.fsize, "limit of file size");
  set_limit(RLIMIT_NPROC, options.nproc, "limit of processes");
  g_events_before = cgroup_events();
  if (options.filter) load_filter();
  for (size_t i = 0; i < g_shared_count; ++i) need_shared(g_shared[i]);
  for (size_t i = 0; i < g_fresh_count; ++i) {
    struct stat found {};
    if (stat(g_fresh[i].path, &found) != 0) fail_to_start("folder to keep fresh", errno);
    g_fresh[i].mode = found.st_mode & 07777;
  }
  if (g_filled.path != nullptr) {
    struct stat found {};
    if (stat(g_filled.path, &found) != 0) fail_to_start("folder to fill", errno);
    g_filled.mode = found.st_mode & 07777;
    need_filled(fill_folder(g_filled.path, g_filled.source));
  }
  listen_with(take_frame);
  if (options.egress) open_egress();
  say_hello();
  if (options.serve) serve_tasks(null, g_signals);
  g_inherited = inherited_now();
  const long long deadline = options.deadline_ms < 0 ? kNever : now_ms() + options.deadline_ms;
  for (long long word = 0; run_program(options, word, deadline, null); ++word) start_afresh();
  end_watching();
  return 0;
}

}  // namespace
}  // namespace guard::init

int main(int argc, char** argv) { return guard::init::run(argc, argv); }

// guard-init: PID 1 of a sandbox (or, on the host, a plain supervisor that adopts orphans).
//
//   guard-init [--owner TEXT] [--no-life-line] [--report] [--attest] [--filter] [--watch] [--key] [--nofile N] [--fsize
//   N] [--nproc N]
//              [--deadline-ms N] [--grace-ms N] [--each N [--each-ms N]] [--fresh FOLDER]... [--fill FOLDER SOURCE]
//              [--collect FOLDER [--collect-files N] [--collect-bytes N] [--collect-file-bytes N]] -- PROGRAM [ARG...]
//
// It speaks the frames of runner/init_side/init_protocol.h on its standard output and reads nothing but the end of its
// standard input, which is the life line. PROGRAM is looked up in PATH, gets the environment as it is, /dev/null as its
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
//
// Started with --scratch-at it is another program: the stage before bubblewrap (init/scratch_stage.h).
//
// The tested program has our uid, so everything hangs on it not reaching our descriptors: we are not dumpable, which
// closes /proc/1/fd and ptrace, and PID 1 is out of reach of KILL and STOP from inside. All is in static memory and all
// waiting is one poll: a reader that does not read, or a memory limit that is reached, must not cost us the life line.
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/random.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/syscall.h>
#include <sys/utsname.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <cstdint>

#include "init/collect_files.h"
#include "init/empty_folder.h"
#include "init/filled_folder.h"
#include "init/process_watch.h"
#include "init/scratch_stage.h"
#include "runner/init_side/init_protocol.h"

extern "C" {
extern const char guard_seccomp_bpf[];
extern const char guard_seccomp_bpf_end[];
}

namespace {

using guard::init_protocol::FrameType;
using guard::init_protocol::kAttestationBytesMax;
using guard::init_protocol::kFramePayloadMax;
using guard::init_protocol::kHeaderBytes;
using guard::init_protocol::kTagBytes;
using guard::init_protocol::kTagKeyBytes;

constexpr int kReportFd = 3;
constexpr int kAttestationFd = 4;
constexpr int kOwnFdsFrom = 16;  // ours stay clear of the numbers the program gets
constexpr int kExitCannotServe = 70;
constexpr long long kNever = -1;
constexpr int kSweepEveryMs = 20;
constexpr int kWatchEveryMs = 200;
constexpr int kKeyWaitMs = 30'000;

struct Options {
  bool no_life_line = false;
  bool report = false;
  bool attest = false;
  bool filter = false;
  bool watch = false;
  bool key = false;
  long long nofile = -1;
  long long fsize = -1;
  long long nproc = -1;
  long long deadline_ms = -1;
  long long grace_ms = 10'000;
  long long each = 0;
  long long each_ms = -1;
  guard::init::CollectOptions collect;
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

struct Source {
  FrameType type = FrameType::out;
  int fd = -1;
};

// One frame at a time: nothing is read from the program before the last frame has left.
char g_frame[kHeaderBytes + kFramePayloadMax + kTagBytes];
size_t g_frame_size = 0;
size_t g_frame_sent = 0;

unsigned char g_key[kTagKeyBytes];
bool g_tagged = false;
uint64_t g_frames = 0;

int g_stream = -1;
int g_life_line = -1;
int g_signals = -1;
bool g_is_pid_one = false;
pid_t g_parent = 0;

long long now_ms() {
  timespec now{};
  clock_gettime(CLOCK_MONOTONIC, &now);
  return static_cast<long long>(now.tv_sec) * 1000 + now.tv_nsec / 1'000'000;
}

bool read_number(const char* text, long long& number) {
  char* end = nullptr;
  errno = 0;
  number = strtoll(text, &end, 10);
  return errno == 0 && end != text && *end == '\0' && number >= 0;
}

bool parse_options(int argc, char** argv, Options& options) {
  for (int i = 1; i < argc; ++i) {
    if (strcmp(argv[i], "--") == 0) {
      options.program = argv + i + 1;
      options.words = argc - i - 1;
      return options.words > options.each;
    }
    bool* flag = strcmp(argv[i], "--no-life-line") == 0 ? &options.no_life_line
        : strcmp(argv[i], "--report") == 0              ? &options.report
        : strcmp(argv[i], "--attest") == 0              ? &options.attest
        : strcmp(argv[i], "--filter") == 0              ? &options.filter
        : strcmp(argv[i], "--watch") == 0               ? &options.watch
        : strcmp(argv[i], "--key") == 0                 ? &options.key
                                                        : nullptr;
    if (flag != nullptr) {
      *flag = true;
      continue;
    }
    if (strcmp(argv[i], "--owner") == 0 && i + 1 < argc) {
      ++i;
      continue;
    }
    if (strcmp(argv[i], "--collect") == 0 && i + 1 < argc) {
      options.collect.folder = argv[++i];
      continue;
    }
    if (strcmp(argv[i], "--fresh") == 0 && i + 1 < argc) {
      if (g_fresh_count == kFreshFoldersMax) return false;
      g_fresh[g_fresh_count++].path = argv[++i];
      continue;
    }
    if (strcmp(argv[i], "--fill") == 0 && i + 2 < argc) {
      g_filled.path = argv[++i];
      g_filled.source = argv[++i];
      continue;
    }
    long long* number = strcmp(argv[i], "--nofile") == 0 ? &options.nofile
        : strcmp(argv[i], "--each") == 0                 ? &options.each
        : strcmp(argv[i], "--each-ms") == 0              ? &options.each_ms
        : strcmp(argv[i], "--fsize") == 0                ? &options.fsize
        : strcmp(argv[i], "--nproc") == 0                ? &options.nproc
        : strcmp(argv[i], "--deadline-ms") == 0          ? &options.deadline_ms
        : strcmp(argv[i], "--grace-ms") == 0             ? &options.grace_ms
        : strcmp(argv[i], "--collect-files") == 0        ? &options.collect.files_max
        : strcmp(argv[i], "--collect-bytes") == 0        ? &options.collect.bytes_max
        : strcmp(argv[i], "--collect-file-bytes") == 0   ? &options.collect.file_bytes_max
                                                         : nullptr;
    if (number == nullptr || i + 1 >= argc || !read_number(argv[++i], *number)) return false;
  }
  return false;
}

// --- processes ---

// On the host there is no namespace to name "everything of ours": it is what descends from us. Orphans come back to us
// (PR_SET_CHILD_SUBREAPER), so none is lost from the tree.
struct Process {
  pid_t pid;
  pid_t parent;
  bool ours;
};

int by_pid(const void* left, const void* right) {
  return static_cast<const Process*>(left)->pid - static_cast<const Process*>(right)->pid;
}

// The beginning of /proc/<number>/<name>, ended by a NUL. False where there is none.
template <size_t N>
bool read_proc(long long number, const char* name, char (&text)[N]) {
  char path[64];
  snprintf(path, sizeof path, "/proc/%lld/%s", number, name);
  const int fd = open(path, O_RDONLY | O_CLOEXEC);
  if (fd < 0) return false;
  const ssize_t size = read(fd, text, N - 1);
  close(fd);
  text[size > 0 ? size : 0] = '\0';
  return size > 0;
}

bool read_process(long long pid, Process& process) {
  char text[512];
  if (!read_proc(pid, "stat", text)) return false;
  // The name is in parentheses and may hold anything, parentheses too: the fields start behind the last one.
  const char* fields = strrchr(text, ')');
  int parent = 0;
  char state = 0;
  if (fields == nullptr || sscanf(fields + 1, " %c %d", &state, &parent) != 2) return false;
  process = {static_cast<pid_t>(pid), parent, parent == getpid()};
  return true;
}

void signal_descendants(int signal_number) {
  static Process processes[1 << 17];
  size_t count = 0;
  DIR* proc = opendir("/proc");
  if (proc == nullptr) return;
  while (dirent* entry = readdir(proc)) {
    long long pid = 0;
    if (entry->d_name[0] < '0' || entry->d_name[0] > '9' || !read_number(entry->d_name, pid)) continue;
    if (count < sizeof processes / sizeof processes[0] && read_process(pid, processes[count])) ++count;
  }
  closedir(proc);
  qsort(processes, count, sizeof processes[0], by_pid);
  // Parents mostly have the smaller number, so few rounds do; a fork bomb makes anything quadratic hurt.
  for (bool grew = true; grew;) {
    grew = false;
    for (size_t i = 0; i < count; ++i) {
      if (processes[i].ours) continue;
      const Process wanted = {processes[i].parent, 0, false};
      const auto* parent = static_cast<const Process*>(bsearch(&wanted, processes, count, sizeof processes[0], by_pid));
      if (parent != nullptr && parent->ours) processes[i].ours = grew = true;
    }
  }
  for (size_t i = 0; i < count; ++i) {
    if (processes[i].ours) kill(processes[i].pid, signal_number);
  }
}

void signal_everything(int signal_number) {
  if (g_is_pid_one) {
    kill(-1, signal_number);
    return;
  }
  // Stop them first: what is forked while we look would otherwise outrun us.
  if (signal_number == SIGKILL) signal_descendants(SIGSTOP);
  signal_descendants(signal_number);
}

[[noreturn]] void leave_at_once() {
  // Leaving a PID namespace as its PID 1 kills all that is in it. On the host it takes a few rounds.
  for (int round = 0; !g_is_pid_one && round < 2'000; ++round) {
    signal_everything(SIGKILL);
    while (waitpid(-1, nullptr, WNOHANG | __WALL) > 0) {
    }
    if (waitpid(-1, nullptr, WNOHANG | __WALL) < 0 && errno == ECHILD) break;
    usleep(5'000);
  }
  _exit(kExitCannotServe);
}

// --- frames ---

// The payload is in the frame already.
void begin_frame(FrameType type, size_t payload_bytes) {
  memset(g_frame, 0, kHeaderBytes);
  g_frame[0] = static_cast<char>(type);
  for (int i = 0; i < 4; ++i) {
    g_frame[4 + i] = static_cast<char>((payload_bytes >> (24 - 8 * i)) & 0xff);
  }
  g_frame_size = kHeaderBytes + payload_bytes;
  g_frame_sent = 0;
  if (!g_tagged) return;
  guard::init_protocol::SipHash hash(g_key);
  guard::init_protocol::begin_tag(hash, g_frames++);
  hash.update(g_frame, g_frame_size);
  unsigned char tag[kTagBytes];
  guard::init_protocol::write_tag(hash.finish(), tag);
  memcpy(g_frame + g_frame_size, tag, sizeof tag);
  g_frame_size += sizeof tag;
}

bool frame_pending() { return g_frame_sent < g_frame_size; }

void send_some() {
  while (frame_pending()) {
    const ssize_t sent = write(g_stream, g_frame + g_frame_sent, g_frame_size - g_frame_sent);
    if (sent > 0) {
      g_frame_sent += static_cast<size_t>(sent);
    } else if (sent < 0 && errno == EINTR) {
      continue;
    } else if (sent < 0 && (errno == EAGAIN || errno == EWOULDBLOCK)) {
      return;
    } else {
      leave_at_once();  // nobody reads any more
    }
  }
}

void check_life_line() {
  char ignored[256];
  const ssize_t size = read(g_life_line, ignored, sizeof ignored);
  if (size == 0 || (size < 0 && errno != EINTR && errno != EAGAIN)) leave_at_once();
}

// When nothing else is to be done: for the first frame, and for all that follow the end of every process.
void send_all() {
  send_some();
  while (frame_pending()) {
    pollfd fds[2] = {{g_life_line, POLLIN, 0}, {g_stream, POLLOUT, 0}};
    poll(fds, 2, -1);
    if (fds[0].revents != 0) check_life_line();
    if (fds[1].revents != 0) send_some();
  }
}

// Text of a hello or exit frame.
struct Lines {
  char* text = g_frame + kHeaderBytes;
  size_t size = 0;

  void add(const char* key, const char* value) {
    const int written = snprintf(text + size, kFramePayloadMax - size, "%s=%s\n", key, value);
    if (written > 0 && static_cast<size_t>(written) < kFramePayloadMax - size) size += static_cast<size_t>(written);
  }
  void add(const char* key, long long value) {
    char digits[32];
    snprintf(digits, sizeof digits, "%lld", value);
    add(key, digits);
  }
  void send(FrameType type) {
    begin_frame(type, size);
    send_all();
  }
};

// `sysctl`: the limit of this machine that was reached; may be none.
[[noreturn]] void fail_to_start(const char* step, int error, const char* sysctl = nullptr) {
  Lines lines;
  lines.add("kind", "init_failed");
  lines.add("step", step);
  lines.add("errno", error);
  if (sysctl != nullptr) lines.add("sysctl", sysctl);
  lines.send(FrameType::exit);
  _exit(kExitCannotServe);
}

void add_limit(Lines& lines, const char* key, __rlimit_resource_t resource) {
  rlimit limit{};
  if (getrlimit(resource, &limit) != 0) return;
  if (limit.rlim_max == RLIM_INFINITY) {
    lines.add(key, "unlimited");
  } else {
    lines.add(key, static_cast<long long>(limit.rlim_max));
  }
}

// How often the kernel killed for memory, or refused a process, in the cgroup whose files are mounted here: version 1,
// then 2. An engine tells the first late or never when it is busy, and the second not at all. 0 where nothing can be
// read.
struct CgroupEvents {
  long long oom_kills = 0;
  long long pids_refused = 0;
};

long long counter_in(const char* path, const char* label) {
  char text[1024];
  const int fd = open(path, O_RDONLY | O_CLOEXEC);
  if (fd < 0) return 0;
  const ssize_t size = read(fd, text, sizeof text - 1);
  close(fd);
  text[size > 0 ? size : 0] = '\0';
  const size_t length = strlen(label);
  for (const char* line = text; line != nullptr && *line != '\0';) {
    if (strncmp(line, label, length) == 0) return strtoll(line + length, nullptr, 10);
    line = strchr(line, '\n');
    if (line != nullptr) ++line;
  }
  return 0;
}

CgroupEvents cgroup_events() {
  CgroupEvents events;
  events.oom_kills = counter_in("/sys/fs/cgroup/memory/memory.oom_control", "oom_kill ") +
      counter_in("/sys/fs/cgroup/memory.events", "oom_kill ");
  events.pids_refused =
      counter_in("/sys/fs/cgroup/pids/pids.events", "max ") + counter_in("/sys/fs/cgroup/pids.events", "max ");
  return events;
}

CgroupEvents g_events_before;

// Folders in memory in which there was no room for a byte or a file, when we looked.
struct Full {
  bool tmp = false;
  bool collected = false;
};
Full g_full;

bool is_full(const char* folder) {
  struct statvfs found {};
  if (statvfs(folder, &found) != 0) return false;
  return (found.f_blocks > 0 && found.f_bfree == 0) || (found.f_files > 0 && found.f_ffree == 0);
}

// On the host these folders are everybody's.
void look_for_full_folders(const Options& options) {
  if (!g_is_pid_one) return;
  g_full.tmp = g_full.tmp || is_full("/tmp");
  if (options.collect.folder != nullptr) g_full.collected = g_full.collected || is_full(options.collect.folder);
}

// Whether this user may change what lies in a folder, or make it so.
bool may_change(const char* folder) {
  struct stat found {};
  if (stat(folder, &found) != 0) return false;
  return access(folder, W_OK) == 0 || chmod(folder, found.st_mode & 07777) == 0;
}

// Whether /tmp is what was asked for: not every way of mounting can limit files, or forbid to execute them.
void add_temporary_folder(Lines& lines) {
  struct statvfs folder {};
  if (statvfs("/tmp", &folder) != 0) return;
  // A tmpfs without a limit shows none; other file systems show how many files the whole disk may hold.
  lines.add("tmp_bytes", static_cast<long long>(folder.f_blocks * folder.f_frsize));
  lines.add("tmp_files", static_cast<long long>(folder.f_files));
  lines.add("tmp_noexec", (folder.f_flag & ST_NOEXEC) != 0 ? 1 : 0);
}

// Before the program is there, which must not get to it first. Without a key nothing can be said.
void read_key() {
  for (size_t filled = 0; filled < sizeof g_key;) {
    pollfd line{g_life_line, POLLIN, 0};
    if (poll(&line, 1, kKeyWaitMs) <= 0) _exit(kExitCannotServe);
    const ssize_t size = read(g_life_line, g_key + filled, sizeof g_key - filled);
    if (size == 0 || (size < 0 && errno != EINTR && errno != EAGAIN)) _exit(kExitCannotServe);
    if (size > 0) filled += static_cast<size_t>(size);
  }
  g_tagged = true;
}

void load_filter() {
  // The kernel's record of an instruction has 8 bytes, and the embedded program starts aligned.
  sock_fprog program{};
  program.len =
      static_cast<unsigned short>((guard_seccomp_bpf_end - guard_seccomp_bpf) / static_cast<long>(sizeof(sock_filter)));
  program.filter = reinterpret_cast<sock_filter*>(const_cast<char*>(guard_seccomp_bpf));
  if (prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) != 0) fail_to_start("system call filter", errno);
}

// The hello: what guard wants to see with its own eyes before it believes that the sandbox holds.
void say_hello() {
  static char status[8192];
  const int fd = open("/proc/self/status", O_RDONLY | O_CLOEXEC);
  ssize_t size = 0;
  if (fd >= 0) {
    size = read(fd, status, sizeof status - 1);
    close(fd);
  }
  status[size > 0 ? size : 0] = '\0';

  static const struct {
    const char* label;
    const char* key;
  } kFields[] = {{"CapInh:", "cap_inh"}, {"CapPrm:", "cap_prm"}, {"CapEff:", "cap_eff"}, {"CapBnd:", "cap_bnd"},
      {"Seccomp:", "seccomp"}, {"Seccomp_filters:", "seccomp_filters"}};
  Lines lines;
  lines.add("protocol", 1);
  lines.add("pid", getpid());
  lines.add("uid", getuid());
  lines.add("gid", getgid());
  for (char* line = strtok(status, "\n"); line != nullptr; line = strtok(nullptr, "\n")) {
    for (const auto& field : kFields) {
      const size_t length = strlen(field.label);
      if (strncmp(line, field.label, length) != 0) continue;
      const char* value = line + length;
      while (*value == '\t' || *value == ' ') ++value;
      lines.add(field.key, value);
    }
  }
  // Not every kernel that a sandbox brings along shows these two in /proc.
  lines.add("no_new_privs", prctl(PR_GET_NO_NEW_PRIVS, 0, 0, 0, 0));
  unsigned long long ambient = 0;
  for (unsigned long capability = 0; capability < 64; ++capability) {
    if (prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_IS_SET, capability, 0, 0) == 1) ambient |= 1ull << capability;
  }
  char set[32];
  snprintf(set, sizeof set, "%016llx", ambient);
  lines.add("cap_amb", set);
  utsname kernel{};
  if (uname(&kernel) == 0) lines.add("kernel", kernel.release);
  static gid_t groups[1024];
  const int group_count = getgroups(1024, groups);
  static char list[16384];
  size_t list_size = 0;
  for (int i = 0; i < group_count && list_size + 16 < sizeof list; ++i) {
    list_size +=
        static_cast<size_t>(snprintf(list + list_size, sizeof list - list_size, i == 0 ? "%u" : " %u", groups[i]));
  }
  list[list_size] = '\0';
  lines.add("groups", list);
  add_limit(lines, "rlimit_core", RLIMIT_CORE);
  add_limit(lines, "rlimit_nofile", RLIMIT_NOFILE);
  add_limit(lines, "rlimit_fsize", RLIMIT_FSIZE);
  add_limit(lines, "rlimit_nproc", RLIMIT_NPROC);
  add_temporary_folder(lines);
  lines.add("sources_writable", may_change(".") || may_change("./src") || may_change("./sandbox") ? 1 : 0);
  lines.send(FrameType::hello);
}

// --- start ---

// Ours, out of the way of the program's numbers, closed on exec. The first such call for the stream is what makes
// frames possible at all, so failures before it can only be told by the exit status.
int keep(int fd) {
  const int kept = fcntl(fd, F_DUPFD_CLOEXEC, kOwnFdsFrom);
  if (kept < 0) _exit(kExitCannotServe);
  return kept;
}

void close_inherited() {
  if (syscall(SYS_close_range, 3u, ~0u, 0u) == 0) return;
  const long open_max = sysconf(_SC_OPEN_MAX);
  for (int fd = 3; fd < (open_max > 0 ? open_max : 65536); ++fd) close(fd);
}

void move_to_own_numbers(const int (&raw)[2], int (&ends)[2], const char* step) {
  for (int i = 0; i < 2; ++i) {
    ends[i] = fcntl(raw[i], F_DUPFD_CLOEXEC, kOwnFdsFrom);
    if (ends[i] < 0) fail_to_start(step, errno);
    close(raw[i]);
  }
}

void make_pipe(int (&ends)[2]) {
  int raw[2];
  if (pipe2(raw, O_CLOEXEC) != 0) fail_to_start("pipe", errno);
  move_to_own_numbers(raw, ends, "pipe");
}

void make_socket_pair(int type, int (&ends)[2]) {
  int raw[2];
  if (socketpair(AF_UNIX, type | SOCK_CLOEXEC, 0, raw) != 0) fail_to_start("socketpair", errno);
  move_to_own_numbers(raw, ends, "socketpair");
}

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

// --- attestation ---

// The socket's other end. A pipe could be opened once more through /proc and read by the program; a socket can't.
int g_attestation = -1;
bool g_attestation_forged = false;
bool g_attested = false;
bool g_debugged = false;
bool g_errors_closed = false;
unsigned char g_secret[kTagKeyBytes];

// Puts a key where the program can read it once, and answers the program's end.
int offer_secret() {
  int ends[2];
  make_socket_pair(SOCK_SEQPACKET, ends);
  if (getrandom(g_secret, sizeof g_secret, 0) != static_cast<ssize_t>(sizeof g_secret))
    fail_to_start("getrandom", errno);
  if (write(ends[0], g_secret, sizeof g_secret) != static_cast<ssize_t>(sizeof g_secret))
    fail_to_start("attestation", errno);
  // Whoever reads a second time finds nothing, and does not wait.
  for (const int end : ends) {
    if (fcntl(end, F_SETFL, O_NONBLOCK) != 0) fail_to_start("attestation", errno);
  }
  g_attestation = ends[0];
  return ends[1];
}

enum class Said : std::uint8_t { nothing, something_forged, attestation };

bool has_valid_tag(const char* message, size_t length) {
  guard::init_protocol::SipHash hash(g_secret);
  hash.update(message, length - kTagBytes);
  unsigned char tag[kTagBytes];
  guard::init_protocol::write_tag(hash.finish(), tag);
  return memcmp(message + length - kTagBytes, tag, sizeof tag) == 0;
}

bool is_debugger(const char* name) { return strcmp(name, "Debugger") == 0 || strcmp(name, "SocketEndpoint") == 0; }

struct Thread {
  char name[64];
  long long process;
  long long threads;  // of that process
};

// The name is foreign, but its line ends are escaped: the other lines are the kernel's.
bool read_thread(long long number, Thread& thread) {
  char text[4096];
  if (!read_proc(number, "status", text)) return false;
  const char* process = strstr(text, "\nTgid:");
  const char* threads = strstr(text, "\nThreads:");
  return sscanf(text, "Name:\t%63[^\n]", thread.name) == 1 && process != nullptr &&
      sscanf(process, "\nTgid: %lld", &thread.process) == 1 && threads != nullptr &&
      sscanf(threads, "\nThreads: %lld", &thread.threads) == 1;
}

enum class Found : std::uint8_t { nothing, debugger, not_all };

// Numbers are given in order, so the threads of a program that has started nothing else follow it. To list them is
// dear: the kernel has to forget the whole list when the program ends, and its threads, which end at the same time,
// wait for each other.
Found look_at_following(pid_t program) {
  constexpr long long kNumbersMax = 64;
  Thread thread;
  long long left = 0;  // of those that were there at the start; where one ends meanwhile, not all are seen
  for (long long number = program; number < program + kNumbersMax; ++number) {
    if (!read_thread(number, thread) || thread.process != program) continue;
    if (is_debugger(thread.name)) return Found::debugger;
    if (number == program) left = thread.threads;
    if (--left == 0) return Found::nothing;
  }
  return Found::not_all;
}

// bun's threads that serve a debugger, which could read the key and write the counts.
bool has_debugger(pid_t program) {
  if (const Found found = look_at_following(program); found != Found::not_all) return found == Found::debugger;
  char path[64];
  snprintf(path, sizeof path, "/proc/%d/task", program);
  DIR* tasks = opendir(path);
  if (tasks == nullptr) return true;  // it ought to be there
  bool found = false;
  while (dirent* entry = readdir(tasks)) {
    if (entry->d_name[0] == '.') continue;
    char text[400];
    snprintf(text, sizeof text, "%s/%s/comm", path, entry->d_name);
    const int fd = open(text, O_RDONLY | O_CLOEXEC);
    if (fd < 0) continue;
    const ssize_t size = read(fd, text, sizeof text - 1);
    close(fd);
    text[size > 0 ? size : 0] = '\0';
    text[strcspn(text, "\n")] = '\0';
    found = found || is_debugger(text);
  }
  closedir(tasks);
  return found;
}

// Takes one message. An attestation is in the frame then, and is to be sent.
Said read_attestation(pid_t program) {
  static char message[kAttestationBytesMax + kTagBytes + 1];
  const ssize_t size = recv(g_attestation, message, sizeof message, MSG_DONTWAIT);
  if (size < 0 && (errno == EAGAIN || errno == EINTR)) return Said::nothing;
  if (size <= 0) {
    close(g_attestation);
    g_attestation = -1;
    return Said::nothing;
  }
  const size_t length = static_cast<size_t>(size);
  g_attested = length >= kTagBytes && length < sizeof message && has_valid_tag(message, length);
  g_attestation_forged = !g_attested;
  // Who attests waits for the end of the channel, so its threads and its standard error are still there.
  if (g_attested) g_debugged = has_debugger(program);
  close(g_attestation);
  g_attestation = -1;
  if (!g_attested) return Said::something_forged;
  memcpy(g_frame + kHeaderBytes, message, length - kTagBytes);
  begin_frame(FrameType::attestation, length - kTagBytes);
  return Said::attestation;
}

// `word`: which of the last --each arguments this run gets.
[[noreturn]] void become_program(const Options& options, long long word, int out, int err, int report, int attestation,
    int watch, int status, int null) {
  setsid();
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  for (int number = 1; number < NSIG; ++number) signal(number, SIG_DFL);
  sigset_t none;
  sigemptyset(&none);
  sigprocmask(SIG_SETMASK, &none, nullptr);
  if (dup2(null, 0) == 0 && dup2(out, 1) == 1 && dup2(err, 2) == 2 &&
      (!options.report || dup2(report, kReportFd) == kReportFd) &&
      (!options.attest || dup2(attestation, kAttestationFd) == kAttestationFd)) {
    if (options.each > 0) {
      char** last = options.program + options.words - options.each;
      last[0] = last[word];
      last[1] = nullptr;
    }
    if (!options.attest || guard::init::begin_watch(watch)) execvp(options.program[0], options.program);
  }
  const int error = errno;
  const ssize_t ignored = write(status, &error, sizeof error);
  static_cast<void>(ignored);
  _exit(127);
}

struct Ending {
  pid_t program = 0;
  guard::init::Watch watch;
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
  return g_is_pid_one ? info.ssi_pid == 0 : static_cast<pid_t>(info.ssi_pid) == g_parent;
}

void take_signals(Ending& ending, const Options& options) {
  signalfd_siginfo info{};
  while (read(g_signals, &info, sizeof info) == static_cast<ssize_t>(sizeof info)) {
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

// Takes the next chunk of the program's output into the frame buffer, each stream in its turn.
bool read_source(Source (&sources)[3], size_t& turn) {
  for (size_t tried = 0; tried < 3; ++tried) {
    Source& source = sources[(turn + tried) % 3];
    if (source.fd < 0) continue;
    const ssize_t size = read(source.fd, g_frame + kHeaderBytes, kFramePayloadMax);
    if (size > 0) {
      begin_frame(source.type, static_cast<size_t>(size));
      turn = (turn + tried + 1) % 3;
      return true;
    }
    if (size < 0 && (errno == EAGAIN || errno == EINTR)) continue;
    // While tests run, bun holds its standard error open, and tells of failures there.
    if (source.type == FrameType::err && !g_attested) g_errors_closed = true;
    close(source.fd);
    source.fd = -1;
  }
  return false;
}

void supervise(Source (&sources)[3], Ending& ending, const Options& options, long long deadline) {
  const long long own_deadline = options.each_ms < 0 ? kNever : now_ms() + options.each_ms;
  long long look_at = g_is_pid_one ? now_ms() + kWatchEveryMs : kNever;
  size_t turn = 0;
  while (!ending.everything_ended) {
    pollfd fds[8] = {{g_life_line, POLLIN, 0}, {g_signals, POLLIN, 0}, {g_stream, 0, 0}};
    fds[2].events = frame_pending() ? POLLOUT : 0;
    nfds_t count = 3;
    for (const Source& source : sources) {
      if (source.fd >= 0 && !frame_pending()) fds[count++] = {source.fd, POLLIN, 0};
    }
    if (g_attestation >= 0 && !frame_pending()) fds[count++] = {g_attestation, POLLIN, 0};
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
    poll(fds, count, wait > 60'000 ? 60'000 : static_cast<int>(wait));

    if (fds[0].revents != 0) check_life_line();
    if ((fds[2].revents & (POLLERR | POLLHUP | POLLNVAL)) != 0) leave_at_once();
    if (ending.watch.listener >= 0) guard::init::answer_call(ending.watch);
    take_signals(ending, options);
    reap(ending);
    if (look_at != kNever && now_ms() >= look_at) {
      look_at = now_ms() + kWatchEveryMs;
      look_for_full_folders(options);
      const CgroupEvents events = options.watch ? cgroup_events() : g_events_before;
      const bool spent =
          events.oom_kills > g_events_before.oom_kills || events.pids_refused > g_events_before.pids_refused;
      if (spent && ending.kill_at == kNever) ending.kill_at = now_ms();
    }
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
    if (frame_pending()) send_some();
    if (!frame_pending() && g_attestation >= 0 && read_attestation(ending.program) == Said::attestation) send_some();
    if (!frame_pending() && read_source(sources, turn)) send_some();
  }
  // No process is left that could write: what the pipes hold is all there will ever be. Somebody outside who was handed
  // a descriptor (on the host) may keep one open; an empty pipe is the end for us.
  send_all();
  while (read_source(sources, turn)) send_all();
  while (g_attestation >= 0) {
    const Said said = read_attestation(ending.program);
    if (said == Said::nothing) break;
    send_all();
  }
}

// Guard's clock runs on while files are handed out, and it may be asked to stop.
class StreamWriter final : public guard::init::FrameWriter {
 public:
  StreamWriter(Ending& ending, const Options& options) : ending_(ending), options_(options) {}
  char* payload() override { return g_frame + kHeaderBytes; }
  void send(FrameType type, size_t payload_bytes) override {
    begin_frame(type, payload_bytes);
    send_all();
  }
  bool must_end() override {
    take_signals(ending_, options_);
    return ending_.term_from_outside;
  }

 private:
  Ending& ending_;
  const Options& options_;
};

bool was_stopped(const Ending& ending) {
  return ending.term_from_inside || ending.term_from_outside || ending.timed_out;
}

void hand_out_files(Ending& ending, const Options& options) {
  if (options.collect.folder == nullptr || was_stopped(ending) || ending.out_of_own_time) return;
  const bool passed = WIFEXITED(ending.wait_status) && WEXITSTATUS(ending.wait_status) == 0;
  StreamWriter writer(ending, options);
  guard::init::CollectOptions collect = options.collect;
  if (g_filled.path != nullptr) collect.changes = &guard::init::folder_changes();
  guard::init::collect_files(collect, passed ? guard::init::Collecting::files : guard::init::Collecting::names, writer);
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
  if (const guard::init::FolderChanges& changes = guard::init::folder_changes(); changes.touched) {
    char path[sizeof changes.path + 256];
    snprintf(path, sizeof path, "%s/%s", g_filled.path, changes.path);
    lines.add("touched", path);
  }
  lines.add("attestation_forged", g_attestation_forged ? 1 : 0);
  lines.add("more", more ? 1 : 0);
  lines.add("errors_closed", g_errors_closed || ending.watch.errors_moved ? 1 : 0);
  lines.add("ended_elsewhere", ending.watch.ended_elsewhere ? 1 : 0);
  lines.add("debugged", g_debugged ? 1 : 0);
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

void need_filled(const guard::init::FillResult& result) {
  if (result.failed != nullptr) fail_to_start(result.failed, errno, result.sysctl);
}

void start_afresh() {
  const Inherited now = inherited_now();
  if (memcmp(&now, &g_inherited, sizeof now) != 0)
    fail_to_start("priority or limits of init were changed by a program", 0);
  for (size_t i = 0; i < g_fresh_count; ++i) {
    if (!guard::init::empty_folder(g_fresh[i].path, g_fresh[i].mode))
      fail_to_start("emptying the folders between two programs", errno);
  }
  if (g_filled.path != nullptr) need_filled(guard::init::restore_folder(g_filled.mode));
  g_full = Full();
  g_attestation_forged = g_attested = g_debugged = g_errors_closed = false;
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
  const int attestation = options.attest ? offer_secret() : -1;
  int watch[2] = {-1, -1};
  if (options.attest) make_socket_pair(SOCK_SEQPACKET, watch);

  Ending ending;
  ending.program = fork();
  if (ending.program < 0) fail_to_start("fork", errno);
  if (ending.program == 0)
    become_program(options, word, out[1], err[1], report[1], attestation, watch[1], status[1], null);
  close(out[1]);
  close(err[1]);
  close(status[1]);
  if (options.report) close(report[1]);
  if (options.attest) {
    close(attestation);
    close(watch[1]);
    ending.watch = guard::init::take_watch(watch[0], ending.program);
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
  if (g_attestation >= 0) close(g_attestation);
  g_attestation = -1;
  if (exec_error == 0) hand_out_files(ending, options);
  const CgroupEvents events = options.watch ? cgroup_events() : g_events_before;
  const bool spent = events.oom_kills > g_events_before.oom_kills || events.pids_refused > g_events_before.pids_refused;
  const bool more = word + 1 < options.each && exec_error == 0 && !was_stopped(ending) && !spent;
  say_how_it_ended(ending, options, exec_error, more);
  return more;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc > 1 && strcmp(argv[1], "--scratch-at") == 0) return guard::init::run_scratch_stage(argc, argv);
  if (argc == 2 && strcmp(argv[1], "--nothing") == 0) return 0;  // a program for trial runs
  Options options;
  if (!parse_options(argc, argv, options)) {
    fputs(
        "usage: guard-init [--owner TEXT] [--no-life-line] [--report] [--attest] [--filter] [--watch] [--key] "
        "[--nofile N] [--fsize N] "
        "[--nproc N] [--deadline-ms N] [--grace-ms N] [--each N [--each-ms N]] [--fresh FOLDER]... [--fill FOLDER "
        "SOURCE] "
        "[--collect FOLDER [--collect-files N] [--collect-bytes N] [--collect-file-bytes N]] -- PROGRAM [ARG...]\n",
        stderr);
    return 64;
  }
  // First of all: from here on the program that will share our uid cannot look into us.
  if (prctl(PR_SET_DUMPABLE, 0) != 0 || prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0) return kExitCannotServe;
  g_is_pid_one = getpid() == 1;
  g_parent = getppid();
  if (!g_is_pid_one && prctl(PR_SET_CHILD_SUBREAPER, 1) != 0) return kExitCannotServe;

  sigset_t all;
  sigfillset(&all);
  sigprocmask(SIG_SETMASK, &all, nullptr);

  close_inherited();
  g_stream = keep(1);
  // poll(2) passes over a negative descriptor.
  if (!options.no_life_line) g_life_line = keep(0);
  if (fcntl(g_stream, F_SETFL, fcntl(g_stream, F_GETFL) | O_NONBLOCK) != 0) return kExitCannotServe;
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
  say_hello();

  for (size_t i = 0; i < g_fresh_count; ++i) {
    struct stat found {};
    if (stat(g_fresh[i].path, &found) != 0) fail_to_start("folder to keep fresh", errno);
    g_fresh[i].mode = found.st_mode & 07777;
  }
  if (g_filled.path != nullptr) {
    struct stat found {};
    if (stat(g_filled.path, &found) != 0) fail_to_start("folder to fill", errno);
    g_filled.mode = found.st_mode & 07777;
    need_filled(guard::init::fill_folder(g_filled.path, g_filled.source));
  }
  g_inherited = inherited_now();
  const long long deadline = options.deadline_ms < 0 ? kNever : now_ms() + options.deadline_ms;
  for (long long word = 0; run_program(options, word, deadline, null); ++word) start_afresh();
  return 0;
}

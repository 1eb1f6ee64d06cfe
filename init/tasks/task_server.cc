#include "init/tasks/task_server.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdint>
#include <initializer_list>

#include "init/egress.h"
#include "init/processes.h"
#include "init/stream.h"
#include "init/tasks/task_keeper.h"

namespace guard::init {
namespace {

using namespace task_protocol;

constexpr long long kNever = -1;
constexpr int kOrphanSweepMs = 5;
constexpr size_t kOwnPolls = 4;              // before those of the tasks
constexpr long long kKeeperSlackMs = 2'000;  // beyond the grace, a keeper that was stopped is killed

struct Outlet {
  FrameType type = FrameType::out;
  int fd = -1;
  size_t room = 0;  // bytes that guard still takes
  bool ready = false;
};

struct Task {
  bool used = false;
  uint32_t id = 0;
  pid_t keeper = -1;     // negative once reaped
  bool program = false;  // else its keeper does the work itself, and hears no orders
  pid_t pid = 0;         // of the program, once its keeper has said it
  bool pid_told = false;
  int control = -1;
  bool terminal = false;
  bool connection = false;
  bool half_closed = false;  // by the server of the connection
  Outlet outlets[2];

  int input = -1;
  bool input_ended = false;  // guard has said so
  size_t input_begin = 0;
  size_t input_size = 0;
  size_t input_taken = 0;  // that guard has not been told of
  char input_bytes[kInputWindowBytes];

  bool over = false;  // nothing of it is left inside
  bool lost = false;  // its keeper went without a word
  TaskRecord record;
  long long started = 0;
  long long deadline = kNever;
  long long grace_ms = 0;
  long long kill_at = kNever;
  long long keeper_kill_at = kNever;
  bool timed_out = false;
  bool killed = false;  // by its time limit, or by guard
};

Task g_tasks[kTasksMax];
size_t g_turn = 0;  // whose output is looked at first
bool g_orphans = false;
int g_null = -1;

char* g_words[kWordsMax + 2];

void close_end(int& fd) {
  if (fd >= 0) close(fd);
  fd = -1;
}

Task* find_task(uint32_t id) {
  for (Task& task : g_tasks) {
    if (task.used && task.id == id) return &task;
  }
  return nullptr;
}

// --- start ---

// Reads a start frame in place. False: guard writes no such thing.
bool parse_start(char* bytes, size_t size, TaskStart& start) {
  if (size < kStartBytes || bytes[size - 1] != '\0') return false;
  start.kind = static_cast<TaskOperation>(bytes[0]);
  start.wants_input = (static_cast<unsigned char>(bytes[1]) & kWantsInput) != 0;
  start.wants_terminal = (static_cast<unsigned char>(bytes[1]) & kWantsTerminal) != 0;
  start.rows = init_protocol::read_short(bytes + 2);
  start.columns = init_protocol::read_short(bytes + 4);
  start.timeout_ms = init_protocol::read_number(bytes + 6);
  start.grace_ms = init_protocol::read_number(bytes + 10);
  const size_t argc = init_protocol::read_number(bytes + 14);
  const size_t variables = init_protocol::read_number(bytes + 18);
  if (argc > kWordsMax || variables > kWordsMax - argc) return false;
  if (start.kind == TaskOperation::program && argc == 0) return false;
  char* text = bytes + kStartBytes;
  char* const end = bytes + size;
  const auto next = [&text, end]() -> char* {
    if (text == end) return nullptr;
    char* const word = text;
    text += strlen(text) + 1;
    return word;
  };
  start.folder = next();
  start.argc = static_cast<int>(argc);
  start.argv = g_words;
  start.environment = g_words + argc + 1;
  for (size_t i = 0; i < argc + variables; ++i) {
    char* const word = next();
    if (word == nullptr) return false;
    g_words[i < argc ? i : i + 1] = word;
  }
  g_words[argc] = g_words[argc + 1 + variables] = nullptr;
  return start.folder != nullptr && text == end;
}

// A pipe of which our end does not block.
bool make_ends(int (&ends)[2], bool reader_is_ours) {
  if (!open_pipe(ends)) return false;
  const int ours = ends[reader_is_ours ? 0 : 1];
  return fcntl(ours, F_SETFL, fcntl(ours, F_GETFL) | O_NONBLOCK) == 0;
}

// Ours is the master, as input and as output.
bool make_terminal(const TaskStart& start, int& ours, int& theirs) {
  const int raw = open("/dev/ptmx", O_RDWR | O_NOCTTY | O_CLOEXEC | O_NONBLOCK);
  if (raw < 0) return false;
  ours = fcntl(raw, F_DUPFD_CLOEXEC, kOwnFdsFrom);
  close(raw);
  int locked = 0;
  if (ours < 0 || ioctl(ours, TIOCSPTLCK, &locked) != 0) return false;
  const int peer = ioctl(ours, TIOCGPTPEER, O_RDWR | O_NOCTTY | O_CLOEXEC);
  if (peer < 0) return false;
  theirs = fcntl(peer, F_DUPFD_CLOEXEC, kOwnFdsFrom);
  close(peer);
  winsize size{};
  size.ws_row = start.rows;
  size.ws_col = start.columns;
  return theirs >= 0 && ioctl(ours, TIOCSWINSZ, &size) == 0;
}

struct Plumbing {
  int input[2] = {-1, -1};  // reader, writer
  int out[2] = {-1, -1};
  int err[2] = {-1, -1};
  int control[2] = {-1, -1};
  int master = -1;
  int slave = -1;

  ~Plumbing() {
    for (int fd : {input[0], input[1], out[0], out[1], err[0], err[1], control[0], control[1], master, slave}) {
      if (fd >= 0) close(fd);
    }
  }
};

int take_end(int& fd) {
  const int taken = fd;
  fd = -1;
  return taken;
}

// False with errno: nothing was started.
bool start_keeper(Task& task, const TaskStart& start) {
  Plumbing plumbing;
  if (!open_socket_pair(SOCK_SEQPACKET, plumbing.control)) return false;
  if (start.wants_terminal) {
    if (!make_terminal(start, plumbing.master, plumbing.slave)) return false;
  } else if (!make_ends(plumbing.out, true) || !make_ends(plumbing.err, true) ||
      (start.wants_input && !make_ends(plumbing.input, false))) {
    return false;
  }
  const TaskEnds ends = start.wants_terminal
      ? TaskEnds{plumbing.slave, plumbing.slave, plumbing.slave, plumbing.control[1]}
      : TaskEnds{start.wants_input ? plumbing.input[0] : g_null, plumbing.out[1], plumbing.err[1], plumbing.control[1]};
  task.keeper = fork();
  if (task.keeper < 0) return false;
  if (task.keeper == 0) keep_task(start, ends);
  task.control = take_end(plumbing.control[0]);
  if (start.wants_terminal) {
    task.input = fcntl(plumbing.master, F_DUPFD_CLOEXEC, kOwnFdsFrom);
    task.outlets[0].fd = take_end(plumbing.master);
  } else {
    task.input = take_end(plumbing.input[1]);
    task.outlets[0].fd = take_end(plumbing.out[0]);
    task.outlets[1].fd = take_end(plumbing.err[0]);
  }
  return true;
}

void start_task(uint32_t id, char* bytes, size_t size) {
  Task* free = nullptr;
  for (Task& task : g_tasks) {
    if (!task.used) free = &task;
  }
  TaskStart start;
  // Guard knows how many have not ended.
  if (free == nullptr || find_task(id) != nullptr || !parse_start(bytes, size, start)) leave_at_once();
  Task& task = *free;
  // The input's bytes need no clearing, and are most of it.
  task.used = true;
  task.id = id;
  task.keeper = task.control = task.input = -1;
  task.program = start.kind == TaskOperation::program;
  task.terminal = start.wants_terminal;
  task.connection = start.kind == TaskOperation::connect;
  task.outlets[0] = {FrameType::out, -1, kWindowBytes, false};
  task.outlets[1] = {FrameType::err, -1, kWindowBytes, false};
  task.pid = 0;
  task.pid_told = task.input_ended = task.over = task.lost = task.timed_out = task.killed = task.half_closed = false;
  task.input_begin = task.input_size = task.input_taken = 0;
  task.record = {};
  task.started = now_ms();
  task.deadline = start.timeout_ms > 0 ? task.started + start.timeout_ms : kNever;
  task.grace_ms = start.grace_ms;
  task.kill_at = task.keeper_kill_at = kNever;
  if (!start_keeper(task, start)) {
    task.over = true;
    task.record.error = errno;
    snprintf(task.record.step, sizeof task.record.step, "start");
  }
}

// --- orders ---

void order(Task& task, unsigned char what) {
  if (task.control >= 0) send(task.control, &what, 1, MSG_NOSIGNAL | MSG_DONTWAIT);
}

// The keeper kills everything; one that can't any more (somebody inside has stopped it) is killed itself.
void kill_task(Task& task) {
  task.killed = true;
  if (!task.program && task.keeper > 0) {
    kill(task.keeper, SIGKILL);
    return;
  }
  order(task, SIGKILL);
  if (task.keeper_kill_at == kNever) task.keeper_kill_at = now_ms() + kKeeperSlackMs;
}

void keep_clock(Task& task, long long now) {
  if (!task.used || task.over) return;
  if (task.deadline != kNever && now >= task.deadline) {
    task.deadline = kNever;
    task.timed_out = task.killed = true;
    order(task, kToEverything | SIGTERM);
    task.kill_at = task.program ? now + task.grace_ms : now;
  }
  if (task.kill_at != kNever && now >= task.kill_at) {
    task.kill_at = kNever;
    kill_task(task);
  }
  if (task.keeper_kill_at != kNever && now >= task.keeper_kill_at && task.keeper > 0) {
    task.keeper_kill_at = kNever;
    kill(task.keeper, SIGKILL);
  }
}

// --- input ---

void write_input(Task& task) {
  while (task.input_size > 0 && task.input >= 0) {
    const size_t to_the_end = kInputWindowBytes - task.input_begin;
    const size_t size = task.input_size < to_the_end ? task.input_size : to_the_end;
    const ssize_t written = write(task.input, task.input_bytes + task.input_begin, size);
    if (written < 0 && errno == EINTR) continue;
    if (written < 0 && errno == EAGAIN) return;
    if (written < 0) {
      close_end(task.input);  // nobody reads it any more
      break;
    }
    task.input_begin = (task.input_begin + static_cast<size_t>(written)) % kInputWindowBytes;
    task.input_size -= static_cast<size_t>(written);
    task.input_taken += static_cast<size_t>(written);
  }
  if (task.input < 0) {
    task.input_taken += task.input_size;
    task.input_size = 0;
  }
  // A terminal has no end of its own: the character that means it, at the beginning of a line, does.
  if (task.input_ended && task.input_size == 0 && task.input >= 0) {
    constexpr char kEndOfInput = 4;
    if (task.terminal && write(task.input, &kEndOfInput, 1) < 0 && errno == EAGAIN) return;
    close_end(task.input);
  }
}

// Beyond what there is room for guard sends nothing.
void take_input(Task& task, const char* bytes, size_t size) {
  if (size > kInputWindowBytes - task.input_size - task.input_taken || (size > 0 && task.input_ended)) leave_at_once();
  if (size == 0) task.input_ended = true;
  for (size_t done = 0; done < size;) {
    const size_t at = (task.input_begin + task.input_size) % kInputWindowBytes;
    const size_t to_the_end = kInputWindowBytes - at;
    const size_t piece = size - done < to_the_end ? size - done : to_the_end;
    memcpy(task.input_bytes + at, bytes + done, piece);
    task.input_size += piece;
    done += piece;
  }
  write_input(task);
}

// --- what guard says ---

void take_request(FrameType type, uint32_t id, char* bytes, size_t size) {
  if (type == FrameType::start) return start_task(id, bytes, size);
  Task* const task = find_task(id);
  // What is said of a task that has just ended crosses its end on the way.
  if (task == nullptr) return;
  if (type == FrameType::input) return take_input(*task, bytes, size);
  if (type == FrameType::signal && size == 1 && bytes[0] > 0 && bytes[0] < NSIG) {
    if (bytes[0] == SIGKILL || !task->program) return kill_task(*task);
    return order(*task, static_cast<unsigned char>(bytes[0]));
  }
  if (type == FrameType::resize && size == 4) {
    winsize window{};
    window.ws_row = init_protocol::read_short(bytes);
    window.ws_col = init_protocol::read_short(bytes + 2);
    if (task->terminal && task->outlets[0].fd >= 0) ioctl(task->outlets[0].fd, TIOCSWINSZ, &window);
    return;
  }
  if (type == FrameType::window && size == 5) {
    for (Outlet& outlet : task->outlets) {
      if (static_cast<char>(outlet.type) == bytes[0]) outlet.room += init_protocol::read_number(bytes + 1);
      if (outlet.room > kWindowBytes) leave_at_once();
    }
    return;
  }
  leave_at_once();
}

void take_frame(char type, char* payload, size_t size) {
  if (static_cast<FrameType>(type) == FrameType::connection) return take_egress(payload, size);
  if (size < kIdBytes) leave_at_once();
  take_request(static_cast<FrameType>(type), init_protocol::read_number(payload), payload + kIdBytes, size - kIdBytes);
}

// --- what init says ---

void hear_keeper(Task& task) {
  if (task.control < 0) return;
  const ssize_t size = recv(task.control, &task.record, sizeof task.record, MSG_DONTWAIT);
  if (size < 0 && (errno == EAGAIN || errno == EINTR)) return;
  if (size == sizeof kHalfClosed && task.connection) {
    task.half_closed = true;
    return;
  }
  if (size == sizeof task.pid && task.program) {
    if (task.pid == 0) memcpy(&task.pid, &task.record, sizeof task.pid);
    return;
  }
  close_end(task.control);
  task.record.step[sizeof task.record.step - 1] = '\0';
  if (size == static_cast<ssize_t>(sizeof task.record)) {
    task.over = true;
    return;
  }
  task.record = {};
  if (task.program) {
    task.lost = g_orphans = true;
  } else {
    task.record.wait_status = SIGKILL;
    task.over = true;
  }
}

void begin_task_frame(const Task& task, FrameType type, size_t size) {
  init_protocol::write_number(frame_payload(), task.id);
  begin_frame(static_cast<init_protocol::FrameType>(type), kIdBytes + size);
}

bool tell_begun(Task& task) {
  if (task.pid <= 0 || task.pid_told) return false;
  task.pid_told = true;
  init_protocol::write_number(frame_payload() + kIdBytes, static_cast<uint32_t>(task.pid));
  begin_task_frame(task, FrameType::begun, init_protocol::kNumberBytes);
  return true;
}

bool tell_window(Task& task) {
  // Not for every few bytes; but guard must not wait for room that is there.
  if (task.input_taken == 0 || (task.input_taken < kInputWindowBytes / 2 && task.input_size > 0)) return false;
  char* const said = frame_payload() + kIdBytes;
  said[0] = static_cast<char>(FrameType::input);
  init_protocol::write_number(said + 1, static_cast<uint32_t>(task.input_taken));
  task.input_taken = 0;
  begin_task_frame(task, FrameType::window, 5);
  return true;
}

bool tell_output(Task& task, Outlet& outlet) {
  // What guard or the time limit has killed waits for no reader: what there is no room for then is dropped.
  if (task.over && task.killed && outlet.room == 0) close_end(outlet.fd);
  // Of what is over, what the pipes hold is all there will ever be.
  while (outlet.fd >= 0 && outlet.room > 0 && (outlet.ready || task.over)) {
    const size_t size = outlet.room < kOutputChunkBytes ? outlet.room : kOutputChunkBytes;
    const ssize_t got = read(outlet.fd, frame_payload() + kIdBytes, size);
    if (got > 0) {
      outlet.room -= static_cast<size_t>(got);
      begin_task_frame(task, outlet.type, static_cast<size_t>(got));
      return true;
    }
    if (got < 0 && errno == EINTR) continue;
    outlet.ready = false;
    if (got < 0 && errno == EAGAIN && !task.over) return false;
    close_end(outlet.fd);
    if (task.connection && outlet.type == FrameType::out) {
      hear_keeper(task);  // it has said so before, if it was no cut
      if (!task.half_closed) continue;
      begin_task_frame(task, outlet.type, 0);
      return true;
    }
  }
  return false;
}

void add_line(size_t& size, const char* key, long long value) {
  const size_t room = init_protocol::kFramePayloadMax - kIdBytes - size;
  const int written = snprintf(frame_payload() + kIdBytes + size, room, "%s=%lld\n", key, value);
  if (written > 0 && static_cast<size_t>(written) < room) size += static_cast<size_t>(written);
}

bool tell_end(Task& task) {
  if (!task.over || task.outlets[0].fd >= 0 || task.outlets[1].fd >= 0) return false;
  const TaskRecord& record = task.record;
  const char* kind = "exited";
  long long value = WEXITSTATUS(record.wait_status);
  if (task.lost) {
    kind = "lost";
  } else if (record.error != 0) {
    kind = "failed";
    value = record.error;
  } else if (WIFSIGNALED(record.wait_status)) {
    kind = "signaled";
    value = WTERMSIG(record.wait_status);
  }
  size_t size = 0;
  size += static_cast<size_t>(snprintf(frame_payload() + kIdBytes, 256, "kind=%s\nstep=%.60s\n", kind, record.step));
  add_line(size, "value", value);
  add_line(size, "timed_out", task.timed_out ? 1 : 0);
  add_line(size, "elapsed_ms", now_ms() - task.started);
  add_line(size, "max_rss_kb", record.max_rss_kb);
  add_line(size, "user_us", record.user_us);
  add_line(size, "sys_us", record.sys_us);
  begin_task_frame(task, FrameType::end, size);
  close_end(task.input);
  close_end(task.control);
  task.used = false;
  return true;
}

// Each stream in its turn, so that one in flood leaves the others their share.
bool next_frame() {
  for (size_t tried = 0; tried < kTasksMax; ++tried) {
    Task& task = g_tasks[(g_turn + tried) % kTasksMax];
    if (!task.used) continue;
    // The other stream first the next time, where this one has much to say.
    Outlet(&outlets)[2] = task.outlets;
    if (tell_begun(task) || tell_window(task) || tell_output(task, outlets[0]) || tell_output(task, outlets[1]) ||
        tell_end(task)) {
      g_turn = (g_turn + tried + 1) % kTasksMax;
      return true;
    }
  }
  return false;
}

// --- who is left ---

void reap() {
  for (;;) {
    int status = 0;
    const pid_t pid = waitpid(-1, &status, WNOHANG | __WALL);
    if (pid < 0 && errno == EINTR) continue;
    if (pid <= 0) return;
    for (Task& task : g_tasks) {
      if (task.used && task.keeper == pid) task.keeper = -1;
    }
  }
}

bool is_keeper(pid_t pid) {
  for (const Task& task : g_tasks) {
    if (task.used && task.keeper == pid) return true;
  }
  return false;
}

// What keepers that were killed have left behind, and what that leaves behind in its turn. False: nothing any more.
bool kill_orphans() {
  DIR* const proc = opendir("/proc");
  if (proc == nullptr) return true;
  bool found = false;
  while (const dirent* const entry = readdir(proc)) {
    long long pid = 0;
    if (!read_number(entry->d_name, pid) || pid <= 1 || parent_of(pid) != 1) continue;
    // One that shows as a zombie may be the first thread of a process whose others run on; of a real one reap() sees
    // the end.
    if (is_keeper(static_cast<pid_t>(pid))) continue;
    found = true;
    kill(static_cast<pid_t>(pid), SIGKILL);
  }
  closedir(proc);
  return found;
}

// A task whose keeper was lost is over once nobody is left whom it could have started: no child of ours is an orphan.
void look_after_orphans() {
  if (!g_orphans) return;
  bool dying = false;  // a keeper: what it leaves has not come to us yet
  for (const Task& task : g_tasks) dying = dying || (task.used && task.lost && task.keeper > 0);
  if (kill_orphans() || dying) return;
  g_orphans = false;
  for (Task& task : g_tasks) task.over = task.over || (task.used && task.lost);
}

int poll_timeout() {
  long long wait = g_orphans ? kOrphanSweepMs : -1;
  const long long now = now_ms();
  for (const Task& task : g_tasks) {
    if (!task.used || task.over) continue;
    for (const long long at : {task.deadline, task.kill_at, task.keeper_kill_at}) {
      if (at == kNever) continue;
      const long long left = at > now ? at - now : 0;
      if (wait < 0 || left < wait) wait = left;
    }
  }
  return wait > 60'000 ? 60'000 : static_cast<int>(wait);
}

}  // namespace

[[noreturn]] void serve_tasks(int null, int signals) {
  static pollfd fds[kOwnPolls + 4 * kTasksMax];
  g_null = null;
  listen_with(take_frame);
  for (bool tasks_first = true;; tasks_first = !tasks_first) {
    while (
        !frame_pending() && (tasks_first ? next_frame() || next_egress_frame() : next_egress_frame() || next_frame()))
      send_some();
    fds[0] = {life_line_descriptor(), POLLIN, 0};
    fds[1] = {signals, POLLIN, 0};
    fds[2] = {stream_descriptor(), static_cast<short>(frame_pending() ? POLLOUT : 0), 0};
    fds[3] = {egress_descriptor(), POLLIN, 0};
    for (size_t i = 0; i < kTasksMax; ++i) {
      const Task& task = g_tasks[i];
      pollfd* const own = fds + kOwnPolls + 4 * i;
      for (size_t j = 0; j < 4; ++j) own[j] = {-1, 0, 0};
      if (!task.used) continue;
      own[0] = {task.control, POLLIN, 0};
      own[1] = {task.input_size > 0 || task.input_ended ? task.input : -1, POLLOUT, 0};
      for (size_t j = 0; j < 2; ++j) {
        const Outlet& outlet = task.outlets[j];
        if (outlet.room > 0 && !outlet.ready) own[2 + j] = {outlet.fd, POLLIN, 0};
      }
    }
    poll(fds, sizeof fds / sizeof fds[0], poll_timeout());

    if (fds[0].revents != 0) hear_guard();
    if ((fds[2].revents & (POLLERR | POLLHUP | POLLNVAL)) != 0) leave_at_once();
    if (fds[2].revents != 0) send_some();
    if (fds[3].revents != 0) look_at_egress();
    drain_signals(signals);
    reap();
    const long long now = now_ms();
    for (size_t i = 0; i < kTasksMax; ++i) {
      Task& task = g_tasks[i];
      const pollfd* const own = fds + kOwnPolls + 4 * i;
      // A slot that was filled just now was not polled for.
      if (!task.used) continue;
      if (own[0].revents != 0 && task.control == own[0].fd) hear_keeper(task);
      if (own[1].revents != 0 && task.input == own[1].fd) write_input(task);
      for (size_t j = 0; j < 2; ++j) {
        if (own[2 + j].revents != 0 && task.outlets[j].fd == own[2 + j].fd) task.outlets[j].ready = true;
      }
      keep_clock(task, now);
    }
    look_after_orphans();
  }
}

}  // namespace guard::init

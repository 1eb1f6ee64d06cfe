// The process between init and the program of one task. Everything that the program starts comes back to it
// (PR_SET_CHILD_SUBREAPER), so it can end all of one task beside others, which init itself, as everybody's PID 1, could
// not tell apart. It says how the program ended once nothing of it is left.
//
// It shares the program's user and can be killed by it: then init kills what it has left behind
// (init/tasks/task_server.h).
#pragma once

#include <sys/types.h>

#include "runner/tasks/task_protocol.h"

namespace guard::init {

// A start frame, read in place.
struct TaskStart {
  task_protocol::TaskOperation kind = task_protocol::TaskOperation::program;
  bool wants_input = false;
  bool wants_terminal = false;
  unsigned short rows = 0;
  unsigned short columns = 0;
  long long timeout_ms = 0;
  long long grace_ms = 0;
  const char* folder = nullptr;
  int argc = 0;
  char** argv = nullptr;  // ends with a null pointer, as the next
  char** environment = nullptr;
};

// The keeper's end of its control socket (SOCK_SEQPACKET).
constexpr int kControl = 3;

// What it tells init there, once.
struct TaskRecord {
  int wait_status = 0;
  int error = 0;  // of what could not be started or done; `step` then says what
  char step[64] = {};
  long long max_rss_kb = 0;
  long long user_us = 0;
  long long sys_us = 0;
};

// And before that, of a program, its process id (pid_t); of a connection, where the server has closed its half in
// order:
constexpr char kHalfClosed = 'h';

// What init tells it there: bytes, each the number of a signal for the program's process group; KILL is for everything,
// and so is TERM with this bit (with CONT behind it: a stopped process could not act on it).
constexpr unsigned char kToEverything = 0x80;

struct TaskEnds {
  int input;
  int out;
  int err;
  int control;
};

// In a fork of init. `ends` have numbers of kOwnFdsFrom and above; with a terminal all three are its slave.
[[noreturn]] void keep_task(const TaskStart& start, const TaskEnds& ends);

}  // namespace guard::init

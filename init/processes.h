// Every process that init is responsible for: as PID 1, all of the namespace; on the host, what descends from it.
#pragma once

#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>

#include <cstddef>

namespace guard::init {

constexpr int kExitUsage = 64;
constexpr int kExitCannotServe = 70;

inline bool is_pid_one() { return getpid() == 1; }

// False with errno: not all of it.
bool write_text(const char* path, const char* text);

bool read_number(const char* text, long long& number);

// Of the steady clock.
long long now_ms();

// Takes what waits at a signalfd, of which only the coming counts: some of it. Others may send as fast as we read, and
// must not keep us from the rest of our work.
void drain_signals(int signals);

// Closes this descriptor and all above it.
void close_from(int descriptor);

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

// From /proc; negative where there is no such process.
pid_t parent_of(long long pid);

// What a child of ours does first on its way to be a program: a session of its own, our end is its end, and signals as
// any program finds them.
void become_own_session();

void signal_everything(int signal_number);

// Kills everything and exits: nobody is left who reads what we say.
[[noreturn]] void leave_at_once();

}  // namespace guard::init

#include "init/process_watch.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <poll.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/utsname.h>
#include <unistd.h>

#include <span>

#include "init/descriptors.h"

namespace guard::init {
namespace {

#if defined(__x86_64__)
constexpr unsigned kArchitecture = AUDIT_ARCH_X86_64;
#elif defined(__aarch64__)
constexpr unsigned kArchitecture = AUDIT_ARCH_AARCH64;
#endif

constexpr unsigned kErrors = 2;  // standard error

// The low half of an argument: descriptors are ints, and both machines are little-endian.
constexpr unsigned argument(unsigned index) { return offsetof(seccomp_data, args) + index * 8; }

// A jump's distances count from the next instruction.
const sock_filter kCalls[] = {
    BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, arch)),
    BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, kArchitecture, 1, 0),
    BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),  // the filter above this one kills it
    BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, nr)),
    BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_exit_group, 17, 0),
    BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_execve, 16, 0),
    BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_execveat, 15, 0),
    BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_close, 5, 0),
    BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_shutdown, 4, 0),
    BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_close_range, 6, 0),
    BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_dup3, 8, 0),
#ifdef SYS_dup2
    BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_dup2, 7, 0),
#else
    BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_dup3, 7, 0),
#endif
    BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
    // close, shutdown
    BPF_STMT(BPF_LD | BPF_W | BPF_ABS, argument(0)),
    BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, kErrors, 7, 0),
    BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
    // close_range
    BPF_STMT(BPF_LD | BPF_W | BPF_ABS, argument(0)),
    BPF_JUMP(BPF_JMP | BPF_JGT | BPF_K, kErrors, 0, 4),
    BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
    // dup2, dup3
    BPF_STMT(BPF_LD | BPF_W | BPF_ABS, argument(1)),
    BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, kErrors, 1, 0),
    BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
    BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_USER_NOTIF),
};

// A kernel that can't let a call go on would leave every caller without it.
bool kernel_lets_calls_go_on() {
  utsname name{};
  int major = 0;
  int minor = 0;
  return uname(&name) == 0 && sscanf(name.release, "%d.%d", &major, &minor) == 2 &&
      (major > 5 || (major == 5 && minor >= 5));
}

bool is_of_program(const Watch& watch, pid_t thread) {
  if (thread == watch.program) return true;
  char path[64];
  snprintf(path, sizeof path, "/proc/%d/task/%d", watch.program, thread);
  return access(path, F_OK) == 0;
}

}  // namespace

bool begin_watch(int socket) {
  int listener = -1;
  if (kernel_lets_calls_go_on()) {
    sock_fprog program{};
    program.len = sizeof kCalls / sizeof kCalls[0];
    program.filter = const_cast<sock_filter*>(kCalls);
    listener =
        static_cast<int>(syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, SECCOMP_FILTER_FLAG_NEW_LISTENER, &program));
  }
  const std::span<const int> listeners(&listener, listener >= 0 ? 1 : 0);
  const bool sent = send_descriptors(socket, listeners);
  if (listener >= 0) close(listener);
  return sent;
}

Watch take_watch(int socket, pid_t program) {
  Watch watch;
  watch.program = program;
  char byte = 0;
  iovec data{&byte, 1};
  alignas(cmsghdr) char control[CMSG_SPACE(sizeof watch.listener)] = {};
  msghdr message{};
  message.msg_iov = &data;
  message.msg_iovlen = 1;
  message.msg_control = control;
  message.msg_controllen = sizeof control;
  ssize_t size;
  do {
    size = recvmsg(socket, &message, MSG_CMSG_CLOEXEC);
  } while (size < 0 && errno == EINTR);
  const cmsghdr* header = size == 1 ? CMSG_FIRSTHDR(&message) : nullptr;
  if (header != nullptr && header->cmsg_type == SCM_RIGHTS)
    memcpy(&watch.listener, CMSG_DATA(header), sizeof watch.listener);
  return watch;
}

void answer_call(Watch& watch) {
  pollfd waiting{watch.listener, POLLIN, 0};
  if (poll(&waiting, 1, 0) <= 0) return;
  if ((waiting.revents & POLLIN) == 0) {
    close(watch.listener);
    watch.listener = -1;
    return;
  }
  seccomp_notif call;
  memset(&call, 0, sizeof call);
  if (ioctl(watch.listener, SECCOMP_IOCTL_NOTIF_RECV, &call) != 0) return;  // the caller was killed meanwhile
  const pid_t thread = static_cast<pid_t>(call.pid);
  if (is_of_program(watch, thread)) {
    switch (call.data.nr) {
      case SYS_execve:
      case SYS_execveat:
        watch.ended_elsewhere = watch.ended_elsewhere || watch.runs;
        watch.runs = true;
        break;
      case SYS_exit_group: watch.ended_elsewhere = watch.ended_elsewhere || thread != watch.program; break;
      default: watch.errors_moved = watch.errors_moved || watch.runs; break;
    }
  }
  seccomp_notif_resp answer;
  memset(&answer, 0, sizeof answer);
  answer.id = call.id;
  answer.flags = SECCOMP_USER_NOTIF_FLAG_CONTINUE;
  ioctl(watch.listener, SECCOMP_IOCTL_NOTIF_SEND, &answer);
}

}  // namespace guard::init

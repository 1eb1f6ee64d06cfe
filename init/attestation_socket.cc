#include "init/attestation_socket.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <unistd.h>

#include "init/processes.h"
#include "init/stream.h"

namespace guard::init {
namespace {

using init_protocol::kAttestationBytesMax;
using init_protocol::kTagBytes;
using init_protocol::kTagKeyBytes;

unsigned char g_secret[kTagKeyBytes];

bool has_valid_tag(const char* message, size_t length) {
  init_protocol::SipHash hash(g_secret);
  hash.update(message, length - kTagBytes);
  unsigned char tag[kTagBytes];
  init_protocol::write_tag(hash.finish(), tag);
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

enum class Found { nothing, debugger, not_all };

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

}  // namespace

int offer_secret(AttestationState& state) {
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
  state.socket = ends[0];
  return ends[1];
}

Said read_attestation(AttestationState& state, pid_t program) {
  static char message[kAttestationBytesMax + kTagBytes + 1];
  const ssize_t size = recv(state.socket, message, sizeof message, MSG_DONTWAIT);
  if (size < 0 && (errno == EAGAIN || errno == EINTR)) return Said::nothing;
  if (size <= 0) {
    close(state.socket);
    state.socket = -1;
    return Said::nothing;
  }
  const size_t length = static_cast<size_t>(size);
  state.attested = length >= kTagBytes && length < sizeof message && has_valid_tag(message, length);
  state.forged = !state.attested;
  // Who attests waits for the end of the channel, so its threads and its standard error are still there.
  if (state.attested) state.debugged = has_debugger(program);
  close(state.socket);
  state.socket = -1;
  if (!state.attested) return Said::something_forged;
  memcpy(frame_payload(), message, length - kTagBytes);
  begin_frame(init_protocol::FrameType::attestation, length - kTagBytes);
  return Said::attestation;
}

}  // namespace guard::init

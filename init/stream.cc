#include "init/stream.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cstdint>

#include "init/processes.h"
#include "runner/tasks/task_protocol.h"

namespace guard::init {
namespace {

using init_protocol::FrameType;
using init_protocol::kFramePayloadMax;
using init_protocol::kHeaderBytes;
using init_protocol::kTagBytes;
using init_protocol::kTagKeyBytes;

constexpr int kKeyWaitMs = 30'000;

char g_frame[kHeaderBytes + kFramePayloadMax + kTagBytes];
size_t g_frame_size = 0;
size_t g_frame_sent = 0;

unsigned char g_key[kTagKeyBytes];
bool g_tagged = false;
uint64_t g_frames = 0;

int g_stream = -1;
int g_life_line = -1;

constexpr size_t kHeardPayloadMax = task_protocol::kIdBytes + task_protocol::kStartPayloadMax;  // of the longest frame
char g_heard[kHeaderBytes + kHeardPayloadMax];
size_t g_heard_size = 0;
Listener g_listener = nullptr;

bool move_to_own_numbers(const int (&raw)[2], int (&ends)[2]) {
  for (int i = 0; i < 2; ++i) ends[i] = fcntl(raw[i], F_DUPFD_CLOEXEC, kOwnFdsFrom);
  const int error = errno;
  for (int i = 0; i < 2; ++i) close(raw[i]);
  errno = error;
  if (ends[0] >= 0 && ends[1] >= 0) return true;
  for (int& end : ends) {
    if (end >= 0) close(end);
    end = -1;
  }
  errno = error;
  return false;
}

}  // namespace

void open_stream(LifeLine line) {
  g_stream = keep(1);
  // poll(2) passes over a negative descriptor.
  if (line == LifeLine::standard_input) g_life_line = keep(0);
  if (fcntl(g_stream, F_SETFL, fcntl(g_stream, F_GETFL) | O_NONBLOCK) != 0) _exit(kExitCannotServe);
}

int stream_descriptor() { return g_stream; }
int life_line_descriptor() { return g_life_line; }
char* frame_payload() { return g_frame + kHeaderBytes; }

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

void begin_frame(FrameType type, size_t payload_bytes) {
  if (frame_pending()) leave_at_once();  // what the program has written would be read as frames
  memset(g_frame, 0, kHeaderBytes);
  g_frame[0] = static_cast<char>(type);
  init_protocol::write_number(g_frame + init_protocol::kLengthAt, static_cast<uint32_t>(payload_bytes));
  g_frame_size = kHeaderBytes + payload_bytes;
  g_frame_sent = 0;
  if (!g_tagged) return;
  init_protocol::SipHash hash(g_key);
  init_protocol::begin_tag(hash, g_frames++);
  hash.update(g_frame, g_frame_size);
  unsigned char tag[kTagBytes];
  init_protocol::write_tag(hash.finish(), tag);
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

void listen_with(Listener listener) { g_listener = listener; }

void hear_guard() {
  const ssize_t got = read(g_life_line, g_heard + g_heard_size, sizeof g_heard - g_heard_size);
  if (got < 0 && (errno == EINTR || errno == EAGAIN)) return;
  if (got <= 0) leave_at_once();
  g_heard_size += static_cast<size_t>(got);
  size_t at = 0;
  while (g_heard_size - at >= kHeaderBytes) {
    char* const frame = g_heard + at;
    const size_t payload = init_protocol::read_number(frame + init_protocol::kLengthAt);
    if (payload > kHeardPayloadMax || g_listener == nullptr) leave_at_once();
    if (g_heard_size - at < kHeaderBytes + payload) break;
    g_listener(frame[0], frame + kHeaderBytes, payload);
    at += kHeaderBytes + payload;
  }
  memmove(g_heard, g_heard + at, g_heard_size - at);
  g_heard_size -= at;
}

void send_all() {
  send_some();
  while (frame_pending()) {
    pollfd fds[2] = {{g_life_line, POLLIN, 0}, {g_stream, POLLOUT, 0}};
    poll(fds, 2, -1);
    if (fds[0].revents != 0) hear_guard();
    if (fds[1].revents != 0) send_some();
  }
}

void Lines::add(const char* key, const char* value) {
  const std::size_t room = kFramePayloadMax - size_;
  const int written = snprintf(frame_payload() + size_, room, "%s=%s\n", key, value);
  if (written > 0 && static_cast<std::size_t>(written) < room) size_ += static_cast<std::size_t>(written);
}

void Lines::add(const char* key, long long value) {
  char digits[32];
  snprintf(digits, sizeof digits, "%lld", value);
  add(key, digits);
}

void Lines::send(FrameType type) { send_frame(type, size_); }

[[noreturn]] void fail_to_start(const char* step, int error, const char* sysctl) {
  Lines lines;
  lines.add("kind", "init_failed");
  lines.add("step", step);
  lines.add("errno", error);
  if (sysctl != nullptr) lines.add("sysctl", sysctl);
  lines.send(FrameType::exit);
  _exit(kExitCannotServe);
}

int keep(int fd) {
  const int kept = fcntl(fd, F_DUPFD_CLOEXEC, kOwnFdsFrom);
  if (kept < 0) _exit(kExitCannotServe);
  return kept;
}

bool open_pipe(int (&ends)[2]) {
  int raw[2];
  return pipe2(raw, O_CLOEXEC) == 0 && move_to_own_numbers(raw, ends);
}

bool open_socket_pair(int type, int (&ends)[2]) {
  int raw[2];
  return socketpair(AF_UNIX, type | SOCK_CLOEXEC, 0, raw) == 0 && move_to_own_numbers(raw, ends);
}

void make_pipe(int (&ends)[2]) {
  if (!open_pipe(ends)) fail_to_start("pipe", errno);
}

void make_socket_pair(int type, int (&ends)[2]) {
  if (!open_socket_pair(type, ends)) fail_to_start("socketpair", errno);
}

}  // namespace guard::init

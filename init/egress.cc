#include "init/egress.h"

#include <errno.h>
#include <netinet/in.h>
#include <sys/epoll.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cstdint>

#include "init/processes.h"
#include "init/stream.h"
#include "runner/egress/egress_protocol.h"

namespace guard::init {
namespace {

using namespace egress_protocol;

constexpr int kEventsAtOnce = 64;
constexpr uint32_t kListener = kEgressConnectionsMax;  // among the numbers of slots

struct Connection {
  int fd = -1;  // negative: the slot is free
  uint32_t id = 0;
  bool opened = false;    // guard knows of it
  bool readable = false;  // as the kernel has told, until it says otherwise
  bool writable = false;
  bool ended = false;        // guard knows that the program sends nothing more
  bool guard_ended = false;  // or has given it up: nothing more comes from there
  bool given_up = false;
  bool broken = false;  // the program is gone
  bool shut = false;
  size_t room = 0;   // bytes that guard still takes
  size_t begin = 0;  // of what is held for the program
  size_t size = 0;
  size_t taken = 0;  // that guard has not been told of
};

Connection g_connections[kEgressConnectionsMax];
alignas(65536) char g_held[kEgressConnectionsMax][kEgressWindowBytes];
uint32_t g_opened = 0;
size_t g_turn = 0;
size_t g_slots = 0;  // no slot from here on was ever used
int g_events = -1;
int g_listener = -1;
bool g_callers = false;  // somebody waits to be accepted

// EPOLL_CTL_MOD: what the kernel has told once it tells again.
bool watch(int fd, uint32_t number, int how = EPOLL_CTL_ADD) {
  epoll_event event{};
  event.events = number == kListener ? EPOLLIN | EPOLLET : EPOLLIN | EPOLLOUT | EPOLLRDHUP | EPOLLET;
  event.data.u32 = number;
  return epoll_ctl(g_events, how, fd, &event) == 0;
}

// The pages count as the programs' memory.
void release(Connection& connection) {
  close(connection.fd);
  connection = {};
  madvise(g_held[&connection - g_connections], kEgressWindowBytes, MADV_DONTNEED);
}

// Both sides have said all they had to say, or nobody is left who would hear it.
void release_if_over(Connection& connection) {
  if (connection.fd < 0 || connection.size > 0 || !connection.opened) return;
  if (connection.given_up ? connection.ended : connection.ended && connection.guard_ended) release(connection);
}

void accept_callers() {
  for (size_t slot = 0; g_callers && slot < kEgressConnectionsMax; ++slot) {
    Connection& connection = g_connections[slot];
    if (connection.fd >= 0) continue;
    const int raw = accept4(g_listener, nullptr, nullptr, SOCK_NONBLOCK | SOCK_CLOEXEC);
    if (raw < 0) {
      // Whatever it is, the next caller wakes us; only the caller of this one is lost.
      if (errno == EAGAIN) g_callers = false;
      return;
    }
    const int fd = fcntl(raw, F_DUPFD_CLOEXEC, kOwnFdsFrom);
    close(raw);
    if (fd < 0) continue;
    connection = {};
    connection.fd = fd;
    connection.id = g_opened++ * kListener + static_cast<uint32_t>(slot);
    connection.room = kEgressUpWindowBytes;
    if (g_slots <= slot) g_slots = slot + 1;
    if (!watch(fd, static_cast<uint32_t>(slot))) release(connection);
  }
}

void write_held(size_t slot) {
  Connection& connection = g_connections[slot];
  while (connection.size > 0 && connection.writable && !connection.broken) {
    const size_t to_the_end = kEgressWindowBytes - connection.begin;
    const size_t size = connection.size < to_the_end ? connection.size : to_the_end;
    const ssize_t written = send(connection.fd, g_held[slot] + connection.begin, size, MSG_NOSIGNAL);
    if (written < 0 && errno == EINTR) continue;
    if (written < 0 && errno == EAGAIN) connection.writable = false;
    if (written < 0 && errno != EAGAIN) connection.broken = connection.readable = true;
    if (written < 0) break;
    connection.begin = (connection.begin + static_cast<size_t>(written)) % kEgressWindowBytes;
    connection.size -= static_cast<size_t>(written);
    connection.taken += static_cast<size_t>(written);
  }
  if (connection.broken) {  // nobody takes it
    connection.taken += connection.size;
    connection.size = 0;
  }
  if (connection.size == 0) connection.begin = 0;  // so that few pages are ever touched
  if (connection.guard_ended && connection.size == 0 && !connection.shut) {
    connection.shut = true;
    shutdown(connection.fd, SHUT_WR);
  }
  release_if_over(connection);
}

void begin_egress_frame(const Connection& connection, EgressKind kind, size_t size) {
  char* const payload = frame_payload();
  init_protocol::write_number(payload, connection.id);
  payload[kEgressHeadBytes - 1] = static_cast<char>(kind);
  begin_frame(init_protocol::FrameType::connection, kEgressHeadBytes + size);
}

bool tell_window(Connection& connection) {
  if (connection.taken == 0 || (connection.taken < kEgressPieceBytes && connection.size > 0)) return false;
  init_protocol::write_number(frame_payload() + kEgressHeadBytes, static_cast<uint32_t>(connection.taken));
  connection.taken = 0;
  begin_egress_frame(connection, EgressKind::window, init_protocol::kNumberBytes);
  return true;
}

// What the program sends; of one that guard has given up it goes nowhere.
bool tell_bytes(Connection& connection) {
  // Of a flood that goes nowhere some at a time.
  for (int left = 16; left > 0 && connection.readable && !connection.ended && connection.room > 0; --left) {
    const size_t size = connection.room < kEgressPieceBytes ? connection.room : kEgressPieceBytes;
    const ssize_t got = recv(connection.fd, frame_payload() + kEgressHeadBytes, size, 0);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0 && errno == EAGAIN) {
      connection.readable = false;
      return false;
    }
    if (got < 0) connection.broken = true;
    if (got <= 0) connection.ended = true;
    if (connection.given_up) continue;
    if (got < 0) return false;  // told as a reset
    if (got > 0) connection.room -= static_cast<size_t>(got);
    begin_egress_frame(connection, got > 0 ? EgressKind::data : EgressKind::end, static_cast<size_t>(got));
    return true;
  }
  if (connection.given_up && connection.readable && !connection.ended)
    watch(connection.fd, connection.id % kEgressConnectionsMax, EPOLL_CTL_MOD);
  return false;
}

// One frame, if there is anything to say of it.
bool tell(Connection& connection) {
  if (connection.fd < 0) return false;
  if (!connection.opened) {
    connection.opened = true;
    begin_egress_frame(connection, EgressKind::open, 0);
    return true;
  }
  const bool told = (!connection.given_up && tell_window(connection)) || tell_bytes(connection);
  if (!connection.broken) {
    release_if_over(connection);
    return told;
  }
  // What the program has sent before goes first.
  if (told || (!connection.ended && connection.room == 0)) return told;
  const bool unheard = connection.given_up;
  if (!unheard) begin_egress_frame(connection, EgressKind::reset, 0);
  release(connection);
  return !unheard;
}

}  // namespace

void open_egress() {
  const int raw = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
  if (raw < 0) fail_to_start("socket of the proxy", errno);
  g_listener = keep(raw);
  close(raw);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(kEgressPort);
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  const int events = epoll_create1(EPOLL_CLOEXEC);
  if (events < 0 || bind(g_listener, reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0 ||
      listen(g_listener, static_cast<int>(kEgressConnectionsMax)) != 0)
    fail_to_start("port of the proxy", errno);
  g_events = keep(events);
  close(events);
  if (!watch(g_listener, kListener)) fail_to_start("port of the proxy", errno);
}

int egress_descriptor() { return g_events; }

bool look_at_egress() {
  epoll_event events[kEventsAtOnce];
  const int count = epoll_wait(g_events, events, kEventsAtOnce, 0);
  for (int i = 0; i < count; ++i) {
    const uint32_t number = events[i].data.u32;
    if (number == kListener) {
      g_callers = true;
      continue;
    }
    Connection& connection = g_connections[number];
    if ((events[i].events & ~EPOLLOUT) != 0) connection.readable = true;
    if ((events[i].events & ~EPOLLIN) != 0) connection.writable = true;
    if (connection.fd >= 0) write_held(number);
  }
  return count == kEventsAtOnce;
}

void take_egress(const char* payload, size_t size) {
  if (g_events < 0 || size < kEgressHeadBytes) leave_at_once();
  const uint32_t id = init_protocol::read_number(payload);
  const auto kind = static_cast<EgressKind>(payload[kEgressHeadBytes - 1]);
  const char* bytes = payload + kEgressHeadBytes;
  size -= kEgressHeadBytes;
  const size_t slot = id % kEgressConnectionsMax;
  Connection& connection = g_connections[slot];
  if (connection.fd < 0 || connection.id != id || connection.given_up) return;  // it is over here
  if (kind == EgressKind::window && size == init_protocol::kNumberBytes) {
    connection.room += init_protocol::read_number(bytes);
    if (connection.room > kEgressUpWindowBytes) leave_at_once();
  } else if (kind == EgressKind::data && size > 0 && !connection.guard_ended &&
      size <= kEgressWindowBytes - connection.size - connection.taken) {
    while (size > 0) {
      const size_t at = (connection.begin + connection.size) % kEgressWindowBytes;
      const size_t piece = size < kEgressWindowBytes - at ? size : kEgressWindowBytes - at;
      __builtin_memcpy(g_held[slot] + at, bytes, piece);
      connection.size += piece;
      bytes += piece;
      size -= piece;
    }
  } else if ((kind == EgressKind::end || kind == EgressKind::reset) && size == 0) {
    connection.guard_ended = true;
    connection.given_up = kind == EgressKind::reset;
    if (connection.given_up) connection.room = kEgressUpWindowBytes;
  } else {
    leave_at_once();
  }
  write_held(slot);
}

bool next_egress_frame() {
  if (g_events < 0) return false;
  accept_callers();
  for (size_t tried = 0; tried < g_slots; ++tried) {
    const size_t slot = (g_turn + tried) % g_slots;
    if (!tell(g_connections[slot])) continue;
    g_turn = slot + 1;
    return true;
  }
  return false;
}

bool egress_owes() {
  // The last program may have come and gone since.
  while (look_at_egress()) {
  }
  for (size_t slot = 0; slot < g_slots; ++slot) {
    const Connection& connection = g_connections[slot];
    if (connection.fd >= 0 && !connection.ended && !connection.given_up) return true;
  }
  return g_callers;
}

void cut_egress() {
  // Those that waited to be accepted, too.
  for (int fd = 0; g_listener >= 0 && (fd = accept4(g_listener, nullptr, nullptr, SOCK_CLOEXEC)) >= 0;) close(fd);
  for (size_t slot = 0; slot < g_slots; ++slot) {
    if (Connection& connection = g_connections[slot]; connection.fd >= 0) {
      if (connection.opened && !connection.given_up) {
        begin_egress_frame(connection, EgressKind::reset, 0);
        send_all();
      }
      release(connection);
    }
  }
}

}  // namespace guard::init

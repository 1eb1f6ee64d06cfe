#include "init/tasks/connection.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include "init/processes.h"
#include "init/tasks/task_keeper.h"

namespace guard::init {
namespace {

// One direction: what was read and not written yet.
struct Flow {
  int from;
  int to;
  char bytes[32 * 1024];
  size_t begin = 0;
  size_t end = 0;
  bool ended = false;  // nothing more comes; what is held still goes on
  bool over = false;

  bool wants_bytes() const { return !ended && begin == end; }
  bool has_bytes() const { return begin < end; }

  // False with errno.
  bool read_some() {
    const ssize_t size = read(from, bytes, sizeof bytes);
    if (size < 0) return errno == EAGAIN || errno == EINTR;
    begin = 0;
    end = static_cast<size_t>(size);
    ended = size == 0;
    return true;
  }

  bool write_some() {
    const ssize_t size = write(to, bytes + begin, end - begin);
    if (size < 0) return errno == EAGAIN || errno == EINTR;
    begin += static_cast<size_t>(size);
    return true;
  }
};

Flow g_in{.from = 0, .to = -1, .bytes = {}};
Flow g_out{.from = -1, .to = 1, .bytes = {}};

bool move_some(Flow& flow, short readable, short writable) {
  if (readable != 0 && flow.wants_bytes() && !flow.read_some()) return false;
  return writable == 0 || !flow.has_bytes() || flow.write_some();
}

bool connect_to(int socket, const char* port_text) {
  long long port = 0;
  if (!read_number(port_text, port) || port < 1 || port > 65535) return errno = EINVAL, false;
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(static_cast<uint16_t>(port));
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  return connect(socket, reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0;
}

}  // namespace

Failure run_connection(const char* port) {
  const int server = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  if (server < 0 || !connect_to(server, port)) return {"connecting to the port", errno};
  // A reset, unless both directions come to their end: whoever is killed here was cut off.
  linger how{.l_onoff = 1, .l_linger = 0};
  setsockopt(server, SOL_SOCKET, SO_LINGER, &how, sizeof how);
  const int ends[] = {0, 1, server};
  for (const int fd : ends) fcntl(fd, F_SETFL, fcntl(fd, F_GETFL) | O_NONBLOCK);
  g_in.to = g_out.from = server;
  while (!g_in.over || !g_out.over) {
    pollfd fds[] = {{g_in.wants_bytes() ? g_in.from : -1, POLLIN, 0}, {g_in.has_bytes() ? server : -1, POLLOUT, 0},
        {g_out.wants_bytes() ? server : -1, POLLIN, 0}, {g_out.has_bytes() ? g_out.to : -1, POLLOUT, 0}};
    poll(fds, sizeof fds / sizeof fds[0], -1);
    if (!move_some(g_in, fds[0].revents, fds[1].revents) || !move_some(g_out, fds[2].revents, fds[3].revents))
      return {"speaking to the port", errno};
    if (g_in.ended && !g_in.over) {
      shutdown(server, SHUT_WR);
      g_in.over = true;
    }
    if (g_out.ended && !g_out.over) {
      send(kControl, &kHalfClosed, sizeof kHalfClosed, MSG_NOSIGNAL);
      close(g_out.to);
      g_out.over = true;
    }
  }
  how.l_onoff = 0;
  setsockopt(server, SOL_SOCKET, SO_LINGER, &how, sizeof how);
  return {};
}

}  // namespace guard::init

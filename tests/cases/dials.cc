// Connections to the proxy on the loopback, as programs make them.
//
// dials echo N BYTES   N at once; each sends BYTES while it reads them back, ends its half and reads to the end: "ok"
// dials read           reads to the end, says how many bytes came: a little at a time, with pauses at first
// dials hold N         opens N, says "held" and sleeps
// dials drop           sends a word and breaks the connection off
// dials leave N MS     opens one, writes N bytes to its output after a while, and ends MS later
// dials beside N       asks for an echo while a child writes N bytes, ends the child with the answer: "answered"
// dials pour MS        sends until nobody takes more, and ends MS later
// dials talk WORD      sends WORD, reads to the end and prints what came; "reset" where it was broken off
// dials others         tries ways around: UDP, another port of the loopback, a name, an address: "closed" for each
#include <arpa/inet.h>
#include <errno.h>
#include <netdb.h>
#include <netinet/in.h>
#include <poll.h>
#include <signal.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <vector>

#include "runner/egress/egress_protocol.h"

namespace {

int dial(const char* address = "127.0.0.1", int port = guard::egress_protocol::kEgressPort, int type = SOCK_STREAM) {
  const int fd = socket(AF_INET, type, 0);
  sockaddr_in to{};
  to.sin_family = AF_INET;
  to.sin_port = htons(static_cast<std::uint16_t>(port));
  inet_pton(AF_INET, address, &to.sin_addr);
  if (fd < 0 || connect(fd, reinterpret_cast<sockaddr*>(&to), sizeof to) != 0) return -1;
  return fd;
}

char byte_at(std::size_t place) { return static_cast<char>(place * 2654435761u >> 13); }

struct Echo {
  int fd = -1;
  std::size_t sent = 0;
  std::size_t got = 0;
  bool ended = false;
};

int echo(std::size_t count, std::size_t bytes) {
  std::vector<Echo> all(count);
  for (Echo& one : all) {
    one.fd = dial();
    if (one.fd < 0) return std::perror("connect"), 2;
    if (bytes == 0) shutdown(one.fd, SHUT_WR);
  }
  std::size_t left = count;
  std::vector<char> buffer(64 * 1024);
  while (left > 0) {
    std::vector<pollfd> fds;
    for (const Echo& one : all)
      fds.push_back({one.ended ? -1 : one.fd, static_cast<short>(POLLIN | (one.sent < bytes ? POLLOUT : 0)), 0});
    poll(fds.data(), fds.size(), -1);
    for (std::size_t i = 0; i < count; ++i) {
      Echo& one = all[i];
      if ((fds[i].revents & POLLOUT) != 0) {
        const std::size_t size = bytes - one.sent < buffer.size() ? bytes - one.sent : buffer.size();
        for (std::size_t j = 0; j < size; ++j) buffer[j] = byte_at(one.sent + j + i);
        const ssize_t sent = send(one.fd, buffer.data(), size, MSG_DONTWAIT | MSG_NOSIGNAL);
        if (sent < 0 && errno != EAGAIN) return std::perror("send"), 2;
        if (sent > 0) one.sent += static_cast<std::size_t>(sent);
        if (one.sent == bytes) shutdown(one.fd, SHUT_WR);
      }
      if ((fds[i].revents & ~POLLOUT) == 0) continue;
      const ssize_t got = recv(one.fd, buffer.data(), buffer.size(), MSG_DONTWAIT);
      if (got < 0 && errno != EAGAIN) return std::perror("recv"), 2;
      for (ssize_t j = 0; j < got; ++j) {
        if (buffer[static_cast<std::size_t>(j)] != byte_at(one.got + static_cast<std::size_t>(j) + i))
          return std::puts("wrong"), 2;
      }
      if (got > 0) one.got += static_cast<std::size_t>(got);
      if (got == 0) {
        if (one.got != bytes) return std::printf("%zu of %zu\n", one.got, bytes), 2;
        one.ended = true;
        close(one.fd);
        --left;
      }
    }
  }
  std::puts("ok");
  return 0;
}

int read_to_the_end(int fd, bool slowly, bool show) {
  std::size_t all = 0;
  char buffer[4096];
  for (int i = 0;; ++i) {
    const ssize_t got = read(fd, buffer, sizeof buffer);
    if (got < 0) return std::puts("reset"), 0;
    if (got == 0) break;
    all += static_cast<std::size_t>(got);
    if (show) std::fwrite(buffer, 1, static_cast<std::size_t>(got), stdout);
    if (slowly && i < 20) usleep(5'000);
  }
  if (!show) std::printf("%zu\n", all);
  return 0;
}

int others() {
  std::puts(dial("127.0.0.1", 61081) < 0 ? "closed" : "open");
  std::puts(dial("93.184.216.34", 443) < 0 ? "closed" : "open");
  std::puts(dial("169.254.169.254", 80) < 0 ? "closed" : "open");
  const int udp = dial("8.8.8.8", 53, SOCK_DGRAM);
  std::puts(udp < 0 || send(udp, "x", 1, MSG_NOSIGNAL) < 0 ? "closed" : "open");
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  const std::string what = argc > 1 ? argv[1] : "";
  const std::size_t number = argc > 2 ? std::strtoul(argv[2], nullptr, 10) : 0;
  std::setvbuf(stdout, nullptr, _IONBF, 0);
  if (what == "echo" && argc > 3) return echo(number, std::strtoul(argv[3], nullptr, 10));
  if (what == "others") return others();
  if (what == "hold") {
    for (std::size_t i = 0; i < number; ++i) {
      if (dial() < 0) return std::perror("connect"), 2;
    }
    std::puts("held");
    sleep(300);
    return 0;
  }
  const int fd = dial();
  if (fd < 0) return std::perror("connect"), 2;
  if (what == "leave" && argc > 3) {
    std::puts("first");
    usleep(200'000);
    const std::string bytes(number, 'O');
    if (write(1, bytes.data(), bytes.size()) != static_cast<ssize_t>(bytes.size())) return 2;
    return usleep(static_cast<useconds_t>(std::atoi(argv[3])) * 1'000);
  }
  if (what == "beside") {
    const pid_t child = fork();
    const std::string bytes(64 * 1024, 'O');
    for (std::size_t left = child == 0 ? number : 0; left > 0; left -= left < bytes.size() ? left : bytes.size())
      static_cast<void>(!write(1, bytes.data(), left < bytes.size() ? left : bytes.size()));
    if (child == 0) _exit(0);
    usleep(100'000);
    char word = 'w';
    if (send(fd, &word, 1, MSG_NOSIGNAL) != 1 || recv(fd, &word, 1, 0) != 1) return 2;
    kill(child, SIGKILL);
    return std::puts("answered") < 0;
  }
  if (what == "pour") {
    const std::string bytes(64 * 1024, 'x');
    for (int quiet = 0; quiet < 20;) {
      if (send(fd, bytes.data(), bytes.size(), MSG_DONTWAIT | MSG_NOSIGNAL) > 0) continue;
      ++quiet;
      usleep(10'000);
    }
    return usleep(static_cast<useconds_t>(number) * 1'000);
  }
  if (what == "read") return read_to_the_end(fd, true, false);
  if (what == "talk" && argc > 2) {
    if (write(fd, argv[2], std::strlen(argv[2])) < 0) return std::perror("write"), 2;
    return read_to_the_end(fd, false, true);
  }
  if (what == "drop") {
    if (write(fd, "word", 4) != 4) return 2;
    char answer = 0;
    if (read(fd, &answer, 1) != 1) return 2;
    const linger now{1, 0};
    setsockopt(fd, SOL_SOCKET, SO_LINGER, &now, sizeof now);
    close(fd);
    std::puts("dropped");
    return 0;
  }
  return 64;
}

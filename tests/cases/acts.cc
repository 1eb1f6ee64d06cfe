// acts WORD...: does one after another what its words say.
//   args          prints what follows, a line each, and ends with 0
//   env NAME      prints the variable, or "unset"
//   cwd           prints the folder it is in
//   file PATH     prints "there" or "not there"
//   write PATH    makes a file with a few bytes
//   shut PATH     makes a folder that may not be read
//   churn PATH N  makes and removes PATH, N times
//   tty           prints whether descriptor 0 is a terminal, and its size
//   ids           prints its process and its parent's
//   kill-parent   kills its parent
//   orphan        leaves a process behind that writes "late" to PATH of the next word after a second
//   stop-parent   stops its parent
//   ignore-term   from here on
//   pester-init   two children that send signals to process 1 for as long as they live
//   ghost PATH    leaves a process whose first thread has ended, and whose other one writes PATH after a second
//   hold          a child in a session of its own that holds the outputs and ignores TERM
//   sleep MS
//   spin MS       of processor time, by a child that it waits for
//   flood BYTES   that many bytes on standard output
//   serve PORT HOW  takes one connection to 127.0.0.1 and says "ready" before: "cut" resets it behind some bytes,
//                 "whole" closes it there, "reads" reads one byte, says "got", and how it ends
//   echo          each line of its standard input, until its end
//   exit CODE
#include <arpa/inet.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <pthread.h>
#include <signal.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <string>

namespace {

void pause_ms(long ms) { usleep(static_cast<useconds_t>(ms) * 1000); }

void spin(long ms) {
  if (fork() != 0) {
    wait(nullptr);
    return;
  }
  while (std::clock() < ms * (CLOCKS_PER_SEC / 1000)) {
  }
  _exit(0);
}

void make(const char* path) {
  if (std::FILE* file = std::fopen(path, "w")) {
    std::fputs("written\n", file);
    std::fclose(file);
  } else {
    std::perror(path);
  }
}

void churn(const char* path, long times) {
  for (; times > 0; --times) {
    close(open(path, O_WRONLY | O_CREAT, 0600));
    unlink(path);
  }
}

void pester_init() {
  for (int i = 0; i < 2; ++i) {
    if (fork() != 0) continue;
    for (int number = 0;; ++number) sigqueue(1, SIGRTMIN + number % 20, sigval{});
  }
}

const char* g_path;
void* write_late(void*) {
  pause_ms(1'000);
  make(g_path);
  _exit(0);
}

void ghost(const char* path) {
  if (fork() != 0) return;
  setsid();
  g_path = path;
  pthread_t thread = {};
  pthread_create(&thread, nullptr, write_late, nullptr);
  pthread_exit(nullptr);
}

void flood(long long bytes) {
  static char block[65536];
  std::memset(block, 'x', sizeof block);
  while (bytes > 0) {
    const auto size = static_cast<size_t>(bytes < static_cast<long long>(sizeof block) ? bytes : sizeof block);
    const ssize_t written = write(1, block, size);
    if (written <= 0) _exit(9);
    bytes -= written;
  }
}

void serve(int port, const std::string& how) {
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(static_cast<std::uint16_t>(port));
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  const int listener = socket(AF_INET, SOCK_STREAM, 0);
  if (bind(listener, reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0 || listen(listener, 1) != 0)
    _exit(8);
  std::printf("ready\n");
  const int peer = accept(listener, nullptr, nullptr);
  char byte = 0;
  if (how == "reads") {
    if (read(peer, &byte, 1) == 1) std::printf("got\n");
    const ssize_t rest = read(peer, &byte, 1);
    std::printf("%s\n", rest == 0 ? "end" : errno == ECONNRESET ? "reset" : "more");
    return;
  }
  if (write(peer, "some bytes", 10) != 10) _exit(9);
  pause_ms(100);
  const linger reset{how == "cut" ? 1 : 0, 0};
  setsockopt(peer, SOL_SOCKET, SO_LINGER, &reset, sizeof reset);
  close(peer);
}

void orphan(const char* path) {
  if (fork() != 0) return;
  setsid();
  if (fork() != 0) _exit(0);
  pause_ms(1'000);
  make(path);
  _exit(0);
}

}  // namespace

int main(int argc, char** argv) {
  std::setvbuf(stdout, nullptr, _IOLBF, BUFSIZ);  // a line leaves in one piece, and at once
  for (int i = 1; i < argc; ++i) {
    const std::string word = argv[i];
    const auto next = [&] { return i + 1 < argc ? argv[++i] : const_cast<char*>("0"); };
    if (word == "args") {
      for (++i; i < argc; ++i) std::printf("%s\n", argv[i]);
    } else if (word == "env") {
      const char* value = std::getenv(next());
      std::printf("%s\n", value == nullptr ? "unset" : value);
    } else if (word == "cwd") {
      char folder[4096];
      std::printf("%s\n", getcwd(folder, sizeof folder));
    } else if (word == "file") {
      struct stat found {};
      std::printf("%s\n", stat(next(), &found) == 0 ? "there" : "not there");
    } else if (word == "write") {
      make(next());
    } else if (word == "shut") {
      mkdir(next(), 0);
    } else if (word == "churn") {
      const char* path = next();
      churn(path, std::atol(next()));
    } else if (word == "tty") {
      winsize size{};
      ioctl(0, TIOCGWINSZ, &size);
      std::printf("%s %d %d\n", isatty(0) != 0 ? "terminal" : "none", size.ws_row, size.ws_col);
    } else if (word == "ids") {
      std::printf("%d %d\n", getpid(), getppid());
    } else if (word == "kill-parent") {
      kill(getppid(), SIGKILL);
      pause_ms(5'000);
    } else if (word == "stop-parent") {
      kill(getppid(), SIGSTOP);
    } else if (word == "orphan") {
      orphan(next());
    } else if (word == "serve") {
      const int port = std::atoi(next());
      serve(port, next());
    } else if (word == "pester-init") {
      pester_init();
    } else if (word == "ghost") {
      ghost(next());
    } else if (word == "ignore-term") {
      signal(SIGTERM, SIG_IGN);
    } else if (word == "hold") {
      if (fork() == 0) {
        setsid();
        signal(SIGTERM, SIG_IGN);
        for (;;) pause();
      }
    } else if (word == "sleep") {
      pause_ms(std::atol(next()));
    } else if (word == "spin") {
      spin(std::atol(next()));
    } else if (word == "flood") {
      flood(std::atoll(next()));
    } else if (word == "echo") {
      char line[4096];
      while (std::fgets(line, sizeof line, stdin) != nullptr) std::printf("got %s", line);
    } else if (word == "exit") {
      return std::atoi(next());
    } else {
      return 64;
    }
  }
  return 0;
}

// misbehave HOW [ARG]: one program for every way a test run can go wrong inside a container.
#include <arpa/inet.h>
#include <fcntl.h>
#include <net/if.h>
#include <netinet/in.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <string_view>
#include <vector>

extern char** environ;

namespace {

int say_and_exit(int code) {
  std::fputs("to stdout\n", stdout);
  std::fputs("to stderr\n", stderr);
  return code;
}

int cat(const char* path) {
  std::FILE* file = std::fopen(path, "r");
  if (file == nullptr) {
    std::printf("%s\n", std::strerror(errno));
    return 1;
  }
  char buffer[4096];
  while (const std::size_t got = std::fread(buffer, 1, sizeof buffer, file)) std::fwrite(buffer, 1, got, stdout);
  return 0;
}

// "path: ok" or "path: <errno name>" for each way to write.
int write_to(const char* path) {
  const int fd = ::open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0755);
  if (fd < 0) {
    std::printf("%s\n", ::strerrorname_np(errno));
    return 1;
  }
  std::printf("ok\n");
  return 0;
}

[[noreturn]] void eat_memory() {
  std::vector<char*> kept;
  while (true) {
    constexpr std::size_t kStep = 4 << 20;
    auto* bytes = static_cast<char*>(std::malloc(kStep));
    if (bytes == nullptr) std::_Exit(3);
    std::memset(bytes, 1, kStep);
    kept.push_back(bytes);
  }
}

// What a shell does: the child dies for memory, the parent shrugs and exits 0.
int eat_memory_in_child() {
  const pid_t child = ::fork();
  if (child == 0) eat_memory();
  ::waitpid(child, nullptr, 0);
  return 0;
}

// Counts how many processes can be there at once.
int count_forks() {
  int children = 0;
  while (children < 100'000) {
    const pid_t child = ::fork();
    if (child == 0) {
      ::pause();
      std::_Exit(0);
    }
    if (child < 0) break;
    ++children;
  }
  std::printf("%d %s\n", children, ::strerrorname_np(errno));
  return 0;
}

[[noreturn]] void flood() {
  static char block[65536];
  std::memset(block, 'f', sizeof block);
  while (true) {
    if (::write(1, block, sizeof block) < 0) std::_Exit(1);
  }
}

[[noreturn]] void ignore_term() {
  std::signal(SIGTERM, SIG_IGN);
  ::write(1, "ready\n", 6) == 6 ? ::sleep(100'000) : 0;
  while (true) ::pause();
}

// A child that leaves our session and holds our stdout open.
int leave_daemon() {
  if (::fork() == 0) {
    ::setsid();
    std::signal(SIGTERM, SIG_IGN);
    ::sleep(100'000);
  }
  std::printf("parent ends\n");
  return 0;
}

int fill(const char* path, long long bytes) {
  const int fd = ::open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0644);
  static char block[65536];
  long long written = 0;
  while (fd >= 0 && written < bytes) {
    const ssize_t size = ::write(fd, block, sizeof block);
    if (size <= 0) break;
    written += size;
  }
  std::printf("%lld %s\n", written, ::strerrorname_np(errno));
  return 0;
}

int many_files(const std::string& folder, int count) {
  int made = 0;
  for (; made < count; ++made) {
    const int fd = ::open((folder + "/" + std::to_string(made)).c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, 0644);
    if (fd < 0) break;
    ::close(fd);
  }
  std::printf("%d %s\n", made, ::strerrorname_np(errno));
  return 0;
}

int show_environment() {
  for (char** entry = environ; *entry != nullptr; ++entry) std::printf("%s\n", *entry);
  return 0;
}

// The IPv4 address of an interface.
int show_address(const char* interface) {
  const int fd = ::socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
  ifreq request{};
  std::strncpy(request.ifr_name, interface, sizeof request.ifr_name - 1);
  if (fd < 0 || ::ioctl(fd, SIOCGIFADDR, &request) != 0) {
    std::printf("%s\n", ::strerrorname_np(errno));
    return 1;
  }
  sockaddr_in address{};
  std::memcpy(&address, &request.ifr_addr, sizeof address);
  char text[INET_ADDRSTRLEN];
  std::printf("%s\n", ::inet_ntop(AF_INET, &address.sin_addr, text, sizeof text));
  return 0;
}

// Says what the listener at "192.0.2.1:80" says.
int talk_to(const std::string& where) {
  const std::size_t colon = where.find(':');
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(static_cast<std::uint16_t>(std::atoi(where.c_str() + colon + 1)));
  if (::inet_pton(AF_INET, where.substr(0, colon).c_str(), &address.sin_addr) != 1) return 64;
  const int fd = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  if (fd < 0 || ::connect(fd, reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0) {
    std::printf("%s\n", ::strerrorname_np(errno));
    return 1;
  }
  char text[256];
  const ssize_t size = ::read(fd, text, sizeof text);
  std::printf("%.*s\n", static_cast<int>(size < 0 ? 0 : size), text);
  return 0;
}

int open_socket(int family, int protocol = 0) {
  const int fd = ::socket(family, SOCK_RAW, protocol);
  std::printf("%s\n", fd < 0 ? ::strerrorname_np(errno) : "ok");
  return 0;
}

int run(std::string_view how, const char* argument) {
  if (how == "exit") return say_and_exit(std::atoi(argument));
  if (how == "die") return ::raise(std::atoi(argument));
  if (how == "cat") return cat(argument);
  if (how == "write") return write_to(argument);
  if (how == "eat-memory") eat_memory();
  if (how == "eat-memory-in-child") return eat_memory_in_child();
  if (how == "count-forks") return count_forks();
  if (how == "flood") flood();
  if (how == "ignore-term") ignore_term();
  if (how == "sleep") return ::write(1, "ready\n", 6) == 6 ? static_cast<int>(::sleep(100'000)) : 1;
  if (how == "leave-daemon") return leave_daemon();
  if (how == "fill") return fill(argument, 1ll << 40);
  if (how == "many-files") return many_files(argument, 1 << 22);
  if (how == "environment") return show_environment();
  if (how == "term-init") return ::kill(1, SIGTERM) == 0 ? static_cast<int>(::sleep(100'000)) : 1;
  if (how == "report") return ::write(3, argument, std::strlen(argument)) > 0 ? 0 : 1;
  if (how == "address") return show_address(argument);
  if (how == "talk-to") return talk_to(argument);
  if (how == "open-netlink") return open_socket(AF_NETLINK, std::atoi(argument));
  if (how == "open-socket") return open_socket(std::atoi(argument));
  return 64;
}

}  // namespace

int main(int argc, char** argv) { return argc < 2 ? 64 : run(argv[1], argc > 2 ? argv[2] : ""); }

// touches FOLDER HOW: what a program may do, or do and put back, to files that were copied into FOLDER (given,
// nested/given, link,
// __snapshots__/a.snap). Exits with 0 when it was done, 1 when it was refused, 90 when it went otherwise than meant.
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/xattr.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <map>
#include <string>

namespace {

constexpr const char* kSnapshot = "__snapshots__/a.snap";

void must(bool done, const char* what) {
  if (done) return;
  std::perror(what);
  std::_Exit(90);
}

[[noreturn]] void refused() { std::_Exit(1); }

std::string content(const char* path) {
  char text[4096];
  const int fd = ::open(path, O_RDONLY | O_CLOEXEC);
  const ssize_t size = fd < 0 ? 0 : ::read(fd, text, sizeof text);
  ::close(fd);
  return std::string(text, size > 0 ? static_cast<std::size_t>(size) : 0);
}

void write_new(const char* path, const std::string& text, mode_t mode = 0644) {
  const int fd = ::open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, mode);
  must(fd >= 0 && ::write(fd, text.data(), text.size()) == static_cast<ssize_t>(text.size()), path);
  ::close(fd);
}

int writable(const char* path) {
  const int fd = ::open(path, O_RDWR | O_CLOEXEC);
  must(fd >= 0, path);
  return fd;
}

char* mapped(int fd) {
  void* const at = ::mmap(nullptr, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
  must(at != MAP_FAILED, "mmap");
  return static_cast<char*>(at);
}

int exchange(const char* a, const char* b) {
  constexpr unsigned kExchange = 2;  // RENAME_EXCHANGE
  return static_cast<int>(::syscall(SYS_renameat2, AT_FDCWD, a, AT_FDCWD, b, kExchange));
}

// As bun reads a stored snapshot, and writes it again when the tests of its file have ended.
void as_bun(const std::function<void()>& meanwhile = [] {}) {
  const int fd = ::open(kSnapshot, O_RDWR | O_CREAT | O_CLOEXEC, 0644);
  must(fd >= 0, "as bun");
  char text[4096];
  const ssize_t size = ::pread(fd, text, sizeof text, 0);
  meanwhile();
  must(size > 0 && ::write(fd, text, static_cast<std::size_t>(size)) == size && ::ftruncate(fd, size) == 0, "as bun");
}

// A descriptor that nobody holds but a socket that is in its own queue: the kernel closes it later, when it collects
// garbage.
void hide(int fd) {
  int ends[2];
  must(::socketpair(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0, ends) == 0, "socketpair");
  for (const int sent : {fd, ends[0], ends[1]}) {
    char byte = 0;
    iovec bytes{&byte, 1};
    alignas(cmsghdr) char room[CMSG_SPACE(sizeof(int))] = {};
    msghdr message{};
    message.msg_iov = &bytes;
    message.msg_iovlen = 1;
    message.msg_control = room;
    message.msg_controllen = sizeof room;
    cmsghdr* const header = CMSG_FIRSTHDR(&message);
    header->cmsg_level = SOL_SOCKET;
    header->cmsg_type = SCM_RIGHTS;
    header->cmsg_len = CMSG_LEN(sizeof(int));
    std::memcpy(CMSG_DATA(header), &sent, sizeof sent);
    must(::sendmsg(ends[0], &message, 0) == 1, "sendmsg");
  }
  ::close(fd);
}

void change_mode_and_back(const char* path, mode_t there, mode_t back) {
  must(::chmod(path, there) == 0 && ::chmod(path, back) == 0, path);
}

const std::map<std::string, void (*)()> kWays = {
    // ---- what may be done ----
    {"nothing", [] {}},
    {"read",
        [] {
          must(content("given") == "as given\n" && content("nested/given") == "as given, too\n" &&
                  content("link") == "as given\n",
              "read");
          must(content(kSnapshot) == "a stored snapshot\n", "read");
        }},
    {"try-to-write",
        [] {
          for (const char* path : {"given", "nested/given", "link"}) {
            must(::open(path, O_WRONLY | O_TRUNC | O_CLOEXEC) < 0 && errno == EACCES && ::truncate(path, 0) < 0, path);
          }
        }},
    {"make",
        [] {
          must(::access("new", F_OK) != 0 && ::access("nested/folder", F_OK) != 0, "not fresh");
          write_new("new", "new\n");
          must(::chmod("new", 0600) == 0 && ::utimensat(AT_FDCWD, "new", nullptr, 0) == 0 && ::truncate("new", 1) == 0,
              "new");
          must(::rename("new", "nested/newer") == 0 && ::link("nested/newer", "other") == 0 &&
                  ::unlink("nested/newer") == 0,
              "newer");
          must(::symlink("given", "another") == 0 && ::mkdir("nested/folder", 0700) == 0 &&
                  ::mkfifo("nested/folder/fifo", 0600) == 0,
              "folder");
          must(::chmod("nested/folder", 0) == 0, "folder");
        }},
    {"as-bun", [] { as_bun(); }},
    {"as-bun-and-others-read",
        [] {
          must(!content(kSnapshot).empty(), "read");
          as_bun([] { must(!content(kSnapshot).empty(), "read"); });
        }},
    {"new-snapshot",
        [] {
          write_new("__snapshots__/b.snap", "new");
          must(::truncate("__snapshots__/b.snap", 1) == 0, "truncate");
        }},
    {"mount",
        [] {
          if (::mount("nested", "__snapshots__", nullptr, MS_BIND, nullptr) != 0 &&
              ::mount("none", ".", "tmpfs", 0, nullptr) != 0)
            refused();
        }},
    {"look-into-init",
        [] {
          // gVisor shows them; what watches must not be read by others even there.
          for (int fd = 0; fd < 64; ++fd) {
            char path[64];
            char target[256] = {};
            std::snprintf(path, sizeof path, "/proc/1/fd/%d", fd);
            const bool seen = ::readlink(path, target, sizeof target - 1) > 0;
            if (!seen || std::strstr(target, "inotify") != nullptr)
              must(::open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC) < 0, path);
          }
          refused();
        }},
    // ---- what may not ----
    {"chmod-and-back", [] { change_mode_and_back("given", 0644, 0444); }},
    {"chmod-to-the-same", [] { must(::chmod("given", 0444) == 0, "chmod"); }},
    {"write",
        [] {
          must(::chmod("given", 0644) == 0, "chmod");
          must(::write(writable("given"), "A", 1) == 1, "write");
        }},
    {"truncate", [] { must(::chmod("nested/given", 0644) == 0 && ::truncate("nested/given", 0) == 0, "truncate"); }},
    {"mmap",
        [] {
          must(::chmod("given", 0644) == 0, "chmod");
          char* const text = mapped(writable("given"));
          const char before = text[0];
          text[0] = 'X';
          text[0] = before;
          must(::chmod("given", 0444) == 0, "chmod");
        }},
    {"rename-and-back",
        [] { must(::rename("given", "elsewhere") == 0 && ::rename("elsewhere", "given") == 0, "rename"); }},
    {"rename-over",
        [] {
          write_new("mine", "as given\n", 0444);
          must(::rename("mine", "given") == 0, "rename");
        }},
    {"exchange",
        [] {
          write_new("mine", "mine\n", 0444);
          if (exchange("mine", "given") != 0) refused();
          must(exchange("mine", "given") == 0, "exchange back");
        }},
    {"hard-link", [] { must(::link("given", "second") == 0 && ::unlink("second") == 0, "link"); }},
    {"write-through-a-hard-link",
        [] {
          must(::link("given", "second") == 0 && ::chmod("second", 0644) == 0 &&
                  ::write(writable("second"), "A", 1) == 1,
              "link");
          must(::unlink("second") == 0, "unlink");
        }},
    {"write-through-proc",
        [] {
          char path[64];
          std::snprintf(path, sizeof path, "/proc/self/fd/%d", ::open("given", O_RDONLY | O_CLOEXEC));
          change_mode_and_back(path, 0644, 0444);
        }},
    {"unlink-and-write-again",
        [] {
          must(::unlink("given") == 0, "unlink");
          write_new("given", "as given\n", 0444);
        }},
    {"remove", [] { must(::unlink("nested/given") == 0, "unlink"); }},
    {"remove-folder",
        [] {
          must(::unlink("nested/given") == 0 && ::rmdir("nested") == 0 && ::mkdir("nested", 0755) == 0, "rmdir");
          write_new("nested/given", "as given, too\n", 0444);
        }},
    {"rename-folder-and-back",
        [] { must(::rename("nested", "moved") == 0 && ::rename("moved", "nested") == 0, "rename"); }},
    {"exchange-folders",
        [] {
          must(::mkdir("mine", 0755) == 0, "mkdir");
          if (exchange("mine", "nested") != 0) refused();
          must(exchange("mine", "nested") == 0, "exchange back");
        }},
    {"put-a-link-where-a-folder-was",
        [] {
          must(::rename("nested", "moved") == 0 && ::symlink("moved", "nested") == 0 && ::unlink("nested") == 0 &&
                  ::rename("moved", "nested") == 0,
              "link");
        }},
    {"close-folder-and-open", [] { change_mode_and_back("nested", 0, 0755); }},
    {"close-the-folder-itself-and-open", [] { change_mode_and_back(".", 0500, 0755); }},
    {"aim-link-elsewhere",
        [] {
          must(::unlink("link") == 0 && ::symlink("nested/given", "link") == 0 && ::unlink("link") == 0 &&
                  ::symlink("given", "link") == 0,
              "link");
        }},
    {"move-link", [] { must(::rename("link", "moved") == 0 && ::rename("moved", "link") == 0, "link"); }},
    {"set-times",
        [] {
          const timespec times[2] = {{1, 0}, {1, 0}};
          must(::utimensat(AT_FDCWD, "given", times, 0) == 0, "utimensat");
        }},
    {"give-it-to-ourselves", [] { must(::chown("given", ::geteuid(), ::getegid()) == 0, "chown"); }},
    {"set-attribute",
        [] {
          if (::setxattr("given", "user.a", "b", 1, 0) != 0) refused();
        }},
    {"by-a-child-that-lives-on",
        [] {
          int ends[2];
          must(::pipe2(ends, O_CLOEXEC) == 0, "pipe2");
          if (::fork() != 0) {
            char byte = 0;
            must(::read(ends[0], &byte, 1) == 1, "read");
            return;
          }
          ::setsid();
          for (bool first = true;; first = false) {
            change_mode_and_back("given", 0644, 0444);
            if (first) must(::write(ends[1], "x", 1) == 1, "write");
          }
        }},
    {"hide-it-in-a-flood",
        [] {
          write_new("mine", "");
          write_new("other", "");
          for (int i = 0; i < 40'000; ++i) must(::chmod(i % 2 == 0 ? "mine" : "other", 0644) == 0, "chmod");
          change_mode_and_back("given", 0644, 0444);
        }},
    // ---- stored snapshots ----
    {"snapshot-changed",
        [] {
          as_bun([] { must(::truncate(kSnapshot, 3) == 0, "truncate"); });
          must(::write(writable(kSnapshot), "X", 1) == 1, "write");
        }},
    {"snapshot-changed-by-nobody-else", [] { must(::write(writable(kSnapshot), "X", 1) == 1, "write"); }},
    {"snapshot-longer",
        [] { must(::write(::open(kSnapshot, O_WRONLY | O_APPEND | O_CLOEXEC), "X", 1) == 1, "write"); }},
    {"snapshot-shorter", [] { must(::truncate(kSnapshot, 3) == 0, "truncate"); }},
    {"snapshot-mapped-and-put-back",
        [] {
          const int fd = writable(kSnapshot);
          char* const text = mapped(fd);
          const char before = text[0];
          text[0] = 'X';
          ::close(fd);
          as_bun([&] { text[0] = before; });
          text[0] = before;
        }},
    {"snapshot-written-and-put-back",
        [] {
          const std::string before = content(kSnapshot);
          const int fd = writable(kSnapshot);
          must(::pwrite(fd, "X", 1, 0) == 1, "write");
          must(content(kSnapshot)[0] == 'X', "read");
          must(::pwrite(fd, before.data(), 1, 0) == 1, "write");
        }},
    {"snapshot-opened-twice",
        [] {
          for (int i = 0; i < 2; ++i) must(::open(kSnapshot, O_RDWR | O_CLOEXEC) >= 0, "open");
        }},
    {"snapshot-opened-and-hidden",
        [] {
          const int fd = writable(kSnapshot);
          char* const text = mapped(fd);
          const char before = text[0];
          text[0] = 'X';
          hide(fd);
          as_bun([&] { text[0] = before; });
          text[0] = before;
        }},
    {"snapshot-replaced",
        [] {
          const std::string before = content(kSnapshot);
          must(::unlink(kSnapshot) == 0, "unlink");
          write_new(kSnapshot, before);
        }},
    {"snapshot-by-another-name",
        [] {
          must(::link(kSnapshot, "nested/a.snap") == 0, "link");
          for (int i = 0; i < 2; ++i) ::close(writable("nested/a.snap"));
          must(::unlink("nested/a.snap") == 0, "unlink");
        }},
};

}  // namespace

int main(int argc, char** argv) {
  if (argc != 3 || !kWays.contains(argv[2]) || ::chdir(argv[1]) != 0) return 64;
  kWays.at(argv[2])();
  return 0;
}

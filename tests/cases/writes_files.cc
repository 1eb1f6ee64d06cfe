// writes_files HOW FOLDER [EXIT_CODE]: what a run may leave in its folder, honest and not.
#include <fcntl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <string_view>

namespace {

void must(bool done, const char* what) {
  if (done) return;
  std::perror(what);
  std::_Exit(90);
}

void write_file(const std::string& path, const std::string& text) {
  const int fd = ::open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0644);
  must(fd >= 0, path.c_str());
  must(::write(fd, text.data(), text.size()) == static_cast<ssize_t>(text.size()), "write");
  ::close(fd);
}

void make_sparse(const std::string& path, off_t size) {
  write_file(path, "");
  must(::truncate(path.c_str(), size) == 0, path.c_str());
}

// `depth` folders into one another, with a file in each; names as they come, since the path outgrows PATH_MAX.
void make_deep(int depth) {
  for (int i = 0; i < depth; ++i) {
    write_file("file", std::to_string(i));
    must(::mkdir("d", 0755) == 0 && ::chdir("d") == 0, "mkdir");
  }
}

void make_tree() {
  write_file("plain.txt", "plain\n");
  write_file("empty", "");
  must(::mkdir("out", 0755) == 0, "out");
  write_file("out/snowman \xe2\x98\x83.txt", "umlauts and such\n");
  write_file("out/large", std::string(200'000, 'x'));
  write_file("nested/own.snap", "beside a checked file\n");

  must(::symlink("/etc/passwd", "link") == 0, "symlink");
  must(::symlink("/", "out/root") == 0, "symlink");
  write_file("twice", "two names\n");
  must(::link("twice", "out/again") == 0, "link");
  must(::mkfifo("fifo", 0644) == 0, "mkfifo");
  const int listening = ::socket(AF_UNIX, SOCK_STREAM, 0);
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  std::strcpy(address.sun_path, "socket");
  must(::bind(listening, reinterpret_cast<sockaddr*>(&address), sizeof address) == 0, "bind");
  make_sparse("sparse", off_t{1} << 40);
  write_file("two\nlines", "");
  write_file("not \xff utf-8", "");
  write_file("overlong \xc0\xaf", "");
  write_file(
      "turned \xe2\x80\xae"
      "around",
      "");
  write_file("closed", "nobody reads this\n");
  must(::chmod("closed", 0) == 0, "chmod");
  must(::mkdir("locked", 0755) == 0, "locked");
  write_file("locked/inside", "");
  must(::chmod("locked", 0) == 0, "chmod");
}

void make_many(int count) {
  for (int i = 0; i < count; ++i) write_file(std::to_string(i), "x");
}

// Each within its own limit, together far beyond.
void make_heavy() {
  for (int i = 0; i < 8; ++i) make_sparse("heavy" + std::to_string(i), 7 << 20);
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 3 || ::chdir(argv[2]) != 0) return 64;
  const std::string_view how = argv[1];
  if (how == "tree") {
    make_tree();
  } else if (how == "many") {
    make_many(100'000);
  } else if (how == "deep") {
    make_deep(200);
  } else if (how == "heavy") {
    make_heavy();
  } else {
    return 64;
  }
  return argc > 3 ? std::atoi(argv[3]) : 0;
}

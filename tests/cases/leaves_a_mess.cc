// leaves_a_mess FOLDER WORD: says "WORD fresh" when /tmp and FOLDER are as they were given, else what it found; then
// leaves in both what is hard to remove, and processes. WORD "fails" exits with 1.
#include <dirent.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include <cstdio>
#include <cstring>
#include <string>

namespace {

void list(const std::string& folder, bool nested, std::string& found) {
  struct stat status {};
  if (::stat(folder.c_str(), &status) != 0) found += " no " + folder;
  const mode_t wanted = folder == "/tmp" ? status.st_mode & 0777 : 0755;  // engines differ in what they make /tmp
  if ((status.st_mode & 0777) != wanted) found += " mode of " + folder;
  DIR* entries = ::opendir(folder.c_str());
  if (entries == nullptr) {
    found += " closed " + folder;
    return;
  }
  while (const dirent* entry = ::readdir(entries)) {
    const std::string name = entry->d_name;
    if (name == "." || name == ".." || name == "given") continue;
    if (name == "nested" && !nested) {
      list(folder + "/nested", true, found);
    } else {
      found += " " + folder + "/" + name;
    }
  }
  ::closedir(entries);
}

void make_mess(const std::string& folder) {
  if (::chdir(folder.c_str()) != 0) return;
  ::close(::open("file", O_WRONLY | O_CREAT, 0));
  ::mkdir("closed", 0755);
  ::close(::open("closed/file", O_WRONLY | O_CREAT, 0444));
  ::chmod("closed", 0);
  if (::symlink("/etc", "link") != 0) return;
  ::mkfifo("fifo", 0600);
  ::mkdir("node_modules", 0755);
  // Deeper than descriptors and paths reach.
  ::mkdir("deep", 0755);
  if (::chdir("deep") == 0) {
    for (int i = 0; i < 3000 && ::mkdir("d", 0755) == 0; ++i) {
      if (::chdir("d") != 0) break;
    }
  }
  ::chmod(folder.c_str(), 0500);
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 3) return 64;
  const std::string folder = argv[1];
  std::string found;
  list("/tmp", true, found);
  list(folder, false, found);
  std::printf("%s %s\n", argv[2], found.empty() ? "fresh" : found.c_str());
  std::fflush(stdout);
  make_mess("/tmp");
  make_mess(folder + "/nested");
  make_mess(folder);
  if (::fork() == 0) {
    ::setsid();
    for (;;) {
      // What a process that lives on would put back.
      ::close(::open("/tmp/late", O_WRONLY | O_CREAT, 0644));
      ::usleep(1000);
    }
  }
  return std::strcmp(argv[2], "fails") == 0 ? 1 : 0;
}

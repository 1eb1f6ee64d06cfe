#include "tests/support/program/terminal_program.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <thread>

namespace guard::testing {

bool listens_at(const std::filesystem::path& socket) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  socket.native().copy(address.sun_path, sizeof address.sun_path - 1);
  for (int i = 0; i < 600; ++i) {
    const UniqueFd fd(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
    if (::connect(fd.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0) return true;
    std::this_thread::sleep_for(milliseconds(50));
  }
  return false;
}

TerminalProgram::TerminalProgram(const std::vector<std::string>& arguments, const std::filesystem::path& folder,
    const std::map<std::string, std::string>& environment)
    : master_(::posix_openpt(O_RDWR | O_NOCTTY | O_CLOEXEC)) {
  EXPECT_TRUE(master_);
  EXPECT_EQ(::grantpt(master_.get()), 0);
  EXPECT_EQ(::unlockpt(master_.get()), 0);
  slave_.reset(::open(::ptsname(master_.get()), O_RDWR | O_NOCTTY | O_CLOEXEC));
  EXPECT_TRUE(slave_);
  resize(24, 80);
  std::vector<std::string> words = arguments;
  words.insert(words.begin(), GUARD_PROGRAM);
  std::vector<char*> argv;
  for (std::string& word : words) argv.push_back(word.data());
  argv.push_back(nullptr);
  std::vector<std::string> settings = {"TERM=xterm"};
  for (const auto& [name, value] : environment) settings.push_back(name + "=" + value);
  std::vector<char*> env;
  for (std::string& setting : settings) env.push_back(setting.data());
  env.push_back(nullptr);
  pid_ = ::fork();
  if (pid_ != 0) return;
  ::setsid();
  ::ioctl(slave_.get(), TIOCSCTTY, 0);
  for (int fd = 0; fd < 3; ++fd) ::dup2(slave_.get(), fd);
  if (::chdir(folder.c_str()) == 0) ::execve(GUARD_PROGRAM, argv.data(), env.data());
  ::_exit(127);
}

TerminalProgram::~TerminalProgram() {
  if (pid_ <= 0) return;
  ::kill(pid_, SIGKILL);
  ::waitpid(pid_, nullptr, 0);
}

void TerminalProgram::type(std::string_view keys) const {
  EXPECT_EQ(::write(master_.get(), keys.data(), keys.size()), static_cast<ssize_t>(keys.size()));
}

void TerminalProgram::resize(unsigned short rows, unsigned short columns) const {
  const winsize size{rows, columns, 0, 0};
  EXPECT_EQ(::ioctl(master_.get(), TIOCSWINSZ, &size), 0);
}

bool TerminalProgram::is_raw() const {
  termios modes{};
  EXPECT_EQ(::tcgetattr(slave_.get(), &modes), 0);
  return (modes.c_lflag & (ICANON | ECHO | ISIG)) == 0;
}

bool TerminalProgram::read_some(milliseconds within) {
  pollfd readable{master_.get(), POLLIN, 0};
  if (::poll(&readable, 1, static_cast<int>(within.count())) <= 0) return false;
  char chunk[4096];
  const ssize_t size = ::read(master_.get(), chunk, sizeof chunk);
  if (size > 0) printed_.append(chunk, static_cast<std::size_t>(size));
  return size > 0;
}

bool TerminalProgram::prints(std::string_view text, milliseconds within) {
  const Deadline deadline = Deadline::after(within);
  while (printed_.find(text) == std::string::npos && !deadline.passed()) read_some(deadline.remaining());
  return printed_.find(text) != std::string::npos;
}

int TerminalProgram::wait() {
  const Deadline deadline = Deadline::after(milliseconds(20'000));
  int status = 0;
  while (!deadline.passed()) {
    const pid_t ended = ::waitpid(pid_, &status, WNOHANG);
    while (read_some(milliseconds(ended == 0 ? 10 : 0))) {
    }
    if (ended == 0) continue;
    pid_ = -1;
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  }
  ADD_FAILURE() << "guard has not ended; it printed:\n" << printed_;
  return -1;
}

}  // namespace guard::testing

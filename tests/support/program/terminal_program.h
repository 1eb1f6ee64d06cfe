// guard on a terminal of the test's own (a pty), which it has as its controlling one, as from a shell.
#pragma once

#include <sys/types.h>
#include <termios.h>

#include <filesystem>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "common/time.h"
#include "common/unique_fd.h"

namespace guard::testing {

// Whether somebody listens at this socket by now, or does within half a minute. Its file is there a little before.
bool listens_at(const std::filesystem::path& socket);

class TerminalProgram {
 public:
  TerminalProgram(const std::vector<std::string>& arguments, const std::filesystem::path& folder,
      const std::map<std::string, std::string>& environment);
  ~TerminalProgram();  // kills it
  TerminalProgram(const TerminalProgram&) = delete;
  TerminalProgram& operator=(const TerminalProgram&) = delete;

  void type(std::string_view keys) const;
  void resize(unsigned short rows, unsigned short columns) const;
  // Whether this has been printed by now, or is within the time.
  bool prints(std::string_view text, milliseconds within = milliseconds(20'000));
  const std::string& printed() const { return printed_; }
  pid_t pid() const { return pid_; }
  bool is_raw() const;
  // Its exit status, 128 and more for a signal; -1 and a test failure where it does not end. Reads what it prints.
  int wait();

 private:
  bool read_some(milliseconds within);
  UniqueFd master_;
  UniqueFd slave_;  // held open, so that the modes outlive guard
  pid_t pid_ = -1;
  std::string printed_;
};

}  // namespace guard::testing

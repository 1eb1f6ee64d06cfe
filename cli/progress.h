// What guard is doing right now: one rewritten line on a terminal, which tells from the second second on for how long;
// plain lines elsewhere; nothing when told to be quiet.
//
// Thread-safe: a thread of its own rewrites the line. Whatever else is written to the terminal meanwhile goes through
// without_line().
#pragma once

#include <condition_variable>
#include <functional>
#include <mutex>
#include <string>
#include <string_view>
#include <thread>

#include "cli/streams.h"
#include "common/time.h"

namespace guard {

class Progress {
 public:
  enum class Mode : std::uint8_t { quiet, lines, rewritten };
  Progress(OutStream& err, Mode mode);
  ~Progress();
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;

  void say(std::string_view what);
  // Takes the rewritten line away until something is said again.
  void clear();
  // Calls `write` while the line is away. It comes back after a second without a call, if what was written ended a
  // line.
  void without_line(bool ends_line, const std::function<void()>& write);

 private:
  void keep_time();
  void show();
  void hide();

  OutStream& err_;
  const Mode mode_;
  std::mutex mutex_;
  std::condition_variable ended_;
  std::string what_;
  SteadyClock::time_point begun_;
  bool shown_ = false;
  bool may_show_ = true;  // the cursor stands at the beginning of a line
  bool written_ = false;  // something was, since the last tick
  bool over_ = false;
  std::thread clock_;
};

// A rewritten line on a terminal, plain lines elsewhere.
Progress::Mode progress_mode(const Streams& streams, bool quiet = false);

}  // namespace guard

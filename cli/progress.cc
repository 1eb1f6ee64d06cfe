#include "cli/progress.h"

#include <chrono>

#include "common/text/text.h"

namespace guard {

namespace {
constexpr std::chrono::seconds kTick{1};
constexpr std::chrono::seconds kToldFrom{2};
}  // namespace

Progress::Progress(OutStream& err, Mode mode) : err_(err), mode_(mode), begun_(SteadyClock::now()) {
  if (mode_ == Mode::rewritten) clock_ = std::thread([this] { keep_time(); });
}

Progress::~Progress() {
  {
    const std::lock_guard lock(mutex_);
    over_ = true;
    hide();
  }
  ended_.notify_one();
  if (clock_.joinable()) clock_.join();
}

void Progress::say(std::string_view what) {
  if (mode_ == Mode::quiet) return;
  const std::lock_guard lock(mutex_);
  if (mode_ == Mode::lines) {
    err_.print("guard: {}\n", printable(what));
    return;
  }
  hide();
  what_ = printable(what);
  begun_ = SteadyClock::now();
  if (may_show_) show();
}

void Progress::clear() {
  const std::lock_guard lock(mutex_);
  hide();
  what_.clear();
  may_show_ = true;
}

void Progress::without_line(bool ends_line, const std::function<void()>& write) {
  const std::lock_guard lock(mutex_);
  hide();
  write();
  may_show_ = ends_line;
  written_ = true;
}

void Progress::keep_time() {
  std::unique_lock lock(mutex_);
  while (!ended_.wait_for(lock, kTick, [this] { return over_; })) {
    if (!written_ && may_show_ && !what_.empty()) {
      hide();
      show();
    }
    written_ = false;
  }
}

void Progress::show() {
  const auto time = std::chrono::duration_cast<std::chrono::seconds>(SteadyClock::now() - begun_);
  err_.write(
      time < kToldFrom ? fmt::format("guard: {} ...", what_) : fmt::format("guard: {} ... {} s", what_, time.count()));
  shown_ = true;
}

void Progress::hide() {
  if (shown_) err_.write("\r\x1b[K");
  shown_ = false;
}

Progress::Mode progress_mode(const Streams& streams, bool quiet) {
  if (quiet) return Progress::Mode::quiet;
  return streams.err_is_terminal ? Progress::Mode::rewritten : Progress::Mode::lines;
}

}  // namespace guard

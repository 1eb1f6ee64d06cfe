// When a command entered each of its stages, and how long it stayed: one stage at a time, without a gap between two.
// For whoever asks where the time went. It decides nothing, so it never fails: a stage that can't be noted, for want of
// room, is a part of the one before.
//
// Not thread-safe.
#pragma once

#include <chrono>
#include <exception>
#include <string>
#include <vector>

#include "common/time.h"

namespace guard {

class Timeline {
 public:
  using Micros = std::chrono::microseconds;
  struct Stage {
    std::string name;
    Micros at{0};  // since the first one began
    Micros took{0};
  };

  // Ends the stage before.
  void begin(const char* name) noexcept {
    if (stages_.size() >= kStagesMax) return;
    const auto now = SteadyClock::now();
    try {
      if (stages_.empty()) origin_ = now;
      stages_.push_back({name, since_origin(now), {}});
    } catch (const std::exception&) {
      return;
    }
    if (open_) end_at(stages_.size() - 2, now);
    open_ = true;
  }

  void end() noexcept {
    if (open_) end_at(stages_.size() - 1, SteadyClock::now());
    open_ = false;
  }

  // All of them, once end() was called.
  const std::vector<Stage>& stages() const noexcept { return stages_; }

 private:
  static constexpr std::size_t kStagesMax = 1000;

  Micros since_origin(SteadyClock::time_point when) const { return std::chrono::duration_cast<Micros>(when - origin_); }

  void end_at(std::size_t index, SteadyClock::time_point when) noexcept {
    stages_[index].took = since_origin(when) - stages_[index].at;
  }

  SteadyClock::time_point origin_;
  std::vector<Stage> stages_;
  bool open_ = false;  // the last one
};

// Where nobody asks for it, `timeline` is null.
inline void begin_stage(Timeline* timeline, const char* name) noexcept {
  if (timeline != nullptr) timeline->begin(name);
}

}  // namespace guard

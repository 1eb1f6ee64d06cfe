// What happened in which night, in one SQLite file (WAL, synchronous = FULL): each step is written before it is acted
// on, and is on the disk when the call returns. The single writer is the loop that holds the lock (night_lock.h), but
// for the review and for a request to stop; readers may come at any time.
//
// Thread-safe: calls are serialised inside. All failures are IO_ERROR (a full or read-only disk, a file that is no
// journal, a journal of a newer guard) and leave the journal as it was.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "common/result.h"
#include "common/sqlite/sqlite.h"
#include "nightly/loop/night_values.h"

namespace guard::nightly {

class Journal {
 public:
  using Access = SqliteFile::Access;
  // Access::write makes the file and its folder where they are missing (0600, 0700); Access::read: FILE_NOT_FOUND then.
  // A reader that cannot write to the folder reads as long as no writer is at work or has left steps beside the file;
  // else it is an IO_ERROR.
  static Result<Journal> open(const std::filesystem::path& file, Access access);
  Journal(Journal&&) noexcept;
  Journal& operator=(Journal&&) noexcept;
  ~Journal();

  // A new night with all its tasks, or nothing.
  Result<void> begin(const Night& night, const std::vector<Task>& tasks);

  // What changed, as whole rows (found by night, night + id, night + task + number), in one transaction; the attempt is
  // new where its number is. Null: unchanged. Never touches Task::review and Task::note, nor a request to stop.
  Result<void> save(const Night* night, const Task* task, const Attempt* attempt);

  Result<void> review(const std::string& night, const std::string& task, Review review, const std::string& note);

  Result<void> request_stop(const std::string& night);
  Result<void> forget_stop(const std::string& night);  // a night that is resumed was stopped before
  Result<bool> stop_requested(const std::string& night) const;

  // The newest first, at most `limit`; 0: all. plan_text is left out (empty) unless asked for with night().
  Result<std::vector<Night>> nights(std::size_t limit) const;
  Result<std::optional<Night>> night(const std::string& id) const;
  Result<std::vector<Task>> tasks(const std::string& night) const;        // by position
  Result<std::vector<Attempt>> attempts(const std::string& night) const;  // by time of start, whole
  Result<std::vector<Attempt>> attempts(const std::string& night, const std::string& task) const;  // by number

  // Sums over past nights without reading every attempt: for trends.
  struct NightSums {
    std::string night;
    std::int64_t started_ms = 0;
    std::int64_t ended_ms = 0;
    std::uint64_t accepted = 0, refused = 0, failed = 0, skipped = 0;
    std::uint64_t waiting = 0;  // running ones included
    std::uint64_t attempts = 0;
    std::uint64_t findings = 0;
    std::uint64_t flaky = 0;  // tests, each once
  };
  Result<std::vector<NightSums>> sums(std::size_t nights) const;  // the newest first; 0: all
  struct RuleCount {
    std::string rule;
    std::uint64_t count = 0;
  };
  Result<std::vector<RuleCount>> findings_by_rule(const std::string& night) const;  // the most frequent first
  struct Flake {
    std::string test;
    std::uint64_t nights = 0;  // in how many it was seen
    std::string last_night;
  };
  Result<std::vector<Flake>> flakes(
      std::size_t nights) const;  // over the newest nights (0: all), the most frequent first

  // The newest row of each task id over all nights, the oldest night first; a row that was skipped says nothing new and
  // does not count.
  Result<std::vector<Task>> latest() const;

  // Forgets the attempts of nights that ended before `before_ms` (Unix, ms), and those of these nights that hold no
  // decision: a row of latest() that was accepted or refused stays, or its task would run again. A night with a task
  // that was sent back and has not run since stays whole. Answers the nights whose files can go.
  Result<std::vector<std::string>> forget(std::int64_t before_ms);

  // PRAGMA integrity_check: empty, or what it says.
  Result<std::string> check() const;

 private:
  struct State;
  explicit Journal(std::unique_ptr<State> state);
  Result<void> set_stop(const std::string& night, bool asked);
  std::unique_ptr<State> state_;
};

}  // namespace guard::nightly

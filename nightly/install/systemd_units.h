// What starts a night every night: the texts of systemd units, and lines for cron. Pure; whoever asks for them writes
// them.
//
//   guard-nightly-NAME.service         one night
//   guard-nightly-NAME.timer           when it begins
//   guard-nightly-NAME-check.service   fails where no night came to its end: a night that never ran tells nobody by
//   itself guard-nightly-NAME-check.timer     when that is asked
//
// The service is hardened as far as a night goes with it; a comment in the unit stands for each thing that is left out.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "common/result.h"

namespace guard::nightly {

enum class UnitManager : std::uint8_t { user, system };

// All paths absolute.
struct SystemdUnitRequest {
  UnitManager manager = UnitManager::user;
  std::string user;        // system: number of the user that the night runs as; empty or "0": root
  std::string home;        // of that user; empty: there is none
  std::string program;     // guard
  std::string repository;  // --project
  std::string git_folder;  // the one part of the repository that a night writes to
  std::string plan;
  std::string state;   // --state
  std::string cache;   // GUARD_CACHE_DIR
  std::string config;  // --config, --rules; may be empty
  std::string rules;
  std::vector<std::pair<std::string, std::string>> variables;  // of the service, PATH say
  std::chrono::minutes at{120};                                // since midnight, local time
  std::chrono::seconds budget{28'800};                         // of a night: the check comes after it
};

struct UnitFile {
  std::string name;
  std::string text;
};

struct NightUnits {
  std::vector<UnitFile> files;
  std::vector<std::string> timers;  // names of those to be enabled
  std::vector<std::string> cron;    // lines for `crontab -e`, in place of all of it
};

// The first line of every unit: a file without it is somebody else's.
inline constexpr std::string_view kUnitMark = "# Written by `guard nightly install`.";

// INPUT_INVALID for a path that no unit can hold: relative, not UTF-8, with a control character, or a program's with a
// quote or a backslash.
Result<NightUnits> night_units(const SystemdUnitRequest& request);

// "guard-nightly-calculator-0123456789ab": the name of the folder and a part of its path's digest, as in the name of
// the state folder.
std::string unit_stem(std::string_view repository);

// One word of a unit's setting, quoted so that systemd reads these bytes: no specifier, no escape, no second word.
Result<std::string> unit_word(std::string_view text);

// Such words, separated.
Result<std::string> unit_words(const std::vector<std::string>& list);

// Whether PrivateTmp would hide something from a service: one of these paths, or what a value names as one, such as
// "/bin:/tmp/bin" or "unix:///tmp/engine".
bool is_in_tmp(
    const std::vector<std::string>& paths, const std::vector<std::pair<std::string, std::string>>& variables);

// INPUT_INVALID for a path that systemd starts no program by, however it is quoted.
Result<void> check_unit_program(const std::string& path);

// One word of a command in a crontab. cron cuts at a percent sign, quoted or not, before a shell sees the line.
std::string cron_word(std::string_view text);

// What a unit takes over of a PATH: absolute folders alone, and none in the repository. There, somebody else says what
// `git` is.
std::string unit_path(std::string_view path, std::string_view repository);

}  // namespace guard::nightly

// What guard finds in a project that was never made for it: which tests there are and what they ask for, where they
// lie, and what will not work as it stands. For `guard init` and `guard doctor`; nothing here decides.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "common/cancel.h"

namespace guard {

struct FirstLook {
  struct Finding {
    std::string name;    // "tests", "runner", "layout", "packages", "snapshots", "preload"
    std::string text;    // a sentence without its full stop
    std::string remedy;  // what to do next; empty where nothing has to be done
    bool works = true;   // false: it will not work as it stands
  };
  std::vector<Finding> findings;   // in this order, those that there is something to say of
  std::vector<std::string> gated;  // [check] paths where the default covers no test: where they lie; else empty
};

// Reads the project as a run would, and starts nothing but git. What can't be read is a finding that does not work.
FirstLook first_look(const std::filesystem::path& project, const CancelToken& cancel);

}  // namespace guard

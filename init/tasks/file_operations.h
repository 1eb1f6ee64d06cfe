// The operations on files of a sandbox that stays (runner/tasks/task_protocol.h), each in a process of its own with
// the task's streams as descriptors 0 and 1: one that hangs or is killed holds nothing else up.
#pragma once

#include "runner/tasks/task_protocol.h"

namespace guard::init {

constexpr char kPutName[] = ".guard-put-";  // and a number: a file before it gets its name

// What failed, by errno; `step` is null where all went well.
struct Failure {
  const char* step = nullptr;
  int error = 0;
};

// `argv` ends with a null pointer.
Failure run_file_operation(task_protocol::TaskOperation kind, int argc, char** argv);

}  // namespace guard::init

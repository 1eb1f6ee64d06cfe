// What init sees of the sandbox from inside.
#pragma once

namespace guard::init {

// The hello: what guard wants to see with its own eyes before it believes that the sandbox holds.
void say_hello();

// How often the kernel killed for memory, or refused a process, in the cgroup whose files are mounted here: version 1,
// then 2. An engine tells the first late or never when it is busy, and the second not at all. 0 where nothing can be
// read.
struct CgroupEvents {
  long long oom_kills = 0;
  long long pids_refused = 0;
};
CgroupEvents cgroup_events();

// A folder in memory in which there is no room for a byte or a file.
bool is_full(const char* folder);

}  // namespace guard::init

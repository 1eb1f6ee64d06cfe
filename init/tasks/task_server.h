// The second way in which init works: it serves tasks that guard asks for, any number of them side by side, until guard
// goes (runner/tasks/task_protocol.h). A keeper of its own stands between init and each task
// (init/tasks/task_keeper.h).
//
// All is in static memory and all waiting is one poll(2). A reader outside that does not read stops its own stream
// only: of each, init takes no more from the program than there is room for. A task that guard or its time limit has
// killed waits for no reader: what there is no room for then is dropped. What a killed keeper has left behind comes to
// init, which kills whatever child of its own is no keeper.
#pragma once

namespace guard::init {

// `null`: a descriptor of /dev/null; `signals`: of a signalfd for all signals. Does not return: at the end of the life
// line init leaves, and takes the whole sandbox along.
[[noreturn]] void serve_tasks(int null, int signals);

}  // namespace guard::init

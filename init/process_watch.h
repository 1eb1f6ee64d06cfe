// How a program ends, and whether its standard error stays the one that it was given: seen by the kernel, which asks us
// before it does such a call (seccomp_unotify(2); Linux 5.5 lets it go on afterwards). What runs in the program can't
// leave the filter.
//
// begin_watch() in the child before exec, take_watch() in init after fork; then answer_call() whenever the listener is
// readable, until it hangs up: every process below the program waits for it in such calls. One thread.
#pragma once

#include <sys/types.h>

namespace guard::init {

struct Watch {
  int listener = -1;  // -1: the kernel or the engine has none
  pid_t program = 0;
  bool runs = false;             // it was executed
  bool errors_moved = false;     // it closed its standard error, or put something else there
  bool ended_elsewhere = false;  // another of its threads than the first ended it, or it executed something else
};

// Sends the listener through `socket` (a socket pair that keeps messages apart), or an empty message where there is
// none. False with errno: it could not be sent, so nothing is to be executed.
bool begin_watch(int socket);

// Waits for what begin_watch() sends; the descriptor closes on exec.
Watch take_watch(int socket, pid_t program);

// Answers one call, if one waits; never blocks. Closes the listener once nobody is left below the filter.
void answer_call(Watch& watch);

}  // namespace guard::init

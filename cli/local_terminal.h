// The terminal that guard was started on, while somebody works on it with a program in a sandbox: raw, so that every
// key reaches that program, Ctrl-C and Ctrl-Z, too. It is as it was before on every way out: return, error, a signal
// that ends guard, a crash. Only SIGKILL leaves it raw (`stty sane` repairs it).
#pragma once

#include "common/cancel.h"
#include "common/result.h"
#include "runner/tasks/open_sandbox.h"

namespace guard {

// USAGE unless standard input and output are terminals.
Result<void> need_terminal();

TerminalSize terminal_size();

// Runs `task`, which has a terminal, on ours, until it ends: what is typed goes in, what comes is written as it comes,
// and a change of size is passed on. What is printed is not masked: a masker holds back what may be the beginning of a
// secret, and with it the echo of each key. CANCELLED where `cancel` came first.
Result<TaskEnd> run_on_terminal(Task& task, const CancelToken& cancel);

}  // namespace guard

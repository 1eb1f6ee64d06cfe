// What all backends whose sandboxes stay (runner/tasks/open_sandbox.h) have in common: a thread of the sandbox's own
// that reads what init says, hands it to the tasks, looks at the limits, and in the end takes everything down. What
// differs is how init is reached: a SandboxLink.
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "common/cancel.h"
#include "common/result.h"
#include "common/time.h"
#include "runner/egress/egress.h"
#include "runner/tasks/open_sandbox.h"

namespace guard {

// All but send() is called by one thread, in this order: start(), then receive() and look() in turns, end() once,
// also where start() has failed.
class SandboxLink {
 public:
  virtual ~SandboxLink() = default;

  virtual Result<void> start() = 0;

  // Appends what init has written, perhaps nothing: returns at once when there is something or `wake` is readable, else
  // by `deadline`. False at the end of the stream.
  virtual Result<bool> receive(std::string& bytes, int wake, Deadline deadline) = 0;

  // What enforces its limits, as ExecResult::enforced_by says it; `hello`: what init sees from inside.
  virtual std::map<std::string, std::string> enforced_by(const std::map<std::string, std::string>& hello) const = 0;

  // A limit of the whole sandbox was passed that nothing else enforces.
  virtual Result<void> look() = 0;

  // To init, whole; waits where it has to, but not for ever. By any thread, also during the others; what is sent stays
  // together, and once it has failed nothing follows.
  virtual Result<void> send(std::string_view frame) = 0;

  // Nothing of it is left when this returns, or it says what is. What init or its starter complained of, if anything,
  // is the detail "stderr" of a failure to start.
  virtual Result<void> end() = 0;
  virtual std::string complaint() const = 0;
};

// Returns once init has shown that the sandbox holds. `limit`: for the start; `egress`: SandboxSpec::egress. As
// Sandbox::open().
Result<std::unique_ptr<OpenSandbox>> open_over(
    std::unique_ptr<SandboxLink> link, TakeConnection egress, milliseconds limit, const CancelToken& cancel);

}  // namespace guard

// The code interpreter of E2B's interface: contexts, each one long-lived interpreter in the sandbox (Python, bun or a
// shell) that keeps its variables.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "serve/api.h"
#include "sessions/manager.h"

namespace guard::serve::e2b {

struct Language;
struct Sandbox;
class Sandboxes;

// Of one sandbox. Thread-safe.
class Contexts {
 public:
  // "/execute" and "/contexts...". Everything that goes wrong is in the answer; an Error once the sandbox is ended.
  Result<void> answer(Sandboxes& sandboxes, const Sandbox& sandbox, const Request& request, Answer& answer);
  void end();  // all of them

 private:
  struct Context {
    Context(std::string id_, const Language& language_, std::string cwd_)
        : id(std::move(id_)), language(language_), cwd(std::move(cwd_)) {}

    const std::string id;
    const Language& language;
    const std::string cwd;
    std::timed_mutex turn;        // of who runs code in it
    std::string pending;          // of its output: half a line
    std::size_t looked = 0;       // at so much of that
    std::int64_t executions = 0;  // of a shell
    std::shared_ptr<Task> task;   // the lock of Contexts is held; null: it starts with the next code
    bool is_lost = false;         // that too: what it held is gone, and nobody was told
  };
  struct Run;
  Result<std::shared_ptr<Context>> context_of(const std::string& id);
  std::shared_ptr<Context> default_of(const Language& language, const std::string& home);  // that is always there
  Result<std::shared_ptr<Task>> started(Sandboxes& sandboxes, const Sandbox& sandbox, Context& context);
  Result<void> execute(Sandboxes& sandboxes, const Sandbox& sandbox, const Request& request, Answer& answer);
  Result<nlohmann::ordered_json> manage(const Sandbox& sandbox, const Request& request);  // null: nothing to say

  std::mutex mutex_;
  std::map<std::string, std::shared_ptr<Context>> all_;
};

}  // namespace guard::serve::e2b

// The tables of a Manager and the steps on them. One mutex for the tables; it is never held while a sandbox starts, is
// waited for or goes, nor while the ledger or a folder is written to. What one thread does with a session or a sandbox
// meanwhile is its own, because it holds it (`held`): others wait for that, or leave it for the next tick.
#pragma once

#include <condition_variable>
#include <mutex>
#include <optional>

#include "common/threads.h"
#include "common/unique_fd.h"
#include "sessions/manager.h"
#include "sessions/session_task.h"

namespace guard::sessions {

// How a sandbox answers to a health check.
Result<std::unique_ptr<Task>> begin_check(OpenSandbox& sandbox, milliseconds timeout);
Result<void> finish_check(Task& task, Deadline deadline);

// Wakes up whoever polls it. From any thread.
class Bell {
 public:
  Bell();
  void ring() const noexcept;
  // Until it rings, `stop` is readable or the pause is over.
  void wait(int stop, milliseconds pause_max) const noexcept;

 private:
  UniqueFd fd_;
};

struct Manager::State {
  struct Sandbox {
    SandboxRow row;
    std::shared_ptr<OpenSandbox> open;  // null: starting, or gone
    bool refill = false;                // started for the pool
    bool held = true;                   // one thread starts, hands over or closes it
  };
  struct Session {
    SessionRow row;                  // as in the ledger, but for used_ms
    std::int64_t saved_used_ms = 0;  // used_ms in the ledger
    bool held = false;
    bool over = false;    // there is nothing of it any more: it goes with the hold
    std::string sandbox;  // id; empty: none
    std::vector<std::shared_ptr<Live>> live;
    std::string fault;
    std::shared_ptr<Task> look;  // at what it stores
    std::int64_t looked_ms = 0;
    std::uint64_t stored_bytes = 0;
  };
  struct Background {
    std::string session;
    std::shared_ptr<Task> task;  // null once it is over
    std::thread thread;
    bool over = false;
  };

  State(std::unique_ptr<Estate> owned, SandboxFactory made_by, const Clock& time, Options chosen)
      : estate(std::move(owned)), factory(std::move(made_by)), clock(time), options(std::move(chosen)) {}

  // A session that this thread may change; let go of by the destructor. Nobody else takes it out of the table.
  class Hold {
   public:
    Hold(State& state, std::string id) : state_(&state), id_(std::move(id)) {}
    Hold(Hold&& other) noexcept : state_(std::exchange(other.state_, nullptr)), id_(std::move(other.id_)) {}
    Hold& operator=(Hold&&) = delete;
    ~Hold();

   private:
    State* state_;
    std::string id_;
  };

  using Lock = std::unique_lock<std::mutex>;

  // Waits until nobody holds the session. `lock` is held before and after.
  Result<Session*> free_session(Lock& lock, const std::string& id);
  Result<Hold> hold(const std::string& id);
  std::optional<Hold> try_hold(const std::string& id);  // nothing: somebody holds it, or there is none
  SessionRow row_of(const std::string& id);
  // Writes the row of a held session, then shows it.
  Result<void> save(const SessionRow& row);
  void show(const SessionRow& row);
  std::vector<SessionRow> rows();                          // of all sessions
  Result<void> check_limits(const std::string& id) const;  // the lock is held
  void count_live(Session& session);                       // the same

  struct Use {
    std::shared_ptr<OpenSandbox> sandbox;
    std::shared_ptr<Live> live;
  };
  Result<Use> acquire(const std::string& id);
  Result<Way> place(const std::string& id);  // of a held session
  enum class Start : std::uint8_t { on_demand, for_pool };
  Result<std::string> begin_start(Start start);  // the lock is held; answers the id
  Result<void> finish_start(const std::string& id);
  std::string take_pooled();  // empty: none
  Result<void> claim(SessionRow session, const std::string& sandbox);
  Result<void> retire(const std::string& sandbox, milliseconds grace);
  Result<void> retire_of(const std::string& session, milliseconds grace);  // all sandboxes of it

  Result<void> reopen(SessionRow& row);                            // a terminated one
  Result<void> close(const std::string& id, Workspace workspace);  // of a held session
  Result<void> finish_removal(const SessionRow& row);

  Pool pool() const;  // the lock is held
  void refill();      // of a thread
  void note(std::string sentence);
  template <typename Value>
  bool noted(const Result<Value>& result) {
    if (!result) note(result.error().to_string());
    return result.has_value();
  }

  void find_dead();
  void check_healths();
  void watch_storage();
  Error stores_too_much(const std::string& session, std::uint64_t bytes) const;
  Result<void> check_storage(const std::string& session, OpenSandbox& sandbox);  // where it was above its limit
  void set_faulty(const std::string& sandbox, const std::string& why);
  void sweep_now();
  void decide();
  void save_uses(milliseconds late_by);
  void reap();

  void follow(Background& command, CommandRow row, int log);  // of a thread

  const std::unique_ptr<Estate> estate;
  const SandboxFactory factory;
  const Clock& clock;
  const Options options;
  const std::shared_ptr<Outcomes> outcomes = std::make_shared<Outcomes>();
  const std::shared_ptr<Bell> died = std::make_shared<Bell>();  // a sandbox may outlive this

  std::mutex ticking;  // one tick at a time; taken before `mutex`
  mutable std::mutex mutex;
  std::condition_variable changed;  // something is not held any more
  std::condition_variable wanted;   // the pool may need a sandbox
  std::map<std::string, Sandbox> sandboxes;
  std::map<std::string, Session> sessions;
  std::map<std::string, Background> background;  // by command
  std::vector<std::thread> refillers;
  std::vector<std::string> said;
  std::map<Way, Latencies> starts;
  std::size_t waiting = 0;
  std::int64_t failed_ms = 0;
  ProbeState probe;
  std::int64_t swept_ms = 0;  // so the first tick sweeps, or one that is started every day never would
  Report report;
  bool stopping = false;
};

}  // namespace guard::sessions

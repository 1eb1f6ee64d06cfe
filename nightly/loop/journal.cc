#include "nightly/loop/journal.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sqlite3.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <map>
#include <mutex>
#include <utility>

#include "common/file_io.h"
#include "common/text/text.h"
#include "common/unique_fd.h"

// Enums are kept under their wire names and read back strictly: a name that this guard does not know is an Error and
// never a default. Lists are rows of their own, and not JSON: they hold bytes that need not be UTF-8, and counting them
// is what SQL is for.
//
// A text column may hold any bytes, NUL and invalid UTF-8 included; they are bound and read with their length.

namespace guard::nightly {
namespace {

namespace fs = std::filesystem;

// "gdnj", at its fixed place in the file: whatever has another number there is not ours to write.
constexpr std::int64_t kApplicationId = 0x67646e6a;
// Raised when a table changes its meaning. A newer one is refused: what it means is not known here.
constexpr std::int64_t kSchemaVersion = 1;
// Writers are the loop, a review and a request to stop, each for some milliseconds.
constexpr int kBusyTimeoutMs = 5'000;

// What is long stands last in a row, so that the rest is read without walking its pages.
constexpr const char* kSchema = R"sql(
CREATE TABLE night (
  id TEXT PRIMARY KEY NOT NULL, state TEXT NOT NULL, reason TEXT NOT NULL, why TEXT NOT NULL,
  started_ms INTEGER NOT NULL, ended_ms INTEGER NOT NULL, heartbeat_ms INTEGER NOT NULL,
  plan_name TEXT NOT NULL, base TEXT NOT NULL, branch TEXT NOT NULL, rules_digest TEXT NOT NULL, guard_version TEXT NOT NULL,
  put_backs INTEGER NOT NULL, stop_requested INTEGER NOT NULL DEFAULT 0, plan_text TEXT NOT NULL
) STRICT;
CREATE INDEX night_by_time ON night (started_ms, id);

CREATE TABLE task (
  night TEXT NOT NULL REFERENCES night (id) ON DELETE CASCADE, id TEXT NOT NULL, position INTEGER NOT NULL, kind TEXT NOT NULL,
  state TEXT NOT NULL, reason TEXT NOT NULL, detail TEXT NOT NULL, attempts INTEGER NOT NULL, put_backs INTEGER NOT NULL,
  commit_id TEXT NOT NULL, rollout TEXT NOT NULL, review TEXT NOT NULL, note TEXT NOT NULL, prompt TEXT NOT NULL,
  PRIMARY KEY (night, id)
) STRICT;
CREATE INDEX task_by_state ON task (night, state);
CREATE INDEX task_by_review ON task (review, id);
CREATE INDEX task_by_id ON task (id);

CREATE TABLE attempt (
  key INTEGER PRIMARY KEY, night TEXT NOT NULL, task TEXT NOT NULL, number INTEGER NOT NULL,
  step TEXT NOT NULL, outcome TEXT NOT NULL, reason TEXT NOT NULL, detail TEXT NOT NULL,
  started_ms INTEGER NOT NULL, ended_ms INTEGER NOT NULL, start TEXT NOT NULL, tip TEXT NOT NULL, commit_id TEXT NOT NULL,
  backend TEXT NOT NULL, evidence TEXT NOT NULL, evidence_sha256 TEXT NOT NULL, output TEXT NOT NULL, kept TEXT NOT NULL,
  generator TEXT NOT NULL, tests_passed INTEGER NOT NULL, tests_failed INTEGER NOT NULL, tests_skipped INTEGER NOT NULL,
  mutants INTEGER NOT NULL, mutants_killed INTEGER NOT NULL, lines_covered INTEGER NOT NULL, lines_newly_covered INTEGER NOT NULL,
  feedback TEXT NOT NULL, diff TEXT NOT NULL,
  UNIQUE (night, task, number),
  FOREIGN KEY (night, task) REFERENCES task (night, id) ON DELETE CASCADE
) STRICT;

CREATE TABLE finding (
  attempt INTEGER NOT NULL REFERENCES attempt (key) ON DELETE CASCADE, position INTEGER NOT NULL,
  rule TEXT NOT NULL, tier TEXT NOT NULL, path TEXT NOT NULL, line INTEGER NOT NULL, message TEXT NOT NULL, fix TEXT NOT NULL,
  excerpt TEXT NOT NULL, PRIMARY KEY (attempt, position)
) STRICT, WITHOUT ROWID;
CREATE TABLE changed_file (
  attempt INTEGER NOT NULL REFERENCES attempt (key) ON DELETE CASCADE, position INTEGER NOT NULL, path TEXT NOT NULL,
  PRIMARY KEY (attempt, position)
) STRICT, WITHOUT ROWID;
CREATE TABLE flaky_test (
  attempt INTEGER NOT NULL REFERENCES attempt (key) ON DELETE CASCADE, position INTEGER NOT NULL, test TEXT NOT NULL,
  PRIMARY KEY (attempt, position)
) STRICT, WITHOUT ROWID;
CREATE TABLE timing (
  attempt INTEGER NOT NULL REFERENCES attempt (key) ON DELETE CASCADE, position INTEGER NOT NULL, stage TEXT NOT NULL,
  ms INTEGER NOT NULL, PRIMARY KEY (attempt, position)
) STRICT, WITHOUT ROWID;
)sql";

constexpr std::array kNightStates = {NightState::running, NightState::finished, NightState::ended, NightState::stopped};
constexpr std::array kTaskStates = {TaskState::waiting, TaskState::running, TaskState::accepted, TaskState::refused,
    TaskState::failed, TaskState::skipped};
constexpr std::array kTaskKinds = {TaskKind::test, TaskKind::any};
constexpr std::array kReviews = {Review::none, Review::taken, Review::dropped, Review::sent_back};
constexpr std::array kRollouts = {Rollout::sandbox, Rollout::host, Rollout::none};
constexpr std::array kSteps = {AttemptStep::cloning, AttemptStep::generating, AttemptStep::reading, AttemptStep::gating,
    AttemptStep::testing, AttemptStep::weighing, AttemptStep::committing, AttemptStep::done};
constexpr std::array kOutcomes = {AttemptOutcome::none, AttemptOutcome::accepted, AttemptOutcome::refused,
    AttemptOutcome::failed, AttemptOutcome::put_back, AttemptOutcome::interrupted};

struct CloseDatabase {
  void operator()(sqlite3* database) const noexcept { sqlite3_close_v2(database); }
};
struct FinalizeStatement {
  void operator()(sqlite3_stmt* statement) const noexcept { sqlite3_finalize(statement); }
};
using Database = std::unique_ptr<sqlite3, CloseDatabase>;
using Statement = std::unique_ptr<sqlite3_stmt, FinalizeStatement>;

// What helps depends on what SQLite says; its code decides, never its words.
std::string_view hint_for(int code) {
  switch (code & 0xFF) {
    case SQLITE_FULL: return "make space on the disk of the state folder; nothing that was written before is lost";
    case SQLITE_IOERR: return "look at the disk of the state folder: it is full, or fails";
    case SQLITE_READONLY:
      return "the journal or its folder cannot be written: look at their owner and mode, and at the mount";
    case SQLITE_CANTOPEN: return "the journal's folder must be readable, and writable while a night is running";
    case SQLITE_BUSY:
    case SQLITE_LOCKED: return "another guard holds the journal; try again";
    case SQLITE_NOTADB: return "it is not guard's; name another state folder, or move the file away";
    case SQLITE_CORRUPT: return "move the file away and keep it: guard makes a new one";
    default: return "look at the file; guard never writes over what it does not understand";
  }
}

std::string sibling(const fs::path& file, std::string_view ending) { return file.native() + std::string(ending); }

bool is_there(const std::string& path) {
  struct stat status {};
  return ::lstat(path.c_str(), &status) == 0 || errno != ENOENT;
}

// For a URI of SQLite, whose query begins with '?'.
std::string uri_path(const fs::path& file) {
  std::string uri;
  for (const char c : file.native()) {
    const bool plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '/' ||
        c == '.' || c == '-' || c == '_';
    if (plain) {
      uri += c;
    } else {
      uri += fmt::format("%{:02X}", static_cast<unsigned>(static_cast<unsigned char>(c)));
    }
  }
  return uri;
}

struct Store {
  fs::path file;  // absolute: SQLite takes some relative names for something else (":memory:")
  bool immutable = false;
  std::mutex mutex;
  Database database;
  std::map<std::string_view, Statement> statements;  // behind the database: finalized before it is closed

  std::string shown() const { return printable(file.native()); }

  Error fault(int code, std::string_view doing) const {
    std::string what = fmt::format("the journal {}: {}: {}", shown(), doing, sqlite3_errstr(code));
    const char* said = database ? sqlite3_errmsg(database.get()) : nullptr;
    if (said != nullptr && std::string_view(said) != sqlite3_errstr(code) &&
        (sqlite3_errcode(database.get()) & 0xFF) == (code & 0xFF)) {
      what += fmt::format(" ({})", printable(said));
    }
    return Error(ErrorCode::io_error, std::move(what)).hint(std::string(hint_for(code)));
  }
  Error refusal(std::string_view sentence) const {
    return Error(ErrorCode::io_error, fmt::format("the journal {} {}", shown(), sentence));
  }

  Result<void> connect(const std::string& uri, int flags);
  Result<void> execute(const char* sql);
  Result<void> still() const;
};

// One use of a statement that is prepared once and kept. Texts are bound without a copy: they must outlive the Query.
class Query {
 public:
  Query(Store& store, std::string_view sql);  // `sql`: a literal
  Query(const Query&) = delete;
  Query& operator=(const Query&) = delete;
  ~Query() {
    if (statement_ == nullptr) return;
    sqlite3_reset(statement_);
    sqlite3_clear_bindings(statement_);
  }

  Query& bind(std::string_view text) {
    // A null pointer would bind NULL.
    if (code_ == SQLITE_OK)
      code_ = sqlite3_bind_text64(
          statement_, ++bound_, text.data() == nullptr ? "" : text.data(), text.size(), SQLITE_STATIC, SQLITE_UTF8);
    return *this;
  }
  Query& bind(std::int64_t number) {
    if (code_ == SQLITE_OK) code_ = sqlite3_bind_int64(statement_, ++bound_, number);
    return *this;
  }
  // The upper half is kept as negative numbers.
  Query& bind(std::uint64_t number) { return bind(static_cast<std::int64_t>(number)); }

  // Whether there is a (next) row.
  Result<bool> next();
  Result<void> run();

  std::string text(int column) const {
    const auto* bytes = static_cast<const char*>(sqlite3_column_blob(statement_, column));
    const int size = sqlite3_column_bytes(statement_, column);
    return bytes == nullptr || size <= 0 ? std::string() : std::string(bytes, static_cast<std::size_t>(size));
  }
  std::int64_t integer(int column) const { return sqlite3_column_int64(statement_, column); }
  std::uint64_t count(int column) const { return static_cast<std::uint64_t>(integer(column)); }

  template <typename T, std::size_t size>
  Result<T> name(int column, const std::array<T, size>& known) const {
    const std::string found = text(column);
    for (const T value : known) {
      if (to_string(value) == found) return value;
    }
    return store_
        .refusal(fmt::format("holds \"{}\" as {}, which this guard does not know", printable(found.substr(0, 80)),
            sqlite3_column_name(statement_, column)))
        .hint("it was written by another version of guard, or the file was damaged");
  }

 private:
  Store& store_;
  sqlite3_stmt* statement_ = nullptr;
  int bound_ = 0;
  int code_ = SQLITE_OK;
};

Query::Query(Store& store, std::string_view sql) : store_(store) {
  auto& kept = store_.statements[sql];
  if (!kept) {
    sqlite3_stmt* made = nullptr;
    code_ = sqlite3_prepare_v3(
        store_.database.get(), sql.data(), static_cast<int>(sql.size()), SQLITE_PREPARE_PERSISTENT, &made, nullptr);
    kept.reset(made);
  }
  statement_ = kept.get();
}

Result<bool> Query::next() {
  const int code = code_ == SQLITE_OK ? sqlite3_step(statement_) : code_;
  if (code == SQLITE_ROW) return true;
  if (code == SQLITE_DONE) return false;
  return store_.fault(code, sqlite3_db_readonly(store_.database.get(), "main") == 1 ? "reading it" : "using it");
}

Result<void> Query::run() {
  for (;;) {
    GUARD_TRY_ASSIGN(const bool more, next());
    if (!more) return ok();
  }
}

Result<void> Store::execute(const char* sql) {
  const int code = sqlite3_exec(database.get(), sql, nullptr, nullptr, nullptr);
  if (code != SQLITE_OK) return fault(code, "using it");
  return ok();
}

// Everything or nothing. What was read in one is of one moment, whatever a writer does meanwhile.
class Transaction {
 public:
  enum class Kind : bool { read, write };
  explicit Transaction(Store& store) : store_(store) {}
  Transaction(const Transaction&) = delete;
  Transaction& operator=(const Transaction&) = delete;
  ~Transaction() {
    if (open_) (void)store_.execute("ROLLBACK");
  }

  // A writer takes its lock at once: one that began by reading could not wait for it.
  Result<void> begin(Kind kind) {
    if (kind == Kind::write && sqlite3_db_readonly(store_.database.get(), "main") != 0)
      return store_.fault(SQLITE_READONLY, "writing to it");
    GUARD_TRY(
        Query(store_, kind == Kind::write ? std::string_view("BEGIN IMMEDIATE") : std::string_view("BEGIN")).run());
    open_ = true;
    return ok();
  }
  Result<void> commit() {
    GUARD_TRY(Query(store_, "COMMIT").run());
    open_ = false;
    return store_.still();
  }

 private:
  Store& store_;
  bool open_ = false;
};

Result<void> Store::still() const {
  // SQLite looks for no writer then; one that has come since may have changed pages under our eyes.
  if (immutable && is_there(sibling(file, "-wal"))) {
    return refusal("was written to while it was read")
        .hint("try again; where its folder can be written, a reader need not look away");
  }
  return ok();
}

Result<void> Store::connect(const std::string& uri, int flags) {
  statements.clear();
  database.reset();
  sqlite3* made = nullptr;
  const int code = sqlite3_open_v2(
      uri.c_str(), &made, flags | SQLITE_OPEN_URI | SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_EXRESCODE, nullptr);
  database.reset(made);
  if (code != SQLITE_OK) return fault(code, "opening it");
  sqlite3_busy_timeout(made, kBusyTimeoutMs);
  // A journal holds tables alone. Whatever else a file brings along (views, triggers) gets no say.
  sqlite3_db_config(made, SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0, nullptr);
  sqlite3_db_config(made, SQLITE_DBCONFIG_DEFENSIVE, 1, nullptr);
  return ok();
}

Result<std::int64_t> number_of(Store& store, std::string_view sql) {
  Query query(store, sql);
  GUARD_TRY_ASSIGN(const bool found, query.next());
  return found ? query.integer(0) : std::int64_t{0};
}

// Whose file it is, before anything in it is changed. `empty`: a database without anything, as a first start that was
// killed leaves it.
Result<void> identify(Store& store, bool& empty) {
  GUARD_TRY_ASSIGN(const std::int64_t application, number_of(store, "PRAGMA application_id"));
  GUARD_TRY_ASSIGN(const std::int64_t version, number_of(store, "PRAGMA user_version"));
  GUARD_TRY_ASSIGN(const std::int64_t things, number_of(store, "SELECT count(*) FROM sqlite_master"));
  empty = application == 0 && version == 0 && things == 0;
  if (empty) return ok();
  if (application != kApplicationId) {
    return store.refusal("is a database of another program").hint(std::string(hint_for(SQLITE_NOTADB)));
  }
  if (version > kSchemaVersion) {
    return store
        .refusal(fmt::format(
            "was written by a newer guard: its tables are of version {}, this guard knows {}", version, kSchemaVersion))
        .hint("use the newer guard; nothing was changed");
  }
  if (version != kSchemaVersion) {
    return store.refusal(fmt::format("has tables of version {}, which there never was", version))
        .hint(std::string(hint_for(SQLITE_CORRUPT)));
  }
  return ok();
}

// In one transaction, or the tables of another guard that starts could appear between two looks.
Result<void> identify_at_once(Store& store, bool& empty) {
  Transaction transaction(store);
  GUARD_TRY(transaction.begin(Transaction::Kind::read));
  return identify(store, empty);
}

Result<void> make_tables(Store& store) {
  Transaction transaction(store);
  GUARD_TRY(transaction.begin(Transaction::Kind::write));
  bool empty = false;
  GUARD_TRY(identify(store, empty));  // another guard may have been quicker
  if (!empty) return ok();
  GUARD_TRY(store.execute(kSchema));
  GUARD_TRY(store.execute(
      fmt::format("PRAGMA application_id = {}; PRAGMA user_version = {}", kApplicationId, kSchemaVersion).c_str()));
  return transaction.commit();
}

Result<void> open_for_writing(Store& store) {
  const fs::path folder = store.file.parent_path();
  GUARD_TRY(make_folders(folder, 0700).context(fmt::format("making the folder of the journal {}", store.shown())));
  // Made here for its mode, which SQLite then gives to the files beside it. One that is there is not opened: closing
  // the descriptor would drop the locks that another connection of this process holds on the file.
  const UniqueFd made(::open(store.file.c_str(), O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600));
  if (!made && errno != EEXIST) {
    return Error::from_errno(ErrorCode::io_error, fmt::format("making the journal {}", store.shown()), errno);
  }
  GUARD_TRY(store.connect("file:" + uri_path(store.file), SQLITE_OPEN_READWRITE));
  bool empty = false;
  GUARD_TRY(identify_at_once(store, empty));
  {
    Query mode(store, "PRAGMA journal_mode = WAL");
    GUARD_TRY_ASSIGN(const bool answered, mode.next());
    if (!answered || mode.text(0) != "wal") {
      return store.refusal("stands on a file system that has no shared memory for SQLite (WAL)")
          .hint("put the state folder on a local disk");
    }
  }
  GUARD_TRY(store.execute("PRAGMA synchronous = FULL; PRAGMA foreign_keys = ON; PRAGMA cell_size_check = ON"));
  if (empty) GUARD_TRY(make_tables(store));
  return ok();
}

Result<void> open_for_reading(Store& store) {
  const std::string uri = "file:" + uri_path(store.file);
  bool empty = false;
  Result<void> read = store.connect(uri, SQLITE_OPEN_READONLY);
  if (read) read = identify_at_once(store, empty);
  // A reader wants to tell writers where it reads, in a file beside the journal. In a folder that it cannot write to,
  // and where no writer is at work, it can do without.
  if (!read && ::access(store.file.parent_path().c_str(), W_OK) != 0 && !is_there(sibling(store.file, "-wal"))) {
    GUARD_TRY(store.connect(uri + "?immutable=1", SQLITE_OPEN_READONLY));
    store.immutable = true;
    read = identify_at_once(store, empty);
    if (read) read = store.still();
  }
  GUARD_TRY(std::move(read));
  if (empty) return Error(ErrorCode::file_not_found, fmt::format("the journal {} holds no night yet", store.shown()));
  return ok();
}

Result<void> open_store(Store& store, const fs::path& file, Journal::Access access) {
  std::error_code fault;
  store.file = fs::absolute(file, fault);
  if (fault)
    return Error(ErrorCode::io_error, fmt::format("the journal {}: {}", printable(file.native()), fault.message()));
  if (file.native().find('\0') != std::string::npos || file.filename().empty())
    return store.refusal("has a name that no file can have");
  struct stat status {};
  if (::stat(store.file.c_str(), &status) == 0) {
    if (!S_ISREG(status.st_mode)) return store.refusal("is no file").hint(std::string(hint_for(SQLITE_NOTADB)));
  } else if (errno != ENOENT && errno != ENOTDIR) {
    return Error::from_errno(ErrorCode::io_error, fmt::format("looking at the journal {}", store.shown()), errno);
  } else if (access == Journal::Access::read) {
    return Error(ErrorCode::file_not_found, fmt::format("there is no journal {}", store.shown()))
        .hint("no night was run yet: `guard nightly run PLAN.toml`");
  }
  return access == Journal::Access::write ? open_for_writing(store) : open_for_reading(store);
}

// ---- rows ----

#define GUARD_NIGHT_COLUMNS                                                                                            \
  "id, state, reason, why, started_ms, ended_ms, heartbeat_ms, plan_name, base, branch, rules_digest, guard_version, " \
  "put_backs"
#define GUARD_TASK_COLUMNS \
  "night, id, position, kind, state, reason, detail, attempts, put_backs, commit_id, rollout, review, note, prompt"
#define GUARD_ATTEMPT_COLUMNS                                                                                      \
  "night, task, number, step, outcome, reason, detail, started_ms, ended_ms, start, tip, commit_id, backend, "     \
  "evidence, "                                                                                                     \
  "evidence_sha256, output, kept, generator, tests_passed, tests_failed, tests_skipped, mutants, mutants_killed, " \
  "lines_covered, "                                                                                                \
  "lines_newly_covered, feedback, diff"

// The columns from `state` on, in their order.
void bind_night(Query& query, const Night& night) {
  query.bind(to_string(night.state))
      .bind(night.reason)
      .bind(night.why)
      .bind(night.started_ms)
      .bind(night.ended_ms)
      .bind(night.heartbeat_ms);
  query.bind(night.plan_name)
      .bind(night.base)
      .bind(night.branch)
      .bind(night.rules_digest)
      .bind(night.guard_version)
      .bind(night.put_backs);
  query.bind(night.plan_text);
}

// With plan_text where the statement asks for it, as the column behind the others.
Result<Night> read_night(const Query& query) {
  Night night;
  night.id = query.text(0);
  GUARD_TRY_ASSIGN(night.state, query.name(1, kNightStates));
  night.reason = query.text(2);
  night.why = query.text(3);
  night.started_ms = query.integer(4);
  night.ended_ms = query.integer(5);
  night.heartbeat_ms = query.integer(6);
  night.plan_name = query.text(7);
  night.base = query.text(8);
  night.branch = query.text(9);
  night.rules_digest = query.text(10);
  night.guard_version = query.text(11);
  night.put_backs = query.count(12);
  night.plan_text = query.text(13);
  return night;
}

Result<Task> read_task(const Query& query) {
  Task task;
  task.night = query.text(0);
  task.id = query.text(1);
  task.position = query.count(2);
  GUARD_TRY_ASSIGN(task.kind, query.name(3, kTaskKinds));
  GUARD_TRY_ASSIGN(task.state, query.name(4, kTaskStates));
  task.reason = query.text(5);
  task.detail = query.text(6);
  task.attempts = query.count(7);
  task.put_backs = query.count(8);
  task.commit = query.text(9);
  GUARD_TRY_ASSIGN(task.rollout, query.name(10, kRollouts));
  GUARD_TRY_ASSIGN(task.review, query.name(11, kReviews));
  task.note = query.text(12);
  task.prompt = query.text(13);
  return task;
}

Result<std::vector<Task>> read_tasks(Query& query) {
  std::vector<Task> tasks;
  for (;;) {
    GUARD_TRY_ASSIGN(const bool more, query.next());
    if (!more) return tasks;
    GUARD_TRY_ASSIGN(Task task, read_task(query));
    tasks.push_back(std::move(task));
  }
}

Result<Attempt> read_attempt(const Query& query) {
  Attempt attempt;
  attempt.night = query.text(0);
  attempt.task = query.text(1);
  attempt.number = query.count(2);
  GUARD_TRY_ASSIGN(attempt.step, query.name(3, kSteps));
  GUARD_TRY_ASSIGN(attempt.outcome, query.name(4, kOutcomes));
  attempt.reason = query.text(5);
  attempt.detail = query.text(6);
  attempt.started_ms = query.integer(7);
  attempt.ended_ms = query.integer(8);
  attempt.start = query.text(9);
  attempt.tip = query.text(10);
  attempt.commit = query.text(11);
  attempt.backend = query.text(12);
  attempt.evidence = query.text(13);
  attempt.evidence_sha256 = query.text(14);
  attempt.output = query.text(15);
  attempt.kept = query.text(16);
  attempt.generator = query.text(17);
  attempt.tests_passed = query.count(18);
  attempt.tests_failed = query.count(19);
  attempt.tests_skipped = query.count(20);
  attempt.mutants = query.count(21);
  attempt.mutants_killed = query.count(22);
  attempt.lines_covered = query.count(23);
  attempt.lines_newly_covered = query.count(24);
  attempt.feedback = query.text(25);
  attempt.diff = query.text(26);
  return attempt;
}

Result<void> write_lists(Store& store, std::int64_t key, const Attempt& attempt) {
  for (const std::string_view sql : {std::string_view("DELETE FROM finding WHERE attempt = ?"),
           std::string_view("DELETE FROM changed_file WHERE attempt = ?"),
           std::string_view("DELETE FROM flaky_test WHERE attempt = ?"),
           std::string_view("DELETE FROM timing WHERE attempt = ?")}) {
    GUARD_TRY(Query(store, sql).bind(key).run());
  }
  std::int64_t position = 0;
  for (const auto& finding : attempt.findings) {
    Query query(store,
        "INSERT INTO finding (attempt, position, rule, tier, path, line, message, fix, excerpt) VALUES (?, ?, ?, ?, ?, "
        "?, ?, ?, ?)");
    query.bind(key)
        .bind(position++)
        .bind(finding.rule)
        .bind(finding.tier)
        .bind(finding.path)
        .bind(std::uint64_t{finding.line});
    GUARD_TRY(query.bind(finding.message).bind(finding.fix).bind(finding.excerpt).run());
  }
  position = 0;
  for (const auto& path : attempt.files) {
    GUARD_TRY(Query(store, "INSERT INTO changed_file (attempt, position, path) VALUES (?, ?, ?)")
                  .bind(key)
                  .bind(position++)
                  .bind(path)
                  .run());
  }
  position = 0;
  for (const auto& test : attempt.flaky) {
    GUARD_TRY(Query(store, "INSERT INTO flaky_test (attempt, position, test) VALUES (?, ?, ?)")
                  .bind(key)
                  .bind(position++)
                  .bind(test)
                  .run());
  }
  position = 0;
  for (const auto& [stage, ms] : attempt.timings_ms) {
    GUARD_TRY(Query(store, "INSERT INTO timing (attempt, position, stage, ms) VALUES (?, ?, ?, ?)")
                  .bind(key)
                  .bind(position++)
                  .bind(stage)
                  .bind(ms)
                  .run());
  }
  return ok();
}

Result<void> write_attempt(Store& store, const Attempt& attempt) {
  Query query(store,
      "INSERT INTO attempt (" GUARD_ATTEMPT_COLUMNS
      ") VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)"
      " ON CONFLICT (night, task, number) DO UPDATE SET (step, outcome, reason, detail, started_ms, ended_ms, start, "
      "tip, commit_id, backend,"
      " evidence, evidence_sha256, output, kept, generator, tests_passed, tests_failed, tests_skipped, mutants, "
      "mutants_killed,"
      " lines_covered, lines_newly_covered, feedback, diff) = (excluded.step, excluded.outcome, excluded.reason, "
      "excluded.detail,"
      " excluded.started_ms, excluded.ended_ms, excluded.start, excluded.tip, excluded.commit_id, excluded.backend, "
      "excluded.evidence,"
      " excluded.evidence_sha256, excluded.output, excluded.kept, excluded.generator, excluded.tests_passed, "
      "excluded.tests_failed,"
      " excluded.tests_skipped, excluded.mutants, excluded.mutants_killed, excluded.lines_covered, "
      "excluded.lines_newly_covered,"
      " excluded.feedback, excluded.diff) RETURNING key");
  query.bind(attempt.night)
      .bind(attempt.task)
      .bind(attempt.number)
      .bind(to_string(attempt.step))
      .bind(to_string(attempt.outcome));
  query.bind(attempt.reason)
      .bind(attempt.detail)
      .bind(attempt.started_ms)
      .bind(attempt.ended_ms)
      .bind(attempt.start)
      .bind(attempt.tip);
  query.bind(attempt.commit)
      .bind(attempt.backend)
      .bind(attempt.evidence)
      .bind(attempt.evidence_sha256)
      .bind(attempt.output)
      .bind(attempt.kept);
  query.bind(attempt.generator)
      .bind(attempt.tests_passed)
      .bind(attempt.tests_failed)
      .bind(attempt.tests_skipped)
      .bind(attempt.mutants);
  query.bind(attempt.mutants_killed)
      .bind(attempt.lines_covered)
      .bind(attempt.lines_newly_covered)
      .bind(attempt.feedback)
      .bind(attempt.diff);
  GUARD_TRY_ASSIGN(const bool answered, query.next());
  if (!answered) return store.refusal("took an attempt and does not say where");
  const std::int64_t key = query.integer(0);
  GUARD_TRY(query.run());
  return write_lists(store, key, attempt);
}

Result<void> missing(const Store& store, std::string_view what) {
  return store.refusal(fmt::format("has no {}", what));
}

// Rows that the last statement changed or put in.
bool changed(const Store& store) { return sqlite3_changes64(store.database.get()) > 0; }

// Of one night; of one task, where one is named.
Result<std::vector<Attempt>> read_attempts(
    Store& store, std::string_view attempts_sql, const std::string& night, const std::string& task) {
  Transaction transaction(store);
  GUARD_TRY(transaction.begin(Transaction::Kind::read));
  std::vector<Attempt> attempts;
  std::map<std::int64_t, std::size_t> places;
  {
    Query query(store, attempts_sql);
    query.bind(night);
    if (!task.empty()) query.bind(task);
    for (;;) {
      GUARD_TRY_ASSIGN(const bool more, query.next());
      if (!more) break;
      GUARD_TRY_ASSIGN(Attempt attempt, read_attempt(query));
      places.emplace(query.integer(27), attempts.size());
      attempts.push_back(std::move(attempt));
    }
  }
  // Rows of a list as they come: of one attempt after the other, each list in its order.
  const auto read_list = [&](std::string_view sql, auto&& add) -> Result<void> {
    Query query(store, sql);
    query.bind(night).bind(task);
    for (;;) {
      GUARD_TRY_ASSIGN(const bool more, query.next());
      if (!more) return ok();
      const auto place = places.find(query.integer(0));
      if (place != places.end()) add(attempts[place->second], query);
    }
  };
#define GUARD_OF_ATTEMPTS                                                                                          \
  " JOIN attempt ON attempt.key = l.attempt WHERE attempt.night = ?1 AND (?2 = '' OR attempt.task = ?2) ORDER BY " \
  "l.attempt, l.position"
  GUARD_TRY(
      read_list("SELECT l.attempt, rule, tier, path, line, message, fix, excerpt FROM finding AS l" GUARD_OF_ATTEMPTS,
          [](Attempt& attempt, const Query& row) {
            attempt.findings.push_back({row.text(1), row.text(2), row.text(3), static_cast<std::uint32_t>(row.count(4)),
                row.text(5), row.text(6), row.text(7)});
          }));
  GUARD_TRY(read_list("SELECT l.attempt, path FROM changed_file AS l" GUARD_OF_ATTEMPTS,
      [](Attempt& attempt, const Query& row) { attempt.files.push_back(row.text(1)); }));
  GUARD_TRY(read_list("SELECT l.attempt, test FROM flaky_test AS l" GUARD_OF_ATTEMPTS,
      [](Attempt& attempt, const Query& row) { attempt.flaky.push_back(row.text(1)); }));
  GUARD_TRY(read_list("SELECT l.attempt, stage, ms FROM timing AS l" GUARD_OF_ATTEMPTS,
      [](Attempt& attempt, const Query& row) { attempt.timings_ms.emplace_back(row.text(1), row.integer(2)); }));
#undef GUARD_OF_ATTEMPTS
  GUARD_TRY(transaction.commit());
  return attempts;
}

// For LIMIT, where a negative number is none.
std::int64_t limit_of(std::size_t limit) {
  return limit == 0 || limit > 1'000'000'000 ? -1 : static_cast<std::int64_t>(limit);
}

}  // namespace

struct Journal::State : Store {};

Journal::Journal(std::unique_ptr<State> state) : state_(std::move(state)) {}
Journal::Journal(Journal&&) noexcept = default;
Journal& Journal::operator=(Journal&&) noexcept = default;
Journal::~Journal() = default;

Result<Journal> Journal::open(const fs::path& file, Access access) {
  auto state = std::make_unique<State>();
  GUARD_TRY(open_store(*state, file, access));
  return Journal(std::move(state));
}

Result<void> Journal::begin(const Night& night, const std::vector<Task>& tasks) {
  const std::lock_guard lock(state_->mutex);
  Transaction transaction(*state_);
  GUARD_TRY(transaction.begin(Transaction::Kind::write));
  {
    Query query(*state_,
        "INSERT INTO night (" GUARD_NIGHT_COLUMNS ", plan_text) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)");
    query.bind(night.id);
    bind_night(query, night);
    GUARD_TRY(query.run());
  }
  for (const Task& task : tasks) {
    if (task.night != night.id)
      return missing(
          *state_, fmt::format("night {} that task {} could be of", printable(task.night), printable(task.id)));
    Query query(*state_, "INSERT INTO task (" GUARD_TASK_COLUMNS ") VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)");
    query.bind(task.night)
        .bind(task.id)
        .bind(task.position)
        .bind(to_string(task.kind))
        .bind(to_string(task.state))
        .bind(task.reason)
        .bind(task.detail);
    query.bind(task.attempts)
        .bind(task.put_backs)
        .bind(task.commit)
        .bind(to_string(task.rollout))
        .bind(to_string(task.review))
        .bind(task.note);
    GUARD_TRY(query.bind(task.prompt).run());
  }
  return transaction.commit();
}

Result<void> Journal::save(const Night* night, const Task* task, const Attempt* attempt) {
  const std::lock_guard lock(state_->mutex);
  Transaction transaction(*state_);
  GUARD_TRY(transaction.begin(Transaction::Kind::write));
  if (night != nullptr) {
    Query query(*state_,
        "UPDATE night SET state = ?, reason = ?, why = ?, started_ms = ?, ended_ms = ?, heartbeat_ms = ?, plan_name = "
        "?, base = ?, branch = ?,"
        " rules_digest = ?, guard_version = ?, put_backs = ?, plan_text = ? WHERE id = ?");
    bind_night(query, *night);
    GUARD_TRY(query.bind(night->id).run());
    if (!changed(*state_)) return missing(*state_, fmt::format("night {}", printable(night->id)));
  }
  if (task != nullptr) {
    Query query(*state_,
        "UPDATE task SET position = ?, kind = ?, state = ?, reason = ?, detail = ?, attempts = ?, put_backs = ?, "
        "commit_id = ?, rollout = ?,"
        " prompt = ? WHERE night = ? AND id = ?");
    query.bind(task->position)
        .bind(to_string(task->kind))
        .bind(to_string(task->state))
        .bind(task->reason)
        .bind(task->detail)
        .bind(task->attempts);
    query.bind(task->put_backs)
        .bind(task->commit)
        .bind(to_string(task->rollout))
        .bind(task->prompt)
        .bind(task->night)
        .bind(task->id);
    GUARD_TRY(query.run());
    if (!changed(*state_))
      return missing(*state_, fmt::format("task {} in night {}", printable(task->id), printable(task->night)));
  }
  if (attempt != nullptr) GUARD_TRY(write_attempt(*state_, *attempt));
  return transaction.commit();
}

Result<void> Journal::review(
    const std::string& night, const std::string& task, Review review, const std::string& note) {
  const std::lock_guard lock(state_->mutex);
  GUARD_TRY(Query(*state_, "UPDATE task SET review = ?, note = ? WHERE night = ? AND id = ?")
                .bind(to_string(review))
                .bind(note)
                .bind(night)
                .bind(task)
                .run());
  if (!changed(*state_)) return missing(*state_, fmt::format("task {} in night {}", printable(task), printable(night)));
  return ok();
}

Result<void> Journal::request_stop(const std::string& night) { return set_stop(night, true); }

Result<void> Journal::forget_stop(const std::string& night) { return set_stop(night, false); }

Result<void> Journal::set_stop(const std::string& night, bool asked) {
  const std::lock_guard lock(state_->mutex);
  GUARD_TRY(
      Query(*state_, "UPDATE night SET stop_requested = ? WHERE id = ?").bind(std::int64_t{asked}).bind(night).run());
  if (!changed(*state_)) return missing(*state_, fmt::format("night {}", printable(night)));
  return ok();
}

Result<bool> Journal::stop_requested(const std::string& night) const {
  const std::lock_guard lock(state_->mutex);
  Query query(*state_, "SELECT stop_requested FROM night WHERE id = ?");
  GUARD_TRY_ASSIGN(const bool found, query.bind(night).next());
  if (!found) return state_->refusal(fmt::format("has no night {}", printable(night)));
  const bool asked = query.integer(0) != 0;
  GUARD_TRY(state_->still());
  return asked;
}

Result<std::vector<Night>> Journal::nights(std::size_t limit) const {
  const std::lock_guard lock(state_->mutex);
  Query query(*state_, "SELECT " GUARD_NIGHT_COLUMNS ", '' FROM night ORDER BY started_ms DESC, id DESC LIMIT ?");
  query.bind(limit_of(limit));
  std::vector<Night> nights;
  for (;;) {
    GUARD_TRY_ASSIGN(const bool more, query.next());
    if (!more) break;
    GUARD_TRY_ASSIGN(Night night, read_night(query));
    nights.push_back(std::move(night));
  }
  GUARD_TRY(state_->still());
  return nights;
}

Result<std::optional<Night>> Journal::night(const std::string& id) const {
  const std::lock_guard lock(state_->mutex);
  Query query(*state_, "SELECT " GUARD_NIGHT_COLUMNS ", plan_text FROM night WHERE id = ?");
  GUARD_TRY_ASSIGN(const bool found, query.bind(id).next());
  GUARD_TRY(state_->still());
  if (!found) return std::optional<Night>();
  GUARD_TRY_ASSIGN(Night night, read_night(query));
  return std::optional<Night>(std::move(night));
}

Result<std::vector<Task>> Journal::tasks(const std::string& night) const {
  const std::lock_guard lock(state_->mutex);
  Query query(*state_, "SELECT " GUARD_TASK_COLUMNS " FROM task WHERE night = ? ORDER BY position, id");
  query.bind(night);
  GUARD_TRY_ASSIGN(auto tasks, read_tasks(query));
  GUARD_TRY(state_->still());
  return tasks;
}

Result<std::vector<Attempt>> Journal::attempts(const std::string& night) const {
  const std::lock_guard lock(state_->mutex);
  return read_attempts(*state_,
      "SELECT " GUARD_ATTEMPT_COLUMNS ", key FROM attempt WHERE night = ? ORDER BY started_ms, key", night, {});
}

Result<std::vector<Attempt>> Journal::attempts(const std::string& night, const std::string& task) const {
  const std::lock_guard lock(state_->mutex);
  if (task.empty()) return std::vector<Attempt>();
  return read_attempts(*state_,
      "SELECT " GUARD_ATTEMPT_COLUMNS ", key FROM attempt WHERE night = ? AND task = ? ORDER BY number", night, task);
}

Result<std::vector<Journal::NightSums>> Journal::sums(std::size_t nights) const {
  const std::lock_guard lock(state_->mutex);
  Query query(*state_,
      "SELECT id, started_ms, ended_ms,"
      " (SELECT count(*) FROM task WHERE night = n.id AND state = 'accepted'),"
      " (SELECT count(*) FROM task WHERE night = n.id AND state = 'refused'),"
      " (SELECT count(*) FROM task WHERE night = n.id AND state = 'failed'),"
      " (SELECT count(*) FROM task WHERE night = n.id AND state = 'skipped'),"
      " (SELECT count(*) FROM task WHERE night = n.id AND state IN ('waiting', 'running')),"
      " (SELECT count(*) FROM attempt WHERE night = n.id),"
      " (SELECT count(*) FROM attempt JOIN finding ON finding.attempt = attempt.key WHERE attempt.night = n.id AND "
      "finding.tier <> 'test'),"
      " (SELECT count(DISTINCT test) FROM attempt JOIN flaky_test ON flaky_test.attempt = attempt.key WHERE "
      "attempt.night = n.id)"
      " FROM night AS n ORDER BY started_ms DESC, id DESC LIMIT ?");
  query.bind(limit_of(nights));
  std::vector<NightSums> sums;
  for (;;) {
    GUARD_TRY_ASSIGN(const bool more, query.next());
    if (!more) break;
    NightSums row;
    row.night = query.text(0);
    row.started_ms = query.integer(1);
    row.ended_ms = query.integer(2);
    row.accepted = query.count(3);
    row.refused = query.count(4);
    row.failed = query.count(5);
    row.skipped = query.count(6);
    row.waiting = query.count(7);
    row.attempts = query.count(8);
    row.findings = query.count(9);
    row.flaky = query.count(10);
    sums.push_back(std::move(row));
  }
  GUARD_TRY(state_->still());
  return sums;
}

Result<std::vector<Journal::RuleCount>> Journal::findings_by_rule(const std::string& night) const {
  const std::lock_guard lock(state_->mutex);
  Query query(*state_,
      "SELECT rule, count(*) FROM attempt JOIN finding ON finding.attempt = attempt.key WHERE attempt.night = ? AND "
      "finding.tier <> 'test'"
      " GROUP BY rule ORDER BY 2 DESC, rule");
  query.bind(night);
  std::vector<RuleCount> counts;
  for (;;) {
    GUARD_TRY_ASSIGN(const bool more, query.next());
    if (!more) break;
    counts.push_back({query.text(0), query.count(1)});
  }
  GUARD_TRY(state_->still());
  return counts;
}

Result<std::vector<Journal::Flake>> Journal::flakes(std::size_t nights) const {
  const std::lock_guard lock(state_->mutex);
  // Of a group with max() the other columns are of the row that holds it.
  Query query(*state_,
      "WITH newest AS (SELECT id, row_number() OVER (ORDER BY started_ms, id) AS place FROM"
      " (SELECT id, started_ms FROM night ORDER BY started_ms DESC, id DESC LIMIT ?))"
      " SELECT test, count(DISTINCT newest.id), newest.id, max(place) FROM newest JOIN attempt ON attempt.night = "
      "newest.id"
      " JOIN flaky_test ON flaky_test.attempt = attempt.key GROUP BY test ORDER BY 2 DESC, 4 DESC, test");
  query.bind(limit_of(nights));
  std::vector<Flake> flakes;
  for (;;) {
    GUARD_TRY_ASSIGN(const bool more, query.next());
    if (!more) break;
    flakes.push_back({query.text(0), query.count(1), query.text(2)});
  }
  GUARD_TRY(state_->still());
  return flakes;
}

// Of task t in night n: no later night has run it.
#define GUARD_IS_LATEST                                                                                             \
  "t.state != 'skipped' AND NOT EXISTS (SELECT 1 FROM task AS later JOIN night AS ln ON ln.id = later.night WHERE " \
  "later.id = t.id"                                                                                                 \
  " AND later.state != 'skipped' AND (ln.started_ms, ln.id) > (n.started_ms, n.id))"

Result<std::vector<Task>> Journal::latest() const {
  const std::lock_guard lock(state_->mutex);
  Query query(*state_,
      "SELECT t.night, t.id, t.position, t.kind, t.state, t.reason, t.detail, t.attempts, t.put_backs, t.commit_id, "
      "t.rollout, t.review, t.note, t.prompt"
      " FROM task AS t JOIN night AS n ON n.id = t.night WHERE " GUARD_IS_LATEST
      " ORDER BY n.started_ms, n.id, t.position");
  GUARD_TRY_ASSIGN(auto tasks, read_tasks(query));
  GUARD_TRY(state_->still());
  return tasks;
}

Result<std::vector<std::string>> Journal::forget(std::int64_t before_ms) {
  const std::lock_guard lock(state_->mutex);
  Transaction transaction(*state_);
  GUARD_TRY(transaction.begin(Transaction::Kind::write));
  std::vector<std::string> ids;
  std::vector<std::string> whole;
  {
    Query query(*state_,
        "SELECT id, decides FROM (SELECT n.id, n.started_ms, EXISTS (SELECT 1 FROM attempt WHERE attempt.night = n.id) "
        "AS has_attempts,"
        " EXISTS (SELECT 1 FROM task AS t WHERE t.night = n.id AND t.state IN ('accepted', 'refused') "
        "AND " GUARD_IS_LATEST
        ") AS decides"
        " FROM night AS n WHERE n.ended_ms > 0 AND n.ended_ms < ?"
        " AND NOT EXISTS (SELECT 1 FROM task AS t WHERE t.night = n.id AND t.review = 'sent_back' AND " GUARD_IS_LATEST
        ")) WHERE has_attempts OR NOT decides ORDER BY started_ms, id");
    query.bind(before_ms);
    for (;;) {
      GUARD_TRY_ASSIGN(const bool more, query.next());
      if (!more) break;
      ids.push_back(query.text(0));
      if (query.integer(1) == 0) whole.push_back(ids.back());
    }
  }
  for (const auto& id : ids) GUARD_TRY(Query(*state_, "DELETE FROM attempt WHERE night = ?").bind(id).run());
  for (const auto& id : whole) GUARD_TRY(Query(*state_, "DELETE FROM night WHERE id = ?").bind(id).run());
  GUARD_TRY(transaction.commit());
  return ids;
}

Result<std::string> Journal::check() const {
  const std::lock_guard lock(state_->mutex);
  std::string said;
  {
    Query query(*state_, "PRAGMA integrity_check");
    for (;;) {
      GUARD_TRY_ASSIGN(const bool more, query.next());
      if (!more) break;
      if (const std::string line = query.text(0); line != "ok") said += (said.empty() ? "" : "\n") + printable(line);
    }
  }
  Query query(*state_, "PRAGMA foreign_key_check");
  for (;;) {
    GUARD_TRY_ASSIGN(const bool more, query.next());
    if (!more) break;
    said += fmt::format("{}a row of {} belongs to nothing", said.empty() ? "" : "\n", printable(query.text(0)));
  }
  GUARD_TRY(state_->still());
  return said;
}

}  // namespace guard::nightly

#include "sessions/ledger.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>

#include <cerrno>

#include "common/file_io.h"
#include "common/sqlite/sqlite_table.h"
#include "common/text/text.h"

namespace guard::sessions {
namespace {

namespace fs = std::filesystem;

constexpr Column<SandboxRow> kSandboxColumns[] = {
    column<SandboxRow, &SandboxRow::id>("id", ColumnUse::key),
    column<SandboxRow, &SandboxRow::state>("state"),
    column<SandboxRow, &SandboxRow::session>("session"),
    column<SandboxRow, &SandboxRow::started_ms>("started_ms"),
};

constexpr Column<SessionRow> kSessionColumns[] = {
    column<SessionRow, &SessionRow::id>("id", ColumnUse::key),
    column<SessionRow, &SessionRow::state>("state"),
    column<SessionRow, &SessionRow::created_ms>("created_ms"),
    column<SessionRow, &SessionRow::used_ms>("used_ms"),
    column<SessionRow, &SessionRow::lease_ms>("lease_ms"),
    column<SessionRow, &SessionRow::expires_ms>("expires_ms"),
    column<SessionRow, &SessionRow::workspace>("workspace"),
    column<SessionRow, &SessionRow::moving_from>("moving_from"),
    column<SessionRow, &SessionRow::removing>("removing"),
};

constexpr Column<CommandRow> kCommandColumns[] = {
    column<CommandRow, &CommandRow::id>("id", ColumnUse::key),
    column<CommandRow, &CommandRow::session>("session"),
    column<CommandRow, &CommandRow::started_ms>("started_ms"),
    column<CommandRow, &CommandRow::ended_ms>("ended_ms"),
    column<CommandRow, &CommandRow::outcome>("outcome"),
    column<CommandRow, &CommandRow::log_bytes>("log_bytes"),
    column<CommandRow, &CommandRow::cut>("cut"),
    column<CommandRow, &CommandRow::argv>("argv"),
};

template <typename Row>
constexpr Table<Row> kTable;
template <>
constexpr Table<SandboxRow> kTable<SandboxRow> = {"sandbox", kSandboxColumns};
template <>
constexpr Table<SessionRow> kTable<SessionRow> = {"session", kSessionColumns};
template <>
constexpr Table<CommandRow> kTable<CommandRow> = {"command", kCommandColumns};

template <typename Row>
std::string created() {
  return fmt::format("CREATE TABLE {} ({}, PRIMARY KEY (id)) STRICT;", kTable<Row>.name,
      columns_text(kTable<Row>, kAllColumns,
          [](const auto& column) { return fmt::format("{} {} NOT NULL", column.name, column.type); }));
}

const SqliteFormat& format() {
  static const SqliteFormat kFormat = {"ledger of sessions", "session", "", 0x67647365,  // "gdse"
      1,
      created<SandboxRow>() + created<SessionRow>() + created<CommandRow>() +
          "CREATE INDEX command_by_session ON command (session, started_ms, id);"};
  return kFormat;
}

}  // namespace

Result<Owner> Owner::take(const fs::path& state) {
  GUARD_TRY(make_folders(state, folder_mode()).context("making the state folder of sessions"));
  const fs::path path = state / "owner";
  UniqueFd lock(::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK, 0600));
  if (!lock) return Error::from_errno(ErrorCode::io_error, fmt::format("opening {}", path.string()), errno);
  if (::flock(lock.get(), LOCK_EX | LOCK_NB) != 0) {
    if (errno != EWOULDBLOCK) return Error::from_errno(ErrorCode::io_error, "locking the state of sessions", errno);
    std::string pid = read_all(lock.get(), 64, "owner").value_or("");
    while (!pid.empty() && pid.back() == '\n') pid.pop_back();
    return Error(ErrorCode::input_invalid,
        fmt::format("the sessions in {} belong to another guard (process {})", printable(state.native()),
            pid.empty() ? "unknown" : printable(pid)))
        .detail("owner", pid)
        .hint("wait until it has ended, or start `guard serve`: then any number of calls run side by side");
  }
  if (::ftruncate(lock.get(), 0) != 0)
    return Error::from_errno(ErrorCode::io_error, fmt::format("writing {}", path.string()), errno);
  GUARD_TRY(write_all(lock.get(), fmt::format("{}\n", ::getpid())));
  return Owner(std::move(lock));
}

Result<std::unique_ptr<Ledger>> Ledger::open(const fs::path& state, StepWatch watch) {
  std::unique_ptr<Ledger> ledger(new Ledger());
  ledger->watch_ = std::move(watch);
  GUARD_TRY_ASSIGN(ledger->file_, SqliteFile::open(state / "sessions.sqlite", SqliteFile::Access::write, format()));
  return ledger;
}

Result<void> Ledger::begin(std::string_view step) const { return watch_ ? watch_(step) : ok(); }

template <typename Row>
Result<void> Ledger::put(const Row& row) {
  static const std::string kSql = insertion(kTable<Row>) + " ON CONFLICT (id) DO UPDATE SET " +
      columns_text(kTable<Row>, kSavedColumns,
          [](const auto& column) { return fmt::format("{0} = excluded.{0}", column.name); });
  SqliteQuery query(*file_, kSql);
  bind_row(query, kTable<Row>, row);
  return query.run();
}

template <typename Row>
Result<std::vector<Row>> Ledger::all() const {
  const std::lock_guard lock(mutex_);
  SqliteQuery query(*file_,
      fmt::format("SELECT {} FROM {} ORDER BY id",
          columns_text(kTable<Row>, kAllColumns, [](const auto& column) { return std::string(column.name); }),
          kTable<Row>.name));
  return all_rows(query, kTable<Row>);
}

Result<void> Ledger::save(const SandboxRow* sandbox, const SessionRow* session) {
  const std::lock_guard lock(mutex_);
  GUARD_TRY(begin(sandbox == nullptr ? "ledger: session" : session == nullptr ? "ledger: sandbox" : "ledger: claim"));
  SqliteTransaction transaction(*file_);
  GUARD_TRY(transaction.begin(SqliteFile::Access::write));
  if (sandbox != nullptr) GUARD_TRY(put(*sandbox));
  if (session != nullptr) GUARD_TRY(put(*session));
  return transaction.commit();
}

Result<void> Ledger::save(const CommandRow& command) {
  const std::lock_guard lock(mutex_);
  GUARD_TRY(begin("ledger: command"));
  return put(command);
}

Result<void> Ledger::forget(std::string_view step, std::string_view sql, const std::string& id) {
  const std::lock_guard lock(mutex_);
  GUARD_TRY(begin(step));
  return SqliteQuery(*file_, sql).bind(id).run();
}

Result<void> Ledger::forget_sandbox(const std::string& id) {
  return forget("ledger: forget sandbox", "DELETE FROM sandbox WHERE id = ?", id);
}

Result<void> Ledger::forget_session(const std::string& id) {
  GUARD_TRY(forget("ledger: forget commands", "DELETE FROM command WHERE session = ?", id));
  return forget("ledger: forget session", "DELETE FROM session WHERE id = ?", id);
}

Result<void> Ledger::forget_command(const std::string& id) {
  return forget("ledger: forget command", "DELETE FROM command WHERE id = ?", id);
}

Result<std::vector<SandboxRow>> Ledger::sandboxes() const { return all<SandboxRow>(); }
Result<std::vector<SessionRow>> Ledger::sessions() const { return all<SessionRow>(); }

Result<std::vector<CommandRow>> Ledger::commands(const std::string& session) const {
  const std::lock_guard lock(mutex_);
  SqliteQuery query(*file_,
      fmt::format("SELECT {} FROM command WHERE ?1 = '' OR session = ?1 ORDER BY started_ms, id",
          columns_text(kTable<CommandRow>, kAllColumns, [](const auto& column) { return std::string(column.name); })));
  query.bind(session);
  return all_rows(query, kTable<CommandRow>);
}

Result<std::string> Ledger::check() const {
  const std::lock_guard lock(mutex_);
  SqliteQuery query(*file_, "PRAGMA integrity_check");
  GUARD_TRY_ASSIGN(const bool answered, query.next());
  return answered ? printable(query.text(0)) : std::string("no answer");
}

}  // namespace guard::sessions

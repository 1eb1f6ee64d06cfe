#include "common/sqlite/sqlite.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sqlite3.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>

#include "common/file_io.h"
#include "common/text/text.h"
#include "common/unique_fd.h"

namespace guard {
namespace {

namespace fs = std::filesystem;

// Writers need some milliseconds each.
constexpr int kBusyTimeoutMs = 5'000;

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

bool has_writer_log(const fs::path& file) {
  struct stat status {};
  return ::lstat((file.native() + "-wal").c_str(), &status) == 0 || errno != ENOENT;
}

// For a URI of SQLite, whose query begins with '?'.
std::string uri_path(const fs::path& file) {
  constexpr std::string_view kPlain = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789/.-_";
  std::string uri;
  for (const char c : file.native()) {
    uri += kPlain.find(c) != std::string_view::npos ? std::string(1, c)
                                                    : fmt::format("%{:02X}", static_cast<unsigned char>(c));
  }
  return uri;
}

}  // namespace

void SqliteFile::Close::operator()(sqlite3* database) const noexcept { sqlite3_close_v2(database); }
void SqliteFile::Close::operator()(sqlite3_stmt* statement) const noexcept { sqlite3_finalize(statement); }

SqliteFile::~SqliteFile() = default;

std::string SqliteFile::shown() const { return fmt::format("the {} {}", format_.name, printable(file_.native())); }

Error SqliteFile::fault(int code, std::string_view doing) const {
  std::string what = fmt::format("{}: {}: {}", shown(), doing, sqlite3_errstr(code));
  const char* said = database_ ? sqlite3_errmsg(database_.get()) : nullptr;
  if (said != nullptr && std::string_view(said) != sqlite3_errstr(code) &&
      (sqlite3_errcode(database_.get()) & 0xFF) == (code & 0xFF)) {
    what += fmt::format(" ({})", printable(said));
  }
  return Error(ErrorCode::io_error, std::move(what)).hint(std::string(hint_for(code)));
}

Error SqliteFile::refusal(std::string_view sentence) const {
  return Error(ErrorCode::io_error, fmt::format("{} {}", shown(), sentence));
}

Result<void> SqliteFile::execute(const std::string& sql) {
  const int code = sqlite3_exec(database_.get(), sql.c_str(), nullptr, nullptr, nullptr);
  if (code != SQLITE_OK) return fault(code, "using it");
  return ok();
}

Result<std::int64_t> SqliteFile::number(const std::string& sql) {
  SqliteQuery query(*this, sql);
  GUARD_TRY_ASSIGN(const bool found, query.next());
  return found ? query.integer(0) : std::int64_t{0};
}

bool SqliteFile::changed() const { return sqlite3_changes64(database_.get()) > 0; }

Result<void> SqliteFile::still() const {
  if (immutable_ && has_writer_log(file_)) {
    return refusal("was written to while it was read")
        .hint("try again; where its folder can be written, a reader need not look away");
  }
  return ok();
}

Result<void> SqliteFile::connect(const std::string& options, int flags) {
  statements_.clear();
  database_.reset();
  sqlite3* made = nullptr;
  const int code = sqlite3_open_v2(("file:" + uri_path(file_) + options).c_str(), &made,
      flags | SQLITE_OPEN_URI | SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_EXRESCODE, nullptr);
  database_.reset(made);
  if (code != SQLITE_OK) return fault(code, "opening it");
  sqlite3_busy_timeout(made, kBusyTimeoutMs);
  // The file holds tables alone. Whatever else it brings along (views, triggers) gets no say.
  sqlite3_db_config(made, SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0, nullptr);
  sqlite3_db_config(made, SQLITE_DBCONFIG_DEFENSIVE, 1, nullptr);
  return ok();
}

// Whose file it is, before anything in it is changed. Answers whether it is a database without anything, as a first
// start that was killed leaves it.
Result<bool> SqliteFile::identify() {
  GUARD_TRY_ASSIGN(const std::int64_t application, number("PRAGMA application_id"));
  GUARD_TRY_ASSIGN(const std::int64_t version, number("PRAGMA user_version"));
  GUARD_TRY_ASSIGN(const std::int64_t things, number("SELECT count(*) FROM sqlite_master"));
  if (application == 0 && version == 0 && things == 0) return true;
  if (application != format_.application_id)
    return refusal("is a database of another program").hint(std::string(hint_for(SQLITE_NOTADB)));
  if (version > format_.version) {
    return refusal(fmt::format("was written by a newer guard: its tables are of version {}, this guard knows {}",
                       version, format_.version))
        .hint("use the newer guard; nothing was changed");
  }
  if (version != format_.version) {
    return refusal(fmt::format("has tables of version {}, which there never was", version))
        .hint(std::string(hint_for(SQLITE_CORRUPT)));
  }
  return false;
}

// In one transaction, or the tables of another guard that starts could appear between two looks.
Result<bool> SqliteFile::identify_at_once() {
  SqliteTransaction transaction(*this);
  GUARD_TRY(transaction.begin(Access::read));
  return identify();
}

Result<void> SqliteFile::make_tables() {
  SqliteTransaction transaction(*this);
  GUARD_TRY(transaction.begin(Access::write));
  GUARD_TRY_ASSIGN(const bool empty, identify());  // another guard may have been quicker
  if (!empty) return ok();
  GUARD_TRY(execute(format_.schema));
  GUARD_TRY(execute(
      fmt::format("PRAGMA application_id = {}; PRAGMA user_version = {}", format_.application_id, format_.version)));
  return transaction.commit();
}

Result<void> SqliteFile::open_for_writing() {
  GUARD_TRY(make_folders(file_.parent_path(), 0700).context(fmt::format("making the folder of {}", shown())));
  {
    // Made here for its mode, which SQLite then gives to the files beside it. One that is there is not opened, and the
    // new one is closed before SQLite opens it: closing a descriptor drops all locks of this process on the file, and
    // whichever process closes the file next would then remove the log that this one goes on to write.
    const UniqueFd made(::open(file_.c_str(), O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600));
    if (!made && errno != EEXIST)
      return Error::from_errno(ErrorCode::io_error, fmt::format("making {}", shown()), errno);
  }
  GUARD_TRY(connect("", SQLITE_OPEN_READWRITE));
  GUARD_TRY_ASSIGN(const bool empty, identify_at_once());
  {
    SqliteQuery mode(*this, "PRAGMA journal_mode = WAL");
    GUARD_TRY_ASSIGN(const bool answered, mode.next());
    if (!answered || mode.text(0) != "wal") {
      return refusal("stands on a file system that has no shared memory for SQLite (WAL)")
          .hint("put the state folder on a local disk");
    }
  }
  GUARD_TRY(execute("PRAGMA synchronous = FULL; PRAGMA foreign_keys = ON; PRAGMA cell_size_check = ON"));
  return empty ? make_tables() : ok();
}

Result<void> SqliteFile::open_for_reading() {
  const auto look = [&](const std::string& options) -> Result<bool> {
    GUARD_TRY(connect(options, SQLITE_OPEN_READONLY));
    return identify_at_once();
  };
  Result<bool> empty = look("");
  // A reader wants to tell writers where it reads, in a file beside the journal. In a folder that it cannot write to,
  // and where no writer is at work, it can do without.
  if (!empty && ::access(file_.parent_path().c_str(), W_OK) != 0 && !has_writer_log(file_)) {
    immutable_ = true;
    empty = look("?immutable=1");
    if (empty) GUARD_TRY(still());
  }
  if (!empty) return std::move(empty).error();
  if (*empty)
    return Error(ErrorCode::file_not_found, fmt::format("{} holds no {} yet", shown(), format_.row))
        .hint(std::string(format_.hint));
  return ok();
}

Result<std::unique_ptr<SqliteFile>> SqliteFile::open(const fs::path& path, Access access, const SqliteFormat& format) {
  std::error_code failure;
  std::unique_ptr<SqliteFile> file(new SqliteFile(fs::absolute(path, failure), format));
  if (failure)
    return Error(
        ErrorCode::io_error, fmt::format("the {} {}: {}", format.name, printable(path.native()), failure.message()));
  if (path.native().find('\0') != std::string::npos || path.filename().empty())
    return file->refusal("has a name that no file can have");
  struct stat status {};
  if (::stat(file->file_.c_str(), &status) == 0) {
    if (!S_ISREG(status.st_mode)) return file->refusal("is no file").hint(std::string(hint_for(SQLITE_NOTADB)));
  } else if (errno != ENOENT && errno != ENOTDIR) {
    return Error::from_errno(ErrorCode::io_error, fmt::format("looking at {}", file->shown()), errno);
  } else if (access == Access::read) {
    return Error(
        ErrorCode::file_not_found, fmt::format("there is no {} {}", format.name, printable(file->file_.native())))
        .hint(std::string(format.hint));
  }
  GUARD_TRY(access == Access::write ? file->open_for_writing() : file->open_for_reading());
  return file;
}

SqliteQuery::SqliteQuery(SqliteFile& file, std::string_view sql) : file_(file) {
  auto kept = file_.statements_.find(sql);
  if (kept == file_.statements_.end()) {
    sqlite3_stmt* made = nullptr;
    code_ = sqlite3_prepare_v3(
        file_.database_.get(), sql.data(), static_cast<int>(sql.size()), SQLITE_PREPARE_PERSISTENT, &made, nullptr);
    if (made == nullptr) return;
    kept = file_.statements_.emplace(sql, made).first;
  }
  statement_ = kept->second.get();
}

SqliteQuery::~SqliteQuery() {
  if (statement_ == nullptr) return;
  sqlite3_reset(statement_);
  sqlite3_clear_bindings(statement_);
}

SqliteQuery& SqliteQuery::bind(std::string_view text) {
  // A null pointer would bind NULL.
  if (code_ == SQLITE_OK)
    code_ = sqlite3_bind_text64(
        statement_, ++bound_, text.data() == nullptr ? "" : text.data(), text.size(), SQLITE_STATIC, SQLITE_UTF8);
  return *this;
}

SqliteQuery& SqliteQuery::bind(std::int64_t number) {
  if (code_ == SQLITE_OK) code_ = sqlite3_bind_int64(statement_, ++bound_, number);
  return *this;
}

Result<bool> SqliteQuery::next() {
  const int code = code_ == SQLITE_OK ? sqlite3_step(statement_) : code_;
  if (code == SQLITE_ROW) return true;
  if (code == SQLITE_DONE) return false;
  return file_.fault(code, sqlite3_db_readonly(file_.database_.get(), "main") == 1 ? "reading it" : "using it");
}

Result<void> SqliteQuery::run() {
  return each([] { return ok(); });
}

std::string SqliteQuery::text(int column) const {
  const auto* bytes = static_cast<const char*>(sqlite3_column_blob(statement_, column));
  const int size = sqlite3_column_bytes(statement_, column);
  return bytes == nullptr || size <= 0 ? std::string() : std::string(bytes, static_cast<std::size_t>(size));
}

std::int64_t SqliteQuery::integer(int column) const { return sqlite3_column_int64(statement_, column); }

Error SqliteQuery::unknown(int column) const {
  return file_
      .refusal(fmt::format("holds \"{}\" as {}, which this guard does not know", printable(text(column).substr(0, 80)),
          sqlite3_column_name(statement_, column)))
      .hint("it was written by another version of guard, or the file was damaged");
}

SqliteTransaction::~SqliteTransaction() {
  if (open_) (void)file_.execute("ROLLBACK");
}

Result<void> SqliteTransaction::begin(SqliteFile::Access access) {
  const bool writes = access == SqliteFile::Access::write;
  if (writes && sqlite3_db_readonly(file_.database_.get(), "main") != 0)
    return file_.fault(SQLITE_READONLY, "writing to it");
  GUARD_TRY(SqliteQuery(file_, writes ? "BEGIN IMMEDIATE" : "BEGIN").run());
  open_ = true;
  return ok();
}

Result<void> SqliteTransaction::commit() {
  GUARD_TRY(SqliteQuery(file_, "COMMIT").run());
  open_ = false;
  return file_.still();
}

}  // namespace guard

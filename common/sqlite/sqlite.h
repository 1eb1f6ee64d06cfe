// One SQLite file of a program: who may open it, statements, transactions. WAL with synchronous = FULL: what a
// transaction has committed is on the disk when the call returns.
//
// Not thread-safe. All failures are IO_ERROR (a full or read-only disk, a file of another program or of a newer guard)
// and leave the file as it was; what helps is in the hint.
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include "common/result.h"

struct sqlite3;
struct sqlite3_stmt;

namespace guard {

struct SqliteFormat {
  std::string_view name;            // in messages: "journal"
  std::string_view row;             // what it holds: "night"
  std::string_view hint;            // where there is none yet
  std::int64_t application_id = 0;  // at its fixed place in the file: another number is another program's file
  std::int64_t version = 0;         // raised when a table changes its meaning; a newer one is refused
  std::string schema;               // the tables of an empty file
};

class SqliteFile {
 public:
  enum class Access { read, write };
  // Access::write makes the file and its folder where they are missing (0600, 0700); Access::read: FILE_NOT_FOUND then,
  // and for a file without tables. A reader that cannot write to the folder reads as long as no writer is at work or
  // has left steps beside the file.
  static Result<std::unique_ptr<SqliteFile>> open(
      const std::filesystem::path& file, Access access, const SqliteFormat& format);
  ~SqliteFile();
  SqliteFile(const SqliteFile&) = delete;
  SqliteFile& operator=(const SqliteFile&) = delete;

  // Statements without an answer.
  Result<void> execute(const std::string& sql);
  // The first column of the first row; 0: there is none.
  Result<std::int64_t> number(const std::string& sql);
  // Whether the last statement changed or added a row.
  bool changed() const;
  // IO_ERROR where a writer has come since a file was opened that no writer was at work on: what was read may be torn.
  Result<void> still() const;
  // "the journal FILE SENTENCE".
  Error refusal(std::string_view sentence) const;

 private:
  friend class SqliteQuery;
  friend class SqliteTransaction;
  struct Close {
    void operator()(sqlite3* database) const noexcept;
    void operator()(sqlite3_stmt* statement) const noexcept;
  };

  SqliteFile(std::filesystem::path file, const SqliteFormat& format) : file_(std::move(file)), format_(format) {}
  std::string shown() const;
  Error fault(int code, std::string_view doing) const;
  Result<void> connect(const std::string& options, int flags);
  Result<bool> identify();
  Result<bool> identify_at_once();
  Result<void> make_tables();
  Result<void> open_for_writing();
  Result<void> open_for_reading();

  std::filesystem::path file_;  // absolute: SQLite takes some relative names for something else (":memory:")
  const SqliteFormat& format_;
  bool immutable_ = false;
  std::unique_ptr<sqlite3, Close> database_;
  std::map<std::string, std::unique_ptr<sqlite3_stmt, Close>, std::less<>> statements_;  // finalized before it closes
};

// One use of a statement, which is prepared once and kept. Texts may hold any bytes; they are bound without a copy and
// must outlive the query.
class SqliteQuery {
 public:
  SqliteQuery(SqliteFile& file, std::string_view sql);
  SqliteQuery(const SqliteQuery&) = delete;
  SqliteQuery& operator=(const SqliteQuery&) = delete;
  ~SqliteQuery();

  SqliteQuery& bind(std::string_view text);
  SqliteQuery& bind(std::int64_t number);
  SqliteQuery& bind(std::uint64_t number) { return bind(static_cast<std::int64_t>(number)); }  // large ones: negative

  // Whether there is a (next) row.
  Result<bool> next();
  Result<void> run();
  // Calls row() for each row; ends with its Error, if it has one.
  template <typename Row>
  Result<void> each(const Row& row) {
    for (;;) {
      GUARD_TRY_ASSIGN(const bool more, next());
      if (!more) return file_.still();
      GUARD_TRY(row());
    }
  }

  std::string text(int column) const;
  std::int64_t integer(int column) const;
  std::uint64_t count(int column) const { return static_cast<std::uint64_t>(integer(column)); }
  // A text of the current row that means nothing to this guard.
  Error unknown(int column) const;

 private:
  SqliteFile& file_;
  sqlite3_stmt* statement_ = nullptr;
  int bound_ = 0;
  int code_ = 0;
};

// Everything or nothing. What was read in one is of one moment, whatever a writer does meanwhile.
class SqliteTransaction {
 public:
  explicit SqliteTransaction(SqliteFile& file) : file_(file) {}
  SqliteTransaction(const SqliteTransaction&) = delete;
  SqliteTransaction& operator=(const SqliteTransaction&) = delete;
  ~SqliteTransaction();

  // A writer takes its lock at once: one that began by reading could not wait for it.
  Result<void> begin(SqliteFile::Access access);
  Result<void> commit();

 private:
  SqliteFile& file_;
  bool open_ = false;
};

}  // namespace guard

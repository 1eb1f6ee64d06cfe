#include "sessions/trace/catalogue.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <linux/fs.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdio>
#include <set>

#include "common/file_io.h"
#include "common/hash.h"
#include "common/sqlite/sqlite_table.h"
#include "common/text/text.h"
#include "runner/files/folder_names.h"
#include "runner/process/run_folder.h"

namespace guard::sessions {
namespace {

namespace fs = std::filesystem;

constexpr std::uint64_t kRowsMax = 500'000;  // the oldest go
constexpr std::int64_t kPruneEveryMs = 3'600'000;
constexpr std::size_t kPieceBytes = 256ul * 1024;
constexpr std::string_view kOnItsWay = "new-";

constexpr Column<Artifact> kColumns[] = {
    column<Artifact, &Artifact::id>("id", ColumnUse::key), column<Artifact, &Artifact::session>("session"),
    column<Artifact, &Artifact::step>("step"), column<Artifact, &Artifact::path>("path"),
    column<Artifact, &Artifact::bytes>("bytes"), column<Artifact, &Artifact::sha256>("sha256"),
    column<Artifact, &Artifact::media_type>("media_type"), column<Artifact, &Artifact::outcome>("outcome"),
    column<Artifact, &Artifact::made_ms>("made_ms"),
    column<Artifact, &Artifact::kept>("kept"),  // not in the file: whether there is such content
};
constexpr Table<Artifact> kAll = {"artifact", kColumns};
constexpr Table<Artifact> kStored = {"artifact", std::span(kColumns).subspan(1, std::size(kColumns) - 2)};

const SqliteFormat& format() {
  static const SqliteFormat kFormat = {"catalogue of artifacts", "artifact",
      "start `guard serve` or `guard mcp` with --artifacts", 0x67646172,  // "gdar"
      1,
      fmt::format("CREATE TABLE artifact (id INTEGER PRIMARY KEY AUTOINCREMENT, {}) STRICT;"
                  "CREATE INDEX artifact_by_content ON artifact (sha256);"
                  "CREATE INDEX artifact_by_time ON artifact (made_ms);"
                  "CREATE TABLE content (sha256 TEXT PRIMARY KEY, bytes INTEGER NOT NULL, made_ms INTEGER NOT NULL) "
                  "STRICT;",
          columns_text(kStored, kAllColumns,
              [](const auto& column) { return fmt::format("{} {} NOT NULL", column.name, column.type); }))};
  return kFormat;
}

Error failed(std::string_view doing, const std::string& name) {
  return Error::from_errno(ErrorCode::io_error, fmt::format("{} {} of the artifacts", doing, name), errno);
}

}  // namespace

Result<std::unique_ptr<Catalogue>> Catalogue::open(
    const fs::path& state, Role role, const CatalogueLimits& limits, StepWatch watch) {
  std::unique_ptr<Catalogue> made(new Catalogue(state / "artifacts", limits, std::move(watch)));
  if (role != Role::reader) GUARD_TRY(make_folders(made->folder_, 0700).context("making the folder of artifacts"));
  const auto access = role == Role::reader ? SqliteFile::Access::read : SqliteFile::Access::write;
  GUARD_TRY_ASSIGN(made->file_, SqliteFile::open(made->folder_ / "catalogue.sqlite", access, format()));
  made->fd_ = UniqueFd(::open(made->folder_.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
  if (!made->fd_) return failed("opening", "the folder");
  return made;
}

// Reads the file once, and writes what it reads where `name` says so. False: what was written is not to be kept.
bool Catalogue::take(Artifact& row, int from, const std::string& name, std::uint64_t bytes_max) {
  UniqueFd to;
  if (!name.empty()) to = UniqueFd(::openat(fd_.get(), name.c_str(), O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600));
  bool is_written = bool(to);
  const bool is_clone = is_written && ::ioctl(to.get(), FICLONE, from) == 0;
  const int source = is_clone ? to.get() : from;
  Sha256 hash;
  std::string piece(kPieceBytes, '\0');
  std::uint64_t size = 0;
  for (;;) {
    const ssize_t got = ::pread(source, piece.data(), piece.size(), static_cast<off_t>(size));
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return false;
    if (got == 0) break;
    const std::string_view bytes(piece.data(), static_cast<std::size_t>(got));
    size += bytes.size();
    if (size > bytes_max) return false;  // it grows while it is read
    hash.update(bytes);
    if (is_written && !is_clone) is_written = write_all(to.get(), bytes).has_value();
  }
  row.bytes = size;
  row.sha256 = hash.finish_hex();
  return is_written;
}

Result<void> Catalogue::add(std::vector<Artifact>& made, const OpenFile& open_file) {
  if (made.empty()) return ok();
  GUARD_TRY(tidy(made.front().made_ms));
  const bool keeps = limits_.keep == Keep::all || (limits_.keep == Keep::failed && made.front().outcome != "exited 0");
  GUARD_TRY_ASSIGN(const std::string id, new_run_id());
  std::vector<std::string> names(made.size());
  const auto drop = [&](std::string& name) {
    if (!name.empty()) ::unlinkat(fd_.get(), std::exchange(name, {}).c_str(), 0);
  };
  std::uint64_t left = limits_.bytes_max;
  Result<void> done;
  for (std::size_t i = 0; i < made.size() && done; ++i) {
    const UniqueFd from = open_file(i);
    struct stat found {};
    if (!from || ::fstat(from.get(), &found) != 0) continue;
    std::array<char, 512> head;
    const ssize_t got = ::pread(from.get(), head.data(), head.size(), 0);
    made[i].media_type =
        media_type_of(made[i].path, {head.data(), static_cast<std::size_t>(std::max<ssize_t>(got, 0))});
    made[i].bytes = static_cast<std::uint64_t>(found.st_size);
    const std::uint64_t bytes_max = std::min(left, limits_.file_bytes_max);
    if (made[i].bytes > bytes_max) continue;
    if (keeps) {
      names[i] = fmt::format("{}{}-{}", kOnItsWay, id, i);
      done = begin("artifacts: copy");
    }
    if (done && !take(made[i], from.get(), names[i], bytes_max)) drop(names[i]);
    left -= std::min(left, made[i].bytes);
  }
  if (done) done = insert(made, names);
  for (std::string& name : names) drop(name);
  return done;
}

// Now and then; the first time, before anything is on its way, with what a dead owner has left there.
Result<void> Catalogue::tidy(std::int64_t now_ms) {
  const std::lock_guard lock(tidying_);
  if (pruned_ms_ != 0 && now_ms - pruned_ms_ < kPruneEveryMs) return ok();
  if (pruned_ms_ == 0) GUARD_TRY(sweep(Sweep::all));
  GUARD_TRY(prune(now_ms - limits_.age_max_ms, "", Run::real));
  pruned_ms_ = now_ms;
  return ok();
}

Result<void> Catalogue::insert(std::vector<Artifact>& rows, const std::vector<std::string>& names) {
  static const std::string kInsert = insertion(kStored);
  const std::lock_guard lock(mutex_);
  SqliteTransaction transaction(*file_);
  GUARD_TRY(transaction.begin(SqliteFile::Access::write));
  for (std::size_t i = 0; i < rows.size(); ++i) {
    Artifact& row = rows[i];
    SqliteQuery query(*file_, kInsert);
    bind_row(query, kStored, row);
    GUARD_TRY(query.run());
    GUARD_TRY_ASSIGN(const std::int64_t id, file_->number("SELECT last_insert_rowid()"));
    row.id = static_cast<std::uint64_t>(id);
    if (names[i].empty()) continue;
    GUARD_TRY(begin("artifacts: name"));
    if (::renameat(fd_.get(), names[i].c_str(), fd_.get(), row.sha256.c_str()) != 0)
      return failed("naming", row.sha256);
    SqliteQuery content(*file_,
        "INSERT INTO content (sha256, bytes, made_ms) VALUES (?, ?, ?) ON CONFLICT (sha256) DO UPDATE SET made_ms = "
        "excluded.made_ms");
    GUARD_TRY(content.bind(row.sha256).bind(row.bytes).bind(row.made_ms).run());
    row.kept = true;
  }
  GUARD_TRY(
      file_->execute(fmt::format("DELETE FROM artifact WHERE id <= (SELECT MAX(id) FROM artifact) - {}", kRowsMax)));
  GUARD_TRY_ASSIGN(const auto evicted, evict());
  GUARD_TRY(begin("artifacts: commit"));
  GUARD_TRY(transaction.commit());
  for (const std::string& sha256 : evicted) {
    GUARD_TRY(begin("artifacts: evict"));
    ::unlinkat(fd_.get(), sha256.c_str(), 0);
  }
  return ok();
}

// In a transaction: what is too much, oldest first. Answers the files that go with its end.
Result<std::vector<std::string>> Catalogue::evict() {
  std::vector<std::string> evicted;
  GUARD_TRY_ASSIGN(const std::int64_t bytes, file_->number("SELECT SUM(bytes) FROM content"));
  if (static_cast<std::uint64_t>(bytes) <= limits_.bytes_max) return evicted;
  SqliteQuery query(*file_,
      "SELECT sha256 FROM (SELECT sha256, SUM(bytes) OVER (ORDER BY made_ms DESC, sha256) AS total FROM content) WHERE "
      "total > ?");
  query.bind(limits_.bytes_max);
  GUARD_TRY(query.each([&]() -> Result<void> {
    evicted.push_back(query.text(0));
    return ok();
  }));
  for (const std::string& sha256 : evicted)
    GUARD_TRY(SqliteQuery(*file_, "DELETE FROM content WHERE sha256 = ?").bind(sha256).run());
  return evicted;
}

Result<void> Catalogue::sweep(Sweep what) {
  const std::lock_guard lock(mutex_);
  SqliteTransaction transaction(*file_);  // nobody names a file meanwhile
  GUARD_TRY(transaction.begin(SqliteFile::Access::write));
  std::set<std::string> known;
  SqliteQuery query(*file_, "SELECT sha256 FROM content");
  GUARD_TRY(query.each([&]() -> Result<void> {
    known.insert(query.text(0));
    return ok();
  }));
  GUARD_TRY_ASSIGN(const auto names, sorted_names(fd_.get(), "the folder of artifacts"));
  for (const std::string& name : names) {
    const bool is_content = name.size() == 2 * Sha256::kBytes && name.find('.') == std::string::npos;
    if (!(is_content && !known.contains(name)) && !(what == Sweep::all && name.starts_with(kOnItsWay))) continue;
    GUARD_TRY(begin("artifacts: sweep"));
    // Another process may have swept it meanwhile.
    if (::unlinkat(fd_.get(), name.c_str(), 0) != 0 && errno != ENOENT) return failed("removing", name);
  }
  return ok();
}

Result<std::vector<Artifact>> Catalogue::list(const std::string& session) {
  const std::lock_guard lock(mutex_);
  SqliteQuery query(*file_,
      fmt::format("SELECT {} FROM artifact WHERE ?1 = '' OR session = ?1 ORDER BY id",
          columns_text(kAll, kAllColumns, [](const auto& column) {
            return column.name == "kept"
                ? std::string("EXISTS (SELECT 1 FROM content WHERE content.sha256 = artifact.sha256)")
                : std::string(column.name);
          })));
  query.bind(session);
  return all_rows(query, kAll);
}

Result<std::string> Catalogue::contents(const Artifact& artifact) const {
  if (!artifact.kept)
    return Error(ErrorCode::file_not_found, fmt::format("what artifact {} held was not kept", artifact.id))
        .hint(artifact.sha256.empty() ? "it was over --artifacts-file-max, or could not be read"
                                      : "--artifacts and --artifacts-max of `guard serve` say what is kept");
  GUARD_TRY_ASSIGN(std::string bytes, read_file(folder_ / artifact.sha256, artifact.bytes, FollowLinks::no));
  if (sha256_hex(bytes) == artifact.sha256) return bytes;
  return Error(ErrorCode::io_error, fmt::format("what is kept of artifact {} is not what it was", artifact.id))
      .hint("something else than guard has written to its state folder, or the disk is damaged");
}

Result<Pruned> Catalogue::prune(std::int64_t before_ms, const std::string& session, Run run) {
  Pruned pruned;
  {
    const std::lock_guard lock(mutex_);
    SqliteTransaction transaction(*file_);
    GUARD_TRY(transaction.begin(SqliteFile::Access::write));
    GUARD_TRY_ASSIGN(const auto rows_before, file_->number("SELECT COUNT(*) FROM artifact"));
    GUARD_TRY_ASSIGN(const auto bytes_before, file_->number("SELECT SUM(bytes) FROM content"));
    GUARD_TRY(begin("artifacts: forget"));
    SqliteQuery query(*file_, "DELETE FROM artifact WHERE made_ms < ?1 AND (?2 = '' OR session = ?2)");
    GUARD_TRY(query.bind(before_ms).bind(session).run());
    GUARD_TRY(file_->execute("DELETE FROM content WHERE sha256 NOT IN (SELECT sha256 FROM artifact)"));
    GUARD_TRY_ASSIGN(const auto rows_left, file_->number("SELECT COUNT(*) FROM artifact"));
    GUARD_TRY_ASSIGN(const auto bytes_left, file_->number("SELECT SUM(bytes) FROM content"));
    pruned = {
        static_cast<std::uint64_t>(rows_before - rows_left), static_cast<std::uint64_t>(bytes_before - bytes_left)};
    if (run == Run::dry) return pruned;  // nothing is committed
    GUARD_TRY(transaction.commit());
  }
  GUARD_TRY(sweep(Sweep::named));
  return pruned;
}

}  // namespace guard::sessions

#include "nightly/loop/journal.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <mutex>
#include <set>
#include <utility>

#include "common/text/text.h"
#include "nightly/loop/journal_tables.h"

namespace guard::nightly {
namespace {

namespace fs = std::filesystem;

// columns_text() by a format: "{} = ?".
template <typename Row>
std::string listed(const Table<Row>& table, std::initializer_list<ColumnUse> uses, std::string_view format,
    std::string_view between = ", ") {
  return columns_text(
      table, uses, [&](const auto& column) { return fmt::format(fmt::runtime(format), column.name, column.type); },
      between);
}

constexpr std::string_view kDeclared = "{} {} NOT NULL";

std::string schema() {
  std::string sql = fmt::format(
      "CREATE TABLE night (stop_requested INTEGER NOT NULL DEFAULT 0, {}, PRIMARY KEY (id)) STRICT;"
      "CREATE INDEX night_by_time ON night (started_ms, id);"
      "CREATE TABLE task ({}, PRIMARY KEY (night, id),"
      " FOREIGN KEY (night) REFERENCES night (id) ON DELETE CASCADE) STRICT;"
      "CREATE INDEX task_by_state ON task (night, state);"
      "CREATE INDEX task_by_review ON task (review, id);"
      "CREATE INDEX task_by_id ON task (id);"
      "CREATE TABLE attempt (key INTEGER PRIMARY KEY, {}, UNIQUE (night, task, number),"
      " FOREIGN KEY (night, task) REFERENCES task (night, id) ON DELETE CASCADE) STRICT;",
      listed(kNights, kAllColumns, kDeclared), listed(kTasks, kAllColumns, kDeclared),
      listed(kAttempts, kAllColumns, kDeclared));
  for_each_list([&](const auto& list) {
    sql += fmt::format(
        "CREATE TABLE {} (attempt INTEGER NOT NULL REFERENCES attempt (key) ON DELETE CASCADE,"
        " position INTEGER NOT NULL, {}, PRIMARY KEY (attempt, position)) STRICT, WITHOUT ROWID;",
        list.name, listed(list, kAllColumns, kDeclared));
  });
  return sql;
}

const SqliteFormat& format() {
  static const SqliteFormat kFormat = {"journal", "night", "no night was run yet: `guard nightly run PLAN.toml`",
      0x67646e6a,  // "gdnj"
      1, schema()};
  return kFormat;
}

// Of task t in night n: no later night has run it.
constexpr std::string_view kIsLatest =
    "t.state != 'skipped' AND NOT EXISTS (SELECT 1 FROM task AS later JOIN night AS ln ON ln.id = later.night WHERE "
    "later.id = t.id AND later.state != 'skipped' AND (ln.started_ms, ln.id) > (n.started_ms, n.id))";

// For LIMIT, where a negative number is none.
std::int64_t limit_of(std::size_t limit) {
  return limit == 0 || limit > 1'000'000'000 ? -1 : static_cast<std::int64_t>(limit);
}

}  // namespace

// The file, with the statements that the tables are made into. Callers hold the mutex.
struct Journal::State {
  std::mutex mutex;
  std::unique_ptr<SqliteFile> file;
  std::set<std::string> absent;  // columns of attempt that a file of an older guard does not have

  Error missing_night(const std::string& night) const {
    return file->refusal(fmt::format("has no night {}", printable(night)));
  }
  Error missing_task(const std::string& night, const std::string& task) const {
    return file->refusal(fmt::format("has no task {} in night {}", printable(task), printable(night)));
  }

  // A file of an older guard gets what it lacks, or is read without it.
  Result<void> complete(Access access) {
    SqliteTransaction transaction(*file);
    GUARD_TRY(transaction.begin(access));
    for (const auto& column : kAttempts.columns) absent.insert(std::string(column.name));
    {
      SqliteQuery query(*file, "SELECT name FROM pragma_table_info('attempt')");
      GUARD_TRY(query.each([&] {
        absent.erase(query.text(0));
        return ok();
      }));
    }
    for (const auto& column : kAttempts.columns) {
      if (access == Access::read || absent.erase(std::string(column.name)) == 0) continue;
      GUARD_TRY(file->execute(fmt::format("ALTER TABLE attempt ADD COLUMN {} {} NOT NULL DEFAULT {}", column.name,
          column.type, column.type == "TEXT" ? "''" : "0")));
    }
    return transaction.commit();
  }

  // "SELECT t.id, t.state, ... FROM night AS t"; `left_out` and what the file does not have read as empty or 0.
  template <typename Row>
  std::string select(const Table<Row>& table, std::string_view left_out = {}) const {
    std::vector<std::string> parts;
    for (const auto& column : table.columns) {
      const bool is_there =
          column.name != left_out && (table.name != "attempt" || absent.count(std::string(column.name)) == 0);
      parts.push_back(fmt::format("{}{}", is_there ? "t." : column.type == "TEXT" ? "'' AS " : "0 AS ", column.name));
    }
    if (table.name == "attempt") parts.emplace_back("key");
    return fmt::format("SELECT {} FROM {} AS t", fmt::join(parts, ", "), table.name);
  }

  template <typename Row>
  Result<void> insert(const Table<Row>& table, const Row& row) {
    SqliteQuery query(*file, insertion(table));
    bind_row(query, table, row, kAllColumns);
    return query.run();
  }

  // Answers whether the row is there.
  template <typename Row>
  Result<bool> update(const Table<Row>& table, const Row& row) {
    SqliteQuery query(*file,
        fmt::format("UPDATE {} SET {} WHERE {}", table.name, listed(table, kSavedColumns, "{} = ?"),
            listed(table, kKeyColumns, "{} = ?", " AND ")));
    bind_row(query, table, row, kSavedColumns);
    bind_row(query, table, row, kKeyColumns);
    GUARD_TRY(query.run());
    return file->changed();
  }

  Result<void> put(const Attempt& attempt) {
    std::int64_t key = 0;
    {
      SqliteQuery query(*file,
          fmt::format("{} ON CONFLICT (night, task, number) DO UPDATE SET {} RETURNING key", insertion(kAttempts),
              listed(kAttempts, kSavedColumns, "{0} = excluded.{0}")));
      bind_row(query, kAttempts, attempt, kAllColumns);
      GUARD_TRY(query.each([&] {
        key = query.integer(0);
        return ok();
      }));
    }
    Result<void> done;
    for_each_list([&](const auto& list) {
      if (done) done = put_list(key, list, attempt.*list.list);
    });
    return done;
  }

  template <typename Item>
  Result<void> put_list(std::int64_t key, const Table<Item>& list, const std::vector<Item>& items) {
    GUARD_TRY(SqliteQuery(*file, fmt::format("DELETE FROM {} WHERE attempt = ?", list.name)).bind(key).run());
    const std::string sql = fmt::format("INSERT INTO {} (attempt, position, {}) VALUES (?, ?, {})", list.name,
        listed(list, kAllColumns, "{}"), listed(list, kAllColumns, "?"));
    std::int64_t position = 0;
    for (const auto& item : items) {
      SqliteQuery query(*file, sql);
      query.bind(key).bind(position++);
      bind_row(query, list, item, kAllColumns);
      GUARD_TRY(query.run());
    }
    return ok();
  }

  // Of one night; of one task, where one is named.
  Result<std::vector<Attempt>> attempts(const std::string& night, const std::string& task) {
    SqliteTransaction transaction(*file);
    GUARD_TRY(transaction.begin(Access::read));
    std::vector<Attempt> attempts;
    std::map<std::int64_t, std::size_t> places;  // by key
    {
      SqliteQuery query(*file,
          select(kAttempts) + " WHERE night = ?1 AND (?2 = '' OR task = ?2) ORDER BY " +
              (task.empty() ? "started_ms, key" : "number"));
      query.bind(night).bind(task);
      GUARD_TRY(read_rows(query, kAttempts, [&](Attempt attempt) {
        places.emplace(query.integer(static_cast<int>(kAttempts.columns.size())), attempts.size());
        attempts.push_back(std::move(attempt));
      }));
    }
    Result<void> done;
    for_each_list([&](const auto& list) {
      SqliteQuery query(*file,
          fmt::format("SELECT {}, l.attempt FROM {} AS l JOIN attempt ON attempt.key = l.attempt WHERE attempt.night = "
                      "?1 AND (?2 = '' OR attempt.task = ?2) ORDER BY l.attempt, l.position",
              listed(list, kAllColumns, "l.{}"), list.name));
      query.bind(night).bind(task);
      if (!done) return;
      done = read_rows(query, list, [&](auto item) {
        const auto place = places.find(query.integer(static_cast<int>(list.columns.size())));
        if (place != places.end()) (attempts[place->second].*list.list).push_back(std::move(item));
      });
    });
    GUARD_TRY(std::move(done));
    GUARD_TRY(transaction.commit());
    return attempts;
  }
};

Journal::Journal(std::unique_ptr<State> state) : state_(std::move(state)) {}
Journal::Journal(Journal&&) noexcept = default;
Journal& Journal::operator=(Journal&&) noexcept = default;
Journal::~Journal() = default;

Result<Journal> Journal::open(const fs::path& file, Access access) {
  auto state = std::make_unique<State>();
  GUARD_TRY_ASSIGN(state->file, SqliteFile::open(file, access, format()));
  GUARD_TRY(state->complete(access));
  return Journal(std::move(state));
}

Result<void> Journal::begin(const Night& night, const std::vector<Task>& tasks) {
  const std::lock_guard lock(state_->mutex);
  SqliteTransaction transaction(*state_->file);
  GUARD_TRY(transaction.begin(Access::write));
  GUARD_TRY(state_->insert(kNights, night));
  for (const Task& task : tasks) {
    if (task.night != night.id) return state_->missing_night(task.night);
    GUARD_TRY(state_->insert(kTasks, task));
  }
  return transaction.commit();
}

Result<void> Journal::save(const Night* night, const Task* task, const Attempt* attempt) {
  const std::lock_guard lock(state_->mutex);
  SqliteTransaction transaction(*state_->file);
  GUARD_TRY(transaction.begin(Access::write));
  if (night != nullptr) {
    GUARD_TRY_ASSIGN(const bool there, state_->update(kNights, *night));
    if (!there) return state_->missing_night(night->id);
  }
  if (task != nullptr) {
    GUARD_TRY_ASSIGN(const bool there, state_->update(kTasks, *task));
    if (!there) return state_->missing_task(task->night, task->id);
  }
  if (attempt != nullptr) GUARD_TRY(state_->put(*attempt));
  return transaction.commit();
}

Result<void> Journal::review(
    const std::string& night, const std::string& task, Review review, const std::string& note) {
  const std::lock_guard lock(state_->mutex);
  SqliteQuery query(*state_->file, "UPDATE task SET review = ?, note = ? WHERE night = ? AND id = ?");
  GUARD_TRY(query.bind(to_string(review)).bind(note).bind(night).bind(task).run());
  if (!state_->file->changed()) return state_->missing_task(night, task);
  return ok();
}

Result<void> Journal::request_stop(const std::string& night) { return set_stop(night, true); }

Result<void> Journal::forget_stop(const std::string& night) { return set_stop(night, false); }

Result<void> Journal::set_stop(const std::string& night, bool asked) {
  const std::lock_guard lock(state_->mutex);
  SqliteQuery query(*state_->file, "UPDATE night SET stop_requested = ? WHERE id = ?");
  GUARD_TRY(query.bind(std::int64_t{asked}).bind(night).run());
  if (!state_->file->changed()) return state_->missing_night(night);
  return ok();
}

Result<bool> Journal::stop_requested(const std::string& night) const {
  const std::lock_guard lock(state_->mutex);
  SqliteQuery query(*state_->file, "SELECT stop_requested FROM night WHERE id = ?");
  GUARD_TRY_ASSIGN(const bool found, query.bind(night).next());
  if (!found) return state_->missing_night(night);
  const bool asked = query.integer(0) != 0;
  GUARD_TRY(state_->file->still());
  return asked;
}

Result<std::vector<Night>> Journal::nights(std::size_t limit) const {
  const std::lock_guard lock(state_->mutex);
  SqliteQuery query(*state_->file, state_->select(kNights, "plan_text") + " ORDER BY started_ms DESC, id DESC LIMIT ?");
  query.bind(limit_of(limit));
  return all_rows(query, kNights);
}

Result<std::optional<Night>> Journal::night(const std::string& id) const {
  const std::lock_guard lock(state_->mutex);
  SqliteQuery query(*state_->file, state_->select(kNights) + " WHERE id = ?");
  query.bind(id);
  GUARD_TRY_ASSIGN(auto found, all_rows(query, kNights));
  return found.empty() ? std::optional<Night>() : std::optional<Night>(std::move(found.front()));
}

Result<std::vector<Task>> Journal::tasks(const std::string& night) const {
  const std::lock_guard lock(state_->mutex);
  SqliteQuery query(*state_->file, state_->select(kTasks) + " WHERE night = ? ORDER BY position, id");
  query.bind(night);
  return all_rows(query, kTasks);
}

Result<std::vector<Attempt>> Journal::attempts(const std::string& night) const {
  const std::lock_guard lock(state_->mutex);
  return state_->attempts(night, {});
}

Result<std::vector<Attempt>> Journal::attempts(const std::string& night, const std::string& task) const {
  const std::lock_guard lock(state_->mutex);
  if (task.empty()) return std::vector<Attempt>();
  return state_->attempts(night, task);
}

Result<std::vector<Journal::NightSums>> Journal::sums(std::size_t nights) const {
  const std::lock_guard lock(state_->mutex);
  SqliteQuery query(*state_->file,
      "SELECT id, started_ms, ended_ms,"
      " (SELECT count(*) FROM task WHERE night = n.id AND state = 'accepted'),"
      " (SELECT count(*) FROM task WHERE night = n.id AND state = 'refused'),"
      " (SELECT count(*) FROM task WHERE night = n.id AND state = 'failed'),"
      " (SELECT count(*) FROM task WHERE night = n.id AND state = 'skipped'),"
      " (SELECT count(*) FROM task WHERE night = n.id AND state IN ('waiting', 'running')),"
      " (SELECT count(*) FROM attempt WHERE night = n.id),"
      " (SELECT count(*) FROM attempt JOIN finding ON finding.attempt = attempt.key WHERE attempt.night = n.id AND "
      "finding.tier <> ?1),"
      " (SELECT count(DISTINCT test) FROM attempt JOIN flaky_test ON flaky_test.attempt = attempt.key WHERE "
      "attempt.night = n.id)"
      " FROM night AS n ORDER BY started_ms DESC, id DESC LIMIT ?2");
  query.bind(kFailedTest).bind(limit_of(nights));
  std::vector<NightSums> sums;
  GUARD_TRY(query.each([&] {
    sums.push_back({query.text(0), query.integer(1), query.integer(2), query.count(3), query.count(4), query.count(5),
        query.count(6), query.count(7), query.count(8), query.count(9), query.count(10)});
    return ok();
  }));
  return sums;
}

Result<std::vector<Journal::RuleCount>> Journal::findings_by_rule(const std::string& night) const {
  const std::lock_guard lock(state_->mutex);
  SqliteQuery query(*state_->file,
      "SELECT rule, count(*) FROM attempt JOIN finding ON finding.attempt = attempt.key WHERE attempt.night = ? AND "
      "finding.tier <> ? GROUP BY rule ORDER BY 2 DESC, rule");
  query.bind(night).bind(kFailedTest);
  std::vector<RuleCount> counts;
  GUARD_TRY(query.each([&] {
    counts.push_back({query.text(0), query.count(1)});
    return ok();
  }));
  return counts;
}

Result<std::vector<Journal::Flake>> Journal::flakes(std::size_t nights) const {
  const std::lock_guard lock(state_->mutex);
  // Of a group with max() the other columns are of the row that holds it.
  SqliteQuery query(*state_->file,
      "WITH newest AS (SELECT id, row_number() OVER (ORDER BY started_ms, id) AS place FROM"
      " (SELECT id, started_ms FROM night ORDER BY started_ms DESC, id DESC LIMIT ?))"
      " SELECT test, count(DISTINCT newest.id), newest.id, max(place) FROM newest"
      " JOIN attempt ON attempt.night = newest.id JOIN flaky_test ON flaky_test.attempt = attempt.key"
      " GROUP BY test ORDER BY 2 DESC, 4 DESC, test");
  query.bind(limit_of(nights));
  std::vector<Flake> flakes;
  GUARD_TRY(query.each([&] {
    flakes.push_back({query.text(0), query.count(1), query.text(2)});
    return ok();
  }));
  return flakes;
}

Result<std::vector<Task>> Journal::latest() const {
  const std::lock_guard lock(state_->mutex);
  SqliteQuery query(*state_->file,
      fmt::format("{} JOIN night AS n ON n.id = t.night WHERE {} ORDER BY n.started_ms, n.id, t.position",
          state_->select(kTasks), kIsLatest));
  return all_rows(query, kTasks);
}

Result<std::vector<std::string>> Journal::forget(std::int64_t before_ms) {
  const std::lock_guard lock(state_->mutex);
  SqliteTransaction transaction(*state_->file);
  GUARD_TRY(transaction.begin(Access::write));
  std::vector<std::string> ids;
  std::vector<std::string> whole;
  {
    SqliteQuery query(*state_->file,
        fmt::format(
            "SELECT id, decides FROM (SELECT n.id, n.started_ms,"
            " EXISTS (SELECT 1 FROM attempt WHERE attempt.night = n.id) AS has_attempts,"
            " EXISTS (SELECT 1 FROM task AS t WHERE t.night = n.id AND t.state IN ('accepted', 'refused') AND {0})"
            " AS decides FROM night AS n WHERE n.ended_ms > 0 AND n.ended_ms < ?"
            " AND NOT EXISTS (SELECT 1 FROM task AS t WHERE t.night = n.id AND t.review = 'sent_back' AND {0}))"
            " WHERE has_attempts OR NOT decides ORDER BY started_ms, id",
            kIsLatest));
    query.bind(before_ms);
    GUARD_TRY(query.each([&] {
      ids.push_back(query.text(0));
      if (query.integer(1) == 0) whole.push_back(ids.back());
      return ok();
    }));
  }
  for (const auto& id : ids)
    GUARD_TRY(SqliteQuery(*state_->file, "DELETE FROM attempt WHERE night = ?").bind(id).run());
  for (const auto& id : whole) GUARD_TRY(SqliteQuery(*state_->file, "DELETE FROM night WHERE id = ?").bind(id).run());
  GUARD_TRY(transaction.commit());
  return ids;
}

Result<std::string> Journal::check() const {
  const std::lock_guard lock(state_->mutex);
  std::vector<std::string> said;
  SqliteQuery integrity(*state_->file, "PRAGMA integrity_check");
  GUARD_TRY(integrity.each([&] {
    if (const std::string line = integrity.text(0); line != "ok") said.push_back(printable(line));
    return ok();
  }));
  SqliteQuery keys(*state_->file, "PRAGMA foreign_key_check");
  GUARD_TRY(keys.each([&] {
    said.push_back(fmt::format("a row of {} belongs to nothing", printable(keys.text(0))));
    return ok();
  }));
  return fmt::format("{}", fmt::join(said, "\n"));
}

}  // namespace guard::nightly

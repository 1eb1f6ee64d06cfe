// The columns of the journal, one row each: its name in the file and the member that it keeps. The tables are made of
// these rows, and all that reads, writes or masks whole rows goes over them.
//
// A column that is added needs a row here and a member, no more: an older file gets it when it is written to, and until
// then it reads as empty or 0.
#pragma once

#include "common/sqlite/sqlite_table.h"
#include "nightly/loop/night_values.h"

namespace guard::nightly {

// What is long stands last in a row, so that the rest is read without walking its pages.
inline constexpr Column<Night> kNightColumns[] = {
    column<Night, &Night::id>("id", ColumnUse::key),
    column<Night, &Night::state>("state"),
    column<Night, &Night::reason>("reason"),
    column<Night, &Night::why>("why"),
    column<Night, &Night::started_ms>("started_ms"),
    column<Night, &Night::ended_ms>("ended_ms"),
    column<Night, &Night::heartbeat_ms>("heartbeat_ms"),
    column<Night, &Night::plan_name>("plan_name"),
    column<Night, &Night::base>("base"),
    column<Night, &Night::branch>("branch"),
    column<Night, &Night::rules_digest>("rules_digest"),
    column<Night, &Night::guard_version>("guard_version"),
    column<Night, &Night::requeued>("put_backs"),
    column<Night, &Night::plan_text>("plan_text"),
};

inline constexpr Column<Task> kTaskColumns[] = {
    column<Task, &Task::night>("night", ColumnUse::key),
    column<Task, &Task::id>("id", ColumnUse::key),
    column<Task, &Task::position>("position"),
    column<Task, &Task::kind>("kind"),
    column<Task, &Task::state>("state"),
    column<Task, &Task::reason>("reason"),
    column<Task, &Task::detail>("detail"),
    column<Task, &Task::attempts>("attempts"),
    column<Task, &Task::requeued>("put_backs"),
    column<Task, &Task::commit>("commit_id"),
    column<Task, &Task::rollout>("rollout"),
    column<Task, &Task::review>("review", ColumnUse::kept),
    column<Task, &Task::note>("note", ColumnUse::kept),
    column<Task, &Task::prompt>("prompt"),
};

inline constexpr Column<Attempt> kAttemptColumns[] = {
    column<Attempt, &Attempt::night>("night", ColumnUse::key),
    column<Attempt, &Attempt::task>("task", ColumnUse::key),
    column<Attempt, &Attempt::number>("number", ColumnUse::key),
    column<Attempt, &Attempt::step>("step"),
    column<Attempt, &Attempt::outcome>("outcome"),
    column<Attempt, &Attempt::reason>("reason"),
    column<Attempt, &Attempt::detail>("detail"),
    column<Attempt, &Attempt::started_ms>("started_ms"),
    column<Attempt, &Attempt::ended_ms>("ended_ms"),
    column<Attempt, &Attempt::start>("start"),
    column<Attempt, &Attempt::tip>("tip"),
    column<Attempt, &Attempt::commit>("commit_id"),
    column<Attempt, &Attempt::backend>("backend"),
    column<Attempt, &Attempt::evidence>("evidence"),
    column<Attempt, &Attempt::evidence_sha256>("evidence_sha256"),
    column<Attempt, &Attempt::output>("output"),
    column<Attempt, &Attempt::kept>("kept"),
    column<Attempt, &Attempt::generator>("generator"),
    column<Attempt, &Attempt::tests_passed>("tests_passed"),
    column<Attempt, &Attempt::tests_failed>("tests_failed"),
    column<Attempt, &Attempt::tests_skipped>("tests_skipped"),
    column<Attempt, &Attempt::mutants>("mutants"),
    column<Attempt, &Attempt::mutants_killed>("mutants_killed"),
    column<Attempt, &Attempt::lines_covered>("lines_covered"),
    column<Attempt, &Attempt::lines_newly_covered>("lines_newly_covered"),
    column<Attempt, &Attempt::secrets_masked>("secrets_masked"),
    column<Attempt, &Attempt::generator_said>("generator_said"),
    column<Attempt, &Attempt::feedback>("feedback"),
    column<Attempt, &Attempt::diff>("diff"),
};

// Lists are rows of their own, and not JSON: they hold bytes that need not be UTF-8, and counting them is what SQL is
// for.
inline constexpr Column<AttemptFinding> kFindingColumns[] = {
    column<AttemptFinding, &AttemptFinding::rule>("rule"),
    column<AttemptFinding, &AttemptFinding::tier>("tier"),
    column<AttemptFinding, &AttemptFinding::path>("path"),
    column<AttemptFinding, &AttemptFinding::line>("line"),
    column<AttemptFinding, &AttemptFinding::message>("message"),
    column<AttemptFinding, &AttemptFinding::fix>("fix"),
    column<AttemptFinding, &AttemptFinding::excerpt>("excerpt"),
};

inline constexpr auto kItself = [](auto& text) -> auto& { return text; };
inline constexpr Column<std::string> kFileColumns[] = {column<std::string, kItself>("path")};
inline constexpr Column<std::string> kFlakyColumns[] = {column<std::string, kItself>("test")};

using Timing = std::pair<std::string, std::int64_t>;
inline constexpr Column<Timing> kTimingColumns[] = {
    column<Timing, &Timing::first>("stage"),
    column<Timing, &Timing::second>("ms"),
};

inline constexpr Table<Night> kNights = {"night", kNightColumns};
inline constexpr Table<Task> kTasks = {"task", kTaskColumns};
inline constexpr Table<Attempt> kAttempts = {"attempt", kAttemptColumns};

template <typename Item>
struct ListTable : Table<Item> {
  std::vector<Item> Attempt::*list;
};

// Calls visit(list) for each table that belongs to attempts.
template <typename Visit>
void for_each_list(Visit&& visit) {
  visit(ListTable<AttemptFinding>{{"finding", kFindingColumns}, &Attempt::findings});
  visit(ListTable<std::string>{{"changed_file", kFileColumns}, &Attempt::files});
  visit(ListTable<std::string>{{"flaky_test", kFlakyColumns}, &Attempt::flaky});
  visit(ListTable<Timing>{{"timing", kTimingColumns}, &Attempt::timings_ms});
}

}  // namespace guard::nightly

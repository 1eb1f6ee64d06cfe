#include "sessions/policy.h"

#include <gtest/gtest.h>

#include <algorithm>

#include <map>
#include <random>

namespace guard::sessions {
namespace {

constexpr std::int64_t kStart = 1'800'000'000'000;
constexpr std::int64_t kSecond = 1'000;
constexpr std::int64_t kMinute = 60 * kSecond;
constexpr std::int64_t kHour = 60 * kMinute;
const Policy kPolicy;

std::int64_t below(std::mt19937& random, std::int64_t end) {
  return static_cast<std::int64_t>(random() % static_cast<std::uint64_t>(end));
}

TEST(Pool, FillsUpToItsTargetTwoSideBySide) {
  EXPECT_EQ(starts_due(kPolicy, {}, kStart), 2u);
  EXPECT_EQ(starts_due(kPolicy, {0, 2, 0, 0}, kStart), 0u);
  EXPECT_EQ(starts_due(kPolicy, {0, 1, 0, 0}, kStart), 1u);
  EXPECT_EQ(starts_due(kPolicy, {4, 0, 0, 0}, kStart), 1u);
  EXPECT_EQ(starts_due(kPolicy, {4, 1, 0, 0}, kStart), 0u);
  EXPECT_EQ(starts_due(kPolicy, {5, 0, 0, 0}, kStart), 0u);
  EXPECT_EQ(starts_due(kPolicy, {9, 0, 0, 0}, kStart), 0u);
}

TEST(Pool, GrowsToItsMaximumWhileCallsWait) {
  EXPECT_EQ(starts_due(kPolicy, {5, 0, 3, 0}, kStart), 2u);
  EXPECT_EQ(starts_due(kPolicy, {8, 0, 3, 0}, kStart), 0u);
  EXPECT_EQ(starts_due(kPolicy, {9, 0, 100, 0}, kStart), 1u);
  EXPECT_EQ(starts_due(kPolicy, {10, 0, 100, 0}, kStart), 0u);
}

TEST(Pool, TriesAgainSoonerBelowItsMinimum) {
  EXPECT_EQ(starts_due(kPolicy, {1, 0, 0, kStart}, kStart + 999), 0u);
  EXPECT_EQ(starts_due(kPolicy, {1, 0, 0, kStart}, kStart + 1'000), 2u);
  EXPECT_EQ(starts_due(kPolicy, {2, 0, 0, kStart}, kStart + 9'999), 0u);
  EXPECT_EQ(starts_due(kPolicy, {2, 0, 0, kStart}, kStart + 10'000), 2u);
  EXPECT_EQ(starts_due(kPolicy, {2, 0, 0, kStart}, kStart - kHour), 2u) << "the clock was set back";
}

TEST(Pool, NeverExceedsItsLimits) {
  std::mt19937 random(7);
  for (int i = 0; i < 20'000; ++i) {
    const Pool pool{
        random() % 12, random() % 4, random() % 20, below(random, 2) == 0 ? 0 : kStart - below(random, 20'000)};
    const std::size_t due = starts_due(kPolicy, pool, kStart);
    if (due == 0) continue;
    EXPECT_LE(pool.refilling + due, kPolicy.starts_max);
    EXPECT_LE(pool.pooled + pool.refilling + due, kPolicy.pool_max);
  }
}

TEST(Health, IsCheckedOnceAMinuteWhereASandboxIsReady) {
  const std::vector<SandboxRow> rows = {{"a", SandboxState::pooled, "", 0, kStart},
      {"b", SandboxState::claimed, "t/c", 0, kStart - 1}, {"c", SandboxState::starting, "", 0, 0},
      {"d", SandboxState::closing, "", 0, 0}};
  EXPECT_TRUE(checks_due(kPolicy, rows, kStart + kMinute - 2).empty());
  EXPECT_EQ(checks_due(kPolicy, rows, kStart + kMinute - 1), (std::vector<std::string>{"b"}));
  EXPECT_EQ(checks_due(kPolicy, rows, kStart + kMinute), (std::vector<std::string>{"a", "b"}));
}

SessionRow session(const std::string& id, std::int64_t created, std::int64_t used) {
  SessionRow row;
  row.id = id;
  row.created_ms = created;
  row.used_ms = used;
  row.workspace = "w";
  return row;
}

TEST(Expiry, IsForIdleOrOldSessionsThatAreNotRunning) {
  const std::int64_t now = kStart + 100 * kHour;
  EXPECT_FALSE(is_expired(kPolicy, session("t/a", now - 24 * kHour, now - 24 * kHour), now));
  EXPECT_TRUE(is_expired(kPolicy, session("t/a", now - 24 * kHour - 1, now - 24 * kHour - 1), now));
  EXPECT_FALSE(is_expired(kPolicy, session("t/a", now - 48 * kHour, now), now));
  EXPECT_TRUE(is_expired(kPolicy, session("t/a", now - 48 * kHour - 1, now), now));
  SessionRow row = session("t/a", now - 99 * kHour, now - 99 * kHour);
  row.live = 1;
  EXPECT_FALSE(is_expired(kPolicy, row, now));
  EXPECT_EQ(state_of(row), SessionState::running);
  row.live = 0;
  row.state = SessionState::terminated;
  EXPECT_FALSE(is_expired(kPolicy, row, now));
  row = session("t/a", now - 30 * kHour, now - 25 * kHour);
  row.lease_ms = now + 1;
  EXPECT_FALSE(is_expired(kPolicy, row, now)) << "a lease holds it";
  row.created_ms = now - 49 * kHour;
  EXPECT_TRUE(is_expired(kPolicy, row, now)) << "but not for ever";
}

TEST(Expiry, StaggersOverAtMostHalfAnHour) {
  std::vector<SessionRow> rows;
  for (int i = 0; i < 1'000; ++i) rows.push_back(session("t/" + std::to_string(i), kStart, kStart + i));
  const std::int64_t now = kStart + 30 * kHour;
  const Sweep found = sweep(kPolicy, rows, now);
  ASSERT_EQ(found.marks.size(), 1'000u);
  EXPECT_EQ(found.report.checked, 1'000u);
  EXPECT_EQ(found.report.expired, 1'000u);
  EXPECT_EQ(found.marks.front().session, "t/0");
  std::map<std::int64_t, int> at;
  for (const auto& mark : found.marks) {
    EXPECT_GE(mark.expires_ms, now + 5 * kMinute);
    EXPECT_LE(mark.expires_ms, now + 35 * kMinute);
    EXPECT_EQ((mark.expires_ms - now) % (5 * kSecond), 0);
    ++at[mark.expires_ms];
  }
  EXPECT_EQ(at.size(), 361u);
  for (const auto& [time, count] : at) EXPECT_LE(count, 3);
}

TEST(Expiry, SparesWhatIsUsedAfterItsMark) {
  const std::int64_t now = kStart + 30 * kHour;
  SessionRow row = session("t/a", kStart, kStart);
  row.expires_ms = now + 5 * kMinute;
  EXPECT_TRUE(decisions(kPolicy, {&row, 1}, now).empty());
  SessionRow used = row;
  used.used_ms = now + kMinute;
  auto made = decisions(kPolicy, {&used, 1}, now + 10 * kMinute);
  ASSERT_EQ(made.size(), 1u);
  EXPECT_EQ(made[0].fate, Fate::unmark);
  row.live = 1;
  EXPECT_TRUE(decisions(kPolicy, {&row, 1}, now + 10 * kMinute).empty()) << "never a RUNNING one";
  row.live = 0;
  made = decisions(kPolicy, {&row, 1}, now + 5 * kMinute);
  ASSERT_EQ(made.size(), 1u);
  EXPECT_EQ(made[0].fate, Fate::end);
  EXPECT_TRUE(made[0].by_sweep);
}

TEST(Lease, EndsItsSessionOnceNothingRuns) {
  SessionRow row = session("t/a", kStart, kStart);
  row.lease_ms = kStart + kMinute;
  EXPECT_TRUE(decisions(kPolicy, {&row, 1}, kStart + kMinute - 1).empty());
  row.live = 2;
  EXPECT_TRUE(decisions(kPolicy, {&row, 1}, kStart + 9 * kHour).empty());
  row.live = 0;
  const auto made = decisions(kPolicy, {&row, 1}, kStart + kMinute);
  ASSERT_EQ(made.size(), 1u);
  EXPECT_EQ(made[0].fate, Fate::end);
  EXPECT_FALSE(made[0].by_sweep);
}

TEST(Error, BecomesTerminatedAfterAMinute) {
  SessionRow row = session("t/a", kStart, kStart);
  row.state = SessionState::error;
  EXPECT_TRUE(decisions(kPolicy, {&row, 1}, kStart + kMinute - 1).empty());
  ASSERT_EQ(decisions(kPolicy, {&row, 1}, kStart + kMinute).size(), 1u);
}

TEST(Terminated, GoesADayAfterItWasFoundToBeThirtyDaysOld) {
  const std::int64_t now = kStart + 100 * 24 * kHour;
  std::vector<SessionRow> rows = {session("t/31", kStart, now - 31 * 24 * kHour)};
  for (int i = 0; i < 5'000; ++i) rows.push_back(session("t/" + std::to_string(i), kStart, now - 30 * 24 * kHour));
  EXPECT_TRUE(std::ranges::none_of(decisions(kPolicy, rows, now), [](const Decision& decision) {
    return decision.fate == Fate::remove;
  })) << "none is TERMINATED";
  for (SessionRow& row : rows) row.state = SessionState::terminated;
  EXPECT_TRUE(decisions(kPolicy, rows, now).empty()) << "the clock may be wrong";
  const Sweep found = sweep(kPolicy, rows, now);
  ASSERT_EQ(found.marks.size(), 1u);
  EXPECT_EQ(found.marks[0].expires_ms, now + 24 * kHour);
  EXPECT_EQ(found.report.expired, 0u);
  rows[0].expires_ms = found.marks[0].expires_ms;
  EXPECT_TRUE(sweep(kPolicy, {&rows[0], 1}, now + kHour).marks.empty());
  EXPECT_TRUE(decisions(kPolicy, rows, now + 24 * kHour - 1).empty());
  const auto back = decisions(kPolicy, {&rows[0], 1}, now - 2 * 24 * kHour);
  ASSERT_EQ(back.size(), 1u);
  EXPECT_EQ(back[0].fate, Fate::unmark) << "it was";
  rows.resize(1);
  const std::vector<Decision> made = decisions(kPolicy, rows, now + 24 * kHour);
  ASSERT_EQ(made.size(), 1u);
  EXPECT_EQ(made[0].row.id, "t/31");
  EXPECT_EQ(made[0].fate, Fate::remove);
  rows[0].live = 1;
  EXPECT_TRUE(decisions(kPolicy, rows, now + 24 * kHour).empty());
}

TEST(Storage, IsLookedAtWhereItMayHaveChanged) {
  SessionRow row = session("t/a", kStart, kStart);
  EXPECT_TRUE(is_storage_due(kPolicy, row, 0, kStart));
  EXPECT_FALSE(is_storage_due(kPolicy, row, kStart - 5 * kSecond, kStart)) << "not so often";
  EXPECT_TRUE(is_storage_due(kPolicy, row, kStart - 10 * kSecond, kStart));
  EXPECT_FALSE(is_storage_due(kPolicy, row, kStart + kSecond, kStart + kHour)) << "unused since";
  row.live = 1;
  EXPECT_TRUE(is_storage_due(kPolicy, row, kStart + kSecond, kStart + kHour));
}

// Whatever the rows are: the answer never lies in the past, and something is due then or it is a look-round.
TEST(NextLook, NeverMissesWhatIsDue) {
  std::mt19937 random(3);
  for (int round = 0; round < 2'000; ++round) {
    std::vector<SessionRow> rows;
    for (int i = 0; i < 5; ++i) {
      SessionRow row =
          session("t/" + std::to_string(i), kStart - below(random, 60 * kHour), kStart - below(random, kHour));
      row.used_ms = std::max(row.used_ms, row.created_ms);
      row.state = static_cast<SessionState>(below(random, 4));
      if (row.state == SessionState::running) row.live = 1;
      if (below(random, 2) == 0) row.lease_ms = kStart + below(random, 30'000);
      if (below(random, 2) == 0) row.expires_ms = kStart + below(random, 30'000);
      rows.push_back(row);
    }
    const std::int64_t next = next_look(kPolicy, {}, rows, {}, kStart, kStart);
    EXPECT_GE(next, kStart);
    EXPECT_LE(next, kStart + 10 * kSecond);
    if (next == kStart) continue;
    const auto before = decisions(kPolicy, rows, kStart).size();
    EXPECT_EQ(decisions(kPolicy, rows, next - 1).size(), before) << "something came due earlier";
  }
}

TEST(NextLook, DoesNotComeBackToAFailureThatIsOver) {
  const Pool pool{5, 0, 0, kStart - kHour};
  EXPECT_EQ(next_look(kPolicy, {}, {}, pool, kStart, kStart), kStart + 10 * kSecond);
  EXPECT_EQ(next_look(kPolicy, {}, {}, {0, 0, 0, kStart}, kStart, kStart), kStart + kSecond);
}

// 72 hours in steps of a second, with sessions that are opened, used and left alone at random.
TEST(Sweep, KeepsItsPromisesOver72Hours) {
  std::mt19937 random(42);
  std::map<std::string, SessionRow> rows;
  std::map<std::string, std::int64_t> command_ends;
  std::map<std::int64_t, int> ends_at;
  std::int64_t swept = kStart;
  std::size_t made = 0, expired = 0, cleaned = 0, unmarked = 0;
  for (std::int64_t now = kStart; now < kStart + 72 * kHour; now += kSecond) {
    if (below(random, 600) == 0 && rows.size() < 400) {
      const std::string id = "t/" + std::to_string(made++);
      rows[id] = session(id, now, now);
    }
    if (!rows.empty() && below(random, 120) == 0) {
      SessionRow& row = std::next(rows.begin(), static_cast<std::ptrdiff_t>(random() % rows.size()))->second;
      // Some are busy for days, some never come back.
      if (std::hash<std::string>{}(row.id) % 3 != 0) {
        row.live = 1;
        command_ends[row.id] = now + below(random, below(random, 50) == 0 ? 60 * kHour : kMinute);
      }
    }
    for (auto& [id, row] : rows) {  // some come back at the last moment
      if (row.expires_ms == 0 || now + kMinute < row.expires_ms || below(random, 200) != 0) continue;
      row.live = 1;
      command_ends[id] = now + below(random, kMinute);
    }
    for (auto at = command_ends.begin(); at != command_ends.end();) {
      if (at->second > now) {
        ++at;
        continue;
      }
      if (const auto row = rows.find(at->first); row != rows.end()) {
        row->second.live = 0;
        row->second.used_ms = now;
      }
      at = command_ends.erase(at);
    }
    std::vector<SessionRow> all;
    const bool sweeps = has_passed(swept, kPolicy.sweep_every, now);
    if (!sweeps && now / kSecond % 5 != 0) continue;
    for (const auto& [id, row] : rows) all.push_back(row);
    if (sweeps) {
      const Sweep found = sweep(kPolicy, all, now);
      swept = now;
      EXPECT_EQ(found.report.checked, all.size());
      expired += found.report.expired;
      for (const auto& mark : found.marks) {
        EXPECT_TRUE(is_expired(kPolicy, rows[mark.session], now));
        EXPECT_GE(mark.expires_ms, now + 5 * kMinute);
        EXPECT_LE(mark.expires_ms, now + 35 * kMinute);
        rows[mark.session].expires_ms = mark.expires_ms;
      }
    }
    for (const Decision& decision : decisions(kPolicy, all, now)) {
      SessionRow& row = rows[decision.row.id];
      if (decision.fate == Fate::unmark) {
        row.expires_ms = 0;
        ++unmarked;
        continue;
      }
      ASSERT_EQ(decision.fate, Fate::end);
      EXPECT_EQ(row.live, 0u) << "a RUNNING session was ended";
      EXPECT_TRUE(now - row.used_ms > 24 * kHour || now - row.created_ms > 48 * kHour);
      EXPECT_LE(now - row.used_ms, 24 * kHour + kHour + 36 * kMinute) << "it was idle for too long";
      rows.erase(row.id);
      ++ends_at[now];
      ++cleaned;
    }
  }
  EXPECT_GT(cleaned, 100u);
  EXPECT_GE(expired, cleaned);
  EXPECT_GT(unmarked, 0u);
  for (const auto& [id, row] : rows) {
    if (row.live > 0) continue;
    EXPECT_LE(kStart + 72 * kHour - row.created_ms, 48 * kHour + kHour + 36 * kMinute) << id;
  }
}

}  // namespace
}  // namespace guard::sessions

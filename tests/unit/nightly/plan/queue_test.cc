#include "nightly/plan/queue.h"

#include <gtest/gtest.h>

namespace guard::nightly {
namespace {

Task row(std::string id, TaskState state, Review review = Review::none, std::string reason = {}) {
  Task task;
  task.night = "before";
  task.id = std::move(id);
  task.prompt = "write a test";
  task.state = state;
  task.review = review;
  task.reason = std::move(reason);
  return task;
}

// Only a decision about the work itself ends a task; what a generator, an engine or a budget did does not.
TEST(Queue, TellsWhatWasDecided) {
  EXPECT_EQ(standing_of(row("a", TaskState::accepted)), Standing::to_review);
  EXPECT_EQ(standing_of(row("a", TaskState::accepted, Review::taken)), Standing::taken);
  EXPECT_EQ(standing_of(row("a", TaskState::accepted, Review::dropped)), Standing::dropped);
  EXPECT_EQ(standing_of(row("a", TaskState::accepted, Review::sent_back)), Standing::open);
  EXPECT_EQ(standing_of(row("a", TaskState::refused, Review::none, "findings")), Standing::given_up);
  EXPECT_EQ(standing_of(row("a", TaskState::refused, Review::sent_back, "findings")), Standing::open);
  EXPECT_EQ(standing_of(row("a", TaskState::refused, Review::dropped, "findings")), Standing::dropped);
  EXPECT_EQ(standing_of(row("a", TaskState::refused, Review::none, "never_generated")), Standing::open);
  EXPECT_EQ(standing_of(row("a", TaskState::failed)), Standing::open);
  EXPECT_EQ(standing_of(row("a", TaskState::waiting)), Standing::open);
  EXPECT_EQ(standing_of(row("a", TaskState::running)), Standing::open);
}

TEST(Queue, RunsWhatIsOpenNewOrAnotherTaskByNow) {
  Plan plan;
  for (const char* id : {"taken", "changed", "new", "back"}) {
    PlannedTask task;
    task.id = id;
    task.prompt = std::string(id) == "changed" ? "write two tests" : "write a test";
    plan.tasks.push_back(task);
  }
  Task back = row("back", TaskState::accepted, Review::sent_back);
  back.note = "smaller";
  const std::vector<Task> newest = {row("taken", TaskState::accepted, Review::taken),
      row("changed", TaskState::accepted, Review::taken), back, row("of another plan", TaskState::accepted)};
  const auto tasks = queue_tasks(plan, newest, "tonight", Again::no);
  ASSERT_EQ(tasks.size(), 4u);
  EXPECT_EQ(tasks[0].state, TaskState::skipped);
  EXPECT_EQ(tasks[0].reason, "taken");
  for (std::size_t i = 1; i < tasks.size(); ++i) EXPECT_EQ(tasks[i].state, TaskState::waiting) << tasks[i].id;
  EXPECT_EQ(tasks[3].note, "smaller");
  EXPECT_EQ(tasks[3].review, Review::none);
  for (std::size_t i = 0; i < tasks.size(); ++i) {
    EXPECT_EQ(tasks[i].night, "tonight");
    EXPECT_EQ(tasks[i].position, i);
  }
  EXPECT_EQ(queue_tasks(plan, newest, "tonight", Again::yes)[0].state, TaskState::waiting);
}

}  // namespace
}  // namespace guard::nightly

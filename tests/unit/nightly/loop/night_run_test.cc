// The loop where what it leans on throws; nights that go on are in tests/cli/nightly.
#include "nightly/loop/night_run.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <new>
#include <thread>

#include "common/file_io.h"

namespace guard::nightly {
namespace {

namespace fs = std::filesystem;

TEST(NightRun, EndsWithAnErrorWhereAThreadOfItThrows) {
  const TempDir root = *TempDir::create();
  const fs::path top = root.path() / "repository";
  fs::create_directory(top);
  ASSERT_EQ(std::system(("cd " + top.native() +
                " && git init -q . && git -c user.name=t -c user.email=t@x.invalid commit -q --allow-empty -m base")
                            .c_str()),
      0);
  const CancelToken never;
  const auto repository = NightRepository::open(top, never);
  ASSERT_TRUE(repository) << repository.error().message();
  const auto state = StateFolder::of(top, (root.path() / "state").native(), {});
  ASSERT_TRUE(state && state->make());
  auto journal = Journal::open(state->journal(), Journal::Access::write);
  ASSERT_TRUE(journal);
  LoadedConfig config;
  config.config.nightly.min_free_bytes = 0;
  Plan plan;
  plan.jobs = 4;
  std::string branch_tip;
  NightContext context;
  context.repository = &*repository;
  context.state = &*state;
  context.journal = &*journal;
  context.config = &config;
  context.plan = &plan;
  context.branch_tip = &branch_tip;
  context.night = "n";
  Night night;
  night.id = "n";
  night.base = context.base = repository->commit_id("HEAD").value();
  night.branch = context.branch = "refs/heads/guard/n";
  std::vector<Task> tasks;
  for (const char* id : {"a", "b", "c", "d"}) {
    plan.tasks.emplace_back().id = id;
    Task task;
    task.night = "n";
    task.id = id;
    task.rollout = Rollout::sandbox;
    tasks.push_back(task);
  }
  const std::thread::id here = std::this_thread::get_id();
  NightOptions options;
  options.context = &context;
  options.say = [&](const NightEvent&) {
    if (std::this_thread::get_id() != here) throw std::bad_alloc();
    std::this_thread::sleep_for(std::chrono::milliseconds(200));  // so that another thread gets a task, too
    throw std::bad_alloc();
  };
  const auto result = begin_night(options, night, tasks, never);
  ASSERT_FALSE(result);
  EXPECT_EQ(result.error().code(), ErrorCode::internal);
}

}  // namespace
}  // namespace guard::nightly

#include "serve/e2b/sandboxes.h"

#include <gmock/gmock.h>

#include "tests/support/sessions/sessions_fixture.h"

namespace guard::serve::e2b {
namespace {

using ::testing::ElementsAre;

class E2bSandboxes : public sessions::SessionsTest {
 protected:
  void open_with(std::size_t sessions_max) {
    sessions::Options options = without_pool();
    options.sessions_max = sessions_max;
    options.remove_leftover = [](const std::string&) { return Error(ErrorCode::io_error, "it stays"); };
    open(std::move(options));
  }
  SetNetwork set_network() {
    return [this](const std::string&, const std::optional<NetworkAsked>& asked) -> Result<void> {
      const auto known = manager_->sessions();
      const bool is_open = !known.empty() && known.front().state != sessions::SessionState::terminated;
      told_.push_back(std::string(!asked     ? "forgotten"
                              : asked->allow ? "nothing allowed"
                                             : "all allowed") +
          (is_open ? ", open" : ""));
      return ok();
    };
  }

  std::vector<std::string> told_;
};

TEST_F(E2bSandboxes, ReachNothingWhileTheyEnd) {
  open_with(1);
  Sandboxes all(*manager_, set_network());
  const auto made = all.create("a", {});
  ASSERT_TRUE(made) << made.error().to_string();
  ASSERT_TRUE(all.kill((*made)->id));
  EXPECT_THAT(told_, ElementsAre("all allowed", "nothing allowed, open", "forgotten"));
}

TEST_F(E2bSandboxes, ReachNothingWhereTheyCannotBeEnded) {
  open_with(1);
  Sandboxes all(*manager_, set_network());
  const auto made = all.create("a", {});
  ASSERT_TRUE(made) << made.error().to_string();
  sandboxes_.fail_closes(true);
  ASSERT_TRUE(all.kill((*made)->id));
  EXPECT_THAT(told_, ElementsAre("all allowed", "nothing allowed, open"));
  sandboxes_.fail_closes(false);
}

TEST_F(E2bSandboxes, LeaveNoRulesWhereThereIsNoRoom) {
  open_with(0);
  Sandboxes all(*manager_, set_network());
  EXPECT_FALSE(all.create("a", {}));
  EXPECT_THAT(told_, ElementsAre("all allowed", "forgotten"));
}

}  // namespace
}  // namespace guard::serve::e2b

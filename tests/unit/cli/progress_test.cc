// The line that says what guard is doing, between what others write.
#include "cli/progress.h"

#include <gtest/gtest.h>

#include <string>

namespace guard {
namespace {

TEST(Progress, IsTakenAwayBeforeAnythingElseIsWritten) {
  std::string text;
  OutStream err(text);
  {
    Progress progress(err, Progress::Mode::rewritten);
    progress.say("looking\x1b");
    progress.without_line(false, [&] { err.write("half a line"); });
    progress.say("running");  // there is no place for it yet
    progress.without_line(true, [&] { err.write(" and its end\n"); });
    progress.say("weighing");
    progress.clear();
    err.write("done\n");
  }
  EXPECT_EQ(text, "guard: looking\\x1b ...\r\x1b[Khalf a line and its end\nguard: weighing ...\r\x1b[Kdone\n");
}

TEST(Progress, IsLinesWhereNobodyWatchesAndNothingWhereItShallBeQuiet) {
  for (const bool quiet : {false, true}) {
    std::string text;
    OutStream err(text);
    {
      Progress progress(err, quiet ? Progress::Mode::quiet : Progress::Mode::lines);
      progress.say("looking");
      progress.without_line(false, [&] { err.write("x"); });
      progress.say("running");
    }
    EXPECT_EQ(text, quiet ? "x" : "guard: looking\nxguard: running\n");
  }
}

}  // namespace
}  // namespace guard

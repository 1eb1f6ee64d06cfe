// What is written of casts, and of members that have the name of a global.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "tests/support/validator/check_support.h"
#include "tests/support/validator/view_support.h"

namespace guard {
namespace {

using ::testing::HasSubstr;

TEST(Fold, SkipsTypesOfFunctionsInCasts) {
  EXPECT_THAT(code_view("const F = p.constructor as new (...s: string[]) => (...a: any[]) => Gen<number>; new F('x')"),
      HasSubstr("new%.constructor(\"\")"));
}

TEST(Fold, LeavesAProcessOfAnOwnObjectAlone) {
  const std::string own = "class Job {} const order = { process: new Job() }; order.process.exit('x');";
  EXPECT_FALSE(finds("host.process_exit", own));
  EXPECT_TRUE(finds("host.process_exit", "const order = { process }; order.process.exit('x');"));
  EXPECT_TRUE(finds(
      "host.process_exit", "class Job {} const order = { process: new Job() || g.process }; order.process.exit('x');"));
}

}  // namespace
}  // namespace guard

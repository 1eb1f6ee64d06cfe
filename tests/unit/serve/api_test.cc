#include "serve/api.h"

#include <gtest/gtest.h>

namespace guard::serve {
namespace {

std::pair<std::string, std::string> seen(const std::string& method, const std::string& path) {
  const Purpose purpose = purpose_of({method, path, {}, {}});
  return {purpose.verb, purpose.session};
}

// A log is read by people and programs: what a client made up does not get into it.
TEST(Purpose, ShowsNothingThatAClientChose) {
  using Seen = std::pair<std::string, std::string>;
  EXPECT_EQ(seen("GET", "/metrics"), Seen("GET /metrics", ""));
  EXPECT_EQ(seen("GET", "/v1/sessions"), Seen("GET /v1/sessions", ""));
  EXPECT_EQ(seen("DELETE", "/v1/sessions/t/c"), Seen("DELETE", "t/c"));
  EXPECT_EQ(seen("POST", "/v1/sessions/t/c/exec"), Seen("POST exec", "t/c"));
  EXPECT_EQ(seen("GET", "/v1/sessions/t/c/commands"), Seen("GET commands", "t/c"));
  EXPECT_EQ(seen("GET", "/v1/sessions/t/c/commands/secret/log"), Seen("GET log", "t/c"));
  EXPECT_EQ(seen("GET", "/v1/sessions/t/c/commands/secret"), Seen("GET ?", "t/c"));
  EXPECT_EQ(seen("GET", "/v1/sessions/t/\x1b[2J/exec"), Seen("GET exec", ""));
  EXPECT_EQ(seen("SECRET", "/secret"), Seen("? ?", ""));
  EXPECT_EQ(seen("GET", "/v1/sessions/t/c/secret/exec"), Seen("GET ?", "t/c"));
}

}  // namespace
}  // namespace guard::serve

#include "pipeline/run/command_hints.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace guard {
namespace {

using ::testing::HasSubstr;

TEST(CommandHints, KnowPackageManagersByWhatTheyAreAskedFor) {
  EXPECT_EQ(installer_of({"bun", "install"}), "bun install");
  EXPECT_EQ(installer_of({"/usr/local/bin/bun", "--silent", "add", "x"}), "bun add");
  EXPECT_EQ(installer_of({"npm", "ci"}), "npm ci");
  EXPECT_EQ(installer_of({"yarn"}), "yarn");
  EXPECT_EQ(installer_of({"bunx", "cowsay"}), "bunx");
  EXPECT_EQ(installer_of({"pip", "install", "x"}), "pip install");
  for (const std::vector<std::string>& other : std::vector<std::vector<std::string>>{{}, {"bun"}, {"bun", "test"},
           {"bun", "run", "install"}, {"bun", ""}, {"npm"}, {"pip", ""}, {"pip", "list"}, {"install"}})
    EXPECT_EQ(installer_of(other), "") << (other.empty() ? "" : other.back());
}

TEST(CommandHints, SayThatThereIsNoNetworkOnlyWhereThereIsNone) {
  SandboxSpec spec;
  spec.argv = {"bun", "install"};
  const auto error = why_it_failed(spec);
  ASSERT_TRUE(error);
  EXPECT_EQ(error->code(), ErrorCode::dependency_unsatisfied);
  EXPECT_THAT(error->message(), HasSubstr("no network"));
  EXPECT_THAT(std::string(error->hint()), HasSubstr("guard image build"));
  spec.network = Network::bridge;
  EXPECT_FALSE(why_it_failed(spec));
}

TEST(CommandHints, SayWhereProgramsComeFrom) {
  SandboxSpec spec;
  spec.argv = {"python3"};
  EXPECT_THAT(with_start_hint(Error(ErrorCode::file_not_found, "x"), spec).to_string(),
      ::testing::AllOf(HasSubstr("starting python3"), HasSubstr("[image] tools")));
  spec.argv = {"npm", "install"};
  EXPECT_THAT(with_start_hint(Error(ErrorCode::file_not_found, "x"), spec).to_string(), HasSubstr("no network"));
  EXPECT_EQ(with_start_hint(Error(ErrorCode::io_error, "x"), spec).hint(), Error(ErrorCode::io_error, "x").hint());
}

}  // namespace
}  // namespace guard

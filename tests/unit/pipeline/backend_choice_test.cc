// The table "which tiers apply, and where the code runs", row by row.
#include "pipeline/backend_choice.h"

#include <gtest/gtest.h>

namespace guard {
namespace {

EngineLocation engine_in(ProbeState state) {
  EngineLocation location;
  location.probe.state = state;
  location.probe.reason = "as the test says";
  location.probe.remedy = "fix the test";
  location.probe.endpoint = "unix:///somewhere";
  location.engine = "/somewhere";
  return location;
}

// What is not given must not be asked for.
Result<BackendChoice> choose(const Config& config, ProbeState state, std::optional<Backend> forced = std::nullopt,
    std::optional<ProbeState> container_use = std::nullopt, std::optional<ProbeState> embedded = std::nullopt) {
  return choose_backend(config, forced, [&](Backend backend) {
    if (backend == Backend::docker) return engine_in(state).probe;
    const auto& given = backend == Backend::container_use ? container_use : embedded;
    EXPECT_TRUE(given && backend != Backend::host) << "nobody asked for " << to_string(backend);
    return engine_in(given.value_or(ProbeState::unknown)).probe;
  });
}

TEST(BackendChoice, AvailableEngineRunsInAContainerWithoutTheHostTier) {
  const auto choice = choose(Config{}, ProbeState::available);
  ASSERT_TRUE(choice);
  EXPECT_EQ(choice->backend, Backend::docker);
  EXPECT_TRUE(choice->tiers.docker);
  EXPECT_FALSE(choice->tiers.host);
}

TEST(BackendChoice, AbsentEngineFallsBackToTheEmbeddedSandboxWithAllTiers) {
  const auto choice = choose(Config{}, ProbeState::absent);
  ASSERT_TRUE(choice);
  EXPECT_EQ(choice->backend, Backend::namespace_sandbox);
  EXPECT_TRUE(choice->tiers.host);
  EXPECT_TRUE(choice->tiers.docker);
}

// The row that matters most: whatever is configured, an unknown engine runs nothing anywhere.
TEST(BackendChoice, UnknownEngineRunsNowhere) {
  for (const std::vector<Backend>& fallback : {std::vector{Backend::namespace_sandbox}, {Backend::host}, {},
           {Backend::container_use, Backend::namespace_sandbox, Backend::host}}) {
    Config config;
    config.fallback = fallback;
    for (const auto& forced : {std::optional<Backend>(), std::optional<Backend>(Backend::docker)}) {
      const auto choice = choose(config, ProbeState::unknown, forced);
      ASSERT_FALSE(choice);
      EXPECT_EQ(choice.error().code(), ErrorCode::environment_unavailable);
      EXPECT_EQ(choice.error().exit_status(), 3);
      EXPECT_EQ(choice.error().details().at("environmentType"), "docker");
      EXPECT_EQ(choice.error().hint(), "fix the test");
    }
  }
}

TEST(BackendChoice, AbsentEngineWithoutFallbackIsUnavailable) {
  Config config;
  config.fallback = {};
  EXPECT_FALSE(choose(config, ProbeState::absent));
}

TEST(BackendChoice, ForcedDockerNeverFallsBack) { EXPECT_FALSE(choose(Config{}, ProbeState::absent, Backend::docker)); }

TEST(BackendChoice, HostNeedsTheConfigurationsLeave) {
  EXPECT_FALSE(choose(Config{}, ProbeState::available, Backend::host));
  Config config;
  config.fallback = {Backend::host};
  const auto fallen = choose(config, ProbeState::absent);
  ASSERT_TRUE(fallen);
  EXPECT_EQ(fallen->backend, Backend::host);
  EXPECT_TRUE(fallen->tiers.host);
  EXPECT_FALSE(fallen->relaxations.empty());
  config = Config{};
  config.backend = Backend::host;
  EXPECT_TRUE(choose(config, ProbeState::absent));
}

TEST(BackendChoice, ForcedNamespaceSkipsTheProbeButNoTier) {
  bool asked = false;
  const auto choice = choose_backend(Config{}, Backend::namespace_sandbox, [&](Backend) {
    asked = true;
    return engine_in(ProbeState::available).probe;
  });
  ASSERT_TRUE(choice);
  EXPECT_FALSE(asked);
  EXPECT_TRUE(choice->tiers.host);
}

// A fallback is an order: the first that is there, as long as all before it are provably absent.
TEST(BackendChoice, TheFallbackIsAnOrder) {
  Config config;
  config.backend = Backend::container_use;
  config.fallback = {Backend::docker, Backend::namespace_sandbox, Backend::host};
  const auto none = std::optional<Backend>();
  const auto docker = choose(config, ProbeState::available, none, ProbeState::absent);
  ASSERT_TRUE(docker) << docker.error().to_string();
  EXPECT_EQ(docker->backend, Backend::docker);
  EXPECT_FALSE(docker->tiers.host);
  EXPECT_EQ(docker->relaxations, std::vector<std::string>{"fallback: the container engine in place of container-use"});

  const auto embedded = choose(config, ProbeState::absent, none, ProbeState::absent, ProbeState::available);
  ASSERT_TRUE(embedded);
  EXPECT_EQ(embedded->backend, Backend::namespace_sandbox);
  EXPECT_TRUE(embedded->relaxations.back().ends_with("in place of container-use, the container engine"));

  const auto host = choose(config, ProbeState::absent, none, ProbeState::absent, ProbeState::absent);
  ASSERT_TRUE(host);
  EXPECT_EQ(host->backend, Backend::host);

  // Whoever is in an unknown state ends it.
  EXPECT_FALSE(choose(config, ProbeState::available, none, ProbeState::unknown));
  EXPECT_FALSE(choose(config, ProbeState::unknown, none, ProbeState::absent));
  const auto stuck = choose(config, ProbeState::absent, none, ProbeState::absent, ProbeState::unknown);
  ASSERT_FALSE(stuck);
  EXPECT_EQ(stuck.error().details().at("environmentType"), "namespace");
}

TEST(BackendChoice, TheEmbeddedSandboxCanBeReplacedToo) {
  Config config;
  config.backend = Backend::namespace_sandbox;
  config.fallback = {Backend::docker};
  const auto choice = choose(config, ProbeState::available, std::nullopt, std::nullopt, ProbeState::absent);
  ASSERT_TRUE(choice);
  EXPECT_EQ(choice->backend, Backend::docker);
  EXPECT_FALSE(choose(config, ProbeState::absent, std::nullopt, std::nullopt, ProbeState::absent));
}

TEST(BackendChoice, OnlyWhereNobodyTakesOverTheHintSpeaksOfIt) {
  Config config;
  config.fallback = {};
  const auto nobody = choose(config, ProbeState::absent);
  ASSERT_FALSE(nobody);
  EXPECT_EQ(nobody.error().hint(), "fix the test; or let another one take over, as with fallback = \"namespace\"");
  const auto forced = choose(config, ProbeState::absent, Backend::docker);
  ASSERT_FALSE(forced);
  EXPECT_EQ(forced.error().hint(), "fix the test");
}

TEST(BackendChoice, TrustingTheNamespaceIsRecorded) {
  Config config;
  config.trust_namespace = true;
  const auto choice = choose(config, ProbeState::absent);
  ASSERT_TRUE(choice);
  EXPECT_FALSE(choice->tiers.host);
  ASSERT_EQ(choice->relaxations.size(), 2u);  // that, and the fallback itself
  EXPECT_NE(choice->relaxations[0].find("trust_namespace"), std::string::npos);
}

// All three tiers, and told, whoever asked for it.
TEST(BackendChoice, ContainerUseIsNoBoundaryForTheGate) {
  Config configured;
  configured.backend = Backend::container_use;
  Config fallen_back;
  fallen_back.fallback = {Backend::container_use};
  Config trusting;
  trusting.trust_namespace = true;
  const Result<BackendChoice> choices[] = {choose(configured, ProbeState::unknown, std::nullopt, ProbeState::available),
      choose(fallen_back, ProbeState::absent, std::nullopt, ProbeState::available),
      choose(trusting, ProbeState::unknown, Backend::container_use, ProbeState::available)};
  for (const auto& choice : choices) {
    ASSERT_TRUE(choice) << choice.error().to_string();
    EXPECT_EQ(choice->backend, Backend::container_use);
    EXPECT_TRUE(choice->tiers.docker);
    EXPECT_TRUE(choice->tiers.host);
    ASSERT_FALSE(choice->relaxations.empty());
    EXPECT_TRUE(choice->relaxations[0].starts_with("container-use: ")) << choice->relaxations[0];
  }
  EXPECT_TRUE(choices[1]->relaxations.back().starts_with("fallback: ")) << choices[1]->relaxations.back();
}

TEST(BackendChoice, ContainerUseInAnUnknownStateRunsNowhere) {
  for (const std::vector<Backend>& fallback :
      {std::vector{Backend::namespace_sandbox}, {Backend::host}, {}, {Backend::container_use}}) {
    Config config;
    config.fallback = fallback;
    config.backend = Backend::container_use;
    for (const auto& forced : {std::optional<Backend>(), std::optional<Backend>(Backend::container_use)}) {
      const auto choice = choose(config, ProbeState::available, forced, ProbeState::unknown);
      ASSERT_FALSE(choice);
      EXPECT_EQ(choice.error().code(), ErrorCode::environment_unavailable);
      EXPECT_EQ(choice.error().details().at("environmentType"), "container-use");
    }
  }
  Config config;
  config.fallback = {Backend::container_use};
  EXPECT_FALSE(choose(config, ProbeState::absent, std::nullopt, ProbeState::unknown));
}

TEST(BackendChoice, AnAbsentContainerUseLeadsToTheFallback) {
  Config config;
  config.backend = Backend::container_use;
  const auto fallen = choose(config, ProbeState::available, std::nullopt, ProbeState::absent);
  ASSERT_TRUE(fallen);
  EXPECT_EQ(fallen->backend, Backend::namespace_sandbox);
  EXPECT_TRUE(fallen->tiers.host);
  EXPECT_TRUE(fallen->relaxations.back().starts_with("fallback: ")) << fallen->relaxations.back();
  EXPECT_FALSE(choose(config, ProbeState::available, Backend::container_use, ProbeState::absent));
  for (const std::vector<Backend>& fallback : {std::vector<Backend>(), {Backend::container_use}}) {
    config.fallback = fallback;
    EXPECT_FALSE(choose(config, ProbeState::available, std::nullopt, ProbeState::absent));
  }
}

TEST(BackendChoice, ContainerUseTakesNoImageAndTellsOfASharedEnvironment) {
  Config config;
  config.container_use.env_id = "mine";
  const auto shared = choose(config, ProbeState::unknown, Backend::container_use, ProbeState::available);
  ASSERT_TRUE(shared);
  EXPECT_TRUE(shared->relaxations.back().starts_with("container_use.env_id = mine")) << shared->relaxations.back();
  config.container_use.image = "node:20";
  EXPECT_FALSE(choose(config, ProbeState::unknown, Backend::container_use, ProbeState::available));
}

TEST(BackendChoice, ANetworkIsARelaxationOfTheContainerAndNothingForTheEmbeddedSandbox) {
  for (const auto network : {NetworkMode::bridge, NetworkMode::host}) {
    Config config;
    config.docker.network = network;
    const auto container = choose(config, ProbeState::available);
    ASSERT_TRUE(container);
    EXPECT_TRUE(network_fits(*container, config));
    const auto owned = network_fits(*container, config, /*unprotected_engine=*/true);
    ASSERT_FALSE(owned) << "the code would reach an engine that obeys anybody";
    EXPECT_EQ(owned.error().code(), ErrorCode::config_invalid);
    EXPECT_TRUE(network_fits(*container, Config{}, true));
    ASSERT_EQ(container->relaxations.size(), 1u);
    EXPECT_TRUE(container->relaxations[0].starts_with("docker.network = " + std::string(to_string(network))))
        << container->relaxations[0];
    const auto fallback = choose(config, ProbeState::absent);
    ASSERT_TRUE(fallback);
    const auto fits = network_fits(*fallback, config);
    ASSERT_FALSE(fits);
    EXPECT_EQ(fits.error().code(), ErrorCode::config_invalid);
    EXPECT_EQ(fits.error().exit_status(), 2);
    EXPECT_FALSE(fits.error().hint().empty());
  }
  const auto closed = choose(Config{}, ProbeState::absent);
  ASSERT_TRUE(closed);
  EXPECT_TRUE(network_fits(*closed, Config{}));
}

}  // namespace
}  // namespace guard

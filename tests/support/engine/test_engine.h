// A real container engine for tests that need one: the private one that $GUARD_TEST_DOCKER_SOCKET names, never the
// machine's own, because tests remove containers and images.
#pragma once

#include <gtest/gtest.h>

#include <string>

namespace guard {

// The engine's socket; empty where there is none.
std::string test_engine_socket();

// The address that this machine has on the engine's bridge ($GUARD_TEST_BRIDGE_ADDRESS); empty where the engine has no
// bridge.
std::string test_bridge_address();

// A private podman service ($GUARD_TEST_PODMAN_SOCKET); empty where there is none.
std::string test_podman_socket();

// For CI: an absent engine is then a failure.
bool test_engine_is_required();

}  // namespace guard

// First line of a test (or of SetUp) that needs the engine.
#define GUARD_NEEDS_TEST_ENGINE()                                                         \
  do {                                                                                    \
    if (guard::test_engine_socket().empty()) {                                            \
      if (guard::test_engine_is_required()) {                                             \
        FAIL() << "GUARD_TEST_REQUIRE_DOCKER is set but GUARD_TEST_DOCKER_SOCKET is not"; \
      }                                                                                   \
      GTEST_SKIP() << "needs a private container engine: set GUARD_TEST_DOCKER_SOCKET";   \
    }                                                                                     \
  } while (false)

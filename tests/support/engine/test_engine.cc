#include "tests/support/engine/test_engine.h"

#include <cstdlib>
#include <string_view>

namespace guard {

std::string test_engine_socket() {
  const char* socket = std::getenv("GUARD_TEST_DOCKER_SOCKET");
  return socket == nullptr ? std::string() : std::string(socket);
}

std::string test_bridge_address() {
  const char* address = std::getenv("GUARD_TEST_BRIDGE_ADDRESS");
  return address == nullptr ? std::string() : std::string(address);
}

std::string test_podman_socket() {
  const char* socket = std::getenv("GUARD_TEST_PODMAN_SOCKET");
  return socket == nullptr ? std::string() : std::string(socket);
}

bool test_engine_is_required() {
  const char* required = std::getenv("GUARD_TEST_REQUIRE_DOCKER");
  return required != nullptr && std::string_view(required) == "1";
}

}  // namespace guard

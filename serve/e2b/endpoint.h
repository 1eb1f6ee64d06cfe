// The interface of E2B (https://e2b.dev/docs): what its clients ask of the control plane and of a sandbox, on one
// address. docs/agents.md has which calls are offered.
#pragma once

#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>

#include "serve/api.h"
#include "serve/e2b/sandboxes.h"

namespace guard::serve::e2b {

// What every sandbox is.
struct SandboxKind {
  std::string image;  // as a name of a template; empty: the project's
  double cpus = 1;
  std::uint64_t memory_bytes = 0;
  std::uint64_t storage_bytes = 0;
  bool has_network = false;  // of an allowlist that holds something
};

// Thread-safe.
class Endpoint {
 public:
  Endpoint(sessions::Manager& manager, SandboxKind kind, SetNetwork set_network)
      : sandboxes_(manager, std::move(set_network)), kind_(std::move(kind)) {}

  Result<void> run() { return sandboxes_.run(); }  // once, before the first answer
  void stop() { sandboxes_.stop(); }

  static bool claims(const Request& request);
  Result<void> answer(const Request& request, Answer& answer);  // as Api::handle()

  // The client that a request to the sandbox `id` comes from: whoever has made it and shows its token.
  // FILE_NOT_FOUND, INPUT_INVALID (detail "access").
  Result<std::string> client_of(std::string_view id, std::string_view token, std::string_view path) const;

 private:
  struct Said {  // of the control plane
    unsigned status = 200;
    nlohmann::ordered_json body;  // null: none
  };
  Result<Said> control(const Request& request, Answer& answer);
  Result<Said> create(const Request& request);
  Result<Said> list(const Request& request, Answer& answer);
  Result<Said> of_sandbox(const std::string& id, std::string_view what, const Request& request);
  Result<NetworkAsked> network_in(const nlohmann::json& body, const nlohmann::json& network) const;
  Result<Said> metrics(Sandbox& sandbox, const Request& request);
  nlohmann::ordered_json described(const Sandbox& sandbox) const;
  Result<void> in_sandbox(const Request& request, Answer& answer);

  Sandboxes sandboxes_;
  const SandboxKind kind_;
};

}  // namespace guard::serve::e2b

// What E2B's clients ask for of the network of a sandbox, as rules of [network]. They can only narrow what the server's
// configuration allows: docs/agents.md.
#pragma once

#include <functional>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "common/result.h"

namespace guard::serve::e2b {

struct NetworkAsked {
  std::optional<std::vector<std::string>> allow;  // nothing: all that the server allows
  std::vector<std::string> deny;
};

// Of a sandbox of this session, now and for each that it gets; nothing: the session is over. INPUT_INVALID, all in its
// message, where the server doesn't allow what is asked for, and all is as it was then.
using SetNetwork = std::function<Result<void>(const std::string& session, const std::optional<NetworkAsked>& asked)>;

// `network`: an object or null. `has_internet`: of the same request. INPUT_INVALID says what to do instead; with the
// detail "unsupported" what guard never offers. Hosts are not looked at.
Result<NetworkAsked> network_asked(const nlohmann::json& network, bool has_internet);

}  // namespace guard::serve::e2b

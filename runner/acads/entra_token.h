// Tokens of Entra ID for session pools, got with what the environment says, in this order: AZURE_TENANT_ID,
// AZURE_CLIENT_ID and AZURE_CLIENT_SECRET (client credentials); IDENTITY_ENDPOINT and IDENTITY_HEADER (the managed
// identity of App Service and Container Apps); the managed identity of a virtual machine.
#pragma once

#include <string>
#include <string_view>

#include "runner/acads/azure_service.h"

namespace guard::acads {

class EntraToken {
 public:
  // What must not be shown is added to `secrets`. CONFIG_INVALID where a variable is missing or makes no sense.
  static Result<EntraToken> create(const Environment& environment, Secrets& secrets);

  std::string_view way() const noexcept { return way_; }

  // A new one, which is added to `secrets`, too. ENVIRONMENT_UNAVAILABLE (detail "access") where it is refused,
  // PROTOCOL_ERROR for an answer without a token.
  Result<std::string> fetch(Secrets& secrets, Deadline deadline, const CancelToken& cancel) const;

 private:
  std::string_view way_;
  Service service_;
  Call call_;
};

}  // namespace guard::acads

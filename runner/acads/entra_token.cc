#include "runner/acads/entra_token.h"

#include <fmt/format.h>

#include "docker/json_fields.h"

namespace guard::acads {
namespace {

constexpr std::string_view kPeer = "the token endpoint";
constexpr std::string_view kResource = "https://dynamicsessions.io";
constexpr std::size_t kTokenBytesMax = 12ul * 1024;  // a head of 16 KB is what servers take
constexpr std::uint64_t kAnswerBytesMax = 64ul * 1024;
constexpr milliseconds kLimit{30'000};

}  // namespace

Result<EntraToken> EntraToken::create(const Environment& environment, Secrets& secrets) {
  const std::string tenant = value_of(environment, "AZURE_TENANT_ID");
  const std::string client = value_of(environment, "AZURE_CLIENT_ID");
  const std::string secret = value_of(environment, "AZURE_CLIENT_SECRET");
  const std::string header = value_of(environment, "IDENTITY_HEADER");
  const bool has_identity = !value_of(environment, "IDENTITY_ENDPOINT").empty();
  secrets.add(secret);
  secrets.add(docker::url_encode(secret));
  secrets.add(header);
  const auto invalid = [](std::string_view what, std::string_view hint) {
    return Error(ErrorCode::config_invalid, std::string(what)).hint(std::string(hint));
  };
  EntraToken token;
  Call& call = token.call_;
  call.answer_bytes_max = kAnswerBytesMax;
  if (!secret.empty()) {
    constexpr std::string_view kTenantBytes = "0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ.-";
    if (client.empty() || tenant.empty() || tenant.find_first_not_of(kTenantBytes) != std::string::npos)
      return invalid("AZURE_CLIENT_SECRET is set, and AZURE_CLIENT_ID or AZURE_TENANT_ID is missing or no id",
          "set all three, or none of them for a managed identity");
    token.way_ = "client credentials";
    GUARD_TRY_ASSIGN(token.service_,
        find_service(environment, "AZURE_AUTHORITY_HOST", "https://login.microsoftonline.com", Scheme::https, kPeer));
    call.method = "POST";
    call.target = fmt::format("/{}/oauth2/v2.0/token", tenant);
    call.content_type = "application/x-www-form-urlencoded";
    call.body = fmt::format("grant_type=client_credentials&client_id={}&client_secret={}&scope={}/.default",
        docker::url_encode(client), docker::url_encode(secret), kResource);
    return token;
  }
  token.way_ = "managed identity";
  const std::string who = client.empty() ? "" : fmt::format("&client_id={}", docker::url_encode(client));
  if (has_identity) {
    if (header.empty() || !is_visible(header))
      return invalid("IDENTITY_ENDPOINT is set, and IDENTITY_HEADER is missing or no header",
          "App Service and Container Apps set both: start guard with both");
    GUARD_TRY_ASSIGN(token.service_, find_service(environment, "IDENTITY_ENDPOINT", "", Scheme::plain_nearby, kPeer));
    call.target = fmt::format("?api-version=2019-08-01&resource={}{}", kResource, who);
    call.fields = {{"X-IDENTITY-HEADER", header}};
    return token;
  }
  GUARD_TRY_ASSIGN(token.service_,
      find_service(
          environment, "AZURE_POD_IDENTITY_AUTHORITY_HOST", "http://169.254.169.254", Scheme::plain_nearby, kPeer));
  call.target = fmt::format("/metadata/identity/oauth2/token?api-version=2018-02-01&resource={}{}", kResource, who);
  call.fields = {{"Metadata", "true"}};
  return token;
}

Result<std::string> EntraToken::fetch(Secrets& secrets, Deadline deadline, const CancelToken& cancel) const {
  GUARD_TRY_ASSIGN(const docker::HttpAnswer answer,
      acads::call(service_, call_, deadline.sooner(Deadline::after(kLimit)), cancel).context("getting a token"));
  const auto said = docker::parse_answer(answer.body);
  if (answer.status != 200) {
    const std::string why = fmt::format("{} {}", docker::string_field(said, "error").value_or(""),
        docker::string_field(said, "error_description").value_or(""));
    return Error(ErrorCode::environment_unavailable,
        fmt::format("{} gives no token (status {}): {}", kPeer, answer.status, secrets.shown(why)))
        .detail("access", "token")
        .hint("check AZURE_TENANT_ID, AZURE_CLIENT_ID and AZURE_CLIENT_SECRET, or this machine's managed identity");
  }
  auto token = docker::string_field(said, "access_token");
  if (!token || token->empty() || token->size() > kTokenBytesMax || !is_visible(*token)) {
    return Error(ErrorCode::protocol_error, fmt::format("the answer of {} at {} holds no token", kPeer, service_.url))
        .hint(fmt::format("check {}", service_.variable));
  }
  secrets.add(*token);
  return *std::move(token);
}

}  // namespace guard::acads

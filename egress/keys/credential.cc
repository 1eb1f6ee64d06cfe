#include "egress/keys/credential.h"

#include <fmt/format.h>

#include <algorithm>

#include "common/text/characters.h"
#include "common/text/text.h"
#include "egress/keys/value_forms.h"

namespace guard {
namespace {

constexpr std::uint16_t kTlsPort = 443;
constexpr std::uint16_t kHttpPort = 80;
constexpr std::size_t kHeaderBytesMax = 128;
constexpr std::size_t kValueBytesMax = 16ul * 1024;  // servers take less
constexpr std::size_t kKeysMax = 8;
// What the proxy itself writes, or what says where a request ends.
constexpr std::string_view kNotToBeSet[] = {"host", "content-length", "transfer-encoding", "connection", "keep-alive",
    "te", "trailer", "upgrade", "expect", "accept-encoding", "accept-charset", "range", "if-range", "request-range",
    "a-im", "http2-settings"};

bool is_token(std::string_view text) {
  constexpr std::string_view kMarks = "!#$%&'*+-.^_`|~";
  return !text.empty() && text.size() <= kHeaderBytesMax && std::ranges::all_of(text, [&](char c) {
    return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
        kMarks.find(c) != std::string_view::npos;
  });
}

bool is_field_text(std::string_view text) {
  return std::ranges::all_of(text, [](unsigned char c) { return c >= 0x20 && c < 0x7f; });
}

Error refused(std::string text, std::string hint) {
  return Error(ErrorCode::config_invalid, std::move(text)).hint(std::move(hint));
}

}  // namespace

Result<EgressCredential> EgressCredential::create(
    std::string_view host, std::string_view header, std::string_view prefix, Read read, milliseconds lifetime) {
  EgressCredential made;
  auto target = EgressTarget::parse(host, kTlsPort);
  if (!target)
    return refused(target.error().message(), "a credential's host is api.example.com or api.example.com:8443");
  made.target = *std::move(target);
  if (made.target.port == kHttpPort) {
    return refused(fmt::format("a credential for {} would go in the clear", made.target.text()),
        "name a port where the host speaks TLS, or none: then it is 443");
  }
  made.header = header;
  const std::string name = lower_case(header);
  if (!is_token(header) || name.starts_with("proxy-") || std::ranges::count(kNotToBeSet, name) > 0) {
    return refused(fmt::format("\"{}\" is no header that a credential may set", printable(header)),
        "name the one that the service wants its key in, as Authorization or X-Api-Key");
  }
  if (!is_field_text(prefix) || prefix.starts_with(' '))
    return refused("a credential's prefix has a byte that no header has", "write it as \"Bearer \"");
  made.prefix = prefix;
  made.read = std::move(read);
  made.lifetime = lifetime;
  return made;
}

Result<std::string> EgressCredential::read_value(const CancelToken& stop) const {
  GUARD_TRY_ASSIGN(std::string text, read(stop).context(fmt::format("reading the credential for {}", target.text())));
  if (text.ends_with('\n')) text.pop_back();
  if (text.ends_with('\r')) text.pop_back();
  const auto wrong = [&](std::string_view why) {
    return Error(ErrorCode::input_invalid, fmt::format("the value of the credential for {} {}", target.text(), why))
        .hint("it is one line of text, the key alone");
  };
  if (text.size() < kHiddenBytesMin) return wrong(text.empty() ? "is empty" : "has less than 8 bytes");
  if (text.size() > kValueBytesMax) return wrong("has more than 16 KiB");
  if (!is_field_text(text) || text.front() == ' ' || text.back() == ' ')
    return wrong("has a line end, a control byte, a byte that isn't ASCII or a space around it");
  return text;
}

void EgressCredential::take(std::string fresh) {
  read_at = SteadyClock::now();
  if (!keys.empty() && fresh == keys.back()->value) return;
  auto forms = forms_of_key(prefix, fresh);
  keys.push_back(std::make_shared<const Key>(Key{std::move(fresh), std::move(forms)}));
  for (auto one = keys.begin(); keys.size() > kKeysMax && one != keys.end() - 1;)
    one = one->use_count() > 1 ? one + 1 : keys.erase(one);
}

Result<void> EgressCredential::load(const CancelToken& stop) {
  GUARD_TRY_ASSIGN(std::string fresh, read_value(stop));
  take(std::move(fresh));
  return ok();
}

bool EgressCredential::is_old() const { return lifetime.count() > 0 && SteadyClock::now() - read_at > lifetime; }

bool is_same_place(const EgressCredential& one, const EgressCredential& other) {
  return one.target == other.target && lower_case(one.header) == lower_case(other.header);
}

}  // namespace guard

#include "egress/credential.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "common/text/characters.h"
#include "common/text/text.h"

namespace guard {
namespace {

constexpr std::uint16_t kTlsPort = 443;
constexpr std::uint16_t kHttpPort = 80;
constexpr std::size_t kHeaderBytesMax = 128;
constexpr std::size_t kValueBytesMin = 8;
constexpr std::size_t kValueBytesMax = 16ul * 1024;  // servers take less
constexpr std::size_t kEarlierMax = 8;
// What the proxy itself writes, or what says where a request ends.
constexpr std::string_view kNotToBeSet[] = {"host", "content-length", "transfer-encoding", "connection", "keep-alive",
    "te", "trailer", "upgrade", "expect", "accept-encoding", "range", "if-range", "sec-websocket-extensions"};

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

std::string escaped(std::string_view text, std::string_view plain, std::string_view before) {
  std::string out;
  for (const char c : text) {
    const bool alone = (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
        plain.find(c) != std::string_view::npos;
    out += alone ? std::string(1, c) : fmt::format("{}{:02X}", before, static_cast<unsigned char>(c));
  }
  return out;
}

std::string with_escaped_slashes(std::string_view text) {
  std::string out;
  for (const char c : text) out += c == '/' ? std::string("\\/") : std::string(1, c);
  return out;
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

Result<std::string> EgressCredential::read_value() const {
  GUARD_TRY_ASSIGN(std::string text, read().context(fmt::format("reading the credential for {}", target.text())));
  if (text.ends_with('\n')) text.pop_back();
  if (text.ends_with('\r')) text.pop_back();
  const auto wrong = [&](std::string_view why) {
    return Error(ErrorCode::input_invalid, fmt::format("the value of the credential for {} {}", target.text(), why))
        .hint("it is one line of text, the key alone");
  };
  if (text.size() < kValueBytesMin) return wrong(text.empty() ? "is empty" : "has less than 8 bytes");
  if (text.size() > kValueBytesMax) return wrong("has more than 16 KiB");
  if (!is_field_text(text) || text.front() == ' ' || text.back() == ' ')
    return wrong("has a line end, a control byte, a byte that isn't ASCII or a space around it");
  return text;
}

void EgressCredential::take(std::string fresh) {
  read_at = SteadyClock::now();
  if (fresh == value) return;
  if (!value.empty()) earlier.push_back(std::move(value));
  if (earlier.size() > kEarlierMax) earlier.erase(earlier.begin());
  value = std::move(fresh);
}

Result<void> EgressCredential::load() {
  GUARD_TRY_ASSIGN(std::string fresh, read_value());
  take(std::move(fresh));
  return ok();
}

bool EgressCredential::is_old() const { return lifetime.count() > 0 && SteadyClock::now() - read_at > lifetime; }

std::vector<std::string> EgressCredential::hidden() const {
  std::vector<std::string> texts;
  const auto add = [&](std::string text) {
    if (std::ranges::count(texts, text) == 0) texts.push_back(std::move(text));
  };
  const auto add_forms = [&](std::string_view part) {
    add(std::string(part));
    add(with_escaped_slashes(part));
    add(escaped(part, "-._~", "%"));
    add(escaped(part, "-._~!#$%()*,/:;=?@[]^`{|} ", "\\u00"));  // + & < > ' " as some write them in JSON
  };
  auto values = earlier;
  values.push_back(value);
  for (const std::string& one : values) {
    // "Bearer KEY": a service may repeat the key alone.
    std::size_t parts = 0;
    for (const std::string_view part : pieces_of(one, ' ')) {
      if (part.size() < kValueBytesMin) continue;
      add_forms(part);
      ++parts;
    }
    if (parts == 0) add_forms(one);
  }
  return texts;
}

}  // namespace guard

#include "pipeline/credentials.h"

#include <fmt/format.h>

#include "common/file_io.h"
#include "common/text/text.h"
#include "pipeline/network.h"
#include "runner/process/subprocess.h"

namespace guard {
namespace {

constexpr std::uint64_t kValueBytesMax = 64ull * 1024;
constexpr milliseconds kCommandLimit{10'000};
constexpr milliseconds kCommandGrace{1'000};

Error unread(std::string text, std::string hint) {
  return Error(ErrorCode::config_invalid, std::move(text)).hint(std::move(hint));
}

// Its own words on standard error may hold a key: they are dropped.
Result<std::string> output_of(const std::vector<std::string>& argv, const Environment& environment) {
  ProcessSpec spec;
  spec.argv = argv;
  spec.env = environment;
  spec.err = StreamMode::discard;
  spec.deadline = Deadline::after(kCommandLimit);
  spec.grace = kCommandGrace;
  const CancelToken never;
  GUARD_TRY_ASSIGN(const CollectedProcess ran, collect_process(spec, kValueBytesMax, never));
  const Outcome& outcome = ran.result.outcome;
  if (outcome.kind == OutcomeKind::exited && outcome.value == 0 && !ran.truncated) return ran.out;
  return unread(fmt::format("{} gave no value ({})", printable(argv.front()),
                    ran.truncated ? "more than 64 KiB" : fmt::format("{} {}", to_string(outcome.kind), outcome.value)),
      "it prints the key alone, within 10 seconds, and exits with 0");
}

EgressCredential::Read reader_of(const std::string& value_from, const Environment& environment) {
  const std::string kind = value_from.substr(0, value_from.find(':'));
  const std::string rest = value_from.substr(kind.size() + 1);
  if (kind == "env") {
    return [rest, environment]() -> Result<std::string> {
      const auto found = environment.find(rest);
      if (found != environment.end()) return found->second;
      return unread(fmt::format("{} is not set", rest), fmt::format("set {} for guard; the code never sees it", rest));
    };
  }
  if (kind == "file") return [rest] { return read_file(rest, kValueBytesMax); };
  std::vector<std::string> argv;
  for (const std::string_view word : pieces_of(rest, ' ')) {
    if (!word.empty()) argv.emplace_back(word);
  }
  return [argv, environment] { return output_of(argv, environment); };
}

}  // namespace

Result<std::vector<EgressCredential>> read_credentials(const Config& config, const Environment& environment) {
  std::vector<EgressCredential> credentials;
  if (network_of(config) != Network::allowlist) return credentials;
  for (const CredentialRule& rule : config.network.credentials) {
    GUARD_TRY_ASSIGN(EgressCredential made,
        EgressCredential::create(rule.host, rule.header, rule.prefix, reader_of(rule.value_from, environment),
            std::chrono::seconds(rule.lifetime_s)));
    GUARD_TRY(made.load().context(fmt::format("network.credential of {}", rule.origin)));
    credentials.push_back(std::move(made));
  }
  return credentials;
}

std::map<std::string, std::string> hidden_by(const std::vector<EgressCredential>& credentials) {
  std::map<std::string, std::string> hidden;
  for (const EgressCredential& one : credentials) {
    for (const std::string& text : one.hidden())
      hidden.emplace(fmt::format("credential-{}-{}", one.target.host.text(), hidden.size()), text);
  }
  return hidden;
}

std::vector<std::string> credential_relaxations(const Config& config) {
  std::vector<std::string> sentences;
  if (network_of(config) != Network::allowlist) return sentences;
  for (const CredentialRule& one : config.network.credentials)
    sentences.push_back(fmt::format("network.credential: requests to {} are sent with {}", one.host, one.header));
  return sentences;
}

}  // namespace guard

#include "pipeline/credentials.h"

#include <fmt/format.h>
#include <sys/resource.h>

#include <algorithm>
#include <system_error>

#include "common/file_io.h"
#include "common/text/text.h"
#include "egress/keys/value_forms.h"
#include "pipeline/config/config_file.h"
#include "pipeline/network.h"
#include "runner/process/subprocess.h"

namespace guard {
namespace {

namespace fs = std::filesystem;

constexpr std::uint64_t kValueBytesMax = 64ull * 1024;
constexpr milliseconds kCommandLimit{10'000};
constexpr milliseconds kCommandGrace{1'000};
constexpr int kLinksMax = 40;

Error unread(std::string text, std::string hint) {
  return Error(ErrorCode::config_invalid, std::move(text)).hint(std::move(hint));
}

// Where a value comes from: "env", "file" or "command", and what follows the colon.
std::pair<std::string, std::string> source_of(const std::string& value_from) {
  const std::size_t colon = value_from.find(':');
  return {value_from.substr(0, colon), value_from.substr(colon + 1)};
}

std::vector<std::string> words_of(const std::string& command) {
  std::vector<std::string> words;
  for (const std::string_view word : pieces_of(command, ' ')) {
    if (!word.empty()) words.emplace_back(word);
  }
  return words;
}

// Whether a part of the way to `path`, links followed one by one, lies in `top`, which is canonical.
bool leads_through(const fs::path& path, const fs::path& top) {
  std::vector<fs::path> left;  // the next part last
  const auto add = [&left](const fs::path& more) {
    const std::vector<fs::path> parts(more.begin(), more.end());
    left.insert(left.end(), parts.rbegin(), parts.rend());
  };
  add(path);
  fs::path at = "/";
  for (int links = 0; !left.empty();) {
    const fs::path part = std::move(left.back());
    left.pop_back();
    if (part == "..") at = at.parent_path();
    if (part == ".." || part == "." || part.empty()) continue;
    at = part.is_absolute() ? part : at / part;
    if (std::mismatch(top.begin(), top.end(), at.begin(), at.end()).first == top.end()) return true;
    std::error_code failure;
    const fs::path target = fs::read_symlink(at, failure);
    if (failure) continue;
    if (++links > kLinksMax) return true;
    at = at.parent_path();
    add(target);
  }
  return false;
}

// No shell reads the words. Its own words on standard error may hold a key: they are dropped.
Result<std::string> output_of(
    const std::vector<std::string>& argv, const Environment& environment, const CancelToken& cancel) {
  ProcessSpec spec;
  spec.argv = argv;
  spec.cwd = "/";
  spec.env = {{"PATH", "/usr/local/bin:/usr/bin:/bin"}};
  for (const char* name : {"HOME", "USER"}) {
    if (const auto found = environment.find(name); found != environment.end()) spec.env.insert(*found);
  }
  spec.err = StreamMode::discard;
  spec.deadline = Deadline::after(kCommandLimit);
  spec.grace = kCommandGrace;
  GUARD_TRY_ASSIGN(const CollectedProcess ran, collect_process(spec, kValueBytesMax, cancel));
  const Outcome& outcome = ran.result.outcome;
  if (outcome.kind == OutcomeKind::exited && outcome.value == 0 && !ran.truncated) return ran.out;
  return unread(fmt::format("{} gave no value ({})", printable(argv.front()),
                    ran.truncated ? "more than 64 KiB" : fmt::format("{} {}", to_string(outcome.kind), outcome.value)),
      "it prints the key alone, within 10 seconds, and exits with 0; it runs in / with PATH, HOME and USER alone");
}

EgressCredential::Read reader_of(const std::string& value_from, const Environment& environment) {
  const auto [kind, rest] = source_of(value_from);
  if (kind == "env") {
    return [rest = rest, value = value_of(environment, rest)](const CancelToken&) -> Result<std::string> {
      if (!value.empty()) return value;
      return unread(
          fmt::format("{} is not set, or empty", rest), fmt::format("set {} for guard; the code never sees it", rest));
    };
  }
  if (kind == "file") return [rest = rest](const CancelToken&) { return read_file(rest, kValueBytesMax); };
  return [argv = words_of(rest), environment](const CancelToken& stop) { return output_of(argv, environment, stop); };
}

Result<EgressCredential> made_of(const CredentialRule& rule, const Environment& environment) {
  return EgressCredential::create(rule.host, rule.header, rule.prefix, reader_of(rule.value_from, environment),
      std::chrono::seconds(rule.lifetime_s));
}

}  // namespace

Result<void> check_key_files(const Config& config, const fs::path& project) {
  if (network_of(config) != Network::allowlist) return ok();
  GUARD_TRY_ASSIGN(const ConfigPlace place, config_place(project));
  std::error_code failure;
  const fs::path top = fs::canonical(place.root, failure);
  const auto check = [&](const std::string& path, const std::string& key) -> Result<void> {
    if (!path.starts_with('/')) return ok();
    if (!failure && !leads_through(path, top)) return ok();
    return Error(ErrorCode::config_invalid,
        fmt::format("{}: {} lies in the project, or the way to it leads through it", key, printable(path)))
        .hint("keep it outside of the project: who writes the code could put another in its place");
  };
  GUARD_TRY(check(config.network.authorities, "network.authorities"));
  for (const CredentialRule& rule : config.network.credentials) {
    const auto [kind, rest] = source_of(rule.value_from);
    const auto words = kind == "env" ? std::vector<std::string>() : kind == "file" ? std::vector{rest} : words_of(rest);
    for (const std::string& word : words) {
      // The program starts in /, and options hold paths, too: --key=FILE, @FILE.
      const std::size_t value = word.find_last_of("=@") + 1;  // npos + 1: 0
      for (const std::string& path : {word, word.substr(value)})
        GUARD_TRY(check(path.starts_with('/') ? path : "/" + path, "network.credential of " + rule.origin));
    }
  }
  return ok();
}

Result<std::vector<EgressCredential>> read_credentials(
    const Config& config, const fs::path& project, const Environment& environment, const CancelToken& cancel) {
  std::vector<EgressCredential> credentials;
  if (network_of(config) != Network::allowlist || config.network.credentials.empty()) return credentials;
  GUARD_TRY(check_key_files(config, project));
  const rlimit none{1, 1};  // none through a pipe of core_pattern either, which 0 leaves open
  ::setrlimit(RLIMIT_CORE, &none);
  for (const CredentialRule& rule : config.network.credentials) {
    GUARD_TRY_ASSIGN(EgressCredential made, made_of(rule, environment));
    GUARD_TRY(made.load(cancel).context(fmt::format("network.credential of {}", rule.origin)));
    credentials.push_back(std::move(made));
  }
  return credentials;
}

std::map<std::string, std::string> hidden_by(const std::vector<EgressCredential>& credentials) {
  std::map<std::string, std::string> hidden;
  for (const EgressCredential& one : credentials) {
    for (const auto& key : one.keys) {
      for (const std::string& text : words_of_key(one.prefix, key->value))
        hidden.emplace(fmt::format("credential-{}-{}", one.target.host.text(), hidden.size()), text);
    }
  }
  return hidden;
}

std::map<std::string, std::string> hidden_without_commands(const Config& config, const Environment& environment) {
  std::vector<EgressCredential> readable;
  const CancelToken never;
  for (const CredentialRule& rule : config.network.credentials) {
    auto made = made_of(rule, environment);
    if (made && !rule.value_from.starts_with("command:") && made->load(never)) readable.push_back(*std::move(made));
  }
  return hidden_by(readable);
}

std::vector<std::string> credential_relaxations(const Config& config) {
  std::vector<std::string> sentences;
  if (network_of(config) != Network::allowlist) return sentences;
  for (const CredentialRule& one : config.network.credentials)
    sentences.push_back("network.credential: " + credential_text(one));
  if (!config.network.authorities.empty())
    sentences.push_back(fmt::format(
        "network.authorities = {}: hosts with a credential are checked by these", config.network.authorities));
  return sentences;
}

}  // namespace guard

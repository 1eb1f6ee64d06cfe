#include "pipeline/run/run_output.h"

#include <algorithm>
#include <cctype>
#include <set>
#include <string_view>
#include <utility>

#include "common/file_io.h"
#include "common/text/text.h"
#include "pipeline/credentials.h"
#include "redact/stream/terminal_safety.h"

namespace guard {
namespace {

// Lets bytes pass and shows them to the reader of bun's summary on the way.
class SummaryTee final : public ByteSink {
 public:
  explicit SummaryTee(ByteSink& next) : next_(next) {}
  Result<void> push(std::span<const char> bytes) override {
    reader_.push(std::string_view(bytes.data(), bytes.size()));
    return next_.push(bytes);
  }
  Result<void> finish() override { return next_.finish(); }
  TextSummaryReader take_reader() { return std::exchange(reader_, {}); }

 private:
  ByteSink& next_;
  TextSummaryReader reader_;
};

bool looks_secret(std::string_view name) {
  static constexpr std::string_view kWords[] = {"TOKEN", "SECRET", "PASSWORD", "PASSWD", "PASSPHRASE", "CREDENTIAL",
      "PRIVATE_KEY", "PRIVATEKEY", "API_KEY", "APIKEY", "ACCESS_KEY", "ACCESSKEY", "AUTH_KEY"};
  static constexpr std::string_view kEnds[] = {"_PAT", "_KEY", "_PASS", "_PWD", "_CREDS", "_AUTH", "_DSN"};
  std::string upper(name);
  std::transform(
      upper.begin(), upper.end(), upper.begin(), [](unsigned char c) { return static_cast<char>(std::toupper(c)); });
  return std::any_of(std::begin(kWords), std::end(kWords),
             [&](std::string_view word) { return upper.find(word) != std::string::npos; }) ||
      std::any_of(std::begin(kEnds), std::end(kEnds), [&](std::string_view end) { return upper.ends_with(end); });
}

}  // namespace

// One stream, from its far end back to where bytes come in. Members are made in this order and hold references to the
// one above.
struct StreamPath {
  OutputCap cap;
  TerminalSafety safety;
  std::optional<Redactor> redactor;
  StreamPath(OutputBudget& budget, ByteSink& sink) : cap(budget, sink), safety(cap) {}
};

struct RunOutput::State {
  OutputBudget budget;
  StreamPath out;
  StreamPath err;
  std::optional<SummaryTee> tee;
  State(std::uint64_t keep_bytes, ByteSink& out_sink, ByteSink& err_sink)
      : budget(keep_bytes), out(budget, out_sink), err(budget, err_sink) {}
};

RunOutput::RunOutput(std::unique_ptr<State> state) : state_(std::move(state)) {}
RunOutput::~RunOutput() = default;

Result<std::unique_ptr<RunOutput>> RunOutput::create(
    const SecretSource& secrets, std::uint64_t keep_bytes, ByteSink& out, ByteSink& err) {
  auto state = std::make_unique<State>(keep_bytes, out, err);
  GUARD_TRY_ASSIGN(state->out.redactor, Redactor::create(secrets, state->out.safety));
  GUARD_TRY_ASSIGN(state->err.redactor, Redactor::create(secrets, state->err.safety));
  state->tee.emplace(*state->err.redactor);
  return std::unique_ptr<RunOutput>(new RunOutput(std::move(state)));
}

ByteSink& RunOutput::out() { return *state_->out.redactor; }
ByteSink& RunOutput::err() { return *state_->tee; }

Result<void> RunOutput::finish(Ending ending) {
  for (StreamPath* path : {&state_->out, &state_->err}) {
    GUARD_TRY(ending == Ending::whole ? path->redactor->finish() : path->redactor->finish_cut());
  }
  return ok();
}

RunOutput::Told RunOutput::take_told() {
  const TextSummaryReader reader = state_->tee->take_reader();
  return {reader.summary(), reader.failures_told(), reader.error_outside(), reader.last_test()};
}

std::map<std::string, std::uint64_t> RunOutput::redactions() const {
  auto counts = state_->out.redactor->counts();
  for (const auto& [kind, count] : state_->err.redactor->counts()) counts[kind] += count;
  return counts;
}

std::uint64_t RunOutput::kept_bytes() const noexcept { return state_->budget.kept_bytes(); }
std::uint64_t RunOutput::dropped_bytes() const noexcept { return state_->budget.dropped_bytes(); }
bool RunOutput::truncated(Stream stream) const noexcept {
  return (stream == Stream::out ? state_->out : state_->err).cap.truncated();
}

Result<std::vector<KnownSecret>> known_secrets(const std::map<std::string, std::string>& environment,
    const std::vector<std::string>& names, const std::vector<std::string>& files) {
  constexpr std::uint64_t kFileBytesMax = 1u << 20;
  const std::set<std::string> named(names.begin(), names.end());
  std::vector<KnownSecret> secrets;
  for (const auto& [name, value] : environment) {
    if (!value.empty() && (looks_secret(name) || named.count(name) != 0)) secrets.push_back({name, value});
  }
  // A name that was given and has no value is told like one that can't be hidden: it may be a typing error.
  for (const auto& name : named) {
    const auto found = environment.find(name);
    if (found == environment.end() || found->second.empty()) secrets.push_back({name, ""});
  }
  for (const auto& file : files) {
    GUARD_TRY_ASSIGN(const std::string text, read_file(file, kFileBytesMax).context("reading redact.mask_file"));
    std::string_view rest = text;
    if (rest.starts_with("\xef\xbb\xbf")) rest.remove_prefix(3);
    for (std::string_view line : pieces_of(rest)) {
      while (!line.empty() && (line.back() == '\r' || line.back() == ' ' || line.back() == '\t')) line.remove_suffix(1);
      while (!line.empty() && (line.front() == ' ' || line.front() == '\t')) line.remove_prefix(1);
      if (!line.empty()) secrets.push_back({"mask_file", std::string(line)});
    }
  }
  return secrets;
}

Result<SecretSource> secrets_of(
    const Environment& environment, const Config& config, const std::map<std::string, std::string>& passed) {
  const auto& masks = config.redact;
  auto hidden = passed;
  // A name says nothing: a file may hold another key by now, and those of programs are counted in one list alone.
  for (const auto& [name, value] : hidden_without_commands(config, environment))
    hidden.emplace(passed.contains(name) ? name + "-again" : name, value);
  GUARD_TRY_ASSIGN(auto known, known_secrets(environment, masks.mask_env, masks.mask_file));
  for (const auto& [name, value] : hidden) {
    if (std::none_of(
            known.begin(), known.end(), [&wanted = name](const KnownSecret& secret) { return secret.name == wanted; }))
      known.push_back({name, value});
  }
  return SecretSource::shipped(std::move(known), masks.kinds_off);
}

}  // namespace guard

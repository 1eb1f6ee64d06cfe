// How fast output gets through the redactor, in bytes per second: ordinary logs, logs with secrets, and floods.
#include <benchmark/benchmark.h>

#include <cstdlib>
#include <string>

#include "redact/kinds/secret_source.h"
#include "redact/redactor.h"
#include "redact/stream/terminal_safety.h"
#include "rules/rule_set.h"

namespace guard {
namespace {

class NullSink final : public ByteSink {
 public:
  Result<void> push(std::span<const char> bytes) override {
    benchmark::DoNotOptimize(bytes.data());
    return ok();
  }
  Result<void> finish() override { return ok(); }
};

std::string repeated(std::string_view piece, std::size_t size) {
  std::string text;
  while (text.size() < size) text += piece;
  return text;
}

constexpr std::string_view kLog =
    "2024-05-01T12:00:03.114Z INFO  [worker-3] request GET /api/v2/items/8421?page=3 took 12.4 ms (status 200, 5312 "
    "bytes)\n"
    "(pass) shopping cart > adds an item and updates the total [0.42ms]\n"
    "      at <anonymous> (/app/sandbox/cart.test.ts:31:15)\n"
    "Compiling module 14 of 220: src/components/table/row_renderer.tsx -> build/row_renderer.js\n"
    "\x1b[32m\xE2\x9C\x93\x1b[0m keeps the order of keys \x1b[2m[1.03ms]\x1b[0m\n";

SecretSource source(std::vector<KnownSecret> known) {
  auto created = SecretSource::shipped(std::move(known));
  if (!created) std::abort();
  return std::move(*created);
}

void run(benchmark::State& state, const SecretSource& secrets, const std::string& text, std::size_t read_size) {
  for (auto _ : state) {
    NullSink sink;
    auto redactor = Redactor::create(secrets, sink);
    if (!redactor) std::abort();
    for (std::size_t at = 0; at < text.size(); at += read_size) {
      if (!redactor->push(std::string_view(text).substr(at, read_size))) std::abort();
    }
    if (!redactor->finish()) std::abort();
  }
  state.SetBytesProcessed(static_cast<std::int64_t>(state.iterations() * text.size()));
}

void BM_OrdinaryLog(benchmark::State& state) {
  static const SecretSource secrets = source({});
  run(state, secrets, repeated(kLog, 8 << 20), static_cast<std::size_t>(state.range(0)));
}
BENCHMARK(BM_OrdinaryLog)->Arg(4096)->Arg(65536);

void BM_OrdinaryLogWithKnownValues(benchmark::State& state) {
  static const SecretSource secrets = source(
      {{"A", "x9Kx9Lq-0123456789-abcdefghijkl"}, {"B", "another-Value-of-the-environment-42"}, {"C", "short-pw1"}});
  run(state, secrets, repeated(kLog, 8 << 20), 65536);
}
BENCHMARK(BM_OrdinaryLogWithKnownValues);

void BM_LogWithSecrets(benchmark::State& state) {
  static const SecretSource secrets = source({});
  const std::string key = std::string("sk-") + "ant-api03-" + repeated("aB3d", 90);
  run(state, secrets, repeated(std::string(kLog) + "key " + key + "\n", 8 << 20), 65536);
}
BENCHMARK(BM_LogWithSecrets);

void BM_Flood(benchmark::State& state) {
  static const SecretSource secrets = source({});
  static constexpr std::string_view pieces[] = {"sk-", "sk- ",
      "ey"
      "J.",
      "-----BEGIN ", "bearer ",
      "TELEGRAM_"
      "BOT_TOKEN",
      "AK"
      "IA",
      "a", "-"};
  const std::string_view piece = pieces[state.range(0)];
  state.SetLabel(std::string(piece));
  run(state, secrets, repeated(piece, 1 << 20), 65536);
}
BENCHMARK(BM_Flood)->DenseRange(0, 8);

void BM_SingleBytes(benchmark::State& state) {
  static const SecretSource secrets = source({});
  run(state, secrets, repeated(kLog, 1 << 20), 1);
}
BENCHMARK(BM_SingleBytes);

// What a run pays before its first byte.
void BM_Create(benchmark::State& state) {
  for (auto _ : state) {
    const SecretSource secrets = source({{"A", "x9Kx9Lq-0123456789-abcdefghijkl"}});
    benchmark::DoNotOptimize(&secrets);
  }
}
BENCHMARK(BM_Create)->Unit(benchmark::kMicrosecond);

void BM_TerminalSafety(benchmark::State& state) {
  const std::string text = repeated(kLog, 8 << 20);
  for (auto _ : state) {
    NullSink sink;
    TerminalSafety safety(sink);
    for (std::size_t at = 0; at < text.size(); at += 65536) {
      if (!safety.push(std::string_view(text).substr(at, 65536))) std::abort();
    }
    if (!safety.finish()) std::abort();
  }
  state.SetBytesProcessed(static_cast<std::int64_t>(state.iterations() * text.size()));
}
BENCHMARK(BM_TerminalSafety);

}  // namespace
}  // namespace guard

BENCHMARK_MAIN();

// `guard redact`: the redactor as a filter.
#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <array>
#include <nlohmann/json.hpp>

#include "cli/commands/commands.h"
#include "cli/commands/trusted_inputs.h"
#include "cli/head_and_tail.h"
#include "common/text/text.h"
#include "common/unique_fd.h"
#include "pipeline/run/run_output.h"
#include "redact/stream/terminal_safety.h"
#include "rules/rule_set.h"

namespace guard {
namespace {

Result<void> pump(int fd, std::string_view name, ByteSink& sink, const OutStream& out, const CancelToken& cancel,
    std::uint64_t& bytes_in) {
  std::array<char, 64 * 1024> chunk{};
  for (;;) {
    if (cancel.cancelled()) return Error(ErrorCode::cancelled, "stopped before the end of the input");
    const ssize_t count = ::read(fd, chunk.data(), chunk.size());
    if (count == 0 || out.reader_left()) return ok();
    if (count < 0) {
      if (errno == EINTR) continue;
      return Error::from_errno(
          ErrorCode::io_error, fmt::format("cannot read {}", name == "-" ? "standard input" : printable(name)), errno);
    }
    bytes_in += static_cast<std::uint64_t>(count);
    GUARD_TRY(sink.push(std::span<const char>(chunk.data(), static_cast<std::size_t>(count))));
  }
}

}  // namespace

Result<int> cmd_redact(const Options& options, CommandContext& context) {
  GUARD_TRY_ASSIGN(const ConfigSources sources, sources_of(options, {}, context));
  GUARD_TRY_ASSIGN(const LoadedConfig loaded, load_config(sources));
  GUARD_TRY_ASSIGN(const SecretSource secrets, secrets_of(context.environment, loaded.config));
  if (options.format != OutputFormat::json) {
    for (const auto& [name, why] : secrets.refused())
      context.streams.err.print("guard: {} is not masked: {}\n", printable(name), why);
  }

  context.streams.out.give_up_when(context.cancel);
  const std::uint64_t cap = options.cap_bytes;
  OutputBudget budget(cap);
  OutputCap head(budget, context.streams.out);
  HeadAndTail both(cap, context.streams.out);
  ByteSink& kept = (options.kept == Kept::both) ? static_cast<ByteSink&>(both) : head;
  TerminalSafety safety(kept);
  // What is read by a person, or by a CI server that takes orders from a log, must not act.
  const bool shown = context.streams.out_is_terminal || context.environment.count("CI") != 0;
  ByteSink& sink = shown ? static_cast<ByteSink&>(safety) : kept;
  std::vector<std::string> files = options.arguments;
  if (files.empty()) files.emplace_back("-");
  std::map<std::string, std::uint64_t> counts;
  std::uint64_t bytes_in = 0;
  for (const auto& file : files) {
    UniqueFd owned;
    if (file != "-") {
      owned.reset(::open(file.c_str(), O_RDONLY | O_CLOEXEC | O_NOCTTY));
      if (!owned)
        return Error::from_errno(
            errno == ENOENT ? ErrorCode::file_not_found : ErrorCode::io_error, printable(file), errno);
    }
    GUARD_TRY_ASSIGN(Redactor redactor, Redactor::create(secrets, sink));
    auto pumped =
        pump(file == "-" ? STDIN_FILENO : owned.get(), file, redactor, context.streams.out, context.cancel, bytes_in);
    // A stream that was cut may end in the first half of a secret.
    if (pumped) {
      GUARD_TRY(redactor.finish());
    } else {
      (void)redactor.finish_cut();  // what went wrong first is what is told
      return std::move(pumped).error();
    }
    for (const auto& [kind, count] : redactor.counts()) counts[kind] += count;
  }
  if (context.cancel.cancelled()) return Error(ErrorCode::cancelled, "stopped before all was written");
  if ((options.kept == Kept::both)) GUARD_TRY(both.close());
  const std::uint64_t bytes_out = (options.kept == Kept::both) ? both.kept_bytes() : budget.kept_bytes();
  const std::uint64_t dropped = (options.kept == Kept::both) ? both.dropped_bytes() : budget.dropped_bytes();
  if (options.format == OutputFormat::json) {
    // On standard error: standard output is the stream itself.
    nlohmann::ordered_json document{{"version", 1}, {"redactions", counts}, {"input_bytes", bytes_in},
        {"kept_bytes", bytes_out}, {"dropped_bytes", dropped}};
    auto& refused = document["not_masked"] = nlohmann::ordered_json::object();
    for (const auto& [name, why] : secrets.refused()) refused[printable(name)] = why;
    context.streams.err.print("{}\n", document.dump());
  } else if (options.stats) {
    for (const auto& [kind, count] : counts) context.streams.err.print("guard: {} {}\n", count, kind);
    context.streams.err.print("guard: {} bytes kept, {} dropped\n", bytes_out, dropped);
  } else if (dropped > 0) {
    context.streams.err.print("guard: {} bytes dropped: the cap is {}\n", dropped, cap);
  }
  return 0;
}

}  // namespace guard

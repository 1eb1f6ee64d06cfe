#include "cli/commands/commands.h"

#include <fmt/format.h>

#include <csignal>
#include <nlohmann/json.hpp>
#include <system_error>
#include <utility>

#include "common/text/text.h"
#include "pipeline/evidence/masked_record.h"
#include "pipeline/report/json_parts.h"
#include "redact/kinds/secret_source.h"
#include "rules/rule_set.h"

namespace guard {

int finish(CommandContext& context, int exit_status) {
  if (auto flushed = context.streams.out.flush(); !flushed) {
    print_error(context.streams, flushed.error());
    (void)context.streams.err.flush();
    return flushed.error().exit_status();
  }
  (void)context.streams.err.flush();  // where talk can't be written there is nowhere left to say so
  return exit_status;
}

Result<std::filesystem::path> project_folder(const std::string& named) {
  std::error_code failure;
  const std::string_view name = named.empty() ? std::string_view(".") : named;
  std::filesystem::path project = std::filesystem::canonical(name, failure);
  if (failure)
    return Error::from_errno(
        ErrorCode::file_not_found, fmt::format("project folder {}", printable(name)), failure.value());
  return project;
}

Result<std::filesystem::path> own_program() {
  std::error_code failure;
  std::filesystem::path program = std::filesystem::read_symlink("/proc/self/exe", failure);
  if (failure) return Error::from_errno(ErrorCode::io_error, "cannot tell where guard itself is", failure.value());
  return program;
}

int write_json(CommandContext& context, const nlohmann::ordered_json& document) {
  context.streams.out.write(dump(document));
  return 0;
}

Error masked(const Error& error) {
  const auto secrets = SecretSource::shipped();
  if (!secrets) return Error(error.code(), "what went wrong is withheld: no redactor could be made");
  return masked_error(*secrets, error);
}

int fail(CommandContext& context, const Error& error) {
  // Where standard output is what failed, finish() says so.
  const auto flushed = context.streams.out.flush();
  if (flushed || flushed.error().message() != error.message()) print_error(context.streams, masked(error));
  const int status = finish(context, error.exit_status());
  return status == 0 ? error.exit_status() : status;
}

void end_timeline(CommandContext& context) {
  Timeline timeline = std::exchange(context.timeline, {});
  const auto asked = context.environment.find("GUARD_TRACE");
  if (asked == context.environment.end() || asked->second != "1") return;
  timeline.end();
  const auto millis = [](Timeline::Micros time) { return static_cast<double>(time.count()) / 1000; };
  for (const auto& [name, at, took] : timeline.stages())
    context.streams.err.print("guard: {:9.1f} ms {:+9.1f} ms  {}\n", millis(at), millis(took), name);
  if (timeline.stages().empty()) return;
  const Timeline::Stage& last = timeline.stages().back();
  context.streams.err.print("guard: {:9.1f} ms in all\n", millis(last.at + last.took));
}

int conclude(CommandContext& context, const Result<int>& done) {
  end_timeline(context);
  return done ? finish(context, *done) : fail(context, done.error());
}

int interrupted_status(const CommandContext& context, int exit_status) {
  return exit_status == 130 && context.cancel.signal_number() == SIGTERM ? 143 : exit_status;
}

}  // namespace guard

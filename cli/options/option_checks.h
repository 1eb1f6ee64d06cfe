// How options are read that are more than a text or a flag, and what a verb wants of its options and arguments
// together. All answer USAGE.
#pragma once

#include "cli/options/option_parser.h"
#include "cli/options/options.h"

namespace guard {

// A name of an enum; the row's choices have it, and "auto" and its like are the default.
template <auto Member>
Result<void> read_choice(std::string_view value, Options& options) {
  auto& target = options.*Member;
  if constexpr (requires { target.value(); }) {
    target = named<typename std::remove_reference_t<decltype(target)>::value_type>(value);
  } else {
    target = named<std::remove_reference_t<decltype(target)>>(value).value_or(target);
  }
  return ok();
}

// Where sessions may be, and nothing else.
inline constexpr std::string_view kAcads = "acads";
Result<void> read_session_backend(std::string_view value, Options& options);

template <ImageTarget Target>
Result<void> read_target(std::string_view, Options& options) {
  options.target = Target;
  return ok();
}

Result<void> read_size(std::string_view value, std::optional<std::uint64_t>& bytes);  // "64k", "1g"
template <auto Member>
Result<void> read_bytes(std::string_view value, Options& options) {
  return read_size(value, options.*Member);
}

Result<void> read_jobs(std::string_view value, Options& options);
Result<void> read_explain(std::string_view value, Options& options);  // "sandbox/a.test.ts:12", or a file alone
Result<void> read_cap(std::string_view value, Options& options);
Result<void> read_max_age(std::string_view value, Options& options);  // "26h", "90m", "2d", "30s"
Result<void> read_tasks(std::string_view value, Options& options);    // nightly size --tasks
Result<void> read_workers(std::string_view value, Options& options);  // nightly size --workers
Result<void> read_time_of_day(std::string_view value, Options& options);
Result<void> read_time_limit(std::string_view value, Options& options);  // session --timeout: "90", "2.5s", "100ms"
Result<void> read_variable(std::string_view value, Options& options);    // --env
Result<void> read_network(std::string_view value, Options& options);     // --network
Result<void> read_allow(std::string_view value, Options& options);       // --allow

Result<void> check_check(const SplitArguments& given, Options& options);
Result<void> check_gate(const SplitArguments& given, Options& options);
Result<void> check_run(const SplitArguments& given, Options& options);
Result<void> check_exec(const SplitArguments& given, Options& options);
Result<void> check_image(const SplitArguments& given, Options& options);
Result<void> check_rules(const SplitArguments& given, Options& options);
Result<void> check_redact(const SplitArguments& given, Options& options);
Result<void> check_hook(const SplitArguments& given, Options& options);
Result<void> check_verify(const SplitArguments& given, Options& options);
Result<void> check_nightly(const SplitArguments& given, Options& options);

}  // namespace guard

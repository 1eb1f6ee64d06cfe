// `guard artifacts`: what the files of steps were, and what is kept of them. It reads the catalogue itself, whether
// `guard serve` runs or not.
#include <fmt/format.h>
#include <sys/stat.h>

#include <algorithm>
#include <chrono>
#include <ctime>
#include <nlohmann/json.hpp>

#include "cli/commands/commands.h"
#include "cli/sessions/session_sandbox.h"
#include "common/file_io.h"
#include "common/text/text.h"
#include "sessions/trace/catalogue.h"

namespace guard {
namespace {

using nlohmann::ordered_json;
using sessions::Artifact;
using sessions::Catalogue;

ordered_json row_json(const Artifact& one) {
  const std::string path = printable(one.path);
  return {{"id", one.id}, {"session", one.session}, {"step", one.step}, {"name", path.substr(path.rfind('/') + 1)},
      {"path", "/workspace/" + path}, {"size_bytes", one.bytes}, {"sha256", one.sha256}, {"media_type", one.media_type},
      {"outcome", one.outcome}, {"made_ms", one.made_ms}, {"kept", one.kept}};
}

Result<int> list(const Options& options, CommandContext& context, Catalogue& catalogue) {
  GUARD_TRY_ASSIGN(const auto rows, catalogue.list(options.session));
  if (options.format == OutputFormat::json) {
    ordered_json said = ordered_json::array();
    for (const Artifact& one : rows) said.push_back(row_json(one));
    return write_json(context, {{"artifacts", std::move(said)}});
  }
  for (const Artifact& one : rows) {
    context.streams.out.print("{:>6} {:<24} {:>12} {:<12} {:<14} {:<5} {}\n", one.id, one.session, one.bytes,
        one.sha256.empty() ? "-" : one.sha256.substr(0, 12), one.outcome, one.kept ? "kept" : "-", printable(one.path));
  }
  return 0;
}

// By its number; or the newest of a path.
Result<Artifact> named(const Options& options, Catalogue& catalogue) {
  std::string_view name = options.arguments.front();
  GUARD_TRY_ASSIGN(auto rows, catalogue.list(options.session));
  std::uint64_t id = 0;
  const bool is_id = read_number(name, id);
  constexpr std::string_view kHome = "/workspace/";
  if (name.starts_with(kHome)) name.remove_prefix(kHome.size());
  std::erase_if(rows, [&](const Artifact& one) { return is_id ? one.id != id : one.path != name; });
  if (rows.empty())
    return Error(
        ErrorCode::file_not_found, fmt::format("there is no artifact {}", printable(options.arguments.front())))
        .hint("`guard artifacts list` shows those that there are");
  const bool is_one =
      std::ranges::all_of(rows, [&](const Artifact& one) { return one.session == rows.back().session; });
  if (is_one) return std::move(rows.back());
  return Error(ErrorCode::usage, fmt::format("several sessions have made {}", printable(name)))
      .hint("name one with --session, or the artifact by its number");
}

Result<int> get(const Options& options, CommandContext& context, Catalogue& catalogue) {
  if (options.output.empty())
    return Error(ErrorCode::usage, "guard artifacts get needs --output").hint("--output FILE, or - to print it");
  GUARD_TRY_ASSIGN(const Artifact artifact, named(options, catalogue));
  GUARD_TRY_ASSIGN(const std::string bytes, catalogue.contents(artifact));
  if (options.output == "-") {
    context.streams.out.write(bytes);
    return 0;
  }
  struct stat found {};
  const bool is_there = ::lstat(options.output.c_str(), &found) == 0;
  if (is_there && (!options.force || !S_ISREG(found.st_mode)))
    return Error(ErrorCode::usage,
        fmt::format("{} is there already{}", printable(options.output), S_ISREG(found.st_mode) ? "" : ", and no file"))
        .hint(S_ISREG(found.st_mode) ? "--force overwrites it" : "name another place");
  GUARD_TRY(
      is_there ? write_file_atomically(options.output, bytes, 0600) : write_new_file(options.output, bytes, 0600));
  return 0;
}

Result<int> prune(const Options& options, CommandContext& context, Catalogue& catalogue) {
  const auto now = std::chrono::duration_cast<milliseconds>(std::chrono::system_clock::now().time_since_epoch());
  const std::int64_t age_ms = options.max_age_s ? static_cast<std::int64_t>(*options.max_age_s) * 1'000
                                                : sessions::CatalogueLimits().age_max_ms;
  GUARD_TRY_ASSIGN(const auto pruned,
      catalogue.prune(
          now.count() - age_ms, options.session, options.dry_run ? Catalogue::Run::dry : Catalogue::Run::real));
  if (options.format == OutputFormat::json)
    return write_json(
        context, {{"artifacts", pruned.artifacts}, {"freed_bytes", pruned.bytes}, {"dry_run", options.dry_run}});
  context.streams.out.print("{} {}: {} bytes\n", options.dry_run ? "would forget" : "forgot",
      plural(pruned.artifacts, "artifact"), pruned.bytes);
  return 0;
}

}  // namespace

Result<int> cmd_artifacts(const Options& options, CommandContext& context) {
  if (!options.session.empty()) GUARD_TRY(sessions::check_session_id(options.session));
  GUARD_TRY_ASSIGN(const auto folder, sessions_folder(options, context));
  const bool writes = options.action == Action::prune;
  // Where there is none, nothing is made.
  GUARD_TRY_ASSIGN(auto catalogue, Catalogue::open(folder, Catalogue::Role::reader));
  if (writes) {
    GUARD_TRY_ASSIGN(catalogue, Catalogue::open(folder, Catalogue::Role::writer));
  }
  if (options.action == Action::get) return get(options, context, *catalogue);
  return writes ? prune(options, context, *catalogue) : list(options, context, *catalogue);
}

}  // namespace guard

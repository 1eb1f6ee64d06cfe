// `guard nightly add`: one more task at the end of a plan. The plan stays the person's file: what is in it is not
// rewritten, and a plan that would not be valid afterwards is not written at all.
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <set>

#include "cli/nightly/nightly_parts.h"
#include "common/file_io.h"
#include "common/text/characters.h"
#include "common/text/text.h"
#include "nightly/plan/plan.h"
#include "pipeline/config/config_values.h"

namespace guard {
namespace {

namespace fs = std::filesystem;

constexpr std::uint64_t kPlanBytesMax = 4u << 20;
constexpr std::uint64_t kPromptBytesMax = 1u << 20;

// "Write tests for parse(), please" -> "write-tests-for-parse".
std::string id_of(std::string_view prompt, const std::set<std::string>& taken) {
  constexpr std::size_t kWordsMax = 5, kIdBytesMax = 40;
  std::string id;
  std::size_t words = 0;
  for (const char c : lower_case(prompt)) {
    if ((c >= 'a' && c <= 'z') || (c >= '0' && c <= '9')) {
      if (id.size() >= kIdBytesMax) break;
      id += c;
    } else if (!id.empty() && id.back() != '-') {
      if (++words == kWordsMax || c == '\n') break;
      id += '-';
    }
  }
  while (!id.empty() && id.back() == '-') id.pop_back();
  if (id.empty()) id = "task";
  std::string whole = id;
  for (int number = 2; taken.count(whole) != 0; ++number) whole = fmt::format("{}-{}", id, number);
  return whole;
}

std::string toml_text(std::string_view text) {
  if (text.find('\n') == std::string_view::npos) return toml_string(text);
  std::string out;
  for (const auto line : pieces_of(text)) {
    const std::string quoted = toml_string(line);
    out += "\n" + quoted.substr(1, quoted.size() - 2);
  }
  return fmt::format("\"\"\"{}{}\"\"\"", out, text.ends_with('\n') ? "\n" : "");
}

Result<std::string> prompt_of(const Options& options) {
  if (options.arguments.size() != 1 || options.arguments.front() != "-")
    return fmt::format("{}", fmt::join(options.arguments, " "));
  GUARD_TRY_ASSIGN(std::string text, read_all(STDIN_FILENO, kPromptBytesMax, "standard input"));
  while (text.ends_with('\n')) text.pop_back();
  return text;
}

}  // namespace

Result<int> nightly_add(const Options& options, CommandContext& context) {
  std::error_code failure;
  // A link is followed, so that it is still one afterwards.
  const fs::path file = fs::canonical(options.plan, failure);
  if (failure) {
    return Error::from_errno(ErrorCode::file_not_found, printable(options.plan), failure.value())
        .hint("name the plan with --plan FILE; docs/nightly.md shows how one begins");
  }
  GUARD_TRY_ASSIGN(std::string text, read_file(file, kPlanBytesMax));
  std::set<std::string> taken;
  // Without a task it is a plan in the making.
  auto before = nightly::parse_plan(text, options.plan, file.parent_path());
  if (before) {
    for (const auto& task : before->tasks) taken.insert(task.id);
  }
  GUARD_TRY_ASSIGN(const std::string prompt, prompt_of(options));
  const std::string id = options.id.empty() ? id_of(prompt, taken) : options.id;
  if (!text.empty() && !text.ends_with('\n')) text += '\n';
  text += fmt::format("\n[[task]]\nid = {}\n", toml_string(id));
  if (options.kind == TaskKind::any) text += fmt::format("kind = {}\n", toml_string(to_string(*options.kind)));
  if (!options.after.empty()) {
    std::string list;
    for (const auto& name : options.after) list += fmt::format("{}{}", list.empty() ? "" : ", ", toml_string(name));
    text += fmt::format("after = [{}]\n", list);
  }
  text += fmt::format("prompt = {}\n", toml_text(prompt));
  GUARD_TRY_ASSIGN(const nightly::Plan plan, nightly::parse_plan(text, options.plan, file.parent_path()));
  const nightly::PlannedTask& added = plan.tasks.back();
  if (added.id != id || added.prompt != prompt)
    return Error(ErrorCode::internal, "the plan does not read back as it was written; nothing was changed");
  if (!added.never_generated.empty())
    return Error(ErrorCode::input_invalid, fmt::format("this task would never be generated: {}", added.never_generated))
        .hint("write it yourself, and have a person review it");
  struct stat info {};
  if (::stat(file.c_str(), &info) != 0) return Error::from_errno(ErrorCode::io_error, printable(file.native()), errno);
  GUARD_TRY(write_file_atomically(file, text, info.st_mode & 0777));
  OutStream& out = context.streams.out;
  if (options.format == OutputFormat::json) {
    return write_json(context, {{"version", 1}, {"plan", file.native()}, {"id", id}, {"tasks", plan.tasks.size()}});
  }
  out.print("added {} to {}, which has {} now\n  next: guard nightly run {}\n", printable(id), printable(options.plan),
      plural(plan.tasks.size(), "task"), printable(options.plan));
  return 0;
}

}  // namespace guard

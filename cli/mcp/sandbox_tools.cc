// The tools that work in a session's sandbox. Each is tasks of it (runner/tasks/open_sandbox.h).
#include <fmt/format.h>

#include <algorithm>
#include <span>
#include <utility>

#include "cli/mcp/tools.h"
#include "common/text/base64.h"
#include "common/text/foreign_json.h"
#include "common/text/text.h"
#include "pipeline/run/command_hints.h"
#include "pipeline/run/run_output.h"
#include "redact/redactor.h"
#include "runner/process/run_folder.h"
#include "sessions/entries.h"

extern "C" {
extern const char guard_mcp_python[];
extern const char guard_mcp_python_end[];
}

namespace guard::mcp {
namespace {

constexpr milliseconds kLook{100};  // at whether the client still wants it
constexpr milliseconds kTellEvery{1'000};
constexpr milliseconds kInputMax{30'000};
constexpr std::int64_t kTimeLimitMs = 120'000;
constexpr milliseconds kGrace{2'000};  // from TERM to KILL
constexpr std::size_t kEntriesMax = 1'000;
constexpr std::size_t kListBytesMax = 8ul << 20;
constexpr std::uint64_t kReadBytes = 80ul << 10;
constexpr std::size_t kSmallBytesMax = 1ul << 20;
constexpr std::size_t kTitleBytesMax = 16ul << 10;
// What is asked of Python before the code runs: the wanted distributions that are not there, a line each.
constexpr const char* kMissing =
    "import sys; from importlib import metadata\n"
    "for wanted in sys.argv[1:]:\n"
    "  name, exact, version = (part.strip() for part in wanted.partition('=='))\n"
    "  try: found = metadata.version(name)\n"
    "  except Exception: found = None\n"
    "  if found is None: print(wanted)\n"
    "  elif exact and found != version: print(f'{wanted} (there is {found})')\n";

// Keeps the bytes from `offset` on, `bytes_max` at most. FILE_TOO_LARGE for what comes behind them.
class Part final : public ByteSink {
 public:
  Part(std::uint64_t offset, std::uint64_t bytes_max) : offset_(offset), left_(bytes_max) {}

  Result<void> push(std::span<const char> bytes) override {
    const auto skipped = static_cast<std::size_t>(std::min<std::uint64_t>(offset_, bytes.size()));
    offset_ -= skipped;
    bytes = bytes.subspan(skipped);
    const auto taken = static_cast<std::size_t>(std::min<std::uint64_t>(left_, bytes.size()));
    text.append(bytes.data(), taken);
    left_ -= taken;
    more = more || taken < bytes.size();
    if (!more) return ok();
    return Error(ErrorCode::file_too_large, "there is more than is wanted");
  }
  Result<void> finish() override { return ok(); }

  std::string text;
  bool more = false;

 private:
  std::uint64_t offset_;
  std::uint64_t left_;
};

// Passes on what a task says until it has ended.
Result<TaskEnd> follow(Task& task, const ToolCall& call, ByteSink& out, ByteSink& err) {
  const auto begun = SteadyClock::now();
  auto told = begun;
  for (;;) {
    // The end of the task kills what still runs of it.
    if (!call.wanted()) return Error(ErrorCode::cancelled, "the client does not want it any more");
    const auto now = SteadyClock::now();
    if (now - told >= kTellEvery) {
      told = now;
      call.progress(
          fmt::format("running for {} s", std::chrono::duration_cast<std::chrono::seconds>(now - begun).count()));
    }
    auto piece = task.read(Deadline::after(kLook));
    if (!piece && piece.error().code() == ErrorCode::execution_timeout) continue;
    if (!piece) return std::move(piece).error();
    if (!*piece) return task.end();
    ByteSink& sink = (*piece)->stream == Task::Piece::Stream::out ? out : err;
    GUARD_TRY(sink.push((*piece)->bytes));
  }
}

// Without the beginning of a character at its end.
std::size_t whole_characters(std::string_view text) {
  for (std::size_t back = 1; back <= 3 && back <= text.size(); ++back) {
    const auto byte = static_cast<unsigned char>(text[text.size() - back]);
    if ((byte & 0xc0) == 0x80) continue;
    const std::size_t needed = byte >= 0xf0 ? 4 : byte >= 0xe0 ? 3 : byte >= 0xc0 ? 2 : 1;
    return needed > back ? text.size() - back : text.size();
  }
  return text.size();
}

// The program of packages that a line of shell would call, such as "pip install": at its beginning or behind `cd x &&`.
// Of a line with quotes or a text in it (<<) nothing is said.
std::string installer_in(std::string_view command) {
  if (command.find_first_of("\"'`<") != std::string_view::npos) return {};
  std::vector<std::string> words;
  bool in_word = false;
  for (const char c : std::string(command) + ";") {
    const bool ends_command = std::string_view(";&|\n()").find(c) != std::string_view::npos;
    const bool is_word = !ends_command && c != ' ' && c != '\t';
    if (is_word && !std::exchange(in_word, true)) words.emplace_back();
    if (is_word) words.back() += c;
    in_word = is_word;
    if (!ends_command) continue;
    while (!words.empty() && words.front().find('=') != std::string::npos) words.erase(words.begin());
    if (std::string installer = installer_of(words); !installer.empty()) return installer;
    words.clear();
  }
  return {};
}

Result<void> finished(const TaskEnd& end, std::string_view said) {
  if (end.outcome.kind == OutcomeKind::exited && end.outcome.value == 0) return ok();
  return Error(ErrorCode::execution_failed, fmt::format("the operation on files failed: {}", printable(said)));
}

TaskSpec operation(TaskOperation kind, std::vector<std::string> words) {
  TaskSpec spec;
  spec.kind = kind;
  spec.argv = std::move(words);
  return spec;
}

std::string shown(const TaskEnd& end) {
  const auto& outcome = end.outcome;
  switch (outcome.kind) {
    case OutcomeKind::exited: return fmt::format("exit code {}", outcome.value);
    case OutcomeKind::signaled: return fmt::format("ended by signal {}", outcome.value);
    case OutcomeKind::timed_out: return fmt::format("ended after its time limit of {} ms", outcome.value);
    default: return std::string(to_string(outcome.kind));
  }
}

Error no_python() {
  return Error(ErrorCode::dependency_unsatisfied, "there is no python3 in the session's image")
      .hint("make one that has it: `guard image build --template python python`, then session.image = \"python\"");
}

}  // namespace

Result<ToolResult> Tools::command(const InSession& in, TaskSpec spec, std::string_view input) {
  spec.timeout = milliseconds(in.call.arguments.value("timeout_ms", kTimeLimitMs));
  spec.grace = kGrace;
  spec.input = !input.empty();
  StringSink out;
  StringSink err;
  GUARD_TRY_ASSIGN(const auto output, RunOutput::create(settings_.secrets, settings_.keep_bytes, out, err));
  GUARD_TRY_ASSIGN(const auto task, in.start(spec));
  if (spec.input) {
    GUARD_TRY(task->write_input(input, Deadline::after(kInputMax)));
    GUARD_TRY(task->close_input());
  }
  GUARD_TRY_ASSIGN(const TaskEnd end, follow(*task, in.call, output->out(), output->err()));
  const Outcome& outcome = end.outcome;
  const bool exited = outcome.kind == OutcomeKind::exited;
  GUARD_TRY(output->finish(exited ? RunOutput::Ending::whole : RunOutput::Ending::cut));
  ToolResult result;
  result.failed = !exited;
  result.structured = {{"outcome", to_string(outcome.kind)},
      {"exit_code", exited ? ordered_json(outcome.value) : ordered_json()}, {"stdout", out.text}, {"stderr", err.text},
      {"dropped_bytes", output->dropped_bytes()}, {"redactions", output->redactions()},
      {"elapsed_ms", end.elapsed.count()}};
  if (outcome.kind == OutcomeKind::signaled) result.structured["signal"] = outcome.value;
  if (outcome.kind == OutcomeKind::timed_out)
    result.structured["error"] = {{"code", info(ErrorCode::execution_timeout).wire_name}, {"timeout", outcome.value}};
  result.text = out.text;
  const auto line = [&result](std::string_view text) {
    if (!result.text.empty() && result.text.back() != '\n') result.text += '\n';
    result.text += fmt::format("[{}]\n", text);
  };
  if (!err.text.empty()) {
    line("standard error");
    result.text += err.text;
  }
  if (output->dropped_bytes() > 0) line(fmt::format("{} more bytes are not shown", output->dropped_bytes()));
  line(shown(end));
  return result;
}

Result<ToolResult> Tools::shell(const InSession& in) {
  const std::string text = asked_text(in.call, "command");
  if (const std::string installer = installer_in(text); !installer.empty()) {
    return Error(ErrorCode::dependency_unsatisfied,
        fmt::format("`{}` can't work here: the sandbox has no network, and its image is read-only", installer))
        .hint("use what is there, or ask the person to put it into the image: `guard image build --help`");
  }
  TaskSpec spec;
  spec.argv = {"/bin/sh", "-c", text};
  spec.working_dir = asked_text(in.call, "cwd", spec.working_dir);
  spec.env = settings_.variables;
  const json variables = in.call.arguments.value("env", json::object());
  for (const auto& [name, value] : variables.items()) spec.env[name] = value;
  auto ran = command(in, spec, {});
  if (ran || ran.error().code() != ErrorCode::file_not_found) return ran;
  spec.argv = {"bun", "exec", text};  // the project's own image has no other shell
  return command(in, std::move(spec), {});
}

Result<std::string> Tools::small_output(const InSession& in, std::vector<std::string> argv) {
  TaskSpec spec;
  spec.argv = std::move(argv);
  spec.timeout = kInputMax;
  spec.title = "";
  GUARD_TRY_ASSIGN(const auto task, in.start(spec));
  GUARD_TRY_ASSIGN(TaskOutput output, collect(*task, kSmallBytesMax, Deadline::after(2 * kInputMax)));
  return std::move(output.out);
}

Result<ToolResult> Tools::python(const InSession& in) {
  const json wanted = in.call.arguments.value("dependencies", json::array());
  if (!wanted.empty()) {
    std::vector<std::string> words = {"python3", "-I", "-c", kMissing};
    for (const json& name : wanted) words.push_back(name);
    const auto missing = small_output(in, std::move(words));
    if (!missing) return missing.error().code() == ErrorCode::file_not_found ? no_python() : missing.error();
    if (!missing->empty()) {
      std::vector<std::string> names;
      for (const std::string_view name : pieces_of(*missing)) names.push_back(printable(name));
      return Error(ErrorCode::dependency_unsatisfied, fmt::format("not in the image: {}", fmt::join(names, ", ")))
          .hint(
              "nothing was run. Do without them, or ask the person for an image that has them: packages can't be "
              "installed while the sandbox runs");
    }
  }
  GUARD_TRY_ASSIGN(const std::string id, new_run_id());
  const std::string file = "/tmp/.guard-result-" + id;
  TaskSpec spec;
  spec.argv = {"python3", "-c", std::string(guard_mcp_python, guard_mcp_python_end)};
  spec.env = settings_.variables;
  spec.title = cut_text(masked(in.call.arguments["code"].get<std::string>()), kTitleBytesMax, "...");
  std::erase(*spec.title, '\0');
  auto ran = command(
      in, std::move(spec), text_of({{"code", in.call.arguments["code"]}, {"result", file}, {"bytes_max", kReadBytes}}));
  if (!ran) return ran.error().code() == ErrorCode::file_not_found ? no_python() : ran.error();
  ToolResult result = std::move(*ran);
  GUARD_TRY_ASSIGN(const auto got, in.start(operation(TaskOperation::get, {file})));
  const auto found = collect(*got, kSmallBytesMax, Deadline::after(kInputMax));
  // It is not there where the last statement was no expression, or the code did not come to it.
  if (!found || found->end.outcome.kind != OutcomeKind::exited || found->end.outcome.value != 0) return result;
  GUARD_TRY_ASSIGN(const auto removed, in.start(operation(TaskOperation::remove, {file})));
  GUARD_TRY(collect(*removed, 0, Deadline::after(kInputMax)));
  // Two lines of JSON; or what the code itself has put there.
  const auto lines = pieces_of(found->out);
  const auto text = parse_json(lines.empty() ? std::string_view() : lines[0]);
  if (!text || !text->is_string()) return result;
  result.structured["result"] = lines.size() > 1 ? parse_json(lines[1]).value_or(json()) : json();
  result.structured["result_text"] = *text;
  result.text += fmt::format("[result]\n{}\n", text->get<std::string>());
  return result;
}

Result<ToolResult> Tools::list(const InSession& in) {
  const auto depth = in.call.arguments.value("depth", std::int64_t{1});
  GUARD_TRY_ASSIGN(const auto task,
      in.start(operation(TaskOperation::list, {asked_text(in.call, "path", "/workspace"), std::to_string(depth)})));
  Part out(0, kListBytesMax);
  StringSink err;
  const auto end = follow(*task, in.call, out, err);
  if (out.more)
    return Error(ErrorCode::file_too_large, "the folder holds too many files for one list")
        .hint("list its folders one by one, or use `ls` and `find` with shell_execute");
  GUARD_TRY(end);
  GUARD_TRY(finished(*end, err.text));
  GUARD_TRY_ASSIGN(auto entries, sessions::parse_entries(out.text));
  std::ranges::sort(entries, {}, &sessions::Entry::path);
  ToolResult result;
  ordered_json rows = ordered_json::array();
  for (const auto& entry : std::span(entries).first(std::min(entries.size(), kEntriesMax))) {
    const std::string_view type = entry.type == 'f' ? "file"
        : entry.type == 'd'                         ? "folder"
        : entry.type == 'l'                         ? "link"
                                                    : "other";
    rows.push_back({{"path", printable(entry.path)}, {"type", type}, {"size", entry.size}});
    if (entry.type == 'l') rows.back()["link"] = printable(entry.link);
    result.text += fmt::format("{:<6} {:>10} {}\n", type, entry.size, printable(entry.path));
  }
  const std::size_t left_out = entries.size() - rows.size();
  if (left_out > 0) result.text += fmt::format("[{} more are not shown]\n", left_out);
  if (entries.empty()) result.text = "[empty]\n";
  result.structured = {{"entries", std::move(rows)}, {"left_out", left_out}};
  return result;
}

// Offsets are those of the masked bytes: who pages through a file does not get at a secret from its middle.
Result<ToolResult> Tools::read(const InSession& in) {
  GUARD_TRY_ASSIGN(const auto task, in.start(operation(TaskOperation::get, {asked_text(in.call, "path")})));
  const auto offset = in.call.arguments.value("offset", std::uint64_t{0});
  Part part(offset, in.call.arguments.value("bytes_max", kReadBytes));
  GUARD_TRY_ASSIGN(Redactor masked, Redactor::create(settings_.secrets, part));
  StringSink err;
  const auto end = follow(*task, in.call, masked, err);
  if (!part.more) {
    GUARD_TRY(end);
    GUARD_TRY(finished(*end, err.text));
    const auto rest = masked.finish();
    if (!part.more) GUARD_TRY(rest);
  }
  if (part.more) {
    const std::size_t whole = whole_characters(part.text);
    if (is_utf8(std::string_view(part.text).substr(0, whole))) part.text.resize(whole);
  }
  const bool is_text = is_utf8(part.text);
  ToolResult result;
  result.structured = {{"content", is_text ? part.text : ""}, {"encoding", is_text ? "utf-8" : "base64"},
      {"bytes", part.text.size()}, {"more", part.more}, {"redactions", masked.counts()}};
  if (part.more) result.structured["next_offset"] = offset + part.text.size();
  if (!is_text) result.bytes = part.text;
  result.text = is_text ? part.text : fmt::format("[{} bytes that are no text]\n", part.text.size());
  if (part.more) result.text += fmt::format("\n[goes on at offset {}]\n", offset + part.text.size());
  return result;
}

Result<ToolResult> Tools::write(const InSession& in) {
  const std::string path = asked_text(in.call, "path");
  std::string content = asked_text(in.call, "content");
  if (asked_text(in.call, "encoding") == "base64") {
    const auto decoded = base64_decode(content);
    if (!decoded) return Error(ErrorCode::input_invalid, "content is not base64");
    content.assign(decoded->begin(), decoded->end());
  }
  TaskSpec spec = operation(TaskOperation::put, {path, "644"});
  spec.input = true;
  GUARD_TRY_ASSIGN(const auto task, in.start(spec));
  GUARD_TRY(task->write_input(content, Deadline::after(kInputMax)));
  GUARD_TRY(task->close_input());
  NullSink out;
  StringSink err;
  GUARD_TRY_ASSIGN(const TaskEnd end, follow(*task, in.call, out, err));
  GUARD_TRY(finished(end, err.text));
  ToolResult result;
  result.text = fmt::format("{}: {} bytes\n", printable(path), content.size());
  result.structured = {{"path", printable(path)}, {"bytes", content.size()}};
  return result;
}

}  // namespace guard::mcp

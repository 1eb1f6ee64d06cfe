// The tools that ask guard itself, as anybody would call it: the configuration decides, and no argument of a client is
// an option.
#include <fmt/format.h>
#include <poll.h>

#include <algorithm>
#include <atomic>
#include <csignal>

#include "cli/mcp/tools.h"
#include "common/text/foreign_json.h"
#include "common/text/text.h"
#include "common/threads.h"
#include "runner/process/subprocess.h"

namespace guard::mcp {
namespace {

namespace fs = std::filesystem;

constexpr milliseconds kLook{100};
constexpr std::size_t kReportBytesMax = 16ul << 20;
constexpr std::size_t kShownBytesMax = 80ul << 10;

// Cancels a process that the client does not want any more.
class Watch {
 public:
  explicit Watch(const ToolCall& call) {
    auto thread = new_thread([this, &call] {
      pollfd over{over_.fd(), POLLIN, 0};
      while (::poll(&over, 1, kLook.count()) == 0) {
        if (!call.wanted()) process.cancel();
      }
    });
    if (thread) thread_ = std::move(*thread);
  }
  ~Watch() {
    over_.cancel();
    if (thread_.joinable()) thread_.join();
  }
  CancelToken process;

 private:
  CancelToken over_;
  std::thread thread_;
};

// What guard says of its progress, a line each.
class Progress final : public ByteSink {
 public:
  explicit Progress(const ToolCall& call) : call_(call) {}
  Result<void> push(std::span<const char> bytes) override {
    text_.append(bytes.data(), bytes.size());
    for (std::size_t end = 0; (end = text_.find('\n')) != std::string::npos; text_.erase(0, end + 1)) {
      last = text_.substr(0, end);
      call_.progress(printable(last));
    }
    return ok();
  }
  Result<void> finish() override { return ok(); }
  std::string last;

 private:
  const ToolCall& call_;
  std::string text_;
};

// Paths of the project, behind "--". What lies outside is not the client's business.
Result<void> add_paths(const ToolCall& call, const fs::path& project, std::vector<std::string>& words) {
  words.emplace_back("--");
  const json paths = call.arguments.value("paths", json::array());
  for (const json& path : paths) {
    std::error_code failure;
    const std::string named = path;
    const fs::path found = fs::weakly_canonical(project / named, failure);
    const auto [end, rest] = std::mismatch(project.begin(), project.end(), found.begin(), found.end());
    if (failure || end != project.end() || named.find('\0') != std::string::npos)
      return Error(ErrorCode::input_invalid, fmt::format("{} is no path of the project", printable(named)))
          .hint("name files and folders below the project, without links that lead out of it");
    words.push_back(found.lexically_relative(project).native());
  }
  return ok();
}

ToolResult shown_report(ordered_json report) {
  ToolResult result;
  result.text = cut_text(report.dump(1, ' ', false, ordered_json::error_handler_t::replace), kShownBytesMax,
      "\n[cut; structuredContent has all of it]");
  result.structured = std::move(report);
  return result;
}

}  // namespace

Result<ordered_json> Tools::report_of(const ToolCall& call, std::vector<std::string> words, const std::string& input) {
  ProcessSpec spec;
  GUARD_TRY_ASSIGN(const fs::path program, own_program());
  spec.argv = {program.native(), words.front(), "--format", "json", "--color", "never"};
  if (!options_.config.empty()) spec.argv.insert(spec.argv.end(), {"--config", fs::absolute(options_.config).native()});
  if (words.front() == "run" && options_.backend)
    spec.argv.insert(spec.argv.end(), {"--backend", std::string(backend_row(*options_.backend).name)});
  for (const ConfigOverride& one : options_.overrides) {
    if (words.front() == "run" && one.key == "redact.mask_env")
      spec.argv.insert(spec.argv.end(), {"--mask-env", one.text.value_or("")});
  }
  spec.argv.insert(spec.argv.end(), words.begin() + 1, words.end());
  spec.cwd = settings_.project.native();
  spec.env = context_.environment;
  spec.stdin_text = input;
  spec.death_signal = SIGTERM;
  StringSink out;
  Progress progress(call);
  Watch watch(call);
  GUARD_TRY_ASSIGN(const ProcessResult ended, run_process(spec, out, progress, watch.process));
  if (ended.outcome.kind == OutcomeKind::cancelled)
    return Error(ErrorCode::cancelled, "the client does not want it any more");
  if (out.text.size() > kReportBytesMax)
    return Error(ErrorCode::file_too_large, "the report is too long").hint("name fewer files");
  const auto report = parse_json(out.text);
  if (report && report->is_object()) return ordered_json::parse(out.text);
  return Error(
      ErrorCode::execution_failed, fmt::format("guard {} gave no report: {}", words.front(), printable(progress.last)));
}

Result<ToolResult> Tools::check(const ToolCall& call) {
  std::vector<std::string> words = {"check"};
  std::string input;
  if (call.arguments.contains("code")) {
    if (call.arguments.contains("paths"))
      return Error(ErrorCode::input_invalid, "code and paths are two ways to say what to check: give one");
    input = asked_text(call, "code");
    const std::string name = asked_text(call, "name", "stdin.ts");
    if (name.find('\0') != std::string::npos) return Error(ErrorCode::input_invalid, "no file has such a name");
    words.insert(words.end(), {"--stdin-name=" + name, "-"});
  } else {
    GUARD_TRY(add_paths(call, settings_.project, words));
  }
  GUARD_TRY_ASSIGN(ordered_json report, report_of(call, std::move(words), input));
  return shown_report(std::move(report));
}

Result<ToolResult> Tools::run(const ToolCall& call) {
  std::vector<std::string> words = {"run"};
  if (const std::string test_name = asked_text(call, "test_name"); !test_name.empty())
    words.push_back("--test-name=" + test_name);
  GUARD_TRY(add_paths(call, settings_.project, words));
  GUARD_TRY_ASSIGN(ordered_json report, report_of(call, std::move(words), {}));
  ToolResult result = shown_report(std::move(report));
  result.is_report = true;
  return result;
}

}  // namespace guard::mcp

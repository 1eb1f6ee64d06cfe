#include "nightly/loop/generator.h"

#include <dirent.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <signal.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <memory>
#include <thread>

#include "common/file_io.h"
#include "common/text/text.h"
#include "nightly/loop/state_folder.h"
#include "nightly/loop/supervisor.h"
#include "pipeline/run/run_output.h"
#include "runner/process/subprocess.h"

namespace guard::nightly {
namespace {

namespace fs = std::filesystem;

constexpr milliseconds kWatchSpan{500};
// The supervisor gives two seconds, looks around and reports; it is killed only where it hangs.
constexpr milliseconds kSupervisorGrace{20'000};
constexpr std::uint64_t kReportMax = 4'096;

// Says stop to one generator: because guard is to stop, because the disk fills up, or because the output never ends.
class Watch {
 public:
  Watch(const GeneratorRequest& request, const CancelToken& outer, CancelToken& inner)
      : thread_([this, &request, &outer, &inner] {
          while (!over_.cancelled() && !inner.cancelled()) {
            std::array<pollfd, 2> fds = {pollfd{outer.fd(), POLLIN, 0}, pollfd{over_.fd(), POLLIN, 0}};
            ::poll(fds.data(), fds.size(), static_cast<int>(kWatchSpan.count()));
            if (outer.cancelled()) inner.cancel(outer.signal_number());
            if (request.free_bytes_min != 0 && free_bytes(request.folder) < request.free_bytes_min) {
              disk_full_ = true;
              inner.cancel();
            }
          }
        }) {}
  ~Watch() {
    over_.cancel();
    thread_.join();
  }
  Watch(const Watch&) = delete;
  Watch& operator=(const Watch&) = delete;
  bool disk_full() const { return disk_full_; }

 private:
  CancelToken over_;
  std::atomic<bool> disk_full_{false};
  std::thread thread_;
};

class FloodGate final : public ByteSink {
 public:
  FloodGate(ByteSink& next, std::uint64_t& seen, std::uint64_t bytes_max, CancelToken& stop)
      : next_(next), seen_(seen), bytes_max_(bytes_max), stop_(stop) {}
  Result<void> push(std::span<const char> bytes) override {
    seen_ += bytes.size();
    if (seen_ > bytes_max_) {
      stop_.cancel();
      return ok();  // drained, so that the program ends by its signal and not in a full pipe
    }
    return next_.push(bytes);
  }
  Result<void> finish() override { return ok(); }

 private:
  ByteSink& next_;
  std::uint64_t& seen_;
  std::uint64_t bytes_max_;
  CancelToken& stop_;
};

// "exit 0 left 2"
bool parse_report(std::string_view line, GeneratorResult& result) {
  const auto number_after = [&line](std::string_view word, auto& value) {
    if (!line.starts_with(word)) return false;
    line.remove_prefix(word.size());
    return take_number(line, value);
  };
  if (number_after("exit ", result.value)) {
    result.end = GeneratorResult::End::exited;
  } else if (number_after("signal ", result.value)) {
    result.end = GeneratorResult::End::signaled;
  } else {
    return false;
  }
  return number_after(" left ", result.left);
}

std::vector<pid_t> strays(std::string_view prefix) {
  std::vector<pid_t> found;
  const std::unique_ptr<DIR, int (*)(DIR*)> proc(::opendir("/proc"), ::closedir);
  if (!proc) return found;
  const std::string marker = fmt::format("{}={}/", kCloneVariable, prefix);
  while (const dirent* entry = ::readdir(proc.get())) {
    const std::string_view name = entry->d_name;
    pid_t pid = 0;
    if (!read_number(name, pid) || pid == ::getpid()) continue;
    const UniqueFd fd(::open(fmt::format("/proc/{}/environ", pid).c_str(), O_RDONLY | O_CLOEXEC));
    if (!fd) continue;
    const auto text = read_all(fd.get(), 4u << 20, "environ");
    if (text && (text->starts_with(marker) || text->find(std::string(1, '\0') + marker) != std::string::npos))
      found.push_back(pid);
  }
  return found;
}

}  // namespace

Result<GeneratorResult> run_generator(
    const GeneratorRequest& request, const SecretSource& secrets, const CancelToken& cancel) {
  using End = GeneratorResult::End;
  GUARD_TRY_ASSIGN(Pipe life_line, make_pipe(ErrorCode::execution_failed));
  GUARD_TRY_ASSIGN(Pipe report, make_pipe(ErrorCode::execution_failed));
  StringSink kept;
  GUARD_TRY_ASSIGN(const auto output, RunOutput::create(secrets, request.keep_bytes, kept, kept));

  ProcessSpec spec;
  spec.argv = {request.supervisor, "nightly", "supervise", "--"};
  spec.argv.insert(spec.argv.end(), request.argv.begin(), request.argv.end());
  spec.cwd = request.folder.native();
  spec.env = request.variables;
  spec.env[std::string(kCloneVariable)] = request.folder.native();
  spec.stdin_text = request.prompt;
  spec.deadline = Deadline::after(request.timeout);
  spec.grace = kSupervisorGrace;
  spec.descriptors = {{life_line.read.get(), kLifeLineFd}, {report.write.get(), kReportFd}};

  CancelToken stop;
  std::uint64_t seen = 0;
  FloodGate out(output->out(), seen, request.flood_bytes, stop);
  FloodGate err(output->err(), seen, request.flood_bytes, stop);
  std::optional<ProcessResult> ran;
  bool disk_full = false;
  {
    Watch watch(request, cancel, stop);
    GUARD_TRY_ASSIGN(ran, run_process(spec, out, err, stop));
    disk_full = watch.disk_full();
  }
  report.write.reset();
  GeneratorResult result;
  GUARD_TRY_ASSIGN(const std::string line, read_all(report.read.get(), kReportMax, "the supervisor's report"));
  const bool reported = parse_report(line, result);
  const bool cut = ran->outcome.kind == OutcomeKind::timed_out || ran->outcome.kind == OutcomeKind::cancelled;
  GUARD_TRY(output->finish(cut ? RunOutput::Ending::cut : RunOutput::Ending::whole));
  result.output = std::move(kept.text);
  if (output->dropped_bytes() > 0)
    result.output += fmt::format("\n[{} bytes more were dropped]\n", output->dropped_bytes());

  const auto ended = [&](End end, std::string sentence) {
    result.end = end;
    result.sentence = std::move(sentence);
  };
  if (seen > request.flood_bytes) {
    ended(End::flooded, fmt::format("ended after {} bytes of output", request.flood_bytes));
  } else if (disk_full) {
    ended(End::disk_full, "ended because the disk filled up");
  } else if (ran->outcome.kind == OutcomeKind::cancelled) {
    ended(End::cancelled, "ended by guard");
  } else if (ran->outcome.kind == OutcomeKind::timed_out) {
    ended(End::timed_out, fmt::format("timed out after {:g} s", static_cast<double>(request.timeout.count()) / 1000));
  } else if (!reported && line.starts_with("error ")) {
    ended(End::not_started, line.substr(6, line.find('\n') - 6));
  } else if (!reported) {
    return Error(ErrorCode::execution_failed, "the supervisor of the generator ended without a report");
  } else {
    result.sentence = fmt::format("{} {}", result.end == End::exited ? "exit" : "signal", result.value);
  }
  return result;
}

int end_stray_generators(const fs::path& clones) {
  int ended = 0;
  // Whoever forks faster than we look is found in the next round.
  for (int round = 0; round < 100; ++round) {
    const auto found = strays(clones.native());
    if (found.empty()) break;
    for (const pid_t pid : found) {
      ::kill(pid, SIGSTOP);
      if (::kill(pid, SIGKILL) == 0) ++ended;
    }
    std::this_thread::sleep_for(milliseconds(5));
  }
  return ended;
}

}  // namespace guard::nightly

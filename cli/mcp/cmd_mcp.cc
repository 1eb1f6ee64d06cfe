// `guard mcp`: lines of JSON-RPC on standard input and output, for the agent that has started it.
#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <climits>
#include <list>
#include <mutex>
#include <thread>

#include "cli/commands/commands.h"
#include "cli/mcp/client_settings.h"
#include "cli/mcp/connection.h"
#include "cli/mcp/tools.h"
#include "common/threads.h"

namespace guard {
namespace {

constexpr std::size_t kLineBytesMax = 32ul << 20;

// One line at a time, without its end. Nothing: the client has gone, or guard was asked to stop.
class LineReader {
 public:
  explicit LineReader(const CancelToken& cancel) : cancel_(cancel) {}

  Result<std::optional<std::string>> next() {
    for (;;) {
      if (const std::size_t end = text_.find('\n', looked_); end != std::string::npos) {
        std::string line = text_.substr(0, end);
        text_.erase(0, end + 1);
        looked_ = 0;
        return std::optional(std::move(line));
      }
      looked_ = text_.size();
      if (text_.size() > kLineBytesMax)
        return Error(ErrorCode::file_too_large, "a message of the client is over 32 MB")
            .hint("write large files in parts");
      std::array<pollfd, 2> fds = {{{STDIN_FILENO, POLLIN, 0}, {cancel_.fd(), POLLIN, 0}}};
      if (::poll(fds.data(), fds.size(), -1) < 0 && errno != EINTR)
        return Error::from_errno(ErrorCode::io_error, "waiting for the client", errno);
      if (cancel_.cancelled()) return std::optional<std::string>();
      if (fds[0].revents == 0) continue;
      std::array<char, 64ul * 1024> chunk;
      const ssize_t size = ::read(STDIN_FILENO, chunk.data(), chunk.size());
      if (size < 0 && (errno == EINTR || errno == EAGAIN)) continue;
      if (size < 0) return Error::from_errno(ErrorCode::io_error, "reading from the client", errno);
      if (size == 0) return std::optional<std::string>();
      text_.append(chunk.data(), static_cast<std::size_t>(size));
    }
  }

 private:
  const CancelToken& cancel_;
  std::string text_;
  std::size_t looked_ = 0;
};

// Never waits for a client that does not read once that has gone, or guard was asked to stop.
class Lines final : public mcp::Reply {
 public:
  explicit Lines(const CancelToken& stop) : stop_(stop) {}

  void answer(const std::string& message) override {
    const std::lock_guard lock(mutex_);
    const std::string line = message + "\n";
    for (std::string_view rest = line; !rest.empty() && !has_failed_;) {
      std::array<pollfd, 3> fds = {{{STDOUT_FILENO, POLLOUT, 0}, {stop_.fd(), POLLIN, 0}, {gone_.fd(), POLLIN, 0}}};
      if (::poll(fds.data(), fds.size(), -1) < 0 && errno != EINTR) has_failed_ = true;
      // So much has room then, whatever the pipe holds (pipe(7)).
      const ssize_t size = (fds[0].revents & POLLOUT) != 0
          ? ::write(STDOUT_FILENO, rest.data(), std::min<std::size_t>(rest.size(), PIPE_BUF))
          : -1;
      if (size >= 0) {
        rest.remove_prefix(static_cast<std::size_t>(size));
      } else if (fds[0].revents != 0 ? errno != EINTR : fds[1].revents != 0 || fds[2].revents != 0) {
        has_failed_ = true;
      }
    }
  }
  void notify(const std::string& message) override { answer(message); }
  bool listening() override { return !has_failed_; }
  void client_has_gone() { gone_.cancel(); }

 private:
  const CancelToken& stop_;
  CancelToken gone_;
  std::mutex mutex_;
  std::atomic<bool> has_failed_ = false;
};

// Calls that are being answered, a thread each.
class Calls {
 public:
  ~Calls() {
    for (Call& call : all_) call.thread.join();
  }

  // False: the system has no more threads.
  bool begin(std::function<void()> work) {
    all_.remove_if([](Call& call) {
      if (!call.over) return false;
      call.thread.join();
      return true;
    });
    Call& call = all_.emplace_back();
    auto thread = new_thread([&call, work = std::move(work)] {
      work();
      call.over = true;
    });
    if (!thread) {
      all_.pop_back();
      return false;
    }
    call.thread = std::move(*thread);
    return true;
  }

 private:
  struct Call {
    std::thread thread;
    std::atomic<bool> over = false;
  };
  std::list<Call> all_;
};

}  // namespace

Result<int> cmd_mcp(const Options& options, CommandContext& context) {
  if (options.action == Action::install) return mcp::install(options, context);
  GUARD_TRY_ASSIGN(const auto tools, mcp::Tools::create(options, context));
  GUARD_TRY_ASSIGN(const std::string session, tools->new_session());
  mcp::Connection connection(tools->tools(), session);
  Lines reply(context.cancel);
  Result<void> heard = ok();
  {
    Calls calls;
    LineReader lines(context.cancel);
    for (;;) {
      auto line = lines.next();
      if (!line) heard = line.error();
      if (!line || !*line || !reply.listening()) break;
      if ((*line)->find_first_not_of(" \t\r") == std::string::npos) continue;
      auto message = mcp::Connection::parse(**line, reply);
      if (!message || !connection.admit(*message, reply)) continue;
      const auto shared = std::make_shared<mcp::Message>(std::move(*message));
      const auto work = [&connection, &reply, shared] { connection.handle(*shared, reply); };
      if (!shared->is_call || !calls.begin(work)) work();
    }
    reply.client_has_gone();
    connection.cancel_all();
  }
  if (connection.has_called()) static_cast<void>(tools->close(session));
  GUARD_TRY(heard);
  return 0;
}

}  // namespace guard

#include "serve/task_stream.h"

#include <poll.h>
#include <signal.h>
#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <condition_variable>
#include <map>
#include <memory>
#include <mutex>
#include <thread>
#include <utility>

#include "common/threads.h"
#include "runner/init_side/init_protocol.h"
#include "runner/tasks/task_table.h"

namespace guard::serve {
namespace {

using task_protocol::FrameType;

constexpr int kLookAroundMs = 250;
// A client that is stopped keeps its tasks; once they have ended nobody waits for it for long.
constexpr int kDeafRoundsMax = 40;
constexpr milliseconds kSendMax{120'000};

// Nothing: the other side has gone.
std::optional<std::string_view> receive_some(int fd, std::array<char, 64ul * 1024>& chunk) {
  for (;;) {
    const ssize_t size = ::recv(fd, chunk.data(), chunk.size(), 0);
    if (size > 0) return std::string_view(chunk.data(), static_cast<std::size_t>(size));
    if (size == 0 || errno != EINTR) return std::nullopt;
  }
}

// One task of a client: a thread passes its output on, and one its input, where it has any.
class ServedTask {
 public:
  using Send = std::function<bool(const std::string& frame, bool ended)>;

  ServedTask(std::uint32_t id, const StartTask& start, TaskSpec spec, const Send& send)
      : id_(id), send_(send), takes_input_(spec.input || spec.terminal) {
    auto started = start(spec);
    if (!started) {
      // Not from here: who waits for the client to read must not be the one that reads what it says.
      begin(out_, [this, why = std::move(started).error()] { refuse(why); });
      return;
    }
    task_ = std::move(*started);
    // The first one ends where the second can't be had.
    if (takes_input_ && !begin(in_, [this] { pass_input(); })) return;
    begin(out_, [this] { pass_output(); });
  }
  ServedTask(const ServedTask&) = delete;
  ServedTask& operator=(const ServedTask&) = delete;

  ~ServedTask() {
    if (task_ && !done_) static_cast<void>(task_->signal(SIGKILL));
    {
      const std::lock_guard lock(mutex_);
      gone_ = true;
    }
    changed_.notify_all();
    if (out_.joinable()) out_.join();
    if (in_.joinable()) in_.join();
  }

  bool done() const { return done_; }

  // False: not what the protocol allows.
  bool take(const TaskFrame& frame) {
    // What is said of a task that has just ended, or was refused, crosses that on the way.
    if (done_ || !task_) return true;
    const std::string_view payload = frame.payload;
    if (frame.type == FrameType::signal && payload.size() == 1) return task_->signal(payload[0]).has_value();
    if (frame.type == FrameType::resize && payload.size() == 4) return task_->resize(decode_size(payload)).has_value();
    const std::lock_guard lock(mutex_);
    if (frame.type == FrameType::input && takes_input_ && !input_ended_) {
      input_ended_ = payload.empty();
      input_ += payload;
      changed_.notify_all();
      return input_.size() + unsaid_ <= task_protocol::kInputWindowBytes;
    }
    if (frame.type != FrameType::window || payload.size() != 5) return false;
    std::size_t& room = room_[payload[0] == static_cast<char>(FrameType::out) ? 0 : 1];
    room += init_protocol::read_number(payload.data() + 1);
    changed_.notify_all();
    return room <= task_protocol::kWindowBytes;
  }

 private:
  static TerminalSize decode_size(std::string_view payload) {
    return {init_protocol::read_short(payload.data()), init_protocol::read_short(payload.data() + 2)};
  }

  void refuse(const Error& why) {
    static_cast<void>(send_(encode_frame(FrameType::end, id_, encode_end(why)), true));
    be_done();
  }

  bool begin(std::thread& thread, std::function<void()> work) {
    auto begun = new_thread(std::move(work));
    if (!begun) {
      refuse(begun.error());
      return false;
    }
    thread = std::move(*begun);
    return true;
  }

  void be_done() {
    {
      const std::lock_guard lock(mutex_);
      done_ = true;
    }
    changed_.notify_all();
  }

  void pass_output() {
    for (bool heard = true; heard;) {
      const auto piece = task_->read(Deadline::never());
      if (!piece || !*piece) break;
      heard = pass_on(**piece);
    }
    // Of one that nobody hears it is the destructor that kills it.
    static_cast<void>(send_(encode_frame(FrameType::end, id_, encode_end(task_->end())), true));
    be_done();
  }

  bool pass_on(const Task::Piece& piece) {
    const bool out = piece.stream == Task::Piece::Stream::out;
    std::string_view rest = piece.bytes;
    if (rest.empty()) return send_(encode_frame(FrameType::out, id_, {}), false);
    while (!rest.empty()) {
      std::size_t size = 0;
      {
        std::unique_lock lock(mutex_);
        std::size_t& room = room_[out ? 0 : 1];
        changed_.wait(lock, [&] { return room > 0 || gone_; });
        if (gone_) return false;
        size = std::min({rest.size(), room, task_protocol::kOutputChunkBytes});
        room -= size;
      }
      if (!send_(encode_frame(out ? FrameType::out : FrameType::err, id_, rest.substr(0, size)), false)) return false;
      rest.remove_prefix(size);
    }
    return true;
  }

  void pass_input() {
    for (;;) {
      std::string bytes;
      {
        std::unique_lock lock(mutex_);
        changed_.wait(lock, [this] { return !input_.empty() || input_ended_ || gone_ || done_; });
        if (gone_ || done_) return;
        bytes = std::exchange(input_, {});
        unsaid_ += bytes.size();
      }
      if (bytes.empty()) return static_cast<void>(task_->close_input());
      if (!task_->write_input(bytes, Deadline::never())) return;
      {
        const std::lock_guard lock(mutex_);
        unsaid_ = 0;
      }
      if (done_ || !send_(encode_frame(FrameType::window, id_, encode_window(FrameType::input, bytes.size())), false))
        return;
    }
  }

  const std::uint32_t id_;
  const Send& send_;
  const bool takes_input_;
  std::unique_ptr<Task> task_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::size_t room_[2] = {task_protocol::kWindowBytes, task_protocol::kWindowBytes};
  std::string input_;
  std::size_t unsaid_ = 0;  // of the input, taken but not told
  bool input_ended_ = false;
  bool gone_ = false;
  std::atomic<bool> done_ = false;
  std::thread out_;
  std::thread in_;
};

class TaskServer {
 public:
  TaskServer(int connection, const StartTask& start) : fd_(connection), start_(start) {}

  void serve(const std::function<bool()>& stopping) {
    std::array<char, 64ul * 1024> chunk;
    std::string incoming;
    while (!broken_ && !(stopping() && tasks_.empty())) {
      forget_ended();
      pollfd readable{fd_, POLLIN, 0};
      if (::poll(&readable, 1, kLookAroundMs) <= 0) continue;
      const auto bytes = receive_some(fd_, chunk);
      if (!bytes) break;
      incoming += *bytes;
      if (!take_all(incoming)) break;
    }
    broken_ = true;
    tasks_.clear();
  }

 private:
  void forget_ended() {
    std::erase_if(tasks_, [](const auto& row) { return row.second->done(); });
  }

  bool take_all(std::string& incoming) {
    std::string_view rest = incoming;
    for (;;) {
      const auto frame = first_frame(rest, task_protocol::kStartPayloadMax);
      if (!frame) return false;
      if (!*frame) break;
      if (!take(**frame)) return false;
      rest.remove_prefix((*frame)->size);
    }
    incoming.erase(0, incoming.size() - rest.size());
    return true;
  }

  bool take(const TaskFrame& frame) {
    const auto found = tasks_.find(frame.id);
    if (frame.type != FrameType::start) return found == tasks_.end() || found->second->take(frame);
    auto spec = decode_start(frame.payload);
    if (!spec || found != tasks_.end()) return false;
    if (spec->title && spec->title->empty()) spec->title.reset();  // to hide a step is not the client's
    forget_ended();
    if (tasks_.size() >= 2 * task_protocol::kTasksMax) return false;  // half of them are about to say that they ended
    tasks_.emplace(frame.id, std::make_unique<ServedTask>(frame.id, start_, *std::move(spec), send_));
    return true;
  }

  bool send(const std::string& frame, bool ended) {
    const std::lock_guard lock(sending_);
    std::string_view rest = frame;
    for (int rounds = 0; !rest.empty() && !broken_;) {
      const ssize_t sent = ::send(fd_, rest.data(), rest.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
      if (sent > 0) {
        rest.remove_prefix(static_cast<std::size_t>(sent));
        continue;
      }
      if (sent < 0 && errno == EINTR) continue;
      pollfd writable{fd_, POLLOUT, 0};
      if (errno != EAGAIN || (::poll(&writable, 1, kLookAroundMs) == 0 && ended && ++rounds > kDeafRoundsMax))
        broken_ = true;
    }
    return !broken_;
  }

  const int fd_;
  const StartTask& start_;
  const ServedTask::Send send_ = [this](const std::string& frame, bool ended) { return send(frame, ended); };
  std::mutex sending_;
  std::atomic<bool> broken_ = false;
  std::map<std::uint32_t, std::unique_ptr<ServedTask>> tasks_;  // last: they use the others
};

class TaskClient {
 public:
  TaskClient(UniqueFd connection, std::function<void()> gone)
      : gone_(std::move(gone)),
        connection_(std::make_shared<UniqueFd>(std::move(connection))),
        table_(std::make_shared<TaskTable>(
            [fd = connection_](std::string_view frame) { return send(fd->get(), frame); }, TaskTable::Peer::serve)),
        reader_([this] { read(); }) {}
  TaskClient(const TaskClient&) = delete;
  TaskClient& operator=(const TaskClient&) = delete;
  ~TaskClient() {
    closing_ = true;
    ::shutdown(connection_->get(), SHUT_RDWR);
    reader_.join();
  }

  Result<std::unique_ptr<Task>> start(const TaskSpec& spec) { return table_->start(spec); }

 private:
  // serve reads all the time, but while it starts a sandbox; so this does not wait for a program.
  static Result<void> send(int fd, std::string_view frame) {
    const Deadline deadline = Deadline::after(kSendMax);
    while (!frame.empty()) {
      const ssize_t sent = ::send(fd, frame.data(), frame.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
      if (sent > 0) frame.remove_prefix(static_cast<std::size_t>(sent));
      if (sent >= 0 || errno == EINTR) continue;
      pollfd writable{fd, POLLOUT, 0};
      if (errno != EAGAIN || ::poll(&writable, 1, deadline.poll_timeout()) == 0)
        return Error::from_errno(ErrorCode::environment_unavailable, "speaking to guard serve", errno);
    }
    return ok();
  }

  void read() {
    std::array<char, 64ul * 1024> chunk;
    Error why(ErrorCode::environment_unavailable, "guard serve has gone");
    while (const auto bytes = receive_some(connection_->get(), chunk)) {
      auto taken = table_->push(std::span(bytes->data(), bytes->size()));
      if (taken) continue;
      why = std::move(taken).error();
      break;
    }
    table_->fail(why);
    if (gone_ && !closing_) gone_();
  }

  const std::function<void()> gone_;
  std::atomic<bool> closing_ = false;
  const std::shared_ptr<UniqueFd> connection_;
  const std::shared_ptr<TaskTable> table_;
  std::thread reader_;
};

}  // namespace

void serve_tasks(int connection, const StartTask& start, const std::function<bool()>& stopping) {
  TaskServer(connection, start).serve(stopping);
}

StartTask tasks_over(UniqueFd connection, std::function<void()> gone) {
  return [client = std::make_shared<TaskClient>(std::move(connection), std::move(gone))](
             const TaskSpec& spec) { return client->start(spec); };
}

}  // namespace guard::serve

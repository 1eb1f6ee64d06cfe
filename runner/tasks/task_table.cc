#include "runner/tasks/task_table.h"

#include <fmt/format.h>
#include <signal.h>

#include <algorithm>
#include <cerrno>
#include <charconv>

#include "common/text/text.h"
#include "runner/init_side/init_protocol.h"

namespace guard {
namespace {

using init_protocol::kFramePayloadMax;
using init_protocol::kHeaderBytes;
using init_protocol::read_number;
using init_protocol::read_short;
using task_protocol::FrameType;
using task_protocol::kIdBytes;
using task_protocol::kInputPieceBytes;
using task_protocol::kInputWindowBytes;
using task_protocol::kWindowBytes;

Error broken(std::string_view what) {
  return Error(ErrorCode::protocol_error, fmt::format("the sandbox's init spoke nonsense: {}", what));
}

Error invalid(std::string_view what) { return Error(ErrorCode::input_invalid, std::string(what)); }

void add_number(std::string& bytes, std::uint32_t value) {
  char number[init_protocol::kNumberBytes];
  init_protocol::write_number(number, value);
  bytes.append(number, sizeof number);
}

void add_short(std::string& bytes, std::uint16_t value) {
  bytes += static_cast<char>(value >> 8);
  bytes += static_cast<char>(value & 0xff);
}

std::uint32_t milliseconds_of(milliseconds span) {
  return static_cast<std::uint32_t>(std::clamp<milliseconds::rep>(span.count(), 0, 0x7fff'ffff));
}

bool is_output(FrameType type) { return type == FrameType::out || type == FrameType::err; }

std::size_t place_of(FrameType stream) { return stream == FrameType::out ? 0 : 1; }

// The fields of an end frame.
struct EndFields {
  std::string kind;
  std::string step;
  std::string code;  // these three: what serve says of an Error
  std::string message;
  std::string hint;
  std::map<std::string, std::uint64_t, std::less<>> numbers;

  std::uint64_t number(std::string_view key) const {
    const auto found = numbers.find(key);
    return found == numbers.end() ? 0 : found->second;
  }
};

Result<EndFields> parse_end(std::string_view text) {
  EndFields fields;
  while (!text.empty()) {
    const std::size_t end = text.find('\n');
    const std::size_t equals = text.find('=');
    if (end == std::string_view::npos || equals == std::string_view::npos || equals == 0 || equals > end)
      return broken("a line of an end frame is none");
    const std::string_view key = text.substr(0, equals);
    const std::string_view value = text.substr(equals + 1, end - equals - 1);
    text.remove_prefix(end + 1);
    static constexpr std::pair<std::string_view, std::string EndFields::*> kTexts[] = {{"kind", &EndFields::kind},
        {"step", &EndFields::step}, {"code", &EndFields::code}, {"message", &EndFields::message},
        {"hint", &EndFields::hint}};
    const auto text_field =
        std::ranges::find(kTexts, key, &std::pair<std::string_view, std::string EndFields::*>::first);
    if (text_field != std::end(kTexts)) {
      fields.*text_field->second = printable(value);
    } else {
      std::uint64_t number = 0;
      const auto [rest, error] = std::from_chars(value.data(), value.data() + value.size(), number);
      if (error != std::errc() || rest != value.data() + value.size()) return broken("a number that is none");
      if (!fields.numbers.emplace(key, number).second) return broken("a key given twice");
    }
  }
  return fields;
}

Error start_failure(const TaskSpec& spec, const EndFields& fields) {
  const int error = static_cast<int>(fields.number("value"));
  const bool program = spec.kind == TaskOperation::program;
  const std::string& what = spec.argv.empty() ? fields.step : spec.argv.front();
  const bool folder = fields.step == "chdir";
  Error failure = Error::from_errno(error == ENOENT ? ErrorCode::file_not_found : ErrorCode::execution_failed,
      folder        ? fmt::format("entering the folder {}", printable(spec.working_dir))
          : program ? fmt::format("starting {}", printable(what))
                    : fmt::format("{} ({})", fields.step, printable(what)),
      error);
  return std::move(failure).detail("errno", std::to_string(error)).detail("step", fields.step);
}

// What an end frame says. An Error inside of the value: the task could not be started or done.
Result<Result<TaskEnd>> end_of(const TaskSpec& spec, std::string_view payload, TaskTable::Peer peer) {
  GUARD_TRY_ASSIGN(const EndFields fields, parse_end(payload));
  TaskEnd end;
  const std::uint64_t value = fields.number("value");
  end.elapsed = milliseconds(static_cast<milliseconds::rep>(fields.number("elapsed_ms")));
  end.cpu = milliseconds(static_cast<milliseconds::rep>((fields.number("user_us") + fields.number("sys_us")) / 1000));
  end.max_rss_bytes = fields.number("max_rss_kb") * 1024;
  if (fields.kind == "failed") {
    if (value == 0 || value > 4095) return broken("an errno out of range");
    return Result<TaskEnd>(start_failure(spec, fields));
  }
  if (fields.kind == "error" && peer == TaskTable::Peer::serve) {
    Error failure(find_error_code(fields.code).value_or(ErrorCode::protocol_error), fields.message);
    return Result<TaskEnd>(fields.hint.empty() ? std::move(failure) : std::move(failure).hint(fields.hint));
  }
  if (fields.kind == "exited" && value <= 255) {
    end.outcome = {OutcomeKind::exited, static_cast<std::int64_t>(value), {}};
  } else if (fields.kind == "signaled" && value > 0 && value < NSIG) {
    end.outcome = {OutcomeKind::signaled, static_cast<std::int64_t>(value), {}};
  } else if (fields.kind == "lost") {
    end.outcome = {OutcomeKind::violation, 0, "the process that guard keeps beside the program was killed from inside"};
  } else {
    return broken("an end of no known kind");
  }
  if (fields.number("timed_out") == 1 && end.outcome.kind != OutcomeKind::violation)
    end.outcome = {OutcomeKind::timed_out, spec.timeout.count(), {}};
  return Result<TaskEnd>(end);
}

}  // namespace

struct TaskTable::State {
  State(std::uint32_t number, TaskSpec asked) : id(number), spec(std::move(asked)) {}

  const std::uint32_t id;
  const TaskSpec spec;
  std::condition_variable changed;
  std::string held[2];  // what was not read yet
  std::size_t turn = 0;
  std::size_t room[2] = {kWindowBytes, kWindowBytes};  // that init may still fill
  std::size_t taken[2] = {0, 0};                       // of which it has not been told
  std::size_t input_room = kInputWindowBytes;
  bool input_closed = false;
  bool half_closed = false;  // by the other side of a connection
  bool half_read = false;    // and whoever reads knows
  bool dropped = false;      // nobody reads it any more
  std::uint32_t pid = 0;
  std::optional<Result<TaskEnd>> end;
};

class TableTask final : public Task {
 public:
  TableTask(std::shared_ptr<TaskTable> table, std::shared_ptr<TaskTable::State> state)
      : table_(std::move(table)), state_(std::move(state)) {}
  TableTask(const TableTask&) = delete;
  TableTask& operator=(const TableTask&) = delete;

  ~TableTask() override {
    std::size_t unread[2] = {0, 0};
    {
      const std::lock_guard lock(table_->mutex_);
      if (state_->end) return;
      state_->dropped = true;
      for (std::size_t i = 0; i < 2; ++i) unread[i] = kWindowBytes - state_->room[i];
      for (std::size_t i = 0; i < 2; ++i) state_->room[i] = kWindowBytes;
      for (std::string& held : state_->held) held.clear();
    }
    static_cast<void>(signal(SIGKILL));
    table_->send_window(state_->id, FrameType::out, unread[0]);
    table_->send_window(state_->id, FrameType::err, unread[1]);
  }

  Result<std::optional<Piece>> read(Deadline deadline) override {
    Piece piece;
    std::size_t told = 0;
    const auto has_something = [this] {
      return !state_->held[0].empty() || !state_->held[1].empty() || state_->half_closed != state_->half_read ||
          state_->end;
    };
    {
      std::unique_lock lock(table_->mutex_);
      if (!wait(lock, deadline, has_something)) return out_of_time("waiting for output of a task");
      // In turns, so that neither stream hides the other.
      std::size_t place = state_->turn;
      if (state_->held[place].empty()) place = 1 - place;
      if (state_->held[place].empty()) {
        if (state_->half_closed == std::exchange(state_->half_read, state_->half_closed)) return std::optional<Piece>();
        return std::optional(Piece());
      }
      state_->turn = 1 - place;
      piece.stream = place == 0 ? Piece::Stream::out : Piece::Stream::err;
      piece.bytes = std::exchange(state_->held[place], {});
      state_->taken[place] += piece.bytes.size();
      // Not for every few bytes.
      if (!state_->end && state_->taken[place] >= kWindowBytes / 4) {
        told = std::exchange(state_->taken[place], 0);
        state_->room[place] += told;
      }
    }
    table_->send_window(state_->id, piece.stream == Piece::Stream::out ? FrameType::out : FrameType::err, told);
    return std::optional(std::move(piece));
  }

  Result<void> write_input(std::string_view bytes, Deadline deadline) override {
    if (!state_->spec.input && !state_->spec.terminal) return invalid("the task was started without an input");
    while (!bytes.empty()) {
      std::size_t size = 0;
      {
        std::unique_lock lock(table_->mutex_);
        // A piece as a whole or not at all, so that who ran out of time knows what is left to say.
        size = std::min(bytes.size(), kInputPieceBytes);
        if (!wait(lock, deadline, [&] { return state_->input_room >= size || state_->end || state_->input_closed; }))
          return out_of_time("waiting until a task reads its input");
        if (state_->input_closed) return invalid("the task's input was closed before");
        if (state_->end) return ok();
        state_->input_room -= size;
      }
      GUARD_TRY(table_->send(FrameType::input, state_->id, bytes.substr(0, size)));
      bytes.remove_prefix(size);
    }
    return ok();
  }

  Result<void> close_input() override {
    {
      const std::lock_guard lock(table_->mutex_);
      if (state_->end || std::exchange(state_->input_closed, true)) return ok();
    }
    return table_->send(FrameType::input, state_->id, {});
  }

  Result<void> signal(int signal_number) override {
    if (signal_number <= 0 || signal_number >= NSIG) return invalid("there is no such signal");
    if (ended()) return ok();
    const char byte = static_cast<char>(signal_number);
    return table_->send(FrameType::signal, state_->id, std::string_view(&byte, 1));
  }

  Result<void> resize(TerminalSize size) override {
    if (!state_->spec.terminal) return invalid("the task has no terminal");
    if (ended()) return ok();
    std::string bytes;
    add_short(bytes, size.rows);
    add_short(bytes, size.columns);
    return table_->send(FrameType::resize, state_->id, bytes);
  }

  std::uint32_t pid(Deadline deadline) override {
    std::unique_lock lock(table_->mutex_);
    if (state_->spec.kind == TaskOperation::program && table_->peer_ == TaskTable::Peer::init)
      static_cast<void>(wait(lock, deadline, [this] { return state_->pid != 0 || state_->end; }));
    return state_->pid;
  }

  bool ended() const override {
    const std::lock_guard lock(table_->mutex_);
    return state_->end.has_value();
  }

  Result<TaskEnd> end() const override {
    const std::lock_guard lock(table_->mutex_);
    if (!state_->end) return Error(ErrorCode::execution_failed, "the task has not ended");
    return *state_->end;
  }

 private:
  static Error out_of_time(std::string_view doing) {
    return Error(ErrorCode::execution_timeout, fmt::format("the time was over while {}", doing));
  }

  template <typename Condition>
  bool wait(std::unique_lock<std::mutex>& lock, Deadline deadline, Condition condition) const {
    if (deadline.remaining() == milliseconds::max()) {
      state_->changed.wait(lock, condition);
      return true;
    }
    return state_->changed.wait_for(lock, deadline.remaining(), condition);
  }

  std::shared_ptr<TaskTable> table_;
  std::shared_ptr<TaskTable::State> state_;
};

Result<std::string> encode_start(const TaskSpec& spec) {
  if (spec.kind == TaskOperation::program && (spec.argv.empty() || spec.argv.front().empty()))
    return invalid("no program to run was given");
  if (spec.working_dir.empty() || spec.working_dir.front() != '/') return invalid("the working folder is not absolute");
  std::string payload;
  payload += static_cast<char>(spec.kind);
  payload += static_cast<char>((spec.input ? task_protocol::kWantsInput : 0) |
      (spec.terminal ? task_protocol::kWantsTerminal : 0) | (spec.title ? task_protocol::kHasTitle : 0));
  const TerminalSize size = spec.terminal.value_or(TerminalSize());
  add_short(payload, size.rows);
  add_short(payload, size.columns);
  add_number(payload, milliseconds_of(spec.timeout));
  add_number(payload, milliseconds_of(spec.grace));
  add_number(payload, static_cast<std::uint32_t>(spec.argv.size()));
  add_number(payload, static_cast<std::uint32_t>(spec.env.size()));
  const auto add = [&payload](std::string_view text) -> Result<void> {
    if (text.find('\0') != std::string_view::npos) return invalid("an argument or variable holds a NUL byte");
    payload.append(text) += '\0';
    return ok();
  };
  GUARD_TRY(add(spec.working_dir));
  for (const std::string& word : spec.argv) GUARD_TRY(add(word));
  for (const auto& [name, value] : spec.env) {
    if (name.empty() || name.find('=') != std::string::npos)
      return invalid(fmt::format("environment variable \"{}\" can't be passed on", printable(name)));
    GUARD_TRY(add(fmt::format("{}={}", name, value)));
  }
  if (spec.title) GUARD_TRY(add(*spec.title));
  if (payload.size() > task_protocol::kStartPayloadMax || spec.argv.size() + spec.env.size() > task_protocol::kWordsMax)
    return invalid("the arguments and the environment are too long").hint("hand long text in as a file or as input");
  return payload;
}

Result<std::unique_ptr<Task>> TaskTable::start(const TaskSpec& spec) {
  GUARD_TRY_ASSIGN(const std::string payload, encode_start(spec));
  std::shared_ptr<State> state;
  {
    const std::lock_guard lock(mutex_);
    if (failure_) return *failure_;
    if (tasks_.size() >= task_protocol::kTasksMax) {
      return Error(ErrorCode::execution_failed,
          fmt::format("{} tasks run in this sandbox already, more than that is not served", tasks_.size()))
          .detail("limit", "tasks")
          .hint("wait until one of them has ended");
    }
    state = std::make_shared<State>(next_id_++, spec);
    tasks_.emplace(state->id, state);
  }
  auto task = std::make_unique<TableTask>(shared_from_this(), state);
  GUARD_TRY(send(FrameType::start, state->id, payload));
  return task;
}

Result<TaskSpec> decode_start(std::string_view payload) {
  TaskSpec spec;
  if (payload.size() < task_protocol::kStartBytes || payload.back() != '\0') return broken("a malformed start");
  const char* const fixed = payload.data();
  const auto flags = static_cast<std::uint8_t>(fixed[1]);
  spec.kind = static_cast<TaskOperation>(fixed[0]);
  spec.input = (flags & task_protocol::kWantsInput) != 0;
  if ((flags & task_protocol::kWantsTerminal) != 0) spec.terminal = {read_short(fixed + 2), read_short(fixed + 4)};
  spec.timeout = milliseconds(read_number(fixed + 6));
  spec.grace = milliseconds(read_number(fixed + 10));
  const std::size_t arguments = read_number(fixed + 14);
  const std::size_t variables = read_number(fixed + 18);
  payload.remove_prefix(task_protocol::kStartBytes);
  std::vector<std::string_view> words;
  for (; !payload.empty(); payload.remove_prefix(words.back().size() + 1))
    words.push_back(payload.substr(0, payload.find('\0')));
  if ((flags & task_protocol::kHasTitle) != 0 && !words.empty()) {
    spec.title = words.back();
    words.pop_back();
  }
  if (words.empty() || arguments > words.size() || variables != words.size() - 1 - arguments)
    return broken("a start with too few or too many texts");
  spec.working_dir = words.front();
  for (std::size_t i = 1; i <= arguments; ++i) spec.argv.emplace_back(words[i]);
  for (std::size_t i = 1 + arguments; i < words.size(); ++i) {
    const std::size_t equals = words[i].find('=');
    if (equals == std::string_view::npos) return broken("a variable without a value");
    spec.env.emplace(words[i].substr(0, equals), words[i].substr(equals + 1));
  }
  return spec;
}

std::string encode_end(const Result<TaskEnd>& end) {
  if (!end) {
    const Error& error = end.error();
    return fmt::format("kind=error\ncode={}\nmessage={}\nhint={}\n", error.wire_name(), printable(error.message()),
        printable(error.hint()));
  }
  const Outcome& outcome = end->outcome;
  const bool signaled = outcome.kind == OutcomeKind::signaled;
  const bool lost = outcome.kind == OutcomeKind::violation;
  const bool timed_out = outcome.kind == OutcomeKind::timed_out;
  return fmt::format("kind={}\nvalue={}\ntimed_out={}\nelapsed_ms={}\nmax_rss_kb={}\nuser_us={}\n",
      signaled   ? "signaled"
          : lost ? "lost"
                 : "exited",
      timed_out ? 0 : outcome.value, timed_out ? 1 : 0, end->elapsed.count(), end->max_rss_bytes / 1024,
      end->cpu.count() * 1000);
}

std::string encode_frame(FrameType type, std::uint32_t id, std::string_view payload) {
  std::string frame;
  frame.reserve(kHeaderBytes + kIdBytes + payload.size());
  frame += static_cast<char>(type);
  frame.append(3, '\0');
  add_number(frame, static_cast<std::uint32_t>(kIdBytes + payload.size()));
  add_number(frame, id);
  return frame += payload;
}

std::string encode_window(FrameType stream, std::size_t bytes) {
  std::string payload(1, static_cast<char>(stream));
  add_number(payload, static_cast<std::uint32_t>(bytes));
  return payload;
}

Result<void> TaskTable::send(FrameType type, std::uint32_t id, std::string_view payload) {
  const std::string frame = encode_frame(type, id, payload);
  const std::lock_guard lock(sending_);
  // Half a frame may have left: nothing can follow it.
  if (broken_) return Error(ErrorCode::environment_unavailable, "the sandbox's init does not listen any more");
  auto sent = send_(frame);
  broken_ = !sent;
  return sent;
}

// Where this fails the sandbox is gone, and the reader of init's stream says so.
void TaskTable::send_window(std::uint32_t id, FrameType stream, std::size_t bytes) {
  if (bytes > 0) static_cast<void>(send(FrameType::window, id, encode_window(stream, bytes)));
}

Result<std::optional<TaskFrame>> first_frame(std::string_view bytes, std::size_t payload_max) {
  if (bytes.size() < kHeaderBytes) return std::optional<TaskFrame>();
  const std::size_t payload = read_number(bytes.data() + init_protocol::kLengthAt);
  if (bytes[1] != 0 || bytes[2] != 0 || bytes[3] != 0) return broken("a malformed frame header");
  if (payload < kIdBytes || payload - kIdBytes > payload_max) return broken("a frame out of the size limits");
  const std::size_t size = kHeaderBytes + payload;
  if (bytes.size() < size) return std::optional<TaskFrame>();
  const std::string_view body = bytes.substr(kHeaderBytes, payload);
  return std::optional(
      TaskFrame{static_cast<FrameType>(bytes[0]), read_number(body.data()), body.substr(kIdBytes), size});
}

Result<void> TaskTable::push(std::span<const char> bytes) {
  incoming_.append(bytes.data(), bytes.size());
  std::string_view rest = incoming_;
  for (;;) {
    GUARD_TRY_ASSIGN(const auto frame, first_frame(rest, kFramePayloadMax - kIdBytes));
    if (!frame) break;
    GUARD_TRY(take(*frame));
    rest.remove_prefix(frame->size);
  }
  incoming_.erase(0, incoming_.size() - rest.size());
  return ok();
}

Result<void> TaskTable::take(const TaskFrame& frame) {
  if (frame.type == FrameType::connection && take_connection_) return take_connection_(frame.id, frame.payload);
  std::unique_lock lock(mutex_);
  const auto found = tasks_.find(frame.id);
  if (found == tasks_.end()) return broken("a frame of no task");
  const std::shared_ptr<State> state = found->second;
  if (is_output(frame.type)) {
    GUARD_TRY(take_output(*state, frame));
    const bool dropped = state->dropped;
    lock.unlock();
    state->changed.notify_all();
    if (dropped) send_window(frame.id, frame.type, frame.payload.size());
    return ok();
  }
  if (frame.type == FrameType::window) {
    if (frame.payload.size() != 5 || frame.payload[0] != static_cast<char>(FrameType::input))
      return broken("a malformed window");
    state->input_room += read_number(frame.payload.data() + 1);
    if (state->input_room > kInputWindowBytes) return broken("more room for input than there is");
    state->changed.notify_all();
    return ok();
  }
  if (frame.type == FrameType::begun) {
    constexpr std::uint32_t kPidMax = 0x7fff'ffff;
    if (frame.payload.size() != init_protocol::kNumberBytes || state->pid != 0 || peer_ != Peer::init ||
        state->spec.kind != TaskOperation::program)
      return broken("a process id where there is none");
    state->pid = read_number(frame.payload.data());
    if (state->pid == 0 || state->pid > kPidMax) return broken("a process id that is none");
    state->changed.notify_all();
    return ok();
  }
  if (frame.type != FrameType::end) return broken("an unknown frame type");
  GUARD_TRY_ASSIGN(auto end, end_of(state->spec, frame.payload, peer_));
  state->end = std::move(end);
  tasks_.erase(found);
  state->changed.notify_all();
  if (tasks_.empty()) none_left_.notify_all();
  return ok();
}

Result<void> TaskTable::take_output(State& state, const TaskFrame& frame) {
  std::size_t& room = state.room[place_of(frame.type)];
  if (state.half_closed) return broken("output of a connection that the other side has closed");
  state.half_closed =
      frame.payload.empty() && frame.type == FrameType::out && state.spec.kind == TaskOperation::connect;
  if ((frame.payload.empty() && !state.half_closed) || frame.payload.size() > room)
    return broken("more output than there is room for");
  if (state.dropped) return ok();
  room -= frame.payload.size();
  state.held[place_of(frame.type)] += frame.payload;
  return ok();
}

void TaskTable::fail(const Error& error) {
  const std::lock_guard lock(mutex_);
  if (!failure_) failure_ = error;
  for (const auto& [id, state] : tasks_) {
    state->end = *failure_;
    state->changed.notify_all();
  }
  tasks_.clear();
  none_left_.notify_all();
}

std::size_t TaskTable::running() const {
  const std::lock_guard lock(mutex_);
  return tasks_.size();
}

void TaskTable::signal_all(int signal_number) {
  std::vector<std::uint32_t> ids;
  {
    const std::lock_guard lock(mutex_);
    for (const auto& [id, state] : tasks_) ids.push_back(id);
  }
  const char byte = static_cast<char>(signal_number);
  for (const std::uint32_t id : ids) static_cast<void>(send(FrameType::signal, id, std::string_view(&byte, 1)));
}

bool TaskTable::wait_for_all(Deadline deadline) const {
  std::unique_lock lock(mutex_);
  const auto none_left = [this] { return tasks_.empty(); };
  if (deadline.remaining() != milliseconds::max()) return none_left_.wait_for(lock, deadline.remaining(), none_left);
  none_left_.wait(lock, none_left);
  return true;
}

}  // namespace guard

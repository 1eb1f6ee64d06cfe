// guard's side of the tasks of one sandbox that stays (runner/tasks/task_protocol.h): what init says goes to the
// task that it is about, and waits there until somebody reads it. Foreign bytes: number, order and size of every frame
// are held against the protocol, and a stream that breaks it is not read any further.
//
// No descriptors here: bytes come in by push() and leave by the function that the table was made with. Never more than
// task_protocol::kWindowBytes of a stream are held.
//
// `guard serve` speaks in the same way to those who ask it for tasks (serve/task_stream.h): whatever it says of an end
// is then an Error with its own code and words (encode_end()).
//
// Thread-safe. push() and fail() are called by one thread; the function `send` by any, one call at a time, and it may
// wait. Once it has failed it is not called again; it has to see to it that the sandbox is given up then.
#pragma once

#include <condition_variable>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "common/result.h"
#include "runner/egress/egress_relay.h"
#include "runner/tasks/open_sandbox.h"

namespace guard {

struct TaskFrame;

class TaskTable : public std::enable_shared_from_this<TaskTable> {
 public:
  using Send = std::function<Result<void>(std::string_view frame)>;
  enum class Peer : std::uint8_t { init, serve };
  explicit TaskTable(Send send, Peer peer = Peer::init) : send_(std::move(send)), peer_(peer) {}

  // Before the first push(): who takes frames about connections to the outside; else there are none.
  void expect_connections(TakeConnectionFrame take) { take_connection_ = std::move(take); }

  // As OpenSandbox::start(). The task holds on to the table.
  Result<std::unique_ptr<Task>> start(const TaskSpec& spec);

  // What init wrote behind its hello. PROTOCOL_ERROR.
  Result<void> push(std::span<const char> bytes);
  // Nothing more will come: every task that has not ended ends with this.
  void fail(const Error& error);

  std::size_t running() const;
  void signal_all(int signal_number);
  // Whether every task has ended by then.
  bool wait_for_all(Deadline deadline) const;

 private:
  friend class TableTask;
  struct State;

  Result<void> take(const TaskFrame& frame);
  Result<void> take_output(State& state, const TaskFrame& frame);
  Result<void> send(task_protocol::FrameType type, std::uint32_t id, std::string_view payload);
  void send_window(std::uint32_t id, task_protocol::FrameType stream, std::size_t bytes);

  const Send send_;
  const Peer peer_;
  TakeConnectionFrame take_connection_;
  std::mutex sending_;
  bool broken_ = false;       // under sending_: a frame could not be sent
  mutable std::mutex mutex_;  // never held while sending
  mutable std::condition_variable none_left_;
  std::map<std::uint32_t, std::shared_ptr<State>> tasks_;  // that have not ended
  std::uint32_t next_id_ = 1;
  std::optional<Error> failure_;
  std::string incoming_;  // of push() alone
};

// The payload of a start frame, without the task's number. INPUT_INVALID for NUL bytes, an environment that is none,
// no program, and what is too long.
Result<std::string> encode_start(const TaskSpec& spec);
// The other way round. PROTOCOL_ERROR.
Result<TaskSpec> decode_start(std::string_view payload);
// The payload of an end frame, without the number; of Peer::serve.
std::string encode_end(const Result<TaskEnd>& end);
std::string encode_frame(task_protocol::FrameType type, std::uint32_t id, std::string_view payload);
std::string encode_window(task_protocol::FrameType stream, std::size_t bytes);  // the payload of a window frame

// A frame at the beginning of `bytes`, in place; nothing as long as it is not whole. PROTOCOL_ERROR; `payload_max` is
// without the number.
struct TaskFrame {
  task_protocol::FrameType type;
  std::uint32_t id;
  std::string_view payload;
  std::size_t size;  // of all of it
};
Result<std::optional<TaskFrame>> first_frame(std::string_view bytes, std::size_t payload_max);

}  // namespace guard

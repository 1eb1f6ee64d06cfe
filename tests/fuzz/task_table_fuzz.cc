// What guard reads of tasks: init's frames, what a client asks `guard serve` for, events of a watch. However init's
// bytes are cut, TaskTable says the same, never holds more than a window of a stream, and never asks for more of it
// than was read.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "runner/tasks/task_table.h"
#include "runner/tasks/watch_events.h"

namespace {

using guard::Task;
namespace protocol = guard::task_protocol;

struct Seen {
  std::vector<std::string> out;
  std::vector<std::string> err;
  std::vector<std::string> ends;
  std::vector<std::uint32_t> pids;
  bool refused = false;
  bool operator==(const Seen&) const = default;
};

Seen decode(std::span<const char> bytes, std::size_t tasks, std::size_t cut) {
  const auto table = std::make_shared<guard::TaskTable>([](std::string_view) { return guard::ok(); });
  guard::TaskSpec spec;
  spec.argv = {"program"};
  spec.input = true;
  std::vector<std::unique_ptr<Task>> started;
  // The first of several is a connection, which may close its half.
  if (tasks > 1) spec.kind = guard::TaskOperation::connect;
  started.push_back(std::move(*table->start(spec)));
  spec.kind = guard::TaskOperation::program;
  for (std::size_t i = 1; i < tasks; ++i) started.push_back(std::move(*table->start(spec)));
  Seen seen;
  while (!bytes.empty() && !seen.refused) {
    const std::size_t size = std::min(cut, bytes.size());
    seen.refused = !table->push(bytes.subspan(0, size));
    bytes = bytes.subspan(size);
  }
  if (seen.refused) table->fail(guard::Error(guard::ErrorCode::protocol_error, "refused"));
  for (const auto& task : started) {
    std::string text[2];
    for (;;) {
      const auto piece = task->read(guard::Deadline::after(guard::milliseconds(0)));
      if (!piece || !*piece) break;
      text[(*piece)->stream == Task::Piece::Stream::out ? 0 : 1] += (*piece)->bytes;
    }
    if (text[0].size() > protocol::kWindowBytes || text[1].size() > protocol::kWindowBytes) std::abort();
    seen.out.push_back(std::move(text[0]));
    seen.err.push_back(std::move(text[1]));
    seen.pids.push_back(task->pid(guard::Deadline::after(guard::milliseconds(0))));
    const auto end = task->end();
    seen.ends.push_back(end ? "ended" : end.error().message());
  }
  return seen;
}

// What can be read as a start is written as the same one.
void read_start(std::string_view bytes) {
  const auto spec = guard::decode_start(bytes);
  if (!spec) return;
  const auto written = guard::encode_start(*spec);
  if (!written) return;
  const auto again = guard::decode_start(*written);
  if (!again || again->argv != spec->argv || again->env != spec->env || again->working_dir != spec->working_dir)
    std::abort();
}

std::vector<guard::WatchEvent> watched(std::span<const char> bytes, std::size_t cut) {
  guard::WatchReader reader;
  std::vector<guard::WatchEvent> seen;
  while (!bytes.empty()) {
    const std::size_t size = std::min(cut, bytes.size());
    const auto events = reader.push({bytes.data(), size});
    if (!events) break;
    seen.insert(seen.end(), events->begin(), events->end());
    bytes = bytes.subspan(size);
  }
  return seen;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size < 2) return 0;
  const std::size_t tasks = 1 + data[0] % 4;
  const std::size_t cut = 1 + data[1] % 64;
  const std::span<const char> bytes(reinterpret_cast<const char*>(data + 2), size - 2);
  if (decode(bytes, tasks, bytes.size() + 1) != decode(bytes, tasks, cut)) std::abort();
  read_start({bytes.data(), bytes.size()});
  // Pieces tell what came before the nonsense, too.
  const auto whole = watched(bytes, bytes.size() + 1);
  const auto pieces = watched(bytes, cut);
  if (whole.size() > pieces.size() || !std::equal(whole.begin(), whole.end(), pieces.begin())) std::abort();
  return 0;
}

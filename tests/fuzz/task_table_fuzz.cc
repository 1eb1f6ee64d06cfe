// However init's bytes are cut, TaskTable says the same, never holds more than a window of a stream, and never asks for
// more of it than was read.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "runner/tasks/task_table.h"

namespace {

using guard::Task;
namespace protocol = guard::task_protocol;

struct Seen {
  std::vector<std::string> out;
  std::vector<std::string> err;
  std::vector<std::string> ends;
  bool refused = false;
  bool operator==(const Seen&) const = default;
};

Seen decode(std::span<const char> bytes, std::size_t tasks, std::size_t cut) {
  const auto table = std::make_shared<guard::TaskTable>([](std::string_view) { return guard::ok(); });
  guard::TaskSpec spec;
  spec.argv = {"program"};
  spec.input = true;
  std::vector<std::unique_ptr<Task>> started;
  for (std::size_t i = 0; i < tasks; ++i) started.push_back(std::move(*table->start(spec)));
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
    const auto end = task->end();
    seen.ends.push_back(end ? "ended" : end.error().message());
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
  return 0;
}

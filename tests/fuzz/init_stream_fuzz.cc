// However init's bytes are cut, InitStream says the same, and what it hands out keeps to what was asked for.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <span>
#include <string>
#include <vector>

#include "common/byte_sink.h"
#include "runner/init_side/init_stream.h"

namespace {

const guard::CollectRequest kAsked = {"/app/sandbox", 4, 4096, 1024};

class Kept final : public guard::ByteSink {
 public:
  guard::Result<void> push(std::span<const char> bytes) override {
    text.append(bytes.data(), bytes.size());
    return guard::ok();
  }
  guard::Result<void> finish() override { return guard::ok(); }
  std::string text;
};

struct Seen {
  std::string out;
  std::string err;
  std::vector<std::string> files;
  std::vector<std::string> left_behind;
  bool refused = false;
  bool operator==(const Seen&) const = default;
};

void hold_to_what_was_asked(const guard::Collection& collection) {
  std::uint64_t bytes = 0;
  for (const auto& file : collection.files) {
    bytes += file.bytes.size();
    const std::string path = "/" + file.path + "/";
    if (file.bytes.size() > kAsked.file_bytes_max || path.find("/../") != std::string::npos ||
        path.find("//") != std::string::npos) {
      std::abort();
    }
  }
  if (collection.files.size() > kAsked.files_max || bytes > kAsked.bytes_max) std::abort();
}

Seen decode(std::span<const char> bytes, std::size_t cut) {
  Seen seen;
  Kept out;
  Kept err;
  guard::InitStream stream(out, err, 1 << 20, guard::ReportChannel::on, kAsked);
  for (std::size_t at = 0; at < bytes.size() && !seen.refused; at += cut) {
    seen.refused = !stream.push(bytes.subspan(at, std::min(cut, bytes.size() - at)));
  }
  seen.refused = seen.refused || !stream.finish();
  if (seen.refused) return seen;
  guard::ExecResult result;
  stream.take_into(result);
  seen.out = out.text;
  seen.err = err.text;
  if (!result.collected) return seen;
  hold_to_what_was_asked(*result.collected);
  for (const auto& file : result.collected->files) seen.files.push_back(file.path + "\n" + file.bytes);
  for (const auto& entry : result.collected->left_behind) seen.left_behind.push_back(entry.path);
  return seen;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size < 2) return 0;
  const std::span bytes(reinterpret_cast<const char*>(data) + 1, size - 1);
  if (!(decode(bytes, bytes.size()) == decode(bytes, 1 + data[0] % 16u))) std::abort();
  return 0;
}

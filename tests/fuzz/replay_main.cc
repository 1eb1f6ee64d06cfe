// Runs a fuzz target over files: those of the folder that is named, and every beginning of the short ones. A crash
// found by the fuzzer is replayed the same way: pass its file.
#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size);

namespace {

constexpr std::size_t kEveryBeginningBelow = 2048;

void replay(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  const std::string bytes((std::istreambuf_iterator<char>(file)), std::istreambuf_iterator<char>());
  const auto* data = reinterpret_cast<const std::uint8_t*>(bytes.data());
  LLVMFuzzerTestOneInput(data, bytes.size());
  for (std::size_t size = 0; size < bytes.size() && size < kEveryBeginningBelow; ++size) {
    // A copy of just that size, so that a read past the end is one that a sanitizer sees.
    const std::vector<std::uint8_t> beginning(data, data + size);
    LLVMFuzzerTestOneInput(beginning.data(), beginning.size());
  }
}

}  // namespace

int main(int count, char** names) {
  int replayed = 0;
  for (int index = 1; index < count; ++index) {
    const std::filesystem::path path(names[index]);
    if (!std::filesystem::is_directory(path)) {
      replay(path);
      ++replayed;
      continue;
    }
    for (const auto& entry : std::filesystem::recursive_directory_iterator(path)) {
      if (!entry.is_regular_file()) continue;
      replay(entry.path());
      ++replayed;
    }
  }
  std::printf("%d files replayed\n", replayed);
  return replayed > 0 ? 0 : 1;
}

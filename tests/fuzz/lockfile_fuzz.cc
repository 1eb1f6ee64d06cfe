// Foreign bytes as bun.lock and package.json: what is taken holds packages of a registry only.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>

#include "runner/image/dependencies.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string text(reinterpret_cast<const char*>(data), size);
  const auto locked = guard::check_lockfile(text, "bun.lock");
  if (!locked && locked.error().code() != guard::ErrorCode::dependency_unsatisfied) std::abort();
  const auto named = guard::named_dependencies(text, "");
  if (!named && named.error().code() != guard::ErrorCode::dependency_unsatisfied) std::abort();
  return 0;
}

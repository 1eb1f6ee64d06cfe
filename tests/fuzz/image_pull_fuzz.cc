// What an engine says of a pull, docker's config.json and names of images: however the lines are cut they mean the
// same, a name is cut into parts that make it up again, and what would be sent of a login holds no line end.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>
#include <vector>

#include "docker/image_pull.h"
#include "runner/sandbox/container_use_sandbox.h"

namespace {

using namespace guard::docker;

std::vector<std::string> told(std::string_view text, std::size_t step) {
  std::vector<std::string> words;
  PullLines lines([&words](const std::string& said) { words.push_back(said); });
  guard::Result<void> read = guard::ok();
  for (std::size_t at = 0; read && at < text.size(); at += step) read = lines.push(text.substr(at, step));
  if (read) read = lines.finish();
  if (!read) words.push_back(read.error().to_string());
  return words;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const auto whole = told(text, std::max<std::size_t>(size, 1));
  for (const std::size_t step : {std::size_t{1}, std::size_t{7}}) {
    if (told(text, step) != whole) std::abort();
  }
  if (const auto name = parse_image_name(text)) {
    std::string again = name->repository;
    if (!name->tag.empty()) again += ":" + name->tag;
    if (!name->digest.empty()) again += "@" + name->digest;
    if (again != text || name->full_repository().empty()) std::abort();
  }
  if (const auto auth = find_registry_auth(text, "r.example")) {
    if (std::any_of(auth->header.begin(), auth->header.end(), [](unsigned char c) { return c <= ' ' || c >= 0x7f; }))
      std::abort();
  }
  if (const auto id = guard::created_environment_id(text); id && !guard::is_environment_id(*id)) std::abort();
  return 0;
}

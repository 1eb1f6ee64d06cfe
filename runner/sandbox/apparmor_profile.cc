#include "runner/sandbox/apparmor_profile.h"

#include <system_error>

namespace guard {
namespace {

constexpr const char* kOurs = "guard-sandbox";
constexpr const char* kEngines = "docker-default";

}  // namespace

std::string apparmor_profile(const std::filesystem::path& profiles) {
  std::error_code error;
  for (std::filesystem::directory_iterator entry(profiles, error), end; !error && entry != end;
       entry.increment(error)) {
    const std::string name = entry->path().filename().string();
    if (name.substr(0, name.rfind('.')) == kOurs) return kOurs;
  }
  return kEngines;
}

}  // namespace guard

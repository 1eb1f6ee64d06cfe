// Which AppArmor profile a container gets. guard ships one (docker/apparmor/guard-sandbox); an engine refuses to start
// a container whose profile its kernel does not know, so it is used only where it can be seen to be loaded.
#pragma once

#include <filesystem>
#include <string>

namespace guard {

// Where a kernel with AppArmor lists its profiles, a folder NAME.NUMBER for each.
inline constexpr const char* kAppArmorProfiles = "/sys/kernel/security/apparmor/policy/profiles";

// "guard-sandbox", or the engine's own "docker-default" where ours is not loaded, or this user may not look.
std::string apparmor_profile(const std::filesystem::path& profiles = kAppArmorProfiles);

}  // namespace guard

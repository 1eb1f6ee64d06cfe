// Runs in an environment of the `cu` program (container-use), as its design note describes that program. It was not
// verified against the real one, so nothing that it promises is relied on: a run counts only where guard's own init has
// shown from inside that it is confined, as for every backend.
#pragma once

#include <filesystem>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "common/environment.h"
#include "common/result.h"
#include "common/time.h"
#include "runner/sandbox/sandbox.h"

namespace guard {

struct ContainerUseOptions {
  // Where it is; empty: looked for below. Not in PATH: a project's own programs may lead it.
  std::filesystem::path program;
  std::vector<std::filesystem::path> folders = {"/usr/local/bin", "/usr/bin", "/bin", "/run/current-system/sw/bin"};
  // Reused and never deleted; empty: one is made for each run and deleted at its end.
  std::string environment_id;
  // Of guard itself; cu sees of it what it needs to find its engine and its own files, and no more.
  Environment environment;
  // Making one may mean fetching an image.
  milliseconds create_limit{600'000};
  milliseconds delete_limit{60'000};
};

// Where the attestation script must lie in SandboxSpec::host_folder, and is found by the program.
inline constexpr std::string_view kAttestationInEnvironment = "./.guard-attestation.mjs";

// [A-Za-z0-9._/-]{1,128}, not beginning with '-': it becomes an argument.
bool is_environment_id(std::string_view text) noexcept;

// The id that `environment create --json` has printed. ENVIRONMENT_CREATION_FAILED.
Result<std::string> created_environment_id(std::string_view printed);

// ENVIRONMENT_CREATION_FAILED unless the hello shows what check_confinement() wants and an init that is PID 1: nobody
// else then shares its namespace, and so nobody else holds the pipe that its frames leave through.
Result<void> check_environment(const std::map<std::string, std::string>& hello);

// spec.host_folder is the source folder of the environment; guard-init and the command are put there. Mounts, scratch
// folders, image and working_dir mean nothing here, and no limit is enforced that init does not enforce itself.
std::unique_ptr<Sandbox> make_container_use_sandbox(ContainerUseOptions options);

}  // namespace guard

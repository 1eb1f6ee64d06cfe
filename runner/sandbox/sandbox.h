// Where tests run. One small interface, one .cc per backend with its class hidden and a factory below.
//
// A Sandbox owns nothing between calls. A run owns its container or process tree through a handle that kills and
// removes it on every path out. Inside, PID 1 is guard's own init (init/guard_init.cc): it holds the only way out (a
// framed stream that the tested program cannot reach), reaps, forwards TERM, and kills everything when guard goes away.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "common/byte_sink.h"
#include "common/cancel.h"
#include "common/result.h"
#include "common/time.h"
#include "common/timeline.h"
#include "docker/endpoint.h"
#include "runner/egress/egress.h"
#include "runner/files/writable_folder.h"
#include "runner/init_side/collection.h"
#include "runner/process/exec_result.h"

namespace guard::docker {
struct EngineProbe;
}

namespace guard {

// Read-only. `source` is an absolute path on the host: a file or folder of guard's own staging area.
struct Mount {
  std::filesystem::path source;
  std::string target;  // absolute path inside
};

// A folder of the project itself, writable. Between a look at it and its mount others may put another one in its place,
// or in that of a folder above: init starts nothing unless what it finds at `target` is the folder that was looked at.
struct SharedFolder {
  std::filesystem::path source;
  std::string target;
  FileIdentity identity;
};

// A fresh folder in memory, writable for the program, gone with the run. Where it starts with files of the project, the
// program cannot change one of the copies unseen: ExecResult::touched (init/filled_folder.h). One at most starts so.
struct ScratchFolder {
  std::string target;
  std::string filled_from;  // a mount's target, a file of runner/init_side/fill_format.h; empty: it starts empty
  std::uint64_t bytes_max = 0;
  std::uint64_t files_max = 0;
};

// allowlist: none either, but connections that SandboxSpec::egress takes.
enum class Network : std::uint8_t { none, bridge, host, allowlist };
std::string_view to_string(Network network) noexcept;
// Nothing of guard's stands between the program and the network.
constexpr bool is_open(Network network) noexcept { return network == Network::bridge || network == Network::host; }

struct Limits {
  std::uint64_t memory_bytes = 2ull << 30;  // without swap
  double cpus = 2.0;
  std::uint32_t pids = 256;
  std::uint64_t tmp_bytes = 500ull << 20;
  std::uint64_t tmp_files = 65536;
  std::uint64_t sandbox_bytes = 256ull << 20;
  std::uint64_t sandbox_files = 10000;
  std::uint64_t output_flood_bytes = 1ull << 30;
  std::uint32_t open_files = 4096;
  std::uint64_t file_bytes = 1ull << 30;  // RLIMIT_FSIZE
};

// What the program runs on, made by runner/image/image.h. Docker uses `reference` and `id`, namespace uses
// `root_folder`.
struct RuntimeImage {
  std::string reference;  // "jarvis-test-runner:3f2a..."
  std::string id;         // "sha256:..." that the engine must show for `reference`; empty: any
  std::filesystem::path root_folder;
  std::vector<std::string> module_folders =
      {};                        // of the project, relative: what has node_modules below /modules in the image
  bool has_attestation = false;  // runner/init_side/attestation_start.mjs is in it, and what that loads
};

enum class ReportChannel : std::uint8_t { off, on };

// on: the program finds a SOCK_SEQPACKET socket as descriptor kAttestationFd; see runner/init_side/init_protocol.h.
enum class Attestation : std::uint8_t { off, on };

struct SandboxSpec {
  std::string run_id;             // [a-z0-9-], unique; labels and cgroups carry it
  std::vector<std::string> argv;  // no shell
  // Not empty: argv is run once for each of these words, which comes last, one after another in the same sandbox; each
  // run finds /tmp and `scratch` as the first one did, and no process of an earlier one. All of them share the limits
  // and the time.
  std::vector<std::string> each;
  milliseconds each_timeout{
      0};  // of each of them; the next one is started all the same. 0: only `timeout`, of all together
  std::function<void()>
      program_ended;  // called where the sinks are pushed, between the output of one program and of the next
  std::string working_dir = "/app";
  int input_descriptor = -1;               // the program reads it to its end; negative: /dev/null. Not on container-use
  std::map<std::string, std::string> env;  // complete: nothing is inherited
  std::vector<Mount> mounts;               // parents before children
  std::vector<SharedFolder> shared;        // what is written there stays
  std::vector<ScratchFolder> scratch;      // mounted after `mounts`; /tmp is always there besides
  std::filesystem::path host_folder;       // what working_dir means on the host backend
  RuntimeImage image;
  Network network = Network::none;
  TakeConnection egress;  // with Network::allowlist; programs find it by egress_environment()
  Limits limits;
  milliseconds timeout{300'000};
  milliseconds grace{10'000};                 // between TERM and KILL
  ReportChannel report = ReportChannel::off;  // on: the program finds it as descriptor kReportFd
  Attestation attestation = Attestation::off;
  std::optional<CollectRequest> collect;  // docker, namespace: what init hands out once everything has ended
  Timeline* timeline = nullptr;           // takes the stages of the run, from the calling thread
  bool require_cgroups = false;           // namespace: refuse where limits could only be watched

  static constexpr int kReportFd = 3;
  static constexpr int kAttestationFd = 4;
};

// Everything in memory that a run may write to: /tmp, /dev/shm and the scratch folders.
struct MemoryFolder {
  std::string target;
  std::uint64_t bytes_max = 0;
  std::uint64_t files_max = 0;
  bool shared = false;  // /tmp and /dev/shm, with the sticky bit; the others are for the program's user alone
};
std::vector<MemoryFolder> memory_folders(const SandboxSpec& spec);

// What init and guard enforce in every sandbox, as ExecResult::enforced_by says it.
std::map<std::string, std::string> limits_of_init();

// enforced_by["network"] where nothing holds a program back; "none" would read as the name of the setting.
inline constexpr const char* kOpenNetwork = "open";

// "none" (or "open") in result.enforced_by for every limit that is not in it: for backends without isolation of guard's
// own.
void add_missing_limits(ExecResult& result);

// Adds to result.enforced_by what was seen from inside of the limits of /tmp: not every way of mounting can keep each
// of them. memory_folders() are all made in the same way, so that the others are as it is.
void add_folder_limits(const Limits& limits, ExecResult& result);

// INPUT_INVALID with the reason: empty argv, a relative target, a mount of what is never mounted (.env*, .git,
// node_modules of the host, sockets, home, /), NUL bytes, limits of 0. Backends call it first.
enum class Serves : std::uint8_t { one_program, tasks };
Result<void> validate(const SandboxSpec& spec, Serves serves = Serves::one_program);
// For backends that can't mount: INPUT_INVALID where a folder is shared.
Result<void> refuse_shared(const SandboxSpec& spec, std::string_view who);
// For backends that run in spec.host_folder: INPUT_INVALID where it is no folder, or files are to be collected. `who`:
// the backend, in a sentence.
Result<void> validate_host_folder(const SandboxSpec& spec, std::string_view who);

// docs/verdicts.md, "Where the code runs". Decided from errno, HTTP status and typed fields, never from the words of a
// message.
enum class ProbeState : std::uint8_t { available, absent, unknown };
std::string_view to_string(ProbeState state) noexcept;

struct SandboxProbe {
  ProbeState state = ProbeState::unknown;
  std::string reason;                        // one sentence: what was seen
  std::string remedy;                        // one sentence: what to do; empty when available
  std::string version;                       // of engine, bubblewrap, ...
  std::string endpoint;                      // "unix:///var/run/docker.sock"
  std::map<std::string, std::string> facts;  // "cgroups": "v1", "memory_limit": "true" ...
};

class OpenSandbox;  // runner/tasks/open_sandbox.h

class Sandbox {
 public:
  virtual ~Sandbox() = default;
  virtual std::string_view name() const noexcept = 0;

  // No side effects; over by `deadline`.
  virtual SandboxProbe probe(Deadline deadline) const = 0;

  // Runs spec.argv to its end. Sinks are pushed from the calling thread; finish() is NOT called on them (the caller
  // knows whether the stream was whole). A sink that fails ends the run with that Error. Error: the environment failed,
  // or could not be shown to have held; whatever was started is gone when this returns.
  virtual Result<ExecResult> run(const SandboxSpec& spec, ByteSink& out, ByteSink& err, const CancelToken& cancel) = 0;

  // A sandbox that stays: argv of `spec` is empty, its timeout is that of the start, and of the rest only what concerns
  // the sandbox as a whole counts (env, input, each, collect, report and attestation belong to programs). INPUT_INVALID
  // where the backend has none.
  virtual Result<std::unique_ptr<OpenSandbox>> open(const SandboxSpec& spec, const CancelToken& cancel);
};

// `engine`: empty: the one that the environment names. `runtime`: empty for the engine's default.
//
// A remote engine cannot be shown files of this machine: what would be mounted is sent to it as an image of the run's
// own, and is as unwritable.
struct DockerOptions {
  docker::Endpoint engine;
  std::string runtime;
  milliseconds probe_deadline{2000};
};
std::unique_ptr<Sandbox> make_docker_sandbox(DockerOptions options);

// What the state of an engine means for the docker sandbox.
SandboxProbe sandbox_probe(const docker::EngineProbe& engine);
std::unique_ptr<Sandbox> make_namespace_sandbox();
std::unique_ptr<Sandbox> make_host_sandbox();

}  // namespace guard

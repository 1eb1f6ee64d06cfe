// The dozen calls of the Docker Engine API that guard uses, typed, over a local socket, TCP or TLS. No docker client
// needed; podman's socket speaks the same calls. Paths carry no version, so the engine answers in its newest one: the
// fields used here have meant the same since API 1.40, and an engine that has dropped old versions still answers.
//
// Every call has a deadline and heeds a cancel token. Failures are PROTOCOL_ERROR (nonsense from the other side),
// ENVIRONMENT_UNAVAILABLE (no connection, or a status that says no), EXECUTION_TIMEOUT, CANCELLED, or the code named at
// the call; the HTTP status and the engine's message are kept in the error's details ("status", "engine_message").
//
// Not thread-safe: one client per thread. Each call opens its own connection.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <initializer_list>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "common/cancel.h"
#include "common/result.h"
#include "common/time.h"
#include "docker/endpoint.h"

namespace guard::docker {

struct EngineInfo {
  std::string version;
  std::string api_version;
  bool memory_limit = false;
  bool swap_limit = false;
  bool pids_limit = false;
  bool cpu_limit = false;
  bool seccomp = false;
  bool apparmor = false;
  bool rootless = false;
  bool podman = false;
  std::string cgroup_version;
  std::vector<std::string> runtimes;
  std::string kernel;  // the release of the kernel that it runs on
  std::string os_type;
};

struct ImageInfo {
  std::string id;
  std::map<std::string, std::string> labels;
  std::vector<std::string> env_names;     // what the image would put into every program's environment
  std::vector<std::string> repo_digests;  // "registry.example/name@sha256:..."; what it was pulled as
  bool declares_volumes = false;          // each would become a writable folder on the host's disk
  bool has_triggers = false;              // ONBUILD: whoever builds on top of it would run them
};

struct ContainerState {
  bool running = false;
  bool oom_killed = false;
  std::int64_t exit_code = -1;
  std::string error;
  std::string status;  // "created", "running", "exited", "dead" ...
};

// A container or an image in a list.
struct Labelled {
  std::string id;
  std::string state;  // of a container: "running", "exited" ...
  std::map<std::string, std::string> labels;
};

class Channel;         // docker/channel.h
class HttpConnection;  // docker/http_connection.h
struct HttpAnswer;
struct HttpRequest;

// The attached stream of a container: both directions of one hijacked connection. The container's standard input ends
// when this is destroyed, or when guard dies, and that is what the init inside waits for.
class Attachment {
 public:
  explicit Attachment(std::unique_ptr<Channel> channel);
  ~Attachment();
  // Pollable; readable when there may be something for read_some().
  int fd() const noexcept;
  // There is something for read_some() that poll(2) does not see. To be asked before each poll.
  bool pending() const noexcept;
  // Appends what is there of the framed stream to `buffer`, perhaps nothing; never waits. False at the stream's end.
  Result<bool> read_some(std::string& buffer);
  // To the container's standard input. Waits until the engine has taken all, so no more than somebody there has asked
  // for. By any thread, also while another one reads. Once it has failed nothing follows, for some of it may have left.
  Result<void> write(std::string_view bytes);
  // A write that waits fails at once, and so does every one that follows.
  void give_up() noexcept { given_up_ = true; }

 private:
  std::unique_ptr<Channel> channel_;
  mutable std::mutex using_;  // the channel; never held while waiting
  std::mutex writing_;        // what is written stays together
  bool broken_ = false;       // under writing_
  std::atomic<bool> given_up_ = false;
};

// A signal to a container that was sent and whose answer is still to come. Dropping it does not take the request back.
class PendingKill {
 public:
  explicit PendingKill(HttpConnection connection);
  ~PendingKill();
  // Readable when the answer may be there, or never will be.
  int fd() const noexcept;
  // Asked once fd() is readable: false if that was only talk between the ends of a TLS connection. Never waits.
  Result<bool> answered();
  // Waits for the answer, within the deadline that the call was begun with. Call once.
  Result<void> finish();

 private:
  std::unique_ptr<HttpConnection> connection_;
};

class EngineClient {
 public:
  // `cancel` must outlive the client.
  EngineClient(Endpoint endpoint, const CancelToken& cancel);

  Result<void> ping(Deadline deadline);
  Result<EngineInfo> engine_info(Deadline deadline);
  // Empty when there is no such image.
  Result<std::optional<ImageInfo>> inspect_image(std::string_view reference, Deadline deadline);
  // `tar` is streamed from a file descriptor of known size. IMAGE_BUILD_FAILED when the engine refuses it.
  Result<void> load_image(int tar_fd, std::uint64_t tar_bytes, Deadline deadline);
  // Makes the engine fetch an image from its registry. `tag` may be a digest; without one the engine would fetch every
  // tag there is, so it must not be empty. `registry_auth` is the value of X-Registry-Auth, or empty. The progress
  // lines go to `take` (docker/image_pull.h) as they come: an engine answers 200 before it knows whether it can, and
  // what went wrong stands in one of them. IMAGE_PULL_FAILED when the engine refuses.
  Result<void> pull_image(std::string_view repository, std::string_view tag, std::string_view registry_auth,
      const std::function<Result<void>(std::string_view bytes)>& take, Deadline deadline);
  // What `docker save` writes goes to `take` as it comes. IMAGE_MISSING.
  Result<void> save_image(std::string_view reference, std::uint64_t bytes_max,
      const std::function<Result<void>(std::string_view bytes)>& take, Deadline deadline);
  // No error when there is none.
  Result<void> remove_image(std::string_view reference, Deadline deadline);
  // Builds what the Dockerfile of the archive says, tags it and returns its id. Nothing is pulled, nothing taken from
  // the engine's cache, and no step has a network. IMAGE_BUILD_FAILED when the engine refuses.
  Result<std::string> build_image(int tar_fd, std::uint64_t tar_bytes, std::string_view tag, Deadline deadline);
  // All images, parents of others too, that carry `label` ("key" or "key=value").
  Result<std::vector<Labelled>> list_images(std::string_view label, Deadline deadline);

  // `body` is the JSON of container_config(). Returns the id. IMAGE_MISSING on 404, ENVIRONMENT_CREATION_FAILED
  // otherwise.
  Result<std::string> create_container(std::string_view name, std::string_view body, Deadline deadline);
  // Before start(), so that nothing of the stream is missed.
  Result<std::unique_ptr<Attachment>> attach(std::string_view id, Deadline deadline);
  // ENVIRONMENT_CREATION_FAILED when the engine refuses.
  Result<void> start(std::string_view id, Deadline deadline);
  // No error when it is not running any more. The engine answers KILL only when the container has ended, and that only
  // when its output was read: whoever is attached goes on reading until the answer is there.
  Result<std::unique_ptr<PendingKill>> begin_kill(std::string_view id, std::string_view signal, Deadline deadline);
  Result<ContainerState> inspect_container(std::string_view id, Deadline deadline);
  // The engine's whole description of the container as JSON text, for those who compare it with what was asked for.
  Result<std::string> describe_container(std::string_view id, Deadline deadline);
  // Returns the exit code once it does not run any more.
  Result<std::int64_t> wait(std::string_view id, Deadline deadline);
  // Force, with volumes. `id` may be a name. Returns once it is gone; no error when it was gone already.
  Result<void> remove_container(std::string_view id, Deadline deadline);
  // All containers, stopped ones too, that carry `label` ("key" or "key=value").
  Result<std::vector<Labelled>> list_containers(std::string_view label, Deadline deadline);

 private:
  Result<HttpAnswer> call(
      const HttpRequest& request, std::initializer_list<unsigned> allowed, ErrorCode code, Deadline deadline) const;
  Result<HttpAnswer> ask(
      std::string_view method, std::string target, std::initializer_list<unsigned> allowed, Deadline deadline) const;
  Result<HttpAnswer> send_archive(std::string target, int tar_fd, std::uint64_t tar_bytes, Deadline deadline) const;

  Endpoint endpoint_;
  const CancelToken& cancel_;
};

}  // namespace guard::docker

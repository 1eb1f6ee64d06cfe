// What goes with letting an engine fetch an image: what a reference names, the credentials of its registry, and what
// the engine's progress lines say. No I/O; the call itself is EngineClient::pull_image().
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "common/result.h"

namespace guard::docker {

// The parts of "registry.example:5000/tools/runner:1.2@sha256:...".
struct ImageName {
  std::string repository;  // as written, without tag and digest
  std::string tag;         // empty: none
  std::string digest;      // "sha256:" and 64 hex digits; empty: none

  // "registry.example:5000"; "docker.io" where none is named.
  std::string registry() const;
  // With the registry and folder that are understood where they are left out: "docker.io/library/alpine".
  std::string full_repository() const;
};

// IMAGE_PULL_FAILED for what names nothing in a registry (an image's own id), and what no engine would take.
Result<ImageName> parse_image_name(std::string_view reference);

struct RegistryAuth {
  std::string header;                // the value of X-Registry-Auth; empty: nobody in particular asks
  std::vector<std::string> secrets;  // what must not be shown of it
  std::string helper;                // the program that keeps these credentials, which is not run; empty: none
};

// Looks the registry up in docker's own config.json. IMAGE_PULL_FAILED where the text makes no sense: asking without
// credentials then would end in a refusal that nobody understands.
Result<RegistryAuth> find_registry_auth(std::string_view config_json, std::string_view registry);

// Reads the lines of a pull as they come. Not thread-safe.
class PullLines {
 public:
  // `progress` gets a few words ("12.5 of 40.1 MB") whenever something has changed; it is called often.
  explicit PullLines(std::function<void(const std::string& words)> progress) : progress_(std::move(progress)) {}

  // IMAGE_PULL_FAILED with the engine's words as `stderr` when a line tells of an error, PROTOCOL_ERROR for nonsense.
  Result<void> push(std::string_view bytes);
  // At the end of the answer. PROTOCOL_ERROR if it ended inside a line.
  Result<void> finish();

 private:
  struct Layer {
    std::uint64_t done = 0;
    std::uint64_t total = 0;
  };
  Result<void> take(std::string_view line);

  std::function<void(const std::string&)> progress_;
  std::string line_;
  std::map<std::string, Layer> layers_;
};

}  // namespace guard::docker

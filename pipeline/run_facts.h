// What an evidence record says of a run beyond what its verdict needs: who ran it, on what, by which rules and
// configuration.
//
// Looked up only where a record is kept. What cannot be found out is left empty and told as null; it is never a reason
// to stop a run.
#pragma once

#include <chrono>
#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "common/cancel.h"
#include "common/time.h"
#include "pipeline/config/config.h"
#include "runner/image/image.h"
#include "runner/sandbox/sandbox.h"

namespace guard {

struct RunFacts {
  // What the caller knows.
  std::string run_id;  // of the run's folder, where it came that far; until then one made for the record
  std::chrono::system_clock::time_point started;
  std::string project;             // as given
  std::vector<std::string> files;  // the tests that were asked for, relative to the project
  std::vector<ConfigEntry> config;
  std::string config_file;    // as named, or relative to the project; empty: there is none
  std::string config_sha256;  // of its bytes
  std::string rules_folder;   // --rules; empty: the shipped ones
  std::string rules_digest;

  std::string program_sha256;  // of guard itself
  std::string kernel;          // "Linux 6.1.0 x86_64"

  // What is looked up when it runs.
  std::string engine_endpoint;
  std::string engine_version;
  std::map<std::string, std::string> engine;
  std::string bun_version;
  std::string bun_sha256;
  std::string image_digest;  // of what the image was made from; empty for an image of the configuration
  std::string layer_sha256;  // of what is in it

  // What is known at its end.
  milliseconds elapsed{0};    // by the steady clock
  std::string report_sha256;  // of bun's JUnit document
  std::string stdout_sha256;  // of what was kept of each stream, after masking
  std::string stderr_sha256;
};

// With what is the same for every run of this program, and the time.
RunFacts new_run_facts();

// SHA-256 of the running program; empty where it cannot be read.
std::string program_sha256();

// The run's id and times alone.
RunFacts without_texts(const RunFacts& facts);

void take_engine(const SandboxProbe& probe, RunFacts& facts);
void take_image(const ImagePlan& plan, RunFacts& facts);

// Asks the bun that runs on the host for its version.
void take_host_bun(const std::filesystem::path& bun, const CancelToken& cancel, RunFacts& facts);

// Empty where the file cannot be read.
std::string remembered_sha256(const std::filesystem::path& file);

}  // namespace guard

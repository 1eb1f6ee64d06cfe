// An attempt as a folder: what a worker anywhere needs to make it, and what it made of it.
//
//   task.json         the order: prompt, generator, limits, commit, configuration; the coordinator's, and trusted
//   repository.pack   the objects of that commit, without history
//   rules/            the rules, where they are not the shipped ones
//   lock              held by the worker (flock): one at a time
//   result/           there only as a whole: it gets its name once all in it is on the disk
//     result.json     what came of it; the digest of task.json, and those of all files beside it
//     change-N        the bytes of the Nth file of an accepted change
//     evidence.json, log.txt
//     result.json.sig by ssh-keygen, where the worker has a key
//
// No value of a variable that a generator sees is in it: a worker has its own. Whatever stands in result/ is foreign.
// A worker runs what task.json names: nobody but its own user and root may have been able to write it. `shared` is a
// network file system as a rule, which shows what others wrote late, and locks (flock) through its server.
#pragma once

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "common/cancel.h"
#include "common/result.h"
#include "common/unique_fd.h"
#include "nightly/loop/night_values.h"
#include "nightly/plan/plan.h"
#include "validator/change/change_set.h"

namespace guard::nightly {

struct AttemptOrder {
  PlannedTask task;
  Rollout rollout = Rollout::sandbox;
  std::uint64_t number = 1;
  std::string start;                       // commit to clone
  std::string feedback;                    // of the attempt before
  std::chrono::milliseconds time_left{0};  // of the night; the generator is ended then
};

// Of the folder, and of what else there is one of for each attempt: "add-negative-2".
std::string attempt_name(const std::string& task, std::uint64_t number);

struct TaskFile {
  AttemptOrder order;
  std::string night;
  std::string object_format;
  std::vector<std::string> generator_env;
  bool allow_left_processes = false;
  std::string config_name;  // of the text; both empty: no guard.toml
  std::string config_text;
  std::map<std::string, std::string> environment;  // GUARD_ variables that set something
  std::string rules_digest;                        // of the rules and the configuration, as in Night
};

// The folder of a night, made where it is missing. INPUT_INVALID where others may write to it, or can put another one
// in its place; and where it is there already, for a night that has none yet: another one's workers could be at work.
enum class NightFolder : std::uint8_t { is_new, may_be_there };
Result<void> make_night_folder(const std::filesystem::path& folder, NightFolder kind);

// Makes the folder anew, where workers will be able to lock it. `pack`: of the commit; linked where that can be, so
// that a night keeps it once. `rules`: a folder, or empty. Answers the SHA-256 of task.json. IO_ERROR.
Result<std::string> write_task(const std::filesystem::path& folder, const TaskFile& task,
    const std::filesystem::path& pack, const std::filesystem::path& rules);

struct ReadTask {
  std::string sha256;
  Result<TaskFile> task;  // an Error: of another guard
};
// FILE_NOT_FOUND; INPUT_INVALID for links, and where somebody else may have written it.
Result<ReadTask> read_task(const std::filesystem::path& folder);

// For as long as it is kept no other worker takes the folder. Nothing: one has it. Errors as of read_task().
Result<std::optional<UniqueFd>> lock_task(const std::filesystem::path& folder);

bool has_result(const std::filesystem::path& folder);

struct WorkResult {
  Attempt attempt;   // without what the coordinator knows better: names, numbers, commits, files of the state folder
  ChangeSet change;  // of an accepted attempt: paths, kinds and bytes of files
  std::string log;
  std::string evidence;
  bool is_trusted = false;  // of read_result(): a key of WorkerKeys::trusted signed it, whole
};

inline constexpr std::uint64_t kLogBytesMax = 4u << 20;  // of WorkResult::log

// Whole or not at all, and on the disk when this returns; INPUT_INVALID for what read_result() would refuse as too
// large. `key`: a file for ssh-keygen, or empty. Needs the lock.
Result<void> write_result(const std::filesystem::path& folder, const std::string& task_sha256, const WorkResult& result,
    const std::filesystem::path& key, const CancelToken& cancel);

// Whether `key` signs: asked before a generator is paid for. `scratch`: a folder.
Result<void> try_key(const std::filesystem::path& key, const std::filesystem::path& scratch, const CancelToken& cancel);

// What a worker says. INPUT_INVALID where it is not the answer to this very task, or not what write_result() writes: an
// outcome that is none, a digest that differs, a path that is none for a tree, a link, more bytes than a change may
// have. IO_ERROR where it cannot be read now, which says nothing of the worker. Where `signers` are named, one of them
// or of `trusted` must have signed it, unless it only puts the attempt back. A signature that cannot be checked is
// never one of `trusted`.
struct WorkerKeys {
  const std::vector<std::string>& signers;  // as in ExecutorPlan
  const std::vector<std::string>& trusted;
};
Result<WorkResult> read_result(const std::filesystem::path& folder, const std::string& task_sha256,
    const WorkerKeys& keys, const CancelToken& cancel);

}  // namespace guard::nightly

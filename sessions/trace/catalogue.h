// Files that came of steps: what they were when the step ended and, by policy, what they held.
//
//   <state>/artifacts/catalogue.sqlite   a row for each file of each step
//   <state>/artifacts/<sha256>           what was kept (0600), once, whatever its names were
//   <state>/artifacts/new-<id>-<n>       on its way
//
// A row that says `kept` has its contents beside it, whatever fails or dies in between: a file gets its name before the
// row of its contents is committed, and loses it afterwards. Only a machine that loses its power can lose contents,
// which their digest then shows: to wait for a busy disk with each step would cost far more than the step. What lies
// there without a row is removed by the next writer. Any number of processes may read and prune while one, the owner of
// <state>, adds.
//
// Thread-safe. Failures are IO_ERROR.
#pragma once

#include <array>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

#include "common/enum_names.h"
#include "common/result.h"
#include "common/sqlite/sqlite.h"
#include "common/unique_fd.h"
#include "sessions/steps.h"

namespace guard::sessions {

enum class Keep : std::uint8_t {
  none,    // rows alone
  failed,  // the files of steps that did not exit with 0
  all,
};

struct CatalogueLimits {
  Keep keep = Keep::none;
  std::uint64_t file_bytes_max = 64ull << 20;  // a larger one is not even read: it has no digest
  std::uint64_t bytes_max = 1ull << 30;        // of all contents, and of one step's; the oldest go
  std::int64_t age_max_ms = 30 * 86'400'000ll;
};

struct Artifact {
  std::uint64_t id = 0;  // never used again
  std::string session;
  std::uint64_t step = 0;
  std::string path;  // below /workspace; foreign bytes
  std::uint64_t bytes = 0;
  std::string sha256;      // empty: it was too large, or could not be read
  std::string media_type;  // what it looks like: a guess
  std::string outcome;     // of the step: "exited 0"
  std::int64_t made_ms = 0;
  bool kept = false;
};

struct Pruned {
  std::uint64_t artifacts = 0;
  std::uint64_t bytes = 0;  // of contents that nothing names any more
};

class Catalogue {
 public:
  enum class Role { writer, reader };
  // `state`: that of the sessions. A reader gets FILE_NOT_FOUND where there is none.
  static Result<std::unique_ptr<Catalogue>> open(
      const std::filesystem::path& state, Role role, const CatalogueLimits& limits = {}, StepWatch watch = {});

  // The owner's: takes in what one step has made, and fills in what it finds out. `open_file` answers the open file of
  // the Nth row, or no descriptor.
  using OpenFile = std::function<UniqueFd(std::size_t row)>;
  Result<void> add(std::vector<Artifact>& made, const OpenFile& open_file);

  Result<std::vector<Artifact>> list(const std::string& session = {});  // the oldest first
  Result<std::string> contents(const Artifact& artifact) const;         // FILE_NOT_FOUND; IO_ERROR: not what it was

  // What was made before `before_ms`, of one session or all.
  enum class Run { dry, real };
  Result<Pruned> prune(std::int64_t before_ms, const std::string& session, Run run);

 private:
  Catalogue(std::filesystem::path folder, const CatalogueLimits& limits, StepWatch watch)
      : folder_(std::move(folder)), limits_(limits), watch_(std::move(watch)) {}
  Result<void> begin(std::string_view step) const { return watch_ ? watch_(step) : ok(); }
  Result<void> tidy(std::int64_t now_ms);
  bool take(Artifact& row, int from, const std::string& name, std::uint64_t bytes_max);
  Result<void> insert(std::vector<Artifact>& rows, const std::vector<std::string>& names);
  Result<std::vector<std::string>> evict();
  enum class Sweep { named, all };  // all: the owner's
  Result<void> sweep(Sweep what);

  const std::filesystem::path folder_;
  const CatalogueLimits limits_;
  const StepWatch watch_;
  UniqueFd fd_;
  std::mutex mutex_;
  std::unique_ptr<SqliteFile> file_;
  std::mutex tidying_;          // taken before mutex_
  std::int64_t pruned_ms_ = 0;  // by the owner; 0: it has added nothing yet
};

// By the first bytes of a file and the end of its name.
std::string_view media_type_of(std::string_view path, std::string_view head);

}  // namespace guard::sessions

template <>
inline constexpr std::array<std::string_view, 3> guard::kNamesOf<guard::sessions::Keep> = {"none", "failed", "all"};

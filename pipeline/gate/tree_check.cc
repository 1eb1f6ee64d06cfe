// How it works. The calling thread walks and gathers files; each time there are enough of them, all threads work them
// off. Threads are started for such a heap only where it is large: most checks are of a few files and need none.
#include "pipeline/gate/tree_check.h"

#include <algorithm>
#include <atomic>
#include <exception>
#include <memory>
#include <mutex>
#include <optional>
#include <thread>

#include "common/hash.h"
#include "pipeline/gate/file_walk.h"

namespace guard {
namespace {

// Files that wait. Each may hold its folder open, and a process may have 1024 descriptors.
constexpr std::size_t kHeapMax = 384;
constexpr std::size_t kHeapForThreads = 48;

// A file takes up to forty times its size while it is looked at. Of those that are larger one is in hand at a time.
constexpr std::size_t kLargeBytes = 128 * 1024;

// One thread's work, and what it has come to.
class Worker {
 public:
  Worker(const TreeRequest& request, std::mutex& large_file)
      : request_(request), large_file_(large_file), check_(*request.rules, *request.matcher, request.options) {}

  void look_at(const WalkedFile& file) noexcept {
    try {
      if (Result<void> looked = read_and_look(file); !looked) note_error(file.path, std::move(looked).error());
    } catch (const std::exception& problem) {
      note_error(file.path, Error(ErrorCode::internal, std::string("checking: ") + problem.what()));
    }
  }

  void note_error(const std::string& path, Error problem) {
    if (!error || path < error->first) error.emplace(path, std::move(problem));
  }

  TreeHits hits;
  std::optional<std::pair<std::string, Error>> error;  // with its path

 private:
  Result<void> read_and_look(const WalkedFile& file) {
    GUARD_TRY_ASSIGN(const bool judged, read_walked(file, request_.collect.file_bytes_max, bytes_, hits.findings));
    if (!judged) return ok();
    ++hits.count;
    if (request_.keep_names) hits.names.push_back(file.path);
    hits.bytes += bytes_.size();
    std::unique_lock turn(large_file_, std::defer_lock);
    if (bytes_.size() >= kLargeBytes) turn.lock();
    GUARD_TRY(check_.look_at(file.path, bytes_, of_file_));
    if (of_file_.empty()) return ok();
    // A file without hits of its own may be where the halves of an act meet.
    if (of_file_.may_find()) hits.digests.emplace(file.path, sha256_hex(bytes_));
    hits.files.push_back(std::move(of_file_));
    of_file_ = {};
    return ok();
  }

  const TreeRequest& request_;
  std::mutex& large_file_;
  FileCheck check_;
  std::string bytes_;
  FileHits of_file_;
};

class Crew {
 public:
  explicit Crew(const TreeRequest& request) : request_(request) {
    workers_.push_back(std::make_unique<Worker>(request_, large_file_));
  }

  void give(WalkedFile file) {
    heap_.push_back(std::move(file));
    if (heap_.size() >= kHeapMax) work_off();
  }

  // Call once, when all was given. The error is that of the path that comes first.
  Result<TreeHits> finish() {
    work_off();
    Worker& all = *workers_.front();
    for (std::size_t i = 1; i < workers_.size(); ++i) {
      Worker& one = *workers_[i];
      all.hits.count += one.hits.count;
      all.hits.bytes += one.hits.bytes;
      all.hits.digests.merge(one.hits.digests);
      std::move(one.hits.names.begin(), one.hits.names.end(), std::back_inserter(all.hits.names));
      std::move(one.hits.files.begin(), one.hits.files.end(), std::back_inserter(all.hits.files));
      std::move(one.hits.findings.begin(), one.hits.findings.end(), std::back_inserter(all.hits.findings));
      if (one.error) all.note_error(one.error->first, std::move(one.error->second));
    }
    if (all.error) return std::move(all.error->second);
    return std::move(all.hits);
  }

 private:
  void work_off() {
    std::atomic<std::size_t> next = 0;
    const auto work = [&](Worker& worker) noexcept {
      for (std::size_t i = next++; i < heap_.size(); i = next++) worker.look_at(heap_[i]);
    };
    std::vector<std::thread> threads;
    const std::size_t hands = heap_.size() < kHeapForThreads ? 1 : std::max(1u, request_.jobs);
    try {
      while (workers_.size() < hands) workers_.push_back(std::make_unique<Worker>(request_, large_file_));
      for (std::size_t i = 1; i < hands; ++i) threads.emplace_back(work, std::ref(*workers_[i]));
    } catch (const std::exception&) {
      // Fewer threads, or none: the calling one does what is left.
    }
    work(*workers_.front());
    for (std::thread& thread : threads) thread.join();
    given_ += heap_.size();
    heap_.clear();
    if (!request_.progress || given_ < kHeapMax) return;
    std::uint64_t bytes = 0;
    for (const auto& worker : workers_) bytes += worker->hits.bytes;
    request_.progress(given_, bytes);
  }

  const TreeRequest& request_;
  std::mutex large_file_;
  std::vector<std::unique_ptr<Worker>> workers_;  // the first is the calling thread's
  std::vector<WalkedFile> heap_;
  std::uint64_t given_ = 0;
};

}  // namespace

Result<TreeHits> look_at_tree(const TreeRequest& request) {
  std::vector<Finding> findings;
  Crew crew(request);
  const auto give = [&crew](WalkedFile file) -> Result<void> {
    crew.give(std::move(file));
    return ok();
  };
  FileWalk walk(request.collect, give, findings);
  GUARD_TRY(walk.add_all(request.paths));
  GUARD_TRY_ASSIGN(TreeHits hits, crew.finish());
  hits.ignored_files = walk.ignored_files();
  std::move(findings.begin(), findings.end(), std::back_inserter(hits.findings));
  std::sort(hits.files.begin(), hits.files.end(), [](const FileHits& a, const FileHits& b) { return a.path < b.path; });
  std::sort(hits.names.begin(), hits.names.end());
  return hits;
}

}  // namespace guard

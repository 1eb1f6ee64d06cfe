// How it works. The calling thread walks and puts files into a queue; where the queue is full it works some off itself,
// so it never waits, and at the end it helps to empty it. Threads are started with the first files that pile up: most
// checks are of a few files and need none.
#include "pipeline/gate/tree_check.h"

#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <deque>
#include <exception>
#include <mutex>
#include <optional>
#include <thread>

#include "common/hash.h"
#include "pipeline/gate/file_walk.h"

namespace guard {
namespace {

// Files that wait. Each may hold its folder open, and a process may have 1024 descriptors.
constexpr std::size_t kQueueMax = 384;
constexpr std::size_t kQueueBeforeThreads = 48;
constexpr std::uint64_t kFilesPerProgress = 256;

// A file takes up to forty times its size while it is looked at. Together the large ones that are in hand stay below
// this, or there is only one.
class LargeFiles {
 public:
  static constexpr std::size_t kLarge = 128 * 1024;

  // Waits for its turn, which lasts as long as the object.
  class Turn {
   public:
    Turn(LargeFiles& files, std::size_t size) : files_(files), size_(size) {
      std::unique_lock lock(files_.mutex_);
      files_.changed_.wait(lock, [&] { return files_.bytes_ == 0 || files_.bytes_ + size_ <= kBytesInHand; });
      files_.bytes_ += size_;
    }
    ~Turn() {
      {
        const std::lock_guard lock(files_.mutex_);
        files_.bytes_ -= size_;
      }
      files_.changed_.notify_all();
    }
    Turn(const Turn&) = delete;
    Turn& operator=(const Turn&) = delete;

   private:
    LargeFiles& files_;
    std::size_t size_;
  };

 private:
  static constexpr std::size_t kBytesInHand = 1 << 20;

  std::mutex mutex_;
  std::condition_variable changed_;
  std::size_t bytes_ = 0;
};

// What one thread has come to.
struct Share {
  TreeHits hits;
  std::optional<std::pair<std::string, Error>> error;  // with its path

  void note_error(const std::string& path, Error problem) {
    if (!error || path < error->first) error.emplace(path, std::move(problem));
  }
};

class Worker {
 public:
  Worker(const TreeRequest& request, LargeFiles& large_files)
      : request_(request), large_files_(large_files), check_(*request.rules, *request.matcher, request.options) {}

  void look_at(const WalkedFile& file) noexcept {
    try {
      Result<void> looked = read_and_look(file);
      if (!looked) share.note_error(file.path, std::move(looked).error());
    } catch (const std::exception& problem) {
      share.note_error(file.path, Error(ErrorCode::internal, std::string("checking: ") + problem.what()));
    }
  }

  Share share;
  std::atomic<std::uint64_t> bytes_read = 0;  // for whoever watches

 private:
  Result<void> read_and_look(const WalkedFile& file) {
    GUARD_TRY_ASSIGN(
        const bool judged, read_walked(file, request_.collect.file_bytes_max, bytes_, share.hits.findings));
    if (!judged) return ok();
    ++share.hits.count;
    if (request_.keep_names) share.hits.names.push_back(file.path);
    share.hits.bytes += bytes_.size();
    bytes_read.store(share.hits.bytes, std::memory_order_relaxed);
    GUARD_TRY(look_at_bytes(file.path));
    if (hits_.empty()) return ok();
    // A file without hits of its own may be where the halves of an act meet.
    share.hits.digests.push_back(hits_.may_find() ? sha256_hex(bytes_) : std::string());
    share.hits.files.push_back(std::move(hits_));
    hits_ = {};
    return ok();
  }

  Result<void> look_at_bytes(const std::string& path) {
    if (bytes_.size() < LargeFiles::kLarge) return check_.look_at(path, bytes_, hits_);
    const LargeFiles::Turn turn(large_files_, bytes_.size());
    return check_.look_at(path, bytes_, hits_);
  }

  const TreeRequest& request_;
  LargeFiles& large_files_;
  FileCheck check_;
  std::string bytes_;
  FileHits hits_;
};

class Crew {
 public:
  explicit Crew(const TreeRequest& request) : request_(request), own_(request, large_files_) {}
  ~Crew() { dismiss(); }
  Crew(const Crew&) = delete;
  Crew& operator=(const Crew&) = delete;

  void give(WalkedFile file) {
    std::size_t waiting = 0;
    {
      const std::lock_guard lock(mutex_);
      queue_.push_back(std::move(file));
      waiting = queue_.size();
    }
    wakes_.notify_one();
    if (waiting >= kQueueBeforeThreads && threads_.empty() && request_.jobs > 1) hire();
    if (waiting >= kQueueMax || (request_.jobs <= 1 && waiting > 0)) work_one();
    if (request_.progress && ++given_ % kFilesPerProgress == 0) tell_progress();
  }

  // Call once, when all was given.
  Share finish() {
    while (work_one()) {
    }
    dismiss();
    Share all = std::move(own_.share);
    for (auto& worker : workers_) {
      Share& share = worker->share;
      TreeHits& hits = share.hits;
      all.hits.count += hits.count;
      all.hits.bytes += hits.bytes;
      std::move(hits.names.begin(), hits.names.end(), std::back_inserter(all.hits.names));
      std::move(hits.files.begin(), hits.files.end(), std::back_inserter(all.hits.files));
      std::move(hits.digests.begin(), hits.digests.end(), std::back_inserter(all.hits.digests));
      std::move(hits.findings.begin(), hits.findings.end(), std::back_inserter(all.hits.findings));
      if (share.error) all.note_error(share.error->first, std::move(share.error->second));
    }
    return all;
  }

 private:
  void tell_progress() {
    std::uint64_t bytes = own_.bytes_read;
    for (const auto& worker : workers_) bytes += worker->bytes_read.load(std::memory_order_relaxed);
    request_.progress(given_, bytes);
  }

  bool work_one() {
    std::optional<WalkedFile> file;
    {
      const std::lock_guard lock(mutex_);
      if (queue_.empty()) return false;
      file.emplace(std::move(queue_.front()));
      queue_.pop_front();
    }
    own_.look_at(*file);
    return true;
  }

  void hire() {
    try {
      for (unsigned i = 1; i < request_.jobs; ++i) {
        workers_.push_back(std::make_unique<Worker>(request_, large_files_));
        threads_.emplace_back([this, worker = workers_.back().get()] { serve(*worker); });
      }
    } catch (const std::exception&) {
      // Fewer threads, or none: the calling one does what is left.
    }
  }

  void serve(Worker& worker) noexcept {
    for (;;) {
      std::optional<WalkedFile> file;
      {
        std::unique_lock lock(mutex_);
        wakes_.wait(lock, [this] { return closed_ || !queue_.empty(); });
        if (queue_.empty()) return;
        file.emplace(std::move(queue_.front()));
        queue_.pop_front();
      }
      worker.look_at(*file);
    }
  }

  void dismiss() {
    {
      const std::lock_guard lock(mutex_);
      closed_ = true;
    }
    wakes_.notify_all();
    for (std::thread& thread : threads_) {
      if (thread.joinable()) thread.join();
    }
  }

  const TreeRequest& request_;
  LargeFiles large_files_;
  Worker own_;
  std::uint64_t given_ = 0;
  std::mutex mutex_;
  std::condition_variable wakes_;
  std::deque<WalkedFile> queue_;
  bool closed_ = false;
  std::vector<std::unique_ptr<Worker>> workers_;
  std::vector<std::thread> threads_;
};

void sort_by_path(TreeHits& hits) {
  std::vector<std::size_t> order(hits.files.size());
  for (std::size_t i = 0; i < order.size(); ++i) order[i] = i;
  std::sort(order.begin(), order.end(),
      [&](std::size_t a, std::size_t b) { return hits.files[a].path < hits.files[b].path; });
  std::vector<FileHits> files;
  std::vector<std::string> digests;
  files.reserve(order.size());
  digests.reserve(order.size());
  for (const std::size_t i : order) {
    files.push_back(std::move(hits.files[i]));
    digests.push_back(std::move(hits.digests[i]));
  }
  hits.files = std::move(files);
  hits.digests = std::move(digests);
}

}  // namespace

Result<TreeHits> look_at_tree(const TreeRequest& request) {
  std::vector<Finding> findings;
  Crew crew(request);
  FileWalk walk(
      request.collect,
      [&crew](WalkedFile file) -> Result<void> {
        crew.give(std::move(file));
        return ok();
      },
      findings);
  Result<void> walked = walk.add_all(request.paths);
  Share all = crew.finish();
  GUARD_TRY(std::move(walked));
  if (all.error) return std::move(all.error->second);
  all.hits.ignored_files = walk.ignored_files();
  std::move(findings.begin(), findings.end(), std::back_inserter(all.hits.findings));
  sort_by_path(all.hits);
  std::sort(all.hits.names.begin(), all.hits.names.end());
  return std::move(all.hits);
}

}  // namespace guard

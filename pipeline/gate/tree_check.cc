// How it works. The calling thread walks, and the others work off what it has found; where they fall behind, it works,
// too. They are started when so many files wait that it pays: most checks are of a few files and need none.
#include "pipeline/gate/tree_check.h"

#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <deque>
#include <exception>
#include <memory>
#include <mutex>
#include <optional>
#include <thread>

#include "common/hash.h"
#include "pipeline/gate/file_walk.h"

namespace guard {
namespace {

// Files that wait. Each may hold its folder open, as may those that are put off and that are read, and a process may
// have 1024 descriptors.
constexpr std::size_t kWaitingMax = 256;
constexpr std::size_t kWaitingForThreads = 48;

// A file takes up to forty times its size while it is looked at. So of those that are larger not more are in hand at a
// time than make up kLargeInHandMax, or one; the others are put off.
constexpr std::size_t kLargeBytes = 128 * 1024;
constexpr std::size_t kLargeInHandMax = 2 * 1024 * 1024;
constexpr std::size_t kPutOffMax = 32;

// Thread-safe.
class WaitingFiles {
 public:
  struct Taken {
    WalkedFile file;
    std::size_t large = 0;  // bytes that may be in hand for it, until let_go() is called with them
  };

  void add(WalkedFile file) {
    const std::scoped_lock lock(mutex_);
    files_.push_back({std::move(file)});
    come_.notify_one();
  }

  std::size_t count() {
    const std::scoped_lock lock(mutex_);
    return files_.size();
  }

  // No more are added.
  void close() {
    const std::scoped_lock lock(mutex_);
    closed_ = true;
    come_.notify_all();
  }

  // Nor is what waits wanted.
  void drop_all() {
    close();
    const std::scoped_lock lock(mutex_);
    files_.clear();
    put_off_.clear();
  }

  // One that may be looked at. Nothing where none is left and no more come; with Wait::no also where none is there now.
  enum class Wait : bool { no, yes };
  std::optional<Taken> take(Wait wait) {
    std::unique_lock lock(mutex_);
    for (;;) {
      if (!put_off_.empty() && fits(put_off_.front().large)) {
        in_hand_ += put_off_.front().large;
        return pop(put_off_);
      }
      if (!files_.empty()) return pop(files_);
      if (wait == Wait::no || (closed_ && put_off_.empty())) return std::nullopt;
      come_.wait(lock);
    }
  }

  // A file has turned out to be large. False: it was put off.
  bool take_in_hand(const WalkedFile& file, std::size_t bytes) {
    std::unique_lock lock(mutex_);
    if (put_off_.size() >= kPutOffMax) room_.wait(lock, [&] { return fits(bytes); });
    if (!fits(bytes)) {
      put_off_.push_back({file, bytes});
      return false;
    }
    in_hand_ += bytes;
    return true;
  }

  void let_go(std::size_t bytes) {
    const std::scoped_lock lock(mutex_);
    in_hand_ -= bytes;
    come_.notify_all();
    room_.notify_all();
  }

 private:
  bool fits(std::size_t bytes) const { return in_hand_ == 0 || in_hand_ + bytes <= kLargeInHandMax; }
  static Taken pop(std::deque<Taken>& from) {
    Taken taken = std::move(from.front());
    from.pop_front();
    return taken;
  }

  std::mutex mutex_;
  std::condition_variable come_;  // for take()
  std::condition_variable room_;  // for take_in_hand()
  std::deque<Taken> files_;
  std::deque<Taken> put_off_;
  std::size_t in_hand_ = 0;
  bool closed_ = false;
};

bool is_stopped(const TreeRequest& request) { return request.cancel != nullptr && request.cancel->cancelled(); }

// One thread's work, and what it has come to.
class Worker {
 public:
  Worker(const TreeRequest& request, WaitingFiles& waiting, std::atomic<std::uint64_t>& bytes)
      : request_(request),
        waiting_(waiting),
        bytes_of_all_(bytes),
        check_(*request.rules, *request.matcher, request.options) {}

  void look_at(WaitingFiles::Taken taken) noexcept {
    try {
      if (Result<void> looked = read_and_look(taken); !looked) note_error(taken.file.path, std::move(looked).error());
    } catch (const std::exception& problem) {
      note_error(taken.file.path, Error(ErrorCode::internal, std::string("checking: ") + problem.what()));
    }
    if (taken.large > 0) waiting_.let_go(taken.large);
  }

  void work_off() noexcept {
    while (auto taken = waiting_.take(WaitingFiles::Wait::yes)) look_at(*std::move(taken));
  }

  void note_error(const std::string& path, Error problem) {
    if (!error || path < error->first) error.emplace(path, std::move(problem));
  }

  TreeHits hits;
  std::optional<std::pair<std::string, Error>> error;  // with its path

 private:
  Result<void> read_and_look(WaitingFiles::Taken& taken) {
    if (is_stopped(request_)) return ok();  // nobody asks what came of it
    const WalkedFile& file = taken.file;
    GUARD_TRY_ASSIGN(const bool judged, read_walked(file, request_.collect.file_bytes_max, bytes_, hits.findings));
    if (!judged) return ok();
    if (taken.large == 0 && bytes_.size() >= kLargeBytes) {
      if (!waiting_.take_in_hand(file, bytes_.size())) return ok();
      taken.large = bytes_.size();
    }
    taken.file.folder.reset();  // nobody reads it again
    ++hits.count;
    if (request_.keep_names) hits.names.push_back(file.path);
    bytes_of_all_ += bytes_.size();
    GUARD_TRY(check_.look_at(file.path, bytes_, of_file_));
    if (of_file_.empty()) return ok();
    // A file without hits of its own may be where the halves of an act meet.
    if (of_file_.may_find()) hits.digests.emplace(file.path, sha256_hex(bytes_));
    hits.files.push_back(std::move(of_file_));
    of_file_ = {};
    return ok();
  }

  const TreeRequest& request_;
  WaitingFiles& waiting_;
  std::atomic<std::uint64_t>& bytes_of_all_;
  FileCheck check_;
  std::string bytes_;
  FileHits of_file_;
};

class Crew {
 public:
  explicit Crew(const TreeRequest& request) : request_(request) {
    workers_.push_back(std::make_unique<Worker>(request_, waiting_, bytes_));
  }
  ~Crew() {
    waiting_.drop_all();
    join();
  }

  Result<void> give(WalkedFile file) {
    GUARD_TRY(go_on());
    waiting_.add(std::move(file));
    const std::size_t waiting = waiting_.count();
    if (waiting >= kWaitingForThreads && threads_.empty()) start();
    while (waiting_.count() >= kWaitingMax) {
      if (auto taken = waiting_.take(WaitingFiles::Wait::no)) workers_.front()->look_at(*std::move(taken));
    }
    if (++given_ % kWaitingMax == 0 && request_.progress) request_.progress(given_ - waiting, bytes_);
    return ok();
  }

  // Call once, when all was given. The error is that of the path that comes first.
  Result<TreeHits> finish() {
    waiting_.close();
    workers_.front()->work_off();
    join();
    GUARD_TRY(go_on());
    Worker& all = *workers_.front();
    for (std::size_t i = 1; i < workers_.size(); ++i) {
      Worker& one = *workers_[i];
      all.hits.count += one.hits.count;
      all.hits.digests.merge(one.hits.digests);
      std::move(one.hits.names.begin(), one.hits.names.end(), std::back_inserter(all.hits.names));
      std::move(one.hits.files.begin(), one.hits.files.end(), std::back_inserter(all.hits.files));
      std::move(one.hits.findings.begin(), one.hits.findings.end(), std::back_inserter(all.hits.findings));
      if (one.error) all.note_error(one.error->first, std::move(one.error->second));
    }
    if (all.error) return std::move(all.error->second);
    all.hits.bytes = bytes_;
    return std::move(all.hits);
  }

 private:
  Result<void> go_on() const {
    if (is_stopped(request_)) return Error(ErrorCode::cancelled, "stopped before all files were checked");
    return ok();
  }

  void start() {
    try {
      while (workers_.size() < request_.jobs) {
        Worker& worker = *workers_.emplace_back(std::make_unique<Worker>(request_, waiting_, bytes_));
        threads_.emplace_back([&worker] { worker.work_off(); });
      }
    } catch (const std::exception&) {
      // Fewer threads, or none: the calling one does what is left.
    }
  }

  void join() {
    for (std::thread& thread : threads_) thread.join();
    threads_.clear();
  }

  const TreeRequest& request_;
  WaitingFiles waiting_;
  std::atomic<std::uint64_t> bytes_ = 0;          // that were looked at
  std::vector<std::unique_ptr<Worker>> workers_;  // the first is the calling thread's
  std::vector<std::thread> threads_;
  std::uint64_t given_ = 0;
};

}  // namespace

Result<TreeHits> look_at_tree(const TreeRequest& request) {
  std::vector<Finding> findings;
  Crew crew(request);
  FileWalk walk(
      request.collect, [&crew](WalkedFile file) { return crew.give(std::move(file)); }, findings);
  GUARD_TRY(walk.add_all(request.paths));
  GUARD_TRY_ASSIGN(TreeHits hits, crew.finish());
  hits.ignored_files = walk.ignored_files();
  std::move(findings.begin(), findings.end(), std::back_inserter(hits.findings));
  std::sort(hits.files.begin(), hits.files.end(), [](const FileHits& a, const FileHits& b) { return a.path < b.path; });
  std::sort(hits.names.begin(), hits.names.end());
  return hits;
}

}  // namespace guard

#include "serve/e2b/processes.h"

#include <algorithm>
#include <new>
#include <utility>

#include "common/threads.h"

namespace guard::serve::e2b {
namespace {

constexpr std::size_t kListenerBytesMax = 1u << 20;
constexpr milliseconds kLook{200};

}  // namespace

Process::Listener::Listener(Process& process) : process_(process) {
  const std::lock_guard lock(process_.mutex_);
  process_.listeners_.push_back(this);
}

Process::Listener::~Listener() {
  const std::lock_guard lock(process_.mutex_);
  process_.listeners_.remove(this);
  process_.changed_.notify_all();
}

Result<std::optional<Task::Piece>> Process::Listener::next(Deadline deadline) {
  std::unique_lock lock(process_.mutex_);
  const auto is_there = [&] { return !pieces_.empty() || process_.over_; };
  if (!process_.changed_.wait_for(lock, std::min(deadline.remaining(), milliseconds(3'600'000)), is_there))
    return Error(ErrorCode::execution_timeout, "the program says nothing");
  if (pieces_.empty()) return std::optional<Task::Piece>();
  std::optional<Task::Piece> piece(std::move(pieces_.front()));
  pieces_.pop_front();
  bytes_ -= piece->bytes.size();
  process_.changed_.notify_all();
  return piece;
}

Process::~Process() {
  {
    const std::lock_guard lock(mutex_);
    stopping_ = true;
    changed_.notify_all();
  }
  if (reader_.joinable()) reader_.join();
}

Result<void> Process::run() {
  GUARD_TRY_ASSIGN(reader_, new_thread([this] { read_all(); }));
  return ok();
}

bool Process::ended() const {
  const std::lock_guard lock(mutex_);
  return over_;
}

bool Process::has_room() const {
  return std::all_of(
      listeners_.begin(), listeners_.end(), [](const Listener* one) { return one->bytes_ < kListenerBytesMax; });
}

void Process::read_all() try {
  for (;;) {
    auto piece = task_->read(Deadline::after(kLook));
    std::unique_lock lock(mutex_);
    const bool silent = !piece && piece.error().code() == ErrorCode::execution_timeout;
    if (silent && !stopping_) continue;
    if (stopping_ || !piece || !*piece) break;
    changed_.wait(lock, [this] { return stopping_ || has_room(); });
    for (Listener* one : listeners_) {
      one->pieces_.push_back(**piece);
      one->bytes_ += (*piece)->bytes.size();
    }
    changed_.notify_all();
  }
  const std::lock_guard lock(mutex_);
  over_ = true;
  changed_.notify_all();
} catch (const std::bad_alloc&) {  // no room for what it says: it is lost, and nobody hears it
  static_cast<void>(task_->signal(9));
  const std::lock_guard lock(mutex_);
  over_ = true;
  changed_.notify_all();
}

std::shared_ptr<Process> Processes::add(std::uint32_t pid, ProcessConfig config, std::unique_ptr<Task> task) {
  const std::lock_guard lock(mutex_);
  std::erase_if(all_, [](const auto& one) { return one->ended(); });
  return all_.emplace_back(std::make_shared<Process>(pid, std::move(config), std::move(task)));
}

std::vector<std::shared_ptr<Process>> Processes::live() {
  const std::lock_guard lock(mutex_);
  std::vector<std::shared_ptr<Process>> found = all_;
  std::erase_if(found, [](const auto& one) { return one->ended(); });
  return found;
}

void Processes::remove(const Process& process) {
  const std::lock_guard lock(mutex_);
  std::erase_if(all_, [&process](const auto& one) { return one.get() == &process; });
}

std::shared_ptr<Process> Processes::find(std::optional<std::uint32_t> pid, const std::string& tag) {
  const auto processes = live();
  const auto found = std::find_if(processes.rbegin(), processes.rend(),
      [&](const auto& one) { return pid ? one->pid == *pid : !tag.empty() && one->config.tag == tag; });
  return found == processes.rend() ? nullptr : *found;
}

void Processes::end() {
  std::vector<std::shared_ptr<Process>> ended;
  {
    const std::lock_guard lock(mutex_);
    ended.swap(all_);
  }
  for (const auto& process : ended) static_cast<void>(process->task().signal(9));
}

}  // namespace guard::serve::e2b

#include "common/read_watch.h"

#include <algorithm>
#include <atomic>
#include <mutex>
#include <vector>

namespace guard {
namespace {

// Most runs watch nothing, and read tens of thousands of files.
std::atomic<bool> g_any{false};
std::mutex g_mutex;
std::vector<ReadWatch*> g_watches;  // under the mutex

}  // namespace

ReadWatch::ReadWatch(const struct stat& status) : device_(status.st_dev), inode_(status.st_ino) {
  const std::lock_guard lock(g_mutex);
  g_watches.push_back(this);
  g_any = true;
}

ReadWatch::~ReadWatch() {
  const std::lock_guard lock(g_mutex);
  std::erase(g_watches, this);
  g_any = !g_watches.empty();
}

std::string ReadWatch::read_as() const {
  const std::lock_guard lock(g_mutex);
  return read_as_;
}

void ReadWatch::tell(const struct stat& status, const std::string& path) {
  if (!g_any) return;
  const std::lock_guard lock(g_mutex);
  for (ReadWatch* watch : g_watches) {
    const bool same = watch->device_ == status.st_dev && watch->inode_ == status.st_ino;
    if (same && watch->read_as_.empty()) watch->read_as_ = path;
  }
}

}  // namespace guard

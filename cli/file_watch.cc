#include "cli/file_watch.h"

#include <poll.h>

#include <map>
#include <set>
#include <string>
#include <system_error>

#include "common/own_entry.h"

namespace guard {
namespace {

namespace fs = std::filesystem;

constexpr int kLookEveryMs = 250;

struct State {
  std::map<fs::path, std::pair<fs::file_time_type, std::uintmax_t>> files;
  std::map<fs::path, std::set<std::string>> folders;
  friend bool operator==(const State&, const State&) = default;
};

State state_of(const std::vector<fs::path>& files) {
  State state;
  for (const fs::path& file : files) {
    std::error_code failure;
    const auto time = fs::last_write_time(file, failure);
    const auto size = fs::file_size(file, failure);
    state.files[file] = {failure ? fs::file_time_type::min() : time, failure ? 0 : size};
    const auto [folder, is_new] = state.folders.try_emplace(file.parent_path());
    if (!is_new) continue;
    for (fs::directory_iterator entry(file.parent_path(), failure), end; !failure && entry != end;
         entry.increment(failure)) {
      const std::string name = entry->path().filename().string();
      if (!is_own_name(name)) folder->second.insert(name);
    }
  }
  return state;
}

}  // namespace

bool wait_for_change(const std::vector<fs::path>& files, fs::file_time_type since, const CancelToken& cancel) {
  const State first = state_of(files);
  for (const auto& [file, state] : first.files) {
    if (state.first > since) return !cancel.cancelled();
  }
  for (State before = first;;) {
    pollfd cancelled{cancel.fd(), POLLIN, 0};
    ::poll(&cancelled, 1, kLookEveryMs);
    if (cancel.cancelled()) return false;
    State now = state_of(files);
    // An editor writes in several steps: the last look has to have seen the same.
    if (now == before && !(now == first)) return true;
    before = std::move(now);
  }
}

}  // namespace guard

// What `guard run --watch` waits for.
#include "cli/file_watch.h"

#include <gtest/gtest.h>

#include <atomic>
#include <functional>
#include <thread>

#include "common/file_io.h"

namespace guard {
namespace {

namespace fs = std::filesystem;

struct FileWatch : ::testing::Test {
  FileWatch() {
    EXPECT_TRUE(make_folders(folder.path() / "in"));
    for (const fs::path& file : files) EXPECT_TRUE(write_file_atomically(file, "1"));
  }
  // Whether a change made while somebody waits is seen.
  bool sees(const std::function<void()>& change) {
    const auto since = fs::file_time_type::clock::now() + std::chrono::hours(1);  // only what comes while we wait
    std::atomic<bool> over = false;
    std::thread maker([&] {
      std::this_thread::sleep_for(std::chrono::milliseconds(400));
      change();
      over = true;
    });
    const bool seen = wait_for_change(files, since, cancel);
    maker.join();
    return seen;
  }
  TempDir folder = TempDir::create().value();
  std::vector<fs::path> files = {folder.path() / "a.test.ts", folder.path() / "in" / "b.ts"};
  CancelToken cancel;
};

TEST_F(FileWatch, SeesWhatIsChangedMadeAndRemoved) {
  EXPECT_TRUE(sees([&] { EXPECT_TRUE(write_file_atomically(files[1], "22")); }));
  EXPECT_TRUE(sees([&] { fs::remove(files[1]); }));
  EXPECT_TRUE(sees([&] { EXPECT_TRUE(write_file_atomically(folder.path() / "in" / "new.ts", "")); }));
}

TEST_F(FileWatch, SeesWhatWasChangedDuringTheRun) {
  EXPECT_TRUE(wait_for_change(files, fs::file_time_type::clock::now() - std::chrono::hours(1), cancel));
}

TEST_F(FileWatch, EndsWhenCancelledAndLeavesGuardsOwnEntriesAlone) {
  EXPECT_FALSE(sees([&] {
    EXPECT_TRUE(make_folders(folder.path() / ".guard-0123456789abcdef"));
    std::this_thread::sleep_for(std::chrono::milliseconds(600));
    cancel.cancel();
  }));
}

}  // namespace
}  // namespace guard

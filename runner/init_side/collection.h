// What a run wrote into its scratch folder, as init handed it out (init/collect_files.h). Bytes of the tested program:
// nothing of it has been checked but its size and that a path is a plain one below the folder.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace guard {

// What guard asks init for. The limits keep what a run can make guard hold in memory far below what the run itself may
// use, and well above what tests write for a person to keep: snapshots, a report, some generated fixtures.
struct CollectRequest {
  std::string folder;           // one of SandboxSpec::scratch
  std::uint64_t files_max = 0;  // 0: names only
  std::uint64_t bytes_max = 0;  // of all files together
  std::uint64_t file_bytes_max = 0;

  static constexpr std::uint64_t kFilesMax = 1000;
  static constexpr std::uint64_t kBytesMax = 32u << 20;
  static constexpr std::uint64_t kFileBytesMax = 8u << 20;
};

enum class LeftBehindReason : std::uint8_t {
  // init's (runner/init_side/init_protocol.h)
  not_asked,
  link,
  hard_link,
  special_file,
  too_large,
  too_many,
  too_deep,
  bad_name,
  unreadable,
  // the pipeline's (pipeline/run/collected_files.h, pipeline/run/write_back.h)
  not_allowed,
  not_listed,
  kept_out,
  secret,
  finding,
  exists,
  not_written,
};
std::string_view to_string(LeftBehindReason reason) noexcept;  // the wire name: "hard_link"

struct LeftBehind {
  std::string path;  // printable
  LeftBehindReason reason = LeftBehindReason::not_asked;
};

struct CollectedFile {
  std::string path;  // "out/a.json": plain, printable UTF-8, no ".." in it
  std::string bytes;
};

struct Collection {
  std::vector<CollectedFile> files;
  std::vector<LeftBehind> left_behind;  // the first of them
  std::uint64_t left_behind_count = 0;  // all of them
  bool complete = true;                 // false: the walk was given up (too many entries, too slow, stopped)
};

}  // namespace guard

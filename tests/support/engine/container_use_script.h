// A cu program for tests: tests/container_use/cu.sh, with what goes wrong and how it runs commands.
#pragma once

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "common/file_io.h"
#include "runner/process/shell_quote.h"
#include "runner/sandbox/seccomp_filter.h"

namespace guard::testing {

class ContainerUseScript {
 public:
  // `folder` must outlive it, and other users must be able to walk there.
  explicit ContainerUseScript(std::filesystem::path folder) : folder_(std::move(folder)) {
    EXPECT_TRUE(make_folders(folder_ / "bin", 0755));
    EXPECT_TRUE(make_folders(folder_ / "state", 0755));
    const auto filter = compile_seccomp_filter(seccomp_profile_json());
    EXPECT_TRUE(filter);
    std::string bytes(1u << 20, '\0');
    const ssize_t size = filter ? ::pread(filter->get(), bytes.data(), bytes.size(), 0) : 0;
    bytes.resize(size > 0 ? static_cast<std::size_t>(size) : 0);
    EXPECT_TRUE(write_file_atomically(folder_ / "state" / "filter", bytes));
    behave("", "sandbox");
  }

  // See cu.sh.
  void behave(std::string_view fault, std::string_view inside, std::string_view bun = {}) const {
    const std::string text =
        fmt::format("#!/bin/sh\nexport CU_STATE={} CU_FAULT={} CU_INSIDE={} CU_BUN={}\nexec bash {} \"$@\"\n",
            shell_quoted((folder_ / "state").string()), shell_quoted(fault), shell_quoted(inside), shell_quoted(bun),
            shell_quoted(GUARD_SOURCE_DIR "/tests/container_use/cu.sh"));
    EXPECT_TRUE(write_file_atomically(program(), text, 0755));
  }

  std::filesystem::path bin() const { return folder_ / "bin"; }
  std::filesystem::path program() const { return bin() / "cu"; }

  // The arguments of each call, joined with blanks.
  std::vector<std::string> calls() const {
    const auto text = read_file(folder_ / "state" / "calls", 1u << 20, FollowLinks::no);
    std::vector<std::string> lines;
    if (!text) return lines;
    for (std::size_t at = 0; at < text->size();) {
      const std::size_t end = text->find('\n', at);
      lines.push_back(text->substr(at, end - at));
      at = end + 1;
    }
    return lines;
  }
  int calls_of(std::string_view start) const {
    int count = 0;
    for (const auto& call : calls()) count += call.starts_with(start) ? 1 : 0;
    return count;
  }
  // How many there are now.
  int environments() const {
    std::error_code failure;
    int count = 0;
    for (std::filesystem::directory_iterator entry(folder_ / "state" / "environments", failure), end;
         !failure && entry != end; entry.increment(failure))
      ++count;
    return count;
  }

 private:
  std::filesystem::path folder_;
};

}  // namespace guard::testing

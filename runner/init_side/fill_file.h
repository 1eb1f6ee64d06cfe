// Writes a file of runner/init_side/fill_format.h.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>

#include "common/result.h"
#include "common/unique_fd.h"
#include "runner/init_side/fill_format.h"

namespace guard {

class FillFile {
 public:
  // A new file; IO_ERROR where one is there.
  static Result<FillFile> create(const std::filesystem::path& path);

  // Parents first. `content`: of a file or program, or a link's target.
  Result<void> add(fill_format::Kind kind, std::string_view path, std::string_view content = {});

  // Without it the file is not whole, and nobody takes it.
  Result<void> finish();

 private:
  FillFile(UniqueFd file, std::filesystem::path path) : file_(std::move(file)), path_(std::move(path)) {}
  Result<void> append(std::string_view bytes);
  Result<void> flush();
  Result<void> write(std::string_view bytes);

  UniqueFd file_;
  std::filesystem::path path_;  // for what is said of it
  std::string waiting_;
};

}  // namespace guard

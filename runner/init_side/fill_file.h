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
  explicit FillFile(UniqueFd file) : file_(std::move(file)) {}
  Result<void> append(std::string_view bytes);
  Result<void> flush();

  UniqueFd file_;
  std::string waiting_;
};

}  // namespace guard

// Environment variables that a test shows: what it compares, throws, or writes into a title is printed when it fails.
// The ways from the read to there that are followed: names, members, templates, literals, functions that give it back,
// and containers and texts of the language. What an imported function makes of it is not.
#pragma once

#include <cstddef>
#include <memory>
#include <string_view>

namespace guard {

class CodeIndex;

class ShownVariables {
 public:
  // For all reads of a file together, in bytes and places looked at.
  static constexpr std::size_t kWorkMax = 16'000'000;

  // Of the code view of one file (validator/views/source_view.h), which must outlive it. Without any work left a
  // variable counts as shown.
  explicit ShownVariables(std::string_view code, std::size_t work = kWorkMax);
  ~ShownVariables();

  // `begin`, `end`: of a read, "process.env.NAME".
  bool contain(std::size_t begin, std::size_t end);

 private:
  std::unique_ptr<const CodeIndex> index_;
  std::size_t work_;
};

}  // namespace guard

// Result<T>: a value or an Error, never to be dropped. Our code throws nothing; what libraries throw becomes an Error
// where it enters.
#pragma once

#include <string>
#include <tl/expected.hpp>
#include <utility>

#include "common/error.h"

namespace guard {

template <typename T>
class [[nodiscard]] Result : public tl::expected<T, Error> {
 public:
  using tl::expected<T, Error>::expected;
  Result(Error error) : tl::expected<T, Error>(tl::unexpect, std::move(error)) {}  // NOLINT: meant to be implicit

  // Says what was being done when this failed; nothing happens to a value.
  Result&& context(std::string frame) && {
    if (!this->has_value()) std::move(this->error()).context(std::move(frame));
    return std::move(*this);
  }
};

inline Result<void> ok() { return {}; }

}  // namespace guard

// Leaves the calling function with the error, if there is one.
#define GUARD_TRY(expression)                                          \
  do {                                                                 \
    auto guard_try_result = (expression);                              \
    if (!guard_try_result) return std::move(guard_try_result).error(); \
  } while (false)

#define GUARD_CONCAT_INNER(a, b) a##b
#define GUARD_CONCAT(a, b) GUARD_CONCAT_INNER(a, b)
#define GUARD_TRY_ASSIGN_INNER(name, declaration, expression) \
  auto name = (expression);                                   \
  if (!name) return std::move(name).error();                  \
  declaration = std::move(*name)

// GUARD_TRY_ASSIGN(auto text, read_file(path));
#define GUARD_TRY_ASSIGN(declaration, expression) \
  GUARD_TRY_ASSIGN_INNER(GUARD_CONCAT(guard_try_, __LINE__), declaration, expression)

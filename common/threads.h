// Threads without exceptions.
#pragma once

#include <functional>
#include <system_error>
#include <thread>
#include <utility>

#include "common/result.h"

namespace guard {

// EXECUTION_FAILED where the system has no more threads.
inline Result<std::thread> new_thread(std::function<void()> work) {
  try {
    return std::thread(std::move(work));
  } catch (const std::system_error& failure) {
    return Error::from_errno(ErrorCode::execution_failed, "starting a thread", failure.code().value());
  }
}

}  // namespace guard

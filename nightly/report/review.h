// What `guard nightly review` shows of one task, so that a person can take it, drop it or send it back: what was asked
// for, what came of it, and the change. Pure.
#pragma once

#include <string>
#include <vector>

#include "nightly/loop/night_values.h"
#include "nightly/report/report.h"
#include "redact/kinds/secret_source.h"

namespace guard::nightly {

// `attempts`: of this task, by number. Masked once more and made harmless; the diff is that of the last attempt that
// has one.
std::string review_text(
    const Task& task, const std::vector<Attempt>& attempts, const SecretSource& secrets, Colour colour);

// One line per task, for choosing: "add-negative  accepted  3 passed, 5 of 6 broken versions noticed".
std::string review_list(
    const std::vector<Task>& tasks, const std::vector<Attempt>& attempts, const SecretSource& secrets, Colour colour);

}  // namespace guard::nightly

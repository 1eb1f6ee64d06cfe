// The text for people: findings with place, excerpt, caret and what to write instead; the verdict with what to do next.
// Colour only when asked for. All foreign text was made printable before.
#pragma once

#include <string>

#include "common/text/paint.h"
#include "pipeline/run_record.h"

namespace guard {

std::string check_text(const CheckRecord& record, Colour colour);
std::string run_text(const RunRecord& record, Colour colour);

}  // namespace guard

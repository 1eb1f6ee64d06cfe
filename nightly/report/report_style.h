// The style sheet of the page, embedded: a page in a mail has no other file with it.
#pragma once

#include <string_view>

namespace guard::nightly {

extern const std::string_view kReportStyle;

}  // namespace guard::nightly

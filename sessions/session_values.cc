#include "sessions/session_values.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>

#include "common/text/text.h"

namespace guard::sessions {
namespace {

bool is_part(std::string_view part) {
  constexpr std::size_t kPartMax = 64;
  return !part.empty() && part.size() <= kPartMax && part.front() != '.' &&
      std::all_of(part.begin(), part.end(), [](char c) {
        return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '.' || c == '_' ||
            c == '-';
      });
}

}  // namespace

Result<void> check_session_id(std::string_view id) {
  const std::size_t slash = id.find('/');
  if (slash != std::string_view::npos && is_part(id.substr(0, slash)) && is_part(id.substr(slash + 1))) return ok();
  return Error(ErrorCode::input_invalid, fmt::format("\"{}\" is no session id", printable(cut_text(id, 160, "..."))))
      .hint("use TENANT/CONVERSATION, each 1 to 64 of A-Z a-z 0-9 . _ -, not beginning with a dot");
}

std::string_view tenant_of(std::string_view session_id) noexcept { return session_id.substr(0, session_id.find('/')); }

mode_t folder_mode() noexcept { return ::geteuid() == 0 ? 0711 : 0700; }

}  // namespace guard::sessions

#include "validator/finding.h"

#include <tuple>

namespace guard {

std::string_view to_string(FindingTier tier) noexcept {
  switch (tier) {
    case FindingTier::always: return "always";
    case FindingTier::docker: return "docker";
    case FindingTier::host: return "host";
    case FindingTier::banned: return "banned";
    case FindingTier::side_file: return "side_file";
    case FindingTier::encoding: return "encoding";
    case FindingTier::policy: return "policy";
  }
  return "policy";
}

bool operator<(const Finding& a, const Finding& b) noexcept {
  return std::tie(a.path, a.begin, a.rule, a.end) < std::tie(b.path, b.begin, b.rule, b.end);
}

}  // namespace guard

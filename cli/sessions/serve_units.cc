#include "cli/sessions/serve_units.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "common/hash.h"
#include "common/text/template.h"
#include "common/text/text.h"
#include "nightly/install/systemd_units.h"

extern "C" {
extern const char guard_serve_service[], guard_serve_service_end[];
extern const char guard_serve_socket[], guard_serve_socket_end[];
}

namespace guard {
namespace {

constexpr std::string_view kMark =
    "# Written by `guard serve install`, which does not touch it again once it was changed.\n"
    "# Changes belong into a drop-in: systemctl --user edit ";
constexpr std::string_view kDigest = "# Digest of all below: ";

std::string marked(std::string_view name, const std::string& text) {
  return fmt::format("{}{}\n{}{}\n\n{}", kMark, name, kDigest, sha256_hex(text), text);
}

bool is_as_written(std::string_view found) {
  if (!found.starts_with(kMark)) return false;
  const std::size_t digest = found.find(kDigest);
  const std::size_t body = found.find("\n\n");
  if (digest == std::string_view::npos || body == std::string_view::npos || digest > body) return false;
  return found.substr(digest + kDigest.size(), body - digest - kDigest.size()) == sha256_hex(found.substr(body + 2));
}

}  // namespace

Result<std::vector<ServeUnit>> serve_units(const ServeUnitRequest& request) {
  if (request.command.empty()) return Error(ErrorCode::input_invalid, "a unit without a command");
  std::vector<std::string> command = request.command;
  GUARD_TRY(nightly::check_unit_program(command.front()));
  command.front().insert(0, ":");  // a dollar sign stays one
  nlohmann::ordered_json values = {{"variables", nlohmann::ordered_json::array()},
      {"stop_seconds", std::chrono::ceil<std::chrono::seconds>(request.stop_max).count()}};
  GUARD_TRY_ASSIGN(values["command"], nightly::unit_words(command));
  GUARD_TRY_ASSIGN(values["writable"], nightly::unit_words(request.writable));
  // A socket's path is the rest of its line, as it is but for specifiers.
  GUARD_TRY(nightly::unit_word(request.socket));
  values["socket"] = replaced(request.socket, "%", "%%");
  for (const auto& [name, value] : request.variables) {
    GUARD_TRY_ASSIGN(std::string word, nightly::unit_word(fmt::format("{}={}", name, value)));
    values["variables"].push_back(std::move(word));
  }
  std::vector<std::string> named = request.command;
  named.insert(named.end(), request.writable.begin(), request.writable.end());
  named.insert(named.end(), request.needed.begin(), request.needed.end());
  values["in_tmp"] = nightly::is_in_tmp(named, request.variables);
  std::vector<ServeUnit> units;
  for (const auto& [name, text] :
      {std::pair("guard-serve.socket", std::string_view(guard_serve_socket, guard_serve_socket_end)),
          std::pair("guard-serve.service", std::string_view(guard_serve_service, guard_serve_service_end))})
    units.push_back({name, marked(name, fill_template(text, values, {}))});
  return units;
}

UnitState unit_state(std::string_view found, std::string_view wanted) {
  if (found == wanted) return UnitState::same;
  return is_as_written(found) ? UnitState::older : UnitState::changed;
}

std::string unit_changes(std::string_view found, std::string_view wanted) {
  const auto old_lines = pieces_of(found);
  const auto new_lines = pieces_of(wanted);
  // The length of the longest common subsequence of what is left from each pair of lines on.
  std::vector<std::vector<std::size_t>> common(old_lines.size() + 1, std::vector<std::size_t>(new_lines.size() + 1));
  for (std::size_t i = old_lines.size(); i-- > 0;) {
    for (std::size_t j = new_lines.size(); j-- > 0;)
      common[i][j] =
          old_lines[i] == new_lines[j] ? common[i + 1][j + 1] + 1 : std::max(common[i + 1][j], common[i][j + 1]);
  }
  std::string text;
  for (std::size_t i = 0, j = 0; i < old_lines.size() || j < new_lines.size();) {
    const bool both = i < old_lines.size() && j < new_lines.size();
    if (both && old_lines[i] == new_lines[j]) {
      ++i, ++j;
    } else if (j == new_lines.size() || (both && common[i + 1][j] >= common[i][j + 1])) {
      text += fmt::format("-{}\n", printable(old_lines[i++]));
    } else {
      text += fmt::format("+{}\n", printable(new_lines[j++]));
    }
  }
  return text;
}

}  // namespace guard

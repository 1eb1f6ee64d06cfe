#include "cli/settings_edit.h"

#include <fmt/format.h>
#include <sys/stat.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <string_view>

#include "common/file_io.h"
#include "common/text/foreign_json.h"
#include "common/text/text.h"
#include "redact/redactor.h"

namespace guard {
namespace {

constexpr std::uint64_t kFileMax = 4u << 20;

// All that lies between the first and the last line that differ, with some lines around it.
std::string difference(const FileEdit& edit) {
  constexpr std::size_t kAround = 3;
  const auto before = pieces_of(edit.before);
  const auto after = pieces_of(edit.after);
  const std::size_t shorter = std::min(before.size(), after.size());
  std::size_t same = 0;
  while (same < shorter && before[same] == after[same]) ++same;
  std::size_t tail = 0;
  while (tail < shorter - same && before[before.size() - 1 - tail] == after[after.size() - 1 - tail]) ++tail;
  std::string text =
      fmt::format("{} {}\n", edit.before.empty() ? "new file:" : "changed: ", printable(edit.path.native()));
  const auto print = [&](char mark, std::span<const std::string_view> lines) {
    for (const auto line : lines) text += fmt::format("{} {}\n", mark, printable(line));
  };
  const std::span<const std::string_view> olds(before);
  const std::span<const std::string_view> news(after);
  const std::size_t from = same > kAround ? same - kAround : 0;
  print(' ', olds.subspan(from, same - from));
  print('-', olds.subspan(same, before.size() - same - tail));
  print('+', news.subspan(same, after.size() - same - tail));
  print(' ', olds.subspan(before.size() - tail, std::min(tail, kAround)));
  return text;
}

}  // namespace

Result<FileEdit> begin_edit(const std::filesystem::path& project, const std::filesystem::path& relative) {
  FileEdit edit{project / relative, 0644, {}, {}};
  for (auto folder = relative.parent_path(); !folder.empty(); folder = folder.parent_path()) {
    if (std::filesystem::is_symlink(project / folder))
      return Error(ErrorCode::input_invalid, fmt::format("{} is a link", printable((project / folder).native())))
          .hint("guard writes settings into the project only: put a folder in its place, or add them by hand");
  }
  struct stat found {};
  if (::lstat(edit.path.c_str(), &found) == 0) edit.mode = found.st_mode & 07777;
  auto text = read_file(edit.path, kFileMax, FollowLinks::no);
  if (!text && text.error().code() == ErrorCode::file_not_found) text = std::string();
  if (!text) return std::move(text).error();
  edit.before = *text;
  edit.after = std::move(*text);
  return edit;
}

Result<nlohmann::ordered_json> settings_in(const FileEdit& edit, std::string_view by_hand) {
  const auto refused = [&](std::string_view why) {
    return Error(ErrorCode::input_invalid, fmt::format("{} {}", printable(edit.path.native()), why))
        .hint(std::string(by_hand));
  };
  nlohmann::ordered_json settings = nlohmann::ordered_json::object();
  if (!edit.before.empty()) {
    // A second look at the text keeps the order of its keys.
    const auto sound = parse_json(edit.before, RepeatedKeys::refused);
    if (!sound) return refused(sound.error().message());
    settings = nlohmann::ordered_json::parse(edit.before, nullptr, false);
  }
  if (!settings.is_object()) return refused("is no JSON object");
  return settings;
}

std::string settings_text(const nlohmann::ordered_json& settings) { return settings.dump(2) + "\n"; }

Result<int> finish_edits(std::span<const FileEdit> edits, bool yes, OutStream& out) {
  bool open = false;
  GUARD_TRY_ASSIGN(const SecretSource secrets, SecretSource::shipped());
  for (const FileEdit& edit : edits) {
    if (edit.after == edit.before) {
      out.print("up to date: {}\n", printable(edit.path.native()));
      continue;
    }
    GUARD_TRY_ASSIGN(const std::string shown, redact_text(secrets, difference(edit)));
    out.write(shown);
    if (!yes) {
      open = true;
      continue;
    }
    GUARD_TRY(make_folders(edit.path.parent_path()));
    GUARD_TRY(write_file_atomically(edit.path, edit.after, edit.mode));
    out.print("written: {}\n", printable(edit.path.native()));
  }
  if (open) out.print("next:    repeat the command with --yes to write this\n");
  return open ? 1 : 0;
}

}  // namespace guard

#include "pipeline/run/preload.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <system_error>

#include "common/file_io.h"
#include "common/hash.h"
#include "common/text/text.h"
#include "common/text/toml_file.h"
#include "pipeline/change/config_trust.h"
#include "pipeline/gate/module_names.h"

namespace guard {
namespace {

namespace fs = std::filesystem;

constexpr const char* kConfig = "bunfig.toml";
constexpr std::uint64_t kConfigBytesMax = 1 << 20;
constexpr std::uint64_t kFileBytesMax = 16 << 20;

Error refused(std::string_view why) {
  return Error(ErrorCode::config_invalid, fmt::format("{}: {}", kConfig, why))
      .hint("name the preload by a path that begins with ./ and has its ending, and commit both files");
}

std::string quoted(const std::string& text) { return nlohmann::json(text).dump(); }

std::string key_text(const std::string& key) {
  const bool bare = !key.empty() &&
      std::all_of(key.begin(), key.end(), [](unsigned char c) { return std::isalnum(c) != 0 || c == '_' || c == '-'; });
  return bare ? key : quoted(key);
}

// As TOML on one line.
Result<std::string> value_text(const TomlValue& value) {
  std::string text;
  switch (value.kind) {
    case TomlValue::Kind::string: return quoted(value.text);
    case TomlValue::Kind::integer: return fmt::format("{}", value.integer);
    case TomlValue::Kind::floating: return fmt::format("{}", value.number);
    case TomlValue::Kind::boolean: return std::string(value.boolean ? "true" : "false");
    case TomlValue::Kind::array:
      for (const TomlValue& item : value.items) {
        GUARD_TRY_ASSIGN(const std::string one, value_text(item));
        text += (text.empty() ? "" : ", ") + one;
      }
      return "[" + text + "]";
    case TomlValue::Kind::table:
      for (const TomlMember& member : value.members) {
        GUARD_TRY_ASSIGN(const std::string one, value_text(member.value));
        text += (text.empty() ? "" : ", ") + key_text(member.key) + " = " + one;
      }
      return "{" + text + "}";
    case TomlValue::Kind::other: break;
  }
  return refused(fmt::format("line {}: a value that guard can't hand on", value.line));
}

Result<std::string> without_preload(const TomlValue& root) {
  std::string text;
  for (const TomlMember& member : root.members) {
    if (member.key == "install" || member.key == "preload" || member.value.kind == TomlValue::Kind::table) continue;
    GUARD_TRY_ASSIGN(const std::string value, value_text(member.value));
    text += key_text(member.key) + " = " + value + "\n";
  }
  for (const TomlMember& member : root.members) {
    if (member.key == "install" || member.value.kind != TomlValue::Kind::table) continue;
    text += "[" + key_text(member.key) + "]\n";
    for (const TomlMember& inner : member.value.members) {
      if (member.key == "test" && inner.key == "preload") continue;
      GUARD_TRY_ASSIGN(const std::string value, value_text(inner.value));
      text += key_text(inner.key) + " = " + value + "\n";
    }
  }
  return text;
}

class Reader {
 public:
  explicit Reader(const fs::path& project) : project_(project) {}

  Result<Preload> read() {
    std::error_code failure;
    const fs::file_status status = fs::symlink_status(project_ / kConfig, failure);
    if (status.type() == fs::file_type::not_found) return Preload();
    if (!fs::is_regular_file(status)) return refused("it is no regular file");
    root_ = fs::canonical(project_, failure);
    if (failure) return Error::from_errno(ErrorCode::io_error, printable(project_.native()), failure.value());
    GUARD_TRY_ASSIGN(const std::string text, read_file(project_ / kConfig, kConfigBytesMax, FollowLinks::no));
    // A key may be written with escapes.
    if (text.find("preload") == std::string::npos && text.find('\\') == std::string::npos) return Preload();
    GUARD_TRY_ASSIGN(const TomlValue root, parse_toml(text, kConfig));
    const TomlValue* const test = root.find("test");
    const TomlValue* const preload = test == nullptr ? nullptr : test->find("preload");
    if (preload == nullptr) return Preload();
    if (preload->kind == TomlValue::Kind::string) GUARD_TRY(add(*preload));
    for (const TomlValue& item : preload->items) GUARD_TRY(add(item));
    if (found_.names.empty()) return Preload();
    found_.files.insert(found_.files.begin(), kConfig);
    GUARD_TRY_ASSIGN(found_.config, without_preload(root));
    return std::move(found_);
  }

 private:
  Result<void> add(const TomlValue& value) {
    if (value.kind != TomlValue::Kind::string || value.text.empty())
      return refused(fmt::format("line {}: preload is a list of names", value.line));
    const std::string& name = value.text;
    if (name.starts_with('.') || name.starts_with('/')) {
      GUARD_TRY_ASSIGN(const std::vector<std::string> files, files_at(name));
      if (files.size() == 1) return add_file(files.front());
      return refused(fmt::format("line {}: {} is {} of the project", value.line, printable(name),
          files.empty() ? "no file" : "several files"));
    }
    // A package of a workspace or an alias is a file of the project, too.
    std::vector<std::string> files;
    for (const std::string& target : targets_of(name)) {
      GUARD_TRY_ASSIGN(const std::vector<std::string> more, files_at(target));
      files.insert(files.end(), more.begin(), more.end());
    }
    if (files.size() > 1)
      return refused(fmt::format(
          "line {}: {} may be {} or {}", value.line, printable(name), printable(files[0]), printable(files[1])));
    if (!files.empty()) return add_file(files.front());
    found_.names.push_back(name);
    return ok();
  }

  Result<void> add_file(const std::string& path) {
    found_.names.push_back("./" + path);
    if (std::find(found_.files.begin(), found_.files.end(), path) == found_.files.end()) found_.files.push_back(path);
    return ok();
  }

  // Relative paths of the files that `name` may mean, seen from the project.
  Result<std::vector<std::string>> files_at(const std::string& name) const {
    std::vector<std::string> files;
    for (const char* ending : {"", ".tsx", ".ts", ".jsx", ".js", ".mts", ".cts", ".mjs", ".cjs", ".json", "/index.tsx",
             "/index.ts", "/index.jsx", "/index.js", "/index.mjs", "/index.cjs"}) {
      std::error_code failure;
      const fs::path path = (project_ / (name + ending)).lexically_normal();
      const fs::path relative = path.lexically_relative(project_);
      const fs::file_status status = fs::symlink_status(path, failure);
      if (status.type() == fs::file_type::not_found || fs::is_directory(status)) continue;
      // No link on the way: HEAD has its own files at such a place.
      const fs::path meant = fs::canonical(path, failure);
      if (failure || !fs::is_regular_file(status) || relative.empty() || *relative.begin() == ".." ||
          meant.lexically_relative(root_) != relative) {
        return refused(fmt::format("{} is no regular file of the project", printable(name)));
      }
      files.push_back(relative.generic_string());
      if (*ending == '\0') break;
    }
    return files;
  }

  std::vector<std::string> targets_of(const std::string& name) const {
    // Two, because names are read only where something could be joined.
    const ModuleNames modules = read_module_names(project_, {kConfig, "package.json"});
    std::vector<std::string> targets;
    for (const ModuleName& module : modules.names) {
      const std::size_t star = module.name.find('*');
      const std::string head = module.name.substr(0, star);
      const std::string tail = star == std::string::npos ? std::string() : module.name.substr(star + 1);
      const bool fits = star == std::string::npos
          ? name == head
          : name.size() >= head.size() + tail.size() && name.starts_with(head) && name.ends_with(tail);
      if (!fits) continue;
      for (std::string target : module.targets) {
        const std::string rest = star == std::string::npos
            ? std::string()
            : name.substr(head.size(), name.size() - head.size() - tail.size());
        if (const std::size_t at = target.find('*'); at != std::string::npos) target.replace(at, 1, rest);
        const fs::path relative = fs::path(normal_path(target)).lexically_relative(project_);
        targets.push_back(relative.empty() ? target : relative.generic_string());
      }
    }
    std::sort(targets.begin(), targets.end());
    targets.erase(std::unique(targets.begin(), targets.end()), targets.end());
    return targets;
  }

  const fs::path& project_;
  fs::path root_;
  Preload found_;
};

}  // namespace

Result<Preload> read_preload(const fs::path& project) {
  return Reader(project).read().context("reading what is preloaded");
}

Result<std::map<std::string, std::string>> committed_preload(
    const Preload& preload, const fs::path& project, const fs::path& committed, const CancelToken& cancel) {
  std::map<std::string, std::string> digests;
  for (const std::string& path : preload.files) {
    GUARD_TRY_ASSIGN(const std::string bytes, read_file(project / path, kFileBytesMax, FollowLinks::no));
    const auto same = is_committed(committed, path, bytes, cancel);
    if (!same && same.error().code() == ErrorCode::cancelled) return same.error();
    if (!same || !*same) {
      const std::string why = same
          ? "is not what HEAD has"
          : fmt::format("and whether it is committed can't be told: {}", same.error().message());
      return Error(ErrorCode::config_invalid,
          fmt::format("{} is loaded before the tests, {}", printable(path), same ? "and " + why : why))
          .hint("commit it as it is: what is preloaded decides what every test means");
    }
    digests[path] = sha256_hex(bytes);
  }
  return digests;
}

std::vector<std::string> recorded_preload(const std::vector<std::string>& command) {
  std::vector<std::string> names;
  for (std::size_t at = 4; at + 1 < command.size() && command[at] == "--preload"; at += 2)
    names.push_back(command[at + 1]);
  if (!names.empty()) names.pop_back();  // guard's own
  return names;
}

std::vector<std::string> preloaded_files(const std::vector<std::string>& names) {
  std::vector<std::string> files;
  for (const std::string& name : names) {
    if (name.starts_with("./")) files.push_back(name.substr(2));
  }
  if (!names.empty()) files.emplace_back(kConfig);
  return files;
}

}  // namespace guard

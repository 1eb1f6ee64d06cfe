#include "validator/name_table.h"

#include <algorithm>
#include <array>

namespace guard {
namespace {

constexpr std::size_t kAliasesPerNameMax = 6;

constexpr std::array<std::string_view, 27> kRoots = {"Worker", "Object", "Buffer", "String", "atob",
    "process",        "Bun",  "console", "globalThis", "global",        "self",     "window", "Reflect",
    "Function",       "eval", "require", "import",     "module",        "fs",       "path",   "vm",
    "worker_threads", "ffi",  "cluster", "os",         "child_process", "inspector"};

}  // namespace

std::string_view module_root(std::string_view specifier) noexcept {
  if (specifier.substr(0, 5) == "node:") specifier.remove_prefix(5);
  if (specifier == "process" || specifier == "child_process" || specifier == "path" || specifier == "module" ||
      specifier == "vm" || specifier == "worker_threads" || specifier == "os" || specifier == "console" ||
      specifier == "cluster" || specifier == "inspector") {
    return specifier;
  }
  if (specifier == "bun") return "Bun";
  if (specifier == "bun:ffi") return "ffi";
  if (specifier == "fs" || specifier == "fs/promises" || specifier == "fs-extra" || specifier == "graceful-fs")
    return "fs";
  if (specifier == "path/posix" || specifier == "path/win32") return "path";
  return {};
}

bool is_tracked_path(std::string_view path) noexcept {
  const std::size_t dot = path.find('.');
  const std::string_view root = path.substr(0, dot);
  if (std::find(kRoots.begin(), kRoots.end(), root) == kRoots.end()) return false;
  return std::all_of(path.begin(), path.end(), [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' || c == '$' ||
           c == '.';
  });
}

void NameTable::clear() noexcept {
  aliases_.clear();
  constants_.clear();
  std::fill(used_.begin(), used_.end(), false);
  functions_.clear();
  has_properties_ = false;
  frozen_ = false;
}

std::uint32_t NameTable::add_function(const Function& function) {
  for (std::uint32_t i = 0; i < functions_.size(); ++i) {
    if (functions_[i].body_first == function.body_first) return i;
  }
  functions_.push_back(function);
  return static_cast<std::uint32_t>(functions_.size() - 1);
}

bool NameTable::add_alias(std::string_view name, std::string_view path) {
  if (frozen_ || name.empty() || path.empty() || name == path || is_tracked_path(name)) return true;
  auto place = aliases_.find(name);
  const bool is_new = place == aliases_.end();
  if (is_new) place = aliases_.emplace(std::string(name), std::vector<std::string>()).first;
  std::vector<std::string>& paths = place->second;
  if (std::find(paths.begin(), paths.end(), path) != paths.end()) return true;
  if (paths.size() < kAliasesPerNameMax) paths.emplace_back(path);
  return !was_used(name);
}

bool NameTable::assign(std::string_view name, const Value& value) {
  if (frozen_ || name.empty()) return true;
  const auto place = constants_.find(name);
  if (place == constants_.end()) {
    constants_.emplace(std::string(name), value);
    return value.kind == Value::Kind::unknown || !was_used(name);
  }
  Value& known = place->second;
  const bool same = known.kind == value.kind && ((known.kind == Value::Kind::text && known.text == value.text) ||
                                                 (known.kind == Value::Kind::path && known.text == value.text) ||
                                                 (known.kind == Value::Kind::function && known.list == value.list));
  if (same || known.kind == Value::Kind::unknown) return true;
  known = Value{};
  return false;
}

const std::vector<std::string>* NameTable::aliases(std::string_view name) const {
  if (aliases_.empty()) return nullptr;
  const auto place = aliases_.find(name);
  return place == aliases_.end() ? nullptr : &place->second;
}

const Value* NameTable::constant(std::string_view name) const {
  if (constants_.empty()) return nullptr;
  const auto place = constants_.find(name);
  return place == constants_.end() || place->second.kind == Value::Kind::unknown ? nullptr : &place->second;
}

void NameTable::note_use(std::string_view name) {
  used_[Hash{}(name) % used_.size()] = true;
}

bool NameTable::was_used(std::string_view name) const noexcept {
  return used_[Hash{}(name) % used_.size()];
}

}  // namespace guard

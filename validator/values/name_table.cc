#include "validator/values/name_table.h"

#include <algorithm>

#include "rules/surface.h"

namespace guard {

std::string_view module_root(std::string_view specifier) noexcept {
  if (specifier.substr(0, 5) == "node:") specifier.remove_prefix(5);
  static const auto kFollowed = word_list("followed_modules");
  for (const SurfaceRow& row : kFollowed) {
    if (row.name == specifier) return row.name;
  }
  if (specifier == "bun") return "Bun";
  if (specifier == "bun:ffi") return "ffi";
  if (is_file_system(specifier)) return "fs";
  if (specifier == "path/posix" || specifier == "path/win32") return "path";
  return {};
}

bool is_tracked_path(std::string_view path) noexcept {
  const std::size_t dot = path.find('.');
  const std::string_view root = path.substr(0, dot);
  if (!is_root_name(root)) return false;
  return std::all_of(path.begin(), path.end(), [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' || c == '$' ||
        c == '.';
  });
}

void NameTable::clear() noexcept {
  meanings_.clear();
  std::fill(used_.begin(), used_.end(), 0);
  declared_.clear();
  has_properties_ = false;
  learned_late_ = false;
}

// Only names that the validator trusts are worth keeping. What the file asserts with is not the test library's then,
// also in front of this.
void NameTable::note_declared(std::string_view name) {
  const CalleeTraits traits = traits_of(name);
  if (traits == 0 && name != "vi" && name != "jest" && name != "mocked" && name != "spyOn") return;
  if (is_declared(name) || declared_.size() >= 256) return;
  declared_.push_back(hash_name(name));
  learned_late_ = learned_late_ || (traits & kAsserts) != 0;
}

bool NameTable::is_declared(std::string_view name) const noexcept {
  return std::find(declared_.begin(), declared_.end(), hash_name(name)) != declared_.end();
}

// A name was given a meaning. Was it used before?
void NameTable::note_late(std::string_view name) noexcept {
  const std::uint64_t bit = hash_name(name) % kUsedBits;
  learned_late_ = learned_late_ || (used_[bit / 64] >> (bit % 64) & 1U) != 0;
}

bool NameTable::add_alias(std::string_view name, std::string_view path) {
  if (name.empty() || path.empty() || name == path || is_tracked_path(name)) return true;
  std::string_view& known = meanings_[name].path;
  if (!known.empty()) return known == path;
  known = path;
  note_late(name);
  return true;
}

void NameTable::assign(std::string_view name, const Value& value) {
  if (name.empty()) return;
  if (value.kind == Value::Kind::unknown) {
    if (const auto known = meanings_.find(name); known != meanings_.end()) known->second.constant = value;
    return;
  }
  Meaning& meaning = meanings_[name];
  if (!meaning.had_value) note_late(name);
  meaning.constant = value;
  meaning.had_value = true;
}

const NameTable::Meaning* NameTable::use(std::string_view name) {
  const std::uint64_t bit = hash_name(name) % kUsedBits;
  used_[bit / 64] |= 1ULL << (bit % 64);
  if (meanings_.empty()) return nullptr;
  const auto known = meanings_.find(name);
  return known == meanings_.end() ? nullptr : &known->second;
}

const Value* NameTable::constant(std::string_view name) const {
  const auto known = meanings_.find(name);
  const bool has_value = known != meanings_.end() && known->second.constant.kind != Value::Kind::unknown;
  return has_value ? &known->second.constant : nullptr;
}

}  // namespace guard

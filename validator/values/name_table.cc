#include "validator/values/name_table.h"

#include <algorithm>

#include "rules/surface.h"

namespace guard {

std::string_view module_root(std::string_view specifier) noexcept {
  if (specifier.substr(0, 5) == "node:") specifier.remove_prefix(5);
  for (const SurfaceRow& row : word_list("followed_modules")) {
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
  if (meaning_count_ != 0) std::fill(slots_.begin(), slots_.end(), 0);
  meaning_count_ = 0;
  std::fill(used_.begin(), used_.end(), 0);
  declared_.clear();
  has_properties_ = false;
  learned_late_ = false;
}

NameTable::Meaning* NameTable::find(std::string_view name, std::uint64_t hash) noexcept {
  if (meaning_count_ == 0) return nullptr;
  const std::size_t mask = slots_.size() - 1;
  for (std::size_t at = hash & mask; slots_[at] != 0; at = (at + 1) & mask) {
    Meaning& meaning = meanings_[slots_[at] - 1];
    if (meaning.hash == hash && meaning.name == name) return &meaning;
  }
  return nullptr;
}

const NameTable::Meaning* NameTable::find(std::string_view name, std::uint64_t hash) const noexcept {
  return const_cast<NameTable*>(this)->find(name, hash);
}

NameTable::Meaning& NameTable::add(std::string_view name, std::uint64_t hash) {
  if (Meaning* const known = find(name, hash); known != nullptr) return *known;
  if ((meaning_count_ + 1) * 2 > slots_.size()) {
    slots_.assign(std::max<std::size_t>(256, slots_.size() * 2), 0);
    const std::size_t mask = slots_.size() - 1;
    for (std::size_t i = 0; i < meaning_count_; ++i) {
      std::size_t at = meanings_[i].hash & mask;
      while (slots_[at] != 0) at = (at + 1) & mask;
      slots_[at] = static_cast<std::uint32_t>(i + 1);
    }
  }
  if (meaning_count_ == meanings_.size()) meanings_.emplace_back();
  Meaning& meaning = meanings_[meaning_count_++];
  meaning.name = name;
  meaning.hash = hash;
  meaning.path = {};
  meaning.constant = Value{};
  meaning.had_value = false;
  const std::size_t mask = slots_.size() - 1;
  std::size_t at = hash & mask;
  while (slots_[at] != 0) at = (at + 1) & mask;
  slots_[at] = static_cast<std::uint32_t>(meaning_count_);
  return meaning;
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

bool NameTable::add_alias(std::string_view name, std::string_view path) {
  if (name.empty() || path.empty() || name == path || is_tracked_path(name)) return true;
  const std::uint64_t hash = hash_name(name);
  std::string_view& known = add(name, hash).path;
  if (!known.empty()) return known == path;
  known = path;
  learned_late_ = learned_late_ || was_used(hash);
  return true;
}

void NameTable::assign(std::string_view name, const Value& value) {
  if (name.empty()) return;
  const std::uint64_t hash = hash_name(name);
  if (value.kind == Value::Kind::unknown) {
    if (Meaning* const known = find(name, hash); known != nullptr) known->constant = value;
    return;
  }
  Meaning& meaning = add(name, hash);
  learned_late_ = learned_late_ || (!meaning.had_value && was_used(hash));
  meaning.constant = value;
  meaning.had_value = true;
}

const NameTable::Meaning* NameTable::use(std::string_view name) {
  const std::uint64_t hash = hash_name(name);
  mark_used(hash);
  return find(name, hash);
}

const Value* NameTable::constant(std::string_view name) const {
  const Meaning* const known = find(name, hash_name(name));
  return known == nullptr || known->constant.kind == Value::Kind::unknown ? nullptr : &known->constant;
}

}  // namespace guard

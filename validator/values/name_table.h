// What the names of one file stand for: modules, tracked globals and constant texts.
//
// One name may stand for several things in different scopes; scopes are not followed, so all of them are kept. A name
// that is itself tracked (process, eval, ...) never becomes another name's alias target: a local variable of that name
// must not hide the global.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "validator/values/constant_folder.h"
#include "validator/values/known_names.h"

namespace guard {

// "fs" for "node:fs/promises", "Bun" for "bun", "process" for "node:process"; empty for modules we don't follow.
std::string_view module_root(std::string_view specifier) noexcept;

// Is `name` a global or module root that rules speak of?
bool is_root_name(std::string_view name) noexcept;

// True for a dotted path that begins with a global or module root that rules speak of: "process.env",
// "fs.readFileSync".
bool is_tracked_path(std::string_view path) noexcept;

class NameTable {
 public:
  void clear() noexcept;

  // `name` may stand for `path`. False if it is new but had been used before, so that the file has to be read again.
  bool add_alias(std::string_view name, std::string_view path);
  // `name` was given `value` here; it holds until the next one. False if it was used before it ever had a value, so
  // that the file has to be read again with what is known at its end.
  bool assign(std::string_view name, const Value& value);
  // Names that the file declares itself.
  void note_declared(std::string_view name);
  bool is_declared(std::string_view name) const noexcept;
  // After this nothing is added any more.
  void freeze() noexcept { frozen_ = true; }

  struct Meaning {
    std::string_view name;
    std::uint64_t hash = 0;
    std::vector<std::string> aliases;
    Value constant;
    bool had_value = false;
  };
  const Meaning* find(std::string_view name) const noexcept { return find(name, hash_name(name)); }

  // What `name` means, or nullptr; remembers that it was used.
  const Meaning* use(std::string_view name);
  void note_use(std::string_view name) { mark_used(hash_name(name)); }
  const Value* constant(std::string_view name) const;

  // A name stands for more things than are kept; the file can not be decided.
  bool overflowed() const noexcept { return overflowed_; }

  // Was a constant with a dot in its name assigned?
  bool has_properties() const noexcept { return has_properties_; }
  void set_has_properties() noexcept { has_properties_ = true; }

 private:
  static constexpr std::size_t kUsedBits = 1u << 16;

  Meaning* find(std::string_view name, std::uint64_t hash) noexcept;
  const Meaning* find(std::string_view name, std::uint64_t hash) const noexcept;
  Meaning& add(std::string_view name, std::uint64_t hash);
  void mark_used(std::uint64_t hash) noexcept { used_[hash % kUsedBits / 64] |= 1ULL << (hash % 64); }
  bool was_used(std::uint64_t hash) const noexcept { return (used_[hash % kUsedBits / 64] >> (hash % 64) & 1U) != 0; }

  std::vector<Meaning> meanings_;
  std::size_t meaning_count_ = 0;     // of those, the rest is kept for its memory
  std::vector<std::uint32_t> slots_;  // by hash: index into meanings_, plus one
  std::vector<std::uint64_t> used_ =
      std::vector<std::uint64_t>(kUsedBits / 64);  // bits by hash: a false alarm only costs a reading
  std::vector<std::uint64_t> declared_;            // hashes, unsorted, few of interest
  bool has_properties_ = false;
  bool overflowed_ = false;
  bool frozen_ = false;
};

}  // namespace guard

// What the names of one file stand for: modules, tracked globals and constant texts.
//
// One name may stand for several things in different scopes; scopes are not followed, so all of them are kept. A name
// that is itself tracked (process, eval, ...) never becomes another name's alias target: a local variable of that name
// must not hide the global.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
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

  // How a name was used; a meaning that comes too late only matters to some uses.
  enum class Use : std::uint8_t {
    value,   // as it stands
    callee,  // f(..)
    told,    // f(..), with arguments that a function that is followed would be read with
  };
  // What `name` means, or nullptr; remembers that it was used.
  const Meaning* use(std::string_view name, Use use);
  void note_use(std::string_view name, Use use) { mark_used(hash_name(name), use); }
  const Value* constant(std::string_view name) const;

  // Functions whose calls can be followed: places of their parameters and bodies among the tokens of the main reading.
  struct Function {
    std::uint32_t params_first = 0;
    std::uint32_t params_end = 0;
    std::uint32_t body_first = 0;
    std::uint32_t body_end = 0;
    bool acts = false;     // its body names what leads to the world, or calls a function that does
    bool reaches = false;  // calls of it are followed
    bool getter = false;   // read as a member, it is called
  };
  // Its index, also when it is read again; nothing if there are too many.
  std::optional<std::uint32_t> add_function(const Function& function);
  const Function& function(std::uint32_t index) const { return functions_[index]; }

  // Counts changes of constants: what a call gives may hang on them.
  std::uint64_t version() const noexcept { return version_; }

  // A name stands for more things than are kept; the file can not be decided.
  bool overflowed() const noexcept { return overflowed_; }

  // Was a constant with a dot in its name assigned?
  bool has_properties() const noexcept { return has_properties_; }
  void set_has_properties() noexcept { has_properties_ = true; }

 private:
  static constexpr std::size_t kUsedBits = 1u << 16;
  using UsedNames = std::vector<std::uint64_t>;  // bits by hash: a false alarm only costs a reading

  Meaning* find(std::string_view name, std::uint64_t hash) noexcept;
  const Meaning* find(std::string_view name, std::uint64_t hash) const noexcept;
  Meaning& add(std::string_view name, std::uint64_t hash);
  void mark_used(std::uint64_t hash, Use use) noexcept {
    used_[static_cast<std::size_t>(use)][hash % kUsedBits / 64] |= 1ULL << (hash % 64);
  }
  bool was_used(std::uint64_t hash, Use use) const noexcept {
    return (used_[static_cast<std::size_t>(use)][hash % kUsedBits / 64] >> (hash % 64) & 1U) != 0;
  }

  std::vector<Meaning> meanings_;
  std::size_t meaning_count_ = 0;     // of those, the rest is kept for its memory
  std::vector<std::uint32_t> slots_;  // by hash: index into meanings_, plus one
  std::array<UsedNames, 3> used_ = {UsedNames(kUsedBits / 64), UsedNames(kUsedBits / 64), UsedNames(kUsedBits / 64)};
  std::vector<std::uint64_t> declared_;  // hashes, unsorted, few of interest
  std::vector<Function> functions_;
  std::unordered_map<std::uint32_t, std::uint32_t> function_at_;  // by the first token of its body
  bool has_properties_ = false;
  bool overflowed_ = false;
  std::uint64_t version_ = 0;
  bool frozen_ = false;
};

}  // namespace guard

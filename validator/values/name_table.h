// What the names of one file stand for: modules, tracked globals and constant texts.
//
// Scopes are not followed. A name is followed to the first path that it is given; each other one is told as a use of
// that path (source_view.h). A name that is itself tracked (process, eval, ...) is never another name's: a local
// variable of that name must not hide the global.
#pragma once

#include <cstdint>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "validator/values/constant_folder.h"
#include "validator/values/known_names.h"

namespace guard {

// "fs" for "node:fs/promises", "Bun" for "bun", "process" for "node:process"; empty for modules we don't follow.
std::string_view module_root(std::string_view specifier) noexcept;

// True for a dotted path that begins with a global or module root that rules speak of: "process.env",
// "fs.readFileSync".
bool is_tracked_path(std::string_view path) noexcept;

class NameTable {
 public:
  void clear() noexcept;

  // `name` stands for `path`. False if it stands for another one already, and keeps it. Both have to outlive the table
  // or its next clear(), as the texts of values do.
  bool add_alias(std::string_view name, std::string_view path);
  // `name` was given `value` here; it holds until the next one.
  void assign(std::string_view name, const Value& value);
  // A name was used before it had a meaning: the file has to be read again with what is known at its end.
  bool learned_late() const noexcept { return learned_late_; }
  // Names that the file declares itself.
  void note_declared(std::string_view name);
  bool is_declared(std::string_view name) const noexcept;

  struct Meaning {
    std::string_view path;
    Value constant;
    bool had_value = false;
  };

  // What `name` means, or nullptr; remembers that it was used.
  const Meaning* use(std::string_view name);
  const Value* constant(std::string_view name) const;

  // Was a constant with a dot in its name assigned?
  bool has_properties() const noexcept { return has_properties_; }
  void set_has_properties() noexcept { has_properties_ = true; }

 private:
  static constexpr std::size_t kUsedBits = 1u << 16;

  struct NameHash {
    std::size_t operator()(std::string_view name) const noexcept { return hash_name(name); }
  };
  void note_late(std::string_view name) noexcept;

  std::unordered_map<std::string_view, Meaning, NameHash> meanings_;
  // Bits by hash of names that were used: a false alarm only costs a reading.
  std::vector<std::uint64_t> used_ = std::vector<std::uint64_t>(kUsedBits / 64);
  std::vector<std::uint64_t> declared_;  // hashes, unsorted, few of interest
  bool has_properties_ = false;
  bool learned_late_ = false;
};

}  // namespace guard

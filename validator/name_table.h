// What the names of one file stand for: modules, tracked globals and constant texts.
//
// One name may stand for several things in different scopes; scopes are not followed, so all of them are kept. A name
// that is itself tracked (process, eval, ...) never becomes another name's alias target: a local variable of that name
// must not hide the global.
#pragma once

#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "validator/constant_folder.h"

namespace guard {

// "fs" for "node:fs/promises", "Bun" for "bun", "process" for "node:process"; empty for modules we don't follow.
std::string_view module_root(std::string_view specifier) noexcept;

// True for a dotted path that begins with a global or module root that rules speak of: "process.env",
// "fs.readFileSync".
bool is_tracked_path(std::string_view path) noexcept;

class NameTable {
 public:
  void clear() noexcept;

  // `name` may stand for `path`. False if it is new but had been used before, so that the file has to be read again.
  bool add_alias(std::string_view name, std::string_view path);
  // `name` was given `value`. A second, different value makes it unknown.
  bool assign(std::string_view name, const Value& value);
  // After this nothing is added any more.
  void freeze() noexcept { frozen_ = true; }

  const std::vector<std::string>* aliases(std::string_view name) const;
  const Value* constant(std::string_view name) const;

  void note_use(std::string_view name);

  // Functions whose calls can be followed: places of their parameters and bodies among the tokens of the main reading.
  struct Function {
    std::uint32_t params_first = 0;
    std::uint32_t params_end = 0;
    std::uint32_t body_first = 0;
    std::uint32_t body_end = 0;
  };
  std::uint32_t add_function(const Function& function);
  std::size_t functions() const noexcept { return functions_.size(); }
  const Function& function(std::uint32_t index) const { return functions_[index]; }

  // Was a constant with a dot in its name assigned?
  bool has_properties() const noexcept { return has_properties_; }
  void set_has_properties() noexcept { has_properties_ = true; }

 private:
  struct Hash {
    using is_transparent = void;
    std::size_t operator()(std::string_view text) const noexcept { return std::hash<std::string_view>{}(text); }
  };
  template <typename T>
  using Map = std::unordered_map<std::string, T, Hash, std::equal_to<>>;

  bool was_used(std::string_view name) const noexcept;

  Map<std::vector<std::string>> aliases_;
  Map<Value> constants_;
  std::vector<bool> used_ = std::vector<bool>(8192, false);  // by hash; a false alarm only costs a second reading
  std::vector<Function> functions_;
  bool has_properties_ = false;
  bool frozen_ = false;
};

}  // namespace guard

// The form that expressions are read into: an operand with its value, and what it is called.
//
// What is known of an operand comes from its tokens and from the operands that it is made of. What can't be known stays
// empty or unknown; nothing can fail.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

#include "validator/values/constant_folder.h"

namespace guard {

struct Operand {
  Value value;
  std::string_view name;    // as the code view spells it: fs.readFileSync, expect(a).toBe; the ends of a long one
  std::string_view path;    // what it is of the surface: process.env; empty if nothing that is known
  std::string_view own;     // a.b of a constant object of the file, under which its members are known
  std::string_view word;    // if it is a single name
  Value receiver;           // x of x.method; only where there is one
  std::string_view method;  // its name, while the operand ends in a member
  std::size_t code_begin = 0;
  std::size_t code_end = 0;  // types that it is cast to lie behind it
  std::uint32_t begin = 0;   // in the source
  bool tracked = false;      // it begins with a root of the surface
  bool called = false;       // a call gave it: its path is not that of its members

  // Begins anew. Member by member: a copy of a fresh one costs several times as much.
  void restart(const Value& of, std::string_view called_as, std::size_t at) noexcept {
    value = of;
    name = called_as;
    path = own = word = method = std::string_view();
    code_begin = code_end = at;
    begin = of.begin;
    tracked = called = false;
  }
};

// A value of which only the place is known.
inline Value unknown_at(std::uint32_t begin, std::uint32_t end) noexcept {
  Value value;
  value.begin = begin;
  value.end = end;
  return value;
}

// What a call was handed.
struct Argument {
  Value value;
  std::string_view name;  // if it is one operand
  std::string_view path;
};

// name + tail. Of a long name only the ends are kept; they say all that is asked of one.
constexpr std::size_t kNameMax = 256;
std::string_view longer_name(std::string_view name, std::string_view tail, Arena& arena);

// What is called in the end: f of f.call(..), f.apply(..), f.bind(..)(..).
std::string_view called_name(std::string_view callee) noexcept;

// The member `name` of what `path` names; empty where that is nothing of the surface.
std::string_view member_path(std::string_view path, std::string_view name, Arena& arena);

// What a call gives that loads no module: promisify(f) is f, Object.create(process) is process.
std::string_view call_path(std::string_view callee, std::span<const Argument> args) noexcept;

// How a call of `callee` loads the module that it is handed the name of.
enum class Loader { none, by_name, by_result };
Loader loader_of(std::string_view callee) noexcept;
// Is what it loads known to be the module itself?
bool loads_module_itself(std::string_view callee) noexcept;

// What may be shown of a string in the code view: a module name and nothing that could be taken for code.
bool is_plain_specifier(std::string_view text) noexcept;

}  // namespace guard

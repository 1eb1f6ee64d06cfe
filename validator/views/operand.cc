#include "validator/views/operand.h"

#include <algorithm>

#include "validator/values/known_names.h"
#include "validator/values/name_table.h"

namespace guard {
namespace {

constexpr std::size_t kPathMax = 256;

}  // namespace

std::string_view longer_name(std::string_view name, std::string_view tail, Arena& arena) {
  constexpr std::size_t kEnd = 64;
  const std::string_view whole = arena.concat(name, tail);
  if (whole.size() <= kNameMax) return whole;
  const std::string_view head = arena.copy(whole.substr(0, kEnd));
  return arena.concat(arena.concat(head, std::string_view(&kWildcard, 1)), whole.substr(whole.size() - kEnd));
}

std::string_view called_name(std::string_view callee) noexcept {
  const std::size_t dot = callee.rfind('.');
  if (dot != std::string_view::npos && callee.substr(0, dot) != "Reflect") {
    const std::string_view method = callee.substr(dot + 1);
    if (method == "call" || method == "apply" || method == "bind") return callee.substr(0, dot);
  }
  if (callee.ends_with(')')) return callee.substr(0, callee.find(".bind("));
  return callee;
}

std::string_view member_path(std::string_view path, std::string_view name, Arena& arena) {
  if (name == "constructor") return "%.constructor";
  if (path.empty() || name == "default" || path.size() + name.size() >= kPathMax) {
    return name == "default" ? path : std::string_view();
  }
  // globalThis.process is process.
  if (is_global_object(path) && is_known_global(name)) return name;
  return arena.concat(arena.concat(arena.copy(path), "."), name);
}

std::string_view call_path(std::string_view callee, std::span<const Argument> args) noexcept {
  if (args.empty()) return {};
  const std::string_view first = args[0].path;
  if (callee == "promisify" || callee == "util.promisify") return first;
  if (callee == "Object.create") {
    for (const std::string_view root : {"process", "Bun", "globalThis", "global", "fs"}) {
      if (first == root) return root;
    }
  }
  // What it gives is `require`, and so is followed what that gives for a name that is not known.
  for (const std::string_view maker : {"module.createRequire", "createRequire"}) {
    if (callee == maker || (callee.starts_with(maker) && callee[maker.size()] == '(')) return "require";
  }
  return callee == "Bun.file" || callee.starts_with("Bun.file(") ? "Bun.file" : std::string_view();
}

Loader loader_of(std::string_view callee) noexcept {
  if (callee == "require" || callee == "import" || callee == "require.resolve" ||
      callee.ends_with(".getBuiltinModule") || callee.ends_with(".require"))
    return Loader::by_name;
  if (!callee.ends_with(')')) return Loader::none;
  return callee.find("createRequire(") == std::string_view::npos ? Loader::by_result : Loader::by_name;
}

bool loads_module_itself(std::string_view callee) noexcept {
  return callee == "require" || callee == "import" || callee == "process.getBuiltinModule" ||
      callee == "module.require" || callee == "import.meta.require";
}

bool is_plain_specifier(std::string_view text) noexcept {
  return !text.empty() && text.size() <= 200 && std::all_of(text.begin(), text.end(), [](char c) {
    return is_word_byte(c) || c == kWildcard || std::string_view("#/.-@:+").find(c) != std::string_view::npos;
  });
}

}  // namespace guard

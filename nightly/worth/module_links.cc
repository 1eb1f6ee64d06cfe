#include "nightly/worth/module_links.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>

#include "nightly/worth/script_tokens.h"

namespace guard::nightly {
namespace {

constexpr std::size_t kNone = ScriptTokens::kNone;

class Reader {
 public:
  Reader(std::string_view path, std::string_view bytes) : script_(path, bytes) {
    links_.common_js = path.ends_with(".cjs") || path.ends_with(".cts");
  }

  ModuleLinks read() {
    if (!script_.is_readable()) return {};
    for (std::size_t i = 0; i < script_.size(); ++i) {
      if (!script_.is_word(i) || (i > 0 && (script_.is(i - 1, ".") || script_.is(i - 1, "?.")))) continue;
      const std::string_view word = script_.at(i);
      if (word == "import") import(i);
      if (word == "require" && script_.is(i + 1, "(") && !literal(i + 2).empty())
        links_.imports.push_back({literal(i + 2), {}, false});
      if (word == "export" && script_.opener(i) == kNone) export_of(i);
      if (word == "exports" && script_.is(i + 1, ".") && script_.is_word(i + 2)) add_common_js(i + 2);
      if (word == "module" && script_.is(i + 1, ".") && script_.is(i + 2, "exports")) module_exports(i + 3);
    }
    return std::move(links_);
  }

 private:
  // What a string says; empty for what is none, or is written with escapes.
  std::string literal(std::size_t i) const {
    if (!script_.is_kind(i, TokenKind::string) || script_.token(i).escaped) return {};
    const std::string_view text = script_.at(i);
    return std::string(text.substr(1, text.size() - 2));
  }

  std::string name_at(std::size_t i) const {
    return script_.is_kind(i, TokenKind::string) ? literal(i) : script_.is_word(i) ? std::string(script_.at(i)) : "";
  }

  // The names of { a, b as c, type D }, each with what stands behind its `as`.
  std::vector<std::pair<std::string, std::string>> braced(std::size_t open) const {
    std::vector<std::pair<std::string, std::string>> names;
    const std::size_t close = script_.partner(open);
    if (close == kNone) return names;
    for (std::size_t i = open + 1; i < close; ++i) {
      std::size_t end = i;
      while (end < close && !script_.is(end, ",")) ++end;
      const bool type = script_.is(i, "type") && end - i > 1 && !(script_.is(i + 1, "as") && end - i == 3);
      if (!type && end > i) {
        const std::string name = name_at(i);
        names.emplace_back(name, script_.is(i + 1, "as") ? name_at(i + 2) : name);
      }
      i = end;
    }
    return names;
  }

  void import(std::size_t i) {
    if (script_.is(i + 1, "(")) {
      if (!literal(i + 2).empty()) links_.imports.push_back({literal(i + 2), {}, false});
      return;
    }
    if (script_.is(i + 1, ".")) return;
    // `import type from "x"` takes the default export.
    if (script_.is(i + 1, "type") && !script_.is(i + 2, "from") && !script_.is(i + 2, ",")) return;
    ModuleImport found;
    bool all = false;
    for (std::size_t at = i + 1; at < script_.size(); ++at) {
      if (script_.is_kind(at, TokenKind::string)) {
        found.specifier = literal(at);
        if (all) found.names.clear();
        if (!found.specifier.empty()) links_.imports.push_back(std::move(found));
        return;
      }
      if (script_.is(at, ";") || script_.is(at, "=") || script_.is(at, "(")) return;
      if (script_.is(at, "*")) {
        all = true;
      } else if (script_.is(at, "{")) {
        for (auto& [name, as] : braced(at)) found.names.insert(std::move(name));
        if (script_.partner(at) == kNone) return;
        at = script_.partner(at);
      } else if (at == i + 1 && script_.is_word(at)) {
        found.names.insert("default");
      }
    }
  }

  void add(std::string name, ExportShape shape) {
    if (!name.empty()) links_.exports.emplace(std::move(name), shape);
  }

  void export_of(std::size_t i) {
    std::size_t at = i + 1;
    while (script_.is(at, "declare") || script_.is(at, "abstract")) ++at;
    const std::string_view word = script_.at(at);
    if (word == "*") {
      const bool named = script_.is(at + 1, "as");
      if (named) add(name_at(at + 2), ExportShape::object);
      const std::size_t from = named ? at + 4 : at + 2;
      if (!literal(from).empty()) links_.imports.push_back({literal(from), {}, !named});
    } else if (word == "{") {
      const auto names = braced(at);
      const std::size_t close = script_.partner(at);
      const std::string from = close != kNone && script_.is(close + 1, "from") ? literal(close + 2) : "";
      for (const auto& [name, as] : names) add(as, from.empty() ? shape_of_local(name) : ExportShape::anything);
      if (from.empty()) return;
      ModuleImport found{from, {}, false};
      for (const auto& [name, as] : names) found.names.insert(name);
      if (!names.empty()) links_.imports.push_back(std::move(found));
    } else if (word == "default") {
      add("default", shape_of_value(at + 1));
    } else if (word == "=") {
      links_.common_js = true;
    } else if (word == "type" || word == "interface" || word == "as") {
      return;
    } else {
      declaration(at);
    }
  }

  void declaration(std::size_t at) {
    const bool async = script_.is(at, "async");
    if (async) ++at;
    if (script_.is(at, "function")) {
      const bool generator = script_.is(at + 1, "*");
      add(name_at(at + (generator ? 2 : 1)), function_shape(async, generator));
    } else if (script_.is(at, "class")) {
      add(name_at(at + 1), ExportShape::a_class);
    } else if (script_.is_any(at, {"enum", "namespace", "module"})) {
      add(name_at(at + 1), ExportShape::object);
    } else if (script_.is(at, "const") && script_.is(at + 1, "enum")) {
      add(name_at(at + 2), ExportShape::object);
    } else if (script_.is_any(at, {"const", "let", "var"})) {
      variables(at + 1);
    }
  }

  static ExportShape function_shape(bool async, bool generator) {
    if (async) return generator ? ExportShape::async_generator : ExportShape::async_function;
    return generator ? ExportShape::generator : ExportShape::function;
  }

  // a = 1, b: T = f(), { c, d: e } = g()
  void variables(std::size_t at) {
    while (at < script_.size()) {
      if (script_.is(at, "{") || script_.is(at, "[")) {
        const std::size_t close = script_.partner(at);
        if (close == kNone) return;
        for (std::size_t i = at + 1; i < close; ++i) {
          if (script_.is_word(i) && !script_.is(i + 1, ":")) add(name_at(i), ExportShape::anything);
        }
        at = close + 1;
      } else if (script_.is_word(at)) {
        add(name_at(at), shape_behind_equals(at));
        ++at;
      } else {
        return;
      }
      // To the next one.
      const std::size_t begin = at;
      while (at < script_.size() && !script_.is_any(at, {",", ";"}) &&
          !(at > begin && script_.token(at).line_before && script_.ends_operand(at - 1) && script_.is_word(at)))
        at = script_.past(at) + 1;
      if (!script_.is(at, ",")) return;
      ++at;
    }
  }

  ExportShape shape_behind_equals(std::size_t at) const {
    // A type may stand in between; its own arrows hold no plain `=`.
    for (std::size_t i = at + 1; i < script_.size() && i < at + 200; i = script_.past(i) + 1) {
      if (script_.is(i, "=")) return shape_of_value(i + 1);
      if (script_.is_any(i, {";", ","})) break;
    }
    return ExportShape::anything;
  }

  bool ends_value(std::size_t i) const {
    return i >= script_.size() || script_.is_any(i, {";", ",", "as", "satisfies"}) || script_.token(i).line_before;
  }

  ExportShape shape_of_value(std::size_t at) const {
    while (script_.is(at, "abstract")) ++at;
    const bool async = script_.is(at, "async");
    if (async) ++at;
    if (script_.is(at, "function")) return function_shape(async, script_.is(at + 1, "*"));
    if (script_.is(at, "class")) return ExportShape::a_class;
    const bool has_partner = script_.past(at) != at;
    const bool arrow = (script_.is(at, "(") && has_partner && script_.is_any(script_.past(at) + 1, {"=>", ":"})) ||
        (script_.is_word(at) && script_.is(at + 1, "=>"));
    if (arrow) return function_shape(async, false);
    if (!ends_value(script_.past(at) + 1)) return ExportShape::anything;
    if (script_.is_kind(at, TokenKind::string) || (script_.is_kind(at, TokenKind::template_open) && has_partner))
      return ExportShape::text;
    if (script_.is_kind(at, TokenKind::number)) return ExportShape::number;
    if (script_.is_any(at, {"true", "false"})) return ExportShape::boolean;
    if (script_.is(at, "null")) return ExportShape::null;
    if (script_.is(at, "[") && has_partner) return ExportShape::list;
    return script_.is(at, "{") && has_partner ? ExportShape::object : ExportShape::anything;
  }

  // Of `export { name }`: its declaration at the top of the file.
  ExportShape shape_of_local(const std::string& name) const {
    for (std::size_t i = 0; i + 1 < script_.size(); ++i) {
      if (!script_.is_word(i) || script_.opener(i) != kNone) continue;
      const std::string_view word = script_.at(i);
      if ((word == "const" || word == "let" || word == "var") && script_.is(i + 1, name))
        return shape_behind_equals(i + 1);
      if (word == "class" && script_.is(i + 1, name)) return ExportShape::a_class;
      if (word == "function" && (script_.is(i + 1, name) || (script_.is(i + 1, "*") && script_.is(i + 2, name)))) {
        return shape_of_value(i > 0 && script_.is(i - 1, "async") ? i - 1 : i);
      }
    }
    return ExportShape::anything;
  }

  void add_common_js(std::size_t name) {
    if (!script_.is(name + 1, "=")) return;
    links_.common_js = true;
    add(name_at(name), shape_of_value(name + 2));
  }

  void module_exports(std::size_t at) {
    if (script_.is(at, ".") && script_.is_word(at + 1)) return add_common_js(at + 1);
    if (!script_.is(at, "=")) return;
    links_.common_js = true;
    add("default", shape_of_value(at + 1));
    const std::size_t close = script_.is(at + 1, "{") ? script_.partner(at + 1) : kNone;
    if (close == kNone) return;
    for (std::size_t i = at + 2; i < close; ++i) {
      if (script_.opener(i) == at + 1 && script_.is_word(i) && (script_.is(i - 1, "{") || script_.is(i - 1, ","))) {
        add(name_at(i), script_.is(i + 1, ":") ? shape_of_value(i + 2) : ExportShape::function);
      }
    }
  }

  ScriptTokens script_;
  ModuleLinks links_;
};

// By ExportShape.
constexpr std::string_view kExpressions[] = {"$anything()", "function () {}", "async function () {}", "function* () {}",
    "async function* () {}", "$class()", "\"\"", "0", "false", "null", "[]", "$object({})"};

std::string_view expression_of(ExportShape shape) { return kExpressions[static_cast<std::size_t>(shape)]; }

// Members that nobody set are functions without any doing. `then` is none: whatever is awaited would never come.
constexpr std::string_view kQuiet =
    R"(const $member = (held, name) => (name in held || typeof name === "symbol" || name === "then" ?)"
    R"( held[name] : function () {});
const $object = (held) => new Proxy(held, { get: $member });
const $anything = () => new Proxy(function () {}, { get: $member, apply() {}, construct: () => $object({}) });
const $class = () => {
  const made = class { constructor() { return $object(this); } };
  return new Proxy(made, { get: $member, apply() {} });
};
)";

constexpr std::string_view kEndless = R"(const $endless = new Proxy(function () {}, {
  get(held, name) {
    if (name === Symbol.iterator) return function* () {};
    if (name === Symbol.toPrimitive) return () => "";
    return name === "then" || typeof name === "symbol" || name === "prototype" ? held[name] : $endless;
  },
  apply: () => $endless,
  construct: () => $endless,
});
)";

}  // namespace

ModuleLinks links_of(std::string_view path, std::string_view bytes) { return Reader(path, bytes).read(); }

std::string resolve_import(std::string_view importer, std::string_view specifier, const std::set<std::string>& files) {
  if (!specifier.starts_with("./") && !specifier.starts_with("../") && specifier != "." && specifier != "..") return {};
  const std::string_view plain = specifier.substr(0, specifier.find('?'));
  std::string base = (std::filesystem::path(importer).parent_path() / plain).lexically_normal().generic_string();
  if (base.ends_with('/')) base.pop_back();
  static constexpr std::string_view kEndings[] = {
      "", ".tsx", ".ts", ".mts", ".cts", ".jsx", ".js", ".mjs", ".cjs", ".json"};
  for (const std::string_view ending : kEndings) {
    if (std::string found = base + std::string(ending); files.count(found) != 0) return found;
  }
  static constexpr std::pair<std::string_view, std::string_view> kSources[] = {
      {".js", ".ts"}, {".js", ".tsx"}, {".jsx", ".tsx"}, {".mjs", ".mts"}, {".cjs", ".cts"}};
  for (const auto& [written, meant] : kSources) {
    if (!base.ends_with(written)) continue;
    if (std::string found = base.substr(0, base.size() - written.size()) + std::string(meant); files.count(found) != 0)
      return found;
  }
  for (const std::string_view ending : kEndings) {
    if (std::string found = fmt::format("{}/index{}", base, ending); !ending.empty() && files.count(found) != 0)
      return found;
  }
  return {};
}

std::string stub_module(const std::map<std::string, ExportShape>& exports, bool common_js, StubKind kind) {
  std::string text(kind == StubKind::quiet ? kQuiet : kEndless);
  std::string list;
  std::size_t count = 0;
  for (const auto& [name, shape] : exports) {
    const std::string_view value = kind == StubKind::quiet ? expression_of(shape) : "$endless";
    if (name.find_first_of("\"\\\n\r") != std::string::npos) continue;
    if (common_js) {
      list += name == "default" ? "" : fmt::format("module.exports[\"{}\"] = {};\n", name, value);
    } else {
      text += fmt::format("const $export{} = {};\n", count, value);
      list += fmt::format("export {{ $export{} as \"{}\" }};\n", count, name);
      ++count;
    }
  }
  if (common_js) {
    const auto whole = exports.find("default");
    text += fmt::format("module.exports = {};\n",
        kind == StubKind::endless ? "function () {}"
                                  : expression_of(whole == exports.end() ? ExportShape::object : whole->second));
  }
  return text + (list.empty() && !common_js ? "export {};\n" : list);
}

}  // namespace guard::nightly

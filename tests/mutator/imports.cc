// Other ways to get a module, and other names for what it exports.
#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "tests/mutator/mutation.h"

namespace guard::mutator {
namespace {

struct Import {
  std::size_t first = 0;
  std::size_t last = 0;  // the module's name, or the semicolon behind it
  std::size_t module = 0;
  std::string default_name;
  std::string namespace_name;
  std::vector<std::pair<std::string, std::string>> named;  // what is imported, and its name here
};

bool is_builtin(std::string_view name) {
  if (name.substr(0, 5) == "node:") name.remove_prefix(5);
  for (const std::string_view known :
      {"fs", "fs/promises", "child_process", "process", "os", "vm", "worker_threads", "path", "util", "module"}) {
    if (name == known) return true;
  }
  return false;
}

std::string module_of(const Source& source, const Import& import) {
  const std::string_view quoted = source.at(import.module);
  return std::string(quoted.substr(1, quoted.size() - 2));
}

std::vector<Import> imports(const Source& source) {
  std::vector<Import> found;
  for (std::size_t i = 0; i < source.size(); ++i) {
    if (!source.is(i, "import") || source.enclosing(i) != kNone) continue;
    if (i > 0 && !source.is(i - 1, ";") && !source.token(i).line_before) continue;
    Import import;
    import.first = i;
    std::size_t at = i + 1;
    bool known = true;
    if (source.is_name(at)) import.default_name = source.at(at++);
    if (source.is(at, ",")) ++at;
    if (source.is(at, "*") && source.is(at + 1, "as") && source.is_name(at + 2)) {
      import.namespace_name = source.at(at + 2);
      at += 3;
    } else if (source.is(at, "{") && source.partner(at) != kNone) {
      const std::size_t close = source.partner(at);
      for (++at; at < close; ++at) {
        if (!source.is_kind(at, TokenKind::word)) known = false;
        const std::string name(source.at(at));
        if (source.is(at + 1, "as")) {
          import.named.emplace_back(name, source.at(at + 2));
          at += 3;
        } else {
          import.named.emplace_back(name, name);
          ++at;
        }
        if (!source.is(at, ",") && at != close) known = false;
      }
      at = close + 1;
    }
    if (!known || !source.is(at, "from") || !source.is_kind(at + 1, TokenKind::string) || source.token(at + 1).escaped)
      continue;
    import.module = at + 1;
    import.last = source.is(at + 2, ";") ? at + 2 : at + 1;
    if (source.is(at + 2, "with") || source.is(at + 2, "assert")) continue;
    if (import.default_name.empty() && import.namespace_name.empty() && import.named.empty()) continue;
    if (module_of(source, import) == "bun:test") continue;
    found.push_back(std::move(import));
  }
  return found;
}

bool pick_import(const Source& source, Random& random, Import& out) {
  const std::vector<Import> all = imports(source);
  if (all.empty()) return false;
  out = random.pick(all);
  return true;
}

// Gives every reference of `old` another spelling; false if there is one that we don't understand.
bool rename(const Source& source, const Import& import, const std::string& old, const std::string& fresh,
    std::vector<Edit>& edits) {
  for (std::size_t i = 0; i < source.size(); ++i) {
    if (i >= import.first && i <= import.last) continue;
    if (!source.is(i, old) || !source.is_kind(i, TokenKind::word) || source.is(i - 1, ".") || source.is(i - 1, "?."))
      continue;
    if (source.is(i + 1, ":") && (source.is(i - 1, "{") || source.is(i - 1, ","))) continue;
    if (!source.is_reference(i)) return false;
    edits.push_back({source.token(i).begin, source.token(i).end, fresh});
  }
  return true;
}

void replace(const Source& source, const Import& import, std::vector<Edit>& edits, std::string text) {
  const Range range = source.range(import.first, import.last);
  edits.push_back({range.begin, range.end, std::move(text)});
}

std::string names_list(const Import& import, std::string_view as) {
  std::string out;
  for (const auto& [name, local] : import.named) {
    if (!out.empty()) out += ", ";
    out += name == local ? name : fmt::format("{}{}{}", name, as, local);
  }
  return out;
}

bool prefix(const Source& source, Random& random, std::vector<Edit>& edits) {
  std::vector<std::size_t> sites;
  for (std::size_t i = 0; i < source.size(); ++i) {
    std::string value;
    const bool load = source.is_module_name(i) ||
        (source.is(i - 1, "(") && (source.is(i - 2, "require") || source.is(i - 2, "import")));
    if (load && source.is_kind(i, TokenKind::string) && source.plain_value(i, value) && is_builtin(value))
      sites.push_back(i);
  }
  const std::size_t site = pick_site(source, sites, random);
  if (site == kNone) return false;
  const Range range = source.range(site, site);
  const bool has = source.at(site).substr(1, 5) == "node:";
  edits.push_back({range.begin + 1, has ? range.begin + 6 : range.begin + 1, has ? "" : "node:"});
  return true;
}

bool renamed(const Source& source, Random& random, std::vector<Edit>& edits) {
  Import import;
  if (!pick_import(source, random, import) || import.named.empty()) return false;
  auto& [name, local] = import.named[random.below(import.named.size())];
  const std::string fresh = source.fresh_name(random.below(100));
  std::vector<Edit> found;
  if (!rename(source, import, local, fresh, found)) return false;
  local = fresh;
  std::string list;
  const bool in_quotes = random.one_in(4);
  for (const auto& [what, here] : import.named) {
    const std::string shown = in_quotes ? "\"" + what + "\"" : what;
    list += (list.empty() ? "" : ", ") + (what == here ? what : shown + " as " + here);
  }
  const std::string first = import.default_name.empty() ? "" : import.default_name + ", ";
  replace(source, import, found, fmt::format("import {}{{ {} }} from {};", first, list, source.at(import.module)));
  edits = std::move(found);
  return true;
}

// import { a } from "m"  ->  a namespace n, and n.a
bool whole_module(const Source& source, Random& random, std::vector<Edit>& edits) {
  Import import;
  if (!pick_import(source, random, import) || import.named.empty() || !import.default_name.empty()) return false;
  const std::string fresh = source.fresh_name(random.below(100));
  std::vector<Edit> found;
  for (const auto& [name, local] : import.named) {
    if (!rename(source, import, local, fresh + "." + name, found)) return false;
  }
  std::vector<std::string_view> forms = {"import * as {0} from {1};", "const {0} = require({1});",
      "const {0} = await import({1});", "const {0} = (await import({1}));", "let {0}; {0} = await import({1});",
      "var {0} = require({1}) as any;"};
  if (is_builtin(module_of(source, import))) {
    for (const std::string_view form : {"import {0} from {1};", "import {{ default as {0} }} from {1};",
             "import {0} = require({1});", "const {{ default: {0} }} = await import({1});",
             "import {0}, {{}} from {1};", "const {0} = process.getBuiltinModule({1});"}) {
      forms.push_back(form);
    }
  }
  replace(source, import, found, fmt::format(fmt::runtime(random.pick(forms)), fresh, source.at(import.module)));
  edits = std::move(found);
  return true;
}

bool destructured(const Source& source, Random& random, std::vector<Edit>& edits) {
  Import import;
  if (!pick_import(source, random, import) || import.named.empty() || !import.default_name.empty()) return false;
  for (const auto& [name, local] : import.named) {
    if (name == "default") return false;
  }
  static constexpr std::string_view kForms[] = {"const {{ {0} }} = require({1});",
      "const {{ {0} }} = await import({1});", "let {{ {0} }} = require({1}) as any;",
      "const {{ {0} }} = (await import({1})) as any;", "import * as all_of_it from {1}; const {{ {0} }} = all_of_it;"};
  replace(source, import, edits,
      fmt::format(fmt::runtime(random.pick(kForms)), names_list(import, ": "), source.at(import.module)));
  return true;
}

bool whole_module_otherwise(const Source& source, Random& random, std::vector<Edit>& edits) {
  Import import;
  if (!pick_import(source, random, import) || !import.named.empty()) return false;
  const bool whole = !import.namespace_name.empty();
  if (whole && !import.default_name.empty()) return false;
  const std::string local = whole ? import.namespace_name : import.default_name;
  if (!whole && !is_builtin(module_of(source, import))) return false;
  static constexpr std::string_view kForms[] = {"const {0} = require({1});", "import * as {0} from {1};",
      "const {0} = await import({1});", "import {{ default as {0} }} from {1};", "import {0} from {1};",
      "import {0} = require({1});"};
  const std::size_t form = random.below(is_builtin(module_of(source, import)) ? 6 : 3);
  replace(source, import, edits, fmt::format(fmt::runtime(kForms[form]), local, source.at(import.module)));
  return true;
}

// const f2 = f; for something imported.
bool alias(const Source& source, Random& random, std::vector<Edit>& edits) {
  Import import;
  if (!pick_import(source, random, import)) return false;
  std::vector<std::string> locals;
  for (const auto& [name, local] : import.named) locals.push_back(local);
  if (!import.default_name.empty()) locals.push_back(import.default_name);
  if (!import.namespace_name.empty()) locals.push_back(import.namespace_name);
  const std::string& local = random.pick(locals);
  std::vector<Edit> found;
  const std::string fresh = source.fresh_name(random.below(100));
  if (!rename(source, import, local, fresh, found) || found.empty()) return false;
  static constexpr std::string_view kForms[] = {"const {1} = {0};", "let {1} = {0};",
      "const {{ f: {1} }} = {{ f: {0} }};", "const {1}: any = {0};", "let {1}; {1} = {0};", "const [{1}] = [{0}];"};
  const std::size_t behind = source.token(import.last).end;
  found.push_back({behind, behind, "\n" + fmt::format(fmt::runtime(random.pick(kForms)), local, fresh) + "\n"});
  edits = std::move(found);
  return true;
}

// require("m") -> await import("m"), module.require("m"), ...
bool load(const Source& source, Random& random, std::vector<Edit>& edits) {
  std::vector<std::size_t> sites;
  for (std::size_t i = 0; i + 2 < source.size(); ++i) {
    if (source.is_reference(i) && source.is(i, "require") && source.is(i + 1, "(") && source.may_open_bracket(i) &&
        !source.is(i - 1, "await"))
      sites.push_back(i);
  }
  const std::size_t site = pick_site(source, sites, random);
  if (site == kNone) return false;
  static constexpr std::string_view kForms[] = {"(require)", "require!", "(0, require)", "(require as any)",
      "module.require", "require?.", "import.meta.require"};
  const Range range = source.range(site, site);
  edits.push_back({range.begin, range.end, std::string(random.pick(kForms))});
  return true;
}

}  // namespace

void add_import_mutations(std::vector<Mutation>& out) {
  out.push_back({"import.prefix", prefix});
  out.push_back({"import.renamed", renamed});
  out.push_back({"import.whole_module", whole_module});
  out.push_back({"import.destructured", destructured});
  out.push_back({"import.whole_module_otherwise", whole_module_otherwise});
  out.push_back({"import.alias", alias});
  out.push_back({"import.load", load});
}

}  // namespace guard::mutator

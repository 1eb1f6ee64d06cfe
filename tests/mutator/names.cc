// Other names for the same thing: escapes in names, prefixes, aliases, destructuring, renaming; and decoys, the same
// name for another thing in another scope.
#include <fmt/format.h>

#include <set>

#include "tests/mutator/mutation.h"

namespace guard::mutator {
namespace {

constexpr std::string_view kGlobals[] = {"process", "Bun", "console", "JSON", "Object", "Function", "eval", "Buffer"};

bool escaped_name(const Source& source, Random& random, std::vector<Edit>& edits) {
  std::vector<std::size_t> sites;
  for (std::size_t i = 0; i < source.size(); ++i) {
    const std::string_view name = source.at(i);
    if (!source.is_name(i) || name.find('\\') != std::string_view::npos) continue;
    if (source.is(i - 1, ".") && (source.is(i - 2, "import") || source.is(i - 2, "new"))) continue;
    bool ascii = true;
    for (const char c : name) ascii = ascii && c > 0;
    // A name that stands for itself as a key ({ a }) may be escaped as well.
    if (ascii) sites.push_back(i);
  }
  const std::size_t site = pick_site(source, sites, random);
  if (site == kNone) return false;
  const std::size_t at = source.token(site).begin + random.below(source.at(site).size());
  const auto c = static_cast<unsigned>(source.text()[at]);
  edits.push_back({at, at + 1, random.one_in(2) ? fmt::format("\\u{:04x}", c) : fmt::format("\\u{{{:X}}}", c)});
  return true;
}

// References of one of the globals, if the program doesn't declare it.
bool pick_global(const Source& source, Random& random, std::string& name, std::vector<std::size_t>& uses, bool dotted) {
  std::vector<std::string> names;
  for (const std::string_view global : kGlobals) {
    std::vector<std::size_t> found;
    if (!source.references(global, found) || found.empty()) continue;
    for (const std::size_t i : found) {
      const bool dots = !dotted || source.is(i + 1, ".") || source.is(i + 1, "?.");
      if (source.in_focus(i) && dots) names.emplace_back(global);
    }
  }
  if (names.empty()) return false;
  name = random.pick(names);
  uses.clear();
  source.references(name, uses);
  return true;
}

bool global_prefix(const Source& source, Random& random, std::vector<Edit>& edits) {
  std::string name;
  std::vector<std::size_t> uses;
  if (!pick_global(source, random, name, uses, false)) return false;
  const std::size_t site = pick_site(source, uses, random);
  static constexpr std::string_view kForms[] = {"globalThis.{}", "global.{}", "self.{}", "globalThis[\"{}\"]",
      "globalThis?.{}", "globalThis!.{}", "global['{}']", "globalThis.globalThis.{}", "globalThis . {}",
      "globalThis?.[\"{}\"]"};
  std::string form(random.pick(kForms));
  const bool constructed = source.is(site - 1, "new");
  if (constructed && form.find('?') != std::string::npos) return false;
  if (!source.is_read(site, source.chain_end(site)) && form.find('?') != std::string::npos) return false;
  if (source.may_open_bracket(site) && random.one_in(3)) {
    static constexpr std::string_view kMore[] = {"(globalThis as any).{}", "(globalThis).{}", "(<any>globalThis).{}",
        "(globalThis as any)[\"{}\"]", "(0, globalThis).{}", "(globalThis as typeof globalThis & {{ x: 1 }}).{}"};
    form = random.pick(kMore);
  }
  const Range range = source.range(site, site);
  edits.push_back({range.begin, range.end, fmt::format(fmt::runtime(form), name)});
  return true;
}

// Declares `fresh` in front of where it is used.
bool declare(
    const Source& source, Random& random, std::vector<Edit>& edits, std::size_t site, const std::string& text) {
  const std::size_t place = random.one_in(2) ? 0 : source.body_begin(site);
  edits.push_back({place, place, (place == 0 ? "" : " ") + text + "\n"});
  return true;
}

bool alias(const Source& source, Random& random, std::vector<Edit>& edits) {
  std::string name;
  std::vector<std::size_t> uses;
  if (!pick_global(source, random, name, uses, false)) return false;
  const std::size_t site = pick_site(source, uses, random);
  if (source.is(site - 1, "new") && random.one_in(2)) return false;
  const std::string fresh = source.fresh_name(random.below(100));
  static constexpr std::string_view kForms[] = {"const {1} = {0};", "let {1} = {0};", "var {1} = {0};",
      "let {1}; {1} = {0};", "const {1} = globalThis.{0};", "const {{ {0}: {1} }} = globalThis;",
      "const [{1}] = [{0}];", "const {1} = {0} as any;", "const {1}: any = {0};", "const {1} = ({0});",
      "const {1} = (0, {0});", "const {{ {1} = {0} }} = {{}} as any;", "const {1} = globalThis[\"{0}\"];",
      "const {1} = {0}!;", "let {1}: typeof {0} = {0};", "const {{ [\"{0}\"]: {1} }} = globalThis;"};
  const Range range = source.range(site, site);
  declare(source, random, edits, site, fmt::format(fmt::runtime(random.pick(kForms)), name, fresh));
  edits.push_back({range.begin, range.end, fresh});
  return true;
}

bool alias_chain(const Source& source, Random& random, std::vector<Edit>& edits) {
  std::string name;
  std::vector<std::size_t> uses;
  if (!pick_global(source, random, name, uses, false)) return false;
  const std::size_t site = pick_site(source, uses, random);
  const std::string first = source.fresh_name(random.below(100));
  const std::string second = first + "2";
  const Range range = source.range(site, site);
  declare(source, random, edits, site, fmt::format("const {1} = {0}; const {2} = {1};", name, first, second));
  edits.push_back({range.begin, range.end, second});
  return true;
}

// x.y read: const { y } = x or const a = x.y in front, and a where x.y stood.
bool destructured(const Source& source, Random& random, std::vector<Edit>& edits) {
  std::string name;
  std::vector<std::size_t> uses;
  if (!pick_global(source, random, name, uses, true)) return false;
  std::vector<std::size_t> sites;
  for (const std::size_t i : uses) {
    if (source.is(i + 1, ".") && source.is_name(i + 2) && is_free_receiver(name) &&
        source.is_read(i, source.chain_end(i + 2)))
      sites.push_back(i);
  }
  const std::size_t site = pick_site(source, sites, random);
  if (site == kNone) return false;
  const std::string member(source.at(site + 2));
  std::string fresh = source.fresh_name(random.below(100));
  static constexpr std::string_view kForms[] = {"const {{ {1}: {2} }} = {0};", "let {{ {1}: {2} }} = {0};",
      "const {2} = {0}.{1};", "const {{ '{1}': {2} }} = {0};", "const {{ [\"{1}\"]: {2} }} = {0};",
      "const {{ {1}: {2} }} = {0} as any;", "let {2}; ({{ {1}: {2} }} = {0});",
      "const {{ {0}: {{ {1}: {2} }} }} = globalThis;", "const {{ {1}: {2} = null }} = {0} as any;",
      "const [{{ {1}: {2} }}] = [{0}];", "const {{ pid: p_{2}, {1}: {2} }} = {0} as any;", "const {2} = {0}[\"{1}\"];",
      "const {{ {1}: {2}, ...rest_{2} }} = {0};", "var {2} = {0}?.{1};"};
  const Range range = source.range(site, site + 2);
  declare(source, random, edits, site, fmt::format(fmt::runtime(random.pick(kForms)), name, member, fresh));
  edits.push_back({range.begin, range.end, fresh});
  return true;
}

// Names that are declared once, by const, let or var.
bool renamed(const Source& source, Random& random, std::vector<Edit>& edits) {
  std::vector<std::size_t> sites;
  for (std::size_t i = 1; i < source.size(); ++i) {
    const bool declared = source.is(i - 1, "const") || source.is(i - 1, "let") || source.is(i - 1, "var");
    if (declared && source.is_name(i)) sites.push_back(i);
  }
  const std::size_t site = pick_site(source, sites, random);
  if (site == kNone) return false;
  const std::string_view old = source.at(site);
  const std::string fresh = source.fresh_name(random.below(100));
  std::vector<Edit> found;
  for (std::size_t i = 0; i < source.size(); ++i) {
    if (!source.is(i, old) || source.is(i - 1, ".") || source.is(i - 1, "?.")) continue;
    if (source.is(i + 1, ":") && (source.is(i - 1, "{") || source.is(i - 1, ","))) continue;
    if (i != site && !source.is_reference(i)) return false;
    found.push_back({source.token(i).begin, source.token(i).end, fresh});
  }
  edits = std::move(found);
  return true;
}

// Another thing of the same name, in a scope of its own.
bool decoy(const Source& source, Random& random, std::vector<Edit>& edits) {
  std::vector<std::size_t> sites;
  for (std::size_t i = 0; i < source.size(); ++i) {
    if (source.is_reference(i) && !source.is(i, "eval") && source.at(i).find('\\') == std::string_view::npos)
      sites.push_back(i);
  }
  const std::size_t site = pick_site(source, sites, random);
  if (site == kNone) return false;
  const std::string fresh = source.fresh_name(random.below(100));
  static constexpr std::string_view kForms[] = {"function {1}({0}: any) {{ return {0}; }}\n",
      "function {1}() {{ const {0} = (x: any) => x; return {0}(1); }}\n", "const {1} = ({0} = \"\") => {0}.length;\n",
      "function {1}() {{ let {0} = \"harmless\"; return {0}; }}\n",
      "function {1}() {{ function {0}() {{ return 1; }} return {0}; }}\n", "class {1} {{ {0}() {{ return 1; }} }}\n",
      "const {1} = {{ {0}: 1 }};\n", "function {1}() {{ try {{ return 1; }} catch ({0}) {{ return {0}; }} }}\n",
      "function {1}() {{ for (const {0} of [1, 2]) return {0}; }}\n",
      "{{ let {0} = {{ env: {{ X: 1 }} }} as any; void {0}; }}\n", "function {1}({{ {0} }}: any) {{ return {0}.x; }}\n",
      "type {1} = {{ {0}: string }};\n"};
  const std::string text = fmt::format(fmt::runtime(random.pick(kForms)), source.at(site), fresh);
  // In front of all, or behind.
  const std::size_t place = random.one_in(2) ? 0 : source.text().size();
  edits.push_back({place, place, place == 0 ? text : "\n" + text});
  return true;
}

}  // namespace

void add_name_mutations(std::vector<Mutation>& out) {
  out.push_back({"name.escape", escaped_name});
  out.push_back({"name.global_prefix", global_prefix});
  out.push_back({"name.alias", alias});
  out.push_back({"name.alias_chain", alias_chain});
  out.push_back({"name.destructured", destructured});
  out.push_back({"name.renamed", renamed});
  out.push_back({"name.decoy", decoy});
}

}  // namespace guard::mutator

#include "nightly/worth/module_links.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace guard::nightly {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::Pair;

std::vector<std::string> specifiers(std::string_view text) {
  std::vector<std::string> all;
  for (const auto& import : links_of("src/a.ts", text).imports) all.push_back(import.specifier);
  return all;
}

std::map<std::string, ExportShape> exports(std::string_view text) { return links_of("src/a.ts", text).exports; }

TEST(ModuleLinks, FindsEveryKindOfImport) {
  EXPECT_THAT(specifiers("import a from './a';\nimport { b } from \"./b\"\nimport * as c from './c';\nimport "
                         "'./d';\nexport * from './e';\nexport { f } from './f';\n"
                         "const g = await import('./g');\nconst h = require('./h');\nimport i, { j as k } from "
                         "'./i';\nexport * as l from './l';\nimport type from './m';\n"),
      ElementsAre("./a", "./b", "./c", "./d", "./e", "./f", "./g", "./h", "./i", "./l", "./m"));
}

TEST(ModuleLinks, LeavesOutWhatImportsNothing) {
  EXPECT_THAT(specifiers("// import a from './a'\n'import b from \"./b\"';\nx.import('./c');\nimport.meta.url;\nimport "
                         "type { D } from './d';\nimport(e);\nrequire(f);\n"),
      IsEmpty());
}

TEST(ModuleLinks, KeepsTheNamesAsTheOtherModuleHasThem) {
  const auto links = links_of("src/a.ts", "import a, { b as c, type D, type, default as e } from './x';");
  ASSERT_EQ(links.imports.size(), 1u);
  EXPECT_THAT(links.imports[0].names, ElementsAre("b", "default", "type"));
}

TEST(ModuleLinks, TellsWhatIsExportedAndWhatItIs) {
  using enum ExportShape;
  EXPECT_THAT(exports("export function a() {}\nexport async function b() {}\nexport function* c() {}\nexport async "
                      "function* d() {}\nexport class E {}\nexport abstract class F {}\n"),
      ElementsAre(Pair("E", a_class), Pair("F", a_class), Pair("a", function), Pair("b", async_function),
          Pair("c", generator), Pair("d", async_generator)));
  EXPECT_THAT(exports("export const a = 'x', b = 5, c = true, d = null;\nexport const e: string[] = [1];\nexport let f "
                      "= { g: 1 }, h;\nexport const i = (x: number): number => x;\n"
                      "export const j = async () => 1;\nexport const k = x => x;\nexport const l = make();\nexport "
                      "const m = 5 + n;\n"),
      ElementsAre(Pair("a", text), Pair("b", number), Pair("c", boolean), Pair("d", null), Pair("e", list),
          Pair("f", object), Pair("h", anything), Pair("i", function), Pair("j", async_function), Pair("k", function),
          Pair("l", anything), Pair("m", anything)));
  EXPECT_THAT(exports("export default class A {}"), ElementsAre(Pair("default", a_class)));
  EXPECT_THAT(exports("export default async () => 1;"), ElementsAre(Pair("default", async_function)));
  EXPECT_THAT(exports("export default {};"), ElementsAre(Pair("default", object)));
  EXPECT_THAT(exports("const a = 'x';\nfunction b() {}\nexport { a as c, b as default, type D, e };"),
      ElementsAre(Pair("c", text), Pair("default", function), Pair("e", anything)));
  EXPECT_THAT(exports("export const { a, b: c, ...d } = e;\nexport const [f] = g;\nexport enum H { i }\nexport const "
                      "enum J { k }\nexport namespace L { export const m = 1 }\n"),
      ElementsAre(Pair("H", object), Pair("J", object), Pair("L", object), Pair("a", anything), Pair("c", anything),
          Pair("d", anything), Pair("f", anything)));
  EXPECT_THAT(exports("export type A = 5;\nexport interface B {}\nexport type { C } from './c';\nexport type { D };\n"),
      IsEmpty());
}

TEST(ModuleLinks, ReadsCommonJs) {
  const auto links =
      links_of("src/a.js", "exports.a = 1;\nmodule.exports.b = () => 2;\nmodule.exports = { c, d: 'x', e() {} };\n");
  EXPECT_TRUE(links.common_js);
  for (const char* name : {"a", "b", "c", "d", "e"}) EXPECT_EQ(links.exports.count(name), 1u) << name;
  EXPECT_TRUE(links_of("src/a.cjs", "").common_js);
  EXPECT_FALSE(links_of("src/a.ts", "export const a = 1;").common_js);
}

TEST(ModuleLinks, ReadsAnyBytes) {
  const std::string whole =
      "export const { a, b: [c] } = x; import d, { e as f } from \"g\"; export * as h from 'i'; module.exports = { j: "
      "`${k}` };";
  for (std::size_t i = 0; i <= whole.size(); ++i) {
    for (std::size_t j = i; j <= whole.size(); ++j) links_of("src/a.ts", std::string_view(whole).substr(i, j - i));
  }
}

TEST(ModuleLinks, ResolvesAsBunDoes) {
  const std::set<std::string> files = {"src/add.ts", "src/b.js", "src/c/index.ts", "src/d.tsx", "src/e.json",
      "sandbox/helper.ts", "src/both.ts", "src/both/index.ts"};
  const auto from = [&](std::string_view specifier) {
    return resolve_import("sandbox/deep/a.test.ts", specifier, files);
  };
  EXPECT_EQ(from("../../src/add"), "src/add.ts");
  EXPECT_EQ(from("../../src/add.ts"), "src/add.ts");
  EXPECT_EQ(from("../../src/add.js"), "src/add.ts");
  EXPECT_EQ(from("../../src/add?x=1"), "src/add.ts");
  EXPECT_EQ(from("../../src/b"), "src/b.js");
  EXPECT_EQ(from("../../src/c"), "src/c/index.ts");
  EXPECT_EQ(from("../../src/c/"), "src/c/index.ts");
  EXPECT_EQ(from("../../src/both"), "src/both.ts");
  EXPECT_EQ(from("../../src/d.jsx"), "src/d.tsx");
  EXPECT_EQ(from("../../src/e.json"), "src/e.json");
  EXPECT_EQ(from("../helper"), "sandbox/helper.ts");
  for (const char* none :
      {"bun:test", "lodash", "@/add", "../../src/gone", "../../../../../etc/passwd", "/etc/passwd", ""})
    EXPECT_EQ(from(none), "") << none;
}

TEST(ModuleLinks, StubsExportAllThatIsAskedFor) {
  const std::string text =
      stub_module({{"a", ExportShape::function}, {"default", ExportShape::a_class}, {"odd\"name", ExportShape::text}},
          false, StubKind::quiet);
  EXPECT_THAT(text, HasSubstr("as \"a\" }"));
  EXPECT_THAT(text, HasSubstr("as \"default\" }"));
  EXPECT_THAT(text, Not(HasSubstr("odd")));
  EXPECT_EQ(links_of("src/a.ts", text).exports.size(), 2u);
}

}  // namespace
}  // namespace guard::nightly

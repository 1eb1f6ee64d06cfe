#include "validator/judge/import_graph.h"

#include <gtest/gtest.h>

#include <map>
#include <set>
#include <string>

#include "tests/support/validator/check_support.h"

namespace guard {
namespace {

using Names = std::set<std::string>;

// Everything that `path` loads, directly or not.
Names loaded_by(const std::string& path, const std::map<std::string, std::vector<std::string>>& tree,
    const ModuleNames& modules = {}) {
  std::vector<std::vector<FileLoad>> loads;
  std::vector<LoadingFile> files;
  loads.reserve(tree.size());
  for (const auto& [name, specifiers] : tree) {
    auto& list = loads.emplace_back();
    for (const std::string& specifier : specifiers) list.push_back({specifier, {{}, 1, 1}});
    files.push_back({name, &list});
  }
  const std::vector<FileGroup> groups = group_by_loads(files, modules);
  std::vector<Names> reached(groups.size());
  for (std::size_t i = 0; i < groups.size(); ++i) {
    for (const std::uint32_t below : groups[i].loads) {
      EXPECT_LT(below, i) << "what is loaded comes first";
      reached[i].insert(reached[below].begin(), reached[below].end());
    }
    bool here = false;
    for (const std::uint32_t file : groups[i].files) {
      reached[i].emplace(files[file].path);
      here = here || files[file].path == path;
    }
    if (!here) continue;
    reached[i].erase(path);
    return reached[i];
  }
  ADD_FAILURE() << path << " is in no group";
  return {};
}

TEST(ImportGraph, FindsAFileByAnySpellingOfItsPath) {
  for (const char* name : {"./b", "./b.ts", "./b.js", "../t/b", "./x/../b", ".//b", "file:///t/b.ts", "/t/b"}) {
    EXPECT_EQ(loaded_by("/t/a.ts", {{"/t/a.ts", {name}}, {"/t/b.ts", {}}, {"/t/c.ts", {}}}), Names{"/t/b.ts"}) << name;
  }
  EXPECT_EQ(loaded_by("a.ts", {{"a.ts", {"./lib"}}, {"./lib/index.ts", {}}}), Names{"./lib/index.ts"});
  EXPECT_EQ(loaded_by("t/a.ts", {{"t/a.ts", {".."}}, {"index.ts", {}}}), Names{"index.ts"});
}

TEST(ImportGraph, TakesEveryFileThatANameMayMean) {
  EXPECT_EQ(loaded_by("a.ts", {{"a.ts", {"./b"}}, {"b.tsx", {}}, {"b.js", {}}}), (Names{"b.tsx", "b.js"}));
}

TEST(ImportGraph, FollowsChainsAndCircles) {
  EXPECT_EQ(loaded_by("a.ts", {{"a.ts", {"./b"}}, {"b.ts", {"./c"}}, {"c.ts", {"./b"}}, {"d.ts", {"./a"}}}),
      (Names{"b.ts", "c.ts"}));
}

TEST(ImportGraph, FindsAliasesByTheirEndsAndBaseFolders) {
  const std::map<std::string, std::vector<std::string>> tree = {
      {"app/t/a.test.ts", {}}, {"app/src/lib/b.ts", {}}, {"app/src/b.ts", {}}, {"other/b.ts", {}}};
  const auto reached = [&](const std::string& name) {
    auto with = tree;
    with["app/t/a.test.ts"] = {name};
    return loaded_by("app/t/a.test.ts", with);
  };
  for (const char* name : {"@/lib/b", "~/lib/b.ts", "#lib/b", "$lib/b", "lib/b", "src/lib/b"})
    EXPECT_EQ(reached(name), Names{"app/src/lib/b.ts"}) << name;
  EXPECT_EQ(reached("lodash"), Names{});
  EXPECT_EQ(reached("node:fs"), Names{});
}

TEST(ImportGraph, TakesAWholeFolderWhereANameIsBuilt) {
  const std::map<std::string, std::vector<std::string>> tree = {
      {"t/cases/x/a.ts", {}}, {"t/cases/b.ts", {}}, {"t/c.ts", {}}, {"d.ts", {}}};
  const auto reached = [&](const std::string& name) {
    auto with = tree;
    with["t/a.test.ts"] = {name};
    return loaded_by("t/a.test.ts", with);
  };
  EXPECT_EQ(reached("./cases/\x1a.ts"), (Names{"t/cases/x/a.ts", "t/cases/b.ts"}));
  EXPECT_EQ(reached("\x1a/cases/\x1a"), (Names{"t/cases/x/a.ts", "t/cases/b.ts"}));
  EXPECT_EQ(reached("\x1a/c"), (Names{"t/c.ts"}));
  EXPECT_EQ(reached("\x1a"), (Names{"t/cases/x/a.ts", "t/cases/b.ts", "t/c.ts", "d.ts"}));
}

TEST(ImportGraph, ReadsANameAsAnAddress) {
  for (const char* name : {"./%62", "./b.ts?again", "./b.ts#again", "file:///t/%62.ts"}) {
    EXPECT_EQ(loaded_by("/t/a.ts", {{"/t/a.ts", {name}}, {"/t/b.ts", {}}, {"/t/c.ts", {}}}), Names{"/t/b.ts"}) << name;
  }
}

// What package.json and tsconfig.json say, told from their text.
ModuleNames names_of(const std::map<std::string, std::string>& configs) {
  ModuleNames modules;
  for (const auto& [path, text] : configs) add_module_names(path, text, modules.names);
  return modules;
}

TEST(ImportGraph, FindsPackagesOfAWorkspaceByName) {
  const std::map<std::string, std::string> configs = {
      {"packages/engine/package.json",
          R"({"name": "@acme/core", "main": "./dist/index.js", "exports": {".": {"import": "./lib/start.ts"}, "./extra": "./lib/more.ts"}})"},
      {"packages/built/package.json", R"({"name": "built", "main": "./dist/index.js"})"},
      {"packages/plain/package.json", R"({"name": "plain"})"}};
  const auto reached = [&](const std::string& name) {
    return loaded_by("t/a.ts",
        {{"t/a.ts", {name}}, {"packages/engine/lib/start.ts", {}}, {"packages/engine/lib/more.ts", {}},
            {"packages/built/source/x.ts", {}}, {"packages/plain/src/index.ts", {}},
            {"packages/plain/src/deep.ts", {}}},
        names_of(configs));
  };
  EXPECT_EQ(reached("@acme/core"), Names{"packages/engine/lib/start.ts"});
  EXPECT_EQ(reached("../packages/engine").count("packages/engine/lib/start.ts"), 1U);
  EXPECT_EQ(reached("@acme/core/extra"), Names{"packages/engine/lib/more.ts"});
  EXPECT_EQ(reached("built"), Names{"packages/built/source/x.ts"}) << "built from any of its files";
  EXPECT_EQ(reached("plain"), Names{"packages/plain/src/index.ts"});
  EXPECT_EQ(reached("plain/deep"), Names{"packages/plain/src/deep.ts"});
  EXPECT_EQ(reached("other"), Names{});
}

TEST(ImportGraph, FindsAliasesThatAreNoEnds) {
  const std::map<std::string, std::string> configs = {
      {"package.json", R"({"imports": {"#say": "./x/b.ts", "#in/*": {"bun": "./x/*.ts"}}})"},
      {"tsconfig.json",
          "{ // what \"paths\" is for\n \"compilerOptions\": {\"baseUrl\": \"./root\", /* {*/ \"paths\": {\"say\": "
          "[\"../x/b\",], \"@lib/*\": [\"../y/*\", \"../x/*\"], }, }, }"}};
  const auto reached = [&](const std::string& name) {
    return loaded_by(
        "t/a.ts", {{"t/a.ts", {name}}, {"x/b.ts", {}}, {"x/c.ts", {}}, {"root/deep/d.ts", {}}}, names_of(configs));
  };
  for (const char* name : {"#say", "#in/b", "say", "@lib/b"}) EXPECT_EQ(reached(name), Names{"x/b.ts"}) << name;
  EXPECT_EQ(reached("@lib/c.js"), Names{"x/c.ts"});
  EXPECT_EQ(reached("deep/d"), Names{"root/deep/d.ts"});
  EXPECT_EQ(reached("@lib/none"), Names{});
}

TEST(ImportGraph, TellsWhichFilesAConfigurationExtends) {
  std::vector<ModuleName> names;
  EXPECT_EQ(add_module_names("a/tsconfig.json", R"({"extends": ["../base", "./more.json", "@tsconfig/node"]})", names),
      (std::vector<std::string>{"base.json", "a/more.json"}));
}

// ---- files judged with what they load ----

Names refused(const std::vector<SourceFile>& files, TierSet tiers = kDocker) {
  Names paths;
  for (const Finding& finding : check(files, tiers).findings) paths.insert(finding.path);
  return paths;
}

const char* const kReads = "export const key = process.env.SERVICE_SECRET;\n";
const char* const kPrints = "export const say = (x: unknown) => console.log(x);\n";

TEST(Groups, HalvesInFilesThatHaveNothingToDoWithEachOtherAreNoAct) {
  EXPECT_EQ(refused({{"sandbox/a.ts", kReads}, {"sandbox/b.ts", kPrints}}), Names{});
  EXPECT_EQ(refused({{"sandbox/a.test.ts", "run('npx cowsay');\n"},
                {"sandbox/b.ts", "import { execSync } from 'child_process';\n"}}),
      Names{});
}

TEST(Groups, HalvesThatMeetRefuseTheFileInWhichTheyMeet) {
  const SourceFile reads{"sandbox/a.ts", kReads};
  const SourceFile prints{"sandbox/b.ts", kPrints};
  for (const char* name : {"./b", "./b.ts", "@/sandbox/b", "sandbox/b"}) {
    EXPECT_EQ(refused({{"sandbox/a.test.ts",
                           std::string("import { say } from '") + name + "'; say(process.env.SERVICE_SECRET)\n"},
                  prints}),
        Names{"sandbox/a.test.ts"})
        << name;
  }
  EXPECT_EQ(refused({{"sandbox/a.test.ts", "import { key } from './a'; console.log(key)\n"}, reads}),
      Names{"sandbox/a.test.ts"});
  const SourceFile joins{"sandbox/a.test.ts", "import { key } from './a'; import { say } from './b'; say(key)\n"};
  EXPECT_EQ(refused({joins, reads, prints}), Names{"sandbox/a.test.ts"});
  EXPECT_EQ(
      refused({joins, reads, prints, {"sandbox/top.test.ts", "import './a.test'\n"}}), Names{"sandbox/a.test.ts"});
  EXPECT_EQ(refused({{"sandbox/a.test.ts", "const m = await import('./' + pick()); console.log(m.key)\n"}, reads}),
      Names{"sandbox/a.test.ts"});
  EXPECT_EQ(refused({{"sandbox/a.test.ts", "import { key } from './barrel'; console.log(key)\n"},
                {"sandbox/barrel.ts", "export * from './a'\n"}, reads}),
      Names{"sandbox/a.test.ts"});
}

TEST(Groups, APreconditionMayStandInWhatAFileLoads) {
  const SourceFile spawns{"sandbox/run.ts", "import { execSync } from 'child_process'; export const run = execSync;\n"};
  EXPECT_EQ(refused({{"sandbox/a.test.ts", "import { run } from './run'; run('npx cowsay')\n"}, spawns}),
      Names{"sandbox/a.test.ts"});
  const SourceFile text{"sandbox/text.ts", "export const list = [cmd('npx cowsay')];\n"};
  EXPECT_EQ(
      refused({{"sandbox/a.test.ts", "import { run } from './run'; import { list } from './text'; run(list[0])\n"},
          spawns, text}),
      Names{"sandbox/a.test.ts"});
}

// Every way in which one file may load another, with a half of the act in each.
TEST(Groups, NoWayOfLoadingPartsTheHalves) {
  const SourceFile reads{"sandbox/a.ts", kReads};
  for (const char* text :
      {
          "import { key } from './a'; console.log(key)",
          "import a from './a.js'; console.log(a.key)",
          "import * as a from './a'; console.log(a.key)",
          "import a, { key } from \"./a\"; console.log(key)",
          "import { key } from './\\u0061'; console.log(key)",
          "import { key } from './%61'; console.log(key)",
          "import { key } from './a?1'; console.log(key)",
          "import { key } from '../sandbox/a'; console.log(key)",
          "import { key } from 'sandbox/a'; console.log(key)",
          "import { key } from './a' with { type: 'ts' }; console.log(key)",
          "export * from './a'; console.log(1)",
          "export { key } from './a'; console.log(1)",
          "import './a'; console.log(globalThis.key)",
          "const { key } = require('./a'); console.log(key)",
          "const { key } = module.require('./a'); console.log(key)",
          "const { key } = import.meta.require('./a'); console.log(key)",
          "import { createRequire } from 'module'; const r = createRequire(import.meta.url); console.log(r('./a').key)",
          "const r = require; console.log(r('./a').key)",
          "const load = (name: string) => require(name); console.log(load('./a').key)",
          "console.log((await import('./a')).key)",
          "console.log((await import('./' + 'a')).key)",
          "console.log((await import(`./${name}`)).key)",
          "console.log((await import(name)).key)",
          "console.log(require(name).key)",
          "console.log(require(`${dir}/a`).key)",
          "console.log((await import(new URL('./a.ts', import.meta.url).href)).key)",
          "console.log((await import(import.meta.resolve('./a'))).key)",
          "console.log((await import(import.meta.dir + '/a.ts')).key)",
          "console.log(eval(\"require('./a')\").key)",
          "console.log(await new Function(\"return import('./a')\")())",
          "const all = import.meta.glob('./*.ts', { eager: true }); console.log(all)",
          "const a = await vi.importActual('./a'); console.log(a.key)",
          "const a = jest.requireActual('./a'); console.log(a.key)",
          "const w = new Worker(new URL('./a.ts', import.meta.url)); w.onmessage = (e) => console.log(e.data)",
          "import { fork } from 'child_process'; fork('./a.ts').on('message', (m) => console.log(m))",
          "const out = Bun.spawnSync(['bun', 'sandbox/a.ts']); console.log(out.stdout)",
          "import { $ } from 'bun'; console.log(await $`bun ./a.ts`.text())",
      }) {
    EXPECT_FALSE(refused({{"sandbox/b.test.ts", std::string(text) + "\n"}, reads}).empty()) << text;
    EXPECT_TRUE(refused({{"sandbox/b.test.ts", std::string(text) + "\n"}}).empty())
        << "refused alone, which shows nothing: " << text;
  }
}

// What files leave for each other that import nothing of each other is output, too.
TEST(Groups, AValueIsLeftForNobody) {
  const char* const kStore =
      "let held: unknown;\nexport const keep = (x: unknown) => { held = x };\nexport const kept = () => held;\n";
  const std::vector<std::pair<std::string, std::string>> files = {
      {"globalThis.left = process.env.SERVICE_SECRET;", ""},
      {"const key = process.env.SERVICE_SECRET; (globalThis as any)['le' + 'ft'] = { key };", ""},
      {"const g = globalThis; g.left = wrap(process.env.SERVICE_SECRET);", ""},
      {"Object.assign(globalThis, { left: process.env.SERVICE_SECRET });", ""},
      {"Reflect.set(globalThis, 'left', process.env.SERVICE_SECRET);", ""},
      {"(String.prototype as any).left = process.env.SERVICE_SECRET;", ""},
      {"(Array as any).left = process.env.SERVICE_SECRET;", ""},
      {"console.left = process.env.SERVICE_SECRET;", ""},
      {"process.title = process.env.SERVICE_SECRET!;", ""},
      {"process.env.CI = process.env.SERVICE_SECRET;", ""},
      {"process.env[name] = process.env.SERVICE_SECRET;", ""},
      {"import fs from 'node:fs'; (fs as any).left = process.env.SERVICE_SECRET;", ""},
      {"import { shared } from './c'; shared.left = process.env.SERVICE_SECRET;", "export const shared: any = {};\n"},
      {"import { list } from './c'; const key = process.env.SERVICE_SECRET; list.push({ key });",
          "export const list: unknown[] = [];\n"},
      {"import { keep } from './c'; keep(process.env.SERVICE_SECRET);", kStore},
      {"import { keep } from './c'; const all = { key: process.env.SERVICE_SECRET }; keep(all);", kStore},
      {"import { keep } from './d'; keep(process.env.SERVICE_SECRET);", kStore},
      {"import store from './c'; store.keep(process.env.SERVICE_SECRET);",
          "class Store { keep(x: unknown) { this.x = x } }\nexport default new Store();\n"},
      {"import { Store } from './c'; Store.keep(process.env.SERVICE_SECRET);",
          "export class Store { static keep(x: unknown) { Store.x = x } }\n"},
      {"import { keep } from './c'; keep('a', process.env.SERVICE_SECRET);",
          "const all = new Map();\nexport function keep(k: string, x: unknown) { all.set(k, x) }\n"},
      {"import { keep } from './c'; keep(process.env.SERVICE_SECRET);",
          "const all: any = {};\nexports.keep = (x: unknown) => { all.x = x };\n"},
      {"mock.module('./c', () => ({ left: process.env.SERVICE_SECRET }));", "export const left = 1;\n"},
      {"await Bun.write('/tmp/left', process.env.SERVICE_SECRET!);", ""},
  };
  for (const auto& [text, shared] : files) {
    std::vector<SourceFile> all = {{"sandbox/a.test.ts", text + "\n"},
        {"sandbox/b.test.ts", "import * as c from './c';\nconsole.log(c, globalThis.left);\n"}};
    if (!shared.empty()) all.push_back({"sandbox/c.ts", shared});
    if (text.find("'./d'") != std::string::npos) all.push_back({"sandbox/d.ts", "export * from './c';\n"});
    EXPECT_EQ(refused(all).count("sandbox/a.test.ts"), 1U) << text;
  }
}

TEST(Groups, WhatIsLeftByHonestFilesIsNoOutput) {
  for (const char* text : {
           "globalThis.left = 1;",
           "const key = process.env.SERVICE_SECRET; use(key);",
           "const old = process.env.SERVICE_SECRET; globalThis.fetch = f; process.env.SERVICE_SECRET = old;",
           "process.env.SERVICE_URL = 'a'; use(process.env.SERVICE_SECRET);",
           "import { limit } from './c'; use(limit, process.env.SERVICE_SECRET);",
       }) {
    EXPECT_EQ(refused({{"sandbox/a.test.ts", std::string(text) + "\n"},
                  {"sandbox/c.ts",
                      "export const limit = 1;\nexport const sum = (all: number[]) => { let s = 0; for (const x of "
                      "all) s += x; return s };\n"}}),
        Names{})
        << text;
  }
}

TEST(Groups, WhereTheyMeetIsTold) {
  const Report report = check(
      {{"sandbox/a.test.ts", "\nimport { key } from './a';\n\nconsole.log(key)\n"}, {"sandbox/a.ts", kReads}}, kDocker);
  ASSERT_EQ(report.findings.size(), 1U);
  EXPECT_EQ(report.findings[0].line, 4U);
  EXPECT_NE(report.findings[0].message.find("sandbox/a.ts:1,"), std::string::npos) << report.findings[0].message;
  const Report chain = check({{"sandbox/a.test.ts", "import { key } from './b';\nconsole.log(key)\n"},
                                 {"sandbox/b.ts", "export * from './c'\n"}, {"sandbox/c.ts", "export * from './a'\n"},
                                 {"sandbox/a.ts", kReads}},
      kDocker);
  ASSERT_EQ(chain.findings.size(), 1U);
  EXPECT_NE(chain.findings[0].message.find("sandbox/a.ts:1 by way of sandbox/b.ts and sandbox/c.ts"), std::string::npos)
      << chain.findings[0].message;
}

}  // namespace
}  // namespace guard

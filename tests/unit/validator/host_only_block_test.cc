// HOST_ONLY_BLOCK, pattern by pattern, written by hand: found on the host, skipped in the container.
#include "tests/support/validator/check_support.h"

namespace guard {
namespace {

void expect_host(const std::string& rule, const std::string& text) {
  EXPECT_TRUE(finds(rule, text, kHost)) << rule << ": " << text;
  for (const std::string& found : rules_of(text, kDocker))
    EXPECT_NE(found.substr(0, 5), "host.") << found << ": " << text;
}

void expect_no_host(const std::string& text) {
  for (const std::string& rule : rules_of(text, kHost)) EXPECT_NE(rule.substr(0, 5), "host.") << rule << ": " << text;
}

TEST(HostOnlyBlock, Deleting) {
  for (const char* call : {"fs.rmSync(d)", "rmSync(d, { recursive: true })", "fs['rmSync'](d)", "fs.unlinkSync(f)",
           "fs.rmdirSync(d)", "require('fs').rmSync(d)", "fs.rm(d, f)", "fs.promises.rm(d)", "fs.unlink(f, g)",
           "fs.rmdir(d, f)", "fs['rm' + 'Sync'](d)"}) {
    expect_host("host.fs_remove", call);
  }
  expect_host("host.fs_remove", "import { rm } from 'node:fs/promises'; await rm(d)");
  expect_host("host.fs_remove", "import * as disk from 'fs'; disk.rmSync(d)");
  expect_no_host("form.rm(1); map.delete(k); list.remove(x); // rmSync(d)\nit('rmSync', f)");
}

TEST(HostOnlyBlock, ChildProcess) {
  for (const char* load : {"import { exec } from 'child_process'", "import cp from \"node:child_process\"",
           "import * as cp from 'child_process'", "require('child_process')", "require(`node:child_process`)",
           "await import('child_process')", "export { exec } from 'child_process'",
           "(import.meta as any).require('child_process')", "require('child_' + 'process')",
           "require('\\x63hild_process')", "process.binding('spawn_sync')"}) {
    expect_host("host.child_process", load);
  }
  expect_no_host("import type { ChildProcess } from 'node:child_process'");
  expect_no_host("// require('child_process')\nexpect(mod).toBe('child_process')");
}

TEST(HostOnlyBlock, ExecSyncAndSpawnSync) {
  expect_host("host.sync_spawn", "cp.execSync('ls')");
  expect_host("host.sync_spawn", "cp.spawnSync('ls')");
  expect_host("host.sync_spawn", "cp['exec' + 'Sync']('ls')");
  expect_no_host("/b/.exec('b'); runner.exec(); runner.execute()");
}

TEST(HostOnlyBlock, Eval) {
  for (const char* call : {"eval('1')", "(0, eval)('1')", "globalThis.eval('1')", "globalThis['eval']('1')",
           "window.eval('1')", "const e = eval; e('1')", "eval.call(null, '1')", "eval /* x */ ('1')", "eval?.('1')",
           "Reflect.apply(eval, null, ['1'])", "const { eval: run } = globalThis; run('1')"}) {
    expect_host("host.eval", call);
  }
  expect_no_host("evaluate(1); medieval(); page.eval('1'); revalidate(); const o = { eval: 1 }; // eval('1')");
  expect_no_host("setInterval(f, 1); clearInterval(t); const csp = \"'unsafe-eval'\"");
}

TEST(HostOnlyBlock, FunctionConstructors) {
  for (const char* call : {"new Function('return 1')", "Function('return 1')()", "new (Function)('return 1')",
           "Reflect.construct(Function, ['x'])", "Function.prototype.constructor('x')",
           "[].constructor.constructor('x')()", "(() => {}).constructor('x')()",
           "Object.getPrototypeOf(async () => {}).constructor", "f['constructor']['constructor']('x')",
           "const F = Function; F('x')", "globalThis.Function('x')"}) {
    expect_host("host.function_constructor", call);
  }
  expect_no_host("class FunctionNode { constructor(a) {} }; new FunctionNode('a'); expect.any(Function)");
  expect_no_host("expect(f instanceof Function).toBe(true); expect(f.constructor.name).toBe('Function')");
}

TEST(HostOnlyBlock, EndingTheProcess) {
  for (const char* call :
      {"process.exit(0)", "process['exit'](1)", "process?.exit(0)", "const { exit } = process; exit(0)",
          "process.exit.call(process, 0)", "process.reallyExit(0)", "process.kill(process.pid)", "process.abort()",
          "setTimeout(process.exit, 1)", "import { exit } from 'process'; exit(0)"}) {
    expect_host("host.process_exit", call);
  }
  expect_no_host(
      "process.exitCode; process.on('exit', f); process.exit = mock(); expect(process.exit).toHaveBeenCalled()");
}

TEST(HostOnlyBlock, BunSpawning) {
  for (const char* call : {"Bun.spawn(['ls'])", "Bun.spawnSync(['ls'])", "Bun?.spawn(['ls'])", "await Bun.$`ls`",
           "Bun.shell('ls')", "import { $ } from 'bun'; await $`ls`", "import { spawn as s } from 'bun'; s(['ls'])",
           "const { $: sh } = Bun; sh`ls`", "Bun['sp' + 'awn'](['ls'])", "Bun\n.spawn(['ls'])"}) {
    expect_host("host.bun_spawn", call);
  }
  expect_no_host("const $ = (s) => s; $('h1'); Bun.file('a').text(); import { test } from 'bun:test'");
}

TEST(HostOnlyBlock, NativeCode) {
  expect_host("host.native_code", "import { dlopen } from 'bun:ffi'");
  expect_host("host.native_code", "require('./x.node')");
  expect_no_host("// bun:ffi\nit('bun:ffi', f)");
}

TEST(HostOnlyBlock, VmAndWorkers) {
  expect_host("host.code_loader", "import vm from 'node:vm'");
  expect_host("host.code_loader", "new Worker(new URL('./w.ts', import.meta.url))");
  expect_host("host.code_loader", "new Worker('data:text/javascript,1')");
  expect_host("host.code_loader", "await import('data:text/javascript,1')");
  expect_no_host("const vm = {}; vm.run(); new WorkerPool()");
}

TEST(HostOnlyBlock, ModulesWithComputedNames) {
  expect_host("host.unresolved_load", "require(name)");
  expect_host("host.unresolved_load", "require(parts.join(''))");
  expect_host("host.unresolved_load", "await import('node:' + name)");
  expect_no_host("require('./a'); await import('./b'); await import(path)");
}

TEST(HostOnlyBlock, ApiKeyNames) {
  for (const char* name : {"ANTHROPIC_API_KEY", "OPENAI_API_KEY", "GEMINI_API_KEY"}) {
    expect_host("host.api_key_name", std::string("use(process.env.") + name + ")");
    expect_host("host.api_key_name", std::string("use(process.env['") + name + "'])");
    expect_host("host.api_key_name", std::string("const { ") + name + ": k } = process.env;");
    expect_host("host.api_key_name", std::string("get('") + name + "')");
  }
  expect_host("host.api_key_name", "process.env['OPENAI_' + 'API_KEY']");
  expect_no_host("process.env.AZURE_OPENAI_API_KEY; process.env.OPENAI_API_KEY_ID; // OPENAI_API_KEY");
  expect_no_host("it('needs no OPENAI_API_KEY', f)");
}

TEST(HostOnlyBlock, ApiKeyNamesAreConfigurable) {
  ValidatorOptions options;
  options.api_key_names = {"ACME_KEY"};
  const Validator validator(rules(), matcher(), options);
  const auto acme = validator.check({{"a.test.ts", "use(process.env.ACME_KEY)"}});
  ASSERT_TRUE(acme);
  ASSERT_EQ(acme->findings.size(), 1U);
  EXPECT_EQ(acme->findings[0].rule, "host.api_key_name");
  const auto openai = validator.check({{"a.test.ts", "use(process.env.OPENAI_API_KEY)"}});
  ASSERT_TRUE(openai);
  EXPECT_TRUE(openai->findings.empty());
}

TEST(HostOnlyBlock, WritesOutsideOfAFolderOfItsOwn) {
  for (const char* text :
      {R"js(import { appendFileSync } from "fs"; import { homedir } from "os"; appendFileSync(homedir() + "/.bashrc", "x");)js",
          R"js(import fs from "fs"; import os from "os"; import path from "path"; fs.appendFileSync(path.join(os.homedir(), ".bashrc"), "x");)js",
          R"js(import { appendFileSync } from "fs"; appendFileSync(`${process.env.HOME}/.profile`, "x");)js",
          R"js(import { writeFileSync } from "fs"; writeFileSync("../package.json", "{}");)js",
          R"js(import { writeFileSync } from "fs"; writeFileSync("../.git/hooks/pre-commit", "#!/bin/sh");)js",
          R"js(import { writeFile } from "fs/promises"; await writeFile(".git/hooks/pre-commit", "x", { mode: 0o755 });)js",
          R"js(await Bun.write("../package.json", "{}");)js",
          R"js(await Bun.write(`${process.env.HOME}/.ssh/authorized_keys`, "k");)js",
          R"js(import { cpSync } from "fs"; cpSync("fixtures", "../src", { recursive: true, force: true });)js",
          R"js(import { renameSync } from "fs"; renameSync("../src", "../src.old");)js",
          R"js(import { renameSync } from "fs"; renameSync("src", "gone");)js",
          R"js(import { symlinkSync } from "fs"; symlinkSync("/etc", "link");)js",
          R"js(import { symlinkSync } from "fs"; symlinkSync("a", "../node_modules/x");)js",
          R"js(import { truncateSync } from "fs"; truncateSync("../package.json");)js",
          R"js(import { truncate } from "fs/promises"; await truncate("src/index.ts", 0);)js",
          R"js(import { chmodSync } from "fs"; chmodSync("../bin/run", 0o777);)js",
          R"js(import { createWriteStream } from "fs"; createWriteStream("/etc/cron.d/x").write("x");)js",
          R"js(import { openSync, writeSync } from "fs"; const fd = openSync("../package.json", "w"); writeSync(fd, "x");)js",
          R"js(import { copyFileSync } from "fs"; copyFileSync("a", "../tsconfig.json");)js",
          R"js(import { mkdirSync } from "fs"; mkdirSync("../x");)js",
          R"js(import { outputFile } from "fs-extra"; await outputFile("../a/b.txt", "x");)js",
          R"js(import { moveSync } from "fs-extra"; moveSync("../src", "/tmp/x");)js",
          R"js(import { utimesSync } from "fs"; utimesSync("../package.json", 1, 1);)js",
          R"js(import { writeFileSync, renameSync } from "fs"; writeFileSync("a.txt", code); renameSync("a.txt", "a.ts"); await import("./a.ts");)js",
          R"js(import { outputFileSync, moveSync } from "fs-extra"; outputFileSync("a.txt", code); moveSync("a.txt", "a.mjs"); await import("./a.mjs"))js",
          R"js(import fs from "node:fs"; fs.appendFileSync(`${require("os").homedir()}/.zshrc`, "x"))js",
          R"js(import { promises as fs } from "fs"; await fs.writeFile("../../README.md", "x"))js",
          R"js(import { writeFileSync } from "fs"; const p = "../package.json"; writeFileSync(p, "{}"))js",
          R"js(import { writeFileSync } from "fs"; import path from "path"; const hook = path.join("..", ".git", "hooks", "pre-commit"); writeFileSync(hook, "x", { mode: 0o755 }))js",
          R"js(import { appendFile } from "node:fs/promises"; import { join } from "node:path"; import { homedir } from "node:os"; const rc = join(homedir(), ".bashrc"); await appendFile(rc, "x"))js",
          R"js(import fs from "fs"; fs.cpSync("/tmp/evil", "../", { recursive: true, force: true }))js",
          R"js(import fs from "fs"; fs.renameSync("../node_modules", "../node_modules.bak"))js",
          R"js(import { rename } from "fs/promises"; await rename("dist", "old"))js",
          R"js(import { symlink } from "fs/promises"; await symlink("/home/user/.ssh", "keys"))js",
          R"js(import fs from "fs"; const s = fs.createWriteStream("../log.txt"); s.write("x"))js",
          R"js(import { copyFileSync } from "fs"; copyFileSync("x", process.env.HOME + "/.profile"))js",
          R"js(import { chmodSync } from "fs"; chmodSync("/usr/bin/env", 0))js",
          R"js(import { write } from "bun"; await write("../package.json", "{}"))js",
          R"js(import { writeFileSync } from "fs"; writeFileSync(new URL("../package.json", import.meta.url), "{}"))js",
          R"js(import { mkdirSync, writeFileSync } from "fs"; mkdirSync("/home/user/x", { recursive: true }))js"}) {
    EXPECT_TRUE(finds("host.writes_outside", text)) << text;
  }
}

TEST(HostOnlyBlock, WritesFilesOfTheProject) {
  for (const char* text :
      {R"js(import { writeFileSync } from "fs"; import { join } from "path"; writeFileSync(join(import.meta.dir, "../package.json"), "{}");)js",
          R"js(import { writeFileSync } from "fs"; writeFileSync(process.cwd() + "/package.json", "{}");)js"}) {
    EXPECT_TRUE(finds("host.writes_project", text)) << text;
  }
}

TEST(HostOnlyBlock, WritesOutsideThroughBunFile) {
  for (const char* text : {R"js(await Bun.write(Bun.file("../src/index.ts"), "x");)js",
           R"js(const f = Bun.file("../package.json"); await Bun.write(f, "{}"))js"}) {
    EXPECT_TRUE(finds("host.file_outside", text)) << text;
  }
}

TEST(HostOnlyBlock, TimersThatRunTextUnderOtherNames) {
  for (const char* text :
      {R"js(const later = setTimeout; later("run()", 5))js", R"js(globalThis["setTimeout"]("run()", 5))js",
          R"js(const { setTimeout: t } = globalThis; t("run()", 1))js", R"js(const s = setInterval; s("go(1)", 1);)js",
          R"js(const later = globalThis.setTimeout; later(`run()`, 5))js", R"js(let t; t = setTimeout; t("x()", 1))js",
          R"js([setTimeout][0]("x()", 1))js", R"js(const t = globalThis.setTimeout; t("boom()", 1))js",
          R"js(const timers = { later: setTimeout }; timers.later("boom()", 1))js",
          R"js(import { setTimeout as t } from "timers"; t("boom()", 1))js",
          R"js(setTimeout.call(null, "boom()", 1))js", R"js(window.setInterval("boom()", 1))js",
          R"js(const code = "boom()"; setTimeout(code, 1))js", R"js(setTimeout(`boom(${x})`, 1))js"}) {
    EXPECT_TRUE(finds("host.eval", text)) << text;
  }
}

TEST(HostOnlyBlock, CodeThatIsWrittenCopiedOrMovedAndLoaded) {
  for (const char* text :
      {R"js(import { writeFileSync, copyFileSync } from "fs"; writeFileSync("/tmp/a.txt", code); copyFileSync("/tmp/a.txt", "/tmp/a.mjs"); await import("/tmp/a.mjs");)js",
          R"js(import { cpSync } from "fs"; await Bun.write("a.txt", code); cpSync("a.txt", "b.js"); require("./b.js");)js",
          R"js(await Bun.write("/tmp/x.mjs", code); await import("/tmp/x.mjs");)js",
          R"js(import { writeFileSync } from "fs"; const f = join(tmpdir(), "m.mjs"); writeFileSync(f, code); await import(f);)js",
          R"js(import { writeFileSync, symlinkSync } from "fs"; writeFileSync("a.txt", code); symlinkSync("a.txt", "b.mjs"); await import("./b.mjs");)js",
          R"js(await Bun.write("b.cjs", Bun.file("a.txt")); require("./b.cjs");)js",
          R"js(import { writeFileSync } from "fs"; writeFileSync("x.txt", c); import { copyFileSync } from "fs"; const to = "x.mjs"; copyFileSync("x.txt", to); await import("./" + to);)js",
          R"js(import { renameSync } from "fs"; await Bun.write("m.txt", c); renameSync("m.txt", join(import.meta.dir, "m.test-helper.ts")); const m = await import(join(import.meta.dir, "m.test-helper.ts"));)js",
          R"js(import { writeFile } from "fs/promises"; const p = join(dir, "gen.ts"); await writeFile(p, src); const { default: f } = await import(pathToFileURL(p).href);)js"}) {
    EXPECT_TRUE(finds("host.written_code", text)) << text;
  }
}

}  // namespace
}  // namespace guard

// HOST_ONLY_BLOCK, pattern by pattern, written by hand: found on the host, skipped in the container.
#include "tests/unit/validator/check_support.h"

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
                           "fs.rmdirSync(d)", "require('fs').rmSync(d)", "fs.rm(d, f)", "fs.promises.rm(d)",
                           "fs.unlink(f, g)", "fs.rmdir(d, f)", "fs['rm' + 'Sync'](d)"}) {
    expect_host("host.fs_remove", call);
  }
  expect_host("host.fs_remove", "import { rm } from 'node:fs/promises'; await rm(d)");
  expect_host("host.fs_remove", "import * as disk from 'fs'; disk.rmSync(d)");
  expect_no_host("form.rm(1); map.delete(k); list.remove(x); // rmSync(d)\nit('rmSync', f)");
}

TEST(HostOnlyBlock, ChildProcess) {
  for (const char* load :
       {"import { exec } from 'child_process'", "import cp from \"node:child_process\"",
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
  for (const char* call :
       {"eval('1')", "(0, eval)('1')", "globalThis.eval('1')", "globalThis['eval']('1')", "window.eval('1')",
        "const e = eval; e('1')", "eval.call(null, '1')", "eval /* x */ ('1')", "eval?.('1')",
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
  for (const char* call :
       {"Bun.spawn(['ls'])", "Bun.spawnSync(['ls'])", "Bun?.spawn(['ls'])", "await Bun.$`ls`", "Bun.shell('ls')",
        "import { $ } from 'bun'; await $`ls`", "import { spawn as s } from 'bun'; s(['ls'])",
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

}  // namespace
}  // namespace guard

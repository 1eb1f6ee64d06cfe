// A removal of a folder that the file itself made with mkdtemp is allowed where the configuration says so.
#include "validator/judge/own_folders.h"

#include <gtest/gtest.h>

#include "tests/support/validator/check_support.h"

namespace guard {
namespace {

bool is_refused(const std::vector<SourceFile>& files) {
  ValidatorOptions options;
  options.allow_temp_removal = true;
  const Result<Report> report = Validator(rules(), matcher(), options).check(files);
  EXPECT_TRUE(report);
  return !report || report->rejected();
}

constexpr const char* kImports =
    "import fs, { mkdtempSync, rmSync, realpathSync } from 'node:fs';\nimport { mkdtemp, rm } from "
    "'node:fs/promises';\nimport path, { join } from 'node:path';\n";

bool is_refused(const std::string& text) { return is_refused({{"sandbox/a.test.ts", kImports + text + "\n"}}); }

TEST(OwnFolders, AFolderThatTheFileMadeMayBeDeleted) {
  for (const char* text : {
           "const dir = mkdtempSync(join(tmpdir(), 'a-'));\nafterAll(() => rmSync(dir, { recursive: true, force: true "
           "}));",
           "let dir: string;\nbeforeEach(() => { dir = mkdtempSync(join(tmpdir(), 'a-')); });\nafterEach(() => { "
           "rmSync(dir, { recursive: true }); });",
           "let dir = '';\nbeforeAll(async () => { dir = await mkdtemp(path.join(os.tmpdir(), 'a-')); });\nafterAll(() "
           "=> rm(dir, { recursive: true, force: true }));",
           "let dir: string | undefined;\nbeforeEach(() => { dir = fs.mkdtempSync('/tmp/a-') });\nafterEach(() => { if "
           "(dir) fs.rmSync(dir, { recursive: true }); dir = undefined; });",
           "const dir = realpathSync(mkdtempSync('/tmp/a-')); use(join(dir, 'x')); rmSync(dir, { recursive: true });",
           "let dir: string;\nbeforeEach(() => { const raw = mkdtempSync('/tmp/a-'); dir = realpathSync(raw); "
           "});\nafterEach(() => rmSync(dir));",
           "const dir = realpathSync(\n  mkdtempSync('/tmp/a-'),\n);\nrmSync(dir, { recursive: true });",
           "import { realpath } from 'node:fs/promises'; const dir = await realpath(await mkdtemp('/tmp/a-')); await "
           "rm(dir);",
           "const dir = mkdtempSync('/tmp/a-'); rmSync(join(dir, 'out.txt')); rmSync(path.join(dir, '.cache'), { "
           "recursive: true });",
           "const dir = mkdtempSync('/tmp/a-'); const out = path.join(dir, 'out'); afterEach(() => { rmSync(out, { "
           "force: true }); rmSync(dir) });",
           "const dir = mkdtempSync('/tmp/a-'); spyOn(fs, 'statSync').mockReturnValue(1); rmSync(dir);",
           "const a = mkdtempSync('/tmp/a-'); const b = mkdtempSync('/tmp/b-'); fs.rmdirSync(a); await "
           "fs.promises.rm(b, { recursive: true });",
       }) {
    EXPECT_FALSE(is_refused(std::string(text))) << text;
  }
  EXPECT_TRUE(finds("host.fs_remove", "import fs from 'fs'; const d = fs.mkdtempSync('/tmp/a-'); fs.rmSync(d);"))
      << "where the configuration does not allow it";
}

TEST(OwnFolders, AnyOtherPathMayNot) {
  for (const char* text : {
           "rmSync(dir);",
           "const dir = mkdtempSync('/tmp/a-'); rmSync('/home/me');",
           "const dir = mkdtempSync('/tmp/a-'); rmSync(dir); rmSync(other);",
           "const dir = mkdtempSync('/tmp/a-'); rmSync(dir + '/../..');",
           "const dir = mkdtempSync('/tmp/a-'); rmSync(`${dir}/../..`);",
           "const dir = mkdtempSync('/tmp/a-'); rmSync(join(dir, '..'));",
           "const dir = mkdtempSync('/tmp/a-'); rmSync(path.dirname(dir));",
           "const dir = mkdtempSync('/tmp/a-'); rmSync(join(dir, '.'));",
           "const dir = mkdtempSync('/tmp/a-'); rmSync(join(dir, 'a/b'));",
           "const dir = mkdtempSync('/tmp/a-'); rmSync(join(dir, 'a', 'b'));",
           "const dir = mkdtempSync('/tmp/a-'); rmSync(join(dir, 'a\\\\..'));",
           "const dir = mkdtempSync('/tmp/a-'); rmSync(join(dir, `${x}`));",
           "const dir = mkdtempSync('/tmp/a-'); rmSync(join(dir, x + 'a'));",
           "const dir = mkdtempSync('/tmp/a-'); rmSync(join(dir, 'a') + '/..');",
           "const dir = mkdtempSync('/tmp/a-'); const join = (a, b) => '/home/me'; rmSync(join(dir, 'a'));",
           "const path = { join: () => '/home/me' }; const dir = mkdtempSync('/tmp/a-'); rmSync(path.join(dir, 'a'));",
           "spyOn(fs, 'realpathSync').mockReturnValue('/home/me'); const dir = "
           "fs.realpathSync(mkdtempSync('/tmp/a-')); rmSync(dir);",
           "fs.realpathSync = () => '/home/me'; const dir = fs.realpathSync(mkdtempSync('/tmp/a-')); rmSync(dir);",
           "const dir = mkdtempSync('/tmp/a-'); change(fs, 'x'); rmSync(dir);",
           "spyOn(fs, pick()).mockReturnValue('/home/me'); const dir = fs.mkdtempSync('/tmp/a-'); rmSync(dir);",
           "const up = '..'; const dir = mkdtempSync('/tmp/a-'); rmSync(path.join(dir, up));",
           "const updir = '../..'; const dir = mkdtempSync('/tmp/a-'); rmSync(path.join(dir, updir));",
           "const dir = mkdtempSync('/tmp/a-'); rmSync(path.join(dir, 'a' + '/../..'));",
           "const dir = mkdtempSync('/tmp/a-'); rmSync(path.join(dir, ('a', '..')));",
           "const dir = mkdtempSync('/tmp/a-')\nrmSync(path.join(dir, 'a')\n  .replace('a', '..'))",
           "const dir = mkdtempSync('/tmp/a-')\n  .slice(0, 4)\nrmSync(dir)",
           "spyOn(path, 'join').mockReturnValue('/home/me'); const dir = mkdtempSync('/tmp/a-'); rmSync(path.join(dir, "
           "'a'));",
           "path.join = () => '/home/me'; const dir = mkdtempSync('/tmp/a-'); rmSync(path.join(dir, 'a'));",
           "const dir = mkdtempSync('/tmp/a-'); let out = path.join(dir, 'a'); out = '/home/me'; rmSync(out);",
           "const dir = mkdtempSync('/tmp/a-'); const out = path.join(dir, 'a'); const up = path.join(out, '..'); "
           "rmSync(up);",
           "const dir = mkdtempSync('/tmp/a-') && '/home/me'; rmSync(dir);",
           "const dir = mkdtempSync('/tmp/a-') + '/..'; rmSync(dir);",
           "const dir = mkdtempSync('/tmp/a-').slice(0, 4); rmSync(dir);",
           "const dir = (mkdtempSync('/tmp/a-'), '/home/me'); rmSync(dir);",
           "const dir = flag ? mkdtempSync('/tmp/a-') : '/home/me'; rmSync(dir);",
           "let dir = mkdtempSync('/tmp/a-'); dir = '/home/me'; rmSync(dir);",
           "let dir = '/home/me'; if (flag) dir = mkdtempSync('/tmp/a-'); rmSync(dir);",
           "let dir = mkdtempSync('/tmp/a-'); dir += '/..'; rmSync(dir);",
           "let dir = mkdtempSync('/tmp/a-'); dir ||= '/home/me'; rmSync(dir);",
           "let dir = mkdtempSync('/tmp/a-'); [dir] = ['/home/me']; rmSync(dir);",
           "let dir = mkdtempSync('/tmp/a-'); ({ dir } = { dir: '/home/me' }); rmSync(dir);",
           "let dir = mkdtempSync('/tmp/a-'); ({ a: { b: dir } } = given); rmSync(dir);",
           "let dir = mkdtempSync('/tmp/a-'); for (dir of ['/home/me']) rmSync(dir);",
           "let dir = mkdtempSync('/tmp/a-'); for (dir in { '/home/me': 1 }) rmSync(dir);",
           "let dir = mkdtempSync('/tmp/a-'); for ([dir] of [['/home/me']]) rmSync(dir);",
           "const dir = mkdtempSync('/tmp/a-'); for (const dir of all) rmSync(dir);",
           "const dir = mkdtempSync('/tmp/a-'); function clear(dir: string) { rmSync(dir) } clear('/home/me');",
           "const dir = mkdtempSync('/tmp/a-'); const clear = (dir: string) => rmSync(dir); clear('/home/me');",
           "const dir = mkdtempSync('/tmp/a-'); const clear = dir => rmSync(dir); clear('/home/me');",
           "const dir = mkdtempSync('/tmp/a-'); const clear = ({ dir }) => rmSync(dir); clear({ dir: '/home/me' });",
           "const dir = mkdtempSync('/tmp/a-'); const clear = (...dir) => rmSync(dir); clear('/home/me');",
           "const dir = mkdtempSync('/tmp/a-'); try { run() } catch (dir) { rmSync(dir) }",
           "const dir = mkdtempSync('/tmp/a-'); { const { dir } = given; rmSync(dir) }",
           "const dir = mkdtempSync('/tmp/a-'); { let dir = given; rmSync(dir) }",
           "import { dir } from './b'; mkdtempSync('/tmp/a-'); rmSync(dir);",
           "import dir from './b'; { let dir = mkdtempSync('/tmp/a-'); } rmSync(dir);",
           "const dir = mkdtempSync('/tmp/a-'); eval(text); rmSync(dir);",
           "const dir = mkdtempSync('/tmp/a-'); fs.renameSync('src', dir); rmSync(dir, { recursive: true });",
           "const dir = mkdtempSync('/tmp/a-'); fs.symlinkSync('/home/me', dir + '/x'); rmSync(dir + '/x/y');",
           "const dir = mkdtempSync('/tmp/a-'); rmSync.call(fs, '/home/me'); rmSync(dir);",
           "const dir = mkdtempSync('/tmp/a-'); const away = rmSync; away('/home/me'); rmSync(dir);",
           "const dir = mkdtempSync('/tmp/a-'); ['/home/me'].forEach(rmSync); rmSync(dir);",
           "const dir = mkdtempSync('/tmp/a-'); tools.rmSync('/home/me'); rmSync(dir);",
           "fs.mkdtempSync = () => '/home/me'; const dir = fs.mkdtempSync('a'); rmSync(dir);",
           "spyOn(fs, 'mkdtempSync').mockReturnValue('/home/me'); const dir = fs.mkdtempSync('a'); rmSync(dir);",
           "mock.module('node:fs', () => ({ mkdtempSync: () => '/home/me' })); const dir = fs.mkdtempSync('a'); "
           "rmSync(dir);",
           "const mkdtemp2 = () => '/home/me'; const dir = mkdtemp2('/tmp/a-'); rmSync(dir);",
           "let dir = mkdtempSync('/tmp/a-'); const raw = '/home/me'; dir = raw; rmSync(dir);",
           "let dir = mkdtempSync('/tmp/a-'); let raw; raw = '/home/me'; dir = realpathSync(raw); rmSync(dir);",
           "let dir = mkdtempSync('/tmp/a-'), raw = dir; raw = '/home/me'; dir = raw; rmSync(dir);",
           "class A { dir = '/home/me'; clear() { rmSync(this.dir) } } const dir = mkdtempSync('/tmp/a-');",
           "const dir = mkdtempSync('/tmp/a-'); rmSync(dir); await Bun.file('/home/me/a').delete();",
           "function dir() {} const d = mkdtempSync('/tmp/a-'); rmSync(dir);",
       }) {
    EXPECT_TRUE(is_refused(std::string(text))) << text;
  }
}

// The function that makes the folder may be another file's.
TEST(OwnFolders, AnotherFilesMkdtempMayNot) {
  const SourceFile away{"sandbox/b.ts",
      "export const mkdtempSync = () => '/home/me';\nexport const join = mkdtempSync;\nexport default { mkdtempSync, "
      "join };\n"};
  for (const char* text : {
           "import { rmSync } from 'fs'; import { mkdtempSync } from './b'; const dir = mkdtempSync('a'); rmSync(dir);",
           "import { rmSync, mkdtempSync } from 'fs'; import { join } from './b'; const dir = mkdtempSync('a'); "
           "rmSync(join(dir, 'a'));",
           "import { rmSync, mkdtempSync } from 'fs'; import * as path from './b'; const dir = mkdtempSync('a'); "
           "rmSync(path.join(dir, 'a'));",
           "import { rmSync, mkdtempSync } from 'fs'; import path from './b'; const dir = mkdtempSync('a'); "
           "rmSync(path.join(dir, 'a'));",
           "import { rmSync } from 'fs'; import * as fs from './b'; const dir = fs.mkdtempSync('a'); rmSync(dir);",
           "import { rmSync } from 'fs'; import fs from './b'; const dir = fs.mkdtempSync('a'); rmSync(dir);",
           "import { rmSync } from 'fs'; const fs = make(); const dir = fs.mkdtempSync('a'); rmSync(dir);",
           "import { rmSync } from 'fs'; const run = (fs) => { const dir = fs.mkdtempSync('a'); rmSync(dir) }; "
           "run(other);",
       }) {
    EXPECT_TRUE(is_refused({{"sandbox/a.test.ts", std::string(text) + "\n"}, away})) << text;
  }
  EXPECT_FALSE(is_refused({{"sandbox/a.test.ts",
      "import { mkdtempSync, rmSync } from 'node:fs'\nimport { join } from 'node:path'\nimport { tmpdir } from "
      "'node:os'\nconst dir = mkdtempSync(join(tmpdir(), 'a'))\nrmSync(join(dir, 'a'))\n"}}));
  const SourceFile own{"sandbox/a.test.ts",
      "import fs from 'fs';\nimport './b';\nconst dir = fs.mkdtempSync('/tmp/a-');\nfs.rmSync(dir);\n"};
  EXPECT_FALSE(is_refused({own}));
  for (const char* text :
      {"fs.mkdtempSync = () => '/home/me';", "spyOn(fs, 'mkdtempSync').mockReturnValue('/home/me');",
          "mock.module('fs', () => ({ ...fs, mkdtempSync: () => '/home/me' }));",
          "Object.defineProperty(fs, 'mkdtempSync', { value: () => '/home/me' });"}) {
    EXPECT_TRUE(is_refused({own, {"sandbox/b.ts", std::string("import fs from 'fs';\n") + text + "\n"}})) << text;
  }
}

}  // namespace
}  // namespace guard

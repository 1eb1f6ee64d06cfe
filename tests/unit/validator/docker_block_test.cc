// DOCKER_BLOCK, pattern by pattern, written by hand.
#include "tests/support/validator/check_support.h"

namespace guard {
namespace {

void expect_docker(const std::string& rule, const std::string& text) {
  EXPECT_TRUE(finds(rule, text, kDocker)) << rule << " in docker: " << text;
  EXPECT_TRUE(finds(rule, text, kHost)) << rule << " on the host: " << text;
}

void expect_no_docker(const std::string& text) {
  for (const std::string& rule : rules_of(text, kDocker))
    EXPECT_NE(rule.substr(0, 7), "docker.") << rule << ": " << text;
}

TEST(DockerBlock, ReadsOfEnvFiles) {
  expect_docker("docker.secret_file", "readFileSync('.env')");
  expect_docker("docker.secret_file", "await readFile('../../.env', 'utf8')");
  expect_docker("docker.secret_file", "fs.promises.readFile('.env.local')");
  expect_docker("docker.secret_file", "createReadStream('.env.production')");
  expect_docker("docker.secret_file", "readFileSync('config/.env.staging')");
  expect_docker("docker.secret_file", "Bun.file('.env').text()");
  expect_docker("docker.secret_file", "openSync('.env', 'r')");
  expect_docker("docker.secret_file", "copyFileSync('.env', 'x.txt')");
  expect_docker("docker.secret_file", "symlinkSync('/app/.env', 'x')");
  expect_docker("docker.secret_file", "new Glob('**/.env*')");
  expect_docker("docker.secret_file", "import text from '../.env' with { type: 'text' }");
  expect_docker("docker.secret_file", "const f = '.env'; readFileSync(f)");
  expect_docker("docker.secret_file", "readFileSync('.' + 'env')");
  expect_docker("docker.secret_file", "readFileSync(join(dir, '.env'))");
  expect_docker("docker.secret_file", "Bun.file(new URL('../.env', import.meta.url))");
  expect_docker("docker.secret_file", "import { readFileSync as r } from 'fs'; r('.env')");
}

TEST(DockerBlock, ReadsOfFilesThatAreCalledAfterASecret) {
  for (const char* file : {"credentials", "a.p12", "a.pfx", ".npmrc", ".netrc", ".pgpass"}) {
    expect_docker("docker.secret_file", std::string("readFileSync('") + file + "')");
    expect_docker("docker.secret_file", std::string("await Bun.file(join(root, '") + file + "')).text()");
  }
  for (const char* file :
      {"token", ".token", "auth_token", "my.token", "id_token.jwt", "prod.env", "kubeconfig", "deploy/kubeconfig.yaml",
          "access-token", "authToken", "secrets", "secret.txt", "password.txt", "api-key.txt", "jwt.secret",
          "db/app.prod.env", "prod.tfvars", "terraform.tfstate", "/home/u/.bash_history", "TOKEN", "Api_Key",
          "PROD.ENV", "env.local", "token.bak", "secrets/db", ".secrets/db.txt", "service-account-key.json",
          "x-firebase-adminsdk-1a.json", "token_prod", "fixtures/../token", "fixtures/../../secrets.json"}) {
    expect_docker("docker.secret_word", std::string("readFileSync('") + file + "')");
    expect_docker("docker.secret_word", std::string("await Bun.file(join(root, '") + file + "')).text()");
    expect_docker("docker.secret_word", std::string("import t from './") + file + "' with { type: 'text' }");
    expect_docker("docker.secret_word", std::string("['") + file + "'].map((f) => readFileSync(f))");
  }
  for (const char* file : {"tokenizer.json", "tokenize.ts", "tokens.css", "token.ts", "token-list.html",
           "secretary.txt", "example.env", "password-form.html", "history.json", "credentials.test.ts", "keyboard.json",
           "fixtures/token", "__fixtures__/a/secrets.json", "testdata/prod.env", "locales/de/password.json",
           "../fixtures/id_token.jwt", "design-tokens.json", "button.tokens.yaml", "sample.tfvars", "invalid.jwt",
           "src/secrets/index.ts", "env.d.ts", "secrets/README.md", "dist/tokens.json"}) {
    expect_no_docker(std::string("readFileSync('") + file + "')");
  }
  // The words alone, where nothing reads a file.
  for (const char* text : {"const t = read('token')", "await fetch('/oauth/token')", "store.open('secrets')",
           "import { tokens } from './tokens'", "expect(scan('token')).toEqual([])", "copy('password')",
           "cache.readFile('token')", "vfs.readFileSync('token')", "m.readFile('secrets')", "i18n.readJson('secrets')",
           "repo.copyFile('token', 'b')", "['token'].map((k) => parse(k))"}) {
    expect_no_docker(text);
  }
}

TEST(DockerBlock, WhatIsOnlyWrittenIsNotRead) {
  const std::string head = "import fs from 'fs'; import { join } from 'path'; ";
  for (const char* text :
      {"fs.openSync(join(dir, 'api-key'), 'w')", "fs.openSync('token', 'wx')", "fs.copyFileSync('a', 'token')",
          "fs.renameSync(join(dir, 'a.tmp'), join(dir, 'token'))", "await fs.promises.cp('a', 'secrets')",
          "fs.writeFileSync(join(dir, 'token'), 'a'); fs.readFileSync(join(dir, 'token'))",
          "await Bun.write(`${dir}/prod.env`, 'a'); await Bun.file(`${dir}/prod.env`).text()"}) {
    expect_no_docker(head + text);
  }
  for (const char* text : {"fs.openSync('token', 'r+')", "fs.openSync('token')", "fs.openSync('token', mode)",
           "fs.openSync('token', 'a+')", "fs.copyFileSync('token', 'a')", "fs.renameSync('token', 'token')",
           "fs.readFileSync(join(dir, 'token')); fs.writeFileSync(join(dir, 'token'), 'a')",
           "fs.writeFileSync('token', 'a'); fs.readFileSync('token')",
           "fs.appendFileSync(join(dir, 'token'), 'a'); fs.readFileSync(join(dir, 'token'))",
           "fs.writeFileSync(join(dir, 'other'), 'a'); fs.readFileSync(join(dir, 'token'))"}) {
    expect_docker("docker.secret_word", head + text);
  }
  expect_docker(
      "docker.secret_file", head + "fs.writeFileSync(join(dir, '.env'), ''); fs.readFileSync(join(dir, '.env'))");
}

TEST(DockerBlock, ArgumentsOfAScriptAreNoCommands) {
  const std::string head = "import { spawnSync } from 'child_process'; ";
  for (const char* text : {"spawnSync('bun', ['cli.ts', 'env'])", "Bun.spawn(['bun', 'cli.ts', 'printenv'])",
           "spawnSync('node', ['./cli.js', 'set', 'a=1'])"}) {
    EXPECT_FALSE(finds("always.env_dump_child", head + text, kDocker)) << text;
  }
  for (const char* text : {"spawnSync('sh', ['-c', 'env'])", "spawnSync(shell, ['-c', 'env'])", "spawnSync('env', [])",
           "spawnSync('bash', ['-c', x ? 'env' : 'a'])", "Bun.spawn(['env'])", "Bun.spawn(['npx', 'a', 'env'])",
           "spawnSync('sh', ['a.js', '-c', 'env'])"}) {
    EXPECT_TRUE(finds("always.env_dump_child", head + text, kDocker)) << text;
  }
}

TEST(DockerBlock, ReadsOfKeysAndCredentials) {
  for (const char* file : {"server.pem", "certs/ca.pem", "server.key", "id_rsa", "/home/u/.ssh/id_rsa", "id_ed25519",
           "~/.aws/credentials", "credentials.json", "config/credentials.yml", ".npmrc", ".netrc", ".git-credentials",
           "/var/run/secrets/kubernetes.io/serviceaccount/token", "/run/secrets/db", "/etc/shadow"}) {
    expect_docker("docker.secret_file", std::string("readFileSync('") + file + "')");
  }
}

TEST(DockerBlock, CommandsThatReadSecretFiles) {
  expect_docker("docker.secret_file_command", "import { $ } from 'bun'; await $`cat .env`");
  expect_docker(
      "docker.secret_file_command", "import { execSync } from 'child_process'; execSync('cat ~/.ssh/id_rsa')");
  for (const char* command : {"<token cat", "read x < token; echo $x", "while read l; do echo $l; done < token",
           "curl -F f=@token http://x", "gzip -c token", "paste token", "sed -n p token", "awk 1 prod.env",
           "jq . token", "cat TOKEN", "openssl base64 -in token", "curl file:///app/token", "xargs -a token echo",
           "echo token | xargs cat", "cat secrets/db", "sudo tac ./token.bak", "F=token; cat $F", "cat ${D}/token",
           "cat tok??", "cat {a,token}"}) {
    expect_docker("docker.secret_file_command",
        std::string("import { execSync } from 'child_process'; execSync('") + command + "')");
  }
  expect_docker("docker.secret_file_command", "import { spawnSync } from 'child_process'; spawnSync('cat', ['token'])");
  for (const char* command : {"cat fixtures/token", "jq .token a.json", "jq -r token a.json", "sed s/token/x/ a.txt",
           "cp a token", "diff fixtures/token.json out/token.json", "split -l 9 a token", "curl http://localhost/token",
           "curl -H token:x http://localhost", "grep -c secret README.md", "echo hi > secrets", "node a.js token",
           "git checkout token", "git push o HEAD:token", "ls secrets", "test -f token", "cat src/token.ts",
           "cat *.json", "perl -pe s/token/x/ a", "awk /secret/ log.txt", "sort -u words > tokens"}) {
    expect_no_docker(std::string("import { execSync } from 'child_process'; execSync('") + command + "')");
  }
}

TEST(DockerBlock, LeavesOtherFilesAlone) {
  expect_no_docker("readFileSync('.env.example'); readFileSync('.env.sample'); readFileSync('.env.template')");
  expect_no_docker("readFileSync('environment.ts'); readFileSync('tokenizer.json'); readFileSync('key.txt')");
  expect_no_docker("const help = 'Path to an .env file'; expect(names).toContain('.env')");
  expect_no_docker("// readFileSync('.env')\nit('reads .env', f)");
  expect_no_docker("const tokens = tokenize('a'); login({ user: 'demo', password: 'fake-password' })");
  expect_no_docker("class CredentialsProvider {}; const token = sign('x'); headers.get('authorization')");
}

TEST(DockerBlock, Dotenv) {
  expect_docker("docker.dotenv", "import 'dotenv/config'");
  expect_docker("docker.dotenv", "import dotenv from \"dotenv\"");
  expect_docker("docker.dotenv", "import { config as load } from 'dotenv'");
  expect_docker("docker.dotenv", "require('dotenv').config()");
  expect_docker("docker.dotenv", "await import('dotenv')");
  expect_docker("docker.dotenv", "require('dot' + 'env')");
  expect_docker("docker.dotenv", "import 'dotenv-expand'");
  expect_docker("docker.dotenv", "process.loadEnvFile('.env')");
  expect_docker("docker.env_file_option", "Bun.spawn(['bun', '--env-file=.env', 'x.ts'])");
  expect_no_docker("// import 'dotenv'\nexpect(deps).toContain('dotenv'); vi.mock('dotenv')");
  expect_no_docker("const help = '--env-file <path>'");
}

TEST(DockerBlock, TwoHitWithEverySink) {
  for (const char* sink : {"console.log(x)", "console.error(x)", "console['log'](x)", "process.stdout.write(x)",
           "process.stderr.write(x)", "Bun.write('a', x)", "Bun.stdout.writer()", "fs.writeFile('a', x)",
           "fs.writeFileSync('a', x)", "writeFileSync('a', x)", "fs.promises.writeFile('a', x)",
           "appendFileSync('a', x)", "createWriteStream('a')"}) {
    expect_docker("docker.two_hit", std::string("const x = process.env.SECRET;\n") + sink + ";");
  }
}

TEST(DockerBlock, TwoHitWithEveryKindOfRead) {
  for (const char* read : {"process.env.SECRET", "process.env['SECRET']", "process?.env?.SECRET", "process.env[name]",
           "Bun.env.SECRET", "import.meta.env.SECRET", "(process as any).env.SECRET"}) {
    expect_docker("docker.two_hit", std::string("const x = ") + read + ";\nconsole.log('done');");
  }
  expect_docker("docker.two_hit", "const { SECRET } = process.env; console.log(1)");
  expect_docker("docker.two_hit", "const { NODE_ENV, SECRET } = process.env; console.log(1)");
}

// What a failed test says: a matcher prints both sides, a runner prints titles and what was thrown.
TEST(DockerBlock, TwoHitWithWhatAFailedTestSays) {
  for (const char* text : {"expect(process.env.API_TOKEN).toBe('x')", "expect(process.env['API_TOKEN']!).toEqual('x')",
           "expect(Bun.env.API_TOKEN ?? '').not.toContain(' ')",
           "const token = process.env.API_TOKEN; it('a', () => { expect(token).toHaveLength(3) })",
           "const { API_TOKEN: t = '' } = process.env; expect(t).toMatch(/^sk/)",
           "expect(process.env.API_TOKEN).toMatchInlineSnapshot()", "expect(process.env.API_TOKEN).toBeUndefined()",
           "expect(String(process.env.API_TOKEN)).toBe('')", "expect(`${process.env.API_TOKEN}`).toBe('')",
           "expect([process.env.API_TOKEN, 1]).toEqual([])",
           "expect({ token: process.env.API_TOKEN }).toStrictEqual({})",
           "expect(header(1)).toBe(`Bearer ${process.env.API_TOKEN}`)",
           "expect(run).toHaveBeenCalledWith({ key: process.env.API_TOKEN })",
           "await expect(p).resolves.toBe(process.env.API_TOKEN)", "expect.soft(process.env.API_TOKEN).toBe('a')",
           "expect(process.env.API_TOKEN).to.equal('x')",
           "import assert from 'node:assert'; assert.equal(process.env.API_TOKEN, 'x')",
           "import assert from 'node:assert/strict'; assert.deepStrictEqual({ a: process.env.API_TOKEN }, {})",
           "import { strictEqual } from 'assert'; strictEqual(get(1), process.env.API_TOKEN)",
           "assert.fail(process.env.API_TOKEN)", "test(process.env.API_TOKEN, () => {})",
           "test(process.env.API_TOKEN ?? 'none', () => {})", "it(`with ${process.env.API_TOKEN}`, () => {})",
           "describe('as ' + process.env.API_TOKEN, () => {})", "test.only(process.env.API_TOKEN!, () => {})",
           "test.skipIf(false)(`t ${process.env.API_TOKEN}`, f)", "test.each([process.env.API_TOKEN])('%s', f)",
           "test.each([['a', process.env.API_TOKEN]])('%s', f)",
           "describe.each([{ t: process.env.API_TOKEN }])('$t', f)", "throw process.env.API_TOKEN",
           "throw { token: process.env.API_TOKEN }", "throw `no ${process.env.API_TOKEN}`",
           "throw new Error(process.env.API_TOKEN)", "throw new TypeError(`bad ${process.env.API_TOKEN}`)",
           "await Promise.reject(process.env.API_TOKEN)", "new Promise((_, reject) => reject(process.env.API_TOKEN))",
           "test('a', (done) => { done(process.env.API_TOKEN) })", "await Bun.$`echo ${process.env.API_TOKEN}`",
           "await Bun.$`echo $API_TOKEN`", "import { $ } from 'bun'; await $`printenv API_TOKEN`.text()",
           "import { execSync } from 'child_process'; execSync('echo ${API_TOKEN}', { stdio: 'inherit' })",
           "import { exec } from 'node:child_process'; exec('printf %s \"$API_TOKEN\"')",
           "Bun.spawnSync(['sh', '-c', 'echo $API_TOKEN'])",
           "import { spawnSync } from 'child_process'; spawnSync('bash', ['-c', 'cat <<< $API_TOKEN'])"}) {
    expect_docker("docker.two_hit", text);
  }
}

// A variable that the file sets is no secret; a yes or no, a length and a condition give none away.
TEST(DockerBlock, TwoHitLeavesWhatTheFileSetsAlone) {
  for (const char* text : {"process.env.FOO = 'bar'; expect(process.env.FOO).toBe('bar')",
           "beforeEach(() => { process.env.API_URL = `http://x`; }); it('a', () => { "
           "expect(process.env.API_URL).toBe('b') })",
           "const old = process.env.FOO; beforeEach(() => { process.env.FOO = 'bar' }); afterEach(() => { "
           "process.env.FOO = old }); it('a', () => { expect(process.env.FOO).toBe('bar') })",
           "const old = process.env.FOO; afterEach(() => { if (old === undefined) delete process.env.FOO; else "
           "process.env.FOO = old })",
           "const saved = { FOO: process.env.FOO }; afterAll(() => { process.env.FOO = saved.FOO })",
           "delete process.env.FOO; load('.'); expect(process.env.FOO).toBeUndefined()",
           "vi.stubEnv('FOO', 'x'); expect(process.env.FOO).toBe('x')",
           "const dir = mkdtempSync('/tmp/a'); process.env.DATA_DIR = dir; expect(process.env.DATA_DIR).toBe(dir)",
           "process.env.A_KEY = 'made-up'; expect(client.headers).toEqual({ key: process.env.A_KEY })",
           "expect(process.env.NODE_ENV).toBe('test')", "expect(process.env.HOME).toBe('/tmp')",
           "expect(process.env.npm_package_name).toBe('a')", "expect(process.env.API_TOKEN).toBeDefined()",
           "expect(process.env.API_TOKEN).toBeTruthy()", "expect(typeof process.env.API_TOKEN).toBe('string')",
           "expect(process.env.API_TOKEN === 'x').toBe(false)", "expect(Boolean(process.env.API_TOKEN)).toBe(true)",
           "expect(process.env.API_TOKEN?.length).toBeGreaterThan(3)", "test.skipIf(!process.env.API_TOKEN)('a', f)",
           "test.if(process.env.LIVE)('a', f)", "describe.runIf(process.env.LIVE)('a', f)",
           "it('a', f, process.env.LIVE ? 1000 : 10)", "it('a', { skip: !process.env.LIVE }, f)",
           "const client = connect({ token: process.env.API_TOKEN }); expect(client.open).toBe(true)",
           "import { execSync } from 'child_process'; execSync('for f in *; do echo $f; done')",
           "import { execSync } from 'child_process'; execSync('echo $HOME $PATH $?')"}) {
    expect_no_docker(text);
  }
}

// Putting back what was there, setting it behind the matcher, and a default for the real value are no values of the
// file's own.
TEST(DockerBlock, TwoHitIsNotLiftedByGivingAVariableItsOwnValue) {
  for (const char* text :
      {"const old = process.env.API_TOKEN; process.env.API_TOKEN = old; expect(process.env.API_TOKEN).toBe('x')",
          "let old; old = process.env.API_TOKEN; process.env.API_TOKEN = old; expect(process.env.API_TOKEN).toBe('x')",
          "process.env.API_TOKEN = process.env.API_TOKEN ?? 'a'; expect(process.env.API_TOKEN).toBe('x')",
          "process.env.API_TOKEN ?"
          "?= 'a'; expect(process.env.API_TOKEN).toBe('x')",
          "expect(process.env.API_TOKEN).toBe('x'); process.env.API_TOKEN = 'y'",
          "process.env.OTHER = 'a'; expect(process.env.API_TOKEN).toBe('x')",
          "if (process.env.API_TOKEN == 'a') f(); expect(process.env.API_TOKEN).toBe('x')",
          "// process.env.API_TOKEN = 'a'\nexpect(process.env.API_TOKEN).toBe('x')",
          "const s = \"process.env.API_TOKEN = 'a'\"; expect(process.env.API_TOKEN).toBe('x')"}) {
    expect_docker("docker.two_hit", text);
  }
}

TEST(DockerBlock, TwoHitOverTwoFiles) {
  const std::vector<SourceFile> files = {{"sandbox/helper.ts", "export const key = () => process.env.SECRET;"},
      {"sandbox/a.test.ts", "import { key } from './helper';\nconsole.log(key());"}};
  const Report report = check(files, kDocker);
  ASSERT_EQ(report.findings.size(), 1U);
  EXPECT_EQ(report.findings[0].rule, "docker.two_hit");
  EXPECT_EQ(report.findings[0].path, "sandbox/a.test.ts");
  EXPECT_EQ(report.findings[0].line, 2U);
  EXPECT_NE(report.findings[0].message.find("sandbox/helper.ts:1"), std::string::npos) << report.findings[0].message;
  EXPECT_FALSE(check({files[0]}, kDocker).rejected());
  EXPECT_FALSE(check({files[1]}, kDocker).rejected());
}

TEST(DockerBlock, TwoHitLeavesHarmlessNamesAlone) {
  expect_no_docker("console.log(process.env.NODE_ENV, process.env.CI, process.env.TZ)");
  expect_no_docker("const { NODE_ENV, CI: ci = '' } = process.env; console.log(ci)");
  expect_no_docker("process.env.MODE = 'x'; delete process.env.MODE; console.log('done')");
  expect_no_docker("console.log('x')");
  expect_no_docker("const url = process.env.DATABASE_URL; console.log = mock()");
}

TEST(DockerBlock, FoldersThatNoTestMadeAreNotReadWhole) {
  for (const char* text :
      {R"js(import { readdirSync, readFileSync } from "fs"; for (const f of readdirSync(".")) console.log(readFileSync(f, "utf8"));)js",
          R"js(import { readdirSync, readFileSync } from "fs"; const all = readdirSync("..").map((f) => readFileSync(`../${f}`, "utf8")); expect(all.join("")).toBe("");)js",
          R"js(import { readdir, readFile } from "fs/promises"; const names = await readdir(process.cwd()); for (const n of names) await readFile(n);)js",
          R"js(import fs from "fs"; import os from "os"; import path from "path"; for (const f of fs.readdirSync(os.homedir())) fs.readFileSync(path.join(os.homedir(), f));)js",
          R"js(import { Glob } from "bun"; for await (const f of new Glob("**/*").scan({ dot: true })) console.log(await Bun.file(f).text());)js",
          R"js(const g = new Bun.Glob("**/*"); for (const f of g.scanSync({ cwd: "..", dot: true })) expect(await Bun.file(f).text()).toBe("");)js",
          R"js(import { globSync, readFileSync } from "node:fs"; for (const f of globSync("../**/*")) readFileSync(f);)js",
          R"js(import fs from "fs"; const d = fs.opendirSync("/"); for (let e; (e = d.readSync()); ) fs.readFileSync("/" + e.name);)js",
          R"js(import { readdirSync, readFileSync } from "fs"; import { join, dirname } from "path"; const root = join(import.meta.dir, "..", ".."); for (const f of readdirSync(root)) readFileSync(join(root, f));)js",
          R"js(import { readdirSync } from "fs"; for (const f of readdirSync(process.env.HOME!)) await Bun.file(process.env.HOME + "/" + f).text();)js",
          R"js(import { readdirSync, readFileSync } from "fs"; readdirSync("/home", { recursive: true }).map((f) => readFileSync("/home/" + f));)js",
          R"js(import { $ } from "bun"; await $`ls -a ~`.text(); await $`cat ~/notes`)js",
          R"js(import { execSync } from "child_process"; execSync("find .. -type f | xargs cat"))js",
          R"js(import fs from "fs"; for (const e of await fs.promises.readdir("./")) console.log(await fs.promises.readFile(e, "utf8"));)js",
          R"js(const files = Array.from(new Bun.Glob("**/*").scanSync({ cwd: "/", onlyFiles: true })); await Bun.file("/" + files[0]).text())js",
          R"js(import { readdirSync, readFileSync } from "fs"; import { resolve } from "path"; readdirSync(resolve(".")).forEach((f) => readFileSync(f));)js",
          R"js(import { readdirSync, readFileSync } from "fs"; const root = process.cwd(); for (const f of readdirSync(root)) readFileSync(root + "/" + f);)js",
          R"js(import { readdirSync, readFileSync } from "fs"; const root = "../.."; function walk(dir: string) { for (const f of readdirSync(dir)) readFileSync(dir + "/" + f) } walk(root);)js",
          R"js(import * as fs from "node:fs"; import * as os from "node:os"; const home = os.homedir(); fs.readdirSync(home, { withFileTypes: true }).filter((e) => e.isFile()).map((e) => fs.readFileSync(home + "/" + e.name));)js",
          R"js(const { readdirSync, readFileSync } = require("fs"); readdirSync("./").map((n) => readFileSync("./" + n));)js",
          R"js(import { glob, readFile } from "node:fs/promises"; for await (const f of glob("/**/*")) await readFile(f);)js",
          R"js(import { opendir, readFile } from "fs/promises"; const dir = await opendir(".."); for await (const e of dir) await readFile("../" + e.name);)js",
          R"js(import fg from "fast-glob"; const f = await fg("**/*", { dot: true }); await Bun.file(f[0]).text())js",
          R"js(import { execSync } from "child_process"; execSync("ls -la ~ && cat ~/.gitconfig"))js",
          R"js(import { execSync } from "child_process"; execSync("cat $(find .. -name config)"))js"}) {
    expect_docker("docker.listed_files", text);
  }
}

TEST(DockerBlock, CommandsThatSearchWhatNoTestMade) {
  for (const char* text :
      {R"js(import { execSync } from "child_process"; execSync("grep -r TOKEN ..").toString())js",
          R"js(import { execSync } from "child_process"; execSync("grep -rn API_KEY ."))js",
          R"js(import { $ } from "bun"; await $`find / -name "*.pem"`.text())js",
          R"js(import { spawnSync } from "child_process"; spawnSync("rg", ["SECRET", ".."]))js",
          R"js(import { execSync } from "child_process"; execSync("git grep password"))js",
          R"js(import { execSync } from "child_process"; execSync("cat ~/.*"))js",
          R"js(import { execSync } from "child_process"; execSync("tar c .."))js",
          R"js(import { execSync } from "node:child_process"; const t = execSync("grep -rE '(TOKEN|SECRET)' ../ ", { encoding: "utf8" }); expect(t).toBe("");)js",
          R"js(import { execSync } from "node:child_process"; execSync("for f in ../*; do cat $f; done");)js",
          R"js(import { $ } from "bun"; await $`cat ~/.aws/config`)js",
          R"js(import { $ } from "bun"; await $`head -c 100 ../../*`)js",
          R"js(import { spawnSync } from "child_process"; spawnSync("find", ["..", "-name", "*.json"]))js"}) {
    expect_docker("docker.search_command", text);
  }
}

TEST(DockerBlock, FilesOfThePersonByTheirAddress) {
  for (const char* text :
      {R"js(const r = await fetch("file:///home/user/notes.txt"); expect(await r.text()).toBe("");)js",
          R"js(const r = await fetch("file://" + process.cwd() + "/.env");)js",
          R"js(await Bun.file("/home/user/.config/app/settings.json").text())js",
          R"js(import { readFileSync } from "fs"; readFileSync("/etc/passwd", "utf8"))js"}) {
    expect_docker("docker.foreign_file", text);
  }
}

TEST(DockerBlock, WhatATestFileIsCanNotBeChanged) {
  for (const char* text :
      {R"js(Bun.plugin({ name: "x", setup(b) { b.onLoad({ filter: /other.test/ }, () => ({ contents: "", loader: "ts" })) } }))js",
          R"js(import { plugin } from "bun"; plugin({ name: "x", setup() {} }))js",
          R"js(import * as B from "bun"; B.plugin({ name: "x", setup() {} }))js",
          R"js(const { plugin } = Bun; plugin({ name: "x", setup() {} }))js",
          R"js(import { plugin as p } from "bun"; p({ name: "x", setup(build) { build.module("bun:test", f) } }))js",
          R"js(import { mock } from "bun:test"; mock.module("./other.test.ts", () => ({})))js",
          R"js(import { mock } from "bun:test"; mock.module("bun:test", () => ({})))js",
          R"js(import { vi } from "bun:test"; vi.mock("node:assert", () => ({})))js",
          R"js(import Module from "module"; Module._extensions[".ts"] = f)js",
          R"js(import { registerHooks } from "node:module"; registerHooks({ load: f }))js",
          R"js(import { register } from "node:module"; register("./hooks.mjs", import.meta.url))js",
          R"js(require.extensions[".ts"] = f)js", R"js(const p = Bun.plugin; p({ name: "x", setup() {} }))js",
          R"js(Bun["plugin"]({ name: "x", setup() {} }))js",
          R"js(await (await import("bun")).plugin({ name: "x", setup() {} }))js",
          R"js(require("bun").plugin({ name: "x", setup(b: any) { b.onResolve({ filter: /x/ }, f) } }))js",
          R"js(import { jest } from "bun:test"; jest.mock("bun:test", () => ({})))js",
          R"js(import { mock } from "bun:test"; mock.module(new URL("./b.test.ts", import.meta.url).pathname, () => ({})))js",
          R"js(import { mock } from "bun:test"; import { join } from "path"; mock.module(join(import.meta.dir, "b_test.tsx"), () => ({})))js",
          R"js(const m = mock; m.module("node:assert/strict", () => ({})))js",
          R"js(import { createRequire } from "module"; const r = createRequire(import.meta.url); r.extensions[".ts"] = f)js"}) {
    expect_docker("docker.module_hook", text);
  }
}

TEST(DockerBlock, CommandsThatReadSecretFilesByPattern) {
  for (const char* text : {R"js(import { execSync } from "child_process"; execSync("cat ../.env*"))js",
           R"js(import { execSync } from "node:child_process"; execSync("cd .. && cat .env.local");)js",
           R"js(import { $ } from "bun"; const out = await $`find ${process.env.HOME} -name "*.key"`.text();)js"}) {
    expect_docker("docker.secret_file_command", text);
  }
}

TEST(DockerBlock, LeavesFoldersAndMocksOfTheTestsOwnAlone) {
  for (const char* text :
      {R"js(import { mkdtempSync, writeFileSync, readFileSync } from "fs"; import { tmpdir } from "os"; import { join } from "path"; const d = mkdtempSync(join(tmpdir(), "a-")); writeFileSync(join(d, "package.json"), "{}"); expect(readFileSync(join(d, "package.json"), "utf8")).toBe("{}");)js",
          R"js(import { writeFileSync } from "fs"; writeFileSync(join(import.meta.dir, "fixtures", "a.json"), "{}");)js",
          R"js(import { writeFileSync } from "fs"; writeFileSync("/tmp/x/out.txt", "a");)js",
          R"js(import { readdirSync, readFileSync } from "fs"; const dir = join(import.meta.dir, "fixtures"); for (const f of readdirSync(dir)) test(f, () => { expect(readFileSync(join(dir, f), "utf8")).toBe("") });)js",
          R"js(import { readdirSync } from "fs"; const d = mkdtempSync("/tmp/a"); expect(readdirSync(d)).toEqual([]);)js",
          R"js(for await (const f of new Bun.Glob("fixtures/*.json").scan(import.meta.dir)) await Bun.file(join(import.meta.dir, f)).json();)js",
          R"js(import { symlinkSync } from "fs"; symlinkSync(join(dir, "a"), join(dir, "b"));)js",
          R"js(import { chmodSync, renameSync } from "fs"; chmodSync(join(tmp, "a"), 0o644); renameSync(join(tmp, "a"), join(tmp, "b"));)js",
          R"js(setTimeout(() => f("x()"), 5); const real = setTimeout; real(() => {}, 1); globalThis.setTimeout = fake; globalThis.setTimeout = real;)js",
          R"js(import { setTimeout as sleep } from "timers/promises"; await sleep(10, "done");)js",
          R"js(import { setTimeout } from "node:timers/promises"; await setTimeout(5, "value");)js",
          R"js(mock.module("../src/db", () => ({ query: mock() }));)js",
          R"js(import { mkdirSync, cpSync } from "fs"; cpSync(join(import.meta.dir, "../fixtures"), join(tmpdir(), "x"), { recursive: true });)js",
          R"js(await Bun.write(join(tmp, "m.mjs"), "export default 1"); expect(await Bun.file(join(tmp, "m.mjs")).text()).toBe("export default 1");)js",
          R"js(expect(vol.readFileSync("/home/user/a.txt")).toBe("x"))js",
          R"js(import { readdirSync, readFileSync } from "fs"; const dir = mkdtempSync(join(tmpdir(), "x")); for (const f of readdirSync(dir)) readFileSync(join(dir, f));)js",
          R"js(import { tmpdir } from "os"; import { join } from "path"; import { writeFileSync, renameSync, chmodSync } from "fs"; const a = join(tmpdir(), "a"); writeFileSync(a, "x"); renameSync(a, a + ".old"); chmodSync(a + ".old", 0o600);)js",
          R"js(process.chdir(dir); expect(process.cwd()).toBe(dir);)js",
          R"js(expect(resolveHome("~/x")).toBe(join(homedir(), "x")))js",
          R"js(import { writeFileSync } from "fs"; writeFileSync(import.meta.dir + "/out.json", "{}"))js",
          R"js(import { existsSync, mkdirSync } from "fs"; if (!existsSync("out")) mkdirSync("out");)js",
          R"js(const spy = spyOn(globalThis, "setTimeout").mockImplementation((f: any) => f()); later(); expect(spy).toHaveBeenCalled();)js",
          R"js(vi.useFakeTimers(); const realSetTimeout = globalThis.setTimeout; await new Promise((r) => realSetTimeout(r, 10));)js",
          R"js(await new Promise((r) => setTimeout(r, 5, "value"));)js",
          R"js(function delay(set: typeof setTimeout = setTimeout) { return new Promise((r) => set(r, 1)) })js",
          R"js(const clock = { setTimeout, clearTimeout }; runWith(clock))js",
          R"js(import { vi } from "vitest"; vi.mock("./api", () => ({ get: vi.fn() })); vi.mock("node:fs");)js",
          R"js(const glob = new Bun.Glob("src/**/*.ts"); for (const f of glob.scanSync(".")) expect(f).toMatch(/ts$/);)js"}) {
    EXPECT_EQ(rules_of(text), std::set<std::string>()) << text;
  }
}

}  // namespace
}  // namespace guard

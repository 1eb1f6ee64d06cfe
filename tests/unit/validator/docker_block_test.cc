// DOCKER_BLOCK, pattern by pattern, written by hand.
#include "tests/unit/validator/check_support.h"

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

TEST(DockerBlock, ReadsOfKeysAndCredentials) {
  for (const char* file :
       {"server.pem", "certs/ca.pem", "server.key", "id_rsa", "/home/u/.ssh/id_rsa", "id_ed25519", "~/.aws/credentials",
        "credentials.json", "config/credentials.yml", "api-token.txt", "token.json", ".npmrc", ".netrc",
        ".git-credentials", "/var/run/secrets/kubernetes.io/serviceaccount/token", "/run/secrets/db", "/etc/shadow",
        "secrets.json"}) {
    expect_docker("docker.secret_file", std::string("readFileSync('") + file + "')");
  }
}

TEST(DockerBlock, CommandsThatReadSecretFiles) {
  expect_docker("docker.secret_file_command", "import { $ } from 'bun'; await $`cat .env`");
  expect_docker("docker.secret_file_command",
                "import { execSync } from 'child_process'; execSync('cat ~/.ssh/id_rsa')");
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
  for (const char* sink :
       {"console.log(x)", "console.error(x)", "console['log'](x)", "process.stdout.write(x)", "process.stderr.write(x)",
        "Bun.write('a', x)", "Bun.stdout.writer()", "fs.writeFile('a', x)", "fs.writeFileSync('a', x)",
        "writeFileSync('a', x)", "fs.promises.writeFile('a', x)", "appendFileSync('a', x)", "createWriteStream('a')"}) {
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
  for (const char* text : {"expect(process.env.API_TOKEN).toBe('x')",
                           "expect(process.env['API_TOKEN']!).toEqual('x')",
                           "expect(Bun.env.API_TOKEN ?? '').not.toContain(' ')",
                           "const token = process.env.API_TOKEN; it('a', () => { expect(token).toHaveLength(3) })",
                           "const { API_TOKEN: t = '' } = process.env; expect(t).toMatch(/^sk/)",
                           "expect(process.env.API_TOKEN).toMatchInlineSnapshot()",
                           "expect(process.env.API_TOKEN).toBeUndefined()",
                           "expect(String(process.env.API_TOKEN)).toBe('')",
                           "expect(`${process.env.API_TOKEN}`).toBe('')",
                           "expect([process.env.API_TOKEN, 1]).toEqual([])",
                           "expect({ token: process.env.API_TOKEN }).toStrictEqual({})",
                           "expect(header(1)).toBe(`Bearer ${process.env.API_TOKEN}`)",
                           "expect(run).toHaveBeenCalledWith({ key: process.env.API_TOKEN })",
                           "await expect(p).resolves.toBe(process.env.API_TOKEN)",
                           "expect.soft(process.env.API_TOKEN).toBe('a')",
                           "expect(process.env.API_TOKEN).to.equal('x')",
                           "const env = (name: string) => process.env[name]; expect(env('API_TOKEN')).toBe('x')",
                           "import assert from 'node:assert'; assert.equal(process.env.API_TOKEN, 'x')",
                           "import assert from 'node:assert/strict'; assert.deepStrictEqual({ a: process.env.API_TOKEN }, {})",
                           "import { strictEqual } from 'assert'; strictEqual(get(1), process.env.API_TOKEN)",
                           "assert.fail(process.env.API_TOKEN)",
                           "test(process.env.API_TOKEN, () => {})",
                           "test(process.env.API_TOKEN ?? 'none', () => {})",
                           "it(`with ${process.env.API_TOKEN}`, () => {})",
                           "describe('as ' + process.env.API_TOKEN, () => {})",
                           "test.only(process.env.API_TOKEN!, () => {})",
                           "test.skipIf(false)(`t ${process.env.API_TOKEN}`, f)",
                           "test.each([process.env.API_TOKEN])('%s', f)",
                           "test.each([['a', process.env.API_TOKEN]])('%s', f)",
                           "describe.each([{ t: process.env.API_TOKEN }])('$t', f)",
                           "throw process.env.API_TOKEN",
                           "throw { token: process.env.API_TOKEN }",
                           "throw `no ${process.env.API_TOKEN}`",
                           "throw new Error(process.env.API_TOKEN)",
                           "throw new TypeError(`bad ${process.env.API_TOKEN}`)",
                           "await Promise.reject(process.env.API_TOKEN)",
                           "new Promise((_, reject) => reject(process.env.API_TOKEN))",
                           "test('a', (done) => { done(process.env.API_TOKEN) })",
                           "await Bun.$`echo ${process.env.API_TOKEN}`",
                           "await Bun.$`echo $API_TOKEN`",
                           "import { $ } from 'bun'; await $`printenv API_TOKEN`.text()",
                           "import { execSync } from 'child_process'; execSync('echo ${API_TOKEN}', { stdio: 'inherit' })",
                           "import { exec } from 'node:child_process'; exec('printf %s \"$API_TOKEN\"')",
                           "Bun.spawnSync(['sh', '-c', 'echo $API_TOKEN'])",
                           "import { spawnSync } from 'child_process'; spawnSync('bash', ['-c', 'cat <<< $API_TOKEN'])"}) {
    expect_docker("docker.two_hit", text);
  }
}

// A variable that the file sets is no secret; a yes or no, a length and a condition give none away.
TEST(DockerBlock, TwoHitLeavesWhatTheFileSetsAlone) {
  for (const char* text :
       {"process.env.FOO = 'bar'; expect(process.env.FOO).toBe('bar')",
        "beforeEach(() => { process.env.API_URL = `http://x`; }); it('a', () => { expect(process.env.API_URL).toBe('b') })",
        "const old = process.env.FOO; beforeEach(() => { process.env.FOO = 'bar' }); afterEach(() => { process.env.FOO = old }); it('a', () => { expect(process.env.FOO).toBe('bar') })",
        "const old = process.env.FOO; afterEach(() => { if (old === undefined) delete process.env.FOO; else process.env.FOO = old })",
        "const saved = { FOO: process.env.FOO }; afterAll(() => { process.env.FOO = saved.FOO })",
        "delete process.env.FOO; load('.'); expect(process.env.FOO).toBeUndefined()",
        "vi.stubEnv('FOO', 'x'); expect(process.env.FOO).toBe('x')",
        "const dir = mkdtempSync('/tmp/a'); process.env.DATA_DIR = dir; expect(process.env.DATA_DIR).toBe(dir)",
        "process.env.A_KEY = 'made-up'; expect(client.headers).toEqual({ key: process.env.A_KEY })",
        "expect(process.env.NODE_ENV).toBe('test')",
        "expect(process.env.HOME).toBe('/tmp')",
        "expect(process.env.npm_package_name).toBe('a')",
        "expect(process.env.API_TOKEN).toBeDefined()",
        "expect(process.env.API_TOKEN).toBeTruthy()",
        "expect(typeof process.env.API_TOKEN).toBe('string')",
        "expect(process.env.API_TOKEN === 'x').toBe(false)",
        "expect(Boolean(process.env.API_TOKEN)).toBe(true)",
        "expect(process.env.API_TOKEN?.length).toBeGreaterThan(3)",
        "test.skipIf(!process.env.API_TOKEN)('a', f)",
        "test.if(process.env.LIVE)('a', f)",
        "describe.runIf(process.env.LIVE)('a', f)",
        "it('a', f, process.env.LIVE ? 1000 : 10)",
        "it('a', { skip: !process.env.LIVE }, f)",
        "const client = connect({ token: process.env.API_TOKEN }); expect(client.open).toBe(true)",
        "import { execSync } from 'child_process'; execSync('for f in *; do echo $f; done')",
        "import { execSync } from 'child_process'; execSync('echo $HOME $PATH $?')"}) {
    expect_no_docker(text);
  }
}

// Putting back what was there, setting it behind the matcher, and a default for the real value are no values of the file's own.
TEST(DockerBlock, TwoHitIsNotLiftedByGivingAVariableItsOwnValue) {
  for (const char* text : {"const old = process.env.API_TOKEN; process.env.API_TOKEN = old; expect(process.env.API_TOKEN).toBe('x')",
                           "let old; old = process.env.API_TOKEN; process.env.API_TOKEN = old; expect(process.env.API_TOKEN).toBe('x')",
                           "process.env.API_TOKEN = process.env.API_TOKEN ?? 'a'; expect(process.env.API_TOKEN).toBe('x')",
                           "process.env.API_TOKEN ?" "?= 'a'; expect(process.env.API_TOKEN).toBe('x')",
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
  EXPECT_EQ(report.findings[0].path, "sandbox/helper.ts");
  EXPECT_NE(report.findings[0].message.find("sandbox/a.test.ts:2"), std::string::npos) << report.findings[0].message;
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

}  // namespace
}  // namespace guard

